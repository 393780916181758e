/* cudaccl - CUDA backend: background models
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The state stays on the device. A frame is one launch, and nothing waits for it: its mask goes to
 * an analyzer in the same stream, and the host reads how much foreground there was when it comes
 * with the next frame. */

#include "cuda/models/model.h"
#include "engine/motion_backend.h"
#include "cuda/runtime/device.h"
#include "cuda/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 16 /* bytes, of rows of frames */
#define NO_FOREGROUND UINT64_MAX

typedef struct CudaMotion
{
  CclMotionSession base;
  CclCudaDevice device;
  CclCudaMemory memory; /* all below */
  cudaStream_t stream;
  cudaEvent_t ready;        /* the caller's pixels are */
  cudaStream_t awaited;     /* the frame waits for it already; NULL: for none */
  cudaEvent_t begun;        /* the last frame's work, if times are measured */
  cudaEvent_t done;         /* the last frame is */
  cudaStream_t last_stream; /* only compared: it may be destroyed; NULL: no frame yet */
  CclModelState state;
  CclModelFrame small;      /* the frame in the model's size, if that is another */
  uint32_t newest;          /* see CclModelTask */
  uint64_t *foreground;     /* pinned: the last frame's; NO_FOREGROUND: not known yet */
  uint8_t *image, *staging; /* [frame_bytes()] for frames that kernels cannot read, once there was
                             * one: on the device, and pinned */
} CudaMotion;

/* Planes below each other, in rows at multiples of ALIGNMENT; room for chroma in pairs, twice. */
typedef struct Layout
{
  size_t luma, chroma; /* pitches */
  size_t chroma_at;    /* the first chroma plane */
  size_t chroma_bytes; /* of one plane */
} Layout;

