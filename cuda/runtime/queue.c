/* cudaccl - CUDA backend: a stream on a device, and its memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/runtime/queue.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/context.h"
#include "cuda/runtime/error.h"

CclStatus
ccl_cuda_stream_new (cudaStream_t *stream)
{
  cudaStream_t created;
  CclStatus status = ccl_cuda_check (
      CCL_CUDA (cudaStreamCreateWithFlags, &created, cudaStreamNonBlocking), "creating a stream");

  if (status == CCL_OK)
    *stream = created;
  return status;
}

CclStatus
ccl_cuda_event_new (cudaEvent_t *event, unsigned flags)
{
  cudaEvent_t created;
  CclStatus status =
      ccl_cuda_check (CCL_CUDA (cudaEventCreateWithFlags, &created, flags), "creating an event");

  if (status == CCL_OK)
    *event = created;
  return status;
}

void
ccl_cuda_event_free (cudaEvent_t event)
{
  if (event)
    CCL_CUDA (cudaEventDestroy, event);
}

uint64_t
ccl_cuda_nanoseconds (cudaEvent_t from, cudaEvent_t to)
{
  float milliseconds = 0;

  if (CCL_CUDA (cudaEventElapsedTime, &milliseconds, from, to) != cudaSuccess) {
    ccl_cuda_api.cudaGetLastError ();
    return 0;
  }
  return (uint64_t) ((double) milliseconds * 1e6);
}

CclStatus
ccl_cuda_queue_open (CclCudaQueue *self, int device, void *context, CclAccount *account)
{
  CclStatus status = ccl_cuda_device_open (device, context, &self->device);

  if (status != CCL_OK)
    return status;
  self->memory.account = account;
  status = ccl_cuda_stream_new (&self->stream);
  self->memory.stream = self->stream;
  if (status == CCL_OK)
    status = ccl_cuda_event_new (&self->ready, cudaEventDisableTiming);
  if (status != CCL_OK)
    ccl_cuda_context_leave ();
  return status;
}

void
ccl_cuda_queue_close (CclCudaQueue *self)
{
  if (self->stream)
    CCL_CUDA (cudaStreamSynchronize, self->stream);
  ccl_cuda_memory_free (&self->memory);
  ccl_cuda_event_free (self->ready);
  if (self->stream)
    CCL_CUDA (cudaStreamDestroy, self->stream);
  ccl_cuda_api.cudaGetLastError ();
}

cudaError_t
ccl_cuda_queue_wait (CclCudaQueue *self, cudaStream_t stream)
{
  cudaError_t error;

  if (!stream || stream == self->stream)
    return cudaSuccess;
  error = CCL_CUDA (cudaEventRecord, self->ready, stream);
  return error == cudaSuccess ? CCL_CUDA (cudaStreamWaitEvent, self->stream, self->ready, 0)
                              : error;
}

cudaError_t
ccl_cuda_queue_read (CclCudaQueue *self, void *to, const void *from, size_t size)
{
  cudaError_t error =
      CCL_CUDA (cudaMemcpyAsync, to, from, size, cudaMemcpyDeviceToHost, self->stream);

  return error == cudaSuccess ? CCL_CUDA (cudaStreamSynchronize, self->stream) : error;
}
