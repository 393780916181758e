/* cudaccl - CUDA backend: the tile algorithm, from roots to the canonical result
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The components of a tile are in raster order, but those of the tiles of a strip alternate row by
 * row. So roots are counted for each row of each tile; the block that counts a strip also adds its
 * counts up, and the last one of these adds up those of the strips. */

#include "cuda/compact.cuh"
#include "cuda/launch.cuh"
#include "cuda/tile.cuh"
#include "cuda/unionfind.cuh"

#define STRIP_THREADS 512
#define STRIP_WARPS (STRIP_THREADS / WARP_LANES)
#define WRITE_WARPS 4

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
  __shared__ uint64_t warps[STRIP_WARPS];
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
  for (uint32_t i = 0; i < STRIP_WARPS; i++) {
    if (i < threadIdx.x / WARP_LANES)
      before += warps[i];
    all += warps[i];
  }
  *total = all;
  return before + sum - value;
}

/* Replaces @counts by those before, and returns their sum. */
static __device__ inline uint64_t
scan_counts (uint64_t *counts, size_t n)
{
  uint64_t sum = 0, total;

  for (size_t base = 0; base < n; base += STRIP_THREADS) {
    size_t i = base + threadIdx.x;
    uint64_t before = block_scan64 (i < n ? counts[i] : 0, &total);

    if (i < n)
      counts[i] = sum + before;
    sum += total;
  }
  return sum;
}

/* The components of up to STRIP_THREADS tiles of a strip, numbered through. */
struct Batch
{
  uint32_t strip, column;
  uint32_t *before; /* [STRIP_THREADS] components before each tile */
  uint32_t n;
};

static __device__ inline void
load_batch (const CclTiles &tiles, Batch *batch)
{
  uint32_t column = batch->column + threadIdx.x;
  uint64_t n = column < tiles.columns ? tiles.n[batch->strip * tiles.columns + column] : 0, total;

  batch->before[threadIdx.x] = (uint32_t) block_scan64 (n, &total);
  batch->n = (uint32_t) total;
  __syncthreads ();
}

/* Component @i of a batch: its label, and the column of its tile. */
static __device__ inline uint32_t
batch_label (const CclCudaFrame &f, const Batch &batch, uint32_t i, uint32_t *column)
{
  uint32_t low = 0;
  Tile tile;

  /* The last tile with no more than i components before it. */
  for (uint32_t step = STRIP_THREADS / 2; step > 0; step /= 2) {
    if (batch.before[low + step] <= i)
      low += step;
  }
  *column = batch.column + low;
  tile = tile_at (f.tiles, batch.strip, *column);
  return tile_label (f, tile, tile_first (f.tiles, tile, i - batch.before[low]));
}

/* Counts the lanes' roots in those of their row and tile. */
static __device__ inline void
count_verdicts (const CclCudaFrame &f, uint64_t *counts, uint32_t label, uint32_t column,
                Verdict verdict)
{
  uint32_t y = label / f.slots % f.tiles.height, cell = y * f.tiles.columns + column;
  uint32_t key = verdict == OUT ? UINT32_MAX : cell, peers = __match_any_sync (ALL_LANES, key);
  uint32_t kept = __ballot_sync (ALL_LANES, verdict == KEPT) & peers;

  if (verdict != OUT && (peers & bits_below (lane_id ())) == 0)
    atomicAdd ((unsigned long long *) &counts[cell],
               (unsigned long long) pack_counts (__popc (kept), __popc (peers & ~kept)));
}

/* Resolves the labels of one strip and adds the features of those that are no roots to their roots,
 * or counts the roots, or both. */
static __device__ inline void
visit_strip (const CclCudaFrame &f, uint32_t strip, bool add, bool count, uint64_t *counts)
{
  __shared__ uint32_t before[STRIP_THREADS];
  HeldComponent held = held_nothing ();
  Batch batch = { strip, 0, before };

  for (; batch.column < f.tiles.columns; batch.column += STRIP_THREADS) {
    load_batch (f.tiles, &batch);
    for (uint32_t base = threadIdx.x - lane_id (); base < batch.n; base += STRIP_THREADS) {
      uint32_t i = base + lane_id (), label = 0, root = CCL_NO_LABEL, column = 0;
      Sums s = sums_of_nothing ();
      Verdict verdict = OUT;

      if (i < batch.n) {
        label = batch_label (f, batch, i, &column);
        root = add ? compress (f.labels, label, f.labels[label]) : f.labels[label];
        if (count && root == label)
          verdict = keeps_all (f) ? KEPT : judge (f, label);
        if (root == label)
          root = CCL_NO_LABEL; /* its own features are there */
        else if (add)
          s = sums_of_component (f, label);
      }
      if (add)
        feature_update_held (f, &held, root, s);
      if (count)
        count_verdicts (f, counts, label, column, verdict);
    }
    __syncthreads ();
  }
  if (add)
    held_flush (f, &held);
}

