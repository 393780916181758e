/* cudaccl - ccl-bench: the command line
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/bench.h"
#include "tests/lib/parse.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "\
Usage: ccl-bench [OPTION...]\n\
       ccl-bench targets [OPTION...]   (what is to be reached; ccl-bench targets --help)\n\
       ccl-bench pipeline [OPTION...]  (the element in pipelines; ccl-bench pipeline --help)\n\
       ccl-bench volume [OPTION...]    (masks as a volume; ccl-bench volume --help)\n\
Measures connected component analysis on random images by density and granularity.\n\
\n\
  --size=WxH,...         sizes (1920x1080)\n\
  --granularity=N,...    sides of the random squares in pixels (1,4,16)\n\
  --density=A:B:STEP     shares of foreground in per cent (0:100:10); one number is one density\n\
  --no-full              leave out the full image\n\
  --images=PATH          a PGM, PBM or PNG file, or a folder of them, instead; may be repeated\n\
  --random               the random images, too\n\
  --algorithms=NAME,...  only these algorithms and peers\n\
  --connectivity=N,...   4, 8 or both (4,8)\n\
  --backend=NAME         only cpu (and peers) or only cuda\n\
  --threads=N,...        threads of the CPU backend, each a contender (1)\n\
  --simd=NAME,...        instruction sets of the CPU backend, each a contender: all, or\n\
                         some of c, avx2, avx-512, neon (the best of this CPU)\n\
  --batch=N,...          frames of the CUDA backend analysed at once, each a contender whose times\n\
                         are those of one frame (1)\n\
  --runs=N               runs of each on every image (20)\n\
  --seconds=S            at most for one algorithm and image, but three runs (2)\n\
  --end-to-end           measure with host copies, by the clock, too\n\
  --updates              count the updates of features and their conflicts, too\n\
  --paper=NUMBER         the experiments of paper 000 to 004, our figures beside the published\n\
                         ones; other options narrow them down\n\
  --stages               measure the stages of CUDA algorithms, too, and what labels alone take\n\
  --labels               make the label map, too\n\
  --no-check             do not compare the results before measuring\n\
  --max-components=N     capacity of the result (a seventh of the pixels)\n\
  --seed=N               of the images (1)\n\
  --csv=FILE             every measurement, one a line, as soon as it is there\n\
  --json=FILE            every measurement, with what it was made on; plot.py draws them\n\
  --verbose              progress on standard error even where that is no terminal\n\
\n\
Exit status: 0, 1 when a result was wrong, 77 when there was nothing to measure.\n";

enum
{
  OPT_SIZE = 256,
  OPT_GRANULARITY,
  OPT_DENSITY,
  OPT_NO_FULL,
  OPT_IMAGES,
  OPT_RANDOM,
  OPT_UPDATES,
  OPT_PAPER,
  OPT_STAGES,
  OPT_LABELS,
  OPT_ALGORITHMS,
  OPT_CONNECTIVITY,
  OPT_BACKEND,
  OPT_THREADS,
  OPT_SIMD,
  OPT_BATCH,
  OPT_RUNS,
  OPT_SECONDS,
  OPT_END_TO_END,
  OPT_NO_CHECK,
  OPT_MAX_COMPONENTS,
  OPT_SEED,
  OPT_CSV,
  OPT_JSON,
  OPT_VERBOSE,
  OPT_HELP,
};

static const struct option long_options[] = {
  { "size", required_argument, NULL, OPT_SIZE },
  { "granularity", required_argument, NULL, OPT_GRANULARITY },
  { "density", required_argument, NULL, OPT_DENSITY },
  { "no-full", no_argument, NULL, OPT_NO_FULL },
  { "images", required_argument, NULL, OPT_IMAGES },
  { "random", no_argument, NULL, OPT_RANDOM },
  { "updates", no_argument, NULL, OPT_UPDATES },
  { "stages", no_argument, NULL, OPT_STAGES },
  { "labels", no_argument, NULL, OPT_LABELS },
  { "paper", required_argument, NULL, OPT_PAPER },
  { "algorithms", required_argument, NULL, OPT_ALGORITHMS },
  { "connectivity", required_argument, NULL, OPT_CONNECTIVITY },
  { "backend", required_argument, NULL, OPT_BACKEND },
  { "threads", required_argument, NULL, OPT_THREADS },
  { "simd", required_argument, NULL, OPT_SIMD },
  { "batch", required_argument, NULL, OPT_BATCH },
  { "runs", required_argument, NULL, OPT_RUNS },
  { "seconds", required_argument, NULL, OPT_SECONDS },
  { "end-to-end", no_argument, NULL, OPT_END_TO_END },
  { "no-check", no_argument, NULL, OPT_NO_CHECK },
  { "max-components", required_argument, NULL, OPT_MAX_COMPONENTS },
  { "seed", required_argument, NULL, OPT_SEED },
  { "csv", required_argument, NULL, OPT_CSV },
  { "json", required_argument, NULL, OPT_JSON },
  { "verbose", no_argument, NULL, OPT_VERBOSE },
  { "help", no_argument, NULL, OPT_HELP },
  { 0 },
};

/* A number at *@text, which moves behind it. */
static uint32_t
number (const char **text, uint32_t least, uint32_t most)
{
  return (uint32_t) test_parse_number (text, least, most);
}

