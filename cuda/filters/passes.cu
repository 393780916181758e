/* cudaccl - CUDA backend: median, erosion and dilation of masks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A block owns a tile of the mask. It loads the tile with a halo as wide as all passes of the
 * launch together reach, a word on either side and CclPasses.reach rows, and does the passes in
 * shared memory. Each pass needs fewer rows of the halo than the one before; blocks repeat each
 * other's work there. A warp handles whole rows, one word per lane, and gets neighbouring words by
 * shuffles, so that a pass takes one barrier. The last pass writes to the mask.
 *
 * A window contains the frame's border pixels wherever it reaches beyond the border. So erosion and
 * dilation, which ignore what is outside, may repeat the border pixels as the median does: rows
 * outside the frame are copies of the nearest row inside. For words:
 * F1. The pixels past the width in a row's last word are copies of its last pixel.
 * F2. The words to the left of the first and to the right of the last one are not stored: they
 *     consist of copies of the first and the last pixel.
 * F3. A word at the outer side of the halo lacks its outer neighbour. So each pass spoils some more
 *     pixels there, never more than its reach; with a total reach of 32 the tile depends on none of
 *     these.
 * F4. A pass reads one buffer and writes the other, with a barrier between passes. A launch never
 *     writes where it reads from global memory. */

#include "cuda/device/foreground.cuh"
#include "cuda/device/launch.cuh"
#include "cuda/device/passes.cuh"
#include "cuda/device/warp.cuh"
#include "cuda/filters/passes.h"
#include "cuda/tile/tile.cuh"

#define PASS_HALO 1 /* words on either side */
#define PASS_COLUMNS WARP_LANES
#define PASS_WORDS (PASS_COLUMNS - 2 * PASS_HALO) /* words of 32 pixels in a row of a tile */
#define QUAD_ROWS 4   /* rows that a thread handles at a time, below each other */
#define PASS_WARPS 16 /* of a block, at most */
#define PASS_ROWS 128 /* in shared memory, at most */

static_assert (CCL_PASSES_REACH <= PASS_HALO * 32, "the halo is wide enough (F3)");

/* A block's tile as one of its threads sees it. Rows are numbered as in shared memory. */
struct PassTile
{
  uint32_t word;              /* this thread's column in the frame; has wrapped left of the frame */
  uint32_t words;             /* of the frame */
  uint32_t lane, warp, warps; /* of this thread and its block */
  uint32_t last, past;        /* bits of the word: the row's last pixel, and all past it */
  int32_t top, bottom;        /* the rows inside the frame: from top to bottom - 1 */
  int32_t first_row;          /* the position of row 0 in the frame; may be negative */
  uint32_t frame, height;     /* the number in the batch; the rows of the tile */
};

static __device__ inline PassTile
pass_tile (const CclCudaFrame &f, const CclPasses &passes)
{
  uint32_t row = divide (blockIdx.x, passes.columns, passes.column_reciprocal), y;
  PassTile t;

  t.frame = divide (row, passes.rows, passes.row_reciprocal);
  y = (row - t.frame * passes.rows) * passes.tile_height;
  t.lane = threadIdx.x % WARP_LANES;
  t.warp = threadIdx.x / WARP_LANES;
  t.warps = blockDim.x / WARP_LANES;
  t.word = (blockIdx.x - row * passes.columns) * PASS_WORDS + t.lane - PASS_HALO;
  t.words = (f.width - 1) / 32 + 1;
  t.last = 1u << (f.width - 1) % 32;
  t.past = t.word == t.words - 1 ? ~(t.last | (t.last - 1)) : 0;
  t.height = min (passes.tile_height, passes.height - y);
  t.first_row = (int32_t) y - (int32_t) passes.reach;
  t.top = max (-t.first_row, 0);
  t.bottom = min ((int32_t) (t.height + 2 * passes.reach), (int32_t) passes.height - t.first_row);
  return t;
}

