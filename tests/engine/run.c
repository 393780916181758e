/* cudaccl - checkccl: analyses a frame with all algorithms
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"

#include "engine/cpu/tuning.h"
#include "tests/reference/components.h"
#include "tests/reference/shapes.h"
#include "tests/lib/device.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Enough for every small image; results of larger ones are truncated, which is tested as well. */
#define MOST_COMPONENTS (1u << 18)

/* The most bytes of a placed frame. */
#define MOST_BYTES ((uint64_t) 256 << 20)

/* Analyzers of larger frames are not kept: there is one for every algorithm. */
#define MOST_KEPT_PIXELS ((uint64_t) 16 << 20)

void
setup_init (Setup *setup)
{
  memset (setup, 0, sizeof *setup);
  ccl_params_init (&setup->params);
}

CclConfig
case_config (const Case *c)
{
  uint64_t pixels = (uint64_t) c->image->width * c->image->height;
  CclConfig config;

  ccl_config_init (&config, c->image->width, c->image->height);
  config.connectivity = c->connectivity;
  config.backend = c->algorithm->backend;
  config.algorithm = c->algorithm->name;
  config.device = c->algorithm->backend == CCL_BACKEND_CUDA ? TEST_DEVICE : -1;
  config.second_order = c->setup.second_order;
  config.labels = c->setup.labels;
  config.shapes = c->setup.shapes & ~(c->placement.bits ? CCL_SHAPES_LUMA : 0u);
  config.values = c->setup.values;
  config.threads = c->cpu.threads ? c->cpu.threads : 1;
  config.upload = c->upload;
  config.graphs = true;
  config.max_components = c->setup.max_components;
  if (config.max_components == 0)
    config.max_components =
        pixels < 2 * MOST_COMPONENTS ? (uint32_t) (pixels + 1) / 2 : MOST_COMPONENTS;
  return config;
}

CclStatus
case_open (const Case *c, CclAnalyzer **analyzer)
{
  const CclCpuTuning usual = ccl_cpu_tuning;
  CclConfig config = case_config (c);
  CclStatus status;

  ccl_cpu_tuning.functions = c->cpu.functions;
  if (c->cpu.strip_pixels)
    ccl_cpu_tuning.strip_pixels = c->cpu.strip_pixels;
  status = ccl_analyzer_new (&config, analyzer);
  ccl_cpu_tuning = usual;
  return status;
}

CclImage
case_place (const Case *c, TestArena *arena)
{
  return test_arena_place_as (arena, c->image, &c->setup.params, &c->placement);
}

bool
check_wants (const Check *check, const CclAlgorithm *algorithm, unsigned connectivity)
{
  const Options *options = &check->options;

  if (!(algorithm->connectivity & connectivity))
    return false;
  if (options->connectivity && options->connectivity != connectivity)
    return false;
  if (options->algorithm && strcmp (options->algorithm, algorithm->name) != 0)
    return false;
  if (options->backend != CCL_BACKEND_AUTO && options->backend != algorithm->backend)
    return false;
  return algorithm->backend != CCL_BACKEND_CUDA || test_device_available ();
}

bool
components_equal (const CclComponents *a, const CclComponents *b)
{
  return a->found == b->found && a->count == b->count &&
         (a->count == 0 || memcmp (a->items, b->items, a->count * sizeof *a->items) == 0);
}

void
check_each_algorithm (Check *check, void (*run) (Check *check, const Case *c))
{
  Case c = { 0 };

  setup_init (&c.setup);
  for (size_t i = 0; (c.algorithm = ccl_algorithm (i)); i++) {
    unsigned most = c.algorithm->backend == CCL_BACKEND_CPU ? 3 : 1; /* threads */

    for (c.connectivity = 4; c.connectivity <= 8; c.connectivity += 4)
      for (c.cpu = (CpuSetup){ NULL, 1, 100 }; c.cpu.threads <= most; c.cpu.threads += 2)
        for (int bits = 0; bits < 2; bits++) {
          c.placement.bits = bits;
          if (check_wants (check, c.algorithm, c.connectivity))
            run (check, &c);
        }
  }
}

CclComponents
case_expected (const Case *c)
{
  CclConfig config = case_config (c);
  CclImage view = test_image_view (c->image);
  CclComponents components;

  if (ccl_reference_analyze (&config, &view, &c->setup.params, &components) != CCL_OK)
    test_fatal ("out of memory for the reference");
  return components;
}

