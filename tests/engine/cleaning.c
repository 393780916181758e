/* cudaccl - checkccl: frames that are cleaned before their analysis, and what is read and written
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/mask/cleaning.h"
#include "tests/engine/allocations.h"
#include "tests/engine/checkccl.h"
#include "tests/engine/masks.h"
#include "tests/lib/device.h"
#include "tests/lib/patterns.h"

#include <cudaccl/batch.h>
#include "tests/reference/components.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* How the frames of one analyzer are cleaned. */
typedef struct Cleaning
{
  CclOperation operations[CCL_MAX_OPERATIONS];
  uint32_t n;
  CclMask region; /* no words: none */
  char text[512];
} Cleaning;

static Cleaning
draw_cleaning (Mt19937 *rng, uint32_t width, uint32_t height)
{
  Cleaning cleaning = { .n = mt19937_below (rng, 4) };

  for (uint32_t i = 0; i < cleaning.n; i++)
    cleaning.operations[i] = test_operation_draw (rng);
  ccl_operations_format (cleaning.operations, cleaning.n, cleaning.text, sizeof cleaning.text);
  if (mt19937_below (rng, 2)) {
    TestImage noise = test_image_new (width, height);

    test_noise_draw (&noise, 0.7, 1 + mt19937_below (rng, 60), rng);
    if (ccl_mask_alloc (width, height, &cleaning.region) != CCL_OK ||
        ccl_mask_pack (&cleaning.region, noise.pixels, width, 127, false) != CCL_OK)
      test_fatal ("%s", ccl_last_error ());
    test_image_clear (&noise);
  }
  return cleaning;
}

/* The clean mask of the image, as 0 and 255, by the reference. */
static TestImage
clean_image (const TestImage *image, const CclParams *params, const Cleaning *cleaning,
             unsigned connectivity)
{
  TestImage clean = test_image_new (image->width, image->height);

  for (uint32_t y = 0; y < image->height; y++)
    for (uint32_t x = 0; x < image->width; x++) {
      bool set = test_image_is_foreground (image, params, x, y);

      if (cleaning->region.words)
        set &= cleaning->region.words[y * cleaning->region.pitch + x / 64] >> x % 64 & 1;
      clean.pixels[(size_t) y * image->width + x] = set ? 255 : 0;
    }
  test_morphology_apply (&clean, connectivity, cleaning->operations, cleaning->n);
  return clean;
}

/* The parameters for clean masks. */
static CclParams
clean_params (const CclParams *params)
{
  CclParams clean = *params;

  clean.threshold = 127;
  clean.invert = false;
  return clean;
}

static Setup
draw_setup (Mt19937 *rng)
{
  Setup setup;

  setup_init (&setup);
  setup.labels = mt19937_below (rng, 2);
  setup.second_order = mt19937_below (rng, 4) == 0;
  setup.max_components = mt19937_below (rng, 4) ? 0 : 1 + mt19937_below (rng, 20);
  setup.params.threshold = (uint8_t) mt19937_below (rng, 256);
  setup.params.invert = mt19937_below (rng, 2);
  if (mt19937_below (rng, 2)) {
    setup.params.min_width = mt19937_below (rng, 6);
    setup.params.min_height = mt19937_below (rng, 6);
    setup.params.min_area = mt19937_below (rng, 6);
  }
  return setup;
}

/* Whether the mask of the last frame is @clean, and 0 behind each row. */
static bool
mask_is (CclAnalyzer *analyzer, const TestImage *clean)
{
  CclMask mask;

  if (ccl_analyzer_mask (analyzer, &mask) != CCL_OK || mask.width != clean->width ||
      mask.height != clean->height)
    return false;
  for (size_t y = 0; y < mask.height; y++)
    for (size_t x = 0; x < 64 * ccl_mask_words (mask.width); x++) {
      bool set = mask.words[y * mask.pitch + x / 64] >> x % 64 & 1;

      if (set != (x < mask.width && clean->pixels[y * mask.width + x] > 0))
        return false;
    }
  return true;
}

/* One frame through an analyzer that cleans. @clean: its mask, or NULL. */
static void
check_cleaned_frame (Check *check, const Case *c, CclAnalyzer *analyzer, const char *text,
                     const CclComponents *expected, const uint32_t *labels, const TestImage *clean)
{
  CclImage image = case_place (c, &check->arenas[c->memory]);
  CclComponents got = { 0 };
  uint64_t before = allocations_made ();
  CclStatus status = ccl_analyzer_analyze (analyzer, &image, &c->setup.params, &got);

  /* CUDA's own libraries allocate as they like. */
  if (c->algorithm->backend == CCL_BACKEND_CPU)
    check_that (check, allocations_made () == before, "%s, '%s': %llu allocations in a frame",
                c->algorithm->name, text, (unsigned long long) (allocations_made () - before));
  check->runs++;
  check_that (check, status == CCL_OK && components_equal (&got, expected),
              "%s, %u-connectivity, %u x %u %s, memory %d, upload %d, '%s', minimum %u x %u: %u of "
              "%u, not %u of %u",
              c->algorithm->name, c->connectivity, c->image->width, c->image->height,
              c->placement.bits ? "bits" : "bytes", (int) c->memory, (int) c->upload, text,
              c->setup.params.min_width, c->setup.params.min_height, got.count, got.found,
              expected->count, expected->found);
  if (labels) {
    CclLabels map;

    check_that (check,
                ccl_analyzer_labels (analyzer, &map) == CCL_OK &&
                    labels_difference (c, &map, labels) == SIZE_MAX,
                "%s, '%s': the label map is wrong", c->algorithm->name, text);
  }
  check_that (check, !clean || mask_is (analyzer, clean), "%s, %u x %u, '%s': the mask is wrong",
              c->algorithm->name, c->image->width, c->image->height, text);
}

