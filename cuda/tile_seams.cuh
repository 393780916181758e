/* cudaccl - CUDA backend: the tile algorithm, between tiles
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Components of neighbouring tiles that touch are merged, in global memory: that is union-find over
 * components now, not over runs. */

#ifndef CCL_CUDA_TILE_SEAMS_CUH
#define CCL_CUDA_TILE_SEAMS_CUH

#include "cuda/rows.cuh"
#include "cuda/tile.cuh"
#include "cuda/unionfind.cuh"

/* A warp merges the components at a tile's seam with the one to its left: a lane for each row. */
static __device__ inline void
merge_left (const CclCudaFrame &f, const CclTiles &tiles, uint32_t strip, uint32_t column)
{
  Tile tile = tile_at (tiles, strip, column), other = tile_at (tiles, strip, column - 1);
  const CclTileBorder *here = &tiles.borders[tile.index], *there = &tiles.borders[other.index];
  uint32_t y = lane_id ();
  Rows r;

  if (column == 0)
    return;
  r = { here->left, there->right, false, false };
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
  BorderRow row = { lane_id () < TILE_WORDS ? words[lane_id ()] : 0, 0, 0, false, 0 };
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

/* The label of the run of @row that covers pixel @x of word @word; -1 is the word before. */
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

/* Gives each lane the word of lane @word. */
static __device__ inline void
spread_row (BorderRow *row, uint32_t word)
{
  row->word = __shfl_sync (ALL_LANES, row->word, word);
  row->starts = __shfl_sync (ALL_LANES, row->starts, word);
  row->before = __shfl_sync (ALL_LANES, row->before, word);
}

/* A warp merges the components at a tile's seam with the one above. */
static __device__ inline void
merge_above (const CclCudaFrame &f, const CclTiles &tiles, uint32_t strip, uint32_t column)
{
  Tile tile = tile_at (tiles, strip, column), over = tile_at (tiles, strip - 1, column);
  Tile left = tile_at (tiles, strip, column - 1),
       over_left = tile_at (tiles, strip - 1, column - 1);
  const CclTileBorder *b = tiles.borders;
  uint32_t lane = lane_id (), todo, word, left_bits, above_left_bits;
  BorderRow here, above;
  Rows r;

  if (strip == 0)
    return;
  here = load_row (b[tile.index].top);
  above = load_row (b[over.index].bottom);
  if (column > 0 && f.connectivity == 8) {
    load_corner (b[left.index].top, b[left.index].top_runs, &here);
    load_corner (b[over_left.index].bottom, b[over_left.index].bottom_runs, &above);
  }
  left_bits = __shfl_up_sync (ALL_LANES, here.word, 1) >> 31;
  above_left_bits = __shfl_up_sync (ALL_LANES, above.word, 1) >> 31;
  r.current = here.word;
  r.above = above.word;
  r.current_before = lane > 0 ? left_bits : here.left;
  r.above_before = lane > 0 ? above_left_bits : above.left;
  todo = lane < TILE_WORDS ? (uint32_t) touching (f, r) : 0;

  /* The eight words are shared out among all lanes, a byte each: pairs are merged one by one. */
  word = lane * TILE_WORDS / WARP_LANES;
  todo = __shfl_sync (ALL_LANES, todo, word) & 0xffu << lane * TILE_WORDS % WARP_LANES;
  spread_row (&here, word);
  spread_row (&above, word);
  for (; todo; todo &= todo - 1) {
    int x = __ffs (todo) - 1;

    merge (f.labels,
           row_label (f, tile, left, here, b[tile.index].top_runs, word,
                      here.word >> x & 1 ? x : x - 1),
           row_label (f, over, over_left, above, b[over.index].bottom_runs, word,
                      above.word >> x & 1 ? x : x - 1));
  }
}

#endif
