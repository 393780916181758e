/* cudaccl - CUDA backend: background models, changes of light
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* See engine/motion/light.h. These kernels are launched before a frame's own, in the few frames
 * that search for a change of light, and need no speed. A block processes a tile. */

#include "cuda/device/launch.cuh"
#include "cuda/device/warp.cuh"
#include "cuda/models/light.cuh"

#define TILE_PIXELS (CCL_LIGHT_TILE * CCL_LIGHT_TILE)
#define THREAD_PIXELS (TILE_PIXELS / LIGHT_THREADS)

static_assert (CCL_LIGHT_BINS == WARP_LANES, "a lane for each bin");

static __device__ inline bool
chroma_differs (const CclModelTask &task, uint32_t x, uint32_t y)
{
  const uint32_t background = *chroma_at (task, x, y);

  return ccl_motion_chroma_differs (&task.step, blur_at (plane_of (task, 1), x, y),
                                    blur_at (plane_of (task, 2), x, y), background & 0xffff,
                                    background >> 16);
}

typedef struct Measured
{
  uint32_t counts[CCL_LIGHT_LEVELS][CCL_LIGHT_BINS]; /* a bin's are in one bank */
  CclLightCount count;
  uint8_t medians[CCL_LIGHT_BINS], curve[CCL_LIGHT_BINS];
  uint32_t known, flags;
} Measured;

/* Sets the medians, and the curve if there is any. Called by the first warp. */
static __device__ inline void
find_curve (Measured &shared)
{
  const uint32_t bin = lane_id ();
  uint32_t pixels = 0, level = 0, sum = shared.counts[0][bin], all, known;

#pragma unroll 1
  for (uint32_t i = 0; i < CCL_LIGHT_LEVELS; i++)
    pixels += shared.counts[i][bin];
  while (2 * sum < pixels)
    sum += shared.counts[++level][bin];
  all = warp_sum (pixels);
  known = __ballot_sync (ALL_LANES, pixels >= ccl_light_least (all));
  shared.count.bins[bin] = pixels;
  shared.medians[bin] = (uint8_t) (2 * level + 1);
  if (bin == 0) {
    shared.count.pixels = all;
    shared.known = known;
  }
  __syncwarp ();
  if (known)
    shared.curve[bin] = ccl_light_level (shared.medians, known, (int) bin);
}

/* Sets a tile, and adds it to the total, which is 0 before the first one. */
static __global__ void
__launch_bounds__ (LIGHT_THREADS) motion_measure (const CclModelTask task)
{
  __shared__ Measured shared;
  const Plane luma = plane_of (task, 0);
  const uint32_t row = blockIdx.x / task.light.columns;
  const uint32_t left = (blockIdx.x - row * task.light.columns) * CCL_LIGHT_TILE;
  const uint32_t top = row * CCL_LIGHT_TILE;
  const uint32_t thread = threadIdx.x;
  CclLightTile *tile = task.light.tiles + blockIdx.x;
  CclLightTotal *total = task.light.total;
  int values[THREAD_PIXELS], backgrounds[THREAD_PIXELS];
  uint32_t explained = 0, changed = 0;

  for (uint32_t i = thread; i < CCL_LIGHT_LEVELS * CCL_LIGHT_BINS; i += LIGHT_THREADS)
    shared.counts[i / CCL_LIGHT_BINS][i % CCL_LIGHT_BINS] = 0;
  if (thread == 0)
    shared.count.explained = shared.count.changed = shared.flags = 0;
  __syncthreads ();
#pragma unroll
  for (uint32_t i = 0; i < THREAD_PIXELS; i++) {
    const uint32_t pixel = i * LIGHT_THREADS + thread;
    const uint32_t x = left + pixel % CCL_LIGHT_TILE, y = top + pixel / CCL_LIGHT_TILE;

    values[i] = -1;
    backgrounds[i] = 0;
    if (x >= luma.width || y >= luma.height)
      continue;
    values[i] = blur_at (luma, x, y);
    backgrounds[i] = background_row (task, y)[x];
    atomicAdd (&shared.counts[values[i] / 2][backgrounds[i] >> 10], 1u);
  }
  __syncthreads ();
  if (thread < WARP_LANES)
    find_curve (shared);
  __syncthreads ();
  if (shared.known) {
#pragma unroll
    for (uint32_t i = 0; i < THREAD_PIXELS; i++) {
      const uint32_t pixel = i * LIGHT_THREADS + thread;
      const uint32_t x = left + pixel % CCL_LIGHT_TILE, y = top + pixel / CCL_LIGHT_TILE;

      if (values[i] < 0)
        continue;
      explained +=
          ccl_light_explains (values[i], ccl_light_follow (shared.curve, backgrounds[i])) ? 1 : 0;
      if (ccl_light_differs (&task.step, values[i], backgrounds[i]) ||
          (task.frame.chroma_width > 0 && chroma_differs (task, x / 2, y / 2)))
        changed++;
    }
  }
  explained = warp_sum (explained);
  changed = warp_sum (changed);
  if (lane_id () == 0) {
    atomicAdd (&shared.count.explained, explained);
    atomicAdd (&shared.count.changed, changed);
  }
  __syncthreads ();
  if (thread == 0) {
    const uint32_t flags =
        shared.known ? ccl_light_judge (&task.step, &shared.count, shared.curve) : 0;

    shared.flags = tile->flags = flags;
    if (flags & CCL_LIGHT_VOTE)
      atomicAdd (&total->votes, 1u);
    if (flags & CCL_LIGHT_LIT)
      atomicAdd (&total->lit, 1u);
    if ((flags & CCL_LIGHT_AGREES) == CCL_LIGHT_AGREES)
      atomicAdd (&total->agreed, 1u);
  }
  __syncthreads ();
  if (thread < CCL_LIGHT_BINS && shared.flags & CCL_LIGHT_LIT) {
    tile->curve[thread] = shared.curve[thread];
    atomicAdd (&total->curve[thread], (uint32_t) shared.curve[thread]);
  }
}

