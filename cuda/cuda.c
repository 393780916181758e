/* cudaccl - CUDA backend: sessions, transfers and the way of a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Components that come back with the header in one transfer; only frames with more cost another. */
#define FIRST_TRANSFER 1024
/* The staging buffer is filled and sent in bands of about this many bytes, so that the copy into it
 * overlaps with the transfer. */
#define BAND_BYTES (512 * 1024)

enum
{
  EVENT_START,
  EVENT_UPLOADED,
  EVENT_ANALYSED,
  EVENT_DONE,
  EVENT_READY, /* the caller's pixels */
  N_EVENTS,
};

typedef struct CudaSession
{
  CclSession base;
  const CclCudaAlgorithm *algorithm;
  cudaStream_t stream;
  cudaEvent_t events[N_EVENTS];
  CclCudaFrame frame; /* pixels, pitch and what depends on CclParams change from frame to frame */
  uint8_t *image;     /* [height * image_pitch] on the device, for pixels from elsewhere */
  uint8_t *staging;   /* the same, page-locked */
  size_t image_pitch;
  CclResultHeader *result; /* page-locked: header and max_components components */
  uint32_t *histogram;     /* page-locked [CCL_CUT_BINS] */
} CudaSession;

_Static_assert(sizeof (CclResultHeader) == sizeof (CclComponent),
               "components follow the header without a gap");

/* Translates a CUDA error; @what was being done. */
static CclStatus
check (cudaError_t error, const char *what)
{
  if (error != cudaSuccess)
    cudaGetLastError (); /* or the next launch would report it again */
  switch (error) {
  case cudaSuccess:
    return CCL_OK;
  case cudaErrorMemoryAllocation:
    return ccl_fail (CCL_ERROR_NO_MEMORY,
                     "CUDA: out of memory while %s; use smaller frames, fewer analyzers or "
                     "another device",
                     what);
  case cudaErrorNoDevice:
  case cudaErrorInsufficientDriver:
  case cudaErrorInvalidDevice:
    return ccl_fail (CCL_ERROR_NO_DEVICE,
                     "CUDA: %s (%s) while %s; install or update NVIDIA's "
                     "driver, name another device, or use backend cpu",
                     cudaGetErrorString (error), cudaGetErrorName (error), what);
  case cudaErrorNoKernelImageForDevice:
  case cudaErrorUnsupportedPtxVersion:
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "CUDA: %s (%s) while %s; build with this device's compute capability in the "
                     "option cuda-arch, or use backend cpu",
                     cudaGetErrorString (error), cudaGetErrorName (error), what);
  default:
    return ccl_fail (CCL_ERROR_DEVICE,
                     "CUDA: %s (%s) while %s; make a new analyzer or use backend "
                     "cpu",
                     cudaGetErrorString (error), cudaGetErrorName (error), what);
  }
}

static int
cuda_device_count (void)
{
  int count = 0;
  cudaError_t error = cudaGetDeviceCount (&count);

  if (error == cudaSuccess && count == 0)
    error = cudaErrorNoDevice;
  if (check (error, "looking for devices") != CCL_OK)
    return 0;
  return count;
}

static const CclAlgorithm *
cuda_algorithm (size_t index)
{
  const CclCudaAlgorithm *algorithm = ccl_cuda_algorithm (index);

  return algorithm ? &algorithm->info : NULL;
}

static CclStatus
allocate_device (CudaSession *self, void *pointer, size_t size)
{
  CclStatus status = check (cudaMalloc ((void **) pointer, size), "allocating a frame's tables");

  if (status != CCL_OK)
    return status;
  self->base.account.allocations++;
  self->base.account.bytes += size;
  return CCL_OK;
}

static CclStatus
allocate_pinned (CudaSession *self, void *pointer, size_t size)
{
  CclStatus status = check (cudaHostAlloc ((void **) pointer, size, cudaHostAllocDefault),
                            "allocating page-locked memory");

  if (status != CCL_OK)
    return status;
  self->base.account.allocations++;
  self->base.account.bytes += size;
  return CCL_OK;
}

