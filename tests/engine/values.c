/* cudaccl - checkccl: bands of values, and classes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "engine/cpu/tuning.h"
#include "tests/lib/device.h"
#include "tests/reference/components.h"

#include <cudaccl/batch.h>
#include <cudaccl/mask.h>

#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof (array) / sizeof *(array))

static const int rounds[] = { 12, 12, 60, 200, 1000 };

/* A frame and its settings. */
typedef struct Frame
{
  CclConfig config;
  CclParams params;
  TestImage image; /* of bytes, two for each pixel of 16 bits */
  CclImage view;
  CclMask region; /* no words: none */
} Frame;

static bool
has_16_bits (const Frame *frame)
{
  return frame->view.format != CCL_FORMAT_BYTES;
}

static void
set_pixel (Frame *frame, size_t i, unsigned value)
{
  uint8_t *pixels = frame->image.pixels;
  const bool big = frame->view.format == CCL_FORMAT_GRAY16_BE;

  if (!has_16_bits (frame)) {
    pixels[i] = (uint8_t) value;
    return;
  }
  pixels[2 * i] = (uint8_t) (big ? value >> 8 : value);
  pixels[2 * i + 1] = (uint8_t) (big ? value : value >> 8);
}

/* A frame of @format with @n values, in squares of a random size. */
static Frame
make_frame (Check *check, CclFormat format, CclValues values, const uint16_t *numbers, uint32_t n)
{
  Mt19937 *rng = &check->rng;
  const uint32_t most = check->options.effort <= EFFORT_SMALL ? 280 : 400;
  const uint32_t width = 1 + mt19937_below (rng, most), height = 1 + mt19937_below (rng, 40);
  const uint32_t side = 1 + mt19937_below (rng, 9) * mt19937_below (rng, 2);
  const unsigned bytes = format == CCL_FORMAT_BYTES ? 1 : 2;
  Frame frame = { .image = test_image_new (width * bytes, height) };

  frame.view = test_image_view (&frame.image);
  frame.view.format = format;
  ccl_config_init (&frame.config, width, height);
  ccl_params_init (&frame.params);
  frame.config.values = values;
  frame.config.connectivity = mt19937_below (rng, 2) ? 4 : 8;
  frame.config.max_components = mt19937_below (rng, 4) ? width * height : 3;
  frame.config.second_order = mt19937_below (rng, 2);
  frame.config.labels = mt19937_below (rng, 2);
  frame.config.graphs = mt19937_below (rng, 2);
  frame.params.min_area = 1 + mt19937_below (rng, 3) / 2;
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++) {
      size_t i = (size_t) y * width + x;
      unsigned left = numbers[mt19937_below (rng, n)];

      if (x % side || y % side) {
        size_t j = (size_t) (y - y % side) * width + x - x % side;
        const uint8_t *pixel = frame.image.pixels + j * bytes;

        left = bytes == 1                       ? pixel[0]
               : format == CCL_FORMAT_GRAY16_BE ? pixel[0] * 256u + pixel[1]
                                                : pixel[1] * 256u + pixel[0];
      }
      set_pixel (&frame, i, left);
    }
  return frame;
}

/* Makes pixels outside of a random region background: in the frame's mask, and in the image. */
static void
limit_frame (Check *check, Frame *frame)
{
  const uint32_t width = frame->config.width, height = frame->config.height;

  if (ccl_mask_alloc (width, height, &frame->region) != CCL_OK)
    test_fatal ("out of memory for a region");
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++)
      if (mt19937_below (&check->rng, 8))
        frame->region.words[y * frame->region.pitch + x / 64] |= UINT64_C (1) << x % 64;
      else
        set_pixel (frame, (size_t) y * width + x, 0);
}

static void
clear_frame (Frame *frame)
{
  ccl_mask_free (&frame->region);
  test_image_clear (&frame->image);
}

