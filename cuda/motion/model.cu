/* cudaccl - CUDA backend: background models, the kernels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A thread has a unit of 8 pixels in two rows, which share a row of chroma and learn together. It
 * reads these and their neighbours through the L1 cache and blurs them in registers, four bytes at
 * a time; differences and thresholds it computes for two pixels at a time. Only where there may be
 * shadows, which need blurred pixels farther away, a block exchanges them in shared memory. */

#include "cuda/device/launch.cuh"
#include "cuda/device/warp.cuh"
#include "cuda/motion/model.h"
#include "cuda/tile/tile.cuh"

#define UNIT 8         /* pixels of a thread, in each row */
#define BLOCK_UNITS 16 /* of a block, side by side */
#define BLOCK_PAIRS 8  /* of rows, in a block */
#define BLOCK_ROWS (2 * BLOCK_PAIRS)
#define BLOCK_WIDTH (BLOCK_UNITS * UNIT)
#define BLOCK_THREADS (BLOCK_UNITS * BLOCK_PAIRS)
#define BLOCK_WARPS (BLOCK_THREADS / WARP_LANES)
#define HALO CCL_MOTION_SHADOW_STEP

/* Blurred pixels in shared memory: the block's, with HALO rows above and below, and a unit on
 * either side. */
#define SHARED_ROWS (BLOCK_ROWS + 2 * HALO)
#define SHARED_PITCH (BLOCK_WIDTH + 2 * UNIT)

#define HIGH_BITS 0x80008000u /* of two numbers of 16 bits */

/* Blocks that have ended, above the sum of their foreground. */
#define TICKET (1ull << 33)

/* A warp has two pairs of rows of one group, so that it learns as a whole or not at all. */
static_assert (BLOCK_WARPS == CCL_MOTION_GROUPS && BLOCK_PAIRS == 2 * CCL_MOTION_GROUPS,
               "a warp for each group");

/* Four bytes */

/* ccl_motion_average() of four bytes. */
static __device__ inline uint32_t
average4 (uint32_t a, uint32_t b)
{
  return (a | b) - (((a ^ b) & 0xfefefefeu) >> 1);
}

static __device__ inline uint32_t
blur4 (uint32_t before, uint32_t middle, uint32_t after)
{
  return average4 (average4 (before, after), middle);
}

/* Two numbers of 16 bits, less than 2^15 each unless noted otherwise */

static __device__ inline uint32_t
max2 (uint32_t a, uint32_t b)
{
  return __vmaxu2 (a, b);
}

static __device__ inline uint32_t
min2 (uint32_t a, uint32_t b)
{
  return __vminu2 (a, b);
}

static __device__ inline uint32_t
distance2 (uint32_t a, uint32_t b)
{
  return max2 (a, b) - min2 (a, b);
}

static __device__ inline uint32_t
half2 (uint32_t a)
{
  return a >> 1 & 0x7fff7fffu;
}

static __device__ inline uint32_t
both (uint32_t a)
{
  return a | a << 16;
}

/* In the high bits: a > b. */
static __device__ inline uint32_t
above2 (uint32_t a, uint32_t b)
{
  return ~((b | HIGH_BITS) - a) & HIGH_BITS;
}

/* The bits of above2() for pair number @k of a unit. */
static __device__ inline uint32_t
unit_bits (uint32_t high, uint32_t k)
{
  return ((high >> 15 & 1) | (high >> 30 & 2)) << 2 * k;
}

/* Bytes 2 @k and 2 @k + 1 of a unit, as two numbers. */
static __device__ inline uint32_t
byte_pair (uint2 bytes, uint32_t k)
{
  return __byte_perm (k < 2 ? bytes.x : bytes.y, 0, k % 2 ? 0x4342 : 0x4140);
}

/* Loads */

/* Eight bytes and their neighbours: the highest byte, or with samples in pairs the two highest
 * bytes, of @ends are those before, the lowest those behind. */
typedef struct Unit
{
  uint2 bytes;
  uint32_t ends;
} Unit;

static __device__ inline uint32_t
clamp_index (int64_t i, uint32_t n)
{
  return i < 0 ? 0 : i >= (int64_t) n ? n - 1 : (uint32_t) i;
}

