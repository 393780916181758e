/* cudaccl - checkccl: background models when the light changes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"

#include <cudaccl/mask.h>
#include "tests/lib/device.h"

#include <stdlib.h>

#define COUNT(array) (sizeof (array) / sizeof *(array))
#define SECOND UINT64_C (1000000000)
#define PLANES 3

/* Where the thing is in three rows, in turns: what passes the same place again and again is leaves
 * that wave. */
#define PASSES (3 * 170)

/* A street: surfaces, and a thing of 16x16 pixels. */
typedef struct Street
{
  const char *name;
  int gain,
      offset; /* of luma from column @lamp to @end: 256ths, and grey levels; chroma has the gain */
  uint32_t lamp, end; /* 0: all columns */
  bool infrared;      /* no colour */
  bool cut;           /* other surfaces */
  uint64_t starts;    /* that are expected */
} Street;

/* A camera, and its last frame. */
typedef struct Camera
{
  CclAnalyzer *analyzer;
  CclParams params;
  TestImage planes[PLANES];
  uint32_t thing;         /* where it is */
  int dx, dy;             /* how far the camera has moved */
  int flicker;            /* 256ths by which the light of rows goes up and down */
  uint32_t period, phase; /* of that, in rows */
  bool waves;             /* leaves, on the right */
  unsigned frame;
  unsigned set, hit; /* foreground, and that of the thing */
} Camera;

static bool
is_thing (const Camera *camera, uint32_t x, uint32_t y)
{
  const uint32_t left = camera->thing % 170, top = 16 + camera->thing / 170 * 24;

  return x >= left && x < left + 16 && y >= top && y < top + 16;
}

/* A level in the light of a row. */
static int
in_light (const Camera *camera, uint32_t y, int level)
{
  const int period = (int) camera->period, at = (int) (y + camera->phase) % period;

  return level * (256 + camera->flicker * (abs (4 * at - 2 * period) - period) / period) / 256;
}

static void
draw (Camera *camera, const Street *street)
{
  TestImage *planes = camera->planes;

  for (uint32_t y = 0; y < planes[0].height; y++) {
    for (uint32_t x = 0; x < planes[0].width; x++) {
      const uint32_t u = x + 40 + (uint32_t) camera->dx, v = y + 24 + (uint32_t) camera->dy;
      const uint32_t surface = (u / 20 * 7 + v / 12 * 5 + (street->cut ? u / 16 * 9 : 0)) % 11;
      const bool thing = is_thing (camera, x, y);
      const uint32_t texture = street->cut ? (7 * u + 3 * v) % 60 : (u + v) % 5;
      int luma = thing ? 20 : (int) (50 + 12 * surface + texture);
      const unsigned leaf = camera->frame * (2 + (x / 8 * 3 + y / 8) % 5) + x / 8 * 7 + y / 8 * 11;
      int colour = street->infrared ? 0 : thing ? 16 : (int) surface - 8;

      if (camera->waves && x >= 152 && leaf % 20 < 6)
        luma = 210;
      if (x >= street->lamp && (street->end == 0 || x < street->end)) {
        luma = luma * street->gain / 256 + street->offset;
        colour = colour * street->gain / 256;
      }
      luma = camera->period > 0 ? in_light (camera, y, luma) : luma;
      colour = camera->period > 0 ? in_light (camera, y, colour) : colour;
      planes[0].pixels[(size_t) y * planes[0].width + x] = (uint8_t) (luma > 255 ? 255 : luma);
      for (int k = 1; k < PLANES && x % 2 == 0 && y % 2 == 0; k++)
        planes[k].pixels[(size_t) (y / 2) * planes[k].width + x / 2] = (uint8_t) (128 + colour);
    }
  }
}

