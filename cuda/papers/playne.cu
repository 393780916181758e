/* cudaccl - CUDA backend: Komura equivalence without redundant unions
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* D. Playne, K. Hawick: A New Algorithm for Parallel Connected-Component Labelling on GPUs, the
 * direct method over the whole image: Komura's algorithm with 4-connectivity. Of the pixels with
 * both neighbours, only those whose neighbours are not connected around the corner take part in the
 * reduction. */

#include "cuda/papers/pixel_quads.cuh"

/* Links every pixel to the one above or, failing that, to the one to its left. */
static __global__ void
playne_initialize (CclCudaFrame f, CclLabelImage image)
{
  Quad q = get_quad (f, image);

  if (q.inside)
    link_quad (f, image, q);
}

/* Merges a pixel with its left neighbour where the initialization did not, and no other pixel
 * connects them: the pixel at the corner between the left and the upper one is background. */
static __global__ void
playne_reduce (CclCudaFrame f, CclLabelImage image)
{
  const uint32_t both = PIXEL_NORTH | PIXEL_WEST;
  Quad q = get_quad (f, image);

#pragma unroll
  for (uint32_t k = 0; k < QUAD_PIXELS; k++) {
    if ((around_pixel (q, k) & (both | PIXEL_NORTH_WEST)) == both)
      merge (GlobalForest{ image.pixels }, q.label + k, q.label + k - 1);
  }
}

static cudaError_t
playne_label (const CclCudaWork *work, cudaStream_t stream)
{
  return label_by_quads (work, playne_initialize, playne_reduce, stream);
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_playne) = CCL_CUDA_LABELLING (
    "playne", "Komura equivalence without redundant unions (Playne and Hawick 2018)", 4,
    ccl_cuda_label_image_open, playne_label);
