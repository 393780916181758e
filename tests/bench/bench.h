/* cudaccl - ccl-bench: the papers' density x granularity sweeps
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include "ccl/batch.h"
#include "ccl/ccl.h"
#include "ccl/cpu/functions.h"
#include "tests/bench/peers.h"
#include "tests/lib/arena.h"
#include "tests/lib/image.h"

#include <limits.h>
#include <stdio.h>

#define BENCH_MAX_LIST 64
#define BENCH_MAX_CONTENDERS 256
#define BENCH_MAX_BATCH 256

/* The granularity of the full image in results: there are no squares to speak of. */
#define BENCH_FULL 0

#define BENCH_NO_PAPER UINT_MAX

typedef struct BenchSize
{
  uint32_t width, height;
} BenchSize;

typedef struct BenchOptions
{
  BenchSize sizes[BENCH_MAX_LIST];
  size_t n_sizes;
  bool sizes_given; /* on the command line */
  uint32_t granularities[BENCH_MAX_LIST];
  size_t n_granularities;
  uint32_t density_first, density_last, density_step; /* per cent */
  bool full;                                          /* the full image too */
  bool random;                                        /* any of these */
  const char *images[BENCH_MAX_LIST];                 /* files and folders */
  size_t n_images;
  const char *algorithms;           /* names with commas; NULL: all */
  bool lenient;                     /* some of them may be missing */
  const char *slow;                 /* of them, those that are left out beyond ... */
  uint64_t slow_pixels;             /* ... so many pixels; 0: none are */
  unsigned connectivity;            /* 4, 8, or 4 | 8 */
  unsigned threads[BENCH_MAX_LIST]; /* of the CPU backend */
  size_t n_threads;
  const char *simd; /* instruction sets of the CPU backend, with commas; NULL: the best */
  unsigned batches[BENCH_MAX_LIST]; /* frames in a batch, of the CUDA backend; 1: no batch */
  size_t n_batches;
  CclBackend backend;
  unsigned runs;
  double seconds; /* at most for one image and contender, once it has had three runs */
  bool end_to_end;
  bool updates; /* count them, too */
  bool stages;  /* measure them, too */
  bool labels;  /* with the label map */
  bool check;
  unsigned paper;          /* whose experiments to repeat, 0 to 4; BENCH_NO_PAPER */
  uint32_t max_components; /* 0: as many as random images have */
  uint32_t seed;
  const char *csv, *json;
  bool verbose;
} BenchOptions;

/* An image, by what it takes to get it again. */
typedef struct BenchImage
{
  BenchSize size;
  uint32_t granularity; /* BENCH_FULL for the full image */
  uint32_t density;     /* per cent */
  const char *set;      /* the file or folder that the user named; NULL for random ones */
  const char *path;     /* the file in it */
} BenchImage;

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
  unsigned batch;                   /* frames in a batch; 1: none */
  const CclCpuFunctions *functions; /* of the CPU backend; NULL: the best */
  char name[32];
  CclAnalyzer *analyzer; /* of the current size */
  CclBatch *frames;      /* in its place where there are batches */
  void *state;           /* the peer's */
  BenchSize size;        /* of these; 0 x 0: there are none */
  char device[128];      /* what it runs on, once that is known */
  bool out;              /* did not open or was wrong: not measured any more */
} Contender;

/* What one contender took for one image. */
typedef struct BenchResult
{
  BenchImage image;
  const Contender *contender;
  BenchMode mode;
  uint32_t components; /* that the image has */
  int64_t mistakes;    /* a peer's, in components: too many, or where negative too few */
  unsigned runs;
  uint64_t median, minimum;        /* ns */
  CclUpdates updates;              /* where they were counted */
  uint64_t labelling;              /* ns, median; 0: not measured */
  CclStage stages[CCL_MAX_STAGES]; /* their medians */
  uint32_t n_stages;
} BenchResult;

#define BENCH_MAX_COPIES 8 /* of an image on the device; graphs of as many buffers are kept */

/* The image that is being measured, in both memories. */
typedef struct BenchFrame
{
  BenchImage image;
  CclImage host, device;
  CclImage copies[BENCH_MAX_COPIES]; /* what device is in turns */
  unsigned n_copies;
} BenchFrame;

