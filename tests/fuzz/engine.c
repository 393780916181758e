/* cudaccl - fuzzing: the engine against the reference
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All of the CPU's instruction sets, one or more threads, sizes up to more than 4096 pixels,
 * thresholds, bands of values and classes of 8 and 16 bits, limits, connectivities, top-k, moments,
 * label maps, bytes and bits, operations and regions, two frames with one analyzer, batches.
 * Volumes, also of classes, and the two references, of which one can have one slice. */

#include <cudaccl/batch.h>
#include "engine/cpu/tuning.h"
#include "engine/mask/operations.h"
#include <cudaccl/mask.h>
#include "tests/reference/components.h"
#include "tests/reference/volume.h"
#include "tests/fuzz/input.h"
#include "tests/lib/morphology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_FRAMES 4
#define NUMBERS 6

/* One case: what is analysed, and how. */
typedef struct Case
{
  CclConfig config;
  CclParams params;
  uint32_t n_frames;
  CclFormat format;
  uint16_t numbers[NUMBERS];       /* bands and classes: what pixels may be */
  uint32_t side;                   /* of their squares */
  TestImage frames[MOST_FRAMES];   /* as they are given to the analyzer */
  uint8_t *pixels[MOST_FRAMES];    /* the same with padding, ending with the allocation */
  CclMask bits[MOST_FRAMES];       /* the same as bits, or empty */
  TestImage expected[MOST_FRAMES]; /* foreground after region and operations; of classes, values */
  size_t stride;
  CclOperation operations[CCL_MAX_OPERATIONS];
  CclMask region;
} Case;

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  return 0;
}

static void
draw_size (FuzzInput *input, uint32_t *width, uint32_t *height)
{
  switch (fuzz_below (input, 8)) {
  case 0:
    *width = 4097 + fuzz_below (input, 1100);
    *height = 1 + fuzz_below (input, 5);
    break;
  case 1:
    *width = 1 + fuzz_below (input, 6);
    *height = 1 + fuzz_below (input, 300);
    break;
  case 2:
    *width = 1 + fuzz_below (input, 600);
    *height = 1 + fuzz_below (input, 12);
    break;
  default:
    *width = 1 + fuzz_below (input, 140);
    *height = 1 + fuzz_below (input, 24);
  }
}

static void
draw_params (FuzzInput *input, CclParams *params)
{
  ccl_params_init (params);
  if (fuzz_one_in (input, 2))
    params->threshold = fuzz_u8 (input);
  params->invert = fuzz_one_in (input, 4);
  if (fuzz_one_in (input, 2))
    params->min_area = fuzz_one_in (input, 4) ? fuzz_hostile_u64 (input) : fuzz_below (input, 9);
  if (fuzz_one_in (input, 4))
    params->max_area = fuzz_one_in (input, 4) ? fuzz_hostile_u64 (input) : fuzz_u8 (input);
  if (fuzz_one_in (input, 4))
    params->min_width = fuzz_one_in (input, 4) ? fuzz_hostile_u32 (input) : fuzz_below (input, 9);
  if (fuzz_one_in (input, 4))
    params->min_height = fuzz_one_in (input, 4) ? fuzz_hostile_u32 (input) : fuzz_below (input, 9);
}

static CclOperation
draw_operation (FuzzInput *input)
{
  CclOperation operation = { .kind =
                                 (CclOperationKind) fuzz_below (input, ccl_operation_kinds ()) };

  switch (ccl_operation_form (operation.kind)) {
  case CCL_FORM_SQUARE:
    operation.width = operation.height = 3 + 2 * fuzz_below (input, 2);
    break;
  case CCL_FORM_SIZE_OR_ALL:
    operation.size = fuzz_below (input, 30);
    break;
  case CCL_FORM_SIZE:
    operation.size = 1 + fuzz_below (input, 30);
    break;
  default:
    operation.width = 1 + 2 * fuzz_below (input, 4);
    operation.height = 1 + 2 * fuzz_below (input, 4);
  }
  return operation;
}

