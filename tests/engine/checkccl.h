/* cudaccl - checkccl: every algorithm of every backend against the reference
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_CHECKCCL_CHECKCCL_H
#define TESTS_CHECKCCL_CHECKCCL_H

#include "ccl/cpu/functions.h"
#include "tests/lib/arena.h"
#include "tests/lib/image.h"
#include "tests/lib/mt19937.h"

#define CHECK_MAX_ALGORITHMS 128
#define CHECK_MEMORIES 3 /* the kinds of CclMemory */

/* How much is done: SMALL is for tools that slow a program down a hundredfold. */
typedef enum Effort
{
  EFFORT_SMALL,
  EFFORT_QUICK,
  EFFORT_NORMAL,
  EFFORT_FULL,
} Effort;

typedef struct Options
{
  uint32_t seed;
  const char *algorithm; /* NULL: all */
  unsigned connectivity; /* 0: both */
  CclBackend backend;    /* CCL_BACKEND_AUTO: all */
  const char *test;      /* glob; NULL: all */
  Effort effort;
  const char *dump;  /* folder for failing images */
  const char *image; /* PGM file to replay */
  CclParams params;  /* of the replay */
  uint32_t max_components;
  bool second_order, labels;
  bool bench, list, verbose, inject_fault;
} Options;

/* What a frame is analysed with, whatever the algorithm. */
typedef struct Setup
{
  CclParams params;
  uint32_t max_components; /* 0: as many as the image can have, within reason */
  bool second_order;
  bool labels; /* the label map, too */
} Setup;

/* How the CPU backend works, which no result depends on. */
typedef struct CpuSetup
{
  const CclCpuFunctions *functions; /* NULL: the best */
  unsigned threads;                 /* 0: one */
  uint32_t strip_pixels;            /* as in CclCpuTuning; 0: as usual */
} CpuSetup;

/* One analysis: what it takes to do it again. */
typedef struct Case
{
  const TestImage *image;
  Setup setup;
  const CclAlgorithm *algorithm;
  unsigned connectivity;
  CclMemory memory;
  TestPlacement placement;
  CpuSetup cpu;
} Case;

/* A reusable analyzer. */
typedef struct Slot
{
  CclAnalyzer *analyzer;
  CclConfig config;
  CpuSetup cpu;
} Slot;

typedef struct Check
{
  Options options;
  Mt19937 rng;
  const CpuSetup *cpu; /* for all frames; NULL: drawn for each size */
  const char *test;    /* the one that is running */
  uint64_t tests, failed;
  unsigned runs; /* analyses compared: 0 means that nothing was there to test */
  unsigned reported[CHECK_MAX_ALGORITHMS];
  Slot slots[CHECK_MAX_ALGORITHMS][2];
  TestArena arenas[CHECK_MEMORIES];
  CclComponent *corrupt; /* the injected fault's copy of a result */
} Check;

typedef struct Test
{
  const char *name;
  void (*run) (Check *check);
} Test;

/* Tests, a NULL name past the last. */
extern const Test self_tests[];
extern const Test error_tests[];
extern const Test frame_tests[];
extern const Test setting_tests[];
extern const Test analyzer_tests[];
extern const Test label_tests[];
extern const Test memory_tests[];
extern const Test array_tests[];
extern const Test cpu_tests[];
extern const Test volume_tests[];
extern const Test batch_tests[];
extern const Test update_tests[];

/* run.c: the way of one frame through all algorithms. */

void setup_init (Setup *setup);
CclConfig case_config (const Case *c);

/* Makes an analyzer for the case. */
CclStatus case_open (const Case *c, CclAnalyzer **analyzer);

/* Whether the options let this algorithm and connectivity run. */
bool check_wants (const Check *check, const CclAlgorithm *algorithm, unsigned connectivity);

/* Calls @run for every algorithm and connectivity that the options allow, on the CPU with one and
 * with several threads. */
void check_each_algorithm (Check *check, void (*run) (Check *check, const Case *c));

/* Analyses the image with every algorithm and connectivity that the options allow, from every kind
 * of memory, placed at random; compares with the reference. */
void check_frame (Check *check, const TestImage *image, const Setup *setup);

/* As check_frame(), but placed as told, in every kind of memory. */
void check_frame_placed (Check *check, const TestImage *image, const Setup *setup,
                         const TestPlacement *placement);

/* Analyses the case with an analyzer of its own and says whether that goes wrong. */
bool case_fails (Check *check, const Case *c);

/* The reference's result. */
CclComponents case_expected (const Case *c);

/* The reference's label map, for a case with labels; else NULL. To be freed. */
uint32_t *case_expected_labels (const Case *c);

/* How many components the image has at the default threshold, by the reference. */
uint32_t count_components (const TestImage *image, unsigned connectivity);

bool components_equal (const CclComponents *a, const CclComponents *b);

/* What is printed should the program crash from here on. */
void check_on_crash (const Check *check, const Case *c);

/* Counts one test: passed if @status is CCL_OK and @got is what the reference says (@expected, or
 * computed when that is NULL), otherwise reported. */
bool check_result (Check *check, const Case *c, CclStatus status, const CclComponents *got,
                   const CclComponents *expected);

/* Counts one test of a case with labels: whether the map of the analyzer's last frame is @expected;
 * otherwise reported. */
bool check_labels (Check *check, const Case *c, CclAnalyzer *analyzer, const uint32_t *expected);

/* The first pixel whose label is not the expected one, SIZE_MAX if there is none. */
size_t labels_difference (const Case *c, const CclLabels *labels, const uint32_t *expected);

/* Counts one test; prints the message when it failed. Returns @ok. */
bool check_that (Check *check, bool ok, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

/* With --inject-fault: makes @components wrong where a component is at least 2 x 2 pixels. */
void inject_fault (Check *check, CclComponents *components);

void check_clear (Check *check);

/* report.c */

void report_failure (Check *check, const Case *c, CclStatus status, const CclComponents *got,
                     const CclComponents *expected);

void report_labels (Check *check, const Case *c, CclStatus status, const CclLabels *got,
                    const uint32_t *expected);

/* shrink.c */

/* Makes the image as small as it can while @fails stays true, which it must be at the beginning:
 * drops rows and columns, then turns pixels to @background. Gives up after @seconds. */
TestImage shrink_image (const TestImage *image, uint8_t background,
                        bool (*fails) (const TestImage *image, void *data), void *data,
                        double seconds);

/* bench.c */

void bench_algorithms (Check *check);

#endif
