/* cudaccl - CUDA backend: median, erosion and dilation of masks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A block owns a tile of the mask. It loads the tile and what lies around it as far as all passes
 * together look, FILTER_HALO words and CclFilters.reach rows, and does the passes in shared memory:
 * each needs fewer rows around the tile than the one before, and what it does in the halo is done
 * again by the blocks that own it.
 *
 * A window contains the frame's border pixel wherever it reaches beyond the border. So erosion and
 * dilation, which ignore what is outside, may repeat the border pixels as the median does: rows are
 * clamped to the frame, and these hold for words:
 * F1. The pixels past the width in a row's last word are copies of its last pixel.
 * F2. The words left of the first and right of the last one are not stored: their pixels are copies
 *     of the first and of the last pixel.
 * F3. A word's outer neighbour in the halo is missing. So each pass spoils some pixels more at the
 *     outer side of the halo, but with a total reach of 32 none that the tile depends on. */

#include "cuda/device/foreground.cuh"
#include "cuda/device/launch.cuh"
#include "cuda/device/morphology.cuh"
#include "cuda/motion/morphology.h"
#include "cuda/tile/tile.cuh"

#define FILTER_WORDS 16 /* of 32 pixels, in a row of a tile */
#define FILTER_HALO 1   /* on either side */
#define FILTER_COLUMNS (FILTER_WORDS + 2 * FILTER_HALO)
#define FILTER_PITCH                                                                             \
  21                    /* of rows in shared memory: hardly any bank conflicts between QUAD_ROWS \
                         */
#define QUAD_ROWS 4     /* of a thread, one below the other */
#define FILTER_QUADS 16 /* of a block at a time */
#define FILTER_THREADS (FILTER_QUADS * FILTER_COLUMNS)
#define FILTER_ROWS 128 /* in shared memory, at most */

static_assert (CCL_FILTER_REACH <= FILTER_HALO * 32, "the halo is wide enough (F3)");

/* A block's tile as a thread sees it. Rows are those in shared memory. */
struct FilterTile
{
  uint32_t word;          /* of the frame, of this thread's column: wraps left of the frame */
  uint32_t words;         /* of the frame */
  uint32_t column, quad;  /* of this thread, in the block */
  uint32_t last, past;    /* bits of the word: the frame's last pixel, and all past it */
  int32_t top, bottom;    /* the rows that are in the frame, from top up to, without, bottom */
  int32_t first_row;      /* in the frame, of row 0; may be negative */
  uint32_t frame, height; /* of the batch; rows of the tile */
};

static __device__ inline FilterTile
filter_tile (const CclCudaFrame &f, const CclFilters &filters)
{
  uint32_t row = divide (blockIdx.x, filters.columns, filters.column_reciprocal), y;
  FilterTile t;

  t.frame = divide (row, filters.rows, filters.row_reciprocal);
  y = (row - t.frame * filters.rows) * filters.tile_height;
  t.quad = threadIdx.x / FILTER_COLUMNS;
  t.column = threadIdx.x - t.quad * FILTER_COLUMNS;
  t.word = (blockIdx.x - row * filters.columns) * FILTER_WORDS + t.column - FILTER_HALO;
  t.words = (f.width - 1) / 32 + 1;
  t.last = 1u << (f.width - 1) % 32;
  t.past = t.word == t.words - 1 ? ~(t.last | (t.last - 1)) : 0;
  t.height = min (filters.tile_height, filters.height - y);
  t.first_row = (int32_t) y - (int32_t) filters.reach;
  t.top = max (-t.first_row, 0);
  t.bottom = min ((int32_t) (t.height + 2 * filters.reach), (int32_t) filters.height - t.first_row);
  return t;
}

static __device__ inline bool
in_frame (const FilterTile &t)
{
  return t.word < t.words;
}

/* Repeats the last pixel past the width (F1). */
static __device__ inline uint32_t
repeat_last (const FilterTile &t, uint32_t word)
{
  return word & t.last ? word | t.past : word & ~t.past;
}

/* The frame's row @row, which is in it. */
static __device__ inline size_t
row_of_frame (const CclFilters &filters, const FilterTile &t, int32_t row)
{
  return (size_t) t.frame * (filters.height + 1) + (uint32_t) (t.first_row + row);
}

/* Loads the foreground of this thread's word in QUAD_ROWS rows from @row on, all requested at
 * once. */
