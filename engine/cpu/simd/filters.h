/* cudaccl - CPU backend: median filters, erosion and dilation of rows of bits
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Included by each instruction set's file, to be compiled for it. A filter passes over the rows
 * once and keeps what later rows need in rings of a few rows. Bits of neighbouring words come from
 * vectors in registers, so rows need no padding.
 *
 * Medians count the pixels of each row's window in bit planes with full adders, then add up the
 * counts of rows. Rectangles are separable, and a window of n pixels takes about log2 n steps:
 * windows of 1, 2, 4, ... pixels that end at a pixel are joined with those of the same length
 * further back. No step is longer than a word, so no side is longer than CCL_FILTER_SIDE.
 */

#ifndef CCL_CPU_SIMD_FILTERS_H
#define CCL_CPU_SIMD_FILTERS_H

#include "engine/cpu/functions.h"
#include "engine/cpu/simd/vector.h"

#include <string.h>

#define MOST_STEPS 7

/* A row's vectors. */
typedef struct RowShape
{
  size_t last;    /* index of the last word that begins a vector */
  unsigned words; /* of that vector, 1 to V64_LANES */
  unsigned spare; /* bits of it past the last pixel */
  V64 inside;     /* those that are pixels */
} RowShape;

INLINE RowShape
row_shape (uint32_t width)
{
  uint64_t words[V64_LANES] = { 0 };
  RowShape shape;

  shape.last = (size_t) (width - 1) / (64 * V64_LANES) * V64_LANES;
  shape.words = (unsigned) ((width - 1) / 64 - shape.last + 1);
  shape.spare = (unsigned) (64 * (shape.last + V64_LANES) - width);
  for (unsigned w = 0; w < shape.words; w++)
    words[w] = ~UINT64_C (0);
  words[shape.words - 1] >>= 63 - (width - 1) % 64;
  shape.inside = v64_load (words);
  return shape;
}

/* The vector of a row that begins with word @w, the bits outside as in @outside. */
INLINE V64
load_vector (const RowShape *shape, const uint64_t *row, size_t w, V64 outside)
{
  V64 v;

  if (w < shape->last)
    return v64_load (row + w);
  v = shape->words == V64_LANES ? v64_load (row + w) : v64_load_part (row + w, shape->words);
  return (v & shape->inside) | (outside & ~shape->inside);
}

INLINE void
store_vector (const RowShape *shape, uint64_t *row, size_t w, V64 v)
{
  if (w < shape->last)
    v64_store (row + w, v);
  else if (shape->words == V64_LANES)
    v64_store (row + w, v & shape->inside);
  else
    v64_store_part (row + w, v & shape->inside, shape->words);
}

/* Each pixel's value @n to the left; @before is the vector before @v. */
INLINE V64
from_left (V64 before, V64 v, unsigned n)
{
  return v << n | v64_previous (before, v) >> (64 - n);
}

INLINE V64
from_right (V64 v, V64 after, unsigned n)
{
  return v >> n | v64_next (v, after) << (64 - n);
}

/* A shift by a number of bits that the compiler does not know. Vectors of it shift faster than a
 * scalar does. */
typedef struct Shift
{
  V64 by, rest;
} Shift;

INLINE Shift
shift_by (unsigned n)
{
  return (Shift){ v64_set (n), v64_set (64 - n) };
}

/* Adds two numbers of @n bits and a carry; the sum has @n + 1 bits. */
INLINE void
add_planes (const V64 *a, const V64 *b, V64 carry, unsigned n, V64 *sum)
{
  for (unsigned i = 0; i < n; i++) {
    V64 x = a[i], y = b[i];

    sum[i] = v64_xor3 (x, y, carry);
    carry = v64_majority (x, y, carry);
  }
  sum[n] = carry;
}

/* How many of the three pixels around each are set, in two planes. */
INLINE void
count3 (V64 before, V64 v, V64 after, V64 *count)
{
  V64 left = from_left (before, v, 1), right = from_right (v, after, 1);

  count[0] = v64_xor3 (left, v, right);
  count[1] = v64_majority (left, v, right);
}

