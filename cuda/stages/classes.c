/* cudaccl - CUDA backend: frames of classes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/stages/classes.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/error.h"

/* Copies the caller's region, and waits for the copy. */
static CclStatus
copy_region (CclCudaClasses *self, const CclMask *region, CclCudaQueue *queue)
{
  const size_t row = self->pitch * sizeof *self->region;
  CclStatus status = ccl_cuda_allocate_device (&queue->memory, &self->region, row * region->height);
  cudaError_t error;

  if (status != CCL_OK)
    return status;
  error = CCL_CUDA (cudaMemcpy2DAsync, self->region, row, region->words,
                    region->pitch * sizeof *region->words, row, region->height,
                    cudaMemcpyHostToDevice, queue->stream);
  if (error == cudaSuccess)
    error = CCL_CUDA (cudaStreamSynchronize, queue->stream);
  self->source.region = self->region;
  self->source.region_pitch = self->pitch;
  return ccl_cuda_check (error, "copying the region");
}

CclStatus
ccl_cuda_classes_open (CclCudaClasses *self, CclSession *session, CclCudaQueue *queue)
{
  const CclConfig *config = &session->config;
  size_t words;
  CclStatus status;

  self->pitch = 2 * ccl_mask_words (config->width);
  words = CCL_CLASS_PLANES * self->pitch * config->height;
  status = ccl_cuda_allocate_device (&queue->memory, &self->planes, words * sizeof *self->planes);
  if (status != CCL_OK || session->slices > 0)
    return status;
  session->values = ccl_account_malloc (&session->account, config->max_components,
                                        sizeof *session->values, "the values of components");
  if (!session->values)
    return CCL_ERROR_NO_MEMORY;
  status = ccl_cuda_allocate_device (&queue->memory, &self->values,
                                     config->max_components * sizeof *self->values);
  return status == CCL_OK && config->region ? copy_region (self, config->region, queue) : status;
}

CclCudaFrame
ccl_cuda_classes_take (CclCudaClasses *self, const CclCudaFrame *frame, CclFormat format)
{
  CclCudaFrame bits = *frame;

  self->source.pixels = frame->pixels;
  self->source.pitch = frame->pitch;
  self->source.width = frame->width;
  self->source.height = frame->height;
  self->source.size = (uint8_t) ccl_class_size (format);
  self->source.big_endian = format == CCL_FORMAT_GRAY16_BE;
  bits.pixels = (const uint8_t *) self->planes;
  bits.pitch = self->pitch * sizeof *self->planes;
  bits.threshold = 0;
  bits.highest = UINT8_MAX;
  bits.invert = 0;
  bits.bits = 1;
  return bits;
}

CclStatus
ccl_cuda_classes_read (const CclCudaClasses *self, CclSession *session, CclCudaQueue *queue,
                       const CclComponent *components, uint32_t count)
{
  CclStatus status;

  if (count > session->config.max_components) /* from a broken device */
    count = session->config.max_components;
  if (count == 0)
    return CCL_OK;
  status = ccl_cuda_check (
      ccl_cuda_gather_values (&self->source, components, count, self->values, queue->stream),
      "gathering values");
  return status == CCL_OK
             ? ccl_cuda_check (ccl_cuda_queue_read (queue, session->values, self->values,
                                                    count * sizeof *self->values),
                               "transferring values")
             : status;
}
