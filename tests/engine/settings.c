/* cudaccl - checkccl: thresholds, strides, filters, capacity, second-order sums
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/patterns.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

static TestImage
draw_noise (Check *check, uint32_t width, uint32_t height, double density, uint32_t granularity)
{
  TestImage image = test_image_new (width, height);

  test_noise_draw (&image, density, granularity, &check->rng);
  return image;
}

static TestImage
draw_pattern (const char *name, uint32_t width, uint32_t height)
{
  TestImage image = test_image_new (width, height);

  test_pattern_draw (test_pattern_find (name), &image);
  return image;
}

/* Every threshold, on values of every kind. */
static void
test_thresholds (Check *check)
{
  static const uint8_t shadow[] = { 0, 127, 255 };
  TestImage any = test_image_new (61, 37), marks = test_image_new (64, 29);
  /* 0 and 255 are among them. */
  unsigned step = check->options.effort == EFFORT_TINY    ? 255
                  : check->options.effort == EFFORT_SMALL ? 51
                                                          : 1;
  Setup setup;

  setup_init (&setup);
  for (uint32_t i = 0; i < any.width * any.height; i++)
    any.pixels[i] = (uint8_t) mt19937_next (&check->rng);
  for (uint32_t i = 0; i < marks.width * marks.height; i++)
    marks.pixels[i] = shadow[mt19937_below (&check->rng, 3)];
  for (unsigned threshold = 0; threshold < 256; threshold += step) {
    for (int invert = 0; invert < 2; invert++) {
      setup.params.threshold = (uint8_t) threshold;
      setup.params.invert = invert;
      check_frame (check, &any, &setup);
      check_frame (check, &marks, &setup);
    }
  }
  test_image_clear (&any);
  test_image_clear (&marks);
}

/* The content of the padding must not matter, nor the frame's alignment. */
static void
test_strides (Check *check)
{
  static const uint32_t widths[] = { 1, 7, 16, 31, 32, 33, 64, 100, 255, 513 };
  static const size_t paddings[] = { 0, 1, 2, 3, 4, 7, 13, 16, 31, 64, 65, 1000, 4096 };
  bool small = check->options.effort <= EFFORT_SMALL, tiny = check->options.effort == EFFORT_TINY;

  for (size_t i = 0; i < COUNT (widths); i += tiny ? 7 : small ? 4 : 1) {
    TestImage image = draw_noise (check, widths[i], 35, 0.55, 1 + i % 3);
    Setup setup;

    setup_init (&setup);
    setup.labels = i % 2;
    for (size_t k = 0; k < COUNT (paddings); k += tiny ? 6 : small ? 4 : 1) {
      TestPlacement placement = { .padding = paddings[k], .fill = 255 };

      check_frame_placed (check, &image, &setup, &placement);
      placement.slack = TEST_SLACK_FRONT;
      check_frame_placed (check, &image, &setup, &placement);
      for (placement.slack = 1; placement.slack <= 17; placement.slack += small ? 16 : 1)
        check_frame_placed (check, &image, &setup, &placement);
    }
    test_image_clear (&image);
  }
}

/* Device memory that becomes ready on a stream; other memory as usual. */
static void
test_late (Check *check)
{
  TestPlacement placement = { .fill = 255, .late = true };
  Setup setup;

  setup_init (&setup);
  for (int i = 0; i < (check->options.effort == EFFORT_TINY ? 1 : 10); i++) {
    TestImage image = draw_noise (check, 333, 222, 0.5, 1 + i % 4);

    check_frame_placed (check, &image, &setup, &placement);
    test_image_clear (&image);
  }
}

