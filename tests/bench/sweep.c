/* cudaccl - ccl-bench: sweeps sizes, granularities and densities
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/bench.h"
#include "tests/bench/median.h"
#include "tests/lib/clock.h"
#include "tests/lib/device.h"
#include "tests/lib/patterns.h"

#include "tests/reference/components.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The reference is slow: results of larger images are compared with the CPU backend, which
 * checkccl compares with the reference. */
#define MOST_REFERENCE_PIXELS ((uint64_t) 8 << 20)

#define WARM_UP 2
#define LEAST_RUNS 3

/* The runs of one contender. */
typedef struct Samples
{
  uint64_t *ns;
  CclTiming *timings;
  unsigned count;
  uint64_t total;
} Samples;

/* The medians of labelling and stages. Iterative algorithms may have other stages in every run;
 * then the last run's times are taken. */
static void
add_stages (BenchResult *result, const Samples *samples)
{
  const CclTiming *last = &samples->timings[samples->count - 1];
  uint64_t *ns = test_alloc (samples->count * sizeof *ns);
  bool same = true;

  for (unsigned i = 0; i < samples->count; i++) {
    ns[i] = samples->timings[i].labelling;
    same &= samples->timings[i].n_stages == last->n_stages;
  }
  result->labelling = bench_median (ns, samples->count);
  result->n_stages = last->n_stages;
  memcpy (result->stages, last->stages, sizeof last->stages);
  for (uint32_t s = 0; s < last->n_stages && same; s++) {
    for (unsigned i = 0; i < samples->count; i++)
      ns[i] = samples->timings[i].stages[s].time;
    result->stages[s].time = bench_median (ns, samples->count);
  }
  free (ns);
}

static void
add_result (Bench *bench, const BenchResult *about, Samples *samples)
{
  BenchResult *result;

  if (about->contender->out || samples->count == 0)
    return;
  bench->results = realloc (bench->results, (bench->n_results + 1) * sizeof *bench->results);
  if (!bench->results)
    test_fatal ("out of memory for results");
  result = &bench->results[bench->n_results++];
  *result = *about;
  result->runs = samples->count;
  result->median = bench_median (samples->ns, samples->count);
  result->minimum = samples->ns[0];
  add_stages (result, samples);
  if (bench->csv)
    record_csv_line (bench->csv, result);
}

/* Whether the contender is measured now. */
static bool
takes_part (const Contender *contender, const Samples *samples, BenchMode mode, unsigned group,
            double seconds)
{
  return contender_can (contender, mode) && contender_group (contender) == group &&
         (samples->count < LEAST_RUNS || (double) samples->total <= seconds * 1e9);
}

/* The frame with the copy for this turn. */
static BenchFrame
frame_of_turn (const BenchFrame *frame, size_t turn)
{
  BenchFrame result = *frame;

  if (frame->n_copies)
    result.device = frame->copies[turn % frame->n_copies];
  return result;
}

/* Runs a group of contenders in turns, so that disturbances affect all of them. Each round
 * starts with another one, since the first may find other caches and clocks. */
static void
run_in_turns (Bench *bench, const BenchFrame *frame, Contender *contenders, size_t n,
              BenchMode mode, unsigned group, Samples *samples)
{
  const BenchOptions *options = &bench->options;
  CclTiming timing;

  for (size_t i = 0; i < n; i++) {
    /* A frame's work becomes a graph when it comes for the second time. */
    bool copies = mode == BENCH_ANALYSIS && contender_reads_device (&contenders[i]);

    for (unsigned k = 0; k < (copies ? WARM_UP * frame->n_copies : WARM_UP); k++) {
      BenchFrame copy = frame_of_turn (frame, k);

      if (takes_part (&contenders[i], &samples[i], mode, group, options->seconds))
        contender_run (&contenders[i], bench, mode, &copy, &timing);
    }
  }
  for (unsigned run = 0; run < options->runs; run++) {
    for (size_t i = 0; i < n; i++) {
      size_t k = (i + run) % n;
      BenchFrame copy = frame_of_turn (frame, run * n + i);
      Samples *s = &samples[k];
      uint64_t ns;

      if (!takes_part (&contenders[k], s, mode, group, options->seconds))
        continue;
      ns = contender_run (&contenders[k], bench, mode, &copy, &timing);
      if (contenders[k].out)
        continue;
      s->timings[s->count] = timing;
      s->ns[s->count++] = ns;
      s->total += ns;
    }
  }
}

