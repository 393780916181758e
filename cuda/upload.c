/* cudaccl - CUDA backend: how pixels reach kernels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/cpu/pool.h"
#include "engine/cpu/tuning.h"
#include "cuda/session.h"

#include <limits.h>
#include <string.h>

/* The staging buffer is filled and sent in bands of about this many bytes, so that the copy into it
 * overlaps with the transfer. */
#define BAND_BYTES (512 * 1024)

/* The same for bits, which stand for eight times as many pixels to pack. */
#define BITS_BAND_BYTES (128 * 1024)

/* Kernels that read a frame once read up to this many bytes of bits from the staging buffer: the
 * bus transfers them in less time than a copy takes to start. */
#define MOST_READ_IN_PLACE (512 * 1024)

/* Threads that share the staging take about this many bytes of pixels at a time. */
#define PART_BYTES (128 * 1024)

/* How a frame reaches kernels. */
typedef struct Route
{
  bool bits;   /* what they read */
  bool packed; /* by the CPU, from bytes */
  bool staged; /* through pinned memory of the session */
  bool copied; /* to the session's image on the device */
} Route;

/* Whether the CPU packs pixels of such memory. Pageable pixels have to be copied into pinned
 * memory anyway: packing reads as much, writes an eighth, and leaves an eighth to transfer.
 * Pinned pixels can be transferred without the CPU, which is faster than packing on one core:
 * they are packed only with CCL_UPLOAD_BITS, for users who lack bus bandwidth rather than CPU
 * time. */
static bool
packs (const CudaSession *self, CclMemory memory)
{
  switch (self->base.config.upload) {
  case CCL_UPLOAD_BITS:
    return memory == CCL_MEMORY_HOST || memory == CCL_MEMORY_PINNED;
  case CCL_UPLOAD_AUTO:
    return memory == CCL_MEMORY_HOST;
  case CCL_UPLOAD_PIXELS:
    break;
  }
  return false;
}

/* CclInfo.upload */
static const char *
route_name (const Route *route, CclMemory memory)
{
  if (memory == CCL_MEMORY_DEVICE || memory == CCL_MEMORY_ARRAY)
    return NULL;
  return route->bits ? "bits" : "pixels";
}

/* The bytes of a row. */
static size_t
row_size (const CudaSession *self, bool bits)
{
  uint32_t width = self->base.config.width;

  return bits ? ccl_mask_words (width) * sizeof (uint64_t) : width;
}

size_t
ccl_cuda_image_pitch (const CudaSession *self, bool bits)
{
  return bits ? row_size (self, true) : (row_size (self, false) + 15) / 16 * 16;
}

/* Whether kernels read bits in the staging buffer: where that is the device's own memory, and small
 * frames that they read once, as the tile algorithm does without label maps, but operations do not.
 */
static bool
reads_staging (const CudaSession *self)
{
  return self->device.shares_memory ||
         (self->operations.n == 0 && self->work.algorithm == ccl_cuda_tile_algorithm () &&
          !self->base.config.labels &&
          row_size (self, true) * self->base.config.height <= MOST_READ_IN_PLACE);
}

static Route
route_of (const CudaSession *self, const CclImage *image)
{
  Route route = { .bits = image->format == CCL_FORMAT_BITS };

  if (!route.bits)
    route.packed = route.bits = packs (self, image->memory);
  route.staged = route.packed || image->memory == CCL_MEMORY_HOST;
  if (route.staged)
    route.copied = !(route.bits && reads_staging (self));
  else
    route.copied = image->memory == CCL_MEMORY_ARRAY ||
                   (image->memory == CCL_MEMORY_PINNED && !self->reads_pinned);
  return route;
}

CclStatus
ccl_cuda_transfer_allocate (CudaSession *self, const CclImage *image)
{
  Route route = route_of (self, image);
  size_t size = ccl_cuda_image_pitch (self, route.bits) * self->base.config.height;
  CclStatus status = CCL_OK;

  if (route.copied)
    status = ccl_cuda_image_allocate (self, size);
  if (status == CCL_OK && route.staged)
    status = ccl_cuda_staging_allocate (self, size);
  /* CCL_SYNC_BLOCK prefers saving CPU time to speed. */
  if (status == CCL_OK && route.staged && self->base.config.sync != CCL_SYNC_BLOCK &&
      !self->shares_pool) {
    ccl_pool_shared_ref ();
    self->shares_pool = true;
  }
  return status;
}

/* Enqueues the copy of @rows rows of the frame to the device. */
static cudaError_t
copy_rows (CudaSession *self, uint8_t *to, const uint8_t *from, size_t stride, uint32_t rows)
{
  size_t width = row_size (self, self->source.bits), pitch = self->source.pitch;
  cudaError_t error = cudaSuccess;

  if (stride == width && pitch == width)
    return CCL_CUDA (cudaMemcpyAsync, to, from, rows * width, cudaMemcpyHostToDevice, self->stream);
  if (rows > 1 && pitch <= INT_MAX && stride <= INT_MAX)
    return CCL_CUDA (cudaMemcpy2DAsync, to, pitch, from, stride, width, rows,
                     cudaMemcpyHostToDevice, self->stream);
  /* Such pitches exceed a device's memPitch. */
  for (uint32_t y = 0; y < rows && error == cudaSuccess; y++)
    error = CCL_CUDA (cudaMemcpyAsync, to + y * pitch, from + y * stride, width,
                      cudaMemcpyHostToDevice, self->stream);
  return error;
}

