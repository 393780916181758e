/* cudaccl - checkccl: background models against the reference, frame after frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"

#include <cudaccl/batch.h>
#include <cudaccl/mask.h>
#include "engine/cpu/tuning.h"
#include "engine/motion/model.h"
#include "tests/reference/motion.h"
#include "tests/lib/device.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof (array) / sizeof *(array))
#define MILLISECOND UINT64_C (1000000)
#define SECOND (1000 * MILLISECOND)
#define MOST_MODELS 24
#define PLANES 3
#define OBJECTS 6
#define SHADOW 127
#define FOREGROUND 255

/* A thing that moves, stops, and casts a shadow. */
typedef struct Object
{
  int x, y, width, height, dx, dy;
  uint8_t luma, chroma;
} Object;

/* A camera: a textured background, things, noise, and light. */
typedef struct Scene
{
  uint32_t width, height;
  TestImage texture, planes[PLANES]; /* planes[1] and [2]: chroma, with a step */
  TestImage pairs;                   /* the same in turns, if the step is 2 */
  bool paired, swapped;              /* frames have these, and the second component first */
  Object objects[OBJECTS];
  Object cloud;   /* dark, and bright on the right */
  unsigned step;  /* of chroma */
  unsigned noise; /* grey levels */
  unsigned light; /* 256ths, from column lamp on */
  uint32_t lamp;
  int fade;                     /* what the light gains in each frame, if there is no lamp */
  unsigned fog;                 /* how much it takes of the contrast, 256ths */
  int mist;                     /* what it gains in each frame */
  int flicker;                  /* 256ths by which the light of rows goes up and down */
  uint32_t period, roll, phase; /* rows: of that, from frame to frame, and of the frame */
  int reach, dx, dy;            /* how far the camera shakes, and has moved */
  int knock, away, down;        /* how far somebody knocks it, and has */
  unsigned sway, frame;         /* 0, or frames in which leaves come, and go */
} Scene;

static int
between (Mt19937 *rng, int low, int high)
{
  return low + (int) mt19937_below (rng, (uint32_t) (high - low + 1));
}

static Scene
scene_new (Mt19937 *rng, uint32_t width, uint32_t height, unsigned step)
{
  Scene scene = { .width = width, .height = height, .step = step, .light = 256 };
  int coarse = between (rng, 1, 9);

  scene.knock = 2 * CCL_SHAKE_REACH * (int) (ccl_shake_size (width, height) - 1);
  scene.noise = mt19937_below (rng, 3) == 0 && !scene.knock ? 40 : mt19937_below (rng, 8);
  scene.fade = mt19937_below (rng, 2) && !scene.knock ? between (rng, -8, 8) : 0;
  scene.mist = mt19937_below (rng, 2) && !scene.knock ? between (rng, 1, 6) : 0;
  scene.flicker = mt19937_below (rng, 2) && !scene.knock ? between (rng, 10, 100) : 0;
  scene.period = 2 + mt19937_below (rng, 4 * height);
  scene.roll = mt19937_below (rng, 2) ? scene.period / 2 : mt19937_below (rng, scene.period);
  scene.reach = mt19937_below (rng, 2) && !scene.knock ? between (rng, 1, CCL_SHAKE_REACH + 1) : 0;
  scene.sway = mt19937_below (rng, 2) ? 1 + mt19937_below (rng, 3) : 0;
  if (scene.sway > 0)
    scene.fade = scene.mist = scene.flicker = scene.reach = scene.knock = 0;
  scene.texture = test_image_new (width, height);
  scene.planes[0] = test_image_new (width, height);
  scene.planes[1] = test_image_new (step * ccl_model_half (width), ccl_model_half (height));
  scene.planes[2] = test_image_new (step * ccl_model_half (width), ccl_model_half (height));
  scene.pairs = test_image_new (step * ccl_model_half (width), ccl_model_half (height));
  scene.paired = step == 2 && mt19937_below (rng, 2);
  scene.swapped = mt19937_below (rng, 2);
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++)
      scene.texture.pixels[(size_t) y * width + x] =
          (uint8_t) (60 + (x / (uint32_t) coarse * 37 + y / (uint32_t) coarse * 91) % 120);
  scene.cloud = (Object){ .x = (int) width, /* not yet */
                          .width = (int) width * 3 / 4,
                          .height = (int) height * 3 / 4,
                          .dx = between (rng, -3, 3) };
  for (int i = 0; i < OBJECTS; i++)
    scene.objects[i] = (Object){
      .x = (int) mt19937_below (rng, width),
      .y = (int) mt19937_below (rng, height),
      .width = between (rng, 1, scene.sway > 0 ? 6 : 30),
      .height = between (rng, 1, scene.sway > 0 ? 6 : 30),
      .dx = between (rng, -3, 3),
      .dy = between (rng, -2, 2),
      .luma = (uint8_t) mt19937_next (rng),
      .chroma = (uint8_t) mt19937_next (rng),
    };
  return scene;
}

static void
scene_clear (Scene *scene)
{
  test_image_clear (&scene->texture);
  test_image_clear (&scene->pairs);
  for (int i = 0; i < PLANES; i++)
    test_image_clear (&scene->planes[i]);
}

