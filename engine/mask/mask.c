/* cudaccl - masks: one bit a pixel
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/mask/mask.h"
#include "engine/aligned.h"
#include "engine/cpu/tuning.h"
#include "engine/error.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

CclStatus
ccl_check_mask (const CclMask *mask, const char *function)
{
  if (!mask || !mask->words)
    return ccl_fail (CCL_ERROR_INVALID, "%s: the mask is NULL or has no words", function);
  if (mask->width == 0 || mask->height == 0 || (uint64_t) mask->width * mask->height > UINT32_MAX)
    return ccl_fail (CCL_ERROR_INVALID,
                     "%s: a mask of %" PRIu32 "x%" PRIu32 "; masks have 1 to 2^32 - 1 pixels",
                     function, mask->width, mask->height);
  if (mask->pitch < ccl_mask_words (mask->width))
    return ccl_fail (CCL_ERROR_INVALID,
                     "%s: a pitch of %zu words is less than the %zu of a row of %" PRIu32 " pixels",
                     function, mask->pitch, ccl_mask_words (mask->width), mask->width);
  if (mask->memory != CCL_MEMORY_HOST && mask->memory != CCL_MEMORY_PINNED)
    return ccl_fail (CCL_ERROR_UNSUPPORTED, "%s: the mask is not in host memory; copy it there",
                     function);
  return CCL_OK;
}

CclStatus
ccl_mask_alloc (uint32_t width, uint32_t height, CclMask *mask)
{
  const size_t row_words = CCL_ALIGNMENT / sizeof *mask->words;
  size_t pitch = (ccl_mask_words (width) + row_words - 1) / row_words * row_words;
  uint64_t *words = NULL;

  if (!mask)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_mask_alloc: mask is NULL");
  *mask = (CclMask){ 0 };
  if (width == 0 || height == 0 || (uint64_t) width * height > UINT32_MAX)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a mask of %" PRIu32 "x%" PRIu32 "; masks have 1 to 2^32 - 1 pixels", width,
                     height);
  if (pitch <= SIZE_MAX / sizeof *words / height)
    words = ccl_aligned_alloc (pitch * height * sizeof *words);
  if (!words)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a mask of %" PRIu32 "x%" PRIu32, width,
                     height);
  *mask = (CclMask){
    .words = words,
    .pitch = pitch,
    .width = width,
    .height = height,
  };
  return CCL_OK;
}

void
ccl_mask_free (CclMask *mask)
{
  if (!mask)
    return;
  ccl_aligned_free (mask->words);
  *mask = (CclMask){ 0 };
}

static CclStatus
check_pixels (const CclMask *mask, const uint8_t *pixels, size_t stride, const char *function)
{
  CclStatus status = ccl_check_mask (mask, function);

  if (status != CCL_OK)
    return status;
  if (!pixels)
    return ccl_fail (CCL_ERROR_INVALID, "%s: pixels is NULL", function);
  if (stride < mask->width)
    return ccl_fail (CCL_ERROR_INVALID,
                     "%s: a stride of %zu bytes is less than the width of %" PRIu32, function,
                     stride, mask->width);
  return CCL_OK;
}

CclStatus
ccl_mask_pack (CclMask *mask, const uint8_t *pixels, size_t stride, uint8_t threshold, bool invert)
{
  const CclCpuFunctions *functions = ccl_cpu_functions_chosen ();
  const CclCut cut = { threshold, UINT8_MAX, invert };
  CclStatus status = check_pixels (mask, pixels, stride, "ccl_mask_pack");

  for (size_t y = 0; status == CCL_OK && y < mask->height; y++)
    functions->pack_row (mask->words + y * mask->pitch, pixels + y * stride, mask->width, &cut);
  return status;
}

CclStatus
ccl_mask_unpack (const CclMask *mask, uint8_t *pixels, size_t stride, uint8_t value)
{
  const CclCpuFunctions *functions = ccl_cpu_functions_chosen ();
  CclStatus status = check_pixels (mask, pixels, stride, "ccl_mask_unpack");

  for (size_t y = 0; status == CCL_OK && y < mask->height; y++)
    functions->unpack_row (pixels + y * stride, mask->words + y * mask->pitch, mask->width, value);
  return status;
}

/* A PBM file, and the number of bytes read from it. */
typedef struct Reader
{
  FILE *file;
  uint64_t position;
} Reader;

static int
read_byte (Reader *reader)
{
  int byte = getc (reader->file);

  reader->position += byte != EOF;
  return byte;
}

static CclStatus
fail_at (const Reader *reader, int byte, const char *expected)
{
  if (byte == EOF)
    return ccl_fail (CCL_ERROR_INVALID, "byte %" PRIu64 " of the PBM file is missing: expected %s",
                     reader->position, expected);
  return ccl_fail (CCL_ERROR_INVALID, "byte %" PRIu64 " of the PBM file is 0x%02x: expected %s",
                   reader->position - 1, (unsigned) byte, expected);
}