static __device__ inline bool
in_frame (const PassTile &t)
{
  return t.word < t.words;
}

/* Repeats the last pixel past the width (F1). */
static __device__ inline uint32_t
repeat_last (const PassTile &t, uint32_t word)
{
  return word & t.last ? word | t.past : word & ~t.past;
}

/* Returns where row @row, which is inside the frame, lies in the batch. */
static __device__ inline size_t
row_of_frame (const CclPasses &passes, const PassTile &t, int32_t row)
{
  return (size_t) t.frame * (passes.height + 1) + (uint32_t) (t.first_row + row);
}

/* Loads the foreground of this thread's word in QUAD_ROWS rows from @row on; all loads overlap. */
static __device__ inline void
load_quad_words (const CclCudaFrame &f, const CclPasses &passes, const PassTile &t, int32_t row,
                 uint32_t words[QUAD_ROWS])
{
  uint32_t x = t.word * 32;
  const uint8_t *pixels = row_pixels (f, 0) + row_of_frame (passes, t, row) * f.pitch;
  bool aligned = (((uintptr_t) f.pixels | f.pitch) & 15) == 0 && f.width - x >= 32;

  if (f.bits) {
#pragma unroll
    for (int32_t k = 0; k < QUAD_ROWS; k++)
      words[k] = row + k < t.bottom ? mask_word (f, pixels + k * f.pitch, x) : 0;
  } else if (aligned) {
    uint4 low[QUAD_ROWS], high[QUAD_ROWS];

#pragma unroll
    for (int32_t k = 0; k < QUAD_ROWS; k++) {
      const uint4 *from = (const uint4 *) (pixels + k * f.pitch + x);

      low[k] = row + k < t.bottom ? __ldg (from) : uint4{};
      high[k] = row + k < t.bottom ? __ldg (from + 1) : uint4{};
    }
#pragma unroll
    for (int32_t k = 0; k < QUAD_ROWS; k++) {
      uint32_t bytes[8] = { low[k].x,  low[k].y,  low[k].z,  low[k].w,
                            high[k].x, high[k].y, high[k].z, high[k].w };

      words[k] = foreground_bits (f, bytes, 8);
    }
  } else {
#pragma unroll 1
    for (int32_t k = 0; k < QUAD_ROWS; k++)
      words[k] = row + k < t.bottom ? foreground32 (f, pixels + k * f.pitch, x) : 0;
  }
}

/* Loads the tile and its halo. */
static __device__ inline void
load_rows (const CclCudaFrame &f, const CclPasses &passes, const PassTile &t, uint32_t *to)
{
  const uint32_t *region = (const uint32_t *) passes.region + t.word;

#pragma unroll 1
  for (int32_t row = t.top + t.warp * QUAD_ROWS; row < t.bottom; row += t.warps * QUAD_ROWS) {
    uint32_t words[QUAD_ROWS] = {};

    if (in_frame (t))
      load_quad_words (f, passes, t, row, words);
#pragma unroll
    for (int32_t k = 0; k < QUAD_ROWS; k++) {
      if (row + k >= t.bottom)
        break;
      if (passes.region && in_frame (t))
        words[k] &= __ldg (region + (t.first_row + row + k) * 2 * passes.pitch);
      to[(row + k) * PASS_COLUMNS + t.lane] = repeat_last (t, words[k]);
    }
  }
}

/* Returns this lane's word in row @row or, outside the frame, in the nearest row inside. */
static __device__ inline uint32_t
nearest_word (const PassTile &t, const uint32_t *from, int32_t row)
{
  return from[min (max (row, t.top), t.bottom - 1) * PASS_COLUMNS + t.lane];
}

/* Gets the words to the left and right of each lane's @here (F2). Beside the halo they may have any
 * value (F3). Called by whole warps. */