typedef struct Bench
{
  BenchOptions options;
  Contender contenders[BENCH_MAX_CONTENDERS];
  size_t n_contenders;
  TestArena host, device[BENCH_MAX_COPIES];
  BenchResult *results;
  size_t n_results;
  FILE *csv;
  BenchImage *files; /* by set, then by size */
  size_t n_files;
  uint32_t images_done, images_all; /* for the progress */
  uint64_t started;
  bool failed; /* some contender was wrong */
} Bench;

/* options.c */

void bench_parse_options (BenchOptions *options, int argc, char **argv);

/* papers.c */

/* Sets the options that are a paper's experiments. */
void papers_set_options (BenchOptions *options, unsigned paper);

/* The published figures beside ours. */
void papers_report (const Bench *bench, unsigned paper);

/* files.c */

/* Lists the images that the user named: files, and those in folders whose names say what they are.
 * Ends the program if there are none, or one cannot be read. */
void bench_find_files (Bench *bench);
void bench_clear_files (Bench *bench);

/* Reads a PGM, PBM or (where libpng is) PNG file. Prints to stderr what is wrong with it. */
bool bench_read_image (const char *path, TestImage *image);

/* contender.c */

/* Lists the contenders that the options ask for and this machine has. */
void bench_find_contenders (Bench *bench);

/* The algorithm or peer, the instruction set if one was asked for, and the threads or the frames of
 * a batch if more than one. */
const char *contender_name (const Contender *contender);

/* Whether @name stands in the list of names with commas; every name does if there is no list. */
bool bench_is_listed (const char *list, const char *name);

/* "cuda", "cpu" or "peer". */
const char *contender_kind (const Contender *contender);

/* Size and capacity, the same for everybody. */
void bench_config (CclConfig *config, const BenchOptions *options, BenchSize size);

/* Gets ready for a size, unless it is; out if that fails. */
void contender_open (Contender *contender, const BenchOptions *options, BenchSize size);
void contender_close (Contender *contender);

/* Whether it analyses images in device memory, where they are to be analysed in place. */
bool contender_reads_device (const Contender *contender);

/* Whether there is something to measure in this mode. */
bool contender_can (const Contender *contender, BenchMode mode);

/* Compares the contender's result with @expected, and gets peers ready for the frame. Out if one of
 * ours is wrong; a peer's @mistakes are counted. Without @expected nothing is compared. False if
 * it is out. */
bool contender_check (Contender *contender, const BenchFrame *frame, const CclComponents *expected,
                      int64_t *mistakes);

/* One run on the frame; its duration in nanoseconds, 0 if it failed, which puts the contender out.
 * Of a batch, which holds the frame again and again, it is the time of one.
 * @timing: of an algorithm; of a peer all 0. */
uint64_t contender_run (Contender *contender, Bench *bench, BenchMode mode, const BenchFrame *frame,
                        CclTiming *timing);

/* Contenders of one group take turns. Groups are measured one after the other: while the CPU is at
 * work a device's clocks fall, and a device that other processes use changes contexts. */
unsigned contender_group (const Contender *contender);
#define BENCH_GROUPS 3

/* Counts the updates that an algorithm makes on the frame; all 0 where they cannot be counted. */
CclUpdates contender_count (const Contender *contender, const BenchOptions *options,
                            const BenchFrame *frame);

/* sweep.c */

/* Measures everything, one result per contender, mode and image. */
void bench_sweep (Bench *bench);

/* Frees the memory that images were put into. */
void bench_clear_frames (Bench *bench);

/* record.c */

void record_csv_header (FILE *file);
void record_csv_line (FILE *file, const BenchResult *result);

/* All results, with what they were measured on; false if the file could not be written. */
bool record_json (const Bench *bench, const char *path);

extern const char *const bench_mode_names[BENCH_MODES];

/* volume.c: a program of its own */

int volume_main (int argc, char **argv);

/* report.c */

void report_machine (Bench *bench);
void report_tables (const Bench *bench);

/* A contender's mean over the densities of the throughput in Gpix/s by the medians, as the papers
 * average; 0 if any is missing. */
double report_throughput (const Bench *bench, const char *name, unsigned connectivity,
                          BenchSize size, uint32_t granularity);
/* The pixels of all densities over the medians of their times, in Gpix/s; 0 if any is missing. */
double report_total_throughput (const Bench *bench, const char *algorithm, unsigned connectivity,
                                BenchSize size, uint32_t granularity);

#endif
