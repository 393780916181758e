/* cudaccl - fuzzing: background models against the reference, frame after frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Any size, format, scale, instruction set and number of threads; parameters and times change from
 * frame to frame. Invalid ones must leave the model as it is. */

#include <cudaccl/mask.h>
#include "engine/cpu/tuning.h"
#include "tests/reference/motion.h"
#include "tests/fuzz/input.h"

#include <stdlib.h>
#include <string.h>

#define MOST_FRAMES 12
#define MOST_MODELS 4
#define MILLISECOND UINT64_C (1000000)
#define SHADOW 127
#define FOREGROUND 255

typedef struct Model
{
  const char *name;
  CclAnalyzer *analyzer;
} Model;

/* The planes of a frame, each ending with its allocation. */
typedef struct Frame
{
  uint8_t *planes[3];
  size_t sizes[3];
  CclImage image;
  CclChroma chroma;
} Frame;

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  return 0;
}

static unsigned
open_models (const CclConfig *config, Model *models)
{
  const CclCpuFunctions *functions;
  unsigned n = 0;

  for (size_t i = 0; (functions = ccl_cpu_functions (i)) && n < MOST_MODELS; i++, n++) {
    models[n].name = functions->name;
    ccl_cpu_tuning.functions = functions;
    fuzz_check (ccl_analyzer_new (config, &models[n].analyzer) == CCL_OK, "%s: %s", functions->name,
                ccl_last_error ());
  }
  return n;
}

static void
open_frame (FuzzInput *input, Frame *frame, const CclConfig *config)
{
  uint32_t width = config->width, height = config->height;
  uint32_t half_width = width / 2 + width % 2, half_height = height / 2 + height % 2;
  size_t stride = width + fuzz_below (input, 3);
  unsigned step = 1 + fuzz_below (input, 2);
  size_t chroma_row = (half_width - 1) * step + 1, chroma = chroma_row + fuzz_below (input, 3);

  memset (frame, 0, sizeof *frame);
  frame->sizes[0] = stride * (height - 1) + width;
  frame->sizes[1] = frame->sizes[2] = chroma * (half_height - 1) + chroma_row;
  frame->chroma.step = step;
  for (int i = 0; i < 3; i++) {
    frame->planes[i] = test_alloc (frame->sizes[i]);
    memset (frame->planes[i], 100, frame->sizes[i]);
  }
  frame->image = (CclImage){ .data = frame->planes[0], .stride = stride, .chroma = &frame->chroma };
  for (int i = 0; i < 2; i++)
    frame->chroma.planes[i] = (CclImage){ .data = frame->planes[i + 1], .stride = chroma };
}

/* The next frame: the same, another, a change of some bytes, noise around the one before. */
static void
draw_frame (FuzzInput *input, Frame *frame)
{
  uint32_t planes = 1 + fuzz_below (input, 3);

  for (uint32_t i = 0; i < planes; i++) {
    uint8_t *bytes = frame->planes[i];
    size_t size = frame->sizes[i], from, to;
    uint8_t value;

    switch (fuzz_below (input, 5)) {
    case 0:
      break;
    case 1:
      fuzz_bytes (input, bytes, size);
      break;
    case 2:
      memset (bytes, fuzz_u8 (input), size);
      break;
    case 3: /* an object */
      from = fuzz_below (input, (uint32_t) size);
      to = from + fuzz_u8 (input);
      value = fuzz_u8 (input);
      for (size_t k = from; k < to && k < size; k++)
        bytes[k] = value;
      break;
    default: /* light */
      value = fuzz_u8 (input);
      for (size_t k = 0; k < size; k++)
        bytes[k] = (uint8_t) (bytes[k] * (value | 1) / 128);
    }
  }
}

static void
draw_params (FuzzInput *input, CclMotionParams *params)
{
  ccl_motion_params_init (params);
  if (fuzz_one_in (input, 2))
    params->learning_time = fuzz_one_in (input, 8) ? fuzz_hostile_u64 (input)
                                                   : (1 + fuzz_below (input, 3000)) * MILLISECOND;
  if (fuzz_one_in (input, 3))
    params->warm_up = fuzz_one_in (input, 3) ? fuzz_hostile_u64 (input) : 200 * MILLISECOND;
  if (fuzz_one_in (input, 2))
    params->noise_floor = fuzz_u8 (input);
  if (fuzz_one_in (input, 2))
    params->light_change = (uint8_t) fuzz_below (input, fuzz_one_in (input, 8) ? 256 : 101);
  params->keep_shadows = fuzz_one_in (input, 4);
  params->freeze = fuzz_one_in (input, 6);
}

static bool
params_valid (const CclMotionParams *params)
{
  return params->learning_time >= MILLISECOND &&
         params->learning_time <= UINT64_C (86400000) * MILLISECOND && params->light_change <= 100;
}

