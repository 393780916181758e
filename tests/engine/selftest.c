/* cudaccl - checkccl: tests of the tests' own foundations
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/patterns.h"

#include "tests/reference/components.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void
test_mt19937 (Check *check)
{
  Mt19937 mt;
  uint32_t first, last = 0;

  mt19937_seed (&mt, 5489);
  first = last = mt19937_next (&mt);
  for (int i = 1; i < 10000; i++)
    last = mt19937_next (&mt);
  check_that (check, first == 3499211612u, "MT19937 begins with %u", first);
  /* Required of std::mt19937 by the C++ standard, [rand.predef]. */
  check_that (check, last == 4123659995u, "the 10000th number of MT19937 is %u", last);
}

static bool
wants (const TestImage *image, const CclParams *params, int64_t x, int64_t y)
{
  return x >= 0 && y >= 0 && x < image->width && y < image->height &&
         test_image_is_foreground (image, params, (uint32_t) x, (uint32_t) y);
}

/* The component that contains pixel @start, by flood fill; its pixels become background, and
 * @label in the map. */
static CclComponent
flood (TestImage *image, const CclParams *params, unsigned connectivity, uint32_t start,
       uint32_t *stack, uint32_t label, uint32_t *labels)
{
  CclComponent c = {
    .label = label, .x = UINT32_MAX, .y = start / image->width, .first_x = start % image->width
  };
  uint32_t right = 0, bottom = 0, depth = 1;
  uint8_t background = params->invert ? 255 : 0;

  stack[0] = start;
  image->pixels[start] = background;
  while (depth) {
    uint32_t i = stack[--depth], x = i % image->width, y = i / image->width;

    labels[i] = label;
    c.area++;
    c.sum_x += x;
    c.sum_y += y;
    c.sum_xx += (uint64_t) x * x;
    c.sum_yy += (uint64_t) y * y;
    c.sum_xy += (uint64_t) x * y;
    c.x = x < c.x ? x : c.x;
    right = x > right ? x : right;
    bottom = y > bottom ? y : bottom;
    for (int64_t dy = -1; dy <= 1; dy++) {
      for (int64_t dx = -1; dx <= 1; dx++) {
        if ((connectivity == 4 && dx != 0 && dy != 0) || !wants (image, params, x + dx, y + dy))
          continue;
        stack[depth] = (uint32_t) ((y + dy) * image->width + x + dx);
        image->pixels[stack[depth++]] = background;
      }
    }
  }
  c.width = right - c.x + 1;
  c.height = bottom - c.y + 1;
  return c;
}

/* Compares the reference with a flood fill. */
static void
compare_with_flood (Check *check, const TestImage *image, const CclParams *params,
                    unsigned connectivity)
{
  uint32_t pixels = image->width * image->height, found = 0, wrong = 0;
  uint32_t *stack = test_alloc (pixels * sizeof *stack);
  uint32_t *labels = test_alloc (pixels * sizeof *labels);
  uint32_t *flooded = test_alloc (pixels * sizeof *flooded);
  TestImage rest = test_image_copy (image);
  CclImage view = test_image_view (image);
  CclComponents components;
  CclConfig config;

  ccl_config_init (&config, image->width, image->height);
  config.connectivity = connectivity;
  config.max_components = pixels;
  config.second_order = true;
  if (ccl_reference_label (&config, &view, params, &components, labels) != CCL_OK)
    test_fatal ("out of memory for the reference");
  memset (flooded, 0, pixels * sizeof *flooded);
  for (uint32_t i = 0; i < pixels; i++) {
    CclComponent c;

    if (!test_image_is_foreground (&rest, params, i % image->width, i / image->width))
      continue;
    c = flood (&rest, params, connectivity, i, stack, ++found, flooded);
    wrong += found > components.count || memcmp (&components.items[found - 1], &c, sizeof c) != 0;
  }
  check_that (check, wrong == 0 && found == components.count && found == components.found,
              "the reference disagrees with a flood fill: %u x %u, %u-connectivity, %u components, "
              "%u expected, %u differ",
              image->width, image->height, connectivity, components.count, found, wrong);
  check_that (check, memcmp (labels, flooded, pixels * sizeof *labels) == 0,
              "the reference's label map is not that of a flood fill: %u x %u, %u-connectivity",
              image->width, image->height, connectivity);
  ccl_reference_clear (&components);
  test_image_clear (&rest);
  free (flooded);
  free (labels);
  free (stack);
}

