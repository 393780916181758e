/* cudaccl - CUDA backend: barriers over a grid
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* For cooperative launches, where all blocks run. In difference to the grid's own sync(), a block
 * may arrive and not wait, and do something else in between.
 *
 * Whatever blocks wait for is a word of memory, 0 at first, whose highest bit changes once in every
 * launch: the round, which no block can miss, since it has to arrive itself. */

#ifndef CCL_CUDA_BARRIER_CUH
#define CCL_CUDA_BARRIER_CUH

#include <stdint.h>

#define ROUND_BIT 0x80000000u

/* The value of that bit at the end of this launch. For all barriers of a kernel the same; to be
 * asked before the block arrives at this one. */
static __device__ inline uint32_t
next_round (const uint32_t *barrier)
{
  return ~__ldcg (barrier) & ROUND_BIT;
}

/* Tells the others that this block has arrived. For one thread, after a __threadfence() for all
 * that the block wrote before its last __syncthreads(). All blocks together add the highest bit. */
static __device__ inline void
arrive (uint32_t *barrier)
{
  atomicAdd (barrier, blockIdx.x == 0 ? ROUND_BIT - (gridDim.x - 1) : 1);
}

/* Waits for the round @round. For one thread; others of its block may read what was written before
 * after one more __syncthreads(). */
static __device__ inline void
await_round (const uint32_t *word, uint32_t round)
{
  uint32_t seen;

  do
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(word) : "memory");
  while ((seen & ROUND_BIT) != round);
}

#endif
