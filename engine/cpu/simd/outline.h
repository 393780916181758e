/* cudaccl - CPU backend: the outline of components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Included by each instruction set's file, to be compiled for it. 64 pixels at a time; a run then
 * counts its own. */

#ifndef CCL_CPU_SIMD_OUTLINE_H
#define CCL_CPU_SIMD_OUTLINE_H

#include "engine/cpu/functions.h"

#include <cudaccl/mask.h>

/* The left and the right neighbours of the pixels in word @w. */
static inline uint64_t
left_of (const uint64_t *row, size_t w)
{
  return row[w] << 1 | (w > 0 ? row[w - 1] >> 63 : 0);
}

static inline uint64_t
right_of (const uint64_t *row, size_t w, size_t words)
{
  return row[w] >> 1 | (w + 1 < words ? row[w + 1] << 63 : 0);
}

static void
find_border (uint64_t *border, const uint64_t *const rows[3], uint32_t width)
{
  size_t words = ccl_mask_words (width);

  for (size_t w = 0; w < words; w++)
    border[w] = rows[1][w] &
                ~(rows[0][w] & rows[2][w] & left_of (rows[1], w) & right_of (rows[1], w, words));
}

/* Sums of four bits, for 64 pixels: binary digits. */
typedef struct Sums
{
  uint64_t ones, twos, fours;
} Sums;

static inline Sums
sum_bits (uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
  uint64_t ab = a ^ b, cd = c ^ d, carry_ab = a & b, carry_cd = c & d, carry = ab & cd;
  uint64_t twos = carry_ab ^ carry_cd;

  return (Sums){ ab ^ cd, twos ^ carry, (carry_ab & carry_cd) | (twos & carry) };
}

/* Pixels of the border by their neighbours on it, as in scikit-image's estimate. */
typedef struct Classes
{
  uint64_t straight, diagonal, turning;
} Classes;

static inline Classes
classify (const CclOutline *outline, size_t w, size_t words)
{
  const uint64_t *above = outline->borders[0], *row = outline->borders[1],
                 *below = outline->borders[2];
  Sums sides = sum_bits (above[w], below[w], left_of (row, w), right_of (row, w, words));
  Sums corners = sum_bits (left_of (above, w), right_of (above, w, words), left_of (below, w),
                           right_of (below, w, words));
  uint64_t one_side = sides.ones & ~sides.twos; /* not four */
  uint64_t no_side = ~(sides.ones | sides.twos | sides.fours);
  uint64_t two_corners = corners.twos & ~corners.ones, one_corner = corners.ones & ~corners.twos;
  uint64_t three_corners = corners.ones & corners.twos;
  uint64_t counted = row[w] & ~(outline->others ? outline->others[w] : 0);

  return (Classes){
    counted & sides.twos & ~(three_corners | corners.fours),
    counted & ((no_side & two_corners) | (one_side & three_corners)),
    counted & one_side & (one_corner | two_corners),
  };
}

static inline uint32_t
count (uint64_t bits)
{
  return (uint32_t) __builtin_popcountll (bits);
}

static void
add_outline (const CclOutline *outline, uint32_t width, uint32_t start, uint32_t stop,
             CclShape *shape)
{
  const size_t words = ccl_mask_words (width), last = (stop - 1) / 64;
  uint64_t edges = 2; /* to the left of the first pixel and to the right of the last */

  for (size_t w = start / 64; w <= last; w++) {
    uint64_t run = ~UINT64_C (0);
    Classes classes = classify (outline, w, words);

    if (w == start / 64)
      run &= ~UINT64_C (0) << start % 64;
    if (w == last)
      run &= ~UINT64_C (0) >> (63 - (stop - 1) % 64);
    edges += count (run & ~outline->rows[0][w]) + count (run & ~outline->rows[2][w]);
    shape->straight += count (run & classes.straight);
    shape->diagonal += count (run & classes.diagonal);
    shape->turning += count (run & classes.turning);
  }
  shape->edges += edges;
}

static void
add_luma (const uint8_t *pixels, uint32_t n, CclShape *shape)
{
  uint8_t low = shape->luma_min, high = shape->luma_max;
  uint64_t sum = 0;

  for (uint32_t i = 0; i < n; i++) {
    sum += pixels[i];
    low = pixels[i] < low ? pixels[i] : low;
    high = pixels[i] > high ? pixels[i] : high;
  }
  shape->luma += sum;
  shape->luma_min = low;
  shape->luma_max = high;
}

#endif
