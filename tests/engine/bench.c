/* cudaccl - checkccl --bench: a first idea of every algorithm's speed
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* As checkasm's --bench: what to look at while changing something. Measurements that are meant to
 * be shown to others are ccl-bench's business. */

#include "tests/engine/checkccl.h"
#include "tests/lib/patterns.h"

#define RUNS 15
#define WIDTH 1920
#define HEIGHT 1080

static const struct
{
  const char *name;
  double density;
  uint32_t granularity;
} images[] = {
  { "noise g=1 d=0.3", 0.3, 1 },
  { "noise g=1 d=0.6", 0.6, 1 },
  { "noise g=16 d=0.3", 0.3, 16 },
  { "full", 1, 1 },
  { "empty", 0, 1 },
};

/* The shortest of some runs in nanoseconds, 0 if it does not run. */
static uint64_t
measure (Check *check, const Case *c)
{
  static const TestPlacement placement;
  CclConfig config = case_config (c);
  CclImage image = test_arena_place (&check->arenas[c->memory], c->image, &placement);
  CclAnalyzer *analyzer;
  uint64_t shortest = 0;

  config.timing = true;
  if (ccl_analyzer_new (&config, &analyzer) != CCL_OK) {
    printf ("%s: %s\n", c->algorithm->name, ccl_last_error ());
    return 0;
  }
  for (int i = 0; i < RUNS; i++) {
    CclComponents components;
    CclTiming timing;

    if (ccl_analyzer_analyze (analyzer, &image, &c->setup.params, &components) != CCL_OK) {
      printf ("%s: %s\n", c->algorithm->name, ccl_last_error ());
      break;
    }
    ccl_analyzer_timing (analyzer, &timing);
    if (i > 0 && (shortest == 0 || timing.analysis < shortest))
      shortest = timing.analysis;
  }
  ccl_analyzer_free (analyzer);
  return shortest;
}

void
bench_algorithms (Check *check)
{
  TestImage image = test_image_new (WIDTH, HEIGHT);
  Case c = { .image = &image };

  setup_init (&c.setup);
  c.setup.max_components = WIDTH * HEIGHT / 7;
  printf ("analysis of %u x %u, shortest of %d runs, in us and Gpix/s\n", WIDTH, HEIGHT, RUNS - 1);
  for (size_t k = 0; k < sizeof images / sizeof *images; k++) {
    test_noise_draw (&image, images[k].density, images[k].granularity, &check->rng);
    for (size_t i = 0; (c.algorithm = ccl_algorithm (i)); i++) {
      for (c.connectivity = 4; c.connectivity <= 8; c.connectivity += 4) {
        uint64_t ns;

        if (!check_wants (check, c.algorithm, c.connectivity))
          continue;
        c.memory = c.algorithm->backend == CCL_BACKEND_CUDA ? CCL_MEMORY_DEVICE : CCL_MEMORY_HOST;
        ns = measure (check, &c);
        check->runs++;
        if (ns)
          printf ("%-18s %-14s %u-conn. %10.1f %8.2f\n", images[k].name, c.algorithm->name,
                  c.connectivity, (double) ns / 1e3, (double) WIDTH * HEIGHT / (double) ns);
      }
    }
  }
  test_image_clear (&image);
}
