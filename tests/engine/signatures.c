/* cudaccl - checkccl: colour signatures
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/device.h"
#include "tests/reference/signature.h"

#include <stdlib.h>
#include <string.h>

#define MOST_BOXES 1100 /* more than a device takes at a time */

/* A frame with chroma: in two planes, or alternating, either of the two first; rows of the second
 * may be further apart than those of the first. */
typedef struct Frame
{
  TestImage planes[3];
  CclImage luma;
  CclChroma chroma;
} Frame;

/* Noise of any contrast, or all the same value. */
static void
fill (TestImage *image, Mt19937 *rng)
{
  const uint32_t reach = 1u << mt19937_below (rng, 9), low = mt19937_below (rng, 257 - reach);

  for (size_t i = 0; i < (size_t) image->width * image->height; i++)
    image->pixels[i] = (uint8_t) (low + mt19937_below (rng, reach));
}

static void
frame_init (Frame *frame, uint32_t width, uint32_t height, Mt19937 *rng)
{
  const uint32_t step = 1 + mt19937_below (rng, 2), half = (width + 1) / 2;
  const uint32_t swapped = mt19937_below (rng, 2), apart = 1 + (mt19937_below (rng, 4) == 0);

  frame->planes[0] = test_image_new (width, height);
  for (int i = 1; i < 3; i++)
    frame->planes[i] = test_image_new (half * step, (height + 1) / 2 * apart);
  for (int i = 0; i < 3; i++)
    fill (&frame->planes[i], rng);
  frame->luma = test_image_view (&frame->planes[0]);
  frame->chroma.step = step;
  for (int i = 0; i < 2; i++)
    frame->chroma.planes[i] = test_image_view (&frame->planes[1 + i]);
  if (step == 2) {
    frame->chroma.planes[1 - swapped] = frame->chroma.planes[swapped];
    frame->chroma.planes[1 - swapped].data++;
  }
  frame->chroma.planes[1].stride *= apart;
  frame->luma.chroma = &frame->chroma;
}

static void
frame_clear (Frame *frame)
{
  for (int i = 0; i < 3; i++)
    test_image_clear (&frame->planes[i]);
}

/* All of the frame, pixels in its corners, and others. */
static CclBox
draw_box (uint32_t width, uint32_t height, uint32_t i, Mt19937 *rng)
{
  CclBox box = { 0, 0, width, height };

  if (i == 1 || i == 2)
    box.width = box.height = 1;
  if (i == 2) {
    box.x = width - 1;
    box.y = height - 1;
  }
  if (i > 2) {
    box.x = mt19937_below (rng, width);
    box.y = mt19937_below (rng, height);
    box.width = 1 + mt19937_below (rng, width - box.x);
    box.height = 1 + mt19937_below (rng, height - box.y);
  }
  return box;
}

/* Which analyzers have signatures: those with a model of luma and chroma, of luma, and without. */
enum
{
  WITH_CHROMA,
  WITH_LUMA,
  WITHOUT_MODEL,
  MODELS
};

static bool
open (CclBackend backend, uint32_t width, uint32_t height, int model, CclUpload upload,
      CclAnalyzer **analyzer)
{
  CclMotionConfig motion;
  CclConfig config;

  ccl_motion_config_init (&motion);
  motion.format = model == WITH_CHROMA ? CCL_MOTION_LUMA_420 : CCL_MOTION_LUMA;
  ccl_config_init (&config, width, height);
  config.backend = backend;
  config.device = backend == CCL_BACKEND_CUDA ? TEST_DEVICE : -1;
  config.motion = model == WITHOUT_MODEL ? NULL : &motion;
  config.upload = upload;
  config.signatures = true;
  return ccl_analyzer_new (&config, analyzer) == CCL_OK;
}

