/* cudaccl - CPU backend: the choice of an instruction set
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/cpu/functions.h"
#include "engine/cpu/tuning.h"

/* Waking a thread up takes about as long as labelling this many pixels of noise. */
CclCpuTuning ccl_cpu_tuning = { .strip_pixels = 1 << 14 };

const CclCpuFunctions *
ccl_cpu_functions (size_t index)
{
  const CclCpuFunctions *versions[4];
  size_t n = 0;

#ifdef HAVE_AVX512
  if (__builtin_cpu_supports ("avx512f") && __builtin_cpu_supports ("avx512bw") &&
      __builtin_cpu_supports ("bmi") && __builtin_cpu_supports ("bmi2") &&
      __builtin_cpu_supports ("popcnt"))
    versions[n++] = &ccl_cpu_functions_avx512;
#endif
#ifdef HAVE_AVX2
  if (__builtin_cpu_supports ("avx2") && __builtin_cpu_supports ("bmi") &&
      __builtin_cpu_supports ("bmi2") && __builtin_cpu_supports ("popcnt"))
    versions[n++] = &ccl_cpu_functions_avx2;
#endif
#ifdef HAVE_NEON
  versions[n++] = &ccl_cpu_functions_neon; /* every 64-bit ARM has it */
#endif
  versions[n++] = &ccl_cpu_functions_c;
  return index < n ? versions[index] : NULL;
}

const CclCpuFunctions *
ccl_cpu_functions_chosen (void)
{
  return ccl_cpu_tuning.functions ? ccl_cpu_tuning.functions : ccl_cpu_functions (0);
}
