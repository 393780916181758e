/* cudaccl - CUDA backend: the table of algorithms
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/frame.h"

static const CclCudaAlgorithm algorithms[] = {
  {
      .info = { "flsl-cd",
                "FLSL with conflict detection: full runs, features summed up in each warp "
                "(Lemaitre et al. 2021)",
                CCL_BACKEND_CUDA, 4 | 8 },
      .uses_runs = true,
      .enqueue = ccl_cuda_flsl_cd,
  },
  {
      .info = { "ha4", "HA4: strips of bitmasks, two pixels a thread (Hennequin et al. 2018)",
                CCL_BACKEND_CUDA, 4 | 8 },
      .enqueue = ccl_cuda_ha4,
  },
};

const CclCudaAlgorithm *
ccl_cuda_algorithm (size_t index)
{
  return index < sizeof algorithms / sizeof algorithms[0] ? &algorithms[index] : NULL;
}
