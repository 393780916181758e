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
 * - Algorithm 3 reads, labels and merges one block at a time. Here a warp has as many blocks as
 *   lanes, labels them all, and then each lane merges one of them, run by run, rather than each
 *   thread one pixel. So two barriers do for all of these, and no lane waits for the merges of a
 *   few others. Algorithm 4 has lanes merge blocks, too.
 * - Any width, and 8-connectivity: pixels that touch only diagonally are merged, too, seen from the
 *   right one of the two, so that a warp needs no pixels from the right of its own.
 * - Two pixels share a label, since only one of them can be the start of a run. */

#ifndef CCL_CUDA_HA4_CUH
#define CCL_CUDA_HA4_CUH

#include "cuda/device/onthefly.cuh"
#include "cuda/device/rows.cuh"

#define HA4_STRIP 4 /* rows of a strip, BLOCK_H */
#define HA4_PIXELS_PER_LANE (HA4_BLOCK / WARP_LANES)
#define HA4_CHUNK (HA4_BLOCK * WARP_LANES) /* pixels side by side, with a block for each lane */

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

/* The pixels of a block that a warp works on; none where the frame has none. */
static __device__ inline Ha4Pixels
load_pixels (const CclCudaFrame &f, uint32_t y, uint32_t base)
{
  const uint8_t *row = row_pixels (f, y);
  Ha4Pixels pixels = 0;

  for (uint32_t i = 0; i < HA4_PIXELS_PER_LANE; i++) {
    bool set = y < f.height && foreground (f, row, base + i * WARP_LANES + lane_id ());

    pixels |= (Ha4Pixels) __ballot_sync (ALL_LANES, set) << i * WARP_LANES;
  }
  return pixels;
}

/* The pixels of a block that this lane works on; none where the frame has none. */
static __device__ inline Ha4Pixels
load_own_pixels (const CclCudaFrame &f, uint32_t y, uint32_t base)
{
  const uint8_t *row = row_pixels (f, y);
  Ha4Pixels pixels = 0;

  for (uint32_t i = 0; i < HA4_BLOCK; i += 32) {
    if (y < f.height && base + i < f.width)
      pixels |= (Ha4Pixels) foreground32 (f, row, base + i) << i;
  }
  return pixels;
}

