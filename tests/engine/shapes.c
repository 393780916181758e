/* cudaccl - checkccl: shapes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The frame tests check that shapes are right, too. */

#include "tests/engine/checkccl.h"
#include "tests/lib/device.h"
#include "tests/lib/patterns.h"
#include "tests/reference/shapes.h"

#include <cudaccl/mask.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALL_SHAPES (CCL_SHAPES_TOPOLOGY | CCL_SHAPES_PERIMETER | CCL_SHAPES_LUMA)

/* Noise, blobs and patterns, grey, with all instruction sets, and limits that drop components. */
static void
test_shapes (Check *check)
{
  static const int rounds[] = { 3, 6, 40, 100, 600 };
  Mt19937 *rng = &check->rng;

  for (int k = 0; k < rounds[check->options.effort]; k++) {
    uint32_t most = check->options.effort <= EFFORT_SMALL ? 70 : 300;
    TestImage image = test_image_new (1 + mt19937_below (rng, most), 1 + mt19937_below (rng, 60));
    const CclCpuFunctions *functions = ccl_cpu_functions (0);
    CpuSetup cpu = { .strip_pixels = 1 };
    Setup setup;

    if (k % 4 == 3)
      test_pattern_draw (test_pattern ((size_t) k / 4), &image);
    else
      test_noise_draw (&image, mt19937_below (rng, 101) / 100.0, 1 + mt19937_below (rng, 6), rng);
    for (size_t i = 0; i < (size_t) image.width * image.height; i++)
      image.pixels[i] = (uint8_t) ((image.pixels[i] & 128) + mt19937_below (rng, 128));
    setup_init (&setup);
    setup.shapes = k % 3 ? ALL_SHAPES : 1 + mt19937_below (rng, ALL_SHAPES);
    setup.second_order = k % 2;
    setup.labels = k % 5 == 4;
    setup.max_components = k % 4 == 1 ? 5 : 0;
    setup.params.min_area = k % 4 == 2 ? 3 : 1;
    setup.params.invert = mt19937_below (rng, 2);
    check->cpu = &cpu;
    for (size_t i = 0; functions; functions = ccl_cpu_functions (++i)) {
      cpu.functions = functions;
      cpu.threads = mt19937_below (rng, 2) ? 1 : 3;
      check_frame (check, &image, &setup);
    }
    check->cpu = NULL;
    test_image_clear (&image);
  }
}

static bool
is_near (double value, double expected)
{
  return fabs (value - expected) < 1e-9;
}

/* Shapes that are known: a ring, a line, a diagonal and a rectangle. */
static void
test_known_shapes (Check *check)
{
  static const char *const rows[] = {
    "#####.......", "#...#.#....#", "#.#.#.#...#.", "#...#.#..#..",
    "#####.#.#...", "..........##", "..####....##", "..####......",
  };
  TestImage image = test_image_new (12, 8);
  CclImage view = test_image_view (&image);
  CclConfig config;
  CclParams params;
  CclAnalyzer *analyzer;
  CclComponents components = { 0 };
  const CclShape *shapes = NULL;
  CclEllipse e;

  for (int y = 0; y < 8; y++)
    for (int x = 0; x < 12; x++)
      image.pixels[12 * y + x] = rows[y][x] == '#' ? (uint8_t) (200 + x) : 0;
  ccl_params_init (&params);
  ccl_config_init (&config, 12, 8);
  config.backend = CCL_BACKEND_CPU;
  config.second_order = true;
  config.shapes = ALL_SHAPES;
  if (!check_that (check,
                   ccl_analyzer_new (&config, &analyzer) == CCL_OK &&
                       ccl_analyzer_analyze (analyzer, &view, &params, &components) == CCL_OK &&
                       ccl_analyzer_shapes (analyzer, &shapes) == CCL_OK && components.count == 6,
                   "%u components: %s", components.count, ccl_last_error ()))
    return;
  check->runs++;
  check_that (check, shapes[0].euler == 0 && shapes[0].edges == 20 + 12, "the ring: %lld, %llu",
              (long long) shapes[0].euler, (unsigned long long) shapes[0].edges);
  check_that (check, is_near (ccl_shape_perimeter (&shapes[0]), 16), "the ring: %g",
              ccl_shape_perimeter (&shapes[0]));
  check_that (check, shapes[0].luma_min == 200 && shapes[0].luma_max == 204, "the ring's range");
  check_that (check, is_near (ccl_shape_luma_mean (&shapes[0], &components.items[0]), 202),
              "the ring's mean");
  check_that (check,
              ccl_component_touches_border (&components.items[0], 12, 8) &&
                  !ccl_component_touches_border (&components.items[1], 12, 8) &&
                  ccl_component_touches_border (&components.items[2], 12, 8),
              "the border");
  ccl_component_ellipse (&components.items[0], &e);
  check_that (check, is_near (e.eccentricity, 0) && is_near (e.major, e.minor), "the ring's axes");
  ccl_component_ellipse (&components.items[1], &e);
  check_that (check, is_near (e.orientation, acos (-1) / 2) && is_near (e.eccentricity, 1),
              "the upright line: %g %g", e.orientation, e.eccentricity);
  check_that (check, is_near (e.minor, 0) && is_near (e.major, 4 * sqrt (1.25)), "its axes");
  ccl_component_ellipse (&components.items[2], &e);
  check_that (check, is_near (e.orientation, -acos (-1) / 4), "the diagonal: %g", e.orientation);
  check_that (check, is_near (ccl_component_extent (&components.items[2]), 0.25), "its extent");
  ccl_component_ellipse (&components.items[5], &e);
  check_that (check,
              is_near (e.orientation, 0) && is_near (e.major, 4 * sqrt (1.25)) &&
                  is_near (e.minor, 4 * 0.5),
              "the rectangle: %g, %g by %g", e.orientation, e.major, e.minor);
  ccl_analyzer_free (analyzer);
  test_image_clear (&image);
}

