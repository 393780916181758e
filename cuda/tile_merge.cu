/* cudaccl - CUDA backend: the tile algorithm, between tiles
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/launch.cuh"
#include "cuda/tile_seams.cuh"

#define SEAM_WARPS 4

/* A warp for each tile: its seams with the tiles to the left and above. */
static __global__ void
merge_seams (CclCudaFrame f)
{
  const CclTiles &tiles = f.tiles;
  uint32_t index = blockIdx.x * SEAM_WARPS + threadIdx.x / WARP_LANES;
  uint32_t strip = index / tiles.columns, column = index - strip * tiles.columns;
  SeamRows rows;

  follow_kernel ();
  let_kernel_follow ();
  if (strip >= tiles.strips)
    return;
  rows = load_rows (tiles, strip, column);
  merge_left (f, tiles, strip, column);
  merge_rows (f, rows, strip, column);
}

extern "C" cudaError_t
ccl_cuda_tile_merge (const CclCudaFrame *f, cudaStream_t stream)
{
  uint32_t n = f->tiles.columns * f->tiles.strips;
  void *arguments[] = { (void *) f };

  return launch_following (f, (const void *) merge_seams, (n - 1) / SEAM_WARPS + 1,
                           SEAM_WARPS * WARP_LANES, arguments, stream);
}
