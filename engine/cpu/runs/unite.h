/* cudaccl - CPU backend: union-find over labels that carry features
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Compiled for each instruction set, for fast popcounts and conditional moves. */

#ifndef CCL_CPU_UNITE_H
#define CCL_CPU_UNITE_H

#include "engine/cpu/functions.h"

static inline uint32_t
min_u32 (uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

static inline uint32_t
max_u32 (uint32_t a, uint32_t b)
{
  return a > b ? a : b;
}

static inline uint32_t
find_root (uint32_t *parents, uint32_t label)
{
  while (parents[label] != label) {
    parents[label] = parents[parents[label]];
    label = parents[label];
  }
  return label;
}

/* Joins two roots; the smaller one takes over the other's features. */
static inline uint32_t
unite (const CclTable *table, uint32_t a, uint32_t b)
{
  uint32_t root = min_u32 (a, b), other = max_u32 (a, b);
  CclRunsLabel *to = &table->labels[root];
  const CclRunsLabel *from = &table->labels[other];

  if (a == b)
    return a;
  table->parents[other] = root;
  to->area += from->area;
  to->sum_x += from->sum_x;
  to->sum_y += from->sum_y;
  to->left = min_u32 (to->left, from->left);
  to->right = max_u32 (to->right, from->right);
  to->bottom = max_u32 (to->bottom, from->bottom);
  if (table->moments) {
    table->moments[root].sum_xx += table->moments[other].sum_xx;
    table->moments[root].sum_yy += table->moments[other].sum_yy;
    table->moments[root].sum_xy += table->moments[other].sum_xy;
  }
  return root;
}

/* The edges of @row in front of word @w and those among the bits of @mask in it. */
static inline uint32_t
edges_in_front (const CclRow *row, uint32_t w, uint64_t mask)
{
  return row->words[w].before + (uint32_t) __builtin_popcountll (row->words[w].changes & mask);
}

/* The edges of @row in front of pixel @x. */
static inline uint32_t
edges_before (const CclRow *row, uint32_t x)
{
  return edges_in_front (row, x / 64, (UINT64_C (1) << x % 64) - 1);
}

/* The edges of @row in front of pixel @x + 1. */
static inline uint32_t
edges_up_to (const CclRow *row, uint32_t x)
{
  return edges_in_front (row, x / 64, ~UINT64_C (0) >> (63 - x % 64));
}

/* Runs @first to @end - 1 of @row touch pixels from @start up to @stop. Half of
 * the edges in front of a pixel, rounded down, are runs that ended there; rounded up, runs that
 * began. */
static inline void
find_touching (const CclRow *row, uint32_t start, uint32_t stop, bool diagonal, uint32_t *first,
               uint32_t *end)
{
  *first = (diagonal ? edges_before (row, start) : edges_up_to (row, start)) / 2;
  *end = ((diagonal ? edges_up_to (row, stop) : edges_before (row, stop)) + 1) / 2;
}

/* Whether components of @a and @b may be one. */
static inline bool
are_alike (const CclTable *table, uint32_t a, uint32_t b)
{
  return !table->values || table->values[a] == table->values[b];
}

/* The first run of @row from @first on that does not end in front of pixel @start; with @diagonal
 * runs that touch it at a corner do not either. For rows without bits. */
static inline uint32_t
skip_runs (const CclRow *row, uint32_t first, uint32_t start, bool diagonal)
{
  while (first < row->count && row->edges[2 * (size_t) first + 1] + diagonal <= start)
    first++;
  return first;
}

/* Whether run @i of @row begins in front of pixel @stop, or at it with @diagonal. */
static inline bool
begins_before (const CclRow *row, uint32_t i, uint32_t stop, bool diagonal)
{
  return i < row->count && row->edges[2 * (size_t) i] < (uint64_t) stop + diagonal;
}

#endif
