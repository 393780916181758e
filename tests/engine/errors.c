/* cudaccl - checkccl: errors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <cudaccl/cudaccl.h>
#include "tests/engine/checkccl.h"
#include "tests/lib/device.h"

#include <ctype.h>
#include <string.h>

#define ANY_OF(a, b) (1u << (a) | 1u << (b))
#define ONLY(a) (1u << (a))

/* Checks that the status is among those allowed, and that the message is readable. */
static void
check_refusal (Check *check, const char *what, CclStatus status, unsigned allowed)
{
  const char *message = ccl_last_error ();
  bool readable = message && strlen (message) >= 10 && strchr (message, ' ');

  for (const char *c = message; readable && *c; c++)
    readable = isprint ((unsigned char) *c);
  check_that (check, status != CCL_OK && (allowed >> status & 1), "%s: status %d", what, status);
  check_that (check, readable, "%s: last error is \"%s\"", what, message ? message : "NULL");
  if (check->options.verbose)
    printf ("  %s: %d, %s\n", what, status, message);
}

static const CclAlgorithm *
cpu_algorithm (void)
{
  const CclAlgorithm *algorithm;

  for (size_t i = 0; (algorithm = ccl_algorithm (i)); i++)
    if (algorithm->backend == CCL_BACKEND_CPU)
      return algorithm;
  test_fatal ("the build has no algorithm for the CPU");
}

/* Errors in an otherwise valid configuration. */
static const struct ConfigError
{
  const char *what;
  uint32_t width, height;
  unsigned connectivity;
  int backend;
  const char *algorithm; /* "cpu": replaced by an algorithm of the CPU */
  int device;
  uint32_t max_components;
  bool second_order;
  unsigned allowed;
} config_errors[] = {
  { "width 0", 0, 9, 8, CCL_BACKEND_AUTO, NULL, -1, 9, false, ONLY (CCL_ERROR_INVALID) },
  { "height 0", 9, 0, 8, CCL_BACKEND_AUTO, NULL, -1, 9, false, ONLY (CCL_ERROR_INVALID) },
  { "no pixels", 0, 0, 4, CCL_BACKEND_CPU, NULL, -1, 9, false, ONLY (CCL_ERROR_INVALID) },
  { "2^32 pixels", 65536, 65536, 8, CCL_BACKEND_AUTO, NULL, -1, 9, false,
    ONLY (CCL_ERROR_INVALID) },
  { "2^64 pixels", UINT32_MAX, UINT32_MAX, 8, CCL_BACKEND_CPU, NULL, -1, 9, false,
    ONLY (CCL_ERROR_INVALID) },
  { "2^32 pixels that are 0 in 32 bits", 1u << 31, 2, 8, CCL_BACKEND_CPU, NULL, -1, 9, false,
    ONLY (CCL_ERROR_INVALID) },
  { "connectivity 0", 9, 9, 0, CCL_BACKEND_AUTO, NULL, -1, 9, false, ONLY (CCL_ERROR_INVALID) },
  { "connectivity 5", 9, 9, 5, CCL_BACKEND_AUTO, NULL, -1, 9, false, ONLY (CCL_ERROR_INVALID) },
  { "connectivity 12", 9, 9, 12, CCL_BACKEND_CPU, NULL, -1, 9, false, ONLY (CCL_ERROR_INVALID) },
  { "backend 99", 9, 9, 8, 99, NULL, -1, 9, false, ONLY (CCL_ERROR_INVALID) },
  { "unknown algorithm", 9, 9, 8, CCL_BACKEND_AUTO, "no-such-algorithm", -1, 9, false,
    ANY_OF (CCL_ERROR_INVALID, CCL_ERROR_UNSUPPORTED) },
  { "unknown algorithm of the CPU", 9, 9, 8, CCL_BACKEND_CPU, "no-such-algorithm", -1, 9, false,
    ANY_OF (CCL_ERROR_INVALID, CCL_ERROR_UNSUPPORTED) },
  { "empty algorithm name", 9, 9, 8, CCL_BACKEND_CPU, "", -1, 9, false,
    ANY_OF (CCL_ERROR_INVALID, CCL_ERROR_UNSUPPORTED) },
  { "algorithm of another backend", 9, 9, 8, CCL_BACKEND_CUDA, "cpu", -1, 9, false,
    ANY_OF (CCL_ERROR_UNSUPPORTED, CCL_ERROR_NO_DEVICE) },
  { "device 9999", 9, 9, 8, CCL_BACKEND_CUDA, NULL, 9999, 9, false,
    ANY_OF (CCL_ERROR_UNSUPPORTED, CCL_ERROR_NO_DEVICE) },
  { "device -2", 9, 9, 8, CCL_BACKEND_CUDA, NULL, -2, 9, false,
    ANY_OF (CCL_ERROR_INVALID, CCL_ERROR_UNSUPPORTED) },
  { "max_components 0", 9, 9, 8, CCL_BACKEND_AUTO, NULL, -1, 0, false, ONLY (CCL_ERROR_INVALID) },
  { "second-order sums of a wide frame", 100000000, 1, 8, CCL_BACKEND_CPU, NULL, -1, 9, true,
    ONLY (CCL_ERROR_UNSUPPORTED) },
  { "second-order sums of a tall frame", 2, 100000000, 4, CCL_BACKEND_AUTO, NULL, -1, 9, true,
    ONLY (CCL_ERROR_UNSUPPORTED) },
};

