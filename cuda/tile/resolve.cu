/* cudaccl - CUDA backend: the tile algorithm, from labels to roots with all features
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Non-roots add their features to their root. The roots are counted at the same time or, if areas
 * decide which are kept, in a second pass. A block works on a tile group, so that its lanes are
 * busy however components are distributed over tiles. */

#include "cuda/device/features.cuh"
#include "cuda/device/launch.cuh"
#include "cuda/device/unionfind.cuh"
#include "cuda/tile/groups.cuh"

#define RESOLVE_WARPS 8 /* of a block */
#define RESOLVE_THREADS (RESOLVE_WARPS * WARP_LANES)

/* Returns the tile, within its group, of component @i. @before: the number of components before
 * that tile. All lanes call this. */
static __device__ inline uint32_t
tile_of_component (const GroupComponents &g, uint32_t i, uint32_t *before)
{
  uint32_t low = 0;

  *before = 0;
  /* Binary search: the last tile with at most i components before it. */
  for (uint32_t step = GROUP_TILES / 2; step > 0; step /= 2) {
    uint32_t here = __shfl_sync (ALL_LANES, g.before, low + step);

    if (here <= i) {
      low += step;
      *before = here;
    }
  }
  return low;
}

/* The records that the warps of a block have accumulated. */
struct BlockAccumulators
{
  FeatureRecord records[RESOLVE_WARPS];
  uint32_t labels[RESOLVE_WARPS];
};

static __device__ inline void
gather_accumulators (const CclComponentTable &t, BlockAccumulators *block, WarpAccumulator *a)
{
  uint32_t warp = threadIdx.x / WARP_LANES;

  accumulator_reduce (t, a);
  if (lane_id () == 0) {
    block->labels[warp] = a->label;
    block->records[warp] = a->record;
  }
}

/* Adds them to their components; called by one warp. */
static __device__ inline void
flush_accumulators (const CclComponentTable &t, const BlockAccumulators &block)
{
  uint32_t lane = lane_id (), label = lane < RESOLVE_WARPS ? block.labels[lane] : CCL_NO_LABEL;

  if (__any_sync (ALL_LANES, label != CCL_NO_LABEL))
    features_add_warp (t, label, label != CCL_NO_LABEL ? block.records[lane] : record_empty ());
}

/* A component of a tile group. */
struct Member
{
  uint32_t tile;   /* in the group */
  uint32_t number; /* in its tile */
  CclTileFirst first;
};

/* Loads component @i of the group, if there is one. All lanes call this. */
static __device__ inline Member
load_member (const CclTiles &tiles, const GroupComponents &g, uint32_t i)
{
  uint32_t before, t = tile_of_component (g, i, &before);
  Tile tile = tile_at (tiles, g.group.row, g.group.column + t);
  Member m = { t, i - before, 0 };

  if (i < g.n)
    m.first = tile_firsts (tiles, tile)[m.number];
  return m;
}

/* The steps of a launch. */
struct ResolveSteps
{
  bool resolve; /* compress paths, add the features of non-roots to their roots, flag the roots */
  bool count;   /* the roots */
};

/* Counts a root of a tile group, unless it is dropped. */
static __device__ inline void
count_root (const CclCudaFrame &f, const CclComponentTable &t, const CclCudaResult &r,
            const Tile &tile, const Member &m, uint32_t label, RowCounts rows)
{
  uint32_t y = first_pixel (m.first) / TILE_WIDTH;
  Selection selection =
      keeps_all (f, r) ? KEPT : select_component (t, r, label, t.features[label], tile.y + y);

  if (selection != DROPPED)
    atomicAdd (&rows[y][m.tile], selection == KEPT ? 1u << COUNT_BITS : 1);
}

/* Resolves the component of each lane that has one (@present). All lanes call this. */
static __device__ inline void
resolve_members (const CclCudaFrame &f, const CclComponentTable &t, const CclTiles &tiles,
                 const CclCudaResult &r, const TileGroup &group, const ResolveSteps &steps,
                 const Member &m, bool present, WarpAccumulator *a, RowCounts rows)
{
  Tile tile = tile_at (tiles, group.row, group.column + m.tile);
  uint32_t label = component_label (t, tile, first_pixel (m.first));
  uint32_t root = CCL_NO_LABEL; /* of a non-root */
  FeatureRecord record = record_empty ();

  if (present && steps.resolve && !first_is_root (m.first)) {
    GlobalForest forest = { t.parents };

    record = record_load (t, label); /* early, though it may not be needed */
    root = compress (forest, label, load_link (forest, label));
    if (root == label) {
      root = CCL_NO_LABEL;
      tile_firsts (tiles, tile)[m.number] = m.first | FIRST_IS_ROOT;
    }
  }
  if (present && steps.count && root == CCL_NO_LABEL && (steps.resolve || first_is_root (m.first)))
    count_root (f, t, r, tile, m, label, rows);
  if (steps.resolve && __any_sync (ALL_LANES, root != CCL_NO_LABEL))
    accumulator_add (t, a, root, record);
}

