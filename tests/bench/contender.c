/* cudaccl - ccl-bench: what is measured: our algorithms and the peers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/bench.h"
#include "ccl/cpu/tuning.h"
#include "tests/common/clock.h"
#include "tests/common/device.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

/* Random images have up to 0.13 components a pixel (4-connectivity, density 0.27). */
#define PIXELS_PER_COMPONENT 7
#define MARGIN 1024

/* Whether @name stands in the list of names with commas; every name does if there is no list. */
static bool
is_listed (const char *list, const char *name)
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

/* A name in the list that nobody has is a mistake. */
static void
check_list (const char *list)
{
  for (const char *name = list; name && *name; name += strcspn (name, ",")) {
    bool known = false;

    name += *name == ',';
    for (size_t i = 0; ccl_algorithm (i); i++)
      known |= strcspn (name, ",") == strlen (ccl_algorithm (i)->name) &&
               is_listed (name, ccl_algorithm (i)->name);
    for (size_t i = 0; peer (i); i++)
      known |= strcspn (name, ",") == strlen (peer (i)->name) && is_listed (name, peer (i)->name);
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
    test_fatal ("more than %d to measure; name some with --algorithms", BENCH_MAX_CONTENDERS);
  *contender = (Contender){
    .algorithm = algorithm,
    .peer = other,
    .connectivity = connectivity,
    .threads = 1,
  };
  snprintf (contender->name, sizeof contender->name, "%s",
            algorithm ? algorithm->name : other->name);
  return contender;
}

/* An algorithm of the CPU, once for each number of threads. */
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

/* An algorithm of the CPU, once for each instruction set and number of threads. */
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
    if (strcmp (list, "all") == 0 || is_listed (list, functions->name))
      add_threads (bench, algorithm, functions, connectivity);
}

void
bench_find_contenders (Bench *bench)
{
  const BenchOptions *options = &bench->options;
  const CclAlgorithm *a;
  const Peer *p;

  check_list (options->algorithms);
  for (unsigned connectivity = 4; connectivity <= 8; connectivity += 4) {
    if (!(options->connectivity & connectivity))
      continue;
    for (size_t i = 0; (a = ccl_algorithm (i)); i++) {
      if (!(a->connectivity & connectivity) || !is_listed (options->algorithms, a->name))
        continue;
      if (options->backend != CCL_BACKEND_AUTO && options->backend != a->backend)
        continue;
      if (a->backend == CCL_BACKEND_CUDA && !test_device_available ())
        continue;
      if (a->backend == CCL_BACKEND_CPU)
        add_cpu (bench, a, connectivity);
      else
        add_contender (bench, a, NULL, connectivity);
    }
    for (size_t i = 0; (p = peer (i)); i++)
      if ((p->connectivity & connectivity) && is_listed (options->algorithms, p->name) &&
          options->backend != CCL_BACKEND_CUDA)
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

void
contender_open (Contender *contender, const BenchOptions *options, BenchSize size)
{
  CclConfig config;

  if (contender->out)
    return;
  if (contender->peer) {
    contender->state = contender->peer->open (size.width, size.height, contender->connectivity);
    if (!contender->state)
      put_out (contender, "cannot do this size");
    return;
  }
  bench_config (&config, options, size);
  config.connectivity = contender->connectivity;
  config.backend = contender->algorithm->backend;
  config.algorithm = contender->algorithm->name;
  config.device = contender->algorithm->backend == CCL_BACKEND_CUDA ? TEST_DEVICE : -1;
  config.threads = contender->threads;
  config.timing = true;
  ccl_cpu_tuning.functions = contender->functions;
  if (ccl_analyzer_new (&config, &contender->analyzer) != CCL_OK)
    put_out (contender, ccl_last_error ());
  ccl_cpu_tuning.functions = NULL;
}

void
contender_close (Contender *contender)
{
  ccl_analyzer_free (contender->analyzer);
  contender->analyzer = NULL;
  if (contender->state)
    contender->peer->close (contender->state);
  contender->state = NULL;
}

/* The image in the memory that the mode asks for. */
static const CclImage *
choose_image (const Contender *contender, BenchMode mode, const CclImage *host,
              const CclImage *device)
{
  if (mode == BENCH_ANALYSIS && contender->algorithm->backend == CCL_BACKEND_CUDA)
    return device;
  return host;
}

uint64_t
contender_run (Contender *contender, Bench *bench, BenchMode mode, const CclImage *host,
               const CclImage *device)
{
  uint64_t start = test_now (), duration;
  CclComponents components;
  CclParams params;
  CclTiming timing;
  uint32_t found;
  uint64_t area;

  if (contender->peer) {
    if (!contender->peer->run (contender->state, host->data, &found, &area)) {
      put_out (contender, "failed");
      return 0;
    }
    return test_now () - start;
  }

  ccl_params_init (&params);
  start = test_now ();
  if (ccl_analyzer_analyze (contender->analyzer, choose_image (contender, mode, host, device),
                            &params, &components) != CCL_OK) {
    put_out (contender, ccl_last_error ());
    bench->failed = true;
    return 0;
  }
  duration = test_now () - start;
  if (mode == BENCH_END_TO_END)
    return duration;
  ccl_analyzer_timing (contender->analyzer, &timing);
  return timing.analysis;
}

/* A peer's labels come in an order of its own: the totals have to do. */
static bool
check_peer (Contender *contender, const CclImage *host, const CclComponents *expected)
{
  uint64_t area = 0, expected_area = 0;
  uint32_t found = 0;

  for (uint32_t i = 0; i < expected->count; i++)
    expected_area += expected->items[i].area;
  return contender->peer->run (contender->state, host->data, &found, &area) &&
         found == expected->found && (area == expected_area || expected->count < found);
}

bool
contender_check (Contender *contender, const CclImage *host, const CclImage *device,
                 const CclComponents *expected)
{
  CclComponents got = { 0 };
  CclParams params;
  bool right;

  ccl_params_init (&params);
  if (contender->peer) {
    right = check_peer (contender, host, expected);
  } else if (ccl_analyzer_analyze (contender->analyzer,
                                   choose_image (contender, BENCH_ANALYSIS, host, device), &params,
                                   &got) != CCL_OK) {
    put_out (contender, ccl_last_error ());
    return false;
  } else {
    right =
        got.found == expected->found && got.count == expected->count &&
        (got.count == 0 || memcmp (got.items, expected->items, got.count * sizeof *got.items) == 0);
  }
  if (!right)
    put_out (contender, "WRONG, not measured; checkccl tells more");
  return right;
}
