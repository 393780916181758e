/* cudaccl - CUDA backend: background models of a camera that shakes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* See engine/motion/shake.h. While the camera shakes, and now and then, two kernels are launched
 * before a frame's own: they find the shift and copy the frame. One after it moves the masks
 * back. Where the camera may have been displaced, another one makes coarse pixels first; the frame
 * is then copied as it is. Frames that are divided by their gains (flicker.cu) are copied, too. */

#include "cuda/device/launch.cuh"
#include "cuda/device/warp.cuh"
#include "cuda/models/light.cuh"

#define COMPARE_THREADS (CCL_SHAKE_SIDE * WARP_LANES) /* a warp for each shift down */
#define COMPARE_WIDTH 512                             /* pixels of a block, in one row */

/* The factor of row @y of luma. */
static __device__ inline int
factor_of (const CclModelTask &task, uint32_t y)
{
  return task.step.flicker == CCL_FLICKER_NONE
             ? CCL_FLICKER_ONE
             : ccl_flicker_factor (task.flicker->factors, y, task.frame.height);
}

/* Makes coarse pixels of the frame and of the background; each thread makes one of either. */
static __global__ void
__launch_bounds__ (LIGHT_THREADS) motion_coarsen (const CclModelTask task)
{
  const Plane luma = plane_of (task, 0);
  const uint32_t size = task.shake.coarse;
  const uint32_t width = luma.width / size, height = luma.height / size;
  const uint64_t at = (uint64_t) blockIdx.x * LIGHT_THREADS + threadIdx.x;
  const uint32_t y = (uint32_t) (at / width), x = (uint32_t) (at - (uint64_t) y * width);
  uint32_t value = 0, level = 0;

  if (y >= height)
    return;
  for (uint32_t v = y * size; v < (y + 1) * size; v++) {
    const uint8_t *values = luma.plane.samples + v * luma.plane.pitch;
    const uint16_t *background = background_row (task, v);
    const int factor = factor_of (task, v);

    for (uint32_t u = x * size; u < (x + 1) * size; u++) {
      value += (uint32_t) ccl_flicker_luma (__ldg (values + u), factor);
      level += background[u] / CCL_MOTION_ONE;
    }
  }
  task.shake.values[at] = (uint8_t) ccl_shake_mean (value, size);
  task.shake.background[at] = (uint16_t) (ccl_shake_mean (level, size) * CCL_MOTION_ONE);
}

/* Adds to the sums, which are 0 before the first block. @width, @height: of the pixels that are
 * compared. */
template <bool COARSE>
static __global__ void
__launch_bounds__ (COMPARE_THREADS)
    motion_compare_shifts (const CclModelTask task, uint32_t width, uint32_t height)
{
  const Plane luma = plane_of (task, 0);
  const uint32_t parts = (width - 1) / COMPARE_WIDTH + 1;
  const uint32_t row = blockIdx.x / parts, part = blockIdx.x - row * parts;
  const uint32_t y = CCL_SHAKE_REACH + row * ccl_shake_step (height);
  const uint32_t down = threadIdx.x / WARP_LANES, v = y + down - CCL_SHAKE_REACH;
  const uint32_t end = min ((part + 1) * COMPARE_WIDTH, width - 2 * CCL_SHAKE_REACH);
  const uint8_t *values =
      COARSE ? task.shake.values + (size_t) v * width : luma.plane.samples + v * luma.plane.pitch;
  const uint16_t *background =
      (COARSE ? task.shake.background + (size_t) y * width : background_row (task, y)) +
      CCL_SHAKE_REACH;
  const int factor = COARSE ? CCL_FLICKER_ONE : factor_of (task, v);
  uint32_t sums[CCL_SHAKE_SIDE] = {};

#pragma unroll 1
  for (uint32_t x = part * COMPARE_WIDTH + lane_id (); x < end; x += WARP_LANES) {
    const int level = background[x];

#pragma unroll
    for (uint32_t i = 0; i < CCL_SHAKE_SIDE; i++)
      sums[i] += ccl_shake_difference (
          COARSE ? values[x + i] : ccl_flicker_luma (__ldg (values + x + i), factor), level);
  }
#pragma unroll
  for (uint32_t i = 0; i < CCL_SHAKE_SIDE; i++) {
    const uint32_t sum = warp_sum (sums[i]);

    if (lane_id () == i)
      atomicAdd (task.shake.sums + ccl_shake_band (row, height) + down * CCL_SHAKE_SIDE + i,
                 (CclShakeSum) sum);
  }
}

