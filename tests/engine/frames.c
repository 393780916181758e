/* cudaccl - checkccl: images of all sizes and shapes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/patterns.h"

#include <string.h>

typedef struct Size
{
  uint32_t width, height;
  Effort effort; /* the least effort that includes it */
} Size;

static double
draw_density (Mt19937 *rng)
{
  return mt19937_below (rng, 1001) / 1000.0;
}

/* Sets threshold, inversion and values at random. */
static void
randomize_values (Check *check, TestImage *image, Setup *setup)
{
  setup->params.threshold = (uint8_t) mt19937_below (&check->rng, 256);
  setup->params.invert = mt19937_below (&check->rng, 2);
  test_image_set_values (image, (TestValues) mt19937_below (&check->rng, TEST_VALUES_KINDS),
                         &setup->params, &check->rng);
}

/* Checks an image of 0 and 255, then clears it. @values: replaces its values first. */
static void
check_drawn (Check *check, TestImage *image, bool values, bool labels)
{
  Setup setup;

  setup_init (&setup);
  setup.labels = labels;
  if (values)
    randomize_values (check, image, &setup);
  check_frame (check, image, &setup);
  test_image_clear (image);
}

static void
check_noise (Check *check, uint32_t width, uint32_t height, double density, uint32_t granularity,
             bool values)
{
  TestImage image = test_image_new (width, height);
  bool labels = mt19937_below (&check->rng, 2);

  test_noise_draw (&image, density, granularity, &check->rng);
  check_drawn (check, &image, values, labels);
}

static void
check_pattern (Check *check, uint32_t width, uint32_t height, const TestPattern *pattern,
               bool values)
{
  TestImage image = test_image_new (width, height);

  test_pattern_draw (pattern, &image);
  check_drawn (check, &image, values, mt19937_below (&check->rng, 2));
}

/* All images of up to 3 x 3 pixels; every fifth for EFFORT_SMALL, every eleventh for EFFORT_TINY.
 */
static void
test_tiny (Check *check)
{
  uint32_t step = check->options.effort == EFFORT_TINY    ? 11
                  : check->options.effort == EFFORT_SMALL ? 5
                                                          : 1;

  for (uint32_t width = 1; width <= 3; width++) {
    for (uint32_t height = 1; height <= 3; height++) {
      TestImage image;
      Setup setup;

      if (width * height > 4 && check->options.effort <= EFFORT_SMALL)
        continue;
      image = test_image_new (width, height);
      setup_init (&setup);
      setup.labels = true;
      for (uint32_t bits = 0; bits < 1u << (width * height); bits += step) {
        for (uint32_t i = 0; i < width * height; i++)
          image.pixels[i] = bits >> i & 1 ? 255 : 0;
        check_frame (check, &image, &setup);
      }
      test_image_clear (&image);
    }
  }
}

/* All images of larger shapes, side by side on one frame with background between them: so each
 * is at another position relative to words and blocks. */
static void
test_exhaustive (Check *check)
{
  static const Size shapes[] = {
    { 3, 3, EFFORT_TINY },   { 4, 3, EFFORT_SMALL },  { 3, 4, EFFORT_QUICK },
    { 2, 6, EFFORT_QUICK },  { 6, 2, EFFORT_QUICK },  { 5, 3, EFFORT_NORMAL },
    { 3, 5, EFFORT_NORMAL }, { 4, 4, EFFORT_NORMAL }, { 8, 2, EFFORT_NORMAL },
    { 2, 8, EFFORT_NORMAL }, { 16, 1, EFFORT_FULL },  { 1, 16, EFFORT_FULL },
    { 6, 3, EFFORT_FULL },   { 3, 6, EFFORT_FULL },
  };

  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
    uint32_t w = shapes[k].width, h = shapes[k].height, bits = w * h;
    uint32_t columns = 1u << bits / 2, rows = 1u << (bits - bits / 2);
    TestImage image;
    Setup setup;

    if (check->options.effort < shapes[k].effort)
      continue;
    setup_init (&setup);
    setup.labels = true;
    setup.max_components = (columns * rows) * ((bits + 1) / 2);
    image = test_image_new (columns * (w + 1) - 1, rows * (h + 1) - 1);
    for (uint32_t y = 0; y < image.height; y++)
      for (uint32_t x = 0; x < image.width; x++)
        if (x % (w + 1) < w && y % (h + 1) < h)
          image.pixels[(size_t) y * image.width + x] =
              (y / (h + 1) * columns + x / (w + 1)) >> (y % (h + 1) * w + x % (w + 1)) & 1 ? 255
                                                                                           : 0;
    check_frame (check, &image, &setup);
    test_image_clear (&image);
  }
}