static uint8_t
noisy (const Scene *scene, Mt19937 *rng, unsigned value)
{
  int noise = scene->noise ? (int) mt19937_below (rng, scene->noise + 1) : 0;
  int seen = (int) value + noise - (int) scene->noise / 2;

  return (uint8_t) (seen < 0 ? 0 : seen > 255 ? 255 : seen);
}

static bool
covers (const Object *object, int x, int y)
{
  return x >= object->x && x < object->x + object->width && y >= object->y &&
         y < object->y + object->height;
}

/* The shadow lies on the right. */
static bool
shades (const Object *object, int x, int y)
{
  return covers (object, x - object->width, y);
}

static uint8_t
texture_at (const Scene *scene, int x, int y)
{
  const int u = ccl_motion_max (0, ccl_motion_min (x, (int) scene->width - 1));
  const int v = ccl_motion_max (0, ccl_motion_min (y, (int) scene->height - 1));

  return scene->texture.pixels[(size_t) v * scene->width + (size_t) u];
}

/* The gain of the light in a row, 256ths. */
static unsigned
light_of (const Scene *scene, uint32_t y)
{
  const int period = (int) scene->period, at = (int) ((y + scene->phase) % scene->period);

  return (unsigned) (256 + scene->flicker * (abs (4 * at - 2 * period) - period) / period);
}

static void
draw_luma (Scene *scene, Mt19937 *rng)
{
  for (uint32_t y = 0; y < scene->height; y++) {
    for (uint32_t x = 0; x < scene->width; x++) {
      size_t at = (size_t) y * scene->width + x;
      const int u = (int) x + scene->dx, v = (int) y + scene->dy;
      unsigned value = texture_at (scene, u, v);

      if (scene->sway > 0 && x % 32 < 7 && (scene->frame / scene->sway + y / 8) % 2)
        value ^= 96;
      if (covers (&scene->cloud, u, v))
        value = value * (u < scene->cloud.x + scene->cloud.width / 2 ? 5 : 11) / 8;
      for (int i = 0; i < OBJECTS; i++) {
        if (shades (&scene->objects[i], u, v))
          value = value * 3 / 4;
        if (covers (&scene->objects[i], u, v))
          value = scene->objects[i].luma;
      }
      if (x >= scene->lamp)
        value = value * scene->light / 256;
      value = value * light_of (scene, y) / 256;
      value = (value * (256 - scene->fog) + 190 * scene->fog) / 256;
      scene->planes[0].pixels[at] = noisy (scene, rng, value);
    }
  }
}

/* Samples of other components that are interleaved with this one are noise. */
static void
draw_chroma (Scene *scene, Mt19937 *rng, int component)
{
  TestImage *plane = &scene->planes[component];

  for (uint32_t y = 0; y < plane->height; y++) {
    for (uint32_t x = 0; x < plane->width; x++) {
      const int u = (int) (2 * x / scene->step) + scene->dx, v = (int) (2 * y) + scene->dy;
      unsigned value = 120 + (unsigned) u / 2 % 16;

      for (int i = 0; i < OBJECTS; i++)
        if (covers (&scene->objects[i], u, v))
          value = scene->objects[i].chroma;
      if (x % scene->step != 0)
        value = mt19937_below (rng, 256);
      plane->pixels[(size_t) y * plane->width + x] = noisy (scene, rng, value);
    }
  }
}

static void
draw_pairs (Scene *scene)
{
  TestImage *pairs = &scene->pairs;

  for (size_t i = 0; i < (size_t) pairs->width * pairs->height; i++)
    pairs->pixels[i] = scene->planes[1 + (i % 2 != scene->swapped)].pixels[i / 2 * 2];
}

static void
scene_advance (Scene *scene, Mt19937 *rng)
{
  scene->cloud.x += scene->cloud.dx;
  if (mt19937_below (rng, 4) == 0 && !scene->knock) {
    scene->cloud.x = between (rng, -(int) scene->width, (int) scene->width);
    scene->cloud.y = between (rng, -(int) scene->height, (int) scene->height);
  }
  for (int i = 0; i < OBJECTS; i++) {
    Object *object = &scene->objects[i];

    object->x += object->dx;
    object->y += object->dy;
    if (mt19937_below (rng, 20) == 0)
      object->dx = object->dy = 0;
    if (mt19937_below (rng, 20) == 0) {
      object->x = (int) mt19937_below (rng, scene->width);
      object->y = (int) mt19937_below (rng, scene->height);
      object->dx = between (rng, -3, 3);
    }
  }
  if (mt19937_below (rng, 25) == 0 && !scene->knock) {
    scene->light = 100 + mt19937_below (rng, 300);
    scene->lamp = mt19937_below (rng, 2) ? mt19937_below (rng, scene->width) : 0;
  }
  if (scene->lamp == 0 && scene->fade != 0) {
    if (scene->fade < 0 ? scene->light < 140 : scene->light > 330)
      scene->fade = -scene->fade;
    scene->light += (unsigned) scene->fade;
  }
  scene->fog += scene->mist > 0 && scene->fog < 200 ? (unsigned) scene->mist : 0;
  scene->phase += scene->roll;
  scene->frame++;
  if (mt19937_below (rng, 12) == 0) {
    scene->away = between (rng, -scene->knock, scene->knock);
    scene->down = between (rng, -scene->knock, scene->knock);
  }
  scene->dx = scene->away + between (rng, -scene->reach, scene->reach);
  scene->dy = scene->down + between (rng, -scene->reach, scene->reach);
  draw_luma (scene, rng);
  draw_chroma (scene, rng, 1);
  draw_chroma (scene, rng, 2);
  if (scene->paired)
    draw_pairs (scene);
}

