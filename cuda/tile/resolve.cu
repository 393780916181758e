/* cudaccl - CUDA backend: the tile algorithm, from labels to roots with all features
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is no root adds its features to its root, and the roots are counted, or later, where areas
 * decide. A block works on a group of tiles, whatever number of components is in each of them. */

#include "cuda/device/launch.cuh"
#include "cuda/tile/groups.cuh"
#include "cuda/device/unionfind.cuh"

#define VISIT_WARPS 8 /* of a block */
#define VISIT_THREADS (VISIT_WARPS * WARP_LANES)

/* The tile in its group of component @i; all lanes call this. */
static __device__ inline uint32_t
tile_of_component (const Batch &batch, uint32_t i, uint32_t *before)
{
  uint32_t low = 0;

  *before = 0;
  /* The last tile with no more than i components before it. */
  for (uint32_t step = GROUP_TILES / 2; step > 0; step /= 2) {
    uint32_t here = __shfl_sync (ALL_LANES, batch.before, low + step);

    if (here <= i) {
      low += step;
      *before = here;
    }
  }
  return low;
}

/* What the warps of a block have kept to themselves. */
struct HeldByWarps
{
  Sums sums[VISIT_WARPS];
  uint32_t labels[VISIT_WARPS];
};

static __device__ inline void
gather_held (const CclCudaFrame &f, HeldByWarps *warps, HeldComponent *held)
{
  uint32_t warp = threadIdx.x / WARP_LANES;

  held_reduce (f, held);
  if (lane_id () == 0) {
    warps->labels[warp] = held->label;
    warps->sums[warp] = held->sums;
  }
}

/* A warp adds it. */
static __device__ inline void
flush_held (const CclCudaFrame &f, const HeldByWarps &warps)
{
  uint32_t lane = lane_id (), label = lane < VISIT_WARPS ? warps.labels[lane] : CCL_NO_LABEL;

  if (__any_sync (ALL_LANES, label != CCL_NO_LABEL))
    feature_update_cd (f, label, label != CCL_NO_LABEL ? warps.sums[lane] : sums_of_nothing ());
}

/* A component of a group. */
struct Member
{
  uint32_t tile;   /* in its group */
  uint32_t number; /* in its tile */
  CclTileFirst first;
};

/* Component number @i of the group, if there is one; all lanes call this. */
static __device__ inline Member
load_member (const CclTiles &tiles, const Batch &batch, uint32_t i)
{
  uint32_t before, t = tile_of_component (batch, i, &before);
  Tile tile = tile_at (tiles, batch.group.strip, batch.group.column + t);
  Member m = { t, i - before, 0 };

  if (i < batch.n)
    m.first = tile_firsts (tiles, tile)[m.number];
  return m;
}

/* What is to be done with components. */
struct Visit
{
  bool add;   /* resolve labels, add the features of those that are no roots to their roots, and
               * flag the roots */
  bool count; /* count the roots */
};

/* Counts a root of a group, unless it is not wanted. */
static __device__ inline void
count_root (const CclCudaFrame &f, const Member &m, uint32_t label, RowCounts rows)
{
  Verdict verdict = keeps_all (f) ? KEPT : judge_area (f, f.features[label].area);

  if (verdict != OUT)
    atomicAdd (&rows[first_pixel (m.first) / TILE_WIDTH][m.tile],
               verdict == KEPT ? 1u << COUNT_BITS : 1);
}

/* Visits the lanes' components, where there are some. To be added somewhere, a component has to
 * have another root than itself. */
