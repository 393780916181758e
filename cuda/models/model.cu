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
 * camera may shake, two align the frame and one for each mask moves it (shake.cu). The state stays
 * on the device.
 *
 * M1. A pixel's new state follows from the frame, its own state and the background around it before
 *     the frame. The background of luma has two copies: a row that learns reads the valid one and
 *     writes the other, and the host then swaps the copies of its group. All rows of a group learn
 *     in the same frames.
 * M2. Noise, candidate and count of a pixel, and the background of chroma, have one copy: only the
 *     thread that writes them uses them. Other lanes that read them (M4) ignore the values.
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
#include "cuda/models/kernels.h"
#include "cuda/models/unit.cuh"
#include "cuda/tile/tile.cuh"

#define UNIT 8                        /* pixels of a thread in each row */
#define EDGE 1                        /* lanes at either end of a warp, for neighbours only */
#define STRIP (WARP_LANES - 2 * EDGE) /* units of a warp, side by side */
#define BLOCK_WIDTH (STRIP * UNIT)
#define BLOCK_WARPS 4 /* of one strip, below each other */
#define BLOCK_ROWS (2 * BLOCK_WARPS)
#define BLOCK_THREADS (BLOCK_WARPS * WARP_LANES)
#define HALO CCL_MOTION_SHADOW_STEP

/* Resident blocks of a multiprocessor, at least. 8 blocks are all 1024 threads of compute
 * capability 7.5. With 9, a frame of 1920x1080 is one wave on 132 multiprocessors, but registers
 * spill: no faster alone, and slower beside other work. */
#define MODEL_BLOCKS 8

/* Blurred pixels in shared memory: those of the block and its edges, and HALO rows above and
 * below. */
#define SHARED_ROWS (BLOCK_ROWS + 2 * HALO)
#define SHARED_PITCH (WARP_LANES * UNIT)

static_assert (BLOCK_ROWS == CCL_MOTION_BAND, "a block has one group (M7)");
static_assert (2 * HALO == BLOCK_WARPS, "a warp for each row of the halo");
static_assert (HALO < EDGE * UNIT, "shadows need no pixel that is wrong (M4)");

/* Each block, or each warp of a block, adds this at its end; the bits below sum up the
 * foreground. */
#define TICKET (1ull << 33)
#define COUNT_BITS 12 /* of a block's foreground, and of its shadows above it */
#define WARP_TICKET (1u << 2 * COUNT_BITS)

static_assert (BLOCK_WIDTH * BLOCK_ROWS < 1 << COUNT_BITS, "the sums fit");

/* Loads; units outside the frame may hold anything (M5) */

/* Loads samples one by one: for samples that are not aligned, or frames with a partial last
 * unit. */

static __device__ __attribute__ ((noinline)) uint2
load_luma_samples (const uint8_t *row, uint32_t x, uint32_t width)
{
  uint2 unit = { 0, 0 };

#pragma unroll 1
  for (uint32_t i = 0; i < UNIT / 2; i++) {
    unit.x |= (uint32_t) __ldg (row + min (x + i, width - 1)) << 8 * i;
    unit.y |= (uint32_t) __ldg (row + min (x + 4 + i, width - 1)) << 8 * i;
  }
  return unit;
}

/* Loads pairs of samples from @x on; @first and @second: the rows of both planes. */
static __device__ __attribute__ ((noinline)) uint2
load_chroma_samples (const uint8_t *first, const uint8_t *second, uint32_t step, uint32_t x,
                     uint32_t width)
{
  uint32_t words[2] = { 0, 0 };

#pragma unroll 1
  for (uint32_t i = 0; i < 2; i++) {
    size_t at = (size_t) min (x + i, width - 1) * step;
    size_t next = (size_t) min (x + 2 + i, width - 1) * step;

    words[0] |= (__ldg (first + at) | (uint32_t) __ldg (second + at) << 8) << 16 * i;
    words[1] |= (__ldg (first + next) | (uint32_t) __ldg (second + next) << 8) << 16 * i;
  }
  return uint2{ words[0], words[1] };
}

