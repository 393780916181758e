/* cudaccl - CUDA backend: barriers over a grid
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* For cooperative launches. Unlike the grid's own sync(), a block may arrive, continue with other
 * work, and wait later or not at all. Kernels rely on these invariants:
 *
 * B1. All blocks are co-resident: cooperative launches only.
 * B2. A barrier is a word of global memory that is 0 before the first launch and never reset. Its
 *     highest bit, the round, flips exactly once per launch: block 0 adds 2^31 - (n - 1), each
 *     other block 1. So every block must arrive exactly once at every barrier in every launch.
 * B3. A block reads next_round() before it arrives anywhere in a launch; after that the bit may
 *     flip at any time. All barriers of a kernel are in the same round.
 * B4. arrive_release(), called by one thread, publishes what all threads of its block wrote before
 *     their last __syncthreads(): a release at device scope. arrive() publishes nothing; it is for
 *     blocks that wrote nothing that others read.
 * B5. One thread waits, with acquire loads. The other threads of its block may read what was
 *     published after one more __syncthreads(). */

#ifndef CCL_CUDA_GRID_BARRIER_CUH
#define CCL_CUDA_GRID_BARRIER_CUH

#include "cuda/device/machine.cuh"

#define ROUND_BIT 0x80000000u

/* Returns the round that ends this launch; the same for all barriers of a kernel (B3). */
static __device__ inline uint32_t
next_round (const uint32_t *barrier)
{
  return ~__ldcg (barrier) & ROUND_BIT;
}

/* Returns what this block adds to a barrier. Over all blocks these add up to ROUND_BIT (B2). */
static __device__ inline uint32_t
arrival (void)
{
  return blockIdx.x == 0 ? ROUND_BIT - (gridDim.x - 1) : 1;
}

/* Arrives at a barrier without publishing what this block wrote (B4). One thread calls this. */
static __device__ inline void
arrive (uint32_t *barrier)
{
  atomicAdd (barrier, arrival ());
}

/* Arrives at a barrier and publishes what this block wrote (B4). One thread calls this. */
static __device__ inline void
arrive_release (uint32_t *barrier)
{
  add_release (barrier, arrival ());
}

/* Waits until a word has reached @round. One thread calls this (B5). */
static __device__ inline void
await_round (const uint32_t *word, uint32_t round)
{
  while ((load_acquire (word) & ROUND_BIT) != round)
    ;
}

#endif
