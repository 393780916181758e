/* cudaccl - CUDA backend: how pixels reach kernels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/upload.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/error.h"
#include "cuda/stages/color.h"
#include "engine/cpu/pool.h"
#include "engine/cpu/tuning.h"

#include <limits.h>
#include <string.h>

/* The staging buffer is filled and sent in bands of about this many bytes, so that the copy into it
 * overlaps with the transfer. */
#define BAND_BYTES (512 * 1024)

/* The same for bits, which stand for eight times as many pixels to pack. */
#define BITS_BAND_BYTES (128 * 1024)

/* Kernels that read a frame once, as the tile algorithm does without label maps and operations,
 * read up to this many bytes of bits from the staging buffer: the bus transfers them in less time
 * than a copy takes to start. */
#define MOST_READ_IN_PLACE (512 * 1024)

/* Threads that share the staging take about this many bytes of pixels at a time. */
#define PART_BYTES (128 * 1024)

/* How pixels reach kernels. */
typedef struct Route
{
  bool bits;   /* kernels read bits */
  bool packed; /* by the CPU, from bytes */
  bool staged; /* through the staging buffer, which is pinned */
  bool copied; /* to the image on the device */
} Route;

/* Rows on their way to the device: a frame's, or a plane's for the background model. */
typedef struct Plane
{
  CclImage image;
  Route route;
  size_t row; /* bytes to transfer */
  uint32_t rows;
  size_t offset, pitch; /* in the image and the staging buffer */
} Plane;

/* Whether the CPU packs pixels of such memory. Pageable pixels have to be copied to pinned memory
 * anyway: packing reads as much, writes an eighth, and leaves an eighth to transfer. Pinned pixels
 * can be transferred without the CPU, which is faster than packing on one core. They are packed
 * only with CCL_UPLOAD_BITS, for users who lack bus bandwidth rather than CPU time. */
