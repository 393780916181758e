/* cudaccl - ccl-bench: the command line
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/bench.h"
#include "tests/lib/parse.h"

#include <stdlib.h>

static const char usage[] = "\
Usage: ccl-bench [OPTION...]\n\
       ccl-bench pipeline [OPTION...]  measures the element in pipelines\n\
       ccl-bench motion [OPTION...]    measures background models\n\
       ccl-bench morphology [OPTION...] measures operations on masks\n\
       ccl-bench volume [OPTION...]    measures masks stacked as a volume\n\
(each of them has a --help of its own)\n\
Measures connected component analysis on random images by density and granularity. Every result is\n\
compared with the reference first. Throughput is printed as all pixels over all time: the pixels of\n\
all densities over the sum of their median times. The mean of throughputs, which easy images\n\
dominate, is printed beside it.\n\
\n\
  --size=WxH,...         sizes (1920x1080)\n\
  --granularity=N,...    sides of the random squares in pixels (1,4,16)\n\
  --density=A:B:STEP     shares of foreground in per cent (0:100:10); one number is one density\n\
  --no-full              without the full image\n\
  --images=PATH          a PGM, PBM or PNG file or a folder of them instead; may be repeated\n\
  --random               random images in addition to files\n\
  --algorithms=NAME,...  only these algorithms and peers\n\
  --connectivity=N,...   4, 8 or both (4,8)\n\
  --backend=NAME         only cpu (and peers) or only cuda\n\
  --threads=N,...        numbers of threads of the CPU backend (1)\n\
  --simd=NAME,...        instruction sets of the CPU backend: all, or some of c, avx2, avx-512, neon\n\
                         (the best of this CPU)\n\
  --batch=N,...          frames of the CUDA backend analysed at once (1); times are per frame\n\
  --runs=N               runs of each on every image (20)\n\
  --seconds=S            time limit for an algorithm and image, after three runs (2)\n\
  --end-to-end           measures with host copies, by the host's clock, too\n\
  --updates              counts feature updates and their conflicts, too\n\
  --paper=NAME           repeats a paper's experiments and prints its figures beside: hennequin\n\
                         (2018), kalentev (2011), allegretti (2020), lemaitre (2021) or torchcc;\n\
                         other options override the paper's\n\
  --stages               measures the stages of CUDA algorithms, and labelling alone, too\n\
  --labels               makes the label map, too\n\
  --no-check             does not check the results before measuring\n\
  --max-components=N     capacity of the result (a seventh of the pixels)\n\
  --seed=N               seed of the images (1)\n\
  --csv=FILE             writes every measurement as a line, at once\n\
  --json=FILE            writes every measurement and the machine, for plot.py\n\
  --verbose              progress on standard error even if it is not a terminal\n\
  --help                 prints this help\n\
\n\
Exit status: 0, 1 if a result was wrong, 77 if there was nothing to measure.\n";

/* Parses a number at *@text and moves *@text behind it. */
static uint32_t
number (const char **text, uint32_t least, uint32_t most)
{
  return (uint32_t) test_parse_number (text, least, most);
}

/* Skips the separator at *@text; false if it is not there. */
static bool
skip (const char **text, char separator)
{
  if (**text != separator)
    return false;
  (*text)++;
  return true;
}

