/* cudaccl - ccl-bench: contenders, which are our algorithms and the peers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/bench.h"
#include "engine/cpu/tuning.h"
#include "tests/lib/clock.h"
#include "tests/lib/device.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* Random images have up to 0.13 components a pixel (4-connectivity, density 0.27). */
#define PIXELS_PER_COMPONENT 7
#define MARGIN 1024

bool
bench_is_listed (const char *list, const char *name)
{
  size_t length = strlen (name);

  while (list) {
    if (strncasecmp (list, name, length) == 0 && (list[length] == ',' || list[length] == '\0'))
      return true;
    list = strchr (list, ',');
    if (!list)
      return false;
    list++;
  }
  return true;
}

/* Ends the program if a name in the list is unknown. */
static void
check_list (const char *list)
{
  for (const char *name = list; name && *name; name += strcspn (name, ",")) {
    bool known = false;

    name += *name == ',';
    for (size_t i = 0; ccl_algorithm (i); i++)
      known |= strcspn (name, ",") == strlen (ccl_algorithm (i)->name) &&
               bench_is_listed (name, ccl_algorithm (i)->name);
    for (size_t i = 0; peer (i); i++)
      known |=
          strcspn (name, ",") == strlen (peer (i)->name) && bench_is_listed (name, peer (i)->name);
    if (!known)
      test_fatal ("this build has no algorithm or peer '%.*s'", (int) strcspn (name, ","), name);
  }
}

static Contender *
add_contender (Bench *bench, const CclAlgorithm *algorithm, const Peer *other,
               unsigned connectivity)
{
  Contender *contender = &bench->contenders[bench->n_contenders++];

  if (bench->n_contenders > BENCH_MAX_CONTENDERS)
    test_fatal ("more than %d to measure; select some with --algorithms", BENCH_MAX_CONTENDERS);
  *contender = (Contender){
    .algorithm = algorithm,
    .peer = other,
    .connectivity = connectivity,
    .threads = 1,
    .batch = 1,
  };
  snprintf (contender->name, sizeof contender->name, "%s",
            algorithm ? algorithm->name : other->name);
  return contender;
}

/* Ends the program if an instruction set in the list is unknown. */
static void
check_simd (const char *list)
{
  const CclCpuFunctions *functions;

  for (const char *name = list; name && *name; name += strcspn (name, ",")) {
    bool known = false;
    size_t length;

    name += *name == ',';
    length = strcspn (name, ",");
    for (size_t i = 0; (functions = ccl_cpu_functions (i)); i++)
      known |=
          strlen (functions->name) == length && strncasecmp (name, functions->name, length) == 0;
    if (!known)
      test_fatal ("this CPU or build has no instruction set '%.*s'", (int) length, name);
  }
}

/* Adds an algorithm of the CPU for each number of threads. */
static void
add_threads (Bench *bench, const CclAlgorithm *algorithm, const CclCpuFunctions *functions,
             unsigned connectivity)
{
  const BenchOptions *options = &bench->options;

  for (size_t i = 0; i < options->n_threads; i++) {
    Contender *contender = add_contender (bench, algorithm, NULL, connectivity);
    unsigned threads = options->threads[i];
    char suffix[16] = "";

    contender->threads = threads;
    contender->functions = functions;
    if (threads > 1)
      snprintf (suffix, sizeof suffix, "/%u", threads);
    if (functions)
      snprintf (contender->name, sizeof contender->name, "%s%s", functions->name, suffix);
    else
      snprintf (contender->name, sizeof contender->name, "%s%s", algorithm->name, suffix);
  }
}

/* Adds an algorithm of the CPU for each instruction set and number of threads. */
static void
add_cpu (Bench *bench, const CclAlgorithm *algorithm, unsigned connectivity)
{
  const char *list = bench->options.simd;
  const CclCpuFunctions *functions;

  if (!list) {
    add_threads (bench, algorithm, NULL, connectivity);
    return;
  }
  for (size_t i = 0; (functions = ccl_cpu_functions (i)); i++)
    if (strcmp (list, "all") == 0 || bench_is_listed (list, functions->name))
      add_threads (bench, algorithm, functions, connectivity);
}

/* Adds a CUDA algorithm for each batch size. */
static void
add_batches (Bench *bench, const CclAlgorithm *algorithm, unsigned connectivity)
{
  const BenchOptions *options = &bench->options;

  for (size_t i = 0; i < options->n_batches; i++) {
    Contender *contender = add_contender (bench, algorithm, NULL, connectivity);

    contender->batch = options->batches[i];
    if (contender->batch > 1)
      snprintf (contender->name, sizeof contender->name, "%s*%u", algorithm->name,
                contender->batch);
  }
}

