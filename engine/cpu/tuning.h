/* cudaccl - CPU backend: parameters for tests and benchmarks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_TUNING_H
#define CCL_CPU_TUNING_H

#include "engine/cpu/functions.h"

/* Analyzers read this when they are made. Only tests write it, while no other thread makes an
 * analyzer. */
typedef struct CclCpuTuning
{
  const CclCpuFunctions *functions; /* NULL: the best for this CPU */
  uint32_t strip_pixels;            /* a frame is not split into smaller parts, at least 1 */
  unsigned shared_threads;          /* of the shared pool, when it starts; 0: by the CPUs */
} CclCpuTuning;

extern CclCpuTuning ccl_cpu_tuning;

/* The functions to use. */
const CclCpuFunctions *ccl_cpu_functions_chosen (void);

#endif
