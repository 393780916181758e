/* cudaccl - tests of the arithmetic of background models
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The reference of checkccl calls the same functions, so comparing with it cannot show whether they
 * are right. Their results at the limits are written here in plain numbers. */

#include "engine/motion/drift.h"
#include "engine/motion/flicker.h"
#include "engine/motion/light.h"
#include "engine/motion/shake.h"

#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof (array) / sizeof *(array))

static unsigned failures;

static void
check (const char *what, size_t i, long value, long expected)
{
  if (value == expected)
    return;
  printf ("FAILED: %s, %zu: %ld, not %ld\n", what, i, value, expected);
  failures++;
}

/* The shift (-2, 1) has @sum of each 1600 in @bands bands, and what the others have elsewhere. */
static void
test_shake (void)
{
  static const struct
  {
    CclShakeSum sum;
    int bands;
    CclShakeSum worst; /* of the shift that fits worst, in each band */
    bool moves;
  } cases[] = {
    { 1200, 8, 1600, true }, { 1500, 8, 1875, false }, /* saves just a sixteenth */
    { 1499, 8, 1875, true }, { 1300, 8, 1624, false }, /* fits no better than the worst */
    { 1300, 8, 1625, true }, { 800, 4, 2400, true },   /* half of the bands */
    { 800, 3, 2400, false },
  };
  const int at = (1 + CCL_SHAKE_REACH) * CCL_SHAKE_SIDE - 2 + CCL_SHAKE_REACH;

  for (size_t i = 0; i < COUNT (cases); i++) {
    CclShakeSum sums[CCL_SHAKE_SUMS], totals[CCL_SHAKE_SHIFTS];
    CclShift shift;

    for (int k = 0; k < CCL_SHAKE_SUMS; k++)
      sums[k] = 1600;
    for (int band = 0; band < CCL_SHAKE_BANDS; band++) {
      sums[band * CCL_SHAKE_SHIFTS] = cases[i].worst;
      if (band < cases[i].bands)
        sums[band * CCL_SHAKE_SHIFTS + at] = cases[i].sum;
    }
    for (int k = 0; k < CCL_SHAKE_SHIFTS; k++)
      totals[k] = ccl_shake_total (sums, k);
    shift = ccl_shake_find (sums, totals);
    check ("shift across", i, shift.x, cases[i].moves ? -2 : 0);
    check ("shift down", i, shift.y, cases[i].moves ? 1 : 0);
    check ("moves", i, ccl_shake_moves (shift), cases[i].moves);
  }
}

/* Coarse pixels are as large as leaves 96 of them across and down, and a shift of theirs is far
 * when no aligned frame has it. */
static void
test_coarse (void)
{
  static const struct
  {
    uint32_t width, height, size;
    int far; /* the least shift */
  } cases[] = {
    { 191, 4000, 1, 5 }, { 4000, 191, 1, 5 },  { 192, 192, 2, 3 },    { 383, 383, 2, 3 },
    { 768, 576, 4, 2 },  { 1920, 1080, 8, 1 }, { 3840, 2160, 16, 1 }, { 65535, 65535, 64, 1 },
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    const uint32_t size = ccl_shake_size (cases[i].width, cases[i].height);

    check ("the size of coarse pixels", i, size, cases[i].size);
    for (int k = 0; k < 6; k++) {
      const CclShift shifts[] = { { (int8_t) k, 0 }, { 0, (int8_t) -k } };

      for (int n = 0; n < 2; n++) {
        check ("far", i, ccl_shake_is_far (shifts[n], size), k >= cases[i].far);
        check ("inside", i, ccl_shake_is_inside (shifts[n]), k > 0 && k < 4);
      }
    }
  }
  check ("a mean", 0, ccl_shake_mean (4 * 4 * 7 + 7, 4), 7);
  check ("a mean", 1, ccl_shake_mean (4 * 4 * 7 + 8, 4), 8);
}