static size_t
align (size_t bytes)
{
  return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static bool
has_chroma (const CudaMotion *self)
{
  return self->base.config.format == CCL_MOTION_LUMA_420;
}

static uint32_t
half (uint32_t n)
{
  return n / 2 + n % 2;
}

/* A frame without its planes. */
static CclModelFrame
frame_of_size (const CudaMotion *self, uint32_t width, uint32_t height)
{
  return (CclModelFrame){
    .width = width,
    .height = height,
    .chroma_width = has_chroma (self) ? half (width) : 0,
    .chroma_height = has_chroma (self) ? half (height) : 0,
    .step = 1,
  };
}

static Layout
layout_of (const CclModelFrame *frame)
{
  Layout layout = { .luma = align (frame->width), .chroma = align (2 * frame->chroma_width) };

  layout.chroma_at = layout.luma * frame->height;
  layout.chroma_bytes = layout.chroma * frame->chroma_height;
  return layout;
}

static size_t
frame_bytes (const CclModelFrame *frame)
{
  Layout layout = layout_of (frame);

  return layout.chroma_at + 2 * layout.chroma_bytes;
}

/* Chroma in pairs from @samples on. */
static void
set_pairs (CclModelFrame *frame, const uint8_t *samples, size_t pitch)
{
  frame->planes[1] = (CclModelPlane){ samples, pitch };
  frame->planes[2] = (CclModelPlane){ samples + 1, pitch };
  frame->step = 2;
}

static CclStatus
allocate_mask (CudaMotion *self, CclMask *mask, uint32_t width, uint32_t height)
{
  *mask = (CclMask){
    .pitch = ccl_mask_words (width), .width = width, .height = height, .memory = CCL_MEMORY_DEVICE
  };
  return ccl_cuda_allocate_cleared (&self->memory, &mask->words,
                                    mask->pitch * height * sizeof *mask->words);
}

static CclStatus
allocate_masks (CudaMotion *self)
{
  CclMotionSession *base = &self->base;
  CclStatus status = CCL_OK;

  for (int i = 0; i < 2 && status == CCL_OK; i++) {
    status = allocate_mask (self, &base->masks[i], base->width, base->height);
    if (status == CCL_OK && base->config.scale > 1)
      status = allocate_mask (self, &base->enlarged[i], base->config.width, base->config.height);
  }
  return status;
}

static CclStatus
allocate_small (CudaMotion *self)
{
  Layout layout;
  uint8_t *pixels;
  CclStatus status;

  self->small = frame_of_size (self, self->base.width, self->base.height);
  if (self->base.config.scale == 1)
    return CCL_OK;
  layout = layout_of (&self->small);
  status = ccl_cuda_allocate_device (&self->memory, &pixels, frame_bytes (&self->small));
  if (status != CCL_OK)
    return status;
  self->small.planes[0] = (CclModelPlane){ pixels, layout.luma };
  set_pairs (&self->small, pixels + layout.chroma_at, layout.chroma);
  return CCL_OK;
}

static CclStatus
allocate_state (CudaMotion *self)
{
  CclModelState *state = &self->state;
  CclCudaMemory *memory = &self->memory;
  size_t pixels;
  CclStatus status = CCL_OK;

  state->pitch = ((size_t) self->base.width + CCL_MODEL_UNIT - 1) / CCL_MODEL_UNIT * CCL_MODEL_UNIT;
  pixels = state->pitch * self->base.height;
  for (int i = 0; i < 2 && status == CCL_OK; i++)
    status = ccl_cuda_allocate_cleared (memory, &state->background[i],
                                        pixels * sizeof *state->background[i]);
  if (status == CCL_OK)
    status = ccl_cuda_allocate_cleared (memory, &state->noise, pixels);
  if (status == CCL_OK)
    status = ccl_cuda_allocate_cleared (memory, &state->candidates, pixels);
  if (status == CCL_OK)
    status = ccl_cuda_allocate_cleared (memory, &state->counts, pixels);
  if (status == CCL_OK && has_chroma (self))
    status = ccl_cuda_allocate_cleared (memory, &state->chroma,
                                        state->pitch / 2 * half (self->base.height) *
                                            sizeof *state->chroma);
  if (status == CCL_OK)
    status = ccl_cuda_allocate_cleared (memory, &state->total, sizeof *state->total);
  if (status == CCL_OK)
    status = ccl_cuda_allocate_pinned (memory, &self->foreground, sizeof *self->foreground);
  if (status != CCL_OK)
    return status;
  *self->foreground = 0;
  return ccl_cuda_check (
      CCL_CUDA (cudaHostGetDevicePointer, (void **) &state->foreground, self->foreground, 0),
      "mapping pinned memory");
}

static CclStatus
open_queue (CudaMotion *self)
{
  unsigned flags = self->base.config.timing ? 0 : cudaEventDisableTiming;
  CclStatus status = ccl_cuda_stream_new (&self->stream);

  self->memory.stream = self->stream;
  if (status == CCL_OK)
    status = ccl_cuda_event_new (&self->ready, cudaEventDisableTiming);
  if (status == CCL_OK && self->base.config.timing)
    status = ccl_cuda_event_new (&self->begun, 0);
  return status == CCL_OK ? ccl_cuda_event_new (&self->done, flags) : status;
}

static CclStatus
open_model (CudaMotion *self)
{
  CclStatus status = open_queue (self);

  if (status == CCL_OK)
    status = allocate_state (self);
  if (status == CCL_OK)
    status = allocate_small (self);
  if (status == CCL_OK)
    status = allocate_masks (self);
  /* frames may come in another stream */
  if (status == CCL_OK)
    status = ccl_cuda_check (CCL_CUDA (cudaStreamSynchronize, self->stream),
                             "clearing a background model");
  return status;
}

static void
cuda_motion_close (CclMotionSession *session)
{
  CudaMotion *self = (CudaMotion *) session;

  if (self->device.context && ccl_cuda_context_enter (self->device.context) == CCL_OK) {
    /* in whatever stream the last frame is */
    if (self->done) {
      CCL_CUDA (cudaEventSynchronize, self->done);
      CCL_CUDA (cudaEventDestroy, self->done);
    }
    if (self->ready)
      CCL_CUDA (cudaEventDestroy, self->ready);
    if (self->begun)
      CCL_CUDA (cudaEventDestroy, self->begun);
    if (self->stream) {
      CCL_CUDA (cudaStreamSynchronize, self->stream);
      CCL_CUDA (cudaStreamDestroy, self->stream);
    }
    ccl_cuda_memory_free (&self->memory);
    ccl_cuda_api.cudaGetLastError ();
    ccl_cuda_context_leave ();
  }
  free (self);
}

static CclStatus
cuda_motion_open (const CclMotionSession *wanted, CclMotionSession **session)
{
  const CclMotionConfig *config = &wanted->config;
  CudaMotion *self;
  CclStatus status;

  if (config->width > INT32_MAX || config->height > INT32_MAX)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "backend cuda has no background models of %" PRIu32 "x%" PRIu32
                     " pixels; use backend cpu",
                     config->width, config->height);
  self = calloc (1, sizeof *self);
  if (!self)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a background model");
  self->base = *wanted;
  self->base.config.backend = CCL_BACKEND_CUDA;
  self->memory.account = &self->base.account;
  status = ccl_cuda_device_open (config->device, config->cuda_context, &self->device);
  if (status == CCL_OK) {
    self->base.device = self->device.index;
    memcpy (self->base.device_name, self->device.name, sizeof self->base.device_name);
    status = open_model (self);
    ccl_cuda_context_leave ();
  }
  if (status != CCL_OK) {
    cuda_motion_close (&self->base);
    return status;
  }
  *session = &self->base;
  return CCL_OK;
}