/* As bytes and as bits, from all kinds of memory, twice: the second time without any allocation. */
static void
check_cleaned (Check *check, const Case *c, const Cleaning *cleaning, const Case *expected_case)
{
  CclConfig config = case_config (c);
  CclComponents expected = case_expected (expected_case);
  uint32_t *labels = case_expected_labels (expected_case);
  int memories = c->algorithm->backend == CCL_BACKEND_CUDA ? CHECK_MEMORIES : 1;
  CclAnalyzer *analyzer;
  CclInfo first, second;
  char text[600];

  snprintf (text, sizeof text, "%s%s", cleaning->text,
            cleaning->region.words ? " in a region" : "");
  config.operations = cleaning->operations;
  config.n_operations = cleaning->n;
  config.region = cleaning->region.words ? &cleaning->region : NULL;
  config.mask = mt19937_below (&check->rng, 2);
  if (check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s: %s",
                  c->algorithm->name, ccl_last_error ())) {
    for (int i = 0; i < 4 * memories; i++) {
      Case one = *c;

      one.placement.bits = i % 2;
      one.placement.padding = mt19937_below (&check->rng, 40);
      one.memory = (CclMemory) (i / 2 % memories);
      if (i == 2 * memories)
        ccl_analyzer_info (analyzer, &first);
      check_cleaned_frame (check, &one, analyzer, text, &expected, labels,
                           config.mask ? expected_case->image : NULL);
    }
    ccl_analyzer_info (analyzer, &second);
    check_that (check, first.allocations == second.allocations, "%s, '%s': allocations in a frame",
                c->algorithm->name, text);
  }
  free (labels);
  ccl_reference_clear (&expected);
  ccl_analyzer_free (analyzer);
}

/* Small ones, but sometimes several of CUDA's tiles wide, or too wide for its strips. */
static TestImage
draw_cleaned_size (Mt19937 *rng, unsigned k)
{
  if (k % 8 == 3)
    return test_image_new (masks_draw_width (rng, 1800), 1 + mt19937_below (rng, 100));
  if (k % 8 == 4)
    return test_image_new (17000 + masks_draw_width (rng, 1000), 1 + mt19937_below (rng, 6));
  return test_image_new (masks_draw_width (rng, 200), 1 + mt19937_below (rng, 100));
}

static void
run_cleaned (Check *check, const Case *wanted)
{
  unsigned rounds = check->options.effort <= EFFORT_SMALL ? 5 : 40;

  if (wanted->placement.bits)
    return;
  for (unsigned k = 0; k < rounds; k++) {
    TestImage image = draw_cleaned_size (&check->rng, k);
    Cleaning cleaning = draw_cleaning (&check->rng, image.width, image.height);
    Case c = *wanted, expected = *wanted;
    TestImage clean;

    c.image = &image;
    c.upload = (CclUpload) mt19937_below (&check->rng, 3);
    c.setup = expected.setup = draw_setup (&check->rng);
    masks_draw_image (&check->rng, &image);
    test_image_set_values (&image, TEST_VALUES_ANY, &c.setup.params, &check->rng);
    clean = clean_image (&image, &c.setup.params, &cleaning, c.connectivity);
    expected.image = &clean;
    expected.setup.params = clean_params (&c.setup.params);
    check_cleaned (check, &c, &cleaning, &expected);
    ccl_mask_free (&cleaning.region);
    test_image_clear (&clean);
    test_image_clear (&image);
  }
}

/* Pixels, region, operations, analysis, in this order. */
static void
test_cleaned (Check *check)
{
  check_each_algorithm (check, run_cleaned);
}

#define FRAMES 5