/* Widths and heights at, one below and one above the sizes of words, warps, blocks and tiles. */
static void
test_sizes (Check *check)
{
  static const uint32_t fewest[] = { 1, 31, 65 };
  static const uint32_t few[] = { 1, 2, 3, 15, 17, 31, 32, 33, 65 };
  static const uint32_t many[] = { 1,  2,  3,  5,  7,  8,   9,   15,  16,  17,  31, 32,
                                   33, 63, 64, 65, 95, 127, 128, 129, 255, 256, 257 };
  bool small = check->options.effort <= EFFORT_SMALL;
  bool tiny = check->options.effort == EFFORT_TINY;
  const uint32_t *sizes = tiny ? fewest : small ? few : many;
  size_t count = tiny    ? sizeof fewest / sizeof *fewest
                 : small ? sizeof few / sizeof *few
                         : sizeof many / sizeof *many;
  int rounds = check->options.effort == EFFORT_FULL     ? 8
               : check->options.effort == EFFORT_NORMAL ? 3
                                                        : 1;

  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < count; j++)
      for (int k = 0; k < rounds; k++)
        check_noise (check, sizes[i], sizes[j], draw_density (&check->rng),
                     1 + mt19937_below (&check->rng, k % 2 ? 16 : 3), k > 0);
}

static void
test_patterns (Check *check)
{
  static const Size sizes[] = {
    { 1, 1, EFFORT_QUICK },     { 2, 2, EFFORT_QUICK },      { 7, 5, EFFORT_QUICK },
    { 33, 34, EFFORT_QUICK },   { 64, 64, EFFORT_QUICK },    { 65, 18, EFFORT_TINY },
    { 127, 31, EFFORT_NORMAL }, { 130, 67, EFFORT_SMALL },   { 129, 127, EFFORT_QUICK },
    { 257, 40, EFFORT_NORMAL }, { 40, 257, EFFORT_NORMAL },  { 512, 256, EFFORT_NORMAL },
    { 641, 479, EFFORT_QUICK }, { 1920, 1080, EFFORT_FULL }, { 2049, 1025, EFFORT_FULL },
  };

  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const TestPattern *pattern;
    bool tiny = check->options.effort == EFFORT_TINY;

    if (check->options.effort < sizes[k].effort)
      continue;
    for (size_t i = tiny ? mt19937_below (&check->rng, 4) : 0; (pattern = test_pattern (i));
         i += tiny ? 4 : 1) {
      check_pattern (check, sizes[k].width, sizes[k].height, pattern, false);
      if (check->options.effort > EFFORT_SMALL)
        check_pattern (check, sizes[k].width, sizes[k].height, pattern, true);
    }
  }
}

/* The papers' images: density x granularity, and the percolation thresholds. */
static void
test_noise (Check *check)
{
  static const uint32_t granularities[] = { 1, 2, 3, 4, 7, 8, 16, 32 };
  static const double thresholds[] = { 0.593, 0.407 }; /* percolation for 4- and 8-connectivity */
  bool small = check->options.effort <= EFFORT_SMALL;
  bool tiny = check->options.effort == EFFORT_TINY;
  uint32_t most = small ? 120 : 500;
  int rounds = check->options.effort == EFFORT_FULL ? 5 : 1;

  for (int k = 0; k < rounds; k++) {
    for (size_t g = 0; g < sizeof granularities / sizeof *granularities; g += tiny    ? 6
                                                                              : small ? 3
                                                                                      : 1) {
      for (int d = 0; d <= 100; d += tiny ? 50 : small ? 20 : 10)
        check_noise (check, 1 + mt19937_below (&check->rng, most),
                     1 + mt19937_below (&check->rng, most), d / 100.0, granularities[g], d % 20);
      for (int d = 0; d < 2; d++)
        check_noise (check, most - mt19937_below (&check->rng, 64),
                     most - mt19937_below (&check->rng, 64), thresholds[d], granularities[g],
                     false);
    }
  }
}

/* 1...@most; small numbers are as likely as large ones. */
static uint32_t
draw_extent (Mt19937 *rng, uint32_t most)
{
  uint32_t bound = 1;

  while (bound < most && mt19937_below (rng, 12))
    bound *= 2;
  return 1 + mt19937_below (rng, bound < most ? bound : most);
}

