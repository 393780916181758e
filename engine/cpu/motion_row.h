/* cudaccl - CPU backend: background models, one row
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Included by each instruction set's file, to be compiled for it. Most blocks of 64 pixels have no
 * foreground and learn without branches for single pixels. */

#ifndef CCL_CPU_MOTION_ROW_H
#define CCL_CPU_MOTION_ROW_H

/* Vectors are passed between inline functions only: their ABI does not matter. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpsabi"
#endif

#include "engine/cpu/lanes.h"
#include "engine/cpu/motion_functions.h"

#include <string.h>

#define PARTS (64 / LANES) /* vectors of a block */
#define SUMS 512           /* of columns at a time */

/* The differences of a block, 1/128 grey levels. */
static inline Lanes
difference_of (const uint8_t *values, const uint16_t *background)
{
  return lanes_sub (lanes_left (lanes_load8 (values), 7), lanes_load (background));
}

/* Prefetches the cache line of @memory. Processors do not prefetch across pages, and a row's state
 * is a page or more. */
static inline void
fetch (const void *memory)
{
  __builtin_prefetch (memory);
}

static void
take_alternate (uint8_t *row, const uint8_t *samples, const uint8_t *next, uint32_t width)
{
  size_t x = 0;

  for (; x + LANES8 < width; x += LANES8) {
    if (x % 32 == 0)
      fetch (next + 2 * x);
    if (LANES8 == 64)
      fetch (next + 2 * x + 64);
    lanes8_store (row + x, lanes8_even (samples + 2 * x));
  }
  for (; x < width; x++)
    row[x] = samples[2 * x];
}

/* Inlined for constant @scale and @step, so that the compiler vectorises the loops. */
static inline __attribute__ ((always_inline)) void
shrink (uint8_t *row, const uint8_t *samples, size_t stride, uint32_t width, unsigned scale,
        unsigned step)
{
  uint16_t sums[SUMS];
  const size_t bytes = (size_t) scale * step, most = SUMS / bytes;

  for (size_t first = 0; first < width; first += most) {
    size_t n = width - first < most ? width - first : most;
    const uint8_t *from = samples + first * bytes;

    for (size_t i = 0; i < n * bytes - (step - 1); i++) {
      unsigned sum = 0;

      for (unsigned y = 0; y < scale; y++)
        sum += from[y * stride + i];
      sums[i] = (uint16_t) sum;
    }
    for (size_t x = 0; x < n; x++) {
      unsigned sum = scale * scale / 2;

      for (unsigned i = 0; i < scale; i++)
        sum += sums[x * bytes + (size_t) i * step];
      row[first + x] = (uint8_t) (sum / (scale * scale));
    }
  }
}

static void
shrink_row (uint8_t *row, const uint8_t *samples, size_t stride, uint32_t width, unsigned scale,
            unsigned step)
{
  if (scale == 2 && step == 1)
    shrink (row, samples, stride, width, 2, 1);
  else if (scale == 2)
    shrink (row, samples, stride, width, 2, 2);
  else if (step == 1)
    shrink (row, samples, stride, width, 4, 1);
  else
    shrink (row, samples, stride, width, 4, 2);
}

static void
blur_row (uint8_t *blurred, uint8_t *columns, const uint8_t *above, const uint8_t *middle,
          const uint8_t *below, const uint8_t *next, uint32_t width)
{
  const size_t n = width;
  size_t x = 0;

  /* All columns first: reading right behind a write, and across two, would wait for them. */
  for (; x + LANES8 <= n; x += LANES8) {
    Lanes8 outer = lanes8_average (lanes8_load (above + x), lanes8_load (below + x));

    if (x % 64 == 0)
      fetch (next + x);
    lanes8_store (columns + x, lanes8_average (outer, lanes8_load (middle + x)));
  }
  for (; x < n; x++)
    columns[x] = (uint8_t) ccl_motion_blur (above[x], middle[x], below[x]);
  columns[-1] = columns[0];
  columns[n] = columns[n - 1];
  for (x = 0; x < n; x += LANES8) {
    Lanes8 outer = lanes8_average (lanes8_load (columns + x - 1), lanes8_load (columns + x + 1));

    lanes8_store (blurred + x, lanes8_average (outer, lanes8_load (columns + x)));
  }
}