/* Frames of a batch are cleaned each on its own. */
static void
run_cleaned_batch (Check *check, const Case *wanted)
{
  if (wanted->placement.bits)
    return;
  for (unsigned k = 0; k < 12; k++) {
    uint32_t width = masks_draw_width (&check->rng, 130), n = 1 + k % FRAMES;
    uint32_t height = 1 + mt19937_below (&check->rng, 50);
    Cleaning cleaning = draw_cleaning (&check->rng, width, height);
    TestImage images[FRAMES], clean[FRAMES];
    TestArena arenas[FRAMES] = { 0 };
    CclComponents got[FRAMES];
    CclImage views[FRAMES];
    Case c = *wanted;
    CclConfig config;
    CclBatch *batch;

    c.setup = draw_setup (&check->rng);
    c.placement.bits = k % 2;
    c.upload = (CclUpload) mt19937_below (&check->rng, 3);
    if (c.algorithm->backend == CCL_BACKEND_CUDA)
      c.memory = (CclMemory) mt19937_below (&check->rng, CHECK_MEMORIES);
    for (uint32_t i = 0; i < n; i++) {
      arenas[i].memory = c.memory;
      images[i] = test_image_new (width, height);
      masks_draw_image (&check->rng, &images[i]);
      test_image_set_values (&images[i], TEST_VALUES_ANY, &c.setup.params, &check->rng);
      clean[i] = clean_image (&images[i], &c.setup.params, &cleaning, c.connectivity);
      c.image = &images[i];
      views[i] = case_place (&c, &arenas[i]);
    }
    config = case_config (&c);
    config.operations = cleaning.operations;
    config.n_operations = cleaning.n;
    config.region = cleaning.region.words ? &cleaning.region : NULL;
    if (check_that (check,
                    ccl_batch_new (&config, FRAMES, &batch) == CCL_OK &&
                        ccl_batch_analyze (batch, views, n, &c.setup.params, got) == CCL_OK,
                    "%s: %s", c.algorithm->name, ccl_last_error ()))
      for (uint32_t i = 0; i < n; i++) {
        Case one = c;
        CclComponents expected;

        one.image = &clean[i];
        one.setup.params = clean_params (&c.setup.params);
        expected = case_expected (&one);
        check->runs++;
        check_that (check, components_equal (&got[i], &expected),
                    "%s, '%s': frame %u of a batch of %u x %u: %u components, not %u",
                    c.algorithm->name, cleaning.text, i, width, height, got[i].found,
                    expected.found);
        ccl_reference_clear (&expected);
      }
    ccl_batch_free (batch);
    for (uint32_t i = 0; i < n; i++) {
      test_image_clear (&images[i]);
      test_image_clear (&clean[i]);
      test_arena_clear (&arenas[i]);
    }
    ccl_mask_free (&cleaning.region);
  }
}

static void
test_cleaned_batches (Check *check)
{
  check_each_algorithm (check, run_cleaned_batch);
}

/* Frames of 320x240 with a square and specks of 5x5 pixels, in turn: a square of 14x14 is large.
 * Operations for far objects keep the specks. */
static const struct
{
  uint32_t square, specks;
  uint64_t elapsed; /* ms */
  bool near;        /* the operations that clean this frame are for near objects */
} automatic[] = {
  { 20, 1, 40, false },        { 20, 1, 100, false },   { 20, 1, 100, false },
  { 20, 1, 100, false },                                                      /* 0.34 s */
  { 20, 1, 100, true },        { 13, 1, 599999, true }, { 20, 1, 40, true },  /* in time */
  { 0, 1, 599999, true },      { 0, 13, 1, true },      { 13, 1, 40, false }, /* after 10 minutes */
  { 13, 1, 1000000, false },   { 20, 1, 299, false },   { 13, 1, 40, false },
  { 20, 1, 299, false },       { 20, 1, 1, false },     { 20, 1, 40, true },
  { 13, 1, UINT64_MAX, true }, { 13, 1, 40, false },    { 0, 12, 1000, false },
  { 0, 13, 299, false }, /* too many */
  { 0, 13, 1, false },         { 0, 13, 40, true },
};

static void
check_automatic_frame (Check *check, CclAnalyzer *analyzer, const Case *c, size_t i)
{
  static const char *const texts[] = { "close3x3,drop11", "median3,open1x7,fill,drop69" };
  TestImage image = test_image_new (320, 240), clean;
  CclParams params;
  Cleaning cleaning = { 0 };
  CclComponents got;
  CclInfo info;

  ccl_params_init (&params);
  params.elapsed = automatic[i].elapsed * 1000000;
  for (uint32_t y = 0; y < automatic[i].square; y++)
    memset (image.pixels + (y + 50) * 320 + 100, 255, automatic[i].square);
  for (uint32_t k = 0; k < automatic[i].specks; k++)
    for (uint32_t y = 0; y < 5; y++)
      memset (image.pixels + (y + 150) * 320 + 10 + 20 * k, 255, 5);
  ccl_analyzer_info (analyzer, &info);
  ccl_operations_format (info.operations, info.n_operations, cleaning.text, sizeof cleaning.text);
  check_that (check, strcmp (cleaning.text, texts[automatic[i].near]) == 0,
              "%s: frame %zu is cleaned with %s", c->algorithm->name, i, cleaning.text);
  ccl_operations_parse (texts[automatic[i].near], cleaning.operations, &cleaning.n);
  clean = clean_image (&image, &params, &cleaning, 8);
  if (check_that (check,
                  ccl_analyzer_analyze (analyzer,
                                        &(CclImage){ .data = image.pixels, .stride = 320 }, &params,
                                        &got) == CCL_OK,
                  "%s", ccl_last_error ())) {
    check_that (check,
                got.count ==
                    (automatic[i].square > 0) + (automatic[i].near ? 0 : automatic[i].specks),
                "%s: frame %zu has %u components", c->algorithm->name, i, got.count);
    check_that (check, mask_is (analyzer, &clean), "%s: the mask of frame %zu is wrong",
                c->algorithm->name, i);
  }
  check->runs++;
  test_image_clear (&clean);
  test_image_clear (&image);
}

