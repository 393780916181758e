/* cudaccl - CUDA backend: how often components' features are updated
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/device/launch.cuh"
#include "cuda/stages/stages.h"

static __global__ void
sum_updates (const uint32_t *all, size_t n, unsigned long long *sums)
{
  size_t step = (size_t) gridDim.x * blockDim.x;
  unsigned long long sum = 0, squares = 0;

  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    unsigned long long updates = all[i];

    sum += updates;
    squares += updates * updates;
  }
  atomicAdd (&sums[0], sum);
  atomicAdd (&sums[1], squares);
}

static size_t
n_labels (const CclCudaWork *work)
{
  return (size_t) work->frame.height * work->components.slots;
}

extern "C" cudaError_t
ccl_cuda_updates_clear (const CclCudaWork *work, cudaStream_t stream)
{
  uint32_t *updates = work->components.updates;
  cudaError_t error;

  if (!updates)
    return cudaSuccess;
  error = CCL_CUDA (cudaMemsetAsync, work->update_sums, 0, 2 * sizeof *work->update_sums, stream);
  if (error != cudaSuccess)
    return error;
  return CCL_CUDA (cudaMemsetAsync, updates, 0, n_labels (work) * sizeof *updates, stream);
}

extern "C" cudaError_t
ccl_cuda_updates_sum (const CclCudaWork *work, cudaStream_t stream)
{
  cudaError_t error;

  if (!work->components.updates)
    return cudaSuccess;
  error = launch (sum_updates, 256, 256, 0, stream, work->components.updates, n_labels (work),
                  work->update_sums);
  ccl_cuda_stage (work, "counting", stream);
  return error;
}

extern "C" cudaError_t
ccl_cuda_finish (const CclCudaWork *work, cudaStream_t stream)
{
  cudaError_t error = ccl_cuda_updates_sum (work, stream);

  return error == cudaSuccess ? work->algorithm->select (work, stream) : error;
}
