/* cudaccl - tests of the time of background models
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The reference of checkccl has the same clock, so comparing with it cannot show whether the clock
 * is right. What it must do is written here in plain numbers. */

#include "engine/motion/step.h"

#include <inttypes.h>
#include <stdio.h>

#define COUNT(array) (sizeof (array) / sizeof *(array))
#define MS UINT64_C (1000000)
#define SECOND (1000 * MS)
#define DAY (24 * 3600 * SECOND)
#define ALL ((1 << CCL_MOTION_GROUPS) - 1)

static unsigned failures;

static void
check (const char *what, size_t i, uint64_t value, uint64_t expected)
{
  if (value == expected)
    return;
  printf ("FAILED: %s, %zu: %" PRIu64 ", not %" PRIu64 "\n", what, i, value, expected);
  failures++;
}

static CclMotionParams
params_of (uint64_t learning_time)
{
  return (CclMotionParams){ .learning_time = learning_time, .noise_floor = 14, .light_change = 60 };
}

/* A clock after its first frame. */
static CclMotionClock
clock_of (uint64_t learning_time)
{
  CclMotionParams params = params_of (learning_time);
  CclMotionClock clock = { .running = false };

  ccl_motion_clock_tick (&clock, &params, 0);
  return clock;
}

static void
run (CclMotionClock *clock, uint64_t learning_time, uint64_t elapsed, unsigned frames)
{
  CclMotionParams params = params_of (learning_time);

  while (frames-- > 0)
    ccl_motion_clock_tick (clock, &params, elapsed);
}

/* All groups learn from the first frame, however long the time before it. */
static void
test_first (void)
{
  static const uint64_t elapsed[] = { 0, 40 * MS, DAY };
  CclMotionParams params = params_of (10 * SECOND);

  for (size_t i = 0; i < COUNT (elapsed); i++) {
    CclMotionClock clock = { .age = SECOND, .changed = SECOND, .pending = { SECOND } };
    CclMotionStep step = ccl_motion_clock_tick (&clock, &params, elapsed[i]);

    check ("the first frame", i, step.first, true);
    check ("groups of the first frame", i, step.learn, ALL);
    check ("age of the first frame", i, clock.age + clock.changed + clock.pending[0], 0);
    step = ccl_motion_clock_tick (&clock, &params, 40 * MS);
    check ("the second frame", i, step.first, false);
    check ("age of the second frame", i, clock.age, 40 * MS);
  }
}

/* A single frame stands for at most a quarter of the learning time. */
static void
test_cap (void)
{
  static const struct
  {
    uint64_t learning_time, elapsed, age;
  } cases[] = {
    { 10 * SECOND, 40 * MS, 40 * MS },
    { 10 * SECOND, 2500 * MS - 1, 2500 * MS - 1 },
    { 10 * SECOND, 2500 * MS, 2500 * MS },
    { 10 * SECOND, 2500 * MS + 1, 2500 * MS },
    { 10 * SECOND, DAY, 2500 * MS },
    { 10 * SECOND, UINT64_MAX, 2500 * MS },
    { MS, DAY, MS / 4 },
    { DAY, DAY, DAY / 4 },
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    CclMotionClock clock = clock_of (cases[i].learning_time);

    run (&clock, cases[i].learning_time, cases[i].elapsed, 1);
    check ("age after a gap", i, clock.age, cases[i].age);
    run (&clock, cases[i].learning_time, cases[i].elapsed, 1);
    check ("age after two gaps", i, clock.age, 2 * cases[i].age);
  }
}

/* A frozen model does not age, and continues where it was. */
static void
test_freeze (void)
{
  CclMotionClock clock = clock_of (10 * SECOND), before;
  CclMotionParams params = params_of (10 * SECOND);
  CclMotionStep step;

  run (&clock, 10 * SECOND, 10 * MS, 1);
  before = clock;
  params.freeze = true;
  step = ccl_motion_clock_tick (&clock, &params, SECOND);
  check ("groups of a frozen model", 0, step.learn, 0);
  check ("age of a frozen model", 0, clock.age, before.age);
  check ("pending time of a frozen model", 0, clock.pending[0], before.pending[0]);
  params.freeze = false;
  step = ccl_motion_clock_tick (&clock, &params, 5 * MS);
  check ("groups after that", 0, step.learn, ALL);
}

/* In the first two seconds all groups learn every 15 ms, later every 90 ms, and not together. Slow
 * cameras' models learn from every frame. */
