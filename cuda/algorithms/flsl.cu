/* cudaccl - CUDA backend: FLSL
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Paper 003 as of its section 3.1: full runs, each added to its component by itself. */

#define FLSL_ON_THE_FLY false

#include "cuda/algorithms/flsl.cuh"
#include "cuda/device/label_map.cuh"

static __global__ void
features (CclCudaFrame f)
{
  Part part;

  if (!get_part (f, &part))
    return;
  for (uint32_t slot = part.from + lane_id (); slot < part.to; slot += WARP_LANES) {
    Sums s;
    uint32_t root = get_run (f, part, slot, &s);

    if (root != CCL_NO_LABEL)
      feature_update (f, root, s);
  }
}

extern "C" cudaError_t
ccl_cuda_flsl (const CclCudaFrame *f, cudaStream_t stream)
{
  flsl_detect (f, stream);
  flsl_merge (f, stream);
  resolve_stage (f, stream);
  features<<<part_blocks (f), dim3 (WARP_LANES, PART_WARPS), 0, stream>>> (*f);
  ccl_cuda_stage (f, "features", stream);
  return cudaGetLastError ();
}

/* The label map, of every version: a warp for each entry of the table ER, a lane for each of its
 * pixels. */
static __global__ void
paint (CclCudaFrame f)
{
  size_t index = (size_t) blockIdx.x * FLSL_WARPS + threadIdx.y;
  uint32_t y = (uint32_t) (index / f.edges_pitch), edge;
  uint32_t x = (uint32_t) (index - (size_t) y * f.edges_pitch) * WARP_LANES + lane_id ();

  if (index >= (size_t) f.height * f.edges_pitch)
    return;
  edge = edges_to (f.edges + (size_t) y * f.edges_pitch, x);
  paint_pixel (f, x, y, edge % 2 ? number_of (f, y * f.slots + edge / 2) : 0);
}

extern "C" cudaError_t
ccl_cuda_flsl_paint (const CclCudaFrame *f, cudaStream_t stream)
{
  size_t words = (size_t) f->height * f->edges_pitch;

  paint<<<flsl_grid (words), dim3 (WARP_LANES, FLSL_WARPS), 0, stream>>> (*f);
  return cudaGetLastError ();
}
