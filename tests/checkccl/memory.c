/* cudaccl - checkccl: CUDA's contexts, and page-locked memory that is read where it lies
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/checkccl/checkccl.h"
#include "tests/common/device.h"
#include "tests/common/patterns.h"

#include "ccl/reference.h"

#include <stdlib.h>
#include <string.h>

static TestImage
noise (Check *check, uint32_t width, uint32_t height)
{
  TestImage image = test_image_new (width, height);

  test_noise_draw (&image, 0.5, 2, &check->rng);
  return image;
}

static void
check_current (Check *check, const char *what, const void *expected)
{
  const void *current = test_device_context_current ();

  check_that (check, current == expected, "%s: context %p was current, now %p is", what, expected,
              current);
}

/* Frames from every kind of memory, with an analyzer in @context and the caller in @caller, each of
 * which may be NULL. Memory on the device is in the analyzer's context. */
static void
run_in_context (Check *check, Case *c, void *context, void *caller)
{
  CclConfig config = case_config (c);
  CclComponents expected = case_expected (c);
  CclAnalyzer *analyzer = NULL;
  CclStatus status;

  config.cuda_context = context;
  status = ccl_analyzer_new (&config, &analyzer);
  check_that (check, status == CCL_OK, "%s: %s", c->algorithm->name, ccl_last_error ());
  check_current (check, "ccl_analyzer_new", caller);
  for (int memory = 0; analyzer && memory < CHECK_MEMORIES; memory++) {
    TestArena arena = { .memory = (CclMemory) memory };
    CclComponents got = { 0 };
    CclImage image;

    if (context)
      test_device_context_enter (context);
    c->memory = arena.memory;
    image = test_arena_place (&arena, c->image, &c->placement);
    if (context)
      test_device_context_leave ();

    status = ccl_analyzer_submit (analyzer, &image, &c->setup.params);
    check_current (check, "ccl_analyzer_submit", caller);
    if (status == CCL_OK)
      status = ccl_analyzer_collect (analyzer, &got);
    check_current (check, "ccl_analyzer_collect", caller);
    check_result (check, c, status, &got, &expected);
    if (c->setup.labels && status == CCL_OK) {
      uint32_t *labels = case_expected_labels (c);

      check_labels (check, c, analyzer, labels);
      check_current (check, "ccl_analyzer_labels", caller);
      free (labels);
    }

    if (context)
      test_device_context_enter (context);
    test_arena_clear (&arena);
    if (context)
      test_device_context_leave ();
  }
  ccl_analyzer_free (analyzer);
  check_current (check, "ccl_analyzer_free", caller);
  ccl_reference_clear (&expected);
}

static void
run_contexts (Check *check, const Case *c)
{
  Case one = *c;
  TestImage image;
  void *before, *own;

  if (c->algorithm->backend != CCL_BACKEND_CUDA)
    return;
  image = noise (check, 150, 90);
  one.image = &image;
  one.setup.labels = true;
  one.placement.padding = 3;
  before = test_device_context_current ();
  own = test_device_context_new ();
  run_in_context (check, &one, NULL, before);
  run_in_context (check, &one, own, before);
  test_device_context_enter (own);
  run_in_context (check, &one, own, own);
  test_device_context_leave ();
  test_device_context_free (own);
  test_image_clear (&image);
}

/* Each analyzer works in its own context, and leaves its caller's alone. */
static void
test_contexts (Check *check)
{
  check_each_algorithm (check, run_contexts);
}

/* A context belongs to one device. */
static void
test_context_errors (Check *check)
{
  CclAnalyzer *analyzer = NULL;
  CclConfig config;
  void *context;

  if (check->options.backend == CCL_BACKEND_CPU || !test_device_available ())
    return;
  context = test_device_context_new ();
  ccl_config_init (&config, 9, 9);
  config.cuda_context = context;
  for (config.device = TEST_DEVICE; config.device < ccl_cuda_device_count (); config.device++) {
    CclStatus wanted = config.device == TEST_DEVICE ? CCL_OK : CCL_ERROR_INVALID;
    CclInfo info;

    check_that (check, ccl_analyzer_new (&config, &analyzer) == wanted,
                "a context of device %d for device %d: %s", TEST_DEVICE, config.device,
                ccl_last_error ());
    if (analyzer) {
      ccl_analyzer_info (analyzer, &info);
      check_that (check, info.device == TEST_DEVICE && info.backend == CCL_BACKEND_CUDA,
                  "device %d of backend %d", info.device, (int) info.backend);
    }
    ccl_analyzer_free (analyzer);
  }
  test_device_context_free (context);
}

/* Page-locked memory without a transfer, on devices that would rather have one. */
static void
run_mapped (Check *check, const Case *c)
{
  TestImage image;
  Case one = *c;
  CclConfig config;
  CclComponents expected, got = { 0 };
  CclAnalyzer *analyzer = NULL;
  CclInfo before, after;
  CclImage view;
  void *pinned = NULL;
  CclStatus status;

  if (c->algorithm->backend != CCL_BACKEND_CUDA)
    return;
  image = noise (check, 131, 77);
  one.image = &image;
  one.memory = CCL_MEMORY_PINNED;
  expected = case_expected (&one);
  config = case_config (&one);
  config.map_pinned = true;

  status = ccl_pinned_alloc (TEST_DEVICE, (size_t) image.width * image.height, &pinned);
  if (status == CCL_OK)
    status = ccl_analyzer_new (&config, &analyzer);
  if (check_that (check, status == CCL_OK, "%s", ccl_last_error ())) {
    view = test_image_view (&image);
    memcpy (pinned, view.data, (size_t) image.width * image.height);
    view.data = pinned;
    view.memory = CCL_MEMORY_PINNED;
    ccl_analyzer_info (analyzer, &before);
    status = ccl_analyzer_analyze (analyzer, &view, &one.setup.params, &got);
    check_result (check, &one, status, &got, &expected);
    ccl_analyzer_info (analyzer, &after);
    check_that (check, before.allocations == after.allocations,
                "%s: memory for a transfer was allocated", c->algorithm->name);
  }
  ccl_analyzer_free (analyzer);
  ccl_pinned_free (TEST_DEVICE, pinned);
  ccl_reference_clear (&expected);
  test_image_clear (&image);
}

static void
test_mapped (Check *check)
{
  check_each_algorithm (check, run_mapped);
}

/* What ccl_pinned_alloc() refuses. */
static void
test_pinned_errors (Check *check)
{
  void *memory = &memory;

  check_that (check, ccl_pinned_alloc (TEST_DEVICE, 0, &memory) == CCL_ERROR_INVALID && !memory,
              "memory of no size");
  check_that (check, ccl_pinned_alloc (TEST_DEVICE, 1, NULL) == CCL_ERROR_INVALID,
              "memory for nobody");
  check_that (check, ccl_pinned_alloc (9999, 1, &memory) != CCL_OK && !memory,
              "memory of no device");
  ccl_pinned_free (TEST_DEVICE, NULL);
}

const Test memory_tests[] = {
  { "contexts", test_contexts },
  { "context-errors", test_context_errors },
  { "mapped", test_mapped },
  { "pinned-errors", test_pinned_errors },
  { NULL, NULL },
};