/* Shows a street in which the thing moves. */
static void
show (Check *check, Camera *camera, const Street *street, unsigned frames)
{
  TestImage *planes = camera->planes;
  CclImage image = test_image_view (&planes[0]);
  CclChroma chroma = { { test_image_view (&planes[1]), test_image_view (&planes[2]) }, 1 };
  CclComponents components;
  CclMask mask;
  bool ok = true;

  image.chroma = &chroma;
  for (unsigned i = 0; ok && i < frames; i++) {
    draw (camera, street);
    camera->frame++;
    ok = ccl_analyzer_analyze (camera->analyzer, &image, &camera->params, &components) == CCL_OK;
    camera->thing = (camera->thing + 3) % PASSES;
  }
  camera->thing = (camera->thing + PASSES - 3) % PASSES; /* as in the last frame */
  ok = ok && ccl_analyzer_mask (camera->analyzer, &mask) == CCL_OK;
  check_that (check, ok, "%s", ccl_last_error ());
  camera->set = camera->hit = 0;
  for (uint32_t y = 0; ok && y < mask.height; y++) {
    for (uint32_t x = 0; x < mask.width; x++) {
      unsigned bit = mask.words[y * mask.pitch + x / 64] >> x % 64 & 1;

      camera->set += bit;
      camera->hit += bit && is_thing (camera, x, y);
    }
  }
  camera->thing = (camera->thing + 3) % PASSES;
  check->runs++;
}

/* At least three quarters of the thing are foreground, and at most @others of all else. */
static void
expect_others (Check *check, const Camera *camera, const Street *street, const char *when,
               unsigned others)
{
  check_that (check, camera->hit >= 192 && camera->set <= camera->hit + others,
              "%s, %s: %u pixels of the thing are foreground and %u others, not 192 and %u",
              street->name, when, camera->hit, camera->set - camera->hit, others);
}

static void
expect (Check *check, const Camera *camera, const Street *street, const char *when)
{
  expect_others (check, camera, street, when, 256);
}

/* @camera must be closed even on failure. */
static bool
open_camera_of (Check *check, CclBackend backend, uint32_t height, Camera *camera)
{
  CclMotionConfig motion;
  CclConfig config;

  *camera = (Camera){ .planes = { test_image_new (192, height), test_image_new (96, height / 2),
                                  test_image_new (96, height / 2) } };
  ccl_config_init (&config, 192, height);
  ccl_motion_config_init (&motion);
  config.motion = &motion;
  config.mask = true;
  config.backend = backend;
  ccl_params_init (&camera->params);
  camera->params.elapsed = SECOND / 25;
  return check_that (check, ccl_analyzer_new (&config, &camera->analyzer) == CCL_OK, "%s",
                     ccl_last_error ());
}

static bool
open_camera (Check *check, CclBackend backend, Camera *camera)
{
  return open_camera_of (check, backend, 96, camera);
}

static void
close_camera (Camera *camera)
{
  ccl_analyzer_free (camera->analyzer);
  for (int i = 0; i < PLANES; i++)
    test_image_clear (&camera->planes[i]);
}

/* When the light changes, in the whole picture or a part of it, what moves stays foreground, and
 * nothing else is. Another scene starts the model anew. Lightning and freezing leave it as it is.
 */
static void
check_street (Check *check, CclBackend backend, const Street *street)
{
  static const Street plain = { .gain = 256 };
  Camera camera;
  CclInfo info;

  open_camera (check, backend, &camera);
  show (check, &camera, &plain, 56);
  expect (check, &camera, street, "before");
  show (check, &camera, street, 2);
  show (check, &camera, &plain, 1);
  expect (check, &camera, street, "after lightning");
  camera.params.motion.freeze = true;
  show (check, &camera, street, 10);
  show (check, &camera, &plain, 1);
  expect (check, &camera, street, "after freezing");
  camera.params.motion.freeze = false;
  show (check, &camera, street, 12);
  ccl_analyzer_info (camera.analyzer, &info);
  check_that (check, info.motion.starts == street->starts, "%s: %llu starts, not %llu",
              street->name, (unsigned long long) info.motion.starts,
              (unsigned long long) street->starts);
  if (street->starts == 1)
    expect (check, &camera, street, "after it");
  close_camera (&camera);
}

/* While the exposure goes up and down by a quarter within 1.6 s, and then down to a third, what
 * moves stays foreground, and nothing else is. */
