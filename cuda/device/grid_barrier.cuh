/* cudaccl - CUDA backend: barriers over a grid
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* For cooperative launches: a grid barrier needs all blocks co-resident. Unlike the grid's own
 * sync(), a block may arrive, go on with other work, and wait later or not at all.
 *
 * B1. All blocks are co-resident.
 * B2. A barrier is a word of global memory, 0 before the first launch and never reset. Every
 *     block arrives exactly once per launch; all arrivals together flip the highest bit, the
 *     round.
 * B3. A block reads next_round() before it arrives anywhere in a launch: until then the bit
 *     cannot flip. All barriers of a kernel have the same round.
 * B4. arrive_release() by one thread publishes what all threads of its block wrote before their
 *     last __syncthreads(). arrive() publishes nothing.
 * B5. One thread waits, with acquire semantics; the other threads of its block read what was
 *     published after one more __syncthreads(). */

#ifndef CCL_CUDA_GRID_BARRIER_CUH
#define CCL_CUDA_GRID_BARRIER_CUH

#include "cuda/device/machine.cuh"

#define ROUND_BIT 0x80000000u

/* The round at the end of this launch, the same for all barriers of a kernel (B3). */
static __device__ inline uint32_t
next_round (const uint32_t *barrier)
{
  return ~__ldcg (barrier) & ROUND_BIT;
}

/* What this block adds to a barrier; over all blocks, ROUND_BIT. */
static __device__ inline uint32_t
arrival (void)
{
  return blockIdx.x == 0 ? ROUND_BIT - (gridDim.x - 1) : 1;
}

/* Arrives at a barrier without publishing what this block wrote. One thread calls this. */
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

/* Waits until a word has reached @round. One thread calls this; the others of its block may read
 * what was published after a __syncthreads(). */
static __device__ inline void
await_round (const uint32_t *word, uint32_t round)
{
  while ((load_acquire (word) & ROUND_BIT) != round)
    ;
}

#endif