static_assert ((TILE_MAX_HEIGHT * GROUP_TILES / (RESOLVE_WARPS - 1) + WARP_LANES) * TILE_RUNS <
                   1 << COUNT_BITS,
               "counts of a warp's share of a group fit in their halves");

/* Stores the counts of a tile group, and adds them to those of the tile row; called by all warps of
 * a block but the first. */
static __device__ inline void
store_counts (const CclTiles &tiles, const TileGroup &group, const RowCounts rows)
{
  const uint32_t first = WARP_LANES;
  uint32_t sum = 0;

  for (uint32_t i = threadIdx.x - first; i < TILE_MAX_HEIGHT * GROUP_TILES;
       i += RESOLVE_THREADS - first) {
    uint32_t y = i / GROUP_TILES, t = i % GROUP_TILES, counts = rows[y][t];

    if (group.column + t < tiles.columns && y < tiles.height)
      tiles.counts[((size_t) group.row * tiles.height + y) * tiles.columns + group.column + t] =
          widen_counts (counts);
    sum += counts;
  }
  sum = warp_sum (sum);
  if (lane_id () == 0 && sum)
    atomic_add (&tiles.totals[group.row], widen_counts (sum));
}

/* A block for each tile group. */
static __global__ void
__launch_bounds__ (RESOLVE_THREADS)
    tile_resolve (CclCudaFrame f, CclComponentTable t, CclTiles tiles, CclCudaResult r,
                  ResolveSteps steps)
{
  __shared__ RowCounts rows;
  __shared__ BlockAccumulators block;
  WarpAccumulator a = accumulator_empty ();
  GroupComponents g = load_group (tiles);
  Member next = load_member (tiles, g, threadIdx.x);

  t.depth_sums = NULL; /* only volumes have them */
  for (uint32_t i = threadIdx.x; i < TILE_MAX_HEIGHT * GROUP_TILES; i += RESOLVE_THREADS)
    rows[i / GROUP_TILES][i % GROUP_TILES] = 0;
  __syncthreads ();
  follow_kernel (); /* so far only what tile_label wrote has been read (T3) */
  for (uint32_t base = threadIdx.x - lane_id (); base < g.n; base += RESOLVE_THREADS) {
    uint32_t i = base + lane_id ();
    Member m = next;

    next = load_member (tiles, g, i + RESOLVE_THREADS);
    resolve_members (f, t, tiles, r, g.group, steps, m, i < g.n, &a, rows);
  }
  let_kernel_follow ();
  gather_accumulators (t, &block, &a);
  __syncthreads ();
  if (threadIdx.x < WARP_LANES)
    flush_accumulators (t, block);
  else if (steps.count)
    store_counts (tiles, g.group, rows);
}

static cudaError_t
launch_resolve (const CclCudaWork *work, ResolveSteps steps, cudaStream_t stream)
{
  const CclTiles *tiles = &tile_tables (work)->tiles;

  return launch_following (work->frame, tile_resolve, group_count (*tiles), RESOLVE_THREADS, stream,
                           work->frame, work->components, *tiles, work->result, steps);
}

cudaError_t
ccl_cuda_tile_resolve (const CclCudaWork *work, cudaStream_t stream)
{
  return launch_resolve (work, { true, keeps_all (work->frame, work->result) }, stream);
}

/* The kernel reads first pixels before follow_kernel(), and tile_resolve has just set their flags.
 * The memset in between makes it start only after that kernel has ended. */
cudaError_t
ccl_cuda_tile_count_roots (const CclCudaWork *work, cudaStream_t stream)
{
  const CclTiles *tiles = &tile_tables (work)->tiles;
  cudaError_t error =
      CCL_CUDA (cudaMemsetAsync, tiles->totals, 0, tiles->rows * sizeof *tiles->totals, stream);

  return error == cudaSuccess ? launch_resolve (work, { false, true }, stream) : error;
}
