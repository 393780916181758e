/* cudaccl - CUDA backend: background models, pixels of the frame and the background
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* For light.cu and drift.cu, which process pixels one by one. */

#ifndef CCL_CUDA_MODELS_LIGHT_CUH
#define CCL_CUDA_MODELS_LIGHT_CUH

#include "cuda/models/kernels.h"
#include "cuda/models/unit.cuh"

#define LIGHT_THREADS 256

typedef struct Plane
{
  CclModelPlane plane;
  uint32_t step, width, height;
} Plane;

static __device__ inline Plane
plane_of (const CclModelTask &task, int i)
{
  const CclModelFrame &frame = task.frame;

  if (i == 0)
    return Plane{ frame.planes[0], 1, frame.width, frame.height };
  return Plane{ i == 1 ? frame.planes[1] : frame.planes[2], frame.step, frame.chroma_width,
                frame.chroma_height };
}

static __device__ inline int
blur_column (const Plane &plane, uint32_t x, uint32_t y)
{
  const uint8_t *sample = plane.plane.samples + (size_t) x * plane.step;
  const size_t pitch = plane.plane.pitch;

  return ccl_motion_blur (__ldg (sample + (y > 0 ? y - 1 : 0) * pitch), __ldg (sample + y * pitch),
                          __ldg (sample + min (y + 1, plane.height - 1) * pitch));
}

static __device__ inline int
blur_at (const Plane &plane, uint32_t x, uint32_t y)
{
  return ccl_motion_blur (blur_column (plane, x > 0 ? x - 1 : 0, y), blur_column (plane, x, y),
                          blur_column (plane, min (x + 1, plane.width - 1), y));
}

/* The valid copy of a row of the background (M1 in model.cu). */
static __device__ inline uint16_t *
background_row (const CclModelTask &task, uint32_t y)
{
  uint32_t copy = task.newest >> ccl_motion_group (y) & 1;

  return (copy ? task.state.background[1] : task.state.background[0]) + y * task.state.pitch;
}

static __device__ inline uint32_t *
chroma_at (const CclModelTask &task, uint32_t x, uint32_t y)
{
  return task.state.chroma + y * (task.state.pitch / 2) + x;
}

/* Background repeats a row's last pixel to the end of its unit. */
static __device__ inline void
store_background (uint16_t *background, uint32_t x, uint32_t width, uint16_t value)
{
  *background = value;
  for (uint32_t i = 1; x == width - 1 && (x + i) % UNIT > 0; i++)
    background[i] = value;
}

#endif
