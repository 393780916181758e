/* cudaccl - CUDA backend: label maps
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_LABEL_MAP_CUH
#define CCL_CUDA_LABEL_MAP_CUH

#include "cuda/tables/components.h"
#include "cuda/tables/result.h"

/* The result label of the component that @label belongs to; 0 if the component is not in the
 * result. Paths must be compressed. */
static __device__ inline uint32_t
result_label (const CclComponentTable &t, const CclCudaResult &r, uint32_t label)
{
  return r.labels[t.parents[label]];
}

/* Writes pixel @x of row @y of a label map @width pixels wide; does nothing past the end of the
 * row. */
static __device__ inline void
store_label (const CclCudaResult &r, uint32_t width, uint32_t x, uint32_t y, uint32_t label)
{
  if (x < width)
    r.label_map[(size_t) y * width + x] = label;
}

#define QUAD 4 /* pixels that a thread writes at a time */

/* Writes pixels @x to @x + 3, a multiple of four, in the same way. */
static __device__ inline void
store_quad (const CclCudaResult &r, uint32_t width, uint32_t x, uint32_t y, const uint4 &labels)
{
  if (width % QUAD == 0) {
    *(uint4 *) &r.label_map[(size_t) y * width + x] = labels;
    return;
  }
  store_label (r, width, x, y, labels.x);
  store_label (r, width, x + 1, y, labels.y);
  store_label (r, width, x + 2, y, labels.z);
  store_label (r, width, x + 3, y, labels.w);
}

#endif