static __device__ inline uint32_t
load_sample (const CclModelPlane &plane, uint32_t step, uint32_t x, uint32_t y)
{
  return __ldg (plane.samples + y * plane.pitch + (size_t) x * step);
}

/* The unit of luma at @x, repeating the border. */
static __device__ inline Unit
load_luma (const CclModelRun &run, uint32_t x, uint32_t y)
{
  const CclModelPlane &plane = run.frame.planes[0];
  const uint32_t width = run.frame.width;
  const uint8_t *row = plane.samples + y * plane.pitch;
  Unit unit;

  if (run.vectors[0] && width - x >= UNIT) {
    unit.bytes = __ldg ((const uint2 *) (row + x));
  } else {
    unit.bytes = uint2{ 0, 0 };
    for (uint32_t i = 0; i < UNIT / 2; i++) {
      unit.bytes.x |= (uint32_t) __ldg (row + min (x + i, width - 1)) << 8 * i;
      unit.bytes.y |= (uint32_t) __ldg (row + min (x + 4 + i, width - 1)) << 8 * i;
    }
  }
  unit.ends = (uint32_t) __ldg (row + (x > 0 ? x - 1 : 0)) << 24 |
              (uint32_t) __ldg (row + min (x + UNIT, width - 1));
  return unit;
}

/* Both chroma samples at @x, the second in the second byte. */
static __device__ inline uint32_t
load_chroma_pair (const CclModelRun &run, uint32_t x, uint32_t y)
{
  const CclModelPlane *planes = run.frame.planes;
  const uint32_t step = run.frame.step;

  if (run.vectors[1] == CCL_MODEL_PAIRS)
    return __ldg ((const uint16_t *) (planes[1].samples + y * planes[1].pitch) + x);
  return load_sample (planes[1], step, x, y) | load_sample (planes[2], step, x, y) << 8;
}

/* Four pairs of chroma samples from @x on. */
static __device__ inline Unit
load_chroma (const CclModelRun &run, uint32_t x, uint32_t y)
{
  const CclModelPlane *planes = run.frame.planes;
  const uint32_t last = run.frame.chroma_width - 1;
  Unit unit;

  if (run.vectors[1] == CCL_MODEL_PAIRS && last - x >= 3) {
    unit.bytes = __ldg ((const uint2 *) (planes[1].samples + y * planes[1].pitch + 2 * (size_t) x));
  } else if (run.vectors[1] == CCL_MODEL_VECTOR && last - x >= 3) {
    uint32_t u = __ldg ((const uint32_t *) (planes[1].samples + y * planes[1].pitch + x));
    uint32_t v = __ldg ((const uint32_t *) (planes[2].samples + y * planes[2].pitch + x));

    unit.bytes = uint2{ __byte_perm (u, v, 0x5140), __byte_perm (u, v, 0x7362) };
  } else {
    unit.bytes.x = load_chroma_pair (run, min (x, last), y) |
                   load_chroma_pair (run, min (x + 1, last), y) << 16;
    unit.bytes.y = load_chroma_pair (run, min (x + 2, last), y) |
                   load_chroma_pair (run, min (x + 3, last), y) << 16;
  }
  unit.ends = load_chroma_pair (run, x > 0 ? x - 1 : 0, y) << 16 |
              load_chroma_pair (run, min (x + 4, last), y);
  return unit;
}

/* The middle row, blurred; samples are @bits wide. */
static __device__ inline uint2
blur_unit (const Unit &above, const Unit &middle, const Unit &below, uint32_t bits)
{
  uint32_t low = blur4 (above.bytes.x, middle.bytes.x, below.bytes.x);
  uint32_t high = blur4 (above.bytes.y, middle.bytes.y, below.bytes.y);
  uint32_t ends = blur4 (above.ends, middle.ends, below.ends);

  return uint2{
    blur4 (__funnelshift_l (ends, low, bits), low, __funnelshift_r (low, high, bits)),
    blur4 (__funnelshift_l (low, high, bits), high, __funnelshift_r (high, ends, bits)),
  };
}

/* A unit of luma, blurred. */
static __device__ inline uint2
blur_luma (const CclModelRun &run, uint32_t x, uint32_t y)
{
  return blur_unit (load_luma (run, x, y > 0 ? y - 1 : 0), load_luma (run, x, y),
                    load_luma (run, x, min (y + 1, run.frame.height - 1)), 8);
}

