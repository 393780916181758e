/* cudaccl - CUDA backend: which neighbours have the same class
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/device/classes.cuh"
#include "cuda/device/launch.cuh"
#include "cuda/device/warp.cuh"

#define CLASS_WARPS 8 /* of a block */
#define CLASS_ROWS 8  /* that a warp takes, one below the other */
#define GATHER_THREADS 256

/* A lane for each of 32 pixels, and for the pixels below. Lanes get their left neighbours' values
 * from each other; the first one reads its own. */
template <unsigned size>
static __device__ inline uint32_t
left_value (const CclClassFrame &f, uint32_t value, uint32_t x, uint32_t y)
{
  uint32_t left = __shfl_up_sync (ALL_LANES, value, 1);

  return lane_id () == 0 ? class_value<size> (f, x - 1, y) : left;
}

template <unsigned size>
static __global__ void
__launch_bounds__ (CLASS_WARPS *WARP_LANES)
    classes_find (CclClassFrame f, uint32_t *to, size_t pitch)
{
  uint32_t words = (f.width - 1) / WARP_LANES + 1;
  size_t index = (size_t) blockIdx.x * CLASS_WARPS + threadIdx.y;
  uint32_t band = (uint32_t) (index / words), word = (uint32_t) (index - (size_t) band * words);
  uint32_t x = word * WARP_LANES + lane_id (), y = band * CLASS_ROWS;
  uint32_t end = f.height - y < CLASS_ROWS ? f.height : y + CLASS_ROWS, above, above_left;

  if (band > (f.height - 1) / CLASS_ROWS)
    return;
  above = class_value<size> (f, x, y - 1);
  above_left = left_value<size> (f, above, x, y - 1);
  for (; y < end; y++) {
    uint32_t here = class_value<size> (f, x, y), left = left_value<size> (f, here, x, y);
    uint32_t planes[CCL_CLASS_PLANES];

    planes[CCL_CLASS_PIXELS] = __ballot_sync (ALL_LANES, here != 0);
    planes[CCL_CLASS_LEFT] = __ballot_sync (ALL_LANES, here != 0 && here == left);
    planes[CCL_CLASS_UP] = __ballot_sync (ALL_LANES, here != 0 && here == above);
    planes[CCL_CLASS_FALL] = __ballot_sync (ALL_LANES, here != 0 && here == above_left);
    planes[CCL_CLASS_RISE] = __ballot_sync (ALL_LANES, left != 0 && left == above);
#pragma unroll
    for (uint32_t i = 0; i < CCL_CLASS_PLANES; i++)
      if (lane_id () == i)
        to[((size_t) i * f.height + y) * pitch + word] = planes[i];
    above = here;
    above_left = left;
  }
}

/* A thread for each component. */
static __global__ void
classes_gather (CclClassFrame f, const CclComponent *components, uint32_t count, uint16_t *values)
{
  uint32_t i = blockIdx.x * GATHER_THREADS + threadIdx.x;

  if (i < count)
    values[i] = (uint16_t) class_number (f, components[i].first_x, components[i].y);
}

extern "C" cudaError_t
ccl_cuda_find_classes (const CclClassFrame *f, uint32_t *to, size_t pitch, cudaStream_t stream)
{
  size_t warps = (size_t) ((f->width - 1) / WARP_LANES + 1) * ((f->height - 1) / CLASS_ROWS + 1);

  auto kernel = f->size == 4 ? classes_find<4> : f->size == 2 ? classes_find<2> : classes_find<1>;

  return launch (kernel, warp_grid (warps, CLASS_WARPS), dim3 (WARP_LANES, CLASS_WARPS), 0, stream,
                 *f, to, pitch);
}

extern "C" cudaError_t
ccl_cuda_gather_values (const CclClassFrame *f, const CclComponent *components, uint32_t count,
                        uint16_t *values, cudaStream_t stream)
{
  return launch (classes_gather, (count - 1) / GATHER_THREADS + 1, GATHER_THREADS, 0, stream, *f,
                 components, count, values);
}