static void
run_automatic (Check *check, const Case *wanted)
{
  CclAnalyzer *analyzer;
  CclConfig config;
  CclInfo before, after;

  if (wanted->placement.bits || wanted->connectivity != 8)
    return;
  ccl_config_init (&config, 320, 240);
  config.backend = wanted->algorithm->backend;
  config.algorithm = wanted->algorithm->name;
  config.auto_operations = config.mask = config.graphs = true;
  if (!check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s", ccl_last_error ()))
    return;
  for (size_t i = 0; i < sizeof automatic / sizeof automatic[0]; i++) {
    check_automatic_frame (check, analyzer, wanted, i);
    if (i == 0)
      ccl_analyzer_info (analyzer, &before);
  }
  ccl_analyzer_info (analyzer, &after);
  check_that (check, before.allocations == after.allocations, "%s: allocations in frames",
              wanted->algorithm->name);
  ccl_analyzer_free (analyzer);
}

static void
test_automatic (Check *check)
{
  check_each_algorithm (check, run_automatic);
}

/* The choice for frames of some sizes. */
static void
test_automatic_sizes (Check *check)
{
  static const struct
  {
    uint32_t width, height;
    const char *texts[CCL_CHAINS];
  } sizes[] = {
    { 1, 1, { "close3x3,drop1", "median3,open1x1,fill,drop1", "open1x1,drop1" } },
    { 160, 120, { "close3x3,drop2", "median3,open1x3,fill,drop17", "open1x1,drop4" } },
    { 320, 240, { "close3x3,drop11", "median3,open1x7,fill,drop69", "open1x3,drop17" } },
    { 768, 576, { "close3x3,drop66", "median3,open1x17,fill,drop399", "open1x9,drop99" } },
    { 576, 768, { "close3x3,drop66", "median3,open1x17,fill,drop399", "open1x9,drop99" } },
    { 1920, 1080, { "close7x7,drop233", "median3,open3x33,fill,drop1405", "open1x17,drop351" } },
    { 3840, 2160, { "close13x13,drop933", "median3,open7x65,fill,drop5621", "open1x33,drop1405" } },
    { 65535,
      65535,
      { "close255x255,drop858967", "median3,open197x255,fill,drop5174501",
        "open1x255,drop1293625" } },
  };

  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    CclOperation operations[CCL_MAX_OPERATIONS];
    CclCleaning cleaning;
    char text[128];

    ccl_cleaning_init_auto (&cleaning, sizes[i].width, sizes[i].height, operations);
    for (unsigned kind = 0; kind < CCL_CHAINS; kind++) {
      CclChainRange range = ccl_cleaning_range (&cleaning, kind);

      check_that (check, ccl_operations_check (operations + range.first, range.n) == CCL_OK, "%s",
                  ccl_last_error ());
      ccl_operations_format (operations + range.first, range.n, text, sizeof text);
      check_that (check, strcmp (text, sizes[i].texts[kind]) == 0, "%u x %u: %s", sizes[i].width,
                  sizes[i].height, text);
    }
  }
}