/* The valid background of a row, without those rows that learn now. */
static __device__ inline const uint16_t *
old_row (const CclModelRun &run, uint32_t y)
{
  uint32_t copy = run.newest >> (y >> 1) % CCL_MOTION_GROUPS & 1;

  return (copy ? run.state.background[1] : run.state.background[0]) + y * run.state.pitch;
}

/* Which of a unit's pixels differ from the background. */
static __device__ inline uint32_t
find_differences (const CclModelRun &run, uint2 values, uint4 old, uint2 noise, uint32_t x,
                  uint32_t y)
{
  const uint16_t *row = old_row (run, y);
  const uint32_t floor = both (run.step.floor), cap = both (run.step.cap);
  uint4 above = *(const uint4 *) (old_row (run, y > 0 ? y - 1 : 0) + x);
  uint4 below = *(const uint4 *) (old_row (run, min (y + 1, run.frame.height - 1)) + x);
  uint32_t ends =
      (uint32_t) row[x > 0 ? x - 1 : 0] << 16 | row[min (x + UNIT, run.frame.width - 1)];
  /* pixels -1 and 0, 1 and 2, up to 7 and 8 */
  uint32_t odd[5] = { __funnelshift_l (ends, old.x, 16), __funnelshift_l (old.x, old.y, 16),
                      __funnelshift_l (old.y, old.z, 16), __funnelshift_l (old.z, old.w, 16),
                      __funnelshift_r (old.w, ends, 16) };
  uint32_t olds[4] = { old.x, old.y, old.z, old.w };
  uint32_t aboves[4] = { above.x, above.y, above.z, above.w };
  uint32_t belows[4] = { below.x, below.y, below.z, below.w };
  uint32_t bits = 0;

#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    uint32_t slope = max2 (distance2 (odd[k], odd[k + 1]), distance2 (aboves[k], belows[k]));
    /* 4 CCL_MOTION_ONE / 16 times the noise */
    uint32_t threshold = max2 (byte_pair (noise, k) << 5, floor) + half2 (slope);
    uint32_t difference = distance2 (byte_pair (values, k) << 7, olds[k]);

    bits |= unit_bits (above2 (difference, min2 (threshold, cap)), k);
  }
  return bits;
}

/* ccl_motion_shaded() of a unit. */
static __device__ inline uint32_t
find_shaded (uint2 values, uint4 old)
{
  uint32_t olds[4] = { old.x, old.y, old.z, old.w }, bits = 0;

#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    uint32_t value = byte_pair (values, k) << 7;

    bits |= unit_bits (above2 (olds[k], value) & above2 (value, half2 (olds[k])), k);
  }
  return bits;
}

/* The blurred pixels of a block; (left, top) is the block's first pixel. */
typedef struct Blurred
{
  uint32_t left, top;
  uint8_t (*rows)[SHARED_PITCH];
} Blurred;

static __device__ inline uint8_t *
blurred_at (const Blurred &blurred, uint32_t x, uint32_t y)
{
  return &blurred.rows[(int32_t) (y - blurred.top) + HALO][(int32_t) (x - blurred.left) + UNIT];
}

static __device__ inline void
store_unit (const Blurred &blurred, uint32_t x, uint32_t y, uint2 values)
{
  *(uint2 *) blurred_at (blurred, x, y) = values;
}

/* Blurs what lies around the block, inside the frame. */
static __device__ inline void
blur_halo (const CclModelRun &run, const Blurred &blurred)
{
  const uint32_t column = threadIdx.x % BLOCK_UNITS, row = threadIdx.x / BLOCK_UNITS;
  const uint32_t side = threadIdx.x % 2, i = threadIdx.x / 2;
  uint32_t x = blurred.left + column * UNIT;
  uint32_t y = blurred.top + (row < HALO ? row - HALO : BLOCK_ROWS + row - HALO);

  /* what would be negative is past the end */
  if (row < 2 * HALO && x < run.frame.width && y < run.frame.height)
    store_unit (blurred, x, y, blur_luma (run, x, y));
  x = side ? blurred.left + BLOCK_WIDTH : blurred.left - UNIT;
  y = blurred.top - HALO + i;
  if (i < SHARED_ROWS && x < run.frame.width && y < run.frame.height)
    store_unit (blurred, x, y, blur_luma (run, x, y));
}

