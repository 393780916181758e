/* cudaccl - CUDA backend: the tile algorithm in one launch
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The tiles of a frame up to HD size and beyond fit on the device all at once. There, most of the
 * time of four launches goes by between them, so one does it all, with barriers over the grid where
 * the others would end. That takes a cooperative launch: a block that waits for others must know
 * that they run. */

#include "cuda/compact.cuh"
#include "cuda/tile_label.cuh"
#include "cuda/tile_seams.cuh"

#include <cooperative_groups.h>

#define FRAME_HEIGHT (TILE_MAX_HEIGHT / 2) /* of a tile */
#define FRAME_THREADS (TILE_WORDS * FRAME_HEIGHT)
#define FRAME_WARPS (FRAME_THREADS / WARP_LANES)
#define BLOCKS 8 /* of a multiprocessor */

/* Every block goes through the counts of its strip, which must not be too many. */
#define MOST_COLUMNS 64

/* The sum of @value over the threads before this one; @total: over all. */
static __device__ inline uint32_t
scan_block (uint32_t value, uint32_t *total)
{
  __syncthreads (); /* the last scan is over */
  return block_scan (value, total);
}

static __device__ inline uint32_t
kept_of (uint64_t counts)
{
  return (uint32_t) (counts >> 32);
}

/* A tile, and what its block remembers of it. */
struct HeldTile
{
  Tile tile;
  uint32_t strip, column;
  uint32_t n;                 /* components */
  const CclTilePixel *firsts; /* [n] */
};

static __device__ inline uint32_t
held_label (const CclCudaFrame &f, const HeldTile &t, uint32_t i)
{
  return tile_label (f, t.tile, t.firsts[i]);
}

/* Adds the features of components that are no roots to their roots. @rows: the roots of each row,
 * or NULL. */
static __device__ inline void
resolve_tile (const CclCudaFrame &f, const HeldTile &t, uint32_t *rows)
{
  HeldComponent held = held_nothing ();

  for (uint32_t base = threadIdx.x - lane_id (); base < t.n; base += FRAME_THREADS) {
    uint32_t i = base + lane_id (), root = CCL_NO_LABEL;
    Sums s = sums_of_nothing ();

    if (i < t.n) {
      uint32_t label = held_label (f, t, i);

      root = compress (f.labels, label, __ldcg (&f.labels[label]));
      if (root != label) {
        s = sums_of_component (f, label);
      } else {
        root = CCL_NO_LABEL; /* its own features are there */
        if (rows)
          atomicAdd (&rows[t.firsts[i] / TILE_WIDTH], 1);
      }
    }
    feature_update_held (f, &held, root, s);
  }
  held_flush (f, &held);
}

/* Counts the roots of each row that pass the area filter. */
static __device__ inline void
count_passing (const CclCudaFrame &f, const HeldTile &t, uint32_t *rows)
{
  for (uint32_t i = threadIdx.x; i < t.n; i += FRAME_THREADS) {
    if (judge (f, held_label (f, t, i)) != OUT)
      atomicAdd (&rows[t.firsts[i] / TILE_WIDTH], 1);
  }
}

/* Tells the others how many components the tile has in each row. */
static __device__ inline void
publish_counts (const CclTiles &tiles, const HeldTile &t, const uint32_t *rows)
{
  __syncthreads ();
  if (threadIdx.x < WARP_LANES) {
    uint32_t y = lane_id (), kept = y < FRAME_HEIGHT ? rows[y] : 0, sum = warp_scan (kept);

    if (y < FRAME_HEIGHT)
      tiles.counts[((size_t) t.strip * FRAME_HEIGHT + y) * tiles.columns + t.column] =
          pack_counts (kept, 0);
    if (y == WARP_LANES - 1 && sum)
      add64 (&tiles.totals[t.strip], pack_counts (sum, 0));
  }
}

/* The components in the strips before @strip. */
static __device__ inline uint32_t
kept_before (const CclTiles &tiles, uint32_t strip)
{
  uint32_t sum = 0, total;

  for (uint32_t i = threadIdx.x; i < strip; i += FRAME_THREADS)
    sum += kept_of (tiles.totals[i]);
  scan_block (sum, &total);
  return total;
}

/* Finds the place of the first component in each row of a tile, less those of the tile in the rows
 * above: what is to be added to the number of a component in its tile. */
static __device__ inline void
find_places (const CclTiles &tiles, const HeldTile &t, const uint32_t *rows, uint32_t *places)
{
  const uint64_t *counts = tiles.counts + (size_t) t.strip * FRAME_HEIGHT * tiles.columns;
  uint32_t n = FRAME_HEIGHT * tiles.columns, sum = kept_before (tiles, t.strip), total;

  for (uint32_t base = 0; base < n; base += FRAME_THREADS) {
    uint32_t i = base + threadIdx.x;
    uint32_t before = scan_block (i < n ? kept_of (counts[i]) : 0, &total);

    if (i < n && i % tiles.columns == t.column)
      places[i / tiles.columns] = sum + before;
    sum += total;
  }
  __syncthreads ();
  if (threadIdx.x < WARP_LANES) {
    uint32_t y = lane_id (), kept = y < FRAME_HEIGHT ? rows[y] : 0;
    uint32_t above = warp_scan (kept) - kept;

    if (y < FRAME_HEIGHT)
      places[y] -= above;
  }
  __syncthreads ();
}

