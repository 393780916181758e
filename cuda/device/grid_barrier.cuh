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

/* Adds to a word that other blocks wait for, or writes it: who has waited for it sees what all
 * threads of this block wrote before their last barrier with this one. In difference to
 * __threadfence(), this leaves the L1 cache as it is. */
static __device__ inline void
add_release (uint32_t *word, uint32_t value)
{
  asm volatile("red.release.gpu.global.add.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}

static __device__ inline void
store_release (uint32_t *word, uint32_t value)
{
  asm volatile("st.release.gpu.global.u32 [%0], %1;" : : "l"(word), "r"(value) : "memory");
}

/* What a block adds to a barrier: all together, the highest bit. */
static __device__ inline uint32_t
arrival (void)
{
  return blockIdx.x == 0 ? ROUND_BIT - (gridDim.x - 1) : 1;
}

/* Tells the others that this block has arrived, but nothing of what it wrote. For one thread. */
static __device__ inline void
arrive (uint32_t *barrier)
{
  atomicAdd (barrier, arrival ());
}

/* Tells the others that this block has arrived, and what it wrote, like add_release(). */
static __device__ inline void
arrive_release (uint32_t *barrier)
{
  add_release (barrier, arrival ());
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
