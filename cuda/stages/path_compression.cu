/* cudaccl - CUDA backend: label maps where features go along with merges
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/device/bits.cuh"
#include "cuda/device/unionfind.cuh"

static __global__ void
flatten (CclCudaFrame f)
{
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES) {
    uint32_t label = part.row + slot, parent = f.labels[label];

    if (parent != CCL_NO_LABEL)
      compress (f.labels, label, parent);
  }
}

extern "C" cudaError_t
ccl_cuda_flatten_for_map (const CclCudaFrame *f, cudaStream_t stream)
{
  if (f->map) {
    flatten<<<part_blocks (f), dim3 (WARP_LANES, PART_WARPS), 0, stream>>> (*f);
    ccl_cuda_stage (f, "closure", stream);
    ccl_cuda_stage_labelled (f);
  }
  return cudaGetLastError ();
}
