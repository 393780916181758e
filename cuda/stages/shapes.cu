/* cudaccl - CUDA backend: shapes of components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A thread for each pixel of the label map; only pixels on an outline read more than their direct
 * neighbours. A warp adds up what its pixels have of the same component. */

#include "cuda/device/launch.cuh"
#include "cuda/device/warp.cuh"
#include "cuda/tables/shape.h"

#include <cudaccl/ccl.h>

#define SHAPES_WIDE WARP_LANES /* of a thread block */
#define SHAPES_HIGH 8

/* 0 outside the frame; coordinates may have wrapped below 0. */
static __device__ inline uint32_t
label_at (const CclShapeFrame &f, uint32_t x, uint32_t y)
{
  return x < f.width && y < f.height ? f.labels[(size_t) y * f.width + x] : 0;
}

/* The sides of a pixel of component @label on its outline. */
static __device__ inline uint32_t
open_sides (const CclShapeFrame &f, uint32_t x, uint32_t y, uint32_t label)
{
  return (label_at (f, x - 1, y) != label) + (label_at (f, x + 1, y) != label) +
         (label_at (f, x, y - 1) != label) + (label_at (f, x, y + 1) != label);
}

static __device__ inline uint32_t
on_border (const CclShapeFrame &f, uint32_t x, uint32_t y, uint32_t label)
{
  return label_at (f, x, y) == label && open_sides (f, x, y, label) > 0 ? 1 : 0;
}

/* Runs that begin at a pixel, less contacts with runs of the row above that begin here. */
static __device__ inline int32_t
euler_share (const CclShapeFrame &f, uint32_t x, uint32_t y, uint32_t label)
{
  bool left = label_at (f, x - 1, y) == label, above = label_at (f, x, y - 1) == label;
  bool corner = label_at (f, x - 1, y - 1) == label;
  int32_t share = left ? 0 : 1;

  if (above)
    return share - (left && corner ? 0 : 1);
  if (f.connectivity == 8) {
    share -= !left && corner;
    share -= label_at (f, x + 1, y) != label && label_at (f, x + 1, y - 1) == label;
  }
  return share;
}

/* Counts packed into a word, 12 bits each, which hold the sums of a warp. The Euler number's share
 * has 2 added, for it is negative at times. */
#define COUNT_BITS 12
#define EULER_BIAS 2

static __device__ inline uint64_t
packed_counts (const CclShapeFrame &f, uint32_t x, uint32_t y, uint32_t label)
{
  uint64_t counts = EULER_BIAS;
  uint32_t edges, sides, corners;

  if (f.wanted & CCL_SHAPES_TOPOLOGY)
    counts = (uint64_t) (EULER_BIAS + euler_share (f, x, y, label));
  if (!(f.wanted & CCL_SHAPES_PERIMETER))
    return counts;
  edges = open_sides (f, x, y, label);
  if (edges == 0)
    return counts;
  sides = on_border (f, x - 1, y, label) + on_border (f, x + 1, y, label) +
          on_border (f, x, y - 1, label) + on_border (f, x, y + 1, label);
  corners = on_border (f, x - 1, y - 1, label) + on_border (f, x + 1, y - 1, label) +
            on_border (f, x - 1, y + 1, label) + on_border (f, x + 1, y + 1, label);
  counts |= (uint64_t) edges << COUNT_BITS;
  if ((sides == 2 || sides == 3) && corners <= 2)
    counts |= (uint64_t) 1 << 2 * COUNT_BITS;
  else if ((sides == 0 && corners == 2) || (sides == 1 && corners == 3))
    counts |= (uint64_t) 1 << 3 * COUNT_BITS;
  else if (sides == 1 && (corners == 1 || corners == 2))
    counts |= (uint64_t) 1 << 4 * COUNT_BITS;
  return counts;
}

static __device__ inline uint32_t
count_of (uint64_t counts, uint32_t i)
{
  return (uint32_t) (counts >> i * COUNT_BITS) & ((1u << COUNT_BITS) - 1);
}

/* Adds the sums over @pixels pixels of a warp, by one lane. */
static __device__ inline void
add_counts (CclCudaShape *sums, uint64_t counts, uint32_t pixels)
{
  int32_t euler = (int32_t) count_of (counts, 0) - (int32_t) (EULER_BIAS * pixels);

  if (euler != 0)
    atomicAdd (&sums->euler, (unsigned long long) (int64_t) euler);
  if (count_of (counts, 1) > 0)
    atomicAdd (&sums->edges, (unsigned long long) count_of (counts, 1));
  if (count_of (counts, 2) > 0)
    atomicAdd (&sums->straight, count_of (counts, 2));
  if (count_of (counts, 3) > 0)
    atomicAdd (&sums->diagonal, count_of (counts, 3));
  if (count_of (counts, 4) > 0)
    atomicAdd (&sums->turning, count_of (counts, 4));
}

static __global__ void
sum_shapes (CclShapeFrame f, CclCudaShape *sums)
{
  uint32_t columns = (f.width - 1) / SHAPES_WIDE + 1, row = blockIdx.x / columns;
  uint32_t x = (blockIdx.x - row * columns) * SHAPES_WIDE + threadIdx.x;
  uint32_t y = row * SHAPES_HIGH + threadIdx.y, label = label_at (f, x, y);
  uint32_t todo = __ballot_sync (ALL_LANES, label > 0), value = 0;
  uint64_t counts = 0;

  if (label > 0) {
    counts = packed_counts (f, x, y, label);
    if (f.wanted & CCL_SHAPES_LUMA)
      value = f.luma[(size_t) y * f.pitch + x];
  }
  while (todo) {
    uint32_t first = (uint32_t) __ffs ((int) todo) - 1;
    bool mine = label == __shfl_sync (ALL_LANES, label, (int) first);
    uint32_t pixels = __ballot_sync (ALL_LANES, mine);
    uint64_t sum = mine ? counts : 0;
    uint32_t luma = mine ? value : 0, dark = mine ? 255 - value : 0, bright = luma;

    for (int step = WARP_LANES / 2; step > 0; step /= 2) {
      sum += __shfl_xor_sync (ALL_LANES, (unsigned long long) sum, step);
      if (f.wanted & CCL_SHAPES_LUMA) {
        luma += __shfl_xor_sync (ALL_LANES, luma, step);
        dark = max (dark, __shfl_xor_sync (ALL_LANES, dark, step));
        bright = max (bright, __shfl_xor_sync (ALL_LANES, bright, step));
      }
    }
    if (threadIdx.x == first) {
      add_counts (&sums[label - 1], sum, (uint32_t) __popc (pixels));
      if (f.wanted & CCL_SHAPES_LUMA) {
        atomicAdd (&sums[label - 1].luma, (unsigned long long) luma);
        atomicMax (&sums[label - 1].darkness, dark);
        atomicMax (&sums[label - 1].brightness, bright);
      }
    }
    todo &= ~pixels;
  }
}

extern "C" cudaError_t
ccl_cuda_sum_shapes (const CclShapeFrame *frame, CclCudaShape *sums, cudaStream_t stream)
{
  uint32_t columns = (frame->width - 1) / SHAPES_WIDE + 1;
  uint32_t rows = (frame->height - 1) / SHAPES_HIGH + 1;

  return launch (sum_shapes, columns * rows, dim3 (SHAPES_WIDE, SHAPES_HIGH), 0, stream, *frame,
                 sums);
}
