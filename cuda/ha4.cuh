/* cudaccl - CUDA backend: HA4, what its versions share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A. Hennequin, L. Lacassagne, L. Cabaret, Q. Meunier: A new Direct Connected Component Labeling
 * and Analysis Algorithms for GPUs (paper 000). A warp works on a block of pixels of a row, and of
 * a run of pixels in it only the thread of its start. The file that includes this one says how:
 *
 * HA4_BLOCK: 32 is one pixel a thread, 64 is two (section IV-E), of which only one can be the start
 * of a run.
 * HA4_ON_THE_FLY: whether features go along with merges (paper 003, section 3.2); if not, they are
 * summed up over the labelled image.
 *
 * Where this differs from the paper as printed:
 * - Algorithm 3 has one __syncthreads() an iteration for one buffer of bitmasks, so that a fast
 *   warp can overwrite its word before the warp below has read it; here there are two buffers.
 * - Any width, and 8-connectivity: pixels that touch only diagonally are merged, too, seen from the
 *   right one of the two, so that a warp needs no pixels from the right of its own.
 * - Two pixels share a label, since only one of them can be the start of a run. */

#ifndef CCL_CUDA_HA4_CUH
#define CCL_CUDA_HA4_CUH

#include "cuda/onthefly.cuh"
#include "cuda/rows.cuh"

#define HA4_STRIP 4 /* rows of a strip, BLOCK_H */
#define HA4_PIXELS_PER_LANE (HA4_BLOCK / WARP_LANES)

#if HA4_BLOCK == 32

/* The pixels of a block; BLOCK_W of them. */
typedef uint32_t Ha4Pixels;

/* Algorithm 1: how many pixels directly left of pixel @x are set. */
static __device__ inline int
start_distance (Ha4Pixels pixels, int x)
{
  return x == 0 ? 0 : __clz (~(pixels << (32 - x)));
}

/* Algorithm 1: how many pixels from pixel @x on are set. */
static __device__ inline int
end_distance (Ha4Pixels pixels, int x)
{
  uint32_t clear = ~(pixels >> x);

  return clear ? __ffs (clear) - 1 : 32;
}

#else

typedef uint64_t Ha4Pixels;

/* Algorithm 7, start_distance64(). */
static __device__ inline int
start_distance (Ha4Pixels pixels, int x)
{
  return x == 0 ? 0 : __clzll (~(pixels << (64 - x)));
}

/* Algorithm 7, end_distance64(). */
static __device__ inline int
end_distance (Ha4Pixels pixels, int x)
{
  uint64_t clear = ~(pixels >> x);

  return clear ? __ffsll (clear) - 1 : 64;
}

#endif

/* Whether a run starts with pixel @x of the block; one that comes from the left starts with pixel
 * 0. */
static __device__ inline bool
is_start (Ha4Pixels pixels, int x)
{
  return (pixels >> x & 1) && start_distance (pixels, x) == 0;
}

/* The pixel of this lane that can be the start of a run. */
static __device__ inline int
candidate (Ha4Pixels pixels)
{
  int x = HA4_PIXELS_PER_LANE * (int) lane_id ();

  return HA4_PIXELS_PER_LANE == 1 ? x : x + (int) (~pixels >> x & 1);
}

/* A lane's pixels of a block as they are in memory. */
struct Ha4Bytes
{
  uint8_t values[HA4_PIXELS_PER_LANE];
};

/* Those of row @y from @base on; anything where there are none. */
static __device__ inline Ha4Bytes
load_bytes (const CclCudaFrame &f, uint32_t y, uint32_t base)
{
  const uint8_t *row = row_pixels (f, y);
  Ha4Bytes bytes;

  for (uint32_t i = 0; i < HA4_PIXELS_PER_LANE; i++) {
    uint32_t x = base + i * WARP_LANES + lane_id ();

    bytes.values[i] = y < f.height && x < f.width ? __ldg (&row[x]) : 0;
  }
  return bytes;
}

/* The block's pixels; none where the frame has none. */
static __device__ inline Ha4Pixels
gather_pixels (const CclCudaFrame &f, uint32_t y, uint32_t base, Ha4Bytes bytes)
{
  Ha4Pixels pixels = 0;

  for (uint32_t i = 0; i < HA4_PIXELS_PER_LANE; i++) {
    bool inside = y < f.height && base + i * WARP_LANES + lane_id () < f.width;
    uint32_t set = __ballot_sync (ALL_LANES, inside && is_foreground (f, bytes.values[i]));

    pixels |= (Ha4Pixels) set << i * WARP_LANES;
  }
  return pixels;
}

