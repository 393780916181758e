/* cudaccl - checkccl: validity of label maps
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The frame tests check that label maps are right. */

#include "tests/engine/checkccl.h"
#include "tests/lib/patterns.h"

#include <stdlib.h>
#include <string.h>

typedef struct Labelled
{
  Case c;
  TestImage image;
  CclAnalyzer *analyzer;
  uint32_t *expected;
} Labelled;

/* Draws another image for the analyzer. */
static void
redraw (Labelled *self, Check *check)
{
  test_noise_draw (&self->image, 0.2 + mt19937_below (&check->rng, 6) / 10.0,
                   1 + mt19937_below (&check->rng, 5), &check->rng);
  free (self->expected);
  self->expected = case_expected_labels (&self->c);
}

static bool
labelled_init (Labelled *self, Check *check, const Case *c, uint32_t width, uint32_t height)
{
  memset (self, 0, sizeof *self);
  self->c = *c;
  self->image = test_image_new (width, height);
  self->c.image = &self->image;
  redraw (self, check);
  return check_that (check, case_open (&self->c, &self->analyzer) == CCL_OK, "%s: %s",
                     c->algorithm->name, ccl_last_error ());
}

static void
labelled_clear (Labelled *self)
{
  ccl_analyzer_free (self->analyzer);
  test_image_clear (&self->image);
  free (self->expected);
}

/* Analyses a copy of the image and overwrites it: it must not be read any more. */
static void
analyze_and_spoil (Labelled *self, Check *check)
{
  static const TestPlacement placement;
  TestArena *arena = &check->arenas[self->c.memory];
  TestImage spoilt = test_image_new (self->image.width, self->image.height);
  CclImage image = case_place (&self->c, arena);
  CclComponents got = { 0 };
  CclStatus status = ccl_analyzer_analyze (self->analyzer, &image, &self->c.setup.params, &got);

  check_result (check, &self->c, status, &got, NULL);
  memset (spoilt.pixels, 0x55, (size_t) spoilt.width * spoilt.height);
  test_arena_place (arena, &spoilt, &placement);
  test_image_clear (&spoilt);
}

/* Writes the label map to memory of our own, with gaps between the rows that stay. */
static void
check_written (Labelled *self, Check *check)
{
  const size_t width = self->image.width, height = self->image.height, gap = 3;
  uint32_t *pixels = malloc ((width + gap) * height * sizeof *pixels);
  CclLabels labels = { pixels, (width + gap) * sizeof *pixels };
  bool kept = true;

  memset (pixels, 0x77, (width + gap) * height * sizeof *pixels);
  check_that (check,
              ccl_analyzer_write_labels (self->analyzer, pixels, labels.stride, CCL_MEMORY_HOST) ==
                      CCL_OK &&
                  labels_difference (&self->c, &labels, self->expected) == SIZE_MAX,
              "%s: the written label map is wrong", self->c.algorithm->name);
  for (size_t i = 0; i < (width + gap) * height; i++)
    kept &= i % (width + gap) < width || pixels[i] == 0x77777777;
  check_that (check, kept, "%s: labels were written between rows", self->c.algorithm->name);
  check_that (check,
              ccl_analyzer_write_labels (self->analyzer, pixels, 4 * width - 4, CCL_MEMORY_HOST) ==
                      CCL_ERROR_INVALID &&
                  ccl_analyzer_write_labels (self->analyzer, pixels, 4 * width + 1,
                                             CCL_MEMORY_HOST) == CCL_ERROR_INVALID,
              "%s: a bad stride was accepted", self->c.algorithm->name);
  check_that (check,
              ccl_analyzer_write_labels (self->analyzer, pixels, labels.stride, CCL_MEMORY_ARRAY) ==
                  CCL_ERROR_UNSUPPORTED,
              "%s: labels went to an array", self->c.algorithm->name);
  free (pixels);
}

#define PALETTE 9

