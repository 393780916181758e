/* cudaccl - CUDA backend: how a result reaches the host
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/download.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/error.h"

#define FIRST_TRANSFER 1024

/* Kernels write results of up to this many components straight to where the host reads them: 288
 * KiB, which the bus transfers in the time that a copy takes to start. */
#define MOST_MAPPED 4096

/* Allocates where kernels write header and components. */
static CclStatus
open_components (CclCudaDownload *self, size_t size, CclCudaResult *result)
{
  CclCudaMemory *memory = &self->queue->memory;
  size_t first = (1 + (size_t) self->first) * sizeof (CclComponent);
  CclStatus status = ccl_cuda_allocate_pinned (memory, &self->header, size);

  if (status == CCL_OK && self->mapped)
    status = ccl_cuda_map_pinned (self->header, &result->header);
  else if (status == CCL_OK)
    status = ccl_cuda_allocate_device (memory, &result->header, size);
  if (status != CCL_OK)
    return status;
  result->components = (CclComponent *) (result->header + 1);
  if (self->mapped)
    return CCL_OK;
  /* The first transfer reads past the end of a short result. */
  status =
      ccl_cuda_check (CCL_CUDA (cudaMemsetAsync, result->header, 0, first, self->queue->stream),
                      "clearing a frame's tables");
  return status == CCL_OK ? ccl_cuda_stream_new (&self->stream) : status;
}

static CclStatus
allocate_mask (const CclConfig *config, CclMask *mask, CclCudaMemory *memory)
{
  *mask = (CclMask){ .pitch = ccl_mask_words (config->width),
                     .width = config->width,
                     .height = config->height,
                     .memory = CCL_MEMORY_PINNED };
  return ccl_cuda_allocate_pinned (memory, &mask->words,
                                   mask->pitch * mask->height * sizeof *mask->words);
}

CclStatus
ccl_cuda_download_open (CclCudaDownload *self, CclCudaQueue *queue, const CclSession *session,
                        CclCudaResult *result)
{
  const CclConfig *config = &session->config;
  CclCudaMemory *memory = &queue->memory;
  uint32_t capacity = config->max_components;
  size_t bins = CCL_TOPK_BINS * sizeof *result->histogram;
  size_t map = (size_t) config->width * config->height * sizeof *result->label_map;
  const CclCudaTable tables[] = {
    { &result->histogram, bins },
    { &result->label_map, config->labels ? map : 0 },
  };
  CclStatus status = ccl_cuda_event_new (&self->ready, cudaEventDisableTiming);

  self->queue = queue;
  self->stream = queue->stream;
  self->mapped = capacity <= MOST_MAPPED;
  self->first = capacity < FIRST_TRANSFER ? capacity : FIRST_TRANSFER;
  if (status == CCL_OK)
    status = ccl_cuda_completion_open (&self->completion, config->sync, memory);
  if (status == CCL_OK)
    status = open_components (self, (1 + (size_t) capacity) * sizeof (CclComponent), result);
  if (status == CCL_OK)
    status = ccl_cuda_allocate_tables (memory, tables, 2);
  if (status == CCL_OK)
    status = ccl_cuda_allocate_pinned (memory, &self->histogram, bins);
  if (status == CCL_OK && config->labels)
    status = ccl_cuda_allocate_pinned (memory, &self->label_map, map);
  if (status == CCL_OK && config->mask)
    status = allocate_mask (config, &self->masks[0], memory);
  if (status == CCL_OK && config->motion && config->motion->shadows)
    status = allocate_mask (config, &self->masks[1], memory);
  if (status == CCL_OK && session->slices)
    status = ccl_cuda_allocate_pinned (memory, &self->slices, capacity * sizeof *self->slices);
  return status;
}

void
ccl_cuda_download_close (CclCudaDownload *self)
{
  if (self->queue && self->stream != self->queue->stream) {
    CCL_CUDA (cudaStreamSynchronize, self->stream);
    CCL_CUDA (cudaStreamDestroy, self->stream);
  }
  ccl_cuda_event_free (self->ready);
  ccl_cuda_completion_close (&self->completion);
}

cudaError_t
ccl_cuda_transfer (CclCudaDownload *self, const CclCudaResult *result, uint32_t from, uint32_t to)
{
  size_t skip = from == 0 ? 0 : from + 1; /* the header is as large as a component */
  cudaError_t error = CCL_CUDA (cudaEventRecord, self->ready, self->queue->stream);

  if (error == cudaSuccess)
    error = CCL_CUDA (cudaStreamWaitEvent, self->stream, self->ready, 0);
  if (error != cudaSuccess)
    return error;
  return CCL_CUDA (cudaMemcpyAsync, (CclComponent *) self->header + skip,
                   (CclComponent *) result->header + skip, (to + 1 - skip) * sizeof (CclComponent),
                   cudaMemcpyDeviceToHost, self->stream);
}

cudaError_t
ccl_cuda_transfer_first (CclCudaDownload *self, const CclCudaResult *result)
{
  return self->mapped ? cudaSuccess : ccl_cuda_transfer (self, result, 0, self->first);
}
