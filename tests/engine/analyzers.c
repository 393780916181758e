/* cudaccl - checkccl: lifetime, concurrency and determinism of analyzers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/device.h"
#include "tests/lib/patterns.h"

#include "tests/reference/components.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof (array) / sizeof *(array))

/* An analyzer with its own frame; several work at the same time. */
typedef struct Worker
{
  Case c;
  TestImage image;
  TestArena arena;
  CclAnalyzer *analyzer;
  CclComponents expected;
  unsigned wrong; /* wrong results, counted by its own thread */
} Worker;

static bool
is_small (const Check *check)
{
  return check->options.effort <= EFFORT_SMALL;
}

static CclAnalyzer *
new_analyzer (Check *check, const Case *c)
{
  CclAnalyzer *analyzer = NULL;

  check_that (check, case_open (c, &analyzer) == CCL_OK, "%s: %s", c->algorithm->name,
              ccl_last_error ());
  return analyzer;
}

static CclImage
place (Worker *worker)
{
  return case_place (&worker->c, &worker->arena);
}

/* Makes a worker with a frame; false if its analyzer cannot be made. */
static bool
worker_init (Worker *worker, Check *check, const Case *c, uint32_t width, uint32_t height)
{
  memset (worker, 0, sizeof *worker);
  worker->c = *c;
  worker->image = test_image_new (width, height);
  worker->c.image = &worker->image;
  if (c->algorithm->backend == CCL_BACKEND_CUDA)
    worker->c.memory = (CclMemory) mt19937_below (&check->rng, CHECK_MEMORIES);
  worker->arena.memory = worker->c.memory;
  test_noise_draw (&worker->image, 0.2 + mt19937_below (&check->rng, 6) / 10.0,
                   1 + mt19937_below (&check->rng, 4), &check->rng);
  worker->expected = case_expected (&worker->c);
  worker->analyzer = new_analyzer (check, &worker->c);
  return worker->analyzer;
}

static void
worker_clear (Worker *worker)
{
  ccl_analyzer_free (worker->analyzer);
  ccl_reference_clear (&worker->expected);
  test_arena_clear (&worker->arena);
  test_image_clear (&worker->image);
}

/* Several frames in flight, submitted and collected in any order. */
static void
run_interleaved (Check *check, const Case *c)
{
  Worker workers[5];
  bool ready = true;

  for (size_t i = 0; i < COUNT (workers); i++)
    ready &= worker_init (&workers[i], check, c, 40 + 30 * (uint32_t) i % 100, 60);
  for (int round = 0; ready && round < (is_small (check) ? 2 : 10); round++) {
    size_t start = mt19937_below (&check->rng, COUNT (workers));
    size_t step =
        1 + mt19937_below (&check->rng, COUNT (workers) - 1); /* there is a prime number of them */

    for (size_t i = 0; i < COUNT (workers); i++) {
      Worker *worker = &workers[(start + i) % COUNT (workers)];
      CclImage image = place (worker);

      check_that (check, ccl_analyzer_submit (worker->analyzer, &image, &c->setup.params) == CCL_OK,
                  "%s: %s", c->algorithm->name, ccl_last_error ());
    }
    for (size_t i = 0; i < COUNT (workers); i++) {
      Worker *worker = &workers[i * step % COUNT (workers)];
      CclComponents got = { 0 };
      CclStatus status = ccl_analyzer_collect (worker->analyzer, &got);

      check_result (check, &worker->c, status, &got, &worker->expected);
    }
  }
  for (size_t i = 0; i < COUNT (workers); i++)
    worker_clear (&workers[i]);
}

static void
test_interleaved (Check *check)
{
  check_each_algorithm (check, run_interleaved);
}

static void *
work (void *data)
{
  Worker *worker = data;

  for (int i = 0; i < 20; i++) {
    CclImage image = place (worker);
    CclComponents got = { 0 };

    if (ccl_analyzer_analyze (worker->analyzer, &image, &worker->c.setup.params, &got) != CCL_OK ||
        !components_equal (&got, &worker->expected))
      worker->wrong++;
  }
  return NULL;
}

