/* cudaccl - CUDA backend: frames of classes, as algorithms see them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_CLASSES_CUH
#define CCL_CUDA_CLASSES_CUH

#include "cuda/device/machine.cuh"
#include "cuda/tables/classes.h"
#include "cuda/tables/frame.h"

/* Pixels @x to @x + 31 of a plane; @x is a multiple of 32. 0 outside the frame: the bits of pixels
 * there are not set. */
static __device__ inline uint32_t
class_bits (const CclCudaFrame &f, CclClassPlane plane, uint32_t x, uint32_t y)
{
  if (x >= f.width || y >= f.height)
    return 0;
  return __ldg ((const uint32_t *) (f.pixels + ((size_t) plane * f.height + y) * f.pitch) + x / 32);
}

/* Whether the bit of a pixel is set; the pixel is inside the frame. */
static __device__ inline bool
class_bit (const CclCudaFrame &f, CclClassPlane plane, uint32_t x, uint32_t y)
{
  return class_bits (f, plane, x / 32 * 32, y) >> x % 32 & 1;
}

#endif