/* Two bins of 100 pixels. */
static void
test_drift (void)
{
  static const struct
  {
    uint32_t explained;
    uint64_t before, after;
    int shifts[2], smooth;
    uint32_t known;
    bool is;
  } cases[] = {
    { 70, 1000, 500, { 300, 300 }, 300, 3, true },
    { 69, 1000, 500, { 300, 300 }, 300, 3, false },
    { 70, 1000, 900, { 300, 300 }, 300, 3, true }, /* leaves nine tenths of the differences */
    { 70, 1000, 901, { 300, 300 }, 300, 3, false },
    { 70, 1000, 500, { 300, 300 }, 300, 0, false },
    { 100, 1000, 500, { 300, 300 }, 300, 1, false }, /* the other bin's pixels are not explained */
    { 70, 1000, 500, { 24 * 128, 24 * 128 }, 24 * 128, 3, true },
    { 70, 1000, 500, { 24 * 128 + 1, 24 * 128 + 1 }, 24 * 128 + 1, 3, false },
    { 70, 1000, 500, { -300, 300 }, -260, 3, false },  /* rough */
    { 70, 100000, 500, { -300, 300 }, -260, 3, true }, /* but little against what it explains */
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    CclDriftBin bins[CCL_LIGHT_BINS];
    int shifts[CCL_LIGHT_BINS] = { 0 };

    memset (bins, 0, sizeof bins);
    for (int k = 0; k < 2; k++) {
      bins[k] = (CclDriftBin){ 100, cases[i].explained, cases[i].before, cases[i].after,
                               cases[i].shifts[k] };
      shifts[k] = cases[i].smooth;
    }
    check ("drift", i, ccl_drift_is (bins, cases[i].known, shifts), cases[i].is);
  }
}

/* The pixels of a bin: half of them a level brighter, the rest far away. */
static void
test_drift_bin (void)
{
  static uint32_t counters[CCL_DRIFT_RANGES * CCL_LIGHT_BINS];
  CclDriftBin bin;

  counters[ccl_drift_counter (101, 100 * 128)] = 60;
  counters[ccl_drift_counter (105, 100 * 128)] = 20; /* eight ranges on: it is still explained */
  counters[ccl_drift_counter (255, 100 * 128)] = 20;
  bin = ccl_drift_bin (counters, 100 / 8);
  check ("pixels", 0, bin.pixels, 100);
  check ("explained", 0, bin.explained, 80);
  check ("before", 0, (long) bin.before, 60 * 2 + 20 * 10 + 20 * 63);
  check ("after", 0, (long) bin.after, 20 * 8 + 20 * 61);
  check ("shift", 0, bin.shift, 128 + 32); /* the middle of its range */
  check ("known", 0, ccl_drift_knows (&bin, 25600), true);
  check ("too few", 0, ccl_drift_knows (&bin, 25856), false);
  check ("empty", 0, ccl_drift_bin (counters, 0).pixels, 0);
}

/* Three bins of levels 20, 100 and 180, which @shifts move, 1/128 grey levels. */
static void
test_drift_gain (void)
{
  static const struct
  {
    int shifts[3];
    uint32_t pixels[3];
    int gain, dark, bright;
  } cases[] = {
    { { 0, 0, 0 }, { 100, 100, 100 }, 256, 20, 180 },
    { { 10 * 128, 50 * 128, 90 * 128 }, { 100, 300, 50 }, 384, 30, 255 }, /* light: a gain of 1.5 */
    { { 90 * 128, 50 * 128, 10 * 128 }, { 100, 300, 50 }, 129, 110, 190 }, /* fog: a half is left */
    { { 200, 200, 200 }, { 0, 300, 0 }, 0, 101, 101 },                     /* one level */
    { { -30 * 128, 0, 0 }, { 1, 0, 0 }, 0, 0, 0 },
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    CclDriftBin bins[CCL_LIGHT_BINS];
    int shifts[CCL_LIGHT_BINS] = { 0 };
    uint32_t known = 0;
    CclDriftLevels levels;

    memset (bins, 0, sizeof bins);
    for (int k = 0; k < 3; k++) {
      const int bin = 2 + 10 * k;

      bins[bin].pixels = cases[i].pixels[k];
      bins[bin].shift = shifts[bin] = cases[i].shifts[k];
      known |= (uint32_t) (cases[i].pixels[k] > 0) << bin;
    }
    levels = ccl_drift_levels (bins, known);
    check ("gain of chroma", i, ccl_drift_gain (bins, shifts, known), cases[i].gain);
    check ("darkest level", i, levels.dark, cases[i].dark);
    check ("brightest level", i, levels.bright, cases[i].bright);
  }
}

static void
check_pixel (size_t i, const CclMotionPixel *pixel, const CclMotionPixel *expected)
{
  check ("background", i, pixel->background, expected->background);
  check ("candidate", i, pixel->candidate, expected->candidate);
  check ("count", i, pixel->count, expected->count);
  check ("former", i, pixel->former, expected->former);
  check ("visits", i, pixel->visits, expected->visits);
}