static __device__ inline void
write_tile (const CclCudaFrame &f, const HeldTile &t, const uint32_t *rows)
{
  __shared__ WriteBuffer buffers[FRAME_WARPS];
  __shared__ uint32_t places[FRAME_HEIGHT];
  uint32_t sum = 0, total;

  if (t.n == 0)
    return;
  find_places (f.tiles, t, rows, places);
  for (uint32_t base = 0; base < t.n; base += FRAME_THREADS) {
    uint32_t i = base + threadIdx.x, first = t.firsts[min (i, t.n - 1)], y = first / TILE_WIDTH;
    uint32_t label = tile_label (f, t.tile, (CclTilePixel) first);
    Verdict verdict = i < t.n ? judge (f, label) : OUT;
    uint32_t before = sum + scan_block (verdict != OUT, &total);

    write_warp (f, &buffers[threadIdx.x / WARP_LANES], label, t.tile.x + first % TILE_WIDTH,
                t.tile.y + y, verdict, pack_counts (places[y] + before, 0));
    sum += total;
  }
}

static __device__ inline void
write_header (const CclCudaFrame &f)
{
  uint32_t kept = kept_before (f.tiles, f.tiles.strips);

  if (threadIdx.x == 0)
    f.header->kept = kept;
}

/* Whether every root becomes a component, so that they can be counted before all areas are known.
 */
static __device__ inline bool
takes_all (const CclCudaFrame &f)
{
  return f.min_area <= 1 && f.max_area >= (uint64_t) f.width * f.height;
}

/* One tile a block. */
static __global__ void
__launch_bounds__ (FRAME_THREADS, BLOCKS) analyse_frame (CclCudaFrame f)
{
  extern __shared__ uint32_t memory[];
  __shared__ uint32_t rows[FRAME_HEIGHT];
  cooperative_groups::grid_group grid = cooperative_groups::this_grid ();
  const CclTiles &tiles = f.tiles;
  HeldTile t;

  /* So they are: now the compiler knows, too. */
  f.moments = NULL;
  f.updates = NULL;
  t.tile = tile_number (tiles, blockIdx.x);
  t.strip = blockIdx.x / tiles.columns;
  t.column = blockIdx.x - t.strip * tiles.columns;
  if (threadIdx.x < FRAME_HEIGHT)
    rows[threadIdx.x] = 0;
  if (t.column == 0 && threadIdx.x == 0)
    tiles.totals[t.strip] = 0;
  t.n = label_tile (f, t.tile, memory, &t.firsts);
  grid.sync ();
  if (threadIdx.x / WARP_LANES == 0)
    merge_left (f, tiles, t.strip, t.column);
  else if (threadIdx.x / WARP_LANES == 1)
    merge_above (f, tiles, t.strip, t.column);
  grid.sync ();
  resolve_tile (f, t, takes_all (f) ? rows : NULL);
  if (!takes_all (f)) {
    grid.sync ();
    count_passing (f, t, rows);
  }
  publish_counts (tiles, t, rows);
  grid.sync ();
  write_tile (f, t, rows);
  if (blockIdx.x == 0)
    write_header (f);
}

extern "C" cudaError_t
ccl_cuda_tile_blocks (const CclTiles *tiles, int device, uint32_t *blocks)
{
  uint32_t n = tiles->columns * tiles->strips;
  int cooperative = 0, processors = 0, resident = 0;
  cudaError_t error = cudaDeviceGetAttribute (&cooperative, cudaDevAttrCooperativeLaunch, device);

  *blocks = 0;
  if (tiles->height != FRAME_HEIGHT || tiles->columns > MOST_COLUMNS)
    return cudaSuccess;
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute (&processors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess)
    error = cudaOccupancyMaxActiveBlocksPerMultiprocessor (&resident, analyse_frame, FRAME_THREADS,
                                                           tile_label_size (FRAME_HEIGHT));
  if (error == cudaSuccess && cooperative && n <= (uint32_t) (resident * processors))
    *blocks = n;
  return error;
}

extern "C" cudaError_t
ccl_cuda_tile_frame (const CclCudaFrame *f, cudaStream_t stream)
{
  void *arguments[] = { (void *) f };

  return cudaLaunchCooperativeKernel ((const void *) analyse_frame, f->tiles.blocks, FRAME_THREADS,
                                      arguments, tile_label_size (FRAME_HEIGHT), stream);
}
