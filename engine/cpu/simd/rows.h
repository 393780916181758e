/* cudaccl - CPU backend: finding and labelling the runs of a row
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Included by each instruction set's file, to be compiled for it. In noise, branches on runs are
 * hardly predictable, so there are few: a run's neighbours above are looked up, not searched; a new
 * label is initialised for every run, needed or not; and joins are found for 64 pixels at a time,
 * not run by run in loops of unpredictable length. */

#ifndef CCL_CPU_SIMD_ROWS_H
#define CCL_CPU_SIMD_ROWS_H

#include "engine/cpu/simd/vector.h"
#include "engine/cpu/runs/unite.h"
#include "engine/shared/sums.h"

__attribute__ ((always_inline)) static inline bool
pack_pixels (uint64_t *bits, const uint8_t *pixels, uint32_t width, const CclCut *cut, bool band)
{
  const uint64_t flip = cut->invert ? ~UINT64_C (0) : 0;
  const uint8_t above = cut->above, up_to = cut->up_to;
  uint32_t words = width / 64, rest = width % 64;
  uint64_t any = 0;

  for (uint32_t w = 0; w < words; w++, pixels += 64) {
    uint64_t word = pack64 (pixels, above) ^ flip;

    if (band)
      word ^= pack64 (pixels, up_to);
    any |= bits[w] = word;
  }
  if (rest) {
    uint64_t word = pack_part (pixels, rest, above) ^ flip;

    if (band)
      word ^= pack_part (pixels, rest, up_to);
    any |= bits[words] = word & ((UINT64_C (1) << rest) - 1);
  }
  return any;
}

static bool
pack_row (uint64_t *bits, const uint8_t *pixels, uint32_t width, const CclCut *cut)
{
  return cut->up_to < UINT8_MAX ? pack_pixels (bits, pixels, width, cut, true)
                                : pack_pixels (bits, pixels, width, cut, false);
}

static void
unpack_row (uint8_t *pixels, const uint64_t *bits, uint32_t width, uint8_t value)
{
  uint32_t words = width / 64, rest = width % 64;

  for (uint32_t w = 0; w < words; w++, pixels += 64)
    unpack64 (pixels, &bits[w], value);
  if (rest)
    unpack_part (pixels, &bits[words], rest, value);
}

/* With FAST_POPCOUNT stores four edges at a time, whether they exist or not: the number in a word
 * is hard to predict, but it is usually at most four. */
static void
find_runs (CclRow *row, uint32_t width)
{
  uint32_t n = 0;
  uint64_t carry = 0;

  for (uint32_t w = 0; w <= width / 64; w++) {
    uint64_t changes = row->bits[w] ^ (row->bits[w] << 1 | carry);
    uint32_t *edge = row->edges + n;

    carry = row->bits[w] >> 63;
    row->words[w] = (CclRowEdges){ changes, n };
    if (FAST_POPCOUNT) {
      uint32_t count = (uint32_t) __builtin_popcountll (changes);

      n += count;
      if (count > MANY_EDGES)
        store_edges (edge, changes, 64 * w);
      else
        for (; changes; edge += 4) {
          for (int i = 0; i < 4; i++, changes &= changes - 1)
            edge[i] = 64 * w + (uint32_t) (changes ? __builtin_ctzll (changes) : 0);
        }
    } else {
      for (; changes; changes &= changes - 1, n++)
        *edge++ = 64 * w + (uint32_t) __builtin_ctzll (changes);
    }
  }
  row->count = n / 2;
}

static inline void
begin_label (const CclTable *table, uint32_t label, uint32_t x, uint32_t y, bool second_order)
{
  table->parents[label] = label;
  table->labels[label] = (CclRunsLabel){ .left = x, .first_x = x, .y = y };
  if (second_order)
    table->moments[label] = (CclRunsMoments){ 0, 0, 0 };
}

/* Adds pixels @start up to @stop of rows @y up to @bottom. */
static inline void
add_run (const CclTable *table, uint32_t root, uint32_t start, uint32_t stop, uint32_t y,
         uint32_t bottom, bool second_order)
{
  CclRunsLabel *label = &table->labels[root];
  uint64_t columns = stop - start, rows = bottom - y;
  uint64_t sum_x = ccl_run_sum_x (start, stop), sum_y = ccl_run_sum_x (y, bottom);

  label->area += (uint32_t) (columns * rows);
  label->sum_x += sum_x * rows;
  label->sum_y += columns * sum_y;
  label->left = min_u32 (label->left, start);
  label->right = max_u32 (label->right, stop);
  label->bottom = bottom;
  if (second_order) {
    table->moments[root].sum_xx += ccl_run_sum_xx (start, stop) * rows;
    table->moments[root].sum_yy += columns * ccl_run_sum_xx (y, bottom);
    table->moments[root].sum_xy += sum_x * sum_y;
  }
}

