/* cudaccl - ccl-bench: measures algorithms by density and granularity
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <cudaccl/batch.h>
#include <cudaccl/ccl.h>
#include "engine/cpu/functions.h"
#include "tests/lib/arena.h"
#include "tests/lib/image.h"
#include "tests/peers/peers.h"

#include <limits.h>
#include <stdio.h>

#define BENCH_MAX_LIST 64
#define BENCH_MAX_CONTENDERS 256
#define BENCH_MAX_BATCH 256

/* Stands for the full image in results, which has no squares. */
#define BENCH_FULL 0

/* Whose experiments to repeat. */
typedef enum BenchPaper
{
  BENCH_HENNEQUIN,
  BENCH_KALENTEV,
  BENCH_ALLEGRETTI,
  BENCH_LEMAITRE,
  BENCH_TORCHCC,
  BENCH_NO_PAPER
} BenchPaper;

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
  bool full;                                          /* also the full image */
  bool random;                                        /* random images at all */
  const char *images[BENCH_MAX_LIST];                 /* files and folders */
  size_t n_images;
  const char *algorithms;           /* names separated by commas; NULL: all */
  bool lenient;                     /* some may be missing in this build */
  const char *slow;                 /* algorithms left out beyond ... */
  uint64_t slow_pixels;             /* ... this number of pixels; 0: none */
  unsigned connectivity;            /* 4, 8, or 4 | 8 */
  unsigned neighbours;              /* of a voxel */
  unsigned threads[BENCH_MAX_LIST]; /* of the CPU backend */
  size_t n_threads;
  const char *simd; /* instruction sets of the CPU backend, separated by commas; NULL: the best */
  unsigned batches[BENCH_MAX_LIST]; /* frames in a batch, of the CUDA backend; 1: no batch */
  size_t n_batches;
  CclBackend backend;
  unsigned runs;
  double seconds; /* limit for an image and contender, after three runs */
  bool end_to_end;
  bool updates; /* count feature updates */
  bool stages;  /* measure the stages */
  bool labels;  /* with the label map */
  bool check;
  BenchPaper paper;
  uint32_t max_components; /* 0: enough for random images */
  uint32_t seed;
  const char *csv, *json;
  bool verbose;
} BenchOptions;

/* Identifies an image. */
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
  BENCH_ANALYSIS,   /* the image in the contender's memory, no copies: what the papers time */
  BENCH_END_TO_END, /* from pageable host memory to components in host memory, by the host's clock
                     */
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
  CclBatch *frames;      /* instead, with batches */
  void *state;           /* the peer's */
  BenchSize size;        /* of these; 0 x 0: none */
  char device[128];      /* its device, once known */
  bool out;              /* failed to open or was wrong: not measured any more */
} Contender;

/* A contender's measurements of an image. */
typedef struct BenchResult
{
  BenchImage image;
  const Contender *contender;
  BenchMode mode;
  uint32_t components; /* of the image */
  int64_t mistakes;    /* a peer's surplus of components; negative: missing ones */
  unsigned runs;
  uint64_t median, minimum;        /* ns */
  CclUpdates updates;              /* if counted */
  uint64_t labelling;              /* ns, median; 0: not measured */
  CclStage stages[CCL_MAX_STAGES]; /* their medians */
  uint32_t n_stages;
} BenchResult;

#define BENCH_MAX_COPIES \
  8 /* of an image on the device; the engine keeps graphs for as many buffers */

/* The image that is being measured, in host and device memory. */
typedef struct BenchFrame
{
  BenchImage image;
  CclImage host, device;
  CclImage copies[BENCH_MAX_COPIES]; /* device takes these in turn */
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
  uint32_t images_done, images_all; /* for show_progress() */
  uint64_t started;
  bool failed; /* some result was wrong */
} Bench;

/* options.c */

void bench_parse_options (BenchOptions *options, int argc, char **argv);

/* papers.c */

/* The paper of an author's name; ends the program if there is none. */
BenchPaper papers_find (const char *name);

