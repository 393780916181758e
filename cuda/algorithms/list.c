/* cudaccl - CUDA backend: the list of algorithms
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/algorithms/algorithm.h"

/* The best first. */
#define FRAME_ALGORITHMS(X) \
  X (tile)                  \
  X (flsl_cd)               \
  X (flsl_otf)              \
  X (flsl)                  \
  X (ha4_otf)               \
  X (ha4_cd)                \
  X (ha4)                   \
  X (bke)                   \
  X (bke_ic)                \
  X (buf)                   \
  X (buf_ic)                \
  X (uf)                    \
  X (lbuf)                  \
  X (ke)                    \
  X (playne)                \
  X (dlp)                   \
  X (be)                    \
  X (label_equivalence)     \
  X (row_col_unify)         \
  X (ha4_32)                \
  X (naive)

#define VOLUME_ALGORITHMS(X) \
  X (buf)                    \
  X (bke)                    \
  X (buf_ic)                 \
  X (bke_ic)                 \
  X (be)                     \
  X (uf)

#define DECLARE(name) extern const CclCudaAlgorithm ccl_cuda_algorithm_##name;
#define DECLARE_VOLUME(name) extern const CclCudaAlgorithm ccl_cuda_volume_algorithm_##name;
#define ADDRESS(name) &ccl_cuda_algorithm_##name,
#define ADDRESS_VOLUME(name) &ccl_cuda_volume_algorithm_##name,

FRAME_ALGORITHMS (DECLARE)
VOLUME_ALGORITHMS (DECLARE_VOLUME)

static const CclCudaAlgorithm *const frame_algorithms[] = { FRAME_ALGORITHMS (ADDRESS) NULL };
static const CclCudaAlgorithm *const volume_algorithms[] = { VOLUME_ALGORITHMS (ADDRESS_VOLUME)
                                                                 NULL };

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