static void
test_intervals (void)
{
  CclMotionParams params = params_of (10 * SECOND);
  CclMotionClock clock = clock_of (10 * SECOND);
  unsigned last[CCL_MOTION_GROUPS] = { 0 };

  for (unsigned frame = 1; frame <= 2000; frame++) {
    CclMotionStep step = ccl_motion_clock_tick (&clock, &params, 5 * MS);

    if (frame < 400)
      check ("groups in the beginning", frame, step.learn, frame % 3 == 0 ? ALL : 0);
    for (unsigned group = 0; group < CCL_MOTION_GROUPS; group++) {
      if (!(step.learn >> group & 1))
        continue;
      if (frame > 450)
        check ("frames between updates", frame, frame - last[group], 18);
      last[group] = frame;
    }
    if (frame > 450)
      check ("groups that learn together", frame, __builtin_popcount (step.learn) > 2, false);
  }

  clock = clock_of (10 * SECOND);
  for (unsigned frame = 1; frame <= 100; frame++) {
    CclMotionStep step = ccl_motion_clock_tick (&clock, &params, 90 * MS);

    check ("groups of a slow camera", frame, step.learn, ALL);
  }
}

/* A candidate's count grows by 255 in the learning time, half of it in shadow and twice as much
 * where it is lit, whatever the frame rate, and no part of that is lost. */
static void
test_counts (void)
{
  static const struct
  {
    uint64_t learning_time, elapsed;
    unsigned frames;
    unsigned counts;
  } cases[] = { { 10 * SECOND, 40 * MS, 250, 255 },   { 10 * SECOND, 100 * MS, 100, 255 },
                { 10 * SECOND, SECOND, 10, 255 },     { 10 * SECOND, SECOND, 5, 127 },
                { 10 * SECOND, 2500 * MS, 4, 255 },   { 10 * SECOND, DAY, 4, 255 },
                { SECOND, 250 * MS, 4, 255 },         { 100 * SECOND, 100 * MS, 1000, 255 },
                { 100 * SECOND, 100 * MS, 2000, 510 } };

  for (size_t i = 0; i < COUNT (cases); i++) {
    CclMotionParams params = params_of (cases[i].learning_time);
    CclMotionClock clock = clock_of (cases[i].learning_time);
    uint64_t counts = 0, shadow_counts = 0;

    for (unsigned frame = 0; frame < cases[i].frames; frame++) {
      CclMotionStep step = ccl_motion_clock_tick (&clock, &params, cases[i].elapsed);

      if (!(step.learn & 1))
        continue;
      counts += step.paces[0].count;
      shadow_counts += step.paces[0].shadow_count;
      check ("a count where it is lit", i, step.paces[0].lit_count,
             step.paces[0].count < 64 ? 2 * step.paces[0].count : 127);
    }
    /* Pending time belongs to the next update. */
    counts += (clock.rest[0] + clock.pending[0] * 255) / cases[i].learning_time;
    shadow_counts += (clock.shadow_rest[0] + clock.pending[0] * 255 / 2) / cases[i].learning_time;
    check ("counts", i, counts, cases[i].counts);
    check ("counts in shadow", i, shadow_counts, cases[i].counts / 2);
  }
}

/* How far the background moves, in 1/32768 of the difference, and how many counts make a candidate
 * the background: both follow the age of a young model, then the learning time. */
static void
test_paces (void)
{
  static const struct
  {
    uint64_t learning_time, elapsed;
    unsigned frames;
    unsigned rate, noise_rate, enough;
  } cases[] = {
    { 10 * SECOND, 100 * MS, 1, 16384, 8192, 12 }, /* the most; a twentieth of the learning time */
    { 10 * SECOND, 100 * MS, 4, 16384, 8192, 12 },
    { 10 * SECOND, 100 * MS, 10, 6553, 3276, 12 },   /* 100 of 500 ms, of 1 s */
    { 10 * SECOND, 100 * MS, 40, 1638, 1638, 51 },   /* of 2 s, of a fifth of the learning time */
    { 10 * SECOND, 100 * MS, 100, 1310, 1638, 127 }, /* of a quarter of the learning time */
    { 10 * SECOND, 100 * MS, 200, 1310, 1638, 255 },
    { 10 * SECOND, 100 * MS, 400, 1310, 1638, 255 },
    { MS, SECOND, 60, 16384, 8192, 255 },
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    CclMotionParams params = params_of (cases[i].learning_time);
    CclMotionClock clock = clock_of (cases[i].learning_time);
    CclMotionStep step;

    run (&clock, cases[i].learning_time, cases[i].elapsed, cases[i].frames - 1);
    step = ccl_motion_clock_tick (&clock, &params, cases[i].elapsed);
    check ("rate", i, (uint64_t) step.paces[1].rate, cases[i].rate);
    check ("rate of noise", i, (uint64_t) step.paces[1].noise_rate, cases[i].noise_rate);
    check ("enough counts", i, step.paces[1].enough, cases[i].enough);
    check ("counts", i, step.paces[1].count > 0 && step.paces[1].count < 128, true);
  }
}

/* Updates round up or down in turns that are far apart. */
static void
test_dither (void)
{
  static const uint8_t expected[] = { 0, 64, 32, 96, 16 };
  CclMotionParams params = params_of (10 * SECOND);
  CclMotionClock clock = clock_of (10 * SECOND);
  CclMotionStep step = { .first = false };

  for (unsigned update = 0; update < 132; update++) {
    if (update % CCL_MOTION_GROUPS == 0)
      step = ccl_motion_clock_tick (&clock, &params, SECOND);
    if (update % 128 < COUNT (expected))
      check ("dither", update, step.paces[update % CCL_MOTION_GROUPS].dither,
             expected[update % 128]);
  }
}

