/* cudaccl - CUDA backend: the tile algorithm, between tiles
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/device/launch.cuh"
#include "cuda/tile/borders.cuh"

#define SEAM_WARPS 4

/* Blocks that fill a multiprocessor. */
#if __CUDA_ARCH__ == 750
#define SEAM_BLOCKS 8
#elif __CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900 || __CUDA_ARCH__ == 1010 || __CUDA_ARCH__ >= 1100
#define SEAM_BLOCKS 12
#else
#define SEAM_BLOCKS 16
#endif

/* A warp for each tile: its seams with the tiles to the left and above. */
static __global__ void
__launch_bounds__ (SEAM_WARPS *WARP_LANES, SEAM_BLOCKS) merge_seams (CclCudaFrame f)
{
  const CclTiles &tiles = f.tiles;
  uint32_t index = blockIdx.x * SEAM_WARPS + threadIdx.x / WARP_LANES;
  uint32_t strip = strip_of_tile (tiles, index), column = index - strip * tiles.columns;

  follow_kernel ();
  let_kernel_follow ();
  if (strip < tiles.strips)
    merge_tile (f, strip, column);
}

extern "C" cudaError_t
ccl_cuda_tile_merge (const CclCudaFrame *f, cudaStream_t stream)
{
  uint32_t n = f->tiles.columns * f->tiles.strips;
  void *arguments[] = { (void *) f };

  return launch_following (f, (const void *) merge_seams, (n - 1) / SEAM_WARPS + 1,
                           SEAM_WARPS * WARP_LANES, arguments, stream);
}