static uint32_t
sample_size (const Case *c)
{
  return c->format == CCL_FORMAT_BYTES ? 1 : 2;
}

static unsigned
get_value (const Case *c, const TestImage *image, size_t i)
{
  const uint8_t *sample = image->pixels + i * sample_size (c);

  if (c->format == CCL_FORMAT_BYTES)
    return *sample;
  return c->format == CCL_FORMAT_GRAY16_BE ? 256u * sample[0] + sample[1]
                                           : 256u * sample[1] + sample[0];
}

static void
set_value (const Case *c, TestImage *image, size_t i, unsigned value)
{
  const bool big = c->format == CCL_FORMAT_GRAY16_BE;
  uint8_t *sample = image->pixels + i * sample_size (c);

  sample[0] = (uint8_t) (big ? value >> 8 : value);
  if (c->format != CCL_FORMAT_BYTES)
    sample[1] = (uint8_t) (big ? value : value >> 8);
}

/* The meaning of values, which the drawn foreground then has. */
static void
draw_values (FuzzInput *input, Case *c)
{
  static const CclFormat formats[] = { CCL_FORMAT_BYTES, CCL_FORMAT_GRAY16_LE,
                                       CCL_FORMAT_GRAY16_BE };

  c->config.values = fuzz_one_in (input, 2) ? CCL_VALUES_BAND : CCL_VALUES_EQUAL;
  c->format = formats[fuzz_below (input, 3)];
  c->side = 1 + fuzz_below (input, 9);
  for (unsigned i = 0; i < NUMBERS; i++)
    c->numbers[i] = (uint16_t) (fuzz_u8 (input) | (fuzz_one_in (input, 2) ? 256u : 0));
  c->params.low = (uint16_t) (fuzz_u8 (input) | (fuzz_one_in (input, 4) ? 256u : 0));
  c->params.high = (uint16_t) (fuzz_u8 (input) | (fuzz_one_in (input, 2) ? 256u : 0));
}

/* Replaces the drawn foreground, of bytes, by values. */
static void
put_values (Case *c, TestImage *frame)
{
  const uint32_t width = frame->width, height = frame->height;
  TestImage drawn = *frame;

  *frame = test_image_new (width * sample_size (c), height);
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++) {
      size_t i = (size_t) y * width + x;
      uint16_t other = c->config.values == CCL_VALUES_EQUAL ? 0 : c->numbers[0];

      set_value (c, frame, i,
                 drawn.pixels[i] ? c->numbers[(x / c->side + y / c->side * 5) % NUMBERS] : other);
    }
  test_image_clear (&drawn);
}

/* The frame as the analyzer gets it, with values on both sides of the threshold. */
static void
draw_frame (FuzzInput *input, Case *c, uint32_t i)
{
  uint32_t width = c->config.width, height = c->config.height, row = width * sample_size (c);
  TestImage *frame = &c->frames[i];
  size_t size = c->stride * (height - 1) + row;

  *frame = test_image_new (width, height);
  fuzz_image (input, frame);
  if (fuzz_one_in (input, 3)) {
    uint8_t high = fuzz_u8 (input), low = fuzz_u8 (input);

    for (size_t k = 0; k < (size_t) width * height; k++)
      frame->pixels[k] = frame->pixels[k] ? high : low;
  }
  if (c->config.values != CCL_VALUES_ABOVE)
    put_values (c, frame);
  c->pixels[i] = test_alloc (size);
  memset (c->pixels[i], 255, size);
  for (uint32_t y = 0; y < height; y++)
    memcpy (c->pixels[i] + y * c->stride, frame->pixels + (size_t) y * row, row);
}

static bool
region_has (const Case *c, uint32_t x, uint32_t y)
{
  return !c->config.region || c->region.words[y * c->region.pitch + x / 64] >> x % 64 & 1;
}