static void
test_config_errors (Check *check)
{
  CclAnalyzer *analyzer = NULL;
  CclConfig config;

  for (size_t i = 0; i < sizeof config_errors / sizeof *config_errors; i++) {
    const struct ConfigError *e = &config_errors[i];
    CclStatus status;

    ccl_config_init (&config, e->width, e->height);
    config.connectivity = e->connectivity;
    config.backend = (CclBackend) e->backend;
    config.algorithm = e->algorithm;
    if (e->algorithm && strcmp (e->algorithm, "cpu") == 0)
      config.algorithm = cpu_algorithm ()->name;
    config.device = e->device;
    config.max_components = e->max_components;
    config.second_order = e->second_order;
    analyzer = NULL;
    status = ccl_analyzer_new (&config, &analyzer);
    check_refusal (check, e->what, status, e->allowed);
    check_refusal (check, e->what, ccl_config_check (&config), e->allowed);
    check_that (check, !analyzer, "%s: an analyzer was made", e->what);
    if (status == CCL_OK)
      ccl_analyzer_free (analyzer);
  }

  for (int sync = -1; sync <= CCL_SYNC_BLOCK + 1; sync += CCL_SYNC_BLOCK + 2) {
    ccl_config_init (&config, 9, 9);
    config.sync = (CclSync) sync;
    check_refusal (check, "unknown sync", ccl_analyzer_new (&config, &analyzer),
                   ONLY (CCL_ERROR_INVALID));
  }

  ccl_config_init (&config, 9, 9);
  check_that (check, ccl_config_check (&config) == CCL_OK, "a good config: %s", ccl_last_error ());
  check_refusal (check, "no config to check", ccl_config_check (NULL), ONLY (CCL_ERROR_INVALID));
  config.threads = CCL_MAX_THREADS + 1;
  check_refusal (check, "threads", ccl_analyzer_new (&config, &analyzer), ONLY (CCL_ERROR_INVALID));
  check_that (check, !analyzer, "threads: an analyzer was made");
  check_refusal (check, "no config", ccl_analyzer_new (NULL, &analyzer), ONLY (CCL_ERROR_INVALID));
  check_refusal (check, "no analyzer", ccl_analyzer_new (&config, NULL), ONLY (CCL_ERROR_INVALID));
  ccl_analyzer_free (NULL);
}

/* An unsupported connectivity is refused. */
static void
test_connectivity_errors (Check *check)
{
  const CclAlgorithm *algorithm;

  for (size_t i = 0; (algorithm = ccl_algorithm (i)); i++) {
    for (unsigned connectivity = 4; connectivity <= 8; connectivity += 4) {
      CclAnalyzer *analyzer = NULL;
      CclConfig config;

      if (algorithm->connectivity & connectivity)
        continue;
      ccl_config_init (&config, 9, 9);
      config.algorithm = algorithm->name;
      config.connectivity = connectivity;
      check_refusal (check, algorithm->name, ccl_analyzer_new (&config, &analyzer),
                     ANY_OF (CCL_ERROR_UNSUPPORTED, CCL_ERROR_NO_DEVICE));
    }
  }
}