static void
test_reference (Check *check)
{
  const TestPattern *pattern;
  CclParams params;

  ccl_params_init (&params);
  for (int k = 0; k < 300; k++) {
    TestImage image =
        test_image_new (1 + mt19937_below (&check->rng, 80), 1 + mt19937_below (&check->rng, 80));

    if (k < 200)
      test_noise_draw (&image, mt19937_below (&check->rng, 101) / 100.0,
                       1 + mt19937_below (&check->rng, 5), &check->rng);
    else if ((pattern = test_pattern ((size_t) k - 200)))
      test_pattern_draw (pattern, &image);
    params.invert = k % 3 == 0;
    compare_with_flood (check, &image, &params, 4);
    compare_with_flood (check, &image, &params, 8);
    test_image_clear (&image);
  }
}

/* The reference's filter and capacity, on a row of runs of known lengths. */
static void
test_reference_selection (Check *check)
{
  static const uint32_t lengths[] = { 2, 5, 1, 5, 3, 5, 4, 1 };
  static const struct
  {
    uint64_t min_area, max_area;
    uint32_t capacity, found, count;
    uint32_t areas[8];
  } cases[] = {
    { 1, UINT64_MAX, 8, 8, 8, { 2, 5, 1, 5, 3, 5, 4, 1 } },
    { 0, UINT64_MAX, 4, 8, 4, { 5, 5, 5, 4 } },
    { 1, UINT64_MAX, 2, 8, 2, { 5, 5 } },
    { 2, 4, 8, 3, 3, { 2, 3, 4 } },
    { 1, 4, 2, 5, 2, { 3, 4 } },
    { 1, 1, 1, 2, 1, { 1 } },
    { 6, UINT64_MAX, 8, 0, 0, { 0 } },
    { 4, 2, 8, 0, 0, { 0 } },
  };
  TestImage image = test_image_new (40, 1);
  CclImage view = test_image_view (&image);
  uint32_t x = 0, labels[40];

  for (size_t i = 0; i < 8; i++, x++)
    for (uint32_t k = 0; k < lengths[i]; k++)
      image.pixels[x++] = 255;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    CclComponents components;
    CclConfig config;
    CclParams params;
    uint64_t wrong = 0, labelled = 0;
    bool right;

    ccl_config_init (&config, image.width, image.height);
    ccl_params_init (&params);
    config.max_components = cases[i].capacity;
    params.min_area = cases[i].min_area;
    params.max_area = cases[i].max_area;
    if (ccl_reference_label (&config, &view, &params, &components, labels) != CCL_OK)
      test_fatal ("out of memory for the reference");
    right = components.found == cases[i].found && components.count == cases[i].count;
    for (uint32_t k = 0; right && k < components.count; k++)
      right = components.items[k].area == cases[i].areas[k] && components.items[k].label == k + 1 &&
              (k == 0 || components.items[k].x > components.items[k - 1].x);
    check_that (check, right, "the reference selects wrongly in case %zu", i);
    for (uint32_t k = 0; k < components.count; k++)
      for (uint32_t l = 0; l < components.items[k].area; l++)
        wrong += labels[components.items[k].x + l] != k + 1;
    for (uint32_t k = 0; k < 40; k++)
      labelled += labels[k] > 0;
    for (uint32_t k = 0; k < components.count; k++)
      labelled -= components.items[k].area;
    check_that (check, wrong == 0 && labelled == 0, "the reference labels wrongly in case %zu", i);
    ccl_reference_clear (&components);
  }
  test_image_clear (&image);
}

