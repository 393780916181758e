/* cudaccl - ccl-bench morphology: peers of the operations on masks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_BENCH_MORPHOLOGY_H
#define TESTS_BENCH_MORPHOLOGY_H

#include <cudaccl/mask.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A library that does the same operation, on images of 0 and 255. */
typedef struct MorphologyPeer
{
  const char *name;

  /* Does @operation once more on @from, of @width x @height pixels, into @to; one thread. Returns
   * the nanoseconds that it took, 0 if it cannot do that or failed. */
  uint64_t (*run) (const CclOperation *operation, const uint8_t *from, uint8_t *to, uint32_t width,
                   uint32_t height);
} MorphologyPeer;

extern const MorphologyPeer morphology_opencv, morphology_scipy;

/* The Python of SciPy; "python3" unless set. */
extern const char *morphology_python;

int morphology_main (int argc, char **argv);

#ifdef __cplusplus
}
#endif

#endif