static void
check_drift (Check *check, CclBackend backend)
{
  Camera camera;
  Street street = { "exposure that pumps", 256, 0, .starts = 1 };
  unsigned frame = 0;

  if (open_camera (check, backend, &camera)) {
    for (; frame < 320; frame++) {
      street.gain = 256 + 6 * abs ((int) (frame % 40) - 20) - 60;
      show (check, &camera, &street, 1);
    }
    expect (check, &camera, &street, "later");
    street.name = "dusk";
    for (; street.gain > 85; street.gain -= 2)
      show (check, &camera, &street, 1);
    expect (check, &camera, &street, "at its end");
  }
  close_camera (&camera);
}

/* A shadow that lies on the street for longer than the learning time is not background yet. After
 * twice that time it is, and what it leaves behind is background in half of that time. Before, it
 * is no foreground while another shadow moves: only with many shadows, light is no proof, and they
 * may be darker. */
static void
check_shadow (Check *check, CclBackend backend)
{
  static const Street plain = { .name = "a shadow that leaves", .gain = 256 };
  static const Street shadow = { .name = "a shadow", .gain = 170, .lamp = 165 };
  static const Street other = { .name = "another", .gain = 150, .lamp = 20, .end = 60 };
  static const Street dark = { .name = "a dark one", .gain = 90, .lamp = 20, .end = 60 };
  Camera camera;

  if (open_camera (check, backend, &camera)) {
    camera.params.elapsed = SECOND / 4;
    show (check, &camera, &plain, 60);
    show (check, &camera, &shadow, 60);
    expect_others (check, &camera, &shadow, "after 15 s", 1024);
    show (check, &camera, &plain, 1);
    expect_others (check, &camera, &plain, "after 15 s", 1024);
    show (check, &camera, &shadow, 100);
    show (check, &camera, &plain, 4);
    check_that (check, camera.set > camera.hit + 1024, "the shadow has not become background");
    show (check, &camera, &other, 1);
    show (check, &camera, &dark, 1);
    expect_others (check, &camera, &dark, "while what the first one left is lit", 1024);
    show (check, &camera, &plain, 24);
    expect_others (check, &camera, &plain, "after 25 s", 1024);
  }
  close_camera (&camera);
}

static void
shake (Check *check, Camera *camera, const Street *street, unsigned frames)
{
  for (unsigned i = 0; i < frames; i++) {
    camera->dx = (int) (i * 5 % 9) - 4;
    camera->dy = (int) (i * 7 % 9) - 4;
    show (check, camera, street, 1);
    if (i >= 20 || camera->params.motion.freeze)
      expect (check, camera, street, "while it does");
  }
  camera->dx = camera->dy = 0;
}

/* While the camera shakes by up to four pixels, what moves is foreground, and little else is: from
 * the start, later, and in a frozen model. */
static void
check_shake (Check *check, CclBackend backend)
{
  static const Street street = { .name = "a camera that shakes", .gain = 256 };
  Camera camera;

  if (open_camera (check, backend, &camera)) {
    show (check, &camera, &street, 1);
    shake (check, &camera, &street, 40);
    camera.params.elapsed = SECOND / 4;
    show (check, &camera, &street, 10);
    camera.params.elapsed = SECOND / 25;
    shake (check, &camera, &street, 40);
    camera.params.motion.freeze = true;
    shake (check, &camera, &street, 20);
  }
  close_camera (&camera);
}

/* A camera that stays where it was moved to does not shake: the background learns what it shows. So
 * it can be moved again, farther than a shake reaches from where it was first. */
static void
check_displaced (Check *check, CclBackend backend)
{
  static const Street street = { .name = "a camera that was moved", .gain = 256 };
  Camera camera;

  if (open_camera (check, backend, &camera)) {
    camera.params.elapsed = SECOND;
    show (check, &camera, &street, 12);
    camera.dx = -3;
    show (check, &camera, &street, 2);
    expect (check, &camera, &street, "first");
    show (check, &camera, &street, 30);
    camera.dx = -7;
    show (check, &camera, &street, 3);
    expect (check, &camera, &street, "again");
  }
  close_camera (&camera);
}

/* Shows the street from elsewhere, and moves back. */
static void
move (Check *check, Camera *camera, const Street *street, const int *by, unsigned frames)
{
  camera->dx += by[0];
  camera->dy += by[1];
  show (check, camera, street, frames);
  camera->dx -= by[0];
  camera->dy -= by[1];
}

