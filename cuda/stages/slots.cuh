/* cudaccl - CUDA backend: how warps share the slots of a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_SLOTS_CUH
#define CCL_CUDA_SLOTS_CUH

#include "cuda/stages/stages.h"
#include "cuda/device/warp.cuh"

/* The slots of a frame, as kernels take them. */
struct Slots
{
  uint32_t height; /* rows of the frame */
  uint32_t pitch;  /* slots of a row */
  uint32_t parts;  /* of a row */
  const uint32_t *runs;
};

/* A warp's share: part of the slots of one row. Parts are numbered row by row, from left to
 * right. */
struct Part
{
  uint32_t y;
  size_t index;      /* of the part in the frame */
  uint32_t row;      /* label of the row's first slot */
  uint32_t from, to; /* slots; @from is a multiple of the warp's size */
};

/* Gets the part of the calling warp; returns false if there is none. */
static __device__ inline bool
get_part (const Slots &s, Part *part)
{
  size_t index = (size_t) blockIdx.x * blockDim.y + threadIdx.y;
  uint32_t runs, share, p;

  if (index >= (size_t) s.height * s.parts)
    return false;
  part->index = index;
  part->y = (uint32_t) (index / s.parts);
  p = (uint32_t) (index - (size_t) part->y * s.parts);
  runs = s.runs ? s.runs[part->y] : s.pitch;
  share = ((runs + s.parts - 1) / s.parts + WARP_LANES - 1) / WARP_LANES * WARP_LANES;
  part->row = part->y * s.pitch;
  part->from = min (p * share, runs);
  part->to = min (part->from + share, runs);
  return true;
}

#define PART_WARPS 4

static inline Slots
slots_of (const CclCudaWork *work)
{
  return Slots{ work->frame.height, work->components.slots, work->slots.parts, work->slots.runs };
}

/* The grid and the block of kernels that call get_part(). */
static inline unsigned
part_grid (const CclCudaWork *work)
{
  return (unsigned) (((size_t) work->frame.height * work->slots.parts + PART_WARPS - 1) /
                     PART_WARPS);
}

static inline dim3
part_block (void)
{
  return dim3 (WARP_LANES, PART_WARPS);
}

#endif
