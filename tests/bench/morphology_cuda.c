/* cudaccl - ccl-bench morphology: on a CUDA device
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/morphology_cuda.h"

#include <cudaccl/mask.h>
#include "tests/bench/median.h"
#include "tests/lib/arena.h"
#include "tests/lib/clock.h"
#include "tests/lib/device.h"

#include <stdlib.h>
#include <string.h>

#define WARM_UP 5 /* the second frame is captured into a graph */
#define MAX_COMPONENTS (1u << 22)

/* The measurements, with medians in nanoseconds. */
typedef struct Setting
{
  const char *name;
  CclMemory memory;
  bool bits;
  CclUpload upload;
  bool stages; /* the stage of cleaning by itself; without graphs and strips */
  uint64_t cleaning, analysis, host;
} Setting;

typedef struct Subject
{
  const TestImage *image;
  const char *name, *algorithm;
  unsigned connectivity, runs;
  const CclOperation *operations;
  uint32_t n;
  CclComponents expected; /* of the CPU's analyzer */
  CclAnalyzer *reference;
} Subject;

static CclAnalyzer *
open_analyzer (const Subject *subject, CclBackend backend, const Setting *setting)
{
  CclConfig config;
  CclAnalyzer *analyzer;

  ccl_config_init (&config, subject->image->width, subject->image->height);
  config.connectivity = subject->connectivity;
  config.backend = backend;
  config.max_components = MAX_COMPONENTS;
  config.operations = subject->operations;
  config.n_operations = subject->n;
  if (backend == CCL_BACKEND_CUDA) {
    config.algorithm = subject->algorithm;
    config.device = TEST_DEVICE;
    config.upload = setting->upload;
    config.timing = true;
    config.stages = setting->stages;
    config.graphs = true;
  }
  if (ccl_analyzer_new (&config, &analyzer) != CCL_OK)
    test_fatal ("%s", ccl_last_error ());
  return analyzer;
}

static uint64_t
cleaning_time (const CclTiming *timing)
{
  for (uint32_t i = 0; i < timing->n_stages; i++)
    if (strcmp (timing->stages[i].name, "operations") == 0)
      return timing->stages[i].time;
  return 0;
}

static bool
is_expected (const Subject *subject, const CclComponents *got)
{
  const CclComponents *expected = &subject->expected;

  return got->found == expected->found && got->count == expected->count &&
         memcmp (got->items, expected->items, got->count * sizeof *got->items) == 0;
}

/* Returns whether the result is the CPU's. */
static bool
measure (const Subject *subject, Setting *setting)
{
  CclAnalyzer *analyzer = open_analyzer (subject, CCL_BACKEND_CUDA, setting);
  TestArena arena = { .memory = setting->memory };
  TestPlacement placement = { .bits = setting->bits };
  uint64_t *cleaning = test_alloc (subject->runs * sizeof *cleaning);
  uint64_t *analysis = test_alloc (subject->runs * sizeof *analysis);
  uint64_t *host = test_alloc (subject->runs * sizeof *host);
  bool same = true;
  CclParams params;
  CclImage image;

  ccl_params_init (&params);
  if (!setting->bits) /* as cameras and pools align rows */
    placement.padding = (64 - subject->image->width % 64) % 64;
  image = test_arena_place_as (&arena, subject->image, &params, &placement);
  for (unsigned run = 0; run < WARM_UP + subject->runs; run++) {
    unsigned i = run < WARM_UP ? 0 : run - WARM_UP;
    uint64_t start = test_now ();
    CclComponents components;
    CclTiming timing;

    if (ccl_analyzer_analyze (analyzer, &image, &params, &components) != CCL_OK)
      test_fatal ("%s", ccl_last_error ());
    host[i] = test_now () - start;
    ccl_analyzer_timing (analyzer, &timing);
    analysis[i] = timing.analysis;
    cleaning[i] = cleaning_time (&timing);
    if (run == 0)
      same = is_expected (subject, &components);
  }
  setting->cleaning = bench_median (cleaning, subject->runs);
  setting->analysis = bench_median (analysis, subject->runs);
  setting->host = bench_median (host, subject->runs);
  free (cleaning);
  free (analysis);
  free (host);
  test_arena_clear (&arena);
  ccl_analyzer_free (analyzer);
  return same;
}

static double
microseconds (uint64_t time)
{
  return (double) time / 1e3;
}

/* The image after the operations, as the CPU does them. */
static TestImage
clean (const Subject *subject)
{
  const TestImage *image = subject->image;
  TestImage result = test_image_new (image->width, image->height);
  size_t pitch = ccl_mask_words (image->width);
  CclMask mask = {
    .words = test_alloc (pitch * image->height * sizeof (uint64_t)),
    .pitch = pitch,
    .width = image->width,
    .height = image->height,
  };
  CclMorphology *morphology;
  CclParams params;

  ccl_params_init (&params);
  if (ccl_mask_pack (&mask, image->pixels, image->width, params.threshold, false) != CCL_OK ||
      ccl_morphology_new (image->width, image->height, subject->connectivity, subject->operations,
                          subject->n, 1, &morphology) != CCL_OK ||
      ccl_morphology_apply (morphology, &mask) != CCL_OK ||
      ccl_mask_unpack (&mask, result.pixels, image->width, 255) != CCL_OK)
    test_fatal ("%s", ccl_last_error ());
  ccl_morphology_free (morphology);
  free (mask.words);
  return result;
}