/* Masks that analyzers and batches refuse. */
static void
test_cleaning_errors (Check *check)
{
  static const CclOperation bad = { .kind = CCL_OPERATION_ERODE, .width = 2, .height = 3 };
  static const CclOperation good = { .kind = CCL_OPERATION_FILL };
  uint64_t words[16] = { 0 };
  CclMask region = { .words = words, .pitch = 1, .width = 9, .height = 8 };
  CclImage image = { .data = (const uint8_t *) words, .stride = 8, .format = CCL_FORMAT_BITS };
  CclImage wrong;
  CclAnalyzer *analyzer;
  CclComponents components;
  CclParams params;
  CclConfig config;
  CclBatch *batch;

  ccl_params_init (&params);
  ccl_config_init (&config, 9, 9);
  config.operations = &bad;
  config.n_operations = 1;
  check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_ERROR_INVALID, "operations");
  config.operations = &good;
  config.auto_operations = true;
  check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_ERROR_INVALID,
              "automatic operations and others");
  config.n_operations = 0;
  check_that (check, ccl_batch_new (&config, 2, &batch) == CCL_ERROR_INVALID,
              "automatic operations of a batch");
  config.auto_operations = false;
  config.n_operations = 1;
  config.region = &region;
  check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_ERROR_INVALID,
              "a region of another size");
  region.height = 9;
  region.memory = CCL_MEMORY_DEVICE;
  check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_ERROR_UNSUPPORTED,
              "a region on the device");
  region.memory = CCL_MEMORY_HOST;
  config.upload = (CclUpload) 3;
  check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_ERROR_INVALID, "upload 3");
  config.upload = CCL_UPLOAD_BITS;
  config.backend = CCL_BACKEND_CPU;
  if (!check_that (check, ccl_analyzer_new (&config, &analyzer) == CCL_OK, "%s", ccl_last_error ()))
    return;
  check_that (check, ccl_analyzer_analyze (analyzer, &image, &params, &components) == CCL_OK, "%s",
              ccl_last_error ());
  wrong = image;
  wrong.stride = 4;
  check_that (check, ccl_analyzer_submit (analyzer, &wrong, &params) == CCL_ERROR_INVALID,
              "a stride of 4 bytes");
  wrong.stride = 12;
  check_that (check, ccl_analyzer_submit (analyzer, &wrong, &params) == CCL_ERROR_INVALID,
              "a stride of 12 bytes");
  wrong = image;
  wrong.data++;
  check_that (check, ccl_analyzer_submit (analyzer, &wrong, &params) == CCL_ERROR_INVALID,
              "an odd address");
  wrong = image;
  wrong.memory = CCL_MEMORY_ARRAY;
  check_that (check, ccl_analyzer_submit (analyzer, &wrong, &params) == CCL_ERROR_INVALID,
              "an array of bits");
  wrong = image;
  wrong.format = (CclFormat) 2;
  check_that (check, ccl_analyzer_submit (analyzer, &wrong, &params) == CCL_ERROR_INVALID,
              "format 2");
  wrong.format = (CclFormat) -1;
  check_that (check, ccl_analyzer_submit (analyzer, &wrong, &params) == CCL_ERROR_INVALID,
              "format -1");
  ccl_analyzer_free (analyzer);
}

/* Text and the position that its error names; -1: there is none. */
static const struct Parsed
{
  const char *text;
  int position;
  const char *formatted;
} parsed[] = {
  { "", -1, "" },
  { "  ", -1, "" },
  { "median5,close5x11,fill,drop50", -1, "median5,close5x11,fill,drop50" },
  { " median3 ,\terode31x1,dilate1x31, open3x3,fill12 ", -1,
    "median3,erode31x1,dilate1x31,open3x3,fill12" },
  { "drop18446744073709551615", -1, "drop18446744073709551615" },
  { "drop99999999999999999999999", -1, "drop18446744073709551615" },
  { "erode03x3", -1, "erode3x3" },
  { "open255x1,close1x255", -1, "open255x1,close1x255" },
  { "median", 6, NULL },
  { "median4", 6, NULL },
  { "median55", 6, NULL },
  { "median3x3", 7, NULL },
  { "blur3", 0, NULL },
  { "Median3", 0, NULL },
  { "median3,", 8, NULL },
  { ",median3", 0, NULL },
  { "median3,,fill", 8, NULL },
  { "median3 fill", 8, NULL },
  { "median3; fill", 7, NULL },
  { "erode", 5, NULL },
  { "erode3", 6, NULL },
  { "erode3x", 7, NULL },
  { "erode3x2", 7, NULL },
  { "fill,erode257x3", 10, NULL },
  { "fill,erode3x99999999999999999999999999", 12, NULL },
  { "erode-3x3", 5, NULL },
  { "erode3X3", 6, NULL },
  { "open 3x3", 4, NULL },
  { "fill0", 4, NULL },
  { "fill-1", 4, NULL },
  { "drop", 4, NULL },
  { "drop0", 4, NULL },
  { "fill,fill,fill,fill,fill,fill,fill,fill,fill,fill,fill,fill,fill,fill,fill,fill,fill", 80,
    NULL },
};

/* Whether the last error names the position. */
static bool
names_position (const char *what, int position)
{
  char expected[64];

  snprintf (expected, sizeof expected, "%s%d", what, position);
  return strncmp (ccl_last_error (), expected, strlen (expected)) == 0 &&
         strchr (" :", ccl_last_error ()[strlen (expected)]);
}

