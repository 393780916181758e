/* cudaccl - CUDA backend: background models, the kernels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A warp processes a strip of units, one per thread. A unit is 8 pixels wide and two rows high: the
 * rows share a row of chroma. A thread blurs four bytes at a time, compares and learns two pixels
 * at a time, and gets its neighbours' values by shuffles. Pixels that may be in shadow are rare and
 * unevenly distributed, and their test needs blurred pixels farther away: a block exchanges these
 * in shared memory, and its threads share the work evenly.
 *
 * There is one launch per frame, in the session's stream; with a scale, one more before it reduces
 * the frame, and one after it enlarges each mask (scale.cu), and where the light may have changed,
 * two before it search for that (light.cu), or three check for a drift (drift.cu), and where the
 * camera may shake, two align the frame and one for each mask moves it (shake.cu). Where lamps
 * flicker, two find the gains of the frame's rows (flicker.cu), and one divides it by them, which
 * also aligns it. The state stays on the device.
 *
 * M1. A pixel's new state follows from the frame, its own state and the background around it before
 *     the frame. The background of luma has two copies: a row that learns reads the valid one and
 *     writes the other, and the host then swaps the copies of its group. All rows of a group learn
 *     in the same frames.
 * M2. Noise, candidate, count, former background and visits of a pixel, and the background of
 *     chroma, have one copy: only the thread that writes them uses them. Other lanes that read them
 *     (M4) ignore the values. Lanes that share busy words (learn_busy()) have a __syncwarp()
 *     between what a unit's own lane read and what they write.
 * M3. The last block knows the frame's total foreground. A warp writes its masks; after a
 *     __syncwarp() its first lane adds the warp's foreground and a ticket to those of the block,
 *     between fences for the block. The block's last warp does the same for the grid: its release
 *     publishes what the whole block has written, and a fence for the device in the grid's last
 *     warp acquires it. If there is too much foreground, that warp clears both masks, which all
 *     others have written by then.
 * M4. The first and the last lane of a warp hold units of the neighbouring strips. Their outer
 *     pixels are wrong, but no result depends on them, and these lanes store nothing.
 * M5. A unit outside the frame may hold anything: the unit at the border repeats its own outer
 *     pixel.
 * M6. The kernel writes the foreground and shadows to pinned memory. The host reads it when it
 *     collects the frame, and only one frame is in flight. So the clock of the model
 *     (engine/motion/step.c) runs on the host alone, and nothing waits between the model, the
 *     operations and the analysis.
 * M7. A block is as high as a band, so all its rows are in one group: it learns as a whole, or ends
 *     early and makes room for the blocks that do not fit on the device at once. */

#include "cuda/device/launch.cuh"
#include "cuda/device/warp.cuh"
#include "cuda/models/compare.cuh"
#include "cuda/models/learn.cuh"
#include "cuda/models/shadow.cuh"
#include "cuda/tile/tile.cuh"

/* Resident blocks of a multiprocessor, at least. 8 blocks are all 1024 threads of compute
 * capability 7.5. With 9, a frame of 1920x1080 is one wave on 132 multiprocessors, but registers
 * spill: no faster alone, and slower beside other work. */
#define MODEL_BLOCKS 8

static __device__ inline void
store_bits (const CclModelMask &mask, uint32_t x, uint32_t y, uint32_t bits)
{
  ((uint8_t *) (mask.words + y * mask.pitch))[x / 8] = (uint8_t) bits;
}

/* Adds a warp's row @y to the brightness. Whole warps call this before add_foreground(), whose
 * release is for it, too. */
static __device__ inline void
add_luma (const CclModelTask &task, uint2 values, uint32_t valid, uint32_t y)
{
  const uint2 mask = unit_masks (valid);
  const uint32_t sum = warp_sum (
      __dp4a (values.x & mask.x, 0x01010101u, __dp4a (values.y & mask.y, 0x01010101u, 0u)));

  if (lane_id () == 0)
    atomicAdd (task.state.totals + 2 + ccl_flicker_band (y, task.frame.height),
               (unsigned long long) sum);
}

/* Adds what a warp knows, likewise. */
static __device__ inline void
add_known (const CclModelTask &task, uint32_t known)
{
  /* most warps have none */
  if (!__any_sync (ALL_LANES, known > 0))
    return;
  known = warp_sum (known);
  if (lane_id () == 0)
    atomicAdd (task.state.totals + 2 + CCL_MODEL_KNOWN, (unsigned long long) known);
}

/* Called by the grid's last warp, whose first lane has acquired the totals of all others. The sums
 * go to the host in one write. */