/* Several analyzers, each on its own thread. */
static void
run_threads (Check *check, const Case *c)
{
  Worker workers[4];
  pthread_t threads[COUNT (workers)];
  bool ready = true;

  for (size_t i = 0; i < COUNT (workers); i++)
    ready &= worker_init (&workers[i], check, c, is_small (check) ? 60 : 200, 101);
  for (size_t i = 0; ready && i < COUNT (workers); i++)
    if (pthread_create (&threads[i], NULL, work, &workers[i]) != 0)
      test_fatal ("cannot create a thread");
  for (size_t i = 0; i < COUNT (workers); i++) {
    if (ready)
      pthread_join (threads[i], NULL);
    check_that (check, workers[i].wrong == 0, "%s, %u-connectivity: %u of 20 wrong on thread %zu",
                c->algorithm->name, c->connectivity, workers[i].wrong, i);
  }
  for (size_t i = 0; i < COUNT (workers); i++)
    worker_clear (&workers[i]);
}

static void
test_threads (Check *check)
{
  check_each_algorithm (check, run_threads);
}

/* A result stays valid until the analyzer's next frame, whatever other analyzers do. */
static void
run_lifetime (Check *check, const Case *c)
{
  Worker first, second;

  if (worker_init (&first, check, c, 90, 70) && worker_init (&second, check, c, 90, 70)) {
    CclImage image = place (&first), other = place (&second);
    CclComponents got = { 0 }, more = { 0 };
    CclStatus status = ccl_analyzer_analyze (first.analyzer, &image, &c->setup.params, &got);

    for (int i = 0; i < 5; i++)
      check_result (check, &second.c,
                    ccl_analyzer_analyze (second.analyzer, &other, &c->setup.params, &more), &more,
                    &second.expected);
    ccl_analyzer_free (second.analyzer);
    second.analyzer = NULL;
    check_result (check, &first.c, status, &got, &first.expected);

    /* Freeing waits for a frame in flight. */
    image = place (&first);
    check_that (check, ccl_analyzer_submit (first.analyzer, &image, &c->setup.params) == CCL_OK,
                "%s: %s", c->algorithm->name, ccl_last_error ());
    ccl_analyzer_free (first.analyzer);
    first.analyzer = NULL;
    worker_clear (&second);
  }
  worker_clear (&first);
}

static void
test_lifetime (Check *check)
{
  check_each_algorithm (check, run_lifetime);
}

/* Very different frames: none may allocate anything, except the first of each kind of memory
 * that needs a transfer. */
static void
run_allocations (Check *check, const Case *c)
{
  static const char *const names[] = { "empty", "full",   "dots", "checkerboard-even", "comb-up",
                                       "rings", "spiral", "full", "stripes-vertical",  "empty" };
  TestImage image = is_small (check) ? test_image_new (120, 67) : test_image_new (640, 361);
  Case one = *c;
  CclInfo fresh, before, after;
  CclAnalyzer *analyzer;

  one.image = &image;
  one.setup.max_components = 500;
  one.setup.labels = c->connectivity == 8;
  analyzer = new_analyzer (check, &one);
  if (!analyzer) {
    test_image_clear (&image);
    return;
  }
  ccl_analyzer_info (analyzer, &fresh);
  for (size_t i = 0; i < 2 * COUNT (names); i++) {
    CclImage placed;
    CclComponents got = { 0 };

    test_pattern_draw (test_pattern_find (names[i % COUNT (names)]), &image);
    one.setup.params.min_area = i / COUNT (names) * 2;
    one.setup.params.invert = i % 3 == 0;
    if (c->algorithm->backend == CCL_BACKEND_CUDA)
      one.memory = (CclMemory) (CHECK_MEMORIES - 1 - i % CHECK_MEMORIES);
    one.placement.padding = i * 7 % 50;
    placed = case_place (&one, &check->arenas[one.memory]);
    check_result (check, &one, ccl_analyzer_analyze (analyzer, &placed, &one.setup.params, &got),
                  &got, NULL);
    if (one.setup.labels) {
      uint32_t *expected = case_expected_labels (&one);

      check_labels (check, &one, analyzer, expected);
      free (expected);
    }
    if (i < CHECK_MEMORIES)
      ccl_analyzer_info (analyzer, &before);
    if (i == 0)
      check_that (check, fresh.allocations == before.allocations,
                  "%s: %llu allocations became %llu with a frame that needs no transfer",
                  c->algorithm->name, (unsigned long long) fresh.allocations,
                  (unsigned long long) before.allocations);
  }
  ccl_analyzer_info (analyzer, &after);
  check_that (check, fresh.allocations > 0 && fresh.bytes > 0,
              "%s: a new analyzer holds %llu bytes in %llu allocations", c->algorithm->name,
              (unsigned long long) fresh.bytes, (unsigned long long) fresh.allocations);
  check_that (check, before.allocations == after.allocations && before.bytes == after.bytes,
              "%s: %llu allocations and %llu bytes became %llu and %llu", c->algorithm->name,
              (unsigned long long) before.allocations, (unsigned long long) before.bytes,
              (unsigned long long) after.allocations, (unsigned long long) after.bytes);
  ccl_analyzer_free (analyzer);
  test_image_clear (&image);
}