/* The sample that the frame shows for one of the background, which may be itself. */
template <bool CHROMA>
static __device__ inline uint32_t
shown (const CclModelTask &task, const Plane &plane, uint32_t x, uint32_t y, int dx, int dy,
       uint32_t background)
{
  int factor, sample;

  if (!ccl_shake_shows (x, dx, plane.width) || !ccl_shake_shows (y, dy, plane.height))
    return ccl_motion_level ((uint16_t) background);
  x += (uint32_t) dx;
  y += (uint32_t) dy;
  sample = __ldg (plane.plane.samples + y * plane.plane.pitch + (size_t) x * plane.step);
  factor = factor_of (task, CHROMA ? 2 * y : y);
  return (uint32_t) (CHROMA ? ccl_flicker_chroma (sample, factor)
                            : ccl_flicker_luma (sample, factor));
}

/* Copies the frame, shifted, and divided by its gains. A block has two rows, which share a row of
 * chroma; a thread has four pixels of either row, and two pairs of chroma. Bytes behind a row may
 * be anything. */
static __global__ void
__launch_bounds__ (LIGHT_THREADS) motion_align (const CclModelTask task)
{
  __shared__ CclShakeSum totals[CCL_SHAKE_SHIFTS];
  const Plane luma = plane_of (task, 0);
  const CclModelFrame &aligned = task.shake.frame;
  CclShift shift = { 0, 0 }, low, high;

  if (task.step.align) {
    for (uint32_t i = threadIdx.x; i < CCL_SHAKE_SHIFTS; i += LIGHT_THREADS)
      totals[i] = ccl_shake_total (task.shake.sums, (int) i);
    __syncthreads ();
    shift = ccl_shake_find (task.shake.sums, totals);
    if (blockIdx.x == 0 && threadIdx.x == 0)
      task.state.seen->shift = shift;
    if (task.step.align == CCL_SHAKE_SEARCH)
      shift = CclShift{ 0, 0 };
    if (blockIdx.x == 0 && threadIdx.x == 0)
      *task.shake.shift = shift;
  }
#pragma unroll 1
  for (uint32_t y = blockIdx.x * 2; y < min (blockIdx.x * 2 + 2, luma.height); y++) {
    const uint16_t *background = background_row (task, y);
    uint8_t *row = (uint8_t *) aligned.planes[0].samples + y * aligned.planes[0].pitch;

#pragma unroll 1
    for (uint32_t x = threadIdx.x * 4; x < luma.width; x += LIGHT_THREADS * 4) {
      uint32_t word = 0;

#pragma unroll
      for (uint32_t i = 0; i < 4; i++) {
        const uint32_t at = min (x + i, luma.width - 1);

        word |= shown<false> (task, luma, at, y, shift.x, shift.y, background[at]) << 8 * i;
      }
      *(uint32_t *) (row + x) = word;
    }
  }
  if (task.frame.chroma_width == 0)
    return;
  ccl_shake_bounds (shift, true, &low, &high);
#pragma unroll 1
  for (uint32_t x = threadIdx.x * 2; x < task.frame.chroma_width; x += LIGHT_THREADS * 2) {
    const uint32_t y = blockIdx.x;
    uint32_t word = 0;

#pragma unroll 1
    for (uint32_t i = 0; i < 4; i++) {
      const Plane plane = plane_of (task, 1 + i % 2);
      const uint32_t at = min (x + i / 2, plane.width - 1);
      const uint32_t background = *chroma_at (task, at, y) >> 16 * (i % 2) & 0xffff;

      word |= (uint32_t) ccl_motion_average (
                  ccl_motion_average (shown<true> (task, plane, at, y, low.x, low.y, background),
                                      shown<true> (task, plane, at, y, high.x, low.y, background)),
                  ccl_motion_average (shown<true> (task, plane, at, y, low.x, high.y, background),
                                      shown<true> (task, plane, at, y, high.x, high.y, background)))
              << 8 * i;
    }
    *(uint32_t *) (aligned.planes[1].samples + y * aligned.planes[1].pitch + 2 * x) = word;
  }
}

