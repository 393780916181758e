/* cudaccl - CUDA backend: HA4: the common part of its variants
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A. Hennequin, L. Lacassagne, L. Cabaret, Q. Meunier: A new Direct Connected Component Labeling
 * and Analysis Algorithms for GPUs (Hennequin 2018). A warp works on a block of pixels of a row,
 * and only the thread at the start of a run works on that run. Two parameters make the variants:
 *
 * Word: the pixels of a block. With 32 bits each thread has one pixel (ha4-32), with 64 bits two
 * (section IV-E), of which only one can be the start of a run.
 * on_the_fly: features move along with merges (Lemaitre 2021, section 3.2); otherwise they are
 * summed up over the labelled image.
 *
 * ha4.cu has the variant ha4, papers/ha4.cu the others, papers/naive.cu a baseline.
 *
 * Where this differs from the paper as printed:
 * - Algorithm 3 reads, labels and merges one block at a time, with a thread per pixel. Here a warp
 *   handles as many blocks as it has lanes: it labels them all, then each lane merges one of them,
 *   run by run. So two barriers suffice for all of these, and no lane waits for the merges of a few
 *   others. In algorithm 4, too, each lane merges a block.
 * - Frames may have any width, and 8-connectivity: the right one of two pixels that touch only
 *   diagonally merges them, so a warp needs no pixels to the right of its own.
 * - Two pixels share a label, since only one of them can be the start of a run. */

#ifndef CCL_CUDA_HA4_CUH
#define CCL_CUDA_HA4_CUH

#include "cuda/stages/stages.h"
#include "cuda/device/foreground.cuh"
#include "cuda/device/launch.cuh"
#include "cuda/device/onthefly.cuh"
#include "cuda/device/rows.cuh"

#define HA4_STRIP 4 /* rows of a strip; BLOCK_H in the paper */

/* Tables that kernels take by value. */
struct Ha4Tables
{
  CclComponentTable components;
  uint32_t *starts; /* CclSlotTable.starts */
};

/* The numbers of pixels of a block (BLOCK_W in the paper), of a lane, and of a warp with a block
 * for each lane. */
template <typename Word> struct Ha4
{
  static constexpr int block = 8 * sizeof (Word);
  static constexpr int lane_pixels = block / WARP_LANES;
  static constexpr uint32_t chunk = block * WARP_LANES;
};

/* Algorithm 1, or algorithm 7 for 64 pixels: counts the pixels that are set directly left of pixel
 * @x. */
static __device__ inline int
start_distance (uint32_t pixels, int x)
{
  return x == 0 ? 0 : __clz (~(pixels << (32 - x)));
}

static __device__ inline int
start_distance (uint64_t pixels, int x)
{
  return x == 0 ? 0 : __clzll (~(pixels << (64 - x)));
}

/* The same algorithms: counts the pixels that are set from pixel @x on. */
static __device__ inline int
end_distance (uint32_t pixels, int x)
{
  uint32_t clear = ~(pixels >> x);

  return clear ? __ffs (clear) - 1 : 32;
}

static __device__ inline int
end_distance (uint64_t pixels, int x)
{
  uint64_t clear = ~(pixels >> x);

  return clear ? __ffsll (clear) - 1 : 64;
}

/* Whether a run starts at pixel @x of the block. A run that comes from the left starts at pixel
 * 0. */
template <typename Word>
static __device__ inline bool
is_start (Word pixels, int x)
{
  return (pixels >> x & 1) && start_distance (pixels, x) == 0;
}

/* Returns the pixel of this lane that can be the start of a run. */
template <typename Word>
static __device__ inline int
candidate (Word pixels)
{
  int x = Ha4<Word>::lane_pixels * (int) lane_id ();

  return Ha4<Word>::lane_pixels == 1 ? x : x + (int) (~pixels >> x & 1);
}

/* Loads the pixels of a block that a warp works on; 0 outside the frame. */
template <typename Word>
static __device__ inline Word
load_warp_block (const CclCudaFrame &f, uint32_t y, uint32_t base)
{
  const uint8_t *row = row_pixels (f, y);
  Word pixels = 0;

  for (uint32_t i = 0; i < Ha4<Word>::lane_pixels; i++) {
    bool set = y < f.height && foreground (f, row, base + i * WARP_LANES + lane_id ());

    pixels |= (Word) __ballot_sync (ALL_LANES, set) << i * WARP_LANES;
  }
  return pixels;
}

