/* cudaccl - checkccl: CUDA contexts, and page-locked memory read in place
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/device.h"
#include "tests/lib/patterns.h"

#include "tests/reference/components.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static TestImage
noise (Check *check, uint32_t width, uint32_t height)
{
  TestImage image = test_image_new (width, height);

  test_noise_draw (&image, 0.5, 2, &check->rng);
  return image;
}

/* An analysis, called with or without a current context. */
typedef struct Visit
{
  Check *check;
  Case c;
  void *context; /* the analyzer's, NULL: the primary one */
  const void *current;
} Visit;

/* Remembers the current context before a call, for check_current() after it. */
static void
expect_current (Visit *visit)
{
  visit->current = test_device_context_current ();
}

static void
check_current (Visit *visit, const char *what)
{
  const void *current = test_device_context_current ();

  check_that (visit->check, current == visit->current, "%s: context %p was current, now %p is",
              what, visit->current, current);
}

/* Analyses a frame from one kind of memory, allocated in the analyzer's context. */
static void
visit_frame (Visit *visit, CclAnalyzer *analyzer, const CclComponents *expected)
{
  TestArena arena = { .memory = visit->c.memory };
  CclComponents got = { 0 };
  CclStatus status;
  CclImage image;

  if (visit->context)
    test_device_context_enter (visit->context);
  image = test_arena_place (&arena, visit->c.image, &visit->c.placement);
  if (visit->context)
    test_device_context_leave ();

  expect_current (visit);
  status = ccl_analyzer_submit (analyzer, &image, &visit->c.setup.params);
  check_current (visit, "ccl_analyzer_submit");
  if (status == CCL_OK)
    status = ccl_analyzer_collect (analyzer, &got);
  check_current (visit, "ccl_analyzer_collect");
  if (check_result (visit->check, &visit->c, status, &got, expected)) {
    uint32_t *labels = case_expected_labels (&visit->c);

    check_labels (visit->check, &visit->c, analyzer, labels);
    check_current (visit, "ccl_analyzer_labels");
    free (labels);
  }

  if (visit->context)
    test_device_context_enter (visit->context);
  test_arena_clear (&arena);
  if (visit->context)
    test_device_context_leave ();
}

static void *
make_visit (void *data)
{
  Visit *visit = data;
  CclConfig config = case_config (&visit->c);
  CclComponents expected = case_expected (&visit->c);
  CclAnalyzer *analyzer = NULL;
  CclStatus status;

  config.cuda_context = visit->context;
  expect_current (visit);
  status = ccl_analyzer_new (&config, &analyzer);
  check_that (visit->check, status == CCL_OK, "%s: %s", visit->c.algorithm->name,
              ccl_last_error ());
  check_current (visit, "ccl_analyzer_new");
  for (int memory = 0; analyzer && memory < CHECK_MEMORIES; memory++) {
    visit->c.memory = (CclMemory) memory;
    visit_frame (visit, analyzer, &expected);
  }
  expect_current (visit);
  ccl_analyzer_free (analyzer);
  check_current (visit, "ccl_analyzer_free");
  ccl_reference_clear (&expected);
  return NULL;
}

/* On a new thread, where no context is current. */
static void
make_visit_from_outside (Visit *visit)
{
  pthread_t thread;

  if (pthread_create (&thread, NULL, make_visit, visit) != 0)
    test_fatal ("cannot create a thread");
  pthread_join (thread, NULL);
}

static void
run_contexts (Check *check, const Case *c)
{
  Visit visit = { .check = check, .c = *c };
  TestImage image;
  void *own;

  if (c->algorithm->backend != CCL_BACKEND_CUDA)
    return;
  image = noise (check, 150, 90);
  visit.c.image = &image;
  visit.c.setup.labels = true;
  visit.c.placement.padding = 3;
  own = test_device_context_new ();

  make_visit (&visit);
  make_visit_from_outside (&visit);
  visit.context = own;
  make_visit (&visit);
  make_visit_from_outside (&visit);
  test_device_context_enter (own);
  make_visit (&visit);
  test_device_context_leave ();

  test_device_context_free (own);
  test_image_clear (&image);
}

/* An analyzer works in its own context and restores its caller's. */
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

/* Page-locked memory read in place, also on devices where a transfer is faster. */
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

/* Invalid arguments of ccl_pinned_alloc(). */
static void
test_pinned_errors (Check *check)
{
  void *memory = &memory;

  check_that (check, ccl_pinned_alloc (TEST_DEVICE, 0, &memory) == CCL_ERROR_INVALID && !memory,
              "0 bytes of memory");
  check_that (check, ccl_pinned_alloc (TEST_DEVICE, 1, NULL) == CCL_ERROR_INVALID,
              "memory to NULL");
  check_that (check, ccl_pinned_alloc (9999, 1, &memory) != CCL_OK && !memory,
              "memory of an unknown device");
  ccl_pinned_free (TEST_DEVICE, NULL);
}

const Test memory_tests[] = {
  { "contexts", test_contexts },
  { "context-errors", test_context_errors },
  { "mapped", test_mapped },
  { "pinned-errors", test_pinned_errors },
  { NULL, NULL },
};