/* A regular image with some pixels flipped, or noise, or both. */
static void
draw_anything (TestImage *image, Mt19937 *rng)
{
  static const double sprinkles[] = { 0, 0.001, 0.01, 0.1 };
  TestImage noise = test_image_new (image->width, image->height);
  uint32_t patterns = 0;

  while (test_pattern (patterns))
    patterns++;
  if (mt19937_below (rng, 2)) {
    test_pattern_draw (test_pattern (mt19937_below (rng, patterns)), image);
    test_noise_draw (&noise, sprinkles[mt19937_below (rng, 4)], 1 + mt19937_below (rng, 3), rng);
  } else {
    test_noise_draw (image, draw_density (rng), 1 + mt19937_below (rng, 20), rng);
    test_noise_draw (&noise, mt19937_below (rng, 3) ? 0 : draw_density (rng), 1, rng);
  }
  for (size_t i = 0; i < (size_t) image->width * image->height; i++)
    image->pixels[i] ^= noise.pixels[i];
  test_image_clear (&noise);
}

/* Random size, image, values, filters and capacity. */
static void
test_random (Check *check)
{
  static const int rounds[] = { 3, 20, 100, 500, 5000 };
  Mt19937 *rng = &check->rng;

  for (int k = 0; k < rounds[check->options.effort]; k++) {
    uint32_t most = check->options.effort <= EFFORT_SMALL ? 100 : 700;
    uint32_t width = draw_extent (rng, most), height = draw_extent (rng, most);
    TestImage image = test_image_new (width, height);
    Setup setup;

    /* The same for several frames, so that an analyzer is reused. */
    setup_init (&setup);
    setup.second_order = mt19937_below (rng, 4) == 0;
    setup.labels = mt19937_below (rng, 2);
    setup.shapes = mt19937_below (rng, 4) ? 0 : mt19937_below (rng, 8);
    setup.max_components = mt19937_below (rng, 3) ? 0 : draw_extent (rng, 300);
    for (int i = 0; i < 4; i++) {
      setup.params.min_area = mt19937_below (rng, 3) ? 1 : mt19937_below (rng, 10);
      setup.params.max_area = mt19937_below (rng, 3) ? UINT64_MAX : draw_extent (rng, 2000);
      draw_anything (&image, rng);
      randomize_values (check, &image, &setup);
      check_frame (check, &image, &setup);
    }
    test_image_clear (&image);
  }
}

/* Frames that are very wide or very tall. */
static void
test_extremes (Check *check)
{
  static const Size sizes[] = {
    { 4099, 2, EFFORT_TINY },     { 2, 4099, EFFORT_TINY },     { 16641, 2, EFFORT_SMALL },
    { 2, 16417, EFFORT_SMALL },   { 65536, 3, EFFORT_QUICK },   { 3, 65536, EFFORT_QUICK },
    { 65535, 2, EFFORT_NORMAL },  { 2, 65535, EFFORT_NORMAL },  { 65537, 5, EFFORT_NORMAL },
    { 5, 65537, EFFORT_NORMAL },  { 100003, 1, EFFORT_NORMAL }, { 1, 100003, EFFORT_NORMAL },
    { 1000003, 1, EFFORT_FULL },  { 1, 1000003, EFFORT_FULL },  { 65536, 33, EFFORT_NORMAL },
    { 33, 65536, EFFORT_NORMAL }, { 100003, 41, EFFORT_FULL },  { 41, 100003, EFFORT_FULL },
  };
  static const char *const names[] = { "full",      "checkerboard-even", "comb-up",
                                       "comb-left", "snake-horizontal",  "us",
                                       "stairs" };

  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    uint32_t width = sizes[k].width, height = sizes[k].height;

    if (check->options.effort < sizes[k].effort)
      continue;
    if (check->options.effort == EFFORT_TINY) {
      check_noise (check, width, height, 0.6, 1, false);
      continue;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      check_pattern (check, width, height, test_pattern_find (names[i]), i % 2);
    check_noise (check, width, height, 0.5, 1, false);
    check_noise (check, width, height, 0.6, 1, true);
    check_noise (check, width, height, 0.9, 7, true);
  }
}

/* Images large enough for the highest tiles on a device of up to 136 multiprocessors, mostly
 * without a label map, since tiles then skip labels. */