/* Loads the unit of luma at @x in a row. */
template <bool ALIGNED>
static __device__ inline uint2
load_luma (const CclModelTask &task, const uint8_t *row, uint32_t x)
{
  return ALIGNED || task.vectors[0] ? __ldg ((const uint2 *) (row + x))
                                    : load_luma_samples (row, x, task.frame.width);
}

/* Loads the four pairs of chroma samples at @x in row @y. */
template <bool ALIGNED>
static __device__ inline uint2
load_chroma (const CclModelTask &task, uint32_t x, uint32_t y)
{
  const CclModelPlane *planes = task.frame.planes;
  const uint8_t *first = planes[1].samples + y * planes[1].pitch;
  const uint8_t *second = planes[2].samples + y * planes[2].pitch;

  if (ALIGNED || task.vectors[1] == CCL_MODEL_PAIRS)
    return __ldg ((const uint2 *) (first + 2 * (size_t) x));
  if (task.vectors[1] == CCL_MODEL_VECTOR) {
    uint32_t u = __ldg ((const uint32_t *) (first + x));
    uint32_t v = __ldg ((const uint32_t *) (second + x));

    return uint2{ __byte_perm (u, v, 0x5140), __byte_perm (u, v, 0x7362) };
  }
  return load_chroma_samples (first, second, task.frame.step, x, task.frame.chroma_width);
}

/* The position of a thread's unit. */
typedef struct Position
{
  uint32_t x, y;            /* clamped to the frame (M5) */
  bool first, last;         /* whether it is at the left, or the right, border */
  bool above, below, lower; /* whether the row above the pair, its second row, and the row below the
                             * pair are inside the frame */
} Position;

/* Returns the middle row, blurred. @bits: the width of a sample. Called by whole warps. */
static __device__ inline uint2
blur_unit (const Position &position, uint2 above, uint2 middle, uint2 below, uint32_t bits)
{
  uint32_t low = blur4 (above.x, middle.x, below.x);
  uint32_t high = blur4 (above.y, middle.y, below.y);
  uint32_t left = warp_shuffle_up (high, 1), right = warp_shuffle_down (low, 1);

  left = position.first ? low << (32 - bits) : left;
  right = position.last ? high >> (32 - bits) : right;
  return uint2{
    blur4 (__funnelshift_l (left, low, bits), low, __funnelshift_r (low, high, bits)),
    blur4 (__funnelshift_l (low, high, bits), high, __funnelshift_r (high, right, bits)),
  };
}

/* Loads the rows of luma from above the pair to below it. */
template <bool ALIGNED>
static __device__ inline void
load_lumas (const CclModelTask &task, const Position &position, uint2 lumas[4])
{
  const size_t pitch = task.frame.planes[0].pitch;
  const uint8_t *row = task.frame.planes[0].samples + position.y * pitch;
  const uint8_t *second = row + (position.below ? pitch : 0);

  lumas[0] = load_luma<ALIGNED> (task, row - (position.above ? pitch : 0), position.x);
  lumas[1] = load_luma<ALIGNED> (task, row, position.x);
  lumas[2] = load_luma<ALIGNED> (task, second, position.x);
  lumas[3] = load_luma<ALIGNED> (task, second + (position.lower ? pitch : 0), position.x);
}

/* Loads the rows of chroma from above the pair's row to below it. */
template <bool ALIGNED>
static __device__ inline void
load_chromas (const CclModelTask &task, const Position &position, uint2 chromas[3])
{
  const uint32_t x = position.x / 2, y = position.y / 2;

  chromas[0] = load_chroma<ALIGNED> (task, x, y - (y > 0));
  chromas[1] = load_chroma<ALIGNED> (task, x, y);
  chromas[2] = load_chroma<ALIGNED> (task, x, y + (y + 1 < task.frame.chroma_height));
}

/* Returns a row of the background, from the copy that the bit of the row's group in @copies
 * names. */
