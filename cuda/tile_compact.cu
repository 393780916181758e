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

#define VISIT_WARPS 8  /* of a block that resolves and counts */
#define VISIT_THREADS (VISIT_WARPS * WARP_LANES)
#define WRITE_THREADS (GROUP_TILES * WARP_LANES) /* a warp for each tile */
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

/* The sum over the lanes up to and with this one. */
static __device__ inline uint64_t
warp_scan64 (uint64_t value)
{
  for (uint32_t distance = 1; distance < WARP_LANES; distance *= 2) {
    uint64_t other = __shfl_up_sync (ALL_LANES, (unsigned long long) value, distance);

    if (lane_id () >= distance)
      value += other;
  }
  return value;
}

/* The sum over all lanes, in each of them. */
static __device__ inline uint64_t
warp_sum64 (uint64_t value)
{
  for (uint32_t distance = WARP_LANES / 2; distance > 0; distance /= 2)
    value += __shfl_xor_sync (ALL_LANES, (unsigned long long) value, distance);
  return value;
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
  __shared__ Sums sums[VISIT_WARPS];
  __shared__ uint32_t labels[VISIT_WARPS];
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
  if (lane < VISIT_WARPS) {
    label = labels[lane];
    s = sums[lane];
  }
  if (__any_sync (ALL_LANES, label != CCL_NO_LABEL))
    feature_update_cd (f, label, s);
}

/* Counts of a row of a tile or of a strip of up to ADDED_COLUMNS: kept roots in the upper half,
 * tied ones in the lower. */
#define COUNT_BITS 16

static_assert (ADDED_COLUMNS * TILE_RUNS < 1 << COUNT_BITS, "counts fit in their halves");

static __device__ inline uint64_t
widen_counts (uint32_t counts)
{
  return pack_counts (counts >> COUNT_BITS, counts & bits_below (COUNT_BITS));
}

typedef uint32_t RowCounts[TILE_MAX_HEIGHT][GROUP_TILES];

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
    atomicAdd (&rows[(m.first & FIRST_PIXEL) / TILE_WIDTH][m.tile],
               verdict == KEPT ? 1u << COUNT_BITS : 1);
}

/* Visits the lanes' components, where there are some. To be added somewhere, a component has to
 * have another @root than itself. */
static __device__ inline void
visit_members (const CclCudaFrame &f, const Batch &batch, const Visit &visit, const Member &m,
               bool there, HeldComponent *held, RowCounts rows)
{
  Tile tile = tile_at (f.tiles, batch.group.strip, batch.group.column + m.tile);
  uint32_t label = tile_label (f, tile, m.first & FIRST_PIXEL), root = CCL_NO_LABEL;
  Sums s = sums_of_nothing ();

  if (there && visit.add && !is_root (m.first)) {
    root = compress (f.labels, label, __ldcg (&f.labels[label]));
    if (root == label) {
      root = CCL_NO_LABEL; /* its own features are there */
      tile_firsts (f.tiles, tile)[m.number] = m.first | FIRST_IS_ROOT;
    } else {
      s = sums_of_component (f, label);
    }
  }
  if (there && visit.count && root == CCL_NO_LABEL && (visit.add || is_root (m.first)))
    count_root (f, m, label, rows);
  if (visit.add && __any_sync (ALL_LANES, root != CCL_NO_LABEL))
    feature_update_held (f, held, root, s);
}

/* Stores the counts of a group of tiles, and adds them to those of the strip. */
static __device__ inline void
store_counts (const CclTiles &tiles, const Group &group, const RowCounts rows)
{
  uint32_t sum = 0;

  for (uint32_t i = threadIdx.x; i < TILE_MAX_HEIGHT * GROUP_TILES; i += VISIT_THREADS) {
    uint32_t y = i / GROUP_TILES, t = i % GROUP_TILES, counts = rows[y][t];

    if (group.column + t < tiles.columns && y < tiles.height)
      tiles.counts[((size_t) group.strip * tiles.height + y) * tiles.columns + group.column + t] =
          widen_counts (counts);
    sum += counts;
  }
  for (uint32_t distance = WARP_LANES / 2; distance > 0; distance /= 2)
    sum += __shfl_xor_sync (ALL_LANES, sum, distance);
  if (lane_id () == 0 && sum)
    add64 (&tiles.totals[group.strip], widen_counts (sum));
}

/* A block for each group of tiles. */
static __global__ void
__launch_bounds__ (VISIT_THREADS) visit_groups (CclCudaFrame f, Visit visit)
{
  __shared__ RowCounts rows;
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
  if (visit.add && batch.n > 0)
    flush_block (f, &held);
  __syncthreads ();
  if (visit.count)
    store_counts (f.tiles, batch.group, rows);
}

