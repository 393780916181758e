/* cudaccl - checkccl: background models against the reference, frame after frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"

#include "engine/cpu/motion_functions.h"
#include "engine/cpu/tuning.h"
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
  unsigned step;  /* of chroma */
  unsigned noise; /* grey levels */
  unsigned light; /* 256ths */
} Scene;

static uint32_t
half (uint32_t n)
{
  return n / 2 + n % 2;
}

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

  scene.noise = mt19937_below (rng, 3) == 0 ? 40 : mt19937_below (rng, 8);
  scene.texture = test_image_new (width, height);
  scene.planes[0] = test_image_new (width, height);
  scene.planes[1] = test_image_new (step * half (width), half (height));
  scene.planes[2] = test_image_new (step * half (width), half (height));
  scene.pairs = test_image_new (step * half (width), half (height));
  scene.paired = step == 2 && mt19937_below (rng, 2);
  scene.swapped = mt19937_below (rng, 2);
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++)
      scene.texture.pixels[(size_t) y * width + x] =
          (uint8_t) (60 + (x / (uint32_t) coarse * 37 + y / (uint32_t) coarse * 91) % 120);
  for (int i = 0; i < OBJECTS; i++)
    scene.objects[i] = (Object){
      .x = (int) mt19937_below (rng, width),
      .y = (int) mt19937_below (rng, height),
      .width = between (rng, 1, 30),
      .height = between (rng, 1, 30),
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

static void
draw_luma (Scene *scene, Mt19937 *rng)
{
  for (uint32_t y = 0; y < scene->height; y++) {
    for (uint32_t x = 0; x < scene->width; x++) {
      size_t at = (size_t) y * scene->width + x;
      unsigned value = scene->texture.pixels[at];

      for (int i = 0; i < OBJECTS; i++) {
        if (shades (&scene->objects[i], (int) x, (int) y))
          value = value * 3 / 4;
        if (covers (&scene->objects[i], (int) x, (int) y))
          value = scene->objects[i].luma;
      }
      scene->planes[0].pixels[at] = noisy (scene, rng, value * scene->light / 256);
    }
  }
}

/* What does not belong to the component, in turns with it, is noise. */
static void
draw_chroma (Scene *scene, Mt19937 *rng, int component)
{
  TestImage *plane = &scene->planes[component];

  for (uint32_t y = 0; y < plane->height; y++) {
    for (uint32_t x = 0; x < plane->width; x++) {
      unsigned value = 120 + x / scene->step % 16;

      for (int i = 0; i < OBJECTS; i++)
        if (covers (&scene->objects[i], (int) (2 * x / scene->step), (int) (2 * y)))
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
  if (mt19937_below (rng, 40) == 0)
    scene->light = 128 + mt19937_below (rng, 200);
  draw_luma (scene, rng);
  draw_chroma (scene, rng, 1);
  draw_chroma (scene, rng, 2);
  if (scene->paired)
    draw_pairs (scene);
}

/* One of the models that are compared. */
typedef struct Model
{
  const char *name;
  CclMemory memory; /* of frames */
  unsigned threads;
  CclMotion *motion;
  CclAnalyzer *analyzer;
  CclMask mask, shadows; /* of the model's size */
  CclMask frame_shadows; /* of the frame's */
  TestArena arenas[PLANES];
  void *arrays[PLANES]; /* of the last frame */
} Model;

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
static CclMotionImage
place (Mt19937 *rng, const Scene *scene, Model *model)
{
  CclMotionImage image = { .chroma_step = scene->step };
  TestPlacement placement = { .padding = mt19937_below (rng, 9),
                              .fill = (uint8_t) mt19937_next (rng),
                              .late = mt19937_below (rng, 8) == 0 };

  if (mt19937_below (rng, 2)) /* rows that vectors can load */
    placement.padding = 16 - scene->width % 8;
  if (mt19937_below (rng, 4) == 0)
    placement.slack = TEST_SLACK_FRONT;
  free_arrays (model);
  image.luma = place_plane (model, 0, &scene->planes[0], &placement);
  if (scene->paired) {
    placement.padding = 16 - scene->pairs.width % 8;
    image.chroma[0] = image.chroma[1] = place_plane (model, 1, &scene->pairs, &placement);
    if (model->memory != CCL_MEMORY_ARRAY)
      image.chroma[!scene->swapped].data++;
    return image;
  }
  for (int i = 0; i < 2; i++)
    image.chroma[i] = place_plane (model, i + 1, &scene->planes[i + 1], &placement);
  return image;
}

/* Opens a model of @config, and an analyzer beside it. */
static bool
open_model (Check *check, const CclMotionConfig *config, const char *name, CclMemory memory,
            Model *model)
{
  CclConfig analyzer;
  CclMotionInfo info;
  CclStatus status = ccl_motion_new (config, &model->motion);

  model->name = name;
  model->memory = memory;
  model->threads = config->threads;
  for (int i = 0; i < PLANES; i++)
    model->arenas[i].memory = memory;
  if (!check_that (check, status == CCL_OK, "%s: %s", name, ccl_last_error ()))
    return false;
  ccl_config_init (&analyzer, config->width, config->height);
  analyzer.backend = config->backend;
  analyzer.max_components = UINT32_MAX;
  analyzer.labels = true;
  ccl_motion_info (model->motion, &info);
  return check_that (check,
                     ccl_analyzer_new (&analyzer, &model->analyzer) == CCL_OK &&
                         ccl_mask_alloc (info.width, info.height, &model->mask) == CCL_OK &&
                         ccl_mask_alloc (info.width, info.height, &model->shadows) == CCL_OK &&
                         ccl_mask_alloc (config->width, config->height, &model->frame_shadows) ==
                             CCL_OK,
                     "%s", ccl_last_error ());
}

static bool
open_cpu_models (Check *check, const CclMotionConfig *config, Model *models, unsigned *n)
{
  const CclCpuTuning usual = ccl_cpu_tuning;
  const CclCpuFunctions *functions;
  bool ok = true;

  for (size_t i = 0; (functions = ccl_cpu_functions (i)) && ok; i++) {
    for (unsigned threads = 1; threads <= 3 && ok; threads += 2) {
      CclMotionConfig c = *config;

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
open_cuda_models (Check *check, const CclMotionConfig *config, CclMemory first, CclMemory last,
                  Model *models, unsigned *n)
{
  CclMotionConfig c = *config;
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
    ccl_motion_free (models[i].motion);
    ccl_analyzer_free (models[i].analyzer);
    ccl_mask_free (&models[i].mask);
    ccl_mask_free (&models[i].shadows);
    ccl_mask_free (&models[i].frame_shadows);
    free_arrays (&models[i]);
    for (int k = 0; k < PLANES; k++)
      test_arena_clear (&models[i].arenas[k]);
  }
}

/* What is expected: bytes of the model's size, @scale pixels of the frame to one. */
typedef struct Expected
{
  const uint8_t *pixels, *background;
  uint32_t width;
  unsigned scale;
} Expected;

static bool
expects (const Expected *expected, uint32_t x, uint32_t y, unsigned scale, uint8_t value)
{
  return expected->pixels[(size_t) (y / scale) * expected->width + x / scale] == value;
}

/* How many bits of the mask are not what the bytes say: @value for 1. */
static uint64_t
count_wrong (const CclMask *mask, const Expected *expected, unsigned scale, uint8_t value)
{
  uint64_t wrong = 0;

  for (uint32_t y = 0; y < mask->height; y++) {
    for (uint32_t x = 0; x < 64 * ccl_mask_words (mask->width); x++) {
      unsigned bit = mask->words[y * mask->pitch + x / 64] >> x % 64 & 1;

      wrong += bit != (x < mask->width && expects (expected, x, y, scale, value));
    }
  }
  return wrong;
}

/* How many pixels of the analyzer's frame are labelled wrongly. */
static uint64_t
count_wrong_labels (const Model *model, const Expected *expected)
{
  const CclMask *frame = &model->frame_shadows;
  CclLabels labels;
  uint64_t wrong = 0;

  if (ccl_analyzer_labels (model->analyzer, &labels) != CCL_OK)
    return UINT64_MAX;
  for (uint32_t y = 0; y < frame->height; y++) {
    const uint32_t *row = (const uint32_t *) ((const uint8_t *) labels.data + y * labels.stride);

    for (uint32_t x = 0; x < frame->width; x++)
      wrong += (row[x] > 0) != expects (expected, x, y, expected->scale, FOREGROUND);
  }
  return wrong;
}

/* What a model made wrong of a frame. */
typedef struct Faults
{
  CclStatus status;
  uint64_t foreground, shadows; /* bits */
} Faults;

static Faults
apply (Model *model, const CclMotionParams *params, const CclMotionImage *image, uint64_t elapsed,
       bool with_shadows, const Expected *expected)
{
  Faults faults = { 0 };

  faults.status = ccl_motion_apply (model->motion, params, image, elapsed, &model->mask,
                                    with_shadows ? &model->shadows : NULL);
  faults.foreground = count_wrong (&model->mask, expected, 1, FOREGROUND);
  if (with_shadows)
    faults.shadows = count_wrong (&model->shadows, expected, 1, SHADOW);
  return faults;
}

/* The same by way of the analyzer. */
static Faults
detect (Model *model, const CclMotionParams *params, const CclMotionImage *image, uint64_t elapsed,
        bool with_shadows, const Expected *expected)
{
  Faults faults = { 0 };
  CclComponents components;
  CclParams all;
  CclImage mask;

  ccl_params_init (&all);
  faults.status = ccl_motion_detect (model->motion, params, image, elapsed, with_shadows,
                                     model->analyzer, &mask);
  if (faults.status == CCL_OK)
    faults.status = ccl_analyzer_analyze (model->analyzer, &mask, &all, &components);
  if (faults.status != CCL_OK)
    return faults;
  faults.foreground = count_wrong_labels (model, expected);
  if (!with_shadows)
    return faults;
  faults.status = ccl_motion_shadows (model->motion, &model->frame_shadows);
  faults.shadows = count_wrong (&model->frame_shadows, expected, expected->scale, SHADOW);
  return faults;
}

/* One frame by one model. */
static bool
check_model (Check *check, Model *model, const CclMotionParams *params, const CclMotionImage *image,
             uint64_t elapsed, unsigned frame, const Expected *expected)
{
  bool with_shadows = frame % 3 > 0, same;
  uint64_t size = (uint64_t) model->mask.width * model->mask.height, allocations;
  CclMotionInfo before, after;
  Faults faults;
  uint8_t *got;

  ccl_motion_info (model->motion, &before);
  faults = (frame % 2 ? apply : detect) (model, params, image, elapsed, with_shadows, expected);
  if (!check_that (check, faults.status == CCL_OK, "%s: %s", model->name, ccl_last_error ()))
    return false;
  ccl_motion_info (model->motion, &after);
  allocations = frame > 0 ? after.allocations - before.allocations : 0;
  got = malloc (size);
  ccl_motion_background (model->motion, got, model->mask.width);
  same = memcmp (got, expected->background, size) == 0;
  free (got);
  check->runs++;
  return check_that (
      check, faults.foreground == 0 && faults.shadows == 0 && same && allocations == 0,
      "%s, %s memory, %u threads, %ux%u, frame %u: %llu bits of foreground and %llu of shadow "
      "are wrong, the background is %s; %llu allocations",
      model->name, memory_names[model->memory], model->threads, model->mask.width,
      model->mask.height, frame, (unsigned long long) faults.foreground,
      (unsigned long long) faults.shadows, same ? "right" : "wrong",
      (unsigned long long) allocations);
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
open_models (Check *check, const CclMotionConfig *config, bool arrays, Model *models, unsigned *n)
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
check_scene (Check *check, const CclMotionConfig *config, bool arrays, unsigned frames)
{
  Mt19937 *rng = &check->rng;
  Scene scene = scene_new (rng, config->width, config->height, 1 + mt19937_below (rng, 2));
  CclMotionReference *reference = ccl_motion_reference_new (config);
  size_t size = (size_t) config->width * config->height;
  uint8_t *pixels = malloc (size), *background = malloc (size);
  Expected expected = { pixels, background, (config->width - 1) / config->scale + 1,
                        config->scale };
  Model models[MOST_MODELS] = { 0 };
  CclMotionParams params;
  unsigned n = 0;
  bool ok = reference && pixels && background && open_models (check, config, arrays, models, &n);

  /* an array has no address between its samples */
  scene.paired |= arrays && scene.step == 2;
  draw_params (rng, &params);
  for (unsigned frame = 0; ok && frame < frames; frame++) {
    uint64_t elapsed = draw_elapsed (rng);
    CclMotionImage image;

    scene_advance (&scene, rng);
    if (mt19937_below (rng, 30) == 0)
      draw_params (rng, &params);
    params.freeze = mt19937_below (rng, 10) == 0;
    /* the reference reads the same planes, from host memory */
    image = (CclMotionImage){
      .luma = { .data = scene.planes[0].pixels, .stride = scene.planes[0].width },
      .chroma = { { .data = scene.planes[1].pixels, .stride = scene.planes[1].width },
                  { .data = scene.planes[2].pixels, .stride = scene.planes[2].width } },
      .chroma_step = scene.step,
    };
    ccl_motion_reference_apply (reference, &params, &image, elapsed, pixels);
    ccl_motion_reference_background (reference, background);
    for (unsigned i = 0; ok && i < n; i++) {
      image = place (rng, &scene, &models[i]);
      ok = check_model (check, &models[i], &params, &image, elapsed, frame, &expected);
    }
    if (mt19937_below (rng, 50) == 0) {
      ccl_motion_reference_reset (reference);
      for (unsigned i = 0; i < n; i++)
        ccl_motion_reset (models[i].motion);
    }
  }
  close_models (models, n);
  ccl_motion_reference_free (reference);
  free (pixels);
  free (background);
  scene_clear (&scene);
}

/* Sizes around the CPU's blocks of 64 pixels, and multiples of 8 around the device's blocks of 240,
 * for aligned frames; all formats and scales. */
static void
check_scenes (Check *check, bool arrays)
{
  static const uint32_t sizes[][2] = { { 1, 1 },    { 2, 3 },   { 63, 5 },   { 64, 64 },
                                       { 65, 33 },  { 127, 9 }, { 128, 2 },  { 130, 70 },
                                       { 193, 49 }, { 3, 200 }, { 531, 19 }, { 240, 9 },
                                       { 248, 17 }, { 488, 21 } };
  unsigned rounds = check->options.effort == EFFORT_FULL ? 20 : 1;
  unsigned frames = check->options.effort <= EFFORT_SMALL ? 10 : 60;

  for (unsigned round = 0; round < rounds; round++) {
    for (size_t i = 0; i < COUNT (sizes); i++) {
      for (unsigned format = 0; format < 2; format++) {
        CclMotionConfig config;

        ccl_motion_config_init (&config, sizes[i][0], sizes[i][1]);
        config.format = (CclMotionFormat) format;
        config.scale = 1u << (mt19937_below (&check->rng, 2) * mt19937_below (&check->rng, 3));
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

#define STREAM_FRAMES 12

/* Detects motion in all frames, for one analyzer or alternately for two, and waits only for the
 * last.
 */
static void
detect_all (Check *check, const CclMotionImage *images, unsigned n, Model *models)
{
  CclMotionParams params;
  CclComponents components;
  CclParams all;
  CclImage mask;

  ccl_motion_params_init (&params);
  ccl_params_init (&all);
  for (unsigned i = 0; i < STREAM_FRAMES; i++) {
    const CclAnalyzer *analyzer = models[i % n].analyzer;

    check_that (check,
                ccl_motion_detect (models[0].motion, &params, &images[i], 100 * MILLISECOND, true,
                                   analyzer, &mask) == CCL_OK,
                "%s", ccl_last_error ());
    check->runs++;
  }
  check_that (check,
              ccl_analyzer_analyze (models[(STREAM_FRAMES - 1) % n].analyzer, &mask, &all,
                                    &components) == CCL_OK &&
                  ccl_motion_shadows (models[0].motion, &models[0].frame_shadows) == CCL_OK,
              "%s", ccl_last_error ());
}

/* Frames that alternate between the streams of two analyzers, with no wait between them, give the
 * CPU's results. */
static void
check_streams (Check *check, const CclMotionConfig *config)
{
  Scene scene = scene_new (&check->rng, config->width, config->height, 2);
  CclMotionImage host[STREAM_FRAMES], device[STREAM_FRAMES];
  /* only their arenas are used, for pixels */
  Model frames[2][STREAM_FRAMES] = { 0 };
  Model cpu[1] = { 0 }, cuda[2] = { 0 };
  CclMotionConfig c = *config;
  CclMotionInfo expected, got;
  uint8_t *backgrounds[2];
  size_t size;

  for (unsigned i = 0; i < STREAM_FRAMES; i++) {
    for (int k = 0; k < PLANES; k++)
      frames[1][i].arenas[k].memory = CCL_MEMORY_DEVICE;
    frames[1][i].memory = CCL_MEMORY_DEVICE;
    scene_advance (&scene, &check->rng);
    host[i] = place (&check->rng, &scene, &frames[0][i]);
    device[i] = place (&check->rng, &scene, &frames[1][i]);
  }
  c.backend = CCL_BACKEND_CPU;
  if (!open_model (check, &c, "cpu", CCL_MEMORY_HOST, &cpu[0]))
    return;
  c.backend = CCL_BACKEND_CUDA;
  for (int i = 0; i < 2; i++)
    if (!open_model (check, &c, "cuda", CCL_MEMORY_DEVICE, &cuda[i]))
      return;
  detect_all (check, host, 1, cpu);
  detect_all (check, device, 2, cuda);

  ccl_motion_info (cpu[0].motion, &expected);
  ccl_motion_info (cuda[0].motion, &got);
  check_that (check,
              got.foreground == expected.foreground && got.starts == expected.starts &&
                  got.age == expected.age,
              "scale %u: foreground %llu, %llu starts, age %llu; expected %llu, %llu, %llu",
              config->scale, (unsigned long long) got.foreground, (unsigned long long) got.starts,
              (unsigned long long) got.age, (unsigned long long) expected.foreground,
              (unsigned long long) expected.starts, (unsigned long long) expected.age);
  size = (size_t) got.width * got.height;
  for (int i = 0; i < 2; i++) {
    backgrounds[i] = malloc (size);
    ccl_motion_background (i ? cuda[0].motion : cpu[0].motion, backgrounds[i], got.width);
  }
  check_that (check, memcmp (backgrounds[0], backgrounds[1], size) == 0,
              "scale %u: the backgrounds differ", config->scale);
  check_that (check,
              memcmp (cpu[0].frame_shadows.words, cuda[0].frame_shadows.words,
                      cpu[0].frame_shadows.height * cpu[0].frame_shadows.pitch *
                          sizeof *cpu[0].frame_shadows.words) == 0,
              "scale %u: the shadows differ", config->scale);
  for (int i = 0; i < 2; i++) {
    free (backgrounds[i]);
    for (unsigned k = 0; k < STREAM_FRAMES; k++)
      for (int plane = 0; plane < PLANES; plane++)
        test_arena_clear (&frames[i][k].arenas[plane]);
  }
  close_models (cpu, 1);
  close_models (cuda, 2);
  scene_clear (&scene);
}

static void
test_streams (Check *check)
{
  if (!wants (check, CCL_BACKEND_CUDA))
    return;
  for (unsigned round = 0; round < (check->options.effort <= EFFORT_SMALL ? 2 : 20); round++) {
    for (unsigned scale = 1; scale <= 4; scale *= 2) {
      CclMotionConfig config;

      ccl_motion_config_init (&config, 130 + 7 * (round % 3), 60);
      config.scale = scale;
      check_streams (check, &config);
    }
  }
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
  CclMotion *motion;
  CclMotionParams params;
  CclMask mask;
  TestImage image;
  uint64_t duration;
} Camera;

static Camera
camera_new (Check *check, CclBackend backend, unsigned rate)
{
  Camera camera = { .check = check, .duration = SECOND / rate };
  CclMotionConfig config;

  ccl_motion_config_init (&config, 100, 60);
  config.format = CCL_MOTION_LUMA;
  config.backend = backend;
  ccl_motion_params_init (&camera.params);
  camera.params.keep_shadows = true; /* which a dark square on nothing else might be */
  camera.image = test_image_new (100, 60);
  check_that (check, ccl_motion_new (&config, &camera.motion) == CCL_OK, "%s", ccl_last_error ());
  check_that (check, ccl_mask_alloc (100, 60, &camera.mask) == CCL_OK, "%s", ccl_last_error ());
  return camera;
}

static void
camera_free (Camera *camera)
{
  ccl_motion_free (camera->motion);
  ccl_mask_free (&camera->mask);
  test_image_clear (&camera->image);
}

/* Shows the same for so long; returns the foreground at the end, in pixels. */
static unsigned
show (Camera *camera, double seconds, uint8_t background, uint32_t x, uint8_t square)
{
  CclMotionImage image = { .luma = { .data = camera->image.pixels, .stride = 100 } };
  unsigned frames = (unsigned) (seconds * (double) SECOND / (double) camera->duration + 0.5);
  unsigned set = 0;

  draw_square (&camera->image, background, x, square);
  for (unsigned i = 0; i < frames; i++)
    ccl_motion_apply (camera->motion, &camera->params, &image, camera->duration, &camera->mask,
                      NULL);
  camera->check->runs++;
  for (uint32_t y = 0; y < 60; y++)
    for (unsigned w = 0; w < 2; w++)
      set += (unsigned) __builtin_popcountll (camera->mask.words[y * camera->mask.pitch + w]);
  return set;
}

static void
expect (Camera *camera, const char *what, unsigned set, unsigned low, unsigned high)
{
  check_that (camera->check, set >= low && set <= high,
              "%s, %.0f frames a second: %u pixels are foreground, %u to %u are expected", what,
              (double) SECOND / (double) camera->duration, set, low, high);
}

/* What stands still becomes background in the learning time, at every frame rate, and what stood in
 * the first frames leaves no ghost for long. */
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
    expect (&camera, "the place that it left", show (&camera, 1, 100, 5, 100), 350, 500);
    ccl_motion_reset (camera.motion);
    expect (&camera, "a new start", show (&camera, 0.2, 90, 60, 160), 0, 0);
    camera_free (&camera);
  }
}

/* A lasting change of light starts the model anew, lightning does not; a gap does no harm. */
static void
check_light (Check *check, CclBackend backend)
{
  Camera camera = camera_new (check, backend, 25);
  CclMotionInfo info;

  show (&camera, 5, 100, 60, 100);
  expect (&camera, "a flash", show (&camera, 0.08, 200, 60, 200), 0, 0);
  expect (&camera, "a thing after a flash", show (&camera, 0.2, 100, 60, 160), 350, 500);
  expect (&camera, "light", show (&camera, 0.5, 200, 60, 200), 0, 0);
  expect (&camera, "a thing in new light", show (&camera, 0.2, 200, 60, 120), 350, 500);
  ccl_motion_info (camera.motion, &info);
  check_that (check, info.starts == 2, "%llu starts, not 2", (unsigned long long) info.starts);
  show (&camera, 30, 200, 60, 200);
  camera.duration = 3600 * SECOND;
  expect (&camera, "a thing after a gap", show (&camera, 3600, 200, 60, 120), 350, 500);
  camera.duration = SECOND / 25;
  camera.params.keep_shadows = false;
  expect (&camera, "its shadow", show (&camera, 0.2, 200, 60, 120), 0, 300);
  camera.params.keep_shadows = true;
  expect (&camera, "the same later", show (&camera, 1, 200, 60, 120), 350, 500);
  camera.params.freeze = true;
  expect (&camera, "a frozen model", show (&camera, 60, 200, 60, 120), 350, 500);
  camera.params.freeze = false;
  ccl_motion_reset (camera.motion);
  camera.params.warm_up = 2 * SECOND;
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

static void
test_refusals (Check *check)
{
  Camera camera;
  CclMotionConfig config;
  CclMotion *motion;
  CclMotionParams params;
  CclMotionImage image = { 0 };
  CclMask other;
  uint8_t pixels[100];

  if (!wants (check, CCL_BACKEND_CPU))
    return;
  ccl_motion_config_init (&config, 0, 9);
  refuse (check, "no pixels", ccl_motion_new (&config, &motion), CCL_ERROR_INVALID);
  ccl_motion_config_init (&config, 9, 9);
  config.scale = 3;
  refuse (check, "scale 3", ccl_motion_new (&config, &motion), CCL_ERROR_INVALID);
  ccl_motion_config_init (&config, 9, 9);
  config.threads = CCL_MAX_THREADS + 1;
  refuse (check, "threads", ccl_motion_new (&config, &motion), CCL_ERROR_INVALID);
  ccl_motion_config_init (&config, 9, 9);
  config.format = (CclMotionFormat) 7;
  refuse (check, "format 7", ccl_motion_new (&config, &motion), CCL_ERROR_INVALID);
  refuse (check, "no config", ccl_motion_new (NULL, &motion), CCL_ERROR_INVALID);
  ccl_motion_free (NULL);

  camera = camera_new (check, CCL_BACKEND_CPU, 25);
  params = camera.params;
  refuse (check, "no data",
          ccl_motion_apply (camera.motion, &params, &image, 1, &camera.mask, NULL),
          CCL_ERROR_INVALID);
  image.luma = (CclImage){ .data = camera.image.pixels, .stride = 99 };
  refuse (check, "stride", ccl_motion_apply (camera.motion, &params, &image, 1, &camera.mask, NULL),
          CCL_ERROR_INVALID);
  image.luma.stride = 100;
  image.luma.memory = CCL_MEMORY_DEVICE;
  refuse (check, "device memory",
          ccl_motion_apply (camera.motion, &params, &image, 1, &camera.mask, NULL),
          CCL_ERROR_UNSUPPORTED);
  image.luma.memory = CCL_MEMORY_HOST;
  params.learning_time = 0;
  refuse (check, "learning time",
          ccl_motion_apply (camera.motion, &params, &image, 1, &camera.mask, NULL),
          CCL_ERROR_INVALID);
  params = camera.params;
  params.light_change = 101;
  refuse (check, "light change",
          ccl_motion_apply (camera.motion, &params, &image, 1, &camera.mask, NULL),
          CCL_ERROR_INVALID);
  other = camera.mask;
  other.width--;
  refuse (check, "another mask",
          ccl_motion_apply (camera.motion, &camera.params, &image, 1, &camera.mask, &other),
          CCL_ERROR_INVALID);
  refuse (check, "background's stride", ccl_motion_background (camera.motion, pixels, 99),
          CCL_ERROR_INVALID);
  camera_free (&camera);
}

const Test motion_tests[] = {
  { "motion-frames", test_frames },
  { "motion-arrays", test_arrays },
  { "motion-streams", test_streams },
  { "motion-learning", test_learning },
  { "motion-light", test_light },
  { "motion-refusals", test_refusals },
  { NULL, NULL },
};