static void
expect_displaced (Check *check, const Camera *camera, const char *how, size_t times)
{
  CclInfo info;

  ccl_analyzer_info (camera->analyzer, &info);
  check_that (check, info.motion.displaced == times, "moved %s: displaced %u times, not %zu", how,
              info.motion.displaced, times);
}

/* When somebody knocks the camera, so that it looks elsewhere, farther than a shake reaches, the
 * model soon learns what it shows, but not where frames are
 * moved for a moment only, or in turns. */
static void
check_knock (Check *check, CclBackend backend)
{
  static const Street street = { .name = "a camera that was knocked", .gain = 256 };
  static const int ways[][2] = { { 9, 0 }, { 0, 9 }, { -9, 0 }, { 0, -9 }, { -7, 6 } };
  const bool tiny = check->options.effort == EFFORT_TINY;
  const size_t n = tiny ? 2 : COUNT (ways);
  Camera camera;

  if (open_camera_of (check, backend, 192, &camera)) {
    camera.params.motion.light_change = 0; /* or the model starts anew */
    show (check, &camera, &street, 25);
    for (size_t i = 0; i < n; i++) {
      move (check, &camera, &street, ways[i], 3);
      show (check, &camera, &street, 8);
      expect_displaced (check, &camera, "for a moment", i);
      expect (check, &camera, &street, "after a moment");
      camera.dx += ways[i][0];
      camera.dy += ways[i][1];
      show (check, &camera, &street, 40);
      expect_displaced (check, &camera, "for good", i + 1);
      expect_others (check, &camera, &street, "soon", 512);
    }
    camera.params.elapsed = SECOND / 10; /* searched in every second frame */
    for (int i = 0; i < 20 && !tiny; i++) {
      const int by = i / 2 % 2 ? 8 : -8;

      move (check, &camera, &street, (const int[]){ i < 10 ? by : 0, i < 10 ? 0 : by }, 1);
      if (i == 9)
        show (check, &camera, &street, 8);
    }
    expect_displaced (check, &camera, "in turns", n);
  }
  close_camera (&camera);
}

/* While fog gathers, and in it, what moves is foreground, whose shades differ from the background's
 * as little as those in a shadow do. */
static void
check_fog (Check *check, CclBackend backend)
{
  Street street = { .name = "fog", .gain = 256 };
  const bool tiny = check->options.effort == EFFORT_TINY;
  const int frames = tiny ? 80 : 300;
  Camera camera;
  CclInfo info;

  if (open_camera (check, backend, &camera)) {
    for (int frame = 0; frame < frames; frame++) {
      const int left = frame < 40 ? 256 : frame > 240 ? 76 : 256 - (frame - 40) * 180 / 200;

      street.gain = left;
      street.offset = 200 - 200 * left / 256;
      show (check, &camera, &street, 1);
      if (frame >= 40)
        expect (check, &camera, &street, "while it gathers, and then");
    }
    ccl_analyzer_info (camera.analyzer, &info);
    check_that (check,
                info.motion.starts == 1 &&
                    (tiny || (info.motion.veil >= 100 && info.motion.veil < 160)),
                "fog: %llu starts, a veil of %u", (unsigned long long) info.motion.starts,
                info.motion.veil);
  }
  close_camera (&camera);
}

/* How lamps flicker. */
typedef struct Lamps
{
  const char *name;
  int flicker;           /* 256ths */
  uint32_t period, roll; /* rows, and from frame to frame */
  int gain, offset;      /* of the street's light */
  unsigned rate;         /* frames a second */
  bool shakes;
} Lamps;

/* While lamps flicker, what moves is foreground, and nothing else is, also when a cloud makes it
 * dark slowly, in a frozen model, and after they have been switched off. */
