/* cudaccl - ccl-bench targets: this project's targets
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/targets.h"
#include "tests/bench/bench.h"
#include "tests/bench/median.h"
#include "tests/lib/device.h"
#include "tests/lib/patterns.h"

#include <stdlib.h>
#include <string.h>

#define MOST_OPTIONS 64
#define CPU_OPTIONS \
  "--backend=cpu", "--size=1920x1080", "--granularity=1,4,16", "--density=0:100:10"

/* The target for label maps. */
#define MAP_SIDE 8192
#define MAP_GRANULARITY 4
#define MAP_TARGET 250.0

static const char usage[] = "\
Usage: ccl-bench targets [OPTION...]\n\
Measures what this project has targets for, and prints which of them this machine reaches: those for\n\
the GPU, which are meant for an H200, if there is one, and those for the CPU. The first column is all\n\
pixels over all time, the second the mean of throughputs, for which the targets were set.\n\
\n\
  --backend=NAME   only cpu or only cuda\n\
  --images=FOLDER  motion masks to measure on the CPU, too\n\
  --runs=N, --seconds=S and other options of ccl-bench apply as well\n\
\n\
Exit status: 0 whatever is reached, 1 if a result was wrong.\n";

static const BenchSize hd = { 1920, 1080 }, large = { 8192, 8192 };

static const uint32_t granularities[] = { 1, 4, 16, BENCH_FULL };
#define COUNT(array) (sizeof (array) / sizeof *(array))
#define N_GRANULARITIES COUNT (granularities)

typedef struct Targets
{
  Bench bench; /* of the current sweep */
  unsigned reached, short_of;
  bool wrong;
} Targets;

/* A throughput in Gpix/s, or a ratio of two; 0: not measured. */
typedef struct Figure
{
  double total; /* all pixels over all time */
  double mean;  /* mean of throughputs, for which the targets were set */
} Figure;

/* Prints a figure and its target, a minimum or a maximum. @total is 0 for figures that are not
 * means. */
static void
print_target (Targets *self, const char *what, double total, double measured, bool least,
              double target, const char *unit)
{
  bool ok = least ? measured >= target : measured <= target;

  printf ("  %-62s", what);
  if (measured <= 0) {
    printf (" not measured\n");
    return;
  }
  self->reached += ok;
  self->short_of += !ok;
  if (total > 0)
    printf (" %8.2f", total);
  else
    printf (" %8s", "");
  printf (" %8.2f, at %s %7.2f %-6s %s\n", measured, least ? "least" : "most ", target, unit,
          ok ? "" : "SHORT");
}

static void
print_least (Targets *self, const char *what, Figure figure, double target, const char *unit)
{
  print_target (self, what, figure.total, figure.mean, true, target, unit);
}

static void
print_heading (void)
{
  printf ("  %-62s %8s %8s\n", "", "all p/t", "mean");
}

/* Measures with these options and those of the command line. */
static void
sweep (Targets *self, const char *const *options, int argc, char **argv)
{
  char *all[MOST_OPTIONS] = { argv[0] };
  int n = 1;

  memset (&self->bench, 0, sizeof self->bench);
  for (; *options; options++)
    all[n++] = (char *) *options;
  for (int i = 1; i < argc && n < MOST_OPTIONS - 1; i++)
    all[n++] = argv[i];
  bench_parse_options (&self->bench.options, n, all);
  bench_find_files (&self->bench);
  bench_find_contenders (&self->bench);
  bench_sweep (&self->bench);
  self->wrong |= self->bench.failed;
}

static void
sweep_clear (Targets *self)
{
  bench_clear_frames (&self->bench);
  bench_clear_files (&self->bench);
  free (self->bench.results);
}

static const char *
granularity_name (uint32_t granularity)
{
  static char name[16];

  snprintf (name, sizeof name, granularity == BENCH_FULL ? "full" : "g=%u", granularity);
  return name;
}

static Figure
throughput (const Targets *self, const char *name, unsigned connectivity, BenchSize size,
            uint32_t granularity)
{
  return (Figure){ report_throughput (&self->bench, name, connectivity, size, granularity),
                   report_mean_throughput (&self->bench, name, connectivity, size, granularity) };
}

