/* cudaccl - CUDA backend: Komura equivalence without redundant unions
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* D. Playne, K. Hawick: A New Algorithm for Parallel Connected-Component Labelling on GPUs, the
 * direct method over the whole image: Komura's algorithm with 4-connectivity, in which of the
 * pixels with both neighbours only those take part in the reduction that join what is not joined
 * around the corner. */

#include "cuda/device/pixel_quads.cuh"
#include "cuda/device/unionfind.cuh"

/* Links every pixel to the one above or, failing that, to the left. */
static __global__ void
initialization (CclCudaFrame f)
{
  Quad q = get_quad (f);

  if (q.inside)
    link_quad (f, q);
}

/* Merges a pixel with its left neighbour where that was left out and nobody else will do it: the
 * pixel at the corner between left and above is background. */
static __global__ void
reduction (CclCudaFrame f)
{
  const uint32_t both = PIXEL_NORTH | PIXEL_WEST;
  Quad q = get_quad (f);

#pragma unroll
  for (uint32_t k = 0; k < QUAD_PIXELS; k++) {
    if ((around_pixel (q, k) & (both | PIXEL_NORTH_WEST)) == both)
      merge (f.labelled.pixels, q.label + k, q.label + k - 1);
  }
}

extern "C" cudaError_t
ccl_cuda_playne (const CclCudaFrame *f, cudaStream_t stream)
{
  initialization<<<quad_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "initialization", stream);
  enqueue_compression (f->labelled.pixels, n_pixels (f), false, stream);
  ccl_cuda_stage (f, "analysis", stream);
  reduction<<<quad_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "reduction", stream);
  enqueue_shallow_compression (f->labelled.pixels, n_pixels (f), false, stream);
  ccl_cuda_stage (f, "second analysis", stream);
  return cudaGetLastError ();
}
