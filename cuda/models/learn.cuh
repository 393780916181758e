/* cudaccl - CUDA backend: background models, learning
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_MODELS_LEARN_CUH
#define CCL_CUDA_MODELS_LEARN_CUH

#include "cuda/models/block.cuh"
#include "cuda/models/load.cuh"

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

/* The distances of four pairs of bytes */
static __device__ inline uint32_t
distance4 (uint32_t a, uint32_t b)
{
  const uint32_t above = reaches4 (a, b);

  return select4 (above, a, b) - select4 (above, b, a);
}

#define FORMER_SHIFT 4
#define VISITING_SHIFT 5

static_assert (CCL_MOTION_FORMER == 1 << FORMER_SHIFT, "the bit");
static_assert (CCL_MOTION_VISITING == 1 << VISITING_SHIFT, "the bit");

static __device__ inline uint32_t
n_visits4 (uint32_t visits)
{
  return visits & four (CCL_MOTION_MOST_VISITS);
}

/* ccl_motion_visits() of four pixels */
static __device__ inline uint32_t
visits4 (const CclMotionStep &step, uint32_t former, uint32_t values)
{
  return reaches4 (four (step.reach), distance4 (values, former));
}

/* ccl_motion_knows() of four pixels */
static __device__ inline uint32_t
knows4 (const CclMotionStep &step, uint32_t former, uint32_t visits, uint32_t values)
{
  return visits4 (step, former, values) & reaches4 (n_visits4 (visits), four (CCL_MOTION_KNOWN));
}

/* Finds those of a unit's pixels that ccl_motion_knows(), a bit each. */
static __device__ inline uint32_t
find_known (const CclModelTask &task, uint2 values, uint32_t x, uint32_t y)
{
  const size_t at = y * task.state.pitch + x;
  const uint2 former = *(const uint2 *) (task.state.formers + at);
  const uint2 visits = *(const uint2 *) (task.state.visits + at);
  const uint32_t low = knows4 (task.step, former.x, visits.x, values.x) & 0x01010101u;
  const uint32_t high = knows4 (task.step, former.y, visits.y, values.y) & 0x01010101u;

  return __dp4a (low, 0x08040201u, __dp4a (high, 0x80402010u, 0u));
}

/* ccl_motion_learn_visit() of those of four pixels that @mask has */
static __device__ inline void
learn_visits4 (const CclMotionStep &step, uint32_t mask, uint32_t values, uint32_t *formers,
               uint32_t *visits)
{
  const uint32_t former = *formers, old = *visits, n = n_visits4 (old), one = four (1);
  const uint32_t near = visits4 (step, former, values), kept = bytes_with (old, FORMER_SHIFT);
  const uint32_t comes = mask & ~bytes_with (old, VISITING_SHIFT);
  const uint32_t misses = comes & ~near & (step.waves ? ~0u : ~kept);
  const uint32_t more = reaches4 (n, four (2)), replaced = misses & ~more;
  const uint32_t gains = comes & near & ~reaches4 (n, four (CCL_MOTION_MOST_VISITS));
  const uint32_t follows = mask & near & ~kept;
  const uint32_t brighter = reaches4 (values, former), darker = reaches4 (former, values);
  const uint32_t now = old + (gains & one) - (misses & more & one);

  *visits = select4 (replaced, one, now) | (comes & four (CCL_MOTION_VISITING));
  *formers =
      select4 (replaced, values, former + (follows & ~darker & one) - (follows & ~brighter & one));
}

/* ccl_motion_learn_candidate() of four pixels. @step: their counts; @plain: a mask of
 * those that are foreground, unless there are many shadows; @seen: of those that are not dropped.
 * Updates @candidates, @counts, @formers and @visits. Returns a mask of the pixels whose candidate
 * has become the background. @olds: grey levels of the old background. */
static __device__ inline uint32_t
learn_candidates4 (const CclMotionStep &all, const CclMotionPace &pace, uint32_t step,
                   uint32_t plain, uint32_t seen, uint32_t values, uint32_t olds,
                   uint32_t *candidates, uint32_t *counts, uint32_t *formers, uint32_t *visits)
{
  const uint32_t candidate = *candidates, count = *counts;
  const uint32_t range = four (CCL_MOTION_CANDIDATE_RANGE), one = four (1);
  uint32_t brighter = reaches4 (values, candidate), darker = reaches4 (candidate, values);
  uint32_t near = reaches4 (range, distance4 (values, candidate));
  uint32_t returns =
      plain & bytes_with (*visits, FORMER_SHIFT) & reaches4 (range, distance4 (values, *formers));
  uint32_t begin = four ((uint32_t) ccl_motion_head (&pace)) & returns;
  uint32_t stays = reaches4 (count, 2 * step) & ~returns;
  uint32_t more = add4 (select4 (reaches4 (count, begin), count, begin), step);
  uint32_t renewed = near & reaches4 (more, four (pace.enough)), left = renewed & plain & ~returns;
  uint32_t follows = candidate + (~darker & 0x01010101u) - (~brighter & 0x01010101u);
  uint32_t now = select4 (near, more, ((count & stays) - (2 * step & stays)) | (begin & ~stays));

  learn_visits4 (all, seen, values, formers, visits);
  *candidates =
      select4 (near, select4 (renewed, olds, follows), select4 (stays, candidate, values));
  *counts = select4 (renewed, four (pace.enough >> 1) & ~returns,
                     select4 (reaches4 (now, one), now, one));
  *formers = select4 (left, olds, *formers);
  *visits = select4 (renewed, left & four (CCL_MOTION_FORMER + 1), *visits);
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
  *(uint2 *) (task.state.formers + at) = values;
  *(uint2 *) (task.state.visits + at) = uint2{ 0, 0 };
}