static __device__ inline void
visit_members (const CclCudaFrame &f, const Batch &batch, const Visit &visit, const Member &m,
               bool there, HeldComponent *held, RowCounts rows)
{
  Tile tile = tile_at (f.tiles, batch.group.strip, batch.group.column + m.tile);
  uint32_t label = tile_label (f, tile, first_pixel (m.first)), root = CCL_NO_LABEL;
  Sums s = sums_of_nothing ();

  if (there && visit.add && !is_root (m.first)) {
    s = sums_of_component (f, label); /* before it is known whether they are needed */
    root = compress (f.labels, label, __ldcg (&f.labels[label]));
    if (root == label) {
      root = CCL_NO_LABEL; /* its own features are there */
      tile_firsts (f.tiles, tile)[m.number] = m.first | FIRST_IS_ROOT;
    }
  }
  if (there && visit.count && root == CCL_NO_LABEL && (visit.add || is_root (m.first)))
    count_root (f, m, label, rows);
  if (visit.add && __any_sync (ALL_LANES, root != CCL_NO_LABEL))
    feature_update_held (f, held, root, s);
}

static_assert ((TILE_MAX_HEIGHT * GROUP_TILES / (VISIT_WARPS - 1) + WARP_LANES) * TILE_RUNS <
                   1 << COUNT_BITS,
               "a warp's share of a group can be counted");

/* The warps of a block but the first one store the counts of a group of tiles, and add them to
 * those of the strip. */
static __device__ inline void
store_counts (const CclTiles &tiles, const Group &group, const RowCounts rows)
{
  const uint32_t first = WARP_LANES;
  uint32_t sum = 0;

  for (uint32_t i = threadIdx.x - first; i < TILE_MAX_HEIGHT * GROUP_TILES;
       i += VISIT_THREADS - first) {
    uint32_t y = i / GROUP_TILES, t = i % GROUP_TILES, counts = rows[y][t];

    if (group.column + t < tiles.columns && y < tiles.height)
      tiles.counts[((size_t) group.strip * tiles.height + y) * tiles.columns + group.column + t] =
          widen_counts (counts);
    sum += counts;
  }
  sum = warp_sum (sum);
  if (lane_id () == 0 && sum)
    add64 (&tiles.totals[group.strip], widen_counts (sum));
}

/* A block for each group of tiles. */
static __global__ void
__launch_bounds__ (VISIT_THREADS) visit_groups (CclCudaFrame f, Visit visit)
{
  __shared__ RowCounts rows;
  __shared__ HeldByWarps warps;
  HeldComponent held = held_nothing ();
  Batch batch = load_batch (f.tiles);
  Member next = load_member (f.tiles, batch, threadIdx.x);

  for (uint32_t i = threadIdx.x; i < TILE_MAX_HEIGHT * GROUP_TILES; i += VISIT_THREADS)
    rows[i / GROUP_TILES][i % GROUP_TILES] = 0;
  __syncthreads ();
  follow_kernel (); /* tiles are done for longer already */
  for (uint32_t base = threadIdx.x - lane_id (); base < batch.n; base += VISIT_THREADS) {
    uint32_t i = base + lane_id ();
    Member m = next;

    next = load_member (f.tiles, batch, i + VISIT_THREADS);
    visit_members (f, batch, visit, m, i < batch.n, &held, rows);
  }
  let_kernel_follow ();
  gather_held (f, &warps, &held);
  __syncthreads ();
  if (threadIdx.x < WARP_LANES)
    flush_held (f, warps);
  else if (visit.count)
    store_counts (f.tiles, batch.group, rows);
}

static cudaError_t
launch_visit (const CclCudaFrame *f, Visit visit, cudaStream_t stream)
{
  void *arguments[] = { (void *) f, &visit };

  return launch_following (f, (const void *) visit_groups, group_count (f->tiles), VISIT_THREADS,
                           arguments, stream);
}

extern "C" cudaError_t
ccl_cuda_tile_resolve (const CclCudaFrame *f, cudaStream_t stream)
{
  return launch_visit (f, { true, keeps_all (*f) }, stream);
}

/* The transfer before the kernel makes it begin when roots are flagged: visit_groups() reads first
 * pixels before it follows the kernel before. */
extern "C" cudaError_t
ccl_cuda_tile_count (const CclCudaFrame *f, cudaStream_t stream)
{
  cudaError_t error =
      cudaMemsetAsync (f->tiles.totals, 0, f->tiles.strips * sizeof *f->tiles.totals, stream);

  return error == cudaSuccess ? launch_visit (f, { false, true }, stream) : error;
}
