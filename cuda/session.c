/* cudaccl - CUDA backend: sessions and the way of a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/session.h"

#include <stdio.h>
#include <stdlib.h>

static int
cuda_device_count (void)
{
  int count = 0;
  cudaError_t error = cudaGetDeviceCount (&count);

  if (error == cudaSuccess && count == 0)
    error = cudaErrorNoDevice;
  if (ccl_cuda_check (error, "looking for devices") != CCL_OK)
    return 0;
  return count;
}

static const CclAlgorithm *
cuda_algorithm (size_t index)
{
  const CclCudaAlgorithm *algorithm = ccl_cuda_algorithm (index);

  return algorithm ? &algorithm->info : NULL;
}

static void
synchronize (CudaSession *self)
{
  if (self->stream)
    cudaStreamSynchronize (self->stream);
  if (self->results != self->stream)
    cudaStreamSynchronize (self->results);
}

static void
cuda_close (CclSession *session)
{
  CudaSession *self = (CudaSession *) session;

  if (self->base.device >= 0 && ccl_cuda_context_enter (self->context) == CCL_OK) {
    synchronize (self);
    ccl_cuda_graphs_free (self);
    ccl_cuda_tables_free (self);
    for (int i = 0; i < N_EVENTS; i++) {
      if (self->events[i])
        cudaEventDestroy (self->events[i]);
    }
    ccl_cuda_stages_close (self);
    if (self->results != self->stream)
      cudaStreamDestroy (self->results);
    if (self->stream)
      cudaStreamDestroy (self->stream);
    cudaGetLastError ();
    ccl_cuda_context_leave ();
  }
  free (self);
}

static uint32_t
min_u32 (uint32_t a, uint32_t b)
{
  return a < b ? a : b;
}

/* How many warps share a row, so that a small frame fills the device, too. */
static uint32_t
parts_of_row (const CclCudaFrame *frame, const struct cudaDeviceProp *device)
{
  uint64_t warps = (uint64_t) device->multiProcessorCount *
                   (uint64_t) device->maxThreadsPerMultiProcessor / (uint64_t) device->warpSize;
  uint64_t wanted = 2 * warps / frame->height, most = (frame->slots - 1) / 32 + 1;

  if (wanted > most)
    wanted = most;
  return wanted > 0 ? (uint32_t) wanted : 1;
}

/* High tiles have less border, low ones fill the device earlier. */
static CclTiles
tiles_of_frame (const CclCudaFrame *frame, const struct cudaDeviceProp *device)
{
  uint32_t columns = (frame->width - 1) / TILE_WIDTH + 1;
  uint64_t high = (uint64_t) columns * ((frame->height - 1) / TILE_MAX_HEIGHT + 1);
  uint32_t height =
      high >= 8 * (uint64_t) device->multiProcessorCount ? TILE_MAX_HEIGHT : TILE_MAX_HEIGHT / 2;

  return (CclTiles){
    .height = height,
    .columns = columns,
    .column_reciprocal = UINT32_MAX / columns,
    .group_reciprocal = UINT32_MAX / TILE_GROUPS (columns),
    .strips = (frame->height - 1) / height + 1,
    .capacity =
        ccl_runs_per_row (min_u32 (frame->width, TILE_WIDTH)) * min_u32 (frame->height, height),
  };
}

/* Whether this build's kernels run on the device of the context, and what depends on it. */
static CclStatus
check_device (CudaSession *self, int device)
{
  struct cudaDeviceProp properties;
  bool overlap;
  CclStatus status =
      ccl_cuda_check (cudaGetDeviceProperties (&properties, device), "asking the device");

  if (status != CCL_OK)
    return status;
  if (properties.major < 7)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "CUDA device %d (%s) has compute capability %d.%d; 7.0 is needed, or backend "
                     "cpu",
                     device, properties.name, properties.major, properties.minor);
  status = ccl_cuda_check (ccl_cuda_probe (&overlap), "loading the kernels");
  if (status != CCL_OK)
    return status;
  self->frame.overlap = overlap && properties.major >= 9;
  snprintf (self->base.device_name, sizeof self->base.device_name, "%.255s", properties.name);
  self->reads_pinned = self->base.config.map_pinned || properties.integrated;
  self->frame.parts = parts_of_row (&self->frame, &properties);
  self->frame.tiles = tiles_of_frame (&self->frame, &properties);
  return ccl_cuda_check (ccl_cuda_strips (&self->frame, device, &self->frame.strips),
                         "looking for the best way to launch kernels");
}