/* Compares @image, which holds the frame, with the reference of the frame's own pixels. */
static void
check_values (Check *check, const Frame *frame, const CclConfig *config, const CclImage *image)
{
  const uint32_t width = config->width, height = config->height;
  uint32_t *expected_labels = test_alloc ((size_t) width * height * sizeof *expected_labels);
  CclComponents expected, got = { 0 };
  const uint16_t *values = NULL;
  CclAnalyzer *analyzer = NULL;
  CclLabels labels = { 0 };
  CclStatus status;
  uint32_t wrong = 0;

  if (ccl_reference_label (&frame->config, &frame->view, &frame->params, &expected,
                           expected_labels) != CCL_OK)
    test_fatal ("out of memory for the reference");
  status = ccl_analyzer_new (config, &analyzer);
  for (int again = 0; status == CCL_OK && again < 2; again++)
    status = ccl_analyzer_analyze (analyzer, image, &frame->params, &got);
  if (status == CCL_OK && config->labels)
    status = ccl_analyzer_labels (analyzer, &labels);
  if (status == CCL_OK && config->values == CCL_VALUES_EQUAL)
    status = ccl_analyzer_values (analyzer, &values);
  check->runs++;
  check_that (check, status == CCL_OK, "%s", ccl_last_error ());
  check_that (check, status != CCL_OK || components_equal (&got, &expected),
              "%s, %ux%u, format %d, values %d, %u-connectivity, %u threads: %u components, not %u",
              config->algorithm ? config->algorithm : "auto", width, height, (int) image->format,
              (int) config->values, config->connectivity, config->threads, got.found,
              expected.found);
  for (uint32_t y = 0; labels.data && y < height; y++)
    wrong += memcmp ((const char *) labels.data + y * labels.stride, expected_labels + y * width,
                     width * sizeof *expected_labels) != 0;
  check_that (check, wrong == 0, "%u rows of the label map are wrong", wrong);
  for (uint32_t i = 0; values && i < got.count; i++) {
    size_t at = (size_t) got.items[i].y * frame->image.width;
    const uint8_t *pixel = frame->image.pixels + at + got.items[i].first_x;
    unsigned value = *pixel;

    if (has_16_bits (frame)) {
      pixel += got.items[i].first_x;
      value = image->format != CCL_FORMAT_GRAY16_BE ? pixel[1] * 256u + pixel[0]
                                                    : pixel[0] * 256u + pixel[1];
    }
    check_that (check, values[i] == value, "component %u has value %u, not %u", i + 1, values[i],
                value);
  }
  ccl_analyzer_free (analyzer);
  ccl_reference_clear (&expected);
  free (expected_labels);
}

/* The frame on a CUDA device: bands with any algorithm, as they are cut before; classes with all
 * that have them. */
static void
check_device (Check *check, const Frame *frame, CclConfig *config, const CclImage *image)
{
  static const char *const names[] = { "tile", "flsl-cd", "flsl" };
  const char *wanted = check->options.algorithm;

  config->backend = CCL_BACKEND_CUDA;
  config->device = TEST_DEVICE;
  if (config->values != CCL_VALUES_EQUAL) {
    if (check_wants_backend (check, CCL_BACKEND_CUDA))
      check_values (check, frame, config, image);
    return;
  }
  for (size_t i = 0; i < COUNT (names) && test_device_available (); i++) {
    if (check->options.backend == CCL_BACKEND_CPU || (wanted && strcmp (wanted, names[i]) != 0) ||
        !check_has_algorithm (names[i]))
      continue;
    config->algorithm = names[i];
    check_values (check, frame, config, image);
  }
  config->algorithm = NULL;
}

/* The frame in all kinds of memory, on both backends. */
static void
check_backends (Check *check, const Frame *frame)
{
  for (int m = 0; m < CHECK_MEMORIES; m++) {
    const TestPlacement placement = { .padding = mt19937_below (&check->rng, 5),
                                      .slack = mt19937_below (&check->rng, 3),
                                      .fill = frame->image.pixels[0] };
    CclConfig config = frame->config;
    CclImage image;

    if (!test_arena_available ((CclMemory) m))
      continue;
    image = test_arena_place (&check->arenas[m], &frame->image, &placement);
    image.format = frame->view.format;
    config.region = frame->region.words ? &frame->region : NULL;
    check_device (check, frame, &config, &image);
    config.backend = CCL_BACKEND_CPU;
    config.device = -1;
    for (size_t i = 0; m != CCL_MEMORY_DEVICE && ccl_cpu_functions (i); i++) {
      if (!check_wants_backend (check, CCL_BACKEND_CPU))
        break;
      ccl_cpu_tuning.functions = ccl_cpu_functions (i);
      ccl_cpu_tuning.strip_pixels = mt19937_below (&check->rng, 2) ? 1 : 500;
      config.threads = 1 + mt19937_below (&check->rng, 3);
      check_values (check, frame, &config, &image);
    }
  }
}

