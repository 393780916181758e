/* cudaccl - CPU backend: background models, one row
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Included by each instruction set's file, to be compiled for it. Most blocks of 64 pixels have no
 * foreground and learn without branches for single pixels. */

#ifndef CCL_CPU_SIMD_MOTION_H
#define CCL_CPU_SIMD_MOTION_H

#include "engine/cpu/motion/functions.h"
#include "engine/cpu/simd/vector.h"

#include <string.h>

#define PARTS (64 / V16_LANES) /* vectors of a block */
#define SUMS 512               /* of columns at a time */

/* The differences of a block, 1/128 grey levels. */
static inline V16
difference_of (const uint8_t *values, const uint16_t *background)
{
  return v16_sub (v16_left (v16_load8 (values), 7), v16_load (background));
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

  for (; x + V8_LANES < width; x += V8_LANES) {
    if (x % 32 == 0)
      fetch (next + 2 * x);
    if (V8_LANES == 64)
      fetch (next + 2 * x + 64);
    v8_store (row + x, v8_even (samples + 2 * x));
  }
  for (; x < width; x++)
    row[x] = samples[2 * x];
}

/* Inlined with constant @scale and @step, so that the compiler vectorises the loops. */
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

  /* All columns come first: a load that overlaps two recent stores would wait for them. */
  for (; x + V8_LANES <= n; x += V8_LANES) {
    V8 outer = v8_average (v8_load (above + x), v8_load (below + x));

    if (x % 64 == 0)
      fetch (next + x);
    v8_store (columns + x, v8_average (outer, v8_load (middle + x)));
  }
  for (; x < n; x++)
    columns[x] = (uint8_t) ccl_motion_blur (above[x], middle[x], below[x]);
  columns[-1] = columns[0];
  columns[n] = columns[n - 1];
  for (x = 0; x < n; x += V8_LANES) {
    V8 outer = v8_average (v8_load (columns + x - 1), v8_load (columns + x + 1));

    v8_store (blurred + x, v8_average (outer, v8_load (columns + x)));
  }
}

static uint64_t
sum_row (const uint8_t *samples, uint32_t width)
{
  uint64_t sum = 0;

  /* parts whose sums have 32 bits, for vectors */
  for (size_t first = 0; first < width; first += 1 << 16) {
    const size_t n = width - first < 1 << 16 ? width - first : 1 << 16;
    uint32_t part = 0;

    for (size_t x = 0; x < n; x++)
      part += samples[first + x];
    sum += part;
  }
  return sum;
}

static void
compare_shifts (CclShakeSum *sums, const uint8_t *values, const uint16_t *background, uint32_t n)
{
  const V16 most = v16_set (CCL_SHAKE_MOST);
  uint32_t x = 0;

  while (n - x >= V16_LANES) {
    /* parts whose sums have 15 bits */
    const uint32_t left = (n - x) / V16_LANES, vectors = left < 1000 ? left : 1000;
    V16 parts[CCL_SHAKE_SIDE];

    for (unsigned i = 0; i < CCL_SHAKE_SIDE; i++)
      parts[i] = v16_set (0);
    for (uint32_t end = x + vectors * V16_LANES; x < end; x += V16_LANES) {
      const V16 level = v16_right (v16_load (background + x), 7);

      for (unsigned i = 0; i < CCL_SHAKE_SIDE; i++)
        parts[i] = v16_add (parts[i],
                            v16_min (v16_abs (v16_sub (v16_load8 (values + x + i), level)), most));
    }
    for (unsigned i = 0; i < CCL_SHAKE_SIDE; i++) {
      uint16_t part[V16_LANES];

      v16_store (part, parts[i]);
      for (unsigned k = 0; k < V16_LANES; k++)
        sums[i] += part[k];
    }
  }
  for (; x < n; x++) {
    for (unsigned i = 0; i < CCL_SHAKE_SIDE; i++)
      sums[i] += ccl_shake_difference (values[x + i], background[x]);
  }
}

/* Whether any pixel of a block differs by more than the floor. In most blocks none does, and the
 * noise and slope need not be computed. */
