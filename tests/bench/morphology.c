/* cudaccl - ccl-bench morphology: operations on masks, and peers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/cpu/tuning.h"
#include "tests/bench/bench.h"
#include "tests/bench/median.h"
#include "tests/bench/morphology_cuda.h"
#include "tests/lib/clock.h"
#include "tests/lib/device.h"
#include "tests/lib/parse.h"
#include "tests/lib/patterns.h"
#include "tests/peers/peers.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WARM_UP 3

static const char usage[] = "\
Usage: ccl-bench morphology [OPTION...]\n\
Measures operations on masks on the CPU, beside OpenCV's and SciPy's, which get the same masks as\n\
bytes, and compares the results. One thread each; medians of runs in turns.\n\
\n\
  --operations=CHAIN     each measured by itself (median3,median5,erode3x3,dilate5x5,open3x3,\n\
                         close5x11,close31x31,fill,fill50,drop50)\n\
  --size=WxH             of the masks (1920x1080)\n\
  --granularity=N,...    sides of the random squares in pixels (1,4,16)\n\
  --density=PERCENT      share of foreground (50)\n\
  --images=FILE          a mask instead; may be repeated\n\
  --simd=NAME,...        instruction sets: all, or some of c, avx2, avx-512, neon (the best)\n\
  --connectivity=N       of fill and drop, 4 or 8 (8); SciPy is asked for 8 only\n\
  --algorithm=NAME       of the analysis with CUDA (the best)\n\
  --backend=NAME         cpu, or cuda: device times of the operations, of the analysis with and\n\
                         without them, and of frames in host memory; - for no operations (cpu)\n\
  --runs=N               runs of each (20)\n\
  --python=PROGRAM       a Python with NumPy and SciPy (python3)\n\
  --seed=N               of the masks (1)\n\
\n\
Exit status: 0, 1 when a result differs, 77 without the device.\n";

static const MorphologyPeer *const peers[] = {
#ifdef HAVE_OPENCV
  &morphology_opencv,
#endif
  &morphology_scipy,
};

/* A mask in all its forms. */
typedef struct Subject
{
  char name[64];
  TestImage image, result; /* result: of a peer */
  CclMask mask, work;
} Subject;

static void
reset_work (Subject *subject)
{
  memcpy (subject->work.words, subject->mask.words,
          subject->mask.pitch * subject->mask.height * sizeof *subject->mask.words);
}

static size_t
count_differences (const Subject *subject)
{
  const TestImage *image = &subject->result;
  size_t n = 0;

  for (uint32_t y = 0; y < image->height; y++)
    for (uint32_t x = 0; x < image->width; x++)
      n += (image->pixels[(size_t) y * image->width + x] > 0) !=
           (subject->work.words[y * subject->work.pitch + x / 64] >> x % 64 & 1);
  return n;
}

/* One operation on one mask, by us with one instruction set and by the peers. Returns whether all
 * results are the same. */
static bool
measure (Subject *subject, const CclOperation *operation, const CclCpuFunctions *functions,
         unsigned connectivity, unsigned runs)
{
  uint32_t width = subject->image.width, height = subject->image.height;
  uint64_t *ours = test_alloc ((WARM_UP + runs) * sizeof *ours), *theirs = test_alloc (runs * 8);
  const MorphologyPeer *peer = NULL;
  CclMorphology *morphology;
  size_t differences = 0;
  char text[64];

  ccl_operations_format (operation, 1, text, sizeof text);
  ccl_cpu_tuning.functions = functions;
  if (ccl_morphology_new (width, height, connectivity, operation, 1, 1, &morphology) != CCL_OK)
    test_fatal ("%s", ccl_last_error ());
  for (size_t i = 0; i < sizeof peers / sizeof *peers && !peer; i++) {
    bool can = operation->kind != CCL_OPERATION_FILL || connectivity == 8;

    if (can &&
        peers[i]->run (operation, subject->image.pixels, subject->result.pixels, width, height) > 0)
      peer = peers[i];
  }
  for (unsigned run = 0; run < WARM_UP + runs; run++) {
    uint64_t start;

    if (peer && run >= WARM_UP)
      theirs[run - WARM_UP] =
          peer->run (operation, subject->image.pixels, subject->result.pixels, width, height);
    reset_work (subject);
    start = test_now ();
    if (ccl_morphology_apply (morphology, &subject->work) != CCL_OK)
      test_fatal ("%s", ccl_last_error ());
    ours[run] = test_now () - start;
  }
  ccl_morphology_free (morphology);

  printf ("%-12s %-22s %-8s %9.1f us", text, subject->name, functions->name,
          (double) bench_median (ours + WARM_UP, runs) / 1e3);
  if (peer) {
    uint64_t their = bench_median (theirs, runs);

    differences = count_differences (subject);
    printf (" %11.1f us %7.1f x  %s, %s", (double) their / 1e3,
            (double) their / (double) ours[WARM_UP + runs / 2], peer->name,
            differences > 0 ? "DIFFERS" : "same");
  }
  putchar ('\n');
  free (ours);
  free (theirs);
  return differences == 0;
}