static __device__ inline uint16_t *
background_row (const CclModelTask &task, uint32_t copies, uint32_t y)
{
  uint32_t copy = copies >> ccl_motion_group (y) & 1;

  return (copy ? task.state.background[1] : task.state.background[0]) + y * task.state.pitch;
}

/* Returns the background of a row before the frame; rows that learn write the other copy (M1). */
static __device__ inline const uint16_t *
old_row (const CclModelTask &task, uint32_t y)
{
  return background_row (task, task.newest, y);
}

static __device__ inline uint4
load_old (const CclModelTask &task, uint32_t x, uint32_t y)
{
  return *(const uint4 *) (old_row (task, y) + x);
}

/* Comparing */

/* The thresholds of pixels 2 * @k and 2 * @k + 1 where the background is flat: 4 CCL_MOTION_ONE /
 * 16 times the noise, but at least the floor. */
static __device__ inline uint32_t
flat_thresholds (uint2 noise, uint32_t k, uint32_t floor)
{
  return max2 (byte_pair (noise, k) << 5, floor);
}

/* Finds the pixels of a unit that differ from a background without slope: all that
 * find_differences() finds, and perhaps more. */
static __device__ inline uint32_t
find_candidates (const CclModelTask &task, uint2 values, uint4 old, uint2 noise)
{
  const uint32_t floor = both (task.step.floor), cap = both (task.step.cap);
  const uint32_t olds[4] = { old.x, old.y, old.z, old.w };
  uint32_t high[4];

#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    uint32_t difference = distance2 (byte_pair (values, k) << 7, olds[k]);

    high[k] = above2 (difference, min2 (flat_thresholds (noise, k, floor), cap));
  }
  return unit_bits (high);
}

/* Finds the pixels of a unit that differ from the background. Called by whole warps. */
static __device__ inline uint32_t
find_differences (const CclModelTask &task, const Position &position, uint2 values, uint4 above,
                  uint4 old, uint4 below, uint2 noise)
{
  const uint32_t floor = both (task.step.floor), cap = both (task.step.cap);
  uint32_t before = warp_shuffle_up (old.w, 1), behind = warp_shuffle_down (old.x, 1);
  uint32_t left = position.first ? old.x << 16 : before,
           right = position.last ? old.w >> 16 : behind;
  /* pixels -1 and 0, 1 and 2, up to 7 and 8 */
  uint32_t odd[5] = { __funnelshift_l (left, old.x, 16), __funnelshift_l (old.x, old.y, 16),
                      __funnelshift_l (old.y, old.z, 16), __funnelshift_l (old.z, old.w, 16),
                      __funnelshift_l (old.w, right, 16) };
  uint32_t olds[4] = { old.x, old.y, old.z, old.w };
  uint32_t aboves[4] = { above.x, above.y, above.z, above.w };
  uint32_t belows[4] = { below.x, below.y, below.z, below.w };
  uint32_t high[4];

#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    uint32_t slope = max2 (distance2 (odd[k], odd[k + 1]), distance2 (aboves[k], belows[k]));
    uint32_t threshold = flat_thresholds (noise, k, floor) + half2 (slope);
    uint32_t difference = distance2 (byte_pair (values, k) << 7, olds[k]);

    high[k] = above2 (difference, min2 (threshold, cap));
  }
  return unit_bits (high);
}

/* ccl_motion_shaded() of a unit, or ccl_motion_lit() */
template <bool LIT>
static __device__ inline uint32_t
find_shaded (uint2 values, uint4 old, bool shady)
{
  uint32_t olds[4] = { old.x, old.y, old.z, old.w }, high[4];

#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    uint32_t value = byte_pair (values, k) << 7;
    uint32_t bright = LIT ? value : olds[k], dark = LIT ? olds[k] : value;
    uint32_t darkest = shady ? bright >> 2 & 0x3fff3fff : half2 (bright);

    high[k] = above2 (bright, dark) & above2 (dark, darkest);
  }
  return unit_bits (high);
}

