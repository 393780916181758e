/* cudaccl - CPU backend: the choice of an instruction set
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/cpu/functions.h"

const CclCpuFunctions *
ccl_cpu_functions (size_t index)
{
  const CclCpuFunctions *versions[4];
  size_t n = 0;

#define HAS(feature) __builtin_cpu_supports (feature)
#define VERSION(name, has)                                 \
  do {                                                     \
    extern const CclCpuFunctions ccl_cpu_functions_##name; \
                                                           \
    if (has)                                               \
      versions[n++] = &ccl_cpu_functions_##name;           \
  } while (0)
#ifdef HAVE_AVX512
  VERSION (avx512,
           HAS ("avx512f") && HAS ("avx512bw") && HAS ("bmi") && HAS ("bmi2") && HAS ("popcnt"));
#endif
#ifdef HAVE_AVX2
  VERSION (avx2, HAS ("avx2") && HAS ("bmi") && HAS ("bmi2") && HAS ("popcnt"));
#endif
#ifdef HAVE_NEON
  VERSION (neon, true); /* every 64-bit ARM has it */
#endif
  VERSION (c, true);
  return index < n ? versions[index] : NULL;
}