/* The expected mask: bytes of the model's size. */
typedef struct Expected
{
  uint8_t *pixels, *background;
  uint32_t width, height;
  unsigned scale;
} Expected;

static void
check_bits (const Model *model, const CclMask *mask, const Expected *expected, uint8_t value,
            unsigned frame)
{
  for (uint32_t y = 0; y < mask->height; y++)
    for (uint32_t x = 0; x < 64 * ccl_mask_words (mask->width); x++) {
      bool bit = mask->words[y * mask->pitch + x / 64] >> x % 64 & 1;
      size_t at = (size_t) (y / expected->scale) * expected->width + x / expected->scale;

      fuzz_check (bit == (x < mask->width && expected->pixels[at] == value),
                  "%s, frame %u, %ux%u: pixel %u, %u of %s is %d", model->name, frame, mask->width,
                  mask->height, x, y, value == SHADOW ? "the shadows" : "the mask", bit);
    }
}

static void
check_model (Model *model, const CclParams *params, const CclImage *image, const Expected *expected,
             unsigned frame)
{
  size_t size = (size_t) expected->width * expected->height;
  CclComponents components;
  CclStatus status = ccl_analyzer_analyze (model->analyzer, image, params, &components);
  uint8_t *got;
  CclMask mask;

  if (!params_valid (&params->motion)) {
    fuzz_check (status == CCL_ERROR_INVALID, "%s, frame %u: status %d", model->name, frame,
                (int) status);
  } else {
    fuzz_check (status == CCL_OK && ccl_analyzer_mask (model->analyzer, &mask) == CCL_OK, "%s: %s",
                model->name, ccl_last_error ());
    check_bits (model, &mask, expected, FOREGROUND, frame);
    fuzz_check (ccl_analyzer_shadows (model->analyzer, &mask) == CCL_OK, "%s", ccl_last_error ());
    check_bits (model, &mask, expected, SHADOW, frame);
  }
  got = test_alloc (size);
  fuzz_check (ccl_analyzer_background (model->analyzer, got, expected->width) == CCL_OK, "%s",
              ccl_last_error ());
  fuzz_check (memcmp (got, expected->background, size) == 0, "%s, frame %u: the background differs",
              model->name, frame);
  free (got);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };
  CclMotionReference *reference;
  Model models[MOST_MODELS];
  CclMotionConfig motion;
  CclParams params;
  CclConfig config;
  Expected expected;
  unsigned n, n_frames;
  Frame frame;

  ccl_motion_config_init (&motion);
  ccl_config_init (&config, 1 + fuzz_below (&input, fuzz_one_in (&input, 4) ? 400 : 140),
                   1 + fuzz_below (&input, 20));
  config.backend = CCL_BACKEND_CPU;
  config.motion = &motion;
  config.mask = motion.shadows = true;
  motion.format = fuzz_one_in (&input, 2) ? CCL_MOTION_LUMA_420 : CCL_MOTION_LUMA;
  motion.scale = 1u << fuzz_below (&input, 3);
  config.threads = fuzz_one_in (&input, 6) ? 2 + fuzz_below (&input, 3) : 1;
  ccl_cpu_tuning.strip_pixels = 1 + fuzz_below (&input, 2000);
  n_frames = 1 + fuzz_below (&input, MOST_FRAMES);
  open_frame (&input, &frame, &config);
  expected = (Expected){
    .pixels = test_alloc ((size_t) config.width * config.height),
    .background = test_alloc ((size_t) config.width * config.height),
    .width = (config.width - 1) / motion.scale + 1,
    .height = (config.height - 1) / motion.scale + 1,
    .scale = motion.scale,
  };
  reference = ccl_motion_reference_new (&motion, config.width, config.height);
  fuzz_check (reference != NULL, "out of memory");
  n = open_models (&config, models);
  ccl_params_init (&params);

  for (unsigned i = 0; i < n_frames; i++) {
    params.elapsed = fuzz_one_in (&input, 6) ? fuzz_hostile_u64 (&input) : 40 * MILLISECOND;
    draw_frame (&input, &frame);
    if (fuzz_one_in (&input, 4))
      draw_params (&input, &params.motion);
    if (params_valid (&params.motion))
      ccl_motion_reference_apply (reference, &params, &frame.image, expected.pixels);
    ccl_motion_reference_background (reference, expected.background);
    for (unsigned k = 0; k < n; k++)
      check_model (&models[k], &params, &frame.image, &expected, i);
    if (fuzz_one_in (&input, 16)) {
      ccl_motion_reference_reset (reference);
      for (unsigned k = 0; k < n; k++)
        ccl_analyzer_reset (models[k].analyzer);
    }
  }
  for (unsigned k = 0; k < n; k++)
    ccl_analyzer_free (models[k].analyzer);
  ccl_motion_reference_free (reference);
  for (int i = 0; i < 3; i++)
    free (frame.planes[i]);
  free (expected.pixels);
  free (expected.background);
  return 0;
}
