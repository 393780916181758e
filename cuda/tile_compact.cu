/* cudaccl - CUDA backend: the tile algorithm, from roots to the canonical result
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The components of a tile are in raster order, but those of the tiles of a strip alternate row by
 * row. So roots are counted for each row of each tile, and what writes the components of a tile
 * adds up the counts before it: of its strip, and of the strips before. Where these are many, a
 * kernel of its own has done so. */

#include "cuda/compact.cuh"
#include "cuda/launch.cuh"
#include "cuda/tile.cuh"
#include "cuda/unionfind.cuh"

#define GROUP_TILES 8 /* side by side in a strip: what a block works on */
#define GROUP_THREADS (GROUP_TILES * WARP_LANES)
#define ADDED_COLUMNS 64  /* with more tiles in a strip, counts are added up beforehand ... */
#define ADDED_STRIPS 1024 /* ... and with more strips */

static_assert (TILE_MAX_HEIGHT == WARP_LANES, "a block has a thread for each row of its tiles");

/* Whether counts are added up beforehand. */
static __host__ __device__ inline bool
adds_beforehand (const CclTiles &tiles)
{
  return tiles.columns > ADDED_COLUMNS || tiles.strips > ADDED_STRIPS;
}

static inline uint32_t
group_count (const CclTiles &tiles)
{
  return tiles.strips * ((tiles.columns - 1) / GROUP_TILES + 1);
}

/* A block's tiles. */
struct Group
{
  uint32_t strip, column; /* of the first one */
};

static __device__ inline Group
get_group (const CclTiles &tiles)
{
  uint32_t groups = (tiles.columns - 1) / GROUP_TILES + 1, strip = blockIdx.x / groups;
  Group group = { strip, (blockIdx.x - strip * groups) * GROUP_TILES };

  return group;
}

/* Whether every root becomes a component, so that they can be counted before all areas are known.
 */
static __host__ __device__ inline bool
keeps_all (const CclCudaFrame &f)
{
  return f.min_area <= 1 && f.max_area >= (uint64_t) f.width * f.height && f.cut.area == 0;
}

/* Exclusive sum over the threads of the block; @total: over all. */
static __device__ inline uint64_t
block_scan64 (uint64_t value, uint64_t *total)
{
  __shared__ uint64_t warps[GROUP_TILES];
  uint64_t sum = value, before = 0, all = 0;

  for (uint32_t distance = 1; distance < WARP_LANES; distance *= 2) {
    uint64_t other = __shfl_up_sync (ALL_LANES, (unsigned long long) sum, distance);

    if (lane_id () >= distance)
      sum += other;
  }
  __syncthreads (); /* the last use of warps is over */
  if (lane_id () == WARP_LANES - 1)
    warps[threadIdx.x / WARP_LANES] = sum;
  __syncthreads ();
  for (uint32_t i = 0; i < GROUP_TILES; i++) {
    if (i < threadIdx.x / WARP_LANES)
      before += warps[i];
    all += warps[i];
  }
  *total = all;
  return before + sum - value;
}

