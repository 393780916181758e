/* cudaccl - CUDA backend: FLSL with conflict detection
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Paper 003's FLSL+CD (section 3.3, algorithm 3): features are summed up among the lanes of a warp
 * that hold the same component before they are added to it. Beyond the paper, a warp keeps the sums
 * of a component that fills much of it from one step to the next, so that a component all over the
 * frame doesn't serialize. */

#define FLSL_ON_THE_FLY false

#include "cuda/algorithms/flsl.cuh"

static __global__ void
features_cd (CclCudaFrame f)
{
  HeldComponent held = held_nothing ();
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from; slot < part.to; slot += WARP_LANES) {
    Sums s;
    uint32_t root = get_run (f, part, slot + lane_id (), &s);

    feature_update_held (f, &held, root, s);
  }
  held_flush (f, &held);
}

extern "C" cudaError_t
ccl_cuda_flsl_cd (const CclCudaFrame *f, cudaStream_t stream)
{
  flsl_detect (f, stream);
  flsl_merge (f, stream);
  resolve_stage (f, stream);
  features_cd<<<part_blocks (f), dim3 (WARP_LANES, PART_WARPS), 0, stream>>> (*f);
  ccl_cuda_stage (f, "features", stream);
  return cudaGetLastError ();
}
