/* cudaccl - CUDA backend: background models, learning
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_MODELS_LEARN_CUH
#define CCL_CUDA_MODELS_LEARN_CUH

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

/* The state of a unit's candidates. */
typedef struct Candidates
{
  uint2 count, candidate, former, visits; /* all but the count only with foreground or shadow */
} Candidates;

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

/* ccl_motion_learn_background() for the visits of a unit */
static __device__ inline void
leave_visits (const CclModelTask &task, uint2 count, size_t at)
{
  uint2 *all = (uint2 *) (task.state.visits + at);
  const uint2 visits = *all, now = { leave4 (visits.x, count.x), leave4 (visits.y, count.y) };

  if (visits.x != now.x || visits.y != now.y)
    *all = now;
}

/* Learns the candidates of a unit of which a part is foreground or shadow. @kinds: see learn_row();
 * @olds: the background in grey levels. Returns a mask of the pixels
 * whose candidate has become the background. Adds to @known, and sets @count. */
static __device__ inline uint2
learn_candidates (const CclModelTask &task, const CclMotionPace &pace, uint2 values, uint2 olds,
                  uint32_t kinds, const Candidates &before, size_t at, uint2 *count,
                  uint32_t *known)
{
  const CclMotionStep &step = task.step;
  const uint2 mask = unit_masks (kinds & 255);
  const uint2 shadows = unit_masks (kinds >> UNIT & 255), lit = unit_masks (kinds >> 2 * UNIT);
  const uint32_t plain = step.shady ? 0 : ~0u, drops = ~plain;
  const uint2 seen = { mask.x & ~(shadows.x | (lit.x & drops)),
                       mask.y & ~(shadows.y | (lit.y & drops)) };
  Candidates now = before;
  uint2 renewed;

  *known +=
      __popc (seen.x & 0x01010101u & knows4 (step, before.former.x, before.visits.x, values.x)) +
      __popc (seen.y & 0x01010101u & knows4 (step, before.former.y, before.visits.y, values.y));
  renewed.x =
      mask.x & learn_candidates4 (step, pace, steps4 (pace, shadows.x, lit.x),
                                  plain & mask.x & ~(shadows.x | lit.x), seen.x, values.x, olds.x,
                                  &now.candidate.x, &now.count.x, &now.former.x, &now.visits.x);
  renewed.y =
      mask.y & learn_candidates4 (step, pace, steps4 (pace, shadows.y, lit.y),
                                  plain & mask.y & ~(shadows.y | lit.y), seen.y, values.y, olds.y,
                                  &now.candidate.y, &now.count.y, &now.former.y, &now.visits.y);
  if (now.former.x != before.former.x || now.former.y != before.former.y)
    *(uint2 *) (task.state.formers + at) = now.former;
  now.visits.x = select4 (mask.x, now.visits.x, leave4 (before.visits.x, before.count.x));
  now.visits.y = select4 (mask.y, now.visits.y, leave4 (before.visits.y, before.count.y));
  if (now.visits.x != before.visits.x || now.visits.y != before.visits.y)
    *(uint2 *) (task.state.visits + at) = now.visits;
  count->x = select4 (mask.x, now.count.x, count->x);
  count->y = select4 (mask.y, now.count.y, count->y);
  *(uint2 *) (task.state.candidates + at) =
      uint2{ select4 (mask.x, now.candidate.x, before.candidate.x),
             select4 (mask.y, now.candidate.y, before.candidate.y) };
  return renewed;
}

/* Returns a mask of the pixels whose candidate has become the background. @kinds: bits of
 * foreground and shadow, of shadow, and of what is lit. Adds to @known what ccl_motion_knows(). */
static __device__ inline uint2
learn_row (const CclModelTask &task, const CclMotionPace &pace, uint2 values, uint32_t kinds,
           const Candidates &before, uint32_t x, uint32_t y, uint32_t *known)
{
  const size_t at = y * task.state.pitch + x;
  const uint4 old = load_old (task, x, y);
  const uint32_t olds[4] = { old.x, old.y, old.z, old.w };
  uint2 *noises = (uint2 *) (task.state.noise + at), *counts = (uint2 *) (task.state.counts + at);
  const uint2 old_noise = *noises, old_count = before.count;
  uint32_t lights[4], pixels[4];
  uint2 noise, count, renewed = { 0, 0 };

  count.x = subtract4 (old_count.x, four (pace.count));
  count.y = subtract4 (old_count.y, four (pace.count));
  /* first, as it needs many registers */
  if (kinds && pace.count > 0)
    renewed = learn_candidates (task, pace, values,
                                uint2{ __byte_perm (olds[0] >> 7, olds[1] >> 7, 0x6420),
                                       __byte_perm (olds[2] >> 7, olds[3] >> 7, 0x6420) },
                                kinds, before, at, &count, known);
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
  if (count.x != old_count.x || count.y != old_count.y) {
    *counts = count;
    if (!kinds)
      leave_visits (task, old_count, at);
  }
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

/* Loads the candidates of a unit of which a part is foreground or shadow. */
static __device__ inline void
load_candidates (const CclModelTask &task, size_t at, Candidates *candidates)
{
  candidates->candidate = *(const uint2 *) (task.state.candidates + at);
  candidates->former = *(const uint2 *) (task.state.formers + at);
  candidates->visits = *(const uint2 *) (task.state.visits + at);
}

/* Learns a warp's two rows, which are in @group. @kinds: see learn_row(). Returns the number of
 * pixels that ccl_motion_knows(). */
template <bool CHROMA>
static __device__ inline uint32_t
learn_rows (const CclModelTask &task, const uint2 values[2], uint2 chroma, const uint32_t kinds[2],
            uint32_t group, uint32_t x, uint32_t y)
{
  uint2 renewed = { ~0u, ~0u };
  uint32_t known = 0;

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
    Candidates candidates[2] = {};

    /* All loads come first: they would wait for the first row's stores. */
    candidates[0].count = *(const uint2 *) (task.state.counts + at);
    candidates[1].count = *(const uint2 *) (task.state.counts + at + pitch);
    if (kinds[0] | kinds[1]) {
      load_candidates (task, at, &candidates[0]);
      load_candidates (task, at + pitch, &candidates[1]);
    }
    renewed = learn_row (task, pace, values[0], kinds[0], candidates[0], x, y, &known);
    if (y + 1 < task.frame.height)
      learn_row (task, pace, values[1], kinds[1], candidates[1], x, y + 1, &known);
    if (CHROMA)
      learn_chroma (task, pace, chroma, x / 2, y / 2, kinds[0], renewed);
  }
  return known;
}

#endif