uint32_t *
case_expected_labels (const Case *c)
{
  CclConfig config = case_config (c);
  CclImage view = test_image_view (c->image);
  CclComponents components;
  uint32_t *labels;

  if (!config.labels && !config.shapes)
    return NULL;
  labels = test_alloc ((size_t) config.width * config.height * sizeof *labels);
  if (ccl_reference_label (&config, &view, &c->setup.params, &components, labels) != CCL_OK)
    test_fatal ("out of memory for the reference");
  ccl_reference_clear (&components);
  return labels;
}

size_t
labels_difference (const Case *c, const CclLabels *labels, const uint32_t *expected)
{
  size_t width = c->image->width, bytes = width * sizeof *expected;

  for (size_t y = 0; y < c->image->height; y++) {
    const uint32_t *row = (const uint32_t *) ((const char *) labels->data + y * labels->stride);

    if (memcmp (row, expected + y * width, bytes) == 0)
      continue;
    for (size_t x = 0; x < width; x++)
      if (row[x] != expected[y * width + x])
        return y * width + x;
  }
  return SIZE_MAX;
}

uint32_t
count_components (const TestImage *image, unsigned connectivity)
{
  CclConfig config;
  CclImage view = test_image_view (image);
  CclParams params;
  CclComponents components;
  uint32_t found;

  ccl_config_init (&config, image->width, image->height);
  ccl_params_init (&params);
  config.connectivity = connectivity;
  if (ccl_reference_analyze (&config, &view, &params, &components) != CCL_OK)
    test_fatal ("out of memory for the reference");
  found = components.found;
  ccl_reference_clear (&components);
  return found;
}

static CclStatus
analyze (Check *check, CclAnalyzer *analyzer, const Case *c, CclComponents *components)
{
  CclImage image = case_place (c, &check->arenas[c->memory]);

  return ccl_analyzer_analyze (analyzer, &image, &c->setup.params, components);
}

bool
case_fails (Check *check, const Case *c)
{
  CclComponents expected = case_expected (c), got = { 0 };
  CclAnalyzer *analyzer = NULL;
  bool fails = case_open (c, &analyzer) != CCL_OK;
  uint32_t *expected_labels = case_expected_labels (c);

  /* More than once: it may be a race. */
  for (int i = 0; i < 3 && !fails; i++) {
    CclLabels labels;

    fails = analyze (check, analyzer, c, &got) != CCL_OK || !components_equal (&got, &expected);
    if (!fails && expected_labels)
      fails = ccl_analyzer_labels (analyzer, &labels) != CCL_OK ||
              labels_difference (c, &labels, expected_labels) != SIZE_MAX;
  }
  free (expected_labels);
  ccl_analyzer_free (analyzer);
  ccl_reference_clear (&expected);
  return fails;
}

bool
check_wants_backend (const Check *check, CclBackend backend)
{
  return (check->options.backend == CCL_BACKEND_AUTO || check->options.backend == backend) &&
         !check->options.algorithm && (backend == CCL_BACKEND_CPU || test_device_available ());
}

bool
check_that (Check *check, bool ok, const char *format, ...)
{
  va_list args;

  check->tests++;
  if (ok)
    return true;
  check->failed++;
  printf ("\n  FAILED in %s: ", check->test);
  va_start (args, format);
  vprintf (format, args);
  va_end (args);
  printf (" (seed %u)\n", check->options.seed);
  return false;
}

bool
check_result (Check *check, const Case *c, CclStatus status, const CclComponents *got,
              const CclComponents *expected)
{
  CclComponents own = { 0 };
  bool ok;

  if (!expected) {
    own = case_expected (c);
    expected = &own;
  }
  ok = status == CCL_OK && components_equal (got, expected);
  check->tests++;
  check->runs++;
  if (!ok) {
    check->failed++;
    report_failure (check, c, status, got, expected);
  }
  ccl_reference_clear (&own);
  return ok;
}

bool
check_labels (Check *check, const Case *c, CclAnalyzer *analyzer, const uint32_t *expected)
{
  CclLabels labels;
  CclStatus status = ccl_analyzer_labels (analyzer, &labels);
  bool ok = status == CCL_OK && labels_difference (c, &labels, expected) == SIZE_MAX;

  check->tests++;
  if (!ok) {
    check->failed++;
    report_labels (check, c, status, &labels, expected);
  }
  return ok;
}