static const CclFormat formats[] = { CCL_FORMAT_BYTES, CCL_FORMAT_GRAY16_LE, CCL_FORMAT_GRAY16_BE,
                                     CCL_FORMAT_GRAY10_LE };

/* Few values and many, small ones and those that differ in one byte only. */
static void
test_classes (Check *check)
{
  static const uint16_t numbers[] = { 0, 1, 2, 255, 256, 257, 512, 0x8001, 0xff00, 0xffff };
  const CclCpuTuning usual = ccl_cpu_tuning;

  for (int k = 0; k < rounds[check->options.effort]; k++) {
    CclFormat format = formats[(size_t) k % COUNT (formats)];
    uint32_t n = format == CCL_FORMAT_BYTES ? 4 : COUNT (numbers);
    Frame frame =
        make_frame (check, format, CCL_VALUES_EQUAL, numbers, 1 + mt19937_below (&check->rng, n));

    if (k % 5 == 4)
      limit_frame (check, &frame);
    check_backends (check, &frame);
    clear_frame (&frame);
  }
  ccl_cpu_tuning = usual;
}

/* The limits of a band: inside the range, outside of it, and none. */
static void
draw_band (Check *check, CclFormat format, CclParams *params)
{
  static const uint16_t edges[] = { 0, 1, 127, 254, 255, 256, 300, 65535 };
  const uint32_t most = format == CCL_FORMAT_BYTES ? 256 : 65536;

  params->low = (uint16_t) mt19937_below (&check->rng, most);
  params->high = (uint16_t) (params->low + mt19937_below (&check->rng, most - params->low));
  if (mt19937_below (&check->rng, 2))
    params->low = edges[mt19937_below (&check->rng, COUNT (edges))];
  if (mt19937_below (&check->rng, 2))
    params->high = edges[mt19937_below (&check->rng, COUNT (edges))];
  params->invert = mt19937_below (&check->rng, 2);
}

/* Bytes on all algorithms; 16-bit samples become bytes before. */
static void
test_bands (Check *check)
{
  const CclCpuTuning usual = ccl_cpu_tuning;
  uint16_t numbers[64];

  for (int k = 0; k < rounds[check->options.effort]; k++) {
    const CclFormat format = formats[k % 4 ? (size_t) k % 3 + 1 : 0];
    Frame frame;

    for (size_t i = 0; i < COUNT (numbers); i++)
      numbers[i] = (uint16_t) mt19937_below (&check->rng, format == CCL_FORMAT_BYTES ? 256 : 65536);
    frame = make_frame (check, format, CCL_VALUES_BAND, numbers, COUNT (numbers));
    draw_band (check, format, &frame.params);
    if (format == CCL_FORMAT_BYTES) {
      Setup setup;

      setup_init (&setup);
      setup.params = frame.params;
      setup.values = CCL_VALUES_BAND;
      setup.labels = frame.config.labels;
      setup.shapes = k % 8 ? 0 : CCL_SHAPES_LUMA;
      check_frame (check, &frame.image, &setup);
    } else {
      check_backends (check, &frame);
    }
    clear_frame (&frame);
  }
  ccl_cpu_tuning = usual;
}