/* Loads the pixels of a block that this lane works on; 0 outside the frame. */
template <typename Word>
static __device__ inline Word
load_lane_block (const CclCudaFrame &f, uint32_t y, uint32_t base)
{
  const uint8_t *row = row_pixels (f, y);
  Word pixels = 0;

  for (uint32_t i = 0; i < Ha4<Word>::block; i += 32) {
    if (y < f.height && base + i < f.width)
      pixels |= (Word) foreground32 (f, row, base + i) << i;
  }
  return pixels;
}

/* Returns the slot of the label of the run that covers pixel @x; -1 is the pixel before the block.
 * @before: the number of pixels of that run to the left of the block. */
template <typename Word>
static __device__ inline uint32_t
label_slot (Word pixels, int x, uint32_t base, uint32_t before)
{
  int distance = x < 0 ? x : start_distance (pixels, x);

  return (distance == x ? base - before : base + x - distance) / 2;
}

/* Adds the pixels that the run @label has in this block. @first: whether these are its first
 * pixels. */
template <typename Word>
static __device__ inline void
start_features (const Ha4Tables &t, uint32_t label, Word pixels, int x, uint32_t base, uint32_t y,
                bool first)
{
  uint32_t start = base + x;
  FeatureRecord r = record_of_run (t.components, start, start + end_distance (pixels, x), y);

  if (first) {
    t.starts[label] = start;
    features_begin (t.components, label, r);
  } else {
    features_add_otf (t.components, label, r);
  }
}

/* Initializes the labels of a row's runs in the columns from @base on. A run that comes from the
 * left points to its start, @before pixels away. */
template <typename Word, bool on_the_fly>
static __device__ inline void
init_labels (const CclCudaFrame &f, const Ha4Tables &t, uint32_t y, uint32_t base, Word current,
             uint32_t before)
{
  int x = candidate (current);
  uint32_t slots = t.components.slots, slot = (base + x) / 2, row = y * slots;
  bool start = is_start (current, x);

  if (y >= f.height || slot >= slots)
    return;
  if (start) {
    bool first = x > 0 || before == 0;
    uint32_t label = row + (first ? slot : (base - before) / 2);

    t.components.parents[row + slot] = label;
    if (on_the_fly)
      start_features (t, label, current, x, base, y, first);
  } else if (Ha4<Word>::lane_pixels == 2 || (x % 2 == 0 && !is_start (current, x + 1))) {
    t.components.parents[row + slot] = CCL_NO_LABEL;
  }
}

/* Two blocks, one above the other. For the run that covers a block's first pixel, it counts the
 * pixels to the left of the block: as far as labels are concerned, and for contacts across the
 * block's left border. */
template <typename Word> struct Ha4Rows
{
  Word current, above;
  uint32_t current_before, above_before;
  uint32_t current_left, above_left;
};

/* Merges the labels of two rows; @y is the lower one. */
template <typename Word, bool on_the_fly>
static __device__ inline void
merge_rows (const CclCudaFrame &f, const CclComponentTable &t, uint32_t y, uint32_t base,
            const Ha4Rows<Word> &r)
{
  Rows rows = { r.current, r.above, r.current_left > 0, r.above_left > 0 };

  for (uint64_t starts = touching (f.connectivity, rows); starts; starts &= starts - 1) {
    int x = __ffsll ((long long) starts) - 1;
    int current_x = r.current >> x & 1 ? x : x - 1, above_x = r.above >> x & 1 ? x : x - 1;
    uint32_t label1 = y * t.slots + label_slot (r.current, current_x, base,
                                                current_x < 0 ? r.current_left : r.current_before);
    uint32_t label2 = (y - 1) * t.slots + label_slot (r.above, above_x, base,
                                                      above_x < 0 ? r.above_left : r.above_before);

    merge_components<on_the_fly> (t, label1, label2);
  }
}

/* Returns the length of the run that ends with the block's last pixel, including the @before pixels
 * that it has to the left of the block. */
template <typename Word>
static __device__ inline uint32_t
run_at_end (Word pixels, uint32_t before)
{
  uint32_t length = start_distance (pixels, Ha4<Word>::block);

  return length == Ha4<Word>::block ? length + before : length;
}

/* Counts the pixels to the left of this lane's block that the run that continues into the block
 * has. The lanes' blocks are side by side. @carry: the count for the first block; set to that for
 * the block after the last one. */