static void
check_shapes (Check *check, const Case *c, CclAnalyzer *analyzer, uint32_t count,
              const uint32_t *labels)
{
  CclConfig config = case_config (c);
  CclImage view = test_image_view (c->image);
  CclShape *expected = test_alloc ((count + 1) * sizeof *expected);
  const CclShape *got = NULL;
  CclStatus status = ccl_analyzer_shapes (analyzer, &got);

  ccl_reference_shapes (&config, &view, labels, count, expected);
  check_that (check, status == CCL_OK, "%s: %s", c->algorithm->name, ccl_last_error ());
  for (uint32_t i = 0; status == CCL_OK && i < count; i++) {
    const CclShape *g = &got[i], *e = &expected[i];

    if (!check_that (check, memcmp (g, e, sizeof *g) == 0,
                     "%s, %u-connectivity, shapes %u of %u x %u, label %u: edges %llu (%llu), "
                     "Euler %lld (%lld), border %u %u %u (%u %u %u), luma %llu %u %u (%llu %u %u)",
                     c->algorithm->name, c->connectivity, config.shapes, config.width,
                     config.height, i + 1, (unsigned long long) g->edges,
                     (unsigned long long) e->edges, (long long) g->euler, (long long) e->euler,
                     g->straight, g->diagonal, g->turning, e->straight, e->diagonal, e->turning,
                     (unsigned long long) g->luma, g->luma_min, g->luma_max,
                     (unsigned long long) e->luma, e->luma_min, e->luma_max))
      break;
  }
  free (expected);
}

/* The slot's analyzer, made anew if the configuration differs. */
static CclAnalyzer *
slot_analyzer (Slot *slot, const Case *c)
{
  const CclConfig *have = &slot->config;
  CclConfig config = case_config (c);

  if (slot->analyzer && have->width == config.width && have->height == config.height &&
      have->max_components == config.max_components && have->second_order == config.second_order &&
      (have->labels || !config.labels) && have->shapes == config.shapes &&
      have->values == config.values && have->threads == config.threads &&
      have->upload == config.upload && slot->cpu.functions == c->cpu.functions &&
      slot->cpu.strip_pixels == c->cpu.strip_pixels)
    return slot->analyzer;

  ccl_analyzer_free (slot->analyzer);
  slot->analyzer = NULL;
  slot->config = config;
  slot->cpu = c->cpu;
  if (case_open (c, &slot->analyzer) != CCL_OK)
    slot->analyzer = NULL;
  return slot->analyzer;
}

static void
check_case (Check *check, size_t index, const Case *c, const CclComponents *expected,
            const uint32_t *expected_labels)
{
  Slot *slot = &check->slots[index][c->connectivity == 8];
  CclConfig config = case_config (c);
  CclAnalyzer *analyzer = slot_analyzer (slot, c);
  CclComponents got = { 0 };
  CclStatus status = CCL_ERROR_NO_MEMORY;

  check_on_crash (check, c);
  if (analyzer)
    status = analyze (check, analyzer, c, &got);
  check_on_crash (check, NULL);
  if (check->options.verbose)
    printf ("  %s: %s, %u-connectivity, %u x %u%s, memory %d, padding %zu, slack %zd: %u found\n",
            check->test, c->algorithm->name, c->connectivity, config.width, config.height,
            c->placement.bits ? " bits" : "", c->memory, c->placement.padding,
            (ssize_t) c->placement.slack, expected->found);
  if (check_result (check, c, status, &got, expected) && (config.labels || config.shapes))
    if (check_labels (check, c, analyzer, expected_labels) && config.shapes)
      check_shapes (check, c, analyzer, got.count, expected_labels);

  if (!analyzer || status == CCL_ERROR_DEVICE ||
      (uint64_t) config.width * config.height > MOST_KEPT_PIXELS) {
    ccl_analyzer_free (slot->analyzer);
    slot->analyzer = NULL;
  }
}

/* Typical and difficult placements: no padding, with the end of the memory right behind the last
 * pixel, or odd padding and addresses. */
static TestPlacement
draw_placement (Mt19937 *rng, const TestImage *image, const CclParams *params)
{
  uint32_t kind = mt19937_below (rng, 6);
  uint64_t padding = 0;
  TestPlacement placement = { .fill = params->invert ? 0 : 255 };

  switch (kind) {
  case 0:
    padding = 1 + mt19937_below (rng, 16);
    break;
  case 1:
    padding = (64 - image->width % 64) % 64;
    break;
  case 2:
    padding = mt19937_below (rng, 4) ? mt19937_below (rng, 300) : mt19937_below (rng, 5000);
    break;
  }
  if ((image->width + padding) * image->height <= MOST_BYTES)
    placement.padding = (size_t) padding;

  kind = mt19937_below (rng, 4);
  if (kind == 0)
    placement.slack = mt19937_below (rng, 64);
  else if (kind == 1)
    placement.slack = TEST_SLACK_FRONT;
  placement.late = mt19937_below (rng, 8) == 0;
  return placement;
}

