/* cudaccl - CUDA backend: background models, shadows
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_MODELS_SHADOW_CUH
#define CCL_CUDA_MODELS_SHADOW_CUH

#include "cuda/models/block.cuh"
#include "cuda/models/load.cuh"

/* Appends the shaded pixels of a warp's rows to Shared.shaded. Called by whole warps. */
static __device__ inline void
append_shaded (Shared &shared, const uint32_t shaded[2], uint32_t row)
{
  uint32_t left = shaded[0] | shaded[1] << UNIT, n = (uint32_t) __popc (left);
  uint32_t end = warp_scan (n), base = 0;

  if (lane_id () == WARP_LANES - 1)
    base = atomicAdd (&shared.n_shaded, end);
  base = warp_shuffle (base, WARP_LANES - 1) + end - n;
  for (; left; left &= left - 1) {
    uint32_t bit = (uint32_t) __ffs ((int) left) - 1;

    shared.shaded[base++] =
        (uint16_t) ((row + HALO + bit / UNIT) * SHARED_PITCH + lane_id () * UNIT + bit % UNIT);
  }
}

/* Whether the pixel at @index of Shared.blurred is in shadow. (@left, @top): the position of its
 * first pixel in the frame. */
static __device__ inline bool
is_shadow (const CclModelTask &task, const Shared &shared, uint32_t index, uint32_t left,
           uint32_t top)
{
  const uint32_t x = left + index % SHARED_PITCH, y = top + index / SHARED_PITCH;
  const uint32_t xs[3] = { max (x, (uint32_t) HALO) - HALO, x,
                           min (x + HALO, task.frame.width - 1) };
  const uint32_t ys[3] = { max (y, (uint32_t) HALO) - HALO, y,
                           min (y + HALO, task.frame.height - 1) };
  int values[CCL_MOTION_SHADOW_PIXELS], backgrounds[CCL_MOTION_SHADOW_PIXELS];

#pragma unroll
  for (int v = 0; v < 3; v++) {
    const uint8_t *blurred = (const uint8_t *) shared.blurred[ys[v] - top];
    const uint16_t *row = (const uint16_t *) shared.backgrounds[ys[v] - top];

#pragma unroll
    for (int u = 0; u < 3; u++) {
      values[3 * v + u] = blurred[xs[u] - left];
      backgrounds[3 * v + u] = row[xs[u] - left];
    }
  }
  return ccl_motion_keeps_texture (&task.step, values, backgrounds);
}

/* Finds which of the @shaded pixels of a warp's rows are in shadow. If any thread of the block has
 * such pixels, all call this, after a barrier. */
template <bool ALIGNED>
static __device__ inline void
find_shadows (const CclModelTask &task, const Position &position, Shared &shared,
              const uint2 values[2], const uint4 olds[2], const uint32_t shaded[2], uint32_t left,
              uint32_t top, uint32_t shadows[2])
{
  const uint32_t warp = threadIdx.x / WARP_LANES, lane = lane_id (), row = 2 * warp;
  const uint32_t halo = warp < HALO ? warp : warp + BLOCK_ROWS, last = task.frame.height - 1;
  /* rows above the frame have wrapped; nothing reads the halo outside the frame */
  const uint32_t y = min (top + halo, last);
  const size_t pitch = task.frame.planes[0].pitch;
  const uint8_t *pixels = task.frame.planes[0].samples + y * pitch;

  shared.backgrounds[halo][lane] = load_old (task, position.x, y);
  shared.blurred[row + HALO][lane] = values[0];
  shared.blurred[row + HALO + 1][lane] = values[1];
  shared.backgrounds[row + HALO][lane] = olds[0];
  shared.backgrounds[row + HALO + 1][lane] = olds[1];
  shared.blurred[halo][lane] =
      blur_unit (position, load_luma<ALIGNED> (task, pixels - (y > 0 ? pitch : 0), position.x),
                 load_luma<ALIGNED> (task, pixels, position.x),
                 load_luma<ALIGNED> (task, pixels + (y < last ? pitch : 0), position.x), 8);
  append_shaded (shared, shaded, row);
  __syncthreads ();
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < shared.n_shaded; i += BLOCK_THREADS) {
    uint32_t index = shared.shaded[i], pixel = index - HALO * SHARED_PITCH;

    if (is_shadow (task, shared, index, left, top))
      atomicOr ((uint32_t *) shared.shadows + pixel / 32, 1u << pixel % 32);
  }
  __syncthreads ();
  shadows[0] = shared.shadows[row][lane];
  shadows[1] = shared.shadows[row + 1][lane];
}

#endif