static __device__ inline void
tell_sums (const CclModelTask &task)
{
  unsigned long long *total = task.state.totals + 2 + lane_id ();

  __syncwarp ();
  if (lane_id () < CCL_MODEL_SUMS) {
    task.state.seen->sums[lane_id ()] = __ldcg (total);
    *total = 0;
  }
}

/* Flags of a warp that has ended. */
#define LAST 1u
#define TOO_MUCH 2u

/* Adds a warp's foreground and, in the bits above, its shadows. Returns true in the grid's last
 * warp if the frame has too much of it. Whole warps call this after they have written their masks.
 * There is no barrier: warps that do not learn would wait for those that do. */
static __device__ inline bool
add_foreground (const CclModelTask &task, Shared &shared, uint32_t count)
{
  uint32_t flags = 0;

  count = warp_sum (count);
  __syncwarp ();
  if (lane_id () == 0) {
    uint32_t ended;

    /* The warp's masks must be visible before its ticket (M3). */
    fence_block ();
    ended = atomicAdd (&shared.ended, WARP_TICKET + count);

    if (ended / WARP_TICKET == BLOCK_WARPS - 1) {
      const uint32_t shadows = (count + ended % WARP_TICKET) >> COUNT_BITS;
      unsigned long long before, sum;

      /* Acquires the other warps' masks, so the release below covers them, too. */
      fence_block ();
      count = (count + ended) % (1u << COUNT_BITS);
      if (shadows > 0)
        atomicAdd (task.state.totals + 1, (unsigned long long) shadows);
      before = fetch_add_release (task.state.totals, TICKET + count);
      sum = before % TICKET + count;
      if (before / TICKET == gridDim.x - 1) {
        fence_device ();
        task.state.seen->foreground = sum;
        task.state.seen->shadows = atomicExch (task.state.totals + 1, 0ull);
        task.state.totals[0] = 0;
        flags = sum > task.most ? LAST | TOO_MUCH : LAST;
      }
    }
  }
  flags = warp_shuffle (flags, 0u);
  if (flags & LAST)
    tell_sums (task);
  return flags & TOO_MUCH;
}

/* Called by whole warps. */
static __device__ inline void
clear_mask (const CclModelTask &task, const CclModelMask &mask)
{
  const uint32_t words = (task.frame.width - 1) / 64 + 1;

  if (!mask.words)
    return;
#pragma unroll 1
  for (uint32_t y = 0; y < task.frame.height; y++)
#pragma unroll 1
    for (uint32_t i = lane_id (); i < words; i += WARP_LANES)
      mask.words[y * mask.pitch + i] = 0;
}

/* @ALIGNED: luma is loaded by vectors and chroma is interleaved, which fits nearly all luma and
 * NV12 frames on a device; otherwise task.vectors tells how to load them. */
