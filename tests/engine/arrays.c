/* cudaccl - checkccl: frames in CUDA arrays
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/device.h"
#include "tests/lib/patterns.h"

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* One analyzer reads two arrays and linear memory. */
static void
run_arrays (Check *check, const Case *c, uint32_t width, uint32_t height)
{
  TestImage image = test_image_new (width, height);
  Case one = *c;
  CclConfig config;
  CclAnalyzer *analyzer;

  one.image = &image;
  config = case_config (&one);
  if (!check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s: %s",
                   c->algorithm->name, ccl_last_error ()))
    analyzer = NULL;
  for (int i = 0; analyzer && i < 3; i++) {
    CclComponents got = { 0 };
    CclImage placed = { .memory = CCL_MEMORY_ARRAY };
    void *array = NULL;
    CclStatus status;

    test_noise_draw (&image, 0.55, 1 + (uint32_t) i, &check->rng);
    if (i < 2)
      placed.data = array = test_device_array_new (image.pixels, width, width, height);
    else
      placed = test_arena_place (&check->arenas[CCL_MEMORY_DEVICE], &image, &one.placement);
    status = ccl_analyzer_analyze (analyzer, &placed, &one.setup.params, &got);
    if (array)
      test_device_array_free (array);
    check_result (check, &one, status, &got, NULL);
  }
  ccl_analyzer_free (analyzer);
  test_image_clear (&image);
}

static void
test_arrays (Check *check)
{
  static const uint32_t sizes[][2] = { { 1, 1 }, { 33, 1 }, { 1, 17 }, { 129, 65 }, { 640, 363 } };
  Case c = { .memory = CCL_MEMORY_DEVICE };

  setup_init (&c.setup);
  for (size_t i = 0; test_device_available () && (c.algorithm = ccl_algorithm (i)); i++) {
    if (c.algorithm->backend != CCL_BACKEND_CUDA)
      continue;
    for (c.connectivity = 4; c.connectivity <= 8; c.connectivity += 4)
      for (size_t k = 0; k < COUNT (sizes); k++)
        if (check_wants (check, c.algorithm, c.connectivity))
          run_arrays (check, &c, sizes[k][0], sizes[k][1]);
  }
}

const Test array_tests[] = {
  { "arrays", test_arrays },
  { NULL, NULL },
};
