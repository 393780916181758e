/* cudaccl - CUDA backend: how pixels reach kernels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/session.h"

#include <limits.h>
#include <string.h>

/* The staging buffer is filled and sent in bands of about this many bytes, so that the copy into it
 * overlaps with the transfer. */
#define BAND_BYTES (512 * 1024)

/* Enqueues the copy of @rows rows of the frame to the device. */
static cudaError_t
copy_rows (CudaSession *self, uint8_t *to, const uint8_t *from, size_t stride, uint32_t rows)
{
  size_t width = self->base.config.width, pitch = self->image_pitch;
  cudaError_t error = cudaSuccess;

  if (rows > 1 && pitch <= INT_MAX && stride <= INT_MAX)
    return cudaMemcpy2DAsync (to, pitch, from, stride, width, rows, cudaMemcpyHostToDevice,
                              self->stream);
  /* Such pitches exceed a device's memPitch. */
  for (uint32_t y = 0; y < rows && error == cudaSuccess; y++)
    error = cudaMemcpyAsync (to + y * pitch, from + y * stride, width, cudaMemcpyHostToDevice,
                             self->stream);
  return error;
}

/* Copies pageable pixels to the device through the staging buffer. */
static cudaError_t
upload_staged (CudaSession *self, const CclImage *image)
{
  const CclConfig *config = &self->base.config;
  size_t pitch = self->image_pitch;
  uint32_t band = pitch < BAND_BYTES ? (uint32_t) (BAND_BYTES / pitch) : 1;
  cudaError_t error = cudaSuccess;

  for (uint32_t y = 0; y < config->height && error == cudaSuccess;) {
    uint32_t rows = config->height - y < band ? config->height - y : band;
    size_t offset = y * pitch;

    for (uint32_t end = y + rows; y < end; y++)
      memcpy (self->staging + y * pitch, image->data + y * image->stride, config->width);
    /* Without the last row's padding, which is uninitialised. */
    error = copy_rows (self, self->image + offset, self->staging + offset, pitch, rows);
  }
  return error;
}

/* The address by which kernels read page-locked memory. */
static cudaError_t
map_pinned (const CclImage *image, const uint8_t **pixels)
{
  void *device;
  cudaError_t error = cudaHostGetDevicePointer (&device, (void *) image->data, 0);

  *pixels = device;
  return error;
}

cudaError_t
ccl_cuda_wait_for_pixels (CudaSession *self, const CclImage *image)
{
  cudaError_t error;

  if (!image->stream)
    return cudaSuccess;
  error = cudaEventRecord (self->events[EVENT_READY], image->stream);
  return error == cudaSuccess ? cudaStreamWaitEvent (self->stream, self->events[EVENT_READY], 0)
                              : error;
}

/* Kernels read pixels by address, and those of an array have none. */
static cudaError_t
copy_array (CudaSession *self, const CclImage *image)
{
  const CclConfig *config = &self->base.config;
  cudaError_t error = ccl_cuda_wait_for_pixels (self, image);

  return error == cudaSuccess
             ? cudaMemcpy2DFromArrayAsync (
                   self->image, self->image_pitch, (cudaArray_const_t) (const void *) image->data,
                   0, 0, config->width, config->height, cudaMemcpyDeviceToDevice, self->stream)
             : error;
}

CclStatus
ccl_cuda_upload (CudaSession *self, const CclImage *image)
{
  const CclConfig *config = &self->base.config;
  cudaError_t error = cudaSuccess;

  self->work.frame.pixels = self->image;
  self->work.frame.pitch = self->image_pitch;
  switch (image->memory) {
  case CCL_MEMORY_HOST:
    error = upload_staged (self, image);
    break;
  case CCL_MEMORY_PINNED:
    if (self->reads_pinned) {
      self->work.frame.pitch = image->stride;
      error = map_pinned (image, &self->work.frame.pixels);
    } else
      error = copy_rows (self, self->image, image->data, image->stride, config->height);
    break;
  case CCL_MEMORY_DEVICE:
    self->work.frame.pixels = image->data;
    self->work.frame.pitch = image->stride;
    error = ccl_cuda_wait_for_pixels (self, image);
    break;
  case CCL_MEMORY_ARRAY:
    error = copy_array (self, image);
    break;
  }
  return ccl_cuda_check (error, "transferring a frame to the device");
}
