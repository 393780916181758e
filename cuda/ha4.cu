/* cudaccl - CUDA backend: HA4, two pixels a thread
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Paper 000 in the version of its section IV-E. */

#define HA4_BLOCK 64
#define HA4_ON_THE_FLY false
#define HA4_CONFLICT_DETECTION false

#include "cuda/ha4_features.cuh"
#include "cuda/labels.cuh"

extern "C" cudaError_t
ccl_cuda_ha4 (const CclCudaFrame *f, cudaStream_t stream)
{
  return ha4_analyse (f, stream);
}

/* The label map (algorithm 5), of every version: a run has a label where it starts in each block of
 * 64 pixels, at least. */
static __global__ void
paint (CclCudaFrame f)
{
  Ha4Block block;

  if (!get_block (f, &block))
    return;
  for (int x = (int) lane_id (); x < HA4_BLOCK; x += WARP_LANES) {
    uint32_t number = 0;

    if (block.pixels >> x & 1)
      number = number_of (f, block.y * f.slots + label_slot (block.pixels, x, block.base, 0));
    paint_pixel (f, block.base + x, block.y, number);
  }
}

extern "C" cudaError_t
ccl_cuda_ha4_paint (const CclCudaFrame *f, cudaStream_t stream)
{
  paint<<<ha4_frame_grid (f), dim3 (WARP_LANES, HA4_STRIP), 0, stream>>> (*f);
  return cudaGetLastError ();
}