static inline bool
any_difference (const CclMotionRow *row, uint32_t x)
{
  V16 most = v16_set (0);

  for (unsigned i = 0; i < PARTS; i++) {
    size_t at = x + (size_t) i * V16_LANES;

    most = v16_max (most, v16_abs (difference_of (row->values[2] + at, row->backgrounds[2] + at)));
  }
  return v16_any (v16_gt (most, v16_set (row->step->floor)));
}

/* Finds the pixels of a block that differ. */
static uint64_t
find_differences (const CclMotionRow *row, uint32_t x)
{
  const V16 floor = v16_set (row->step->floor), cap = v16_set (row->step->cap);
  const uint16_t *background = row->backgrounds[2] + x;
  const uint16_t *above = row->backgrounds[1] + x, *below = row->backgrounds[3] + x;
  const uint8_t *values = row->values[2] + x, *noise = row->noise + x;
  V16Mask differs[PARTS];

  for (unsigned i = 0; i < PARTS; i++) {
    ptrdiff_t at = (ptrdiff_t) i * V16_LANES;
    V16 old = v16_load (background + at), value = v16_left (v16_load8 (values + at), 7);
    V16 difference = v16_sub (value, old);
    V16 threshold = v16_left (v16_load8 (noise + at), 5);
    V16 across = v16_sub (v16_load (background + at - 1), v16_load (background + at + 1));
    V16 down = v16_sub (v16_load (above + at), v16_load (below + at));
    V16 slope = v16_max (v16_abs (across), v16_abs (down));

    threshold = v16_max (threshold, floor);
    threshold = v16_min (v16_add_saturated (threshold, v16_right (slope, 1)), cap);
    differs[i] = v16_gt (v16_abs (difference), threshold);
  }
  return v16_bits (differs);
}

/* ccl_motion_fits() of V16_LANES pixels, with samples from @first on. Sums of nine samples, 2040 at
 * most, fit. */
INLINE V16Mask
fit (const CclMotionRow *row, ptrdiff_t x, int first, int side)
{
  V16 values[CCL_MOTION_SHADOW_PIXELS], backgrounds[CCL_MOTION_SHADOW_PIXELS];
  const V16 zero = v16_set (0), veil = v16_set (row->step->veil * 8);
  V16 sum = zero, background = zero;
  V32 spread, product;

  for (int n = 0; n < side * side; n++) {
    const int u = first % CCL_MOTION_SHADOW_SIDE + n % side;
    const int v = first / CCL_MOTION_SHADOW_SIDE + n / side;
    const ptrdiff_t at = x + (u - 1) * CCL_MOTION_SHADOW_STEP;

    values[n] = v16_left (v16_load8 (row->values[v * 2] + at), 3);
    values[n] = v16_max (v16_sub (values[n], veil), zero);
    backgrounds[n] = v16_right (v16_load (row->backgrounds[v * 2] + at), 4);
    backgrounds[n] = v16_max (v16_sub (backgrounds[n], veil), zero);
    sum = v16_add (sum, values[n]);
    background = v16_add (background, backgrounds[n]);
  }
  product = v32_cross (sum, background, zero, zero);
  spread = v32_cross (zero, zero, zero, zero);
  for (int n = 0; n < side * side; n++)
    spread = v32_add_abs (spread, v32_cross (values[n], background, backgrounds[n], sum));
  return v32_at_most (spread, v32_times (v32_right (product, 8), CCL_MOTION_SHADOW_SPREAD));
}

/* Finds the pixels of a block that are dark enough for a shadow or, with @lit, that may be lit. */
static inline uint64_t
find_shaded (const CclMotionRow *row, uint32_t x, bool lit)
{
  const uint16_t *background = row->backgrounds[2] + x;
  const uint8_t *values = row->values[2] + x;
  const bool shady = row->step->shady;
  const V16 veil = v16_set ((int16_t) (ccl_motion_darkest (row->step, 0)));
  V16Mask shaded[PARTS];

  for (unsigned i = 0; i < PARTS; i++) {
    V16 old = v16_load (background + i * V16_LANES);
    V16 value = v16_left (v16_load8 (values + i * V16_LANES), 7);
    V16 bright = lit ? value : old, dark = lit ? old : value;
    V16 darkest = v16_add (shady ? v16_right (bright, 2) : v16_right (bright, 1), veil);

    shaded[i] = v16_and (v16_gt (bright, dark), v16_gt (dark, darkest));
  }
  return v16_bits (shaded);
}