static void
test_areas (Check *check)
{
  static const uint64_t limits[] = { 0, 1, 2, 3, 4, 8, 9, 100, 2000, UINT32_MAX, UINT64_MAX };
  TestImage images[] = {
    draw_noise (check, 190, 131, 0.45, 1),
    draw_noise (check, 190, 131, 0.45, 4),
    draw_pattern ("squares", 190, 131),
    draw_pattern ("full", 190, 131),
  };
  size_t step = check->options.effort == EFFORT_TINY    ? 5
                : check->options.effort == EFFORT_SMALL ? 3
                                                        : 1;
  Setup setup;

  setup_init (&setup);
  for (size_t i = 0; i < COUNT (images); i++) {
    for (size_t lower = 0; lower < COUNT (limits); lower += step) {
      for (size_t upper = 0; upper < COUNT (limits); upper += step) {
        setup.params.min_area = limits[lower];
        setup.params.max_area = limits[upper];
        /* With a label map, other code may run. */
        setup.labels = (lower + upper) % 2;
        check_frame (check, &images[i], &setup);
      }
    }
    setup.params.min_area = setup.params.max_area = (uint64_t) images[i].width * images[i].height;
    check_frame (check, &images[i], &setup);
    test_image_clear (&images[i]);
  }
}

/* More components than fit: the largest are kept, of equal ones the first. */
static void
test_truncation (Check *check)
{
  static const uint32_t capacities[] = { 1, 2, 3, 4, 5, 7, 16, 31, 33, 100, 1000 };
  TestImage images[] = {
    draw_pattern ("dots", 101, 67), /* all equal */
    draw_pattern ("squares", 101, 67),     draw_pattern ("diagonals-down", 101, 67),
    draw_pattern ("tree-down", 301, 20),   draw_noise (check, 200, 150, 0.3, 1),
    draw_noise (check, 200, 150, 0.45, 2), draw_noise (check, 400, 300, 0.3, 5),
  };

  size_t step = check->options.effort == EFFORT_TINY    ? 13
                : check->options.effort == EFFORT_SMALL ? 6
                                                        : 1;

  for (size_t i = 0; i < COUNT (images); i++) {
    Setup setup;

    setup_init (&setup);
    for (size_t k = i % step; k < COUNT (capacities) + 6; k += step) {
      if (k < COUNT (capacities)) {
        setup.max_components = capacities[k];
      } else {
        uint32_t extra = (uint32_t) (k - COUNT (capacities));

        /* One fewer than there are, as many, and one more. */
        setup.max_components = count_components (&images[i], extra < 3 ? 4 : 8) + extra % 3 - 1;
        if (setup.max_components == 0)
          continue;
      }
      setup.labels = k / step % 2;
      setup.params.min_area = 1;
      check_frame (check, &images[i], &setup);
      setup.params.min_area = 3;
      setup.params.max_area = 40;
      check_frame (check, &images[i], &setup);
      setup.params.max_area = UINT64_MAX;
    }
    test_image_clear (&images[i]);
  }
}

static void
test_second_order (Check *check)
{
  static const uint32_t sizes[][2] = {
    { 1, 1 },     { 33, 17 },   { 200, 151 },  { 641, 479 },
    { 65537, 3 }, { 3, 65537 }, { 300001, 1 }, { 1, 300001 },
  };
  size_t count = check->options.effort == EFFORT_TINY    ? 2
                 : check->options.effort == EFFORT_SMALL ? 3
                                                         : COUNT (sizes);
  Setup setup;

  setup_init (&setup);
  setup.second_order = true;
  for (size_t i = 0; i < count; i++) {
    uint32_t width = sizes[i][0], height = sizes[i][1];
    TestImage images[] = {
      draw_noise (check, width, height, 0.6, 1), draw_noise (check, width, height, 0.4, 5),
      draw_pattern ("full", width, height),      draw_pattern ("spiral", width, height),
      draw_pattern ("comb-up", width, height),
    };

    for (size_t k = 0; k < COUNT (images); k++) {
      setup.max_components = 0;
      setup.params.min_area = 1;
      check_frame (check, &images[k], &setup);
      setup.max_components = 5;
      setup.params.min_area = 2;
      check_frame (check, &images[k], &setup);
      test_image_clear (&images[k]);
    }
  }
}

const Test setting_tests[] = {
  { "thresholds", test_thresholds },
  { "strides", test_strides },
  { "late", test_late },
  { "areas", test_areas },
  { "truncation", test_truncation },
  { "second-order", test_second_order },
  { NULL, NULL },
};