/* Bytes to bits and back; and how fast the same memory can be read. */
static void
measure_packing (Subject *subject, const CclCpuFunctions *functions, unsigned runs)
{
  uint64_t *times[3];
  TestImage *image = &subject->image;
  size_t pixels = (size_t) image->width * image->height;
  static const char *const names[] = { "pack", "unpack", "copy" };

  ccl_cpu_tuning.functions = functions;
  for (int i = 0; i < 3; i++)
    times[i] = test_alloc (runs * sizeof **times);
  for (unsigned run = 0; run < runs; run++) {
    uint64_t start = test_now ();

    if (ccl_mask_pack (&subject->work, image->pixels, image->width, 127, false) != CCL_OK)
      test_fatal ("%s", ccl_last_error ());
    times[0][run] = test_now () - start;
    start = test_now ();
    if (ccl_mask_unpack (&subject->work, subject->result.pixels, image->width, 255) != CCL_OK)
      test_fatal ("%s", ccl_last_error ());
    times[1][run] = test_now () - start;
    start = test_now ();
    memcpy (subject->result.pixels, image->pixels, pixels);
    times[2][run] = test_now () - start;
  }
  for (int i = 0; i < 3; i++) {
    uint64_t ns = bench_median (times[i], runs);

    printf ("%-12s %-22s %-8s %9.1f us %11.2f GB/s of bytes\n", names[i], subject->name,
            i < 2 ? functions->name : "memcpy", (double) ns / 1e3, (double) pixels / (double) ns);
    free (times[i]);
  }
}

typedef struct MorphologyOptions
{
  const char *operations;
  BenchSize size;
  const char *granularities;
  uint32_t density;
  const char *images[BENCH_MAX_LIST];
  size_t n_images;
  const char *simd, *algorithm;
  unsigned connectivity, runs;
  uint32_t seed;
  bool cuda;
} MorphologyOptions;

static Subject
make_subject (TestImage image, const char *name)
{
  Subject subject = { .image = image };

  snprintf (subject.name, sizeof subject.name, "%s", name);
  subject.result = test_image_new (image.width, image.height);
  if (ccl_mask_alloc (image.width, image.height, &subject.mask) != CCL_OK ||
      ccl_mask_alloc (image.width, image.height, &subject.work) != CCL_OK ||
      ccl_mask_pack (&subject.mask, image.pixels, image.width, 127, false) != CCL_OK)
    test_fatal ("%s", ccl_last_error ());
  /* Peers get 0 and 255. */
  ccl_mask_unpack (&subject.mask, image.pixels, image.width, 255);
  return subject;
}

static void
clear_subject (Subject *subject)
{
  test_image_clear (&subject->image);
  test_image_clear (&subject->result);
  ccl_mask_free (&subject->mask);
  ccl_mask_free (&subject->work);
}

/* Everything on one mask, which is cleared then. */
static bool
measure_subject (Subject *subject, const MorphologyOptions *options)
{
  CclOperation operations[CCL_MAX_OPERATIONS];
  const CclCpuFunctions *functions;
  uint32_t n;
  bool ok = true;

  if (strcmp (options->operations, "-") == 0)
    n = 0;
  else if (ccl_operations_parse (options->operations, operations, &n) != CCL_OK)
    test_fatal ("%s", ccl_last_error ());
  if (options->cuda) {
    ok = morphology_cuda (&subject->image, subject->name, options->algorithm, operations, n,
                          options->connectivity, options->runs);
    clear_subject (subject);
    return ok;
  }
  for (size_t f = 0; (functions = ccl_cpu_functions (f)); f++) {
    if (!options->simd && f > 0)
      break;
    if (options->simd && strcasecmp (options->simd, "all") != 0 &&
        !strcasestr (options->simd, functions->name))
      continue;
    for (uint32_t i = 0; i < n; i++)
      ok &= measure (subject, &operations[i], functions, options->connectivity, options->runs);
    measure_packing (subject, functions, options->runs);
  }
  clear_subject (subject);
  return ok;
}