/* Finds those of the pixels @shaded of a block that fit. */
INLINE uint64_t
find_fitting (const CclMotionRow *row, uint32_t x, uint64_t shaded, int first, int side)
{
  const uint64_t part = (UINT64_C (1) << V16_LANES) - 1;
  V16Mask kept[PARTS];

  for (unsigned i = 0; i < PARTS; i++) {
    kept[i] = v16_gt (v16_set (0), v16_set (0));
    if (shaded >> i * V16_LANES & part)
      kept[i] = fit (row, (ptrdiff_t) x + i * V16_LANES, first, side);
  }
  return shaded & v16_bits (kept);
}

/* Finds the shadows, and what is lit, among the pixels of a block that differ. What is lit matters
 * only to learning unless there are many shadows, and where there is chroma. */
__attribute__ ((noinline)) static uint64_t
find_shadows (const CclMotionRow *row, uint32_t x, uint64_t differs, uint64_t *lit)
{
  const bool shady = row->step->shady, lights = row->chroma && (row->pace || shady);
  uint64_t bright = lights ? row->coloured[x / 64] & differs : 0;
  uint64_t shaded, kept;

  if (bright)
    bright &= find_shaded (row, x, true);
  shaded = (find_shaded (row, x, false) & differs) | bright;
  if (!shaded)
    return 0;
  kept = find_fitting (row, x, shaded, 0, CCL_MOTION_SHADOW_SIDE);
  for (int i = 0; shady && i < CCL_MOTION_CORNERS && shaded & ~(kept | bright); i++)
    kept |= find_fitting (row, x, shaded & ~(kept | bright), ccl_motion_corner (i), 2);
  *lit = kept & bright;
  return kept & ~bright;
}

static inline V16
follow (V16 difference, V16 background, const CclMotionPace *pace)
{
  const V16 pull = v16_set (CCL_MOTION_PULL), push = v16_set (-CCL_MOTION_PULL);
  V16 clamped = v16_max (v16_min (difference, pull), push);

  return v16_add (background, v16_scale (clamped, v16_set (pace->rate)));
}

static inline V16
follow_noise (V16 difference, V16 noise, const CclMotionPace *pace)
{
  V16 wanted = v16_right (v16_abs (difference), 3);
  V16 change = v16_sub (v16_min (wanted, v16_set (CCL_MOTION_MOST_NOISE)), noise);

  change = v16_scale (v16_left (change, 7), v16_set (pace->noise_rate));
  change = v16_add (change, v16_set (pace->dither));
  return v16_right (v16_add (v16_left (noise, 7), change), 7);
}

static inline bool
any_count (const uint8_t *counts)
{
  V16 most = v16_set (0);

  for (unsigned i = 0; i < PARTS; i++)
    most = v16_max (most, v16_load8 (counts + (size_t) i * V16_LANES));
  return v16_any (v16_gt (most, v16_set (0)));
}

/* Visits without CCL_MOTION_VISITING. */
static inline V16
leave (V16 visits)
{
  const V16 bit = v16_set (CCL_MOTION_VISITING);

  return v16_select (v16_gt (bit, visits), visits, v16_sub (visits, bit));
}

/* ccl_motion_n_visits() of these. */
static inline V16
number_of (V16 left)
{
  const V16 bit = v16_set (CCL_MOTION_FORMER);

  return v16_select (v16_gt (bit, left), left, v16_sub (left, bit));
}

/* Finds the pixels of a block that ccl_motion_knows(). */
static uint64_t
find_known (const CclMotionRow *row, uint32_t x)
{
  const V16 least = v16_set (CCL_MOTION_KNOWN - 1), range = v16_set (row->step->reach);
  V16Mask known[PARTS];

  for (unsigned i = 0; i < PARTS; i++) {
    const size_t at = x + (size_t) i * V16_LANES;
    const V16 n = number_of (leave (v16_load8 (row->visits + at)));
    const V16 away = v16_sub (v16_load8 (row->values[2] + at), v16_load8 (row->formers + at));

    known[i] = v16_and_not (v16_gt (n, least), v16_gt (v16_abs (away), range));
  }
  return v16_bits (known);
}

