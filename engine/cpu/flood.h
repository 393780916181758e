/* cudaccl - CPU backend: the background that the frame's border reaches
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Included by each instruction set's file, to be compiled for it. Whole words of background are
 * filled at a time, without runs. */

#ifndef CCL_CPU_FLOOD_H
#define CCL_CPU_FLOOD_H

#include "engine/cpu/filters.h"

/* The runs of @open that have a bit of @seeds, a subset, within their words. A run that seeds are
 * added to ends up with zeros from its lowest seed on, but for other seeds, and a carry past its
 * end; towards lower bits it takes doubling steps. */
INLINE Vector
fill_words (Vector open, Vector seeds)
{
  Vector filled = open & (~(open + seeds) | seeds);

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

/* The pixels of the rows @near that touch those of a row. */
INLINE Vector
touching (const RowShape *shape, const uint64_t *near, size_t w, bool diagonal)
{
  const Vector none = vector_set (0);
  Vector v = vector_load (near + w);

  if (!diagonal)
    return v;
  return v | from_left (w > 0 ? vector_load (near + w - VECTOR_WORDS) : none, v, 1) |
         from_right (v, w < shape->last ? vector_load (near + w + VECTOR_WORDS) : none, 1);
}

static bool
flood_row (const uint64_t *row, const uint64_t *near, uint64_t *reached, uint64_t *open,
           uint32_t width, bool diagonal, CclFloodFrom from)
{
  const Vector ones = vector_set (~UINT64_C (0));
  RowShape shape = row_shape (width);
  size_t words = (width - 1) / 64 + 1;
  uint64_t any[VECTOR_WORDS], all = 0;
  Vector fresh = vector_set (0);

  for (size_t w = 0; w <= shape.last; w += VECTOR_WORDS) {
    Vector o = ~load_vector (&shape, row, w, ones);
    Vector seeds = near ? o & touching (&shape, near, w, diagonal) : vector_set (0);

    if (from == CCL_FLOOD_FROM_ROW) {
      Vector r = vector_load (reached + w);

      fresh |= seeds & ~r;
      seeds |= r;
    } else {
      fresh |= seeds;
    }
    if (from == CCL_FLOOD_FROM_ALL)
      seeds = fresh = o;
    vector_store (open + w, o);
    vector_store (reached + w, seeds);
  }
  if (from == CCL_FLOOD_FROM_ALL)
    return true;
  if (from == CCL_FLOOD_FROM_SIDES) {
    reached[0] |= open[0] & 1;
    reached[words - 1] |= open[words - 1] & UINT64_C (1) << (width - 1) % 64;
    all = reached[0] | reached[words - 1];
  }
  vector_store (any, fresh);
  for (unsigned i = 0; i < VECTOR_WORDS; i++)
    all |= any[i];
  if (!all)
    return false;
  for (size_t w = 0; w <= shape.last; w += VECTOR_WORDS)
    vector_store (reached + w, fill_words (vector_load (open + w), vector_load (reached + w)));
  fill_across (open, reached, words);
  return true;
}

#endif