static bool
is_foreground (const Case *c, uint32_t i, uint32_t x, uint32_t y)
{
  unsigned value;

  if (c->config.values == CCL_VALUES_ABOVE)
    return test_image_is_foreground (&c->frames[i], &c->params, x, y);
  value = get_value (c, &c->frames[i], (size_t) y * c->config.width + x);
  return (c->params.low <= value && value <= c->params.high) != c->params.invert;
}

/* The values inside the region. */
static void
expect_classes (Case *c, uint32_t i)
{
  uint32_t width = c->config.width, height = c->config.height;

  c->expected[i] = test_image_new (width * sample_size (c), height);
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++) {
      size_t k = (size_t) y * width + x;

      set_value (c, &c->expected[i], k, region_has (c, x, y) ? get_value (c, &c->frames[i], k) : 0);
    }
}

static void
expect_frame (Case *c, uint32_t i)
{
  uint32_t width = c->config.width, height = c->config.height;

  if (c->config.values == CCL_VALUES_EQUAL) {
    expect_classes (c, i);
    return;
  }
  c->expected[i] = test_image_new (width, height);
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < width; x++)
      if (is_foreground (c, i, x, y) && region_has (c, x, y))
        c->expected[i].pixels[(size_t) y * width + x] = 255;
  test_morphology_apply (&c->expected[i], c->config.connectivity, c->operations,
                         c->config.n_operations);
}

static void
draw_case (FuzzInput *input, Case *c, bool batch)
{
  uint32_t width, height;

  memset (c, 0, sizeof *c);
  draw_size (input, &width, &height);
  ccl_config_init (&c->config, width, height);
  draw_params (input, &c->params);
  c->config.backend = CCL_BACKEND_CPU;
  c->config.connectivity = fuzz_one_in (input, 2) ? 4 : 8;
  c->config.max_components = fuzz_one_in (input, 3) ? 1 + fuzz_below (input, 20) : 4096;
  c->config.second_order = fuzz_one_in (input, 2);
  c->config.labels = fuzz_one_in (input, 2);
  c->config.threads = fuzz_one_in (input, 6) ? 2 + fuzz_below (input, 3) : 1;
  ccl_cpu_tuning.strip_pixels = 1 + fuzz_below (input, 2000);
  c->format = CCL_FORMAT_BYTES;
  if (!batch && fuzz_one_in (input, 3))
    draw_values (input, c);
  c->stride = (size_t) width * sample_size (c) + fuzz_below (input, 3) * fuzz_below (input, 40);
  if (c->config.values != CCL_VALUES_EQUAL && fuzz_one_in (input, 4))
    c->config.n_operations = 1 + fuzz_below (input, 3);
  for (uint32_t i = 0; i < c->config.n_operations; i++)
    c->operations[i] = draw_operation (input);
  c->config.operations = c->operations;
  if (fuzz_one_in (input, 6)) {
    TestImage image = test_image_new (width, height);

    fuzz_image (input, &image);
    fuzz_check (ccl_mask_alloc (width, height, &c->region) == CCL_OK, "%s", ccl_last_error ());
    ccl_mask_pack (&c->region, image.pixels, width, 127, false);
    c->config.region = &c->region;
    test_image_clear (&image);
  }
  c->n_frames = 1 + fuzz_below (input, MOST_FRAMES);
  for (uint32_t i = 0; i < c->n_frames; i++) {
    draw_frame (input, c, i);
    expect_frame (c, i);
  }
  if (c->config.values != CCL_VALUES_ABOVE || !fuzz_one_in (input, 4))
    return;
  for (uint32_t i = 0; i < c->n_frames; i++) {
    fuzz_check (ccl_mask_alloc (width, height, &c->bits[i]) == CCL_OK, "%s", ccl_last_error ());
    ccl_mask_pack (&c->bits[i], c->pixels[i], c->stride, c->params.threshold, false);
  }
}