/* Opens device number @device, in the session's context if it has one. On success its context is
 * entered. */
static CclStatus
open_device (CudaSession *self, int device)
{
  CUcontext context = self->base.config.cuda_context;
  CclStatus status = ccl_cuda_context_find (device, &context);

  if (status == CCL_OK)
    status = ccl_cuda_context_enter (context);
  if (status != CCL_OK)
    return status;
  status = check_device (self, device);
  if (status != CCL_OK) {
    ccl_cuda_context_leave ();
    return status;
  }
  self->context = context;
  self->base.device = device;
  return CCL_OK;
}

/* Opens the device of the context that was given. */
static CclStatus
open_given_context (CudaSession *self)
{
  int device, wanted = self->base.config.device;
  CclStatus status = ccl_cuda_context_device (self->base.config.cuda_context, &device);

  if (status != CCL_OK)
    return status;
  if (wanted >= 0 && wanted != device)
    return ccl_fail (CCL_ERROR_INVALID,
                     "the CUDA context is one of device %d, not of %d; name the same device, or -1",
                     device, wanted);
  return open_device (self, device);
}

/* Opens the device that was asked for, or the first that works. */
static CclStatus
choose_device (CudaSession *self)
{
  int count = cuda_device_count (), wanted = self->base.config.device;
  CclStatus status = CCL_ERROR_NO_DEVICE;

  if (self->base.config.cuda_context)
    return open_given_context (self);
  if (wanted >= 0)
    return open_device (self, wanted);
  for (int device = 0; device < count && status != CCL_OK; device++)
    status = open_device (self, device);
  return status;
}

static CclStatus
open_queue (CudaSession *self)
{
  CclStatus status = ccl_cuda_check (
      cudaStreamCreateWithFlags (&self->stream, cudaStreamNonBlocking), "making a stream");

  self->results = self->stream;
  for (int i = 0; i < N_EVENTS && status == CCL_OK; i++) {
    unsigned flags = i == EVENT_DONE ? ccl_cuda_wait_flags (self->base.config.sync) : 0;

    if (i == EVENT_READY || i == EVENT_RESULT || !self->base.config.timing)
      flags |= cudaEventDisableTiming;

    status = ccl_cuda_check (cudaEventCreateWithFlags (&self->events[i], flags), "making an event");
  }
  return status;
}

static CclStatus
cuda_open (const CclSession *wanted, CclSession **session)
{
  CudaSession *self = calloc (1, sizeof *self);
  const CclConfig *config = &wanted->config;
  CclStatus status;

  if (!self)
    return ccl_fail (CCL_ERROR_NO_MEMORY, "out of memory for an analyzer");
  self->base = *wanted;
  /* info is the first member of its algorithm */
  self->algorithm = (const CclCudaAlgorithm *) wanted->algorithm;
  self->base.labels_first = self->algorithm->label;
  self->frame = (CclCudaFrame){
    .width = config->width,
    .height = config->height,
    .connectivity = (uint8_t) config->connectivity,
    .slots = ccl_runs_per_row (config->width),
    .edges_pitch = (config->width - 1) / 32 + 1,
    .capacity = config->max_components,
    .label = self->algorithm->label,
    .labelled.pitch = 2 * ccl_runs_per_row (config->width),
    .feature_stage = config->features,
    .volume.height = wanted->slices ? config->height / wanted->slices : 0,
    .volume.depth = wanted->slices,
  };
  self->image_pitch = ((size_t) config->width + 15) / 16 * 16;

  status = choose_device (self);
  if (status == CCL_OK) {
    status = open_queue (self);
    if (status == CCL_OK)
      status = ccl_cuda_stages_open (self);
    if (status == CCL_OK)
      status = ccl_cuda_tables_allocate (self);
    ccl_cuda_context_leave ();
  }
  if (status != CCL_OK) {
    cuda_close (&self->base);
    return status;
  }
  *session = &self->base;
  return CCL_OK;
}

