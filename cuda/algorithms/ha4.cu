/* cudaccl - CUDA backend: HA4, two pixels a thread
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Paper 000 in the version of its section IV-E. */

#define HA4_BLOCK 64
#define HA4_ON_THE_FLY false
#define HA4_CONFLICT_DETECTION false

#include "cuda/algorithms/ha4_features.cuh"
#include "cuda/device/label_map.cuh"

extern "C" cudaError_t
ccl_cuda_ha4 (const CclCudaFrame *f, cudaStream_t stream)
{
  return ha4_analyse (f, stream);
}

#define PAINT_BLOCKS 4 /* at a time, so that a lane waits for several labels at once */

/* The number of the run that starts with this lane's pixel of a block; 0 if none does. */
static __device__ inline uint32_t
number_of_run (const CclCudaFrame &f, uint32_t y, uint32_t base, Ha4Pixels pixels)
{
  int x = candidate (pixels);

  return is_start (pixels, x) ? number_of (f, y * f.slots + (base + x) / 2) : 0;
}

/* Algorithm 5, lines 9 and 10: paints a block, given the number of the run that starts with this
 * lane's pixel. */
static __device__ inline void
paint_block (const CclCudaFrame &f, uint32_t y, uint32_t base, Ha4Pixels pixels, uint32_t number)
{
  for (int x = (int) lane_id (); x < HA4_BLOCK; x += WARP_LANES) {
    int start = x - start_distance (pixels, x);
    uint32_t of_run = __shfl_sync (ALL_LANES, number, start / HA4_PIXELS_PER_LANE);

    paint_pixel (f, base + x, y, pixels >> x & 1 ? of_run : 0);
  }
}

/* The label map (algorithm 5), of every version: a run has a label where it starts in each block of
 * 64 pixels, at least. */
static __global__ void
paint (CclCudaFrame f)
{
  uint32_t chunks = (f.width - 1) / HA4_CHUNK + 1;
  size_t index = (size_t) blockIdx.x * blockDim.y + threadIdx.y;
  uint32_t y = (uint32_t) (index / chunks);
  uint32_t first = (uint32_t) (index - (size_t) y * chunks) * HA4_CHUNK;
  Ha4Pixels pixels;

  if (y >= f.height)
    return;
  pixels = load_own_pixels (f, y, first + lane_id () * HA4_BLOCK);
  for (uint32_t i = 0; i < WARP_LANES && first + i * HA4_BLOCK < f.width; i += PAINT_BLOCKS) {
    uint32_t base = first + i * HA4_BLOCK, numbers[PAINT_BLOCKS];

#pragma unroll
    for (uint32_t k = 0; k < PAINT_BLOCKS; k++)
      numbers[k] = number_of_run (f, y, base + k * HA4_BLOCK, shuffle_pixels (pixels, i + k));
#pragma unroll
    for (uint32_t k = 0; k < PAINT_BLOCKS; k++)
      paint_block (f, y, base + k * HA4_BLOCK, shuffle_pixels (pixels, i + k), numbers[k]);
  }
}

extern "C" cudaError_t
ccl_cuda_ha4_paint (const CclCudaFrame *f, cudaStream_t stream)
{
  unsigned grid = ha4_grid (f->height * (size_t) ((f->width - 1) / HA4_CHUNK + 1));

  paint<<<grid, dim3 (WARP_LANES, HA4_STRIP), 0, stream>>> (*f);
  return cudaGetLastError ();
}
