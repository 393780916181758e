/* cudaccl - CUDA backend: HA4, two pixels a thread
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A. Hennequin, L. Lacassagne, L. Cabaret, Q. Meunier: A new Direct Connected Component Labeling
 * and Analysis Algorithms for GPUs (paper 000), in the version of its section IV-E: a warp works on
 * 64 pixels of a row, of which no two neighbours can both be starts of runs, so a thread has one
 * label.
 *
 * Where this differs from the paper as printed:
 * - Algorithm 3 has one __syncthreads() an iteration for one buffer of bitmasks, so that a fast
 * warp can overwrite its word before the warp below has read it; here there are two buffers.
 * - Any width, and 8-connectivity: pixels that touch only diagonally are merged, too, seen from the
 *   right one of the two, so that a warp needs no pixels from the right of its 64. */

#include "cuda/labels.cuh"
#include "cuda/resolve.cuh"
#include "cuda/rows.cuh"

#define STRIP 4  /* rows of a strip, BLOCK_H */
#define BLOCK 64 /* pixels of a warp, BLOCK_W */

/* Algorithm 7: how many pixels directly left of pixel @x are set. */
static __device__ inline int
start_distance64 (uint64_t pixels, int x)
{
  return x == 0 ? 0 : __clzll (~(pixels << (64 - x)));
}

/* Algorithm 7: how many pixels from pixel @x on are set. */
static __device__ inline int
end_distance64 (uint64_t pixels, int x)
{
  uint64_t clear = ~(pixels >> x);

  return clear ? __ffsll (clear) - 1 : 64;
}

/* The pixel of this lane that can be the start of a run. */
static __device__ inline int
candidate (uint64_t pixels)
{
  int x = 2 * (int) lane_id ();

  return x + (int) (~pixels >> x & 1);
}

/* The 64 pixels of row @y from @base on; none where there is no such row. */
static __device__ inline uint64_t
load64 (const CclCudaFrame &f, uint32_t y, uint32_t base)
{
  const uint8_t *row = row_pixels (f, y);
  bool inside = y < f.height;
  uint32_t low = __ballot_sync (ALL_LANES, inside && foreground (f, row, base + lane_id ()));
  uint32_t high =
      __ballot_sync (ALL_LANES, inside && foreground (f, row, base + WARP_LANES + lane_id ()));

  return low | (uint64_t) high << 32;
}

/* The slot of the label of the run that covers pixel @x, -1 being the one before the block. @before
 * pixels of it lie left of the block. */
static __device__ inline uint32_t
label_slot (uint64_t pixels, int x, uint32_t base, uint32_t before)
{
  int distance = x < 0 ? x : start_distance64 (pixels, x);

  return (distance == x ? base - before : base + x - distance) / 2;
}

/* The labels of a row's runs in the columns from @base on. A run that comes from the left points to
 * its start, @before pixels away. */
static __device__ inline void
init_labels (const CclCudaFrame &f, uint32_t y, uint32_t base, uint64_t current, uint32_t before)
{
  int x = candidate (current);
  uint32_t slot = base / 2 + lane_id (), row = y * f.slots, label = CCL_NO_LABEL;

  if (y >= f.height || slot >= f.slots)
    return;
  if ((current >> x & 1) && start_distance64 (current, x) == 0)
    label = row + (x == 0 ? base - before : base + x) / 2;
  f.labels[row + slot] = label;
}

/* Merges the labels of the two rows. @current_before and @above_before: pixels of the runs that
 * come from the left. @y: the lower row. */
static __device__ inline void
merge_rows (const CclCudaFrame &f, uint32_t y, uint32_t base, const Rows &r,
            uint32_t current_before, uint32_t above_before, uint32_t current_left,
            uint32_t above_left)
{
  uint64_t starts = touching (f, r);

  for (int x = 2 * (int) lane_id (), end = x + 2; x < end; x++) {
    int current_x, above_x;
    uint32_t label1, label2;

    if (!(starts >> x & 1))
      continue;
    current_x = r.current >> x & 1 ? x : x - 1;
    above_x = r.above >> x & 1 ? x : x - 1;
    label1 = label_slot (r.current, current_x, base, current_x < 0 ? current_left : current_before);
    label2 = label_slot (r.above, above_x, base, above_x < 0 ? above_left : above_before);
    merge (f.labels, y * f.slots + label1, (y - 1) * f.slots + label2);
  }
}

/* The length of the run that ends with the last of 64 pixels, @before of it left of them. */
static __device__ inline uint32_t
run_at_end (uint64_t pixels, uint32_t before)
{
  uint32_t length = __clzll (~pixels);

  return length == BLOCK ? length + before : length;
}