/* Thresholds, and what the shadows are. */
static void
test_thresholds (void)
{
  static const struct
  {
    uint8_t noise_floor;
    unsigned floor, cap;
  } cases[] = {
    { 0, 0, 40 * 128 },         { 14, 14 * 128, 40 * 128 },    { 40, 40 * 128, 40 * 128 },
    { 41, 41 * 128, 41 * 128 }, { 255, 255 * 128, 255 * 128 },
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    CclMotionParams params = params_of (SECOND);
    CclMotionClock clock = { .running = i % 2 };
    CclMotionStep step;

    params.noise_floor = cases[i].noise_floor;
    params.keep_shadows = i % 2;
    step = ccl_motion_clock_tick (&clock, &params, 0);
    check ("floor", i, step.floor, cases[i].floor);
    check ("cap", i, step.cap, cases[i].cap);
    check ("shadows", i, step.shadows, i % 2 == 0);
  }
}

/* Fog lowers the thresholds with the contrast that it leaves, and shadows are told above it. */
static void
test_fog (void)
{
  static const struct
  {
    uint8_t dark, bright, noise_floor;
    unsigned veil, floor, chroma_floor; /* floors in 1/128 grey levels */
  } cases[] = {
    { 0, 0, 14, 0, 14 * 128, 12 * 128 },     /* unknown */
    { 64, 94, 14, 0, 14 * 128, 12 * 128 },   /* little contrast, but a dark picture */
    { 124, 147, 14, 0, 14 * 128, 12 * 128 }, /* a flat picture */
    { 90, 250, 14, 0, 14 * 128, 12 * 128 },  /* a bright one */
    { 74, 150, 14, 20, 14 * 88, 12 * 88 },   /* a thin veil */
    { 114, 204, 14, 98, 14 * 128 * 106 / 192, 12 * 128 * 106 / 192 },
    { 124, 160, 14, 112, 4 * 128, 6 * 128 },
    { 194, 219, 14, 182, 4 * 128, 6 * 128 },
    { 194, 219, 2, 182, 2 * 128, 6 * 128 },
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    CclMotionParams params = params_of (10 * SECOND);
    CclMotionClock clock = { .running = true };
    const CclMotionSeen seen = { .pixels = 1000, .levels = { cases[i].dark, cases[i].bright } };
    CclMotionStep step;

    params.noise_floor = cases[i].noise_floor;
    ccl_motion_clock_judge (&clock, false, 0, &seen);
    step = ccl_motion_clock_tick (&clock, &params, 0);
    check ("veil", i, step.veil, cases[i].veil);
    check ("floor in fog", i, step.floor, cases[i].floor);
    check ("floor of chroma in fog", i, step.chroma_floor, cases[i].chroma_floor);
  }
}

/* The levels of the background are read within 200 ms and then every 2 s, and followed by a
 * quarter. */
static void
test_levels (void)
{
  CclMotionClock clock = clock_of (10 * SECOND);
  const CclMotionParams params = params_of (10 * SECOND);
  uint64_t at = 0;
  unsigned checks = 0;

  for (unsigned frame = 0; frame < 80; frame++, at += 100 * MS) {
    const bool checked =
        ccl_motion_clock_tick (&clock, &params, 100 * MS).light == CCL_MOTION_DRIFT;
    const CclMotionSeen seen = { .pixels = 1000,
                                 .brightness = 100 * 128,
                                 .levels = { checked ? (checks == 0 ? 20 : 100) : 0,
                                             checked ? 200 : 0 } };

    if (checked)
      check ("when levels are read, ms", checks, (long) (at / MS), 200 + 2100 * (long) checks);
    checks += checked;
    ccl_motion_clock_judge (&clock, false, 100 * MS, &seen);
    if (checked)
      check ("the darkest level", checks, clock.dark,
             checks == 1   ? 20 * 128
             : checks == 2 ? 40 * 128
             : checks == 3 ? 55 * 128
                           : 8480);
  }
  check ("times that levels are read", 0, checks, 4);
}

/* The next frame, and what it has shown: @foreground and @shadows of 1000 pixels. Returns
 * CclMotionStep.light. */
static unsigned
see (CclMotionClock *clock, uint64_t elapsed, unsigned foreground, unsigned shadows, bool relit)
{
  CclMotionParams params = params_of (10 * SECOND);
  CclMotionStep step = ccl_motion_clock_tick (clock, &params, elapsed);
  const CclMotionSeen seen = { .pixels = 1000,
                               .foreground = foreground,
                               .shadows = shadows,
                               .relit = relit && step.light != CCL_MOTION_STEADY,
                               .light_change = foreground > 600 };

  ccl_motion_clock_judge (clock, false, elapsed, &seen);
  return step.light;
}

/* Too much foreground starts the model anew when it lasted for 0.3 s without a break, and the
 * search for a change of light found none. */