static __device__ inline void
load_quad_words (const CclCudaFrame &f, const CclFilters &filters, const FilterTile &t, int32_t row,
                 uint32_t words[QUAD_ROWS])
{
  uint32_t x = t.word * 32;
  const uint8_t *pixels = row_pixels (f, 0) + row_of_frame (filters, t, row) * f.pitch;
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

/* Loads all that the passes need. */
static __device__ inline void
load_rows (const CclCudaFrame &f, const CclFilters &filters, const FilterTile &t, uint32_t *to)
{
  const uint32_t *region = (const uint32_t *) filters.region + t.word;

  if (!in_frame (t))
    return;
#pragma unroll 1
  for (int32_t row = t.top + t.quad * QUAD_ROWS; row < t.bottom; row += FILTER_QUADS * QUAD_ROWS) {
    uint32_t words[QUAD_ROWS];

    load_quad_words (f, filters, t, row, words);
#pragma unroll
    for (int32_t k = 0; k < QUAD_ROWS; k++) {
      if (row + k >= t.bottom)
        break;
      if (filters.region)
        words[k] &= __ldg (region + (t.first_row + row + k) * 2 * filters.pitch);
      to[(row + k) * FILTER_PITCH + t.column] = repeat_last (t, words[k]);
    }
  }
}

/* This thread's column in the frame's nearest row. */
static __device__ inline const uint32_t *
nearest_word (const FilterTile &t, const uint32_t *from, int32_t row)
{
  return from + min (max (row, t.top), t.bottom - 1) * FILTER_PITCH + t.column;
}

/* The same with the words beside it (F2). Those beside the halo are anything (F3), but there is
 * shared memory. */
static __device__ inline WordAround
nearest_words (const FilterTile &t, const uint32_t *from, int32_t row)
{
  const uint32_t *word = nearest_word (t, from, row);
  uint32_t left = word[-1], here = word[0], right = word[1];
  WordAround w = { t.word == 0 ? 0 - (here & 1) : left, here,
                   t.word == t.words - 1 ? 0 - (here >> 31) : right };

  return w;
}

/* QUAD_ROWS rows of a pass, from @row on. */

template <uint32_t size>
static __device__ inline void
median_quad (const FilterTile &t, const uint32_t *from, int32_t row, uint32_t words[QUAD_ROWS])
{
  RowCount counts[QUAD_ROWS + size - 1];

#pragma unroll
  for (int32_t i = 0; i < (int32_t) (QUAD_ROWS + size - 1); i++)
    counts[i] = count_row<size> (nearest_words (t, from, row + i - (int32_t) size / 2));
#pragma unroll
  for (int32_t k = 0; k < QUAD_ROWS; k++)
    words[k] = median_of_rows<size> (&counts[k]);
}

static __device__ inline void
horizontal_quad (const FilterTile &t, const uint32_t *from, CclPass pass, int32_t row,
                 uint32_t (&words)[QUAD_ROWS])
{
  uint32_t flip = 0 - (uint32_t) CCL_PASS_ERODES (pass);
  WordAround around[QUAD_ROWS];

#pragma unroll
  for (int32_t k = 0; k < QUAD_ROWS; k++) {
    WordAround w = nearest_words (t, from, row + k);

    around[k] = { w.left ^ flip, w.here ^ flip, w.right ^ flip };
  }
  dilate_words (around, CCL_PASS_REACH (pass), words);
#pragma unroll
  for (int32_t k = 0; k < QUAD_ROWS; k++)
    words[k] ^= flip;
}

static __device__ inline void
vertical_quad (const FilterTile &t, const uint32_t *from, CclPass pass, int32_t row,
               uint32_t words[QUAD_ROWS])
{
  int32_t reach = CCL_PASS_REACH (pass);
  uint32_t flip = 0 - (uint32_t) CCL_PASS_ERODES (pass), above[QUAD_ROWS - 1], below[QUAD_ROWS - 1],
           all = 0;

  /* Rows that all windows have; then those of some. */
#pragma unroll 4
  for (int32_t y = row + QUAD_ROWS - 1 - reach; y <= row + reach; y++)
    all |= *nearest_word (t, from, y) ^ flip;
#pragma unroll
  for (int32_t k = 0; k < QUAD_ROWS - 1; k++) {
    above[k] = *nearest_word (t, from, row - reach + k) ^ flip;
    below[k] = *nearest_word (t, from, row + reach + 1 + k) ^ flip;
  }
  words[0] = (all | above[0] | above[1] | above[2]) ^ flip;
  words[1] = (all | above[1] | above[2] | below[0]) ^ flip;
  words[2] = (all | above[2] | below[0] | below[1]) ^ flip;
  words[3] = (all | below[0] | below[1] | below[2]) ^ flip;
}

static_assert (QUAD_ROWS == 4, "vertical_quad() has as many windows");

/* One pass over the tile and @around rows above and below it. */
static __device__ inline void
filter_rows (const CclFilters &filters, const FilterTile &t, CclPass pass, int32_t around,
             const uint32_t *from, uint32_t *to)
{
  int32_t reach = (int32_t) filters.reach, first = max (reach - around, t.top);
  int32_t end = min (reach + (int32_t) t.height + around, t.bottom);

  if (!in_frame (t))
    return;
#pragma unroll 1
  for (int32_t row = first + t.quad * QUAD_ROWS; row < end; row += FILTER_QUADS * QUAD_ROWS) {
    uint32_t words[QUAD_ROWS];

    if (CCL_PASS_KIND (pass) == CCL_PASS_VERTICAL)
      vertical_quad (t, from, pass, row, words);
    else if (CCL_PASS_KIND (pass) == CCL_PASS_HORIZONTAL)
      horizontal_quad (t, from, pass, row, words);
    else if (CCL_PASS_REACH (pass) == 1)
      median_quad<3> (t, from, row, words);
    else
      median_quad<5> (t, from, row, words);
#pragma unroll
    for (int32_t k = 0; k < QUAD_ROWS; k++) {
      if (row + k < end)
        to[(row + k) * FILTER_PITCH + t.column] = repeat_last (t, words[k]);
    }
  }
}

/* Writes the tile. */
static __device__ inline void
store_rows (const CclFilters &filters, const FilterTile &t, const uint32_t *from)
{
  uint32_t *to = (uint32_t *) filters.to + t.word;
  int32_t end = (int32_t) (filters.reach + t.height);

  if (!in_frame (t) || t.column < FILTER_HALO || t.column >= FILTER_HALO + FILTER_WORDS)
    return;
  for (int32_t row = (int32_t) (filters.reach + t.quad); row < end; row += FILTER_QUADS)
    to[row_of_frame (filters, t, row) * 2 * filters.pitch] = from[row * FILTER_PITCH + t.column];
}

/* The tile and what is around it. */
static __host__ __device__ inline uint32_t
shared_words (const CclFilters &filters)
{
  return (filters.tile_height + 2 * filters.reach) * FILTER_PITCH;
}

static_assert (CCL_MAX_PASSES == 16, "the passes are two words");

/* A block for each tile. */
static __global__ void
__launch_bounds__ (FILTER_THREADS) morphology_filter (CclCudaFrame f, CclFilters filters)
{
  extern __shared__ uint32_t memory[];
  FilterTile t = filter_tile (f, filters);
  uint32_t *from = memory + 1, *to = from + shared_words (filters);
  uint32_t around = filters.reach;
  uint64_t passes = filters.passes[0], more = filters.passes[1];

  load_rows (f, filters, t, from);
#pragma unroll 1
  for (uint32_t i = 0; i < filters.n; i++) {
    CclPass pass = (CclPass) passes;
    uint32_t *other = from;

    if (CCL_PASS_KIND (pass) != CCL_PASS_HORIZONTAL)
      around -= CCL_PASS_REACH (pass);
    __syncthreads ();
    filter_rows (filters, t, pass, (int32_t) around, from, to);
    passes = passes >> 8 | more << 56;
    more >>= 8;
    from = to;
    to = other;
  }
  __syncthreads ();
  store_rows (filters, t, from);
}

extern "C" void
ccl_cuda_filter_plan (const CclCudaFrame *frame, const CclCudaDevice *device, CclFilters *filters)
{
  uint32_t words = (frame->width - 1) / 32 + 1, most, rows;

  filters->columns = (words - 1) / FILTER_WORDS + 1;
  /* As many tiles as multiprocessors, unless they have much more halo than rows, or too many. */
  rows = (uint32_t) (((uint64_t) filters->height * filters->frames * filters->columns - 1) /
                         device->processors +
                     1);
  most = FILTER_ROWS - 2 * filters->reach;
  filters->tile_height = min (max (rows, 8u), most);
  filters->rows = (filters->height - 1) / filters->tile_height + 1;
  filters->column_reciprocal = UINT32_MAX / filters->columns;
  filters->row_reciprocal = UINT32_MAX / filters->rows;
}

extern "C" cudaError_t
ccl_cuda_filter (const CclCudaFrame *frame, const CclFilters *filters, cudaStream_t stream)
{
  size_t size = (2 * shared_words (*filters) + 2) * sizeof (uint32_t);

  return launch (morphology_filter, filters->columns * filters->rows * filters->frames,
                 FILTER_THREADS, size, stream, *frame, *filters);
}
