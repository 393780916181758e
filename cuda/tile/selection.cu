/* cudaccl - CUDA backend: the tile algorithm, from roots to the result
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/device/launch.cuh"
#include "cuda/tile/groups.cuh"

#define WRITE_WARPS 8 /* of a block; each writes some tiles, one after the other */
#define WRITE_THREADS (WRITE_WARPS * WARP_LANES)
#define WRITE_BLOCKS 4 /* of a multiprocessor, at least */

/* Exclusive scan of @counts by one warp. Returns the total. */
static __device__ inline uint64_t
scan_counts (uint64_t *counts, size_t n)
{
  uint64_t sum = 0;

  for (size_t base = 0; base < n; base += WARP_LANES) {
    size_t i = base + lane_id ();
    uint64_t value = i < n ? counts[i] : 0, scan = warp_scan (value);

    if (i < n)
      counts[i] = sum + scan - value;
    sum += warp_shuffle (scan, WARP_LANES - 1);
  }
  return sum;
}

/* Scans counts beforehand, with a warp for each tile row and one for the totals of tile rows. */
static __global__ void
__launch_bounds__ (WARP_LANES) tile_scan_counts (CclTiles tiles, CclCudaResult r)
{
  size_t n = (size_t) tiles.height * tiles.columns;
  uint64_t total;

  follow_kernel ();
  if (blockIdx.x < tiles.rows) {
    scan_counts (tiles.counts + blockIdx.x * n, n);
    return;
  }
  total = scan_counts (tiles.totals, tiles.rows);
  if (lane_id () == 0)
    r.header->kept = place (r, total);
}

/* Counts that the warps of a block compute together. */
struct GroupCounts
{
  uint32_t rows[TILE_MAX_HEIGHT]; /* counts in each row of pixels of the tile row */
  RowCounts before;               /* of the tiles to the left, in each row */
  uint64_t totals[WRITE_WARPS];   /* of the tile rows before; each warp's part of the sum */
};

static_assert (MAX_UNSCANNED_COLUMNS == 2 * WARP_LANES, "a lane has two tiles of a row");

/* Branches that differ between lanes are kept out of the loop with the shuffles: otherwise the
 * compiler splits the loop, and a warp runs both halves. */
static __device__ inline void
find_counts (const CclTiles &tiles, const TileGroup &group, GroupCounts *g)
{
  const uint32_t turns = TILE_MAX_HEIGHT / WRITE_WARPS;
  const uint64_t *counts = tiles.counts + (size_t) group.row * tiles.height * tiles.columns;
  uint32_t warp = threadIdx.x / WARP_LANES, column = 2 * lane_id (), t = column - group.column;
  uint32_t rows = column < tiles.columns ? tiles.height : 0; /* of this lane's first tile ... */
  uint32_t other_rows = column + 1 < tiles.columns ? tiles.height : 0; /* ... and its second */
  uint32_t values[turns], others[turns], scans[turns];
  uint64_t totals = 0;

  for (uint32_t i = threadIdx.x; i < group.row; i += WRITE_THREADS)
    totals += tiles.totals[i];
#pragma unroll
  for (uint32_t i = 0; i < turns; i++) {
    uint32_t y = warp + i * WRITE_WARPS;
    const uint64_t *row = counts + (size_t) y * tiles.columns;

    values[i] = y < rows ? narrow_counts (row[column]) : 0;
    others[i] = y < other_rows ? narrow_counts (row[column + 1]) : 0;
    scans[i] = warp_scan (values[i] + others[i]);
  }
  if (t < GROUP_TILES) {
#pragma unroll
    for (uint32_t i = 0; i < turns; i++) {
      g->before[warp + i * WRITE_WARPS][t] = scans[i] - others[i] - values[i];
      g->before[warp + i * WRITE_WARPS][t + 1] = scans[i] - others[i];
    }
  }
  if (lane_id () == WARP_LANES - 1) {
#pragma unroll
    for (uint32_t i = 0; i < turns; i++)
      g->rows[warp + i * WRITE_WARPS] = scans[i];
  }
  totals = warp_sum (totals);
  if (lane_id () == 0)
    g->totals[warp] = totals;
}

