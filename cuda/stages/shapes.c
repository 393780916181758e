/* cudaccl - CUDA backend: shapes of components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/stages/shapes.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/error.h"

CclStatus
ccl_cuda_shapes_open (CclCudaShapes *self, CclSession *session, CclCudaQueue *queue)
{
  size_t capacity = session->config.max_components;
  CclStatus status;

  session->shapes = ccl_account_malloc (&session->account, capacity, sizeof *session->shapes,
                                        "the shapes of a frame");
  if (!session->shapes)
    return CCL_ERROR_NO_MEMORY;
  status = ccl_cuda_allocate_device (&queue->memory, &self->sums, capacity * sizeof *self->sums);
  if (status == CCL_OK)
    status = ccl_cuda_allocate_pinned (&queue->memory, &self->host, capacity * sizeof *self->host);
  return status;
}

/* Fills in the shape's fields that come from the device. */
static CclShape
make_shape (const CclCudaShape *sums, unsigned wanted)
{
  bool luma = wanted & CCL_SHAPES_LUMA;

  return (CclShape){
    .edges = sums->edges,
    .luma = sums->luma,
    .euler = (int64_t) sums->euler,
    .straight = sums->straight,
    .diagonal = sums->diagonal,
    .turning = sums->turning,
    .luma_min = luma ? (uint8_t) (UINT8_MAX - sums->darkness) : 0,
    .luma_max = (uint8_t) sums->brightness,
  };
}

CclStatus
ccl_cuda_shapes_find (const CclCudaShapes *self, CclSession *session, CclCudaQueue *queue,
                      const uint32_t *label_map, uint32_t count)
{
  const CclConfig *config = &session->config;
  const CclShapeFrame frame = { .labels = label_map,
                                .width = config->width,
                                .height = config->height,
                                .luma = self->luma,
                                .pitch = self->pitch,
                                .connectivity = config->connectivity,
                                .wanted = config->shapes };
  size_t size;
  cudaError_t error;
  CclStatus status;

  if (count > config->max_components) /* from a broken device */
    count = config->max_components;
  if (count == 0)
    return CCL_OK;
  size = count * sizeof *self->sums;
  error = CCL_CUDA (cudaMemsetAsync, self->sums, 0, size, queue->stream);
  if (error == cudaSuccess)
    error = ccl_cuda_sum_shapes (&frame, self->sums, queue->stream);
  status = ccl_cuda_check (error, "finding shapes");
  if (status == CCL_OK)
    status = ccl_cuda_check (ccl_cuda_queue_read (queue, self->host, self->sums, size),
                             "transferring shapes");
  for (uint32_t i = 0; status == CCL_OK && i < count; i++)
    session->shapes[i] = make_shape (&self->host[i], config->shapes);
  return status;
}
