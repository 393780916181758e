/* cudaccl - the time, and how to wait for a moment
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

/* Yields the core to its other hardware thread for a moment. */
static inline void
ccl_cpu_relax (void)
{
#if defined __x86_64__ || defined __i386__
  __builtin_ia32_pause ();
#elif defined __aarch64__
  __asm__ volatile("yield");
#endif
}

#endif
