/* cudaccl - CUDA backend: what the kernels of the tile algorithm share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_TILE_CUH
#define CCL_CUDA_TILE_CUH

#include "cuda/device/features.cuh"

/* Where a tile lies. */
struct Tile
{
  uint32_t index;
  uint32_t x, y; /* of its first pixel */
};

static __device__ inline Tile
tile_at (const CclTiles &tiles, uint32_t strip, uint32_t column)
{
  Tile tile = { strip * tiles.columns + column, column * TILE_WIDTH, strip * tiles.height };

  return tile;
}

/* @n / @divisor, given UINT32_MAX / @divisor: a division would keep a block's first read waiting.
 */
static __device__ inline uint32_t
divide (uint32_t n, uint32_t divisor, uint32_t reciprocal)
{
  uint32_t quotient = __umulhi (n, reciprocal); /* or one less */

  return n - quotient * divisor >= divisor ? quotient + 1 : quotient;
}

/* The strip of tile number @index. */
static __device__ inline uint32_t
strip_of_tile (const CclTiles &tiles, uint32_t index)
{
  return divide (index, tiles.columns, tiles.column_reciprocal);
}

static __device__ inline Tile
tile_number (const CclTiles &tiles, uint32_t index)
{
  uint32_t strip = strip_of_tile (tiles, index);

  return tile_at (tiles, strip, index - strip * tiles.columns);
}

/* The label of a tile's component. Labels are slots, as everywhere: two pixels share one, but first
 * pixels are no neighbours, except over the border of a tile, and that comes after an odd one. */
static __device__ inline uint32_t
tile_label (const CclCudaFrame &f, const Tile &tile, CclTilePixel first)
{
  return (tile.y + first / TILE_WIDTH) * f.slots + (tile.x + first % TILE_WIDTH) / 2;
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

/* Whether a component is known to be a root: before ccl_cuda_tile_resolve(), those inside are. */
static __device__ inline bool
is_root (CclTileFirst first)
{
  return first & (FIRST_IS_INSIDE | FIRST_IS_ROOT);
}

#endif