/* @boxes: most of a call. */
static void
check_backend (Check *check, CclBackend backend, uint32_t boxes)
{
  Mt19937 *rng = &check->rng;
  const uint32_t width = 1 + mt19937_below (rng, 200), height = 1 + mt19937_below (rng, 200);
  const int model = (int) mt19937_below (rng, MODELS);
  const CclUpload upload = (CclUpload) mt19937_below (rng, CCL_UPLOAD_BITS + 1);
  CclSignature *found = test_alloc (MOST_BOXES * sizeof *found), expected;
  CclBox *box = test_alloc (MOST_BOXES * sizeof *box);
  CclAnalyzer *analyzer = NULL;
  CclComponents components;
  CclParams params;

  ccl_params_init (&params);
  if (check_that (check, open (backend, width, height, model, upload, &analyzer), "%s",
                  ccl_last_error ())) {
    for (uint32_t i = 0; i < 3; i++) {
      const uint32_t n = 1 + mt19937_below (rng, boxes);
      CclImage reference;
      Frame frame;
      bool ok;

      frame_init (&frame, width, height, rng);
      reference = frame.luma;
      if (model != WITH_CHROMA)
        reference.chroma = NULL;
      for (uint32_t k = 0; k < n; k++)
        box[k] = draw_box (width, height, k, rng);
      ok = check_that (check,
                       ccl_analyzer_analyze (analyzer, &frame.luma, &params, &components) ==
                               CCL_OK &&
                           ccl_analyzer_signatures (analyzer, box, n, found) == CCL_OK,
                       "%s", ccl_last_error ());
      for (uint32_t k = 0; ok && k < n; k++) {
        ccl_reference_signature (&reference, &box[k], NULL, &expected);
        ok = check_that (check, memcmp (&found[k], &expected, sizeof expected) == 0,
                         "%s, model %d, step %u, %u x %u, box %u, %u x %u at %u, %u: another one",
                         ccl_backend_name (backend), model, frame.chroma.step, width, height, k,
                         box[k].width, box[k].height, box[k].x, box[k].y);
      }
      frame_clear (&frame);
    }
  }
  ccl_analyzer_free (analyzer);
  free (found);
  free (box);
}

static void
test_signatures (Check *check)
{
  static const int rounds[] = { 2, 10, 60, 200, 1000 };

  for (int k = 0; k < rounds[check->options.effort]; k++) {
    const uint32_t boxes = k % 10 == 1 && check->options.effort > EFFORT_TINY ? MOST_BOXES : 20;

    if (check->options.backend != CCL_BACKEND_CUDA)
      check_backend (check, CCL_BACKEND_CPU, boxes);
    if (check->options.backend != CCL_BACKEND_CPU && test_device_available ())
      check_backend (check, CCL_BACKEND_CUDA, boxes);
  }
  check->runs++;
}

/* Of boxes without an analyzer, with masks. */
static void
test_signature_masks (Check *check)
{
  static const int rounds[] = { 20, 100, 500, 2000, 10000 };
  Mt19937 *rng = &check->rng;

  for (int k = 0; k < rounds[check->options.effort]; k++) {
    const uint32_t width = 1 + mt19937_below (rng, 150), height = 1 + mt19937_below (rng, 150);
    const CclBox box = draw_box (width, height, mt19937_below (rng, 6), rng);
    CclSignature found, expected;
    CclMask mask;
    Frame frame;

    frame_init (&frame, width, height, rng);
    if (mt19937_below (rng, 3) == 0)
      frame.luma.chroma = NULL;
    if (!check_that (check, ccl_mask_alloc (width, height, &mask) == CCL_OK, "no mask"))
      break;
    for (size_t i = 0; i < height * mask.pitch && k % 5 > 0; i++)
      mask.words[i] = (uint64_t) mt19937_next (rng) << 32 | mt19937_next (rng);
    check_that (check,
                ccl_signature (&frame.luma, width, height, &box, k % 3 ? &mask : NULL, &found) ==
                    CCL_OK,
                "%s", ccl_last_error ());
    ccl_reference_signature (&frame.luma, &box, k % 3 ? &mask : NULL, &expected);
    check_that (check, memcmp (&found, &expected, sizeof found) == 0,
                "%u x %u, %u x %u at %u, %u: another one", width, height, box.width, box.height,
                box.x, box.y);
    ccl_mask_free (&mask);
    frame_clear (&frame);
  }
  check->runs++;
}