/* The steps that the counts of four candidates gain. */
static __device__ inline uint32_t
steps4 (const CclMotionPace &pace, uint32_t shadows, uint32_t lit)
{
  return select4 (shadows, four (pace.shadow_count),
                  select4 (lit, four (pace.lit_count), four (pace.count)));
}

/* The visits of four pixels that are not foreground */
static __device__ inline uint32_t
leave4 (uint32_t visits, uint32_t count)
{
  return visits & ~(reaches4 (count, four (1)) & four (CCL_MOTION_VISITING));
}

/* Learns the candidates of a word, four pixels at (@x, @y) of which some are foreground or shadow.
 * @kinds: the word's bits of each of the three kinds, see learn_row(). Returns a bit for each pixel
 * whose candidate has become the background. Adds to @known what ccl_motion_knows(). */
static __device__ inline uint32_t
learn_word (const CclModelTask &task, const CclMotionPace &pace, uint32_t values, uint32_t kinds,
            uint32_t x, uint32_t y, uint32_t *known)
{
  const CclMotionStep &step = task.step;
  const size_t at = y * task.state.pitch + x;
  const uint2 pixels = *(const uint2 *) (old_row (task, y) + x);
  uint32_t *candidates = (uint32_t *) (task.state.candidates + at);
  uint32_t *counts = (uint32_t *) (task.state.counts + at);
  uint32_t *formers = (uint32_t *) (task.state.formers + at);
  uint32_t *all_visits = (uint32_t *) (task.state.visits + at);
  const uint32_t old_count = *counts, old_candidate = *candidates, old_former = *formers,
                 old_visits = *all_visits;
  const uint32_t olds = __byte_perm (pixels.x >> 7, pixels.y >> 7, 0x6420);
  const uint32_t mask = word_mask (kinds), shadows = word_mask (kinds >> UNIT),
                 lit = word_mask (kinds >> 2 * UNIT);
  const uint32_t plain = step.shady ? 0 : ~0u, drops = ~plain;
  const uint32_t seen = mask & ~(shadows | (lit & drops));
  uint32_t candidate = old_candidate, count = old_count, former = old_former, visits = old_visits;
  uint32_t renewed;

  *known += (uint32_t) __popc (seen & 0x01010101u & knows4 (step, former, visits, values));
  renewed = mask & learn_candidates4 (step, pace, steps4 (pace, shadows, lit),
                                      plain & mask & ~(shadows | lit), seen, values, olds,
                                      &candidate, &count, &former, &visits);
  if (former != old_former)
    *formers = former;
  visits = select4 (mask, visits, leave4 (old_visits, old_count));
  if (visits != old_visits)
    *all_visits = visits;
  *counts = select4 (mask, count, subtract4 (old_count, four (pace.count)));
  *candidates = select4 (mask, candidate, old_candidate);
  return __dp4a (renewed & 0x01010101u, 0x08040201u, 0u);
}

/* Learns the words of a warp's two rows of which some pixels are foreground or shadow. Its lanes
 * share them evenly: an object is wider than a lane's unit, but narrower than the warp's rows.
 * @kinds: see learn_row(), 0 in lanes that store nothing; (@x, @y): of this lane's unit. Returns
 * the results of learn_word(), a byte for each of this lane's words. Called by whole warps. */