/* One of the analyzers that are compared. */
typedef struct Model
{
  const char *name;
  CclMemory memory; /* of frames */
  unsigned threads;
  CclAnalyzer *analyzer;
  TestArena arenas[PLANES];
  void *arrays[PLANES]; /* of the last frame */
} Model;

/* A frame of any kind of memory. */
typedef struct Frame
{
  CclImage luma;
  CclChroma chroma;
} Frame;

static const char *const memory_names[] = { "host", "pinned", "device", "array" };

static void
free_arrays (Model *model)
{
  for (int i = 0; i < PLANES; i++) {
    if (model->arrays[i])
      test_device_array_free (model->arrays[i]);
    model->arrays[i] = NULL;
  }
}

static CclImage
place_plane (Model *model, int plane, const TestImage *image, const TestPlacement *placement)
{
  if (model->memory != CCL_MEMORY_ARRAY)
    return test_arena_place (&model->arenas[plane], image, placement);
  model->arrays[plane] =
      test_device_array_new (image->pixels, image->width, image->width, image->height);
  return (CclImage){ .data = model->arrays[plane], .memory = CCL_MEMORY_ARRAY };
}

/* The scene's frame in the model's kind of memory, placed at random. */
static void
place (Mt19937 *rng, const Scene *scene, Model *model, Frame *frame)
{
  TestPlacement placement = { .padding = mt19937_below (rng, 9),
                              .fill = (uint8_t) mt19937_next (rng),
                              .late = mt19937_below (rng, 8) == 0 };
  CclImage *planes = frame->chroma.planes;

  if (mt19937_below (rng, 2)) /* rows that vectors can load */
    placement.padding = 16 - scene->width % 8;
  if (mt19937_below (rng, 4) == 0)
    placement.slack = TEST_SLACK_FRONT;
  free_arrays (model);
  frame->luma = place_plane (model, 0, &scene->planes[0], &placement);
  frame->luma.chroma = &frame->chroma;
  frame->chroma.step = scene->step;
  if (scene->paired) {
    placement.padding = 16 - scene->pairs.width % 8;
    planes[0] = planes[1] = place_plane (model, 1, &scene->pairs, &placement);
    if (model->memory != CCL_MEMORY_ARRAY)
      planes[!scene->swapped].data++;
    return;
  }
  for (int i = 0; i < 2; i++)
    planes[i] = place_plane (model, i + 1, &scene->planes[i + 1], &placement);
}

static bool
open_model (Check *check, const CclConfig *config, const char *name, CclMemory memory, Model *model)
{
  model->name = name;
  model->memory = memory;
  model->threads = config->threads;
  for (int i = 0; i < PLANES; i++)
    model->arenas[i].memory = memory;
  return check_that (check, ccl_analyzer_new (config, &model->analyzer) == CCL_OK, "%s: %s", name,
                     ccl_last_error ());
}

static bool
open_cpu_models (Check *check, const CclConfig *config, Model *models, unsigned *n)
{
  const CclCpuTuning usual = ccl_cpu_tuning;
  const CclCpuFunctions *functions;
  bool ok = true;

  for (size_t i = 0; (functions = ccl_cpu_functions (i)) && ok; i++) {
    for (unsigned threads = 1; threads <= 3 && ok; threads += 2) {
      CclConfig c = *config;

      c.backend = CCL_BACKEND_CPU;
      c.threads = threads;
      ccl_cpu_tuning.functions = functions;
      ok = open_model (check, &c, functions->name, CCL_MEMORY_HOST, &models[(*n)++]);
      ccl_cpu_tuning = usual;
    }
  }
  return ok;
}

/* One for each kind of memory from @first up to @last. */
static bool
open_cuda_models (Check *check, const CclConfig *config, CclMemory first, CclMemory last,
                  Model *models, unsigned *n)
{
  CclConfig c = *config;
  bool ok = true;

  c.backend = CCL_BACKEND_CUDA;
  for (CclMemory memory = first; memory <= last && ok; memory++)
    ok = open_model (check, &c, "cuda", memory, &models[(*n)++]);
  return ok;
}

static void
close_models (Model *models, unsigned n)
{
  for (unsigned i = 0; i < n; i++) {
    ccl_analyzer_free (models[i].analyzer);
    free_arrays (&models[i]);
    for (int k = 0; k < PLANES; k++)
      test_arena_clear (&models[i].arenas[k]);
  }
}

/* The expected mask: bytes of the model's size, one for @scale pixels of the frame. */
typedef struct Expected
{
  const uint8_t *pixels, *background;
  uint32_t width, height;
  unsigned scale;
} Expected;

/* How many bits of a mask are not what the bytes say: @value for 1. Adds the bits to @set. */
static uint64_t
count_wrong (const CclMask *mask, const Expected *expected, uint8_t value, uint64_t *set)
{
  uint64_t wrong = 0;

  for (uint32_t y = 0; y < mask->height; y++) {
    for (uint32_t x = 0; x < 64 * ccl_mask_words (mask->width); x++) {
      unsigned bit = mask->words[y * mask->pitch + x / 64] >> x % 64 & 1;
      size_t at = (size_t) (y / expected->scale) * expected->width + x / expected->scale;

      wrong += bit != (x < mask->width && expected->pixels[at] == value);
      *set += bit;
    }
  }
  return wrong;
}