/* Paints with a palette and compares pixel by pixel; what is between rows stays. */
static void
check_painted (Labelled *self, Check *check)
{
  const size_t width = self->image.width, height = self->image.height;
  uint8_t values[PALETTE * 4];
  CclPalette palette = { .values = values,
                         .n = 2 + mt19937_below (&check->rng, PALETTE - 1),
                         .size = 2 + mt19937_below (&check->rng, 3),
                         .repeats = mt19937_below (&check->rng, 2) };
  size_t stride = width * palette.size + mt19937_below (&check->rng, 3);
  uint8_t *pixels = test_alloc (stride * height);
  uint32_t wrong = 0, n = palette.n;

  for (size_t i = 0; i < sizeof values; i++)
    values[i] = (uint8_t) mt19937_below (&check->rng, 200);
  memset (pixels, 0xee, stride * height);
  check_that (check, ccl_analyzer_paint (self->analyzer, &palette, pixels, stride) == CCL_OK,
              "%s: %s", self->c.algorithm->name, ccl_last_error ());
  for (size_t y = 0; y < height; y++) {
    for (size_t x = 0; x < width; x++) {
      uint32_t label = self->expected[y * width + x];

      while (label >= n)
        label = palette.repeats ? label - (n - 1) : n - 1;
      wrong += memcmp (pixels + y * stride + x * palette.size, values + 4 * (size_t) label,
                       palette.size) != 0;
    }
    for (size_t x = width * palette.size; x < stride; x++)
      wrong += pixels[y * stride + x] != 0xee;
  }
  check_that (check, wrong == 0, "%s: %u pixels of %u bytes are painted wrong",
              self->c.algorithm->name, wrong, palette.size);
  check_that (check,
              ccl_analyzer_paint (self->analyzer, &palette, pixels, width * palette.size - 1) ==
                  CCL_ERROR_INVALID,
              "%s: a bad stride was accepted", self->c.algorithm->name);
  palette.size = 5;
  check_that (check,
              ccl_analyzer_paint (self->analyzer, &palette, pixels, stride) == CCL_ERROR_INVALID,
              "%s: pixels of 5 bytes", self->c.algorithm->name);
  palette.size = palette.n = 1;
  check_that (check,
              ccl_analyzer_paint (self->analyzer, &palette, pixels, stride) == CCL_ERROR_INVALID,
              "%s: a palette of one value", self->c.algorithm->name);
  free (pixels);
}

/* There is no label map before the first frame or while a frame is in flight. */
static void
check_times (Labelled *self, Check *check)
{
  CclImage view = test_image_view (&self->image);
  CclLabels labels;
  CclComponents got;

  check_that (check, ccl_analyzer_labels (self->analyzer, &labels) == CCL_ERROR_INVALID,
              "%s: labels before the first frame", self->c.algorithm->name);
  check_that (check, ccl_analyzer_labels (self->analyzer, NULL) == CCL_ERROR_INVALID,
              "%s: labels to NULL", self->c.algorithm->name);
  check_that (check, ccl_analyzer_labels (NULL, &labels) == CCL_ERROR_INVALID, "labels from NULL");
  for (int i = 0; i < 2; i++) {
    check_that (check, ccl_analyzer_submit (self->analyzer, &view, &self->c.setup.params) == CCL_OK,
                "%s: %s", self->c.algorithm->name, ccl_last_error ());
    check_that (check,
                ccl_analyzer_labels (self->analyzer, &labels) == CCL_ERROR_INVALID && !labels.data,
                "%s: labels of a frame in flight", self->c.algorithm->name);
    check_result (check, &self->c, ccl_analyzer_collect (self->analyzer, &got), &got, NULL);
    check_labels (check, &self->c, self->analyzer, self->expected);
  }
}

/* Label maps are asked for twice, or not for every frame; analyzers do not share them. */
static void
run_labels (Check *check, const Case *c)
{
  Labelled first, second;
  CclLabels labels = { 0 };
  bool made = labelled_init (&first, check, c, 131, 67);

  made &= labelled_init (&second, check, c, 131, 67); /* both are cleared below */
  if (made) {
    check_times (&first, check);
    for (int i = 0; i < 6; i++) {
      redraw (&first, check);
      analyze_and_spoil (&first, check);
      if (i % 3 == 1)
        continue;
      if (i % 2)
        check_written (&first, check);
      check_painted (&first, check);
      check_labels (check, &first.c, first.analyzer, first.expected);
      check_labels (check, &first.c, first.analyzer, first.expected);
      check_written (&first, check);
    }
    ccl_analyzer_labels (first.analyzer, &labels);
    redraw (&second, check);
    analyze_and_spoil (&second, check);
    check_labels (check, &second.c, second.analyzer, second.expected);
    ccl_analyzer_free (second.analyzer);
    second.analyzer = NULL;
    check_that (check,
                labels.data && labels_difference (&first.c, &labels, first.expected) == SIZE_MAX,
                "%s: another analyzer changed a label map", c->algorithm->name);
  }
  labelled_clear (&second);
  labelled_clear (&first);
}

static void
test_labels (Check *check)
{
  Case c = { 0 };

  setup_init (&c.setup);
  c.setup.labels = true;
  for (size_t i = 0; (c.algorithm = ccl_algorithm (i)); i++) {
    unsigned memories = c.algorithm->backend == CCL_BACKEND_CUDA ? CHECK_MEMORIES : 1;

    for (unsigned k = 0; k < 4 * memories; k++) {
      c.connectivity = k % 2 ? 4 : 8;
      c.setup.max_components = k % 4 < 2 ? 0 : 7;
      c.setup.params.min_area = k % 4 < 2 ? 1 : 2;
      c.memory = (CclMemory) (k / 4);
      if (check_wants (check, c.algorithm, c.connectivity))
        run_labels (check, &c);
    }
  }
}

const Test label_tests[] = {
  { "labels", test_labels },
  { NULL, NULL },
};