static void
test_restart (void)
{
  static const struct
  {
    struct
    {
      uint64_t elapsed;
      bool change;
    } frames[4];
    size_t n;
    bool running;
  } cases[] = {
    { { { 100 * MS, true }, { 100 * MS, true }, { 99 * MS, true } }, 3, true },
    { { { 100 * MS, true }, { 100 * MS, true }, { 100 * MS, true } }, 3, false },
    { { { 200 * MS, true }, { 40 * MS, false }, { 200 * MS, true } }, 3, true },
    { { { 200 * MS, true }, { 0, false }, { 200 * MS, true }, { 100 * MS, true } }, 4, false },
    { { { SECOND, false }, { SECOND, false }, { 299 * MS, true } }, 3, true },
    { { { SECOND, true } }, 1, true },
    { { { SECOND, true }, { SECOND, true } }, 2, false },
    { { { SECOND, false } }, 1, true },
  };
  static const struct
  {
    uint8_t light_change;
    uint64_t most;
  } shares[] = { { 0, UINT64_MAX }, { 1, 10 }, { 60, 600 }, { 100, 1000 } };
  CclMotionClock clock = clock_of (10 * SECOND);

  for (size_t i = 0; i < COUNT (cases); i++) {
    clock = clock_of (10 * SECOND);
    for (size_t k = 0; k < cases[i].n; k++)
      see (&clock, cases[i].frames[k].elapsed, cases[i].frames[k].change ? 601 : 200, 0, false);
    check ("a model after changes of light", i, clock.running, cases[i].running);
  }
  clock = clock_of (10 * SECOND);
  for (size_t k = 0; k < 10; k++)
    ccl_motion_clock_judge (&clock, true, SECOND,
                            &(CclMotionSeen){ .pixels = 1, .foreground = 1, .light_change = true });
  check ("a frozen model", 0, clock.running, true);
  check ("a frozen model's search", 0, clock.next, CCL_MOTION_STEADY);
  for (size_t i = 0; i < COUNT (shares); i++) {
    CclMotionParams params = params_of (SECOND);

    params.light_change = shares[i].light_change;
    check ("the most foreground", i, ccl_motion_most (&params, 1000), shares[i].most);
  }
}

/* A fifth of foreground, or two fifths with shadows, for 0.1 s: the next frame searches. If there
 * is no change of light, searches become rare. */
static void
test_search (void)
{
  static const struct
  {
    unsigned foreground, shadows;
    bool searches;
  } cases[] = { { 200, 0, false }, { 201, 0, true },    { 0, 400, false },
                { 0, 401, true },  { 150, 250, false }, { 150, 251, true } };
  static const unsigned frames[] = { 2, 5, 10, 19, 36, 69, 134, 235, 336 };
  CclMotionClock clock = clock_of (10 * SECOND);
  size_t n = 0;

  for (size_t i = 0; i < COUNT (cases); i++) {
    clock = clock_of (10 * SECOND);
    see (&clock, 99 * MS, cases[i].foreground, cases[i].shadows, false);
    check ("a search after 99 ms", i,
           see (&clock, MS, cases[i].foreground, cases[i].shadows, false), CCL_MOTION_STEADY);
    check ("a search", i, see (&clock, MS, 0, 0, false),
           cases[i].searches ? CCL_MOTION_SEARCH : CCL_MOTION_STEADY);
    check ("a search after that", i, see (&clock, SECOND, 0, 0, false), CCL_MOTION_STEADY);
  }
  clock = clock_of (10 * SECOND);
  for (unsigned frame = 1; frame <= 340; frame++) {
    if (see (&clock, 100 * MS, 300, 0, false) != CCL_MOTION_SEARCH)
      continue;
    if (n < COUNT (frames))
      check ("the frame of a search", n, frame, frames[n]);
    n++;
  }
  check ("searches", 0, n, COUNT (frames));
  /* but a change of the whole picture is searched at once */
  see (&clock, 100 * MS, 700, 0, false);
  check ("a search after many", 0, see (&clock, 100 * MS, 700, 0, false), CCL_MOTION_SEARCH);
}

/* After a change, light is followed every 0.5 s until 5 s after the last one. */
static void
test_follow (void)
{
  CclMotionClock clock = clock_of (10 * SECOND);
  unsigned follows = 0;

  see (&clock, 100 * MS, 900, 0, false);
  check ("a search", 0, see (&clock, 100 * MS, 0, 0, true), CCL_MOTION_SEARCH);
  for (unsigned frame = 1; frame <= 100; frame++) {
    unsigned light = see (&clock, 100 * MS, 0, 0, frame < 20);

    check ("a frame that follows", frame, light == CCL_MOTION_FOLLOW,
           frame % 6 == 0 && frame <= 66);
    follows += light == CCL_MOTION_FOLLOW;
  }
  check ("frames that follow", 0, follows, 11);
}

/* A drift is checked for when the brightness is more than a level from what it was in the last
 * frame that was compared, unless much has changed or the model is frozen. */
