/* cudaccl - ccl-bench: the papers' density x granularity sweeps
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include "ccl/ccl.h"
#include "ccl/cpu/functions.h"
#include "tests/bench/peers.h"
#include "tests/common/arena.h"
#include "tests/common/image.h"

#include <stdio.h>

#define BENCH_MAX_LIST 64
#define BENCH_MAX_CONTENDERS 256

/* The granularity of the full image in results: there are no squares to speak of. */
#define BENCH_FULL 0

typedef struct BenchSize
{
  uint32_t width, height;
} BenchSize;

typedef struct BenchOptions
{
  BenchSize sizes[BENCH_MAX_LIST];
  size_t n_sizes;
  uint32_t granularities[BENCH_MAX_LIST];
  size_t n_granularities;
  uint32_t density_first, density_last, density_step; /* per cent */
  bool full;                                          /* the full image too */
  const char *algorithms;                             /* names with commas; NULL: all */
  unsigned connectivity;                              /* 4, 8, or 4 | 8 */
  unsigned threads[BENCH_MAX_LIST];                   /* of the CPU backend */
  size_t n_threads;
  const char *simd; /* instruction sets of the CPU backend, with commas; NULL: the best */
  CclBackend backend;
  unsigned runs;
  double seconds; /* at most for one image and contender, once it has had three runs */
  bool end_to_end;
  bool check;
  uint32_t max_components; /* 0: as many as random images have */
  uint32_t seed;
  const char *csv;
  bool verbose;
} BenchOptions;

typedef enum BenchMode
{
  BENCH_ANALYSIS,   /* the image where the contender wants it, no copies: what the papers time */
  BENCH_END_TO_END, /* from pageable host memory to components in host memory, by the clock */
  BENCH_MODES,
} BenchMode;

/* One of our algorithms or a peer, at one connectivity. */
typedef struct Contender
{
  const CclAlgorithm *algorithm; /* NULL for a peer */
  const Peer *peer;              /* NULL for an algorithm */
  unsigned connectivity;
  unsigned threads;                 /* of the CPU backend */
  const CclCpuFunctions *functions; /* of the CPU backend; NULL: the best */
  char name[32];
  CclAnalyzer *analyzer; /* of the current size */
  void *state;           /* the peer's */
  bool out;              /* did not open or was wrong: not measured any more */
} Contender;

/* What one contender took for one image. */
typedef struct BenchResult
{
  BenchSize size;
  const Contender *contender;
  BenchMode mode;
  uint32_t granularity; /* BENCH_FULL for the full image */
  uint32_t density;     /* per cent */
  uint32_t components;
  unsigned runs;
  uint64_t median, minimum; /* ns */
} BenchResult;

typedef struct Bench
{
  BenchOptions options;
  Contender contenders[BENCH_MAX_CONTENDERS];
  size_t n_contenders;
  TestArena host, device;
  BenchResult *results;
  size_t n_results;
  FILE *csv;
  bool failed; /* some contender was wrong */
} Bench;

/* options.c */

void bench_parse_options (BenchOptions *options, int argc, char **argv);

/* contender.c */

/* Lists the contenders that the options ask for and this machine has. */
void bench_find_contenders (Bench *bench);

/* The algorithm or peer, the instruction set if one was asked for, the threads if more than one. */
const char *contender_name (const Contender *contender);

/* "cuda", "cpu" or "peer". */
const char *contender_kind (const Contender *contender);

/* Size and capacity, the same for everybody. */
void bench_config (CclConfig *config, const BenchOptions *options, BenchSize size);

/* Gets ready for a size; out if that fails. */
void contender_open (Contender *contender, const BenchOptions *options, BenchSize size);
void contender_close (Contender *contender);

/* One run on the image that lies in @bench's memories; its duration in nanoseconds, 0 if it failed,
 * which puts the contender out. */
uint64_t contender_run (Contender *contender, Bench *bench, BenchMode mode, const CclImage *host,
                        const CclImage *device);

/* Whether the contender's result is @expected; says so if not, and puts it out. */
bool contender_check (Contender *contender, const CclImage *host, const CclImage *device,
                      const CclComponents *expected);

/* sweep.c */

/* Measures everything, one result per contender, mode and image. */
void bench_sweep (Bench *bench);

/* report.c */

void report_csv_header (FILE *file);
void report_csv_line (FILE *file, const BenchResult *result);
void report_machine (Bench *bench);
void report_tables (const Bench *bench);

/* A contender's mean over the densities of the throughput in Gpix/s by the medians, as the papers
 * average; 0 if any is missing. */
double report_throughput (const Bench *bench, const char *name, unsigned connectivity,
                          BenchSize size, uint32_t granularity);

#endif
