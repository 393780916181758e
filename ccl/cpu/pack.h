/* cudaccl - CPU backend: from bytes to bits
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CPU_PACK_H
#define CCL_CPU_PACK_H

#include <stdbool.h>
#include <stdint.h>

/* Turns a row of @width pixels into bits, pixel x being bit x % 64 of word x / 64: set where
 * pixel > threshold, or, with @invert, where not. Bits past the width are 0. Reads nothing past the
 * last pixel. */
typedef void (*CclPackRow) (uint64_t *bits, const uint8_t *pixels, uint32_t width,
                            uint8_t threshold, bool invert);

/* The functions of the CPU backend that exist in several versions, one for each instruction set. */
typedef struct CclCpuFunctions
{
  const char *name;
  CclPackRow pack_row;
} CclCpuFunctions;

/* The best version for this CPU. */
const CclCpuFunctions *ccl_cpu_functions (void);

extern const CclCpuFunctions ccl_cpu_functions_c;
#ifdef HAVE_AVX2
extern const CclCpuFunctions ccl_cpu_functions_avx2;
#endif

#endif