static void
test_drift (void)
{
  static const struct
  {
    uint32_t brightness; /* 1/128 grey levels */
    unsigned foreground;
    bool freeze;
    unsigned light;
  } frames[] = {
    { 100 * 128, 0, false, CCL_MOTION_STEADY },     { 101 * 128, 0, false, CCL_MOTION_STEADY },
    { 101 * 128 + 1, 0, false, CCL_MOTION_STEADY }, { 103 * 128, 0, false, CCL_MOTION_DRIFT },
    { 102 * 128, 0, false, CCL_MOTION_DRIFT },      { 101 * 128, 0, true, CCL_MOTION_STEADY },
    { 101 * 128, 0, false, CCL_MOTION_STEADY },     { 101 * 128, 300, false, CCL_MOTION_DRIFT },
    { 105 * 128, 300, false, CCL_MOTION_SEARCH },   { 107 * 128, 300, false, CCL_MOTION_STEADY },
    { 107 * 128, 0, false, CCL_MOTION_STEADY },     { 107 * 128, 0, false, CCL_MOTION_DRIFT },
  };
  CclMotionClock clock = clock_of (10 * SECOND);

  clock.bright = 200 * 128; /* known */
  for (size_t i = 0; i < COUNT (frames); i++) {
    CclMotionParams params = params_of (10 * SECOND);
    const CclMotionSeen seen = { .pixels = 1000,
                                 .foreground = frames[i].foreground,
                                 .brightness = frames[i].brightness };

    params.freeze = frames[i].freeze;
    check ("light of a frame", i, ccl_motion_clock_tick (&clock, &params, 40 * MS).light,
           frames[i].light);
    ccl_motion_clock_judge (&clock, frames[i].freeze, 100 * MS, &seen);
  }
}

/* Frames are aligned in the first 2 s, until 2 s after the last one that was shifted, when much
 * more differs than before, and every 0.5 s; a camera that stays shifted for 4 s is left alone for
 * half of the learning time, unless the model is frozen, and learns as a new one. */
static void
test_shake (void)
{
  static const struct
  {
    const char *what;
    unsigned frames; /* of 100 ms */
    int8_t shift;    /* if they are aligned; 2: -1 and 1 in turns */
    unsigned busy;   /* of 1000 pixels */
    bool freeze;
    unsigned aligned; /* frames */
  } phases[] = {
    { "the first 2 s", 20, 0, 100, false, 19 },
    { "a still camera", 30, 0, 100, false, 5 },
    { "the frame in which much more differs", 1, 0, 216, false, 0 },
    { "the frame after it", 1, 0, 216, false, 1 },
    { "the frame in which more differs", 1, 0, 430, false, 0 },
    { "a still camera", 6, 0, 430, false, 1 },
    { "frames that are shifted", 6, 1, 100, false, 2 },
    { "2 s after that", 19, 0, 100, false, 19 },
    { "a still camera", 6, 0, 100, false, 1 },
    { "a shake", 50, 2, 100, false, 50 },
    { "a frozen model", 60, 3, 100, true, 60 },
    { "a camera that was moved", 42, 3, 100, false, 40 },
    { "it later", 48, 3, 500, false, 0 },
    { "it even later", 45, 3, 500, false, 40 },
  };
  CclMotionClock clock = { .running = false };

  for (size_t i = 0; i < COUNT (phases); i++) {
    unsigned aligned = 0;

    for (unsigned frame = 0; frame < phases[i].frames; frame++) {
      CclMotionParams params = params_of (10 * SECOND);
      CclMotionStep step = { .first = false };
      CclMotionSeen seen = { .pixels = 1000, .foreground = phases[i].busy / 2 };

      params.freeze = phases[i].freeze;
      step = ccl_motion_clock_tick (&clock, &params, 100 * MS);
      seen.shadows = phases[i].busy - seen.foreground;
      if (step.align)
        seen.shift.y = phases[i].shift == 2 && frame % 2 ? -1 : phases[i].shift;
      aligned += step.align;
      ccl_motion_clock_judge (&clock, params.freeze, 100 * MS, &seen);
    }
    check (phases[i].what, i, aligned, phases[i].aligned);
  }
}

/* Where a camera is displaced, its model learns as fast as a new one, but is as old as before. */
static void
test_displaced (void)
{
  const CclMotionSeen seen = { .pixels = 1000, .shift = { 1, 0 } };
  CclMotionParams params = params_of (10 * SECOND);
  CclMotionClock clock = clock_of (10 * SECOND), new = clock_of (10 * SECOND);
  unsigned displaced = 0;

  run (&clock, 10 * SECOND, 100 * MS, 300);
  for (unsigned frame = 0; frame < 50 && displaced == 0; frame++) {
    displaced += ccl_motion_clock_tick (&clock, &params, 100 * MS).displaced;
    ccl_motion_clock_judge (&clock, false, 100 * MS, &seen);
  }
  check ("a displaced camera", 0, displaced, 1);
  check ("its age is kept", 0, clock.age > 30 * SECOND, true);
  ccl_motion_clock_tick (&new, &params, 100 * MS);
  for (unsigned frame = 0; frame < 200; frame++) {
    const CclMotionStep step = ccl_motion_clock_tick (&clock, &params, 100 * MS);
    const CclMotionStep other = ccl_motion_clock_tick (&new, &params, 100 * MS);

    check ("displaced", frame, step.displaced, false);
    check ("groups that learn", frame, step.learn, other.learn);
    check ("the rate", frame, (uint64_t) step.paces[0].rate, (uint64_t) other.paces[0].rate);
    check ("the noise's rate", frame, (uint64_t) step.paces[0].noise_rate,
           (uint64_t) other.paces[0].noise_rate);
    check ("enough counts", frame, step.paces[0].enough, other.paces[0].enough);
  }
}

