/* cudaccl - CUDA backend: Komura equivalence without redundant unions
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* D. Playne, K. Hawick: A New Algorithm for Parallel Connected-Component Labelling on GPUs, the
 * direct method over the whole image: Komura's algorithm with 4-connectivity, in which of the
 * pixels with both neighbours only those take part in the reduction that join what is not joined
 * around the corner. */

#include "cuda/komura.cuh"
#include "cuda/pixels.cuh"
#include "cuda/unionfind.cuh"

/* Links every pixel to the one above or, failing that, to the left. */
static __global__ void
initialization (CclCudaFrame f)
{
  Pixel p = get_pixel (f);
  uint32_t neighbours = load_neighbours (f, p), label = p.label;

  if (!p.inside)
    return;
  if (neighbours & PIXEL_NORTH)
    label -= f.labelled.pitch;
  else if (neighbours & PIXEL_WEST)
    label -= 1;
  f.labelled.pixels[p.label] = neighbours ? label : CCL_NO_LABEL;
}

/* Merges a pixel with its left neighbour where that was left out and nobody else will do it: the
 * pixel at the corner between left and above is background. */
static __global__ void
reduction (CclCudaFrame f)
{
  const uint32_t both = PIXEL_NORTH | PIXEL_WEST;
  Pixel p = get_pixel (f);
  uint32_t neighbours = load_neighbours (f, p);

  if ((neighbours & both) == both && !foreground_at (f, p.x - 1, p.y - 1))
    merge (f.labelled.pixels, p.label, p.label - 1);
}

extern "C" cudaError_t
ccl_cuda_playne (const CclCudaFrame *f, cudaStream_t stream)
{
  initialization<<<pixel_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "initialization", stream);
  enqueue_compression (f->labelled.pixels, n_pixels (f), false, stream);
  ccl_cuda_stage (f, "analysis", stream);
  reduction<<<pixel_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "reduction", stream);
  enqueue_second_compression (f->labelled.pixels, n_pixels (f), false, stream);
  ccl_cuda_stage (f, "second analysis", stream);
  return cudaGetLastError ();
}