static_assert (BLOCK_PAIRS >= 2 * HALO && SHARED_ROWS <= BLOCK_THREADS / 2, "one unit is enough");

static __device__ inline bool
is_shadow (const CclModelRun &run, const Blurred &blurred, uint32_t x, uint32_t y)
{
  int values[CCL_MOTION_SHADOW_PIXELS], backgrounds[CCL_MOTION_SHADOW_PIXELS];

#pragma unroll
  for (int v = 0; v < 3; v++) {
    uint32_t near = clamp_index ((int64_t) y + (v - 1) * HALO, run.frame.height);
    const uint16_t *row = old_row (run, near);

#pragma unroll
    for (int u = 0; u < 3; u++) {
      uint32_t at = clamp_index ((int64_t) x + (u - 1) * HALO, run.frame.width);

      values[3 * v + u] = *blurred_at (blurred, at, near);
      backgrounds[3 * v + u] = row[at];
    }
  }
  return ccl_motion_keeps_texture (values, backgrounds);
}

/* Learning */

/* A thread's part of a row. What it compares with is loaded again where it learns: registers are
 * short. */
typedef struct Row
{
  uint32_t y;
  uint2 values;
  uint32_t busy; /* bits: foreground or shadow */
} Row;

static __device__ inline uint4
load_old (const CclModelRun &run, uint32_t x, uint32_t y)
{
  return *(const uint4 *) (old_row (run, y) + x);
}

static __device__ inline uint2 *
noise_at (const CclModelRun &run, uint32_t x, uint32_t y)
{
  return (uint2 *) (run.state.noise + y * run.state.pitch + x);
}

static __device__ inline int
byte_of (uint2 bytes, uint32_t i)
{
  return (i < 4 ? bytes.x : bytes.y) >> 8 * (i % 4) & 255;
}

static __device__ inline void
put_byte (uint2 *bytes, uint32_t i, int value)
{
  uint32_t *word = i < 4 ? &bytes->x : &bytes->y;

  *word |= (uint32_t) value << 8 * (i % 4);
}

static __device__ inline int
number_of (uint4 numbers, uint32_t i)
{
  uint32_t words[4] = { numbers.x, numbers.y, numbers.z, numbers.w };

  return words[i / 2] >> 16 * (i % 2) & 0xffff;
}

/* Writes a background. Behind the last pixel of a row it is repeated, for the slope there. */
static __device__ inline void
store_background (const CclModelRun &run, uint32_t x, uint32_t y, const int *background)
{
  uint32_t copy = ~run.newest >> (y >> 1) % CCL_MOTION_GROUPS & 1, words[4], last = 0;
  uint16_t *row = (copy ? run.state.background[1] : run.state.background[0]) + y * run.state.pitch;

#pragma unroll
  for (uint32_t i = 0; i < UNIT; i++) {
    if (x + i < run.frame.width)
      last = (uint32_t) background[i];
    if (i % 2)
      words[i / 2] |= last << 16;
    else
      words[i / 2] = last;
  }
  *(uint4 *) (row + x) = uint4{ words[0], words[1], words[2], words[3] };
}

/* A unit without foreground. */
static __device__ inline void
learn_quiet (const CclModelRun &run, const CclMotionPace &pace, const Row &row, uint32_t x)
{
  const size_t at = row.y * run.state.pitch + x;
  const uint4 old_background = load_old (run, x, row.y);
  const uint2 old_noise = *noise_at (run, x, row.y);
  uint2 *counts = (uint2 *) (run.state.counts + at), noise = { 0, 0 }, count = { 0, 0 };
  int background[UNIT];

#pragma unroll
  for (uint32_t i = 0; i < UNIT; i++) {
    int value = byte_of (row.values, i), old = number_of (old_background, i);

    background[i] = ccl_motion_follow (&pace, old, value);
    put_byte (&noise, i, ccl_motion_noise (&pace, byte_of (old_noise, i), value, old));
  }
  store_background (run, x, row.y, background);
  *noise_at (run, x, row.y) = noise;
  if (pace.count == 0)
    return;
  count = *counts;
  if ((count.x | count.y) == 0)
    return;
  noise = count;
  count = uint2{ 0, 0 };
#pragma unroll
  for (uint32_t i = 0; i < UNIT; i++)
    put_byte (&count, i, ccl_motion_max (byte_of (noise, i) - pace.count, 0));
  *counts = count;
}