/* A frame on its way to the device */

typedef struct Upload
{
  CudaMotion *self;
  const CclImage *image;
  size_t offset, pitch, row; /* in the session's own image; bytes of a row */
  uint32_t rows;
  cudaStream_t stream;
} Upload;

static CclStatus
wait_for_pixels (CudaMotion *self, const CclImage *image, cudaStream_t stream)
{
  cudaError_t error = cudaSuccess;

  if (image->stream && image->stream != stream && image->stream != self->awaited) {
    self->awaited = image->stream;
    error = CCL_CUDA (cudaEventRecord, self->ready, image->stream);
    if (error == cudaSuccess)
      error = CCL_CUDA (cudaStreamWaitEvent, stream, self->ready, 0);
  }
  return ccl_cuda_check (error, "waiting for a frame's pixels");
}

static CclStatus
ensure_buffers (CudaMotion *self, bool staged)
{
  CclModelFrame frame = frame_of_size (self, self->base.config.width, self->base.config.height);
  size_t size = frame_bytes (&frame);
  CclStatus status = CCL_OK;

  if (!self->image)
    status = ccl_cuda_allocate_device (&self->memory, &self->image, size);
  if (status == CCL_OK && staged && !self->staging)
    status = ccl_cuda_allocate_pinned (&self->memory, &self->staging, size);
  return status;
}

/* Copies one plane to the session's own image. */
static CclStatus
copy_plane (const Upload *upload)
{
  CudaMotion *self = upload->self;
  const CclImage *image = upload->image;
  const uint8_t *from = image->data;
  uint8_t *to = self->image + upload->offset;
  size_t stride = image->stride;
  cudaError_t error;

  if (image->memory == CCL_MEMORY_ARRAY) {
    error = CCL_CUDA (cudaMemcpy2DFromArrayAsync, to, upload->pitch,
                      (cudaArray_const_t) (const void *) from, 0, 0, upload->row, upload->rows,
                      cudaMemcpyDeviceToDevice, upload->stream);
    return ccl_cuda_check (error, "copying a frame");
  }
  if (image->memory == CCL_MEMORY_HOST) {
    for (uint32_t y = 0; y < upload->rows; y++)
      memcpy (self->staging + upload->offset + y * upload->pitch, from + y * stride, upload->row);
    from = self->staging + upload->offset;
    stride = upload->pitch;
  }
  error = CCL_CUDA (cudaMemcpy2DAsync, to, upload->pitch, from, stride, upload->row, upload->rows,
                    cudaMemcpyHostToDevice, upload->stream);
  return ccl_cuda_check (error, "transferring a frame to the device");
}

/* Makes a plane readable for kernels, at @plane. */
static CclStatus
take_plane (Upload *upload, CclModelPlane *plane)
{
  CudaMotion *self = upload->self;
  const CclImage *image = upload->image;
  void *mapped = NULL;
  CclStatus status = CCL_OK;

  *plane = (CclModelPlane){ image->data, image->stride };
  if (image->memory == CCL_MEMORY_DEVICE || image->memory == CCL_MEMORY_ARRAY)
    status = wait_for_pixels (self, image, upload->stream);
  if (status != CCL_OK || image->memory == CCL_MEMORY_DEVICE)
    return status;
  if (image->memory == CCL_MEMORY_PINNED && self->device.shares_memory) {
    status = ccl_cuda_check (CCL_CUDA (cudaHostGetDevicePointer, &mapped, (void *) image->data, 0),
                             "mapping pinned memory");
    plane->samples = mapped;
    return status;
  }
  status = ensure_buffers (self, image->memory == CCL_MEMORY_HOST);
  if (status == CCL_OK)
    status = copy_plane (upload);
  *plane = (CclModelPlane){ self->image + upload->offset, upload->pitch };
  return status;
}

/* Where chroma in turns begins, NULL if it is not in turns. */
static const uint8_t *
find_pairs (const CclMotionImage *image)
{
  const CclImage *first = &image->chroma[0], *second = &image->chroma[1];

  if (image->chroma_step != 2 || first->memory != second->memory)
    return NULL;
  if (first->memory == CCL_MEMORY_ARRAY)
    return first->data;
  if (first->stride != second->stride)
    return NULL;
  if (first->data + 1 == second->data)
    return first->data;
  return second->data + 1 == first->data ? second->data : NULL;
}

