/* cudaccl - tests: small objects beside near ones
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/mask/places.h"
#include "tests/engine/checkccl.h"
#include "tests/lib/device.h"

#include <stdlib.h>
#include <string.h>

#define SECOND UINT64_C (1000000000)

#define COUNT(array) (sizeof (array) / sizeof (array)[0])

/* Places as an analyzer has them, for frames of 320x240: a cell has 15x15 pixels. */
typedef struct Scene
{
  Check *check;
  const char *name;
  CclAccount account;
  CclPlaces *places;
} Scene;

static Scene
open_scene (Check *check, const char *name, uint32_t capacity)
{
  Scene scene = { .check = check, .name = name };

  scene.places = ccl_places_new (320, 240, 69, capacity, &scene.account);
  check_that (check, scene.places != NULL, "%s", ccl_last_error ());
  return scene;
}

/* Shows a frame with @n boxes of @size pixels at @at, and a near object if @near is not NULL;
 * returns how many components there are then. */
static uint32_t
look (Scene *scene, const CclComponent *near, uint32_t size, const uint32_t (*at)[2], uint32_t n)
{
  CclComponent items[128] = { 0 };
  CclComponents kept = { near, near ? 1 : 0, near ? 1 : 0 }, small = { items, n, n }, all;

  for (uint32_t i = 0; i < n; i++)
    items[i] = (CclComponent){
      .x = at[i][0], .y = at[i][1], .width = size, .height = size, .area = size * size
    };
  check_that (scene->check, ccl_places_advance (scene->places, SECOND / 25), "%s: not looked for",
              scene->name);
  ccl_places_keep (scene->places, &kept);
  all = ccl_places_add (scene->places, &small);
  for (uint32_t i = 0; i < all.count; i++)
    check_that (scene->check,
                all.items[i].label == i + 1 && (i == 0 || all.items[i].y >= all.items[i - 1].y),
                "%s: component %u of %u has the label %u, and y %u", scene->name, i, all.count,
                all.items[i].label, all.items[i].y);
  scene->check->runs++;
  return all.count;
}

/* A box that goes to the right, a pixel a frame. Returns the first frame in which it counts. */
static uint32_t
walk (Scene *scene, const CclComponent *near, uint32_t y, uint32_t frames)
{
  uint32_t first = UINT32_MAX;

  for (uint32_t i = 0; i < frames; i++) {
    uint32_t n = look (scene, near, 6, (const uint32_t[][2]){ { 20 + i, y } }, 1);

    if (n > (near != NULL) && first == UINT32_MAX)
      first = i;
  }
  return first;
}

/* An object counts once it has gone twice its size, and then so do those that stand where it went,
 * but none elsewhere. */
static void
test_gone (Check *check)
{
  static const CclComponent near = { .label = 1, .x = 200, .y = 100, .width = 40, .height = 100 };
  Scene scene = open_scene (check, "gone", 16);
  uint32_t first = walk (&scene, &near, 40, 30);

  check_that (check, first == 12, "counts in frame %u", first);
  check_that (check, ccl_places_count (scene.places) == 3, "%u places",
              ccl_places_count (scene.places));
  check_that (check,
              look (&scene, NULL, 6, (const uint32_t[][2]){ { 30, 45 }, { 30, 90 } }, 2) == 1,
              "what stands is not told apart by its place");
  check_that (check,
              look (&scene, &near, 6, (const uint32_t[][2]){ { 55, 45 }, { 75, 45 } }, 2) == 2,
              "the places are not those around the way");
  ccl_places_reset (scene.places);
  check_that (check, ccl_places_count (scene.places) == 0, "reset: places remain");
  check_that (check, look (&scene, NULL, 6, (const uint32_t[][2]){ { 30, 45 } }, 1) == 0,
              "reset: a place remains");
  ccl_places_free (scene.places);
}

/* A way that was just long enough makes a place, which stays when what went it has left. */
static void
test_left (Check *check)
{
  Scene scene = open_scene (check, "left", 16);

  check_that (check, walk (&scene, NULL, 40, 13) == 12, "the way is not long enough");
  ccl_places_advance (scene.places, SECOND);
  look (&scene, NULL, 6, NULL, 0);
  check_that (check, look (&scene, NULL, 6, (const uint32_t[][2]){ { 25, 45 } }, 1) == 1,
              "what comes then does not count");
  ccl_places_free (scene.places);
}

/* An object that moves to and fro goes nowhere, however long it is seen. */
static void
test_sway (Check *check)
{
  Scene scene = open_scene (check, "sway", 16);

  for (uint32_t i = 0; i < 200; i++) {
    const uint32_t at[][2] = { { 100 + i % 10, 50 } };

    check_that (check, look (&scene, NULL, 6, at, 1) == 0, "what sways counts in frame %u", i);
  }
  ccl_places_free (scene.places);
}

