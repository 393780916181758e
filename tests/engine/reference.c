/* cudaccl - checkccl: the reference against a flood fill and by hand
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/patterns.h"

#include "tests/reference/components.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

const Test reference_tests[] = {
  { "reference", test_reference },
  { "reference-selection", test_reference_selection },
  { NULL, NULL },
};
