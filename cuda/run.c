/* cudaccl - CUDA backend: an algorithm, and what is measured of it
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/session.h"

cudaError_t
ccl_cuda_run (const CclCudaAlgorithm *algorithm, const CclCudaFrame *f, cudaStream_t stream)
{
  cudaError_t error = ccl_cuda_updates_clear (f, stream);

  if (error == cudaSuccess)
    error = algorithm->enqueue (f, stream);
  if (f->stages && f->stages->n == 0)
    ccl_cuda_stage (f, "components", stream);
  if (error == cudaSuccess && f->updates) {
    error = ccl_cuda_updates_sum (f, stream);
    ccl_cuda_stage (f, "counting", stream);
  }
  return error;
}

cudaError_t
ccl_cuda_updates_read (const CclCudaFrame *f, CclUpdates *updates, cudaStream_t stream)
{
  unsigned long long summed[2] = { 0, 0 };
  cudaError_t error;

  if (!f->updates)
    return cudaSuccess;
  error = cudaMemcpyAsync (summed, f->summed, sizeof summed, cudaMemcpyDeviceToHost, stream);
  if (error == cudaSuccess)
    error = cudaStreamSynchronize (stream);
  updates->count = summed[0];
  updates->conflicts = summed[0] ? (double) summed[1] / (double) summed[0] : 0;
  return error;
}