static __device__ inline uint4 *
chroma_at (const CclModelTask &task, uint32_t x, uint32_t y)
{
  return (uint4 *) (task.state.chroma + y * (task.state.pitch / 2) + x);
}

/* Whether four pairs of samples differ by more than @most, their sum; returns a bit for each pixel
 * of a row. It is ccl_motion_chroma_differs(), and, with grey values, ccl_motion_coloured(). */
static __device__ inline uint32_t
find_colours (uint2 values, uint4 old, uint32_t most)
{
  const uint32_t olds[4] = { old.x, old.y, old.z, old.w }, floor = both (most);
  uint32_t high[2];

#pragma unroll
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t first = distance2 (byte_pair (values, 2 * k) << 7, olds[2 * k]);
    uint32_t second = distance2 (byte_pair (values, 2 * k + 1) << 7, olds[2 * k + 1]);
    uint32_t sum = __byte_perm (first, second, 0x5410) + __byte_perm (first, second, 0x7632);

    /* sums may have 16 bits */
    high[k] = above2 (min2 (sum, ~HIGH_BITS), floor);
  }
  return __dp4a (__byte_perm (high[0], high[1], 0x7531), 0xc0300c03u, 0u) >> 7;
}

/* Shadows */

/* Data that the warps of a block exchange. */
typedef struct Shared
{
  uint2 blurred[SHARED_ROWS][SHARED_PITCH / UNIT];
  uint8_t shadows[BLOCK_ROWS][SHARED_PITCH / UNIT]; /* a bit for each pixel */
  uint16_t shaded[BLOCK_ROWS * BLOCK_WIDTH];        /* indices of pixels in blurred */
  uint32_t n_shaded;
  uint32_t ended; /* see WARP_TICKET */
} Shared;

/* Appends the shaded pixels of a warp's rows to Shared.shaded. Called by whole warps. */
static __device__ inline void
append_shaded (Shared &shared, const uint32_t shaded[2], uint32_t row)
{
  uint32_t left = shaded[0] | shaded[1] << UNIT, n = (uint32_t) __popc (left);
  uint32_t end = warp_scan (n), base = 0;

  if (lane_id () == WARP_LANES - 1)
    base = atomicAdd (&shared.n_shaded, end);
  base = warp_shuffle (base, WARP_LANES - 1) + end - n;
  for (; left; left &= left - 1) {
    uint32_t bit = (uint32_t) __ffs ((int) left) - 1;

    shared.shaded[base++] =
        (uint16_t) ((row + HALO + bit / UNIT) * SHARED_PITCH + lane_id () * UNIT + bit % UNIT);
  }
}

/* Whether the pixel at @index of Shared.blurred is in shadow. (@left, @top): the position of its
 * first pixel in the frame. */
static __device__ inline bool
is_shadow (const CclModelTask &task, const Shared &shared, uint32_t index, uint32_t left,
           uint32_t top)
{
  const uint32_t x = left + index % SHARED_PITCH, y = top + index / SHARED_PITCH;
  const uint32_t xs[3] = { max (x, (uint32_t) HALO) - HALO, x,
                           min (x + HALO, task.frame.width - 1) };
  const uint32_t ys[3] = { max (y, (uint32_t) HALO) - HALO, y,
                           min (y + HALO, task.frame.height - 1) };
  int values[CCL_MOTION_SHADOW_PIXELS], backgrounds[CCL_MOTION_SHADOW_PIXELS];

#pragma unroll
  for (int v = 0; v < 3; v++) {
    const uint8_t *blurred = (const uint8_t *) shared.blurred[ys[v] - top];
    const uint16_t *row = old_row (task, ys[v]);

#pragma unroll
    for (int u = 0; u < 3; u++) {
      values[3 * v + u] = blurred[xs[u] - left];
      backgrounds[3 * v + u] = row[xs[u]];
    }
  }
  return ccl_motion_keeps_texture (&task.step, values, backgrounds);
}

/* Finds which of the @shaded pixels of a warp's rows are in shadow. If any thread of the block has
 * such pixels, all call this, after a barrier. */
