/* cudaccl - the time, for tests and benchmarks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_CLOCK_H
#define TESTS_LIB_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Monotonic time in nanoseconds. */
static inline uint64_t
test_now (void)
{
  struct timespec t;

  clock_gettime (CLOCK_MONOTONIC, &t);
  return (uint64_t) t.tv_sec * 1000000000u + (uint64_t) t.tv_nsec;
}

#endif
