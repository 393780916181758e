/* cudaccl - CUDA backend: crops, the kernel
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/crops/crops.h"
#include "cuda/device/launch.cuh"

#define CROP_THREADS 256

/* Returns the mean of the samples of @plane that sample (@u, @v) of the crop consists of. */
static __device__ inline uint32_t
mean_of (const CclCropPlane &plane, const CclCropAxis &x, const CclCropAxis &y, uint32_t u,
         uint32_t v)
{
  const CclCropTaps columns = ccl_crop_taps (&x, u), rows = ccl_crop_taps (&y, v);
  const uint32_t total = ccl_crop_total (&x) * ccl_crop_total (&y);
  const uint8_t *row = plane.samples + rows.first * plane.stride + columns.first * plane.step;
  uint64_t sum = 0;

  for (uint32_t j = 0; j < rows.n; j++, row += plane.stride) {
    uint32_t of_row = 0; /* at most 255 * 65535 */

    for (uint32_t i = 0; i < columns.n; i++)
      of_row += ccl_crop_weight (&columns, i) *
                ccl_crop_sample (row + (size_t) i * plane.step, plane.shift);
    sum += (uint64_t) of_row * ccl_crop_weight (&rows, j);
  }
  return ccl_crop_mean (sum, total, ccl_crop_reciprocal (total));
}

static __device__ inline void
draw_sample (const CclCropTask &task, const CclCrop &crop, uint32_t u, uint32_t v, uint8_t rgb[3])
{
  uint32_t values[3];

  for (unsigned k = 0; k < 3; k++)
    values[k] = k > 0 && !task.planes[1].samples
                    ? values[0]
                    : mean_of (task.planes[k], ccl_crop_axis_x (&task, &crop, k),
                               ccl_crop_axis_y (&task, &crop, k), u, v);
  ccl_crop_convert (&task, values, rgb);
}

/* Each thread writes a sample of the three planes. */
static __global__ void
__launch_bounds__ (CROP_THREADS) crops_draw (const CclCropTask task, uint32_t width,
                                             uint32_t height, uint8_t fill, uint8_t *picture)
{
  const uint32_t size = width * height, at = blockIdx.x * CROP_THREADS + threadIdx.x;
  const uint32_t y = at / width, x = at - y * width;
  uint8_t rgb[3] = { fill, fill, fill };

  if (at >= size)
    return;
  for (uint32_t i = task.n; i-- > 0;) {
    const CclCrop &crop = task.crops[i];

    if (x - crop.to_x < crop.to_width && y - crop.to_y < crop.to_height) {
      draw_sample (task, crop, x - crop.to_x, y - crop.to_y, rgb);
      break;
    }
  }
  for (uint32_t k = 0; k < 3; k++)
    picture[k * size + at] = rgb[k];
}

cudaError_t
ccl_cuda_crops_draw (const CclCropTask *task, uint32_t width, uint32_t height, uint8_t fill,
                     uint8_t *picture, cudaStream_t stream)
{
  uint32_t blocks = (width * height - 1) / CROP_THREADS + 1;

  return launch (crops_draw, blocks, CROP_THREADS, 0, stream, *task, width, height, fill, picture);
}