/* One frame by one model. */
static bool
check_model (Check *check, Model *model, const CclParams *params, const CclImage *image,
             unsigned frame, const Expected *expected)
{
  size_t size = (size_t) expected->width * expected->height;
  uint64_t set = 0, area = 0, none = 0, foreground, shadows;
  CclComponents components;
  CclMask mask, shadow_mask;
  CclInfo before, after;
  uint8_t *background = malloc (size);
  bool ok, same;

  ccl_analyzer_info (model->analyzer, &before);
  ok = check_that (check,
                   ccl_analyzer_analyze (model->analyzer, image, params, &components) == CCL_OK &&
                       ccl_analyzer_mask (model->analyzer, &mask) == CCL_OK &&
                       ccl_analyzer_shadows (model->analyzer, &shadow_mask) == CCL_OK &&
                       ccl_analyzer_background (model->analyzer, background, expected->width) ==
                           CCL_OK,
                   "%s: %s", model->name, ccl_last_error ());
  if (!ok) {
    free (background);
    return false;
  }
  ccl_analyzer_info (model->analyzer, &after);
  foreground = count_wrong (&mask, expected, FOREGROUND, &set);
  shadows = count_wrong (&shadow_mask, expected, SHADOW, &none);
  for (uint32_t i = 0; i < components.count; i++)
    area += components.items[i].area;
  same = memcmp (background, expected->background, size) == 0;
  free (background);
  check->runs++;
  return check_that (
      check,
      foreground == 0 && shadows == 0 && area == set && same &&
          (frame == 0 || after.allocations == before.allocations),
      "%s, %s memory, %u threads, %ux%u, frame %u: %llu bits of foreground and %llu of shadow "
      "are wrong, the background is %s; the components' area is %llu, not %llu; %llu allocations",
      model->name, memory_names[model->memory], model->threads, mask.width, mask.height, frame,
      (unsigned long long) foreground, (unsigned long long) shadows, same ? "right" : "wrong",
      (unsigned long long) area, (unsigned long long) set,
      (unsigned long long) (after.allocations - before.allocations));
}

static uint64_t
draw_elapsed (Mt19937 *rng)
{
  switch (mt19937_below (rng, 12)) {
  case 0:
    return mt19937_below (rng, 2) * MILLISECOND;
  case 1:
    return 3600 * SECOND;
  case 2:
    return mt19937_below (rng, 3000) * MILLISECOND;
  default:
    return mt19937_below (rng, 2) ? 40 * MILLISECOND : 16683350;
  }
}

static void
draw_params (Mt19937 *rng, CclMotionParams *params)
{
  ccl_motion_params_init (params);
  if (mt19937_below (rng, 2))
    params->learning_time = (1 + mt19937_below (rng, 3000)) * MILLISECOND;
  if (mt19937_below (rng, 3) == 0)
    params->noise_floor = (uint8_t) mt19937_next (rng);
  if (mt19937_below (rng, 3) == 0)
    params->light_change = (uint8_t) mt19937_below (rng, 101);
  if (mt19937_below (rng, 4) == 0)
    params->warm_up = 200 * MILLISECOND;
  params->keep_shadows = mt19937_below (rng, 5) == 0;
}

static bool
wants (const Check *check, CclBackend backend)
{
  const Options *options = &check->options;

  if (options->algorithm || (backend == CCL_BACKEND_CUDA && !test_device_available ()))
    return false;
  return options->backend == CCL_BACKEND_AUTO || options->backend == backend;
}

static bool
open_models (Check *check, const CclConfig *config, bool arrays, Model *models, unsigned *n)
{
  CclMemory first = arrays ? CCL_MEMORY_ARRAY : CCL_MEMORY_HOST;
  CclMemory last = arrays ? CCL_MEMORY_ARRAY : CCL_MEMORY_DEVICE;

  if (!arrays && wants (check, CCL_BACKEND_CPU) && !open_cpu_models (check, config, models, n))
    return false;
  return !wants (check, CCL_BACKEND_CUDA) ||
         open_cuda_models (check, config, first, last, models, n);
}

