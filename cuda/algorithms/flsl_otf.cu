/* cudaccl - CUDA backend: FLSL with features merged on the fly
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Paper 003's FLSL+OTF (section 3.2, algorithm 2): features go along with every merge of labels. */

#define FLSL_ON_THE_FLY true

#include "cuda/algorithms/flsl.cuh"

extern "C" cudaError_t
ccl_cuda_flsl_otf (const CclCudaFrame *f, cudaStream_t stream)
{
  flsl_detect (f, stream);
  /* Before the first merge every run is a root, and gets its own features. */
  resolve<<<part_blocks (f), dim3 (WARP_LANES, PART_WARPS), 0, stream>>> (*f);
  ccl_cuda_stage (f, "features of runs", stream);
  flsl_merge (f, stream);
  return ccl_cuda_flatten_for_map (f, stream);
}
