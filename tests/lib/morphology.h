/* cudaccl - the pixel reference of operations and regions
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* As short as possible, pixel by pixel, without code of the engine. Masks are images of 0 and
 * 255. */

#ifndef TESTS_COMMON_MORPHOLOGY_H
#define TESTS_COMMON_MORPHOLOGY_H

#include <cudaccl/mask.h>
#include "tests/lib/image.h"

/* The expected result of ccl_morphology_apply(). */
void test_morphology_apply (TestImage *image, unsigned connectivity, const CclOperation *operations,
                            uint32_t n);

/* A polygon in fractions of the frame. */
typedef struct TestPolygon
{
  uint32_t n;
  double x[16], y[16];
} TestPolygon;

/* Whether the centre of a pixel lies in the polygon; *@close if it is too close to an edge to say.
 */
bool test_polygon_has (const TestPolygon *polygon, const TestImage *image, uint32_t x, uint32_t y,
                       bool *close);

/* A valid operation, any kind, small rectangles more often than large ones. */
CclOperation test_operation_draw (Mt19937 *rng);

#endif