/* Whether any pixel of a block differs by more than the floor. In most blocks none does, and the
 * noise and slope need not be computed. */
static inline bool
any_difference (const CclMotionRow *row, uint32_t x)
{
  Lanes most = lanes_set (0);

  for (unsigned i = 0; i < PARTS; i++) {
    size_t at = x + (size_t) i * LANES;

    most =
        lanes_max (most, lanes_abs (difference_of (row->values[2] + at, row->backgrounds[2] + at)));
  }
  return lanes_any (lanes_gt (most, lanes_set (row->step->floor)));
}

/* Which pixels of a block differ. */
static uint64_t
find_differences (const CclMotionRow *row, uint32_t x)
{
  const Lanes floor = lanes_set (row->step->floor), cap = lanes_set (row->step->cap);
  const uint16_t *background = row->backgrounds[2] + x;
  const uint16_t *above = row->backgrounds[1] + x, *below = row->backgrounds[3] + x;
  const uint8_t *values = row->values[2] + x, *noise = row->noise + x;
  LanesMask differs[PARTS];

  for (unsigned i = 0; i < PARTS; i++) {
    ptrdiff_t at = (ptrdiff_t) i * LANES;
    Lanes old = lanes_load (background + at), value = lanes_left (lanes_load8 (values + at), 7);
    Lanes difference = lanes_sub (value, old);
    Lanes threshold = lanes_left (lanes_load8 (noise + at), 5);
    Lanes across = lanes_sub (lanes_load (background + at - 1), lanes_load (background + at + 1));
    Lanes down = lanes_sub (lanes_load (above + at), lanes_load (below + at));
    Lanes slope = lanes_max (lanes_abs (across), lanes_abs (down));

    threshold = lanes_max (threshold, floor);
    threshold = lanes_min (lanes_add_saturated (threshold, lanes_right (slope, 1)), cap);
    differs[i] = lanes_gt (lanes_abs (difference), threshold);
  }
  return lanes_bits (differs);
}

/* ccl_motion_keeps_texture() of LANES pixels. Sums of nine samples, 2040 at most, fit. */
static inline LanesMask
keep_texture (const CclMotionRow *row, ptrdiff_t x)
{
  Lanes values[CCL_MOTION_SHADOW_PIXELS], backgrounds[CCL_MOTION_SHADOW_PIXELS];
  Lanes zero = lanes_set (0), sum = zero, background = zero;
  LanesWide spread, product;

  for (int n = 0; n < CCL_MOTION_SHADOW_PIXELS; n++) {
    ptrdiff_t at = x + (n % 3 - 1) * CCL_MOTION_SHADOW_STEP;

    values[n] = lanes_left (lanes_load8 (row->values[n / 3 * 2] + at), 3);
    backgrounds[n] = lanes_right (lanes_load (row->backgrounds[n / 3 * 2] + at), 4);
    sum = lanes_add (sum, values[n]);
    background = lanes_add (background, backgrounds[n]);
  }
  product = lanes_cross (sum, background, zero, zero);
  spread = lanes_cross (zero, zero, zero, zero);
  for (int n = 0; n < CCL_MOTION_SHADOW_PIXELS; n++)
    spread = wide_add_abs (spread, lanes_cross (values[n], background, backgrounds[n], sum));
  return wide_at_most (spread, wide_times (wide_right (product, 8), CCL_MOTION_SHADOW_SPREAD));
}

/* Which pixels of a block are dark enough for a shadow. */
static inline uint64_t
find_shaded (const CclMotionRow *row, uint32_t x)
{
  const uint16_t *background = row->backgrounds[2] + x;
  const uint8_t *values = row->values[2] + x;
  LanesMask shaded[PARTS];

  for (unsigned i = 0; i < PARTS; i++) {
    Lanes old = lanes_load (background + i * LANES);
    Lanes value = lanes_left (lanes_load8 (values + i * LANES), 7);

    shaded[i] = lanes_and (lanes_gt (old, value), lanes_gt (value, lanes_right (old, 1)));
  }
  return lanes_bits (shaded);
}