/* The ratio of two figures; 0 if one is missing. */
static Figure
divide (Figure a, Figure b)
{
  return (Figure){ b.total > 0 ? a.total / b.total : 0, b.mean > 0 ? a.mean / b.mean : 0 };
}

/* How many times as fast as @other @name is. */
static Figure
times_faster (const Targets *self, const char *name, unsigned connectivity, const char *other,
              unsigned other_connectivity, BenchSize size, uint32_t granularity)
{
  return divide (throughput (self, name, connectivity, size, granularity),
                 throughput (self, other, other_connectivity, size, granularity));
}

static bool
is_of (const BenchResult *result, const char *name, BenchSize size)
{
  return strcmp (contender_name (result->contender), name) == 0 && result->mode == BENCH_ANALYSIS &&
         !result->image.path && result->image.size.width == size.width &&
         result->image.size.height == size.height;
}

static bool
same_image (const BenchResult *a, const BenchResult *b)
{
  return a->contender->connectivity == b->contender->connectivity &&
         a->image.granularity == b->image.granularity && a->image.density == b->image.density;
}

/* The least ratio of @other's and @name's times over all random images of a size. */
static double
least_ratio (const Targets *self, const char *name, const char *other, BenchSize size)
{
  const Bench *bench = &self->bench;
  double least = 0;

  for (size_t i = 0; i < bench->n_results; i++) {
    const BenchResult *a = &bench->results[i];

    for (size_t k = 0; k < bench->n_results && is_of (a, name, size); k++) {
      const BenchResult *b = &bench->results[k];
      double ratio = (double) b->median / (double) a->median;

      if (is_of (b, other, size) && same_image (a, b) && (least <= 0 || ratio < least))
        least = ratio;
    }
  }
  return least;
}

/* The longest time over all random images of a size, in microseconds. */
static double
slowest (const Targets *self, const char *name, BenchSize size)
{
  const Bench *bench = &self->bench;
  double most = 0;

  for (size_t i = 0; i < bench->n_results; i++)
    if (is_of (&bench->results[i], name, size) && (double) bench->results[i].median / 1e3 > most)
      most = (double) bench->results[i].median / 1e3;
  return most;
}

/* The highest rate at which empty images are read, in GB/s. */
static double
empty_rate (const Targets *self, const char *name, BenchSize size)
{
  const Bench *bench = &self->bench;
  double most = 0;

  for (size_t i = 0; i < bench->n_results; i++) {
    const BenchResult *r = &bench->results[i];
    double rate = (double) size.width * size.height / (double) r->median;

    if (is_of (r, name, size) && r->image.density == 0 && rate > most)
      most = rate;
  }
  return most;
}

/* How many times as fast as @other @name is on all files. */
static double
times_faster_on_files (const Targets *self, const char *name, const char *other,
                       unsigned connectivity)
{
  const Bench *bench = &self->bench;
  double ours = 0, theirs = 0;

  for (size_t i = 0; i < bench->n_results; i++) {
    const BenchResult *r = &bench->results[i];

    if (!r->image.path || r->mode != BENCH_ANALYSIS || r->contender->connectivity != connectivity)
      continue;
    if (strcmp (contender_name (r->contender), name) == 0)
      ours += (double) r->median;
    if (strcmp (contender_name (r->contender), other) == 0)
      theirs += (double) r->median;
  }
  return ours > 0 ? theirs / ours : 0;
}

