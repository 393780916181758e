/* cudaccl - CUDA backend: batches of frames in device memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/stages/batch.h"
#include "cuda/session.h"

/* Uploads the addresses of the frames, and waits for their streams. */
static cudaError_t
enqueue_sources (CudaSession *self, const CclStack *stack)
{
  cudaError_t error = cudaSuccess;

  for (uint32_t i = 0; i < stack->n && error == cudaSuccess; i++) {
    const CclImage *image = &stack->images[i];

    self->sources_host[i] = (CclCudaSource){ image->data, image->stride };
    if (i == 0 || image->stream != stack->images[i - 1].stream)
      error = ccl_cuda_wait_for_pixels (self, image);
  }
  if (error != cudaSuccess)
    return error;
  return CCL_CUDA (cudaMemcpyAsync, self->sources, self->sources_host,
                   stack->n * sizeof *self->sources, cudaMemcpyHostToDevice, self->stream);
}

static CclStatus
stack_frames (CudaSession *self, const CclStack *stack)
{
  bool bits = stack->images[0].format == CCL_FORMAT_BITS;
  size_t pitch = ccl_cuda_image_pitch (self, bits);
  CclStatus status =
      ccl_cuda_stack_allocate (self, stack->frames, pitch * self->base.config.height);
  CclCudaStack rows;
  cudaError_t error;

  if (status != CCL_OK)
    return status;
  rows = (CclCudaStack){
    .to = self->image,
    .pitch = pitch,
    .width = self->base.config.width,
    .height = stack->height,
    .bits = bits,
    .sources = self->sources,
    .n = stack->n,
    .frames = stack->frames,
    .fill = stack->fill,
    .all_set = stack->all_set,
  };
  ccl_cuda_timing_begin (self);
  error = ccl_cuda_mark (self, EVENT_START);
  if (error == cudaSuccess)
    error = enqueue_sources (self, stack);
  if (error == cudaSuccess)
    error = ccl_cuda_stack_rows (&rows, self->stream);
  return ccl_cuda_check (error, "stacking the frames of a batch");
}

CclStatus
ccl_cuda_stack (CclSession *session, const CclStack *stack, CclImage *image)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->device.context);

  if (status != CCL_OK)
    return status;
  status = stack_frames (self, stack);
  if (status != CCL_OK)
    ccl_cuda_synchronize (self); /* the caller may free its pixels now */
  self->is_stacked = status == CCL_OK;
  *image = (CclImage){
    .data = self->image,
    .stride = ccl_cuda_image_pitch (self, stack->images[0].format == CCL_FORMAT_BITS),
    .memory = CCL_MEMORY_DEVICE,
    .format = stack->images[0].format,
  };
  ccl_cuda_context_leave ();
  return status;
}