/* Joins the runs @j - 1 and @j of a row. */
static inline void
join_neighbours (const CclTable *table, const CclRow *row, uint32_t j)
{
  uint32_t a = find_root (table->parents, row->labels[j - 1]);
  uint32_t b = find_root (table->parents, row->labels[j]);

  if (a != b)
    unite (table, a, b);
}

/* Joins runs of the row @above if a run of @row bridges the gap between them. A bridge is where the
 * row has nothing but ones from the gap's first pixel to its last: a one added to the first
 * becomes a carry that comes out behind the last. Without @diagonal the bridge must also lie on the
 * pixels before and behind. */
static void
join_above (const CclTable *table, const CclRow *above, const CclRow *row, uint32_t width,
            bool diagonal)
{
  const uint64_t anyway = diagonal ? ~UINT64_C (0) : 0;
  uint64_t run_before = 0, row_before = 0, carry = 0;

  for (uint32_t w = 0; w <= width / 64; w++) {
    uint64_t runs = above->bits[w], ones = row->bits[w];
    uint64_t planks = ~runs & ones;
    uint64_t begin = planks & (runs << 1 | run_before) & (ones << 1 | row_before | anyway);
    uint64_t bridged;

    run_before = runs >> 63;
    row_before = ones >> 63;
    if (!(begin | carry))
      continue;
    carry = __builtin_add_overflow (planks, carry, &planks);
    carry |= __builtin_add_overflow (planks, begin, &planks);
    bridged = planks & runs & (ones | anyway);
    for (; bridged; bridged &= bridged - 1)
      join_neighbours (table, above, edges_in_front (above, w, (bridged & -bridged) - 1) / 2);
  }
}

__attribute__ ((always_inline)) static inline uint32_t
label_runs (const CclTable *table, const CclRow *above, const CclRow *row, uint32_t y,
            uint32_t bottom, uint32_t next, bool diagonal, bool second_order)
{
  for (uint32_t i = 0; i < row->count; i++) {
    uint32_t start = row->edges[2 * (size_t) i], stop = row->edges[2 * (size_t) i + 1];
    uint32_t first, end, is_new, root;

    find_touching (above, start, stop, diagonal, &first, &end);
    is_new = first >= end;
    begin_label (table, next, start, y, second_order);
    /* Not a branch: -is_new is a mask. */
    root = (above->labels[first] & (is_new - 1)) | (next & -is_new);
    next += is_new;
    root = find_root (table->parents, root);
    add_run (table, root, start, stop, y, bottom, second_order);
    row->labels[i] = root;
  }
  return next;
}

__attribute__ ((always_inline)) static inline uint32_t
label_runs_of_rows (const CclTable *table, const CclRow *above, const CclRow *row, uint32_t y,
                    uint32_t bottom, uint32_t next, bool diagonal)
{
  if (table->moments)
    return label_runs (table, above, row, y, bottom, next, diagonal, true);
  return label_runs (table, above, row, y, bottom, next, diagonal, false);
}

/* Specialized for each case, without a branch per run; in noise, no two rows are the same. */
static uint32_t
label_row (const CclTable *table, const CclRow *above, CclRow *row, uint32_t width, uint32_t y,
           uint32_t bottom, bool diagonal, uint32_t next)
{
  if (above->count > 1)
    join_above (table, above, row, width, diagonal);
  if (bottom == y + 1)
    return diagonal ? label_runs_of_rows (table, above, row, y, y + 1, next, true)
                    : label_runs_of_rows (table, above, row, y, y + 1, next, false);
  return diagonal ? label_runs_of_rows (table, above, row, y, bottom, next, true)
                  : label_runs_of_rows (table, above, row, y, bottom, next, false);
}

static void
repeat_row (const CclTable *table, CclRow *row, uint32_t y, uint32_t bottom)
{
  for (uint32_t i = 0; i < row->count; i++) {
    uint32_t root = find_root (table->parents, row->labels[i]);

    add_run (table, root, row->edges[2 * (size_t) i], row->edges[2 * (size_t) i + 1], y, bottom,
             table->moments);
    row->labels[i] = root;
  }
}

#endif