static void
check_lamps (Check *check, CclBackend backend, const Lamps *lamps)
{
  Street street = { lamps->name, lamps->gain, lamps->offset, .starts = 1 };
  Camera camera;
  const bool tiny = check->options.effort == EFFORT_TINY;
  const unsigned flickering = tiny ? 150 : 300, steady = tiny ? 0 : 120;
  CclInfo info;

  if (open_camera (check, backend, &camera)) {
    camera.params.elapsed = SECOND / lamps->rate;
    camera.flicker = lamps->flicker;
    camera.period = lamps->period;
    for (unsigned frame = 0; frame < flickering; frame++) {
      camera.phase += lamps->roll;
      camera.dx = lamps->shakes && frame >= 60 ? (int) (frame * 5 % 7) - 3 : 0;
      camera.params.motion.freeze = frame > 160 && frame <= 180;
      if (frame > 180 && frame <= 240)
        street.gain = lamps->gain * (int) (420 - frame) / 240;
      show (check, &camera, &street, 1);
      if (frame >= 120)
        expect (check, &camera, &street, "while they flicker");
    }
    camera.flicker = camera.dx = 0;
    for (unsigned frame = 0; frame < steady; frame++) {
      show (check, &camera, &street, 1);
      if (frame >= 10)
        expect (check, &camera, &street, "when they no longer do");
    }
    ccl_analyzer_info (camera.analyzer, &info);
    check_that (check, info.motion.starts == 1, "%s: %llu starts", street.name,
                (unsigned long long) info.motion.starts);
  }
  close_camera (&camera);
}

static void
test_flicker (Check *check)
{
  static const CclBackend backends[] = { CCL_BACKEND_CPU, CCL_BACKEND_CUDA };
  static const Lamps lamps[] = {
    { "bands, and a shake", 40, 80, 31, .gain = 256, .rate = 25, .shakes = true },
    { "bands that roll", 30, 70, 17, .gain = 256, .rate = 25 },
    { "bands that roll up, at night", 50, 90, 61, .gain = 80, .rate = 10 },
    { "many bands", 40, 24, 10, .gain = 256, .rate = 30 },
    { "frames of different brightness", 70, 4096, 1700, .gain = 230, .rate = 25 },
    { "bands, on white", 30, 60, 23, .gain = 256, .offset = 70, .rate = 12 },
  };
  const Options *options = &check->options;
  const size_t n = options->effort == EFFORT_TINY ? 1 : COUNT (lamps);

  for (size_t i = 0; i < COUNT (backends) && !options->algorithm; i++) {
    if ((options->backend != CCL_BACKEND_AUTO && options->backend != backends[i]) ||
        (backends[i] == CCL_BACKEND_CUDA && !test_device_available ()))
      continue;
    for (size_t k = 0; k < n; k++)
      check_lamps (check, backends[i], &lamps[k]);
  }
}

/* Leaves come and go in half a second to a second: after a while, they are background, and what
 * moves is still foreground, beside and in front of them. */
static void
check_waves (Check *check, CclBackend backend)
{
  static const Street street = { "leaves", 256, 0, 0, 0 };
  Camera camera;
  CclInfo info;
  unsigned before, others;

  if (!open_camera (check, backend, &camera)) {
    close_camera (&camera);
    return;
  }
  camera.params.elapsed = SECOND / 10;
  camera.waves = true;
  show (check, &camera, &street, 8);
  before = camera.set - camera.hit;
  check_that (check, before > 1200, "%u pixels of leaves are foreground", before);
  show (check, &camera, &street, 192);
  for (int i = 0; i < 20; i++) {
    show (check, &camera, &street, 3);
    others = camera.set - camera.hit;
    check_that (check, camera.hit >= 128 && others <= before / 4,
                "%u pixels of the thing are foreground and %u of leaves, not 128 and %u",
                camera.hit, others, before / 4);
  }
  ccl_analyzer_info (camera.analyzer, &info);
  check_that (check, info.motion.waves, "there are leaves, but they do not wave");
  close_camera (&camera);
}

/* Draws a wall with a screen, and a sign that has hung there for so long that it is background, or
 * not yet. */
static void
draw_wall (TestImage *image, bool hung, bool on)
{
  for (uint32_t y = 0; y < image->height; y++) {
    for (uint32_t x = 0; x < image->width; x++) {
      const bool screen = x >= 70 && x < 130 && y >= 20 && y < 50;
      const bool sign = x >= 20 && x < 40 && y >= 60 && y < 80;
      const int level = sign && hung ? 60 : 110;

      image->pixels[(size_t) y * image->width + x] = (uint8_t) (on && screen ? 200
                                                                : on && sign ? 160
                                                                             : level);
    }
  }
}

