/* cudaccl - CUDA backend: Komura equivalence, over pixels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Y. Komura: GPU-based cluster-labeling algorithm without the use of conventional iteration, with
 * 8-connectivity as told by paper 002, section 4.2: KE.
 *
 * Where this differs from its description: with 8-connectivity, unions that follow from others are
 * left out. With 4-connectivity that is another algorithm; see playne.cu. */

#include "cuda/device/pixel_quads.cuh"

/* Links every pixel to the first of its neighbours. */
static __global__ void
initialization (CclCudaFrame f)
{
  Quad q = get_quad (f);

  if (q.inside)
    link_quad (f, q);
}

/* The neighbours that a pixel is still to be united with: those that it was not linked to and that
 * touch none of the others, with which they are united already. It is always the later of two
 * pixels that sees the other, so that nothing is left out in a circle. */
static __device__ inline uint32_t
needed_unions (uint32_t neighbours)
{
  uint32_t first = first_neighbour (neighbours), others = neighbours & ~first;

  if (neighbours & PIXEL_NORTH)
    others = 0; /* it touches all of them */
  else if (first == PIXEL_NORTH_WEST)
    others &= ~PIXEL_WEST;
  return others;
}

/* Unites every pixel with those of its neighbours that it was not linked to. */
static __global__ void
reduction (CclCudaFrame f)
{
  Quad q = get_quad (f);

#pragma unroll
  for (uint32_t k = 0; k < QUAD_PIXELS; k++) {
    uint32_t neighbours = neighbours_of (f, around_pixel (q, k)), others;

    if (f.connectivity == 8)
      others = needed_unions (neighbours);
    else
      others = neighbours & ~first_neighbour (neighbours);
    /* One, at most. */
    if (others)
      unite (f.labelled.pixels, q.label + k, label_of_neighbour (f, q.label + k, others));
  }
}

extern "C" cudaError_t
ccl_cuda_ke (const CclCudaFrame *f, cudaStream_t stream)
{
  initialization<<<quad_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "initialization", stream);
  enqueue_compression (f->labelled.pixels, n_pixels (f), false, stream);
  ccl_cuda_stage (f, "compression", stream);
  reduction<<<quad_grid (f), pixel_threads (), 0, stream>>> (*f);
  ccl_cuda_stage (f, "reduction", stream);
  enqueue_shallow_compression (f->labelled.pixels, n_pixels (f), false, stream);
  ccl_cuda_stage (f, "second compression", stream);
  return cudaGetLastError ();
}