/* Any unit. Returns the bits of pixels whose candidate became the background. */
static __device__ inline uint32_t
learn_busy (const CclModelRun &run, const CclMotionPace &pace, const Row &row, uint32_t x)
{
  const size_t at = row.y * run.state.pitch + x;
  const uint4 old_background = load_old (run, x, row.y);
  const uint2 old_noise = *noise_at (run, x, row.y);
  uint2 *candidates = (uint2 *) (run.state.candidates + at);
  uint2 *counts = (uint2 *) (run.state.counts + at);
  const uint2 old_candidate = *candidates, old_count = *counts;
  uint2 noise = { 0, 0 }, candidate = { 0, 0 }, count = { 0, 0 };
  uint32_t renewed = run.step.first ? 255 : 0;
  int background[UNIT];

#pragma unroll
  for (uint32_t i = 0; i < UNIT; i++) {
    int value = byte_of (row.values, i);
    CclMotionPixel pixel = { number_of (old_background, i), byte_of (old_noise, i),
                             byte_of (old_candidate, i), byte_of (old_count, i) };

    if (run.step.first)
      ccl_motion_begin_pixel (&pixel, value);
    else if (row.busy >> i & 1)
      renewed |= (uint32_t) ccl_motion_learn_candidate (&pace, &pixel, value) << i;
    else
      ccl_motion_learn_background (&pace, &pixel, value);
    background[i] = pixel.background;
    put_byte (&noise, i, pixel.noise);
    put_byte (&candidate, i, pixel.candidate);
    put_byte (&count, i, pixel.count);
  }
  store_background (run, x, row.y, background);
  *noise_at (run, x, row.y) = noise;
  *candidates = candidate;
  *counts = count;
  return renewed;
}

static __device__ inline uint32_t
learn_row (const CclModelRun &run, const CclMotionPace &pace, const Row &row, uint32_t x)
{
  if (row.busy || run.step.first)
    return learn_busy (run, pace, row, x);
  learn_quiet (run, pace, row, x);
  return 0;
}

/* The pace of a group: an index would copy the array to local memory. */
static __device__ inline CclMotionPace
pace_of (const CclMotionStep &step, uint32_t group)
{
  CclMotionPace pace = step.paces[0];

#pragma unroll
  for (uint32_t i = 1; i < CCL_MOTION_GROUPS; i++)
    if (i == group)
      pace = step.paces[i];
  return pace;
}

/* Chroma of a pair of rows. */
typedef struct Chroma
{
  uint2 values;     /* four pairs of samples, blurred */
  uint32_t differs; /* a bit for each pixel of a row */
} Chroma;

static __device__ inline uint4 *
chroma_at (const CclModelRun &run, uint32_t x, uint32_t y)
{
  return (uint4 *) (run.state.chroma + y * (run.state.pitch / 2) + x);
}

static __device__ inline Chroma
compare_chroma (const CclModelRun &run, uint32_t x, uint32_t y)
{
  const uint32_t bottom = run.frame.chroma_height - 1;
  const uint4 old = *chroma_at (run, x, y);
  const uint32_t olds[4] = { old.x, old.y, old.z, old.w };
  Chroma chroma;

  chroma.values = blur_unit (load_chroma (run, x, y > 0 ? y - 1 : 0), load_chroma (run, x, y),
                             load_chroma (run, x, min (y + 1, bottom)), 16);
  chroma.differs = 0;
#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    uint32_t distance = distance2 (byte_pair (chroma.values, k) << 7, olds[k]);

    if ((distance & 0xffff) + (distance >> 16) > run.step.chroma_floor)
      chroma.differs |= 3u << 2 * k;
  }
  return chroma;
}