/* Marks the end of what ccl_cuda_wait() waits for, in the stream where it happens last. */
static CclStatus
end (CudaSession *self, cudaStream_t stream)
{
  return ccl_cuda_check (cudaEventRecord (self->events[EVENT_DONE], stream),
                         "marking the end of a frame");
}

static uint32_t
clamp_area (uint64_t area)
{
  return area < UINT32_MAX ? (uint32_t) area : UINT32_MAX;
}

static void
set_params (CclCudaFrame *frame, const CclParams *params)
{
  frame->threshold = params->threshold;
  frame->flip = params->invert;
  frame->min_area = clamp_area (params->min_area);
  frame->max_area = clamp_area (params->max_area);
  if (params->min_area > UINT32_MAX)
    frame->max_area = 0; /* nothing is that large */
  frame->cut = (CclCut){ 0, 0 };
}

static CclStatus
submit_frame (CudaSession *self, const CclImage *image, const CclParams *params)
{
  CclStatus status;

  self->map_is_here = false;
  self->stages.n = self->stages.labelling = 0;
  set_params (&self->frame, params);
  self->is_uploaded = image->memory != CCL_MEMORY_DEVICE;
  status = ccl_cuda_transfer_allocate (self, image->memory);
  if (status == CCL_OK && self->is_uploaded)
    status = ccl_cuda_check (ccl_cuda_mark (self, EVENT_START), "measuring time");
  if (status == CCL_OK)
    status = ccl_cuda_upload (self, image);
  if (status == CCL_OK)
    status = ccl_cuda_check (ccl_cuda_enqueue_analysis (self), "analysing a frame");
  if (status == CCL_OK)
    status = end (self, self->results);
  if (status != CCL_OK)
    synchronize (self); /* the caller may free its pixels now */
  return status;
}

static CclStatus
finish (CudaSession *self)
{
  return ccl_cuda_check (ccl_cuda_wait (self->events[EVENT_DONE], self->base.config.sync),
                         "analysing a frame");
}

/* Finds the cut that leaves as many components as fit, and compacts again with it. */
static CclStatus
cut_down (CudaSession *self)
{
  CclCutSearch search;
  CclStatus status = CCL_OK;

  ccl_cut_begin (&search, self->base.config.max_components);
  for (unsigned round = 0; round < CCL_CUT_ROUNDS && status == CCL_OK; round++) {
    size_t size = CCL_CUT_BINS * sizeof *self->histogram;
    cudaError_t error = self->algorithm->histogram (&self->frame, &search, self->stream);

    if (error == cudaSuccess)
      error = cudaMemcpyAsync (self->histogram, self->frame.histogram, size, cudaMemcpyDeviceToHost,
                               self->stream);
    status = ccl_cuda_check (error, "looking for the largest components");
    if (status == CCL_OK)
      status = end (self, self->stream);
    if (status == CCL_OK)
      status = finish (self);
    ccl_cut_narrow (&search, self->histogram);
  }
  self->frame.cut = search.cut;
  ccl_cuda_stages_rewind (self);
  if (status == CCL_OK)
    status = ccl_cuda_check (ccl_cuda_enqueue_result (self), "compacting the components");
  if (status == CCL_OK)
    status = end (self, self->results);
  return status == CCL_OK ? finish (self) : status;
}

static uint64_t
nanoseconds (CudaSession *self, int from, int to)
{
  return ccl_cuda_nanoseconds (self->events[from], self->events[to]);
}

