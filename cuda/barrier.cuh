/* cudaccl - CUDA backend: barriers over a grid
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* For cooperative launches. In difference to the grid's own sync(), a block may arrive and not
 * wait, and its other threads may go on meanwhile. */

#ifndef CCL_CUDA_BARRIER_CUH
#define CCL_CUDA_BARRIER_CUH

#include <stdint.h>

/* A word of memory, 0 at first. Each round flips its highest bit: all blocks together add that. */

static __device__ inline uint32_t
load_acquire (const uint32_t *address)
{
  uint32_t value;

  asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

/* What makes two values of a barrier, or of a flag, two rounds. */
static __device__ inline uint32_t
round_of (uint32_t value)
{
  return value >> 31;
}

/* What one block adds. */
static __device__ inline uint32_t
share_of_round (void)
{
  return blockIdx.x == 0 ? (1u << 31) - (gridDim.x - 1) : 1;
}

/* Tells the others that this block has arrived, once in a round. For one thread, after a
 * __threadfence() for all that the block wrote before its last __syncthreads(). Returns what
 * wait_for_all() needs. */
static __device__ inline uint32_t
arrive (uint32_t *barrier)
{
  return atomicAdd (barrier, share_of_round ());
}

/* Whether all others had arrived before. */
static __device__ inline bool
is_last (uint32_t arrived)
{
  return round_of (arrived + share_of_round ()) != round_of (arrived);
}

/* For the same thread. Others of its block may read what all blocks wrote after one more
 * __syncthreads(). */
static __device__ inline void
wait_for_all (const uint32_t *barrier, uint32_t arrived)
{
  while (round_of (load_acquire (barrier)) == round_of (arrived))
    ;
}

#endif