/* Which of the pixels of a block that differ are shadows. */
__attribute__ ((noinline)) static uint64_t
find_shadows (const CclMotionRow *row, uint32_t x, uint64_t differs)
{
  const uint64_t part = (UINT64_C (1) << LANES) - 1;
  uint64_t shaded = find_shaded (row, x) & differs;
  LanesMask kept[PARTS];

  if (!shaded)
    return 0;
  for (unsigned i = 0; i < PARTS; i++) {
    kept[i] = lanes_gt (lanes_set (0), lanes_set (0));
    if (shaded >> i * LANES & part)
      kept[i] = keep_texture (row, (ptrdiff_t) x + i * LANES);
  }
  return lanes_bits (kept) & shaded;
}

static inline Lanes
follow (Lanes difference, Lanes background, const CclMotionPace *pace)
{
  const Lanes pull = lanes_set (CCL_MOTION_PULL), push = lanes_set (-CCL_MOTION_PULL);
  Lanes clamped = lanes_max (lanes_min (difference, pull), push);

  return lanes_add (background, lanes_scale (clamped, lanes_set (pace->rate)));
}

static inline Lanes
follow_noise (Lanes difference, Lanes noise, const CclMotionPace *pace)
{
  Lanes wanted = lanes_right (lanes_abs (difference), 3);
  Lanes change = lanes_sub (lanes_min (wanted, lanes_set (CCL_MOTION_MOST_NOISE)), noise);

  change = lanes_scale (lanes_left (change, 7), lanes_set (pace->noise_rate));
  change = lanes_add (change, lanes_set (pace->dither));
  return lanes_right (lanes_add (lanes_left (noise, 7), change), 7);
}

static inline bool
any_count (const uint8_t *counts)
{
  Lanes most = lanes_set (0);

  for (unsigned i = 0; i < PARTS; i++)
    most = lanes_max (most, lanes_load8 (counts + (size_t) i * LANES));
  return lanes_any (lanes_gt (most, lanes_set (0)));
}

/* A block without foreground. */
static inline void
learn_quiet (const CclMotionRow *row, uint32_t x)
{
  const CclMotionPace *pace = row->pace;
  const uint8_t *values = row->values[2] + x;
  const uint16_t *old_background = row->backgrounds[2] + x;
  uint16_t *background = row->background + x;
  uint8_t *noise = row->noise + x;
  Lanes noises[PARTS];

  for (unsigned i = 0; i < PARTS; i++) {
    ptrdiff_t at = (ptrdiff_t) i * LANES;
    Lanes old = lanes_load (old_background + at);
    Lanes difference = difference_of (values + at, old_background + at);

    lanes_store (background + at, follow (difference, old, pace));
    noises[i] = follow_noise (difference, lanes_load8 (noise + at), pace);
  }
  for (unsigned i = 0; i < PARTS; i++)
    lanes_store8 (noise + (ptrdiff_t) i * LANES, noises[i]);
  if (pace->count == 0 || !any_count (row->counts + x))
    return;
  for (uint32_t i = x; i < x + 64; i += LANES) {
    Lanes count = lanes_sub (lanes_load8 (row->counts + i), lanes_set (pace->count));

    lanes_store8 (row->counts + i, lanes_max (count, lanes_set (0)));
  }
}

