/* cudaccl - ccl-bench: goes through sizes, granularities and densities, and measures
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/bench.h"
#include "tests/common/patterns.h"

#include "ccl/reference.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The reference is slow: what is bigger is compared with the CPU backend, which checkccl compares
 * with the reference. */
#define MOST_REFERENCE_PIXELS ((uint64_t) 8 << 20)

#define WARM_UP 2
#define LEAST_RUNS 3

/* The image that is being measured, in both memories. */
typedef struct Frame
{
  BenchSize size;
  uint32_t granularity, density;
  CclImage host, device;
} Frame;

/* The runs of one contender. */
typedef struct Samples
{
  uint64_t *ns;
  unsigned count;
  uint64_t total;
} Samples;

static int
compare_times (const void *a, const void *b)
{
  uint64_t ta = *(const uint64_t *) a, tb = *(const uint64_t *) b;

  return (ta > tb) - (ta < tb);
}

static void
add_result (Bench *bench, const Frame *frame, const Contender *contender, BenchMode mode,
            uint32_t components, Samples *samples)
{
  BenchResult *result;

  if (contender->out || samples->count == 0)
    return;
  qsort (samples->ns, samples->count, sizeof *samples->ns, compare_times);
  bench->results = realloc (bench->results, (bench->n_results + 1) * sizeof *bench->results);
  if (!bench->results)
    test_fatal ("out of memory for results");
  result = &bench->results[bench->n_results++];
  *result = (BenchResult){
    .size = frame->size,
    .contender = contender,
    .mode = mode,
    .granularity = frame->granularity,
    .density = frame->density,
    .components = components,
    .runs = samples->count,
    .median = (samples->ns[(samples->count - 1) / 2] + samples->ns[samples->count / 2]) / 2,
    .minimum = samples->ns[0],
  };
  if (bench->csv)
    report_csv_line (bench->csv, result);
}

/* All of one connectivity in turns, so that what disturbs the machine disturbs everybody; each time
 * another one begins, since who comes first may find other caches and clocks. */
static void
measure (Bench *bench, const Frame *frame, Contender *contenders, size_t n, BenchMode mode,
         uint32_t components)
{
  const BenchOptions *options = &bench->options;
  Samples *samples = test_alloc (n * sizeof *samples);

  memset (samples, 0, n * sizeof *samples);
  for (size_t i = 0; i < n; i++) {
    samples[i].ns = test_alloc (options->runs * sizeof *samples[i].ns);
    for (int k = 0; k < WARM_UP && !contenders[i].out; k++)
      contender_run (&contenders[i], bench, mode, &frame->host, &frame->device);
  }
  for (unsigned run = 0; run < options->runs; run++) {
    for (size_t i = 0; i < n; i++) {
      size_t k = (i + run) % n;
      Samples *s = &samples[k];
      uint64_t ns;

      if (contenders[k].out ||
          (s->count >= LEAST_RUNS && (double) s->total > options->seconds * 1e9))
        continue;
      ns = contender_run (&contenders[k], bench, mode, &frame->host, &frame->device);
      if (contenders[k].out)
        continue;
      s->ns[s->count++] = ns;
      s->total += ns;
    }
  }
  for (size_t i = 0; i < n; i++) {
    add_result (bench, frame, &contenders[i], mode, components, &samples[i]);
    free (samples[i].ns);
  }
  free (samples);
}

/* The right result of the frame, with the capacity that the contenders have. */
static CclComponents
find_expected (const Bench *bench, const Frame *frame, unsigned connectivity)
{
  uint64_t pixels = (uint64_t) frame->size.width * frame->size.height;
  CclComponents components, copy;
  CclAnalyzer *analyzer;
  CclParams params;
  CclConfig config;

  bench_config (&config, &bench->options, frame->size);
  ccl_params_init (&params);
  config.connectivity = connectivity;
  config.backend = CCL_BACKEND_CPU;
  if (pixels <= MOST_REFERENCE_PIXELS) {
    if (ccl_reference_analyze (&config, &frame->host, &params, &components) != CCL_OK)
      test_fatal ("out of memory for the reference");
    return components;
  }
  if (ccl_analyzer_new (&config, &analyzer) != CCL_OK ||
      ccl_analyzer_analyze (analyzer, &frame->host, &params, &components) != CCL_OK)
    test_fatal ("%s", ccl_last_error ());
  copy = components;
  copy.items = test_alloc (components.count * sizeof *components.items);
  if (components.count)
    memcpy ((void *) copy.items, components.items, components.count * sizeof *components.items);
  ccl_analyzer_free (analyzer);
  return copy;
}

