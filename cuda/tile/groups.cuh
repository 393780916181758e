/* cudaccl - CUDA backend: the tile algorithm, tile groups and counts of their roots
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The components of a tile are in raster order, but those of the tiles of a tile row interleave,
 * row of pixels by row of pixels. So tile_resolve counts the roots in each row of each tile, and
 * tile_write_result adds up the counts before it: of its tile row, and of the tile rows before. If
 * these are many, tile_scan_counts does so beforehand. */

#ifndef CCL_CUDA_TILE_GROUPS_CUH
#define CCL_CUDA_TILE_GROUPS_CUH

#include "cuda/device/selection.cuh"
#include "cuda/tile/tile.cuh"

/* With more tiles in a tile row, or more tile rows, counts are scanned beforehand. */
#define MAX_UNSCANNED_COLUMNS 64
#define MAX_UNSCANNED_ROWS 1024

static_assert (TILE_MAX_HEIGHT == WARP_LANES, "a warp has a lane for each row of a tile");

static __host__ __device__ inline bool
scans_beforehand (const CclTiles &tiles)
{
  return tiles.columns > MAX_UNSCANNED_COLUMNS || tiles.rows > MAX_UNSCANNED_ROWS;
}

static inline uint32_t
group_count (const CclTiles &tiles)
{
  return tiles.rows * TILE_GROUPS (tiles.columns);
}

/* A block's tiles. */
struct TileGroup
{
  uint32_t row, column; /* of the first one */
};

static __device__ inline TileGroup
get_group (const CclTiles &tiles)
{
  uint32_t groups = TILE_GROUPS (tiles.columns);
  uint32_t row = divide (blockIdx.x, groups, tiles.group_reciprocal);
  TileGroup group = { row, (blockIdx.x - row * groups) * GROUP_TILES };

  return group;
}

/* The components of a tile group, numbered tile by tile, as a warp holds them. */
struct GroupComponents
{
  TileGroup group;
  uint32_t before; /* the number of those before this lane's tile of the group */
  uint32_t n;
};

static __device__ inline GroupComponents
load_group (const CclTiles &tiles)
{
  GroupComponents g = { get_group (tiles), 0, 0 };
  uint32_t column = g.group.column + lane_id (), n = 0, sum;

  if (lane_id () < GROUP_TILES && column < tiles.columns)
    n = tiles.n[g.group.row * tiles.columns + column];
  sum = warp_scan (n);
  g.before = sum - n;
  g.n = __shfl_sync (ALL_LANES, sum, WARP_LANES - 1);
  return g;
}

/* Counts of a row of a tile, of up to MAX_UNSCANNED_COLUMNS tiles, or of a warp's share of a tile
 * group: kept roots in the upper half, tied ones in the lower. */
#define COUNT_BITS 16

static_assert (MAX_UNSCANNED_COLUMNS * TILE_RUNS < 1 << COUNT_BITS, "counts fit in their halves");

static __device__ inline uint64_t
widen_counts (uint32_t counts)
{
  return pack_counts (counts >> COUNT_BITS, counts & bits_below (COUNT_BITS));
}

static __device__ inline uint32_t
narrow_counts (uint64_t counts)
{
  return (uint32_t) (counts >> (32 - COUNT_BITS)) | (uint32_t) counts;
}

/* The counts of each row of each tile of a group. */
typedef uint32_t RowCounts[TILE_MAX_HEIGHT][GROUP_TILES];

#endif
