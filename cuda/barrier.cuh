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

/* Tells the others, with all that the block wrote before its last __syncthreads(). For one thread;
 * returns what wait_for_all() needs. @last: whether all others were there before; it may read what
 * they wrote. */
static __device__ inline uint32_t
arrive (uint32_t *barrier, bool *last)
{
  uint32_t add = blockIdx.x == 0 ? (1u << 31) - (gridDim.x - 1) : 1, old;

  __threadfence ();
  old = atomicAdd (barrier, add);
  *last = round_of (old + add) != round_of (old);
  if (*last)
    __threadfence ();
  return old;
}

/* For the same thread; others may read what all blocks wrote after one more __syncthreads(). */
static __device__ inline void
wait_for_all (const uint32_t *barrier, uint32_t arrived)
{
  while (round_of (load_acquire (barrier)) == round_of (arrived))
    ;
}

#endif