/* Learns from a block without foreground. */
static inline void
learn_quiet (const CclMotionRow *row, uint32_t x)
{
  const CclMotionPace *pace = row->pace;
  const uint8_t *values = row->values[2] + x;
  const uint16_t *old_background = row->backgrounds[2] + x;
  uint16_t *background = row->background + x;
  uint8_t *noise = row->noise + x;
  V16 noises[PARTS];

  for (unsigned i = 0; i < PARTS; i++) {
    ptrdiff_t at = (ptrdiff_t) i * V16_LANES;
    V16 old = v16_load (old_background + at);
    V16 difference = difference_of (values + at, old_background + at);

    v16_store (background + at, follow (difference, old, pace));
    noises[i] = follow_noise (difference, v16_load8 (noise + at), pace);
  }
  for (unsigned i = 0; i < PARTS; i++)
    v16_store8 (noise + (ptrdiff_t) i * V16_LANES, noises[i]);
  if (pace->count == 0 || !any_count (row->counts + x))
    return;
  for (uint32_t i = x; i < x + 64; i += V16_LANES) {
    V16 count = v16_load8 (row->counts + i), visits = v16_load8 (row->visits + i);
    V16Mask was = v16_gt (count, v16_set (0));

    v16_store8 (row->counts + i, v16_max (v16_sub (count, v16_set (pace->count)), v16_set (0)));
    v16_store8 (row->visits + i, v16_select (was, leave (visits), visits));
  }
}

/* ccl_motion_learn_visit() where @mask is set. Returns where ccl_motion_knows(). */
static inline V16Mask
learn_visit (const CclMotionStep *step, V16Mask mask, V16 value, V16 *former, V16 *visits)
{
  const V16 range = v16_set (step->reach), zero = v16_set (0), one = v16_set (1);
  const V16 left = leave (*visits), n = number_of (left), away = v16_sub (value, *former);
  const V16Mask far = v16_gt (v16_abs (away), range), more = v16_gt (n, one);
  const V16Mask was = v16_gt (left, v16_set (CCL_MOTION_FORMER - 1));
  const V16Mask keeps = v16_and_not (was, v16_mask (step->waves ? ~UINT64_C (0) : 0, 0));
  const V16Mask again = v16_gt (*visits, v16_set (CCL_MOTION_VISITING - 1));
  const V16Mask comes = v16_and_not (mask, again);
  const V16Mask misses = v16_and_not (v16_and (comes, far), keeps);
  const V16Mask replaced = v16_and_not (misses, more);
  const V16 gain = v16_select (v16_gt (v16_set (CCL_MOTION_MOST_VISITS), n), one, zero);
  const V16 sign = v16_max (v16_min (away, one), v16_set (-1));
  V16 now = v16_select (far, left, v16_add (left, gain));

  now = v16_select (misses, v16_sub (left, one), now);
  now = v16_select (replaced, one, now);
  *visits = v16_select (comes, v16_add (now, v16_set (CCL_MOTION_VISITING)), *visits);
  *former =
      v16_select (v16_and_not (v16_and_not (mask, far), was), v16_add (*former, sign), *former);
  *former = v16_select (replaced, value, *former);
  return v16_and_not (v16_gt (n, v16_set (CCL_MOTION_KNOWN - 1)), far);
}

/* Learns from a block whose pixels @busy are foreground or shadow, and some in @shadows or @lit.
 * Those in @seen are not dropped. Returns the renewed ones, and adds what is known. */
