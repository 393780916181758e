/* cudaccl - CUDA backend: union-find over pixels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* V. Oliveira, R. Lotufo: A study on connected components labeling algorithms using GPUs, as told
 * by paper 002, section 4.1: UF, with 8-connectivity as there, and tile merging. */

#include "cuda/pixels.cuh"

/* Local Merge: union-find over the pixels of a tile, which are those of a thread block. */
static __global__ void
local_merge (CclCudaFrame f)
{
  __shared__ uint32_t labels[PIXELS_HIGH * PIXELS_WIDE];
  uint32_t own = threadIdx.y * PIXELS_WIDE + threadIdx.x, inner, root;
  Pixel p = get_pixel (f);
  uint32_t neighbours = load_neighbours (f, p);

  labels[own] = own;
  inner = neighbours;
  if (threadIdx.y == 0)
    inner &= ~(PIXEL_NORTH_WEST | PIXEL_NORTH | PIXEL_NORTH_EAST);
  if (threadIdx.x == 0)
    inner &= ~(PIXEL_NORTH_WEST | PIXEL_WEST);
  if (threadIdx.x == PIXELS_WIDE - 1)
    inner &= ~PIXEL_NORTH_EAST;
  __syncthreads ();
  unite_neighbours (labels, own, PIXELS_WIDE, inner);
  __syncthreads ();
  if (!p.inside)
    return;
  root = find (labels, own);
  f.labelled.pixels[p.label] =
      neighbours ? p.label - (threadIdx.y - root / PIXELS_WIDE) * f.labelled.pitch -
                       (threadIdx.x - root % PIXELS_WIDE)
                 : CCL_NO_LABEL;
}

/* Merge, over the upper borders of tiles. */
static __global__ void
merge_rows (CclCudaFrame f)
{
  Pixel p = get_pixel (f);

  p.y = (p.y + 1) * PIXELS_HIGH;
  p.label = p.y * f.labelled.pitch + p.x;
  unite_neighbours (f.labelled.pixels, p.label, f.labelled.pitch,
                    load_neighbours (f, p) & ~PIXEL_WEST);
}

/* Merge, over the left borders of tiles: the pixels of a column with those left of them, on the
 * same row, above and below. */
static __global__ void
merge_columns (CclCudaFrame f)
{
  uint32_t columns = (f.labelled.pitch - 1) / PIXELS_WIDE, pitch = f.labelled.pitch;
  size_t index = (size_t) blockIdx.x * blockDim.x + threadIdx.x;
  uint32_t y = (uint32_t) (index / columns);
  uint32_t x = ((uint32_t) (index - (size_t) y * columns) + 1) * PIXELS_WIDE;
  uint32_t label = y * pitch + x, *labels = f.labelled.pixels;

  if (!foreground_at (f, x, y))
    return;
  if (foreground_at (f, x - 1, y))
    unite (labels, label, label - 1);
  if (f.connectivity == 8 && foreground_at (f, x - 1, y - 1))
    unite (labels, label, label - pitch - 1);
  if (f.connectivity == 8 && foreground_at (f, x - 1, y + 1))
    unite (labels, label, label + pitch - 1);
}

extern "C" cudaError_t
ccl_cuda_uf (const CclCudaFrame *f, cudaStream_t stream)
{
  uint32_t wide = (f->labelled.pitch - 1) / PIXELS_WIDE + 1, high = (f->height - 1) / PIXELS_HIGH;
  size_t columns = (size_t) (wide - 1) * f->height;

  local_merge<<<pixel_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "local merge", stream);
  if (high > 0)
    merge_rows<<<wide *((high - 1) / PIXELS_HIGH + 1), pixel_threads (), 0, stream>>> (*f);
  if (columns > 0)
    merge_columns<<<(unsigned) ((columns - 1) / FOREST_THREADS + 1), FOREST_THREADS, 0, stream>>> (
        *f);
  ccl_cuda_stage (f, "merge", stream);
  enqueue_compression (f->labelled.pixels, n_pixels (f), false, stream);
  ccl_cuda_stage (f, "compression", stream);
  return cudaGetLastError ();
}
