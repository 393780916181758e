/* cudaccl - CUDA backend: the tile algorithm, between tiles
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Components of neighbouring tiles that touch are merged, in global memory: that is union-find over
 * components now, not over runs. */

#ifndef CCL_CUDA_TILE_SEAMS_CUH
#define CCL_CUDA_TILE_SEAMS_CUH

#include "cuda/rows.cuh"
#include "cuda/tile_pieces.cuh"
#include "cuda/unionfind.cuh"

#define LANES_PER_WORD (WARP_LANES / TILE_WORDS)

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

    merge_and_compress (f.labels, tile_label (f, tile, here->left_pixels[y1]),
                        tile_label (f, other, there->right_pixels[y2]));
  }
}

/* The rows of pixels at a tile's seam with the one above, as a warp sees them: four lanes have one
 * word of them, and each a byte of it. */
struct SeamRows
{
  uint32_t word;
  uint32_t here, above;           /* that word of the two rows */
  uint32_t here_left, above_left; /* the ones to its left, of other tiles for the first word */
};

static __device__ inline SeamRows
load_rows (const CclTiles &tiles, uint32_t strip, uint32_t column)
{
  const CclTileBorder *here = &tiles.borders[(size_t) strip * tiles.columns + column];
  SeamRows r = { lane_id () / LANES_PER_WORD, 0, 0, 0, 0 };

  if (strip == 0)
    return r;
  r.here = here->top[r.word];
  r.above = (here - tiles.columns)->bottom[r.word];
  r.here_left = __shfl_up_sync (ALL_LANES, r.here, LANES_PER_WORD);
  r.above_left = __shfl_up_sync (ALL_LANES, r.above, LANES_PER_WORD);
  if (r.word == 0) {
    r.here_left = column > 0 ? (here - 1)->top[TILE_WORDS - 1] : 0;
    r.above_left = column > 0 ? (here - tiles.columns - 1)->bottom[TILE_WORDS - 1] : 0;
  }
  return r;
}

/* The label of what covers the pixel @bit of word @word, or else the one to its left; @pixels and
 * @left are that word and the one before it. */
static __device__ inline uint32_t
row_label (const CclCudaFrame &f, uint32_t strip, uint32_t column, bool bottom, uint32_t word,
           uint32_t pixels, uint32_t left, uint32_t bit)
{
  const CclTileBorder *border;
  uint32_t piece;
  Tile tile;

  if (bit == 1 && !(pixels & 1)) {
    pixels = left;
    bit = 1u << 31;
    column -= word == 0;
    word = (word - 1) % TILE_WORDS;
  }
  tile = tile_at (f.tiles, strip, column);
  border = &f.tiles.borders[tile.index];
  piece = word * WORD_PIECES + piece_at (0, pixels, bit);
  return tile_label (f, tile, bottom ? border->bottom_runs[piece] : border->top_runs[piece]);
}

/* A warp merges the components at a tile's seam with the one above. What touches there is left out
 * where the pixels to the left touch, too: through them it is merged already. */
static __device__ inline void
merge_rows (const CclCudaFrame &f, const SeamRows &s, uint32_t strip, uint32_t column)
{
  Rows r = { s.here, s.above, s.here_left >> 31 != 0, s.above_left >> 31 != 0 };
  uint32_t todo = (uint32_t) touching (f, r) & 0xffu << lane_id () % LANES_PER_WORD * 8;

  for (; todo; todo &= todo - 1) {
    uint32_t bit = todo & -todo;

    merge_and_compress (f.labels,
                        row_label (f, strip, column, false, s.word, s.here, s.here_left, bit),
                        row_label (f, strip - 1, column, true, s.word, s.above, s.above_left, bit));
  }
}

#endif
