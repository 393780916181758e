/* cudaccl - CUDA backend: the tile algorithm, from the canonical result to the label map
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs and their components never left shared memory, so a tile finds them again: that is less than
 * to keep them for all those who want no label map. */

#include "cuda/labels.cuh"
#include "cuda/tile_runs.cuh"

/* Makes the components of runs their labels in the result. */
static __device__ inline void
look_up_numbers (const CclCudaFrame &f, const TileRuns &s, const Tile &tile, uint32_t runs)
{
  for (uint32_t run = threadIdx.x; run < runs; run += blockDim.x) {
    CclTilePixel first = tile_first (f.tiles, tile, s.parents[run]);

    s.parents[run] = number_of (f, tile_label (f, tile, first));
  }
}

/* A warp paints its words one by one, a lane for each pixel. */
static __device__ inline void
paint_words (const CclCudaFrame &f, const TileRuns &s, const Tile &tile, bool empty)
{
  uint32_t base = threadIdx.x - lane_id ();

  for (uint32_t i = base; i < base + WARP_LANES; i++) {
    uint32_t x = tile.x + i % TILE_WORDS * WARP_LANES + lane_id (), y = tile.y + i / TILE_WORDS;
    uint32_t number = 0;

    if (!empty && s.words[i] >> lane_id () & 1)
      number = s.parents[s.before[i] + starts_to (s.starts[i], (int) lane_id ()) - 1];
    if (y < f.height)
      paint_pixel (f, x, y, number);
  }
}

static __global__ void
__launch_bounds__ (TILE_WORDS *TILE_MAX_HEIGHT) paint_tiles (CclCudaFrame f)
{
  extern __shared__ uint32_t memory[];
  uint32_t strip = blockIdx.x / f.tiles.columns, runs;
  Tile tile = tile_at (f.tiles, strip, blockIdx.x - strip * f.tiles.columns);
  TileRuns s = tile_runs_layout (memory, f.tiles.height);
  bool empty = f.tiles.n[tile.index] == 0;

  if (!empty) {
    find_components (f, s, load_word (f, tile), &runs);
    __syncthreads ();
    look_up_numbers (f, s, tile, runs);
    __syncthreads ();
  }
  paint_words (f, s, tile, empty);
}

extern "C" cudaError_t
ccl_cuda_tile_paint (const CclCudaFrame *f, cudaStream_t stream)
{
  const CclTiles *tiles = &f->tiles;
  size_t size = tile_runs_size (tiles->height) + 4 * (size_t) TILE_RUNS * tiles->height;

  paint_tiles<<<tiles->columns * tiles->strips, tiles->height * TILE_WORDS, size, stream>>> (*f);
  return cudaGetLastError ();
}