/* A block for each strip. */
static __global__ void
visit_strips (CclCudaFrame f, bool add, bool count)
{
  __shared__ bool last;
  const CclTiles &tiles = f.tiles;
  uint32_t strip = blockIdx.x;
  size_t n = (size_t) tiles.height * tiles.columns;
  uint64_t *counts = tiles.counts + strip * n, total;

  follow_kernel ();
  if (count) {
    for (size_t i = threadIdx.x; i < n; i += STRIP_THREADS)
      counts[i] = 0;
    __syncthreads ();
  }
  visit_strip (f, strip, add, count, counts);
  if (!count)
    return;
  __syncthreads ();
  total = scan_counts (counts, n);
  if (threadIdx.x == 0) {
    tiles.totals[strip] = total;
    __threadfence ();
    last = atomicAdd (tiles.done, 1) == gridDim.x - 1;
  }
  __syncthreads ();
  if (!last)
    return;
  __threadfence ();
  total = scan_counts (tiles.totals, tiles.strips);
  if (threadIdx.x == 0) {
    f.header->kept = place (f, total);
    *tiles.done = 0;
  }
}

/* A warp for each tile. */
static __global__ void
write_tiles (CclCudaFrame f)
{
  __shared__ WriteBuffer buffers[WRITE_WARPS];
  const CclTiles &tiles = f.tiles;
  uint32_t index = blockIdx.x * WRITE_WARPS + threadIdx.x / WARP_LANES;
  uint32_t strip = index / tiles.columns, column = index - strip * tiles.columns;
  uint32_t n, last_y = UINT32_MAX;
  uint64_t in_row = 0; /* roots of the last row so far */
  Tile tile;

  follow_kernel ();
  if (strip >= tiles.strips)
    return;
  n = tiles.n[index];
  tile = tile_at (tiles, strip, column);
  for (uint32_t base = 0; base < n; base += WARP_LANES) {
    uint32_t i = base + lane_id (), lanes = bits_below (lane_id ()), row, kept, tied;
    uint32_t first = tile_first (tiles, tile, min (i, n - 1)), y = first / TILE_WIDTH;
    uint32_t label = tile_label (f, tile, (CclTilePixel) first);
    Verdict verdict = i < n ? judge (f, label) : OUT;
    uint64_t before;

    row = __match_any_sync (ALL_LANES, y);
    kept = __ballot_sync (ALL_LANES, verdict == KEPT) & row;
    tied = __ballot_sync (ALL_LANES, verdict == TIED) & row;
    if (y != last_y)
      in_row = 0;
    before = in_row + pack_counts (__popc (kept & lanes), __popc (tied & lanes));
    before += tiles.totals[strip] +
              tiles.counts[((size_t) strip * tiles.height + y) * tiles.columns + column];
    write_warp (f, &buffers[threadIdx.x / WARP_LANES], label, tile.x + first % TILE_WIDTH,
                tile.y + y, verdict, before);
    in_row += pack_counts (__popc (kept), __popc (tied));
    in_row = shuffle64 (in_row, WARP_LANES - 1);
    last_y = __shfl_sync (ALL_LANES, y, WARP_LANES - 1);
  }
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

  return launch_following (f, (const void *) visit_strips, f->tiles.strips, STRIP_THREADS,
                           arguments, stream);
}

extern "C" cudaError_t
ccl_cuda_tile_resolve (const CclCudaFrame *f, cudaStream_t stream)
{
  return launch_visit (f, true, keeps_all (*f), stream);
}

extern "C" cudaError_t
ccl_cuda_tile_compact (const CclCudaFrame *f, cudaStream_t stream)
{
  uint32_t n = f->tiles.columns * f->tiles.strips;
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
    error = launch_visit (f, false, true, stream);
  if (error != cudaSuccess)
    return error;
  return launch_following (f, (const void *) write_tiles, (n - 1) / WRITE_WARPS + 1,
                           WRITE_WARPS * WARP_LANES, arguments, stream);
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
