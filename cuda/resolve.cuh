/* cudaccl - CUDA backend: from a forest of labels to roots
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_RESOLVE_CUH
#define CCL_CUDA_RESOLVE_CUH

#include "cuda/features.cuh"
#include "cuda/unionfind.cuh"

/* The transitive closure: every label points to its root, and every root is ready to take features.
 * Where the runs are known (ends), it starts with those of its own run. */
static __global__ void
resolve (CclCudaFrame f)
{
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES) {
    uint32_t label = part.row + slot, parent = f.labels[label];

    if (parent == CCL_NO_LABEL)
      continue;
    if (compress (f.labels, label, parent) != label)
      continue;
    if (f.ends)
      features_set (f, label, sums_of_run (f, f.starts[label], f.ends[label], part.y));
    else
      features_set (f, label, sums_of_nothing ());
  }
}

/* The same as a stage of the frame; with it, labels are done. */
static inline void
resolve_stage (const CclCudaFrame *f, cudaStream_t stream)
{
  resolve<<<part_blocks (f), dim3 (WARP_LANES, PART_WARPS), 0, stream>>> (*f);
  ccl_cuda_stage (f, "closure", stream);
  ccl_cuda_stage_labelled (f);
}

#endif
