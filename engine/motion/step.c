/* cudaccl - background models: from time to what a frame does
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/motion/step.h"

#include <string.h>

#define MILLISECOND UINT64_C (1000000)
/* More frequent updates of a pixel gain little, except in the beginning. */
#define INTERVAL (90 * MILLISECOND)
#define FIRST_INTERVAL (15 * MILLISECOND)
#define FIRST_SECONDS (2000 * MILLISECOND)
#define LIGHT_CHANGE (300 * MILLISECOND) /* lightning is shorter */
#define LIGHT_SEARCH (100 * MILLISECOND)
/* Before light is searched again, or followed. A crowd may be much foreground for long. */
#define FIRST_WAIT (200 * MILLISECOND)
#define LONGEST_WAIT (10000 * MILLISECOND)
#define FOLLOW_INTERVAL (500 * MILLISECOND)
#define FOLLOW_TIME (5000 * MILLISECOND)
/* How long frames are aligned after one was shifted, and how often without one. A shift that stays
 * is no shake: the background learns it, as fast as a new one. */
#define SHAKE_TIME (2000 * MILLISECOND)
#define SHAKE_INTERVAL (500 * MILLISECOND)
#define DISPLACED (4000 * MILLISECOND)
/* When much more differs than before, the camera may have been knocked. Frames are compared in
 * coarse pixels now and then, until the shift has been the same for a while, or none was far. */
#define KNOCK_TIME (3000 * MILLISECOND)
#define KNOCK_INTERVAL (90 * MILLISECOND)
#define KNOCK_NEAR (400 * MILLISECOND)
#define KNOCKED (200 * MILLISECOND)
/* A band of the picture flickers if it goes up and down by a part of its brightness, and at least a
 * quarter of a level, more than once a second, or in every tenth frame, for a while. Frames are
 * then divided by their gains, until these have been steady. */
#define FLICKER_PART 32
#define FLICKER_LEAST (CCL_MOTION_ONE / 4)
#define FLICKER_TURN (1000 * MILLISECOND)
#define FLICKER_OFTEN (4500 * MILLISECOND)
#define FLICKER_FRAME (100 * MILLISECOND)
#define FLICKER_TRIAL (1000 * MILLISECOND)
#define FLICKER_TIME (3000 * MILLISECOND)
#define FLICKER_CALM (10000 * MILLISECOND) /* after a trial without flicker */
/* Leaves wave where a fifth of what would be foreground is known, and more than a few pixels: means
 * over a time. Nothing else repeats itself so much: of people in a crowd a tenth is known at most.
 */
#define WAVES_TIME (2000 * MILLISECOND)
#define WAVES_HOLD (10000 * MILLISECOND)
#define WAVES_PART 4
#define WAVES_LEAST 4096
/* A value varies from visit to visit by a few floors, which follow light and contrast; 1/128. */
#define REACH 220
#define MOST_REACH 48
#define CHROMA_FLOOR 12
/* In fog the darkest level is above CLEAR, and less than RANGE below the brightest one; a flat
 * picture proves nothing. Thresholds go down with the contrast, to as many levels as a decoder
 * adds. */
#define CLEAR (64 * CCL_MOTION_ONE)
#define BLACK (12 * CCL_MOTION_ONE)
#define FLAT (24 * CCL_MOTION_ONE)
#define RANGE (160 * CCL_MOTION_ONE)
#define CONTRAST (192 * CCL_MOTION_ONE)
#define LEAST_FLOOR 4
#define LEAST_CHROMA_FLOOR 6
/* The background's levels are read when a drift is checked for, and at least this often. */
#define FIRST_CHECK (200 * MILLISECOND)
#define CHECK (2000 * MILLISECOND)
#define DRIFT CCL_MOTION_ONE /* the change of brightness after which a drift is checked for */
/* Noise, contrast and chroma become less in the dark: the floors go down in proportion to the
 * brightness between these. */
#define BRIGHT (96 * CCL_MOTION_ONE)
#define DARK (BRIGHT / 2)

static uint64_t
min_u64 (uint64_t a, uint64_t b)
{
  return a < b ? a : b;
}

static uint64_t
max_u64 (uint64_t a, uint64_t b)
{
  return a > b ? a : b;
}

/* @time as a share of @constant, 1/32768, at most 1 / @least. */
static int16_t
share (uint64_t time, uint64_t constant, unsigned least)
{
  return (int16_t) (time * 32768 / max_u64 (constant, least * time));
}

