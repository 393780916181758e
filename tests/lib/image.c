/* cudaccl - images for tests and benchmarks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/image.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void
test_fatal (const char *format, ...)
{
  va_list args;

  fflush (stdout);
  va_start (args, format);
  vfprintf (stderr, format, args);
  va_end (args);
  fputc ('\n', stderr);
  exit (EXIT_FAILURE);
}

void *
test_alloc (size_t bytes)
{
  void *memory = malloc (bytes ? bytes : 1);

  if (!memory)
    test_fatal ("out of memory: %zu bytes", bytes);
  return memory;
}

TestImage
test_image_new (uint32_t width, uint32_t height)
{
  TestImage image = { width, height, test_alloc ((size_t) width * height) };

  memset (image.pixels, 0, (size_t) width * height);
  return image;
}

TestImage
test_image_copy (const TestImage *image)
{
  size_t pixels = (size_t) image->width * image->height;
  TestImage copy = { image->width, image->height, test_alloc (pixels) };

  memcpy (copy.pixels, image->pixels, pixels);
  return copy;
}

void
test_image_clear (TestImage *image)
{
  free (image->pixels);
  memset (image, 0, sizeof *image);
}

CclImage
test_image_view (const TestImage *image)
{
  return (CclImage){ .data = image->pixels, .stride = image->width, .memory = CCL_MEMORY_HOST };
}

bool
test_image_is_foreground (const TestImage *image, const CclParams *params, uint32_t x, uint32_t y)
{
  return (image->pixels[(size_t) y * image->width + x] > params->threshold) != params->invert;
}

/* A value of @low...@high: all values above the threshold, or all others. */
static uint8_t
pick_value (TestValues values, unsigned low, unsigned high, Mt19937 *rng)
{
  static const uint8_t shadow[] = { 0, 127, 255 };
  bool above = high == 255 && low > 0;
  unsigned value;

  switch (values) {
  case TEST_VALUES_BINARY:
    return above ? 255 : 0;
  case TEST_VALUES_SHADOW:
    do
      value = shadow[mt19937_below (rng, 3)];
    while (value < low || value > high); /* 0 or 255 is in the range */
    return (uint8_t) value;
  case TEST_VALUES_EDGE:
    return (uint8_t) (above ? low : high);
  default:
    return (uint8_t) (low + mt19937_below (rng, high - low + 1));
  }
}

void
test_image_set_values (TestImage *image, TestValues values, const CclParams *params, Mt19937 *rng)
{
  size_t pixels = (size_t) image->width * image->height;

  for (size_t i = 0; i < pixels; i++) {
    bool above = (image->pixels[i] != 0) != params->invert;

    if (above && params->threshold < 255)
      image->pixels[i] = pick_value (values, params->threshold + 1u, 255, rng);
    else
      image->pixels[i] = pick_value (values, 0, params->threshold, rng);
  }
}

void
test_image_print (const TestImage *image, const CclParams *params, FILE *file)
{
  for (uint32_t y = 0; y < image->height; y++) {
    fputs ("    |", file);
    for (uint32_t x = 0; x < image->width; x++)
      fputc (test_image_is_foreground (image, params, x, y) ? '#' : '.', file);
    fputs ("|\n", file);
  }
}

bool
test_image_write_pgm (const TestImage *image, const char *path)
{
  size_t pixels = (size_t) image->width * image->height;
  FILE *file = fopen (path, "wb");
  bool ok;

  if (!file) {
    fprintf (stderr, "%s: %s\n", path, strerror (errno));
    return false;
  }
  fprintf (file, "P5\n%u %u\n255\n", image->width, image->height);
  ok = fwrite (image->pixels, 1, pixels, file) == pixels;
  ok = fclose (file) == 0 && ok;
  if (!ok)
    fprintf (stderr, "%s: incomplete write\n", path);
  return ok;
}

/* One number of a PGM header, after white space and comments; 0 if there is none. */
static unsigned long
read_number (FILE *file)
{
  unsigned long number = 0;
  int c = getc (file);

  while (c == '#' || isspace (c)) {
    if (c == '#')
      while (c != '\n' && c != EOF)
        c = getc (file);
    else
      c = getc (file);
  }
  for (; isdigit (c) && number < 1ul << 32; c = getc (file))
    number = number * 10 + (unsigned long) (c - '0');
  /* c is the single white space after the number, which belongs to the header. */
  return isspace (c) ? number : 0;
}

/* Reads the pixels of a PBM: 1 is black, and foreground here. */
static bool
read_bits (FILE *file, TestImage *image)
{
  size_t stride = ((size_t) image->width + 7) / 8;
  uint8_t *row = test_alloc (stride);
  bool ok = true;

  for (uint32_t y = 0; y < image->height && ok; y++) {
    ok = fread (row, 1, stride, file) == stride;
    for (uint32_t x = 0; x < image->width && ok; x++)
      image->pixels[(size_t) y * image->width + x] = row[x / 8] >> (7 - x % 8) & 1 ? 255 : 0;
  }
  free (row);
  return ok;
}

static bool
read_bytes (FILE *file, TestImage *image)
{
  size_t pixels = (size_t) image->width * image->height;

  return fread (image->pixels, 1, pixels, file) == pixels;
}

/* The bytes from here to the end of the file. */
static uint64_t
bytes_left (FILE *file)
{
  long here = ftell (file), end;

  if (here < 0 || fseek (file, 0, SEEK_END) != 0)
    return UINT64_MAX; /* a pipe */
  end = ftell (file);
  return end >= here && fseek (file, here, SEEK_SET) == 0 ? (uint64_t) (end - here) : 0;
}

const char *
test_image_parse_pnm (FILE *file, TestImage *image)
{
  unsigned long width = 0, height = 0, maximum = 1;
  int kind = 0;
  bool ok;

  memset (image, 0, sizeof *image);
  if (getc (file) == 'P')
    kind = getc (file);
  if (kind == '4' || kind == '5') {
    width = read_number (file);
    height = read_number (file);
    if (kind == '5')
      maximum = read_number (file);
  }
  if (!width || !height || width > UINT32_MAX || height > UINT32_MAX / width || !maximum ||
      maximum > 255)
    return "not a binary 8-bit PGM (P5) or PBM (P4)";
  /* Before the memory of a huge image is allocated. */
  ok = bytes_left (file) >= (kind == '4' ? (width + 7) / 8 : width) * height;
  if (ok) {
    *image = test_image_new ((uint32_t) width, (uint32_t) height);
    ok = kind == '4' ? read_bits (file, image) : read_bytes (file, image);
  }
  if (!ok)
    test_image_clear (image);
  return ok ? NULL : "ends before its last pixel";
}

bool
test_image_read_pnm (const char *path, TestImage *image)
{
  FILE *file = fopen (path, "rb");
  const char *problem;

  memset (image, 0, sizeof *image);
  if (!file) {
    fprintf (stderr, "%s: %s\n", path, strerror (errno));
    return false;
  }
  problem = test_image_parse_pnm (file, image);
  if (problem)
    fprintf (stderr, "%s: %s\n", path, problem);
  fclose (file);
  return !problem;
}