/* A candidate that replaces a background leaves it as the former one, which returns soon. */
static void
test_former (void)
{
  enum
  {
    F = CCL_MOTION_FORMER,
    V = CCL_MOTION_VISITING
  };
  static const CclMotionPace pace = { .count = 2, .shadow_count = 1, .enough = 40 };
  static const struct
  {
    CclMotionPixel before;
    int value;
    bool plain, renewed;
    CclMotionPixel after; /* the noise is not read */
  } cases[] = {
    { { 100 * 128, 0, 200, 38, 0, V }, 200, true, true, { 200 * 128, 0, 100, 20, 100, F + 1 } },
    { { 5, 0, 200, 38, 0, V }, 200, true, true, { 200 * 128, 0, 0, 20, 0, F + 1 } },
    { { 100 * 128, 0, 200, 39, 90, F + V }, 200, false, true, { 200 * 128, 0, 100, 20, 90, 0 } },
    /* it returns */
    { { 200 * 128, 0, 100, 0, 100, F },
      108,
      true,
      false,
      { 200 * 128, 0, 101, 26, 100, F + V + 1 } },
    { { 200 * 128, 0, 100, 30, 100, F + V },
      92,
      true,
      false,
      { 200 * 128, 0, 99, 32, 100, F + V } },
    { { 200 * 128, 0, 100, 38, 100, F + V }, 100, true, true, { 100 * 128, 0, 200, 0, 100, 0 } },
    { { 200 * 128, 0, 30, 39, 100, F + V },
      100,
      true,
      false,
      { 200 * 128, 0, 100, 24, 100, F + V } },
    /* it does not: too far, none, or in shadow */
    { { 200 * 128, 0, 109, 1, 100, F + V },
      109,
      true,
      false,
      { 200 * 128, 0, 109, 3, 100, F + V } },
    { { 200 * 128, 0, 3, 1, 3, V }, 3, true, false, { 200 * 128, 0, 3, 3, 3, V } },
    { { 200 * 128, 0, 100, 1, 100, F }, 100, false, false, { 200 * 128, 0, 100, 2, 100, F } },
    { { 200 * 128, 0, 30, 39, 100, F }, 100, false, false, { 200 * 128, 0, 30, 37, 100, F } },
    /* a count of 0 would be forgotten */
    { { 200 * 128, 0, 30, 4, 100, V }, 150, true, false, { 200 * 128, 0, 30, 1, 100, V } },
    { { 200 * 128, 0, 30, 3, 100, V }, 150, true, false, { 200 * 128, 0, 150, 1, 100, V } },
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    const CclMotionStep step = { .reach = 24 };
    CclMotionPixel pixel = cases[i].before;
    const bool renewed =
        ccl_motion_learn_candidate (&step, &pace, cases[i].plain ? pace.count : pace.shadow_count,
                                    cases[i].plain, cases[i].plain, &pixel, cases[i].value);

    check ("renewed", i, renewed, cases[i].renewed);
    check_pixel (i, &pixel, &cases[i].after);
  }
}

/* A value is visited when the pixel becomes foreground, and known after two visits. */
static void
test_visits (void)
{
  enum
  {
    F = CCL_MOTION_FORMER,
    V = CCL_MOTION_VISITING
  };
  static const CclMotionPace pace = { .count = 2 };
  static const CclMotionPace still = { .count = 0 };
  static const struct
  {
    int former, visits, value;
    bool waves, known;
    int former_after, visits_after;
  } cases[] = {
    { 100, 1, 124, false, false, 101, V + 2 },
    { 100, 2, 76, false, true, 99, V + 3 },
    { 100, V + 2, 100, false, true, 100, V + 2 },
    { 100, 15, 100, false, true, 100, V + 15 },
    { 100, 3, 125, false, false, 100, V + 2 },
    { 100, 1, 125, false, false, 125, V + 1 },
    { 100, 0, 75, true, false, 75, V + 1 },
    { 100, V + 1, 125, false, false, 100, V + 1 },
    /* a former background */
    { 100, F + 1, 105, false, false, 100, F + V + 2 },
    { 100, F + 1, 125, false, false, 100, F + V + 1 },
    { 100, F + 1, 125, true, false, 125, V + 1 },
    { 100, F + 3, 125, true, false, 100, F + V + 2 },
  };
  static const int fading[][3] = {
    { 0, 0, 0 },
    { 1, 0, 0 },
    { F + V + 1, F + V, F + V },
    { F, F, F },
    { CCL_MOTION_SETTLED - 1, CCL_MOTION_SETTLED - 2, CCL_MOTION_SETTLED - 2 },
    { V + CCL_MOTION_SETTLED, V + CCL_MOTION_SETTLED, V + CCL_MOTION_SETTLED - 1 }
  };
  CclMotionPixel pixel = { .background = 100 * 128, .count = 1, .visits = F + V + 2 };

  for (size_t i = 0; i < COUNT (cases); i++) {
    const CclMotionStep step = { .reach = 24, .waves = cases[i].waves };
    CclMotionPixel visited = { .former = cases[i].former, .visits = cases[i].visits };

    check ("known", i, ccl_motion_knows (&step, visited.former, visited.visits, cases[i].value),
           cases[i].known);
    ccl_motion_learn_visit (&step, &visited, cases[i].value);
    check ("value", i, visited.former, cases[i].former_after);
    check ("visits", i, visited.visits, cases[i].visits_after);
  }
  for (size_t i = 0; i < COUNT (fading); i++)
    for (uint8_t k = 1; k <= 2; k++) {
      const CclMotionStep step = { .fades = k };

      check ("visits later", i, ccl_motion_fade (&step, fading[i][0]), fading[i][k]);
    }
  ccl_motion_learn_background (&still, &pixel, 100);
  check ("visits while candidates stay", 0, pixel.visits, F + V + 2);
  ccl_motion_learn_background (&pace, &pixel, 100);
  check ("visits after one", 0, pixel.visits, F + 2);
}