static void
test_allocations (Check *check)
{
  check_each_algorithm (check, run_allocations);
}

/* The same frame many times: a race would show. */
static void
run_determinism (Check *check, const Case *c)
{
  static const struct
  {
    double density;
    uint32_t granularity;
  } kinds[] = { { 0.593, 1 }, { 0.407, 1 }, { 0.6, 4 }, { 0.95, 2 } };
  bool small = is_small (check);

  for (size_t k = 0; k < COUNT (kinds); k++) {
    TestImage image = small ? test_image_new (130, 97) : test_image_new (1023, 517);
    Case one = *c;
    CclAnalyzer *analyzer;
    CclComponents expected;
    CclImage placed;

    test_noise_draw (&image, kinds[k].density, kinds[k].granularity, &check->rng);
    one.image = &image;
    one.memory = c->algorithm->backend == CCL_BACKEND_CUDA ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST;
    expected = case_expected (&one);
    analyzer = new_analyzer (check, &one);
    placed = case_place (&one, &check->arenas[one.memory]);
    for (int i = 0; analyzer && i < (small ? 5 : 20); i++) {
      CclComponents got = { 0 };
      CclStatus status = ccl_analyzer_analyze (analyzer, &placed, &one.setup.params, &got);

      if (!check_result (check, &one, status, &got, &expected))
        break; /* the report has overwritten the arena */
    }
    ccl_analyzer_free (analyzer);
    ccl_reference_clear (&expected);
    test_image_clear (&image);
  }
}

static void
test_determinism (Check *check)
{
  check_each_algorithm (check, run_determinism);
}

/* The stages add up to the analysis, up to the resolution of events. Each is listed once, even
 * if part of the work was repeated because not all components fit. */
static void
check_stages (Check *check, const Case *c, const CclTiming *timing)
{
  uint64_t sum = 0;

  for (uint32_t i = 0; i < timing->n_stages; i++) {
    sum += timing->stages[i].time;
    check_that (check, *timing->stages[i].name, "%s: stage %u has no name", c->algorithm->name, i);
    for (uint32_t k = 0; k < i; k++)
      check_that (check, strcmp (timing->stages[i].name, timing->stages[k].name) != 0,
                  "%s: two stages are called %s", c->algorithm->name, timing->stages[i].name);
  }
  check_that (check, sum > 0 && sum <= timing->analysis + 10 * timing->n_stages,
              "%s: %u stages took %llu ns of %llu", c->algorithm->name, timing->n_stages,
              (unsigned long long) sum, (unsigned long long) timing->analysis);
  check_that (check, timing->labelling < sum, "%s: labelling took all the time",
              c->algorithm->name);
}

/* Times are measured only on request. */
static void
run_timing (Check *check, const Case *c)
{
  TestImage image = test_image_new (200, 100);
  CclImage view = test_image_view (&image);
  Case one = *c;

  /* Two components, and room for one. */
  image.pixels[0] = image.pixels[2] = 255;
  one.image = &image;
  one.setup.max_components = 1;
  one.setup.labels = true;
  for (int timing = 0; timing < 2; timing++) {
    CclConfig config = case_config (&one);
    CclAnalyzer *analyzer;
    CclComponents got = { 0 };
    CclTiming t = { .upload = 1, .analysis = 1, .download = 1 };

    config.timing = config.stages = timing;
    if (!check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s: %s",
                     c->algorithm->name, ccl_last_error ()))
      break;
    check_result (check, &one, ccl_analyzer_analyze (analyzer, &view, &c->setup.params, &got), &got,
                  NULL);
    ccl_analyzer_timing (analyzer, &t);
    if (timing)
      check_that (check, t.analysis > 0, "%s: no time was measured", c->algorithm->name);
    if (timing && c->algorithm->backend == CCL_BACKEND_CUDA)
      check_stages (check, c, &t);
    if (!timing)
      check_that (check, t.upload == 0 && t.analysis == 0 && t.download == 0,
                  "%s: times without config.timing", c->algorithm->name);
    ccl_analyzer_free (analyzer);
  }
  test_image_clear (&image);
}