/* @arrays: frames in arrays of the device, otherwise in all other kinds of memory. */
static void
check_scene (Check *check, const CclConfig *config, bool arrays, unsigned frames)
{
  Mt19937 *rng = &check->rng;
  const CclMotionConfig *motion = config->motion;
  Scene scene = scene_new (rng, config->width, config->height, 1 + mt19937_below (rng, 2));
  CclMotionReference *reference = ccl_motion_reference_new (motion, config->width, config->height);
  size_t size = (size_t) config->width * config->height;
  uint8_t *pixels = malloc (size), *background = malloc (size);
  Expected expected = { pixels, background, (config->width - 1) / motion->scale + 1,
                        (config->height - 1) / motion->scale + 1, motion->scale };
  Model models[MOST_MODELS] = { 0 };
  CclParams params;
  unsigned n = 0;
  bool ok = reference && pixels && background && open_models (check, config, arrays, models, &n);

  /* an array has no address between its samples */
  scene.paired |= arrays && scene.step == 2;
  ccl_params_init (&params);
  draw_params (rng, &params.motion);
  for (unsigned i = 0; ok && i < frames; i++) {
    Frame frame;

    params.elapsed = draw_elapsed (rng);
    scene_advance (&scene, rng);
    if (mt19937_below (rng, 30) == 0)
      draw_params (rng, &params.motion);
    params.motion.freeze = mt19937_below (rng, 10) == 0;
    /* the reference reads the same planes, from host memory */
    frame = (Frame){
      .luma = test_image_view (&scene.planes[0]),
      .chroma = { { test_image_view (&scene.planes[1]), test_image_view (&scene.planes[2]) },
                  scene.step },
    };
    frame.luma.chroma = &frame.chroma;
    ccl_motion_reference_apply (reference, &params, &frame.luma, pixels);
    ccl_motion_reference_background (reference, background);
    for (unsigned k = 0; ok && k < n; k++) {
      place (rng, &scene, &models[k], &frame);
      ok = check_model (check, &models[k], &params, &frame.luma, i, &expected);
    }
    if (mt19937_below (rng, 50) == 0) {
      ccl_motion_reference_reset (reference);
      for (unsigned k = 0; k < n; k++)
        ccl_analyzer_reset (models[k].analyzer);
    }
  }
  close_models (models, n);
  ccl_motion_reference_free (reference);
  free (pixels);
  free (background);
  scene_clear (&scene);
}

/* An analyzer with a model of luma or more, its mask and shadows; everything is in the result. */
static void
init_config (CclConfig *config, CclMotionConfig *motion, uint32_t width, uint32_t height)
{
  ccl_config_init (config, width, height);
  ccl_motion_config_init (motion);
  motion->shadows = true;
  config->motion = motion;
  config->mask = true;
  config->max_components = UINT32_MAX;
}

/* Sizes around the CPU's blocks of 64 pixels, and multiples of 8 around the device's blocks of 240,
 * for aligned frames; two with coarse pixels, the last one not in small runs; all formats and
 * scales. */
static void
check_scenes (Check *check, bool arrays)
{
  static const uint32_t sizes[][2] = { { 1, 1 },    { 2, 3 },    { 63, 5 },   { 64, 64 },
                                       { 65, 33 },  { 127, 9 },  { 128, 2 },  { 130, 70 },
                                       { 193, 49 }, { 3, 200 },  { 531, 19 }, { 240, 9 },
                                       { 248, 17 }, { 488, 21 }, { 248, 41 }, { 209, 197 },
                                       { 400, 194 } };
  unsigned rounds = check->options.effort == EFFORT_FULL ? 20 : 1;
  const bool small = check->options.effort <= EFFORT_SMALL;
  unsigned frames = small ? 10 : 60;

  for (unsigned round = 0; round < rounds; round++) {
    for (size_t i = 0; i < COUNT (sizes) - small; i++) {
      for (unsigned format = 0; format < 2; format++) {
        CclMotionConfig motion;
        CclConfig config;

        init_config (&config, &motion, sizes[i][0], sizes[i][1]);
        motion.format = (CclMotionFormat) format;
        motion.scale = 1u << (mt19937_below (&check->rng, 2) * mt19937_below (&check->rng, 3));
        check_scene (check, &config, arrays, frames);
      }
    }
  }
}

static void
test_frames (Check *check)
{
  check_scenes (check, false);
}

/* On their own, since compute-sanitizer's initcheck does not track copies from arrays. */
static void
test_arrays (Check *check)
{
  if (wants (check, CCL_BACKEND_CUDA))
    check_scenes (check, true);
}

/* A frame's result, and that of a mask of what moves in it, which must be the same. */
static bool
same_result (CclAnalyzer *const analyzers[2], const CclComponents components[2])
{
  CclMask masks[2];

  for (int i = 0; i < 2; i++)
    if (ccl_analyzer_mask (analyzers[i], &masks[i]) != CCL_OK)
      return false;
  for (uint32_t y = 0; y < masks[0].height; y++)
    if (memcmp (masks[0].words + y * masks[0].pitch, masks[1].words + y * masks[1].pitch,
                ccl_mask_words (masks[0].width) * sizeof *masks[0].words) != 0)
      return false;
  return components[0].count == components[1].count && components[0].found == components[1].found &&
         memcmp (components[0].items, components[1].items,
                 components[0].count * sizeof *components[0].items) == 0;
}