static CclStatus
take_chroma (CudaMotion *self, const CclMotionImage *image, const Layout *layout,
             CclModelFrame *frame, cudaStream_t stream)
{
  const uint8_t *pairs = find_pairs (image);
  CclImage joined = image->chroma[0];
  Upload upload = { .self = self,
                    .image = &joined,
                    .offset = layout->chroma_at,
                    .pitch = layout->chroma,
                    .row = 2 * (size_t) frame->chroma_width,
                    .rows = frame->chroma_height,
                    .stream = stream };
  CclStatus status;

  frame->step = image->chroma_step;
  if (pairs) {
    joined.data = pairs;
    status = take_plane (&upload, &frame->planes[1]);
    set_pairs (frame, frame->planes[1].samples, frame->planes[1].pitch);
    return status;
  }
  upload.row = (size_t) (frame->chroma_width - 1) * image->chroma_step + 1;
  status = take_plane (&upload, &frame->planes[1]);
  if (status != CCL_OK)
    return status;
  joined = image->chroma[1];
  upload.offset += layout->chroma_bytes;
  return take_plane (&upload, &frame->planes[2]);
}

static CclStatus
take_frame (CudaMotion *self, const CclMotionImage *image, CclModelFrame *frame,
            cudaStream_t stream)
{
  const CclMotionConfig *config = &self->base.config;
  Upload upload = { .self = self, .image = &image->luma, .stream = stream };
  Layout layout;
  CclStatus status;

  *frame = frame_of_size (self, config->width, config->height);
  layout = layout_of (frame);
  upload.pitch = layout.luma;
  upload.row = frame->width;
  upload.rows = frame->height;
  status = take_plane (&upload, &frame->planes[0]);
  return status == CCL_OK && has_chroma (self) ? take_chroma (self, image, &layout, frame, stream)
                                               : status;
}

static CclModelMask
model_mask (const CclMask *mask)
{
  return mask ? (CclModelMask){ mask->words, mask->pitch } : (CclModelMask){ NULL, 0 };
}

/* Makes a stream wait for the last frame, if that is in another one. */
static CclStatus
wait_for_last (CudaMotion *self, cudaStream_t stream)
{
  if (!self->last_stream || self->last_stream == stream)
    return CCL_OK;
  return ccl_cuda_check (CCL_CUDA (cudaStreamWaitEvent, stream, self->done, 0),
                         "waiting for the last frame");
}

static CclStatus
enqueue_enlarged (CudaMotion *self, int i, cudaStream_t stream)
{
  const CclMotionConfig *config = &self->base.config;
  CclModelMask from = model_mask (&self->base.masks[i]);
  CclModelMask to = model_mask (&self->base.enlarged[i]);

  return ccl_cuda_check (
      ccl_cuda_model_enlarge (&from, &to, config->width, config->height, config->scale, stream),
      "enlarging a mask");
}

static CclStatus
enqueue_frame (CudaMotion *self, const CclMotionJob *job, cudaStream_t stream)
{
  CclModelTask task = {
    .state = self->state,
    .step = job->step,
    .mask = model_mask (job->mask),
    .shadows = model_mask (job->shadows),
    .most = job->most,
    .newest = self->newest,
    .silent = job->silent,
  };
  CclModelFrame frame;
  CclStatus status;

  self->awaited = NULL;
  status = take_frame (self, job->image, &frame, stream);
  if (status != CCL_OK)
    return status;
  task.frame = frame;
  if (self->begun)
    status = ccl_cuda_check (CCL_CUDA (cudaEventRecord, self->begun, stream), "measuring time");
  if (status == CCL_OK && self->base.config.scale > 1) {
    task.frame = self->small;
    status = ccl_cuda_check (
        ccl_cuda_model_shrink (&frame, &self->small, self->base.config.scale, stream),
        "reducing a frame");
  }
  *self->foreground = NO_FOREGROUND;
  if (status == CCL_OK)
    status = ccl_cuda_check (ccl_cuda_model_apply (&task, stream), "updating a background model");
  if (status == CCL_OK)
    self->newest ^= job->step.learn;
  for (int i = 0; i < 2 && status == CCL_OK && job->enlarge; i++)
    if (i == 0 || job->shadows)
      status = enqueue_enlarged (self, i, stream);
  return status;
}

