/* cudaccl - images for tests and benchmarks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_IMAGE_H
#define TESTS_LIB_IMAGE_H

#include <cudaccl/ccl.h>
#include "tests/lib/mt19937.h"

#include <stdio.h>

/* One byte per pixel, rows without padding. arena.h places images for analyzers. */
typedef struct TestImage
{
  uint32_t width, height;
  uint8_t *pixels;
} TestImage;

/* Which values stand for foreground and background. */
typedef enum TestValues
{
  TEST_VALUES_BINARY, /* 255 and 0 */
  TEST_VALUES_SHADOW, /* 0, 127 and 255, as background subtraction marks them */
  TEST_VALUES_EDGE,   /* the threshold and its successor */
  TEST_VALUES_ANY,    /* every value on the right side of the threshold */
  TEST_VALUES_KINDS,
} TestValues;

/* Prints the message and ends the program: for failures of the test itself, such as running out of
 * memory. */
_Noreturn void test_fatal (const char *format, ...) __attribute__ ((format (printf, 1, 2)));

/* malloc() that does not fail. */
void *test_alloc (size_t bytes);

/* All pixels are 0. */
TestImage test_image_new (uint32_t width, uint32_t height);
TestImage test_image_copy (const TestImage *image);
void test_image_clear (TestImage *image);

/* The image as an analyzer's input in host memory. */
CclImage test_image_view (const TestImage *image);

bool test_image_is_foreground (const TestImage *image, const CclParams *params, uint32_t x,
                               uint32_t y);

/* Replaces the values of an image of 0 and 255 so that @params give the same foreground. If the
 * threshold leaves no values for one side, the image becomes all of the other. */
void test_image_set_values (TestImage *image, TestValues values, const CclParams *params,
                            Mt19937 *rng);

/* Prints one character per pixel. */
void test_image_print (const TestImage *image, const CclParams *params, FILE *file);

/* Binary PGM (P5) of 8 bits. */
bool test_image_write_pgm (const TestImage *image, const char *path);

/* Parses such a PGM, or a binary PBM (P4). Returns an error message, or NULL. */
const char *test_image_parse_pnm (FILE *file, TestImage *image);

/* The same for the file @path. Prints errors to stderr. */
bool test_image_read_pnm (const char *path, TestImage *image);

#endif