/* Replaces @counts by those before, for a warp; returns their sum. */
static __device__ inline uint64_t
scan_counts (uint64_t *counts, size_t n)
{
  uint64_t sum = 0;

  for (size_t base = 0; base < n; base += WARP_LANES) {
    size_t i = base + lane_id ();
    uint64_t value = i < n ? counts[i] : 0, scan = warp_scan64 (value);

    if (i < n)
      counts[i] = sum + scan - value;
    sum += shuffle64 (scan, WARP_LANES - 1);
  }
  return sum;
}

/* Adds up counts beforehand: a warp for each strip, and one more for those of strips. */
static __global__ void
__launch_bounds__ (WARP_LANES) add_counts (CclCudaFrame f)
{
  const CclTiles &tiles = f.tiles;
  size_t n = (size_t) tiles.height * tiles.columns;
  uint64_t total;

  follow_kernel ();
  if (blockIdx.x < tiles.strips) {
    scan_counts (tiles.counts + blockIdx.x * n, n);
    return;
  }
  total = scan_counts (tiles.totals, tiles.strips);
  if (lane_id () == 0)
    f.header->kept = place (f, total);
}

/* What the warps of a block find out together: */
struct GroupCounts
{
  uint32_t rows[TILE_MAX_HEIGHT]; /* counts of each row of the strip */
  RowCounts before;               /* of the tiles to the left in a row */
  uint64_t strips[GROUP_TILES];   /* parts of those of the strips before */
};

static __device__ inline void
find_counts (const CclTiles &tiles, const Group &group, GroupCounts *g)
{
  const uint64_t *counts = tiles.counts + (size_t) group.strip * tiles.height * tiles.columns;
  uint64_t strips = 0;

  for (uint32_t i = threadIdx.x; i < group.strip; i += WRITE_THREADS)
    strips += tiles.totals[i];
  for (uint32_t y = threadIdx.x / WARP_LANES; y < TILE_MAX_HEIGHT; y += GROUP_TILES) {
    uint32_t sum = 0, columns = y < tiles.height ? tiles.columns : 0;

    for (uint32_t base = 0; base < columns; base += WARP_LANES) {
      uint32_t column = base + lane_id (), t = column - group.column, value, scan;
      uint64_t here = column < columns ? counts[(size_t) y * columns + column] : 0;

      value = (uint32_t) (here >> (32 - COUNT_BITS)) | (uint32_t) here;
      scan = warp_scan (value);
      if (t < GROUP_TILES)
        g->before[y][t] = sum + scan - value;
      sum += __shfl_sync (ALL_LANES, scan, WARP_LANES - 1);
    }
    if (lane_id () == 0)
      g->rows[y] = sum;
  }
  strips = warp_sum64 (strips);
  if (lane_id () == 0)
    g->strips[threadIdx.x / WARP_LANES] = strips;
}

/* The counts before row number lane of tile @t of a group. */
static __device__ inline uint64_t
counts_before (const CclTiles &tiles, const Group &group, const GroupCounts *g, uint32_t t)
{
  uint32_t y = lane_id ();
  uint64_t strips, rows, row;

  if (adds_beforehand (tiles))
    return y < tiles.height
               ? tiles.totals[group.strip] +
                     tiles.counts[((size_t) group.strip * tiles.height + y) * tiles.columns +
                                  group.column + t]
               : 0;
  strips = warp_sum64 (y < GROUP_TILES ? g->strips[y] : 0);
  row = widen_counts (g->rows[y]);
  rows = warp_scan64 (row) - row;
  return strips + rows + widen_counts (g->before[y][t]);
}

/* A warp writes the number of components. */
static __device__ inline void
write_header (const CclCudaFrame &f)
{
  uint64_t sum = 0;

  for (uint32_t i = lane_id (); i < f.tiles.strips; i += WARP_LANES)
    sum += f.tiles.totals[i];
  sum = warp_sum64 (sum);
  if (lane_id () == 0)
    f.header->kept = place (f, sum);
}