static void
test_parse (Check *check)
{
  static const char letters[] = "medianclosefillopenrodtp0135679x, ";
  CclOperation operations[CCL_MAX_OPERATIONS + 1], again[CCL_MAX_OPERATIONS];
  char text[512], small[8];
  uint32_t n, m;

  for (size_t i = 0; i < sizeof parsed / sizeof *parsed; i++) {
    const struct Parsed *p = &parsed[i];
    const char *formatted = p->formatted ? p->formatted : "";
    CclStatus status = ccl_operations_parse (p->text, operations, &n);

    check_that (check, status == (p->position < 0 ? CCL_OK : CCL_ERROR_INVALID), "'%s': %d, %s",
                p->text, (int) status, ccl_last_error ());
    if (p->position >= 0) {
      check_that (check, names_position ("position ", p->position) && n == 0, "'%s': %s", p->text,
                  ccl_last_error ());
      continue;
    }
    check_that (check,
                ccl_operations_format (operations, n, text, sizeof text) == strlen (formatted) &&
                    strcmp (text, formatted) == 0,
                "'%s' is '%s', not '%s'", p->text, text, formatted);
    check_that (check,
                ccl_operations_format (operations, n, small, sizeof small) == strlen (formatted) &&
                    strncmp (small, formatted, 7) == 0 && strlen (small) <= 7,
                "'%s' in 8 bytes is '%s'", p->text, small);
  }
  check_that (check, ccl_operations_parse (NULL, operations, &n) == CCL_ERROR_INVALID, "NULL");
  check_that (check, ccl_operations_parse ("", NULL, &n) == CCL_ERROR_INVALID, "NULL");
  check_that (check, ccl_operations_parse ("", operations, NULL) == CCL_ERROR_INVALID, "NULL");
  for (unsigned k = 0; k < 3000; k++) {
    uint32_t length = mt19937_below (&check->rng, 40);
    CclStatus status;

    if (k % 2) { /* what is nearly right */
      for (n = 0; n < 1 + k % 5; n++)
        operations[n] = test_operation_draw (&check->rng);
      ccl_operations_format (operations, n, text, sizeof text);
      length = (uint32_t) strlen (text);
      text[mt19937_below (&check->rng, length)] = letters[mt19937_below (&check->rng, 34)];
    } else {
      for (uint32_t i = 0; i < length; i++)
        text[i] = letters[mt19937_below (&check->rng, 34)];
      text[length] = '\0';
    }
    status = ccl_operations_parse (text, operations, &n);
    if (status != CCL_OK)
      continue;
    check_that (check, ccl_operations_check (operations, n) == CCL_OK, "'%s': %s", text,
                ccl_last_error ());
    ccl_operations_format (operations, n, text, sizeof text);
    check_that (check,
                ccl_operations_parse (text, again, &m) == CCL_OK && m == n &&
                    memcmp (operations, again, n * sizeof *again) == 0,
                "'%s' is not read as it was written", text);
  }
}

static bool
masks_equal (const CclMask *a, const CclMask *b)
{
  if (a->width != b->width || a->height != b->height)
    return false;
  for (uint32_t y = 0; y < a->height; y++)
    if (memcmp (a->words + y * a->pitch, b->words + y * b->pitch,
                ccl_mask_words (a->width) * sizeof *a->words) != 0)
      return false;
  return true;
}

static CclStatus
read_pbm (const void *data, size_t size, CclMask *mask)
{
  FILE *file = fmemopen ((void *) data, size, "r");
  CclStatus status;

  if (!file)
    test_fatal ("cannot read memory as a file");
  status = ccl_mask_read_pbm (file, mask);
  fclose (file);
  return status;
}

/* Every part of a file is refused, and what is spoilt is refused or read, with no bit past the
 * width. */
static void
check_hostile_pbm (Check *check, char *data, size_t size)
{
  CclMask mask;

  for (size_t length = 1; length < size; length++)
    check_that (check,
                read_pbm (data, length, &mask) == CCL_ERROR_INVALID && !mask.words &&
                    strstr (ccl_last_error (), "byte"),
                "%zu of %zu bytes of a PBM file: %s", length, size, ccl_last_error ());
  for (int k = 0; k < 50; k++) {
    size_t at = mt19937_below (&check->rng, (uint32_t) (size < 16 ? size : 16));
    char was = data[at];

    data[at] =
        k % 2 ? (char) mt19937_next (&check->rng) : "0129 #\nP"[mt19937_below (&check->rng, 8)];
    if (read_pbm (data, size, &mask) == CCL_OK) {
      size_t words = ccl_mask_words (mask.width), past = 0;

      for (uint32_t y = 0; y < mask.height; y++)
        past += (mask.words[y * mask.pitch + words - 1] & ~ccl_mask_last_bits (mask.width)) != 0;
      check_that (check, past == 0, "a PBM file with bits past the width");
      ccl_mask_free (&mask);
    }
    data[at] = was;
  }
}