static __device__ inline Ha4Pixels
load_pixels (const CclCudaFrame &f, uint32_t y, uint32_t base)
{
  return gather_pixels (f, y, base, load_bytes (f, y, base));
}

/* The slot of the label of the run that covers pixel @x, -1 being the one before the block. @before
 * pixels of it lie left of the block. */
static __device__ inline uint32_t
label_slot (Ha4Pixels pixels, int x, uint32_t base, uint32_t before)
{
  int distance = x < 0 ? x : start_distance (pixels, x);

  return (distance == x ? base - before : base + x - distance) / 2;
}

/* Accounts for the pixels in this block of the run @label, which is known by its first ones. */
static __device__ inline void
start_features (const CclCudaFrame &f, uint32_t label, Ha4Pixels pixels, int x, uint32_t base,
                uint32_t y, bool first)
{
  uint32_t start = base + x;
  Sums s = sums_of_run (f, start, start + end_distance (pixels, x), y);

  if (first) {
    f.starts[label] = start;
    features_set (f, label, s);
  } else {
    feature_update_otf (f, label, s);
  }
}

/* The labels of a row's runs in the columns from @base on. A run that comes from the left points to
 * its start, @before pixels away. */
static __device__ inline void
init_labels (const CclCudaFrame &f, uint32_t y, uint32_t base, Ha4Pixels current, uint32_t before)
{
  int x = candidate (current);
  uint32_t slot = (base + x) / 2, row = y * f.slots;
  bool start = is_start (current, x);

  if (y >= f.height || slot >= f.slots)
    return;
  if (start) {
    bool first = x > 0 || before == 0;
    uint32_t label = row + (first ? slot : (base - before) / 2);

    f.labels[row + slot] = label;
    if (HA4_ON_THE_FLY)
      start_features (f, label, current, x, base, y, first);
  } else if (HA4_PIXELS_PER_LANE == 2 || (x % 2 == 0 && !is_start (current, x + 1))) {
    f.labels[row + slot] = CCL_NO_LABEL;
  }
}

/* Merges the labels of the two rows. @current_before and @above_before: pixels of the runs that
 * come from the left; @current_left and @above_left: the same, for what touches over the block's
 * left border. @y: the lower row. */
static __device__ inline void
merge_rows (const CclCudaFrame &f, uint32_t y, uint32_t base, const Rows &r,
            uint32_t current_before, uint32_t above_before, uint32_t current_left,
            uint32_t above_left)
{
  Ha4Pixels current = (Ha4Pixels) r.current, above = (Ha4Pixels) r.above;
  Ha4Pixels starts = (Ha4Pixels) touching (f, r);
  int x = HA4_PIXELS_PER_LANE * (int) lane_id ();

  for (int end = x + HA4_PIXELS_PER_LANE; x < end; x++) {
    int current_x, above_x;
    uint32_t label1, label2;

    if (!(starts >> x & 1))
      continue;
    current_x = current >> x & 1 ? x : x - 1;
    above_x = above >> x & 1 ? x : x - 1;
    label1 = y * f.slots +
             label_slot (current, current_x, base, current_x < 0 ? current_left : current_before);
    label2 = (y - 1) * f.slots +
             label_slot (above, above_x, base, above_x < 0 ? above_left : above_before);
    if (HA4_ON_THE_FLY)
      merge_otf (f, label1, label2);
    else
      merge (f.labels, label1, label2);
  }
}

/* The length of the run that ends with the last of the block's pixels, @before of it left of
 * them. */
static __device__ inline uint32_t
run_at_end (Ha4Pixels pixels, uint32_t before)
{
  uint32_t length = start_distance (pixels, HA4_BLOCK);

  return length == HA4_BLOCK ? length + before : length;
}