/* A shadow takes a part of the light, but nothing of a veil. */
static void
test_veil (void)
{
  static const struct
  {
    uint8_t veil;
    bool shady;
    int value, background; /* grey levels */
    bool shaded, lit;
  } cases[] = {
    { 0, false, 61, 120, true, false },    { 0, false, 60, 120, false, false },
    { 100, false, 111, 120, true, false }, { 100, false, 110, 120, false, false },
    { 100, true, 106, 120, true, false },  { 100, true, 105, 120, false, false },
    { 100, false, 120, 111, false, true }, { 100, false, 120, 110, false, false },
    { 100, false, 90, 95, false, false },  { 255, true, 254, 255, false, false },
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    const CclMotionStep step = { .veil = cases[i].veil, .shady = cases[i].shady };
    const int background = cases[i].background * 128;

    check ("shaded", i, ccl_motion_shaded (&step, cases[i].value, background), cases[i].shaded);
    check ("lit", i, ccl_motion_lit (&step, cases[i].value, background), cases[i].lit);
  }
}

/* Two surfaces, and something flat in front of them, in which their texture is weak above 0. */
static void
test_veiled_texture (void)
{
  static const struct
  {
    uint8_t veil;
    int values[2];
    bool kept;
  } cases[] = {
    { 0, { 130, 130 }, true },
    { 100, { 130, 130 }, false },
    { 100, { 127, 133 }, true }, /* a shadow takes two fifths of 45 and 55 levels */
    { 160, { 130, 130 }, true }, /* nothing is above the veil */
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    const CclMotionStep step = { .veil = cases[i].veil };
    int values[CCL_MOTION_SHADOW_PIXELS], backgrounds[CCL_MOTION_SHADOW_PIXELS];

    for (int k = 0; k < CCL_MOTION_SHADOW_PIXELS; k++) {
      backgrounds[k] = (k % 2 ? 155 : 145) * 128;
      values[k] = cases[i].values[k % 2];
    }
    check ("texture", i, ccl_motion_keeps_texture (&step, values, backgrounds), cases[i].kept);
  }
}

static void
test_light (void)
{
  static const struct
  {
    int light;
    uint32_t votes, agreed, lit, tiles;
    bool changed;
  } cases[] = {
    { CCL_MOTION_SEARCH, 10, 6, 10, 100, true },  { CCL_MOTION_SEARCH, 10, 5, 10, 100, false },
    { CCL_MOTION_SEARCH, 10, 10, 9, 100, false }, { CCL_MOTION_SEARCH, 0, 0, 50, 100, false },
    { CCL_MOTION_FOLLOW, 10, 6, 30, 100, true },  { CCL_MOTION_FOLLOW, 10, 6, 29, 100, false },
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    const CclMotionStep step = { .light = (uint8_t) cases[i].light };
    const CclLightTotal total = { cases[i].votes, cases[i].agreed, cases[i].lit, { 0 } };

    check ("light", i, ccl_light_changed (&step, &total, cases[i].tiles), cases[i].changed);
  }
}