static void
test_value_errors (Check *check)
{
  static const CclMotionConfig motion = { CCL_MOTION_LUMA, 1, false };
  static const CclOperation median = { .kind = CCL_OPERATION_MEDIAN, .width = 3, .height = 3 };
  static const struct
  {
    const char *what;
    CclValues values;
    CclBackend backend;
    bool mask;
    unsigned shapes;
    const CclMotionConfig *motion;
    uint32_t n_operations;
    CclStatus status;
  } cases[] = {
    { "unknown", (CclValues) 3, CCL_BACKEND_CPU, .status = CCL_ERROR_INVALID },
    { "motion", CCL_VALUES_BAND, CCL_BACKEND_CPU, .motion = &motion, .status = CCL_ERROR_INVALID },
    { "a mask of classes", CCL_VALUES_EQUAL, CCL_BACKEND_CPU, .mask = true,
      .status = CCL_ERROR_UNSUPPORTED },
    { "shapes of classes", CCL_VALUES_EQUAL, CCL_BACKEND_CPU, .shapes = CCL_SHAPES_TOPOLOGY,
      .status = CCL_ERROR_UNSUPPORTED },
    { "cleaned classes", CCL_VALUES_EQUAL, CCL_BACKEND_CPU, .n_operations = 1,
      .status = CCL_ERROR_UNSUPPORTED },
    { "a mask of a band", CCL_VALUES_BAND, CCL_BACKEND_CPU, .mask = true, .status = CCL_OK },
  };
  uint64_t bits[2] = { 0 };
  CclImage image = { .data = (const uint8_t *) bits, .stride = 16, .format = CCL_FORMAT_BITS };
  CclComponents components;
  const uint16_t *values;
  CclAnalyzer *analyzer;
  CclBatch *batch;
  CclConfig config;
  CclParams params;

  if (!check_wants_backend (check, CCL_BACKEND_CPU))
    return;
  ccl_params_init (&params);
  for (size_t i = 0; i < COUNT (cases); i++) {
    ccl_config_init (&config, 8, 1);
    config.backend = cases[i].backend;
    config.values = cases[i].values;
    config.mask = cases[i].mask;
    config.shapes = cases[i].shapes;
    config.motion = cases[i].motion;
    config.operations = &median;
    config.n_operations = cases[i].n_operations;
    check_that (check, ccl_config_check (&config) == cases[i].status, "%s: %s", cases[i].what,
                ccl_last_error ());
    check->runs++;
  }
  ccl_config_init (&config, 65536, 32769);
  config.backend = CCL_BACKEND_CPU;
  config.values = CCL_VALUES_EQUAL;
  check_that (check, ccl_config_check (&config) == CCL_ERROR_UNSUPPORTED, "too many pixels");
  config.width = 8;
  config.height = 1;
  check_that (check, ccl_batch_new (&config, 2, &batch) == CCL_ERROR_UNSUPPORTED, "a batch");
  check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s", ccl_last_error ());
  check_that (check, ccl_analyzer_values (analyzer, &values) == CCL_ERROR_INVALID && !values,
              "values of no frame");
  check_that (
      check, ccl_analyzer_analyze (analyzer, &image, &params, &components) == CCL_ERROR_UNSUPPORTED,
      "classes in bits");
  image.format = CCL_FORMAT_GRAY16_LE;
  image.stride = 15;
  check_that (check,
              ccl_analyzer_analyze (analyzer, &image, &params, &components) == CCL_ERROR_INVALID,
              "a stride of half a pixel too few");
  ccl_analyzer_free (analyzer);
  config.values = CCL_VALUES_BAND;
  config.shapes = CCL_SHAPES_LUMA;
  image.stride = 16;
  check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s", ccl_last_error ());
  check_that (
      check, ccl_analyzer_analyze (analyzer, &image, &params, &components) == CCL_ERROR_UNSUPPORTED,
      "the luma of 16-bit samples");
  image.format = CCL_FORMAT_BYTES;
  check_that (check,
              ccl_analyzer_analyze (analyzer, &image, &params, &components) == CCL_OK &&
                  ccl_analyzer_values (analyzer, &values) == CCL_ERROR_INVALID,
              "values of a band");
  ccl_analyzer_free (analyzer);
}

const Test value_tests[] = {
  { "classes", test_classes },
  { "bands", test_bands },
  { "value-errors", test_value_errors },
  { NULL, NULL },
};
