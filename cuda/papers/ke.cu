/* cudaccl - CUDA backend: Komura equivalence, over pixels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* KE: Y. Komura: GPU-based cluster-labeling algorithm without the use of conventional iteration,
 * with 8-connectivity as described by Allegretti 2020, section 4.2.
 *
 * Where this differs from the description: with 8-connectivity, unions that follow from others are
 * skipped. With 4-connectivity that is another algorithm; see playne.cu. */

#include "cuda/papers/pixel_quads.cuh"

/* Links every pixel to the first of its neighbours. @bits: CclCudaFrame.bits. */
template <bool bits>
static __global__ void
ke_initialize (CclCudaFrame f, CclLabelImage image)
{
  Quad q;

  f.bits = bits;
  q = get_quad (f, image);
  if (q.inside)
    link_quad (f, image, q);
}

/* The neighbours that a pixel must still be united with: those that it was not linked to and that
 * touch none of the others, through which they are united already. Only the later of two pixels
 * sees the earlier one, so skipped unions never form a cycle. */
static __device__ inline uint32_t
needed_pixel_unions (uint32_t neighbours)
{
  uint32_t first = first_neighbour (neighbours), others = neighbours & ~first;

  if (neighbours & PIXEL_NORTH)
    others = 0; /* it touches all of them */
  else if (first == PIXEL_NORTH_WEST)
    others &= ~PIXEL_WEST;
  return others;
}

/* Unites every pixel with those of its neighbours that it was not linked to. */
template <bool bits>
static __global__ void
ke_reduce (CclCudaFrame f, CclLabelImage image)
{
  Quad q;

  f.bits = bits;
  q = get_quad (f, image);
#pragma unroll
  for (uint32_t k = 0; k < QUAD_PIXELS; k++) {
    uint32_t neighbours = neighbours_of (f, around_pixel (q, k)), others;

    if (f.connectivity == 8)
      others = needed_pixel_unions (neighbours);
    else
      others = neighbours & ~first_neighbour (neighbours);
    /* At most one is left. */
    if (others)
      unite (CachedForest{ image.pixels }, q.label + k,
             label_of_neighbour (f, image, q.label + k, others));
  }
}

static cudaError_t
ke_label (const CclCudaWork *work, cudaStream_t stream)
{
  return work->frame.bits ? label_by_quads (work, ke_initialize<true>, ke_reduce<true>, stream)
                          : label_by_quads (work, ke_initialize<false>, ke_reduce<false>, stream);
}

CCL_CUDA_ALGORITHM (ccl_cuda_algorithm_ke) = CCL_CUDA_LABELLING (
    "ke", "KE: Komura equivalence (Komura 2015)", 4 | 8, ccl_cuda_label_image_open, ke_label);
