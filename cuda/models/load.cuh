/* cudaccl - CUDA backend: background models, loading and blurring a unit
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Units outside the frame may hold anything (M5 in model.cu). */

#ifndef CCL_CUDA_MODELS_LOAD_CUH
#define CCL_CUDA_MODELS_LOAD_CUH

#include "cuda/models/kernels.h"
#include "cuda/models/unit.cuh"

/* Loads samples one by one: for samples that are not aligned, or frames with a partial last
 * unit. */

static __device__ __attribute__ ((noinline)) uint2
load_luma_samples (const uint8_t *row, uint32_t x, uint32_t width)
{
  uint2 unit = { 0, 0 };

#pragma unroll 1
  for (uint32_t i = 0; i < UNIT / 2; i++) {
    unit.x |= (uint32_t) __ldg (row + min (x + i, width - 1)) << 8 * i;
    unit.y |= (uint32_t) __ldg (row + min (x + 4 + i, width - 1)) << 8 * i;
  }
  return unit;
}

/* Loads pairs of samples from @x on; @first and @second: the rows of both planes. */
static __device__ __attribute__ ((noinline)) uint2
load_chroma_samples (const uint8_t *first, const uint8_t *second, uint32_t step, uint32_t x,
                     uint32_t width)
{
  uint32_t words[2] = { 0, 0 };

#pragma unroll 1
  for (uint32_t i = 0; i < 2; i++) {
    size_t at = (size_t) min (x + i, width - 1) * step;
    size_t next = (size_t) min (x + 2 + i, width - 1) * step;

    words[0] |= (__ldg (first + at) | (uint32_t) __ldg (second + at) << 8) << 16 * i;
    words[1] |= (__ldg (first + next) | (uint32_t) __ldg (second + next) << 8) << 16 * i;
  }
  return uint2{ words[0], words[1] };
}

/* Loads the unit of luma at @x in a row. */
template <bool ALIGNED>
static __device__ inline uint2
load_luma (const CclModelTask &task, const uint8_t *row, uint32_t x)
{
  return ALIGNED || task.vectors[0] ? __ldg ((const uint2 *) (row + x))
                                    : load_luma_samples (row, x, task.frame.width);
}

/* Loads the four pairs of chroma samples at @x in row @y. */
template <bool ALIGNED>
static __device__ inline uint2
load_chroma (const CclModelTask &task, uint32_t x, uint32_t y)
{
  const CclModelPlane *planes = task.frame.planes;
  const uint8_t *first = planes[1].samples + y * planes[1].pitch;
  const uint8_t *second = planes[2].samples + y * planes[2].pitch;

  if (ALIGNED || task.vectors[1] == CCL_MODEL_PAIRS)
    return __ldg ((const uint2 *) (first + 2 * (size_t) x));
  if (task.vectors[1] == CCL_MODEL_VECTOR) {
    uint32_t u = __ldg ((const uint32_t *) (first + x));
    uint32_t v = __ldg ((const uint32_t *) (second + x));

    return uint2{ __byte_perm (u, v, 0x5140), __byte_perm (u, v, 0x7362) };
  }
  return load_chroma_samples (first, second, task.frame.step, x, task.frame.chroma_width);
}

/* The position of a thread's unit. */
typedef struct Position
{
  uint32_t x, y;            /* clamped to the frame (M5) */
  bool first, last;         /* whether it is at the left, or the right, border */
  bool above, below, lower; /* whether the row above the pair, its second row, and the row below the
                             * pair are inside the frame */
} Position;

/* Returns the middle row, blurred. @bits: the width of a sample. Called by whole warps. */
static __device__ inline uint2
blur_unit (const Position &position, uint2 above, uint2 middle, uint2 below, uint32_t bits)
{
  uint32_t low = blur4 (above.x, middle.x, below.x);
  uint32_t high = blur4 (above.y, middle.y, below.y);
  uint32_t left = warp_shuffle_up (high, 1), right = warp_shuffle_down (low, 1);

  left = position.first ? low << (32 - bits) : left;
  right = position.last ? high >> (32 - bits) : right;
  return uint2{
    blur4 (__funnelshift_l (left, low, bits), low, __funnelshift_r (low, high, bits)),
    blur4 (__funnelshift_l (low, high, bits), high, __funnelshift_r (high, right, bits)),
  };
}

/* Loads the rows of luma from above the pair to below it. */
template <bool ALIGNED>
static __device__ inline void
load_lumas (const CclModelTask &task, const Position &position, uint2 lumas[4])
{
  const size_t pitch = task.frame.planes[0].pitch;
  const uint8_t *row = task.frame.planes[0].samples + position.y * pitch;
  const uint8_t *second = row + (position.below ? pitch : 0);

  lumas[0] = load_luma<ALIGNED> (task, row - (position.above ? pitch : 0), position.x);
  lumas[1] = load_luma<ALIGNED> (task, row, position.x);
  lumas[2] = load_luma<ALIGNED> (task, second, position.x);
  lumas[3] = load_luma<ALIGNED> (task, second + (position.lower ? pitch : 0), position.x);
}

/* Loads the rows of chroma from above the pair's row to below it. */
template <bool ALIGNED>
static __device__ inline void
load_chromas (const CclModelTask &task, const Position &position, uint2 chromas[3])
{
  const uint32_t x = position.x / 2, y = position.y / 2;

  chromas[0] = load_chroma<ALIGNED> (task, x, y - (y > 0));
  chromas[1] = load_chroma<ALIGNED> (task, x, y);
  chromas[2] = load_chroma<ALIGNED> (task, x, y + (y + 1 < task.frame.chroma_height));
}

/* Returns a row of the background, from the copy that the bit of the row's group in @copies
 * names. */
static __device__ inline uint16_t *
background_row (const CclModelTask &task, uint32_t copies, uint32_t y)
{
  uint32_t copy = copies >> ccl_motion_group (y) & 1;

  return (copy ? task.state.background[1] : task.state.background[0]) + y * task.state.pitch;
}

/* Returns the background of a row before the frame; rows that learn write the other copy (M1). */
static __device__ inline const uint16_t *
old_row (const CclModelTask &task, uint32_t y)
{
  return background_row (task, task.newest, y);
}

static __device__ inline uint4
load_old (const CclModelTask &task, uint32_t x, uint32_t y)
{
  return *(const uint4 *) (old_row (task, y) + x);
}

static __device__ inline uint4 *
chroma_at (const CclModelTask &task, uint32_t x, uint32_t y)
{
  return (uint4 *) (task.state.chroma + y * (task.state.pitch / 2) + x);
}

#endif
