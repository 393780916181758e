/* cudaccl - checkccl: batches
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/device.h"
#include "tests/lib/patterns.h"

#include <cudaccl/batch.h>
#include "tests/reference/components.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES 7

/* A frame's result in a batch equals the reference's. */
static void
check_one (Check *check, const Case *c, CclBatch *batch, uint32_t index, const CclComponents *got)
{
  CclComponents expected = case_expected (c);
  uint32_t *labels = case_expected_labels (c);
  CclLabels map = { NULL, 0 };

  check->runs++;
  check_that (check, components_equal (got, &expected),
              "%s, %u-connectivity: frame %u of a batch of %u x %u: %u of %u components, not %u of "
              "%u",
              c->algorithm->name, c->connectivity, index, c->image->width, c->image->height,
              got->count, got->found, expected.count, expected.found);
  if (labels)
    check_that (check,
                ccl_batch_labels (batch, index, &map) == CCL_OK &&
                    labels_difference (c, &map, labels) == SIZE_MAX,
                "%s: the labels of frame %u are wrong", c->algorithm->name, index);
  free (labels);
  ccl_reference_clear (&expected);
}

/* Whether a written row has the labels of @map or, with components, their areas. */
static bool
row_is_right (const uint32_t *row, const uint32_t *map, const CclComponents *components,
              size_t width)
{
  for (size_t x = 0; x < width; x++) {
    uint64_t expected = map[x];

    if (components && map[x] > 0)
      expected = components->items[map[x] - 1].area;
    if (row[x] != expected)
      return false;
  }
  return true;
}

/* Writes label maps, or areas, to memory of our own, on the device, too, and compares them with
 * those of ccl_batch_labels() and @components. */
static void
check_written (Check *check, const Case *c, CclBatch *batch, const CclComponents *components,
               uint32_t n, bool areas)
{
  const size_t width = c->image->width, height = c->image->height, stride = 4 * (width + 2);
  const size_t step = stride * (height + 1), bytes = step * n;
  bool device = c->algorithm->backend == CCL_BACKEND_CUDA, right = true;
  uint8_t *here = test_alloc (bytes);
  void *there = device ? test_device_alloc (CCL_MEMORY_DEVICE, bytes) : NULL;
  CclStatus (*write) (CclBatch * batch, uint32_t * labels, size_t stride, size_t step,
                      CclMemory memory) = areas ? ccl_batch_write_areas : ccl_batch_write_labels;
  CclLabels past;

  check_that (check, ccl_batch_labels (batch, n, &past) == CCL_ERROR_INVALID,
              "labels after the last frame");
  for (int k = 0; k <= device; k++) {
    memset (here, 0x77, bytes);
    if (k)
      test_device_upload (there, here, bytes);
    check_that (check,
                write (batch, k ? there : (uint32_t *) here, stride, step,
                       k ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST) == CCL_OK,
                "%s: %s", c->algorithm->name, ccl_last_error ());
    if (k)
      test_device_download (here, there, bytes);
    for (uint32_t i = 0; i < n; i++) {
      CclLabels map = { NULL, 0 };

      right &= ccl_batch_labels (batch, i, &map) == CCL_OK;
      for (size_t y = 0; right && y < height; y++) {
        const uint8_t *row = here + i * step + y * stride;

        right &= row_is_right ((const uint32_t *) row,
                               (const uint32_t *) ((const uint8_t *) map.data + y * map.stride),
                               areas ? &components[i] : NULL, width);
        right &= row[4 * width] == 0x77 && row[stride - 1] == 0x77;
      }
    }
    check_that (check, right, "%s: the written label maps of a batch differ", c->algorithm->name);
  }
  check_that (check,
              write (batch, (uint32_t *) here, stride, stride * height - 4, CCL_MEMORY_HOST) ==
                      CCL_ERROR_INVALID &&
                  write (batch, (uint32_t *) here, 4 * width - 4, step, CCL_MEMORY_HOST) ==
                      CCL_ERROR_INVALID,
              "%s: bad strides were accepted", c->algorithm->name);
  if (there)
    test_device_free (CCL_MEMORY_DEVICE, there);
  free (here);
}

/* Noise, the first and last frame full: frames in a batch must not touch. */
static void
draw (Check *check, TestImage *images, uint32_t n)
{
  for (uint32_t i = 0; i < n; i++)
    test_noise_draw (&images[i], i == 0 || i + 1 == n ? 1 : mt19937_below (&check->rng, 11) / 10.0,
                     1 + mt19937_below (&check->rng, 3), &check->rng);
}

/* Frames of bytes side by side in device memory, so that strides are not theirs alone. */
static void
place_side_by_side (TestArena *arena, const TestImage *images, uint32_t n, CclImage *views)
{
  uint32_t width = images[0].width, height = images[0].height;
  static const TestPlacement placement = { .padding = 5, .slack = 3 };
  TestImage strip = test_image_new (n * width, height);
  CclImage all;

  for (uint32_t i = 0; i < n; i++)
    for (uint32_t y = 0; y < height; y++)
      memcpy (strip.pixels + ((size_t) y * n + i) * width, images[i].pixels + (size_t) y * width,
              width);
  all = test_arena_place (arena, &strip, &placement);
  for (uint32_t i = 0; i < n; i++) {
    views[i] = all;
    views[i].data += (size_t) i * width;
  }
  test_image_clear (&strip);
}

