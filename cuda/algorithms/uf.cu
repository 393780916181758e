/* cudaccl - CUDA backend: union-find over pixels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* UF: V. Oliveira, R. Lotufo: A study on connected components labeling algorithms using GPUs, as
 * described by Allegretti 2020, section 4.1, with tile merging.
 *
 * Where this differs from the description: in a tile, pixels start with the label of their run's
 * start. Of two runs that touch, one pair of pixels is united, and likewise of two vertical runs at
 * a tile's left border. */

#include "cuda/device/pixels.cuh"

#include <cudaccl/volume.h>

/* Local Merge: union-find over the pixels of a tile, by one thread block. @bits:
 * CclCudaFrame.bits. */
template <bool bits>
static __global__ void
uf_merge_locally (CclCudaFrame f, CclLabelImage image)
{
  __shared__ uint32_t labels[PIXELS_HIGH * PIXELS_WIDE], rows[PIXELS_HIGH];
  uint32_t lane = threadIdx.x, row = threadIdx.y * PIXELS_WIDE, start;
  Pixel p = get_pixel (f, image);
  Rows r = {};

  f.bits = bits;
  r.current = load_word (f, p);
  start = row + run_start ((uint32_t) r.current);
  labels[row + lane] = start;
  rows[threadIdx.y] = (uint32_t) r.current;
  __syncthreads ();
  if (threadIdx.y > 0)
    r.above = rows[threadIdx.y - 1];
  unite_lines (labels, (uint32_t) touching (f.connectivity, r), (uint32_t) r.current, row + lane,
               (uint32_t) r.above, row + lane - PIXELS_WIDE, 1);
  __syncthreads ();
  store_tile_label (image, p, labels, start, r.current >> lane & 1);
}

/* Merge, across the upper borders of tiles. */
template <bool bits>
static __global__ void
uf_merge_rows (CclCudaFrame f, CclLabelImage image)
{
  Pixel p = get_pixel (f, image);

  f.bits = bits;
  p.y = (p.y + 1) * PIXELS_HIGH;
  p.label = p.y * image.pitch + p.x;
  unite_rows (f, image, p);
}

/* Merge, across the left borders of tiles. A warp handles 32 pixels of a column and those to their
 * left. Every tile starts as if nothing touched above it, so unions that the rows skip at a corner
 * of tiles are made here. The rows handle diagonal contacts at corners. */
template <bool bits>
static __global__ void
uf_merge_columns (CclCudaFrame f, CclLabelImage image)
{
  const uint32_t below = ~(UINT32_MAX / ((1u << PIXELS_HIGH) - 1)); /* not a tile's first row */
  uint32_t columns = (image.pitch - 1) / PIXELS_WIDE, pitch = image.pitch;
  uint32_t index = blockIdx.x * blockDim.y + threadIdx.y, part = index / columns;
  uint32_t x = (index - part * columns + 1) * PIXELS_WIDE, y = part * WARP_LANES + threadIdx.x;
  uint32_t right, left;
  uint64_t starts;

  f.bits = bits;
  right = __ballot_sync (ALL_LANES, foreground_at (f, x, y));
  left = __ballot_sync (ALL_LANES, foreground_at (f, x - 1, y));
  starts = touching_pixels (f.connectivity, right, right << 1 & below, left, left << 1 & below);
  unite_lines (image.pixels, (uint32_t) starts, right, y * pitch + x, left, y * pitch + x - 1,
               pitch);
}

static cudaError_t
uf_label (const CclCudaWork *work, cudaStream_t stream)
{
  return work->frame.bits ? label_by_tiles (work, uf_merge_locally<true>, uf_merge_rows<true>,
                                            uf_merge_columns<true>, stream)
                          : label_by_tiles (work, uf_merge_locally<false>, uf_merge_rows<false>,
                                            uf_merge_columns<false>, stream);
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_uf) = CCL_CUDA_LABELLING (
    "uf", "UF: union-find over pixels, in tiles first (Oliveira and Lotufo 2010)", 4 | 8,
    ccl_cuda_label_image_open, uf_label);

/* Volumes, without tiles: initialization, merge and compression as in Allegretti 2020, section
 * 4.1. */

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