static void
clear_case (Case *c)
{
  for (uint32_t i = 0; i < c->n_frames; i++) {
    test_image_clear (&c->frames[i]);
    test_image_clear (&c->expected[i]);
    free (c->pixels[i]);
    ccl_mask_free (&c->bits[i]);
  }
  ccl_mask_free (&c->region);
}

static CclImage
image_of (const Case *c, uint32_t i)
{
  if (c->bits[i].words)
    return ccl_mask_image (&c->bits[i]);
  return (CclImage){
    .data = c->pixels[i], .stride = c->stride, .memory = CCL_MEMORY_HOST, .format = c->format
  };
}

static void
check_result (const Case *c, const char *who, const CclComponents *got,
              const CclComponents *expected, const CclLabels *map, const uint32_t *labels)
{
  uint32_t width = c->config.width;

  fuzz_check (got->count == expected->count && got->found == expected->found,
              "%s, %ux%u: %u of %u components, not %u of %u", who, width, c->config.height,
              got->count, got->found, expected->count, expected->found);
  for (uint32_t i = 0; i < got->count; i++)
    fuzz_check (memcmp (&got->items[i], &expected->items[i], sizeof *got->items) == 0,
                "%s, %ux%u: component %u differs", who, width, c->config.height, i);
  for (uint32_t y = 0; map && y < c->config.height; y++)
    fuzz_check (memcmp ((const uint8_t *) map->data + y * map->stride, labels + (size_t) y * width,
                        width * sizeof *labels) == 0,
                "%s, %ux%u: labels of row %u differ", who, width, c->config.height, y);
}

static void
check_classes (const Case *c, const char *who, CclAnalyzer *analyzer, const CclComponents *got,
               const TestImage *frame)
{
  const uint16_t *values;

  fuzz_check (ccl_analyzer_values (analyzer, &values) == CCL_OK, "%s: %s", who, ccl_last_error ());
  for (uint32_t i = 0; i < got->count; i++) {
    size_t first = (size_t) got->items[i].y * c->config.width + got->items[i].first_x;

    fuzz_check (values[i] == get_value (c, frame, first), "%s: component %u has value %u", who, i,
                values[i]);
  }
}

/* The frames one after the other with one analyzer, or as a batch. */
static void
check_analyzer (const Case *c, const char *who, bool batch, const CclComponents *expected,
                uint32_t *const *labels)
{
  CclAnalyzer *analyzer = NULL;
  CclBatch *frames = NULL;
  CclComponents got[MOST_FRAMES];
  CclImage images[MOST_FRAMES];

  for (uint32_t i = 0; i < c->n_frames; i++)
    images[i] = image_of (c, i);
  if (batch) {
    fuzz_check (ccl_batch_new (&c->config, MOST_FRAMES, &frames) == CCL_OK, "%s: %s", who,
                ccl_last_error ());
    fuzz_check (ccl_batch_analyze (frames, images, c->n_frames, &c->params, got) == CCL_OK,
                "%s: %s", who, ccl_last_error ());
  } else {
    fuzz_check (ccl_analyzer_new (&c->config, &analyzer) == CCL_OK, "%s: %s", who,
                ccl_last_error ());
  }
  for (uint32_t i = 0; i < c->n_frames; i++) {
    CclLabels map;

    if (!batch)
      fuzz_check (ccl_analyzer_analyze (analyzer, &images[i], &c->params, &got[i]) == CCL_OK,
                  "%s: %s", who, ccl_last_error ());
    if (labels[i])
      fuzz_check ((batch ? ccl_batch_labels (frames, i, &map)
                         : ccl_analyzer_labels (analyzer, &map)) == CCL_OK,
                  "%s: %s", who, ccl_last_error ());
    check_result (c, who, &got[i], &expected[i], labels[i] ? &map : NULL, labels[i]);
    if (c->config.values == CCL_VALUES_EQUAL)
      check_classes (c, who, analyzer, &got[i], &c->frames[i]);
  }
  ccl_analyzer_free (analyzer);
  ccl_batch_free (frames);
}