/* The counts before this lane's row of the tile row. */
static __device__ inline uint64_t
counts_before_row (const GroupCounts &g)
{
  uint64_t before = warp_sum (lane_id () < WRITE_WARPS ? g.totals[lane_id ()] : (uint64_t) 0);
  uint64_t row = widen_counts (g.rows[lane_id ()]);

  return before + warp_scan (row) - row;
}

/* The counts before this lane's row of tile @t of a group, if they were scanned beforehand. */
static __device__ inline uint64_t
counts_before_tile (const CclTiles &tiles, const TileGroup &group, uint32_t t)
{
  size_t row = (size_t) group.row * tiles.height + lane_id ();

  return lane_id () < tiles.height && group.column + t < tiles.columns
             ? tiles.totals[group.row] + tiles.counts[row * tiles.columns + group.column + t]
             : 0;
}

/* Writes the number of components; called by a warp. */
static __device__ inline void
write_header (const CclTiles &tiles, const CclCudaResult &r)
{
  uint64_t sum = 0;

  for (uint32_t i = lane_id (); i < tiles.rows; i += WARP_LANES)
    sum += tiles.totals[i];
  sum = warp_sum (sum);
  if (lane_id () == 0)
    r.header->kept = place (r, sum);
}

/* A component of a tile that may be written. */
struct Candidate
{
  CclTilePixel first;
  uint32_t label;
  bool root;
  CclFeatures features; /* of a root */
};

/* Returns the component whose first pixel, loaded before, is @first; 0: there is none. Loads the
 * features of roots. */
static __device__ inline Candidate
load_candidate (const CclComponentTable &t, const Tile &tile, CclTileFirst first)
{
  Candidate c = { first_pixel (first), 0, first_is_root (first), {} };

  c.label = component_label (t, tile, c.first);
  if (c.root)
    c.features = t.features[c.label];
  return c;
}

/* Data of a tile that a warp loads ahead of its stores. */
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
load_ahead (const CclComponentTable &t, const CclTiles &tiles, const GroupComponents &g,
            uint32_t number)
{
  TileAhead ahead = { tile_at (tiles, g.group.row, g.group.column + number), 0, {}, 0 };
  CclTileFirst first;

  ahead.n = warp_shuffle (g.before, number + 1) - warp_shuffle (g.before, number);
  first = load_first (tiles, ahead, lane_id ());
  ahead.next = load_first (tiles, ahead, lane_id () + WARP_LANES);
  ahead.candidate = load_candidate (t, ahead.tile, first);
  return ahead;
}

/* Writes the components of a tile; called by a warp. @places: the counts before this lane's row. */
template <bool classes>
static __device__ inline void
write_tile (const CclComponentTable &t, const CclTiles &tiles, const CclCudaResult &r,
            WriteBuffer *buffer, TileAhead *ahead, uint64_t places)
{
  const Tile &tile = ahead->tile;
  uint32_t lanes = bits_below (lane_id ()), last_y = UINT32_MAX;
  uint64_t in_row = 0; /* roots of the last row so far */

  for (uint32_t base = 0; base < ahead->n; base += WARP_LANES) {
    Candidate c = ahead->candidate;
    uint32_t i = base + lane_id (), x = c.first % TILE_WIDTH, y = c.first / TILE_WIDTH;
    uint32_t row, kept, tied;
    Selection selection =
        c.root ? select_component (t, r, c.label, c.features, tile.y + y) : DROPPED;
    uint64_t before;

    ahead->candidate = load_candidate (t, tile, ahead->next);
    ahead->next = load_first (tiles, *ahead, i + 2 * WARP_LANES);
    row = __match_any_sync (ALL_LANES, y);
    kept = __ballot_sync (ALL_LANES, selection == KEPT) & row;
    tied = __ballot_sync (ALL_LANES, selection == TIED) & row;
    if (y != last_y)
      in_row = 0;
    before = warp_shuffle (places, y) + in_row +
             pack_counts (__popc (kept & lanes), __popc (tied & lanes));
    write_features (t, r, buffer, c.label, c.features, classes ? (tile.x + x) / 2 : tile.x + x,
                    tile.y + y, selection, before);
    in_row += pack_counts (__popc (kept), __popc (tied));
    in_row = warp_shuffle (in_row, WARP_LANES - 1);
    last_y = __shfl_sync (ALL_LANES, y, WARP_LANES - 1);
  }
}

