/* cudaccl - CUDA backend: where the runs of two rows touch
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_ROWS_CUH
#define CCL_CUDA_ROWS_CUH

#include <stdint.h>

/* Up to 64 pixels of two rows, one above the other (or of two columns, side by side). */
struct Rows
{
  uint64_t current, above;
  bool current_before, above_before; /* the pixels left of them */
};

/* Where runs of the two rows begin to touch, one bit for each pair of runs. A bit stands for its
 * pixel and the one above; where one of these is not set, for the left neighbour of that one. So of
 * two pixels that touch only diagonally, the right one sees the other, and pixels right of the rows
 * are not needed. @left and @above_left: the left neighbours of the pixels. */
static __device__ inline uint64_t
touching_pixels (uint32_t connectivity, uint64_t current, uint64_t left, uint64_t above,
                 uint64_t above_left)
{
  uint64_t starts = current & above & ~(left & above_left);

  if (connectivity == 8)
    starts |= (current & ~left & above_left & ~above) | (above & ~above_left & left & ~current);
  return starts;
}

static __device__ inline uint64_t
touching (uint32_t connectivity, const Rows &r)
{
  return touching_pixels (connectivity, r.current, r.current << 1 | r.current_before, r.above,
                          r.above << 1 | r.above_before);
}

/* The number of @starts up to and including bit @x; 0 for @x = -1, before the first bit. */
static __device__ inline uint32_t
starts_to (uint32_t starts, int x)
{
  return x < 0 ? 0 : __popc (starts & (uint32_t) ((2ull << x) - 1));
}

#endif
