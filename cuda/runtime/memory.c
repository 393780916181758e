/* cudaccl - CUDA backend: the memory of a session
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/session.h"

#include <assert.h>

#define FIRST_TRANSFER 1024

/* Kernels write results of up to this many components straight to where the host reads them: 288
 * KiB, which the bus transfers in the time that a copy takes to start. */
#define MOST_MAPPED 4096

uint32_t
ccl_cuda_first_transfer (const CudaSession *self)
{
  uint32_t capacity = self->base.config.max_components;

  return capacity < FIRST_TRANSFER ? capacity : FIRST_TRANSFER;
}

static void
count_allocation (CclCudaMemory *memory, size_t size)
{
  memory->account->allocations++;
  memory->account->bytes += size;
}

/* A failed call may store anything, so the functions here store results only on success. */

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

CclStatus
ccl_cuda_allocate_device (CclCudaMemory *memory, void *pointer, size_t size)
{
  void *allocated;
  CclStatus status =
      ccl_cuda_check (CCL_CUDA (cudaMalloc, &allocated, size), "allocating a frame's tables");

  if (status != CCL_OK)
    return status;
  assert (memory->n_device < CCL_CUDA_MAX_ALLOCATIONS);
  *(void **) pointer = memory->device[memory->n_device++] = allocated;
  count_allocation (memory, size);
  return CCL_OK;
}

CclStatus
ccl_cuda_allocate_cleared (CclCudaMemory *memory, void *pointer, size_t size)
{
  CclStatus status = ccl_cuda_allocate_device (memory, pointer, size);

  if (status != CCL_OK)
    return status;
  return ccl_cuda_check (CCL_CUDA (cudaMemsetAsync, *(void **) pointer, 0, size, memory->stream),
                         "clearing a frame's tables");
}

CclStatus
ccl_cuda_allocate_pinned (CclCudaMemory *memory, void *pointer, size_t size)
{
  void *allocated;
  CclStatus status = ccl_cuda_check (
      CCL_CUDA (cudaHostAlloc, &allocated, size, cudaHostAllocMapped), "allocating pinned memory");

  if (status != CCL_OK)
    return status;
  assert (memory->n_pinned < CCL_CUDA_MAX_ALLOCATIONS);
  *(void **) pointer = memory->pinned[memory->n_pinned++] = allocated;
  count_allocation (memory, size);
  return CCL_OK;
}

void
ccl_cuda_memory_free (CclCudaMemory *memory)
{
  while (memory->n_device > 0)
    CCL_CUDA (cudaFree, memory->device[--memory->n_device]);
  while (memory->n_pinned > 0)
    CCL_CUDA (cudaFreeHost, memory->pinned[--memory->n_pinned]);
}

static CclStatus
allocate_mask (CudaSession *self, CclMask *mask)
{
  const CclConfig *config = &self->base.config;

  *mask = (CclMask){ .pitch = ccl_mask_words (config->width),
                     .width = config->width,
                     .height = config->height,
                     .memory = CCL_MEMORY_PINNED };
  return ccl_cuda_allocate_pinned (&self->memory, &mask->words,
                                   mask->pitch * mask->height * sizeof *mask->words);
}

/* Allocates where kernels write the result, and where the host reads it. */
CclStatus
ccl_cuda_result_allocate (CudaSession *self)
{
  const CclConfig *config = &self->base.config;
  CclCudaResult *r = &self->work.result;
  uint32_t capacity = config->max_components;
  size_t size = sizeof (CclResultHeader) + capacity * sizeof (CclComponent);
  size_t first = (1 + (size_t) ccl_cuda_first_transfer (self)) * sizeof (CclComponent);
  size_t bins = CCL_TOPK_BINS * sizeof *r->histogram, map = ccl_cuda_label_map_size (config);
  CclStatus status = ccl_cuda_allocate_pinned (&self->memory, &self->result, size);

  self->result_is_mapped = capacity <= MOST_MAPPED;
  if (status != CCL_OK)
    return status;
  if (self->result_is_mapped)
    status =
        ccl_cuda_check (CCL_CUDA (cudaHostGetDevicePointer, (void **) &r->header, self->result, 0),
                        "mapping pinned memory");
  else
    status = ccl_cuda_allocate_device (&self->memory, &r->header, size);
  /* The first transfer reads past the end of a short result. */
  if (status == CCL_OK && !self->result_is_mapped)
    status = ccl_cuda_check (CCL_CUDA (cudaMemsetAsync, r->header, 0, first, self->stream),
                             "clearing a frame's tables");
  if (status == CCL_OK && !self->result_is_mapped)
    status = ccl_cuda_stream_new (&self->results);
  r->components = (CclComponent *) (r->header + 1);
  if (status == CCL_OK)
    status = ccl_cuda_allocate_device (&self->memory, &r->histogram, bins);
  if (status == CCL_OK)
    status = ccl_cuda_allocate_pinned (&self->memory, &self->histogram, bins);
  if (status == CCL_OK && config->labels)
    status = ccl_cuda_allocate_device (&self->memory, &r->label_map, map);
  if (status == CCL_OK && config->labels)
    status = ccl_cuda_allocate_pinned (&self->memory, &self->label_map, map);
  if (status == CCL_OK && config->mask)
    status = allocate_mask (self, &self->masks[0]);
  if (status == CCL_OK && config->motion && config->motion->shadows)
    status = allocate_mask (self, &self->masks[1]);
  if (status == CCL_OK && self->base.slices)
    status =
        ccl_cuda_allocate_pinned (&self->memory, &self->slices, capacity * sizeof *self->slices);
  return status;
}

CclStatus
ccl_cuda_image_allocate (CudaSession *self, size_t size)
{
  CclStatus status = CCL_OK;

  if (self->image_size < size)
    status = ccl_cuda_allocate_device (&self->memory, &self->image, size);
  if (status == CCL_OK && self->image_size < size)
    self->image_size = size;
  return status;
}

CclStatus
ccl_cuda_staging_allocate (CudaSession *self, size_t size)
{
  CclStatus status = CCL_OK;

  if (self->staging_size < size)
    status = ccl_cuda_allocate_pinned (&self->memory, &self->staging, size);
  if (status == CCL_OK && self->staging_size < size)
    self->staging_size = size;
  return status;
}

CclStatus
ccl_cuda_stack_allocate (CudaSession *self, uint32_t frames, size_t size)
{
  CclStatus status = ccl_cuda_image_allocate (self, size);

  if (status == CCL_OK && !self->sources)
    status =
        ccl_cuda_allocate_device (&self->memory, &self->sources, frames * sizeof *self->sources);
  if (status == CCL_OK && !self->sources_host)
    status = ccl_cuda_allocate_pinned (&self->memory, &self->sources_host,
                                       frames * sizeof *self->sources_host);
  return status;
}
