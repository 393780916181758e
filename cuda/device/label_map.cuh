/* cudaccl - CUDA backend: label maps
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_LABELS_CUH
#define CCL_CUDA_LABELS_CUH

#include "cuda/device/bits.cuh"

/* The label in the result of the component that @label belongs to, 0 if it is not in it. Labels
 * point to their roots by now. */
static __device__ inline uint32_t
number_of (const CclCudaFrame &f, uint32_t label)
{
  return f.numbers[f.labels[label]];
}

/* Past the end of a row there is nothing to paint. */
static __device__ inline void
paint_pixel (const CclCudaFrame &f, uint32_t x, uint32_t y, uint32_t number)
{
  if (x < f.width)
    f.map[(size_t) y * f.width + x] = number;
}

#endif