static void
cuda_close (CclSession *session)
{
  CudaSession *self = (CudaSession *) session;
  CclCudaFrame *frame = &self->frame;
  void *device[] = {
    frame->labels,       frame->starts,       frame->ends,          frame->runs,
    frame->edges,        frame->features,     frame->moments,       frame->counts,
    frame->tiles.n,      frame->tiles.firsts, frame->tiles.borders, frame->tiles.counts,
    frame->tiles.totals, frame->tiles.done,   frame->scratch,       frame->histogram,
    frame->header,       self->image,
  };

  if (self->base.device >= 0)
    cudaSetDevice (self->base.device);
  if (self->stream)
    cudaStreamSynchronize (self->stream);
  for (size_t i = 0; i < sizeof device / sizeof device[0]; i++)
    cudaFree (device[i]);
  cudaFreeHost (self->staging);
  cudaFreeHost (self->result);
  cudaFreeHost (self->histogram);
  for (int i = 0; i < N_EVENTS; i++) {
    if (self->events[i])
      cudaEventDestroy (self->events[i]);
  }
  if (self->stream)
    cudaStreamDestroy (self->stream);
  cudaGetLastError ();
  free (self);
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
    .strips = (frame->height - 1) / height + 1,
    .capacity = TILE_RUNS * height,
  };
}

static CclStatus
allocate_tables (CudaSession *self)
{
  const CclConfig *config = &self->base.config;
  CclCudaFrame *frame = &self->frame;
  CclTiles *tiles = &frame->tiles;
  size_t labels = (size_t) frame->height * frame->slots, height = frame->height;
  size_t result = sizeof (CclResultHeader) + config->max_components * sizeof (CclComponent);
  CclStatus status;

#define ALLOCATE(where, pointer, size)                    \
  do {                                                    \
    status = allocate_##where (self, &(pointer), (size)); \
    if (status != CCL_OK)                                 \
      return status;                                      \
  } while (0)

  ALLOCATE (device, frame->labels, labels * sizeof *frame->labels);
  ALLOCATE (device, frame->features, labels * sizeof *frame->features);
  if (config->second_order)
    ALLOCATE (device, frame->moments, labels * sizeof *frame->moments);
  if (self->algorithm->uses_runs) {
    ALLOCATE (device, frame->ends, labels * sizeof *frame->ends);
    ALLOCATE (device, frame->runs, height * sizeof *frame->runs);
    ALLOCATE (device, frame->edges, height * frame->edges_pitch * sizeof *frame->edges);
  }
  if (self->algorithm->uses_tiles) {
    size_t n = (size_t) tiles->strips * tiles->columns;

    ALLOCATE (device, tiles->n, n * sizeof *tiles->n);
    ALLOCATE (device, tiles->firsts, n * tiles->capacity * sizeof *tiles->firsts);
    ALLOCATE (device, tiles->borders, n * sizeof *tiles->borders);
    ALLOCATE (device, tiles->counts, n * tiles->height * sizeof *tiles->counts);
    ALLOCATE (device, tiles->totals, tiles->strips * sizeof *tiles->totals);
    ALLOCATE (device, tiles->done, sizeof *tiles->done);
  } else {
    ALLOCATE (device, frame->starts, labels * sizeof *frame->starts);
    ALLOCATE (device, frame->counts, (height * frame->parts + 1) * sizeof *frame->counts);
    status = check (ccl_cuda_compact_scratch (frame, &frame->scratch_size), "sizing the scan");
    if (status != CCL_OK)
      return status;
    ALLOCATE (device, frame->scratch, frame->scratch_size);
  }
  ALLOCATE (device, frame->histogram, CCL_CUT_BINS * sizeof *frame->histogram);
  ALLOCATE (device, frame->header, result);
  frame->components = (CclComponent *) (frame->header + 1);
  ALLOCATE (pinned, self->result, result);
  ALLOCATE (pinned, self->histogram, CCL_CUT_BINS * sizeof *self->histogram);
  ALLOCATE (device, self->image, self->image_pitch * height);
  ALLOCATE (pinned, self->staging, self->image_pitch * height);
#undef ALLOCATE

  return CCL_OK;
}

static uint32_t
first_transfer (const CudaSession *self)
{
  uint32_t capacity = self->base.config.max_components;

  return capacity < FIRST_TRANSFER ? capacity : FIRST_TRANSFER;
}

/* Gives a value to what is read before it is ever written: the count behind the last, by the scan,
 * or the number of strips that are done, and components past the end of a result, by its first
 * transfer. */