void
bench_find_contenders (Bench *bench)
{
  const BenchOptions *options = &bench->options;
  const CclAlgorithm *a;
  const Peer *p;

  if (!options->lenient)
    check_list (options->algorithms);
  if (options->simd && strcmp (options->simd, "all") != 0)
    check_simd (options->simd);
  for (unsigned connectivity = 4; connectivity <= 8; connectivity += 4) {
    if (!(options->connectivity & connectivity))
      continue;
    for (size_t i = 0; (a = ccl_algorithm (i)); i++) {
      if (!(a->connectivity & connectivity) || !bench_is_listed (options->algorithms, a->name))
        continue;
      if (options->backend != CCL_BACKEND_AUTO && options->backend != a->backend)
        continue;
      if (a->backend == CCL_BACKEND_CUDA && !test_device_available ())
        continue;
      if (a->backend == CCL_BACKEND_CPU)
        add_cpu (bench, a, connectivity);
      else
        add_batches (bench, a, connectivity);
    }
    for (size_t i = 0; (p = peer (i)); i++)
      if ((p->connectivity & connectivity) && bench_is_listed (options->algorithms, p->name) &&
          (options->backend == CCL_BACKEND_AUTO ||
           (options->backend == CCL_BACKEND_CUDA) == p->on_device) &&
          (!p->on_device || test_device_available ()))
        add_contender (bench, NULL, p, connectivity);
  }
}

const char *
contender_name (const Contender *contender)
{
  return contender->name;
}

const char *
contender_kind (const Contender *contender)
{
  return contender->algorithm ? ccl_backend_name (contender->algorithm->backend) : "peer";
}

static void
put_out (Contender *contender, const char *why)
{
  fprintf (stderr, "%s, %u-connectivity: %s\n", contender_name (contender), contender->connectivity,
           why);
  contender->out = true;
}

void
bench_config (CclConfig *config, const BenchOptions *options, BenchSize size)
{
  ccl_config_init (config, size.width, size.height);
  config->max_components = options->max_components;
  if (config->max_components == 0)
    config->max_components = size.width * size.height / PIXELS_PER_COMPONENT + MARGIN;
}

/* The configuration of the contender's analyzer. */
static CclConfig
contender_config (const Contender *contender, const BenchOptions *options, BenchSize size)
{
  CclConfig config;

  bench_config (&config, options, size);
  config.connectivity = contender->connectivity;
  config.backend = contender->algorithm->backend;
  config.algorithm = contender->algorithm->name;
  config.device = contender->algorithm->backend == CCL_BACKEND_CUDA ? TEST_DEVICE : -1;
  config.threads = contender->threads;
  config.timing = true;
  config.stages = options->stages;
  config.graphs = true; /* no other thread uses the device */
  config.labels = options->labels;
  return config;
}

/* Makes the contender's analyzer; NULL sets ccl_last_error(). */
static CclAnalyzer *
new_analyzer (const Contender *contender, const BenchOptions *options, BenchSize size, bool updates)
{
  CclConfig config = contender_config (contender, options, size);
  CclAnalyzer *analyzer = NULL;

  config.updates = updates;
  if (updates)
    config.max_components = MARGIN; /* not used, and slow to allocate */
  ccl_cpu_tuning.functions = contender->functions;
  ccl_analyzer_new (&config, &analyzer);
  ccl_cpu_tuning.functions = NULL;
  return analyzer;
}

/* Makes the contender's batch. */
static void
open_batch (Contender *contender, const BenchOptions *options, BenchSize size)
{
  CclConfig config = contender_config (contender, options, size);

  if (ccl_batch_new (&config, contender->batch, &contender->frames) != CCL_OK)
    put_out (contender, ccl_last_error ());
}

void
contender_open (Contender *contender, const BenchOptions *options, BenchSize size)
{
  CclInfo info;

  if (contender->size.width == size.width && contender->size.height == size.height)
    return;
  contender_close (contender);
  contender->out = false; /* failures concern one size */
  contender->size = size;
  if (options->slow_pixels && (uint64_t) size.width * size.height > options->slow_pixels &&
      bench_is_listed (options->slow, contender->name)) {
    contender->out = true;
    return;
  }
  if (contender->peer) {
    contender->state = contender->peer->open (size.width, size.height, contender->connectivity);
    if (!contender->state)
      put_out (contender, "not available, or cannot handle this size");
    return;
  }
  if (contender->batch > 1) {
    open_batch (contender, options, size);
    return;
  }
  contender->analyzer = new_analyzer (contender, options, size, false);
  if (!contender->analyzer) {
    put_out (contender, ccl_last_error ());
    return;
  }
  ccl_analyzer_info (contender->analyzer, &info);
  snprintf (contender->device, sizeof contender->device, "%s", info.device_name);
}

void
contender_close (Contender *contender)
{
  ccl_analyzer_free (contender->analyzer);
  contender->analyzer = NULL;
  ccl_batch_free (contender->frames);
  contender->frames = NULL;
  if (contender->state)
    contender->peer->close (contender->state);
  contender->state = NULL;
  contender->size = (BenchSize){ 0, 0 };
}

bool
contender_can (const Contender *contender, BenchMode mode)
{
  if (contender->out)
    return false;
  return mode == BENCH_ANALYSIS || !contender->peer || !contender->peer->on_device;
}

bool
contender_reads_device (const Contender *contender)
{
  return contender->algorithm && contender->algorithm->backend == CCL_BACKEND_CUDA;
}