static void
parse_option (MorphologyOptions *options, const char *argument)
{
  const char *value;

  if ((value = test_argument_value (argument, "--operations"))) {
    options->operations = value;
  } else if ((value = test_argument_value (argument, "--size"))) {
    options->size.width = (uint32_t) test_parse_number (&value, 1, 65535);
    if (*value++ != 'x')
      test_fatal ("a size such as 1920x1080 is expected");
    options->size.height = (uint32_t) test_parse_whole_number (value, 1, 65535);
  } else if ((value = test_argument_value (argument, "--granularity"))) {
    options->granularities = value;
  } else if ((value = test_argument_value (argument, "--density"))) {
    options->density = (uint32_t) test_parse_whole_number (value, 0, 100);
  } else if ((value = test_argument_value (argument, "--images"))) {
    if (options->n_images == BENCH_MAX_LIST)
      test_fatal ("too many images");
    options->images[options->n_images++] = value;
  } else if ((value = test_argument_value (argument, "--simd"))) {
    options->simd = value;
  } else if ((value = test_argument_value (argument, "--connectivity"))) {
    options->connectivity = (unsigned) test_parse_whole_number (value, 4, 8);
  } else if ((value = test_argument_value (argument, "--runs"))) {
    options->runs = (unsigned) test_parse_whole_number (value, 1, 100000);
  } else if ((value = test_argument_value (argument, "--backend"))) {
    options->cuda = strcmp (value, "cuda") == 0;
    if (!options->cuda && strcmp (value, "cpu") != 0)
      test_fatal ("no such backend: %s", value);
  } else if ((value = test_argument_value (argument, "--algorithm"))) {
    options->algorithm = value;
  } else if ((value = test_argument_value (argument, "--python"))) {
    morphology_python = value;
  } else if ((value = test_argument_value (argument, "--seed"))) {
    options->seed = (uint32_t) test_parse_whole_number (value, 0, UINT32_MAX);
  } else {
    test_fatal ("'%s' is not an option; try ccl-bench morphology --help", argument);
  }
}

static bool
measure_noise (const MorphologyOptions *options)
{
  const char *list = options->granularities;
  bool ok = true;

  while (true) {
    uint32_t granularity = (uint32_t) test_parse_number (&list, 1, 65535);
    TestImage image = test_image_new (options->size.width, options->size.height);
    Subject subject;
    char name[64];
    Mt19937 rng;

    mt19937_seed (&rng, options->seed);
    test_noise_draw (&image, options->density / 100.0, granularity, &rng);
    snprintf (name, sizeof name, "%ux%u, g=%u", image.width, image.height, granularity);
    subject = make_subject (image, name);
    ok &= measure_subject (&subject, options);
    if (*list != ',')
      break;
    list++;
  }
  test_parse_end (list);
  return ok;
}

int
morphology_main (int argc, char **argv)
{
  MorphologyOptions options = {
    .operations = "median3,median5,erode3x3,dilate5x5,open3x3,close5x11,close31x31,fill,fill50,"
                  "drop50",
    .size = { 1920, 1080 },
    .granularities = "1,4,16",
    .density = 50,
    .connectivity = 8,
    .runs = 20,
    .seed = 1,
  };
  bool ok = true;

  for (int i = 1; i < argc; i++) {
    if (strcmp (argv[i], "--help") == 0) {
      fputs (usage, stdout);
      return EXIT_SUCCESS;
    }
    parse_option (&options, argv[i]);
  }
  if (options.cuda && !test_device_available ()) {
    fprintf (stderr, "ccl-bench: no CUDA device\n");
    return 77;
  }
  if (!options.cuda)
    printf ("operation    mask                   with          ours          theirs\n");
  for (size_t i = 0; i < options.n_images; i++) {
    const char *slash = strrchr (options.images[i], '/');
    TestImage image;
    Subject subject;

    if (!bench_read_image (options.images[i], &image))
      return EXIT_FAILURE;
    subject = make_subject (image, slash ? slash + 1 : options.images[i]);
    ok &= measure_subject (&subject, &options);
  }
  if (options.n_images == 0)
    ok = measure_noise (&options);
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
