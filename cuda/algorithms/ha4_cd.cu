/* cudaccl - CUDA backend: HA4 with conflict detection
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* HA4 (paper 000) with features summed up by algorithm 3 of paper 003, its HA+CD. */

#define HA4_BLOCK 64
#define HA4_ON_THE_FLY false
#define HA4_CONFLICT_DETECTION true

#include "cuda/algorithms/ha4_features.cuh"

extern "C" cudaError_t
ccl_cuda_ha4_cd (const CclCudaFrame *f, cudaStream_t stream)
{
  return ha4_analyse (f, stream);
}