/* 64 pixels of a tile with backgrounds in three bins, which become @add brighter. */
static void
test_light_tile (void)
{
  static const struct
  {
    int light;
    uint32_t bins[3], explained, changed;
    int add;
    uint32_t flags;
  } cases[] = {
    { CCL_MOTION_SEARCH, { 20, 24, 20 }, 64, 64, 40, CCL_LIGHT_FULL | CCL_LIGHT_AGREES },
    { CCL_MOTION_SEARCH, { 20, 24, 20 }, 39, 33, 40, CCL_LIGHT_FULL | CCL_LIGHT_AGREES },
    { CCL_MOTION_SEARCH, { 20, 24, 20 }, 38, 33, 40, 13 }, /* not explained */
    { CCL_MOTION_SEARCH, { 20, 24, 20 }, 64, 32, 40, 0 },  /* just half has changed */
    { CCL_MOTION_SEARCH, { 12, 40, 12 }, 64, 64, 40, 3 },  /* flat */
    { CCL_MOTION_SEARCH, { 13, 38, 13 }, 64, 64, 40, CCL_LIGHT_FULL | CCL_LIGHT_AGREES },
    { CCL_MOTION_FOLLOW, { 20, 24, 20 }, 64, 64, 3, CCL_LIGHT_FULL | CCL_LIGHT_AGREES },
    { CCL_MOTION_FOLLOW, { 20, 24, 20 }, 64, 64, 2, 0 },
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    const CclMotionStep step = { .light = (uint8_t) cases[i].light };
    CclLightCount count = { .pixels = 64,
                            .explained = cases[i].explained,
                            .changed = cases[i].changed };
    uint8_t curve[CCL_LIGHT_BINS];

    for (int bin = 0; bin < CCL_LIGHT_BINS; bin++)
      curve[bin] = (uint8_t) ccl_motion_min (8 * bin + 4 + cases[i].add, 255);
    memcpy (count.bins + 10, cases[i].bins, sizeof cases[i].bins);
    check ("tile", i, ccl_light_judge (&step, &count, curve), cases[i].flags);
  }
}

/* Tiles: # lit, o full but not lit, . neither; and what becomes of them: inside, border, fading. */
static void
test_light_places (void)
{
  enum
  {
    COLUMNS = 9,
    ROWS = 5
  };
  static const char tiles[ROWS][COLUMNS + 1] = {
    "###......", "#o#......", "###......", ".........", "........o",
  };
  static const char places[ROWS][COLUMNS + 1] = {
    "iibff....", "iibff....", "bbbff....", "fffff....", "fffff....",
  };
  CclLightTile all[ROWS * COLUMNS];

  memset (all, 0, sizeof all);
  for (int i = 0; i < ROWS * COLUMNS; i++) {
    const char tile = tiles[i / COLUMNS][i % COLUMNS];

    all[i].flags = tile == '#' ? CCL_LIGHT_FULL | CCL_LIGHT_LIT : tile == 'o' ? CCL_LIGHT_FULL : 0;
  }
  for (int i = 0; i < ROWS * COLUMNS; i++)
    check ("place", (size_t) i,
           ".ibf"[ccl_light_place (all, COLUMNS, ROWS, i % COLUMNS, i / COLUMNS)],
           places[i / COLUMNS][i % COLUMNS]);
}

/* An object hides a tile if at least four of the eight around it are lit. */
static void
test_hidden_tile (void)
{
  for (int lit = 3; lit <= 4; lit++) {
    CclLightTile all[9];

    memset (all, 0, sizeof all);
    for (int i = 0; i < lit; i++)
      all[i].flags = CCL_LIGHT_FULL | CCL_LIGHT_LIT;
    all[4].flags = CCL_LIGHT_FULL;
    check ("hidden", (size_t) lit, ccl_light_reaches (all, 3, 3, 1, 1), lit == 4);
  }
}