/* A block of which the pixels @busy are foreground or shadow. Returns those that were renewed. */
__attribute__ ((noinline)) static uint64_t
learn_busy (const CclMotionRow *row, uint32_t x, uint64_t busy)
{
  const CclMotionPace *pace = row->pace;
  const Lanes zero = lanes_set (0), count = lanes_set (pace->count);
  LanesMask renewed[PARTS];

  for (unsigned i = 0; i < PARTS; i++) {
    size_t at = x + (size_t) i * LANES;
    LanesMask mask = lanes_mask (busy, i * LANES);
    Lanes value = lanes_load8 (row->values[2] + at), old = lanes_load (row->backgrounds[2] + at);
    Lanes noise = lanes_load8 (row->noise + at);
    Lanes difference = lanes_sub (lanes_left (value, 7), old);
    Lanes candidate = lanes_load8 (row->candidates + at), n = lanes_load8 (row->counts + at);
    Lanes away = lanes_sub (value, candidate);
    Lanes background = lanes_select (mask, old, follow (difference, old, pace));
    Lanes quiet_noise = follow_noise (difference, noise, pace);
    Lanes moved, more, less, quiet;
    LanesMask far, near, again;

    far = lanes_and (mask, lanes_gt (lanes_abs (away), lanes_set (CCL_MOTION_CANDIDATE_RANGE)));
    near = lanes_and_not (mask, far);
    /* the value's sign */
    moved = lanes_max (lanes_min (away, lanes_set (1)), lanes_set (-1));
    moved = lanes_add (candidate, moved);
    more = lanes_min (lanes_add (n, count), lanes_set (CCL_MOTION_LEARNT));
    less = lanes_sub (lanes_sub (n, count), count);
    quiet = lanes_max (lanes_sub (n, count), zero);
    again = lanes_and (far, lanes_gt (zero, less));
    if (pace->count == 0) {
      moved = candidate;
      again = near = lanes_gt (zero, zero);
    }
    renewed[i] = lanes_and_not (near, lanes_gt (lanes_set (pace->enough), more));

    candidate = lanes_select (near, moved, candidate);
    candidate = lanes_select (again, value, candidate);
    candidate = lanes_select (renewed[i], lanes_right (old, 7), candidate);
    n = lanes_select (mask, lanes_select (near, more, lanes_max (less, zero)), quiet);
    n = lanes_select (renewed[i], lanes_set (pace->enough >> 1), n);
    if (pace->count == 0)
      n = lanes_load8 (row->counts + at);
    noise = lanes_select (mask, noise, quiet_noise);
    noise = lanes_select (renewed[i], lanes_set (CCL_MOTION_FIRST_NOISE), noise);
    background = lanes_select (renewed[i], lanes_left (value, 7), background);

    lanes_store (row->background + at, background);
    lanes_store8 (row->noise + at, noise);
    lanes_store8 (row->candidates + at, candidate);
    lanes_store8 (row->counts + at, n);
  }
  return lanes_bits (renewed);
}

/* The first frame. */
static void
begin_row (const CclMotionRow *row)
{
  size_t n = (size_t) row->blocks * 64;

  for (size_t i = 0; i < n; i += LANES)
    lanes_store (row->background + i, lanes_left (lanes_load8 (row->values[2] + i), 7));
  memset (row->noise, CCL_MOTION_FIRST_NOISE, n);
  memcpy (row->candidates, row->values[2], n);
  memset (row->counts, 0, n);
  memset (row->foreground, 0, n / 8);
  memset (row->shadows, 0, n / 8);
  memset (row->renewed, 0xff, n / 8);
}

static void
luma_row (CclMotionRow *row)
{
  if (row->step->first) {
    begin_row (row);
    return;
  }
  for (uint32_t block = 0; block < row->blocks; block++) {
    uint32_t x = 64 * block, left = row->width - x;
    uint64_t pixels = left < 64 ? (UINT64_C (1) << left) - 1 : ~UINT64_C (0);
    uint64_t chroma = row->chroma ? row->chroma[block] : 0;
    uint64_t shadows = 0, busy = chroma;

    fetch (row->next_background + x);
    fetch (row->next_background + x + 32);
    if (row->next_learns) {
      fetch (row->next_noise + x);
      fetch (row->next_counts + x);
    }
    if (any_difference (row, x)) {
      /* the pixels in that row probably differ, too */
      fetch (row->next_noise + x);
      busy |= find_differences (row, x);
    }
    busy &= pixels;
    if (row->step->shadows && busy & ~chroma)
      shadows = find_shadows (row, x, busy & ~chroma);
    row->foreground[block] = busy & ~shadows;
    row->shadows[block] = shadows;
    row->renewed[block] = 0;
    row->count += (unsigned) __builtin_popcountll (row->foreground[block]);
    if (!row->pace)
      continue;
    if (busy)
      row->renewed[block] = learn_busy (row, x, busy);
    else
      learn_quiet (row, x);
  }
}