/* How many of five, in three planes. */
INLINE void
count5 (V64 before, V64 v, V64 after, V64 *count)
{
  V64 previous = v64_previous (before, v), next = v64_next (v, after);
  V64 left = v << 1 | previous >> 63, left2 = v << 2 | previous >> 62;
  V64 right = v >> 1 | next << 63, right2 = v >> 2 | next << 62;
  V64 three = v64_xor3 (left, v, right), twos = v64_majority (left, v, right);
  V64 more = v64_majority (three, left2, right2);

  count[0] = v64_xor3 (three, left2, right2);
  count[1] = twos ^ more;
  count[2] = twos & more;
}

/* Finds where more than half of 3 x 3 pixels are set. @now counts those of the last row, @above and
 * @oldest those of the two rows before it, in two planes each. @now replaces the oldest. */
INLINE V64
median3 (const V64 *now, const uint64_t *above, uint64_t *oldest, size_t words)
{
  V64 a[2] = { v64_load (above), v64_load (above + words) };
  V64 b[2] = { v64_load (oldest), v64_load (oldest + words) };
  V64 ones = v64_xor3 (now[0], a[0], b[0]), carry = v64_majority (now[0], a[0], b[0]);
  V64 twos = v64_xor3 (now[1], a[1], b[1]), fours = v64_majority (now[1], a[1], b[1]);

  v64_store (oldest, now[0]);
  v64_store (oldest + words, now[1]);
  /* ones + 2 (carry + twos) + 4 fours > 4 */
  return (fours & (ones | twos | carry)) | (ones & twos & carry);
}

/* Finds where more than half of 5 x 5 pixels are set. @now counts those of the last row, @counts
 * those of the four rows before it, the newest first, in three planes each. Each of @pairs is the
 * sum of two rows' counts, in four planes; two pairs add up to four rows. */
INLINE V64
median5 (const V64 *now, uint64_t *const *counts, uint64_t *const *pairs, size_t w, size_t words)
{
  V64 above[3], oldest[3], pair[4], pair_above[4], four[5], sum[4], carry;

  for (unsigned i = 0; i < 3; i++) {
    above[i] = v64_load (counts[0] + i * words + w);
    oldest[i] = v64_load (counts[3] + i * words + w);
    v64_store (counts[3] + i * words + w, now[i]);
  }
  add_planes (now, above, v64_set (0), 3, pair);
  for (unsigned i = 0; i < 4; i++) {
    pair_above[i] = v64_load (pairs[1] + i * words + w);
    v64_store (pairs[1] + i * words + w, pair[i]);
  }
  add_planes (pair, pair_above, v64_set (0), 4, four);
  add_planes (four, oldest, v64_set (0), 3, sum);
  carry = four[3] & sum[3];
  /* At least 13. */
  return four[4] | carry | ((four[3] ^ sum[3]) & sum[2] & (sum[1] | sum[0]));
}

/* The row @y, or the frame's nearest one. */
INLINE const uint64_t *
nearest_row (const CclFilter *filter, int64_t y)
{
  if (y < 0)
    y = 0;
  if (y >= filter->height)
    y = (int64_t) filter->height - 1;
  return filter->from + (size_t) y * filter->from_pitch;
}

/* Every bit of the vector as bit @x of the row. */
INLINE V64
repeat_bit (const uint64_t *row, uint32_t x)
{
  return v64_set (-(row[x / 64] >> x % 64 & 1));
}

/* Reads @row and writes @to, NULL while the rings are not full; they may be the same. */
INLINE void
median_row (const CclFilter *filter, const RowShape *shape, const uint64_t *row, uint64_t *to,
            uint64_t *const *counts, uint64_t *const *pairs, unsigned size)
{
  size_t words = ccl_filter_words (filter->width);
  V64 right = repeat_bit (row, filter->width - 1), before = repeat_bit (row, 0);
  V64 v = load_vector (shape, row, 0, right);

  for (size_t w = 0; w <= shape->last; w += V64_LANES) {
    V64 after = right, now[3], median;

    if (w < shape->last)
      after = load_vector (shape, row, w + V64_LANES, right);
    if (size == 3) {
      count3 (before, v, after, now);
      median = median3 (now, counts[0] + w, counts[1] + w, words);
    } else {
      count5 (before, v, after, now);
      median = median5 (now, counts, pairs, w, words);
    }
    if (to)
      store_vector (shape, to, w, median);
    before = v;
    v = after;
  }
}

