/* cudaccl - checkccl: the CPU backend's instruction sets and threads
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"
#include "tests/lib/patterns.h"

#include "engine/cpu/pool.h"
#include "engine/cpu/tuning.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_WIDTH 1000
#define MOST_WORDS (MOST_WIDTH / 64 + 1)
#define GUARD 0xa5a5a5a5a5a5a5a5u

/* A function's output, with room to detect overruns. */
typedef struct Row
{
  uint64_t bits[MOST_WORDS + 1];
  CclRowEdges words[MOST_WORDS + 1];
  uint32_t edges[MOST_WIDTH + CCL_ROW_SLACK + 2];
} Row;

static unsigned
row_bit (const uint64_t *bits, uint32_t x)
{
  return bits[x / 64] >> x % 64 & 1;
}

/* Random values, values around the threshold, or runs of random length. */
static void
draw_row (Mt19937 *rng, uint8_t *pixels, uint32_t width, uint8_t threshold)
{
  uint32_t kind = mt19937_below (rng, 4), length = 1 + mt19937_below (rng, 130);
  uint8_t value = 0;

  for (uint32_t x = 0; x < width; x++) {
    if (kind == 0)
      value = (uint8_t) mt19937_next (rng);
    else if (kind == 1)
      value = (uint8_t) (threshold + mt19937_below (rng, 3) - 1);
    else if (x % length == 0)
      value = mt19937_below (rng, 2) ? 255 : 0;
    pixels[x] = value;
  }
}

/* The bits, pixel by pixel. */
static void
check_bits (Check *check, const CclCpuFunctions *functions, const Row *row, const uint8_t *pixels,
            uint32_t width, uint8_t threshold, bool invert, bool any)
{
  uint32_t wrong = 0, past = 0, set = 0;

  for (uint32_t x = 0; x < width; x++) {
    unsigned expected = (pixels[x] > threshold) != invert;

    wrong += row_bit (row->bits, x) != expected;
    set += expected;
  }
  for (uint32_t x = width; x % 64 > 0; x++)
    past += row_bit (row->bits, x);
  check_that (check,
              wrong == 0 && past == 0 && any == (set > 0) && row->bits[(width + 63) / 64] == GUARD,
              "%s: of %u bits %u are wrong, %u past the end are set; threshold %u%s, any %d, %s",
              functions->name, width, wrong, past, threshold, invert ? " inverted" : "", any,
              row->bits[(width + 63) / 64] == GUARD ? "in its bounds" : "out of its bounds");
}

/* The edges and the ranks of the bits before, pixel by pixel. */
static void
check_edges (Check *check, const CclCpuFunctions *functions, const Row *row, uint32_t count,
             uint32_t width)
{
  uint32_t n = 0, wrong = 0;
  unsigned before = 0;

  for (uint32_t x = 0; x <= width; x++) {
    unsigned bit = x < width ? row_bit (row->bits, x) : 0;

    if (x % 64 == 0)
      wrong += row->words[x / 64].before != n;
    wrong += (row->words[x / 64].changes >> x % 64 & 1) != (bit ^ before);
    if (bit != before)
      wrong += row->edges[n++] != x;
    before = bit;
  }
  check_that (check, wrong == 0 && count == n / 2 && n % 2 == 0,
              "%s: %u runs in %u pixels, %u expected; %u wrong values", functions->name, count,
              width, n / 2, wrong);
  check_that (check, row->words[width / 64 + 1].changes == GUARD, "%s: too many words",
              functions->name);
  check_that (check, row->edges[n + CCL_ROW_SLACK] == (uint32_t) GUARD, "%s: too many edges",
              functions->name);
}

static void
check_row (Check *check, const CclCpuFunctions *functions, const uint8_t *pixels, uint32_t width,
           uint8_t threshold, bool invert)
{
  static Row memory; /* too large for some stacks */
  CclRow row = { .bits = memory.bits, .words = memory.words, .edges = memory.edges };
  const CclCut cut = { threshold, UINT8_MAX, invert };
  bool any;

  memset (&memory, 0xa5, sizeof memory);
  any = functions->pack_row (row.bits, pixels, width, &cut);
  check_bits (check, functions, &memory, pixels, width, threshold, invert, any);
  if (width % 64 == 0)
    row.bits[width / 64] = 0;
  functions->find_runs (&row, width);
  check_edges (check, functions, &memory, row.count, width);
}

/* Random rows at the end of their memory, at any address. */
static void
test_rows (Check *check)
{
  static const uint8_t thresholds[] = { 0, 1, 126, 127, 128, 254, 255 };
  TestImage image = test_image_new (MOST_WIDTH, 1);
  TestArena *arena = &check->arenas[CCL_MEMORY_HOST];
  const CclCpuFunctions *functions;

  for (uint32_t k = 0; k < (check->options.effort <= EFFORT_SMALL ? 100 : 2000); k++) {
    uint8_t threshold = thresholds[mt19937_below (&check->rng, 7)];
    bool invert = mt19937_below (&check->rng, 2);
    TestPlacement placement = { .slack = mt19937_below (&check->rng, 64) };
    CclImage placed;

    image.width = k < 200 ? k + 1 : 1 + mt19937_below (&check->rng, MOST_WIDTH);
    draw_row (&check->rng, image.pixels, image.width, threshold);
    if (k % 2)
      placement.slack = 0;
    placed = test_arena_place (arena, &image, &placement);
    for (size_t i = 0; (functions = ccl_cpu_functions (i)); i++)
      check_row (check, functions, placed.data, image.width, threshold, invert);
  }
  test_image_clear (&image);
}