/* Patterns that are easily broken by mistake, with their number of components at 64 x 64. */
static void
test_pattern_counts (Check *check)
{
  static const struct
  {
    const char *name;
    uint32_t found4, found8;
  } expected[] = {
    { "combs-interlocked", 2, 2 }, { "spiral", 1, 1 },         { "spiral-mirrored", 1, 1 },
    { "rings", 16, 16 },           { "us", 13, 13 },           { "us-nested", 16, 16 },
    { "snake-horizontal", 1, 1 },  { "snake-vertical", 1, 1 }, { "snake-mirrored", 1, 1 },
    { "tree-down", 1, 1 },         { "tree-up", 1, 1 },        { "hilbert", 1, 1 },
    { "sierpinski", 1, 1 },        { "carpet", 1, 1 },         { "squares", 242, 1 },
    { "dots", 1024, 1024 },        { "stairs", 5, 5 },         { "checkerboard-odd", 2048, 1 },
  };

  for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
    TestImage image = test_image_new (64, 64);
    uint32_t found4, found8;

    test_pattern_draw (test_pattern_find (expected[i].name), &image);
    found4 = count_components (&image, 4);
    found8 = count_components (&image, 8);
    check_that (check, found4 == expected[i].found4 && found8 == expected[i].found8,
                "pattern %s has %u and %u components", expected[i].name, found4, found8);
    test_image_clear (&image);
  }
}

/* Noise has whole squares of the granularity, and about the density. */
static void
test_noise_squares (Check *check)
{
  TestImage image = test_image_new (701, 499);

  for (int d = 0; d <= 100; d += 25) {
    uint64_t set = 0, torn = 0;
    double share;

    test_noise_draw (&image, d / 100.0, 7, &check->rng);
    for (uint32_t y = 0; y < image.height; y++) {
      for (uint32_t x = 0; x < image.width; x++) {
        uint8_t value = image.pixels[y * image.width + x];

        set += value == 255;
        torn += value != image.pixels[y / 7 * 7 * image.width + x / 7 * 7];
      }
    }
    share = (double) set / (image.width * image.height);
    check_that (check, torn == 0, "noise of granularity 7 has torn squares");
    check_that (check,
                share > d / 100.0 - 0.05 && share < d / 100.0 + 0.05 && (d != 0 || set == 0) &&
                    (d != 100 || share == 1),
                "noise of density %d %% has %g", d, share);
  }
  test_image_clear (&image);
}

/* A failure to shrink: two foreground pixels in a row with one pixel between them. */
static bool
has_gap_of_one (const TestImage *image, void *data)
{
  (*(unsigned *) data)++;
  for (size_t y = 0; y < image->height; y++)
    for (size_t x = 2; x < image->width; x++)
      if (image->pixels[y * image->width + x] && image->pixels[y * image->width + x - 2])
        return true;
  return false;
}

static void
test_shrink (Check *check)
{
  static const uint8_t smallest[] = { 255, 0, 255 };
  TestImage image = test_image_new (150, 90), result;
  unsigned calls = 0;

  test_noise_draw (&image, 0.5, 1, &check->rng);
  result = shrink_image (&image, 0, has_gap_of_one, &calls, 30);
  check_that (check,
              result.width == 3 && result.height == 1 && memcmp (result.pixels, smallest, 3) == 0,
              "the shrinker ends at %u x %u", result.width, result.height);
  check_that (check, calls < 1000, "the shrinker needed %u tries", calls);
  test_image_clear (&result);
  test_image_clear (&image);
}

static void
test_pgm (Check *check)
{
  TestImage image = test_image_new (37, 11), back = { 0 };
  char path[] = "/tmp/checkccl-XXXXXX";
  int fd = mkstemp (path);
  bool ok = fd >= 0;

  test_noise_draw (&image, 0.5, 2, &check->rng);
  image.pixels[0] = '\n'; /* must not count as the header's end */
  ok = ok && test_image_write_pgm (&image, path) && test_image_read_pnm (path, &back);
  check_that (check,
              ok && back.width == image.width && back.height == image.height &&
                  memcmp (back.pixels, image.pixels, 37 * 11) == 0,
              "writing and reading a PGM file changes it");
  if (fd >= 0) {
    close (fd);
    unlink (path);
  }
  test_image_clear (&back);
  test_image_clear (&image);
}

const Test self_tests[] = {
  { "mt19937", test_mt19937 },
  { "reference", test_reference },
  { "reference-selection", test_reference_selection },
  { "pattern-counts", test_pattern_counts },
  { "noise-squares", test_noise_squares },
  { "shrink", test_shrink },
  { "pgm", test_pgm },
  { NULL, NULL },
};
