/* cudaccl - CUDA backend: features of every pixel by itself
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What papers 000 (section II-C) and 003 (section 2) compare with: labels first, here HA4's, then
 * each pixel adds itself to its component with atomics. */

#define HA4_BLOCK 64
#define HA4_ON_THE_FLY false

#include "cuda/algorithms/ha4.cuh"
#include "cuda/device/resolve.cuh"

static __global__ void
features (CclCudaFrame f)
{
  Ha4Block block;

  if (!get_block (f, &block))
    return;
  for (int i = (int) lane_id (); i < HA4_BLOCK; i += WARP_LANES) {
    uint32_t x = block.base + i, slot, root;

    if (!(block.pixels >> i & 1))
      continue;
    slot = block.y * f.slots + label_slot (block.pixels, i, block.base, 0);
    root = f.labels[slot];
    if (root == slot && is_start (block.pixels, i))
      f.starts[root] = x;
    feature_update (f, root, sums_of_run (f, x, x + 1, block.y));
  }
}

extern "C" cudaError_t
ccl_cuda_naive (const CclCudaFrame *f, cudaStream_t stream)
{
  ha4_label (f, stream);
  resolve_stage (f, stream);
  features<<<ha4_frame_grid (f), dim3 (WARP_LANES, HA4_STRIP), 0, stream>>> (*f);
  ccl_cuda_stage (f, "features", stream);
  return cudaGetLastError ();
}