static CclStatus
clear_tables (CudaSession *self)
{
  CclCudaFrame *frame = &self->frame;
  size_t counts = ((size_t) frame->height * frame->parts + 1) * sizeof *frame->counts;
  size_t result = (1 + (size_t) first_transfer (self)) * sizeof *frame->components;
  cudaError_t error;

  if (self->algorithm->uses_tiles)
    error = cudaMemsetAsync (frame->tiles.done, 0, sizeof *frame->tiles.done, self->stream);
  else
    error = cudaMemsetAsync (frame->counts, 0, counts, self->stream);
  if (error == cudaSuccess)
    error = cudaMemsetAsync (frame->header, 0, result, self->stream);
  return check (error, "clearing a frame's tables");
}

static CclStatus
open_device (CudaSession *self)
{
  const CclConfig *config = &self->base.config;
  struct cudaDeviceProp properties;
  int count = cuda_device_count ();
  CclStatus status;

  if (count == 0)
    return CCL_ERROR_NO_DEVICE;
  if (config->device >= count)
    return ccl_fail (CCL_ERROR_NO_DEVICE,
                     "there is no CUDA device %d; devices 0 to %d are there, and -1 takes any",
                     config->device, count - 1);
  self->base.device = config->device >= 0 ? config->device : 0;
  status = check (cudaSetDevice (self->base.device), "opening the device");
  if (status == CCL_OK)
    status = check (cudaGetDeviceProperties (&properties, self->base.device), "asking the device");
  if (status != CCL_OK)
    return status;
  if (properties.major < 7)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "CUDA device %d (%s) has compute capability %d.%d; 7.0 is needed, or backend "
                     "cpu",
                     self->base.device, properties.name, properties.major, properties.minor);
  snprintf (self->base.device_name, sizeof self->base.device_name, "%.255s", properties.name);
  self->frame.parts = parts_of_row (&self->frame, &properties);
  self->frame.tiles = tiles_of_frame (&self->frame, &properties);
  return CCL_OK;
}

static CclStatus
open_queue (CudaSession *self)
{
  CclStatus status =
      check (cudaStreamCreateWithFlags (&self->stream, cudaStreamNonBlocking), "making a stream");

  for (int i = 0; i < N_EVENTS && status == CCL_OK; i++) {
    unsigned flags = i == EVENT_READY ? cudaEventDisableTiming : cudaEventDefault;

    status = check (cudaEventCreateWithFlags (&self->events[i], flags), "making an event");
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
  self->frame = (CclCudaFrame){
    .width = config->width,
    .height = config->height,
    .connectivity = (uint8_t) config->connectivity,
    .slots = ccl_runs_per_row (config->width),
    .edges_pitch = (config->width - 1) / 32 + 1,
    .capacity = config->max_components,
  };
  self->image_pitch = ((size_t) config->width + 255) / 256 * 256;

  status = open_device (self);
  if (status == CCL_OK)
    status = open_queue (self);
  if (status == CCL_OK)
    status = allocate_tables (self);
  if (status == CCL_OK)
    status = clear_tables (self);
  if (status != CCL_OK) {
    cuda_close (&self->base);
    return status;
  }
  *session = &self->base;
  return CCL_OK;
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
    /* The last row's padding stays out: nobody has written it. */
    error = cudaMemcpy2DAsync (self->image + offset, pitch, self->staging + offset, pitch,
                               config->width, rows, cudaMemcpyHostToDevice, self->stream);
  }
  return error;
}

/* Brings the pixels to where kernels can read them. */
static CclStatus
upload (CudaSession *self, const CclImage *image)
{
  const CclConfig *config = &self->base.config;
  cudaError_t error = cudaSuccess;

  self->frame.pixels = self->image;
  self->frame.pitch = self->image_pitch;
  switch (image->memory) {
  case CCL_MEMORY_HOST:
    error = upload_staged (self, image);
    break;
  case CCL_MEMORY_PINNED:
    error = cudaMemcpy2DAsync (self->image, self->image_pitch, image->data, image->stride,
                               config->width, config->height, cudaMemcpyHostToDevice, self->stream);
    break;
  case CCL_MEMORY_DEVICE:
    self->frame.pixels = image->data;
    self->frame.pitch = image->stride;
    if (image->stream) {
      error = cudaEventRecord (self->events[EVENT_READY], image->stream);
      if (error == cudaSuccess)
        error = cudaStreamWaitEvent (self->stream, self->events[EVENT_READY], 0);
    }
    break;
  }
  return check (error, "transferring a frame to the device");
}