/* The lowest 7 bits in reverse order, so that successive values are far apart. */
static uint8_t
dither (uint32_t n)
{
  uint8_t reversed = 0;

  for (int i = 0; i < 7; i++)
    reversed |= (uint8_t) ((n >> i & 1) << (6 - i));
  return reversed;
}

/* The pace of a group that learns from @time. */
static CclMotionPace
pace_of (CclMotionClock *clock, unsigned group, uint64_t time, uint64_t learning)
{
  /* A young model learns fast: it has seen only as much time as its age. So does one whose camera
   * was displaced. */
  uint64_t enough = min_u64 (learning, max_u64 (clock->known / 2, learning / 20));
  uint64_t count = clock->rest[group] + time * CCL_MOTION_LEARNT;
  uint64_t shadow_count = clock->shadow_rest[group] + time * CCL_MOTION_LEARNT / 2;

  clock->rest[group] = count % learning;
  clock->shadow_rest[group] = shadow_count % learning;
  return (CclMotionPace){
    .rate = share (time, min_u64 (learning / 4, clock->known / 2), 2),
    .noise_rate = share (time, min_u64 (learning / 5, clock->known), 4),
    .dither = dither (clock->updates++),
    .count = (uint8_t) min_u64 (count / learning, 127),
    .shadow_count = (uint8_t) min_u64 (shadow_count / learning, 127),
    .lit_count = (uint8_t) min_u64 (2 * (count / learning), 127),
    .enough = (uint8_t) max_u64 (enough * CCL_MOTION_LEARNT / learning, 1),
  };
}

/* The veil: how much fog adds to every level. It is what the darkest level has above black, and it
 * takes as much of the contrast: a bright picture without fog may have both. */
static uint32_t
veil_of (const CclMotionClock *clock)
{
  const uint32_t range = clock->bright - clock->dark;
  uint64_t veil;

  if (clock->dark <= CLEAR || range < FLAT || range >= RANGE)
    return 0;
  veil = min_u64 (clock->dark - BLACK, 2 * (clock->dark - CLEAR));
  return (uint32_t) min_u64 (veil, (RANGE - range) * 7 / 5);
}

/* The contrast of the background, at most CONTRAST. A thin veil does not lower it much. */
static uint32_t
contrast_of (const CclMotionClock *clock)
{
  const uint32_t veil = veil_of (clock), least = 3 * veil < CONTRAST ? CONTRAST - 3 * veil : 0;
  const uint32_t contrast = clock->bright > veil ? clock->bright - veil : 0;

  return (uint32_t) min_u64 (max_u64 (contrast, least), CONTRAST);
}

/* A floor of @levels in the light and the contrast that the last frames had; @least: the lowest one
 * for any contrast. */
static uint16_t
floor_of (const CclMotionClock *clock, uint32_t levels, uint32_t least)
{
  uint32_t brightness = clock->brightness, floor;

  if (brightness == 0 || brightness > BRIGHT)
    brightness = BRIGHT;
  if (brightness < DARK)
    brightness = DARK;
  floor = levels * CCL_MOTION_ONE * brightness / BRIGHT;
  least = (uint32_t) min_u64 (least * CCL_MOTION_ONE, floor);
  return (uint16_t) max_u64 ((uint64_t) floor * contrast_of (clock) / CONTRAST, least);
}

