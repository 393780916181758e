/* cudaccl - checkccl: counts of feature updates
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/patterns.h"

#include "tests/reference/components.h"

#include <string.h>

/* Algorithms that update once per segment of a run, cut at multiples of @length, as counted in
 * section 4.1 of Lemaitre 2021. The others' counts depend on the order of threads. */
static const struct Known
{
  const char *algorithm;
  uint32_t length;
} known[] = {
  { "naive", 1 },
  { "ha4-32", 32 },
  { "ha4", 64 },
  { "flsl", UINT32_MAX },
};

/* The number of segments of the image's runs, cut at every multiple of @length. */
static uint64_t
count_segments (const TestImage *image, uint32_t length)
{
  uint64_t segments = 0;

  for (uint32_t y = 0; y < image->height; y++) {
    const uint8_t *row = image->pixels + (size_t) y * image->width;

    for (uint32_t x = 0; x < image->width; x++)
      segments += row[x] && (x % length == 0 || !row[x - 1]);
  }
  return segments;
}

static void
compare_updates (Check *check, const Case *c, uint32_t found, const CclUpdates *got)
{
  const char *name = c->algorithm->name;

  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp (name, known[i].algorithm) == 0) {
      uint64_t expected = count_segments (c->image, known[i].length);

      check_that (check, got->count == expected, "%s: %llu updates instead of %llu", name,
                  (unsigned long long) got->count, (unsigned long long) expected);
    }
  }
  check_that (check, got->count >= found, "%s: %llu updates for %u components", name,
              (unsigned long long) got->count, found);
  check_that (check, got->count == 0 || (got->conflicts >= 1 && got->conflicts <= got->count),
              "%s: %g conflicts of %llu updates", name, got->conflicts,
              (unsigned long long) got->count);
}

static void
check_updates (Check *check, const Case *c)
{
  CclConfig config = case_config (c);
  CclImage view = test_image_view (c->image);
  CclAnalyzer *analyzer = NULL;
  CclComponents got;
  CclUpdates updates;
  CclStatus status;

  config.updates = true;
  status = ccl_analyzer_new (&config, &analyzer);
  if (c->algorithm->backend == CCL_BACKEND_CPU) {
    check_that (check, status == CCL_ERROR_UNSUPPORTED, "%s counts updates", c->algorithm->name);
    return;
  }
  if (!check_that (check, status == CCL_OK, "%s: %s", c->algorithm->name, ccl_last_error ()))
    return;
  /* Twice: the second frame must not count the first one's. */
  for (int i = 0; i < 2; i++) {
    status = ccl_analyzer_analyze (analyzer, &view, &c->setup.params, &got);
    if (!check_result (check, c, status, &got, NULL))
      break;
    check_that (check, ccl_analyzer_updates (analyzer, &updates) == CCL_OK, "%s: %s",
                c->algorithm->name, ccl_last_error ());
    compare_updates (check, c, got.found, &updates);
  }
  ccl_analyzer_free (analyzer);
}

static void
test_updates (Check *check)
{
  static const uint32_t sizes[][2] = { { 1, 1 }, { 64, 9 }, { 333, 70 } };
  Case c = { 0 };

  setup_init (&c.setup);
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    TestImage image = test_image_new (sizes[s][0], sizes[s][1]);

    c.image = &image;
    for (int density = 0; density <= 10; density += 5) {
      test_noise_draw (&image, density / 10.0, 3, &check->rng);
      for (size_t i = 0; (c.algorithm = ccl_algorithm (i)); i++)
        for (c.connectivity = 4; c.connectivity <= 8; c.connectivity += 4)
          if (check_wants (check, c.algorithm, c.connectivity))
            check_updates (check, &c);
    }
    test_image_clear (&image);
  }
}

const Test update_tests[] = {
  { "updates", test_updates },
  { NULL, NULL },
};
