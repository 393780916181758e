/* cudaccl - CPU backend: joining the runs of two slices of a volume
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Included by each instruction set's file, to be compiled for it. Voxels that touch are found 64 at
 * a time. Most contacts follow from others, and only the rest needs a look at runs: of two runs
 * that lie on each other, the first contact counts; one at a corner counts only where neither voxel
 * has a neighbour between them; and none does where a voxel of a row that is joined anyway touches
 * both. A row counts on contacts of the row above it and of its own with the row under it only, so
 * nothing goes round in circles. */

#ifndef CCL_CPU_SIMD_SLICES_H
#define CCL_CPU_SIMD_SLICES_H

#include "engine/cpu/runs/unite.h"

/* 64 voxels of a row, and for each of them its left and its right neighbour. */
typedef struct Voxels
{
  uint64_t here, left, right;
} Voxels;

static inline Voxels
load_voxels (const CclRow *row, uint32_t w, uint32_t last)
{
  uint64_t here = row->bits[w];

  return (Voxels){ here, here << 1 | (w > 0 ? row->bits[w - 1] >> 63 : 0),
                   here >> 1 | (w < last ? row->bits[w + 1] << 63 : 0) };
}

/* Voxels of two rows that are joined already: at a voxel, and at one and the next on either side.
 */
typedef struct Cover
{
  uint64_t here, left, right;
} Cover;

/* A voxel of the row @v that touches both voxels of the contact. */
static inline Cover
covered_by (Voxels v)
{
  return (Cover){ v.here | v.left | v.right, v.here | v.left, v.here | v.right };
}

static inline Cover
covered_by_both (Cover a, Cover b)
{
  return (Cover){ a.here | b.here, a.left | b.left, a.right | b.right };
}

static inline void
join_labels (uint32_t *parents, uint32_t a, uint32_t b)
{
  a = find_root (parents, a);
  b = find_root (parents, b);
  if (a != b)
    parents[max_u32 (a, b)] = min_u32 (a, b);
}

/* Joins runs of @row and @lower at the contacts in word @w: those @here, and of voxels of @row with
 * the voxel of @lower on the @left or @right. */
static inline void
join_contacts (uint32_t *parents, const CclRow *row, const CclRow *lower, uint32_t w, uint64_t here,
               uint64_t left, uint64_t right)
{
  for (uint64_t contacts = here | left | right; contacts; contacts &= contacts - 1) {
    uint64_t bit = contacts & -contacts, up_to = bit | (bit - 1);
    uint32_t run = edges_in_front (row, w, up_to) / 2;
    uint32_t other = edges_in_front (lower, w, up_to) / 2; /* here or, if there is none, the next */

    if ((here | right) & bit)
      join_labels (parents, row->labels[run], lower->labels[other]);
    if (left & bit)
      join_labels (parents, row->labels[run], lower->labels[other - 1]);
  }
}

/* Joins the runs of two rows in word @w. @diagonal: they touch at corners, too. */
__attribute__ ((always_inline)) static inline void
join_words (uint32_t *parents, const CclRow *row, Voxels v, const CclRow *lower, Voxels u,
            uint32_t w, Cover cover, bool diagonal)
{
  uint64_t here = v.here & u.here & ~(v.left & u.left) & ~cover.here, left = 0, right = 0;

  if (diagonal) {
    left = v.here & ~v.left & u.left & ~u.here & ~cover.left;
    right = v.here & ~v.right & u.right & ~u.here & ~cover.right;
  }
  join_contacts (parents, row, lower, w, here, left, right);
}

/* As CclJoinSlices, for one connectivity. */
__attribute__ ((always_inline)) static inline void
join_row (uint32_t *parents, const CclRow *row, const CclRow *above, const CclRow lower[3],
          uint32_t width, unsigned connectivity)
{
  const uint32_t last = width / 64;

  for (uint32_t w = 0; w <= last; w++) {
    Voxels v = load_voxels (row, w, last), a, u[3];
    Cover by_above, by_under;

    if (!v.here)
      continue;
    a = load_voxels (above, w, last);
    for (int i = 0; i < 3; i++)
      u[i] = load_voxels (&lower[i], w, last);
    if (connectivity == 6) {
      join_words (parents, row, v, &lower[1], u[1], w, (Cover){ a.here & u[0].here, 0, 0 }, false);
      continue;
    }
    by_above = covered_by (a);
    by_under = covered_by (u[1]);
    join_words (parents, row, v, &lower[1], u[1], w,
                connectivity == 26 ? by_above : (Cover){ a.here, a.left, a.right }, true);
    join_words (parents, row, v, &lower[0], u[0], w, covered_by_both (by_above, by_under),
                connectivity == 26);
    join_words (parents, row, v, &lower[2], u[2], w, by_under, connectivity == 26);
  }
}

static void
join_slices (uint32_t *parents, const CclRow *row, const CclRow *above, const CclRow lower[3],
             uint32_t width, unsigned connectivity)
{
  if (connectivity == 26)
    join_row (parents, row, above, lower, width, 26);
  else if (connectivity == 18)
    join_row (parents, row, above, lower, width, 18);
  else
    join_row (parents, row, above, lower, width, 6);
}

#endif