CclMotionStep
ccl_motion_clock_tick (CclMotionClock *clock, const CclMotionParams *params, uint64_t elapsed)
{
  CclMotionStep step = { .shadows = !params->keep_shadows,
                         .veil = (uint8_t) (veil_of (clock) / CCL_MOTION_ONE),
                         .floor = floor_of (clock, params->noise_floor, LEAST_FLOOR),
                         .chroma_floor = floor_of (clock, CHROMA_FLOOR, LEAST_CHROMA_FLOOR) };
  uint64_t interval;

  step.reach = (uint8_t) min_u64 (step.floor * REACH / CCL_MOTION_ONE / CCL_MOTION_ONE, MOST_REACH);
  step.cap = step.floor > CCL_MOTION_CAP ? step.floor : CCL_MOTION_CAP;
  if (!clock->running) {
    *clock = (CclMotionClock){ .running = true, .shaking = SHAKE_TIME };
    step.first = true;
    step.learn = (1 << CCL_MOTION_GROUPS) - 1;
    return step;
  }
  if (clock->displaced >= DISPLACED) {
    clock->shaking = clock->displaced = clock->knock = 0;
    clock->align = CCL_SHAKE_NONE;
    clock->paused = params->learning_time / 2;
    clock->known = 0;
    step.displaced = true;
  }
  step.align = clock->align;
  step.shady = clock->shady;
  step.waves = clock->waving > 0;
  step.flicker = clock->flicker;
  if (params->freeze && clock->flicker >= CCL_FLICKER_REBASE)
    step.flicker = clock->flicker == CCL_FLICKER_END ? CCL_FLICKER_NONE : CCL_FLICKER_FOLLOW;
  clock->light = params->freeze ? CCL_MOTION_STEADY : clock->next;
  step.light = clock->light;
  clock->next = CCL_MOTION_STEADY;
  if (params->freeze)
    return step;
  /* At edges of light, and where the new light shows what was too dark or too bright, the old
   * background tells nothing: what stands there is learned sooner. */
  if (clock->relit)
    clock->known = min_u64 (clock->known, params->learning_time / 4);
  clock->relit = false;
  /* A single frame proves little, however long the gap before it. */
  elapsed = min_u64 (elapsed, params->learning_time / 4);
  clock->age += elapsed;
  clock->known += elapsed;
  clock->learns = 0;
  clock->faded += elapsed;
  if (clock->faded >= params->learning_time / CCL_MOTION_SETTLED) {
    step.fades = clock->fades++ % CCL_MOTION_SETTLED == 0 ? 2 : 1;
    clock->faded = 0;
  }
  step.flicker_rate = share (elapsed, params->learning_time / 4, 2);
  for (unsigned group = 0; group < CCL_MOTION_GROUPS; group++) {
    /* Later, each group waits a different time once, so that they stay out of step. */
    interval = clock->known < FIRST_SECONDS ? FIRST_INTERVAL : INTERVAL;
    if (clock->known < FIRST_SECONDS + INTERVAL && clock->known >= FIRST_SECONDS)
      interval = INTERVAL * (group + 1) / CCL_MOTION_GROUPS;
    clock->pending[group] += elapsed;
    if (clock->pending[group] < interval)
      continue;
    step.learn |= (uint8_t) (1 << group);
    step.paces[group] = pace_of (clock, group, clock->pending[group], params->learning_time);
    clock->pending[group] = 0;
    clock->learns += step.paces[group].count > 0;
  }
  return step;
}

uint64_t
ccl_motion_most (const CclMotionParams *params, uint64_t pixels)
{
  return params->light_change == 0 ? UINT64_MAX : pixels * params->light_change / 100;
}

/* Whether so much is foreground, or foreground and shadow, that the light may have changed. Shadows
 * alone do no harm. */
static bool
is_much (const CclMotionSeen *seen)
{
  return seen->foreground > seen->pixels / 5 ||
         seen->foreground + seen->shadows > seen->pixels / 5 * 2;
}

/* Whether much more differs than before. */
static bool
is_more (const CclMotionSeen *seen, uint64_t busy, uint64_t before)
{
  return busy > 2 * before + seen->pixels / 64;
}

/* Decides whether the next frame is compared in coarse pixels. */
static bool
judge_knock (CclMotionClock *clock, bool freeze, uint64_t elapsed, const CclMotionSeen *seen,
             uint64_t busy)
{
  const bool searched = clock->align == CCL_SHAKE_SEARCH;
  const bool far = searched && ccl_shake_is_far (seen->moved, seen->coarse);

  if (seen->coarse < 2 || freeze || ccl_shake_is_inside (seen->shift)) {
    clock->knock = 0;
  } else if (clock->knock == 0 && is_more (seen, busy, clock->busy)) {
    clock->quiet = clock->busy;
    clock->knock = KNOCK_TIME;
    clock->waits = clock->near = clock->away = 0;
    clock->far = (CclShift){ 0, 0 };
  } else {
    clock->knock -= min_u64 (elapsed, clock->knock);
  }
  if (clock->knock == 0 || !is_more (seen, busy, clock->quiet) || clock->near >= KNOCK_NEAR) {
    clock->knock = 0;
    return false;
  }
  clock->waits += elapsed;
  clock->near += elapsed;
  clock->away += elapsed;
  if (far)
    clock->near = 0;
  if (searched) {
    clock->waits = 0;
    if (!far || seen->moved.x != clock->far.x || seen->moved.y != clock->far.y)
      clock->away = 0;
    clock->far = seen->moved;
  }
  if (far && clock->away >= KNOCKED)
    clock->displaced = DISPLACED;
  return clock->waits >= KNOCK_INTERVAL;
}

