/* cudaccl - fuzzing: operations on masks against the pixel reference
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Any chain, size, pitch, connectivity, instruction set and number of threads. */

#include "engine/cpu/tuning.h"
#include "engine/mask/operations.h"
#include <cudaccl/mask.h>
#include "tests/fuzz/input.h"
#include "tests/lib/morphology.h"

#include <stdlib.h>
#include <string.h>

#define GUARD UINT64_C (0xa5c3a5c3a5c3a5c3) /* in words that must not change */

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  return 0;
}

static CclOperation
draw_operation (FuzzInput *input)
{
  static const uint32_t most[] = { 2, 8, 16, 128 };
  CclOperation operation = { .kind =
                                 (CclOperationKind) fuzz_below (input, ccl_operation_kinds ()) };

  switch (ccl_operation_form (operation.kind)) {
  case CCL_FORM_SQUARE:
    operation.width = operation.height = 3 + 2 * fuzz_below (input, 2);
    break;
  case CCL_FORM_SIZE_OR_ALL:
    operation.size = fuzz_one_in (input, 8) ? fuzz_hostile_u64 (input) : fuzz_below (input, 40);
    break;
  case CCL_FORM_SIZE:
    operation.size = fuzz_one_in (input, 8) ? fuzz_hostile_u64 (input) : fuzz_below (input, 100);
    operation.size += operation.size == 0;
    break;
  default:
    operation.width = 1 + 2 * fuzz_below (input, most[fuzz_below (input, 4)]);
    operation.height = 1 + 2 * fuzz_below (input, most[fuzz_below (input, 4)]);
  }
  return operation;
}

static CclMask
mask_new (const TestImage *image, size_t padding)
{
  size_t words = ccl_mask_words (image->width), pitch = words + padding;
  size_t all = pitch * (image->height - 1) + words;
  CclMask mask = { test_alloc (all * sizeof (uint64_t)), pitch, image->width, image->height,
                   CCL_MEMORY_HOST };

  for (size_t i = 0; i < all; i++)
    mask.words[i] = GUARD;
  fuzz_check (ccl_mask_pack (&mask, image->pixels, image->width, 127, false) == CCL_OK, "%s",
              ccl_last_error ());
  return mask;
}

static void
check_mask (const CclMask *mask, const TestImage *expected, const char *who)
{
  size_t words = ccl_mask_words (mask->width);

  for (uint32_t y = 0; y < mask->height; y++) {
    const uint64_t *row = mask->words + y * mask->pitch;

    for (size_t x = 0; x < 64 * words; x++) {
      bool bit = row[x / 64] >> x % 64 & 1;

      fuzz_check (bit == (x < mask->width && expected->pixels[(size_t) y * mask->width + x] != 0),
                  "%s, %ux%u: pixel %zu, %u is %d", who, mask->width, mask->height, x, y, bit);
    }
    for (size_t w = words; w < mask->pitch && y + 1 < mask->height; w++)
      fuzz_check (row[w] == GUARD, "%s: a word past row %u has changed", who, y);
  }
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };
  CclOperation operations[CCL_MAX_OPERATIONS];
  uint32_t width, height, n, runs;
  const CclCpuFunctions *functions;
  unsigned connectivity, threads;
  TestImage images[2], expected[2];
  size_t padding;

  width = 1 + fuzz_below (&input, fuzz_one_in (&input, 4) ? 700 : 150);
  height = 1 + fuzz_below (&input, 40);
  connectivity = fuzz_one_in (&input, 2) ? 4 : 8;
  threads = fuzz_one_in (&input, 6) ? 2 + fuzz_below (&input, 3) : 1;
  ccl_cpu_tuning.strip_pixels = 1 + fuzz_below (&input, 2000);
  padding = fuzz_below (&input, 3);
  n = fuzz_below (&input, fuzz_one_in (&input, 6) ? CCL_MAX_OPERATIONS + 1 : 4);
  for (uint32_t i = 0; i < n; i++)
    operations[i] = draw_operation (&input);
  fuzz_check (ccl_operations_check (operations, n) == CCL_OK, "%s", ccl_last_error ());
  /* The second mask meets what the first one left in the scratch memory. */
  runs = 1 + fuzz_below (&input, 2);
  for (uint32_t i = 0; i < runs; i++) {
    images[i] = test_image_new (width, height);
    fuzz_image (&input, &images[i]);
    expected[i] = test_image_copy (&images[i]);
    test_morphology_apply (&expected[i], connectivity, operations, n);
  }
  for (size_t k = 0; (functions = ccl_cpu_functions (k)); k++) {
    CclMorphology *morphology;

    ccl_cpu_tuning.functions = functions;
    fuzz_check (ccl_morphology_new (width, height, connectivity, operations, n, threads,
                                    &morphology) == CCL_OK,
                "%s: %s", functions->name, ccl_last_error ());
    for (uint32_t i = 0; i < runs; i++) {
      CclMask mask = mask_new (&images[i], padding);

      fuzz_check (ccl_morphology_apply (morphology, &mask) == CCL_OK, "%s: %s", functions->name,
                  ccl_last_error ());
      check_mask (&mask, &expected[i], functions->name);
      free (mask.words);
    }
    ccl_morphology_free (morphology);
  }
  for (uint32_t i = 0; i < runs; i++) {
    test_image_clear (&images[i]);
    test_image_clear (&expected[i]);
  }
  return 0;
}
