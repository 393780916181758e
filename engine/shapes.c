/* cudaccl - shapes that follow from sums
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <cudaccl/ccl.h>

#include <math.h>

/* Sums of first and second order in one or two coordinates, relative to a point inside. */
typedef struct Moment
{
  uint64_t from; /* the point: the mean, rounded down */
  uint64_t rest; /* the sum relative to it, below the area */
} Moment;

static Moment
find_mean (uint64_t sum, uint64_t area)
{
  return (Moment){ sum / area, sum % area };
}

/* In steps that no compiler fuses, so that all machines give the same bytes. */

/* The second-order sum of @a and @b around the centroid. Relative to a point next to it, sums are
 * whole numbers that fit in 64 bits; only the last step is inexact. */
static double
central_sum (uint64_t sum, uint64_t sum_a, Moment a, uint64_t sum_b, Moment b, uint64_t area)
{
  int64_t near = (int64_t) (sum - a.from * sum_b - b.from * sum_a + area * a.from * b.from);
  uint64_t rests = a.rest * b.rest; /* areas are below 2^32 */
  double correction = (double) rests / (double) area;

  return (double) near - correction;
}

void
ccl_component_ellipse (const CclComponent *c, CclEllipse *ellipse)
{
  Moment x = find_mean (c->sum_x, c->area), y = find_mean (c->sum_y, c->area);
  double area = (double) c->area;
  double xx = central_sum (c->sum_xx, c->sum_x, x, c->sum_x, x, c->area) / area;
  double yy = central_sum (c->sum_yy, c->sum_y, y, c->sum_y, y, c->area) / area;
  double xy = central_sum (c->sum_xy, c->sum_x, x, c->sum_y, y, c->area) / area;
  double difference = xx - yy, square = difference * difference, product = xy * xy;
  double cross = 4 * product, root = sqrt (square + cross), sum = xx + yy;
  double large = (sum + root) / 2, small = (sum - root) / 2;

  if (small < 0) /* rounding */
    small = 0;
  ellipse->major = 4 * sqrt (large);
  ellipse->minor = 4 * sqrt (small);
  ellipse->orientation = root > 0 ? atan2 (2 * xy, difference) / 2 : 0;
  ellipse->eccentricity = large > 0 ? sqrt (1 - small / large) : 0;
}