/* Moves a mask to where the frame has its pixels. Each thread writes 32 pixels. */
static __global__ void
__launch_bounds__ (LIGHT_THREADS) motion_move (const CclModelMask from, const CclModelMask to,
                                               const CclShift *by, uint32_t width, uint32_t height)
{
  const CclShift shift = *by;
  const uint32_t words = (width - 1) / 64 * 2 + 2;
  const uint64_t i = (uint64_t) blockIdx.x * LIGHT_THREADS + threadIdx.x;
  const uint32_t y = (uint32_t) (i / words), x = (uint32_t) (i - (uint64_t) y * words);
  uint32_t bits = 0;

  if (y >= height)
    return;
  if (ccl_shake_shows (y, -shift.y, height)) {
    const uint32_t *row = (const uint32_t *) (from.words + (y - (uint32_t) shift.y) * from.pitch);

    if (shift.x >= 0)
      bits = __funnelshift_l (x > 0 ? row[x - 1] : 0, row[x], shift.x);
    else
      bits = __funnelshift_r (row[x], x + 1 < words ? row[x + 1] : 0, -shift.x);
    if (x * 32 >= width)
      bits = 0;
    else if (width - x * 32 < 32)
      bits &= (1u << (width - x * 32)) - 1;
  }
  ((uint32_t *) (to.words + y * to.pitch))[x] = bits;
}

/* Enqueues the sums of differences at all shifts. */
static cudaError_t
compare (const CclModelTask &task, cudaStream_t stream)
{
  const bool search = task.step.align == CCL_SHAKE_SEARCH;
  const uint32_t size = search ? task.shake.coarse : 1;
  const uint32_t width = task.frame.width / size, height = task.frame.height / size;
  const uint32_t blocks = ccl_shake_rows (height) * ((width - 1) / COMPARE_WIDTH + 1);
  const uint64_t pixels = (uint64_t) width * height;
  cudaError_t error;

  if (width < CCL_SHAKE_SIDE || height < CCL_SHAKE_SIDE)
    return cudaSuccess;
  if (!search)
    return launch (motion_compare_shifts<false>, blocks, COMPARE_THREADS, 0, stream, task, width,
                   height);
  if (size < 2)
    return cudaSuccess;
  error = launch (motion_coarsen, (uint32_t) ((pixels - 1) / LIGHT_THREADS + 1), LIGHT_THREADS, 0,
                  stream, task);
  if (error != cudaSuccess)
    return error;
  return launch (motion_compare_shifts<true>, blocks, COMPARE_THREADS, 0, stream, task, width,
                 height);
}

cudaError_t
ccl_cuda_model_align (CclModelTask *task, cudaStream_t stream)
{
  const uint32_t height = task->frame.height;
  cudaError_t error = cudaSuccess;

  if (task->step.align)
    error = CCL_CUDA (cudaMemsetAsync, task->shake.sums, 0,
                      CCL_SHAKE_SUMS * sizeof *task->shake.sums, stream);
  if (error == cudaSuccess && task->step.align)
    error = compare (*task, stream);
  if (error == cudaSuccess)
    error = launch (motion_align, (height - 1) / 2 + 1, LIGHT_THREADS, 0, stream, *task);
  task->frame = task->shake.frame;
  return error;
}

cudaError_t
ccl_cuda_model_move (const CclModelMask *from, const CclModelMask *to, const CclModelTask *task,
                     cudaStream_t stream)
{
  const uint64_t words = (uint64_t) ((task->frame.width - 1) / 64 * 2 + 2) * task->frame.height;

  return launch (motion_move, (uint32_t) ((words - 1) / LIGHT_THREADS + 1), LIGHT_THREADS, 0,
                 stream, *from, *to, task->shake.shift, task->frame.width, task->frame.height);
}
