/* cudaccl - CUDA backend: the tile algorithm, from roots to the canonical result
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/device/launch.cuh"
#include "cuda/tile/groups.cuh"

#define WRITE_WARPS 8 /* of a block that writes: some tiles each, one after the other */
#define WRITE_THREADS (WRITE_WARPS * WARP_LANES)
#define WRITE_BLOCKS 4 /* of a multiprocessor, at least */

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
  uint64_t strips[WRITE_WARPS];   /* parts of those of the strips before */
};

static_assert (ADDED_COLUMNS == 2 * WARP_LANES, "a lane has two tiles of a row");

static __device__ inline void
find_counts (const CclTiles &tiles, const Group &group, GroupCounts *g)
{
  const uint64_t *counts = tiles.counts + (size_t) group.strip * tiles.height * tiles.columns;
  uint32_t column = 2 * lane_id (), t = column - group.column;
  uint64_t strips = 0;

  for (uint32_t i = threadIdx.x; i < group.strip; i += WRITE_THREADS)
    strips += tiles.totals[i];
#pragma unroll
  for (uint32_t i = 0; i < TILE_MAX_HEIGHT / WRITE_WARPS; i++) {
    uint32_t y = threadIdx.x / WARP_LANES + i * WRITE_WARPS, value = 0, other = 0, scan;

    if (y < tiles.height) {
      const uint64_t *row = counts + (size_t) y * tiles.columns;

      value = column < tiles.columns ? narrow_counts (row[column]) : 0;
      other = column + 1 < tiles.columns ? narrow_counts (row[column + 1]) : 0;
    }
    scan = warp_scan (value + other);
    if (t < GROUP_TILES) {
      g->before[y][t] = scan - other - value;
      g->before[y][t + 1] = scan - other;
    }
    if (lane_id () == WARP_LANES - 1)
      g->rows[y] = scan;
  }
  strips = warp_sum64 (strips);
  if (lane_id () == 0)
    g->strips[threadIdx.x / WARP_LANES] = strips;
}

/* The counts before row number lane of the strip. */
static __device__ inline uint64_t
counts_before_row (const GroupCounts &g)
{
  uint64_t before = warp_sum64 (lane_id () < WRITE_WARPS ? g.strips[lane_id ()] : 0);
  uint64_t row = widen_counts (g.rows[lane_id ()]);

  return before + warp_scan64 (row) - row;
}