static void
median3_rows (const CclFilter *filter, uint32_t y, uint32_t bottom)
{
  size_t words = ccl_filter_words (filter->width);
  uint64_t *counts[2] = { filter->scratch, filter->scratch + 2 * words };
  RowShape shape = row_shape (filter->width);

  for (int64_t row = (int64_t) y - 1; row <= bottom; row++) {
    uint64_t *oldest = counts[1], *to = NULL;

    if (row > y)
      to = filter->to + (size_t) (row - 1) * filter->to_pitch;
    median_row (filter, &shape, nearest_row (filter, row), to, counts, NULL, 3);
    counts[1] = counts[0];
    counts[0] = oldest;
  }
}

static void
median5_rows (const CclFilter *filter, uint32_t y, uint32_t bottom)
{
  size_t words = ccl_filter_words (filter->width);
  uint64_t *counts[4], *pairs[2];
  RowShape shape = row_shape (filter->width);

  for (unsigned i = 0; i < 4; i++)
    counts[i] = filter->scratch + 3 * i * words;
  for (unsigned i = 0; i < 2; i++)
    pairs[i] = filter->scratch + (12 + 4 * i) * words;
  for (int64_t row = (int64_t) y - 2; row <= (int64_t) bottom + 1; row++) {
    uint64_t *oldest = counts[3], *oldest_pair = pairs[1], *to = NULL;

    if (row >= (int64_t) y + 2)
      to = filter->to + (size_t) (row - 2) * filter->to_pitch;
    median_row (filter, &shape, nearest_row (filter, row), to, counts, pairs, 5);
    memmove (counts + 1, counts, 3 * sizeof *counts);
    counts[0] = oldest;
    pairs[1] = pairs[0];
    pairs[0] = oldest_pair;
  }
}

__attribute__ ((noinline)) static void
median_rows (const CclFilter *filter, unsigned size, uint32_t y, uint32_t bottom)
{
  if (size == 3)
    median3_rows (filter, y, bottom);
  else
    median5_rows (filter, y, bottom);
}

/* The steps that widen windows of one pixel: step i joins each with the one by[i] pixels back. */
typedef struct Steps
{
  unsigned n;
  unsigned by[MOST_STEPS];
} Steps;

INLINE Steps
steps_to (unsigned size)
{
  Steps steps = { 0 };

  for (unsigned length = 1; length < size;) {
    unsigned by = 2 * length <= size ? length : size - length;

    steps.by[steps.n++] = by;
    length += by;
  }
  return steps;
}

INLINE V64
join_windows (V64 a, V64 b, bool dilate)
{
  return dilate ? a | b : a & b;
}

/* Joins each pixel of @row (NULL: outside the frame) with those above it. Each of @n steps has a
 * ring of rows; slots[i] is its oldest row, which the newest one replaces. */
INLINE void
join_rows (const RowShape *shape, const uint64_t *row, uint64_t *line, uint64_t *const *slots,
           unsigned n, bool dilate)
{
  const V64 outside = v64_set (dilate ? 0 : ~UINT64_C (0));

  for (size_t w = 0; w <= shape->last; w += V64_LANES) {
    V64 v = row ? load_vector (shape, row, w, outside) : outside;

    for (unsigned i = 0; i < n; i++) {
      V64 above = v64_load (slots[i] + w);

      v64_store (slots[i] + w, v);
      v = join_windows (v, above, dilate);
    }
    v64_store (line + w, v);
  }
}

/* Returns the window that ends at each pixel of @v. @before has each step's previous vector, and is
 * updated for the next call. All steps but the last are powers of 2. */
INLINE V64
join_left (V64 v, V64 *before, Shift last, unsigned n, bool dilate)
{
  for (unsigned i = 0; i < n; i++) {
    V64 previous = v64_previous (before[i], v);
    V64 near = i + 1 < n ? v << (1u << i) : v << last.by;
    V64 far = i + 1 < n ? previous >> (64 - (1u << i)) : previous >> last.rest;

    before[i] = v;
    v = dilate ? v64_or3 (near, far, v) : v64_or_and (near, far, v);
  }
  return v;
}

/* Joins each pixel of the whole vectors of @line with @side pixels on either side. A window's end
 * is that many pixels to the right of its middle. */