/* Samples do what the luma pixel at their top left does. */
static __device__ inline void
learn_chroma (const CclModelRun &run, const CclMotionPace &pace, const Chroma &chroma, uint32_t x,
              uint32_t y, uint32_t busy, uint32_t renewed)
{
  const uint4 old = *chroma_at (run, x, y);
  uint32_t olds[4] = { old.x, old.y, old.z, old.w };

#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    int u = byte_of (chroma.values, 2 * k), v = byte_of (chroma.values, 2 * k + 1);
    int old_u = olds[k] & 0xffff, old_v = olds[k] >> 16;

    if (renewed >> 2 * k & 1)
      olds[k] = byte_pair (chroma.values, k) << 7;
    else if (!(busy >> 2 * k & 1))
      olds[k] = (uint32_t) ccl_motion_follow (&pace, old_u, u) |
                (uint32_t) ccl_motion_follow (&pace, old_v, v) << 16;
  }
  *chroma_at (run, x, y) = uint4{ olds[0], olds[1], olds[2], olds[3] };
}

static __device__ inline void
store_bits (const CclModelMask &mask, uint32_t x, uint32_t y, uint32_t bits)
{
  ((uint8_t *) (mask.words + y * mask.pitch))[x / 8] = (uint8_t) bits;
}

/* Adds the foreground of a block. Returns true in the last block if there is too much of it. All
 * threads call this, after they wrote their masks. */
static __device__ inline bool
add_foreground (const CclModelRun &run, uint32_t count)
{
  __shared__ uint32_t counts[BLOCK_WARPS];
  __shared__ bool too_much;

  count = warp_sum (count);
  if (threadIdx.x % WARP_LANES == 0)
    counts[threadIdx.x / WARP_LANES] = count;
  __syncthreads ();
  if (threadIdx.x == 0) {
    unsigned long long before, sum;

    for (uint32_t i = 1; i < BLOCK_WARPS; i++)
      count += counts[i];
    __threadfence ();
    before = atomicAdd (run.state.total, TICKET + count);
    sum = before % TICKET + count;
    too_much = false;
    if (before / TICKET == gridDim.x - 1) {
      *run.state.foreground = sum;
      *run.state.total = 0;
      too_much = sum > run.most;
    }
  }
  __syncthreads ();
  return too_much;
}

static __device__ inline void
clear_mask (const CclModelRun &run, const CclModelMask &mask)
{
  const uint32_t words = (run.frame.width - 1) / 64 + 1;

  for (uint32_t y = threadIdx.x / WARP_LANES; mask.words && y < run.frame.height; y += BLOCK_WARPS)
    for (uint32_t i = threadIdx.x % WARP_LANES; i < words; i += WARP_LANES)
      mask.words[y * mask.pitch + i] = 0;
}