static CclStatus
mark (CudaSession *self, int event)
{
  if (!self->base.config.timing)
    return CCL_OK;
  return check (cudaEventRecord (self->events[event], self->stream), "measuring time");
}

/* Enqueues the transfer of components @from to, without, @to. The header goes with the first. */
static CclStatus
download (CudaSession *self, uint32_t from, uint32_t to)
{
  size_t skip = from == 0 ? 0 : from + 1; /* the header counts as one: it is as large */

  return check (cudaMemcpyAsync ((CclComponent *) self->result + skip,
                                 (CclComponent *) self->frame.header + skip,
                                 (to + 1 - skip) * sizeof (CclComponent), cudaMemcpyDeviceToHost,
                                 self->stream),
                "transferring the components");
}

/* Enqueues what turns roots into a result, and its transfer. */
static CclStatus
compact (CudaSession *self)
{
  CclStatus status =
      check (self->algorithm->compact (&self->frame, self->stream), "compacting the components");

  if (status == CCL_OK)
    status = mark (self, EVENT_ANALYSED);
  if (status == CCL_OK)
    status = download (self, 0, first_transfer (self));
  return status;
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
cuda_submit (CclSession *session, const CclImage *image, const CclParams *params)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = check (cudaSetDevice (session->device), "selecting the device");

  set_params (&self->frame, params);
  if (status == CCL_OK)
    status = mark (self, EVENT_START);
  if (status == CCL_OK)
    status = upload (self, image);
  if (status == CCL_OK)
    status = mark (self, EVENT_UPLOADED);
  if (status == CCL_OK)
    status = check (self->algorithm->enqueue (&self->frame, self->stream), "analysing a frame");
  if (status == CCL_OK)
    status = compact (self);
  if (status == CCL_OK)
    status = mark (self, EVENT_DONE);
  if (status != CCL_OK)
    cudaStreamSynchronize (self->stream); /* the caller may free its pixels now */
  return status;
}

static CclStatus
finish (CudaSession *self)
{
  return check (cudaStreamSynchronize (self->stream), "analysing a frame");
}

/* Finds the cut that leaves as many components as fit, and compacts again with it. */
static CclStatus
truncate (CudaSession *self)
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
    status = check (error, "looking for the largest components");
    if (status == CCL_OK)
      status = finish (self);
    ccl_cut_narrow (&search, self->histogram);
  }
  self->frame.cut = search.cut;
  if (status == CCL_OK)
    status = compact (self);
  if (status == CCL_OK)
    status = mark (self, EVENT_DONE);
  return status == CCL_OK ? finish (self) : status;
}

static uint64_t
nanoseconds (CudaSession *self, int from, int to)
{
  float milliseconds = 0;

  if (cudaEventElapsedTime (&milliseconds, self->events[from], self->events[to]) != cudaSuccess)
    return 0;
  return (uint64_t) ((double) milliseconds * 1e6);
}

static CclStatus
cuda_collect (CclSession *session, CclComponents *components)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = check (cudaSetDevice (session->device), "selecting the device");
  uint32_t first = first_transfer (self), found;

  if (status == CCL_OK)
    status = finish (self);
  if (status != CCL_OK)
    return status;
  found = self->result->kept;
  if (found > session->config.max_components)
    status = truncate (self);
  if (status == CCL_OK && self->result->kept > first) {
    status = download (self, first, self->result->kept);
    if (status == CCL_OK)
      status = mark (self, EVENT_DONE);
    if (status == CCL_OK)
      status = finish (self);
  }
  if (status != CCL_OK)
    return status;
  if (session->config.timing) {
    session->timing.upload = nanoseconds (self, EVENT_START, EVENT_UPLOADED);
    session->timing.analysis = nanoseconds (self, EVENT_UPLOADED, EVENT_ANALYSED);
    session->timing.download = nanoseconds (self, EVENT_ANALYSED, EVENT_DONE);
  }
  *components = (CclComponents){
    .items = (const CclComponent *) (self->result + 1),
    .count = self->result->kept,
    .found = found,
  };
  return CCL_OK;
}

const CclBackendClass ccl_backend_cuda = {
  .id = CCL_BACKEND_CUDA,
  .device_count = cuda_device_count,
  .algorithm = cuda_algorithm,
  .open = cuda_open,
  .submit = cuda_submit,
  .collect = cuda_collect,
  .close = cuda_close,
};
