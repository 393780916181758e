/* cudaccl - fuzzing: the engine's parsers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Operations, polygons, PBM and PGM files. The first byte selects the parser, the rest is text.
 * Text that was parsed and written reads back as the same; polygons are drawn as the pixel
 * reference draws them. */

#include <cudaccl/mask.h>
#include "tests/fuzz/input.h"
#include "tests/lib/morphology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRIES 8 /* of polygons, with corners anywhere */

int
LLVMFuzzerInitialize (int *argc, char ***argv)
{
  return 0;
}

static void
check_error (CclStatus status)
{
  fuzz_check (status == CCL_OK || status == CCL_ERROR_INVALID, "status %d: %s", (int) status,
              ccl_last_error ());
  fuzz_check (status == CCL_OK || ccl_last_error ()[0] != '\0', "an error without a message");
}

static void
parse_operations (FuzzInput *input)
{
  CclOperation operations[CCL_MAX_OPERATIONS], again[CCL_MAX_OPERATIONS];
  char *text = fuzz_text (input, input->size), written[1024], cut[20];
  uint32_t n = 0, m = 0;
  size_t length;

  memset (operations, 0, sizeof operations);
  memset (again, 0, sizeof again);
  if (ccl_operations_parse (text, operations, &n) == CCL_OK) {
    fuzz_check (ccl_operations_check (operations, n) == CCL_OK, "%s", ccl_last_error ());
    length = ccl_operations_format (operations, n, written, sizeof written);
    fuzz_check (length == strlen (written), "a length of %zu for \"%s\"", length, written);
    fuzz_check (ccl_operations_format (operations, n, cut, sizeof cut) == length &&
                    strncmp (cut, written, sizeof cut - 1) == 0 && strlen (cut) < sizeof cut,
                "\"%s\" is cut to \"%s\"", written, cut);
    fuzz_check (ccl_operations_parse (written, again, &m) == CCL_OK, "%s in \"%s\"",
                ccl_last_error (), written);
    fuzz_check (m == n, "%u operations in \"%s\", not %u", m, written, n);
    for (uint32_t i = 0; i < n; i++)
      fuzz_check (operations[i].kind == again[i].kind && operations[i].width == again[i].width &&
                      operations[i].height == again[i].height &&
                      operations[i].size == again[i].size,
                  "operation %u of \"%s\" differs", i, written);
  } else {
    check_error (CCL_ERROR_INVALID);
  }
  free (text);
}

static void
parse_region (FuzzInput *input)
{
  CclMask mask;
  char *include, *exclude;

  fuzz_check (ccl_mask_alloc (1 + fuzz_below (input, 140), 1 + fuzz_below (input, 20), &mask) ==
                  CCL_OK,
              "%s", ccl_last_error ());
  include = fuzz_text (input, input->size);
  exclude = fuzz_text (input, input->size);
  check_error (ccl_region_parse (include[0] ? include : NULL, exclude, &mask));
  for (uint32_t y = 0; y < mask.height; y++)
    fuzz_check ((mask.words[y * mask.pitch + ccl_mask_words (mask.width) - 1] &
                 ~ccl_mask_last_bits (mask.width)) == 0,
                "bits past row %u", y);
  ccl_mask_free (&mask);
  free (include);
  free (exclude);
}

/* A random polygon, written with at most 9 decimals, against the reference. */
static void
draw_polygon (FuzzInput *input)
{
  static const uint32_t scales[] = { 10, 1000, 1000000000 };
  TestImage image = { 1 + fuzz_below (input, 140), 1 + fuzz_below (input, 20), NULL };
  TestPolygon polygon = { .n = 3 + fuzz_below (input, 14) };
  uint32_t scale = scales[fuzz_below (input, 3)];
  char text[16 * 30] = "";
  CclMask mask;

  for (uint32_t i = 0; i < polygon.n; i++) {
    uint32_t x = fuzz_below (input, scale + 1), y = fuzz_below (input, scale + 1);
    char corner[32];

    polygon.x[i] = (double) x / scale;
    polygon.y[i] = (double) y / scale;
    snprintf (corner, sizeof corner, "%.9f,%.9f ", polygon.x[i], polygon.y[i]);
    strcat (text, corner);
  }
  fuzz_check (ccl_mask_alloc (image.width, image.height, &mask) == CCL_OK, "%s", ccl_last_error ());
  fuzz_check (ccl_region_parse (text, NULL, &mask) == CCL_OK, "%s in \"%s\"", ccl_last_error (),
              text);
  for (uint32_t y = 0; y < image.height; y++)
    for (uint32_t x = 0; x < image.width; x++) {
      bool close = false, has = test_polygon_has (&polygon, &image, x, y, &close);
      bool bit = mask.words[y * mask.pitch + x / 64] >> x % 64 & 1;

      fuzz_check (close || bit == has, "%ux%u: pixel %u, %u of \"%s\" is %d", image.width,
                  image.height, x, y, text, bit);
    }
  ccl_mask_free (&mask);
}

static FILE *
open_input (FuzzInput *input)
{
  /* fmemopen() refuses 0 bytes. */
  return fmemopen (input->size ? (void *) input->data : (void *) "x", input->size ? input->size : 1,
                   "rb");
}

static void
read_pbm (FuzzInput *input)
{
  FILE *file = open_input (input), *out;
  CclMask mask = { 0 }, again = { 0 };
  size_t bytes = 0;
  char *text = NULL;
  CclStatus status;

  fuzz_check (file != NULL, "fmemopen: %m");
  status = ccl_mask_read_pbm (file, &mask);
  fclose (file);
  /* The header of a huge file needs much memory before its end is noticed. */
  if (status != CCL_ERROR_NO_MEMORY)
    check_error (status);
  if (status != CCL_OK) {
    fuzz_check (mask.words == NULL, "a mask in spite of an error");
    return;
  }
  out = open_memstream (&text, &bytes);
  fuzz_check (ccl_mask_write_pbm (&mask, out) == CCL_OK, "%s", ccl_last_error ());
  fclose (out);
  file = fmemopen (text, bytes, "rb");
  fuzz_check (ccl_mask_read_pbm (file, &again) == CCL_OK, "%s", ccl_last_error ());
  fclose (file);
  fuzz_check (mask.width == again.width && mask.height == again.height, "the size differs");
  for (uint32_t y = 0; y < mask.height; y++)
    fuzz_check (memcmp (mask.words + y * mask.pitch, again.words + y * again.pitch,
                        ccl_mask_words (mask.width) * sizeof (uint64_t)) == 0,
                "row %u differs", y);
  free (text);
  ccl_mask_free (&mask);
  ccl_mask_free (&again);
}

static void
read_pnm (FuzzInput *input)
{
  FILE *file = open_input (input);
  const char *problem;
  TestImage image;

  fuzz_check (file != NULL, "fmemopen: %m");
  problem = test_image_parse_pnm (file, &image);
  fuzz_check (problem || (image.pixels && image.width && image.height), "an image without pixels");
  fuzz_check (!problem || !image.pixels, "an image in spite of an error");
  test_image_clear (&image);
  fclose (file);
}

int
LLVMFuzzerTestOneInput (const uint8_t *data, size_t size)
{
  FuzzInput input = { data, size };

  switch (fuzz_u8 (&input) % 5) {
  case 0:
    parse_operations (&input);
    break;
  case 1:
    parse_region (&input);
    break;
  case 2:
    for (int i = 0; i < TRIES && input.size > 0; i++)
      draw_polygon (&input);
    break;
  case 3:
    read_pbm (&input);
    break;
  default:
    read_pnm (&input);
  }
  return 0;
}