template <bool CHROMA>
static __global__ void
__launch_bounds__ (BLOCK_THREADS, 8) motion_model (const CclModelRun run)
{
  __shared__ uint2 shared[SHARED_ROWS][SHARED_PITCH / UNIT];
  const uint32_t block_row = divide (blockIdx.x, run.columns, run.column_reciprocal);
  const Blurred blurred = { (blockIdx.x - block_row * run.columns) * BLOCK_WIDTH,
                            block_row * BLOCK_ROWS, (uint8_t (*)[SHARED_PITCH]) shared };
  const uint32_t pair = threadIdx.x / WARP_LANES + threadIdx.x / BLOCK_UNITS % 2 * BLOCK_WARPS;
  const uint32_t x = blurred.left + threadIdx.x % BLOCK_UNITS * UNIT, y = blurred.top + 2 * pair;
  const bool active = x < run.frame.width && y < run.frame.height;
  const uint32_t valid = run.frame.width - x < UNIT ? (1u << (run.frame.width - x)) - 1 : 255;
  Row rows[2] = {};
  Chroma chroma = {};
  uint32_t shaded[2] = { 0, 0 }, shadows[2] = { 0, 0 }, count = 0;

  rows[0].y = y;
  rows[1].y = min (y + 1, run.frame.height - 1);
  if (active) {
    Unit above = load_luma (run, x, y > 0 ? y - 1 : 0), first = load_luma (run, x, y);
    Unit second = load_luma (run, x, rows[1].y);
    Unit below = load_luma (run, x, min (y + 2, run.frame.height - 1));

    if (CHROMA)
      chroma = compare_chroma (run, x / 2, y / 2);
    rows[0].values = blur_unit (above, first, second, 8);
    rows[1].values = blur_unit (first, second, below, 8);
#pragma unroll
    for (uint32_t i = 0; i < 2 && !run.step.first; i++) {
      const uint4 old = load_old (run, x, rows[i].y);
      uint32_t differs =
          find_differences (run, rows[i].values, old, *noise_at (run, x, rows[i].y), x, rows[i].y);

      rows[i].busy = (differs | chroma.differs) & valid;
      differs &= ~chroma.differs & valid;
      if (run.step.shadows && differs)
        shaded[i] = find_shaded (rows[i].values, old) & differs;
    }
  }

  if (__syncthreads_or (shaded[0] | shaded[1])) {
    if (active) {
      store_unit (blurred, x, y, rows[0].values);
      store_unit (blurred, x, y + 1, rows[1].values); /* past the frame's end nothing reads it */
    }
    blur_halo (run, blurred);
    __syncthreads ();
#pragma unroll
    for (uint32_t i = 0; i < 2; i++)
      for (uint32_t left = shaded[i]; left; left &= left - 1) {
        uint32_t bit = (uint32_t) __ffs ((int) left) - 1;

        if (is_shadow (run, blurred, x + bit, rows[i].y))
          shadows[i] |= 1u << bit;
      }
  }

  if (active && run.step.learn >> (y >> 1) % CCL_MOTION_GROUPS & 1) {
    const CclMotionPace pace = pace_of (run.step, (y >> 1) % CCL_MOTION_GROUPS);
    const uint32_t renewed = learn_row (run, pace, rows[0], x);

    if (rows[1].y > y)
      learn_row (run, pace, rows[1], x);
    if (CHROMA)
      learn_chroma (run, pace, chroma, x / 2, y / 2, rows[0].busy, renewed);
  }

#pragma unroll
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t foreground = rows[i].busy & ~shadows[i];

    /* also past the width, to the end of the last word */
    if (x >= (run.frame.width + 63) / 64 * 64 || y + i >= run.frame.height)
      continue;
    count += (uint32_t) __popc (foreground);
    store_bits (run.mask, x, y + i, run.silent ? 0 : foreground);
    if (run.shadows.words)
      store_bits (run.shadows, x, y + i, run.silent ? 0 : shadows[i]);
  }
  if (add_foreground (run, count)) {
    clear_mask (run, run.mask);
    clear_mask (run, run.shadows);
  }
}

static bool
is_aligned (const CclModelPlane *plane, size_t bytes)
{
  return ((uintptr_t) plane->samples | plane->pitch) % bytes == 0;
}

/* Chroma in turns begins with plane 1: which of the two is the first does not matter, as long as it
 * stays so. */
static CclModelVectors
chroma_vectors (CclModelFrame *frame)
{
  CclModelPlane *planes = frame->planes;

  if (frame->step == 2 && planes[2].samples + 1 == planes[1].samples) {
    CclModelPlane first = planes[2];

    planes[2] = planes[1];
    planes[1] = first;
  }
  if (frame->step == 2 && planes[1].samples + 1 == planes[2].samples &&
      planes[1].pitch == planes[2].pitch && is_aligned (&planes[1], 8))
    return CCL_MODEL_PAIRS;
  if (frame->step == 1 && is_aligned (&planes[1], 4) && is_aligned (&planes[2], 4))
    return CCL_MODEL_VECTOR;
  return CCL_MODEL_SINGLE;
}

cudaError_t
ccl_cuda_model_apply (CclModelRun *run, cudaStream_t stream)
{
  const bool chroma = run->frame.chroma_width > 0;
  uint32_t rows = (run->frame.height - 1) / BLOCK_ROWS + 1;

  run->columns = (run->frame.width - 1) / BLOCK_WIDTH + 1;
  run->column_reciprocal = UINT32_MAX / run->columns;
  run->vectors[0] = is_aligned (&run->frame.planes[0], 8);
  run->vectors[1] = chroma ? (uint8_t) chroma_vectors (&run->frame) : 0;
  return launch (chroma ? motion_model<true> : motion_model<false>, run->columns * rows,
                 BLOCK_THREADS, 0, stream, *run);
}

/* Frames and masks of other sizes */

#define SCALE_THREADS 256