/* Decides whether the next frame is aligned. When a shake begins, much more differs than in the
 * frame before. */
static void
judge_shift (CclMotionClock *clock, bool freeze, uint64_t elapsed, const CclMotionSeen *seen)
{
  const uint64_t busy = seen->foreground + seen->shadows;
  const bool moves = ccl_shake_moves (seen->shift);

  clock->shaking -= min_u64 (elapsed, clock->shaking);
  clock->paused -= min_u64 (elapsed, clock->paused);
  clock->still = clock->align == CCL_SHAKE_ALIGN ? 0 : clock->still + elapsed;
  if (clock->align == CCL_SHAKE_ALIGN) {
    bool same = seen->shift.x == clock->shift.x && seen->shift.y == clock->shift.y;

    clock->displaced = moves && same && !freeze ? clock->displaced + elapsed : 0;
    clock->shift = seen->shift;
  }
  if (moves)
    clock->shaking = SHAKE_TIME;
  if (judge_knock (clock, freeze, elapsed, seen, busy))
    clock->align = CCL_SHAKE_SEARCH;
  else if (clock->paused == 0 && (clock->shaking > 0 || clock->still >= SHAKE_INTERVAL ||
                                  is_more (seen, busy, clock->busy)))
    clock->align = CCL_SHAKE_ALIGN;
  else
    clock->align = CCL_SHAKE_NONE;
  clock->busy = busy;
}

/* Adds a band's turns, and returns whether there are many. */
static bool
turns_often (CclFlickerTurns *turns, uint64_t elapsed, uint32_t level)
{
  const uint32_t least =
      level / FLICKER_PART > FLICKER_LEAST ? level / FLICKER_PART : FLICKER_LEAST;
  const uint32_t extreme = turns->extreme;

  turns->often -= min_u64 (min_u64 (elapsed, FLICKER_FRAME), turns->often);
  if (extreme == 0 || (turns->rises ? level > extreme : level < extreme)) {
    turns->extreme = level;
  } else if (turns->rises ? level + least < extreme : level > extreme + least) {
    turns->rises = !turns->rises;
    turns->extreme = level;
    turns->often = min_u64 (turns->often + FLICKER_TURN, FLICKER_OFTEN + FLICKER_TURN);
  }
  return turns->often >= FLICKER_OFTEN;
}

/* Whether at least half of the bands turn often. */
static bool
bands_turn (CclMotionClock *clock, uint64_t elapsed, const CclMotionSeen *seen)
{
  unsigned bands = 0, often = 0;

  for (int i = 0; i < CCL_FLICKER_BANDS; i++) {
    if (seen->bands[i] == 0)
      continue;
    bands++;
    often += turns_often (&clock->turns[i], elapsed, seen->bands[i]);
  }
  return bands > 0 && 2 * often >= bands;
}

/* Decides whether the next frame is divided by its gains. */
static void
judge_flicker (CclMotionClock *clock, uint64_t elapsed, const CclMotionSeen *seen)
{
  /* A change of light, and back, is none yet. */
  if (seen->relit && !clock->flickered) {
    clock->flicker = CCL_FLICKER_NONE;
    memset (clock->turns, 0, sizeof clock->turns);
    return;
  }
  if (clock->flicker == CCL_FLICKER_END)
    clock->flicker = CCL_FLICKER_NONE;
  if (clock->flicker == CCL_FLICKER_NONE) {
    clock->calm -= min_u64 (elapsed, clock->calm);
    if (!bands_turn (clock, elapsed, seen) || clock->calm > 0)
      return;
    clock->flicker = CCL_FLICKER_BEGIN;
    clock->flickering = FLICKER_TRIAL;
    return;
  }
  clock->flickering -= min_u64 (min_u64 (elapsed, FLICKER_TRIAL), clock->flickering);
  clock->flickered = clock->flickered || seen->flickers;
  clock->flicker = CCL_FLICKER_FOLLOW;
  if (seen->flickers)
    clock->flickering = FLICKER_TIME;
  if (clock->flickering == 0) {
    clock->flicker = clock->flickered ? CCL_FLICKER_END : CCL_FLICKER_NONE;
    clock->calm = clock->flickered ? 0 : FLICKER_CALM;
    clock->flickered = false;
    memset (clock->turns, 0, sizeof clock->turns);
  } else if (seen->far) {
    clock->flicker = CCL_FLICKER_REBASE;
  }
}

