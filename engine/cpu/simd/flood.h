/* cudaccl - CPU backend: the background that the frame's border reaches
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Included by each instruction set's file, to be compiled for it. Whole words of background are
 * filled at a time, without runs. */

#ifndef CCL_CPU_SIMD_FLOOD_H
#define CCL_CPU_SIMD_FLOOD_H

#include "engine/cpu/simd/filters.h"

/* The runs of @open that have a bit of @seeds, a subset, within their words. Adding
 * seeds to a run clears it from its lowest seed on, except at other seeds, and sets the bit past
 * its end. That fills the run towards higher bits; towards lower ones it takes doubling steps. */
INLINE V64
fill_words (V64 open, V64 seeds)
{
  V64 filled = open & (~(open + seeds) | seeds);

  for (unsigned n = 1; n < 64; n *= 2) {
    filled |= open & filled >> n;
    open &= open >> n;
  }
  return filled;
}

/* Fills on from word to word. */
INLINE void
fill_across (const uint64_t *open, uint64_t *reached, size_t words)
{
  for (size_t w = 1; w < words; w++)
    if (reached[w - 1] >> 63 & open[w] & ~reached[w])
      reached[w] |= open[w] & ~(open[w] + 1);
  for (size_t w = words - 1; w > 0; w--)
    if (reached[w] & open[w - 1] >> 63 & ~(reached[w - 1] >> 63) & 1)
      reached[w - 1] |=
          ~open[w - 1] ? ~(~UINT64_C (0) >> __builtin_clzll (~open[w - 1])) : ~UINT64_C (0);
}

/* Finds the pixels of a row that touch a set one in the row @near. */
INLINE V64
touching (const RowShape *shape, const uint64_t *near, size_t w, bool diagonal)
{
  const V64 none = v64_set (0);
  V64 v = v64_load (near + w);

  if (!diagonal)
    return v;
  return v | from_left (w > 0 ? v64_load (near + w - V64_LANES) : none, v, 1) |
         from_right (v, w < shape->last ? v64_load (near + w + V64_LANES) : none, 1);
}

static bool
flood_row (const uint64_t *row, const uint64_t *near, uint64_t *reached, uint64_t *open,
           uint32_t width, bool diagonal, CclFloodFrom from)
{
  const V64 ones = v64_set (~UINT64_C (0));
  RowShape shape = row_shape (width);
  size_t words = (width - 1) / 64 + 1;
  uint64_t any[V64_LANES], all = 0;
  V64 fresh = v64_set (0);

  for (size_t w = 0; w <= shape.last; w += V64_LANES) {
    V64 o = ~load_vector (&shape, row, w, ones);
    V64 seeds = near ? o & touching (&shape, near, w, diagonal) : v64_set (0);

    if (from == CCL_FLOOD_FROM_ROW) {
      V64 r = v64_load (reached + w);

      fresh |= seeds & ~r;
      seeds |= r;
    } else {
      fresh |= seeds;
    }
    if (from == CCL_FLOOD_FROM_ALL)
      seeds = fresh = o;
    v64_store (open + w, o);
    v64_store (reached + w, seeds);
  }
  if (from == CCL_FLOOD_FROM_ALL)
    return true;
  if (from == CCL_FLOOD_FROM_SIDES) {
    reached[0] |= open[0] & 1;
    reached[words - 1] |= open[words - 1] & UINT64_C (1) << (width - 1) % 64;
    all = reached[0] | reached[words - 1];
  }
  v64_store (any, fresh);
  for (unsigned i = 0; i < V64_LANES; i++)
    all |= any[i];
  if (!all)
    return false;
  for (size_t w = 0; w <= shape.last; w += V64_LANES)
    v64_store (reached + w, fill_words (v64_load (open + w), v64_load (reached + w)));
  fill_across (open, reached, words);
  return true;
}

#endif