static CclStatus
collect_frame (CudaSession *self, CclComponents *components)
{
  CclSession *session = &self->base;
  CclStatus status = finish (self);
  uint32_t first = ccl_cuda_first_transfer (self), found;

  if (status != CCL_OK)
    return status;
  found = self->result->kept;
  if (found > session->config.max_components)
    status = cut_down (self);
  if (status == CCL_OK && !self->result_is_mapped && self->result->kept > first) {
    status = ccl_cuda_check (ccl_cuda_enqueue_transfer (self, first, self->result->kept),
                             "transferring the components");
    if (status == CCL_OK)
      status = end (self, self->results);
    if (status == CCL_OK)
      status = finish (self);
  }
  if (status == CCL_OK)
    status = ccl_cuda_check (ccl_cuda_updates_read (&self->frame, &session->updates, self->stream),
                             "counting");
  if (status != CCL_OK)
    return status;
  if (session->config.timing) {
    session->timing.upload =
        self->is_uploaded || self->is_stacked ? nanoseconds (self, EVENT_START, EVENT_UPLOADED) : 0;
    session->timing.analysis = nanoseconds (self, EVENT_UPLOADED, EVENT_ANALYSED);
    session->timing.download =
        self->result_is_mapped ? 0 : nanoseconds (self, EVENT_ANALYSED, EVENT_DONE);
    ccl_cuda_stages_read (self, self->events[EVENT_UPLOADED]);
  }
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

  if (!self->map_is_here) {
    status =
        ccl_cuda_check (cudaMemcpyAsync (self->map, self->frame.map, ccl_cuda_map_size (config),
                                         cudaMemcpyDeviceToHost, self->stream),
                        "transferring the label map");
    if (status == CCL_OK)
      status = end (self, self->stream);
    if (status == CCL_OK)
      status = finish (self);
    self->map_is_here = status == CCL_OK;
  }
  if (status == CCL_OK)
    *labels = (CclLabels){ self->map, config->width * sizeof *self->map };
  return status;
}

/* The same in the session's context. */

static CclStatus
cuda_submit (CclSession *session, const CclImage *image, const CclParams *params)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->context);

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
  CclStatus status = ccl_cuda_context_enter (self->context);

  if (status != CCL_OK)
    return status;
  status = collect_frame (self, components);
  ccl_cuda_context_leave ();
  return status;
}

static CclStatus
cuda_labels (CclSession *session, CclLabels *labels)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->context);

  if (status != CCL_OK)
    return status;
  status = collect_labels (self, labels);
  ccl_cuda_context_leave ();
  return status;
}

/* In the device's primary context, which outlives everybody. */
static CclStatus
cuda_pinned_alloc (int device, size_t size, void **memory)
{
  CUcontext context = NULL;
  CclStatus status = CCL_ERROR_NO_DEVICE;

  if (cuda_device_count () > 0)
    status = ccl_cuda_context_find (device, &context);
  if (status == CCL_OK)
    status = ccl_cuda_context_enter (context);
  if (status != CCL_OK)
    return status;
  status =
      ccl_cuda_check (cudaHostAlloc (memory, size, cudaHostAllocPortable | cudaHostAllocMapped),
                      "allocating page-locked memory");
  ccl_cuda_context_leave ();
  return status;
}

static void
cuda_pinned_free (int device, void *memory)
{
  CUcontext context = NULL;

  if (ccl_cuda_context_find (device, &context) != CCL_OK ||
      ccl_cuda_context_enter (context) != CCL_OK)
    return;
  cudaFreeHost (memory);
  cudaGetLastError ();
  ccl_cuda_context_leave ();
}

const CclBackendClass ccl_backend_cuda = {
  .id = CCL_BACKEND_CUDA,
  .device_count = cuda_device_count,
  .algorithm = cuda_algorithm,
  .open = cuda_open,
  .submit = cuda_submit,
  .collect = cuda_collect,
  .labels = cuda_labels,
  .close = cuda_close,
  .volume_algorithm = ccl_cuda_volume_algorithm,
  .slices = ccl_cuda_slices,
  .stack = ccl_cuda_stack,
  .pinned_alloc = cuda_pinned_alloc,
  .pinned_free = cuda_pinned_free,
};
