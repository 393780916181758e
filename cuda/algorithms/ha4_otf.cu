/* cudaccl - CUDA backend: HA4 with features merged on the fly
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* HA4 (paper 000) with merges by algorithm 2 of paper 003, its HA+OTF: what is known of a run goes
 * to its label as soon as it has one, and from there along with every merge, so that there is no
 * pass over the labelled image. */

#define HA4_BLOCK 64
#define HA4_ON_THE_FLY true

#include "cuda/algorithms/ha4.cuh"

extern "C" cudaError_t
ccl_cuda_ha4_otf (const CclCudaFrame *f, cudaStream_t stream)
{
  ha4_label (f, stream);
  return ccl_cuda_flatten_for_map (f, stream);
}