/* The throughput of analyses with label map; 0 if it failed. */
static Figure
map_throughput (void)
{
  enum
  {
    RUNS = 9,
    DENSITIES = 11
  };
  TestImage image = test_image_new (MAP_SIDE, MAP_SIDE);
  TestArena arena = { .memory = CCL_MEMORY_DEVICE };
  static const TestPlacement placement = { .slack = TEST_SLACK_FRONT };
  CclAnalyzer *analyzer = NULL;
  CclComponents components;
  CclConfig config;
  CclParams params;
  CclLabels labels;
  Mt19937 rng;
  double throughputs = 0, time = 0;
  bool ok;

  ccl_config_init (&config, MAP_SIDE, MAP_SIDE);
  ccl_params_init (&params);
  config.backend = CCL_BACKEND_CUDA;
  config.device = TEST_DEVICE;
  config.connectivity = 4;
  config.labels = config.timing = true;
  config.max_components = MAP_SIDE * MAP_SIDE / 100; /* more than images of this granularity have */
  ok = ccl_analyzer_new (&config, &analyzer) == CCL_OK;
  mt19937_seed (&rng, 1);
  for (int d = 0; d < DENSITIES && ok; d++) {
    uint64_t times[RUNS], median;
    CclImage placed;

    test_noise_draw (&image, d / 10.0, MAP_GRANULARITY, &rng);
    placed = test_arena_place (&arena, &image, &placement);
    for (int i = 0; i < RUNS && ok; i++) {
      CclTiming timing;

      ok = ccl_analyzer_analyze (analyzer, &placed, &params, &components) == CCL_OK &&
           ccl_analyzer_labels (analyzer, &labels) == CCL_OK;
      ccl_analyzer_timing (analyzer, &timing);
      times[i] = timing.analysis;
    }
    median = bench_median (times, RUNS);
    throughputs += (double) MAP_SIDE * MAP_SIDE / (double) median;
    time += (double) median;
  }
  if (!ok)
    fprintf (stderr, "label maps: %s\n", ccl_last_error ());
  ccl_analyzer_free (analyzer);
  test_arena_clear (&arena);
  test_image_clear (&image);
  if (!ok)
    return (Figure){ 0 };
  return (Figure){ (double) MAP_SIDE * MAP_SIDE * DENSITIES / time, throughputs / DENSITIES };
}

static const char *
best_algorithm (CclBackend backend)
{
  const CclAlgorithm *algorithm;

  for (size_t i = 0; (algorithm = ccl_algorithm (i)); i++)
    if (algorithm->backend == backend)
      return algorithm->name;
  return "none";
}

static void
print_gpu_throughputs (Targets *self, const char *best)
{
  static const struct
  {
    BenchSize size;
    double least[N_GRANULARITIES];
  } sizes[] = {
    { { 8192, 8192 }, { 400, 800, 1200, 1600 } },
    { { 1920, 1080 }, { 60, 110, 140, 150 } },
  };
  char what[128];

  for (size_t s = 0; s < 2; s++) {
    BenchSize size = sizes[s].size;

    for (size_t g = 0; g < N_GRANULARITIES; g++) {
      snprintf (what, sizeof what, "%ux%u, %s", size.width, size.height,
                granularity_name (granularities[g]));
      print_least (self, what, throughput (self, best, 4, size, granularities[g]),
                   sizes[s].least[g], "Gpix/s");
    }
    for (size_t g = 0; g < N_GRANULARITIES; g++) {
      snprintf (what, sizeof what, "%ux%u, %s, 8-connectivity, share of 4-connectivity's",
                size.width, size.height, granularity_name (granularities[g]));
      print_least (self, what, times_faster (self, best, 8, best, 4, size, granularities[g]), 0.75,
                   "");
    }
  }
}

static void
measure_gpu (Targets *self, int argc, char **argv)
{
  const char *best = best_algorithm (CCL_BACKEND_CUDA);
  char algorithms[128];
  const char *options[] = { "--backend=cuda",
                            "--size=8192x8192,1920x1080",
                            "--granularity=1,4,16",
                            "--density=0:100:10",
                            "--random",
                            algorithms,
                            NULL };

  if (!test_device_available ()) {
    ccl_cuda_device_count ();
    printf ("GPU: %s\n", ccl_last_error ());
    return;
  }
  snprintf (algorithms, sizeof algorithms, "--algorithms=%s,flsl-cd", best);
  sweep (self, options, argc, argv);
  printf ("\nGPU, %s; targets for an H200\n", best);
  print_heading ();
  print_gpu_throughputs (self, best);
  print_target (self, "8192x8192, times flsl-cd, at any density and granularity", 0,
                least_ratio (self, best, "flsl-cd", large), true, 2.5, "");
  print_target (self, "1920x1080, times flsl-cd, at any density and granularity", 0,
                least_ratio (self, best, "flsl-cd", hd), true, 2.5, "");
  print_target (self, "1920x1080, slowest frame", 0, slowest (self, best, hd), false, 80, "us");
  print_target (self, "8192x8192, empty, share of the memory's rate", 0,
                empty_rate (self, best, large) / test_device_rate (), true, 0.5, "");
  print_least (self, "8192x8192, g=4, with label map", map_throughput (), MAP_TARGET, "Gpix/s");
  sweep_clear (self);
}