/* Motion is cleaned and analysed like any other mask. */
static void
check_chain (Check *check, CclBackend backend, const char *operations, bool invert)
{
  Scene scene = scene_new (&check->rng, 150, 70, 2);
  CclOperation parsed[CCL_MAX_OPERATIONS];
  CclAnalyzer *analyzers[2] = { NULL, NULL }, *plain = NULL;
  CclMotionConfig motion;
  CclConfig config;
  CclParams params;
  CclMask region;
  bool ok;

  init_config (&config, &motion, 150, 70);
  config.backend = backend;
  ccl_params_init (&params);
  ok = ccl_analyzer_new (&config, &plain) == CCL_OK &&
       ccl_operations_parse (operations, parsed, &config.n_operations) == CCL_OK &&
       ccl_mask_alloc (150, 70, &region) == CCL_OK &&
       ccl_region_parse ("0.1,0 0.9,0.2 0.8,1 0,0.9", NULL, &region) == CCL_OK;
  config.operations = parsed;
  config.region = &region;
  config.timing = config.stages = true;
  ok = ok && ccl_analyzer_new (&config, &analyzers[0]) == CCL_OK;
  config.motion = NULL;
  ok = ok && ccl_analyzer_new (&config, &analyzers[1]) == CCL_OK;
  params.min_area = 3;
  for (int i = 0; ok && i < 12; i++) {
    CclImage luma = test_image_view (&scene.planes[0]), foreground;
    CclChroma chroma = { { test_image_view (&scene.planes[1]), test_image_view (&scene.planes[2]) },
                         2 };
    CclComponents components[2];
    CclTiming timing;
    CclMask mask;

    scene_advance (&scene, &check->rng);
    luma.chroma = &chroma;
    params.invert = false;
    ok = ccl_analyzer_analyze (plain, &luma, &params, &components[0]) == CCL_OK &&
         ccl_analyzer_mask (plain, &mask) == CCL_OK;
    params.invert = invert;
    foreground = ccl_mask_image (&mask);
    ok = ok && ccl_analyzer_analyze (analyzers[0], &luma, &params, &components[0]) == CCL_OK &&
         ccl_analyzer_analyze (analyzers[1], &foreground, &params, &components[1]) == CCL_OK;
    check_that (check, !ok || same_result (analyzers, components),
                "backend %s, \"%s\", frame %d: not the result of the mask",
                ccl_backend_name (backend), operations, i);
    ccl_analyzer_timing (analyzers[0], &timing);
    check_that (check,
                timing.measured && timing.model <= timing.analysis &&
                    (backend == CCL_BACKEND_CPU ? timing.model > 0 : timing.n_stages > 1),
                "backend %s: the model took %llu of %llu ns", ccl_backend_name (backend),
                (unsigned long long) timing.model, (unsigned long long) timing.analysis);
    check->runs++;
  }
  check_that (check, ok, "%s", ccl_last_error ());
  for (int i = 0; i < 2; i++)
    ccl_analyzer_free (analyzers[i]);
  ccl_analyzer_free (plain);
  ccl_mask_free (&region);
  scene_clear (&scene);
}

static void
test_chains (Check *check)
{
  static const CclBackend backends[] = { CCL_BACKEND_CPU, CCL_BACKEND_CUDA };
  static const char *const operations[] = { "", "close5x5,drop4", "median3,fill,drop2,open3x3" };

  for (size_t i = 0; i < COUNT (backends); i++)
    for (size_t k = 0; wants (check, backends[i]) && k < 2 * COUNT (operations); k++)
      check_chain (check, backends[i], operations[k / 2], k % 2);
}

/* A frame of one colour with a square. */
static void
draw_square (TestImage *image, uint8_t background, uint32_t x, uint8_t square)
{
  memset (image->pixels, background, (size_t) image->width * image->height);
  for (uint32_t y = 20; y < 40; y++)
    memset (image->pixels + (size_t) y * image->width + x, square, 20);
}

/* A model of luma, 100x60 pixels, and its time. */
typedef struct Camera
{
  Check *check;
  CclAnalyzer *analyzer;
  CclParams params;
  TestImage image;
} Camera;

static Camera
camera_new (Check *check, CclBackend backend, unsigned rate)
{
  Camera camera = { .check = check };
  CclMotionConfig motion;
  CclConfig config;

  init_config (&config, &motion, 100, 60);
  motion.format = CCL_MOTION_LUMA;
  config.backend = backend;
  ccl_params_init (&camera.params);
  camera.params.elapsed = SECOND / rate;
  camera.params.motion.keep_shadows = true; /* which a dark square on nothing else might be */
  camera.image = test_image_new (100, 60);
  check_that (check, ccl_analyzer_new (&config, &camera.analyzer) == CCL_OK, "%s",
              ccl_last_error ());
  return camera;
}

static void
camera_free (Camera *camera)
{
  ccl_analyzer_free (camera->analyzer);
  test_image_clear (&camera->image);
}

/* Shows the same for so long; returns the foreground at the end, in pixels. */
static unsigned
show (Camera *camera, double seconds, uint8_t background, uint32_t x, uint8_t square)
{
  CclImage image = test_image_view (&camera->image);
  unsigned frames = (unsigned) (seconds * (double) SECOND / (double) camera->params.elapsed + 0.5);
  CclComponents components = { 0 };
  unsigned set = 0;

  draw_square (&camera->image, background, x, square);
  for (unsigned i = 0; i < frames; i++)
    ccl_analyzer_analyze (camera->analyzer, &image, &camera->params, &components);
  camera->check->runs++;
  for (uint32_t i = 0; i < components.count; i++)
    set += (unsigned) components.items[i].area;
  return set;
}

static void
expect (Camera *camera, const char *what, unsigned set, unsigned low, unsigned high)
{
  check_that (camera->check, set >= low && set <= high,
              "%s, %.0f frames a second: %u pixels are foreground, %u to %u are expected", what,
              (double) SECOND / (double) camera->params.elapsed, set, low, high);
}

/* Still objects become background in the learning time at every frame rate, and objects of the
 * first frames leave no ghost for long. */
