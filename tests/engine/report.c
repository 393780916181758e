/* cudaccl - checkccl: failure reports
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/engine/checkccl.h"

#include "tests/reference/components.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The number of failures of an algorithm that are reported in full; the rest are counted. */
#define MOST_REPORTS 3
#define SHRINK_SECONDS 20.0

/* The largest image that is printed. */
#define MOST_COLUMNS 100
#define MOST_ROWS 50

static const char *const memory_names[] = { "host", "pinned", "device" };

static void
print_component (const char *who, const CclComponents *components, uint32_t index)
{
  const CclComponent *c = &components->items[index];

  if (index >= components->count) {
    printf ("    %s: none\n", who);
    return;
  }
  printf ("    %s: label %u, box %u,%u %ux%u, first x %u, area %" PRIu64 ", sums %" PRIu64
          " %" PRIu64 ", second order %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
          who, c->label, c->x, c->y, c->width, c->height, c->first_x, c->area, c->sum_x, c->sum_y,
          c->sum_xx, c->sum_yy, c->sum_xy);
}

static void
print_difference (CclStatus status, const CclComponents *got, const CclComponents *expected)
{
  uint32_t i = 0, different = 0;

  if (status != CCL_OK) {
    printf ("    status %d: %s\n", status, ccl_last_error ());
    return;
  }
  printf ("    expected %u components of %u found, got %u of %u\n", expected->count,
          expected->found, got->count, got->found);
  while (i < got->count && i < expected->count &&
         memcmp (&got->items[i], &expected->items[i], sizeof *got->items) == 0)
    i++;
  if (i >= got->count && i >= expected->count)
    return;
  for (uint32_t k = i; k < got->count && k < expected->count; k++)
    different += memcmp (&got->items[k], &expected->items[k], sizeof *got->items) != 0;
  printf ("    first difference at index %u; %u of those on both sides differ\n", i, different);
  print_component ("expected", expected, i);
  print_component ("got     ", got, i);
}

static void
print_case (const Check *check, const Case *c)
{
  const CclParams *params = &c->setup.params;
  CclConfig config = case_config (c);

  printf ("    test %s, seed %u, algorithm %s, %u-connectivity, %u x %u\n", check->test,
          check->options.seed, c->algorithm->name, c->connectivity, config.width, config.height);
  printf ("    %s in %s memory%s, %zu more from row to row", c->placement.bits ? "bits" : "bytes",
          memory_names[c->memory],
          c->memory == CCL_MEMORY_DEVICE && c->placement.late ? " (ready on a stream)" : "",
          c->placement.padding);
  if (c->placement.slack == TEST_SLACK_FRONT)
    printf (", at the front of its memory\n");
  else
    printf (", %zu bytes before the end of its memory\n", c->placement.slack);
  printf ("    threshold %u%s, area %" PRIu64 "...%" PRIu64 ", max_components %u%s%s\n",
          params->threshold, params->invert ? " inverted" : "", params->min_area, params->max_area,
          config.max_components, config.second_order ? ", second order" : "",
          config.labels ? ", label map" : "");
  if (c->algorithm->backend == CCL_BACKEND_CPU)
    printf ("    %s, %u thread(s), parts of %u pixels or more\n",
            c->cpu.functions ? c->cpu.functions->name : "best instruction set", config.threads,
            c->cpu.strip_pixels);
}

/* Writes the image, and prints how to replay it. */
static void
dump_image (const Check *check, const Case *c, const char *what)
{
  const CclParams *params = &c->setup.params;
  CclConfig config = case_config (c);
  char path[512];

  snprintf (path, sizeof path, "%s/checkccl-%u-%u-%s-%u-%s.pgm", check->options.dump,
            check->options.seed, (unsigned) check->tests, c->algorithm->name, c->connectivity,
            what);
  if (!test_image_write_pgm (c->image, path))
    return;
  printf ("    %s image: %s\n", what, path);
  printf (
      "    replay: checkccl --image=%s --seed=%u --algorithm=%s --connectivity=%u --threshold=%u%s",
      path, check->options.seed, c->algorithm->name, c->connectivity, params->threshold,
      params->invert ? " --invert" : "");
  if (params->min_area > 1)
    printf (" --min-area=%" PRIu64, params->min_area);
  if (params->max_area < UINT64_MAX)
    printf (" --max-area=%" PRIu64, params->max_area);
  printf (" --max-components=%u%s%s\n", config.max_components,
          config.second_order ? " --second-order" : "", config.labels ? " --labels" : "");
}

