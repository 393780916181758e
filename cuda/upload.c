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

/* Rows on their way to the device: a frame's, or those of a plane for the background model. */
typedef struct Plane
{
  CclImage image;
  Route route;
  size_t row; /* bytes to transfer */
  uint32_t rows;
  size_t offset, pitch; /* in the session's image and staging buffer */
} Plane;

/* Whether the CPU packs pixels of such memory. Pageable pixels have to be copied into pinned
 * memory anyway: packing reads as much, writes an eighth, and leaves an eighth to transfer.
 * Pinned pixels can be transferred without the CPU, which is faster than packing on one core:
 * they are packed only with CCL_UPLOAD_BITS, for users who lack bus bandwidth rather than CPU
 * time. */
static bool
packs (const CudaSession *self, CclMemory memory)
{
  if (self->model.base)
    return false;
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

/* Where interleaved chroma begins, NULL if it is not interleaved. */
static const uint8_t *
find_pairs (const CclChroma *chroma)
{
  const CclImage *first = &chroma->planes[0], *second = &chroma->planes[1];

  if (chroma->step != 2 || first->memory != second->memory)
    return NULL;
  if (first->memory == CCL_MEMORY_ARRAY)
    return first->data;
  if (first->stride != second->stride)
    return NULL;
  if (first->data + 1 == second->data)
    return first->data;
  return second->data + 1 == first->data ? second->data : NULL;
}

/* Sets the chroma planes of a frame for the model; returns their number. */
static unsigned
find_chroma (const CudaSession *self, const CclChroma *chroma, const CclModelLayout *layout,
             Plane *planes)
{
  const CclModelFrame *frame = &self->model.frame;
  const uint8_t *pairs = find_pairs (chroma);
  unsigned n = pairs ? 1 : 2;

  for (unsigned i = 0; i < n; i++) {
    planes[i] = (Plane){
      .image = chroma->planes[i],
      .route = route_of (self, &chroma->planes[i]),
      .row = pairs ? 2 * (size_t) frame->chroma_width
                   : (size_t) (frame->chroma_width - 1) * chroma->step + 1,
      .rows = frame->chroma_height,
      .offset = layout->chroma_at[i],
      .pitch = layout->chroma,
    };
    if (pairs)
      planes[i].image.data = pairs;
  }
  return n;
}

#define MOST_PLANES 3

/* Returns the number of planes; @size: the room that they need. */
static unsigned
find_planes (const CudaSession *self, const CclImage *image, Plane planes[MOST_PLANES],
             size_t *size)
{
  Route route = route_of (self, image);
  CclModelLayout layout;
  unsigned n = 1;

  planes[0] = (Plane){
    .image = *image,
    .route = route,
    .row = row_size (self, route.bits),
    .rows = self->base.config.height,
    .pitch = ccl_cuda_image_pitch (self, route.bits),
  };
  *size = planes[0].pitch * planes[0].rows;
  if (!self->model.base)
    return n;
  layout = ccl_cuda_model_layout (&self->model.frame);
  *size = layout.size;
  if (self->model.base->config.format == CCL_MOTION_LUMA_420)
    n += find_chroma (self, image->chroma, &layout, planes + 1);
  return n;
}

CclStatus
ccl_cuda_transfer_allocate (CudaSession *self, const CclImage *image)
{
  Plane planes[MOST_PLANES];
  size_t size;
  unsigned n = find_planes (self, image, planes, &size);
  CclStatus status = CCL_OK;

  for (unsigned i = 0; i < n; i++) {
    const Route *route = &planes[i].route;

    if (status == CCL_OK && route->copied)
      status = ccl_cuda_image_allocate (self, size);
    if (status == CCL_OK && route->staged)
      status = ccl_cuda_staging_allocate (self, size);
    /* CCL_SYNC_BLOCK prefers saving CPU time to speed. */
    if (status == CCL_OK && route->staged && self->base.config.sync != CCL_SYNC_BLOCK &&
        !self->shares_pool) {
      ccl_pool_shared_ref ();
      self->shares_pool = true;
    }
  }
  return status;
}

/* Enqueues the copy of @rows rows to the device. */
static cudaError_t
copy_rows (CudaSession *self, const Plane *plane, uint8_t *to, const uint8_t *from, size_t stride,
           uint32_t rows)
{
  size_t width = plane->row, pitch = plane->pitch;
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
  const Plane *plane;
  const CclCpuFunctions *functions;
  uint32_t first, end, part;
} Staging;

/* Copies or packs one part. */
static void
stage_part (void *data, uint32_t index)
{
  const Staging *s = data;
  const CclCudaFrame *source = &s->session->source;
  const Plane *plane = s->plane;
  uint32_t y = s->first + index * s->part, end = s->end - y < s->part ? s->end : y + s->part;

  for (; y < end; y++) {
    const uint8_t *from = plane->image.data + y * plane->image.stride;
    uint8_t *to = s->session->staging + plane->offset + y * plane->pitch;

    if (plane->route.packed)
      s->functions->pack_row ((uint64_t *) to, from, source->width, source->threshold,
                              source->invert);
    else
      memcpy (to, from, plane->row);
  }
}

/* Copies or packs rows @first up to, without, @end. */
static void
stage_rows (Staging *s, uint32_t first, uint32_t end)
{
  size_t width = s->plane->route.packed ? s->session->source.width : s->plane->row;

  s->first = first;
  s->end = end;
  s->part = width < PART_BYTES ? (uint32_t) (PART_BYTES / width) : 1;
  if (s->session->shares_pool)
    ccl_pool_shared_run (stage_part, s, (end - first - 1) / s->part + 1);
  else
    ccl_pool_run (NULL, stage_part, s, (end - first - 1) / s->part + 1);
}

/* Transfers rows to the device through the staging buffer. */
static cudaError_t
upload_staged (CudaSession *self, const Plane *plane)
{
  uint32_t height = plane->rows;
  size_t pitch = plane->pitch, bytes = plane->route.bits ? BITS_BAND_BYTES : BAND_BYTES;
  uint32_t band = pitch < bytes ? (uint32_t) (bytes / pitch) : 1;
  cudaError_t error = cudaSuccess;
  Staging staging = {
    .session = self,
    .plane = plane,
    .functions = ccl_cpu_functions_chosen (),
  };

  if (!plane->route.copied) {
    stage_rows (&staging, 0, height);
    return cudaSuccess;
  }
  for (uint32_t y = 0; y < height && error == cudaSuccess;) {
    uint32_t rows = height - y < band ? height - y : band;
    size_t offset = plane->offset + y * pitch;

    stage_rows (&staging, y, y + rows);
    y += rows;
    /* Without the last row's padding, which is uninitialised. */
    error = copy_rows (self, plane, self->image + offset, self->staging + offset, pitch, rows);
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
copy_array (CudaSession *self, const Plane *plane)
{
  cudaError_t error = ccl_cuda_wait_for_pixels (self, &plane->image);

  return error == cudaSuccess
             ? CCL_CUDA (cudaMemcpy2DFromArrayAsync, self->image + plane->offset, plane->pitch,
                         (cudaArray_const_t) (const void *) plane->image.data, 0, 0, plane->row,
                         plane->rows, cudaMemcpyDeviceToDevice, self->stream)
             : error;
}

/* Sets where kernels find the rows. */
static cudaError_t
take_plane (CudaSession *self, const Plane *plane, const uint8_t **pixels, size_t *pitch)
{
  const CclImage *image = &plane->image;
  const Route *route = &plane->route;
  cudaError_t error;

  *pixels = self->image + plane->offset;
  *pitch = plane->pitch;
  if (route->staged) {
    error = upload_staged (self, plane);
    return error == cudaSuccess && !route->copied
               ? map_pinned (self->staging + plane->offset, pixels)
               : error;
  }
  if (image->memory == CCL_MEMORY_ARRAY)
    return copy_array (self, plane);
  if (route->copied)
    return copy_rows (self, plane, self->image + plane->offset, image->data, image->stride,
                      plane->rows);
  *pixels = image->data;
  *pitch = image->stride;
  return image->memory == CCL_MEMORY_PINNED ? map_pinned (image->data, pixels)
                                            : ccl_cuda_wait_for_pixels (self, image);
}

static bool
is_on_device (const CclImage *image)
{
  return image->memory == CCL_MEMORY_DEVICE || image->memory == CCL_MEMORY_ARRAY;
}

/* Makes the planes of the model's frame readable. */
static cudaError_t
take_frame (CudaSession *self, unsigned step, Plane *planes, unsigned n)
{
  CclModelFrame *frame = &self->model.frame;
  cudaError_t error = cudaSuccess;

  frame->step = step;
  for (unsigned i = 0; i < n && error == cudaSuccess; i++) {
    CclModelPlane *plane = &frame->planes[i];

    if (i > 0 && is_on_device (&planes[0].image) &&
        planes[i].image.stream == planes[0].image.stream)
      planes[i].image.stream = NULL; /* the session's stream waits for it already */
    error = take_plane (self, &planes[i], &plane->samples, &plane->pitch);
  }
  if (n == 2)
    ccl_cuda_model_set_pairs (frame, frame->planes[1].samples, frame->planes[1].pitch);
  return error;
}

CclStatus
ccl_cuda_upload (CudaSession *self, const CclImage *image)
{
  CclCudaFrame *source = &self->source;
  Plane planes[MOST_PLANES];
  const Route *route = &planes[0].route;
  size_t size;
  unsigned n = find_planes (self, image, planes, &size);
  cudaError_t error;

  self->base.upload = route_name (route, image->memory);
  source->bits = route->bits;
  if (self->model.base)
    error = take_frame (self, image->chroma ? image->chroma->step : 1, planes, n);
  else
    error = take_plane (self, &planes[0], &source->pixels, &source->pitch);
  if (route->bits)
    source->threshold = 0; /* unused, so graphs must not depend on it */
  if (route->packed)
    source->invert = 0;
  return ccl_cuda_check (error, "transferring a frame to the device");
}
