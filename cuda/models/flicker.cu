/* cudaccl - CUDA backend: background models in the light of lamps that flicker
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* See engine/motion/flicker.h. While lamps flicker, these kernels are launched before all others of
 * a frame; in few frames, one more shifts the background (drift.cu). Rows are divided by their
 * gains when the frame is copied: see shake.cu. */

#include "cuda/device/launch.cuh"
#include "cuda/device/warp.cuh"
#include "cuda/models/light.cuh"

#define LANE_RATIOS (CCL_FLICKER_RATIOS / WARP_LANES)

static_assert (CCL_FLICKER_RATIOS % WARP_LANES == 0, "lanes have as many ratios");

typedef struct Measured
{
  uint32_t counts[CCL_FLICKER_RATIOS];
  uint32_t pixels, explained, value, background;
  int median;
} Measured;

/* Sets the number of pixels, and the lowest ratio that at least half of them do not exceed; -1
 * without any. Called by the first warp. */
static __device__ inline void
find_median (Measured &shared)
{
  const uint32_t first = lane_id () * LANE_RATIOS;
  uint32_t sum = 0, below, pixels, lanes;

#pragma unroll
  for (uint32_t i = 0; i < LANE_RATIOS; i++)
    sum += shared.counts[first + i];
  below = warp_scan (sum);
  pixels = warp_shuffle (below, WARP_LANES - 1);
  lanes = __ballot_sync (ALL_LANES, pixels > 0 && 2 * below >= pixels);
  if (lane_id () == 0) {
    shared.pixels = pixels;
    if (!lanes)
      shared.median = -1;
  }
  if (lanes && lane_id () == (uint32_t) __ffs ((int) lanes) - 1) {
    int median = (int) first;

    below = below - sum + shared.counts[median];
    while (2 * below < pixels)
      below += shared.counts[++median];
    shared.median = median;
  }
}

/* Sets the sums of a slice. A block has a slice. */
static __global__ void
__launch_bounds__ (LIGHT_THREADS) motion_measure_flicker (const CclModelTask task)
{
  __shared__ Measured shared;
  const Plane luma = plane_of (task, 0);
  const uint32_t rows = ccl_flicker_rows (luma.height), top = blockIdx.x * rows;
  const uint32_t down = ccl_flicker_step (rows, CCL_FLICKER_LINES);
  const uint32_t across = ccl_flicker_step (luma.width, CCL_FLICKER_COLUMNS);
  const uint32_t columns = (luma.width - 1) / across + 1;
  const uint32_t lines = (min (rows, luma.height - top) - 1) / down + 1;
  const uint32_t thread = threadIdx.x;
  uint32_t explained = 0, values = 0, backgrounds = 0;

  for (uint32_t i = thread; i < CCL_FLICKER_RATIOS; i += LIGHT_THREADS)
    shared.counts[i] = 0;
  if (thread == 0)
    shared.explained = shared.value = shared.background = 0;
  __syncthreads ();
#pragma unroll 1
  for (uint32_t i = thread; i < lines * columns; i += LIGHT_THREADS) {
    const uint32_t x = i % columns * across, y = top + i / columns * down;
    const int value = __ldg (luma.plane.samples + y * luma.plane.pitch + x);
    const int background = background_row (task, y)[x];

    if (ccl_flicker_counts (background))
      atomicAdd (&shared.counts[ccl_flicker_ratio (value, background)], 1u);
  }
  __syncthreads ();
  if (thread < WARP_LANES)
    find_median (shared);
  __syncthreads ();
#pragma unroll 1
  for (uint32_t i = thread; shared.median >= 0 && i < lines * columns; i += LIGHT_THREADS) {
    const uint32_t x = i % columns * across, y = top + i / columns * down;
    const int value = __ldg (luma.plane.samples + y * luma.plane.pitch + x);
    const int background = background_row (task, y)[x];

    if (!ccl_flicker_counts (background) ||
        !ccl_flicker_explains (&task.step, value, background, shared.median))
      continue;
    values += (uint32_t) value * CCL_MOTION_ONE;
    backgrounds += (uint32_t) background;
    explained++;
  }
  explained = warp_sum (explained);
  values = warp_sum (values);
  backgrounds = warp_sum (backgrounds);
  if (lane_id () == 0) {
    atomicAdd (&shared.explained, explained);
    atomicAdd (&shared.value, values);
    atomicAdd (&shared.background, backgrounds);
  }
  __syncthreads ();
  if (thread == 0) {
    const bool known = ccl_flicker_knows (shared.pixels, shared.explained, shared.median);

    task.flicker->slices[blockIdx.x] =
        known ? CclFlickerSlice{ shared.value, shared.background } : CclFlickerSlice{ 0, 0 };
  }
}

/* Sets means and factors, and the drift if the background gets the light. Called by one block, a
 * thread for each slice. */
static __global__ void
__launch_bounds__ (CCL_FLICKER_SLICES) motion_find_flicker (const CclModelTask task)
{
  __shared__ uint32_t sum;
  const int n = (int) ccl_flicker_slices (task.frame.height), slice = (int) threadIdx.x;
  const bool rebases = ccl_flicker_rebases (&task.step);
  bool flickers = false;
  int n_flickers, light;

  if (slice == 0)
    sum = 0;
  __syncthreads ();
  if (slice < n) {
    flickers = ccl_flicker_set (task.flicker, &task.step, n, slice);
    atomicAdd (&sum, (uint32_t) task.flicker->means[slice]);
  }
  n_flickers = __syncthreads_count (flickers);
  light = ccl_flicker_light (sum, n);
  if (slice == 0) {
    task.state.seen->flickers = ccl_flicker_is (n_flickers, n);
    task.state.seen->far = !rebases && ccl_flicker_far (light);
  }
  if (!rebases)
    return;
  if (slice < n)
    ccl_flicker_rebase (task.flicker, &task.step, light, slice);
  for (int level = slice; level < 256; level += CCL_FLICKER_SLICES)
    ccl_flicker_drift (task.drift.drift, light, level);
  if (slice == 0)
    *task.drift.any = 1;
}

cudaError_t
ccl_cuda_model_find_flicker (const CclModelTask *task, cudaStream_t stream)
{
  cudaError_t error = launch (motion_measure_flicker, ccl_flicker_slices (task->frame.height),
                              LIGHT_THREADS, 0, stream, *task);

  if (error == cudaSuccess)
    error = launch (motion_find_flicker, 1, CCL_FLICKER_SLICES, 0, stream, *task);
  if (error == cudaSuccess && ccl_flicker_rebases (&task->step))
    error = ccl_cuda_model_shift (task, stream);
  return error;
}