/* Where most is noise, what goes somewhere does not make it count; where little is, it does. */
static void
test_noise (Check *check)
{
  const uint32_t often[] = { 1, 11 };

  for (size_t k = 0; k < COUNT (often); k++) {
    Scene scene = open_scene (check, "noise", 16);
    uint32_t first;

    for (uint32_t i = 0; i < often[k] * 20; i++) /* for 0.24 s, in each 0.8 s */
      look (&scene, NULL, 6, (const uint32_t[][2]){ { 30, 40 } }, i % 20 < 6);
    look (&scene, NULL, 6, NULL, 0);
    first = walk (&scene, NULL, 40, 20);
    check_that (check, (first != UINT32_MAX) == (k == 0), "after %u specks: counts in frame %u",
                often[k], first);
    ccl_places_free (scene.places);
  }
}

/* A component of 69 pixels is not small, and not large enough for an object. */
static void
test_small (Check *check)
{
  for (uint32_t size = 8; size <= 9; size++) {
    Scene scene = open_scene (check, "small", 16);
    uint32_t got = 0;

    for (uint32_t i = 0; i < 30; i++)
      got = look (&scene, NULL, size, (const uint32_t[][2]){ { 20 + i, 40 } }, 1);
    check_that (check, got == (size == 8), "%u of %u pixels", got, size * size);
    ccl_places_free (scene.places);
  }
}

/* A component within 3 pixels of a near object is a part of it. */
static void
test_beside (Check *check)
{
  static const struct
  {
    CclComponent near;
    bool counts;
  } cases[] = {
    { { .label = 1, .x = 39, .y = 30, .width = 20, .height = 40 }, true },
    { { .label = 1, .x = 38, .y = 30, .width = 20, .height = 40 }, false },
    { { .label = 1, .x = 10, .y = 30, .width = 17, .height = 40 }, true },
    { { .label = 1, .x = 10, .y = 30, .width = 18, .height = 40 }, false },
    { { .label = 1, .x = 25, .y = 49, .width = 20, .height = 40 }, true },
    { { .label = 1, .x = 25, .y = 48, .width = 20, .height = 40 }, false },
    { { .label = 1, .x = 25, .y = 10, .width = 20, .height = 27 }, true },
    { { .label = 1, .x = 25, .y = 10, .width = 20, .height = 28 }, false },
  };
  Scene scene = open_scene (check, "beside", 16);

  walk (&scene, NULL, 40, 30);
  for (size_t i = 0; i < COUNT (cases); i++) {
    const uint32_t at[][2] = { { 30, 40 } };

    check_that (check, look (&scene, &cases[i].near, 6, at, 1) == 1u + cases[i].counts,
                "case %zu is wrong", i);
  }
  ccl_places_free (scene.places);
}

/* More than 64 small components are noise, and more than there is room for are left out. */
static void
test_many (Check *check)
{
  for (uint32_t n = 64; n <= 65; n++) {
    Scene scene = open_scene (check, "many", 16);
    uint32_t at[65][2], got = 0;

    for (uint32_t frame = 0; frame < 20; frame++) {
      for (uint32_t i = 0; i < n; i++) {
        at[i][0] = i % 8 * 35 + frame;
        at[i][1] = i / 8 * 26;
      }
      got = look (&scene, NULL, 6, at, n);
    }
    check_that (check, got == (n == 64 ? 16 : 0), "%u of %u components", got, n);
    ccl_places_free (scene.places);
  }
}

/* Without such places, components are followed for 10 s of each minute; of what was seen, half is
 * forgotten every 10 minutes. */
static void
test_times (Check *check)
{
  Scene scene = open_scene (check, "times", 16);
  uint32_t looked = 0, minutes;

  for (uint32_t i = 0; i < 180; i++) {
    bool looks = ccl_places_advance (scene.places, SECOND);

    check_that (check, looks == (i % 60 < 10), "second %u: %d", i, looks);
    looked += looks;
  }
  check_that (check, looked == 30, "looked for %u s", looked);
  walk (&scene, NULL, 40, 16);
  check_that (check, ccl_places_count (scene.places) > 0, "no places");
  for (minutes = 0; minutes < 600 && ccl_places_count (scene.places) > 0; minutes++)
    check_that (check, ccl_places_advance (scene.places, 60 * SECOND), "not looked for");
  check_that (check, minutes >= 20 && minutes <= 50, "places for %u minutes", minutes);
  ccl_places_advance (scene.places, UINT64_MAX);
  ccl_places_free (scene.places);
}

/* Frames of any shape have cells. */
static void
test_shapes (Check *check)
{
  static const uint32_t sizes[][2] = {
    { 1, 1 },       { 1, 100000 },  { 100000, 1 },  { 65535, 65535 }, { 17, 16 },
    { 1920, 1080 }, { 1080, 1920 }, { 4097, 1025 }, { 63, 65 },       { UINT32_MAX, 1 },
  };

  for (size_t i = 0; i < COUNT (sizes); i++) {
    const uint32_t width = sizes[i][0], height = sizes[i][1];
    const CclComponent corners[] = {
      { .x = 0, .y = 0, .width = 1, .height = 1, .area = 1 },
      { .x = width - 1, .y = height - 1, .width = 1, .height = 1, .area = 1 },
      { .x = 0, .y = 0, .width = width, .height = height, .area = 1 },
    };
    CclAccount account = { 0 };
    CclPlaces *places = ccl_places_new (width, height, 2, 4, &account);

    if (!check_that (check, places != NULL, "%s", ccl_last_error ()))
      continue;
    for (unsigned frame = 0; frame < 50; frame++) {
      ccl_places_advance (places, SECOND / 5);
      ccl_places_keep (places, &(CclComponents){ NULL, 0, 0 });
      ccl_places_add (places, &(CclComponents){ corners, frame % 4, frame % 4 });
    }
    check->runs++;
    ccl_places_free (places);
  }
}

