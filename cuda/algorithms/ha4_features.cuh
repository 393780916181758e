/* cudaccl - CUDA backend: HA4, features of the labelled image
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The file that includes this one says, beside what ha4.cuh asks for:
 *
 * HA4_CONFLICT_DETECTION: whether the lanes of a warp that hold the same component add up their
 * features first (paper 003, section 3.3). */

#ifndef CCL_CUDA_HA4_FEATURES_CUH
#define CCL_CUDA_HA4_FEATURES_CUH

#include "cuda/algorithms/ha4.cuh"
#include "cuda/device/resolve.cuh"

/* Algorithm 6, for the run that starts with this lane's pixel. */
static __global__ void
features (CclCudaFrame f)
{
  uint32_t root = CCL_NO_LABEL;
  Sums s = sums_of_nothing ();
  Ha4Block block;
  int x;

  if (!get_block (f, &block))
    return;
  x = candidate (block.pixels);
  if (is_start (block.pixels, x)) {
    uint32_t start = block.base + x, slot = block.y * f.slots + start / 2;

    root = f.labels[slot];
    if (root == slot)
      f.starts[root] = start;
    s = sums_of_run (f, start, start + end_distance (block.pixels, x), block.y);
  }
  if (HA4_CONFLICT_DETECTION)
    feature_update_cd (f, root, s);
  else if (root != CCL_NO_LABEL)
    feature_update (f, root, s);
}

static inline cudaError_t
ha4_analyse (const CclCudaFrame *f, cudaStream_t stream)
{
  ha4_label (f, stream);
  resolve_stage (f, stream);
  features<<<ha4_frame_grid (f), dim3 (WARP_LANES, HA4_STRIP), 0, stream>>> (*f);
  ccl_cuda_stage (f, "features", stream);
  return cudaGetLastError ();
}

#endif