/* Sets the options for a paper's experiments. */
void papers_set_options (BenchOptions *options, BenchPaper paper);

/* Prints the published figures beside ours. */
void papers_report (const Bench *bench, BenchPaper paper);

/* files.c */

/* Lists the user's images: files, and all images in folders by file name extension. Ends the
 * program if there are none or one cannot be read. */
void bench_find_files (Bench *bench);
void bench_clear_files (Bench *bench);

/* Reads a PGM, PBM or, if built with libpng, PNG file. Prints errors to stderr. */
bool bench_read_image (const char *path, TestImage *image);

/* contender.c */

/* Lists the contenders that the options select and this machine can run. */
void bench_find_contenders (Bench *bench);

/* The algorithm or peer, or the instruction set if one was asked for, with the number of threads
 * or of frames in a batch if greater than one. */
const char *contender_name (const Contender *contender);

/* Whether @name is in @list, which is separated by commas; NULL contains every name. */
bool bench_is_listed (const char *list, const char *name);

/* "cuda", "cpu" or "peer". */
const char *contender_kind (const Contender *contender);

/* Sets size and capacity, the same for all contenders. */
void bench_config (CclConfig *config, const BenchOptions *options, BenchSize size);

/* Prepares the contender for a size; out if that fails. */
void contender_open (Contender *contender, const BenchOptions *options, BenchSize size);
void contender_close (Contender *contender);

/* Whether it reads images from device memory when there are no copies. */
bool contender_reads_device (const Contender *contender);

/* Whether it can be measured in this mode. */
bool contender_can (const Contender *contender, BenchMode mode);

/* Compares the contender's result with @expected, unless that is NULL, and prepares peers for
 * the frame. One of our algorithms is out if it is wrong; a peer's @mistakes are counted.
 * Returns false if the contender is out. */
bool contender_check (Contender *contender, const BenchFrame *frame, const CclComponents *expected,
                      int64_t *mistakes);

/* Runs once on the frame. Returns the duration in nanoseconds, for batches per frame; 0 if it
 * failed, which puts the contender out. @timing: of an algorithm; 0 for peers. */
uint64_t contender_run (Contender *contender, Bench *bench, BenchMode mode, const BenchFrame *frame,
                        CclTiming *timing);

/* Contenders of one group take turns; groups are measured one after the other: a device's clocks
 * fall while the CPU works, and a device used by other processes switches contexts. */
unsigned contender_group (const Contender *contender);
#define BENCH_GROUPS 3

/* Counts an algorithm's feature updates on the frame; 0 if it cannot count them. */
CclUpdates contender_count (const Contender *contender, const BenchOptions *options,
                            const BenchFrame *frame);

/* sweep.c */

/* Measures every contender, mode and image. */
void bench_sweep (Bench *bench);

/* Frees the memory that held images. */
void bench_clear_frames (Bench *bench);

/* record.c */

void record_csv_header (FILE *file);
void record_csv_line (FILE *file, const BenchResult *result);

/* Writes all results and the contenders; false if the file could not be written. */
bool record_json (const Bench *bench, const char *path);

extern const char *const bench_mode_names[BENCH_MODES];

/* The main functions of ccl-bench morphology, motion and volume. */
int morphology_main (int argc, char **argv);
int motion_main (int argc, char **argv);
int volume_main (int argc, char **argv);

/* report.c */

void report_machine (Bench *bench);
void report_tables (const Bench *bench);

/* A contender's throughput in Gpix/s by its median times, as all pixels over all time: the pixels
 * of all densities over the sum of their times. 0 if one is missing. */
double report_throughput (const Bench *bench, const char *name, unsigned connectivity,
                          BenchSize size, uint32_t granularity);

/* The same as mean of the densities' throughputs, which easy images dominate. */
double report_mean_throughput (const Bench *bench, const char *name, unsigned connectivity,
                               BenchSize size, uint32_t granularity);

#endif