INLINE void
join_pixels (const RowShape *shape, const uint64_t *line, uint64_t *to, const Steps *steps,
             unsigned n, bool dilate, unsigned side)
{
  const V64 outside = v64_set (dilate ? 0 : ~UINT64_C (0));
  const Shift last = shift_by (steps->by[n - 1]), middle = shift_by (side);
  V64 before[MOST_STEPS], window, next = outside;

  for (unsigned i = 0; i < n; i++)
    before[i] = outside;
  window = join_left (v64_load (line), before, last, n, dilate);
  for (size_t w = 0; w < shape->last; w += V64_LANES) {
    next = join_left (v64_load (line + w + V64_LANES), before, last, n, dilate);
    v64_store (to + w, window >> middle.by | v64_next (window, next) << middle.rest);
    window = next;
  }
  if (shape->spare < side)
    next = join_left (outside, before, last, n, dilate);
  store_vector (shape, to, shape->last,
                window >> middle.by | v64_next (window, next) << middle.rest);
}

#define STEPS_CASES(CASE) CASE (2) CASE (3) CASE (4) CASE (5) CASE (6) CASE (7)

INLINE void
join_rows_by (const RowShape *shape, const uint64_t *row, uint64_t *line, uint64_t *const *slots,
              unsigned n, bool dilate)
{
  switch (n) {
#define CASE(n)                                     \
  case n:                                           \
    join_rows (shape, row, line, slots, n, dilate); \
    break;
    CASE (0)
    STEPS_CASES (CASE)
#undef CASE
  }
}

INLINE void
join_pixels_by (const RowShape *shape, const uint64_t *line, uint64_t *to, const Steps *steps,
                bool dilate, unsigned side)
{
  switch (steps->n) {
  case 0:
    for (size_t w = 0; w <= shape->last; w += V64_LANES)
      store_vector (shape, to, w, v64_load (line + w));
    break;
#define CASE(n)                                            \
  case n:                                                  \
    join_pixels (shape, line, to, steps, n, dilate, side); \
    break;
    STEPS_CASES (CASE)
#undef CASE
  }
}

INLINE void
rectangle_rows_of (const CclFilter *filter, unsigned width, unsigned height, bool dilate,
                   uint32_t y, uint32_t bottom)
{
  const Steps across = steps_to (width), down = steps_to (height);
  const size_t words = ccl_filter_words (filter->width);
  const RowShape shape = row_shape (filter->width);
  uint64_t *line = filter->scratch, *rings[MOST_STEPS], *slots[MOST_STEPS], *next = line + words;
  unsigned positions[MOST_STEPS] = { 0 };
  int64_t side = height / 2;

  memset (next, dilate ? 0 : 0xff, (height - 1) * words * sizeof *next);
  for (unsigned i = 0; i < down.n; i++, next += down.by[i - 1] * words)
    rings[i] = slots[i] = next;
  for (int64_t row = (int64_t) y - side; row < (int64_t) bottom + side; row++) {
    bool inside = row >= 0 && row < filter->height;

    join_rows_by (&shape, inside ? filter->from + (size_t) row * filter->from_pitch : NULL, line,
                  slots, down.n, dilate);
    for (unsigned i = 0; i < down.n; i++) {
      positions[i] = positions[i] + 1 < down.by[i] ? positions[i] + 1 : 0;
      slots[i] = rings[i] + positions[i] * words;
    }
    if (row >= (int64_t) y + side)
      join_pixels_by (&shape, line, filter->to + (size_t) (row - side) * filter->to_pitch, &across,
                      dilate, width / 2);
  }
}

__attribute__ ((noinline)) static void
rectangle_rows (const CclFilter *filter, unsigned width, unsigned height, bool dilate, uint32_t y,
                uint32_t bottom)
{
  if (dilate)
    rectangle_rows_of (filter, width, height, true, y, bottom);
  else
    rectangle_rows_of (filter, width, height, false, y, bottom);
}

/* The loops are not inlined here: they would compete for registers. */
static void
filter_rows (const CclFilter *filter, CclOperationKind kind, unsigned width, unsigned height,
             uint32_t y, uint32_t bottom)
{
  switch (kind) {
  case CCL_OPERATION_MEDIAN:
    median_rows (filter, width, y, bottom);
    break;
  default:
    rectangle_rows (filter, width, height, kind == CCL_OPERATION_DILATE, y, bottom);
    break;
  }
}

#endif