template <typename Word>
static __device__ inline uint32_t
run_before (Word pixels, uint32_t *carry)
{
  uint32_t ending = start_distance (pixels, Ha4<Word>::block), lane = lane_id ();
  uint32_t full = __ballot_sync (ALL_LANES, ending == Ha4<Word>::block);
  uint32_t between = start_distance ((Word) full, (int) lane); /* full blocks left of this one */
  uint32_t before = __shfl_sync (ALL_LANES, ending, lane - between - 1);

  before = between * Ha4<Word>::block + (lane > between ? before : *carry);
  *carry = __shfl_sync (ALL_LANES, run_at_end (pixels, before), WARP_LANES - 1);
  return before;
}

/* Algorithm 3. The pixels of the next blocks are loaded while the current ones are labelled. */
template <typename Word, bool on_the_fly>
static __global__ void
ha4_label_strips (CclCudaFrame f, Ha4Tables t)
{
  __shared__ Word shared_pixels[HA4_STRIP][WARP_LANES];
  __shared__ uint32_t shared_before[HA4_STRIP][WARP_LANES];
  const uint32_t block = Ha4<Word>::block, chunk = Ha4<Word>::chunk;
  uint32_t y = blockIdx.x * HA4_STRIP + threadIdx.y, lane = lane_id (), carry = 0;
  uint32_t chunks = (f.width - 1) / chunk + 1;
  Word next = load_lane_block<Word> (f, y, lane * block);

  for (uint32_t c = 0; c < chunks; c++) {
    uint32_t first = c * chunk, base = first + lane * block;
    uint32_t here = min (f.width - first, chunk);
    Word pixels = next;
    uint32_t before = run_before (pixels, &carry);

    next = load_lane_block<Word> (f, y, base + chunk);
    __syncthreads (); /* shared memory has been read */
    shared_pixels[threadIdx.y][lane] = pixels;
    shared_before[threadIdx.y][lane] = before;
    for (uint32_t i = 0; i * block < here; i++) {
      init_labels<Word, on_the_fly> (f, t, y, first + i * block, warp_shuffle (pixels, i),
                                     __shfl_sync (ALL_LANES, before, i));
      __syncwarp (); /* a block's labels are there for the next one's features */
    }
    __syncthreads ();
    if (threadIdx.y > 0) {
      uint32_t above_before = shared_before[threadIdx.y - 1][lane];
      Word above = shared_pixels[threadIdx.y - 1][lane];
      Ha4Rows<Word> r = { pixels, above, before, above_before, before, above_before };

      merge_rows<Word, on_the_fly> (f, t.components, y, base, r);
    }
  }
}

/* Returns the length of the run that ends where this lane's block begins, within the block before
 * it. */
template <typename Word>
static __device__ inline uint32_t
run_at_left (const CclCudaFrame &f, uint32_t y, uint32_t base, Word pixels)
{
  const uint32_t block = Ha4<Word>::block;
  uint32_t left = __shfl_up_sync (ALL_LANES, run_at_end (pixels, 0), 1);

  if (lane_id () == 0)
    left = base > 0 ? run_at_end (load_lane_block<Word> (f, y, base - block), 0) : 0;
  return left;
}

/* Algorithm 4. The first pixel of a block that continues a run points to the run's start. So the
 * block's own pixels lead to every label, except for pixels that touch diagonally across its left
 * border. */
template <typename Word, bool on_the_fly>
static __global__ void
ha4_merge_strips (CclCudaFrame f, CclComponentTable t)
{
  uint32_t chunks = (f.width - 1) / Ha4<Word>::chunk + 1;
  size_t index = (size_t) blockIdx.x * blockDim.y + threadIdx.y, border = index / chunks;
  uint32_t base =
      (uint32_t) (index - border * chunks) * Ha4<Word>::chunk + lane_id () * Ha4<Word>::block;
  uint32_t y = (uint32_t) (border + 1) * HA4_STRIP;
  Ha4Rows<Word> r;

  if (border >= (f.height - 1) / HA4_STRIP)
    return;
  r.current = load_lane_block<Word> (f, y, base);
  r.above = load_lane_block<Word> (f, y - 1, base);
  r.current_before = r.above_before = 0;
  r.current_left = run_at_left (f, y, base, r.current);
  r.above_left = run_at_left (f, y - 1, base, r.above);
  merge_rows<Word, on_the_fly> (f, t, y, base, r);
}

/* A block of pixels. */
template <typename Word> struct Ha4Block
{
  uint32_t y, base;
  Word pixels;
};

