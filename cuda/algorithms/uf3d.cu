/* cudaccl - CUDA backend: union-find over voxels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* UF (see uf.cu) with 26-connectivity, without tiles: initialization, merge and compression as in
 * paper 002, section 4.1. */

#include "cuda/device/pixels.cuh"

static __global__ void
initialization (CclCudaFrame f)
{
  init_pixel (f);
}

/* Unites a voxel with the 13 neighbours that come before it in raster order. */
static __global__ void
merge_voxels (CclCudaFrame f)
{
  Pixel p = get_pixel (f);
  uint32_t height = f.volume.height, z = p.y / height, y = p.y - z * height;

  if (!foreground_at (f, p.x, p.y))
    return;
  for (uint32_t k = 0; k < 13; k++) {
    uint32_t dx = k % 3 - 1, dy = k / 3 % 3 - 1, dz = k / 9 - 1; /* 0 - 1 wraps, as below */
    uint32_t row = p.y + dz * height + dy;

    if (y + dy < height && z + dz < f.volume.depth && foreground_at (f, p.x + dx, row))
      unite (f.labelled.pixels, p.label, row * f.labelled.pitch + p.x + dx);
  }
}

extern "C" cudaError_t
ccl_cuda_uf_3d (const CclCudaFrame *f, cudaStream_t stream)
{
  initialization<<<pixel_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "initialization", stream);
  merge_voxels<<<pixel_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "merge", stream);
  enqueue_compression (f->labelled.pixels, n_pixels (f), false, stream);
  ccl_cuda_stage (f, "compression", stream);
  return cudaGetLastError ();
}