/* A screen and a sign blink once a second, in blocks of pixels that are quiet else. Soon they are
 * background, though the sign has another from before. */
static void
check_blinks (Check *check, CclBackend backend)
{
  static const uint64_t area = 60 * 30 + 20 * 20;
  Camera camera;
  CclImage image;
  CclMotionConfig motion;
  CclConfig config;
  uint64_t first = 0, last = 0;
  bool ok;
  CclInfo info = { .device = -1 };

  camera = (Camera){ .planes = { test_image_new (192, 96) } };
  image = test_image_view (&camera.planes[0]);
  ccl_config_init (&config, 192, 96);
  ccl_motion_config_init (&motion);
  motion.format = CCL_MOTION_LUMA;
  config.motion = &motion;
  config.backend = backend;
  ccl_params_init (&camera.params);
  camera.params.elapsed = SECOND / 10;
  camera.params.motion.keep_shadows = true;
  ok = ccl_analyzer_new (&config, &camera.analyzer) == CCL_OK;
  for (unsigned frame = 0; ok && frame < 260; frame++) {
    CclComponents components;
    const bool on = frame >= 160 && frame % 10 < 3;

    draw_wall (&camera.planes[0], frame >= 30, on);
    ok = ccl_analyzer_analyze (camera.analyzer, &image, &camera.params, &components) == CCL_OK;
    if (ok)
      ccl_analyzer_info (camera.analyzer, &info);
    if (frame == 160)
      first = info.motion.foreground;
    if (frame >= 240)
      last += info.motion.foreground;
  }
  check->runs++;
  check_that (check, ok, "%s", ccl_last_error ());
  check_that (check, !ok || (first * 10 >= area * 9 && last == 0 && info.motion.waves),
              "%llu pixels that blink are foreground, then %llu, not %llu and none%s",
              (unsigned long long) first, (unsigned long long) last, (unsigned long long) area,
              info.motion.waves ? "" : "; nothing waves");
  close_camera (&camera);
}

static void
test_waves (Check *check)
{
  static const CclBackend backends[] = { CCL_BACKEND_CPU, CCL_BACKEND_CUDA };
  const Options *options = &check->options;

  for (size_t i = 0; i < COUNT (backends) && !options->algorithm; i++) {
    if ((options->backend == CCL_BACKEND_AUTO || options->backend == backends[i]) &&
        (backends[i] == CCL_BACKEND_CPU || test_device_available ())) {
      check_waves (check, backends[i]);
      check_blinks (check, backends[i]);
    }
  }
}

static void
test_relight (Check *check)
{
  static const CclBackend backends[] = { CCL_BACKEND_CPU, CCL_BACKEND_CUDA };
  static const Street streets[] = {
    { "brighter", 330, 8, .starts = 1 },
    { "darker", 140, 0, .starts = 1 },
    { "half lit", 380, 0, .lamp = 100, .starts = 1 },
    { "infrared", 160, 60, .infrared = true, .starts = 1 },
    { "another scene", 256, 0, .cut = true, .starts = 2 },
  };
  const Options *options = &check->options;

  for (size_t i = 0; i < COUNT (backends) && !options->algorithm; i++) {
    if ((options->backend != CCL_BACKEND_AUTO && options->backend != backends[i]) ||
        (backends[i] == CCL_BACKEND_CUDA && !test_device_available ()))
      continue;
    for (size_t k = 0; k < COUNT (streets); k++)
      check_street (check, backends[i], &streets[k]);
    check_drift (check, backends[i]);
    check_fog (check, backends[i]);
    check_shadow (check, backends[i]);
    check_shake (check, backends[i]);
    check_displaced (check, backends[i]);
    check_knock (check, backends[i]);
  }
}

const Test light_tests[] = {
  { "motion-relight", test_relight },
  { "motion-flicker", test_flicker },
  { "motion-waves", test_waves },
  { NULL, NULL },
};