/* Rows to copy or pack into the staging buffer, in parts of @part rows. */
typedef struct Staging
{
  CudaSession *session;
  const CclImage *image;
  const CclCpuFunctions *functions;
  bool packed;
  size_t size; /* bytes of a row there */
  uint32_t first, end, part;
} Staging;

/* Copies or packs one part. */
static void
stage_part (void *data, uint32_t index)
{
  const Staging *s = data;
  const CclCudaFrame *source = &s->session->source;
  uint32_t y = s->first + index * s->part, end = s->end - y < s->part ? s->end : y + s->part;

  for (; y < end; y++) {
    const uint8_t *from = s->image->data + y * s->image->stride;
    uint8_t *to = s->session->staging + y * source->pitch;

    if (s->packed)
      s->functions->pack_row ((uint64_t *) to, from, source->width, source->threshold,
                              source->invert);
    else
      memcpy (to, from, s->size);
  }
}

/* Copies or packs rows @first up to, without, @end. */
static void
stage_rows (Staging *s, uint32_t first, uint32_t end)
{
  size_t width = s->packed ? s->session->source.width : s->size;

  s->first = first;
  s->end = end;
  s->part = width < PART_BYTES ? (uint32_t) (PART_BYTES / width) : 1;
  if (s->session->shares_pool)
    ccl_pool_shared_run (stage_part, s, (end - first - 1) / s->part + 1);
  else
    ccl_pool_run (NULL, stage_part, s, (end - first - 1) / s->part + 1);
}

/* Transfers pixels to the device through the staging buffer. */
static cudaError_t
upload_staged (CudaSession *self, const CclImage *image, const Route *route)
{
  uint32_t height = self->base.config.height;
  size_t pitch = self->source.pitch, bytes = route->bits ? BITS_BAND_BYTES : BAND_BYTES;
  uint32_t band = pitch < bytes ? (uint32_t) (bytes / pitch) : 1;
  cudaError_t error = cudaSuccess;
  Staging staging = {
    .session = self,
    .image = image,
    .functions = ccl_cpu_functions_chosen (),
    .packed = route->packed,
    .size = row_size (self, route->bits),
  };

  if (!route->copied) {
    stage_rows (&staging, 0, height);
    return cudaSuccess;
  }
  for (uint32_t y = 0; y < height && error == cudaSuccess;) {
    uint32_t rows = height - y < band ? height - y : band;
    size_t offset = y * pitch;

    stage_rows (&staging, y, y + rows);
    y += rows;
    /* Without the last row's padding, which is uninitialised. */
    error = copy_rows (self, self->image + offset, self->staging + offset, pitch, rows);
  }
  return error;
}

/* The address by which kernels read pinned memory. */
static cudaError_t
map_pinned (const uint8_t *data, const uint8_t **pixels)
{
  void *device;
  cudaError_t error = CCL_CUDA (cudaHostGetDevicePointer, &device, (void *) data, 0);

  *pixels = device;
  return error;
}

cudaError_t
ccl_cuda_wait_for_pixels (CudaSession *self, const CclImage *image)
{
  cudaError_t error;

  if (!image->stream || image->stream == self->stream)
    return cudaSuccess;
  error = CCL_CUDA (cudaEventRecord, self->events[EVENT_READY], image->stream);
  return error == cudaSuccess
             ? CCL_CUDA (cudaStreamWaitEvent, self->stream, self->events[EVENT_READY], 0)
             : error;
}

/* Kernels read pixels by address, and those of an array have none. */
static cudaError_t
copy_array (CudaSession *self, const CclImage *image)
{
  const CclConfig *config = &self->base.config;
  cudaError_t error = ccl_cuda_wait_for_pixels (self, image);

  return error == cudaSuccess
             ? CCL_CUDA (cudaMemcpy2DFromArrayAsync, self->image, self->source.pitch,
                         (cudaArray_const_t) (const void *) image->data, 0, 0, config->width,
                         config->height, cudaMemcpyDeviceToDevice, self->stream)
             : error;
}

CclStatus
ccl_cuda_upload (CudaSession *self, const CclImage *image)
{
  Route route = route_of (self, image);
  CclCudaFrame *source = &self->source;
  cudaError_t error = cudaSuccess;

  self->base.upload = route_name (&route, image->memory);
  source->bits = route.bits;
  source->pixels = self->image;
  source->pitch = ccl_cuda_image_pitch (self, route.bits);
  if (route.staged) {
    error = upload_staged (self, image, &route);
    if (error == cudaSuccess && !route.copied)
      error = map_pinned (self->staging, &source->pixels);
  } else if (image->memory == CCL_MEMORY_ARRAY) {
    error = copy_array (self, image);
  } else if (route.copied) {
    error = copy_rows (self, self->image, image->data, image->stride, self->base.config.height);
  } else {
    source->pixels = image->data;
    source->pitch = image->stride;
    error = image->memory == CCL_MEMORY_PINNED ? map_pinned (image->data, &source->pixels)
                                               : ccl_cuda_wait_for_pixels (self, image);
  }
  if (route.bits)
    source->threshold = 0; /* unused, so graphs must not depend on it */
  if (route.packed)
    source->invert = 0;
  return ccl_cuda_check (error, "transferring a frame to the device");
}