static void
test_pbm (Check *check)
{
  static const struct
  {
    const char *text;
    int position; /* -1: good */
  } files[] = {
    { "P4 1 1 \x80", -1 },
    { "P4\n# by hand\n 8 # wide\r\n1\n\x01", -1 },
    { "P4\t0009 01\n\xff\xff", -1 },
    { "P5 1 1 \x80", 1 },
    { "Q4 1 1 \x80", 0 },
    { "P41 1 \x80", 2 },
    { "P4 x 1 \x80", 3 },
    { "P4 1, 1 \x80", 4 },
    { "P4 1 -1 \x80", 5 },
    { "P4 1 1", 6 },
    { "P4 1 1 ", 7 },
    { "P4 9 2 \x80\x80\x80", 10 },
    { "P4 4294967296 1 \x80", 12 },
    { "P4 # no end", 11 },
  };
  CclMask mask;

  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    CclStatus status = read_pbm (files[i].text, strlen (files[i].text), &mask);
    char where[32];

    snprintf (where, sizeof where, "byte %d ", files[i].position);
    check_that (check, status == (files[i].position < 0 ? CCL_OK : CCL_ERROR_INVALID),
                "PBM file %zu: %s", i, ccl_last_error ());
    check_that (check, status == CCL_OK || strstr (ccl_last_error (), where), "PBM file %zu: %s", i,
                ccl_last_error ());
    ccl_mask_free (&mask);
  }
  check_that (check, read_pbm ("P4 0 1 ", 7, &mask) == CCL_ERROR_INVALID, "no pixels");
  check_that (check, read_pbm ("P4 65536 65536 ", 15, &mask) == CCL_ERROR_INVALID, "2^32 pixels");
  check_that (check, read_pbm ("P4 4294967295 4294967295 ", 25, &mask) == CCL_ERROR_INVALID,
              "2^64 pixels");
  check_that (check, ccl_mask_read_pbm (NULL, &mask) == CCL_ERROR_INVALID, "no file");
  check_that (check, ccl_mask_write_pbm (NULL, stdout) == CCL_ERROR_INVALID, "no mask");
  for (unsigned k = 0; k < 40; k++) {
    TestImage image =
        test_image_new (masks_draw_width (&check->rng, 200), 1 + mt19937_below (&check->rng, 20));
    CclMask again = { 0 };
    char *data = NULL;
    size_t size = 0;
    FILE *file = open_memstream (&data, &size);

    masks_draw_image (&check->rng, &image);
    if (!file || ccl_mask_alloc (image.width, image.height, &mask) != CCL_OK ||
        ccl_mask_pack (&mask, image.pixels, image.width, 127, false) != CCL_OK)
      test_fatal ("%s", ccl_last_error ());
    check_that (check, ccl_mask_write_pbm (&mask, file) == CCL_OK, "%s", ccl_last_error ());
    fclose (file);
    check_that (check, read_pbm (data, size, &again) == CCL_OK && masks_equal (&mask, &again),
                "a PBM file of %u x %u: %s", image.width, image.height, ccl_last_error ());
    ccl_mask_free (&again);
    if (k < 5)
      check_hostile_pbm (check, data, size);
    free (data);
    ccl_mask_free (&mask);
    test_image_clear (&image);
  }
}

/* The pixels of a region drawn by hand, and the position of errors. */
static void
test_region_texts (Check *check)
{
  static const struct
  {
    const char *include, *exclude;
    const char *picture; /* 4 x 4; NULL: an error ... */
    const char *what;    /* ... in this string */
    int position;
  } texts[] = {
    { NULL, NULL,
      "####"
      "####"
      "####"
      "####",
      NULL, 0 },
    { " ", "",
      "####"
      "####"
      "####"
      "####",
      NULL, 0 },
    { "0,0 1,0 1,1 0,1", NULL,
      "####"
      "####"
      "####"
      "####",
      NULL, 0 },
    { "0,0 0.5,0 0.5,0.5 0,0.5", NULL,
      "##.."
      "##.."
      "...."
      "....",
      NULL, 0 },
    { " 0.5,.5 1.0,0.5 1,1 0.5,1. ; ", NULL,
      "...."
      "...."
      "..##"
      "..##",
      NULL, 0 },
    { "0,0 1,0 0,1", NULL,
      "###."
      "##.."
      "#..."
      "....",
      NULL, 0 },
    /* Centres on an edge: the left and the upper one are in. */
    { "0.125,0.125 0.625,0.125 0.625,0.625 0.125,0.625", NULL,
      "##.."
      "##.."
      "...."
      "....",
      NULL, 0 },
    { "0,0 .25,0 .25,1 0,1; .75,0 1,0 1,1 .75,1;", NULL,
      "#..#"
      "#..#"
      "#..#"
      "#..#",
      NULL, 0 },
    { NULL, ".25,.25 .75,.25 .75,.75 .25,.75",
      "####"
      "#..#"
      "#..#"
      "####",
      NULL, 0 },
    { "0,0 1,0 1,.5 0,.5", "0,0 .5,0 .5,1 0,1",
      "..##"
      "..##"
      "...."
      "....",
      NULL, 0 },
    /* Crosses itself: what is twice in is out. */
    { "0,0 1,0 1,1 0,1 0,0 .5,0 .5,1 0,1", NULL,
      "..##"
      "..##"
      "..##"
      "..##",
      NULL, 0 },
    { "0,0 0,0 0,0", NULL,
      "...."
      "...."
      "...."
      "....",
      NULL, 0 },
    { "0,0 1,0", NULL, NULL, "include", 0 },
    { "0,0 1,0 1,1; 0,0", NULL, NULL, "include", 13 },
    { ";", NULL, NULL, "include", 0 },
    { "0,0 1,0 1,2", NULL, NULL, "include", 10 },
    { "0,0 1,0 1,1.000000001", NULL, NULL, "include", 10 },
    { "0,0 1,0 1,0.0000000001", NULL, NULL, "include", 21 },
    { "0,0 99999999999999999999,0 1,1", NULL, NULL, "include", 4 },
    { "0,0 1,0 1 ,1", NULL, NULL, "include", 9 },
    { "0,0 1,0 1,x", NULL, NULL, "include", 10 },
    { "0,0 1,0 1,-1", NULL, NULL, "include", 10 },
    { "0,0 1,0 1,.", NULL, NULL, "include", 10 },
    { "0,0 1,0 1,1e0", NULL, NULL, "include", 11 },
    { "0,0 1,0 1,1", "0,0 nan,0 1,1", NULL, "exclude", 4 },
  };
  CclMask mask;

  if (ccl_mask_alloc (4, 4, &mask) != CCL_OK)
    test_fatal ("%s", ccl_last_error ());
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    CclStatus status = ccl_region_parse (texts[i].include, texts[i].exclude, &mask);
    char where[64];
    unsigned wrong = 0;

    if (!texts[i].picture) {
      snprintf (where, sizeof where, "position %d of %s:", texts[i].position, texts[i].what);
      check_that (check, status == CCL_ERROR_INVALID && strstr (ccl_last_error (), where),
                  "region %zu: %s", i, ccl_last_error ());
      continue;
    }
    for (unsigned p = 0; p < 16; p++)
      wrong += (mask.words[p / 4 * mask.pitch] >> p % 4 & 1) != (texts[i].picture[p] == '#');
    check_that (check, status == CCL_OK && wrong == 0, "region %zu: %u pixels are wrong, %s", i,
                wrong, status == CCL_OK ? "no error" : ccl_last_error ());
  }
  ccl_mask_free (&mask);
}