template <bool ALIGNED>
static __device__ inline void
find_shadows (const CclModelTask &task, const Position &position, Shared &shared,
              const uint2 values[2], const uint32_t shaded[2], uint32_t left, uint32_t top,
              uint32_t shadows[2])
{
  const uint32_t warp = threadIdx.x / WARP_LANES, lane = lane_id (), row = 2 * warp;
  const uint32_t halo = warp < HALO ? warp : warp + BLOCK_ROWS, last = task.frame.height - 1;
  /* rows above the frame have wrapped; nothing reads the halo outside the frame */
  const uint32_t y = min (top + halo, last);
  const size_t pitch = task.frame.planes[0].pitch;
  const uint8_t *pixels = task.frame.planes[0].samples + y * pitch;

  append_shaded (shared, shaded, row);
  shared.blurred[row + HALO][lane] = values[0];
  shared.blurred[row + HALO + 1][lane] = values[1];
  shared.blurred[halo][lane] =
      blur_unit (position, load_luma<ALIGNED> (task, pixels - (y > 0 ? pitch : 0), position.x),
                 load_luma<ALIGNED> (task, pixels, position.x),
                 load_luma<ALIGNED> (task, pixels + (y < last ? pitch : 0), position.x), 8);
  __syncthreads ();
#pragma unroll 1
  for (uint32_t i = threadIdx.x; i < shared.n_shaded; i += BLOCK_THREADS) {
    uint32_t index = shared.shaded[i], pixel = index - HALO * SHARED_PITCH;

    if (is_shadow (task, shared, index, left, top))
      atomicOr ((uint32_t *) shared.shadows + pixel / 32, 1u << pixel % 32);
  }
  __syncthreads ();
  shadows[0] = shared.shadows[row][lane];
  shadows[1] = shared.shadows[row + 1][lane];
}

/* Learning */

/* ccl_motion_follow() of two samples. @values: grey levels times CCL_MOTION_ONE. */
static __device__ inline uint32_t
follow2 (const CclMotionPace &pace, uint32_t old, uint32_t values)
{
  const uint32_t pull = both (CCL_MOTION_PULL), rate = 2 * (uint32_t) pace.rate;
  /* Rounds, and makes the difference and its share positive. */
  const uint32_t more = 0x8000 + (CCL_MOTION_PULL << 16) - CCL_MOTION_PULL * rate;
  uint32_t difference = min2 (max2 (values + pull, old), old + 2 * pull) - old;
  uint32_t low = (difference & 0xffff) * rate + more, high = (difference >> 16) * rate + more;

  return old + __byte_perm (low, high, 0x7632) - pull;
}

/* ccl_motion_noise() of four pixels: the weighted mean of the old and the measured noise, computed
 * in the highest byte, with both scaled down by 2^7. */
static __device__ inline uint32_t
noise4 (const CclMotionPace &pace, uint32_t noise, const uint32_t *olds, const uint32_t *values)
{
  const uint32_t rate = (uint32_t) pace.noise_rate << 9, rest = (1u << 24) - rate;
  const uint32_t more = (uint32_t) pace.dither << 17 | 1u << 16,
                 most = both (CCL_MOTION_MOST_NOISE);
  uint32_t sums[4];

#pragma unroll
  for (uint32_t k = 0; k < 2; k++) {
    uint32_t wanted = min2 (distance2 (values[k], olds[k]) >> 3 & 0x1fff1fffu, most);

    sums[2 * k] = (noise >> 16 * k & 255) * rest + (wanted & 0xffff) * rate + more;
    sums[2 * k + 1] = (noise >> (16 * k + 8) & 255) * rest + (wanted >> 16) * rate + more;
  }
  return __byte_perm (__byte_perm (sums[0], sums[1], 0x0073),
                      __byte_perm (sums[2], sums[3], 0x0073), 0x5410);
}

/* ccl_motion_learn_candidate() of four pixels. @step: their counts. Updates @candidates and
 * @counts. Returns a mask of the pixels whose candidate has become the background. @olds: grey
 * levels of the old background. */
