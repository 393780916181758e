/* cudaccl - CUDA backend: sessions and the path of a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/cpu/pool.h"
#include "cuda/session.h"

#include <stdlib.h>
#include <string.h>

static const CclAlgorithm *
cuda_algorithm (size_t index)
{
  const CclCudaAlgorithm *algorithm = ccl_cuda_algorithm (index);

  return algorithm ? &algorithm->info : NULL;
}

static const CclAlgorithm *
cuda_volume_algorithm (size_t index)
{
  const CclCudaAlgorithm *algorithm = ccl_cuda_volume_algorithm (index);

  return algorithm ? &algorithm->info : NULL;
}

void
ccl_cuda_synchronize (CudaSession *self)
{
  if (self->stream)
    CCL_CUDA (cudaStreamSynchronize, self->stream);
  if (self->results != self->stream)
    CCL_CUDA (cudaStreamSynchronize, self->results);
}

static void
cuda_close (CclSession *session)
{
  CudaSession *self = (CudaSession *) session;

  if (self->base.device >= 0 && ccl_cuda_context_enter (self->device.context) == CCL_OK) {
    ccl_cuda_synchronize (self);
    ccl_cuda_graphs_free (self);
    ccl_cuda_memory_free (&self->memory);
    for (int i = 0; i < N_EVENTS; i++) {
      if (self->events[i])
        CCL_CUDA (cudaEventDestroy, self->events[i]);
    }
    ccl_cuda_completion_close (&self->completion);
    ccl_cuda_stages_close (self);
    if (self->results != self->stream)
      CCL_CUDA (cudaStreamDestroy, self->results);
    if (self->stream)
      CCL_CUDA (cudaStreamDestroy, self->stream);
    ccl_cuda_api.cudaGetLastError ();
    ccl_cuda_context_leave ();
  }
  if (self->shares_pool)
    ccl_pool_shared_unref ();
  ccl_cuda_operations_close (&self->operations);
  free (self->work.tables);
  free (self);
}

/* Opens the device. On success, its context is entered. */
static CclStatus
open_device (CudaSession *self)
{
  CclConfig *config = &self->base.config;
  CclCudaDevice *device = &self->device;
  CclStatus status = ccl_cuda_device_open (config->device, config->cuda_context, device);

  if (status != CCL_OK)
    return status;
  /* The host's cores share power and memory with the device: a spinning one slows both. */
  if (device->shares_memory && config->sync == CCL_SYNC_AUTO)
    config->sync = CCL_SYNC_BLOCK;
  self->reads_pinned = config->map_pinned || device->shares_memory;
  self->work.frame.overlap = device->overlap;
  self->base.device = device->index;
  memcpy (self->base.device_name, device->name, sizeof self->base.device_name);
  return CCL_OK;
}

static CclStatus
open_queue (CudaSession *self)
{
  CclStatus status = ccl_cuda_stream_new (&self->stream);

  self->results = self->memory.stream = self->stream;
  ccl_cuda_timing_open (self);
  for (int i = 0; i < N_EVENTS && status == CCL_OK; i++) {
    bool measures = i <= EVENT_DOWNLOADED && self->timing_interval > 0;

    status = ccl_cuda_event_new (&self->events[i], measures ? 0 : cudaEventDisableTiming);
  }
  if (status == CCL_OK)
    status = ccl_cuda_completion_open (&self->completion, self->base.config.sync, &self->memory);
  return status;
}

static CclCudaWork
work_for (const CclSession *wanted)
{
  const CclConfig *config = &wanted->config;
  bool volume = wanted->slices > 0;

  return (CclCudaWork){
    /* info is the first member of its algorithm */
    .algorithm = (const CclCudaAlgorithm *) wanted->algorithm,
    .frame = { .width = config->width,
               .height = config->height,
               .connectivity = (uint8_t) config->connectivity },
    .components = { .slots = ccl_runs_per_row (config->width),
                    .slice_height = volume ? config->height / wanted->slices : 0 },
    .result = { .capacity = config->max_components },
    .wants = { .moments = config->second_order,
               .result_labels = config->labels || volume,
               .updates = config->updates },
    .feature_stage = config->features,
    .depth = wanted->slices,
  };
}