template <bool CHROMA, bool ALIGNED>
static __global__ void
__launch_bounds__ (BLOCK_THREADS, MODEL_BLOCKS)
    motion_model (const __grid_constant__ CclModelTask task)
{
  __shared__ Shared shared;
  const uint32_t block_row = divide (blockIdx.x, task.columns, task.column_reciprocal);
  const uint32_t lane = lane_id (), height = task.frame.height, width = task.frame.width;
  /* of the first lane; wraps in the first column */
  const uint32_t left = (blockIdx.x - block_row * task.columns) * BLOCK_WIDTH - EDGE * UNIT;
  const uint32_t top = block_row * BLOCK_ROWS, group = ccl_motion_group (top);
  const uint32_t x = left + lane * UNIT, y = top + threadIdx.x / WARP_LANES * 2;
  const bool stores = lane >= EDGE && lane < EDGE + STRIP && y < height;
  const bool active = stores && x < width, learns = task.step.learn >> group & 1;
  const uint32_t valid = !active ? 0 : width - x < UNIT ? (1u << (width - x)) - 1 : 255;
  const uint32_t row = min (y, height - 1);
  const Position position = { .x = min (x, (width - 1) / UNIT * UNIT),
                              .y = row,
                              .first = x == 0,
                              .last = x + UNIT >= width,
                              .above = row > 0,
                              .below = row + 1 < height,
                              .lower = row + 2 < height };
  uint32_t busy[2] = { 0, 0 }, shaded[2] = { 0, 0 }, shadows[2] = { 0, 0 }, lit[2] = { 0, 0 };
  uint32_t count = 0, known = 0;
  uint2 lumas[4], chromas[3], noises[2], values[2], chroma = { 0, 0 };
  uint4 olds[4], old_chroma = { 0, 0, 0, 0 };

  /* Load first what every warp needs: there are few other warps to hide the latency. */
  load_lumas<ALIGNED> (task, position, lumas);
  if (CHROMA)
    load_chromas<ALIGNED> (task, position, chromas);
  if (!task.step.first) {
    const uint32_t second = position.y + position.below;
    const uint8_t *at = task.state.noise + position.y * task.state.pitch + position.x;

    olds[1] = load_old (task, position.x, position.y);
    olds[2] = load_old (task, position.x, second);
    noises[0] = *(const uint2 *) at;
    noises[1] = *(const uint2 *) (at + (position.below ? task.state.pitch : 0));
    if (CHROMA)
      old_chroma = *chroma_at (task, position.x / 2, position.y / 2);
  }

  values[0] = blur_unit (position, lumas[0], lumas[1], lumas[2], 8);
  values[1] = blur_unit (position, lumas[1], lumas[2], lumas[3], 8);
  if (y % CCL_DRIFT_ROWS == 0)
    add_luma (task, values[0], valid, row);
  if (CHROMA)
    chroma = blur_unit (position, chromas[0], chromas[1], chromas[2], 16);
  if (!task.step.first) {
    const uint32_t colours = CHROMA ? find_colours (chroma, old_chroma, task.step.chroma_floor) : 0;
    uint32_t differs[2] = { find_candidates (task, values[0], olds[1], noises[0]),
                            find_candidates (task, values[1], olds[2], noises[1]) };

    /* A slope only raises thresholds. So without candidates nothing differs, and most warps have
     * none. */
    if (__any_sync (ALL_LANES, ((differs[0] | differs[1]) & valid) != 0)) {
      olds[0] = load_old (task, position.x, position.y - position.above);
      olds[3] = load_old (task, position.x, position.y + position.below + position.lower);
#pragma unroll
      for (uint32_t i = 0; i < 2; i++)
        differs[i] = find_differences (task, position, values[i], olds[i], olds[i + 1], olds[i + 2],
                                       noises[i]);
    }
#pragma unroll
    for (uint32_t i = 0; i < 2; i++) {
      const uint32_t dark = differs[i] & ~colours & valid;

      busy[i] = (differs[i] | colours) & valid;
      if (task.step.shadows && dark) {
        if (CHROMA && (learns || task.step.shady))
          lit[i] = find_shaded<true> (task.step, values[i], olds[i + 1]) & dark &
                   find_colours (uint2{ four (128), four (128) }, old_chroma, CCL_MOTION_COLOUR);
        shaded[i] = (find_shaded<false> (task.step, values[i], olds[i + 1]) & dark) | lit[i];
      }
    }
    if (!position.below)
      busy[1] = shaded[1] = 0;
  }

  if (threadIdx.x < sizeof shared.shadows / sizeof (uint32_t))
    ((uint32_t *) shared.shadows)[threadIdx.x] = 0;
  if (threadIdx.x == 0)
    shared.n_shaded = shared.ended = 0;
  if (__syncthreads_or ((int) (shaded[0] | shaded[1])))
    find_shadows<ALIGNED> (task, position, shared, values, olds + 1, shaded, left, top - HALO,
                           shadows);

#pragma unroll
  for (uint32_t i = 0; i < 2; i++) {
    lit[i] &= shadows[i];
    shadows[i] &= ~lit[i];
  }
  /* The masks come before learning, which needs the registers, and changes what is known. */
#pragma unroll
  for (uint32_t i = 0; i < 2; i++) {
    const uint32_t light = shadows[i] | (task.step.shady ? lit[i] : 0);
    uint32_t foreground = busy[i] & ~light;

    if (task.step.waves && foreground)
      foreground &= ~find_known (task, values[i], x, y + i);
    /* also past the width, to the end of the last word */
    if (!stores || x >= (width + 63) / 64 * 64 || y + i >= height)
      continue;
    count += (uint32_t) __popc (foreground) + ((uint32_t) __popc (light) << COUNT_BITS);
    store_bits (task.mask, x, y + i, task.silent ? 0 : foreground);
    if (task.shadows.words)
      store_bits (task.shadows, x, y + i, task.silent ? 0 : light);
  }
  if (learns) {
    const uint32_t kinds[2] = { busy[0] | shadows[0] << UNIT | lit[0] << 2 * UNIT,
                                busy[1] | shadows[1] << UNIT | lit[1] << 2 * UNIT };

    known = learn_rows<CHROMA> (task, shared.busy[threadIdx.x / WARP_LANES], values, chroma, kinds,
                                group, active, x, y);
  }
  add_known (task, known);
  if (add_foreground (task, shared, count)) {
    /* Votes do not order memory accesses: this extends the first lane's fence to all lanes. */
    __syncwarp ();
    clear_mask (task, task.mask);
    clear_mask (task, task.shadows);
  }
}