/* Whole frames with each instruction set and each number of threads. */
static void
test_variants (Check *check)
{
  static const unsigned threads[] = { 1, 2, 8 };
  bool small = check->options.effort <= EFFORT_SMALL;
  const CclCpuFunctions *functions;
  CpuSetup cpu = { .strip_pixels = 1 };
  Setup setup;

  setup_init (&setup);
  check->cpu = &cpu;
  for (uint32_t k = 0; k < (small ? 2 : 24); k++) {
    TestImage image = test_image_new (1 + mt19937_below (&check->rng, small ? 70 : 300),
                                      1 + mt19937_below (&check->rng, 150));

    if (k % 3 == 2)
      test_pattern_draw (test_pattern (k / 3), &image);
    else
      test_noise_draw (&image, mt19937_below (&check->rng, 101) / 100.0,
                       1 + mt19937_below (&check->rng, 6), &check->rng);
    setup.labels = k % 2;
    setup.second_order = k % 4 < 2;
    setup.max_components = k % 5 == 4 ? 20 : 0;
    setup.params.min_area = k % 7 == 6 ? 3 : 1;
    for (size_t i = 0; (functions = ccl_cpu_functions (i)); i++) {
      for (size_t t = 0; t < sizeof threads / sizeof *threads; t++) {
        cpu.functions = functions;
        cpu.threads = threads[t];
        check_frame (check, &image, &setup);
      }
    }
    test_image_clear (&image);
  }
  check->cpu = NULL;
}

#define PARTS 300
#define SHARED_CALLERS 3
#define SHARED_JOBS 200

static void
count_part (void *data, uint32_t index)
{
  unsigned *counts = data;

  counts[index]++;
}

/* Every part of every job is done once, also after the threads have gone to sleep. */
static void
test_pool (Check *check)
{
  CclAccount account = { 0, 0 };
  unsigned counts[PARTS] = { 0 }, wrong = 0,
           jobs = check->options.effort <= EFFORT_SMALL ? 30 : 600;
  unsigned expected[PARTS] = { 0 };
  CclPool *pool = NULL;

  if (!check_that (check, ccl_pool_new (4, &account, &pool) == CCL_OK, "%s", ccl_last_error ()))
    return;
  for (unsigned job = 0; job < jobs; job++) {
    uint32_t n = mt19937_below (&check->rng, PARTS + 1);

    if (job % 50 == 0)
      usleep (1000);
    ccl_pool_run (pool, count_part, counts, n);
    for (uint32_t i = 0; i < n; i++)
      expected[i]++;
    wrong += memcmp (counts, expected, sizeof counts) != 0;
  }
  check_that (check, wrong == 0, "%u of %u jobs did not do each part once", wrong, jobs);
  ccl_pool_free (pool);
  ccl_pool_run (NULL, count_part, counts, 1);
  check_that (check, counts[0] == expected[0] + 1, "a job without threads was not done");
  check_that (check, ccl_pool_cpus () >= 1, "no CPU");
}

/* Runs jobs on the shared pool; @data: as many counts as each part was done. */
static void *
run_shared_jobs (void *data)
{
  ccl_pool_shared_ref ();
  for (unsigned job = 0; job < SHARED_JOBS; job++) {
    if (job % 50 == 0)
      usleep (1000);
    ccl_pool_shared_run (count_part, data, PARTS);
  }
  ccl_pool_shared_unref ();
  return NULL;
}

/* Threads share the shared pool while references to it come and go. */
static void
test_shared_pool (Check *check)
{
  unsigned counts[SHARED_CALLERS][PARTS] = { { 0 } }, wrong = 0;
  pthread_t threads[SHARED_CALLERS];

  ccl_cpu_tuning.shared_threads = 3;
  for (unsigned i = 0; i < SHARED_CALLERS; i++)
    if (pthread_create (&threads[i], NULL, run_shared_jobs, counts[i]) != 0)
      test_fatal ("a thread did not start");
  for (unsigned i = 0; i < SHARED_CALLERS; i++)
    pthread_join (threads[i], NULL);
  for (unsigned i = 0; i < SHARED_CALLERS; i++)
    for (unsigned part = 0; part < PARTS; part++)
      wrong += counts[i][part] != SHARED_JOBS;
  check_that (check, wrong == 0, "%u parts were not done once in each job", wrong);
  ccl_cpu_tuning.shared_threads = 0;
}

const Test cpu_tests[] = {
  { "cpu-rows", test_rows },
  { "cpu-variants", test_variants },
  { "cpu-pool", test_pool },
  { "cpu-shared-pool", test_shared_pool },
  { NULL, NULL },
};