/* The separator at *@text, if it is there; moves behind it. */
static bool
skip (const char **text, char separator)
{
  if (**text != separator)
    return false;
  (*text)++;
  return true;
}

static uint32_t
whole_number (const char *text, uint32_t least, uint32_t most)
{
  return (uint32_t) test_parse_whole_number (text, least, most);
}

/* The first of a repeated option replaces the defaults, the others add to it. */
static void
parse_sizes (BenchOptions *options, bool *given, const char *text)
{
  if (!*given)
    options->n_sizes = 0;
  *given = true;
  do {
    BenchSize *size = &options->sizes[options->n_sizes];

    if (options->n_sizes == BENCH_MAX_LIST)
      test_fatal ("more than %d sizes", BENCH_MAX_LIST);
    size->width = size->height = number (&text, 1, UINT32_MAX);
    if (skip (&text, 'x'))
      size->height = number (&text, 1, UINT32_MAX);
    if ((uint64_t) size->width * size->height > UINT32_MAX)
      test_fatal ("%ux%u is more than 2^32 - 1 pixels", size->width, size->height);
    options->n_sizes++;
  } while (skip (&text, ','));
  test_parse_end (text);
}

/* Numbers with commas. */
static void
parse_list (uint32_t *list, size_t *n, uint32_t most, const char *what, const char *text)
{
  *n = 0;
  do {
    if (*n == BENCH_MAX_LIST)
      test_fatal ("more than %d %s", BENCH_MAX_LIST, what);
    list[(*n)++] = number (&text, 1, most);
  } while (skip (&text, ','));
  test_parse_end (text);
}

static void
parse_densities (BenchOptions *options, const char *text)
{
  options->density_first = options->density_last = number (&text, 0, 100);
  options->density_step = 10;
  if (skip (&text, ':'))
    options->density_last = number (&text, options->density_first, 100);
  if (skip (&text, ':'))
    options->density_step = number (&text, 1, 100);
  test_parse_end (text);
}

static void
parse_connectivity (BenchOptions *options, const char *text)
{
  options->connectivity = 0;
  do {
    uint32_t connectivity = number (&text, 4, 8);

    if (connectivity != 4 && connectivity != 8)
      test_fatal ("connectivity %u is neither 4 nor 8", connectivity);
    options->connectivity |= connectivity;
  } while (skip (&text, ','));
  test_parse_end (text);
}

static void
add_images (BenchOptions *options, const char *path)
{
  if (options->n_images == BENCH_MAX_LIST)
    test_fatal ("more than %d files and folders", BENCH_MAX_LIST);
  options->images[options->n_images++] = path;
}