__attribute__ ((noinline)) static uint64_t
learn_busy (CclMotionRow *row, uint32_t x, uint64_t busy, uint64_t seen, uint64_t shadows,
            uint64_t lit)
{
  const CclMotionPace *pace = row->pace;
  const V16 zero = v16_set (0), usual = v16_set (pace->count), first = v16_set (1);
  const V16 head = v16_set (ccl_motion_head (pace)), range = v16_set (CCL_MOTION_CANDIDATE_RANGE);
  V16Mask renewed[PARTS], known[PARTS];

  for (unsigned i = 0; i < PARTS; i++) {
    size_t at = x + (size_t) i * V16_LANES;
    V16Mask mask = v16_mask (busy, i * V16_LANES);
    V16 value = v16_load8 (row->values[2] + at), old = v16_load (row->backgrounds[2] + at);
    V16 noise = v16_load8 (row->noise + at);
    V16 difference = v16_sub (v16_left (value, 7), old);
    V16 candidate = v16_load8 (row->candidates + at), n = v16_load8 (row->counts + at);
    V16 former = v16_load8 (row->formers + at), visits = v16_load8 (row->visits + at);
    V16 slow = v16_select (v16_mask (shadows, i * V16_LANES), v16_set (pace->shadow_count), usual);
    V16 count = v16_select (v16_mask (lit, i * V16_LANES), v16_set (pace->lit_count), slow);
    V16 away = v16_sub (value, candidate);
    V16 background = v16_select (mask, old, follow (difference, old, pace));
    V16 quiet_noise = follow_noise (difference, noise, pace);
    V16 moved, begin, more, less, quiet;
    V16Mask far, near, again, plain, returns, left;

    plain = v16_mask (row->step->shady ? 0 : busy & ~(shadows | lit), i * V16_LANES);
    returns =
        v16_and_not (v16_and (plain, v16_gt (leave (visits), v16_set (CCL_MOTION_FORMER - 1))),
                     v16_gt (v16_abs (v16_sub (value, former)), range));
    far = v16_and (mask, v16_gt (v16_abs (away), range));
    near = v16_and_not (mask, far);
    /* the value's sign */
    moved = v16_max (v16_min (away, v16_set (1)), v16_set (-1));
    moved = v16_add (candidate, moved);
    begin = v16_select (returns, head, zero);
    more = v16_min (v16_add (v16_max (n, begin), count), v16_set (CCL_MOTION_LEARNT));
    less = v16_sub (v16_sub (n, count), count);
    quiet = v16_max (v16_sub (n, usual), zero);
    less = v16_select (returns, v16_set (-1), less);
    again = v16_and (far, v16_gt (zero, less));
    visits = v16_select (v16_and_not (v16_gt (n, zero), mask), leave (visits), visits);
    known[i] = learn_visit (row->step, v16_mask (seen, i * V16_LANES), value, &former, &visits);
    if (pace->count == 0) {
      moved = candidate;
      again = near = v16_gt (zero, zero);
    }
    renewed[i] = v16_and_not (near, v16_gt (v16_set (pace->enough), more));

    candidate = v16_select (near, moved, candidate);
    candidate = v16_select (again, value, candidate);
    candidate = v16_select (renewed[i], v16_right (old, 7), candidate);
    less = v16_select (again, begin, less);
    n = v16_select (mask, v16_max (v16_select (near, more, less), first), quiet);
    visits = v16_select (renewed[i], zero, visits);
    left = v16_and_not (v16_and (renewed[i], plain), returns);
    former = v16_select (left, v16_right (old, 7), former);
    visits = v16_select (left, v16_set (CCL_MOTION_FORMER + 1), visits);
    n = v16_select (renewed[i], v16_select (returns, zero, v16_set (pace->enough >> 1)), n);
    if (pace->count == 0) {
      n = v16_load8 (row->counts + at);
      former = v16_load8 (row->formers + at);
      visits = v16_load8 (row->visits + at);
    }
    noise = v16_select (mask, noise, quiet_noise);
    noise = v16_select (renewed[i], v16_set (CCL_MOTION_FIRST_NOISE), noise);
    background = v16_select (renewed[i], v16_left (value, 7), background);

    v16_store (row->background + at, background);
    v16_store8 (row->noise + at, noise);
    v16_store8 (row->candidates + at, candidate);
    v16_store8 (row->counts + at, n);
    v16_store8 (row->formers + at, former);
    v16_store8 (row->visits + at, visits);
  }
  if (pace->count > 0)
    row->n_known += (unsigned) __builtin_popcountll (v16_bits (known) & seen);
  return v16_bits (renewed);
}

