/* cudaccl - CUDA backend: background models, frames and masks of other sizes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/device/launch.cuh"
#include "cuda/models/kernels.h"

#define SCALE_THREADS 256

static __device__ inline uint32_t
load_sample (const CclModelPlane &plane, uint32_t step, uint32_t x, uint32_t y)
{
  return __ldg (plane.samples + y * plane.pitch + (size_t) x * step);
}

/* Returns sample (x, y) of the reduced plane: the rounded mean of @scale by @scale samples of a
 * plane of @width by @height. */
static __device__ inline uint8_t
mean_of (const CclModelPlane &plane, uint32_t step, uint32_t width, uint32_t height, uint32_t x,
         uint32_t y, uint32_t scale)
{
  uint32_t right = min ((x + 1) * scale, width), bottom = min ((y + 1) * scale, height);
  uint32_t n = (right - x * scale) * (bottom - y * scale), sum = n / 2;

  for (uint32_t v = y * scale; v < bottom; v++)
    for (uint32_t u = x * scale; u < right; u++)
      sum += load_sample (plane, step, u, v);
  return (uint8_t) (sum / n);
}

/* Each thread writes a pixel of luma; those with even coordinates also write a pair of chroma
 * samples. */
static __global__ void
__launch_bounds__ (SCALE_THREADS)
    motion_shrink (const CclModelFrame from, const CclModelFrame to, uint32_t scale)
{
  uint64_t i = (uint64_t) blockIdx.x * SCALE_THREADS + threadIdx.x;
  uint32_t y = (uint32_t) (i / to.width), x = (uint32_t) (i - (uint64_t) y * to.width);

  if (y >= to.height)
    return;
  ((uint8_t *) to.planes[0].samples)[y * to.planes[0].pitch + x] =
      mean_of (from.planes[0], 1, from.width, from.height, x, y, scale);
  if (to.chroma_width == 0 || x % 2 || y % 2)
    return;
  for (uint32_t k = 1; k < 3; k++)
    ((uint8_t *) to.planes[k].samples)[y / 2 * to.planes[k].pitch + x] = mean_of (
        from.planes[k], from.step, from.chroma_width, from.chroma_height, x / 2, y / 2, scale);
}

/* Repeats each of the lowest bits @scale times. */
static __device__ inline uint32_t
repeat_bits (uint32_t bits, uint32_t scale)
{
  if (scale == 2) {
    bits &= 0xffff;
    bits = (bits | bits << 8) & 0x00ff00ffu;
    bits = (bits | bits << 4) & 0x0f0f0f0fu;
    bits = (bits | bits << 2) & 0x33333333u;
    bits = (bits | bits << 1) & 0x55555555u;
    return bits * 3;
  }
  bits &= 0xff;
  bits = (bits | bits << 12) & 0x000f000fu;
  bits = (bits | bits << 6) & 0x03030303u;
  bits = (bits | bits << 3) & 0x11111111u;
  return bits * 15;
}

/* Each thread writes 32 pixels. */
static __global__ void
__launch_bounds__ (SCALE_THREADS) motion_enlarge (const CclModelMask from, const CclModelMask to,
                                                  uint32_t width, uint32_t height, uint32_t scale)
{
  const uint32_t words = (width - 1) / 64 * 2 + 2;
  uint64_t i = (uint64_t) blockIdx.x * SCALE_THREADS + threadIdx.x;
  uint32_t y = (uint32_t) (i / words), x = (uint32_t) (i - (uint64_t) y * words), bits = 0;

  if (y >= height)
    return;
  if (x * 32 < width) {
    const uint32_t *row = (const uint32_t *) (from.words + y / scale * from.pitch);

    bits = repeat_bits (row[x / scale] >> x % scale * (32 / scale), scale);
    if (width - x * 32 < 32)
      bits &= (1u << (width - x * 32)) - 1;
  }
  ((uint32_t *) (to.words + y * to.pitch))[x] = bits;
}

static uint32_t
scale_blocks (uint64_t threads)
{
  return (uint32_t) ((threads - 1) / SCALE_THREADS + 1);
}

cudaError_t
ccl_cuda_model_shrink (const CclModelFrame *from, const CclModelFrame *to, uint32_t scale,
                       cudaStream_t stream)
{
  uint32_t blocks = scale_blocks ((uint64_t) to->width * to->height);

  return launch (motion_shrink, blocks, SCALE_THREADS, 0, stream, *from, *to, scale);
}

cudaError_t
ccl_cuda_model_enlarge (const CclModelMask *from, const CclModelMask *to, uint32_t width,
                        uint32_t height, uint32_t scale, cudaStream_t stream)
{
  uint32_t blocks = scale_blocks ((uint64_t) ((width - 1) / 64 * 2 + 2) * height);

  return launch (motion_enlarge, blocks, SCALE_THREADS, 0, stream, *from, *to, width, height,
                 scale);
}
