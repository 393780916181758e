/* cudaccl - CUDA backend: the tile algorithm, between tiles
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Merges components of neighbouring tiles that touch, in global memory: union-find over components
 * instead of pieces. */

#include "cuda/device/launch.cuh"
#include "cuda/tile/pieces.cuh"

#define BORDER_WARPS 4 /* of a block */

/* Blocks that fill a multiprocessor. */
#if __CUDA_ARCH__ == 750
#define BORDER_BLOCKS 8
#elif __CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900 || __CUDA_ARCH__ == 1010 || __CUDA_ARCH__ >= 1100
#define BORDER_BLOCKS 12
#else
#define BORDER_BLOCKS 16
#endif

#define LANES_PER_WORD (WARP_LANES / TILE_WORDS)

static_assert (8 * LANES_PER_WORD == WORD_PIXELS, "a lane has a byte of a word");

/* Finds the components that touch across the border with the tile to the left, and the labels of
 * the pair; each lane handles one row. */
static __device__ inline bool
touches_left_tile (const CclCudaFrame &f, const CclComponentTable &t, const CclTiles &tiles,
                   const Tile &tile, uint32_t *label1, uint32_t *label2)
{
  Tile other = tile_at (tiles, tile.row, tile.column - 1);
  const CclTileBorder *here = &tiles.borders[tile.index];
  const CclTileBorder *there = &tiles.borders[other.index];
  uint32_t y = lane_id (), y1, y2;
  Rows r;

  if (tile.column == 0)
    return false;
  r = { here->left, there->right, false, false };
  if (!(touching (f.connectivity, r) >> y & 1))
    return false;
  y1 = here->left >> y & 1 ? y : y - 1;
  y2 = there->right >> y & 1 ? y : y - 1;
  *label1 = component_label (t, tile, here->left_pixels[y1]);
  *label2 = component_label (t, other, there->right_pixels[y2]);
  return true;
}

/* The rows of pixels at the border with the tile above, as a warp holds them: eight lanes share one
 * word, one byte each. */
struct BorderRows
{
  uint32_t word;
  uint64_t here, above; /* that word of the two rows */
  uint64_t here_left,
      above_left; /* the words to their left; for the first word, those of other tiles */
};

static __device__ inline BorderRows
load_rows (const CclTiles &tiles, const Tile &tile)
{
  const CclTileBorder *here = &tiles.borders[tile.index];
  BorderRows r = { lane_id () / LANES_PER_WORD, 0, 0, 0, 0 };

  if (tile.row == 0)
    return r;
  r.here = here->top[r.word];
  r.above = (here - tiles.columns)->bottom[r.word];
  r.here_left = warp_shuffle_up (r.here, LANES_PER_WORD);
  r.above_left = warp_shuffle_up (r.above, LANES_PER_WORD);
  if (r.word == 0) {
    r.here_left = tile.column > 0 ? (here - 1)->top[TILE_WORDS - 1] : 0;
    r.above_left = tile.column > 0 ? (here - tiles.columns - 1)->bottom[TILE_WORDS - 1] : 0;
  }
  return r;
}

/* Returns the label of the component at pixel @bit of word @word of a tile's first or last row or,
 * if that is background, at the pixel to its left. @pixels and @left: that word and the one before
 * it. */
static __device__ inline uint32_t
border_label (const CclComponentTable &t, const CclTiles &tiles, uint32_t row, uint32_t column,
              bool bottom, uint32_t word, uint64_t pixels, uint64_t left, uint64_t bit)
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
  tile = tile_at (tiles, row, column);
  border = &tiles.borders[tile.index];
  piece = word * WORD_PIECES + piece_at (0, pixels, bit);
  return component_label (t, tile, bottom ? border->bottom_runs[piece] : border->top_runs[piece]);
}

/* Merges the components of a tile with those of the tiles to the left and above; called by a warp.
 * A pair above is skipped where the pixels to the left touch, too: these merge it already. */
static __device__ inline void
merge_tile (const CclCudaFrame &f, const CclComponentTable &t, const CclTiles &tiles,
            const Tile &tile)
{
  BorderRows b = load_rows (tiles, tile);
  Rows r = { b.here, b.above, b.here_left >> 63 != 0, b.above_left >> 63 != 0 };
  uint64_t todo = touching (f.connectivity, r) & 0xffull << lane_id () % LANES_PER_WORD * 8;
  uint32_t label1, label2;
  bool side = touches_left_tile (f, t, tiles, tile, &label1, &label2);

  while (side || todo) {
    if (!side) {
      uint64_t bit = todo & -todo;

      todo ^= bit;
      label1 =
          border_label (t, tiles, tile.row, tile.column, false, b.word, b.here, b.here_left, bit);
      label2 = border_label (t, tiles, tile.row - 1, tile.column, true, b.word, b.above,
                             b.above_left, bit);
    }
    side = false;
    merge_and_compress (GlobalForest{ t.parents }, label1, label2);
  }
}

/* Classes */

/* Returns the label of the component at pixel @x of a tile's first or last row; -1: at the last
 * pixel of the tile to the left. */