static CclStatus
cuda_motion_apply (CclMotionSession *session, const CclMotionJob *job)
{
  CudaMotion *self = (CudaMotion *) session;
  cudaStream_t stream = job->stream ? job->stream : self->stream;
  CclStatus status = ccl_cuda_context_enter (self->device.context);

  if (status != CCL_OK)
    return status;
  status = wait_for_last (self, stream);
  if (status != CCL_OK) {
    ccl_cuda_context_leave ();
    return status;
  }
  status = enqueue_frame (self, job, stream);
  self->last_stream = stream;
  /* also after an error: the caller may free its pixels once that is through */
  if (ccl_cuda_check (CCL_CUDA (cudaEventRecord, self->done, stream),
                      "marking the end of a frame") != CCL_OK &&
      status == CCL_OK)
    status = CCL_ERROR_DEVICE;
  if (status != CCL_OK)
    CCL_CUDA (cudaStreamSynchronize, stream);
  ccl_cuda_context_leave ();
  return status;
}

static uint64_t
get_foreground (const CudaMotion *self)
{
  return __atomic_load_n (self->foreground, __ATOMIC_ACQUIRE);
}

static CclStatus
cuda_motion_finish (CclMotionSession *session, bool all, uint64_t *foreground)
{
  CudaMotion *self = (CudaMotion *) session;
  CclStatus status = ccl_cuda_context_enter (self->device.context);

  if (status != CCL_OK)
    return status;
  if (all || self->begun || get_foreground (self) == NO_FOREGROUND)
    status =
        ccl_cuda_check (CCL_CUDA (cudaEventSynchronize, self->done), "updating a background model");
  if (status == CCL_OK)
    *foreground = get_foreground (self);
  if (status == CCL_OK && self->begun)
    session->time = ccl_cuda_nanoseconds (self->begun, self->done);
  ccl_cuda_context_leave ();
  return status;
}

static CclStatus
cuda_motion_read (CclMotionSession *session, const CclMask *from, CclMask *to)
{
  CudaMotion *self = (CudaMotion *) session;
  const size_t word = sizeof *from->words;
  CclStatus status = ccl_cuda_context_enter (self->device.context);
  cudaError_t error;

  if (status != CCL_OK)
    return status;
  status = wait_for_last (self, self->stream);
  if (status == CCL_OK) {
    error = CCL_CUDA (cudaMemcpy2DAsync, to->words, to->pitch * word, from->words,
                      from->pitch * word, ccl_mask_words (to->width) * word, to->height,
                      cudaMemcpyDeviceToHost, self->stream);
    if (error == cudaSuccess)
      error = CCL_CUDA (cudaStreamSynchronize, self->stream);
    status = ccl_cuda_check (error, "transferring a mask");
  }
  ccl_cuda_context_leave ();
  return status;
}

/* Picks the valid copy of each row. */
static CclStatus
read_background (CudaMotion *self, uint16_t *rows, uint8_t *pixels, size_t stride)
{
  const CclModelState *state = &self->state;
  const size_t size = state->pitch * self->base.height;
  cudaError_t error = cudaSuccess;

  for (int i = 0; i < 2 && error == cudaSuccess; i++)
    error = CCL_CUDA (cudaMemcpyAsync, rows + i * size, state->background[i], size * sizeof *rows,
                      cudaMemcpyDeviceToHost, self->stream);
  if (error == cudaSuccess)
    error = CCL_CUDA (cudaStreamSynchronize, self->stream);
  for (uint32_t y = 0; y < self->base.height && error == cudaSuccess; y++) {
    uint32_t copy = self->newest >> (y >> 1) % CCL_MOTION_GROUPS & 1;
    const uint16_t *row = rows + copy * size + y * state->pitch;

    for (uint32_t x = 0; x < self->base.width; x++)
      pixels[y * stride + x] = ccl_motion_level (row[x]);
  }
  return ccl_cuda_check (error, "transferring a background");
}

static CclStatus
cuda_motion_background (CclMotionSession *session, uint8_t *pixels, size_t stride)
{
  CudaMotion *self = (CudaMotion *) session;
  uint16_t *rows = malloc (2 * self->state.pitch * session->height * sizeof *rows);
  CclStatus status;

  if (!rows)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for a background");
  status = ccl_cuda_context_enter (self->device.context);
  if (status == CCL_OK) {
    status = wait_for_last (self, self->stream);
    if (status == CCL_OK)
      status = read_background (self, rows, pixels, stride);
    ccl_cuda_context_leave ();
  }
  free (rows);
  return status;
}

const CclMotionClass ccl_motion_cuda = {
  .id = CCL_BACKEND_CUDA,
  .open = cuda_motion_open,
  .apply = cuda_motion_apply,
  .finish = cuda_motion_finish,
  .read = cuda_motion_read,
  .background = cuda_motion_background,
  .close = cuda_motion_close,
};