/* The counts before row number lane of tile @t of a group, where they were added up beforehand. */
static __device__ inline uint64_t
counts_before_tile (const CclTiles &tiles, const Group &group, uint32_t t)
{
  size_t row = (size_t) group.strip * tiles.height + lane_id ();

  return lane_id () < tiles.height && group.column + t < tiles.columns
             ? tiles.totals[group.strip] + tiles.counts[row * tiles.columns + group.column + t]
             : 0;
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

/* A component of a tile that is to be written. */
struct Candidate
{
  CclTilePixel first;
  uint32_t label;
  bool root;
  CclFeatures features; /* of a root */
};

/* A component of a tile by @first, which was read before, or none by 0. Reads of its features what
 * there is to write. */
static __device__ inline Candidate
load_candidate (const CclCudaFrame &f, const Tile &tile, CclTileFirst first)
{
  Candidate c = { first_pixel (first), 0, is_root (first), {} };

  c.label = tile_label (f, tile, c.first);
  if (c.root)
    c.features = f.features[c.label];
  return c;
}

/* What a warp has read of a tile ahead of what it has written. */
struct TileAhead
{
  Tile tile;
  uint32_t n;          /* components */
  Candidate candidate; /* this lane's, to be written next */
  CclTileFirst next;   /* of the one after that */
};

static __device__ inline CclTileFirst
load_first (const CclTiles &tiles, const TileAhead &ahead, uint32_t i)
{
  return i < ahead.n ? tile_firsts (tiles, ahead.tile)[i] : 0;
}

static __device__ inline TileAhead
look_ahead (const CclCudaFrame &f, const Batch &batch, uint32_t t)
{
  TileAhead ahead = { tile_at (f.tiles, batch.group.strip, batch.group.column + t), 0, {}, 0 };
  CclTileFirst first;

  ahead.n = __shfl_sync (ALL_LANES, batch.before, t + 1) - __shfl_sync (ALL_LANES, batch.before, t);
  first = load_first (f.tiles, ahead, lane_id ());
  ahead.next = load_first (f.tiles, ahead, lane_id () + WARP_LANES);
  ahead.candidate = load_candidate (f, ahead.tile, first);
  return ahead;
}

/* A warp writes the components of a tile. @places: the counts before row number lane. */
static __device__ inline void
write_tile (const CclCudaFrame &f, WriteBuffer *buffer, TileAhead *ahead, uint64_t places)
{
  const Tile &tile = ahead->tile;
  uint32_t lanes = bits_below (lane_id ()), last_y = UINT32_MAX;
  uint64_t in_row = 0; /* roots of the last row so far */

  for (uint32_t base = 0; base < ahead->n; base += WARP_LANES) {
    Candidate c = ahead->candidate;
    uint32_t i = base + lane_id (), x = c.first % TILE_WIDTH, y = c.first / TILE_WIDTH;
    uint32_t row, kept, tied;
    Verdict verdict = c.root ? judge_area (f, c.features.area) : OUT;
    uint64_t before;

    ahead->candidate = load_candidate (f, tile, ahead->next);
    ahead->next = load_first (f.tiles, *ahead, i + 2 * WARP_LANES);
    row = __match_any_sync (ALL_LANES, y);
    kept = __ballot_sync (ALL_LANES, verdict == KEPT) & row;
    tied = __ballot_sync (ALL_LANES, verdict == TIED) & row;
    if (y != last_y)
      in_row = 0;
    before =
        shuffle64 (places, y) + in_row + pack_counts (__popc (kept & lanes), __popc (tied & lanes));
    write_features (f, buffer, c.label, c.features, tile.x + x, tile.y + y, verdict, before);
    in_row += pack_counts (__popc (kept), __popc (tied));
    in_row = shuffle64 (in_row, WARP_LANES - 1);
    last_y = __shfl_sync (ALL_LANES, y, WARP_LANES - 1);
  }
}

/* A block for each group of tiles. */
static __global__ void
__launch_bounds__ (WRITE_THREADS, WRITE_BLOCKS) write_groups (CclCudaFrame f)
{
  __shared__ WriteBuffer buffers[WRITE_WARPS];
  __shared__ GroupCounts counts;
  const CclTiles &tiles = f.tiles;
  uint32_t warp = threadIdx.x / WARP_LANES;
  Batch batch = load_batch (tiles);
  TileAhead ahead;
  uint64_t before_row = 0;

  follow_kernel (); /* tiles are done for longer already */
  if (blockIdx.x == 0 && warp == WRITE_WARPS - 1 && !adds_beforehand (tiles))
    write_header (f);
  if (batch.n == 0)
    return;
  ahead = look_ahead (f, batch, warp);
  if (!adds_beforehand (tiles)) {
    find_counts (tiles, batch.group, &counts);
    __syncthreads ();
    before_row = counts_before_row (counts);
  }
  for (uint32_t t = warp; t < GROUP_TILES; t += WRITE_WARPS) {
    if (t > warp)
      ahead = look_ahead (f, batch, t);
    write_tile (f, &buffers[warp], &ahead,
                adds_beforehand (tiles) ? counts_before_tile (tiles, batch.group, t)
                                        : before_row + widen_counts (counts.before[lane_id ()][t]));
  }
}

static __global__ void
count_tile_areas (CclCudaFrame f, CclCutSearch search)
{
  Tile tile = tile_number (f.tiles, blockIdx.x);

  for (uint32_t i = threadIdx.x; i < f.tiles.n[tile.index]; i += blockDim.x) {
    CclTileFirst first = tile_firsts (f.tiles, tile)[i];

    if (is_root (first))
      count_area (f, search, tile_label (f, tile, first_pixel (first)));
  }
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
    error = ccl_cuda_tile_count (f, stream);
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