/* Each histogram in a bin of its own: nothing in common; of a frame without chroma, luma counts. */
static void
test_signature_likeness (Check *check)
{
  CclSignature a = { 0 }, b = { 0 }, grey = { 0 };

  for (int half = 0; half < 2; half++) {
    a.halves[half].luma[3] = b.halves[half].luma[4] = grey.halves[half].luma[3] = 255;
    for (int k = 0; k < 2; k++)
      a.halves[half].chroma[k][1] = b.halves[half].chroma[k][2] = 255;
  }
  check_that (check, ccl_signature_likeness (&a, &a) == 1, "%g", ccl_signature_likeness (&a, &a));
  check_that (check, ccl_signature_likeness (&a, &b) == 0, "%g", ccl_signature_likeness (&a, &b));
  check_that (check,
              ccl_signature_likeness (&a, &grey) == 1 && ccl_signature_likeness (&grey, &b) == 0,
              "without chroma");
  b.halves[0] = a.halves[0];
  check_that (check, ccl_signature_likeness (&a, &b) == 0.5, "a half: %g",
              ccl_signature_likeness (&a, &b));
  for (int k = 0; k < 1000; k++) {
    for (size_t i = 0; i < sizeof a; i++) {
      ((uint8_t *) &a)[i] = (uint8_t) mt19937_next (&check->rng);
      ((uint8_t *) &b)[i] = (uint8_t) mt19937_next (&check->rng);
    }
    check_that (check,
                ccl_signature_likeness (&a, &b) == ccl_signature_likeness (&b, &a) &&
                    ccl_signature_likeness (&a, &b) >= 0 && ccl_signature_likeness (&a, &b) <= 1,
                "%g", ccl_signature_likeness (&a, &b));
  }
  check->runs++;
}