static bool
is_blank (int byte)
{
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/* The first byte behind blanks and comments. */
static int
skip_blanks (Reader *reader)
{
  int byte = read_byte (reader);

  while (is_blank (byte) || byte == '#') {
    bool comment = byte == '#';

    byte = read_byte (reader);
    while (comment && byte != '\n' && byte != '\r' && byte != EOF)
      byte = read_byte (reader);
  }
  return byte;
}

/* Reads a number of the header, with blanks and comments before it and the blank behind it. */
static CclStatus
read_number (Reader *reader, const char *what, uint32_t *number)
{
  uint64_t value = 0;
  bool any = false;
  int byte;

  for (byte = skip_blanks (reader); byte >= '0' && byte <= '9'; byte = read_byte (reader)) {
    any = true;
    value = value * 10 + (uint64_t) (byte - '0');
    if (value > UINT32_MAX)
      return fail_at (reader, byte, "the end of a number below 2^32");
  }
  if (!any)
    return fail_at (reader, byte, what);
  if (!is_blank (byte))
    return fail_at (reader, byte, "a blank");
  *number = (uint32_t) value;
  return CCL_OK;
}

static CclStatus
read_header (Reader *reader, uint32_t *width, uint32_t *height)
{
  int byte = read_byte (reader);
  CclStatus status;

  if (byte != 'P')
    return fail_at (reader, byte, "the P of P4");
  byte = read_byte (reader);
  if (byte != '4')
    return fail_at (reader, byte, "the 4 of P4, a binary PBM file");
  byte = read_byte (reader);
  if (!is_blank (byte))
    return fail_at (reader, byte, "a blank");
  status = read_number (reader, "the width", width);
  return status == CCL_OK ? read_number (reader, "the height", height) : status;
}

/* Converts between PBM, whose first pixel is a byte's highest bit, and masks. */
static inline uint64_t
mirror_bytes (uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64 (word);
#endif
  word = (word >> 1 & UINT64_C (0x5555555555555555)) | (word & UINT64_C (0x5555555555555555)) << 1;
  word = (word >> 2 & UINT64_C (0x3333333333333333)) | (word & UINT64_C (0x3333333333333333)) << 2;
  return (word >> 4 & UINT64_C (0x0f0f0f0f0f0f0f0f)) | (word & UINT64_C (0x0f0f0f0f0f0f0f0f)) << 4;
}

static CclStatus
read_rows (Reader *reader, CclMask *mask)
{
  size_t words = ccl_mask_words (mask->width);
  size_t bytes = mask->width / 8 + (mask->width % 8 != 0);

  for (size_t y = 0; y < mask->height; y++) {
    uint64_t *row = mask->words + y * mask->pitch;
    size_t have;

    memset (row + words - 1, 0, (mask->pitch - words + 1) * sizeof *row);
    have = fread (row, 1, bytes, reader->file);
    reader->position += have;
    if (have < bytes)
      return fail_at (reader, EOF, "the pixels of its last row");
    for (size_t w = 0; w < words; w++)
      row[w] = mirror_bytes (row[w]);
    row[words - 1] &= ccl_mask_last_bits (mask->width);
  }
  return CCL_OK;
}

CclStatus
ccl_mask_read_pbm (FILE *file, CclMask *mask)
{
  Reader reader = { file, 0 };
  uint32_t width = 0, height = 0;
  CclStatus status;

  if (!file || !mask)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_mask_read_pbm: file or mask is NULL");
  *mask = (CclMask){ 0 };
  status = read_header (&reader, &width, &height);
  if (status == CCL_OK && (width == 0 || height == 0 || (uint64_t) width * height > UINT32_MAX))
    return ccl_fail (CCL_ERROR_INVALID,
                     "the header of a PBM file, which ends at byte %" PRIu64 ", says %" PRIu32
                     "x%" PRIu32 "; masks have 1 to 2^32 - 1 pixels",
                     reader.position - 1, width, height);
  if (status == CCL_OK)
    status = ccl_mask_alloc (width, height, mask);
  if (status == CCL_OK) {
    status = read_rows (&reader, mask);
    if (status != CCL_OK)
      ccl_mask_free (mask);
  }
  return status;
}

CclStatus
ccl_mask_write_pbm (const CclMask *mask, FILE *file)
{
  CclStatus status = ccl_check_mask (mask, "ccl_mask_write_pbm");
  bool written;

  if (status != CCL_OK)
    return status;
  if (!file)
    return ccl_fail (CCL_ERROR_INVALID, "ccl_mask_write_pbm: file is NULL");
  written = fprintf (file, "P4\n%" PRIu32 " %" PRIu32 "\n", mask->width, mask->height) > 0;
  for (size_t y = 0; written && y < mask->height; y++) {
    const uint64_t *row = mask->words + y * mask->pitch;
    size_t bytes = mask->width / 8 + (mask->width % 8 != 0);

    for (; written && bytes > 0; row++) {
      uint64_t word = mirror_bytes (*row);
      size_t n = bytes < sizeof word ? bytes : sizeof word;

      written = fwrite (&word, 1, n, file) == n;
      bytes -= n;
    }
  }
  if (!written || fflush (file) != 0)
    return ccl_fail (CCL_ERROR_INVALID, "could not write the PBM file: %m");
  return CCL_OK;
}
