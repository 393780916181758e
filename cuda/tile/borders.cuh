/* cudaccl - CUDA backend: the tile algorithm, between tiles
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Components of neighbouring tiles that touch are merged, in global memory: that is union-find over
 * components now, not over pieces. */

#ifndef CCL_CUDA_TILE_SEAMS_CUH
#define CCL_CUDA_TILE_SEAMS_CUH

#include "cuda/device/rows.cuh"
#include "cuda/tile/pieces.cuh"
#include "cuda/device/unionfind.cuh"

#define LANES_PER_WORD (WARP_LANES / TILE_WORDS)

static_assert (8 * LANES_PER_WORD == WORD_PIXELS, "a lane has a byte of a word");

/* Looks for a pair of components at a tile's seam with the one to its left: a lane for each row.
 * Yields their labels. */
static __device__ inline bool
touches_left_tile (const CclCudaFrame &f, uint32_t strip, uint32_t column, uint32_t *label1,
                   uint32_t *label2)
{
  Tile tile = tile_at (f.tiles, strip, column), other = tile_at (f.tiles, strip, column - 1);
  const CclTileBorder *here = &f.tiles.borders[tile.index];
  const CclTileBorder *there = &f.tiles.borders[other.index];
  uint32_t y = lane_id (), y1, y2;
  Rows r;

  if (column == 0)
    return false;
  r = { here->left, there->right, false, false };
  if (!(touching (f, r) >> y & 1))
    return false;
  y1 = here->left >> y & 1 ? y : y - 1;
  y2 = there->right >> y & 1 ? y : y - 1;
  *label1 = tile_label (f, tile, here->left_pixels[y1]);
  *label2 = tile_label (f, other, there->right_pixels[y2]);
  return true;
}

/* The rows of pixels at a tile's seam with the one above, as a warp sees them: eight lanes have one
 * word of them, and each a byte of it. */
struct SeamRows
{
  uint32_t word;
  uint64_t here, above;           /* that word of the two rows */
  uint64_t here_left, above_left; /* the ones to its left, of other tiles for the first word */
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
  r.here_left = __shfl_up_sync (ALL_LANES, (unsigned long long) r.here, LANES_PER_WORD);
  r.above_left = __shfl_up_sync (ALL_LANES, (unsigned long long) r.above, LANES_PER_WORD);
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
           uint64_t pixels, uint64_t left, uint64_t bit)
{
  const CclTileBorder *border;
  uint32_t piece;
  Tile tile;

  if (bit == 1 && !(pixels & 1)) {
    pixels = left;
    bit = 1ull << 63;
    column -= word == 0;
    word = (word - 1) % TILE_WORDS;
  }
  tile = tile_at (f.tiles, strip, column);
  border = &f.tiles.borders[tile.index];
  piece = word * WORD_PIECES + piece_at (0, pixels, bit);
  return tile_label (f, tile, bottom ? border->bottom_runs[piece] : border->top_runs[piece]);
}

/* A warp merges the components at a tile's seams with the ones to its left and above. What touches
 * above is left out where the pixels to the left touch, too: through them it is merged already. */
static __device__ inline void
merge_tile (const CclCudaFrame &f, uint32_t strip, uint32_t column)
{
  SeamRows s = load_rows (f.tiles, strip, column);
  Rows r = { s.here, s.above, s.here_left >> 63 != 0, s.above_left >> 63 != 0 };
  uint64_t todo = touching (f, r) & 0xffull << lane_id () % LANES_PER_WORD * 8;
  uint32_t label1, label2;
  bool side = touches_left_tile (f, strip, column, &label1, &label2);

  while (side || todo) {
    if (!side) {
      uint64_t bit = todo & -todo;

      todo ^= bit;
      label1 = row_label (f, strip, column, false, s.word, s.here, s.here_left, bit);
      label2 = row_label (f, strip - 1, column, true, s.word, s.above, s.above_left, bit);
    }
    side = false;
    merge_and_compress (f.labels, label1, label2);
  }
}

#endif