/* Draws an instruction set, a number of threads and the size of parts, or how pixels are uploaded;
 * the same for all frames of one size, so that analyzers can be kept. */
static void
draw_backend (const Check *check, Case *c)
{
  static const unsigned threads[] = { 1, 1, 2, 3, 7 };
  static const uint32_t strip_pixels[] = { 1, 500, 0 };
  char name[64];
  uint32_t n = 0;
  Mt19937 rng;

  c->cpu = (CpuSetup){ 0 };
  while (ccl_cpu_functions (n))
    n++;
  snprintf (name, sizeof name, "%ux%u %u", c->image->width, c->image->height, c->connectivity);
  mt19937_seed (&rng, mt19937_mix (check->options.seed, name));
  if (c->algorithm->backend != CCL_BACKEND_CPU)
    c->upload = (CclUpload) mt19937_below (&rng, 3);
  else if (check->cpu)
    c->cpu = *check->cpu;
  else
    c->cpu = (CpuSetup){
      .functions = ccl_cpu_functions (mt19937_below (&rng, n)),
      .threads = threads[mt19937_below (&rng, 5)],
      .strip_pixels = strip_pixels[mt19937_below (&rng, 3)],
    };
}

/* Whether the image is too large for an algorithm that needs an iteration for every turn of the
 * longest path. */
static bool
is_endless (const CclAlgorithm *algorithm, const TestImage *image)
{
  return strcmp (algorithm->name, "row-col-unify") == 0 &&
         (size_t) image->width * image->height > 40000;
}

/* All algorithms and memories. @placement NULL: random, always from host memory, from others for
 * every second frame on average. */
static void
check_connectivity (Check *check, unsigned connectivity, const TestImage *image, const Setup *setup,
                    const TestPlacement *placement, uint32_t salt)
{
  Case c = { .image = image, .setup = *setup, .connectivity = connectivity };
  CclComponents expected = { 0 };
  uint32_t *expected_labels = NULL;
  bool have_expected = false;

  for (size_t i = 0; (c.algorithm = ccl_algorithm (i)) && i < CHECK_MAX_ALGORITHMS; i++) {
    Mt19937 rng;

    if (!check_wants (check, c.algorithm, connectivity) || is_endless (c.algorithm, image))
      continue;
    if (!have_expected) {
      expected = case_expected (&c);
      expected_labels = case_expected_labels (&c);
    }
    have_expected = true;

    /* Its own random numbers, so that --algorithm does not change them. */
    mt19937_seed (&rng, mt19937_mix (salt, c.algorithm->name));
    draw_backend (check, &c);
    for (int m = 0; m < (c.algorithm->backend == CCL_BACKEND_CUDA ? CHECK_MEMORIES : 1); m++) {
      c.memory = (CclMemory) m;
      c.placement = placement ? *placement : draw_placement (&rng, image, &setup->params);
      if (!placement && m > 0 && mt19937_below (&rng, 2))
        continue;
      for (int bits = 0; bits < (setup->values == CCL_VALUES_ABOVE ? 2 : 1); bits++) {
        c.placement.bits = bits;
        check_case (check, i, &c, &expected, expected_labels);
      }
    }
  }
  free (expected_labels);
  ccl_reference_clear (&expected);
}

void
check_frame_placed (Check *check, const TestImage *image, const Setup *setup,
                    const TestPlacement *placement)
{
  uint32_t salt = mt19937_next (&check->rng);

  check_connectivity (check, 4, image, setup, placement, salt);
  check_connectivity (check, 8, image, setup, placement, salt);
}

void
check_frame (Check *check, const TestImage *image, const Setup *setup)
{
  check_frame_placed (check, image, setup, NULL);
}

void
check_clear (Check *check)
{
  for (size_t i = 0; i < CHECK_MAX_ALGORITHMS; i++) {
    for (int k = 0; k < 2; k++) {
      ccl_analyzer_free (check->slots[i][k].analyzer);
      check->slots[i][k].analyzer = NULL;
    }
  }
  for (int m = 0; m < CHECK_MEMORIES; m++)
    test_arena_clear (&check->arenas[m]);
}