static CclStatus
open_work (CudaSession *self)
{
  CclCudaWork *work = &self->work;
  CclStatus status = open_queue (self);

  if (status == CCL_OK)
    status = ccl_cuda_stages_open (self);
  if (status == CCL_OK)
    status = work->algorithm->open (work, &self->device, &self->memory);
  if (status == CCL_OK && self->base.config.motion)
    status =
        ccl_cuda_model_open (&self->model, &self->base.model, &self->base.config, &self->memory);
  if (status == CCL_OK)
    status = ccl_cuda_operations_open (&self->operations, &self->base, work, &self->device,
                                       &self->memory);
  if (status == CCL_OK)
    status = ccl_cuda_result_allocate (self);
  self->source = work->frame;
  return status;
}

static CclStatus
cuda_open (const CclSession *wanted, CclSession **session)
{
  CudaSession *self = calloc (1, sizeof *self);
  CclStatus status;

  if (!self)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for an analyzer");
  self->base = *wanted;
  self->work = work_for (wanted);
  self->memory.account = &self->base.account;
  self->base.labels_first = self->work.algorithm->label;
  /* One byte at least: NULL would look like a failure. */
  self->work.tables = calloc (1, self->work.algorithm->tables_size + 1);

  status = self->work.tables ? open_device (self)
                             : ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for an analyzer");
  if (status == CCL_OK) {
    status = open_work (self);
    ccl_cuda_context_leave ();
  }
  if (status != CCL_OK) {
    cuda_close (&self->base);
    return status;
  }
  *session = &self->base;
  return CCL_OK;
}

/* Marks the end of what await_end() waits for, in the stream that finishes last. */
static CclStatus
mark_end (CudaSession *self, cudaStream_t stream)
{
  cudaError_t error = cudaSuccess;

  if (self->timed && !self->result_is_mapped)
    error = CCL_CUDA (cudaEventRecord, self->events[EVENT_DOWNLOADED], stream);
  if (error == cudaSuccess)
    error = ccl_cuda_completion_record (&self->completion, stream);
  return ccl_cuda_check (error, "marking the end of a frame");
}

static uint32_t
clamp_area (uint64_t area)
{
  return area < UINT32_MAX ? (uint32_t) area : UINT32_MAX;
}

static void
set_params (CudaSession *self, const CclParams *params)
{
  CclCudaResult *r = &self->work.result;
  uint64_t dropped = self->operations.min_area;
  uint64_t min_area = params->min_area > dropped ? params->min_area : dropped;

  self->source.threshold = params->threshold;
  self->source.invert = params->invert;
  r->min_area = clamp_area (min_area);
  r->max_area = clamp_area (params->max_area);
  if (min_area > UINT32_MAX)
    r->max_area = 0; /* drops everything: min_area is larger */
  r->min_width = params->min_width;
  r->min_height = params->min_height;
  r->top_k = (CclTopK){ 0, 0 };
  self->work.keep_components = false;
}

/* Enqueues the model, whose mask becomes the source. */
static CclStatus
find_motion (CudaSession *self)
{
  const CclModelMask *mask = ccl_cuda_model_mask (&self->model, 0);
  cudaError_t error = ccl_cuda_mark (self, EVENT_UPLOADED);

  if (error == cudaSuccess)
    error = ccl_cuda_model_enqueue (&self->model, self->stream);
  ccl_cuda_stage (&self->work, "model", self->stream);
  self->source.pixels = (const uint8_t *) mask->words;
  self->source.pitch = mask->pitch * sizeof *mask->words;
  self->source.bits = 1;
  self->source.threshold = 0; /* unused, so graphs must not depend on it */
  return ccl_cuda_check (error, "updating a background model");
}