/* Replaces @counts by those before. */
static __device__ inline void
scan_counts (uint64_t *counts, size_t n)
{
  uint64_t sum = 0, total;

  for (size_t base = 0; base < n; base += GROUP_THREADS) {
    size_t i = base + threadIdx.x;
    uint64_t before = block_scan64 (i < n ? counts[i] : 0, &total);

    if (i < n)
      counts[i] = sum + before;
    sum += total;
  }
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

/* Adds what the warps of a block have kept to themselves. */
static __device__ inline void
flush_block (const CclCudaFrame &f, HeldComponent *held)
{
  __shared__ Sums sums[GROUP_TILES];
  __shared__ uint32_t labels[GROUP_TILES];
  uint32_t warp = threadIdx.x / WARP_LANES, lane = lane_id (), label = CCL_NO_LABEL;
  Sums s = sums_of_nothing ();

  held_reduce (f, held);
  if (lane == 0) {
    labels[warp] = held->label;
    sums[warp] = held->sums;
  }
  __syncthreads ();
  if (warp > 0)
    return;
  if (lane < GROUP_TILES) {
    label = labels[lane];
    s = sums[lane];
  }
  if (__any_sync (ALL_LANES, label != CCL_NO_LABEL))
    feature_update_cd (f, label, s);
}

/* Counts of a tile's rows, kept roots in the higher half. */
typedef uint32_t RowCounts[GROUP_TILES][TILE_MAX_HEIGHT];

#define COUNT_BITS 16

/* Resolves the labels of a group of tiles and adds the features of those that are no roots to their
 * roots, or counts the roots, or both. */
static __device__ inline void
visit_batch (const CclCudaFrame &f, const Batch &batch, bool add, bool count, RowCounts rows)
{
  HeldComponent held = held_nothing ();

  for (uint32_t base = threadIdx.x - lane_id (); base < batch.n; base += GROUP_THREADS) {
    uint32_t i = base + lane_id (), before, t = tile_of_component (batch, i, &before);
    uint32_t root = CCL_NO_LABEL;
    Sums s = sums_of_nothing ();

    if (i < batch.n) {
      Tile tile = tile_at (f.tiles, batch.group.strip, batch.group.column + t);
      uint32_t first = tile_first (f.tiles, tile, i - before);
      uint32_t label = tile_label (f, tile, (CclTilePixel) first);

      root = __ldcg (&f.labels[label]);
      if (add)
        root = compress (f.labels, label, root);
      if (root != label) {
        if (add)
          s = sums_of_component (f, label);
      } else {
        Verdict verdict = !count ? OUT : keeps_all (f) ? KEPT : judge (f, label);

        root = CCL_NO_LABEL; /* its own features are there */
        if (verdict != OUT)
          atomicAdd (&rows[t][first / TILE_WIDTH], verdict == KEPT ? 1u << COUNT_BITS : 1);
      }
    }
    if (add && __any_sync (ALL_LANES, root != CCL_NO_LABEL))
      feature_update_held (f, &held, root, s);
  }
  if (add)
    flush_block (f, &held);
}

/* Stores the counts of a group of tiles, and adds them to those of the strip. */
static __device__ inline void
store_counts (const CclTiles &tiles, const Group &group, const RowCounts rows)
{
  uint32_t t = threadIdx.x % GROUP_TILES, y = threadIdx.x / GROUP_TILES, sum = rows[t][y];
  uint64_t counts = pack_counts (sum >> COUNT_BITS, sum & bits_below (COUNT_BITS));

  if (group.column + t < tiles.columns && y < tiles.height)
    tiles.counts[((size_t) group.strip * tiles.height + y) * tiles.columns + group.column + t] =
        counts;
  for (uint32_t distance = WARP_LANES / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync (ALL_LANES, sum, distance);
  if (lane_id () == 0 && sum)
    add64 (&tiles.totals[group.strip],
           pack_counts (sum >> COUNT_BITS, sum & bits_below (COUNT_BITS)));
}

/* A block for each group of tiles. */
static __global__ void
__launch_bounds__ (GROUP_THREADS) visit_groups (CclCudaFrame f, bool add, bool count)
{
  __shared__ RowCounts rows;
  Batch batch;

  follow_kernel ();
  batch = load_batch (f.tiles);
  rows[threadIdx.x / WARP_LANES][lane_id ()] = 0;
  __syncthreads ();
  if (batch.n > 0)
    visit_batch (f, batch, add, count, rows);
  __syncthreads ();
  if (count)
    store_counts (f.tiles, batch.group, rows);
}

/* Adds up counts beforehand: a block for each strip, and one more for those of strips. */
static __global__ void
__launch_bounds__ (GROUP_THREADS) add_counts (CclCudaFrame f)
{
  const CclTiles &tiles = f.tiles;
  size_t n = (size_t) tiles.height * tiles.columns;
  uint64_t total = 0;

  follow_kernel ();
  if (blockIdx.x < tiles.strips) {
    scan_counts (tiles.counts + blockIdx.x * n, n);
    return;
  }
  if (threadIdx.x == 0)
    total = tiles.totals[tiles.strips - 1];
  scan_counts (tiles.totals, tiles.strips);
  __syncthreads ();
  if (threadIdx.x == 0)
    f.header->kept = place (f, tiles.totals[tiles.strips - 1] + total);
}

/* The counts of the strips before @strip. */
static __device__ inline uint64_t
counts_before (const CclTiles &tiles, uint32_t strip)
{
  uint64_t sum = 0, total;

  if (adds_beforehand (tiles))
    return tiles.totals[strip];
  for (uint32_t i = threadIdx.x; i < strip; i += GROUP_THREADS)
    sum += tiles.totals[i];
  block_scan64 (sum, &total);
  return total;
}

/* The counts before each row of each tile of a group. */
static __device__ inline void
find_places (const CclTiles &tiles, const Group &group, uint64_t (*places)[TILE_MAX_HEIGHT])
{
  const uint64_t *counts = tiles.counts + (size_t) group.strip * tiles.height * tiles.columns;
  uint64_t before = counts_before (tiles, group.strip), sum = 0, total;
  uint32_t n = tiles.height * tiles.columns, each = (n - 1) / GROUP_THREADS + 1;
  uint32_t from = min (threadIdx.x * each, n), to = min (from + each, n);
  uint32_t y = from / tiles.columns, column = from - y * tiles.columns;

  if (adds_beforehand (tiles)) {
    uint32_t t = threadIdx.x % GROUP_TILES;

    y = threadIdx.x / GROUP_TILES;
    column = group.column + t;
    if (column < tiles.columns && y < tiles.height)
      places[t][y] = before + counts[(size_t) y * tiles.columns + column];
    return;
  }
  for (uint32_t i = from; i < to; i++)
    sum += counts[i];
  before += block_scan64 (sum, &total);
  for (uint32_t i = from; i < to; i++) {
    if (column - group.column < GROUP_TILES)
      places[column - group.column][y] = before;
    before += counts[i];
    if (++column == tiles.columns) {
      column = 0;
      y++;
    }
  }
}

/* Writes the components of a tile, whose rows begin at @places. */
static __device__ inline void
write_tile (const CclCudaFrame &f, WriteBuffer *buffer, const Tile &tile, uint32_t n,
            const uint64_t *places)
{
  uint32_t last_y = UINT32_MAX;
  uint64_t in_row = 0; /* roots of the last row so far */

  for (uint32_t base = 0; base < n; base += WARP_LANES) {
    uint32_t i = base + lane_id (), lanes = bits_below (lane_id ()), row, kept, tied;
    uint32_t first = tile_first (f.tiles, tile, min (i, n - 1)), y = first / TILE_WIDTH;
    uint32_t label = tile_label (f, tile, (CclTilePixel) first);
    uint32_t parent = f.labels[label], area = f.features[label].area; /* at the same time */
    Verdict verdict = i < n && parent == label ? judge_area (f, area) : OUT;
    uint64_t before;

    row = __match_any_sync (ALL_LANES, y);
    kept = __ballot_sync (ALL_LANES, verdict == KEPT) & row;
    tied = __ballot_sync (ALL_LANES, verdict == TIED) & row;
    if (y != last_y)
      in_row = 0;
    before = places[y] + in_row + pack_counts (__popc (kept & lanes), __popc (tied & lanes));
    write_warp (f, buffer, label, tile.x + first % TILE_WIDTH, tile.y + y, verdict, before);
    in_row += pack_counts (__popc (kept), __popc (tied));
    in_row = shuffle64 (in_row, WARP_LANES - 1);
    last_y = __shfl_sync (ALL_LANES, y, WARP_LANES - 1);
  }
}

/* A block for each group of tiles, a warp for each tile. */
static __global__ void
__launch_bounds__ (GROUP_THREADS) write_groups (CclCudaFrame f)
{
  __shared__ WriteBuffer buffers[GROUP_TILES];
  __shared__ uint64_t places[GROUP_TILES][TILE_MAX_HEIGHT];
  const CclTiles &tiles = f.tiles;
  Group group = get_group (tiles);
  uint32_t warp = threadIdx.x / WARP_LANES, column = group.column + warp, n = 0;
  Tile tile = tile_at (tiles, group.strip, column);

  follow_kernel ();
  if (column < tiles.columns)
    n = tiles.n[tile.index];
  if (blockIdx.x == 0 && !adds_beforehand (tiles)) {
    uint64_t all = counts_before (tiles, tiles.strips);

    if (threadIdx.x == 0)
      f.header->kept = place (f, all);
  }
  if (!__syncthreads_or (n > 0))
    return;
  find_places (tiles, group, places);
  __syncthreads ();
  write_tile (f, &buffers[warp], tile, n, places[warp]);
}

static __global__ void
count_tile_areas (CclCudaFrame f, CclCutSearch search)
{
  uint32_t strip = blockIdx.x / f.tiles.columns;
  Tile tile = tile_at (f.tiles, strip, blockIdx.x - strip * f.tiles.columns);

  for (uint32_t i = threadIdx.x; i < f.tiles.n[tile.index]; i += blockDim.x) {
    uint32_t label = tile_label (f, tile, tile_first (f.tiles, tile, i));

    if (f.labels[label] == label)
      count_area (f, search, label);
  }
}

static cudaError_t
launch_visit (const CclCudaFrame *f, bool add, bool count, cudaStream_t stream)
{
  void *arguments[] = { (void *) f, &add, &count };

  return launch_following (f, (const void *) visit_groups, group_count (f->tiles), GROUP_THREADS,
                           arguments, stream);
}

/* Counts roots once all areas are known. */
static cudaError_t
count_again (const CclCudaFrame *f, cudaStream_t stream)
{
  cudaError_t error =
      cudaMemsetAsync (f->tiles.totals, 0, f->tiles.strips * sizeof *f->tiles.totals, stream);

  return error == cudaSuccess ? launch_visit (f, false, true, stream) : error;
}

extern "C" cudaError_t
ccl_cuda_tile_resolve (const CclCudaFrame *f, cudaStream_t stream)
{
  return launch_visit (f, true, keeps_all (*f), stream);
}

extern "C" cudaError_t
ccl_cuda_tile_compact (const CclCudaFrame *f, cudaStream_t stream)
{
  void *arguments[] = { (void *) f };
  cudaError_t error = cudaSuccess;

  if (ccl_cuda_tile_at_once (f)) {
    error = ccl_cuda_tile_frame (f, stream);
    if (error != cudaErrorCooperativeLaunchTooLarge)
      return error;
    /* Somebody gave this process a part of the device only, as MPS can. */
    cudaGetLastError ();
    error = ccl_cuda_tile_steps (f, stream);
  }
  if (error == cudaSuccess && !keeps_all (*f))
    error = count_again (f, stream);
  if (error == cudaSuccess && adds_beforehand (f->tiles))
    error = launch_following (f, (const void *) add_counts, f->tiles.strips + 1, GROUP_THREADS,
                              arguments, stream);
  if (error != cudaSuccess)
    return error;
  return launch_following (f, (const void *) write_groups, group_count (f->tiles), GROUP_THREADS,
                           arguments, stream);
}

extern "C" cudaError_t
ccl_cuda_tile_histogram (const CclCudaFrame *f, const CclCutSearch *search, cudaStream_t stream)
{
  cudaError_t error = clear_histogram (f, stream);

  /* Done at once, the frame has no tiles. Then it is one with far too many components, and each
   * round takes the time of one more frame. */
  if (error == cudaSuccess && ccl_cuda_tile_at_once (f))
    error = ccl_cuda_tile_steps (f, stream);
  if (error != cudaSuccess)
    return error;
  count_tile_areas<<<f->tiles.columns * f->tiles.strips, 4 * WARP_LANES, 0, stream>>> (*f, *search);
  return cudaGetLastError ();
}