static double
parse_seconds (const char *text)
{
  char *end;
  double seconds = strtod (text, &end);

  if (end == text || *end || !(seconds >= 0))
    test_fatal ("'%s' is no time in seconds", text);
  return seconds;
}

static void
set_option (BenchOptions *options, bool *sizes_given, int option, const char *argument)
{
  switch (option) {
  case OPT_SIZE:
    parse_sizes (options, sizes_given, argument);
    break;
  case OPT_GRANULARITY:
    parse_list (options->granularities, &options->n_granularities, 65536, "granularities",
                argument);
    break;
  case OPT_DENSITY:
    parse_densities (options, argument);
    break;
  case OPT_NO_FULL:
    options->full = false;
    break;
  case OPT_IMAGES:
    add_images (options, argument);
    break;
  case OPT_RANDOM:
    options->random = true;
    break;
  case OPT_UPDATES:
    options->updates = true;
    break;
  case OPT_STAGES:
    options->stages = true;
    break;
  case OPT_LABELS:
    options->labels = true;
    break;
  case OPT_ALGORITHMS:
    options->algorithms = argument;
    options->slow_pixels = 0;
    options->lenient = false;
    break;
  case OPT_CONNECTIVITY:
    parse_connectivity (options, argument);
    break;
  case OPT_BACKEND:
    options->backend = test_parse_backend (argument);
    break;
  case OPT_THREADS:
    parse_list (options->threads, &options->n_threads, CCL_MAX_THREADS, "numbers of threads",
                argument);
    break;
  case OPT_SIMD:
    options->simd = argument;
    break;
  case OPT_BATCH:
    parse_list (options->batches, &options->n_batches, BENCH_MAX_BATCH, "sizes of batches",
                argument);
    break;
  case OPT_RUNS:
    options->runs = whole_number (argument, 1, 1000000);
    break;
  case OPT_SECONDS:
    options->seconds = parse_seconds (argument);
    break;
  case OPT_END_TO_END:
    options->end_to_end = true;
    break;
  case OPT_NO_CHECK:
    options->check = false;
    break;
  case OPT_MAX_COMPONENTS:
    options->max_components = whole_number (argument, 1, UINT32_MAX);
    break;
  case OPT_SEED:
    options->seed = whole_number (argument, 0, UINT32_MAX);
    break;
  case OPT_CSV:
    options->csv = argument;
    break;
  case OPT_JSON:
    options->json = argument;
    break;
  case OPT_VERBOSE:
    options->verbose = true;
    break;
  case OPT_HELP:
    fputs (usage, stdout);
    exit (EXIT_SUCCESS);
  default:
    fputs ("Try ccl-bench --help.\n", stderr);
    exit (EXIT_FAILURE);
  }
}

void
bench_parse_options (BenchOptions *options, int argc, char **argv)
{
  bool sizes_given = false;
  int option;

  *options = (BenchOptions){
    .sizes = { { 1920, 1080 } },
    .n_sizes = 1,
    .granularities = { 1, 4, 16 },
    .n_granularities = 3,
    .density_last = 100,
    .density_step = 10,
    .full = true,
    .paper = BENCH_NO_PAPER,
    .connectivity = 4 | 8,
    .threads = { 1 },
    .n_threads = 1,
    .batches = { 1 },
    .n_batches = 1,
    .runs = 20,
    .seconds = 2,
    .check = true,
    .seed = 1,
  };
  /* Papers first, so that what else is given holds. */
  while ((option = getopt_long (argc, argv, "", long_options, NULL)) != -1) {
    if (option == OPT_PAPER) {
      options->paper = whole_number (optarg, 0, 4);
      papers_set_options (options, options->paper);
    }
  }
  optind = 1;
  while ((option = getopt_long (argc, argv, "", long_options, NULL)) != -1)
    if (option != OPT_PAPER)
      set_option (options, &sizes_given, option, optarg);
  if (optind < argc)
    test_fatal ("'%s' is not an option; try ccl-bench --help", argv[optind]);
  if (options->n_images == 0)
    options->random = true;
}