static CclStatus
submit_frame (CudaSession *self, const CclImage *image, const CclParams *params)
{
  CclStatus status;

  self->label_map_is_here = self->masks_are_here[0] = self->masks_are_here[1] = false;
  self->stages.n = self->stages.labelling = self->stages.operations = 0;
  ccl_cuda_timing_begin (self);
  set_params (self, params);
  self->is_uploaded = image->memory != CCL_MEMORY_DEVICE;
  status = ccl_cuda_transfer_allocate (self, image);
  if (status == CCL_OK && self->is_uploaded)
    status = ccl_cuda_check (ccl_cuda_mark (self, EVENT_START), "measuring time");
  if (status == CCL_OK)
    status = ccl_cuda_upload (self, image);
  if (status == CCL_OK && self->model.base)
    status = find_motion (self);
  self->work.frame = self->operations.n > 0 ? self->operations.clean : self->source;
  if (status == CCL_OK)
    status = ccl_cuda_check (ccl_cuda_replay_frame (self), "analysing a frame");
  if (status == CCL_OK)
    status = mark_end (self, self->results);
  if (status == CCL_OK)
    self->model.newest ^= self->base.model.step.learn;
  else
    ccl_cuda_synchronize (self); /* the caller may free its pixels now */
  return status;
}

static CclStatus
await_end (CudaSession *self)
{
  return ccl_cuda_check (ccl_cuda_completion_wait (&self->completion), "analysing a frame");
}

/* Enqueues one round of the search for top-k, its histogram's transfer included. */
static cudaError_t
enqueue_count (CudaSession *self, const CclTopKSearch *search)
{
  const CclCudaWork *work = &self->work;
  cudaError_t error = work->algorithm->count_areas (work, search, self->stream);

  if (error != cudaSuccess)
    return error;
  return CCL_CUDA (cudaMemcpyAsync, self->histogram, work->result.histogram,
                   CCL_TOPK_BINS * sizeof *self->histogram, cudaMemcpyDeviceToHost, self->stream);
}

/* Selects the result again, with the largest components that fit. */
static CclStatus
select_top_k (CudaSession *self)
{
  CclCudaWork *work = &self->work;
  CclTopKSearch search;
  cudaError_t error = cudaSuccess;
  CclStatus status;

  if (work->algorithm->leaves_components && !work->algorithm->leaves_components (work)) {
    work->keep_components = true;
    error = work->algorithm->enqueue (work, self->stream); /* takes the time of one more frame */
  }
  status = ccl_cuda_check (error, "analysing a frame");
  ccl_topk_begin (&search, self->base.config.max_components);
  for (unsigned round = 0; round < CCL_TOPK_ROUNDS && status == CCL_OK; round++) {
    status = ccl_cuda_check (enqueue_count (self, &search), "searching for the largest components");
    if (status == CCL_OK)
      status = mark_end (self, self->stream);
    if (status == CCL_OK)
      status = await_end (self);
    ccl_topk_narrow (&search, self->histogram);
  }
  work->result.top_k = search.top_k;
  ccl_cuda_stages_rewind (self);
  if (status == CCL_OK)
    error = ccl_cuda_enqueue_select (self);
  if (status == CCL_OK && error == cudaSuccess)
    error = ccl_cuda_enqueue_first_transfer (self);
  if (status == CCL_OK)
    status = ccl_cuda_check (error, "selecting the components");
  if (status == CCL_OK)
    status = mark_end (self, self->results);
  return status == CCL_OK ? await_end (self) : status;
}

static uint64_t
nanoseconds (CudaSession *self, int from, int to)
{
  return ccl_cuda_nanoseconds (self->events[from], self->events[to]);
}