static __device__ inline uint32_t
learn_candidates4 (const CclMotionPace &pace, uint32_t step, uint32_t values, uint32_t olds,
                   uint32_t *candidates, uint32_t *counts)
{
  const uint32_t candidate = *candidates, count = *counts;
  uint32_t brighter = reaches4 (values, candidate), darker = reaches4 (candidate, values);
  uint32_t distance = select4 (brighter, values, candidate) - select4 (brighter, candidate, values);
  uint32_t near = reaches4 (four (CCL_MOTION_CANDIDATE_RANGE), distance);
  uint32_t more = add4 (count, step), stays = reaches4 (count, 2 * step);
  uint32_t renewed = near & reaches4 (more, four (pace.enough));
  uint32_t follows = candidate + (~darker & 0x01010101u) - (~brighter & 0x01010101u);

  *candidates =
      select4 (near, select4 (renewed, olds, follows), select4 (stays, candidate, values));
  *counts = select4 (near, select4 (renewed, four (pace.enough >> 1), more),
                     (count & stays) - (2 * step & stays));
  return renewed;
}

/* Writes a unit's background. The last pixel of a row is repeated past its end, for its slope. */
static __device__ inline void
store_background (const CclModelTask &task, uint32_t x, uint32_t y, uint32_t *pixels)
{
  const uint32_t n = task.frame.width - x;
  uint16_t *row = background_row (task, ~task.newest, y);

  if (n < UNIT) {
    uint32_t last = 0;

#pragma unroll
    for (uint32_t i = 0; i < UNIT; i++) {
      uint32_t shift = 16 * (i % 2);

      if (i < n)
        last = pixels[i / 2] >> shift & 0xffff;
      pixels[i / 2] = (pixels[i / 2] & 0xffff0000u >> shift) | last << shift;
    }
  }
  *(uint4 *) (row + x) = uint4{ pixels[0], pixels[1], pixels[2], pixels[3] };
}

/* The first frame becomes the background. */
static __device__ inline void
begin_row (const CclModelTask &task, uint2 values, uint32_t x, uint32_t y)
{
  const size_t at = y * task.state.pitch + x;
  const uint32_t noise = four (CCL_MOTION_FIRST_NOISE);
  uint32_t pixels[4];

#pragma unroll
  for (uint32_t k = 0; k < 4; k++)
    pixels[k] = byte_pair (values, k) << 7;
  store_background (task, x, y, pixels);
  *(uint2 *) (task.state.noise + at) = uint2{ noise, noise };
  *(uint2 *) (task.state.candidates + at) = values;
  *(uint2 *) (task.state.counts + at) = uint2{ 0, 0 };
}

/* What the candidates of four pixels gain. */
static __device__ inline uint32_t
steps4 (const CclMotionPace &pace, uint32_t shadows, uint32_t lit)
{
  return select4 (shadows, four (pace.shadow_count),
                  select4 (lit, four (pace.lit_count), four (pace.count)));
}

/* Returns a mask of the pixels whose candidate has become the background. @kinds: bits of
 * foreground and shadow, of shadow, and of what is lit; if it is 0, @old_candidate is not used. */
