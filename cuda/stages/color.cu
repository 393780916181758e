/* cudaccl - CUDA backend: interleaved colours to luma and chroma
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/device/launch.cuh"
#include "cuda/stages/color.h"

#define COLOR_THREADS 256

static __device__ inline uint8_t
luma_of (const CclCudaColors &c, unsigned bytes, const uint8_t *pixel)
{
  if (bytes == 2 && c.cut.wide)
    return ccl_color_band (&c.weights, &c.cut, pixel);
  return bytes == 2 && c.weights.shift ? ccl_color_sample (&c.weights, pixel)
                                       : ccl_color_luma (&c.weights, bytes, pixel);
}

/* Each thread converts 2x2 pixels, fewer at the right and bottom edges. */
template <unsigned BYTES>
static __global__ void
__launch_bounds__ (COLOR_THREADS) color_convert (const CclCudaColors c)
{
  const uint32_t columns = (c.width - 1) / 2 + 1;
  const uint64_t i = (uint64_t) blockIdx.x * COLOR_THREADS + threadIdx.x;
  const uint32_t row = (uint32_t) (i / columns), column = (uint32_t) (i - (uint64_t) row * columns);
  const uint32_t x = 2 * column, y = 2 * row;
  const bool wide = x + 1 < c.width, high = y + 1 < c.height;

  if (y >= c.height)
    return;
  const uint8_t *first = c.from + y * c.stride + (size_t) x * BYTES;
  const uint8_t *const rows[2] = { first, high ? first + c.stride : first };

  for (unsigned v = 0; v < (high ? 2 : 1); v++)
    for (unsigned u = 0; u < (wide ? 2 : 1); u++)
      c.luma[(y + v) * c.luma_stride + x + u] = luma_of (c, BYTES, rows[v] + u * BYTES);
  if (!c.chroma[0])
    return;
  for (unsigned k = 0; k < 2; k++)
    c.chroma[k][row * c.chroma_stride + column] =
        BYTES == 2 && c.weights.shift
            ? ccl_color_sample (&c.weights,
                                c.samples[k] + row * c.samples_stride[k] + (size_t) column * c.step)
            : ccl_color_chroma (&c.weights, BYTES, k, rows, wide || c.weights.pairs ? BYTES : 0);
}

extern "C" cudaError_t
ccl_cuda_convert_colors (const CclCudaColors *c, cudaStream_t stream)
{
  uint64_t threads = ((uint64_t) (c->width - 1) / 2 + 1) * ((c->height - 1) / 2 + 1);
  unsigned blocks = (unsigned) ((threads - 1) / COLOR_THREADS + 1);

  switch (c->weights.bytes) {
  case 2:
    return launch (color_convert<2>, blocks, COLOR_THREADS, 0, stream, *c);
  case 3:
    return launch (color_convert<3>, blocks, COLOR_THREADS, 0, stream, *c);
  default:
    return launch (color_convert<4>, blocks, COLOR_THREADS, 0, stream, *c);
  }
}