static void
read_times (CudaSession *self)
{
  CclTiming *timing = &self->base.timing;
  cudaEvent_t last;

  timing->measured = self->timed;
  timing->upload = timing->analysis = timing->download = timing->model = 0;
  if (!self->timed)
    return;
  /* The completion may come before the driver has an event's time. */
  last = self->events[self->result_is_mapped ? EVENT_ANALYSED : EVENT_DOWNLOADED];
  if (CCL_CUDA (cudaEventSynchronize, last) != cudaSuccess)
    ccl_cuda_api.cudaGetLastError ();
  if (self->is_uploaded || self->is_stacked)
    timing->upload = nanoseconds (self, EVENT_START, EVENT_UPLOADED);
  timing->analysis = nanoseconds (self, EVENT_UPLOADED, EVENT_ANALYSED);
  if (self->model.base)
    timing->model = nanoseconds (self, EVENT_UPLOADED, EVENT_MODELLED);
  if (!self->result_is_mapped)
    timing->download = nanoseconds (self, EVENT_ANALYSED, EVENT_DOWNLOADED);
  ccl_cuda_stages_read (self, self->events[EVENT_UPLOADED]);
}

static CclStatus
collect_frame (CudaSession *self, CclComponents *components)
{
  CclSession *session = &self->base;
  CclStatus status = await_end (self);
  uint32_t first = ccl_cuda_first_transfer (self), found;

  if (status != CCL_OK)
    return status;
  if (self->model.base)
    self->base.model.foreground = *self->model.foreground;
  found = self->result->kept;
  if (found > session->config.max_components)
    status = select_top_k (self);
  if (status == CCL_OK && !self->result_is_mapped && self->result->kept > first) {
    status = ccl_cuda_check (ccl_cuda_enqueue_transfer (self, first, self->result->kept),
                             "transferring the components");
    if (status == CCL_OK)
      status = mark_end (self, self->results);
    if (status == CCL_OK)
      status = await_end (self);
  }
  if (status == CCL_OK)
    status = ccl_cuda_check (ccl_cuda_updates_read (self), "reading the update counts");
  if (status != CCL_OK)
    return status;
  read_times (self);
  self->is_stacked = false;
  *components = (CclComponents){
    .items = (const CclComponent *) (self->result + 1),
    .count = self->result->kept,
    .found = found,
  };
  return CCL_OK;
}

static CclStatus
collect_labels (CudaSession *self, CclLabels *labels)
{
  const CclConfig *config = &self->base.config;
  CclStatus status = CCL_OK;

  if (!self->label_map_is_here) {
    status = ccl_cuda_check (
        CCL_CUDA (cudaMemcpyAsync, self->label_map, self->work.result.label_map,
                  ccl_cuda_label_map_size (config), cudaMemcpyDeviceToHost, self->stream),
        "transferring the label map");
    if (status == CCL_OK)
      status = mark_end (self, self->stream);
    if (status == CCL_OK)
      status = await_end (self);
    self->label_map_is_here = status == CCL_OK;
  }
  if (status == CCL_OK)
    *labels = (CclLabels){ self->label_map, config->width * sizeof *self->label_map };
  return status;
}

/* Transfers the mask, @i 0, or the shadows of the last frame. */
static CclStatus
collect_mask (CudaSession *self, int i, CclMask *mask)
{
  const CclMask *to = &self->masks[i];
  const size_t word = sizeof *to->words;
  const void *from = self->work.frame.pixels;
  size_t pitch = self->work.frame.pitch;
  CclStatus status = CCL_OK;

  if (i == 1) {
    from = ccl_cuda_model_mask (&self->model, 1)->words;
    pitch = ccl_cuda_model_mask (&self->model, 1)->pitch * word;
  }
  if (!self->masks_are_here[i]) {
    status = ccl_cuda_check (CCL_CUDA (cudaMemcpy2DAsync, to->words, to->pitch * word, from, pitch,
                                       to->pitch * word, to->height, cudaMemcpyDeviceToHost,
                                       self->stream),
                             "transferring a mask");
    if (status == CCL_OK)
      status = mark_end (self, self->stream);
    if (status == CCL_OK)
      status = await_end (self);
    /* operations leave anything there */
    for (uint32_t y = 1; status == CCL_OK && y <= to->height; y++)
      to->words[y * to->pitch - 1] &= ccl_mask_last_bits (to->width);
    self->masks_are_here[i] = status == CCL_OK;
  }
  if (status == CCL_OK)
    *mask = *to;
  return status;
}