static void
draw (TestImage *image, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
  for (uint32_t row = y; row < y + height; row++)
    memset (image->pixels + (size_t) row * image->width + x, 200, width);
}

/* A street, and a small object in it. In a small one, nothing is left of the opening. */
typedef struct Street
{
  uint32_t width, height, small_width, small_height;
  bool mask;
} Street;

/* On each backend: a near object walks to and fro below, a small one walks above, and a speck shows
 * for two frames in 20. The small one counts once it has gone twice its size; the speck never does.
 * Masks, which are those of near objects, have neither. */
static void
check_street (Check *check, CclBackend backend, const Street *street)
{
  const uint32_t w = street->width, h = street->height;
  CclMotionConfig motion;
  CclAnalyzer *analyzer;
  CclConfig config;
  CclParams params;
  CclInfo before = { 0 }, after;
  uint32_t wrong = 0, seen = 0;

  ccl_config_init (&config, w, h);
  ccl_params_init (&params);
  ccl_motion_config_init (&motion);
  motion.format = CCL_MOTION_LUMA;
  config.backend = backend;
  config.motion = &motion;
  config.auto_operations = true;
  config.mask = street->mask;
  if (!check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s", ccl_last_error ()))
    return;
  for (uint32_t i = 0; i < 60; i++) {
    TestImage image = test_image_new (w, h);
    const uint32_t walked = i < 10 ? 0 : i - 10, x = w / 16 + walked, y = h / 6;
    CclComponents got;

    memset (image.pixels, 100, (size_t) w * h);
    if (i >= 10) {
      draw (&image, w / 4 + 2 * (walked % 20), h / 2, w / 10, h / 3);
      draw (&image, x, y, street->small_width, street->small_height);
    }
    if (i >= 20 && i % 20 < 2)
      draw (&image, w * 4 / 5, h / 4, street->small_width, street->small_height);
    if (!check_that (check,
                     ccl_analyzer_analyze (analyzer,
                                           &(CclImage){ .data = image.pixels, .stride = w },
                                           &params, &got) == CCL_OK,
                     "%s", ccl_last_error ()))
      break;
    for (uint32_t k = 0; k < got.count; k++) {
      const CclComponent *c = &got.items[k];
      /* The model's masks are a pixel larger. */
      bool is_near = c->y > h / 2 - 5;
      bool is_small = c->x == x - 1 && c->y == y - 1 && c->width == street->small_width + 2 &&
                      c->height == street->small_height + 2;

      /* While all are far, specks count. */
      wrong += !is_near && !is_small && i >= 20;
      seen += is_small && i >= 40;
    }
    check->runs++;
    if (i == 40)
      ccl_analyzer_info (analyzer, &before);
    test_image_clear (&image);
  }
  ccl_analyzer_info (analyzer, &after);
  check_that (check, wrong == 0, "%u components are neither object", wrong);
  check_that (check, seen == (street->mask ? 0 : 20),
              "the small object was seen in %u of 20 frames", seen);
  check_that (check, (after.far_places > 0) == !street->mask, "%u places", after.far_places);
  check_that (check, before.allocations == after.allocations, "allocations in frames");
  ccl_analyzer_reset (analyzer);
  ccl_analyzer_info (analyzer, &after);
  check_that (check, after.far_places == 0, "reset: %u places", after.far_places);
  ccl_analyzer_free (analyzer);
}

static void
test_street (Check *check)
{
  static const CclBackend backends[] = { CCL_BACKEND_CPU, CCL_BACKEND_CUDA };
  static const Street streets[] = {
    { 208, 136, 2, 4, .mask = false },
    { 160, 120, 2, 2, .mask = false },
    { 160, 120, 2, 2, .mask = true },
  };
  const Options *options = &check->options;
  const size_t n = options->effort == EFFORT_TINY ? 2 : COUNT (streets);

  for (size_t i = 0; i < COUNT (backends) && !options->algorithm; i++) {
    if ((options->backend != CCL_BACKEND_AUTO && options->backend != backends[i]) ||
        (backends[i] == CCL_BACKEND_CUDA && !test_device_available ()))
      continue;
    for (size_t k = 0; k < n; k++)
      check_street (check, backends[i], &streets[k]);
  }
}

const Test place_tests[] = {
  { "places-gone", test_gone },
  { "places-left", test_left },
  { "places-sway", test_sway },
  { "places-noise", test_noise },
  { "places-small", test_small },
  { "places-beside", test_beside },
  { "places-many", test_many },
  { "places-times", test_times },
  { "places-shapes", test_shapes },
  { "motion-places", test_street },
  { NULL, NULL },
};
