/* cudaccl - the k largest components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_TOPK_H
#define CCL_TOPK_H

#include "engine/shared/device.h"

#include <stdint.h>

/* A component is kept if its area is above @area, or is @area and fewer than @ties of the same area
 * precede it in raster order. */
typedef struct CclTopK
{
  uint32_t area;
  uint32_t ties;
} CclTopK;

#define CCL_TOPK_ROUNDS 4
#define CCL_TOPK_BINS 256

/* The search for the limits that leave exactly @keep of more than @keep components: a radix
 * selection over areas, highest byte first. In each of CCL_TOPK_ROUNDS rounds the caller makes a
 * histogram over ccl_topk_bin() of the components, without those for which it is negative, and
 * narrows the search with it. */
typedef struct CclTopKSearch
{
  CclTopK top_k;
  unsigned shift; /* of the byte that this round decides */
} CclTopKSearch;

static inline void
ccl_topk_begin (CclTopKSearch *search, uint32_t keep)
{
  search->top_k.area = 0;
  search->top_k.ties = keep;
  search->shift = 8 * (CCL_TOPK_ROUNDS - 1);
}

CCL_HOST_DEVICE static inline int
ccl_topk_bin (const CclTopKSearch *search, uint32_t area)
{
  /* Two shifts: one by 32 would be undefined in the first round. */
  if ((area ^ search->top_k.area) >> search->shift >> 8 != 0)
    return -1;
  return (int) (area >> search->shift & (CCL_TOPK_BINS - 1));
}

static inline void
ccl_topk_narrow (CclTopKSearch *search, const uint32_t histogram[CCL_TOPK_BINS])
{
  uint32_t bin = CCL_TOPK_BINS - 1;

  while (bin > 0 && search->top_k.ties > histogram[bin])
    search->top_k.ties -= histogram[bin--];
  search->top_k.area |= bin << search->shift;
  search->shift -= 8; /* wraps after the last round, where it is no longer used */
}

#endif