static __device__ inline WordAround
words_around (const PassTile &t, uint32_t here)
{
  uint32_t left = warp_shuffle_up (here, 1);
  uint32_t right = warp_shuffle_down (here, 1);
  WordAround w = { t.word == 0 ? 0 - (here & 1) : left, here,
                   t.word == t.words - 1 ? 0 - (here >> 31) : right };

  return w;
}

/* These do QUAD_ROWS rows of a pass, from @row on. Called by whole warps. */

template <uint32_t size>
static __device__ inline void
median_quad (const PassTile &t, const uint32_t *from, int32_t row, uint32_t words[QUAD_ROWS])
{
  RowCount counts[QUAD_ROWS + size - 1];

#pragma unroll
  for (int32_t i = 0; i < (int32_t) (QUAD_ROWS + size - 1); i++)
    counts[i] =
        count_row<size> (words_around (t, nearest_word (t, from, row + i - (int32_t) size / 2)));
#pragma unroll
  for (int32_t k = 0; k < QUAD_ROWS; k++)
    words[k] = median_of_rows<size> (&counts[k]);
}

/* Dilates by @reach rows up and down. @flip: all ones to dilate the background, else 0. */
static __device__ inline void
dilate_rows (const PassTile &t, const uint32_t *from, int32_t reach, uint32_t flip, int32_t row,
             uint32_t words[QUAD_ROWS])
{
  uint32_t above = 0, below = 0, all = 0;

  if (2 * reach < QUAD_ROWS - 2) {
#pragma unroll
    for (int32_t k = 0; k < QUAD_ROWS; k++)
      words[k] = nearest_word (t, from, row + k) ^ flip;
    return;
  }
  /* First the rows that all windows share, then those of some windows. */
#pragma unroll 4
  for (int32_t y = row + QUAD_ROWS - 1 - reach; y <= row + reach; y++)
    all |= nearest_word (t, from, y) ^ flip;
#pragma unroll
  for (int32_t k = QUAD_ROWS - 1; k >= 0; k--) {
    words[k] = all | above;
    if (k > 0)
      above |= nearest_word (t, from, row - reach + k - 1) ^ flip;
  }
#pragma unroll
  for (int32_t k = 1; k < QUAD_ROWS; k++) {
    below |= nearest_word (t, from, row + reach + k) ^ flip;
    words[k] |= below;
  }
}

static __device__ inline void
rectangle_quad (const PassTile &t, const uint32_t *from, CclPass pass, int32_t row,
                uint32_t (&words)[QUAD_ROWS])
{
  uint32_t flip = 0 - (uint32_t) CCL_PASS_ERODES (pass);

  dilate_rows (t, from, CCL_PASS_REACH_Y (pass), flip, row, words);
  if (CCL_PASS_REACH_X (pass) > 0) {
    WordAround around[QUAD_ROWS];

#pragma unroll
    for (int32_t k = 0; k < QUAD_ROWS; k++)
      around[k] = words_around (t, words[k]);
    dilate_words (around, CCL_PASS_REACH_X (pass), words);
  }
#pragma unroll
  for (int32_t k = 0; k < QUAD_ROWS; k++)
    words[k] ^= flip;
}

/* Does one pass over the tile and @around rows above and below it, from @from to @to, both in
 * shared memory. The last pass, with @to NULL, writes to the mask. */