/* The session's functions, in its context */

static CclStatus
cuda_submit (CclSession *session, const CclImage *image, const CclParams *params)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->device.context);

  if (status != CCL_OK)
    return status;
  status = submit_frame (self, image, params);
  ccl_cuda_context_leave ();
  return status;
}

static CclStatus
cuda_collect (CclSession *session, CclComponents *components)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->device.context);

  if (status != CCL_OK)
    return status;
  status = collect_frame (self, components);
  if (status != CCL_OK)
    ccl_cuda_synchronize (self); /* the caller may free its pixels now */
  ccl_cuda_context_leave ();
  return status;
}

static CclStatus
cuda_labels (CclSession *session, CclLabels *labels)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->device.context);

  if (status != CCL_OK)
    return status;
  status = collect_labels (self, labels);
  ccl_cuda_context_leave ();
  return status;
}

static CclStatus
get_mask (CclSession *session, int i, CclMask *mask)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->device.context);

  if (status != CCL_OK)
    return status;
  status = collect_mask (self, i, mask);
  ccl_cuda_context_leave ();
  return status;
}

static CclStatus
cuda_mask (CclSession *session, CclMask *mask)
{
  return get_mask (session, 0, mask);
}

static CclStatus
cuda_shadows (CclSession *session, CclMask *shadows)
{
  return get_mask (session, 1, shadows);
}

static CclStatus
cuda_background (CclSession *session, uint8_t *pixels, size_t stride)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->device.context);

  if (status != CCL_OK)
    return status;
  status = ccl_cuda_model_background (&self->model, pixels, stride, self->stream);
  ccl_cuda_context_leave ();
  return status;
}

/* In the device's primary context, which outlives all sessions. */
static CclStatus
cuda_pinned_alloc (int device, size_t size, void **memory)
{
  CUcontext context = NULL;
  CclStatus status = CCL_ERROR_NO_DEVICE;
  void *allocated;

  if (ccl_cuda_count_devices () > 0)
    status = ccl_cuda_context_find (device, &context);
  if (status == CCL_OK)
    status = ccl_cuda_context_enter (context);
  if (status != CCL_OK)
    return status;
  status = ccl_cuda_check (
      CCL_CUDA (cudaHostAlloc, &allocated, size, cudaHostAllocPortable | cudaHostAllocMapped),
      "allocating pinned memory");
  if (status == CCL_OK)
    *memory = allocated;
  ccl_cuda_context_leave ();
  return status;
}

static void
cuda_pinned_free (int device, void *memory)
{
  CUcontext context = NULL;
  bool entered = ccl_cuda_context_find (device, &context) == CCL_OK &&
                 ccl_cuda_context_enter (context) == CCL_OK;

  /* Even if the context is gone: the memory belongs to the host. */
  CCL_CUDA (cudaFreeHost, memory);
  ccl_cuda_api.cudaGetLastError ();
  if (entered)
    ccl_cuda_context_leave ();
}

static CclStatus
cuda_primary_context (int device, void **context)
{
  CUcontext primary = NULL;
  CclStatus status = ccl_cuda_context_find (device, &primary);

  if (status == CCL_OK)
    *context = primary;
  return status;
}

const CclBackendClass ccl_backend_cuda = {
  .id = CCL_BACKEND_CUDA,
  .device_count = ccl_cuda_count_devices,
  .algorithm = cuda_algorithm,
  .open = cuda_open,
  .submit = cuda_submit,
  .collect = cuda_collect,
  .labels = cuda_labels,
  .mask = cuda_mask,
  .shadows = cuda_shadows,
  .background = cuda_background,
  .close = cuda_close,
  .volume_algorithm = cuda_volume_algorithm,
  .slices = ccl_cuda_slices,
  .stack = ccl_cuda_stack,
  .pinned_alloc = cuda_pinned_alloc,
  .pinned_free = cuda_pinned_free,
  .primary_context = cuda_primary_context,
};
