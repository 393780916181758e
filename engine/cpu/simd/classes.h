/* cudaccl - CPU backend: finding and labelling the runs of a row of classes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs of different values may touch, so nothing of what rows.h does with bits applies: runs of the
 * row above are searched, which takes one pass over both rows. */

#ifndef CCL_CPU_SIMD_CLASSES_H
#define CCL_CPU_SIMD_CLASSES_H

#include "engine/cpu/simd/rows.h"

static inline uint32_t
class_at (const CclClassRow *row, uint32_t x)
{
  uint32_t value;
  uint16_t half;

  if (row->size == 1)
    return row->pixels[x];
  if (row->size == 4) {
    memcpy (&value, row->pixels + 4 * (size_t) x, sizeof value);
    return value;
  }
  memcpy (&half, row->pixels + 2 * (size_t) x, sizeof half);
  return half;
}

/* The bits of 64 pixels that differ from the one before. */
static inline uint64_t
find_changes64 (const CclClassRow *row, uint32_t x)
{
  uint32_t wide[64], wide_before[64];
  uint16_t values[64], before[64];
  uint8_t differs[64];

  if (row->size == 1) {
    for (int i = 0; i < 64; i++)
      differs[i] = row->pixels[x + (uint32_t) i] ^ row->pixels[x + (uint32_t) i - 1];
  } else if (row->size == 4) {
    memcpy (wide, row->pixels + 4 * (size_t) x, sizeof wide);
    memcpy (wide_before, row->pixels + 4 * (size_t) x - 4, sizeof wide_before);
    for (int i = 0; i < 64; i++)
      differs[i] = wide[i] != wide_before[i];
  } else {
    memcpy (values, row->pixels + 2 * (size_t) x, sizeof values);
    memcpy (before, row->pixels + 2 * (size_t) x - 2, sizeof before);
    for (int i = 0; i < 64; i++)
      differs[i] = values[i] != before[i];
  }
  return pack64 (differs, 0);
}

/* Bit x: pixel x differs from the one before it; the first from 0. */
static void
find_changes (uint64_t *bits, const CclClassRow *row, uint32_t width)
{
  for (uint32_t x = 0; x < width; x += 64) {
    uint64_t word = 0;

    if (x > 0 && width - x >= 64) {
      bits[x / 64] = find_changes64 (row, x);
      continue;
    }
    for (uint32_t i = 0; i < 64 && i < width - x; i++)
      word |= (uint64_t) (class_at (row, x + i) != (x + i > 0 ? class_at (row, x + i - 1) : 0))
              << i;
    bits[x / 64] = word;
  }
}

/* Every change ends a run of other values than 0, if there is one, and begins one, maybe. */
static void
find_class_runs (CclRow *row, const CclClassRow *classes, uint32_t width)
{
  uint32_t *edge = row->edges;
  bool open = false;

  find_changes (row->bits, classes, width);
  for (uint32_t w = 0; w <= (width - 1) / 64; w++) {
    for (uint64_t changes = row->bits[w]; changes; changes &= changes - 1) {
      uint32_t x = 64 * w + (uint32_t) __builtin_ctzll (changes);

      edge[1] = x;
      edge += open ? 2 : 0;
      edge[0] = x;
      open = class_at (classes, x) != 0;
    }
  }
  edge[1] = width;
  edge += open ? 2 : 0;
  row->count = (uint32_t) ((edge - row->edges) / 2);
}

static uint32_t
label_classes (const CclTable *table, const CclRow *above, CclRow *row, const CclClassRow *classes,
               uint32_t width, uint32_t y, uint32_t bottom, bool diagonal, uint32_t next)
{
  uint32_t first = 0;

  find_class_runs (row, classes, width);
  for (uint32_t i = 0; i < row->count; i++) {
    uint32_t start = row->edges[2 * (size_t) i], stop = row->edges[2 * (size_t) i + 1];
    uint32_t root = next;

    begin_label (table, next, start, y, table->moments);
    table->values[next] = class_at (classes, start);
    first = skip_runs (above, first, start, diagonal);
    for (uint32_t j = first; begins_before (above, j, stop, diagonal); j++) {
      if (!are_alike (table, above->labels[j], next))
        continue;
      if (root == next)
        root = find_root (table->parents, above->labels[j]);
      else
        root = unite (table, root, find_root (table->parents, above->labels[j]));
    }
    next += root == next;
    add_run (table, root, start, stop, y, bottom, table->moments);
    row->labels[i] = root;
  }
  return next;
}

#endif
