/* cudaccl - CUDA backend: label maps
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_LABEL_MAP_CUH
#define CCL_CUDA_LABEL_MAP_CUH

#include "cuda/tables/components.h"
#include "cuda/tables/result.h"

/* The label in the result of the component that @label belongs to; 0 if it is not in it. After path
 * compression. */
static __device__ inline uint32_t
result_label (const CclComponentTable &t, const CclCudaResult &r, uint32_t label)
{
  return r.labels[t.parents[label]];
}

/* Writes one pixel of a row of @width pixels of the label map; past its end, none. */
static __device__ inline void
store_label (const CclCudaResult &r, uint32_t width, uint32_t x, uint32_t y, uint32_t label)
{
  if (x < width)
    r.label_map[(size_t) y * width + x] = label;
}

#endif
