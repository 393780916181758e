/* cudaccl - CUDA backend: the tile algorithm, groups of tiles and counts of their roots
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The components of a tile are in raster order, but those of the tiles of a strip alternate row by
 * row. So who resolves counts roots for each row of each tile, and what writes the components of a
 * tile adds up the counts before it: of its strip, and of the strips before. Where these are many,
 * a kernel of its own has done so. */

#ifndef CCL_CUDA_TILE_GROUPS_CUH
#define CCL_CUDA_TILE_GROUPS_CUH

#include "cuda/device/selection.cuh"
#include "cuda/tile/tile.cuh"

#define ADDED_COLUMNS 64  /* with more tiles in a strip, counts are added up beforehand ... */
#define ADDED_STRIPS 1024 /* ... and with more strips */

static_assert (TILE_MAX_HEIGHT == WARP_LANES, "a warp has a lane for each row of a tile");

/* Whether counts are added up beforehand. */
static __host__ __device__ inline bool
adds_beforehand (const CclTiles &tiles)
{
  return tiles.columns > ADDED_COLUMNS || tiles.strips > ADDED_STRIPS;
}

static inline uint32_t
group_count (const CclTiles &tiles)
{
  return tiles.strips * TILE_GROUPS (tiles.columns);
}

/* A block's tiles. */
struct Group
{
  uint32_t strip, column; /* of the first one */
};

static __device__ inline Group
get_group (const CclTiles &tiles)
{
  uint32_t groups = TILE_GROUPS (tiles.columns);
  uint32_t strip = divide (blockIdx.x, groups, tiles.group_reciprocal);
  Group group = { strip, (blockIdx.x - strip * groups) * GROUP_TILES };

  return group;
}

/* The components of a group of tiles, numbered through, as a warp knows them. */
struct Batch
{
  Group group;
  uint32_t before; /* this lane's: those before tile number lane of the group */
  uint32_t n;
};

static __device__ inline Batch
load_batch (const CclTiles &tiles)
{
  Batch batch = { get_group (tiles), 0, 0 };
  uint32_t column = batch.group.column + lane_id (), n = 0, sum;

  if (lane_id () < GROUP_TILES && column < tiles.columns)
    n = tiles.n[batch.group.strip * tiles.columns + column];
  sum = warp_scan (n);
  batch.before = sum - n;
  batch.n = __shfl_sync (ALL_LANES, sum, WARP_LANES - 1);
  return batch;
}

/* Counts of a row of a tile or of a strip of up to ADDED_COLUMNS, or of a warp's share of a group:
 * kept roots in the upper half, tied ones in the lower. */
#define COUNT_BITS 16

static_assert (ADDED_COLUMNS * TILE_RUNS < 1 << COUNT_BITS, "counts fit in their halves");

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

/* Those of each row of each tile of a group. */
typedef uint32_t RowCounts[TILE_MAX_HEIGHT][GROUP_TILES];

#endif
