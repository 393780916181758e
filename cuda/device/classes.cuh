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

/* The value of a pixel of @size bytes, or 0 outside the frame and its region; coordinates may have
 * wrapped below 0. Numbers of the other byte order are as they are. */
template <unsigned size>
static __device__ inline uint32_t
class_value (const CclClassFrame &f, uint32_t x, uint32_t y)
{
  const uint8_t *row;

  if (x >= f.width || y >= f.height)
    return 0;
  if (f.region && !(f.region[y * f.region_pitch + x / 32] >> x % 32 & 1))
    return 0;
  row = f.pixels + (size_t) y * f.pitch;
  if (size == 4)
    return ((const uint32_t *) row)[x];
  /* Samples of two bytes may be at odd addresses. */
  return size == 2 ? row[2 * (size_t) x] | (uint32_t) row[2 * (size_t) x + 1] << 8 : row[x];
}

/* The class of a pixel. */
static __device__ inline uint32_t
class_number (const CclClassFrame &f, uint32_t x, uint32_t y)
{
  uint32_t value;

  if (f.size == 4)
    return class_value<4> (f, x, y);
  if (f.size == 1)
    return class_value<1> (f, x, y);
  value = class_value<2> (f, x, y);
  return f.big_endian ? (value & 0xff) << 8 | value >> 8 : value;
}

#endif