/* Algorithm 3. */
static __global__ void
strip_labeling (CclCudaFrame f)
{
  __shared__ uint64_t shared_pixels[2][STRIP];
  uint32_t y = blockIdx.x * STRIP + threadIdx.y, current_before = 0, above_before = 0;

  uint32_t blocks = (f.width - 1) / BLOCK + 1;

  for (uint32_t block = 0; block < blocks; block++) {
    uint32_t base = block * BLOCK, buffer = block % 2;
    Rows r = { load64 (f, y, base), 0, current_before > 0, above_before > 0 };

    init_labels (f, y, base, r.current, current_before);
    if (lane_id () == 0)
      shared_pixels[buffer][threadIdx.y] = r.current;
    __syncthreads ();
    if (threadIdx.y > 0) {
      r.above = shared_pixels[buffer][threadIdx.y - 1];
      merge_rows (f, y, base, r, current_before, above_before, current_before, above_before);
    }
    current_before = run_at_end (r.current, current_before);
    above_before = run_at_end (r.above, above_before);
  }
}

/* Algorithm 4. The first pixel of a block that continues a run points to its start, so the block's
 * own pixels lead to every label but those that touch diagonally over its left border. */
static __global__ void
strip_merge (CclCudaFrame f)
{
  uint32_t blocks = (f.width - 1) / BLOCK + 1;
  size_t index = (size_t) blockIdx.x * blockDim.y + threadIdx.y, border = index / blocks;
  uint32_t base = (uint32_t) (index - border * blocks) * BLOCK, y;
  uint32_t current_left = 0, above_left = 0;
  Rows r;

  if (border >= (f.height - 1) / STRIP)
    return;
  y = (uint32_t) (border + 1) * STRIP;
  r.current = load64 (f, y, base);
  r.above = load64 (f, y - 1, base);
  r.current_before = base > 0 && foreground (f, row_pixels (f, y), base - 1);
  r.above_before = base > 0 && foreground (f, row_pixels (f, y - 1), base - 1);
  if (r.current_before != r.above_before) {
    current_left = run_at_end (load64 (f, y, base - BLOCK), 0);
    above_left = run_at_end (load64 (f, y - 1, base - BLOCK), 0);
  }
  merge_rows (f, y, base, r, 0, 0, current_left, above_left);
}

/* Algorithm 6. */
static __global__ void
features (CclCudaFrame f)
{
  uint32_t blocks = (f.width - 1) / BLOCK + 1;
  size_t index = (size_t) blockIdx.x * blockDim.y + threadIdx.y;
  uint32_t y = (uint32_t) (index / blocks);
  uint32_t base = (uint32_t) (index - (size_t) y * blocks) * BLOCK;
  uint64_t pixels;
  int x;

  if (index >= (size_t) f.height * blocks)
    return;
  pixels = load64 (f, y, base);
  x = candidate (pixels);
  if ((pixels >> x & 1) && start_distance64 (pixels, x) == 0) {
    uint32_t slot = y * f.slots + base / 2 + lane_id (), label = f.labels[slot];
    uint32_t start = base + x;

    if (label == slot)
      f.starts[label] = start;
    feature_update (f, label, sums_of_run (f, start, start + end_distance64 (pixels, x), y));
  }
}

extern "C" cudaError_t
ccl_cuda_ha4 (const CclCudaFrame *f, cudaStream_t stream)
{
  size_t blocks = (f->width - 1) / BLOCK + 1, borders = (f->height - 1) / STRIP;
  dim3 block (WARP_LANES, STRIP);

  strip_labeling<<<(f->height - 1) / STRIP + 1, block, 0, stream>>> (*f);
  if (borders > 0)
    strip_merge<<<(unsigned) ((borders * blocks - 1) / STRIP + 1), block, 0, stream>>> (*f);
  resolve<<<part_blocks (f), dim3 (WARP_LANES, PART_WARPS), 0, stream>>> (*f);
  features<<<(unsigned) ((f->height * blocks - 1) / STRIP + 1), block, 0, stream>>> (*f);
  return cudaGetLastError ();
}

/* The label map. A run has a label where it starts in each block of 64 pixels. */
static __global__ void
paint (CclCudaFrame f)
{
  uint32_t blocks = (f.width - 1) / BLOCK + 1;
  size_t index = (size_t) blockIdx.x * blockDim.y + threadIdx.y;
  uint32_t y = (uint32_t) (index / blocks);
  uint32_t base = (uint32_t) (index - (size_t) y * blocks) * BLOCK;
  uint64_t pixels;

  if (index >= (size_t) f.height * blocks)
    return;
  pixels = load64 (f, y, base);
  for (int x = (int) lane_id (); x < BLOCK; x += WARP_LANES) {
    uint32_t number = 0;

    if (pixels >> x & 1)
      number = number_of (f, y * f.slots + label_slot (pixels, x, base, 0));
    paint_pixel (f, base + x, y, number);
  }
}

extern "C" cudaError_t
ccl_cuda_ha4_paint (const CclCudaFrame *f, cudaStream_t stream)
{
  size_t blocks = f->height * (size_t) ((f->width - 1) / BLOCK + 1);

  paint<<<(unsigned) ((blocks - 1) / STRIP + 1), dim3 (WARP_LANES, STRIP), 0, stream>>> (*f);
  return cudaGetLastError ();
}
