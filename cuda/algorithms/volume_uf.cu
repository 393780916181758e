/* cudaccl - CUDA backend: union-find over voxels, for volumes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* UF: V. Oliveira, R. Lotufo: A study on connected components labeling algorithms using GPUs, as
 * described by Allegretti 2020, section 4.1, without tiles: initialization, merge and compression.
 */

#include "cuda/algorithms/pixels.cuh"

#include <cudaccl/volume.h>

static __global__ void
uf_volume_initialize (CclCudaFrame f, CclLabelImage image)
{
  init_pixel (f, image);
}

/* Unites a voxel with its neighbours that come before it in raster order: 13 at most. */
static __global__ void
uf_volume_merge (CclCudaFrame f, CclLabelImage image)
{
  CachedForest forest = { image.pixels };
  Pixel p = get_pixel (f, image);
  uint32_t height = image.slice_height, z = p.y / height, y = p.y - z * height;
  uint32_t most = f.connectivity == 26 ? 3 : f.connectivity == 18 ? 2 : 1; /* axes to differ in */

  if (!foreground_at (f, p.x, p.y))
    return;
  for (uint32_t k = 0; k < 13; k++) {
    uint32_t dx = k % 3 - 1, dy = k / 3 % 3 - 1,
             dz = k / 9 - 1; /* 0 - 1 wraps around, as do the sums below */
    uint32_t row = p.y + dz * height + dy;

    if ((dx != 0) + (dy != 0) + (dz != 0) <= most && y + dy < height && z + dz < image.depth &&
        foreground_at (f, p.x + dx, row))
      unite (forest, p.label, row * image.pitch + p.x + dx);
  }
}

static cudaError_t
uf_volume_label (const CclCudaWork *work, cudaStream_t stream)
{
  const CclLabelImage *image = ccl_cuda_label_image (work);
  cudaError_t error;

  error = launch (uf_volume_initialize, pixel_grid (work), pixel_threads (), 0, stream, work->frame,
                  *image);
  ccl_cuda_stage (work, "initialization", stream);
  if (error == cudaSuccess)
    error = launch (uf_volume_merge, pixel_grid (work), pixel_threads (), 0, stream, work->frame,
                    *image);
  ccl_cuda_stage (work, "merge", stream);
  if (error == cudaSuccess)
    error = compress_pixels (work, false, stream);
  ccl_cuda_stage (work, "compression", stream);
  return error;
}

CCL_CUDA_ALGORITHM (ccl_cuda_volume_algorithm_uf) = CCL_CUDA_LABELLING (
    "uf", "UF: union-find over voxels (Oliveira and Lotufo 2010)",
    CCL_VOLUME_CONNECTIVITIES (6, 18, 26), ccl_cuda_label_image_open, uf_volume_label);
