/* cudaccl - CUDA backend: the tile algorithm, union-find in shared memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_TILE_RUNS_CUH
#define CCL_CUDA_TILE_RUNS_CUH

#include "cuda/bits.cuh"
#include "cuda/tile.cuh"
#include "cuda/unionfind.cuh"

#define WARPS_MAX (TILE_WORDS * TILE_MAX_HEIGHT / WARP_LANES)

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

#endif
