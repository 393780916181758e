/* cudaccl - CUDA backend: the tile algorithm, between tiles
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Components of neighbouring tiles that touch are merged, in global memory: that is union-find over
 * components now, not over runs. */

#include "cuda/rows.cuh"
#include "cuda/tile.cuh"
#include "cuda/unionfind.cuh"

#define SEAM_WARPS 4

/* The seam with the tile to the left: a lane for each row. */
static __device__ inline void
merge_left (const CclCudaFrame &f, const CclTiles &tiles, const Tile &tile, const Tile &other)
{
  const CclTileBorder *here = &tiles.borders[tile.index], *there = &tiles.borders[other.index];
  uint32_t y = lane_id ();
  Rows r = { here->left, there->right, false, false };

  if (touching (f, r) >> y & 1) {
    uint32_t y1 = here->left >> y & 1 ? y : y - 1, y2 = there->right >> y & 1 ? y : y - 1;

    merge (f.labels, tile_label (f, tile, here->left_pixels[y1]),
           tile_label (f, other, there->right_pixels[y2]));
  }
}

/* The last row of a tile, or the first, as a warp sees it: each lane has a word, the first eight
 * lanes all of them. */
struct BorderRow
{
  uint32_t word, starts, before;
  bool left;           /* the pixel left of the tile */
  CclTilePixel corner; /* the component of that pixel */
};

static __device__ inline BorderRow
load_row (const uint32_t *words)
{
  BorderRow row = { lane_id () < TILE_WORDS ? words[lane_id ()] : 0 };
  uint32_t left = __shfl_up_sync (ALL_LANES, row.word, 1) >> 31;
  uint32_t sum;

  row.starts = row.word & ~(row.word << 1 | (lane_id () > 0 ? left : 0));
  sum = warp_scan (__popc (row.starts));
  row.before = sum - __popc (row.starts);
  return row;
}

/* The number of runs in the row that @row has loaded. */
static __device__ inline uint32_t
runs_of_row (const BorderRow &row)
{
  return __shfl_sync (ALL_LANES, row.before + __popc (row.starts), TILE_WORDS - 1);
}

/* Looks at the pixel left of a row: the last of a neighbour's row. */
static __device__ inline void
load_corner (const uint32_t *words, const CclTilePixel *runs, BorderRow *row)
{
  BorderRow neighbour = load_row (words);
  uint32_t last = __shfl_sync (ALL_LANES, neighbour.word, TILE_WORDS - 1) >> 31;
  uint32_t count = runs_of_row (neighbour);

  row->left = last;
  if (last)
    row->corner = runs[count - 1];
}

/* The label of the run of @row that covers pixel @x of lane @lane's word; -1 is the word before. */
static __device__ inline uint32_t
row_label (const CclCudaFrame &f, const Tile &tile, const Tile &neighbour, const BorderRow &row,
           const CclTilePixel *runs, uint32_t word, int x)
{
  uint32_t run;

  if (x < 0 && word == 0)
    return tile_label (f, neighbour, row.corner);
  run = row.before + starts_to (row.starts, x) - 1;
  return tile_label (f, tile, runs[run]);
}

/* The seam with the tile above. */
static __device__ inline void
merge_above (const CclCudaFrame &f, const CclTiles &tiles, uint32_t strip, uint32_t column)
{
  Tile tile = tile_at (tiles, strip, column), over = tile_at (tiles, strip - 1, column);
  Tile left = tile_at (tiles, strip, column - 1),
       over_left = tile_at (tiles, strip - 1, column - 1);
  const CclTileBorder *b = tiles.borders;
  uint32_t lane = lane_id (), todo, left_bits, above_left_bits;
  BorderRow here = { 0 }, above = { 0 };
  Rows r;

  if (tiles.n[tile.index])
    here = load_row (b[tile.index].top);
  if (tiles.n[over.index])
    above = load_row (b[over.index].bottom);
  if (column > 0 && f.connectivity == 8) {
    if (tiles.n[left.index])
      load_corner (b[left.index].top, b[left.index].top_runs, &here);
    if (tiles.n[over_left.index])
      load_corner (b[over_left.index].bottom, b[over_left.index].bottom_runs, &above);
  }
  left_bits = __shfl_up_sync (ALL_LANES, here.word, 1) >> 31;
  above_left_bits = __shfl_up_sync (ALL_LANES, above.word, 1) >> 31;
  r.current = here.word;
  r.above = above.word;
  r.current_before = lane > 0 ? left_bits : here.left;
  r.above_before = lane > 0 ? above_left_bits : above.left;
  todo = lane < TILE_WORDS ? (uint32_t) touching (f, r) : 0;
  for (; todo; todo &= todo - 1) {
    int x = __ffs (todo) - 1;

    merge (f.labels,
           row_label (f, tile, left, here, b[tile.index].top_runs, lane,
                      here.word >> x & 1 ? x : x - 1),
           row_label (f, over, over_left, above, b[over.index].bottom_runs, lane,
                      above.word >> x & 1 ? x : x - 1));
  }
}

/* A warp for each tile: its seams with the tiles to the left and above. */
static __global__ void
merge_seams (CclCudaFrame f)
{
  const CclTiles &tiles = f.tiles;
  uint32_t index = blockIdx.x * SEAM_WARPS + threadIdx.x / WARP_LANES;
  uint32_t strip = index / tiles.columns, column = index - strip * tiles.columns;
  Tile tile, left;

  if (strip >= tiles.strips)
    return;
  tile = tile_at (tiles, strip, column);
  left = tile_at (tiles, strip, column - 1);
  if (column > 0 && tiles.n[tile.index] && tiles.n[left.index])
    merge_left (f, tiles, tile, left);
  if (strip > 0)
    merge_above (f, tiles, strip, column);
}

extern "C" cudaError_t
ccl_cuda_tile_merge (const CclCudaFrame *f, cudaStream_t stream)
{
  uint32_t n = f->tiles.columns * f->tiles.strips;

  merge_seams<<<(n - 1) / SEAM_WARPS + 1, SEAM_WARPS * WARP_LANES, 0, stream>>> (*f);
  return cudaGetLastError ();
}