#define MOVING_FRAMES 4

/* The shapes of what moves, in cleaned masks: the luma is the frame's. */
static void
check_moving_shapes (Check *check, CclBackend backend)
{
  TestImage image = test_image_new (96, 64);
  CclImage view = test_image_view (&image);
  const CclOperation operation = { .kind = CCL_OPERATION_CLOSE, .width = 3, .height = 3 };
  CclMotionConfig motion;
  CclComponents components = { 0 };
  const CclShape *shapes = NULL;
  CclShape *expected = test_alloc (96 * 64 * sizeof *expected);
  CclConfig config;
  CclParams params;
  CclAnalyzer *analyzer;
  CclLabels labels;

  ccl_params_init (&params);
  ccl_motion_config_init (&motion);
  motion.format = CCL_MOTION_LUMA;
  ccl_config_init (&config, 96, 64);
  config.backend = backend;
  config.device = backend == CCL_BACKEND_CUDA ? TEST_DEVICE : -1;
  config.motion = &motion;
  config.operations = &operation;
  config.n_operations = 1;
  config.shapes = ALL_SHAPES;
  if (!check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s", ccl_last_error ()))
    return;
  memset (image.pixels, 60, 96 * 64);
  for (uint32_t i = 0; i < MOVING_FRAMES; i++) {
    for (uint32_t y = 20; i > 0 && y < 40; y++)
      for (uint32_t x = 30; x < 60; x++)
        image.pixels[96 * y + x] = (uint8_t) (150 + x + y + i);
    if (!check_that (check,
                     ccl_analyzer_analyze (analyzer, &view, &params, &components) == CCL_OK &&
                         ccl_analyzer_shapes (analyzer, &shapes) == CCL_OK &&
                         ccl_analyzer_labels (analyzer, &labels) == CCL_OK,
                     "%s", ccl_last_error ()))
      break;
    ccl_reference_shapes (&config, &view, labels.data, components.count, expected);
    check_that (check, (i == 0) == (components.count == 0), "frame %u: %u components", i,
                components.count);
    check_that (check, memcmp (shapes, expected, components.count * sizeof *shapes) == 0,
                "frame %u, backend %s: other shapes", i, ccl_backend_name (backend));
  }
  ccl_analyzer_free (analyzer);
  free (expected);
  test_image_clear (&image);
}

static void
test_moving_shapes (Check *check)
{
  if (check->options.backend != CCL_BACKEND_CUDA)
    check_moving_shapes (check, CCL_BACKEND_CPU);
  if (check->options.backend != CCL_BACKEND_CPU && test_device_available ())
    check_moving_shapes (check, CCL_BACKEND_CUDA);
  check->runs++;
}

/* Unsupported combinations. */
static void
test_shape_errors (Check *check)
{
  TestImage image = test_image_new (64, 2);
  uint64_t words[2] = { 0, 0 };
  CclImage view = test_image_view (&image);
  CclConfig config;
  CclParams params;
  CclAnalyzer *analyzer;
  CclComponents components;
  const CclShape *shapes;

  ccl_params_init (&params);
  ccl_config_init (&config, 64, 2);
  config.backend = CCL_BACKEND_CPU;
  config.shapes = ALL_SHAPES + 1;
  check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_ERROR_INVALID, "unknown shapes");
  config.shapes = 0;
  if (check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s", ccl_last_error ()))
    check_that (check, ccl_analyzer_shapes (analyzer, &shapes) == CCL_ERROR_INVALID && !shapes,
                "shapes that nobody asked for");
  ccl_analyzer_free (analyzer);
  config.shapes = ALL_SHAPES;
  if (!check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s", ccl_last_error ()))
    return;
  check_that (check, ccl_analyzer_shapes (analyzer, &shapes) == CCL_ERROR_INVALID && !shapes,
              "shapes of no frame");
  view = (CclImage){ .data = (const uint8_t *) words, .stride = 8, .format = CCL_FORMAT_BITS };
  check_that (check,
              ccl_analyzer_analyze (analyzer, &view, &params, &components) == CCL_ERROR_UNSUPPORTED,
              "the luma of bits");
  check_that (check, ccl_analyzer_shapes (analyzer, NULL) == CCL_ERROR_INVALID, "no shapes");
  ccl_analyzer_free (analyzer);
  test_image_clear (&image);
}

const Test shape_tests[] = {
  { "shapes", test_shapes },
  { "shapes-known", test_known_shapes },
  { "shapes-moving", test_moving_shapes },
  { "shape-errors", test_shape_errors },
  { NULL, NULL },
};
