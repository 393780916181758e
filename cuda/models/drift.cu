/* cudaccl - CUDA backend: background models, brightness that drifts
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* See engine/motion/drift.h. These kernels are launched before a frame's own, in frames whose
 * brightness is not what it was; the last one also for flicker.cu. */

#include "cuda/device/launch.cuh"
#include "cuda/device/warp.cuh"
#include "cuda/models/light.cuh"

#define COUNTERS (CCL_DRIFT_RANGES * CCL_LIGHT_BINS)
#define MOST_BLOCKS 128 /* that count */

static_assert (CCL_LIGHT_BINS == WARP_LANES, "a lane for each bin");

/* Adds to the counters, which are 0 before the first block. */
static __global__ void
__launch_bounds__ (LIGHT_THREADS) motion_count_drift (const CclModelTask task)
{
  __shared__ uint32_t counters[COUNTERS];
  const Plane luma = plane_of (task, 0);

  for (uint32_t i = threadIdx.x; i < COUNTERS; i += LIGHT_THREADS)
    counters[i] = 0;
  __syncthreads ();
#pragma unroll 1
  for (uint32_t y = blockIdx.x * CCL_DRIFT_STEP; y < luma.height; y += gridDim.x * CCL_DRIFT_STEP) {
    const uint16_t *background = background_row (task, y);

#pragma unroll 1
    for (uint32_t x = threadIdx.x * CCL_DRIFT_STEP; x < luma.width;
         x += LIGHT_THREADS * CCL_DRIFT_STEP)
      atomicAdd (&counters[ccl_drift_counter (blur_at (luma, x, y), background[x])], 1u);
  }
  __syncthreads ();
  for (uint32_t i = threadIdx.x; i < COUNTERS; i += LIGHT_THREADS) {
    if (counters[i] > 0)
      atomicAdd (task.drift.counters + i, counters[i]);
  }
}

/* Sets the drift. Called by one warp. */
static __global__ void
__launch_bounds__ (WARP_LANES) motion_find_drift (const CclModelTask task)
{
  __shared__ CclDriftBin bins[CCL_LIGHT_BINS];
  __shared__ int shifts[CCL_LIGHT_BINS];
  const int bin = (int) lane_id ();
  uint32_t pixels, known;
  int gain;

  bins[bin] = ccl_drift_bin (task.drift.counters, bin);
  pixels = warp_sum (bins[bin].pixels);
  known = __ballot_sync (ALL_LANES, ccl_drift_knows (&bins[bin], pixels));
  __syncwarp ();
  shifts[bin] = known >> bin & 1 ? ccl_drift_smooth (bins, known, bin) : 0;
  __syncwarp ();
  if (bin == 0) {
    task.state.seen->levels = ccl_drift_levels (bins, known);
    *task.drift.any = ccl_drift_is (bins, known, shifts);
  }
  if (!known)
    return;
  gain = ccl_drift_gain (bins, shifts, known);
#pragma unroll 1
  for (int level = bin; level < 256; level += WARP_LANES)
    ccl_drift_set (task.drift.drift, level, shifts, known, gain);
}

/* Shifts the background, the candidates and the former backgrounds. A thread has two pixels of two
 * rows, which share a sample of chroma. */
static __global__ void
__launch_bounds__ (LIGHT_THREADS) motion_shift (const CclModelTask task)
{
  __shared__ CclDrift drift;
  const uint32_t width = task.frame.width, height = task.frame.height;
  const uint32_t top = blockIdx.x * 2;

  if (!*task.drift.any)
    return;
  for (uint32_t i = threadIdx.x; i < 256; i += LIGHT_THREADS) {
    drift.shifts[i] = task.drift.drift->shifts[i];
    drift.gains[i] = task.drift.drift->gains[i];
  }
  __syncthreads ();
#pragma unroll 1
  for (uint32_t left = threadIdx.x * 2; left < width; left += 2 * LIGHT_THREADS) {
    if (task.frame.chroma_width > 0) {
      const int background = background_row (task, top)[left];
      uint32_t *pair = chroma_at (task, left / 2, top / 2);

      *pair = (uint32_t) ccl_drift_chroma (&drift, (int) (*pair & 0xffff), background) |
              (uint32_t) ccl_drift_chroma (&drift, (int) (*pair >> 16), background) << 16;
    }
    for (uint32_t y = top; y < height && y < top + 2; y++) {
      for (uint32_t x = left; x < width && x < left + 2; x++) {
        uint16_t *background = background_row (task, y) + x;
        const size_t at = y * task.state.pitch + x;
        uint8_t *candidate = task.state.candidates + at, *former = task.state.formers + at;

        store_background (background, x, width,
                          (uint16_t) ccl_drift_background (&drift, *background));
        *candidate = (uint8_t) ccl_drift_candidate (&drift, *candidate);
        *former = (uint8_t) ccl_drift_candidate (&drift, *former);
      }
    }
  }
}

cudaError_t
ccl_cuda_model_shift (const CclModelTask *task, cudaStream_t stream)
{
  return launch (motion_shift, (task->frame.height - 1) / 2 + 1, LIGHT_THREADS, 0, stream, *task);
}

cudaError_t
ccl_cuda_model_follow_drift (const CclModelTask *task, cudaStream_t stream)
{
  const uint32_t rows = (task->frame.height - 1) / CCL_DRIFT_STEP + 1;
  cudaError_t error = CCL_CUDA (cudaMemsetAsync, task->drift.counters, 0,
                                COUNTERS * sizeof *task->drift.counters, stream);

  if (error == cudaSuccess)
    error = launch (motion_count_drift, rows < MOST_BLOCKS ? rows : MOST_BLOCKS, LIGHT_THREADS, 0,
                    stream, *task);
  if (error == cudaSuccess)
    error = launch (motion_find_drift, 1, WARP_LANES, 0, stream, *task);
  if (error == cudaSuccess)
    error = ccl_cuda_model_shift (task, stream);
  return error;
}
