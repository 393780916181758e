/* cudaccl - CUDA backend: warps
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_WARP_CUH
#define CCL_CUDA_WARP_CUH

#include "cuda/device/machine.cuh"

#define WARP_LANES 32
#define ALL_LANES 0xffffffffu

/* The bits below bit @n, which is less than 32. */
static __device__ inline uint32_t
bits_below (uint32_t n)
{
  return (1u << n) - 1;
}

/* Another lane's @value. All lanes call this. */
static __device__ inline uint32_t
warp_shuffle (uint32_t value, uint32_t lane)
{
  return __shfl_sync (ALL_LANES, value, lane);
}

static __device__ inline uint64_t
warp_shuffle (uint64_t value, uint32_t lane)
{
  return __shfl_sync (ALL_LANES, (unsigned long long) value, lane);
}

/* The @value of the lane @distance lanes before this one. All lanes call this. */
static __device__ inline uint32_t
warp_shuffle_up (uint32_t value, uint32_t distance)
{
  return __shfl_up_sync (ALL_LANES, value, distance);
}

static __device__ inline uint64_t
warp_shuffle_up (uint64_t value, uint32_t distance)
{
  return __shfl_up_sync (ALL_LANES, (unsigned long long) value, distance);
}

/* The @value of the lane @distance lanes after this one. All lanes call this. */
static __device__ inline uint32_t
warp_shuffle_down (uint32_t value, uint32_t distance)
{
  return __shfl_down_sync (ALL_LANES, value, distance);
}

/* The @value of the lane whose index differs in the bits of @mask. All lanes call this. */
static __device__ inline uint32_t
warp_shuffle_xor (uint32_t value, uint32_t mask)
{
  return __shfl_xor_sync (ALL_LANES, value, mask);
}

static __device__ inline uint64_t
warp_shuffle_xor (uint64_t value, uint32_t mask)
{
  return __shfl_xor_sync (ALL_LANES, (unsigned long long) value, mask);
}

/* Inclusive sum of @value over the lanes. All lanes call this. */
template <typename T>
static __device__ inline T
warp_scan (T value)
{
  for (uint32_t distance = 1; distance < WARP_LANES; distance *= 2) {
    T other = warp_shuffle_up (value, distance);

    if (lane_id () >= distance)
      value += other;
  }
  return value;
}

/* The sum of @value over all lanes, in each of them. All lanes call this. */
template <typename T>
static __device__ inline T
warp_sum (T value)
{
  for (uint32_t distance = WARP_LANES / 2; distance > 0; distance /= 2)
    value += warp_shuffle_xor (value, distance);
  return value;
}

#if __CUDA_ARCH__ >= 800
static __device__ inline uint32_t
warp_sum (uint32_t value)
{
  return __reduce_add_sync (ALL_LANES, value);
}
#endif

/* The number of blocks of @warps warps that give each of @n elements a warp. */
static inline unsigned
warp_grid (size_t n, unsigned warps)
{
  return (unsigned) ((n - 1) / warps + 1);
}

#endif
