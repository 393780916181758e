/* cudaccl - CUDA backend: the tile algorithm, the components of a tile
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_TILE_RUNS_CUH
#define CCL_CUDA_TILE_RUNS_CUH

#include "cuda/rows.cuh"
#include "cuda/tile.cuh"
#include "cuda/unionfind.cuh"

#define WARPS_MAX (TILE_WORDS * TILE_MAX_HEIGHT / WARP_LANES)

/* What a block keeps in shared memory of its tile. */
struct TileRuns
{
  uint32_t *words, *starts, *before; /* [threads] pixels, first pixels of runs, runs before */
  uint32_t *roots;                   /* [4 * height] which runs are roots, bit by bit */
  uint32_t *roots_before;            /* [4 * height] */
  uint32_t *parents;                 /* [runs] union-find over runs; then components */
};

/* Bytes of it before parents. */
static __host__ __device__ inline size_t
tile_runs_size (uint32_t height)
{
  return 4 * (size_t) (3 * height * TILE_WORDS + 8 * height);
}

static __device__ inline TileRuns
tile_runs_layout (uint32_t *memory, uint32_t height)
{
  uint32_t threads = height * TILE_WORDS;
  TileRuns s;

  s.words = memory;
  s.starts = s.words + threads;
  s.before = s.starts + threads;
  s.roots = s.before + threads;
  s.roots_before = s.roots + 4 * height;
  s.parents = s.roots_before + 4 * height;
  return s;
}

/* The word of pixels that is this thread's in a tile. */
static __device__ inline uint32_t
load_word (const CclCudaFrame &f, const Tile &tile)
{
  uint32_t x = tile.x + threadIdx.x % TILE_WORDS * WARP_LANES;
  uint32_t y = tile.y + threadIdx.x / TILE_WORDS;

  return x < f.width && y < f.height ? foreground32 (f, row_pixels (f, y), x) : 0;
}

/* Exclusive sum over the threads of the block; @total: over all. To be called once. */
static __device__ inline uint32_t
block_scan (uint32_t value, uint32_t *total)
{
  __shared__ uint32_t warps[WARPS_MAX];
  uint32_t sum = warp_scan (value), before = 0, all = 0;

  if (lane_id () == WARP_LANES - 1)
    warps[threadIdx.x / WARP_LANES] = sum;
  __syncthreads ();
  for (uint32_t i = 0; i < blockDim.x / WARP_LANES; i++) {
    if (i < threadIdx.x / WARP_LANES)
      before += warps[i];
    all += warps[i];
  }
  *total = all;
  return before + sum - value;
}

/* Union-find in shared memory; see unionfind.cuh. All writes are atomic, as others read meanwhile.
 */
static __device__ inline uint32_t
find_shared (uint32_t *parents, uint32_t run)
{
  const volatile uint32_t *seen = parents;
  uint32_t parent, grandparent;

  while ((parent = seen[run]) != run) {
    grandparent = seen[parent];
    if (grandparent == parent)
      return parent;
    atomicMin (&parents[run], grandparent);
    run = grandparent;
  }
  return run;
}

static __device__ inline void
merge_shared (uint32_t *parents, uint32_t run1, uint32_t run2)
{
  bool first = true;

  while (run1 != run2) {
    uint32_t high = max (run1, run2), low = min (run1, run2);
    uint32_t found = atomicMin (&parents[high], low);

    if (found == high || found == low)
      return;
    run1 = first ? find_shared (parents, found) : found;
    run2 = first ? find_shared (parents, low) : low;
    first = false;
  }
}

static __device__ inline void
compress_shared (uint32_t *parents, uint32_t run)
{
  volatile uint32_t *seen = parents;
  uint32_t parent = seen[run], grandparent;

  while ((grandparent = seen[parent]) != parent) {
    atomicMin (&parents[run], grandparent);
    parent = grandparent;
  }
}

/* Merges the runs of this thread's word with those that they touch in the row above. */
static __device__ inline void
merge_word (const CclCudaFrame &f, const TileRuns &s)
{
  uint32_t i = threadIdx.x, a = i - TILE_WORDS, todo;
  bool inner = i % TILE_WORDS > 0;
  Rows r;

  if (i < TILE_WORDS)
    return;
  r.current = s.words[i];
  r.above = s.words[a];
  r.current_before = inner && s.words[i - 1] >> 31;
  r.above_before = inner && s.words[a - 1] >> 31;
  for (todo = (uint32_t) touching (f, r); todo; todo &= todo - 1) {
    int x = __ffs (todo) - 1;
    int current_x = r.current >> x & 1 ? x : x - 1, above_x = r.above >> x & 1 ? x : x - 1;

    merge_shared (s.parents, s.before[i] + starts_to (s.starts[i], current_x) - 1,
                  s.before[a] + starts_to (s.starts[a], above_x) - 1);
  }
}

/* Numbers the roots densely, in order, and makes parents the components of runs. */
static __device__ inline uint32_t
number_components (const TileRuns &s, uint32_t runs)
{
  uint32_t groups = (runs + WARP_LANES - 1) / WARP_LANES, total = 0;

  for (uint32_t run = threadIdx.x; run < groups * WARP_LANES; run += blockDim.x) {
    uint32_t roots = __ballot_sync (ALL_LANES, run < runs && s.parents[run] == run);

    if (run < runs)
      compress_shared (s.parents, run);
    if (lane_id () == 0)
      s.roots[run / WARP_LANES] = roots;
  }
  __syncthreads ();
  if (threadIdx.x < WARP_LANES) {
    for (uint32_t group = 0; group < groups; group += WARP_LANES) {
      uint32_t i = group + lane_id (), count = i < groups ? __popc (s.roots[i]) : 0;
      uint32_t sum = warp_scan (count);

      if (i < groups)
        s.roots_before[i] = total + sum - count;
      total += __shfl_sync (ALL_LANES, sum, WARP_LANES - 1);
    }
  }
  __syncthreads ();
  for (uint32_t run = threadIdx.x; run < runs; run += blockDim.x) {
    uint32_t root = s.parents[run];

    s.parents[run] = s.roots_before[root / WARP_LANES] +
                     __popc (s.roots[root / WARP_LANES] & bits_below (root % WARP_LANES));
  }
  return s.roots_before[groups - 1] + __popc (s.roots[groups - 1]);
}

/* Finds the runs and components of a tile that is not empty: parents become the components of runs.
 * @word: this thread's. Returns the number of components, the same each time, in the same order. */
static __device__ inline uint32_t
find_components (const CclCudaFrame &f, const TileRuns &s, uint32_t word, uint32_t *runs)
{
  uint32_t i = threadIdx.x, left = __shfl_up_sync (ALL_LANES, word, 1) >> 31;

  s.words[i] = word;
  s.starts[i] = word & ~(word << 1 | (i % TILE_WORDS ? left : 0));
  s.before[i] = block_scan (__popc (s.starts[i]), runs);
  for (uint32_t run = i; run < *runs; run += blockDim.x)
    s.parents[run] = run;
  __syncthreads ();
  merge_word (f, s);
  __syncthreads ();
  return number_components (s, *runs);
}

#endif
