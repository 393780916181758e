/* cudaccl - CUDA backend: running an algorithm, from pixels to the result
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/session.h"

cudaError_t
ccl_cuda_mark (CudaSession *self, int event)
{
  /* In a capture: records the event each time the graph runs, rather than a dependency. */
  unsigned flags = self->capturing ? cudaEventRecordExternal : cudaEventRecordDefault;

  if (!self->timed)
    return cudaSuccess;
  return CCL_CUDA (cudaEventRecordWithFlags, self->events[event], self->stream, flags);
}

cudaError_t
ccl_cuda_enqueue_frame (CudaSession *self)
{
  const CclCudaWork *work = &self->work;
  cudaError_t error = ccl_cuda_mark (self, self->model.base ? EVENT_MODELLED : EVENT_UPLOADED);

  if (error == cudaSuccess)
    error = ccl_cuda_updates_clear (work, self->stream);
  if (error == cudaSuccess && self->operations.n > 0) {
    error = ccl_cuda_operations_enqueue (&self->operations, &self->source, self->stream);
    ccl_cuda_stage (work, "operations", self->stream);
  }
  self->stages.operations = self->stages.n;
  if (error == cudaSuccess)
    error = work->algorithm->enqueue (work, self->stream);
  return error == cudaSuccess ? ccl_cuda_mark (self, EVENT_ANALYSED) : error;
}

cudaError_t
ccl_cuda_finish (const CclCudaWork *work, cudaStream_t stream)
{
  cudaError_t error = ccl_cuda_updates_sum (work, stream);

  return error == cudaSuccess ? work->algorithm->select (work, stream) : error;
}

cudaError_t
ccl_cuda_enqueue_select (CudaSession *self)
{
  const CclCudaWork *work = &self->work;
  cudaError_t error = work->algorithm->select (work, self->stream);

  return error == cudaSuccess ? ccl_cuda_mark (self, EVENT_ANALYSED) : error;
}

cudaError_t
ccl_cuda_enqueue_transfer (CudaSession *self, uint32_t from, uint32_t to)
{
  size_t skip = from == 0 ? 0 : from + 1; /* the header is as large as a component */
  cudaError_t error = CCL_CUDA (cudaEventRecord, self->events[EVENT_RESULT], self->stream);

  if (error == cudaSuccess)
    error = CCL_CUDA (cudaStreamWaitEvent, self->results, self->events[EVENT_RESULT], 0);
  if (error != cudaSuccess)
    return error;
  return CCL_CUDA (cudaMemcpyAsync, (CclComponent *) self->result + skip,
                   (CclComponent *) self->work.result.header + skip,
                   (to + 1 - skip) * sizeof (CclComponent), cudaMemcpyDeviceToHost, self->results);
}

cudaError_t
ccl_cuda_enqueue_first_transfer (CudaSession *self)
{
  if (self->result_is_mapped)
    return cudaSuccess;
  return ccl_cuda_enqueue_transfer (self, 0, ccl_cuda_first_transfer (self));
}

cudaError_t
ccl_cuda_updates_read (CudaSession *self)
{
  CclUpdates *updates = &self->base.updates;
  unsigned long long sums[2] = { 0, 0 };
  cudaError_t error;

  if (!self->work.update_sums)
    return cudaSuccess;
  error = CCL_CUDA (cudaMemcpyAsync, sums, self->work.update_sums, sizeof sums,
                    cudaMemcpyDeviceToHost, self->stream);
  if (error == cudaSuccess)
    error = CCL_CUDA (cudaStreamSynchronize, self->stream);
  updates->count = sums[0];
  updates->conflicts = sums[0] ? (double) sums[1] / (double) sums[0] : 0;
  return error;
}