/* A block for each tile group. @classes: CclCudaWork.classes. */
template <bool classes>
static __global__ void
__launch_bounds__ (WRITE_THREADS, WRITE_BLOCKS)
    tile_write_result (CclComponentTable t, CclTiles tiles, CclCudaResult r)
{
  __shared__ WriteBuffer buffers[WRITE_WARPS];
  __shared__ GroupCounts counts;
  uint32_t warp = threadIdx.x / WARP_LANES;
  GroupComponents g = load_group (tiles);
  TileAhead ahead;
  uint64_t before_row = 0;

  follow_kernel (); /* so far only what tile_label wrote has been read (T3) */
  if (blockIdx.x == 0 && warp == WRITE_WARPS - 1 && !scans_beforehand (tiles))
    write_header (tiles, r);
  if (g.n == 0)
    return;
  ahead = load_ahead (t, tiles, g, warp);
  if (!scans_beforehand (tiles)) {
    find_counts (tiles, g.group, &counts);
    __syncthreads ();
    before_row = counts_before_row (counts);
  }
  for (uint32_t i = warp; i < GROUP_TILES; i += WRITE_WARPS) {
    if (i > warp)
      ahead = load_ahead (t, tiles, g, i);
    write_tile<classes> (t, tiles, r, &buffers[warp], &ahead,
                         scans_beforehand (tiles)
                             ? counts_before_tile (tiles, g.group, i)
                             : before_row + widen_counts (counts.before[lane_id ()][i]));
  }
}

/* A block for each tile. */
static __global__ void
tile_count_areas (CclComponentTable t, CclTiles tiles, CclCudaResult r, CclTopKSearch search)
{
  Tile tile = tile_number (tiles, blockIdx.x);

  for (uint32_t i = threadIdx.x; i < tiles.n[tile.index]; i += blockDim.x) {
    CclTileFirst first = tile_firsts (tiles, tile)[i];

    if (first_is_root (first))
      count_area (t, r, search, component_label (t, tile, first_pixel (first)),
                  tile.y + first_pixel (first) / TILE_WIDTH);
  }
}

cudaError_t
ccl_cuda_tile_write_result (const CclCudaWork *work, cudaStream_t stream)
{
  const CclTiles *tiles = &tile_tables (work)->tiles;
  cudaError_t error = cudaSuccess;

  if (scans_beforehand (*tiles))
    error = launch_following (work->frame, tile_scan_counts, tiles->rows + 1, WARP_LANES, stream,
                              *tiles, work->result);
  if (error == cudaSuccess)
    error = launch_following (
        work->frame, work->classes ? tile_write_result<true> : tile_write_result<false>,
        group_count (*tiles), WRITE_THREADS, stream, work->components, *tiles, work->result);
  return error;
}

cudaError_t
ccl_cuda_tile_count_areas (const CclCudaWork *work, const CclTopKSearch *search,
                           cudaStream_t stream)
{
  const CclTiles *tiles = &tile_tables (work)->tiles;
  cudaError_t error = clear_histogram (&work->result, stream);

  if (error != cudaSuccess)
    return error;
  return launch (tile_count_areas, tiles->columns * tiles->rows, 4 * WARP_LANES, 0, stream,
                 work->components, *tiles, work->result, *search);
}