/* A warp writes the components of a tile. @places: the counts before row number lane. */
static __device__ inline void
write_tile (const CclCudaFrame &f, WriteBuffer *buffer, const Tile &tile, uint32_t n,
            uint64_t places)
{
  const CclTileFirst *firsts = tile_firsts (f.tiles, tile);
  uint32_t last_y = UINT32_MAX, next = firsts[min (lane_id (), n - 1)];
  uint64_t in_row = 0; /* roots of the last row so far */

  for (uint32_t base = 0; base < n; base += WARP_LANES) {
    uint32_t i = base + lane_id (), lanes = bits_below (lane_id ()), row, kept, tied;
    uint32_t first = next & FIRST_PIXEL, y = first / TILE_WIDTH;
    uint32_t label = tile_label (f, tile, (CclTilePixel) first);
    bool root = i < n && is_root ((CclTileFirst) next);
    CclFeatures features = root ? f.features[label] : CclFeatures{};
    Verdict verdict = root ? judge_area (f, features.area) : OUT;
    uint64_t before;

    next = firsts[min (i + WARP_LANES, n - 1)];
    row = __match_any_sync (ALL_LANES, y);
    kept = __ballot_sync (ALL_LANES, verdict == KEPT) & row;
    tied = __ballot_sync (ALL_LANES, verdict == TIED) & row;
    if (y != last_y)
      in_row = 0;
    before =
        shuffle64 (places, y) + in_row + pack_counts (__popc (kept & lanes), __popc (tied & lanes));
    write_features (f, buffer, label, features, tile.x + first % TILE_WIDTH, tile.y + y, verdict,
                    before);
    in_row += pack_counts (__popc (kept), __popc (tied));
    in_row = shuffle64 (in_row, WARP_LANES - 1);
    last_y = __shfl_sync (ALL_LANES, y, WARP_LANES - 1);
  }
}

/* Blocks that fill a multiprocessor's registers or threads. */
#if __CUDA_ARCH__ == 750
#define WRITE_BLOCKS 2
#elif __CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1200
#define WRITE_BLOCKS 3
#else
#define WRITE_BLOCKS 4
#endif

/* A block for each group of tiles. */
static __global__ void
__launch_bounds__ (WRITE_THREADS, WRITE_BLOCKS) write_groups (CclCudaFrame f)
{
  __shared__ WriteBuffer buffers[GROUP_TILES];
  __shared__ GroupCounts counts;
  const CclTiles &tiles = f.tiles;
  uint32_t t = threadIdx.x / WARP_LANES, n;
  Batch batch = load_batch (tiles);
  Group group = batch.group;

  follow_kernel (); /* tiles are done for longer already */
  if (blockIdx.x == 0 && t == GROUP_TILES - 1 && !adds_beforehand (tiles))
    write_header (f);
  if (batch.n == 0)
    return;
  if (!adds_beforehand (tiles)) {
    find_counts (tiles, group, &counts);
    __syncthreads ();
  }
  n = __shfl_sync (ALL_LANES, batch.before, t + 1) - __shfl_sync (ALL_LANES, batch.before, t);
  if (n > 0)
    write_tile (f, &buffers[t], tile_at (tiles, group.strip, group.column + t), n,
                counts_before (tiles, group, &counts, t));
}

static __global__ void
count_tile_areas (CclCudaFrame f, CclCutSearch search)
{
  uint32_t strip = blockIdx.x / f.tiles.columns;
  Tile tile = tile_at (f.tiles, strip, blockIdx.x - strip * f.tiles.columns);

  for (uint32_t i = threadIdx.x; i < f.tiles.n[tile.index]; i += blockDim.x) {
    CclTileFirst first = tile_firsts (f.tiles, tile)[i];

    if (is_root (first))
      count_area (f, search, tile_label (f, tile, first & FIRST_PIXEL));
  }
}

static cudaError_t
launch_visit (const CclCudaFrame *f, Visit visit, cudaStream_t stream)
{
  void *arguments[] = { (void *) f, &visit };

  return launch_following (f, (const void *) visit_groups, group_count (f->tiles), VISIT_THREADS,
                           arguments, stream);
}

/* Counts roots once all areas are known. The transfer before it makes it begin when roots are
 * flagged: visit_groups() reads first pixels before it follows the kernel before. */
static cudaError_t
count_again (const CclCudaFrame *f, cudaStream_t stream)
{
  cudaError_t error =
      cudaMemsetAsync (f->tiles.totals, 0, f->tiles.strips * sizeof *f->tiles.totals, stream);

  return error == cudaSuccess ? launch_visit (f, { false, true }, stream) : error;
}

extern "C" cudaError_t
ccl_cuda_tile_resolve (const CclCudaFrame *f, cudaStream_t stream)
{
  return launch_visit (f, { true, keeps_all (*f) }, stream);
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
    error = launch_following (f, (const void *) add_counts, f->tiles.strips + 1, WARP_LANES,
                              arguments, stream);
  if (error != cudaSuccess)
    return error;
  return launch_following (f, (const void *) write_groups, group_count (f->tiles), WRITE_THREADS,
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
