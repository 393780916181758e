/* cudaccl - CUDA backend: how often features are brought to components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/device/bits.cuh"

static __global__ void
sum_updates (CclCudaFrame f)
{
  size_t n = (size_t) f.height * f.slots, step = (size_t) gridDim.x * blockDim.x;
  unsigned long long sum = 0, squares = 0;

  for (size_t i = (size_t) blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    unsigned long long updates = f.updates[i];

    sum += updates;
    squares += updates * updates;
  }
  atomicAdd (&f.summed[0], sum);
  atomicAdd (&f.summed[1], squares);
}

extern "C" cudaError_t
ccl_cuda_updates_clear (const CclCudaFrame *f, cudaStream_t stream)
{
  cudaError_t error;

  if (!f->updates)
    return cudaSuccess;
  error = cudaMemsetAsync (f->summed, 0, 2 * sizeof *f->summed, stream);
  if (error != cudaSuccess)
    return error;
  return cudaMemsetAsync (f->updates, 0, (size_t) f->height * f->slots * sizeof *f->updates,
                          stream);
}

extern "C" cudaError_t
ccl_cuda_updates_sum (const CclCudaFrame *f, cudaStream_t stream)
{
  if (!f->updates)
    return cudaSuccess;
  sum_updates<<<256, 256, 0, stream>>> (*f);
  return cudaGetLastError ();
}
