/* cudaccl - ccl-bench: the median of measurements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/bench/median.h"

#include <stdlib.h>

static int
compare (const void *a, const void *b)
{
  uint64_t first = *(const uint64_t *) a, second = *(const uint64_t *) b;

  return (first > second) - (first < second);
}

uint64_t
bench_median (uint64_t *values, size_t n)
{
  qsort (values, n, sizeof *values, compare);
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}