/* @arenas: one for each frame. */
static void
place (const Case *wanted, TestArena *arenas, const TestImage *images, uint32_t n, CclImage *views)
{
  Case c = *wanted;

  if (arenas[0].memory == CCL_MEMORY_DEVICE && !c.placement.bits) {
    place_side_by_side (&arenas[0], images, n, views);
    return;
  }
  for (uint32_t i = 0; i < n; i++) {
    c.image = &images[i];
    views[i] = case_place (&c, &arenas[i]);
  }
}

static void
check_batch (Check *check, const Case *wanted, TestImage *images)
{
  bool cuda = wanted->algorithm->backend == CCL_BACKEND_CUDA;
  Case c = *wanted;
  TestArena arenas[2][FRAMES] = { 0 };
  CclConfig config;
  CclBatch *batch;

  for (uint32_t i = 0; i < FRAMES; i++)
    arenas[1][i].memory = CCL_MEMORY_DEVICE;
  c.image = &images[0];
  config = case_config (&c);
  config.threads = 1 + mt19937_below (&check->rng, 4);
  if (!check_that (check, ccl_batch_new (&config, FRAMES, &batch) == CCL_OK, "%s: %s",
                   c.algorithm->name, ccl_last_error ()))
    return;
  for (int round = 0; round < (cuda ? 8 : 4); round++) {
    uint32_t n = round % 4 == 0 ? FRAMES : 1 + mt19937_below (&check->rng, FRAMES);
    CclImage views[FRAMES];
    CclComponents got[FRAMES];

    draw (check, images, n);
    c.setup.params.invert = round % 2;
    c.setup.params.threshold = round % 4 == 3 ? 255 : 127;
    /* first on the device: what fills a stack there must fill all of it */
    place (&c, arenas[cuda && round < 4], images, n, views);
    if (!check_that (check, ccl_batch_analyze (batch, views, n, &c.setup.params, got) == CCL_OK,
                     "%s: %s", c.algorithm->name, ccl_last_error ()))
      continue;
    for (uint32_t i = 0; i < n; i++) {
      c.image = &images[i];
      check_one (check, &c, batch, i, &got[i]);
    }
    for (int areas = 0; c.setup.labels && areas < 2; areas++)
      check_written (check, &c, batch, got, n, areas);
  }
  ccl_batch_free (batch);
  for (uint32_t i = 0; i < FRAMES; i++) {
    test_arena_clear (&arenas[0][i]);
    test_arena_clear (&arenas[1][i]);
  }
}

/* Of the widths, 1 and 130 leave half of a row's last word of 64 bits empty. */
static void
run_batches (Check *check, const Case *wanted)
{
  static const uint32_t sizes[][2] = { { 1, 1 }, { 33, 9 }, { 64, 32 }, { 130, 47 } };

  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    TestImage images[FRAMES];
    Case c = *wanted;

    for (int i = 0; i < FRAMES; i++)
      images[i] = test_image_new (sizes[k][0], sizes[k][1]);
    c.setup.labels = k % 2;
    c.setup.second_order = k > 1;
    c.setup.max_components = k == 3 ? 10 : 0;
    c.setup.params.min_area = k > 1 ? 2 : 1;
    check_batch (check, &c, images);
    for (int i = 0; i < FRAMES; i++)
      test_image_clear (&images[i]);
  }
}

static void
test_batches (Check *check)
{
  check_each_algorithm (check, run_batches);
}

static void
test_batch_errors (Check *check)
{
  uint8_t pixels[30] = { 0 };
  CclImage image = { .data = pixels, .stride = 6 };
  CclComponents got;
  CclParams params;
  CclConfig config;
  CclBatch *batch;
  CclLabels labels;

  ccl_params_init (&params);
  ccl_config_init (&config, 6, 5);
  config.backend = CCL_BACKEND_CPU;
  check_that (check, ccl_batch_new (&config, 0, &batch) == CCL_ERROR_INVALID, "no frames");
  check_that (check, ccl_batch_new (&config, UINT32_MAX / 16, &batch) == CCL_ERROR_INVALID,
              "too many frames");
  check_that (check, ccl_batch_new (&config, 1, &batch) == CCL_OK, "%s", ccl_last_error ());
  if (!batch)
    return;
  check_that (check, ccl_batch_labels (batch, 0, &labels) == CCL_ERROR_INVALID, "labels");
  check_that (check, ccl_batch_analyze (batch, &image, 0, &params, &got) == CCL_ERROR_INVALID,
              "a batch of 0");
  check_that (check, ccl_batch_analyze (batch, &image, 2, &params, &got) == CCL_ERROR_INVALID,
              "a batch of 2 frames, made for 1");
  image.memory = CCL_MEMORY_DEVICE;
  check_that (check, ccl_batch_analyze (batch, &image, 1, &params, &got) == CCL_ERROR_UNSUPPORTED,
              "device memory");
  image.memory = CCL_MEMORY_HOST;
  image.stride = 5;
  check_that (check, ccl_batch_analyze (batch, &image, 1, &params, &got) == CCL_ERROR_INVALID,
              "a stride below the width");
  ccl_batch_free (batch);
}

const Test batch_tests[] = {
  { "batch-errors", test_batch_errors },
  { "batches", test_batches },
  { NULL, NULL },
};