static void
test_timing (Check *check)
{
  check_each_algorithm (check, run_timing);
}

#define INTERVAL 4
#define INTERVAL_FRAMES (3 * INTERVAL + 2)

/* With an interval, only some frames are measured, even if frames of several kinds alternate, each
 * with its own graph. */
static void
run_timing_interval (Check *check, const Case *c)
{
  static const struct
  {
    uint32_t kinds; /* in turns */
    uint32_t measured;
    bool graphs;
  } rows[] = { { 1, 4, true }, { 3, 3, true }, { INTERVAL_FRAMES, 1, true }, { 3, 4, false } };
  TestImage image = test_image_new (200, 100);
  CclImage view = test_image_view (&image);

  Case one = *c;

  image.pixels[0] = image.pixels[2] = image.pixels[3] = 255;
  one.image = &image;
  for (size_t i = 0; i < COUNT (rows) && c->algorithm->backend == CCL_BACKEND_CUDA; i++) {
    uint32_t measured = 0, last = 0;
    CclConfig config = case_config (&one);
    CclAnalyzer *analyzer;
    CclComponents got = { 0 };

    config.timing = true;
    config.timing_interval = INTERVAL;
    config.graphs = rows[i].graphs;
    if (!check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s: %s",
                     c->algorithm->name, ccl_last_error ()))
      break;
    for (uint32_t k = 0; k < INTERVAL_FRAMES; k++) {
      CclTiming t;

      one.setup.params.min_area = 1 + k % rows[i].kinds;
      check_result (check, &one, ccl_analyzer_analyze (analyzer, &view, &one.setup.params, &got),
                    &got, NULL);
      ccl_analyzer_timing (analyzer, &t);
      check_that (check, t.measured == (t.analysis > 0), "%s: frame %u took %llu ns",
                  c->algorithm->name, k, (unsigned long long) t.analysis);
      if (!t.measured)
        continue;
      check_that (check, measured == 0 ? k == 0 : k >= last + INTERVAL,
                  "%s: frame %u is measured after frame %u", c->algorithm->name, k, last);
      last = k;
      measured++;
    }
    check_that (check, measured >= rows[i].measured, "%s: of %u kinds %u frames are measured",
                c->algorithm->name, rows[i].kinds, measured);
    ccl_analyzer_free (analyzer);
  }
  test_image_clear (&image);
}

static void
test_timing_interval (Check *check)
{
  check_each_algorithm (check, run_timing_interval);
}

/* Every feature stage, for algorithms that offer the choice. */
static void
run_feature_stages (Check *check, const Case *c)
{
  for (int stage = CCL_FEATURES_AUTO; stage <= CCL_FEATURES_RUNS_CD; stage++) {
    TestImage image = is_small (check) ? test_image_new (99, 35) : test_image_new (601, 333);
    Case one = *c;
    CclConfig config;
    CclAnalyzer *analyzer;
    CclStatus status;

    one.image = &image;
    one.setup.second_order = stage % 2;
    config = case_config (&one);
    config.features = (CclFeatureStage) stage;
    status = ccl_analyzer_new (&config, &analyzer);
    check_that (check, status == CCL_OK || (stage && status == CCL_ERROR_UNSUPPORTED), "%s: %s",
                c->algorithm->name, ccl_last_error ());
    for (int i = 0; status == CCL_OK && i < (is_small (check) ? 3 : 12); i++) {
      CclImage view = test_image_view (&image);
      CclComponents got = { 0 };

      test_noise_draw (&image, (i + 1) / 12.0, 1 + (uint32_t) i % 5, &check->rng);
      check_result (check, &one, ccl_analyzer_analyze (analyzer, &view, &one.setup.params, &got),
                    &got, NULL);
    }
    if (status == CCL_OK)
      ccl_analyzer_free (analyzer);
    test_image_clear (&image);
  }
}

