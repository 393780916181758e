/* cudaccl - CUDA backend: background models, comparing a unit with the background
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_MODELS_COMPARE_CUH
#define CCL_CUDA_MODELS_COMPARE_CUH

#include "cuda/models/load.cuh"

/* The thresholds of pixels 2 * @k and 2 * @k + 1 where the background is flat: 4 CCL_MOTION_ONE /
 * 16 times the noise, but at least the floor. */
static __device__ inline uint32_t
flat_thresholds (uint2 noise, uint32_t k, uint32_t floor)
{
  return max2 (byte_pair (noise, k) << 5, floor);
}

/* Finds the pixels of a unit that differ from a background without slope: all that
 * find_differences() finds, and perhaps more. */
static __device__ inline uint32_t
find_candidates (const CclModelTask &task, uint2 values, uint4 old, uint2 noise)
{
  const uint32_t floor = both (task.step.floor), cap = both (task.step.cap);
  const uint32_t olds[4] = { old.x, old.y, old.z, old.w };
  uint32_t high[4];

#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    uint32_t difference = distance2 (byte_pair (values, k) << 7, olds[k]);

    high[k] = above2 (difference, min2 (flat_thresholds (noise, k, floor), cap));
  }
  return unit_bits (high);
}

/* Finds the pixels of a unit that differ from the background. Called by whole warps. */
static __device__ inline uint32_t
find_differences (const CclModelTask &task, const Position &position, uint2 values, uint4 above,
                  uint4 old, uint4 below, uint2 noise)
{
  const uint32_t floor = both (task.step.floor), cap = both (task.step.cap);
  uint32_t before = warp_shuffle_up (old.w, 1), behind = warp_shuffle_down (old.x, 1);
  uint32_t left = position.first ? old.x << 16 : before,
           right = position.last ? old.w >> 16 : behind;
  /* pixels -1 and 0, 1 and 2, up to 7 and 8 */
  uint32_t odd[5] = { __funnelshift_l (left, old.x, 16), __funnelshift_l (old.x, old.y, 16),
                      __funnelshift_l (old.y, old.z, 16), __funnelshift_l (old.z, old.w, 16),
                      __funnelshift_l (old.w, right, 16) };
  uint32_t olds[4] = { old.x, old.y, old.z, old.w };
  uint32_t aboves[4] = { above.x, above.y, above.z, above.w };
  uint32_t belows[4] = { below.x, below.y, below.z, below.w };
  uint32_t high[4];

#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    uint32_t slope = max2 (distance2 (odd[k], odd[k + 1]), distance2 (aboves[k], belows[k]));
    uint32_t threshold = flat_thresholds (noise, k, floor) + half2 (slope);
    uint32_t difference = distance2 (byte_pair (values, k) << 7, olds[k]);

    high[k] = above2 (difference, min2 (threshold, cap));
  }
  return unit_bits (high);
}

/* ccl_motion_shaded() of a unit, or ccl_motion_lit() */
template <bool LIT>
static __device__ inline uint32_t
find_shaded (const CclMotionStep &step, uint2 values, uint4 old)
{
  const uint32_t veil = both ((uint32_t) ccl_motion_darkest (&step, 0));
  uint32_t olds[4] = { old.x, old.y, old.z, old.w }, high[4];

#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    uint32_t value = byte_pair (values, k) << 7;
    uint32_t bright = LIT ? value : olds[k], dark = LIT ? olds[k] : value;
    uint32_t darkest = (step.shady ? bright >> 2 & 0x3fff3fff : half2 (bright)) + veil;

    high[k] = above2 (bright, dark) & above2 (dark, darkest);
  }
  return unit_bits (high);
}

/* Whether four pairs of samples differ by more than @most, their sum; returns a bit for each pixel
 * of a row. It is ccl_motion_chroma_differs(), and, with grey values, ccl_motion_coloured(). */
static __device__ inline uint32_t
find_colours (uint2 values, uint4 old, uint32_t most)
{
  const uint32_t olds[4] = { old.x, old.y, old.z, old.w }, floor = both (most);
  uint32_t high[2];

#pragma unroll
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t first = distance2 (byte_pair (values, 2 * k) << 7, olds[2 * k]);
    uint32_t second = distance2 (byte_pair (values, 2 * k + 1) << 7, olds[2 * k + 1]);
    uint32_t sum = __byte_perm (first, second, 0x5410) + __byte_perm (first, second, 0x7632);

    /* sums may have 16 bits */
    high[k] = above2 (min2 (sum, ~HIGH_BITS), floor);
  }
  return __dp4a (__byte_perm (high[0], high[1], 0x7531), 0xc0300c03u, 0u) >> 7;
}

#endif
