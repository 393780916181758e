/* cudaccl - CUDA backend: crops
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/crops/crops.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/context.h"
#include "cuda/runtime/error.h"
#include "cuda/runtime/queue.h"

#include <stdlib.h>

struct CclDeviceCropper
{
  CclCudaQueue queue;
  uint32_t width, height;
  uint8_t fill;
  uint8_t *drawn, *picture; /* on the device, and pinned */
  uint8_t *frame;           /* a copy of a frame in arrays; NULL before the first */
  size_t frame_size;
};

static CclStatus
allocate (CclDeviceCropper *self)
{
  const size_t size = 3 * (size_t) self->width * self->height;
  CclStatus status = ccl_cuda_allocate_device (&self->queue.memory, &self->drawn, size);

  return status == CCL_OK ? ccl_cuda_allocate_pinned (&self->queue.memory, &self->picture, size)
                          : status;
}

CclStatus
ccl_cuda_cropper_open (const CclCropperConfig *config, CclAccount *account,
                       CclDeviceCropper **cropper)
{
  CclDeviceCropper *self = calloc (1, sizeof *self);
  CclStatus status;

  if (!self)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a cropper");
  self->width = config->width;
  self->height = config->height;
  self->fill = config->fill;
  status = ccl_cuda_queue_open (&self->queue, config->device, config->cuda_context, account);
  if (status == CCL_OK) {
    status = allocate (self);
    ccl_cuda_context_leave ();
  }
  if (status == CCL_OK)
    *cropper = self;
  else
    ccl_cuda_cropper_close (self);
  return status;
}

void
ccl_cuda_cropper_close (CclDeviceCropper *self)
{
  if (self->queue.device.context && ccl_cuda_context_enter (self->queue.device.context) == CCL_OK) {
    ccl_cuda_queue_close (&self->queue);
    ccl_cuda_context_leave ();
  }
  free (self);
}

/* Makes room for a frame whose chroma has rows of @row bytes. */
static CclStatus
ensure_frame (CclDeviceCropper *self, size_t size)
{
  CclStatus status;

  if (size <= self->frame_size)
    return CCL_OK;
  status = ccl_cuda_allocate_device (&self->queue.memory, &self->frame, size);
  if (status == CCL_OK)
    self->frame_size = size;
  return status;
}

static cudaError_t
copy_plane (CclDeviceCropper *self, CclCropPlane *plane, size_t offset, size_t row, size_t rows)
{
  uint8_t *to = self->frame + offset;
  cudaError_t error = CCL_CUDA (cudaMemcpy2DFromArrayAsync, to, row,
                                (cudaArray_const_t) (const void *) plane->samples, 0, 0, row, rows,
                                cudaMemcpyDeviceToDevice, self->queue.stream);

  plane->samples = to;
  plane->stride = row;
  return error;
}

/* Kernels read pixels by address, which pixels of an array do not have. Of alternating chroma, both
 * planes are the same array. */
static CclStatus
copy_arrays (CclDeviceCropper *self, CclCropTask *task)
{
  const size_t width = task->width, height = task->height, half = (height + 1) / 2;
  const size_t row = (width + 1) / 2 * task->planes[1].step;
  const bool pairs = task->planes[1].step == 2;
  const size_t chroma = task->planes[1].samples ? row * half : 0;
  CclStatus status = ensure_frame (self, width * height + (pairs ? 1 : 2) * chroma);
  cudaError_t error;

  if (status != CCL_OK)
    return status;
  error = copy_plane (self, &task->planes[0], 0, width, height);
  if (chroma && error == cudaSuccess)
    error = copy_plane (self, &task->planes[1], width * height, row, half);
  if (chroma && pairs) {
    task->planes[2] = task->planes[1];
    task->planes[2].samples++;
  } else if (chroma && error == cudaSuccess) {
    error = copy_plane (self, &task->planes[2], width * height + chroma, row, half);
  }
  return ccl_cuda_check (error, "copying a frame");
}

static cudaError_t
wait_for_planes (CclDeviceCropper *self, const CclImage *image)
{
  cudaError_t error = ccl_cuda_queue_wait (&self->queue, image->stream);

  for (int i = 0; i < 2 && image->chroma && error == cudaSuccess; i++)
    if (image->chroma->planes[i].stream != image->stream)
      error = ccl_cuda_queue_wait (&self->queue, image->chroma->planes[i].stream);
  return error;
}

static CclStatus
draw (CclDeviceCropper *self, const CclImage *image, CclCropTask *task)
{
  CclStatus status = ccl_cuda_check (wait_for_planes (self, image), "waiting for a frame");
  cudaError_t error;

  if (status == CCL_OK && image->memory == CCL_MEMORY_ARRAY)
    status = copy_arrays (self, task);
  if (status != CCL_OK)
    return status;
  error = ccl_cuda_crops_draw (task, self->width, self->height, self->fill, self->drawn,
                               self->queue.stream);
  if (error == cudaSuccess)
    error = ccl_cuda_queue_read (&self->queue, self->picture, self->drawn,
                                 3 * (size_t) self->width * self->height);
  return ccl_cuda_check (error, "drawing crops");
}

CclStatus
ccl_cuda_cropper_draw (CclDeviceCropper *self, const CclImage *image, CclCropTask *task,
                       const uint8_t **picture)
{
  CclStatus status = ccl_cuda_context_enter (self->queue.device.context);

  if (status != CCL_OK)
    return status;
  status = draw (self, image, task);
  if (status != CCL_OK) {
    /* The device may still read the frame. */
    CCL_CUDA (cudaStreamSynchronize, self->queue.stream);
    ccl_cuda_api.cudaGetLastError ();
  }
  ccl_cuda_context_leave ();
  *picture = self->picture;
  return status;
}