/* Another lane's block. */
static __device__ inline Ha4Pixels
shuffle_pixels (Ha4Pixels pixels, uint32_t lane)
{
  Ha4Pixels other = 0;

  for (uint32_t i = 0; i < HA4_BLOCK; i += 32)
    other |= (Ha4Pixels) __shfl_sync (ALL_LANES, (uint32_t) (pixels >> i), lane) << i;
  return other;
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

/* Two blocks, one above the other, and of each how many pixels of the run that covers its first
 * pixel are left of that: as far as labels are concerned, and for what touches over the block's
 * left border. */
struct Ha4Rows
{
  Ha4Pixels current, above;
  uint32_t current_before, above_before;
  uint32_t current_left, above_left;
};

/* Merges the labels of the two rows, of which @y is the lower one. */
static __device__ inline void
merge_rows (const CclCudaFrame &f, uint32_t y, uint32_t base, const Ha4Rows &r)
{
  Rows rows = { r.current, r.above, r.current_left > 0, r.above_left > 0 };

  for (uint64_t starts = touching (f, rows); starts; starts &= starts - 1) {
    int x = __ffsll ((long long) starts) - 1;
    int current_x = r.current >> x & 1 ? x : x - 1, above_x = r.above >> x & 1 ? x : x - 1;
    uint32_t label1 = y * f.slots + label_slot (r.current, current_x, base,
                                                current_x < 0 ? r.current_left : r.current_before);
    uint32_t label2 = (y - 1) * f.slots + label_slot (r.above, above_x, base,
                                                      above_x < 0 ? r.above_left : r.above_before);

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

/* How many pixels of the run that covers the first pixel of this lane's block are left of it, if it
 * does. The lanes' blocks are side by side; @carry is that number for the first of them, and
 * becomes that for the one behind the last. */
static __device__ inline uint32_t
run_before (Ha4Pixels pixels, uint32_t *carry)
{
  uint32_t ending = start_distance (pixels, HA4_BLOCK), lane = lane_id ();
  uint32_t full = __ballot_sync (ALL_LANES, ending == HA4_BLOCK);
  uint32_t between = start_distance ((Ha4Pixels) full, (int) lane); /* full blocks, left of this */
  uint32_t before = __shfl_sync (ALL_LANES, ending, lane - between - 1);

  before = between * HA4_BLOCK + (lane > between ? before : *carry);
  *carry = __shfl_sync (ALL_LANES, run_at_end (pixels, before), WARP_LANES - 1);
  return before;
}

/* Algorithm 3. The pixels of the next blocks are under way while those before them are labelled. */
static __global__ void
strip_labeling (CclCudaFrame f)
{
  __shared__ Ha4Pixels shared_pixels[HA4_STRIP][WARP_LANES];
  __shared__ uint32_t shared_before[HA4_STRIP][WARP_LANES];
  uint32_t y = blockIdx.x * HA4_STRIP + threadIdx.y, lane = lane_id (), carry = 0;
  uint32_t chunks = (f.width - 1) / HA4_CHUNK + 1;
  Ha4Pixels next = load_own_pixels (f, y, lane * HA4_BLOCK);

  for (uint32_t chunk = 0; chunk < chunks; chunk++) {
    uint32_t first = chunk * HA4_CHUNK, base = first + lane * HA4_BLOCK;
    uint32_t here = min (f.width - first, HA4_CHUNK);
    Ha4Pixels pixels = next;
    uint32_t before = run_before (pixels, &carry);

    next = load_own_pixels (f, y, base + HA4_CHUNK);
    __syncthreads (); /* all have read what is shared */
    shared_pixels[threadIdx.y][lane] = pixels;
    shared_before[threadIdx.y][lane] = before;
    for (uint32_t i = 0; i * HA4_BLOCK < here; i++) {
      init_labels (f, y, first + i * HA4_BLOCK, shuffle_pixels (pixels, i),
                   __shfl_sync (ALL_LANES, before, i));
      __syncwarp (); /* a block's labels are there for the next one's features */
    }
    __syncthreads ();
    if (threadIdx.y > 0) {
      uint32_t above_before = shared_before[threadIdx.y - 1][lane];
      Ha4Pixels above = shared_pixels[threadIdx.y - 1][lane];
      Ha4Rows r = { pixels, above, before, above_before, before, above_before };

      merge_rows (f, y, base, r);
    }
  }
}

/* The length of the run that ends where this lane's block begins, but for what is left of the block
 * before it. */
static __device__ inline uint32_t
run_at_left (const CclCudaFrame &f, uint32_t y, uint32_t base, Ha4Pixels pixels)
{
  uint32_t left = __shfl_up_sync (ALL_LANES, run_at_end (pixels, 0), 1);

  if (lane_id () == 0)
    left = base > 0 ? run_at_end (load_own_pixels (f, y, base - HA4_BLOCK), 0) : 0;
  return left;
}

/* Algorithm 4. The first pixel of a block that continues a run points to its start, so the block's
 * own pixels lead to every label but those that touch diagonally over its left border. */
static __global__ void
strip_merge (CclCudaFrame f)
{
  uint32_t chunks = (f.width - 1) / HA4_CHUNK + 1;
  size_t index = (size_t) blockIdx.x * blockDim.y + threadIdx.y, border = index / chunks;
  uint32_t base = (uint32_t) (index - border * chunks) * HA4_CHUNK + lane_id () * HA4_BLOCK;
  uint32_t y = (uint32_t) (border + 1) * HA4_STRIP;
  Ha4Rows r;

  if (border >= (f.height - 1) / HA4_STRIP)
    return;
  r.current = load_own_pixels (f, y, base);
  r.above = load_own_pixels (f, y - 1, base);
  r.current_before = r.above_before = 0;
  r.current_left = run_at_left (f, y, base, r.current);
  r.above_left = run_at_left (f, y - 1, base, r.above);
  merge_rows (f, y, base, r);
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
  size_t chunks = (f->width - 1) / HA4_CHUNK + 1, borders = (f->height - 1) / HA4_STRIP;
  dim3 block (WARP_LANES, HA4_STRIP);

  strip_labeling<<<ha4_grid (f->height), block, 0, stream>>> (*f);
  ccl_cuda_stage (f, "strip labeling", stream);
  if (borders > 0)
    strip_merge<<<ha4_grid (borders * chunks), block, 0, stream>>> (*f);
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
