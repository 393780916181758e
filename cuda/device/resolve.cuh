/* cudaccl - CUDA backend: from a forest of labels to roots
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_RESOLVE_CUH
#define CCL_CUDA_RESOLVE_CUH

#include "cuda/device/features.cuh"
#include "cuda/device/unionfind.cuh"

#define RESOLVE_LABELS 4 /* of a lane at a time, so that it waits for several at once */

/* Makes @label point to its root; where that is itself, it is made ready to take features. */
static __device__ inline void
resolve_label (const CclCudaFrame &f, uint32_t y, uint32_t label, uint32_t parent)
{
  if (compress (f.labels, label, parent) != label)
    return;
  if (f.ends)
    features_set (f, label, sums_of_run (f, f.starts[label], f.ends[label], y));
  else
    features_set (f, label, sums_of_nothing ());
}

/* The transitive closure: every label points to its root, and every root is ready to take features.
 * Where the runs are known (ends), it starts with those of its own run. */
static __global__ void
resolve (CclCudaFrame f)
{
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t first = part.from; first < part.to; first += RESOLVE_LABELS * WARP_LANES) {
    uint32_t parents[RESOLVE_LABELS], slot = first + lane_id ();

#pragma unroll
    for (uint32_t k = 0; k < RESOLVE_LABELS; k++)
      parents[k] = slot + k * WARP_LANES < part.to ? f.labels[part.row + slot + k * WARP_LANES]
                                                   : CCL_NO_LABEL;
#pragma unroll
    for (uint32_t k = 0; k < RESOLVE_LABELS; k++) {
      if (parents[k] != CCL_NO_LABEL)
        resolve_label (f, part.y, part.row + slot + k * WARP_LANES, parents[k]);
      __syncwarp (); /* the warp's lanes go on together */
    }
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
