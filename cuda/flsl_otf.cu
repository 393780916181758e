/* cudaccl - CUDA backend: FLSL with features merged on the fly
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Paper 003's FLSL+OTF (section 3.2, algorithm 2): features go along with every merge of labels. */

#define FLSL_ON_THE_FLY true

#include "cuda/flsl.cuh"

extern "C" cudaError_t
ccl_cuda_flsl_otf (const CclCudaFrame *f, cudaStream_t stream)
{
  unsigned parts = part_blocks (f);
  dim3 block (WARP_LANES, PART_WARPS);

  segment_detection<<<flsl_grid (f->height), dim3 (WARP_LANES, FLSL_WARPS), 0, stream>>> (*f);
  /* Before the first merge every run is a root, and gets its own features. */
  resolve<<<parts, block, 0, stream>>> (*f);
  merge_rows<<<parts, block, 0, stream>>> (*f);
  return ccl_cuda_flatten_for_map (f, stream);
}