/* The first of a repeated option replaces the defaults, the others add to it. */
static void
set_sizes (void *data, const char *text)
{
  BenchOptions *options = data;

  if (!options->sizes_given)
    options->n_sizes = 0;
  options->sizes_given = true;
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

/* Parses a list of numbers separated by commas. */
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
set_granularities (void *data, const char *text)
{
  BenchOptions *options = data;

  parse_list (options->granularities, &options->n_granularities, 65536, "granularities", text);
}

static void
set_threads (void *data, const char *text)
{
  BenchOptions *options = data;

  parse_list (options->threads, &options->n_threads, CCL_MAX_THREADS, "numbers of threads", text);
}

static void
set_batches (void *data, const char *text)
{
  BenchOptions *options = data;

  parse_list (options->batches, &options->n_batches, BENCH_MAX_BATCH, "batch sizes", text);
}

static void
set_densities (void *data, const char *text)
{
  BenchOptions *options = data;

  options->density_first = options->density_last = number (&text, 0, 100);
  options->density_step = 10;
  if (skip (&text, ':'))
    options->density_last = number (&text, options->density_first, 100);
  if (skip (&text, ':'))
    options->density_step = number (&text, 1, 100);
  test_parse_end (text);
}

static void
set_connectivity (void *data, const char *text)
{
  BenchOptions *options = data;

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
add_images (void *data, const char *path)
{
  BenchOptions *options = data;

  if (options->n_images == BENCH_MAX_LIST)
    test_fatal ("more than %d files and folders", BENCH_MAX_LIST);
  options->images[options->n_images++] = path;
}

static void
set_seconds (void *data, const char *text)
{
  char *end;
  double seconds = strtod (text, &end);

  if (end == text || *end || !(seconds >= 0))
    test_fatal ("'%s' is not a time in seconds", text);
  ((BenchOptions *) data)->seconds = seconds;
}

static void
set_no_full (void *data, const char *text)
{
  ((BenchOptions *) data)->full = false;
}

static void
set_no_check (void *data, const char *text)
{
  ((BenchOptions *) data)->check = false;
}

static void
set_algorithms (void *data, const char *text)
{
  BenchOptions *options = data;

  options->algorithms = text;
  options->slow_pixels = 0;
  options->lenient = false;
}

static void
set_neighbours (void *data, const char *text)
{
  uint64_t neighbours = test_parse_whole_number (text, 6, 26);

  if (neighbours != 6 && neighbours != 18 && neighbours != 26)
    test_fatal ("voxels have 6, 18 or 26 neighbours, not %s", text);
  ((BenchOptions *) data)->neighbours = (unsigned) neighbours;
}

static void
set_backend (void *data, const char *text)
{
  ((BenchOptions *) data)->backend = test_parse_backend (text);
}

static void
set_paper (void *data, const char *text)
{
  BenchOptions *options = data;

  options->paper = papers_find (text);
  papers_set_options (options, options->paper);
}

#define MEMBER(name) .member = offsetof (BenchOptions, name)

static const TestOption option_table[] = {
  { "size", TEST_CALL, .call = set_sizes },
  { "granularity", TEST_CALL, .call = set_granularities },
  { "density", TEST_CALL, .call = set_densities },
  { "no-full", TEST_CALL_FLAG, .call = set_no_full },
  { "images", TEST_CALL, .call = add_images },
  { "random", TEST_FLAG, MEMBER (random) },
  { "algorithms", TEST_CALL, .call = set_algorithms },
  { "connectivity", TEST_CALL, .call = set_connectivity },
  { "neighbours", TEST_CALL, .call = set_neighbours },
  { "backend", TEST_CALL, .call = set_backend },
  { "threads", TEST_CALL, .call = set_threads },
  { "simd", TEST_TEXT, MEMBER (simd) },
  { "batch", TEST_CALL, .call = set_batches },
  { "runs", TEST_NUMBER, MEMBER (runs), .least = 1, .most = 1000000 },
  { "seconds", TEST_CALL, .call = set_seconds },
  { "end-to-end", TEST_FLAG, MEMBER (end_to_end) },
  { "updates", TEST_FLAG, MEMBER (updates) },
  { "paper", TEST_CALL, .call = set_paper, .early = true },
  { "stages", TEST_FLAG, MEMBER (stages) },
  { "labels", TEST_FLAG, MEMBER (labels) },
  { "no-check", TEST_CALL_FLAG, .call = set_no_check },
  { "max-components", TEST_NUMBER, MEMBER (max_components), .least = 1, .most = UINT32_MAX },
  { "seed", TEST_NUMBER, MEMBER (seed), .most = UINT32_MAX },
  { "csv", TEST_TEXT, MEMBER (csv) },
  { "json", TEST_TEXT, MEMBER (json) },
  { "verbose", TEST_FLAG, MEMBER (verbose) },
  { NULL },
};

void
bench_parse_options (BenchOptions *options, int argc, char **argv)
{
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
    .neighbours = 26,
    .threads = { 1 },
    .n_threads = 1,
    .batches = { 1 },
    .n_batches = 1,
    .runs = 20,
    .seconds = 2,
    .check = true,
    .seed = 1,
  };
  test_parse_options (option_table, "ccl-bench", usage, argc, argv, options);
  if (options->n_images == 0)
    options->random = true;
}