static void
check_high_tiles (Check *check)
{
  static const struct
  {
    double density; /* 0: the pattern tile-sides */
    uint32_t granularity;
    bool values, labels;
  } images[] = { { 0, 0, false, false },
                 { 0, 0, false, true },
                 { 0.55, 1, true, false },
                 { 0.6, 5, false, false } };

  for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
    TestImage image = test_image_new (4350, 2045);

    if (images[i].density > 0)
      test_noise_draw (&image, images[i].density, images[i].granularity, &check->rng);
    else
      test_pattern_draw (test_pattern_find ("tile-sides"), &image);
    check_drawn (check, &image, images[i].values, images[i].labels);
  }
}

/* Several megapixels. */
static void
test_large (Check *check)
{
  static const Size sizes[] = {
    { 1920, 1080, EFFORT_QUICK }, { 2048, 2048, EFFORT_NORMAL }, { 3001, 1999, EFFORT_NORMAL },
    { 4096, 4096, EFFORT_FULL },  { 8192, 8192, EFFORT_FULL },   { 16384, 1031, EFFORT_FULL },
  };
  static const char *const names[] = { "full",           "spiral",  "comb-up",
                                       "snake-vertical", "hilbert", "tree-down" };

  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    uint32_t width = sizes[k].width, height = sizes[k].height;

    if (check->options.effort < sizes[k].effort)
      continue;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      check_pattern (check, width, height, test_pattern_find (names[i]), false);
    check_noise (check, width, height, 0.407, 1, true);
    check_noise (check, width, height, 0.593, 1, false);
    check_noise (check, width, height, draw_density (&check->rng), 4, false);
    check_noise (check, width, height, 0.9, 16, false);
  }
  if (check->options.effort >= EFFORT_QUICK)
    check_high_tiles (check);
}

/* One component that fills the frame. */
static void
check_huge (Check *check, const CclAlgorithm *algorithm, unsigned connectivity,
            const TestImage *image)
{
  uint64_t width = image->width, height = image->height;
  CclComponent expected = {
    .area = width * height,
    .sum_x = width * (width - 1) / 2 * height,
    .sum_y = height * (height - 1) / 2 * width,
    .label = 1,
    .width = image->width,
    .height = image->height,
  };
  CclComponents want = { &expected, 1, 1 }, got = { 0 };
  CclImage view = test_image_view (image);
  CclAnalyzer *analyzer = NULL;
  CclConfig config;
  CclParams params;
  CclStatus status;

  ccl_config_init (&config, image->width, image->height);
  ccl_params_init (&params);
  config.connectivity = connectivity;
  config.backend = algorithm->backend;
  config.algorithm = algorithm->name;
  status = ccl_analyzer_new (&config, &analyzer);
  if (status == CCL_ERROR_NO_MEMORY) {
    printf ("\n  not tested: %s, %u x %u: %s\n", algorithm->name, image->width, image->height,
            ccl_last_error ());
    return;
  }
  if (status == CCL_OK)
    status = ccl_analyzer_analyze (analyzer, &view, &params, &got);
  check->runs++;
  check_that (check, status == CCL_OK && components_equal (&got, &want),
              "%s, %u-connectivity: a full frame of %u x %u: status %d, %u found, area %llu",
              algorithm->name, connectivity, image->width, image->height, status, got.found,
              got.count ? (unsigned long long) got.items->area : 0);
  ccl_analyzer_free (analyzer);
}

/* The maximum number of pixels, and just above 2^31. The reference would need too much memory;
 * the result is known. */
static void
test_huge (Check *check)
{
  static const Size sizes[] = { { 32768, 65537, EFFORT_FULL }, { 65535, 65537, EFFORT_FULL } };

  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    const CclAlgorithm *algorithm;
    TestImage image;

    if (check->options.effort < sizes[k].effort)
      continue;
    image = test_image_new (sizes[k].width, sizes[k].height);
    memset (image.pixels, 255, (size_t) image.width * image.height);
    for (size_t i = 0; (algorithm = ccl_algorithm (i)); i++)
      for (unsigned connectivity = 4; connectivity <= 8; connectivity += 4)
        if (check_wants (check, algorithm, connectivity))
          check_huge (check, algorithm, connectivity, &image);
    test_image_clear (&image);
  }
}

const Test frame_tests[] = {
  { "tiny", test_tiny },   { "exhaustive", test_exhaustive },
  { "sizes", test_sizes }, { "patterns", test_patterns },
  { "noise", test_noise }, { "extremes", test_extremes },
  { "large", test_large }, { "random", test_random },
  { "huge", test_huge },   { NULL, NULL },
};