static void
check_analyzer_errors (Check *check, const CclImage *view)
{
  const CclBox good = { 1, 0, 63, 2 },
               bad[] = { { 0, 0, 0, 1 }, { 1, 0, 64, 1 }, { 0, 1, 1, 2 }, { UINT32_MAX, 0, 2, 1 } };
  uint64_t words[2] = { 0, 0 };
  const CclImage bits = { .data = (const uint8_t *) words, .stride = 8, .format = CCL_FORMAT_BITS };
  CclSignature found;
  CclAnalyzer *analyzer;
  CclComponents components;
  CclConfig config;
  CclParams params;

  ccl_params_init (&params);
  ccl_config_init (&config, 64, 2);
  config.backend = CCL_BACKEND_CPU;
  if (check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s", ccl_last_error ()))
    check_that (check,
                ccl_analyzer_analyze (analyzer, view, &params, &components) == CCL_OK &&
                    ccl_analyzer_signatures (analyzer, &good, 1, &found) == CCL_ERROR_INVALID,
                "signatures without CclConfig.signatures");
  ccl_analyzer_free (analyzer);
  config.signatures = true;
  config.values = CCL_VALUES_EQUAL;
  check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_ERROR_UNSUPPORTED, "of classes");
  config.values = CCL_VALUES_ABOVE;
  if (!check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s", ccl_last_error ()))
    return;
  check_that (check, ccl_analyzer_signatures (analyzer, &good, 1, &found) == CCL_ERROR_INVALID,
              "signatures of no frame");
  check_that (check,
              ccl_analyzer_analyze (analyzer, &bits, &params, &components) == CCL_ERROR_UNSUPPORTED,
              "signatures of bits");
  check_that (check, ccl_analyzer_analyze (analyzer, view, &params, &components) == CCL_OK, "%s",
              ccl_last_error ());
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    check_that (check,
                ccl_analyzer_signatures (analyzer, &bad[i], 1, &found) == CCL_ERROR_INVALID &&
                    ccl_signature (view, 64, 2, &bad[i], NULL, &found) == CCL_ERROR_INVALID,
                "box %zu", i);
  check_that (check,
              ccl_analyzer_signatures (analyzer, &good, 1, &found) == CCL_OK &&
                  ccl_analyzer_signatures (analyzer, NULL, 0, NULL) == CCL_OK &&
                  ccl_analyzer_signatures (analyzer, NULL, 1, &found) == CCL_ERROR_INVALID &&
                  ccl_analyzer_signatures (analyzer, &good, 1, NULL) == CCL_ERROR_INVALID &&
                  ccl_analyzer_signatures (NULL, &good, 1, &found) == CCL_ERROR_INVALID,
              "arguments");
  ccl_analyzer_free (analyzer);
}

/* Those of a frame are there until another one is taken, not until one is refused. */
static void
check_refused (Check *check, CclBackend backend, bool band)
{
  const CclBox box = { 0, 0, 64, 2 };
  uint8_t bytes[2][2 * 3 * 64];
  const CclImage rgb = { .data = bytes[0], .stride = 3 * 64, .format = CCL_FORMAT_RGB }, other = {
    .data = bytes[1], .stride = 3 * 64, .format = band ? CCL_FORMAT_GRAY16_LE : CCL_FORMAT_RGB
  };
  CclMotionConfig motion;
  CclSignature expected, found;
  CclAnalyzer *analyzer;
  CclComponents components;
  CclConfig config;
  CclParams params;

  for (size_t i = 0; i < 2 * sizeof bytes[0]; i++)
    bytes[i / sizeof bytes[0]][i % sizeof bytes[0]] = (uint8_t) mt19937_below (&check->rng, 256);
  ccl_params_init (&params);
  ccl_motion_config_init (&motion);
  ccl_config_init (&config, 64, 2);
  config.backend = backend;
  config.device = backend == CCL_BACKEND_CUDA ? TEST_DEVICE : -1;
  config.signatures = true;
  config.motion = band ? NULL : &motion;
  config.values = band ? CCL_VALUES_BAND : CCL_VALUES_ABOVE;
  if (!check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s", ccl_last_error ()))
    return;
  check_that (check,
              ccl_analyzer_analyze (analyzer, &rgb, &params, &components) == CCL_OK &&
                  ccl_analyzer_signatures (analyzer, &box, 1, &expected) == CCL_OK,
              "%s", ccl_last_error ());
  params.motion.learning_time = 0;
  check_that (check, ccl_analyzer_submit (analyzer, &other, &params) != CCL_OK, "band %d: taken",
              band);
  check_that (check,
              ccl_analyzer_signatures (analyzer, &box, 1, &found) == CCL_OK &&
                  memcmp (&found, &expected, sizeof expected) == 0,
              "%s, band %d: not those of the frame before", ccl_backend_name (backend), band);
  ccl_analyzer_free (analyzer);
}

static void
test_signature_errors (Check *check)
{
  TestImage image = test_image_new (64, 2);
  CclImage view = test_image_view (&image), other = view, device;
  CclChroma chroma = { { view, view }, 3 };
  const CclBox box = { 0, 0, 64, 2 };
  CclSignature found;
  CclMask mask;

  check_analyzer_errors (check, &view);
  for (int i = 0; i < 2; i++) {
    if (check->options.backend != CCL_BACKEND_CUDA)
      check_refused (check, CCL_BACKEND_CPU, i == 1);
    if (check->options.backend != CCL_BACKEND_CPU && test_device_available ())
      check_refused (check, CCL_BACKEND_CUDA, i == 1);
  }
  check_that (check,
              ccl_signature (NULL, 64, 2, &box, NULL, &found) == CCL_ERROR_INVALID &&
                  ccl_signature (&view, 64, 2, NULL, NULL, &found) == CCL_ERROR_INVALID &&
                  ccl_signature (&view, 64, 2, &box, NULL, NULL) == CCL_ERROR_INVALID,
              "NULL");
  check_that (check,
              ccl_signature (&view, 64, 2, &box, NULL, &found) == CCL_OK &&
                  ccl_signature_likeness (&found, &found) == 1 &&
                  ccl_signature_likeness (NULL, &found) == 0 &&
                  strstr (ccl_last_error (), "likeness") &&
                  ccl_signature_likeness (&found, NULL) == 0,
              "likeness to NULL: %s", ccl_last_error ());
  other.data = NULL;
  check_that (check,
              ccl_signature (&other, 64, 2, &box, NULL, &found) == CCL_ERROR_INVALID &&
                  strstr (ccl_last_error (), "pixels"),
              "no image: %s", ccl_last_error ());
  other = view;
  other.stride = 63;
  check_that (check, ccl_signature (&other, 64, 2, &box, NULL, &found) == CCL_ERROR_INVALID,
              "the stride");
  other = view;
  other.chroma = &chroma;
  check_that (check, ccl_signature (&other, 64, 2, &box, NULL, &found) == CCL_ERROR_INVALID,
              "the step of chroma");
  other = view;
  other.format = CCL_FORMAT_RGB;
  check_that (check, ccl_signature (&other, 64, 2, &box, NULL, &found) == CCL_ERROR_UNSUPPORTED,
              "colours");
  device = view;
  device.memory = CCL_MEMORY_DEVICE;
  check_that (check, ccl_signature (&device, 64, 2, &box, NULL, &found) == CCL_ERROR_UNSUPPORTED,
              "device memory");
  if (check_that (check, ccl_mask_alloc (63, 2, &mask) == CCL_OK, "no mask")) {
    check_that (check, ccl_signature (&view, 64, 2, &box, &mask, &found) == CCL_ERROR_INVALID,
                "a smaller mask");
    ccl_mask_free (&mask);
  }
  test_image_clear (&image);
  check->runs++;
}

const Test signature_tests[] = {
  { "signatures", test_signatures },
  { "signature-masks", test_signature_masks },
  { "signature-likeness", test_signature_likeness },
  { "signature-errors", test_signature_errors },
  { NULL, NULL },
};