static void
test_flicker (void)
{
  static const CclFlickerSlice slices[] = { { 0, 0 }, { 120, 100 }, { 0, 0 },
                                            { 0, 0 }, { 0, 0 },     { 80, 100 } };
  /* The neighbours of a known slice have its gain; those between have one between. */
  static const int gains[] = { 120, 120, 120, 100, 80, 80 };
  static const struct
  {
    uint32_t pixels, explained;
    int median;
    bool knows;
  } known[] = { { 32, 16, 100, true }, { 30, 15, 100, false }, { 33, 16, 100, false },
                { 32, 16, 0, false },  { 32, 16, 1, true },    { 32, 16, 254, true },
                { 32, 16, 255, false } };
  static const CclFlickerSlice beside[2] = { { 100, 100 }, { 130, 100 } };
  static const CclFlickerSlice none[2] = { { 0, 0 }, { 0, 0 } };

  for (int i = 0; i < (int) COUNT (slices); i++) {
    const int gain = ccl_flicker_gain (slices, COUNT (slices), i);

    check ("gain", (size_t) i, (gain * 100 + CCL_FLICKER_ONE / 2) / CCL_FLICKER_ONE, gains[i]);
  }
  check ("a neighbour's half weight", 0, ccl_flicker_gain (beside, 2, 0),
         CCL_FLICKER_ONE * 11 / 10);
  check ("no gain", 0, ccl_flicker_gain (none, 2, 1), 0);
  for (size_t i = 0; i < COUNT (known); i++)
    check ("known", i, ccl_flicker_knows (known[i].pixels, known[i].explained, known[i].median),
           known[i].knows);
  check ("far", 0, ccl_flicker_far (CCL_FLICKER_ONE * 9 / 8), false);
  check ("far", 1, ccl_flicker_far (CCL_FLICKER_ONE * 9 / 8 + 1), true);
  check ("half", 0, ccl_flicker_quotient (10, 30), CCL_FLICKER_ONE / 2);
  check ("double", 0, ccl_flicker_quotient (30, 10), 2 * CCL_FLICKER_ONE);
  check ("white", 0, ccl_flicker_luma (255, CCL_FLICKER_ONE / 2), 255);
  check ("above the knee", 0, ccl_flicker_luma (247, CCL_FLICKER_ONE / 2), 187);
  check ("darker", 0, ccl_flicker_luma (200, CCL_FLICKER_ONE / 2), 100);
  check ("brighter", 0, ccl_flicker_luma (100, CCL_FLICKER_ONE * 3 / 2), 150);
  check ("cut off", 0, ccl_flicker_luma (200, CCL_FLICKER_ONE * 3 / 2), 255);
  check ("paler", 0, ccl_flicker_chroma (28, CCL_FLICKER_ONE / 2), 78);
  check ("stronger", 0, ccl_flicker_chroma (178, CCL_FLICKER_ONE * 2), 228);
}

/* Gains in 32nds, and which of them flicker: those that are farther from the mean, which stays
 * where it is, and have turned. After one of them, the background may get half of the light. */
static void
test_turns (void)
{
  static const struct
  {
    const char *what;
    unsigned rebased; /* after so many; 0: never */
    int gains[8];
    bool flickers[8];
  } cases[] = {
    { "fog that rises", 0, { 32, 36, 40, 44, 48, 52, 56, 60 }, { false } },
    { "bands",
      0,
      { 32, 36, 31, 28, 32, 36, 32, 28 },
      { [2] = true, [3] = true, [5] = true, [7] = true } },
    { "one step back", 0, { 34, 36, 35, 36, 35, 36, 34, 34 }, { [6] = true, [7] = true } },
    { "a steady light", 0, { 30, 30, 30, 30, 30, 30, 30, 30 }, { false } },
    { "the background follows", 4, { 32, 24, 20, 16, 31, 30, 29, 28 }, { false } },
  };

  for (size_t i = 0; i < COUNT (cases); i++) {
    CclFlicker flicker = { .ways = { CCL_FLICKER_RISES + CCL_FLICKER_TURNED } };
    CclMotionStep step = { .flicker = CCL_FLICKER_BEGIN };

    for (unsigned k = 0; k < COUNT (cases[i].gains); k++) {
      flicker.slices[0] = (CclFlickerSlice){ (uint32_t) cases[i].gains[k] * 100, 3200 };
      check (cases[i].what, k, ccl_flicker_set (&flicker, &step, 1, 0), cases[i].flickers[k]);
      step.flicker = CCL_FLICKER_FOLLOW;
      if (k + 1 == cases[i].rebased)
        ccl_flicker_rebase (&flicker, &step, CCL_FLICKER_ONE / 2, 0);
    }
  }
}

int
main (void)
{
  test_shake ();
  test_coarse ();
  test_drift ();
  test_drift_bin ();
  test_drift_gain ();
  test_former ();
  test_visits ();
  test_veil ();
  test_veiled_texture ();
  test_light ();
  test_light_tile ();
  test_light_places ();
  test_hidden_tile ();
  test_flicker ();
  test_turns ();
  printf ("%u failures\n", failures);

  return failures > 0;
}