static void
test_learning (Check *check)
{
  static const unsigned rates[] = { 5, 10, 25, 30, 60, 120, 500 };

  for (size_t i = 0; wants (check, CCL_BACKEND_CPU) && i < COUNT (rates); i++) {
    Camera camera = camera_new (check, CCL_BACKEND_CPU, rates[i]);

    show (&camera, 1, 100, 5, 200);
    expect (&camera, "a ghost of 0.5 s", show (&camera, 0.5, 100, 60, 200), 700, 1000);
    expect (&camera, "a ghost of 2 s", show (&camera, 1.5, 100, 60, 100), 0, 0);
    show (&camera, 30, 100, 60, 100);
    expect (&camera, "a thing that stands for 9 s", show (&camera, 9, 100, 60, 160), 350, 500);
    expect (&camera, "a thing that stands for 11 s", show (&camera, 2, 100, 60, 160), 0, 0);
    expect (&camera, "the place that it left", show (&camera, 0.2, 100, 5, 100), 350, 500);
    expect (&camera, "the same 1 s later", show (&camera, 1, 100, 5, 100), 0, 0);
    expect (&camera, "the thing, again", show (&camera, 8, 100, 60, 160), 350, 500);
    ccl_analyzer_reset (camera.analyzer);
    expect (&camera, "a new start", show (&camera, 0.2, 90, 60, 160), 0, 0);
    camera_free (&camera);
  }
}

/* A lasting change of the scene starts the model anew, lightning does not; a gap does no harm. */
static void
check_light (Check *check, CclBackend backend)
{
  Camera camera = camera_new (check, backend, 25);
  CclInfo info;

  show (&camera, 5, 100, 60, 100);
  expect (&camera, "a flash", show (&camera, 0.08, 200, 60, 200), 0, 0);
  expect (&camera, "a thing after a flash", show (&camera, 0.2, 100, 60, 160), 350, 500);
  expect (&camera, "light", show (&camera, 0.5, 200, 60, 200), 0, 0);
  expect (&camera, "a thing in new light", show (&camera, 0.2, 200, 60, 120), 350, 500);
  ccl_analyzer_info (camera.analyzer, &info);
  check_that (check, info.motion.starts == 2, "%llu starts, not 2",
              (unsigned long long) info.motion.starts);
  camera.params.elapsed = SECOND;
  show (&camera, 30, 200, 60, 200);
  camera.params.elapsed = 3600 * SECOND;
  expect (&camera, "a thing after a gap", show (&camera, 3600, 200, 60, 120), 350, 500);
  camera.params.elapsed = SECOND / 25;
  camera.params.motion.keep_shadows = false;
  expect (&camera, "its shadow", show (&camera, 0.2, 200, 60, 120), 0, 300);
  camera.params.motion.keep_shadows = true;
  expect (&camera, "the same later", show (&camera, 1, 200, 60, 120), 350, 500);
  camera.params.motion.freeze = true;
  camera.params.elapsed = SECOND;
  expect (&camera, "a frozen model", show (&camera, 60, 200, 60, 120), 350, 500);
  camera.params.elapsed = SECOND / 25;
  camera.params.motion.freeze = false;
  ccl_analyzer_reset (camera.analyzer);
  camera.params.motion.warm_up = 2 * SECOND;
  show (&camera, 1, 200, 60, 200);
  expect (&camera, "a thing in the warm-up", show (&camera, 0.8, 200, 20, 100), 0, 0);
  expect (&camera, "a thing after it", show (&camera, 0.6, 200, 70, 100), 350, 1000);
  camera_free (&camera);
}

static void
test_light (Check *check)
{
  static const CclBackend backends[] = { CCL_BACKEND_CPU, CCL_BACKEND_CUDA };

  for (size_t i = 0; i < COUNT (backends); i++)
    if (wants (check, backends[i]))
      check_light (check, backends[i]);
}

static void
refuse (Check *check, const char *what, CclStatus status, CclStatus expected)
{
  check->runs++;
  check_that (check, status == expected && ccl_last_error ()[0] != '\0', "%s: status %d, not %d",
              what, (int) status, (int) expected);
}

static CclStatus
try_config (const CclConfig *config)
{
  CclAnalyzer *analyzer = NULL;
  CclStatus status = ccl_analyzer_new (config, &analyzer);

  ccl_analyzer_free (analyzer);
  return status;
}

/* A reset while a frame is in flight: the next frame is the first. */
static void
check_reset (Check *check, CclBackend backend)
{
  Camera camera = camera_new (check, backend, 25);
  CclImage image = test_image_view (&camera.image);
  CclComponents components;
  CclStatus status;
  CclInfo info;

  show (&camera, 5, 100, 60, 100);
  status = ccl_analyzer_submit (camera.analyzer, &image, &camera.params);
  ccl_analyzer_reset (camera.analyzer);
  if (status == CCL_OK)
    status = ccl_analyzer_collect (camera.analyzer, &components);
  check_that (check, status == CCL_OK, "%s", ccl_last_error ());
  expect (&camera, "the first frames after a reset", show (&camera, 0.08, 200, 20, 100), 0, 0);
  ccl_analyzer_info (camera.analyzer, &info);
  check_that (check, info.motion.starts == 2 && info.motion.age == camera.params.elapsed,
              "%llu starts and an age of %llu ns", (unsigned long long) info.motion.starts,
              (unsigned long long) info.motion.age);
  camera_free (&camera);
}