/* The frames as slices of a volume. */
static void
check_volume (const Case *c, const CclComponents *first)
{
  const bool classes = c->config.values == CCL_VALUES_EQUAL;
  const uint32_t row = c->expected[0].width; /* bytes */
  size_t bytes = (size_t) row * c->config.height;
  TestImage stack = test_image_new (row, c->n_frames * c->config.height);
  CclImage image = test_image_view (&stack);
  CclVolumeConfig config;
  CclVolumeComponents expected, got;
  CclVolume *volume = NULL;
  CclParams params = c->params;

  params.threshold = 127;
  params.invert = false;
  for (uint32_t i = 0; i < c->n_frames; i++)
    memcpy (stack.pixels + i * bytes, c->expected[i].pixels, bytes);
  if (classes)
    image.format = c->format;
  ccl_volume_config_init (&config, c->config.width, c->config.height, c->n_frames);
  config.max_components = c->config.max_components;
  config.values = classes ? CCL_VALUES_EQUAL : CCL_VALUES_ABOVE;
  fuzz_check (ccl_volume_reference_analyze (&config, &image, &params, &expected, NULL) == CCL_OK,
              "%s", ccl_last_error ());
  if (c->n_frames == 1 && c->config.connectivity == 8) {
    fuzz_check (expected.count == first->count && expected.found == first->found,
                "%u of %u components in a slice, not %u of %u", expected.count, expected.found,
                first->count, first->found);
    for (uint32_t i = 0; i < expected.count; i++)
      fuzz_check (expected.items[i].volume == first->items[i].area &&
                      expected.items[i].sum_x == first->items[i].sum_x &&
                      expected.items[i].sum_y == first->items[i].sum_y,
                  "component %u of a slice differs", i);
  }
  if (ccl_volume_new (&config, &volume) == CCL_OK) {
    fuzz_check (ccl_volume_analyze (volume, &image, &params, &got) == CCL_OK, "%s",
                ccl_last_error ());
    fuzz_check (got.count == expected.count && got.found == expected.found &&
                    (got.count == 0 ||
                     memcmp (got.items, expected.items, got.count * sizeof *got.items) == 0),
                "the components of a volume differ");
  }
  ccl_volume_free (volume);
  ccl_volume_reference_clear (&expected);
  test_image_clear (&stack);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };
  const CclCpuFunctions *functions;
  CclComponents expected[MOST_FRAMES];
  uint32_t *labels[MOST_FRAMES] = { NULL };
  CclParams plain;
  bool batch, volume;
  Case c;

  batch = fuzz_one_in (&input, 4);
  volume = fuzz_one_in (&input, 8);
  draw_case (&input, &c, batch);
  plain = c.params;
  plain.threshold = 127;
  plain.invert = false;
  for (uint32_t i = 0; i < c.n_frames; i++) {
    CclImage image = test_image_view (&c.expected[i]);
    CclConfig config = c.config;

    if (config.values == CCL_VALUES_EQUAL)
      image.format = c.format;
    else
      config.values = CCL_VALUES_ABOVE;
    if (c.config.labels)
      labels[i] = test_alloc ((size_t) c.config.width * c.config.height * sizeof *labels[i]);
    fuzz_check (ccl_reference_label (&config, &image, &plain, &expected[i], labels[i]) == CCL_OK,
                "%s", ccl_last_error ());
  }
  for (size_t i = 0; (functions = ccl_cpu_functions (i)); i++) {
    ccl_cpu_tuning.functions = functions;
    check_analyzer (&c, functions->name, batch, expected, labels);
  }
  if (volume)
    check_volume (&c, &expected[0]);
  for (uint32_t i = 0; i < c.n_frames; i++) {
    ccl_reference_clear (&expected[i]);
    free (labels[i]);
  }
  clear_case (&c);
  return 0;
}