static void
test_feature_stages (Check *check)
{
  check_each_algorithm (check, run_feature_stages);
}

/* Every way to wait for a device, with frames from one or several addresses and fixed or
 * changing parameters: equal frames may be replayed as graphs. */
static void
run_replays (Check *check, const Case *c)
{
  static const char *const names[] = { "rings", "dots", "spiral", "empty", "comb-up" };
  TestImage image = test_image_new (130, 67);
  Case one = *c;

  one.image = &image;
  one.setup.max_components = 700;
  for (int sync = CCL_SYNC_AUTO; sync <= CCL_SYNC_BLOCK; sync++) {
    CclConfig config = case_config (&one);
    CclAnalyzer *analyzer;

    config.sync = (CclSync) sync;
    config.timing = true;
    config.timing_interval = 7;
    config.graphs = sync != CCL_SYNC_YIELD;
    if (!check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s: %s",
                     c->algorithm->name, ccl_last_error ()))
      break;
    for (uint32_t i = 0; i < (is_small (check) ? 12 : 200); i++) {
      CclComponents got = { 0 };
      CclImage placed;

      test_pattern_draw (test_pattern_find (names[i % COUNT (names)]), &image);
      one.memory = c->algorithm->backend == CCL_BACKEND_CUDA ? (CclMemory) (i / 5 % CHECK_MEMORIES)
                                                             : CCL_MEMORY_HOST;
      one.placement.padding = i / 3 % 7 * 16;
      one.setup.params.threshold = i % 40 < 20 ? 127 : (uint8_t) i;
      one.setup.params.min_area = 1 + i / 30;
      one.setup.params.invert = i % 10 > 7; /* a graph with other parameters must not be replayed */
      placed = case_place (&one, &check->arenas[one.memory]);
      check_result (check, &one, ccl_analyzer_analyze (analyzer, &placed, &one.setup.params, &got),
                    &got, NULL);
    }
    ccl_analyzer_free (analyzer);
  }
  test_image_clear (&image);
}

static void
test_replays (Check *check)
{
  check_each_algorithm (check, run_replays);
}

/* The defaults, and what ccl_analyzer_info() says. */
static void
test_auto (Check *check)
{
  static const char *const names[] = { NULL, "auto" };
  static const CclBackend backends[] = { CCL_BACKEND_AUTO, CCL_BACKEND_CPU };

  for (size_t i = 0; i < 4; i++) {
    CclAnalyzer *analyzer;
    CclConfig config;
    CclInfo info;
    bool listed = false;

    ccl_config_init (&config, 64, 48);
    config.algorithm = names[i % 2];
    config.backend = backends[i / 2];
    if (!check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s",
                     ccl_last_error ()))
      continue;
    ccl_analyzer_info (analyzer, &info);
    for (size_t k = 0; ccl_algorithm (k); k++)
      listed |= strcmp (ccl_algorithm (k)->name, info.algorithm) == 0 &&
                ccl_algorithm (k)->backend == info.backend;
    check_that (check, listed, "algorithm %s is not listed", info.algorithm);
    check_that (check, (info.backend == CCL_BACKEND_CPU) == (info.device == -1),
                "backend %s with device %d", ccl_backend_name (info.backend), info.device);
    check_that (check, info.device_name && *info.device_name, "the device has no name");
    if (config.backend == CCL_BACKEND_AUTO && ccl_cuda_device_count () > 0)
      check_that (check, info.backend == CCL_BACKEND_CUDA, "the GPU is not used");
    ccl_analyzer_free (analyzer);
  }
}

const Test analyzer_tests[] = {
  { "auto", test_auto },
  { "interleaved", test_interleaved },
  { "threads", test_threads },
  { "lifetime", test_lifetime },
  { "allocations", test_allocations },
  { "determinism", test_determinism },
  { "timing", test_timing },
  { "timing-interval", test_timing_interval },
  { "feature-stages", test_feature_stages },
  { "replays", test_replays },
  { NULL, NULL },
};