static __device__ inline void
do_pass (const CclPasses &passes, PassTile t, CclPass pass, int32_t around, const uint32_t *from,
         uint32_t *to)
{
  int32_t reach = (int32_t) passes.reach, first = max (reach - around, t.top);
  int32_t end = min (reach + (int32_t) t.height + around, t.bottom);
  bool stores = in_frame (t) && t.lane >= PASS_HALO && t.lane < PASS_HALO + PASS_WORDS;

  /* Rows past the end are computed, too, and dropped; they must only read rows that the last pass
   * wrote. */
  t.bottom = min (t.bottom, end + CCL_PASS_REACH_Y (pass));

#pragma unroll 1
  for (int32_t row = first + t.warp * QUAD_ROWS; row < end; row += t.warps * QUAD_ROWS) {
    uint32_t words[QUAD_ROWS];

    if (CCL_PASS_KIND (pass) == CCL_PASS_RECTANGLE)
      rectangle_quad (t, from, pass, row, words);
    else if (CCL_PASS_REACH_X (pass) == 1)
      median_quad<3> (t, from, row, words);
    else
      median_quad<5> (t, from, row, words);
#pragma unroll
    for (int32_t k = 0; k < QUAD_ROWS; k++) {
      uint32_t word = repeat_last (t, words[k]);

      if (row + k >= end)
        break;
      if (to)
        to[(row + k) * PASS_COLUMNS + t.lane] = word;
      else if (stores)
        ((uint32_t *) passes.to)[row_of_frame (passes, t, row + k) * 2 * passes.pitch + t.word] =
            word;
    }
  }
}

/* The rows of a tile and its halo. */
static __host__ __device__ inline uint32_t
rows_with_halo (const CclPasses &passes)
{
  return passes.tile_height + 2 * passes.reach;
}

static_assert (CCL_MAX_PASSES == 8, "the codes are two words");

/* A block for each tile. */
static __global__ void
__launch_bounds__ (PASS_WARPS *WARP_LANES) mask_passes (CclCudaFrame f, CclPasses passes)
{
  extern __shared__ uint32_t memory[];
  PassTile t = pass_tile (f, passes);
  uint32_t *from = memory, *to = from + rows_with_halo (passes) * PASS_COLUMNS;
  uint32_t around = passes.reach;
  uint64_t codes = passes.codes[0], more = passes.codes[1];

  load_rows (f, passes, t, from);
#pragma unroll 1
  for (uint32_t i = 0; i < passes.n; i++) {
    CclPass pass = (CclPass) codes;
    uint32_t *other = from;

    around -= CCL_PASS_REACH_Y (pass);
    __syncthreads ();
    do_pass (passes, t, pass, (int32_t) around, from, i + 1 < passes.n ? to : NULL);
    codes = codes >> 16 | more << 48;
    more >>= 16;
    from = to;
    to = other;
  }
}

extern "C" void
ccl_cuda_passes_plan (const CclCudaFrame *frame, uint32_t processors, CclPasses *passes)
{
  uint32_t words = (frame->width - 1) / 32 + 1, most, rows;

  if (passes->n == 0) /* only a region: a pass that changes nothing stores the mask */
    passes->codes[passes->n++] = CCL_PASS (CCL_PASS_RECTANGLE, 0, 0, 0);
  passes->columns = (words - 1) / PASS_WORDS + 1;
  /* As many tiles as multiprocessors, unless tiles would be too high, or their halo much higher
   * than they are. */
  rows =
      (uint32_t) (((uint64_t) passes->height * passes->frames * passes->columns - 1) / processors +
                  1);
  most = PASS_ROWS - 2 * passes->reach;
  passes->tile_height = min (max (rows, 8u), most);
  passes->rows = (passes->height - 1) / passes->tile_height + 1;
  passes->column_reciprocal = UINT32_MAX / passes->columns;
  passes->row_reciprocal = UINT32_MAX / passes->rows;
}

extern "C" cudaError_t
ccl_cuda_passes_enqueue (const CclCudaFrame *frame, const CclPasses *passes, cudaStream_t stream)
{
  uint32_t rows = rows_with_halo (*passes);
  uint32_t warps = min ((rows - 1) / QUAD_ROWS + 1, (uint32_t) PASS_WARPS);
  size_t size = (passes->n > 1 ? 2 : 1) * rows * PASS_COLUMNS * sizeof (uint32_t);

  return launch (mask_passes, passes->columns * passes->rows * passes->frames, warps * WARP_LANES,
                 size, stream, *frame, *passes);
}