/* Measures the contenders of one connectivity; @about has their results so far. */
static void
measure (Bench *bench, const BenchFrame *frame, Contender *contenders, size_t n, BenchMode mode,
         BenchResult *about)
{
  Samples *samples = test_alloc (n * sizeof *samples);

  memset (samples, 0, n * sizeof *samples);
  for (size_t i = 0; i < n; i++) {
    samples[i].ns = test_alloc (bench->options.runs * sizeof *samples[i].ns);
    samples[i].timings = test_alloc (bench->options.runs * sizeof *samples[i].timings);
  }
  for (unsigned group = 0; group < BENCH_GROUPS; group++)
    run_in_turns (bench, frame, contenders, n, mode, group, samples);
  for (size_t i = 0; i < n; i++) {
    about[i].mode = mode;
    add_result (bench, &about[i], &samples[i]);
    free (samples[i].ns);
    free (samples[i].timings);
  }
  free (samples);
}

/* The expected result of the frame, with the contenders' capacity. */
static CclComponents
find_expected (const Bench *bench, const BenchFrame *frame, unsigned connectivity)
{
  BenchSize size = frame->image.size;
  CclComponents components, copy;
  CclAnalyzer *analyzer;
  CclParams params;
  CclConfig config;

  bench_config (&config, &bench->options, size);
  ccl_params_init (&params);
  config.connectivity = connectivity;
  config.backend = CCL_BACKEND_CPU;
  if ((uint64_t) size.width * size.height <= MOST_REFERENCE_PIXELS) {
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
run_frame (Bench *bench, const BenchFrame *frame, Contender *contenders, size_t n)
{
  const BenchOptions *options = &bench->options;
  BenchResult *about = test_alloc (n * sizeof *about);
  CclComponents expected = { 0 };

  if (options->check)
    expected = find_expected (bench, frame, contenders[0].connectivity);
  if (expected.found > expected.count)
    fprintf (stderr, "granularity %u, density %u %%: only %u of %u components fit in the result\n",
             frame->image.granularity, frame->image.density, expected.count, expected.found);
  memset (about, 0, n * sizeof *about);
  for (size_t i = 0; i < n; i++) {
    Contender *c = &contenders[i];
    bool was_out = c->out;

    about[i].image = frame->image;
    about[i].contender = c;
    about[i].components = expected.found;
    if (!contender_check (c, frame, options->check ? &expected : NULL, &about[i].mistakes))
      bench->failed |= !was_out;
    else if (options->updates)
      about[i].updates = contender_count (c, options, frame);
  }
  measure (bench, frame, contenders, n, BENCH_ANALYSIS, about);
  if (options->end_to_end)
    measure (bench, frame, contenders, n, BENCH_END_TO_END, about);
  ccl_reference_clear (&expected);
  free (about);
}

static void
show_progress (Bench *bench, const BenchImage *image)
{
  double seconds = (double) (test_now () - bench->started) / 1e9, left = 0;
  bool terminal = isatty (STDERR_FILENO);

  if (!bench->options.verbose && !terminal)
    return;
  if (bench->images_done)
    left =
        seconds / (double) bench->images_done * (double) (bench->images_all - bench->images_done);
  fprintf (stderr, "%s%u of %u, about %.0f s left: %ux%u", terminal ? "\r\033[K" : "",
           bench->images_done + 1, bench->images_all, left, image->size.width, image->size.height);
  if (image->path)
    fprintf (stderr, ", %s", image->path);
  else if (image->granularity == BENCH_FULL)
    fputs (", full", stderr);
  else
    fprintf (stderr, ", granularity %u, density %u %%", image->granularity, image->density);
  if (!terminal || bench->images_done + 1 == bench->images_all)
    fputc ('\n', stderr);
}

/* The number of contenders from @contenders on with the same connectivity. */
static size_t
count_of_connectivity (const Bench *bench, const Contender *contenders)
{
  size_t n = 1;

  while (contenders + n < bench->contenders + bench->n_contenders &&
         contenders[n].connectivity == contenders[0].connectivity)
    n++;
  return n;
}

#define CACHES 8 /* L2 caches that all copies together fill; an eighth of a cache may survive */

/* The number of copies of an image that are needed so that none is in the L2 cache when its turn
 * comes again, as for frames of a stream. A small image may be in the cache: a stream's frame
 * was just written. */
static unsigned
count_copies (const TestImage *pixels)
{
  size_t bytes = (size_t) pixels->width * pixels->height, cache = test_device_cache_bytes ();
  size_t copies = bytes > cache / 2 ? (CACHES * cache - 1) / bytes + 1 : 1;

  return copies < BENCH_MAX_COPIES ? (unsigned) copies : BENCH_MAX_COPIES;
}

/* Places an image in the memory kinds that contenders read. */
static void
place_frame (Bench *bench, const TestImage *pixels, const Contender *contenders, size_t n,
             BenchFrame *frame)
{
  static const TestPlacement placement = { .slack = TEST_SLACK_FRONT }; /* aligned */
  bool on_device = false;

  for (size_t i = 0; i < n; i++)
    on_device |= contender_reads_device (&contenders[i]);
  bench->host.memory = CCL_MEMORY_HOST;
  frame->host = test_arena_place (&bench->host, pixels, &placement);
  frame->n_copies = on_device ? count_copies (pixels) : 0;
  for (unsigned i = 0; i < frame->n_copies; i++) {
    bench->device[i].memory = CCL_MEMORY_DEVICE;
    frame->copies[i] = test_arena_place (&bench->device[i], pixels, &placement);
  }
  frame->device = frame->copies[0];
}

void
bench_clear_frames (Bench *bench)
{
  test_arena_clear (&bench->host);
  for (unsigned i = 0; i < BENCH_MAX_COPIES; i++)
    test_arena_clear (&bench->device[i]);
}

/* Runs all contenders of one connectivity on an image. */
static void
run_image (Bench *bench, Contender *contenders, const TestImage *pixels, const BenchImage *image)
{
  size_t n = count_of_connectivity (bench, contenders);
  BenchFrame frame = { .image = *image };

  show_progress (bench, image);
  for (size_t i = 0; i < n; i++)
    contender_open (&contenders[i], &bench->options, image->size);
  place_frame (bench, pixels, contenders, n, &frame);
  run_frame (bench, &frame, contenders, n);
  bench->images_done++;
}

static void
run_random (Bench *bench, Contender *contenders, BenchSize size)
{
  const BenchOptions *options = &bench->options;
  TestImage pixels = test_image_new (size.width, size.height);
  BenchImage image = { .size = size };

  for (size_t g = 0; g < options->n_granularities; g++) {
    for (uint32_t d = options->density_first; d <= options->density_last;
         d += options->density_step) {
      char name[64];
      Mt19937 rng;

      /* Each image has its own seed, so that it is the same in every sweep. */
      snprintf (name, sizeof name, "%ux%u %u %u", size.width, size.height,
                options->granularities[g], d);
      mt19937_seed (&rng, mt19937_mix (options->seed, name));
      test_noise_draw (&pixels, d / 100.0, options->granularities[g], &rng);
      image.granularity = options->granularities[g];
      image.density = d;
      run_image (bench, contenders, &pixels, &image);
    }
  }
  if (options->full) {
    memset (pixels.pixels, 255, (size_t) size.width * size.height);
    image.granularity = BENCH_FULL;
    image.density = 100;
    run_image (bench, contenders, &pixels, &image);
  }
  test_image_clear (&pixels);
}

static uint32_t
count_random (const BenchOptions *options)
{
  uint32_t densities = (options->density_last - options->density_first) / options->density_step + 1;

  return options->random ? (uint32_t) (options->n_sizes *
                                       (options->n_granularities * densities + options->full))
                         : 0;
}

/* One connectivity after the other: analyzers of large frames take gigabytes. */
void
bench_sweep (Bench *bench)
{
  Contender *end = bench->contenders + bench->n_contenders;
  uint32_t images = count_random (&bench->options) + (uint32_t) bench->n_files;

  bench->started = test_now ();
  for (Contender *c = bench->contenders; c < end; c += count_of_connectivity (bench, c))
    bench->images_all += images;
  for (Contender *c = bench->contenders; c < end; c += count_of_connectivity (bench, c)) {
    for (size_t i = 0; i < bench->options.n_sizes && bench->options.random; i++)
      run_random (bench, c, bench->options.sizes[i]);
    for (size_t i = 0; i < bench->n_files; i++) {
      TestImage pixels;

      if (!bench_read_image (bench->files[i].path, &pixels))
        test_fatal ("an image has disappeared");
      run_image (bench, c, &pixels, &bench->files[i]);
      test_image_clear (&pixels);
    }
    for (size_t i = 0; i < count_of_connectivity (bench, c); i++)
      contender_close (&c[i]);
  }
}
