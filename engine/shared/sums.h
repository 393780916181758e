/* cudaccl - sums over a run's pixels, for every backend
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_SUMS_H
#define CCL_SUMS_H

#include "engine/shared/device.h"

#include <stdint.h>

/* The sum of x over start <= x < end. */
CCL_HOST_DEVICE static inline uint64_t
ccl_run_sum_x (uint32_t start, uint32_t end)
{
  return (uint64_t) (end - start) * ((uint64_t) start + end - 1) / 2;
}

/* The sum of the squares of 0...n-1, modulo 2^64. */
CCL_HOST_DEVICE static inline uint64_t
ccl_squares_below (uint64_t n)
{
  /* n (n - 1) (2 n - 1) / 6, the 2 and the 3 taken out of factors that hold them. */
  uint64_t a = n, b = n - 1, c = 2 * n - 1;

  if (n == 0)
    return 0;
  if (a % 2 == 0)
    a /= 2;
  else
    b /= 2;
  if (a % 3 == 0)
    a /= 3;
  else if (b % 3 == 0)
    b /= 3;
  else
    c /= 3;
  return a * b * c;
}

/* The sum of x^2 over start <= x < end. */
CCL_HOST_DEVICE static inline uint64_t
ccl_run_sum_xx (uint32_t start, uint32_t end)
{
  return ccl_squares_below (end) - ccl_squares_below (start);
}

#endif