/* Moves a mean of pixels towards those of a frame. */
static uint64_t
follow_mean (uint64_t mean, uint64_t pixels, uint64_t elapsed)
{
  return (mean * (WAVES_TIME - elapsed) + 256 * pixels * elapsed) / WAVES_TIME;
}

/* Decides whether what is known is foreground in the next frame. */
static void
judge_waves (CclMotionClock *clock, uint64_t elapsed, const CclMotionSeen *seen)
{
  const uint64_t foreground = seen->foreground * clock->learns / CCL_MOTION_GROUPS;
  const uint64_t others = foreground - min_u64 (clock->waving > 0 ? 0 : seen->known, foreground);

  clock->waving -= min_u64 (elapsed, clock->waving);
  if (clock->learns == 0 || is_much (seen))
    return;
  elapsed = min_u64 (elapsed, WAVES_TIME / 2);
  clock->repeated = follow_mean (clock->repeated, seen->known, elapsed);
  clock->others = follow_mean (clock->others, others, elapsed);
  if (clock->repeated * (WAVES_PART - 1) > clock->others &&
      clock->repeated > 256 * seen->pixels / WAVES_LEAST)
    clock->waving = WAVES_HOLD;
}

/* Follows the darkest and the brightest level. */
static void
judge_levels (CclMotionClock *clock, uint64_t elapsed, CclDriftLevels levels)
{
  const uint32_t dark = levels.dark * CCL_MOTION_ONE, bright = levels.bright * CCL_MOTION_ONE;
  const bool first = clock->bright == 0;

  clock->unchecked = clock->light == CCL_MOTION_DRIFT ? 0 : clock->unchecked + elapsed;
  if (bright == 0)
    return;
  clock->dark = first ? dark : (3 * clock->dark + dark) / 4;
  clock->bright = first ? bright : (3 * clock->bright + bright) / 4;
}

void
ccl_motion_clock_judge (CclMotionClock *clock, bool freeze, uint64_t elapsed,
                        const CclMotionSeen *seen)
{
  const uint32_t before = clock->brightness;

  clock->changed = seen->light_change ? clock->changed + elapsed : 0;
  clock->brightness = seen->brightness;
  clock->shady = seen->shadows > seen->foreground / 4;
  judge_shift (clock, freeze, elapsed, seen);
  judge_flicker (clock, elapsed, seen);
  judge_levels (clock, elapsed, seen->levels);
  if (freeze)
    return;
  judge_waves (clock, elapsed, seen);
  clock->much = is_much (seen) ? clock->much + elapsed : 0;
  clock->last += elapsed;
  clock->follow -= min_u64 (elapsed, clock->follow);
  clock->searched = clock->changed > 0 && (clock->searched || clock->light == CCL_MOTION_SEARCH);
  if (clock->light > CCL_MOTION_DRIFT)
    clock->last = 0;
  /* where it still changes, so that the next frame checks again */
  if (clock->light == CCL_MOTION_DRIFT)
    clock->level = before;
  else if (clock->light != CCL_MOTION_STEADY || clock->level == 0)
    clock->level = seen->brightness;
  if (seen->relit)
    clock->follow = FOLLOW_TIME;
  clock->relit = seen->relit && clock->light == CCL_MOTION_SEARCH;
  if (clock->much == 0)
    clock->wait = 0;
  else if (clock->light == CCL_MOTION_SEARCH)
    clock->wait =
        seen->relit ? FIRST_WAIT : min_u64 (max_u64 (2 * clock->wait, FIRST_WAIT), LONGEST_WAIT);
  if (clock->much >= LIGHT_SEARCH &&
      (clock->last >= clock->wait || (clock->changed > 0 && !clock->searched)))
    clock->next = CCL_MOTION_SEARCH;
  else if (clock->follow > 0 && clock->last >= FOLLOW_INTERVAL)
    clock->next = CCL_MOTION_FOLLOW;
  else if (clock->much == 0 &&
           (clock->unchecked >= (clock->bright == 0 ? FIRST_CHECK : CHECK) ||
            ccl_motion_distance ((int) seen->brightness, (int) clock->level) > DRIFT))
    clock->next = CCL_MOTION_DRIFT;
  if (clock->changed >= LIGHT_CHANGE && clock->searched)
    clock->running = false;
}
