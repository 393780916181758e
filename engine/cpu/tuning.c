/* cudaccl - CPU backend: parameters for tests and benchmarks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/cpu/tuning.h"

/* Waking a thread up takes about as long as labelling this many pixels of noise. */
CclCpuTuning ccl_cpu_tuning = { .strip_pixels = 1 << 14 };

const CclCpuFunctions *
ccl_cpu_functions_chosen (void)
{
  return ccl_cpu_tuning.functions ? ccl_cpu_tuning.functions : ccl_cpu_functions (0);
}