static void
print_cpu_against_opencv (Targets *self, const char *best)
{
  static const double least[] = { 5, 10, 20 };
  char what[128];

  for (unsigned connectivity = 4; connectivity <= 8; connectivity += 4) {
    for (size_t g = 0; g < 3; g++) {
      snprintf (what, sizeof what, "1920x1080, %s, %u-connectivity, times OpenCV",
                granularity_name (granularities[g]), connectivity);
      print_least (
          self, what,
          times_faster (self, best, connectivity, "opencv", connectivity, hd, granularities[g]),
          least[g], "");
    }
    if (self->bench.n_files) {
      snprintf (what, sizeof what, "given images, %u-connectivity, times OpenCV", connectivity);
      print_target (self, what, 0, times_faster_on_files (self, best, "opencv", connectivity), true,
                    20, "");
    }
  }
  for (size_t g = 0; g < 3; g++) {
    Figure ratio;

    snprintf (what, sizeof what, "1920x1080, %s, time of 8-connectivity, times 4's",
              granularity_name (granularities[g]));
    ratio = times_faster (self, best, 4, best, 8, hd, granularities[g]);
    print_target (self, what, ratio.total, ratio.mean, false, 1.2, "");
  }
}

/* One thread and two, in separate sweeps: threads that wait for other contenders go to sleep and
 * find cold caches. */
static void
measure_threads (Targets *self, const char *best, int argc, char **argv)
{
  char algorithms[128], two[64], what[128];
  const char *options[] = { CPU_OPTIONS, "--random", "--no-full", algorithms, NULL, NULL };
  Figure one[2][3];

  snprintf (algorithms, sizeof algorithms, "--algorithms=%s", best);
  snprintf (two, sizeof two, "%s/2", best);
  sweep (self, options, argc, argv);
  for (unsigned c = 0; c < 2; c++)
    for (size_t g = 0; g < 3; g++)
      one[c][g] = throughput (self, best, 4 + 4 * c, hd, granularities[g]);
  sweep_clear (self);

  options[COUNT (options) - 2] = "--threads=2";
  sweep (self, options, argc, argv);
  for (unsigned c = 0; c < 2; c++) {
    for (size_t g = 0; g < 3; g++) {
      Figure both = throughput (self, two, 4 + 4 * c, hd, granularities[g]);

      snprintf (what, sizeof what, "1920x1080, %s, %u-connectivity, two threads, times one",
                granularity_name (granularities[g]), 4 + 4 * c);
      print_least (self, what, divide (both, one[c][g]), 1.6, "");
    }
  }
  sweep_clear (self);
}

static void
measure_cpu (Targets *self, int argc, char **argv)
{
  const char *best = best_algorithm (CCL_BACKEND_CPU);
  char algorithms[128];
  const char *options[] = { CPU_OPTIONS, "--random", "--no-full", algorithms, NULL };
  bool have_opencv = false;

  for (size_t i = 0; peer (i); i++)
    have_opencv |= strcmp (peer (i)->name, "opencv") == 0;
  snprintf (algorithms, sizeof algorithms, "--algorithms=%s%s", best, have_opencv ? ",opencv" : "");
  sweep (self, options, argc, argv);
  printf ("\nCPU, %s%s\n", best,
          have_opencv ? "" : "; no OpenCV in this build to compare with: install libopencv-dev");
  print_heading ();
  print_cpu_against_opencv (self, best);
  sweep_clear (self);
  measure_threads (self, best, argc, argv);
}

/* Whether the command line selects another backend. */
static bool
is_left_out (const char *backend, int argc, char **argv)
{
  for (int i = 1; i < argc; i++)
    if (strncmp (argv[i], "--backend=", 10) == 0)
      return strcmp (argv[i] + 10, backend) != 0;
  return false;
}

int
targets_main (int argc, char **argv)
{
  static Targets targets; /* too large for some stacks */

  if (argc > 1 && strcmp (argv[1], "--help") == 0) {
    fputs (usage, stdout);
    return EXIT_SUCCESS;
  }
  if (!is_left_out ("cuda", argc, argv))
    measure_gpu (&targets, argc, argv);
  if (!is_left_out ("cpu", argc, argv))
    measure_cpu (&targets, argc, argv);
  printf ("\n%u targets reached, %u not\n", targets.reached, targets.short_of);
  return targets.wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