/* Learns from the first frame. */
static void
begin_row (const CclMotionRow *row)
{
  size_t n = (size_t) row->blocks * 64;

  for (size_t i = 0; i < n; i += V16_LANES)
    v16_store (row->background + i, v16_left (v16_load8 (row->values[2] + i), 7));
  memset (row->noise, CCL_MOTION_FIRST_NOISE, n);
  memcpy (row->candidates, row->values[2], n);
  memset (row->counts, 0, n);
  memcpy (row->formers, row->values[2], n);
  memset (row->visits, 0, n);
  memset (row->foreground, 0, n / 8);
  memset (row->shadows, 0, n / 8);
  memset (row->busy, 0, n / 8);
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
    uint64_t shadows = 0, lit = 0, light, seen, busy = chroma;

    fetch (row->next_background + x);
    fetch (row->next_background + x + 32);
    if (row->next_learns) {
      fetch (row->next_noise + x);
      fetch (row->next_counts + x);
    }
    if (any_difference (row, x)) {
      /* that row probably differs here, too */
      fetch (row->next_noise + x);
      busy |= find_differences (row, x);
    }
    busy &= pixels;
    if (row->step->shadows && busy & ~chroma)
      shadows = find_shadows (row, x, busy & ~chroma, &lit);
    light = shadows | (row->step->shady ? lit : 0);
    if (light)
      row->n_shadows += (unsigned) __builtin_popcountll (light);
    row->busy[block] = busy;
    seen = busy & ~light;
    row->foreground[block] = row->step->waves && seen ? seen & ~find_known (row, x) : seen;
    row->shadows[block] = light;
    row->renewed[block] = 0;
    row->count += (unsigned) __builtin_popcountll (row->foreground[block]);
    if (!row->pace)
      continue;
    if (busy)
      row->renewed[block] = learn_busy (row, x, busy, seen, shadows, lit);
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

/* The differences of a vector of both planes' backgrounds, their sum: from the frame or, with
 * @grey, from grey. */
static inline V16
chroma_difference (const CclMotionChromaRow *row, size_t at, bool grey)
{
  V16 sums[2];

  for (unsigned i = 0; i < 2; i++)
    sums[i] = v16_abs (
        grey ? v16_sub (v16_load (row->backgrounds[i] + at), v16_set (128 * CCL_MOTION_ONE))
             : difference_of (row->values[i] + at, row->backgrounds[i] + at));
  return v16_add_saturated (sums[0], sums[1]);
}

/* Sets the bits of a block's samples whose differences are above @most, two bits a sample. */
static inline void
find_colours (const CclMotionChromaRow *row, uint32_t block, bool grey, int16_t most,
              uint64_t *found)
{
  V16Mask above[PARTS];
  uint64_t bits;

  for (unsigned i = 0; i < PARTS; i++)
    above[i] = v16_gt (chroma_difference (row, 64 * (size_t) block + (size_t) i * V16_LANES, grey),
                       v16_set (most));
  bits = v16_bits (above);
  found[2 * (size_t) block] = double_bits (bits);
  found[2 * (size_t) block + 1] = double_bits (bits >> 32);
}

static void
chroma_differs (const CclMotionChromaRow *row)
{
  for (uint32_t block = 0; block < row->blocks; block++) {
    for (unsigned i = 0; i < 2; i++) {
      fetch (row->next_backgrounds[i] + 64 * (size_t) block);
      fetch (row->next_backgrounds[i] + 64 * (size_t) block + 32);
    }
    find_colours (row, block, false, (int16_t) row->step->chroma_floor, row->differs);
    if (row->pace || row->step->shady)
      find_colours (row, block, true, CCL_MOTION_COLOUR, row->coloured);
  }
}

static void
chroma_learn (const CclMotionChromaRow *row)
{
  for (uint32_t block = 0; block < row->blocks; block++) {
    size_t w = 2 * (size_t) block;
    uint64_t renewed = halve_bits (row->renewed[w]) | halve_bits (row->renewed[w + 1]) << 32;
    uint64_t busy = halve_bits (row->busy[w]) | halve_bits (row->busy[w + 1]) << 32;

    for (unsigned plane = 0; plane < 2; plane++) {
      for (unsigned i = 0; i < 64; i += V16_LANES) {
        const uint8_t *values = row->values[plane] + 64 * (size_t) block + i;
        uint16_t *background = row->backgrounds[plane] + 64 * (size_t) block + i;
        V16 old = v16_load (background);
        V16 now = follow (difference_of (values, background), old, row->pace);

        if (busy | renewed) {
          now = v16_select (v16_mask (busy, i), old, now);
          now = v16_select (v16_mask (renewed, i), v16_left (v16_load8 (values), 7), now);
        }
        v16_store (background, now);
      }
    }
  }
}

#endif