static bool
packs (const CclCudaUpload *self, CclMemory memory)
{
  if (self->model)
    return false;
  switch (self->policy) {
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
name_of (const Route *route, CclMemory memory)
{
  if (memory == CCL_MEMORY_DEVICE || memory == CCL_MEMORY_ARRAY)
    return NULL;
  return route->bits ? "bits" : "pixels";
}

/* The bytes of a row of @format. */
static size_t
row_size (const CclCudaUpload *self, CclFormat format)
{
  if (format == CCL_FORMAT_BITS)
    return ccl_mask_words (self->width) * sizeof (uint64_t);
  return ccl_class_size (format) * (size_t) self->width;
}

/* The bytes from row to row in the image and the staging buffer. */
static size_t
row_pitch (const CclCudaUpload *self, CclFormat format)
{
  size_t size = row_size (self, format);

  return format == CCL_FORMAT_BITS ? size : (size + 15) / 16 * 16;
}

/* Whether a frame's colours or 16-bit samples become planes first. */
static bool
converts (const CclCudaUpload *self, const CclImage *image)
{
  return !self->raw && ccl_color_weights (image->format);
}

void
ccl_cuda_upload_open (CclCudaUpload *self, CclCudaQueue *queue, const CclConfig *config,
                      CclModelFrame *model, bool reads_once)
{
  bool shares_memory = queue->device.shares_memory;

  self->queue = queue;
  self->model = model;
  self->width = config->width;
  self->height = config->height;
  self->policy = config->upload;
  self->raw = config->values == CCL_VALUES_EQUAL;
  self->blocks = config->sync == CCL_SYNC_BLOCK;
  self->reads_pinned = config->map_pinned || shares_memory;
  self->in_place =
      shares_memory ||
      (reads_once && row_size (self, CCL_FORMAT_BITS) * self->height <= MOST_READ_IN_PLACE);
}

void
ccl_cuda_upload_close (CclCudaUpload *self)
{
  if (self->shares_pool)
    ccl_pool_shared_unref ();
}

static Route
route_of (const CclCudaUpload *self, const CclImage *image)
{
  Route route = { .bits = image->format == CCL_FORMAT_BITS };

  if (!route.bits)
    route.packed = route.bits = packs (self, image->memory);
  route.staged = route.packed || image->memory == CCL_MEMORY_HOST;
  if (route.staged)
    route.copied = !(route.bits && self->in_place);
  else
    route.copied = image->memory == CCL_MEMORY_ARRAY ||
                   (image->memory == CCL_MEMORY_PINNED && !self->reads_pinned);
  return route;
}

/* Returns where interleaved chroma begins, or NULL if chroma is not interleaved. */
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
find_chroma (const CclCudaUpload *self, const CclChroma *chroma, const CclModelLayout *layout,
             Plane *planes)
{
  const CclModelFrame *frame = self->model;
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

static bool
needs_chroma (const CclCudaUpload *self)
{
  return self->model && self->model->chroma_width > 0;
}

#define MOST_PLANES 3

/* Finds the planes to transfer. Returns their number. @size: the room that they need. */
static unsigned
find_planes (const CclCudaUpload *self, const CclImage *image, Plane planes[MOST_PLANES],
             size_t *size)
{
  Route route = route_of (self, image);
  CclFormat format = route.bits ? CCL_FORMAT_BITS : image->format;
  CclModelLayout layout;
  unsigned n = 1;

  planes[0] = (Plane){
    .image = *image,
    .route = route,
    .row = row_size (self, format),
    .rows = self->height,
    .pitch = row_pitch (self, format),
  };
  *size = planes[0].pitch * planes[0].rows;
  if (!self->model)
    return n;
  layout = ccl_cuda_model_layout (self->model);
  *size = layout.size;
  if (needs_chroma (self))
    n += find_chroma (self, image->chroma, &layout, planes + 1);
  return n;
}

typedef CclStatus (*Allocate) (CclCudaMemory *memory, void *pointer, size_t size);

/* Makes a buffer, which has @has bytes, large enough for @size. */
static CclStatus
ensure_room (CclCudaUpload *self, Allocate allocate, void *buffer, size_t *has, size_t size)
{
  CclStatus status;

  if (*has >= size)
    return CCL_OK;
  status = allocate (&self->queue->memory, buffer, size);
  if (status == CCL_OK)
    *has = size;
  return status;
}

static CclStatus
ensure_image (CclCudaUpload *self, size_t size)
{
  return ensure_room (self, ccl_cuda_allocate_device, &self->image, &self->image_size, size);
}

CclStatus
ccl_cuda_upload_allocate (CclCudaUpload *self, const CclImage *image)
{
  Plane planes[MOST_PLANES];
  CclColorPlanes colors;
  CclStatus status = CCL_OK;
  size_t size;
  unsigned n;

  if (converts (self, image))
    return ensure_image (
        self, ccl_color_place (&colors, NULL, self->width, self->height, needs_chroma (self)));
  n = find_planes (self, image, planes, &size);
  for (unsigned i = 0; i < n; i++) {
    const Route *route = &planes[i].route;

    if (status == CCL_OK && route->copied)
      status = ensure_image (self, size);
    if (status == CCL_OK && route->staged)
      status =
          ensure_room (self, ccl_cuda_allocate_pinned, &self->staging, &self->staging_size, size);
    if (status == CCL_OK && route->staged && !self->blocks && !self->shares_pool) {
      ccl_pool_shared_ref ();
      self->shares_pool = true;
    }
  }
  return status;
}

/* Enqueues the copy of @rows rows to the device. */
static cudaError_t
copy_rows (CclCudaUpload *self, const Plane *plane, uint8_t *to, const uint8_t *from, size_t stride,
           uint32_t rows)
{
  size_t width = plane->row, pitch = plane->pitch;
  cudaStream_t stream = self->queue->stream;
  cudaError_t error = cudaSuccess;

  if (stride == width && pitch == width)
    return CCL_CUDA (cudaMemcpyAsync, to, from, rows * width, cudaMemcpyHostToDevice, stream);
  if (rows > 1 && pitch <= INT_MAX && stride <= INT_MAX)
    return CCL_CUDA (cudaMemcpy2DAsync, to, pitch, from, stride, width, rows,
                     cudaMemcpyHostToDevice, stream);
  /* Such pitches exceed a device's memPitch. */
  for (uint32_t y = 0; y < rows && error == cudaSuccess; y++)
    error = CCL_CUDA (cudaMemcpyAsync, to + y * pitch, from + y * stride, width,
                      cudaMemcpyHostToDevice, stream);
  return error;
}

/* Rows to copy or pack into the staging buffer, in parts of @part rows each. */
typedef struct Staging
{
  const CclCudaUpload *upload;
  CclCut cut; /* if pixels are packed */
  const Plane *plane;
  const CclCpuFunctions *functions;
  uint32_t first, end, part;
} Staging;

/* Copies or packs one part. */
static void
stage_part (void *data, uint32_t index)
{
  const Staging *s = data;
  const Plane *plane = s->plane;
  uint32_t y = s->first + index * s->part, end = s->end - y < s->part ? s->end : y + s->part;

  for (; y < end; y++) {
    const uint8_t *from = plane->image.data + y * plane->image.stride;
    uint8_t *to = s->upload->staging + plane->offset + y * plane->pitch;

    if (plane->route.packed)
      s->functions->pack_row ((uint64_t *) to, from, s->upload->width, &s->cut);
    else
      memcpy (to, from, plane->row);
  }
}

/* Copies or packs rows @first to @end - 1. */
static void
stage_rows (Staging *s, uint32_t first, uint32_t end)
{
  size_t width = s->plane->route.packed ? s->upload->width : s->plane->row;

  s->first = first;
  s->end = end;
  s->part = width < PART_BYTES ? (uint32_t) (PART_BYTES / width) : 1;
  if (s->upload->shares_pool)
    ccl_pool_shared_run (stage_part, s, (end - first - 1) / s->part + 1);
  else
    ccl_pool_run (NULL, stage_part, s, (end - first - 1) / s->part + 1);
}

/* Transfers rows to the device through the staging buffer. */
static cudaError_t
upload_staged (CclCudaUpload *self, const CclCut *cut, const Plane *plane)
{
  uint32_t height = plane->rows;
  size_t pitch = plane->pitch, bytes = plane->route.bits ? BITS_BAND_BYTES : BAND_BYTES;
  uint32_t band = pitch < bytes ? (uint32_t) (bytes / pitch) : 1;
  cudaError_t error = cudaSuccess;
  Staging staging = {
    .upload = self,
    .cut = cut ? *cut : (CclCut){ 0 },
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
    /* The last row's padding is uninitialised: leave it out. */
    error = copy_rows (self, plane, self->image + offset, self->staging + offset, pitch, rows);
  }
  return error;
}

/* Kernels read pixels by address, which pixels of an array do not have. */
static cudaError_t
copy_array (CclCudaUpload *self, const Plane *plane)
{
  cudaError_t error = ccl_cuda_queue_wait (self->queue, plane->image.stream);

  return error == cudaSuccess
             ? CCL_CUDA (cudaMemcpy2DFromArrayAsync, self->image + plane->offset, plane->pitch,
                         (cudaArray_const_t) (const void *) plane->image.data, 0, 0, plane->row,
                         plane->rows, cudaMemcpyDeviceToDevice, self->queue->stream)
             : error;
}

/* Makes the rows readable, and sets where kernels find them. @cut: see Staging, or NULL. */
static CclStatus
take_plane (CclCudaUpload *self, const CclCut *cut, const Plane *plane, const uint8_t **pixels,
            size_t *pitch)
{
  const CclImage *image = &plane->image;
  const Route *route = &plane->route;
  const uint8_t *pinned = NULL;
  cudaError_t error = cudaSuccess;
  CclStatus status;

  if (route->copied)
    *pixels = self->image + plane->offset;
  *pitch = plane->pitch;
  if (route->staged) {
    error = upload_staged (self, cut, plane);
    pinned = route->copied ? NULL : self->staging + plane->offset;
  } else if (image->memory == CCL_MEMORY_ARRAY) {
    error = copy_array (self, plane);
  } else if (route->copied) {
    error = copy_rows (self, plane, self->image + plane->offset, image->data, image->stride,
                       plane->rows);
  } else {
    *pixels = image->data;
    *pitch = image->stride;
    if (image->memory == CCL_MEMORY_PINNED)
      pinned = image->data;
    else
      error = ccl_cuda_queue_wait (self->queue, image->stream);
  }
  status = ccl_cuda_check (error, "transferring a frame to the device");
  return status == CCL_OK && pinned ? ccl_cuda_map_pinned (pinned, pixels) : status;
}

static bool
is_on_device (const CclImage *image)
{
  return image->memory == CCL_MEMORY_DEVICE || image->memory == CCL_MEMORY_ARRAY;
}

/* Makes the planes of the model's frame readable. Interleaved chroma stays in the order of memory,
 * as the model does not tell its planes apart. */
static CclStatus
take_frame (CclCudaUpload *self, const CclChroma *chroma, Plane *planes, unsigned n)
{
  CclModelFrame *frame = self->model;
  CclStatus status = CCL_OK;

  frame->step = chroma ? chroma->step : 1;
  self->swapped = n == 2 && planes[1].image.data != chroma->planes[0].data;
  for (unsigned i = 0; i < n && status == CCL_OK; i++) {
    CclModelPlane *plane = &frame->planes[i];

    if (i > 0 && is_on_device (&planes[0].image) &&
        planes[i].image.stream == planes[0].image.stream)
      planes[i].image.stream = NULL; /* the queue waits for it already */
    status = take_plane (self, NULL, &planes[i], &plane->samples, &plane->pitch);
  }
  if (n == 2)
    ccl_cuda_model_set_pairs (frame, frame->planes[1].samples, frame->planes[1].pitch);
  return status;
}

/* Enqueues the conversion of a frame in device memory to @planes in the image. */
static CclStatus
convert_colors (CclCudaUpload *self, const CclImage *image, const CclCut *cut,
                CclColorPlanes *planes)
{
  CclCudaColors colors = {
    .cut = *cut,
    .weights = *ccl_color_weights (image->format),
    .from = image->data,
    .stride = image->stride,
    .width = self->width,
    .height = self->height,
    .luma = self->image,
  };
  cudaError_t error = ccl_cuda_queue_wait (self->queue, image->stream);

  ccl_color_place (planes, self->image, self->width, self->height, needs_chroma (self));
  colors.luma_stride = planes->luma.stride;
  planes->luma.memory = CCL_MEMORY_DEVICE;
  for (unsigned i = 0; i < 2 && planes->luma.chroma; i++) {
    CclImage *plane = &planes->chroma.planes[i];

    plane->memory = CCL_MEMORY_DEVICE;
    colors.chroma[i] = self->image + (plane->data - self->image);
    colors.chroma_stride = plane->stride;
    if (!colors.weights.shift)
      continue;
    colors.samples[i] = image->chroma->planes[i].data;
    colors.samples_stride[i] = image->chroma->planes[i].stride;
    colors.step = image->chroma->step;
    if (error == cudaSuccess && image->chroma->planes[i].stream != image->stream)
      error = ccl_cuda_queue_wait (self->queue, image->chroma->planes[i].stream);
  }
  if (error == cudaSuccess)
    error = ccl_cuda_convert_colors (&colors, self->queue->stream);
  return ccl_cuda_check (error, "converting the colours of a frame");
}

CclStatus
ccl_cuda_upload (CclCudaUpload *self, const CclImage *image, const CclCut *cut, CclCudaFrame *frame,
                 const char **route_name)
{
  Plane planes[MOST_PLANES];
  const Route *route = &planes[0].route;
  CclColorPlanes colors;
  CclStatus status = CCL_OK;
  size_t size;
  unsigned n;

  if (converts (self, image)) {
    status = convert_colors (self, image, cut, &colors);
    image = &colors.luma;
  }
  if (status != CCL_OK)
    return status;
  n = find_planes (self, image, planes, &size);
  *route_name = name_of (route, image->memory);
  frame->bits = route->bits;
  if (self->model)
    status = take_frame (self, image->chroma, planes, n);
  else
    status = take_plane (self, cut, &planes[0], &frame->pixels, &frame->pitch);
  if (route->bits) {
    /* Unused, so graphs must not depend on them. */
    frame->threshold = 0;
    frame->highest = UINT8_MAX;
  }
  if (route->packed)
    frame->invert = 0;
  return status;
}

/* Allocates what is still missing to stack @frames frames in an image of @size bytes. */
static CclStatus
allocate_stack (CclCudaUpload *self, uint32_t frames, size_t size)
{
  CclCudaMemory *memory = &self->queue->memory;
  CclStatus status = ensure_image (self, size);

  if (status == CCL_OK && !self->sources)
    status = ccl_cuda_allocate_device (memory, &self->sources, frames * sizeof *self->sources);
  if (status == CCL_OK && !self->sources_host)
    status =
        ccl_cuda_allocate_pinned (memory, &self->sources_host, frames * sizeof *self->sources_host);
  return status;
}

/* Uploads the addresses of the frames, and waits for their streams. */
static cudaError_t
enqueue_sources (CclCudaUpload *self, const CclStack *stack)
{
  cudaError_t error = cudaSuccess;

  for (uint32_t i = 0; i < stack->n && error == cudaSuccess; i++) {
    const CclImage *image = &stack->images[i];

    self->sources_host[i] = (CclCudaSource){ image->data, image->stride };
    if (i == 0 || image->stream != stack->images[i - 1].stream)
      error = ccl_cuda_queue_wait (self->queue, image->stream);
  }
  if (error != cudaSuccess)
    return error;
  return CCL_CUDA (cudaMemcpyAsync, self->sources, self->sources_host,
                   stack->n * sizeof *self->sources, cudaMemcpyHostToDevice, self->queue->stream);
}

CclStatus
ccl_cuda_upload_stack (CclCudaUpload *self, const CclStack *stack, CclImage *image)
{
  CclFormat format = stack->images[0].format;
  size_t pitch = row_pitch (self, format);
  CclStatus status = allocate_stack (self, stack->frames, pitch * self->height);
  CclCudaStack rows;
  cudaError_t error;

  if (status != CCL_OK)
    return status;
  rows = (CclCudaStack){
    .to = self->image,
    .pitch = pitch,
    .width = self->width,
    .height = stack->height,
    .bits = format == CCL_FORMAT_BITS,
    .sources = self->sources,
    .n = stack->n,
    .frames = stack->frames,
    .fill = stack->fill,
    .all_set = stack->all_set,
  };
  *image = (CclImage){
    .data = self->image,
    .stride = pitch,
    .memory = CCL_MEMORY_DEVICE,
    .format = format,
  };
  error = enqueue_sources (self, stack);
  if (error == cudaSuccess)
    error = ccl_cuda_stack_rows (&rows, self->queue->stream);
  return ccl_cuda_check (error, "stacking the frames of a batch");
}