/* Algorithm 3. A block's pixels are under way while the one before it is labelled. */
static __global__ void
strip_labeling (CclCudaFrame f)
{
  __shared__ Ha4Pixels shared_pixels[2][HA4_STRIP];
  uint32_t y = blockIdx.x * HA4_STRIP + threadIdx.y, current_before = 0, above_before = 0;
  uint32_t blocks = (f.width - 1) / HA4_BLOCK + 1;
  Ha4Bytes next = load_bytes (f, y, 0);

  for (uint32_t block = 0; block < blocks; block++) {
    uint32_t base = block * HA4_BLOCK, buffer = block % 2;
    Ha4Pixels current = gather_pixels (f, y, base, next), above = 0;

    next = load_bytes (f, y, base + HA4_BLOCK);
    init_labels (f, y, base, current, current_before);
    if (lane_id () == 0)
      shared_pixels[buffer][threadIdx.y] = current;
    __syncthreads ();
    if (threadIdx.y > 0) {
      Rows r = { current, 0, current_before > 0, above_before > 0 };

      r.above = above = shared_pixels[buffer][threadIdx.y - 1];
      merge_rows (f, y, base, r, current_before, above_before, current_before, above_before);
    }
    current_before = run_at_end (current, current_before);
    above_before = run_at_end (above, above_before);
  }
}

/* Algorithm 4. The first pixel of a block that continues a run points to its start, so the block's
 * own pixels lead to every label but those that touch diagonally over its left border. */
static __global__ void
strip_merge (CclCudaFrame f)
{
  uint32_t blocks = (f.width - 1) / HA4_BLOCK + 1;
  size_t index = (size_t) blockIdx.x * blockDim.y + threadIdx.y, border = index / blocks;
  uint32_t base = (uint32_t) (index - border * blocks) * HA4_BLOCK, y;
  uint32_t current_left = 0, above_left = 0;
  Rows r;

  if (border >= (f.height - 1) / HA4_STRIP)
    return;
  y = (uint32_t) (border + 1) * HA4_STRIP;
  r.current = load_pixels (f, y, base);
  r.above = load_pixels (f, y - 1, base);
  r.current_before = base > 0 && foreground (f, row_pixels (f, y), base - 1);
  r.above_before = base > 0 && foreground (f, row_pixels (f, y - 1), base - 1);
  if (r.current_before != r.above_before) {
    current_left = run_at_end (load_pixels (f, y, base - HA4_BLOCK), 0);
    above_left = run_at_end (load_pixels (f, y - 1, base - HA4_BLOCK), 0);
  }
  merge_rows (f, y, base, r, 0, 0, current_left, above_left);
}

/* The grid for a warp for each of @n, in blocks of HA4_STRIP warps. */
static inline unsigned
ha4_grid (size_t n)
{
  return (unsigned) ((n - 1) / HA4_STRIP + 1);
}

/* A forest of labels: the strips, then the borders between them. */
static inline void
ha4_label (const CclCudaFrame *f, cudaStream_t stream)
{
  size_t blocks = (f->width - 1) / HA4_BLOCK + 1, borders = (f->height - 1) / HA4_STRIP;
  dim3 block (WARP_LANES, HA4_STRIP);

  strip_labeling<<<ha4_grid (f->height), block, 0, stream>>> (*f);
  ccl_cuda_stage (f, "strip labeling", stream);
  if (borders > 0)
    strip_merge<<<ha4_grid (borders * blocks), block, 0, stream>>> (*f);
  ccl_cuda_stage (f, "border merging", stream);
}

/* A block of pixels. */
struct Ha4Block
{
  uint32_t y, base;
  Ha4Pixels pixels;
};

/* The calling warp's block of the frame; false where there is none. */
static __device__ inline bool
get_block (const CclCudaFrame &f, Ha4Block *block)
{
  uint32_t blocks = (f.width - 1) / HA4_BLOCK + 1;
  size_t index = (size_t) blockIdx.x * blockDim.y + threadIdx.y;

  if (index >= (size_t) f.height * blocks)
    return false;
  block->y = (uint32_t) (index / blocks);
  block->base = (uint32_t) (index - (size_t) block->y * blocks) * HA4_BLOCK;
  block->pixels = load_pixels (f, block->y, block->base);
  return true;
}

/* The grid for kernels that call get_block(), in blocks of HA4_STRIP warps. */
static inline unsigned
ha4_frame_grid (const CclCudaFrame *f)
{
  return ha4_grid (f->height * (size_t) ((f->width - 1) / HA4_BLOCK + 1));
}

#endif
