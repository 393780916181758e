/* cudaccl - CUDA backend: the tile algorithm, step by step
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/device/launch.cuh"
#include "cuda/tile/records.cuh"

/* Blocks of the highest tiles that a multiprocessor runs at a time, at most. */
#if __CUDA_ARCH__ == 750
#define BLOCKS 8
#else
#define BLOCKS 10
#endif

/* One tile a block. */
static __device__ inline void
label_tile_of_block (const CclCudaFrame &f, uint32_t *memory)
{
  Tile tile = tile_number (f.tiles, blockIdx.x);

  let_kernel_follow ();
  follow_kernel ();
  if (tile.x == 0 && threadIdx.x == 0)
    f.tiles.totals[strip_of_tile (f.tiles, tile.index)] = 0;
  label_tile (f, tile, memory);
}

static __global__ void
__launch_bounds__ (TILE_WORDS *TILE_MAX_HEIGHT, BLOCKS) label_tiles (CclCudaFrame f)
{
  extern __shared__ uint32_t memory[];

  label_tile_of_block (f, memory);
}

/* Whether these are tiles of the highest kind, for first-order sums alone. */
static inline bool
are_usual (const CclCudaFrame *f)
{
  return f->tiles.height == TILE_MAX_HEIGHT && !f->moments && !f->updates;
}

/* The same for those, as most tiles of large frames are. */
static __global__ void
__launch_bounds__ (TILE_WORDS *TILE_MAX_HEIGHT, BLOCKS) label_usual_tiles (CclCudaFrame f)
{
  extern __shared__ uint32_t memory[];

  /* So they are: now the compiler knows, too. */
  f.tiles.height = TILE_MAX_HEIGHT;
  f.moments = NULL;
  f.updates = NULL;
  f.volume.sums = NULL;
  label_tile_of_block (f, memory);
}

extern "C" cudaError_t
ccl_cuda_probe (bool *overlap)
{
  cudaFuncAttributes attributes;
  cudaError_t error = cudaFuncGetAttributes (&attributes, (const void *) label_tiles);

  /* Code that was made for an older device does not wait, even where it runs on a newer one. */
  *overlap = error == cudaSuccess && attributes.ptxVersion >= 90;
  return error;
}

extern "C" cudaError_t
ccl_cuda_tile_steps (const CclCudaFrame *f, cudaStream_t stream)
{
  const CclTiles *tiles = &f->tiles;
  size_t size = tile_label_size (tiles->height);
  cudaError_t error;

  (are_usual (f) ? label_usual_tiles
                 : label_tiles)<<<tiles->columns * tiles->strips, tiles->height * TILE_WORDS, size,
                                  stream>>> (*f);
  error = cudaGetLastError ();
  if (error == cudaSuccess)
    error = ccl_cuda_tile_merge (f, stream);
  if (error == cudaSuccess)
    error = ccl_cuda_tile_resolve (f, stream);
  return error;
}

extern "C" cudaError_t
ccl_cuda_tile (const CclCudaFrame *f, cudaStream_t stream)
{
  return ccl_cuda_tile_at_once (f) ? cudaSuccess : ccl_cuda_tile_steps (f, stream);
}
