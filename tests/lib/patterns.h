/* cudaccl - images drawn by tests and benchmarks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_PATTERNS_H
#define TESTS_LIB_PATTERNS_H

#include "tests/lib/image.h"

/* A regular image, hard for some labelling algorithm. */
typedef struct TestPattern
{
  const char *name;
  bool (*foreground) (uint32_t x, uint32_t y, uint32_t width, uint32_t height);
} TestPattern;

/* NULL past the last. */
const TestPattern *test_pattern (size_t index);

/* The pattern of that name, which must exist. */
const TestPattern *test_pattern_find (const char *name);

/* Fills the image with 0 and 255. */
void test_pattern_draw (const TestPattern *pattern, TestImage *image);

/* Fills the image with 0 and 255: the papers' random images. Squares of @granularity x @granularity
 * pixels, cropped at the right and lower edges, are foreground with probability @density (0...1),
 * one draw of MT19937 each, in raster order. */
void test_noise_draw (TestImage *image, double density, uint32_t granularity, Mt19937 *rng);

#endif
