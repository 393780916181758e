/* cudaccl - CUDA backend: the list of algorithms
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/tables/algorithm.h"

#include <string.h>

/* The best first. P: those in papers/, which builds without the option papers lack. */
#define FRAME_ALGORITHMS(X, P) \
  X (tile)                     \
  X (flsl_cd)                  \
  P (flsl_otf)                 \
  P (flsl)                     \
  P (ha4_otf)                  \
  P (ha4_cd)                   \
  X (ha4)                      \
  P (bke)                      \
  P (bke_ic)                   \
  P (buf)                      \
  P (buf_ic)                   \
  P (uf)                       \
  P (lbuf)                     \
  P (ke)                       \
  P (playne)                   \
  P (dlp)                      \
  P (be)                       \
  P (label_equivalence)        \
  P (row_col_unify)            \
  P (ha4_32)                   \
  P (naive)

#define VOLUME_ALGORITHMS(X, P) \
  X (buf)                       \
  P (bke)                       \
  X (buf_ic)                    \
  P (bke_ic)                    \
  P (be)                        \
  X (uf)

#define DECLARE(name) extern const CclCudaAlgorithm ccl_cuda_algorithm_##name;
#define DECLARE_VOLUME(name) extern const CclCudaAlgorithm ccl_cuda_volume_algorithm_##name;
#define ADDRESS(name) &ccl_cuda_algorithm_##name,
#define ADDRESS_VOLUME(name) &ccl_cuda_volume_algorithm_##name,
#define NAME(name) #name,
#define NOTHING(name)

FRAME_ALGORITHMS (DECLARE, DECLARE)
VOLUME_ALGORITHMS (DECLARE_VOLUME, DECLARE_VOLUME)

#ifdef HAVE_PAPERS
static const CclCudaAlgorithm *const frame_algorithms[] = { FRAME_ALGORITHMS (ADDRESS, ADDRESS) };
static const CclCudaAlgorithm *const volume_algorithms[] = { VOLUME_ALGORITHMS (ADDRESS_VOLUME,
                                                                                ADDRESS_VOLUME) };
static const char *const missing[] = { NULL };
static const char *const missing_volumes[] = { NULL };
#else
static const CclCudaAlgorithm *const frame_algorithms[] = { FRAME_ALGORITHMS (ADDRESS, NOTHING) };
static const CclCudaAlgorithm *const volume_algorithms[] = { VOLUME_ALGORITHMS (ADDRESS_VOLUME,
                                                                                NOTHING) };
static const char *const missing[] = { FRAME_ALGORITHMS (NOTHING, NAME) NULL };
static const char *const missing_volumes[] = { VOLUME_ALGORITHMS (NOTHING, NAME) NULL };
#endif

#define LENGTH(array) (sizeof (array) / sizeof (array)[0])

const CclCudaAlgorithm *
ccl_cuda_algorithm (size_t index)
{
  return index < LENGTH (frame_algorithms) ? frame_algorithms[index] : NULL;
}

const CclCudaAlgorithm *
ccl_cuda_volume_algorithm (size_t index)
{
  return index < LENGTH (volume_algorithms) ? volume_algorithms[index] : NULL;
}

/* Whether @name is @symbol with hyphens. */
static bool
is_name_of (const char *name, const char *symbol)
{
  for (; *symbol && *name == (*symbol == '_' ? '-' : *symbol); symbol++)
    name++;
  return !*symbol && !*name;
}

bool
ccl_cuda_lacks (const char *name, bool volumes)
{
  const char *const *symbol = volumes ? missing_volumes : missing;

  while (*symbol && !is_name_of (name, *symbol))
    symbol++;
  return *symbol;
}
