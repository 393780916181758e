/* cudaccl - CUDA backend: HA4, one pixel a thread
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Paper 000 up to its section IV-D. */

#define HA4_BLOCK 32
#define HA4_ON_THE_FLY false
#define HA4_CONFLICT_DETECTION false

#include "cuda/algorithms/ha4_features.cuh"

extern "C" cudaError_t
ccl_cuda_ha4_32 (const CclCudaFrame *f, cudaStream_t stream)
{
  return ha4_analyse (f, stream);
}