static __device__ inline uint2
learn_row (const CclModelTask &task, const CclMotionPace &pace, uint2 values, uint32_t kinds,
           uint2 old_count, uint2 old_candidate, uint32_t x, uint32_t y)
{
  const size_t at = y * task.state.pitch + x;
  const uint4 old = load_old (task, x, y);
  const uint32_t olds[4] = { old.x, old.y, old.z, old.w };
  uint2 *noises = (uint2 *) (task.state.noise + at), *counts = (uint2 *) (task.state.counts + at);
  const uint2 old_noise = *noises;
  uint32_t lights[4], pixels[4];
  uint2 noise, count, renewed = { 0, 0 };

#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    lights[k] = byte_pair (values, k) << 7;
    pixels[k] = follow2 (pace, olds[k], lights[k]);
  }
  noise.x = noise4 (pace, old_noise.x, olds, lights);
  noise.y = noise4 (pace, old_noise.y, olds + 2, lights + 2);
  count.x = subtract4 (old_count.x, four (pace.count));
  count.y = subtract4 (old_count.y, four (pace.count));
  if (kinds) {
    const uint2 mask = unit_masks (kinds & 255);

    if (pace.count > 0) {
      const uint2 shadows = unit_masks (kinds >> UNIT & 255), lit = unit_masks (kinds >> 2 * UNIT);
      uint2 candidate = old_candidate, busy_count = old_count;

      renewed.x = mask.x & learn_candidates4 (pace, steps4 (pace, shadows.x, lit.x), values.x,
                                              __byte_perm (olds[0] >> 7, olds[1] >> 7, 0x6420),
                                              &candidate.x, &busy_count.x);
      renewed.y = mask.y & learn_candidates4 (pace, steps4 (pace, shadows.y, lit.y), values.y,
                                              __byte_perm (olds[2] >> 7, olds[3] >> 7, 0x6420),
                                              &candidate.y, &busy_count.y);
      count.x = select4 (mask.x, busy_count.x, count.x);
      count.y = select4 (mask.y, busy_count.y, count.y);
      *(uint2 *) (task.state.candidates + at) =
          uint2{ select4 (mask.x, candidate.x, old_candidate.x),
                 select4 (mask.y, candidate.y, old_candidate.y) };
    }
#pragma unroll
    for (uint32_t k = 0; k < 4; k++)
      pixels[k] = select4 (mask_pair (renewed, k), lights[k],
                           select4 (mask_pair (mask, k), olds[k], pixels[k]));
    noise.x =
        select4 (renewed.x, four (CCL_MOTION_FIRST_NOISE), select4 (mask.x, old_noise.x, noise.x));
    noise.y =
        select4 (renewed.y, four (CCL_MOTION_FIRST_NOISE), select4 (mask.y, old_noise.y, noise.y));
  }
  store_background (task, x, y, pixels);
  *noises = noise;
  if (count.x != old_count.x || count.y != old_count.y)
    *counts = count;
  return renewed;
}

/* Samples learn as the luma pixel at their top left does. @renewed: the mask of that pixel's
 * row. */
static __device__ inline void
learn_chroma (const CclModelTask &task, const CclMotionPace &pace, uint2 values, uint32_t x,
              uint32_t y, uint32_t busy, uint2 renewed)
{
  uint4 *at = chroma_at (task, x, y);
  const uint4 old = *at;
  uint32_t olds[4] = { old.x, old.y, old.z, old.w };

#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    uint32_t pair = byte_pair (values, k) << 7;

    if ((k < 2 ? renewed.x : renewed.y) >> 16 * (k % 2) & 1)
      olds[k] = pair;
    else if (!(busy >> 2 * k & 1))
      olds[k] = follow2 (pace, olds[k], pair);
  }
  *at = uint4{ olds[0], olds[1], olds[2], olds[3] };
}

/* Learns a warp's two rows, which are in @group. @kinds: see learn_row(). */
template <bool CHROMA>
static __device__ inline void
learn_rows (const CclModelTask &task, const uint2 values[2], uint2 chroma, const uint32_t kinds[2],
            uint32_t group, uint32_t x, uint32_t y)
{
  uint2 renewed = { ~0u, ~0u };

  if (task.step.first) {
    begin_row (task, values[0], x, y);
    if (y + 1 < task.frame.height)
      begin_row (task, values[1], x, y + 1);
    if (CHROMA)
      learn_chroma (task, task.step.paces[0], chroma, x / 2, y / 2, 0, renewed);
  } else {
    const CclMotionPace &pace = task.step.paces[group];
    const size_t pitch = y + 1 < task.frame.height ? task.state.pitch : 0;
    const size_t at = y * task.state.pitch + x;
    const uint2 counts[2] = { *(const uint2 *) (task.state.counts + at),
                              *(const uint2 *) (task.state.counts + at + pitch) };
    uint2 candidates[2] = {};

    if (kinds[0] | kinds[1]) {
      candidates[0] = *(const uint2 *) (task.state.candidates + at);
      candidates[1] = *(const uint2 *) (task.state.candidates + at + pitch);
    }
    renewed = learn_row (task, pace, values[0], kinds[0], counts[0], candidates[0], x, y);
    if (y + 1 < task.frame.height)
      learn_row (task, pace, values[1], kinds[1], counts[1], candidates[1], x, y + 1);
    if (CHROMA)
      learn_chroma (task, pace, chroma, x / 2, y / 2, kinds[0], renewed);
  }
}

