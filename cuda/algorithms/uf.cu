/* cudaccl - CUDA backend: union-find over pixels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* V. Oliveira, R. Lotufo: A study on connected components labeling algorithms using GPUs, as told
 * by paper 002, section 4.1: UF, with 8-connectivity as there, and tile merging.
 *
 * Where this differs from its description: in a tile, pixels start with the label of their run's
 * start, and of two runs that touch, of rows or at the tiles' left borders of columns, one pair of
 * pixels is united. */

#include "cuda/device/pixels.cuh"

/* Local Merge: union-find over the pixels of a tile, which are those of a thread block. */
static __global__ void
local_merge (CclCudaFrame f)
{
  __shared__ uint32_t labels[PIXELS_HIGH * PIXELS_WIDE], rows[PIXELS_HIGH];
  uint32_t lane = threadIdx.x, row = threadIdx.y * PIXELS_WIDE, start;
  Pixel p = get_pixel (f);
  Rows r = { load_word (f, p), 0, false, false };

  start = row + run_start ((uint32_t) r.current);
  labels[row + lane] = start;
  rows[threadIdx.y] = (uint32_t) r.current;
  __syncthreads ();
  if (threadIdx.y > 0)
    r.above = rows[threadIdx.y - 1];
  unite_lines (labels, (uint32_t) touching (f, r), (uint32_t) r.current, row + lane,
               (uint32_t) r.above, row + lane - PIXELS_WIDE, 1);
  __syncthreads ();
  store_tile_label (f, p, labels, start, r.current >> lane & 1);
}

/* Merge, over the upper borders of tiles. */
static __global__ void
merge_rows (CclCudaFrame f)
{
  Pixel p = get_pixel (f);

  p.y = (p.y + 1) * PIXELS_HIGH;
  p.label = p.y * f.labelled.pitch + p.x;
  unite_rows (f, p);
}

/* Merge, over the left borders of tiles. A warp has 32 pixels of a column and those left of them.
 * Every tile begins anew, as if nothing touched above it: what rows leave out at a corner of tiles
 * is not left out here. What touches diagonally there is among the rows' own. */
static __global__ void
merge_columns (CclCudaFrame f)
{
  const uint32_t below = ~(UINT32_MAX / ((1u << PIXELS_HIGH) - 1)); /* another one of the tile */
  uint32_t columns = (f.labelled.pitch - 1) / PIXELS_WIDE, pitch = f.labelled.pitch;
  uint32_t index = blockIdx.x * blockDim.y + threadIdx.y, part = index / columns;
  uint32_t x = (index - part * columns + 1) * PIXELS_WIDE, y = part * WARP_LANES + threadIdx.x;
  uint32_t right = __ballot_sync (ALL_LANES, foreground_at (f, x, y));
  uint32_t left = __ballot_sync (ALL_LANES, foreground_at (f, x - 1, y));
  uint64_t starts = touching_pixels (f, right, right << 1 & below, left, left << 1 & below);

  unite_lines (f.labelled.pixels, (uint32_t) starts, right, y * pitch + x, left, y * pitch + x - 1,
               pitch);
}

extern "C" cudaError_t
ccl_cuda_uf (const CclCudaFrame *f, cudaStream_t stream)
{
  return enqueue_tiles (f, local_merge, merge_rows, merge_columns, stream);
}
