/* cudaccl - CUDA backend: what the kernels of the tile algorithm share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Four kernels lead from pixels to the result, with programmatic dependent launch where the device
 * supports it (device/launch.cuh):
 *
 *   tile_label -> tile_merge_borders -> tile_resolve -> tile_write_result
 *
 * T1. tile_label writes a component's label to the table of parents, unless the component is inside
 *     its tile: then it is a root, and its label is written only for a label map.
 *     tile_merge_borders merges, tile_resolve compresses paths; nothing else writes parents.
 * T2. tile_label initializes features, and tile_resolve adds them to roots, atomically. The
 *     features of non-roots do not change after tile_label.
 * T3. tile_merge_borders and tile_resolve call let_kernel_follow() only after follow_kernel(). So
 *     before its own follow_kernel(), the next kernel may read what the last kernel but one, and
 *     those before it, wrote: in tile_resolve the counts and first pixels of components, in
 *     tile_write_result the counts. */

#ifndef CCL_CUDA_TILE_CUH
#define CCL_CUDA_TILE_CUH

#include "cuda/device/warp.cuh"
#include "cuda/tile/tile.h"

/* The position of a tile. */
struct Tile
{
  uint32_t row, column;
  uint32_t index; /* row by row, from left to right */
  uint32_t x, y;  /* of its first pixel */
};

static __device__ inline Tile
tile_at (const CclTiles &tiles, uint32_t row, uint32_t column)
{
  Tile tile = { row, column, row * tiles.columns + column, column * TILE_WIDTH,
                row * tiles.height };

  return tile;
}

/* Returns @n / @divisor; @reciprocal is UINT32_MAX / @divisor. A division would delay a block's
 * first read. */
static __device__ inline uint32_t
divide (uint32_t n, uint32_t divisor, uint32_t reciprocal)
{
  uint32_t quotient = __umulhi (n, reciprocal); /* or one too small */

  return n - quotient * divisor >= divisor ? quotient + 1 : quotient;
}

static __device__ inline Tile
tile_number (const CclTiles &tiles, uint32_t index)
{
  uint32_t row = divide (index, tiles.columns, tiles.column_reciprocal);

  return tile_at (tiles, row, index - row * tiles.columns);
}

/* Returns the label of the tile's component with this first pixel. Labels are slots of
 * CclComponentTable. Two pixels share a slot, but two first pixels are never neighbours, except
 * across the border of a tile; there the left one is at an odd x. */
static __device__ inline uint32_t
component_label (const CclComponentTable &t, const Tile &tile, CclTilePixel first)
{
  return (tile.y + first / TILE_WIDTH) * t.slots + (tile.x + first % TILE_WIDTH) / 2;
}

static __device__ inline CclTileFirst *
tile_firsts (const CclTiles &tiles, const Tile &tile)
{
  return tiles.firsts + (size_t) tile.index * tiles.capacity;
}

static_assert ((FIRST_PIXEL & (FIRST_PIXEL + 1)) == 0 && FIRST_PIXEL < FIRST_IS_INSIDE,
               "pixels and flags do not overlap");

static __device__ inline CclTilePixel
first_pixel (CclTileFirst first)
{
  return first & FIRST_PIXEL;
}

/* Whether a component is known to be a root: before tile_resolve, only if it is inside its tile. */
static __device__ inline bool
first_is_root (CclTileFirst first)
{
  return first & (FIRST_IS_INSIDE | FIRST_IS_ROOT);
}

#endif