static __device__ inline void
relight_pixel (const CclModelTask &task, const uint8_t *curve, CclLightPlace place, uint32_t x,
               uint32_t y)
{
  const Plane luma = plane_of (task, 0);
  const size_t at = y * task.state.pitch + x;
  uint16_t *background = background_row (task, y) + x;
  const int value = blur_at (luma, x, y), old = *background;
  const int level = ccl_light_follow (curve, old);
  const bool takes = ccl_light_takes (place, value, old, level);
  const uint16_t now = (uint16_t) (takes ? value * CCL_MOTION_ONE : level);

  if (place == CCL_LIGHT_FADING && !takes)
    return;
  store_background (background, x, luma.width, now);
  task.state.noise[at] = CCL_MOTION_FIRST_NOISE;
  task.state.counts[at] = 0;
  task.state.visits[at] = 0;
  if (task.frame.chroma_width > 0 && x % 2 == 0 && y % 2 == 0) {
    uint32_t *pair = chroma_at (task, x / 2, y / 2), samples = 0;

#pragma unroll
    for (int k = 0; k < 2; k++) {
      int sample = takes ? blur_at (plane_of (task, k + 1), x / 2, y / 2) * CCL_MOTION_ONE
                         : ccl_light_chroma (*pair >> 16 * k & 0xffff, old, level);

      samples |= (uint32_t) sample << 16 * k;
    }
    *pair = samples;
  }
}

/* Changes the background if the light has changed. */
static __global__ void
__launch_bounds__ (LIGHT_THREADS) motion_relight (const CclModelTask task)
{
  __shared__ uint8_t curve[CCL_LIGHT_BINS];
  __shared__ CclLightPlace place;
  const CclModelLight &light = task.light;
  const CclLightTile *tile = light.tiles + blockIdx.x;
  const int row = (int) (blockIdx.x / light.columns);
  const int column = (int) (blockIdx.x - (uint32_t) row * light.columns);
  const bool changed = ccl_light_changed (&task.step, light.total, light.columns * light.rows);
  const uint32_t thread = threadIdx.x;

  if (thread == 0 && blockIdx.x == 0)
    task.state.seen->relit = changed;
  if (!changed)
    return;
  if (thread == 0)
    place = ccl_light_place (light.tiles, (int) light.columns, (int) light.rows, column, row);
  if (thread < CCL_LIGHT_BINS)
    curve[thread] = tile->flags & CCL_LIGHT_LIT ? tile->curve[thread]
                                                : ccl_light_mean (light.total, (int) thread);
  __syncthreads ();
  if (place == CCL_LIGHT_ELSEWHERE)
    return;
#pragma unroll 1
  for (uint32_t pixel = thread; pixel < TILE_PIXELS; pixel += LIGHT_THREADS) {
    const uint32_t x = (uint32_t) column * CCL_LIGHT_TILE + pixel % CCL_LIGHT_TILE;
    const uint32_t y = (uint32_t) row * CCL_LIGHT_TILE + pixel / CCL_LIGHT_TILE;

    if (x < task.frame.width && y < task.frame.height)
      relight_pixel (task, curve, place, x, y);
  }
}

cudaError_t
ccl_cuda_model_relight (const CclModelTask *task, cudaStream_t stream)
{
  const uint32_t tiles = task->light.columns * task->light.rows;
  cudaError_t error =
      CCL_CUDA (cudaMemsetAsync, task->light.total, 0, sizeof *task->light.total, stream);

  if (error == cudaSuccess)
    error = launch (motion_measure, tiles, LIGHT_THREADS, 0, stream, *task);
  if (error == cudaSuccess)
    error = launch (motion_relight, tiles, LIGHT_THREADS, 0, stream, *task);
  return error;
}
