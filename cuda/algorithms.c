/* cudaccl - CUDA backend: the table of algorithms
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/frame.h"

static const CclCudaAlgorithm algorithms[] = {
  {
      .info = { "tile",
                "Bits, runs and components of a tile in shared memory, then the seams between "
                "tiles",
                CCL_BACKEND_CUDA, 4 | 8 },
      .uses_tiles = true,
      .enqueue = ccl_cuda_tile,
      .compact = ccl_cuda_tile_compact,
      .histogram = ccl_cuda_tile_histogram,
      .paint = ccl_cuda_tile_paint,
  },
  {
      .info = { "flsl-cd",
                "FLSL with conflict detection: full runs, features summed up in each warp "
                "(Lemaitre et al. 2021)",
                CCL_BACKEND_CUDA, 4 | 8 },
      .uses_runs = true,
      .enqueue = ccl_cuda_flsl_cd,
      .compact = ccl_cuda_compact,
      .histogram = ccl_cuda_histogram,
      .paint = ccl_cuda_flsl_paint,
  },
  {
      .info = { "ha4", "HA4: strips of bitmasks, two pixels a thread (Hennequin et al. 2018)",
                CCL_BACKEND_CUDA, 4 | 8 },
      .enqueue = ccl_cuda_ha4,
      .compact = ccl_cuda_compact,
      .histogram = ccl_cuda_histogram,
      .paint = ccl_cuda_ha4_paint,
  },
};

const CclCudaAlgorithm *
ccl_cuda_algorithm (size_t index)
{
  return index < sizeof algorithms / sizeof algorithms[0] ? &algorithms[index] : NULL;
}