/* Where a search finds that the light has changed, candidates need as long as in a model that is as
 * old as a quarter of the learning time; not where light is followed, nor in a younger model. */
static void
test_relit_pace (void)
{
  static const struct
  {
    unsigned frames; /* of 100 ms, before */
    bool searches;   /* much is foreground */
    unsigned enough; /* counts */
  } cases[] = { { 300, true, 33 }, { 300, false, 255 }, { 10, true, 15 } };

  for (size_t i = 0; i < COUNT (cases); i++) {
    CclMotionClock clock = clock_of (10 * SECOND);
    CclMotionParams params = params_of (10 * SECOND);
    CclMotionSeen seen = { .pixels = 1000, .foreground = 500, .relit = true };

    run (&clock, 10 * SECOND, 100 * MS, cases[i].frames);
    if (cases[i].searches) {
      clock.next = CCL_MOTION_SEARCH;
    } else {
      clock.next = CCL_MOTION_FOLLOW;
      seen.foreground = 0;
    }
    ccl_motion_clock_tick (&clock, &params, 100 * MS);
    ccl_motion_clock_judge (&clock, false, 100 * MS, &seen);
    check ("enough counts after a change of light", i,
           ccl_motion_clock_tick (&clock, &params, 100 * MS).paces[0].enough, cases[i].enough);
  }
}

/* When much more differs than before, and goes on to, frames are compared in coarse pixels every
 * 0.09 s, unless an aligned one fits, until the shift has been far and the same for 0.2 s, or near
 * for 0.4 s; but not for longer than 3 s. */
static void
test_knock (void)
{
  static const struct
  {
    const char *what;
    unsigned busy; /* of 1000 pixels, from then on */
    unsigned frames;
    uint32_t coarse;
    int8_t moved[2]; /* in turns */
    int8_t shift;
    bool freeze;
    unsigned searches, displaced;
  } cases[] = {
    { "a knock", 216, 100, 4, { 2, 2 }, 0, false, 3, 1 },
    { "less that differs", 215, 100, 4, { 2, 2 }, 0, false, 0, 0 },
    { "a moment", 216, 7, 4, { 2, 2 }, 0, false, 2, 0 },
    { "no coarse pixels", 216, 100, 1, { 9, 9 }, 0, false, 0, 0 },
    { "a near shift", 216, 100, 4, { 1, 1 }, 0, false, 2, 0 },
    { "a near shift of larger pixels", 216, 100, 8, { 1, 1 }, 0, false, 3, 1 },
    { "one that is far in turns", 216, 100, 4, { 2, 1 }, 0, false, 19, 0 },
    { "other shifts", 216, 100, 4, { 2, 3 }, 0, false, 19, 0 },
    { "a frozen model", 216, 100, 4, { 2, 2 }, 0, true, 0, 0 },
    { "an aligned frame", 216, 40, 4, { 2, 2 }, 3, false, 0, 0 },
    { "one at the end of its reach", 216, 40, 4, { 2, 2 }, 4, false, 3, 1 },
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    CclMotionClock clock = { .running = false };
    unsigned searches = 0, displaced = 0;

    for (unsigned frame = 0; frame < 200; frame++) {
      const bool busy = frame >= 60 && frame < 60 + cases[i].frames;
      CclMotionSeen seen = { .pixels = 1000,
                             .foreground = busy ? cases[i].busy : 100,
                             .coarse = cases[i].coarse };
      CclMotionParams params = params_of (10 * SECOND);
      CclMotionStep step;

      params.freeze = cases[i].freeze;
      step = ccl_motion_clock_tick (&clock, &params, 40 * MS);
      if (step.align == CCL_SHAKE_SEARCH && frame >= 60)
        seen.moved.x = cases[i].moved[searches++ % 2];
      if (step.align == CCL_SHAKE_ALIGN && busy)
        seen.shift.y = cases[i].shift;
      displaced += step.displaced;
      ccl_motion_clock_judge (&clock, params.freeze, 40 * MS, &seen);
    }
    check (cases[i].what, i, searches, cases[i].searches);
    check ("cameras that were displaced", i, displaced, cases[i].displaced);
  }
}