static __device__ inline void
store_bits (const CclModelMask &mask, uint32_t x, uint32_t y, uint32_t bits)
{
  ((uint8_t *) (mask.words + y * mask.pitch))[x / 8] = (uint8_t) bits;
}

/* Adds a warp's row to the brightness. Whole warps call this before add_foreground(), whose
 * release is for it, too. */
static __device__ inline void
add_luma (const CclModelTask &task, uint2 values, uint32_t valid)
{
  const uint2 mask = unit_masks (valid);
  const uint32_t sum = warp_sum (
      __dp4a (values.x & mask.x, 0x01010101u, __dp4a (values.y & mask.y, 0x01010101u, 0u)));

  if (lane_id () == 0)
    atomicAdd (task.state.totals + 2, (unsigned long long) sum);
}

/* Adds a warp's foreground and, in the bits above, its shadows. Returns true in the grid's last
 * warp if the frame has too much of it. Whole warps call this after they have written their masks.
 * There is no barrier: warps that do not learn would wait for those that do. */
static __device__ inline bool
add_foreground (const CclModelTask &task, Shared &shared, uint32_t count)
{
  bool too_much = false;

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
        task.state.seen->luma = atomicExch (task.state.totals + 2, 0ull);
        task.state.totals[0] = 0;
        too_much = sum > task.most;
      }
    }
  }
  return __any_sync (ALL_LANES, too_much);
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
  uint32_t count = 0;
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
    add_luma (task, values[0], valid);
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
          lit[i] = find_shaded<true> (values[i], olds[i + 1], task.step.shady) & dark &
                   find_colours (uint2{ four (128), four (128) }, old_chroma, CCL_MOTION_COLOUR);
        shaded[i] = (find_shaded<false> (values[i], olds[i + 1], task.step.shady) & dark) | lit[i];
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
    find_shadows<ALIGNED> (task, position, shared, values, shaded, left, top - HALO, shadows);

#pragma unroll
  for (uint32_t i = 0; i < 2; i++) {
    lit[i] &= shadows[i];
    shadows[i] &= ~lit[i];
  }
  if (active && learns) {
    const uint32_t kinds[2] = { busy[0] | shadows[0] << UNIT | lit[0] << 2 * UNIT,
                                busy[1] | shadows[1] << UNIT | lit[1] << 2 * UNIT };

    learn_rows<CHROMA> (task, values, chroma, kinds, group, x, y);
  }

#pragma unroll
  for (uint32_t i = 0; i < 2; i++) {
    const uint32_t light = shadows[i] | (task.step.shady ? lit[i] : 0);
    const uint32_t foreground = busy[i] & ~light;

    /* also past the width, to the end of the last word */
    if (!stores || x >= (width + 63) / 64 * 64 || y + i >= height)
      continue;
    count += (uint32_t) __popc (foreground) + ((uint32_t) __popc (light) << COUNT_BITS);
    store_bits (task.mask, x, y + i, task.silent ? 0 : foreground);
    if (task.shadows.words)
      store_bits (task.shadows, x, y + i, task.silent ? 0 : light);
  }
  if (add_foreground (task, shared, count)) {
    /* Votes do not order memory accesses: this extends the first lane's fence to all lanes. */
    __syncwarp ();
    clear_mask (task, task.mask);
    clear_mask (task, task.shadows);
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
  if (task->step.align) {
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
