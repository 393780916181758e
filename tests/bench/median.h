/* cudaccl - ccl-bench: the median of measurements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_BENCH_MEDIAN_H
#define TESTS_BENCH_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

/* The median of @n values, at least one, which it sorts; of an even number the mean of the two in
 * the middle. */
uint64_t bench_median (uint64_t *values, size_t n);

#endif
