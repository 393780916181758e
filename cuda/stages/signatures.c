/* cudaccl - CUDA backend: colour signatures of boxes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/stages/signatures.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/error.h"

#include <string.h>

/* Allocates what is still missing, if an allocation failed before. */
static CclStatus
allocate (CclCudaSignatures *self, CclCudaQueue *queue)
{
  CclCudaMemory *memory = &queue->memory;
  const size_t boxes = CCL_CUDA_SIGNATURES * sizeof *self->boxes;
  const size_t found = CCL_CUDA_SIGNATURES * sizeof *self->found;
  CclStatus status = CCL_OK;

  if (!self->boxes)
    status = ccl_cuda_allocate_device (memory, &self->boxes, boxes);
  if (status == CCL_OK && !self->found)
    status = ccl_cuda_allocate_device (memory, &self->found, found);
  if (status == CCL_OK && !self->host_boxes)
    status = ccl_cuda_allocate_pinned (memory, &self->host_boxes, boxes);
  if (status == CCL_OK && !self->host)
    status = ccl_cuda_allocate_pinned (memory, &self->host, found);
  return status;
}

CclStatus
ccl_cuda_signatures_find (CclCudaSignatures *self, CclCudaQueue *queue, const CclBox *boxes,
                          uint32_t n, CclSignature *signatures)
{
  CclStatus status = allocate (self, queue);

  for (uint32_t first = 0, k; first < n && status == CCL_OK; first += k) {
    cudaError_t error;

    k = n - first < CCL_CUDA_SIGNATURES ? n - first : CCL_CUDA_SIGNATURES;
    memcpy (self->host_boxes, boxes + first, k * sizeof *boxes);
    error = CCL_CUDA (cudaMemcpyAsync, self->boxes, self->host_boxes, k * sizeof *boxes,
                      cudaMemcpyHostToDevice, queue->stream);
    if (error == cudaSuccess)
      error = ccl_cuda_find_signatures (&self->frame, self->boxes, k, self->found, queue->stream);
    status = ccl_cuda_check (error, "finding signatures");
    if (status == CCL_OK)
      status = ccl_cuda_check (
          ccl_cuda_queue_read (queue, self->host, self->found, k * sizeof *signatures),
          "transferring signatures");
    if (status == CCL_OK)
      memcpy (signatures + first, self->host, k * sizeof *signatures);
  }
  return status;
}