/* The rounded mean of the samples of a plane of @width by @height that make sample (x, y). */
static __device__ inline uint8_t
mean_of (const CclModelPlane &plane, uint32_t step, uint32_t width, uint32_t height, uint32_t x,
         uint32_t y, uint32_t scale)
{
  uint32_t right = min ((x + 1) * scale, width), bottom = min ((y + 1) * scale, height);
  uint32_t n = (right - x * scale) * (bottom - y * scale), sum = n / 2;

  for (uint32_t v = y * scale; v < bottom; v++)
    for (uint32_t u = x * scale; u < right; u++)
      sum += load_sample (plane, step, u, v);
  return (uint8_t) (sum / n);
}

/* A thread makes a pixel of luma, and those with even coordinates a pair of chroma samples. */
static __global__ void
__launch_bounds__ (SCALE_THREADS)
    motion_shrink (const CclModelFrame from, const CclModelFrame to, uint32_t scale)
{
  uint64_t i = (uint64_t) blockIdx.x * SCALE_THREADS + threadIdx.x;
  uint32_t y = (uint32_t) (i / to.width), x = (uint32_t) (i - (uint64_t) y * to.width);

  if (y >= to.height)
    return;
  ((uint8_t *) to.planes[0].samples)[y * to.planes[0].pitch + x] =
      mean_of (from.planes[0], 1, from.width, from.height, x, y, scale);
  if (to.chroma_width == 0 || x % 2 || y % 2)
    return;
  for (uint32_t k = 1; k < 3; k++)
    ((uint8_t *) to.planes[k].samples)[y / 2 * to.planes[k].pitch + x] = mean_of (
        from.planes[k], from.step, from.chroma_width, from.chroma_height, x / 2, y / 2, scale);
}

/* Repeats each of the lowest bits @scale times. */
static __device__ inline uint32_t
repeat_bits (uint32_t bits, uint32_t scale)
{
  if (scale == 2) {
    bits &= 0xffff;
    bits = (bits | bits << 8) & 0x00ff00ffu;
    bits = (bits | bits << 4) & 0x0f0f0f0fu;
    bits = (bits | bits << 2) & 0x33333333u;
    bits = (bits | bits << 1) & 0x55555555u;
    return bits * 3;
  }
  bits &= 0xff;
  bits = (bits | bits << 12) & 0x000f000fu;
  bits = (bits | bits << 6) & 0x03030303u;
  bits = (bits | bits << 3) & 0x11111111u;
  return bits * 15;
}

/* A thread makes 32 pixels. */
static __global__ void
__launch_bounds__ (SCALE_THREADS) motion_enlarge (const CclModelMask from, const CclModelMask to,
                                                  uint32_t width, uint32_t height, uint32_t scale)
{
  const uint32_t words = (width - 1) / 64 * 2 + 2;
  uint64_t i = (uint64_t) blockIdx.x * SCALE_THREADS + threadIdx.x;
  uint32_t y = (uint32_t) (i / words), x = (uint32_t) (i - (uint64_t) y * words), bits = 0;

  if (y >= height)
    return;
  if (x * 32 < width) {
    const uint32_t *row = (const uint32_t *) (from.words + y / scale * from.pitch);

    bits = repeat_bits (row[x / scale] >> x % scale * (32 / scale), scale);
    if (width - x * 32 < 32)
      bits &= (1u << (width - x * 32)) - 1;
  }
  ((uint32_t *) (to.words + y * to.pitch))[x] = bits;
}

static uint32_t
scale_blocks (uint64_t threads)
{
  return (uint32_t) ((threads - 1) / SCALE_THREADS + 1);
}

cudaError_t
ccl_cuda_model_shrink (const CclModelFrame *from, const CclModelFrame *to, uint32_t scale,
                       cudaStream_t stream)
{
  uint32_t blocks = scale_blocks ((uint64_t) to->width * to->height);

  return launch (motion_shrink, blocks, SCALE_THREADS, 0, stream, *from, *to, scale);
}

cudaError_t
ccl_cuda_model_enlarge (const CclModelMask *from, const CclModelMask *to, uint32_t width,
                        uint32_t height, uint32_t scale, cudaStream_t stream)
{
  uint32_t blocks = scale_blocks ((uint64_t) ((width - 1) / 64 * 2 + 2) * height);

  return launch (motion_enlarge, blocks, SCALE_THREADS, 0, stream, *from, *to, width, height,
                 scale);
}