static size_t
draw_polygon (Mt19937 *rng, TestPolygon *polygon, char *text, size_t size)
{
  size_t length = 0;

  polygon->n = 3 + mt19937_below (rng, 10);
  for (uint32_t i = 0; i < polygon->n; i++) {
    uint32_t x = mt19937_below (rng, 1000001), y = mt19937_below (rng, 1000001);

    polygon->x[i] = x / 1e6;
    polygon->y[i] = y / 1e6;
    length += (size_t) snprintf (text + length, size - length, "%s%u.%06u,%u.%06u", i ? " " : "",
                                 x / 1000000, x % 1000000, y / 1000000, y % 1000000);
  }
  return length;
}

/* Random polygons, pixel by pixel. */
static void
test_regions (Check *check)
{
  for (unsigned k = 0; k < (check->options.effort <= EFFORT_SMALL ? 20 : 200); k++) {
    TestImage image =
        test_image_new (masks_draw_width (&check->rng, 150), 1 + mt19937_below (&check->rng, 100));
    TestPolygon in[2], out;
    char include[1024], exclude[512];
    uint32_t wrong = 0;
    size_t length;
    CclMask mask;

    length = draw_polygon (&check->rng, &in[0], include, sizeof include);
    include[length++] = ';';
    draw_polygon (&check->rng, &in[1], include + length, sizeof include - length);
    draw_polygon (&check->rng, &out, exclude, sizeof exclude);
    if (ccl_mask_alloc (image.width, image.height, &mask) != CCL_OK)
      test_fatal ("%s", ccl_last_error ());
    check_that (check, ccl_region_parse (include, exclude, &mask) == CCL_OK, "%s",
                ccl_last_error ());
    for (uint32_t y = 0; y < image.height; y++)
      for (uint32_t x = 0; x < image.width; x++) {
        bool close = false;
        bool has = test_polygon_has (&in[0], &image, x, y, &close);

        has |= test_polygon_has (&in[1], &image, x, y, &close);
        has &= !test_polygon_has (&out, &image, x, y, &close);
        wrong += !close && has != (mask.words[y * mask.pitch + x / 64] >> x % 64 & 1);
      }
    check_that (check, wrong == 0, "%u x %u, in %s, not %s: %u pixels are wrong", image.width,
                image.height, include, exclude, wrong);
    ccl_mask_free (&mask);
    test_image_clear (&image);
  }
}

const Test cleaning_tests[] = {
  { "mask-parse", test_parse },
  { "mask-pbm", test_pbm },
  { "mask-region-texts", test_region_texts },
  { "mask-regions", test_regions },
  { "mask-cleaned", test_cleaned },
  { "mask-cleaned-batches", test_cleaned_batches },
  { "mask-cleaned-automatic", test_automatic },
  { "mask-automatic-sizes", test_automatic_sizes },
  { "mask-cleaning-errors", test_cleaning_errors },
  { NULL, NULL },
};
