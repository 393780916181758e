/* cudaccl - ccl-bench morphology: on a CUDA device
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_BENCH_MORPHOLOGY_CUDA_H
#define TESTS_BENCH_MORPHOLOGY_CUDA_H

#include <cudaccl/mask.h>
#include "tests/lib/image.h"

/* Measures each of @n operations on a CUDA device, chains of them, and the analysis from every kind
 * of memory, as bytes and as bits, with @algorithm or, if that is NULL, the best. Returns whether
 * all results are the CPU's. */
bool morphology_cuda (const TestImage *image, const char *name, const char *algorithm,
                      const CclOperation *operations, uint32_t n, unsigned connectivity,
                      unsigned runs);

#endif