static void
test_reset (Check *check)
{
  static const CclBackend backends[] = { CCL_BACKEND_CPU, CCL_BACKEND_CUDA };

  for (size_t i = 0; i < COUNT (backends); i++)
    if (wants (check, backends[i]))
      check_reset (check, backends[i]);
}

static void
test_refusals (Check *check)
{
  CclMotionConfig motion;
  CclChroma chroma = { .step = 1 };
  CclComponents components;
  CclParams params;
  CclConfig config;
  CclBatch *batch;
  CclMask mask;
  CclImage image;
  CclInfo info;
  Camera camera;
  uint8_t pixels[100];

  if (!wants (check, CCL_BACKEND_CPU))
    return;
  init_config (&config, &motion, 9, 9);
  config.backend = CCL_BACKEND_CPU;
  refuse (check, "a batch", ccl_batch_new (&config, 2, &batch), CCL_ERROR_UNSUPPORTED);
  motion.scale = 3;
  refuse (check, "scale 3", try_config (&config), CCL_ERROR_INVALID);
  motion = (CclMotionConfig){ .format = (CclMotionFormat) 7, .scale = 1 };
  refuse (check, "format 7", try_config (&config), CCL_ERROR_INVALID);

#define ANALYSE() ccl_analyzer_analyze (camera.analyzer, &image, &params, &components)
  camera = camera_new (check, CCL_BACKEND_CPU, 25);
  params = camera.params;
  image = test_image_view (&camera.image);
  refuse (check, "a mask before a frame", ccl_analyzer_mask (camera.analyzer, &mask),
          CCL_ERROR_INVALID);
  refuse (check, "shadows before a frame", ccl_analyzer_shadows (camera.analyzer, &mask),
          CCL_ERROR_INVALID);
  image.stride = 99;
  refuse (check, "stride", ANALYSE (), CCL_ERROR_INVALID);
  image.stride = 100;
  image.format = CCL_FORMAT_BITS;
  refuse (check, "bits", ANALYSE (), CCL_ERROR_INVALID);
  image.format = CCL_FORMAT_BYTES;
  image.memory = CCL_MEMORY_DEVICE;
  refuse (check, "device memory", ANALYSE (), CCL_ERROR_UNSUPPORTED);
  image.memory = CCL_MEMORY_HOST;
  params.motion.learning_time = 0;
  refuse (check, "learning time", ANALYSE (), CCL_ERROR_INVALID);
  params = camera.params;
  params.motion.light_change = 101;
  refuse (check, "light change", ANALYSE (), CCL_ERROR_INVALID);
  refuse (check, "background's stride", ccl_analyzer_background (camera.analyzer, pixels, 99),
          CCL_ERROR_INVALID);
  ccl_analyzer_info (camera.analyzer, &info);
  check_that (check, info.motion.starts == 0, "a refused frame started the model");
  camera_free (&camera);

  params.motion.light_change = 0;
  init_config (&config, &motion, 100, 60);
  config.backend = CCL_BACKEND_CPU;
  config.mask = motion.shadows = false;
  image = (CclImage){ .data = (const uint8_t[6000]){ 0 }, .stride = 100 };
  check_that (check, ccl_analyzer_new (&config, &camera.analyzer) == CCL_OK, "%s",
              ccl_last_error ());
  refuse (check, "no chroma", ANALYSE (), CCL_ERROR_INVALID);
  image.chroma = &chroma;
  chroma.planes[0] = chroma.planes[1] = (CclImage){ .data = image.data, .stride = 49 };
  refuse (check, "chroma's stride", ANALYSE (), CCL_ERROR_INVALID);
  chroma.planes[0].stride = 50;
  chroma.planes[1] = (CclImage){ .data = image.data, .stride = 50, .memory = CCL_MEMORY_DEVICE };
  refuse (check, "chroma in device memory", ANALYSE (), CCL_ERROR_UNSUPPORTED);
  chroma.planes[1].memory = CCL_MEMORY_HOST;
  chroma.step = 3;
  refuse (check, "chroma's step", ANALYSE (), CCL_ERROR_INVALID);
  chroma.step = 1;
  check_that (check, ANALYSE () == CCL_OK, "%s", ccl_last_error ());
  refuse (check, "no masks", ccl_analyzer_mask (camera.analyzer, &mask), CCL_ERROR_INVALID);
  refuse (check, "no shadows", ccl_analyzer_shadows (camera.analyzer, &mask), CCL_ERROR_INVALID);
  ccl_analyzer_free (camera.analyzer);

  config.motion = NULL;
  check_that (check, ccl_analyzer_new (&config, &camera.analyzer) == CCL_OK, "%s",
              ccl_last_error ());
  refuse (check, "no background", ccl_analyzer_background (camera.analyzer, pixels, 100),
          CCL_ERROR_INVALID);
  ccl_analyzer_free (camera.analyzer);
#undef ANALYSE
}

const Test motion_tests[] = {
  { "motion-frames", test_frames },     { "motion-arrays", test_arrays },
  { "motion-chains", test_chains },     { "motion-learning", test_learning },
  { "motion-light", test_light },       { "motion-reset", test_reset },
  { "motion-refusals", test_refusals }, { NULL, NULL },
};
