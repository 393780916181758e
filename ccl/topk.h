/* cudaccl - which components stay when there are more than the result holds
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUT_H
#define CCL_CUT_H

#include "ccl/device.h"

#include <stdint.h>

/* A component stays when its area is above @area, or is @area and fewer than @ties of the same area
 * precede it in raster order. */
typedef struct CclCut
{
  uint32_t area;
  uint32_t ties;
} CclCut;

#define CCL_CUT_ROUNDS 4
#define CCL_CUT_BINS 256

/* The search for the cut that leaves exactly @keep of more than @keep components: a radix selection
 * over areas, highest byte first. In each of CCL_CUT_ROUNDS rounds the caller counts the components
 * for which ccl_cut_bin() is not negative into a histogram over that bin and narrows the cut. */
typedef struct CclCutSearch
{
  CclCut cut;
  unsigned shift; /* of the byte that this round decides */
} CclCutSearch;

static inline void
ccl_cut_begin (CclCutSearch *search, uint32_t keep)
{
  search->cut.area = 0;
  search->cut.ties = keep;
  search->shift = 8 * (CCL_CUT_ROUNDS - 1);
}

CCL_HOST_DEVICE static inline int
ccl_cut_bin (const CclCutSearch *search, uint32_t area)
{
  /* Two shifts: one by 32 would be undefined in the first round. */
  if ((area ^ search->cut.area) >> search->shift >> 8 != 0)
    return -1;
  return (int) (area >> search->shift & (CCL_CUT_BINS - 1));
}

static inline void
ccl_cut_narrow (CclCutSearch *search, const uint32_t histogram[CCL_CUT_BINS])
{
  uint32_t bin = CCL_CUT_BINS - 1;

  while (bin > 0 && search->cut.ties > histogram[bin])
    search->cut.ties -= histogram[bin--];
  search->cut.area |= bin << search->shift;
  search->shift -= 8; /* wraps after the last round, when nobody looks at it any more */
}

#endif
