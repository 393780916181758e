/* cudaccl - CUDA backend: line-based union-find
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* K. Yonehara, K. Aizawa: A line-based connected component labeling algorithm using GPUs, as told
 * by paper 002, section 3.2: LBUF, union-find whose tiles are single lines, so that inside of them
 * a pixel has but one neighbour to look at; and inline compression. */

#include "cuda/pixels.cuh"

#define LINE 256 /* pixels of a line that a thread block takes */

/* Local Merge: union-find along a line. */
static __global__ void
local_merge (CclCudaFrame f)
{
  __shared__ uint32_t labels[LINE];
  uint32_t pitch = f.labelled.pitch, lines = (pitch - 1) / LINE + 1;
  uint32_t y = blockIdx.x / lines, first = (blockIdx.x - y * lines) * LINE, own = threadIdx.x;
  bool here = foreground_at (f, first + own, y);

  labels[own] = own;
  __syncthreads ();
  if (here && own > 0 && foreground_at (f, first + own - 1, y))
    unite (labels, own, own - 1);
  __syncthreads ();
  if (first + own < pitch)
    f.labelled.pixels[y * pitch + first + own] =
        here ? y * pitch + first + find (labels, own) : CCL_NO_LABEL;
}

/* Merge: lines with what is left of them, and with the lines above. */
static __global__ void
merge_lines (CclCudaFrame f)
{
  Pixel p = get_pixel (f);
  uint32_t neighbours = load_neighbours (f, p);

  if (p.x % LINE != 0)
    neighbours &= ~PIXEL_WEST;
  unite_neighbours (f.labelled.pixels, p.label, f.labelled.pitch, neighbours);
}

extern "C" cudaError_t
ccl_cuda_lbuf (const CclCudaFrame *f, cudaStream_t stream)
{
  local_merge<<<((f->labelled.pitch - 1) / LINE + 1) * f->height, LINE, 0, stream>>> (*f);
  ccl_cuda_stage (f, "local merge", stream);
  merge_lines<<<pixel_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "merge", stream);
  enqueue_compression (f->labelled.pixels, n_pixels (f), true, stream);
  ccl_cuda_stage (f, "compression", stream);
  return cudaGetLastError ();
}