/* In the dark the floors are lower, down to half. */
static void
test_dark (void)
{
  static const struct
  {
    uint32_t level;
    unsigned floor, chroma_floor;
  } cases[] = {
    { 200, 1792, 1536 }, { 96, 1792, 1536 }, { 72, 1344, 1152 }, { 48, 896, 768 }, { 1, 896, 768 }
  };
  CclMotionParams params = params_of (10 * SECOND);

  for (size_t i = 0; i < COUNT (cases); i++) {
    const CclMotionSeen seen = { .pixels = 1, .brightness = cases[i].level * 128 };
    CclMotionClock clock = clock_of (10 * SECOND);
    CclMotionStep step;

    ccl_motion_clock_judge (&clock, false, 40 * MS, &seen);
    step = ccl_motion_clock_tick (&clock, &params, 40 * MS);
    check ("floor in the dark", i, step.floor, cases[i].floor);
    check ("floor of chroma in the dark", i, step.chroma_floor, cases[i].chroma_floor);
  }
}

/* More than a quarter of the foreground in shadow. */
static void
test_shady (void)
{
  static const struct
  {
    unsigned foreground, shadows;
    bool shady;
  } cases[] = { { 0, 0, false }, { 400, 100, false }, { 400, 101, true }, { 0, 1, true } };
  CclMotionClock clock = clock_of (10 * SECOND);
  CclMotionParams params = params_of (10 * SECOND);

  for (size_t i = 0; i < COUNT (cases); i++) {
    see (&clock, 40 * MS, cases[i].foreground, cases[i].shadows, false);
    check ("shady", i, ccl_motion_clock_tick (&clock, &params, 40 * MS).shady, cases[i].shady);
  }
}

/* Shows bands that go up and down by @swing, 256ths, and turn after @turn frames each, @steady of
 * them not. Returns the first frame of the next 200 that is divided by its gains, 0 if none is. */
static unsigned
flicker (CclMotionClock *clock, uint64_t elapsed, unsigned turn, unsigned swing, unsigned steady)
{
  CclMotionParams params = params_of (10 * SECOND);

  for (unsigned frame = 1; frame <= 200; frame++) {
    CclMotionStep step = ccl_motion_clock_tick (clock, &params, elapsed);
    CclMotionSeen seen = { .pixels = 1000 };

    if (step.flicker != CCL_FLICKER_NONE)
      return frame;
    for (unsigned i = 0; i < CCL_FLICKER_BANDS; i++)
      seen.bands[i] = 12800 + (i >= steady && frame / turn % 2 == 0 ? 12800 * swing / 256 : 0);
    ccl_motion_clock_judge (clock, false, elapsed, &seen);
  }
  return 0;
}

/* When half of the bands go up and down by a thirty-second part, often enough in a second or in so
 * many frames, the next frame is divided by its gains. */
static void
test_flicker (void)
{
  static const struct
  {
    uint64_t elapsed;
    unsigned turn, swing, steady, first;
  } cases[] = {
    { 40 * MS, 1, 16, 0, 7 },   { 40 * MS, 1, 16, 4, 7 },  { 40 * MS, 1, 16, 5, 0 },
    { 40 * MS, 1, 7, 0, 0 },    { 40 * MS, 1, 9, 0, 7 },   { 40 * MS, 5, 16, 0, 36 },
    { 100 * MS, 5, 16, 0, 46 }, { 40 * MS, 26, 16, 0, 0 }, { 10 * MS, 20, 16, 0, 141 },
    { SECOND, 1, 16, 0, 7 },    { SECOND, 11, 16, 0, 0 },  { 0, 1, 16, 0, 7 },
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    CclMotionClock clock = clock_of (10 * SECOND);

    check ("the first frame that is divided", i,
           flicker (&clock, cases[i].elapsed, cases[i].turn, cases[i].swing, cases[i].steady),
           cases[i].first);
  }
}

/* Ten frames a second that are divided: what they show, and what the clock makes of them. */
static void
test_flickering (void)
{
  static const struct
  {
    const char *what;
    unsigned frames;
    bool flickers, far, relit, freeze;
    unsigned last; /* CclMotionFlicker of the last one */
  } phases[] = {
    { "the first one", 1, true, false, false, false, CCL_FLICKER_BEGIN },
    { "the others", 30, true, false, false, false, CCL_FLICKER_FOLLOW },
    { "a mean that is not far yet", 1, true, true, false, false, CCL_FLICKER_FOLLOW },
    { "a mean that was far", 1, true, false, false, false, CCL_FLICKER_REBASE },
    { "the next one", 1, true, true, false, false, CCL_FLICKER_FOLLOW },
    { "a frozen model", 1, true, false, false, true, CCL_FLICKER_FOLLOW },
    { "a change of light", 2, true, false, true, false, CCL_FLICKER_FOLLOW },
    { "steady light", 30, false, false, false, false, CCL_FLICKER_FOLLOW },
    { "the end", 1, false, false, false, false, CCL_FLICKER_END },
    { "after it", 1, false, false, false, false, CCL_FLICKER_NONE },
  };
  CclMotionClock clock = clock_of (10 * SECOND);
  CclMotionStep step = { .first = false };
  CclMotionParams params = params_of (10 * SECOND);

  flicker (&clock, 100 * MS, 1, 16, 0);
  for (size_t i = 0; i < COUNT (phases); i++) {
    CclMotionSeen seen = {
      .pixels = 1000, .flickers = phases[i].flickers, .far = phases[i].far, .relit = phases[i].relit
    };

    params.freeze = phases[i].freeze;
    for (unsigned frame = 0; frame < phases[i].frames; frame++) {
      /* flicker() has begun the first one */
      if (i > 0 || frame > 0)
        step = ccl_motion_clock_tick (&clock, &params, 100 * MS);
      else
        step.flicker = CCL_FLICKER_BEGIN;
      ccl_motion_clock_judge (&clock, params.freeze, 100 * MS, &seen);
    }
    check (phases[i].what, i, step.flicker, phases[i].last);
  }
}