/* Checks and measures the contenders of one connectivity. */
static void
run_connectivity (Bench *bench, const Frame *frame, Contender *contenders, size_t n)
{
  CclComponents expected = { 0 };

  if (bench->options.check) {
    expected = find_expected (bench, frame, contenders[0].connectivity);
    for (size_t i = 0; i < n; i++)
      if (!contenders[i].out &&
          !contender_check (&contenders[i], &frame->host, &frame->device, &expected))
        bench->failed = true;
    if (expected.found > expected.count)
      fprintf (stderr, "granularity %u, density %u %%: %u of %u components fit in the result\n",
               frame->granularity, frame->density, expected.count, expected.found);
  }
  measure (bench, frame, contenders, n, BENCH_ANALYSIS, expected.found);
  if (bench->options.end_to_end)
    measure (bench, frame, contenders, n, BENCH_END_TO_END, expected.found);
  ccl_reference_clear (&expected);
}

static void
run_image (Bench *bench, const TestImage *image, uint32_t granularity, uint32_t density)
{
  static const TestPlacement placement = { .slack = TEST_SLACK_FRONT }; /* aligned */
  Frame frame = { { image->width, image->height }, granularity, density, { 0 }, { 0 } };
  bool progress = bench->options.verbose || isatty (STDERR_FILENO);
  size_t first = 0, end;

  if (progress)
    fprintf (stderr, "\r%ux%u, granularity %u, density %u %%   ", image->width, image->height,
             granularity, density);
  frame.host = test_arena_place (&bench->host, image, &placement);
  for (size_t i = 0; i < bench->n_contenders && !frame.device.data; i++)
    if (bench->contenders[i].algorithm &&
        bench->contenders[i].algorithm->backend == CCL_BACKEND_CUDA)
      frame.device = test_arena_place (&bench->device, image, &placement);

  for (; first < bench->n_contenders; first = end) {
    end = first + 1;
    while (end < bench->n_contenders &&
           bench->contenders[end].connectivity == bench->contenders[first].connectivity)
      end++;
    run_connectivity (bench, &frame, &bench->contenders[first], end - first);
  }
  if (progress)
    fputs ("\r\033[K", stderr);
}

static void
run_size (Bench *bench, BenchSize size)
{
  const BenchOptions *options = &bench->options;
  TestImage image = test_image_new (size.width, size.height);

  for (size_t i = 0; i < bench->n_contenders; i++) {
    bench->contenders[i].out = false; /* another size, another chance */
    contender_open (&bench->contenders[i], options, size);
  }
  for (size_t g = 0; g < options->n_granularities; g++) {
    for (uint32_t d = options->density_first; d <= options->density_last;
         d += options->density_step) {
      char name[64];
      Mt19937 rng;

      /* Each image has its own seed: the same image in every sweep that includes it. */
      snprintf (name, sizeof name, "%ux%u %u %u", size.width, size.height,
                options->granularities[g], d);
      mt19937_seed (&rng, mt19937_mix (options->seed, name));
      test_noise_draw (&image, d / 100.0, options->granularities[g], &rng);
      run_image (bench, &image, options->granularities[g], d);
    }
  }
  if (options->full) {
    memset (image.pixels, 255, (size_t) size.width * size.height);
    run_image (bench, &image, BENCH_FULL, 100);
  }
  for (size_t i = 0; i < bench->n_contenders; i++)
    contender_close (&bench->contenders[i]);
  test_image_clear (&image);
}

void
bench_sweep (Bench *bench)
{
  for (size_t i = 0; i < bench->options.n_sizes; i++)
    run_size (bench, bench->options.sizes[i]);
}
