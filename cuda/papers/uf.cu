/* cudaccl - CUDA backend: union-find over pixels, for frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* UF: V. Oliveira, R. Lotufo: A study on connected components labeling algorithms using GPUs, as
 * described by Allegretti 2020, section 4.1, with tile merging.
 *
 * Where this differs from the description: in a tile, pixels start with the label of their run's
 * start. Of two runs that touch, one pair of pixels is united, and likewise of two vertical runs at
 * a tile's left border. */

#include "cuda/algorithms/pixels.cuh"

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