/* How long the analysis of the clean mask takes without operations: the rest of the time of both is
 * the cleaning's. */
static uint64_t
analysis_alone (const Subject *subject)
{
  TestImage image = clean (subject);
  Subject cleaned = *subject;
  Setting setting = { .memory = CCL_MEMORY_DEVICE, .bits = true };

  cleaned.image = &image;
  cleaned.n = 0;
  measure (&cleaned, &setting);
  test_image_clear (&image);
  return setting.analysis;
}

/* A chain of operations, on bytes and on bits in device memory. */
static bool
measure_chain (const Subject *subject)
{
  char text[256];
  bool ok = true;
  uint64_t alone_time = analysis_alone (subject);

  ccl_operations_format (subject->operations, subject->n, text, sizeof text);
  for (int bits = 0; bits < 2; bits++) {
    Setting alone = { .memory = CCL_MEMORY_DEVICE, .bits = bits, .stages = true };
    Setting whole = { .memory = CCL_MEMORY_DEVICE, .bits = bits };
    bool same = measure (subject, &alone) && measure (subject, &whole);

    printf ("%-24s %-22s cuda %-5s %9.1f us cleaning, %9.1f us with analysis, %9.1f us of it "
            "cleaning  cpu, %s\n",
            text, subject->name, bits ? "bits" : "bytes", microseconds (alone.cleaning),
            microseconds (whole.analysis), (double) (int64_t) (whole.analysis - alone_time) / 1e3,
            same ? "same" : "DIFFERS");
    ok &= same;
  }
  return ok;
}

/* Analysis without operations, from every kind of memory. */
static bool
measure_analysis (const Subject *subject)
{
  Setting settings[] = {
    { "device bytes", CCL_MEMORY_DEVICE, .bits = false },
    { "device bits", CCL_MEMORY_DEVICE, .bits = true },
    { "pinned, pixels", CCL_MEMORY_PINNED, .upload = CCL_UPLOAD_PIXELS },
    { "pinned, bits", CCL_MEMORY_PINNED, .upload = CCL_UPLOAD_BITS },
    { "host, pixels", CCL_MEMORY_HOST, .upload = CCL_UPLOAD_PIXELS },
    { "host, bits", CCL_MEMORY_HOST, .upload = CCL_UPLOAD_BITS },
    { "host bits", CCL_MEMORY_HOST, .bits = true },
  };
  bool ok = true;

  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
    Setting *setting = &settings[i];
    bool same = measure (subject, setting);

    printf ("%-24s %-22s cuda       %9.1f us on the device, %9.1f us in all  cpu, %s\n",
            setting->name, subject->name, microseconds (setting->analysis),
            microseconds (setting->host), same ? "same" : "DIFFERS");
    ok &= same;
  }
  return ok;
}

static bool
measure_with (Subject *subject, const CclOperation *operations, uint32_t n)
{
  CclImage view = test_image_view (subject->image);
  CclParams params;
  bool ok;

  ccl_params_init (&params);
  subject->operations = operations;
  subject->n = n;
  subject->reference = open_analyzer (subject, CCL_BACKEND_CPU, NULL);
  if (ccl_analyzer_analyze (subject->reference, &view, &params, &subject->expected) != CCL_OK)
    test_fatal ("%s", ccl_last_error ());
  ok = n > 0 ? measure_chain (subject) : measure_analysis (subject);
  ccl_analyzer_free (subject->reference);
  return ok;
}

bool
morphology_cuda (const TestImage *image, const char *name, const char *algorithm,
                 const CclOperation *operations, uint32_t n, unsigned connectivity, unsigned runs)
{
  static const char *const chains[] = { "drop50,median3", "median5,close5x11,drop50",
                                        "median5,close5x11,fill,drop50" };
  Subject subject = {
    .image = image,
    .name = name,
    .algorithm = algorithm,
    .connectivity = connectivity,
    .runs = runs,
  };
  bool ok = true;

  for (uint32_t i = 0; i < n; i++)
    ok &= measure_with (&subject, &operations[i], 1);
  for (size_t i = 0; n > 0 && i < sizeof chains / sizeof *chains; i++) {
    CclOperation chain[CCL_MAX_OPERATIONS];
    uint32_t length;

    if (ccl_operations_parse (chains[i], chain, &length) != CCL_OK)
      test_fatal ("%s", ccl_last_error ());
    ok &= measure_with (&subject, chain, length);
  }
  return measure_with (&subject, NULL, 0) && ok;
}