/* Frames that do not flicker are no longer divided after a second, and not again for ten, or
 * at once if the light has changed. */
static void
test_trial (void)
{
  CclMotionParams params = params_of (10 * SECOND);

  for (unsigned relit = 0; relit < 2; relit++) {
    CclMotionClock clock = clock_of (10 * SECOND);
    const CclMotionSeen seen = { .pixels = 1000, .relit = relit };
    unsigned divided = 0;

    flicker (&clock, 100 * MS, 1, 16, 0);
    do {
      divided++;
      ccl_motion_clock_judge (&clock, false, 100 * MS, &seen);
    } while (ccl_motion_clock_tick (&clock, &params, 100 * MS).flicker != CCL_FLICKER_NONE);
    check ("frames that are divided", relit, divided, relit ? 1 : 10);
    check ("the next one", relit, flicker (&clock, 100 * MS, 1, 16, 0), relit ? 7 : 101);
  }
}

/* Shows frames, ten a second, of which a part is known; returns the number of those until the last
 * one that is compared with what is known. */
static unsigned
wave (CclMotionClock *clock, uint64_t pixels, unsigned foreground, unsigned known, bool freeze,
      unsigned frames)
{
  CclMotionParams params = params_of (10 * SECOND);
  unsigned last = 0;

  params.freeze = freeze;
  for (unsigned i = 1; i <= frames; i++) {
    const CclMotionStep step = ccl_motion_clock_tick (clock, &params, 100 * MS);
    const CclMotionSeen seen = { .pixels = pixels,
                                 .foreground = foreground - (step.waves ? known : 0),
                                 .known = known };

    last = step.waves ? i : last;
    ccl_motion_clock_judge (clock, freeze, 100 * MS, &seen);
  }
  return last;
}

/* Known pixels are not foreground until ten seconds after they last were more than a quarter of the
 * foreground, in the mean of two seconds. */
static void
test_waves (void)
{
  static const struct
  {
    uint64_t pixels;
    unsigned foreground, known;
    bool freeze;
    unsigned last;
  } cases[] = {
    { 1000, 100, 26, false, 100 },  { 1000, 100, 25, false, 0 },  { 1000, 100, 26, true, 0 },
    { 1000, 200, 200, false, 100 }, { 1000, 201, 201, false, 0 }, { 100000, 50, 24, false, 0 },
    { 100000, 50, 26, false, 100 },
  };
  CclMotionClock clock;

  for (size_t i = 0; i < COUNT (cases); i++) {
    clock = clock_of (10 * SECOND);
    check (
        "the last frame while leaves wave", i,
        wave (&clock, cases[i].pixels, cases[i].foreground, cases[i].known, cases[i].freeze, 100),
        cases[i].last);
  }
  clock = clock_of (10 * SECOND);
  wave (&clock, 1000, 100, 50, false, 100);
  check ("frames after that", 0, wave (&clock, 1000, 100, 0, true, 10), 10);
  check ("frames after that", 1, wave (&clock, 1000, 100, 0, false, 200), 113);
}

/* Pixels forget a visit twice in the learning time, those that have settled once. */
static void
test_fades (void)
{
  CclMotionClock clock = clock_of (10 * SECOND);
  CclMotionParams params = params_of (10 * SECOND);
  unsigned times[3] = { 0 };

  for (unsigned i = 0; i < 400; i++)
    times[ccl_motion_clock_tick (&clock, &params, 100 * MS).fades]++;
  check ("frames that fade", 1, times[1], 4);
  check ("frames that fade", 2, times[2], 4);
}

int
main (void)
{
  test_first ();
  test_cap ();
  test_freeze ();
  test_intervals ();
  test_counts ();
  test_paces ();
  test_dither ();
  test_thresholds ();
  test_fog ();
  test_levels ();
  test_restart ();
  test_search ();
  test_follow ();
  test_drift ();
  test_dark ();
  test_shady ();
  test_shake ();
  test_displaced ();
  test_knock ();
  test_relit_pace ();
  test_flicker ();
  test_flickering ();
  test_trial ();
  test_waves ();
  test_fades ();
  printf ("%u failures\n", failures);

  return failures > 0;
}
