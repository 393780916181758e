/* cudaccl - CPU backend: the time
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_CLOCK_H
#define CCL_CPU_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Monotonic time in nanoseconds. */
static inline uint64_t
ccl_cpu_now (void)
{
  struct timespec time;

  clock_gettime (CLOCK_MONOTONIC, &time);
  return (uint64_t) time.tv_sec * 1000000000 + (uint64_t) time.tv_nsec;
}

#endif
