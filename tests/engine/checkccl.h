/* cudaccl - checkccl: every algorithm of every backend against the reference
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_ENGINE_CHECKCCL_H
#define TESTS_ENGINE_CHECKCCL_H

#include "engine/cpu/functions.h"
#include "tests/lib/arena.h"
#include "tests/lib/image.h"
#include "tests/lib/mt19937.h"

#define CHECK_MAX_ALGORITHMS 128
#define CHECK_MEMORIES 3 /* the kinds of CclMemory */

/* How much is tested: SMALL is for tools that make a program a hundred times slower, TINY for the
 * emulated device. */
typedef enum Effort
{
  EFFORT_TINY,
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
  bool list, verbose;
} Options;

/* A frame's parameters, independent of the algorithm. */
typedef struct Setup
{
  CclParams params;
  uint32_t max_components; /* 0: as many as the image can have, up to a limit */
  bool second_order;
  bool labels;     /* with label map */
  unsigned shapes; /* CclShapeFlags */
  CclValues values;
} Setup;

/* How the CPU backend works; results do not depend on it. */
typedef struct CpuSetup
{
  const CclCpuFunctions *functions; /* NULL: the best */
  unsigned threads;                 /* 0: one */
  uint32_t strip_pixels;            /* as in CclCpuTuning; 0: default */
} CpuSetup;

/* Everything needed to repeat an analysis. */
typedef struct Case
{
  const TestImage *image;
  Setup setup;
  const CclAlgorithm *algorithm;
  unsigned connectivity;
  CclMemory memory;
  TestPlacement placement;
  CpuSetup cpu;
  CclUpload upload;
} Case;

/* An analyzer that is reused. */
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
  const char *test;    /* the running one */
  uint64_t tests, failed;
  unsigned runs; /* analyses compared; 0: there was nothing to test */
  unsigned reported[CHECK_MAX_ALGORITHMS];
  Slot slots[CHECK_MAX_ALGORITHMS][2];
  TestArena arenas[CHECK_MEMORIES];
} Check;

typedef struct Test
{
  const char *name;
  void (*run) (Check *check);
} Test;

/* Tests; a NULL name ends the table. */
extern const Test reference_tests[];
extern const Test error_tests[];
extern const Test frame_tests[];
extern const Test setting_tests[];
extern const Test analyzer_tests[];
extern const Test label_tests[];
extern const Test memory_tests[];
extern const Test allocation_tests[];
extern const Test array_tests[];
extern const Test cpu_tests[];
extern const Test shape_tests[];
extern const Test volume_tests[];
extern const Test batch_tests[];
extern const Test update_tests[];
extern const Test mask_tests[];
extern const Test cleaning_tests[];
extern const Test motion_tests[];
extern const Test light_tests[];
extern const Test place_tests[];
extern const Test color_tests[];
extern const Test sample_tests[];
extern const Test value_tests[];
extern const Test crop_tests[];
extern const Test completion_tests[];
extern const Test failure_tests[];
extern const Test signature_tests[];

/* run.c: analyses a frame with all algorithms. */

void setup_init (Setup *setup);
CclConfig case_config (const Case *c);

/* Makes an analyzer for the case. */
CclStatus case_open (const Case *c, CclAnalyzer **analyzer);

/* Puts the case's image where and how it wants it. */
CclImage case_place (const Case *c, TestArena *arena);

/* Whether this build has an algorithm. */
bool check_has_algorithm (const char *name);

/* Whether the options select this algorithm and connectivity, and the machine can run it. */
bool check_wants (const Check *check, const CclAlgorithm *algorithm, unsigned connectivity);

/* Calls @run for every selected algorithm and connectivity, on the CPU with one and with several
 * threads, for frames of bytes and of bits. */
void check_each_algorithm (Check *check, void (*run) (Check *check, const Case *c));

/* Analyses the image with every selected algorithm and connectivity, from every kind of memory,
 * placed at random, as bytes and as bits; compares with the reference. */
void check_frame (Check *check, const TestImage *image, const Setup *setup);

/* Like check_frame(), with the given placement. */
void check_frame_placed (Check *check, const TestImage *image, const Setup *setup,
                         const TestPlacement *placement);

/* Whether the case fails with a new analyzer. */
bool case_fails (Check *check, const Case *c);

/* The reference's result. */
CclComponents case_expected (const Case *c);

/* The reference's label map for a case with labels, else NULL. Free it with free(). */
uint32_t *case_expected_labels (const Case *c);

/* The reference's number of components at the default threshold. */
uint32_t count_components (const TestImage *image, unsigned connectivity);

bool components_equal (const CclComponents *a, const CclComponents *b);

/* Sets the message to print if the program crashes from here on. */
void check_on_crash (const Check *check, const Case *c);

/* Counts one test: passed if @status is CCL_OK and @got equals @expected (NULL: the reference's
 * result is computed); reports a failure. */
bool check_result (Check *check, const Case *c, CclStatus status, const CclComponents *got,
                   const CclComponents *expected);

/* Counts one test of a case with labels: passed if the analyzer's label map equals @expected;
 * reports a failure. */
bool check_labels (Check *check, const Case *c, CclAnalyzer *analyzer, const uint32_t *expected);

/* The index of the first pixel with a wrong label; SIZE_MAX if there is none. */
size_t labels_difference (const Case *c, const CclLabels *labels, const uint32_t *expected);

/* Whether to test what all algorithms of a backend share: it can run, and no other backend and no
 * algorithm was chosen. */
bool check_wants_backend (const Check *check, CclBackend backend);

/* Counts one test; prints the message if it failed. Returns @ok. */
bool check_that (Check *check, bool ok, const char *format, ...)
    __attribute__ ((format (printf, 3, 4)));

void check_clear (Check *check);

/* report.c */

void report_failure (Check *check, const Case *c, CclStatus status, const CclComponents *got,
                     const CclComponents *expected);

void report_labels (Check *check, const Case *c, CclStatus status, const CclLabels *got,
                    const uint32_t *expected);

/* shrink.c */

/* Makes an image for which @fails is true as small as possible: drops rows and columns, then
 * turns pixels to @background, as long as @fails stays true. Stops after @seconds. */
TestImage shrink_image (const TestImage *image, uint8_t background,
                        bool (*fails) (const TestImage *image, void *data), void *data,
                        double seconds);

#endif