/* ccl_motion_fade() of all pixels */
static __global__ void
__launch_bounds__ (BLOCK_THREADS) motion_fade (const __grid_constant__ CclModelTask task)
{
  uint32_t *row = (uint32_t *) (task.state.visits + blockIdx.x * task.state.pitch);

#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < task.state.pitch / sizeof *row; i += BLOCK_THREADS) {
    const uint32_t visits = row[i], n = n_visits4 (visits);
    const uint32_t settled = task.step.fades > 1 ? 0 : reaches4 (n, four (CCL_MOTION_SETTLED));

    row[i] = visits - (reaches4 (n, four (1)) & ~settled & four (1));
  }
}

static bool
is_aligned (const CclModelPlane *plane, size_t bytes)
{
  return ((uintptr_t) plane->samples | plane->pitch) % bytes == 0;
}

/* Interleaved chroma begins with plane 1. Which of the two planes comes first does not matter, as
 * long as it stays the same. */
static CclModelVectors
chroma_vectors (CclModelFrame *frame)
{
  CclModelPlane *planes = frame->planes;

  if (frame->step == 2 && planes[2].samples + 1 == planes[1].samples) {
    CclModelPlane first = planes[2];

    planes[2] = planes[1];
    planes[1] = first;
  }
  if (frame->chroma_width % (UNIT / 2) != 0)
    return CCL_MODEL_SINGLE;
  if (frame->step == 2 && planes[1].samples + 1 == planes[2].samples &&
      planes[1].pitch == planes[2].pitch && is_aligned (&planes[1], 8))
    return CCL_MODEL_PAIRS;
  if (frame->step == 1 && is_aligned (&planes[1], 4) && is_aligned (&planes[2], 4))
    return CCL_MODEL_VECTOR;
  return CCL_MODEL_SINGLE;
}

/* Sets how the frame can be loaded. */
static void
set_vectors (CclModelTask *task)
{
  task->vectors[0] = task->frame.width % UNIT == 0 && is_aligned (&task->frame.planes[0], 8);
  task->vectors[1] = task->frame.chroma_width > 0 ? (uint8_t) chroma_vectors (&task->frame) : 0;
}

/* Enqueues what a frame does before it is compared. */
static cudaError_t
prepare (CclModelTask *task, cudaStream_t stream)
{
  cudaError_t error = cudaSuccess;

  set_vectors (task);
  if (task->step.fades)
    error = launch (motion_fade, task->frame.height, BLOCK_THREADS, 0, stream, *task);
  if (error == cudaSuccess && task->step.flicker != CCL_FLICKER_NONE)
    error = ccl_cuda_model_find_flicker (task, stream);
  if (error == cudaSuccess && (task->step.align || task->step.flicker != CCL_FLICKER_NONE)) {
    error = ccl_cuda_model_align (task, stream);
    set_vectors (task);
  }
  if (error != cudaSuccess || task->step.light == CCL_MOTION_STEADY)
    return error;
  return task->step.light == CCL_MOTION_DRIFT ? ccl_cuda_model_follow_drift (task, stream)
                                              : ccl_cuda_model_relight (task, stream);
}

cudaError_t
ccl_cuda_model_apply (CclModelTask *task, cudaStream_t stream)
{
  const bool chroma = task->frame.chroma_width > 0;
  const CclModelMask masks[2] = { task->mask, task->shadows };
  uint32_t rows = (task->frame.height - 1) / BLOCK_ROWS + 1;
  cudaError_t error = prepare (task, stream);
  void (*kernel) (CclModelTask);

  if (error != cudaSuccess)
    return error;
  /* as far as the end of the masks' last word */
  task->columns = ((task->frame.width - 1) / 64 * 64 + 63) / BLOCK_WIDTH + 1;
  task->column_reciprocal = UINT32_MAX / task->columns;
  if (task->step.align) {
    task->mask = task->shake.masks[0];
    task->shadows = task->shake.masks[1];
  }
  if (task->vectors[0] && (!chroma || task->vectors[1] == CCL_MODEL_PAIRS))
    kernel = chroma ? motion_model<true, true> : motion_model<false, true>;
  else
    kernel = chroma ? motion_model<true, false> : motion_model<false, false>;
  error = launch (kernel, task->columns * rows, BLOCK_THREADS, 0, stream, *task);
  for (int i = 0; i < 2 && task->step.align && masks[i].words && error == cudaSuccess; i++)
    error = ccl_cuda_model_move (&task->shake.masks[i], &masks[i], task, stream);
  return error;
}