static __device__ inline uint32_t
class_label (const CclComponentTable &t, const CclTiles &tiles, uint32_t row, uint32_t column,
             bool bottom, int x)
{
  Tile tile = tile_at (tiles, row, x < 0 ? column - 1 : column);
  const CclTileBorder *border = &tiles.borders[tile.index];
  uint32_t bit = x < 0 ? TILE_WIDTH - 2 : 2 * (uint32_t) x, word = bit / WORD_PIXELS, piece;

  piece = word * WORD_PIECES +
          piece_at (0, (bottom ? border->bottom : border->top)[word], 1ull << bit % WORD_PIXELS);
  return component_label (t, tile, bottom ? border->bottom_runs[piece] : border->top_runs[piece]);
}

/* Merges across the border with the tile above. A lane takes every 32nd pixel of it. */
static __device__ inline void
merge_class_row (const CclCudaFrame &f, const CclComponentTable &t, const CclTiles &tiles,
                 const Tile &tile)
{
  GlobalForest forest = { t.parents };

  for (uint32_t word = 0; word < TILE_WORDS && tile.row > 0; word++) {
    uint32_t x = tile.x / 2 + word * CLASS_PIXELS;
    uint32_t up = class_bits (f, CCL_CLASS_UP, x, tile.y);
    uint32_t others = f.connectivity == 8 ? ~(up | up << 1) : 0;
    uint32_t fall = class_bits (f, CCL_CLASS_FALL, x, tile.y) & others;
    uint32_t rise = class_bits (f, CCL_CLASS_RISE, x, tile.y) & others;
    int here = (int) (word * CLASS_PIXELS + lane_id ());

    /* not where the pixels to the left touch, too */
    up &= ~(up << 1 & class_bits (f, CCL_CLASS_LEFT, x, tile.y));
    if (up >> lane_id () & 1)
      merge_and_compress (forest, class_label (t, tiles, tile.row, tile.column, false, here),
                          class_label (t, tiles, tile.row - 1, tile.column, true, here));
    if (fall >> lane_id () & 1)
      merge_and_compress (forest, class_label (t, tiles, tile.row, tile.column, false, here),
                          class_label (t, tiles, tile.row - 1, tile.column, true, here - 1));
    if (rise >> lane_id () & 1)
      merge_and_compress (forest, class_label (t, tiles, tile.row, tile.column, false, here - 1),
                          class_label (t, tiles, tile.row - 1, tile.column, true, here));
  }
}

/* Merges across the border with the tile to the left. A lane takes a row; what the first one has
 * with the row above, merge_class_row() merges. */
static __device__ inline void
merge_class_column (const CclCudaFrame &f, const CclComponentTable &t, const CclTiles &tiles,
                    const Tile &tile)
{
  uint32_t y = lane_id (), x = tile.x / 2;
  bool up;
  Tile other = tile_at (tiles, tile.row, tile.column - 1);
  const CclTilePixel *here = tiles.borders[tile.index].left_pixels;
  const CclTilePixel *there = tiles.borders[other.index].right_pixels;
  GlobalForest forest = { t.parents };

  if (tile.column == 0 || y >= tiles.height || tile.y + y >= f.height)
    return;
  up = y > 0 && class_bit (f, CCL_CLASS_UP, x, tile.y + y);
  if (class_bit (f, CCL_CLASS_LEFT, x, tile.y + y) &&
      !(up && class_bit (f, CCL_CLASS_LEFT, x, tile.y + y - 1)))
    merge_and_compress (forest, component_label (t, tile, here[y]),
                        component_label (t, other, there[y]));
  if (y == 0 || up || f.connectivity != 8)
    return;
  if (class_bit (f, CCL_CLASS_FALL, x, tile.y + y))
    merge_and_compress (forest, component_label (t, tile, here[y]),
                        component_label (t, other, there[y - 1]));
  if (class_bit (f, CCL_CLASS_RISE, x, tile.y + y))
    merge_and_compress (forest, component_label (t, other, there[y]),
                        component_label (t, tile, here[y - 1]));
}

/* A warp for each tile. */
static __global__ void
__launch_bounds__ (BORDER_WARPS *WARP_LANES)
    tile_merge_class_borders (CclCudaFrame f, CclComponentTable t, CclTiles tiles)
{
  Tile tile = tile_number (tiles, blockIdx.x * BORDER_WARPS + threadIdx.x / WARP_LANES);

  follow_kernel ();
  let_kernel_follow ();
  if (tile.row >= tiles.rows)
    return;
  merge_class_row (f, t, tiles, tile);
  merge_class_column (f, t, tiles, tile);
}

/* A warp for each tile. */
static __global__ void
__launch_bounds__ (BORDER_WARPS *WARP_LANES, BORDER_BLOCKS)
    tile_merge_borders (CclCudaFrame f, CclComponentTable t, CclTiles tiles)
{
  Tile tile = tile_number (tiles, blockIdx.x * BORDER_WARPS + threadIdx.x / WARP_LANES);

  follow_kernel ();
  let_kernel_follow ();
  if (tile.row < tiles.rows)
    merge_tile (f, t, tiles, tile);
}

cudaError_t
ccl_cuda_tile_merge_borders (const CclCudaWork *work, cudaStream_t stream)
{
  const CclTiles *tiles = &tile_tables (work)->tiles;
  uint32_t n = tiles->columns * tiles->rows;

  return launch_following (work->frame,
                           work->classes ? tile_merge_class_borders : tile_merge_borders,
                           (n - 1) / BORDER_WARPS + 1, BORDER_WARPS * WARP_LANES, stream,
                           work->frame, work->components, *tiles);
}