typedef struct Candidate
{
  Check *check;
  Case c;
} Candidate;

static bool
candidate_fails (const TestImage *image, void *data)
{
  Candidate *candidate = data;

  candidate->c.image = image;
  return case_fails (candidate->check, &candidate->c);
}

/* Turns the values to 0 and 255 and the threshold to its default, if the case still fails then. */
static TestImage
simplify_values (Candidate *candidate, const Case *c)
{
  TestImage plain = test_image_copy (c->image);

  for (uint32_t y = 0; y < plain.height; y++)
    for (uint32_t x = 0; x < plain.width; x++)
      plain.pixels[(size_t) y * plain.width + x] =
          test_image_is_foreground (c->image, &c->setup.params, x, y) ? 255 : 0;
  candidate->c.setup.params.threshold = 127;
  candidate->c.setup.params.invert = false;
  if (candidate_fails (&plain, candidate))
    return plain;

  test_image_clear (&plain);
  candidate->c.setup.params = c->setup.params;
  return test_image_copy (c->image);
}

static void
report_smallest (Check *check, const Case *c)
{
  Candidate candidate = { check, *c };
  TestImage simple = simplify_values (&candidate, c), smallest;
  bool invert = candidate.c.setup.params.invert;

  if (!candidate_fails (&simple, &candidate)) {
    printf ("    a new analyzer gets it right: state of earlier frames, or a race\n");
    test_image_clear (&simple);
    return;
  }
  smallest = shrink_image (&simple, invert ? 255 : 0, candidate_fails, &candidate, SHRINK_SECONDS);
  candidate.c.image = &smallest;
  printf ("    shrunk to %u x %u\n", smallest.width, smallest.height);
  dump_image (check, &candidate.c, "smallest");
  if (smallest.width <= MOST_COLUMNS && smallest.height <= MOST_ROWS)
    test_image_print (&smallest, &candidate.c.setup.params, stdout);
  test_image_clear (&smallest);
  test_image_clear (&simple);
}

/* Begins a report, unless the algorithm's limit is reached. */
static bool
begin_report (Check *check, const Case *c)
{
  size_t index = 0;

  while (ccl_algorithm (index) != c->algorithm)
    index++;
  if (index >= CHECK_MAX_ALGORITHMS || check->reported[index] >= MOST_REPORTS)
    return false;

  printf ("\n  FAILED: %s\n", c->algorithm->name);
  print_case (check, c);
  if (++check->reported[index] == MOST_REPORTS)
    printf ("    (further failures of %s are only counted)\n", c->algorithm->name);
  return true;
}

static void
end_report (Check *check, const Case *c)
{
  dump_image (check, c, "failing");
  report_smallest (check, c);
  fflush (stdout);
}

void
report_failure (Check *check, const Case *c, CclStatus status, const CclComponents *got,
                const CclComponents *expected)
{
  if (!begin_report (check, c))
    return;
  print_difference (status, got, expected);
  end_report (check, c);
}

void
report_labels (Check *check, const Case *c, CclStatus status, const CclLabels *got,
               const uint32_t *expected)
{
  if (!begin_report (check, c))
    return;
  if (status != CCL_OK) {
    printf ("    label map: status %d: %s\n", status, ccl_last_error ());
  } else {
    size_t at = labels_difference (c, got, expected), width = c->image->width;
    const char *row = (const char *) got->data + at / width * got->stride;

    printf ("    first difference of the label map at %zu,%zu: expected %u, got %u\n", at % width,
            at / width, expected[at], ((const uint32_t *) row)[at % width]);
  }
  end_report (check, c);
}