static void
check_frame_errors (Check *check, const Case *c, CclAnalyzer *analyzer)
{
  const CclImage good = test_image_view (c->image);
  CclImage null = good, narrow = good, nowhere = good, device = good, array = good;
  const CclParams *params = &c->setup.params;
  CclComponents components = { 0 };
  CclLabels labels;
  const unsigned invalid = ONLY (CCL_ERROR_INVALID);

  null.data = NULL;
  narrow.stride = c->image->width - 1;
  nowhere.memory = (CclMemory) 99;
  device.memory = CCL_MEMORY_DEVICE;
  array.memory = CCL_MEMORY_ARRAY;

  check_refusal (check, "collect with nothing submitted",
                 ccl_analyzer_collect (analyzer, &components), invalid);
  check_refusal (check, "submit to NULL", ccl_analyzer_submit (NULL, &good, params), invalid);
  check_refusal (check, "no image", ccl_analyzer_submit (analyzer, NULL, params), invalid);
  check_refusal (check, "no params", ccl_analyzer_submit (analyzer, &good, NULL), invalid);
  check_refusal (check, "no pixels", ccl_analyzer_submit (analyzer, &null, params), invalid);
  check_refusal (check, "stride below width", ccl_analyzer_submit (analyzer, &narrow, params),
                 invalid);
  check_refusal (check, "unknown kind of memory", ccl_analyzer_submit (analyzer, &nowhere, params),
                 invalid);
  check_refusal (check, "analyze NULL", ccl_analyzer_analyze (analyzer, NULL, params, &components),
                 invalid);
  if (c->algorithm->backend == CCL_BACKEND_CPU) {
    check_refusal (check, "device memory for the CPU",
                   ccl_analyzer_submit (analyzer, &device, params), ONLY (CCL_ERROR_UNSUPPORTED));
    check_refusal (check, "a CUDA array for the CPU",
                   ccl_analyzer_submit (analyzer, &array, params), ONLY (CCL_ERROR_UNSUPPORTED));
  }

  /* Errors leave the analyzer and the frame in flight as they were. */
  check_that (check, ccl_analyzer_submit (analyzer, &good, params) == CCL_OK, "submit: %s",
              ccl_last_error ());
  check_refusal (check, "submit twice", ccl_analyzer_submit (analyzer, &good, params), invalid);
  check_refusal (check, "collect from NULL", ccl_analyzer_collect (NULL, &components), invalid);
  check_refusal (check, "collect to NULL", ccl_analyzer_collect (analyzer, NULL), invalid);
  check_result (check, c, ccl_analyzer_collect (analyzer, &components), &components, NULL);
  check_refusal (check, "collect twice", ccl_analyzer_collect (analyzer, &components), invalid);
  check_refusal (check, "labels without config.labels", ccl_analyzer_labels (analyzer, &labels),
                 invalid);
  check_that (check, !labels.data, "a label map was returned");
}

static void
test_statuses (Check *check)
{
  static const char *const names[] = { "CCL_OK",
                                       "CCL_ERROR_INVALID",
                                       "CCL_ERROR_UNSUPPORTED",
                                       "CCL_ERROR_NO_DEVICE",
                                       "CCL_ERROR_NO_MEMORY",
                                       "CCL_ERROR_DEVICE",
                                       "unknown" };
  const CclComponents all = { .count = 2, .found = 2 }, some = { .count = 2, .found = 3 };
  unsigned major, minor, micro;

  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    check_that (check, strcmp (ccl_status_name ((CclStatus) i), names[i]) == 0, "status %zu is %s",
                i, ccl_status_name ((CclStatus) i));
  check_that (check, sscanf (ccl_version (), "%u.%u.%u", &major, &minor, &micro) == 3, "version %s",
              ccl_version ());
  check_that (check, ccl_components_are_all (&all) && !ccl_components_are_all (&some),
              "whether components are all");
}