/* The frame in the memory for the mode. */
static const CclImage *
choose_image (const Contender *contender, BenchMode mode, const BenchFrame *frame)
{
  if (mode == BENCH_ANALYSIS && contender_reads_device (contender))
    return &frame->device;
  return &frame->host;
}

unsigned
contender_group (const Contender *contender)
{
  if (contender->peer && contender->peer->apart)
    return 2;
  return contender->peer ? !contender->peer->on_device
                         : contender->algorithm->backend == CCL_BACKEND_CPU;
}

/* Analyses a batch that repeats the frame; @components is the last result. */
static CclStatus
analyze_batch (Contender *contender, BenchMode mode, const BenchFrame *frame,
               CclComponents *components)
{
  CclImage images[BENCH_MAX_BATCH];
  CclComponents results[BENCH_MAX_BATCH];
  CclParams params;
  CclStatus status;

  ccl_params_init (&params);
  for (unsigned i = 0; i < contender->batch; i++)
    images[i] = *choose_image (contender, mode, frame);
  status = ccl_batch_analyze (contender->frames, images, contender->batch, &params, results);
  if (status == CCL_OK)
    *components = results[contender->batch - 1];
  return status;
}

/* Analyses the frame. */
static CclStatus
analyze (Contender *contender, BenchMode mode, const BenchFrame *frame, CclComponents *components)
{
  CclParams params;

  if (contender->frames)
    return analyze_batch (contender, mode, frame, components);
  ccl_params_init (&params);
  return ccl_analyzer_analyze (contender->analyzer, choose_image (contender, mode, frame), &params,
                               components);
}

uint64_t
contender_run (Contender *contender, Bench *bench, BenchMode mode, const BenchFrame *frame,
               CclTiming *timing)
{
  uint64_t start = test_now (), duration = 0;
  CclComponents components;

  *timing = (CclTiming){ 0 };
  if (contender->peer) {
    if (!contender->peer->run (contender->state, &duration)) {
      put_out (contender, "failed");
      return 0;
    }
    return duration ? duration : test_now () - start;
  }

  start = test_now ();
  if (analyze (contender, mode, frame, &components) != CCL_OK) {
    put_out (contender, ccl_last_error ());
    bench->failed = true;
    return 0;
  }
  duration = test_now () - start;
  if (mode == BENCH_END_TO_END)
    return duration / contender->batch;
  if (contender->frames) {
    ccl_batch_timing (contender->frames, timing);
    timing->labelling /= contender->batch;
    return (timing->upload + timing->analysis) / contender->batch;
  }
  ccl_analyzer_timing (contender->analyzer, timing);
  return timing->analysis;
}

/* Compares totals only: a peer's labels may have any order, and some peers give nothing else. */
static bool
check_peer (Contender *contender, const BenchFrame *frame, const CclComponents *expected,
            int64_t *mistakes)
{
  PeerResult result = { 0, UINT64_MAX };
  uint64_t area = 0, ns = 0;

  if (!contender->peer->load (contender->state, frame->host.data) ||
      !contender->peer->run (contender->state, &ns) ||
      !contender->peer->result (contender->state, &result)) {
    put_out (contender, "failed");
    return false;
  }
  if (!expected)
    return true;
  *mistakes = (int64_t) result.found - (int64_t) expected->found;
  for (uint32_t i = 0; i < expected->count; i++)
    area += expected->items[i].area;
  if (*mistakes == 0 && result.area != UINT64_MAX && result.area != area &&
      expected->count == expected->found) {
    put_out (contender, "wrong total area");
    return false;
  }
  return true;
}

bool
contender_check (Contender *contender, const BenchFrame *frame, const CclComponents *expected,
                 int64_t *mistakes)
{
  CclComponents got = { 0 };

  *mistakes = 0;
  if (contender->out)
    return false;
  if (contender->peer)
    return check_peer (contender, frame, expected, mistakes);
  if (!expected)
    return true;
  if (analyze (contender, BENCH_ANALYSIS, frame, &got) != CCL_OK)
    put_out (contender, ccl_last_error ());
  else if (got.found != expected->found || got.count != expected->count ||
           (got.count && memcmp (got.items, expected->items, got.count * sizeof *got.items) != 0))
    put_out (contender, "WRONG, not measured; run checkccl");
  return !contender->out;
}

CclUpdates
contender_count (const Contender *contender, const BenchOptions *options, const BenchFrame *frame)
{
  CclUpdates updates = { 0, 0 };
  CclComponents components;
  CclAnalyzer *analyzer;
  CclParams params;

  if (!contender->algorithm || contender->algorithm->backend != CCL_BACKEND_CUDA ||
      contender->batch > 1)
    return updates;
  ccl_params_init (&params);
  analyzer = new_analyzer (contender, options, frame->image.size, true);
  if (!analyzer ||
      ccl_analyzer_analyze (analyzer, &frame->device, &params, &components) != CCL_OK ||
      ccl_analyzer_updates (analyzer, &updates) != CCL_OK)
    fprintf (stderr, "%s: cannot count updates: %s\n", contender_name (contender),
             ccl_last_error ());
  ccl_analyzer_free (analyzer);
  return updates;
}
