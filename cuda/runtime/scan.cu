/* cudaccl - CUDA backend: CUB's scan
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/runtime/api.h"

#include <cub/device/device_scan.cuh>

extern "C" cudaError_t
ccl_cuda_exclusive_sum (void *scratch, size_t *scratch_size, uint64_t *counts, size_t n,
                        cudaStream_t stream)
{
  return cub::DeviceScan::ExclusiveSum (scratch, *scratch_size, counts, counts, n, stream);
}