static void
test_frame_errors (Check *check)
{
  TestImage image = test_image_new (50, 40);
  Case c = { .image = &image };

  memset (image.pixels, 255, 1000);
  setup_init (&c.setup);
  for (size_t i = 0; (c.algorithm = ccl_algorithm (i)); i++) {
    for (c.connectivity = 4; c.connectivity <= 8; c.connectivity += 4) {
      CclConfig config;
      CclAnalyzer *analyzer;

      if (!check_wants (check, c.algorithm, c.connectivity))
        continue;
      config = case_config (&c);
      if (!check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s: %s",
                       c.algorithm->name, ccl_last_error ()))
        continue;
      check_frame_errors (check, &c, analyzer);
      ccl_analyzer_free (analyzer);
    }
  }
  test_image_clear (&image);
}

/* The names and capabilities of algorithms and backends. */
static void
test_names (Check *check)
{
  const CclAlgorithm *a, *b;

  check_that (check, strcmp (ccl_backend_name (CCL_BACKEND_AUTO), "auto") == 0, "backend auto");
  check_that (check, strcmp (ccl_backend_name (CCL_BACKEND_CUDA), "cuda") == 0, "backend cuda");
  check_that (check, strcmp (ccl_backend_name (CCL_BACKEND_CPU), "cpu") == 0, "backend cpu");
  for (size_t i = 0; (a = ccl_algorithm (i)); i++) {
    check_that (check, a->name && *a->name && strcmp (a->name, "auto") != 0, "algorithm %zu", i);
    check_that (check, a->description && *a->description, "%s has no description", a->name);
    check_that (check, a->connectivity && !(a->connectivity & ~12u), "%s: connectivity %u", a->name,
                a->connectivity);
    check_that (check, a->backend == CCL_BACKEND_CPU || a->backend == CCL_BACKEND_CUDA,
                "%s: backend %d", a->name, a->backend);
    for (size_t k = 0; k < i && (b = ccl_algorithm (k)); k++) {
      check_that (check, strcmp (a->name, b->name) != 0, "two algorithms are named %s", a->name);
      check_that (check, !(b->backend == CCL_BACKEND_CPU && a->backend == CCL_BACKEND_CUDA),
                  "%s of CUDA comes after %s of the CPU", a->name, b->name);
    }
  }
  if (ccl_cuda_device_count () == 0)
    check_that (check, *ccl_last_error (), "no CUDA device, and no error that says why");
}

/* Algorithms that builds without papers lack are refused with a hint. */
static void
test_papers (Check *check)
{
  static const char *const names[] = { "flsl", "ha4-32", "bke-ic", "label-equivalence", "uf" };
  CclConfig config;
  CclVolumeConfig volume_config;
  CclVolume *volume;
  bool papers = check_has_algorithm (names[0]);

  ccl_config_init (&config, 9, 9);
  ccl_volume_config_init (&volume_config, 3, 3, 3);
  volume_config.algorithm = "bke";
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    check_that (check, check_has_algorithm (names[i]) == papers, "%s", names[i]);
    if (papers)
      continue;
    config.algorithm = names[i];
    check_refusal (check, names[i], ccl_config_check (&config), ONLY (CCL_ERROR_UNSUPPORTED));
    check_that (check, !check_has_algorithm ("tile") || strstr (ccl_last_error (), "-Dpapers=true"),
                "%s: %s", names[i], ccl_last_error ());
  }
  if (papers || !check_has_algorithm ("tile"))
    return;
  check_refusal (check, "bke of volumes", ccl_volume_new (&volume_config, &volume),
                 ONLY (CCL_ERROR_UNSUPPORTED));
  check_that (check, strstr (ccl_last_error (), "-Dpapers=true"), "bke of volumes: %s",
              ccl_last_error ());
  config.algorithm = "flsl-c";
  check_refusal (check, "flsl-c", ccl_config_check (&config), ONLY (CCL_ERROR_UNSUPPORTED));
  check_that (check, !strstr (ccl_last_error (), "-Dpapers=true"), "flsl-c: %s", ccl_last_error ());
}

const Test error_tests[] = {
  { "names", test_names },
  { "statuses", test_statuses },
  { "papers", test_papers },
  { "config-errors", test_config_errors },
  { "connectivity-errors", test_connectivity_errors },
  { "frame-errors", test_frame_errors },
  { NULL, NULL },
};