/* Gets the calling warp's block of the frame; returns false if there is none. */
template <typename Word>
static __device__ inline bool
get_warp_block (const CclCudaFrame &f, Ha4Block<Word> *block)
{
  uint32_t blocks = (f.width - 1) / Ha4<Word>::block + 1;
  size_t index = (size_t) blockIdx.x * blockDim.y + threadIdx.y;

  if (index >= (size_t) f.height * blocks)
    return false;
  block->y = (uint32_t) (index / blocks);
  block->base = (uint32_t) (index - (size_t) block->y * blocks) * Ha4<Word>::block;
  block->pixels = load_warp_block<Word> (f, block->y, block->base);
  return true;
}

/* Algorithm 6: adds the run that starts at this lane's pixel. @conflict_detection: reduce the runs
 * of one component in a warp first (Lemaitre 2021, section 3.3). */
template <typename Word, bool conflict_detection>
static __global__ void
ha4_add_runs (CclCudaFrame f, Ha4Tables t)
{
  uint32_t root = CCL_NO_LABEL;
  FeatureRecord r = record_empty ();
  Ha4Block<Word> block;
  int x;

  if (!get_warp_block (f, &block))
    return;
  x = candidate (block.pixels);
  if (is_start (block.pixels, x)) {
    uint32_t start = block.base + x, slot = block.y * t.components.slots + start / 2;

    root = t.components.parents[slot];
    if (root == slot)
      t.starts[root] = start;
    r = record_of_run (t.components, start, start + end_distance (block.pixels, x), block.y);
  }
  if (conflict_detection)
    features_add_warp (t.components, root, r);
  else if (root != CCL_NO_LABEL)
    features_add (t.components, root, r);
}

/* Returns the number of blocks of kernels that call get_warp_block(). */
template <typename Word>
static inline unsigned
warp_block_grid (const CclCudaFrame *f)
{
  return warp_grid (f->height * (size_t) ((f->width - 1) / Ha4<Word>::block + 1), HA4_STRIP);
}

static inline dim3
strip_threads (void)
{
  return dim3 (WARP_LANES, HA4_STRIP);
}

static inline Ha4Tables
tables_of (const CclCudaWork *work)
{
  return Ha4Tables{ work->components, work->slots.starts };
}

/* Builds the forest of labels: first inside the strips, then across the borders between them. */
template <typename Word, bool on_the_fly>
static inline cudaError_t
ha4_label (const CclCudaWork *work, cudaStream_t stream)
{
  const CclCudaFrame *f = &work->frame;
  size_t chunks = (f->width - 1) / Ha4<Word>::chunk + 1, borders = (f->height - 1) / HA4_STRIP;
  cudaError_t error;

  error = launch (ha4_label_strips<Word, on_the_fly>, warp_grid (f->height, HA4_STRIP),
                  strip_threads (), 0, stream, *f, tables_of (work));
  ccl_cuda_stage (work, "strip labeling", stream);
  if (error == cudaSuccess && borders > 0)
    error = launch (ha4_merge_strips<Word, on_the_fly>, warp_grid (borders * chunks, HA4_STRIP),
                    strip_threads (), 0, stream, *f, work->components);
  ccl_cuda_stage (work, "border merging", stream);
  return error;
}

/* Enqueues ha4_label<uint64_t, false> (). */
extern "C" cudaError_t ccl_cuda_ha4_label (const CclCudaWork *work, cudaStream_t stream);

/* CclCudaAlgorithm.select(), for every variant. */
extern "C" cudaError_t ccl_cuda_ha4_select (const CclCudaWork *work, cudaStream_t stream);

/* Enqueues what follows the labelling where features are summed up over the labelled image. */
template <typename Word, bool conflict_detection>
static inline cudaError_t
ha4_add_features (const CclCudaWork *work, cudaStream_t stream)
{
  const CclCudaFrame *f = &work->frame;
  cudaError_t error = ccl_cuda_compress_slots (work, NULL, stream);

  if (error == cudaSuccess)
    error = launch (ha4_add_runs<Word, conflict_detection>, warp_block_grid<Word> (f),
                    strip_threads (), 0, stream, *f, tables_of (work));
  ccl_cuda_stage (work, "features", stream);
  return error == cudaSuccess ? ccl_cuda_finish (work, stream) : error;
}

#define HA4_ALGORITHM(name, description, enqueue)                                    \
  {                                                                                  \
    { name, description, CCL_BACKEND_CUDA, 4 | 8 }, 0, ccl_cuda_slots_open, enqueue, \
        ccl_cuda_slots_count_areas, ccl_cuda_ha4_select, NULL, NULL                  \
  }

#endif