static __device__ inline uint32_t
learn_busy (const CclModelTask &task, const CclMotionPace &pace, Busy &busy, const uint2 values[2],
            const uint32_t kinds[2], uint32_t x, uint32_t y, uint32_t *known)
{
  const uint32_t lane = lane_id (), left = x - lane * UNIT;
  const uint32_t words = (kinds[0] & 15 ? 1 : 0) | (kinds[0] & 240 ? 2 : 0) |
                         (kinds[1] & 15 ? 4 : 0) | (kinds[1] & 240 ? 8 : 0);
  const uint32_t n = (uint32_t) __popc (words);
  uint32_t end, total;

  if (!__any_sync (ALL_LANES, words != 0))
    return 0;
  end = warp_scan (n);
  total = warp_shuffle (end, WARP_LANES - 1);
  busy.renewed[lane] = 0;
  for (uint32_t rest = words, i = end - n; rest; rest &= rest - 1)
    busy.words[i++] = (uint8_t) (lane << 2 | ((uint32_t) __ffs ((int) rest) - 1));
  __syncwarp ();
#pragma unroll 1
  for (uint32_t base = 0; base < total; base += WARP_LANES) {
    const bool any = base + lane < total;
    const uint32_t word = any ? busy.words[base + lane] : 0;
    const uint32_t from = word >> 2, row = word >> 1 & 1, half = word & 1;
    const uint32_t xs[2] = { warp_shuffle (values[0].x, from), warp_shuffle (values[1].x, from) };
    const uint32_t ys[2] = { warp_shuffle (values[0].y, from), warp_shuffle (values[1].y, from) };
    const uint32_t all[2] = { warp_shuffle (kinds[0], from), warp_shuffle (kinds[1], from) };

    if (any)
      ((uint8_t *) busy.renewed)[word] = (uint8_t) learn_word (
          task, pace, half ? (row ? ys[1] : ys[0]) : (row ? xs[1] : xs[0]),
          (row ? all[1] : all[0]) >> 4 * half, left + from * UNIT + half * 4, y + row, known);
  }
  __syncwarp ();
  return busy.renewed[lane];
}

/* Counts down a word's candidates where nothing is foreground or shadow. @at: the word's state. */
static __device__ inline void
leave_word (const CclModelTask &task, const CclMotionPace &pace, uint32_t count, size_t at)
{
  const uint32_t now = subtract4 (count, four (pace.count));
  uint32_t *all = (uint32_t *) (task.state.visits + at);

  if (now == count)
    return;
  *(uint32_t *) (task.state.counts + at) = now;
  *all = leave4 (*all, count);
}

/* Learns a unit's background and noise, and counts down the words that learn_busy() leaves out.
 * @kinds: bits of foreground and shadow, of shadow, and of what is lit; @bits: the results of
 * learn_busy() for this row; @count: before the frame. Returns a mask of the pixels whose candidate
 * has become the background. */
static __device__ inline uint2
learn_row (const CclModelTask &task, const CclMotionPace &pace, uint2 values, uint32_t kinds,
           uint32_t bits, uint2 count, uint32_t x, uint32_t y)
{
  const size_t at = y * task.state.pitch + x;
  const uint4 old = load_old (task, x, y);
  const uint32_t olds[4] = { old.x, old.y, old.z, old.w };
  uint2 *noises = (uint2 *) (task.state.noise + at);
  const uint2 old_noise = *noises, renewed = { word_mask (bits), word_mask (bits >> 8) };
  uint32_t lights[4], pixels[4];
  uint2 noise;

#pragma unroll
  for (uint32_t k = 0; k < 4; k++) {
    lights[k] = byte_pair (values, k) << 7;
    pixels[k] = follow2 (pace, olds[k], lights[k]);
  }
  noise.x = noise4 (pace, old_noise.x, olds, lights);
  noise.y = noise4 (pace, old_noise.y, olds + 2, lights + 2);
  if (kinds) {
    const uint2 mask = unit_masks (kinds & 255);

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
  if (!(kinds & 15))
    leave_word (task, pace, count.x, at);
  if (!(kinds & 240))
    leave_word (task, pace, count.y, at + 4);
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

/* Learns a warp's two rows, which are in @group. @kinds: see learn_row(), 0 in lanes that are not
 * @active. Returns the number of pixels that ccl_motion_knows(). Called by whole warps. */
template <bool CHROMA>
static __device__ inline uint32_t
learn_rows (const CclModelTask &task, Busy &busy, const uint2 values[2], uint2 chroma,
            const uint32_t kinds[2], uint32_t group, bool active, uint32_t x, uint32_t y)
{
  const CclMotionPace &pace = task.step.paces[group];
  const bool second = y + 1 < task.frame.height;
  uint2 renewed = { ~0u, ~0u };
  uint32_t known = 0;

  if (task.step.first) {
    if (!active)
      return 0;
    begin_row (task, values[0], x, y);
    if (second)
      begin_row (task, values[1], x, y + 1);
    if (CHROMA)
      learn_chroma (task, task.step.paces[0], chroma, x / 2, y / 2, 0, renewed);
  } else {
    const size_t at = y * task.state.pitch + x;
    uint2 counts[2] = {};
    uint32_t bits;

    /* All loads come first: they would wait for the first row's stores. */
    if (active) {
      counts[0] = *(const uint2 *) (task.state.counts + at);
      counts[1] = *(const uint2 *) (task.state.counts + at + (second ? task.state.pitch : 0));
    }
    bits = pace.count > 0 ? learn_busy (task, pace, busy, values, kinds, x, y, &known) : 0;
    if (!active)
      return known;
    renewed = learn_row (task, pace, values[0], kinds[0], bits, counts[0], x, y);
    if (second)
      learn_row (task, pace, values[1], kinds[1], bits >> 16, counts[1], x, y + 1);
    if (CHROMA)
      learn_chroma (task, pace, chroma, x / 2, y / 2, kinds[0], renewed);
  }
  return known;
}

#endif