/* Every bit of the lower half twice. */
static inline uint64_t
double_bits (uint64_t bits)
{
  bits &= 0xffffffff;
  bits = (bits | bits << 16) & UINT64_C (0x0000ffff0000ffff);
  bits = (bits | bits << 8) & UINT64_C (0x00ff00ff00ff00ff);
  bits = (bits | bits << 4) & UINT64_C (0x0f0f0f0f0f0f0f0f);
  bits = (bits | bits << 2) & UINT64_C (0x3333333333333333);
  bits = (bits | bits << 1) & UINT64_C (0x5555555555555555);
  return bits | bits << 1;
}

/* The even bits, in the lower half. */
static inline uint64_t
halve_bits (uint64_t bits)
{
  bits &= UINT64_C (0x5555555555555555);
  bits = (bits | bits >> 1) & UINT64_C (0x3333333333333333);
  bits = (bits | bits >> 2) & UINT64_C (0x0f0f0f0f0f0f0f0f);
  bits = (bits | bits >> 4) & UINT64_C (0x00ff00ff00ff00ff);
  bits = (bits | bits >> 8) & UINT64_C (0x0000ffff0000ffff);
  return (bits | bits >> 16) & 0xffffffff;
}

static void
chroma_differs (const CclMotionChromaRow *row)
{
  const Lanes floor = lanes_set (row->step->chroma_floor);

  for (uint32_t block = 0; block < row->blocks; block++) {
    LanesMask differs[PARTS];
    uint64_t bits;

    for (unsigned i = 0; i < 2; i++) {
      fetch (row->next_backgrounds[i] + 64 * (size_t) block);
      fetch (row->next_backgrounds[i] + 64 * (size_t) block + 32);
    }
    for (unsigned i = 0; i < PARTS; i++) {
      size_t at = 64 * (size_t) block + (size_t) i * LANES;
      Lanes u = difference_of (row->values[0] + at, row->backgrounds[0] + at);
      Lanes v = difference_of (row->values[1] + at, row->backgrounds[1] + at);

      differs[i] = lanes_gt (lanes_add_saturated (lanes_abs (u), lanes_abs (v)), floor);
    }
    bits = lanes_bits (differs);
    row->differs[2 * (size_t) block] = double_bits (bits);
    row->differs[2 * (size_t) block + 1] = double_bits (bits >> 32);
  }
}

static void
chroma_learn (const CclMotionChromaRow *row)
{
  for (uint32_t block = 0; block < row->blocks; block++) {
    size_t w = 2 * (size_t) block;
    uint64_t renewed = halve_bits (row->renewed[w]) | halve_bits (row->renewed[w + 1]) << 32;
    uint64_t busy = halve_bits (row->foreground[w] | row->shadows[w]) |
                    halve_bits (row->foreground[w + 1] | row->shadows[w + 1]) << 32;

    for (unsigned plane = 0; plane < 2; plane++) {
      for (unsigned i = 0; i < 64; i += LANES) {
        const uint8_t *values = row->values[plane] + 64 * (size_t) block + i;
        uint16_t *background = row->backgrounds[plane] + 64 * (size_t) block + i;
        Lanes old = lanes_load (background);
        Lanes now = follow (difference_of (values, background), old, row->pace);

        if (busy | renewed) {
          now = lanes_select (lanes_mask (busy, i), old, now);
          now = lanes_select (lanes_mask (renewed, i), lanes_left (lanes_load8 (values), 7), now);
        }
        lanes_store (background, now);
      }
    }
  }
}

#endif
