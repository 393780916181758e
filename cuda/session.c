/* cudaccl - CUDA backend: sessions and the path of a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/stages/classes.h"
#include "cuda/crops/crops.h"
#include "cuda/download.h"
#include "cuda/filters/operations.h"
#include "cuda/graph.h"
#include "cuda/models/model.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/context.h"
#include "cuda/runtime/error.h"
#include "cuda/stages/shapes.h"
#include "cuda/stages/signatures.h"
#include "cuda/stages/batch.h"
#include "cuda/stages/stages.h"
#include "cuda/upload.h"

#include <stdlib.h>
#include <string.h>

typedef struct CudaSession
{
  CclSession base;
  CclCudaQueue queue;
  CclCudaUpload upload;
  CclCudaModel model;
  CclCudaFrame source; /* the frame on the device, or the model's mask of it. work.frame, which is
                        * analysed, is the same or the mask that the operations make of it */
  CclCudaOperations chains[CCL_CHAINS]; /* the first for all without auto_operations */
  const CclCudaOperations *operations;  /* the chain in use for this frame */
  CclCudaWork work;
  CclCudaGraphs graphs;
  CclCudaTiming timing;
  CclCudaDownload download;
  CclCudaShapes shapes;
  CclCudaSignatures signatures;
  CclCudaClasses classes;
  bool label_map_is_here; /* the last frame's */
  bool masks_are_here[2]; /* the last frame's */
  bool is_uploaded;       /* the last frame was not on the device before */
  bool is_stacked;        /* it is the stack of a batch */
  uint32_t *batch_labels; /* [max_components] with frame_height and labels: CclUnstack's */
} CudaSession;

static const CclAlgorithm *
cuda_algorithm (size_t index)
{
  const CclCudaAlgorithm *algorithm = ccl_cuda_algorithm (index);

  return algorithm ? &algorithm->info : NULL;
}

static bool
cuda_has_classes (const CclAlgorithm *algorithm)
{
  return ((const CclCudaAlgorithm *) algorithm)->has_classes;
}

static const CclAlgorithm *
cuda_volume_algorithm (size_t index)
{
  const CclCudaAlgorithm *algorithm = ccl_cuda_volume_algorithm (index);

  return algorithm ? &algorithm->info : NULL;
}

/* Waits for all enqueued work. Needed after errors: the caller may free its pixels then. */
static void
synchronize (CudaSession *self)
{
  CCL_CUDA (cudaStreamSynchronize, self->queue.stream);
  if (self->download.stream != self->queue.stream)
    CCL_CUDA (cudaStreamSynchronize, self->download.stream);
}

static void
cuda_close (CclSession *session)
{
  CudaSession *self = (CudaSession *) session;
  CUcontext context = self->queue.device.context;

  if (context && ccl_cuda_context_enter (context) == CCL_OK) {
    if (self->queue.stream)
      CCL_CUDA (cudaStreamSynchronize, self->queue.stream);
    ccl_cuda_graphs_free (&self->graphs);
    ccl_cuda_timing_close (&self->timing);
    ccl_cuda_download_close (&self->download);
    ccl_cuda_queue_close (&self->queue);
    ccl_cuda_context_leave ();
  }
  ccl_cuda_upload_close (&self->upload);
  for (unsigned i = 0; i < CCL_CHAINS; i++)
    ccl_cuda_operations_close (&self->chains[i]);
  free (self->work.tables);
  free (self->base.shapes);
  free (self->base.values);
  free (self);
}

/* Opens the queue. On success, its context is entered. */
static CclStatus
open_queue (CudaSession *self)
{
  CclConfig *config = &self->base.config;
  const CclCudaDevice *device = &self->queue.device;
  CclStatus status =
      ccl_cuda_queue_open (&self->queue, config->device, config->cuda_context, &self->base.account);

  if (status != CCL_OK)
    return status;
  /* The host's cores share power and memory with the device: a spinning core slows both. */
  if (device->shares_memory && config->sync == CCL_SYNC_AUTO)
    config->sync = CCL_SYNC_BLOCK;
  self->work.frame.overlap = device->overlap;
  self->base.device = device->index;
  memcpy (self->base.device_name, device->name, sizeof self->base.device_name);
  return CCL_OK;
}

static CclCudaWork
work_for (const CclSession *wanted)
{
  const CclConfig *config = &wanted->config;
  bool volume = wanted->slices > 0, classes = config->values == CCL_VALUES_EQUAL;

  return (CclCudaWork){
    /* info is the first member of CclCudaAlgorithm */
    .algorithm = (const CclCudaAlgorithm *) wanted->algorithm,
    .frame = { .width = config->width,
               .height = config->height,
               .connectivity = (uint8_t) config->connectivity },
    .components = { .slots = classes ? config->width : ccl_runs_per_row (config->width),
                    .slice_height = volume ? config->height / wanted->slices : 0 },
    .result = { .capacity = config->max_components },
    .wants = { .moments = config->second_order,
               .result_labels = config->labels || volume,
               .updates = config->updates },
    .classes = classes,
    .feature_stage = config->features,
    .depth = wanted->slices,
  };
}

/* The operations of the next frame. */
static const CclCudaOperations *
choose_chain (const CudaSession *self)
{
  return &self->chains[ccl_cleaning_chain (&self->base.cleaning)];
}

static CclStatus
open_operations (CudaSession *self)
{
  const CclCleaning *cleaning = &self->base.cleaning;
  const unsigned n = cleaning->n_far == 0 ? 1 : cleaning->has_small ? CCL_CHAINS : 2;
  CclStatus status = CCL_OK;

  for (unsigned kind = 0; kind < n && status == CCL_OK; kind++)
    status =
        ccl_cuda_operations_open (&self->chains[kind], &self->base,
                                  ccl_cleaning_range (cleaning, kind), &self->work, &self->queue);
  return status;
}

static CclStatus
open_work (CudaSession *self)
{
  CclConfig *config = &self->base.config;
  CclCudaWork *work = &self->work;
  bool stages = config->timing && config->stages;
  CclStatus status = ccl_cuda_timing_open (&self->timing, config);

  self->operations = choose_chain (self);
  work->stages = stages ? &self->timing.stages : NULL;
  if (config->shapes & CCL_SHAPES_LUMA || config->signatures || work->classes)
    config->upload = CCL_UPLOAD_PIXELS;
  /* Stages' events are recorded while the stages are enqueued; with motion, graphs save nothing. */
  self->graphs.disabled = !config->graphs || stages || config->motion;
  if (status == CCL_OK)
    status = work->algorithm->open (work, &self->queue);
  if (status == CCL_OK && config->motion)
    status = ccl_cuda_model_open (&self->model, &self->base.model, config, &self->queue.memory);
  if (status == CCL_OK)
    status = work->classes ? ccl_cuda_classes_open (&self->classes, &self->base, &self->queue)
                           : open_operations (self);
  if (status == CCL_OK)
    status = ccl_cuda_download_open (&self->download, &self->queue, &self->base, &work->result);
  if (status == CCL_OK && self->base.frame_height > 0 && config->labels)
    status = ccl_cuda_allocate_device (&self->queue.memory, &self->batch_labels,
                                       (size_t) config->max_components * sizeof (uint32_t));
  if (status == CCL_OK && config->shapes)
    status = ccl_cuda_shapes_open (&self->shapes, &self->base, &self->queue);
  self->source = work->frame;
  ccl_cuda_upload_open (
      &self->upload, &self->queue, config, self->model.base ? &self->model.frame : NULL,
      work->algorithm == ccl_cuda_tile_algorithm () && !config->labels && self->operations->n == 0);
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
  self->base.labels_first = self->work.algorithm->label;
  self->work.class_frame = self->work.classes ? &self->classes.source : NULL;
  /* One byte at least: NULL would look like a failure. */
  self->work.tables = calloc (1, self->work.algorithm->tables_size + 1);

  status = self->work.tables ? open_queue (self)
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

/* Marks the end of the work that await_end() waits for, in the stream that finishes last. */
static CclStatus
mark_end (CudaSession *self, cudaStream_t stream)
{
  cudaError_t error = cudaSuccess;

  if (!self->download.mapped)
    error = ccl_cuda_mark (&self->timing, CCL_CUDA_DOWNLOADED, stream);
  if (error == cudaSuccess)
    error = ccl_cuda_completion_record (&self->download.completion, stream);
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
  const CclCut *cut = &self->base.cut;
  CclCudaResult *r = &self->work.result;
  uint64_t dropped = self->operations->min_area;
  uint64_t min_area = params->min_area > dropped ? params->min_area : dropped;

  self->source.threshold = cut->above;
  self->source.highest = cut->up_to;
  self->source.invert = cut->invert;
  r->min_area = clamp_area (min_area);
  r->max_area = clamp_area (params->max_area);
  if (min_area > UINT32_MAX)
    r->max_area = 0; /* drops everything: min_area is larger */
  r->min_width = params->min_width;
  r->min_height = params->min_height;
  r->top_k = (CclTopK){ 0, 0 };
  self->work.keep_components = false;
}

/* Enqueues the work on a frame, from its pixels or the model's mask to its result. */
static cudaError_t
enqueue_frame (void *data)
{
  CudaSession *self = data;
  const CclCudaWork *work = &self->work;
  cudaStream_t stream = self->queue.stream;
  cudaError_t error = ccl_cuda_mark (
      &self->timing, self->model.base ? CCL_CUDA_MODELLED : CCL_CUDA_UPLOADED, stream);

  if (error == cudaSuccess)
    error = ccl_cuda_updates_clear (work, stream);
  if (error == cudaSuccess && self->operations->n > 0) {
    error = ccl_cuda_operations_enqueue (self->operations, &self->source, stream);
    ccl_cuda_stage (work, "operations", stream);
  }
  if (error == cudaSuccess && work->classes) {
    error = ccl_cuda_find_classes (&self->classes.source, self->classes.planes, self->classes.pitch,
                                   stream);
    ccl_cuda_stage (work, "classes", stream);
  }
  self->timing.stages.before = self->timing.stages.n;
  if (error == cudaSuccess)
    error = work->algorithm->enqueue (work, stream);
  return error == cudaSuccess ? ccl_cuda_mark (&self->timing, CCL_CUDA_ANALYSED, stream) : error;
}

/* Enqueues the same, by a graph if wanted and possible, and the result's first transfer. */
static CclStatus
enqueue_analysis (CudaSession *self)
{
  const CclCudaFrame *source = &self->source;
  const CclCudaResult *result = &self->work.result;
  const CclCudaGraphKey key = {
    .pixels = source->pixels,
    .pitch = source->pitch,
    .threshold = source->threshold,
    .highest = source->highest,
    .invert = source->invert,
    .bits = source->bits,
    .near = self->base.cleaning.near,
    .class_size = self->classes.source.size,
    .min_area = result->min_area,
    .max_area = result->max_area,
    .min_width = result->min_width,
    .min_height = result->min_height,
  };
  cudaError_t error = ccl_cuda_graphs_enqueue (&self->graphs, &key, &self->timing,
                                               self->queue.stream, enqueue_frame, self);

  if (error == cudaSuccess)
    error = ccl_cuda_transfer_first (&self->download, result);
  return ccl_cuda_check (error, "analysing a frame");
}

/* Enqueues the model, whose mask becomes the source. */
static CclStatus
find_motion (CudaSession *self)
{
  const CclModelMask *mask = ccl_cuda_model_mask (&self->model, 0);
  cudaStream_t stream = self->queue.stream;
  cudaError_t error = ccl_cuda_mark (&self->timing, CCL_CUDA_UPLOADED, stream);

  if (error == cudaSuccess)
    error = ccl_cuda_model_enqueue (&self->model, stream);
  ccl_cuda_stage (&self->work, "model", stream);
  self->source.pixels = (const uint8_t *) mask->words;
  self->source.pitch = mask->pitch * sizeof *mask->words;
  self->source.bits = 1;
  return ccl_cuda_check (error, "updating a background model");
}

/* Remembers where the uploaded pixels are, for shapes and signatures. */
static void
set_planes (CudaSession *self)
{
  const CclModelFrame *frame = &self->model.frame;
  CclSignatureFrame *to = &self->signatures.frame;

  to->step = frame->step;
  for (int i = 0; i < 3; i++) {
    const CclModelPlane *plane = &frame->planes[i];
    const bool used = self->model.base && (i == 0 || frame->chroma_width > 0);

    to->planes[i > 0 && self->upload.swapped ? 3 - i : i] =
        (CclSignaturePlane){ used ? plane->samples : NULL, used ? plane->pitch : 0 };
  }
  if (!self->model.base)
    to->planes[0] = (CclSignaturePlane){ self->source.pixels, self->source.pitch };
  self->shapes.luma = to->planes[0].samples;
  self->shapes.pitch = to->planes[0].stride;
}

static CclStatus
submit_frame (CudaSession *self, const CclImage *image, const CclParams *params)
{
  CclCudaStages *stages = &self->timing.stages;
  CclStatus status;

  self->label_map_is_here = self->masks_are_here[0] = self->masks_are_here[1] = false;
  stages->n = stages->labelling = stages->before = 0;
  ccl_cuda_timing_begin (&self->timing);
  self->operations = choose_chain (self);
  set_params (self, params);
  self->is_uploaded = image->memory != CCL_MEMORY_DEVICE;
  status = ccl_cuda_upload_allocate (&self->upload, image);
  if (status == CCL_OK && self->is_uploaded)
    status = ccl_cuda_check (ccl_cuda_mark (&self->timing, CCL_CUDA_START, self->queue.stream),
                             "measuring time");
  if (status == CCL_OK)
    status =
        ccl_cuda_upload (&self->upload, image, &self->base.cut, &self->source, &self->base.upload);
  set_planes (self);
  if (status == CCL_OK && self->model.base)
    status = find_motion (self);
  self->work.frame = self->operations->n > 0 ? self->operations->clean : self->source;
  if (self->work.classes)
    self->work.frame = ccl_cuda_classes_take (&self->classes, &self->source, image->format);
  if (status == CCL_OK)
    status = enqueue_analysis (self);
  if (status == CCL_OK)
    status = mark_end (self, self->download.stream);
  if (status == CCL_OK)
    self->model.newest ^= self->base.model.step.learn;
  else
    synchronize (self);
  return status;
}

static CclStatus
await_end (CudaSession *self)
{
  return ccl_cuda_check (ccl_cuda_completion_wait (&self->download.completion),
                         "analysing a frame");
}

/* Marks the end of work in @stream and waits for it. */
static CclStatus
finish (CudaSession *self, cudaStream_t stream)
{
  CclStatus status = mark_end (self, stream);

  return status == CCL_OK ? await_end (self) : status;
}

/* Enqueues one round of the search for top-k, including the transfer of its histogram. */
static cudaError_t
enqueue_count (CudaSession *self, const CclTopKSearch *search)
{
  const CclCudaWork *work = &self->work;
  cudaStream_t stream = self->queue.stream;
  cudaError_t error = work->algorithm->count_areas (work, search, stream);

  if (error != cudaSuccess)
    return error;
  return CCL_CUDA (cudaMemcpyAsync, self->download.histogram, work->result.histogram,
                   CCL_TOPK_BINS * sizeof *work->result.histogram, cudaMemcpyDeviceToHost, stream);
}

/* Enqueues the result again, with the limits of @top_k. */
static cudaError_t
enqueue_selection (CudaSession *self, CclTopK top_k)
{
  CclCudaWork *work = &self->work;
  cudaStream_t stream = self->queue.stream;
  cudaError_t error;

  work->result.top_k = top_k;
  ccl_cuda_stages_rewind (&self->timing.stages);
  error = work->algorithm->select (work, stream);
  if (error == cudaSuccess)
    error = ccl_cuda_mark (&self->timing, CCL_CUDA_ANALYSED, stream);
  return error == cudaSuccess ? ccl_cuda_transfer_first (&self->download, &work->result) : error;
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
    /* this takes the time of another frame */
    error = work->algorithm->enqueue (work, self->queue.stream);
  }
  status = ccl_cuda_check (error, "analysing a frame");
  ccl_topk_begin (&search, self->base.config.max_components);
  for (unsigned round = 0; round < CCL_TOPK_ROUNDS && status == CCL_OK; round++) {
    status = ccl_cuda_check (enqueue_count (self, &search), "searching for the largest components");
    if (status == CCL_OK)
      status = finish (self, self->queue.stream);
    ccl_topk_narrow (&search, self->download.histogram);
  }
  if (status == CCL_OK)
    status = ccl_cuda_check (enqueue_selection (self, search.top_k), "selecting the components");
  return status == CCL_OK ? finish (self, self->download.stream) : status;
}

static void
read_times (CudaSession *self)
{
  const CclCudaTiming *measured = &self->timing;
  const bool mapped = self->download.mapped;
  CclTiming *timing = &self->base.timing;
  cudaEvent_t last = measured->moments[mapped ? CCL_CUDA_ANALYSED : CCL_CUDA_DOWNLOADED];

  timing->measured = measured->timed;
  timing->upload = timing->analysis = timing->download = timing->model = 0;
  if (!measured->timed)
    return;
  /* The host may see the completion before the driver has the time of an event. */
  if (CCL_CUDA (cudaEventSynchronize, last) != cudaSuccess)
    ccl_cuda_api.cudaGetLastError ();
  if (self->is_uploaded || self->is_stacked)
    timing->upload = ccl_cuda_timing_between (measured, CCL_CUDA_START, CCL_CUDA_UPLOADED);
  timing->analysis = ccl_cuda_timing_between (measured, CCL_CUDA_UPLOADED, CCL_CUDA_ANALYSED);
  if (self->model.base)
    timing->model = ccl_cuda_timing_between (measured, CCL_CUDA_UPLOADED, CCL_CUDA_MODELLED);
  if (!mapped)
    timing->download = ccl_cuda_timing_between (measured, CCL_CUDA_ANALYSED, CCL_CUDA_DOWNLOADED);
  ccl_cuda_stages_read (measured, timing);
}

/* Reads the sums of updates, if they are counted, once the frame is complete. */
static CclStatus
read_updates (CudaSession *self)
{
  CclUpdates *updates = &self->base.updates;
  unsigned long long sums[2] = { 0, 0 };
  CclStatus status;

  if (!self->work.update_sums)
    return CCL_OK;
  status =
      ccl_cuda_check (ccl_cuda_queue_read (&self->queue, sums, self->work.update_sums, sizeof sums),
                      "reading the update counts");
  updates->count = sums[0];
  updates->conflicts = sums[0] ? (double) sums[1] / (double) sums[0] : 0;
  return status;
}

/* Waits for a result, and transfers what of it is not here. */
static CclStatus
collect_components (CudaSession *self, CclComponents *components)
{
  CclCudaDownload *download = &self->download;
  CclStatus status = await_end (self);
  uint32_t found;

  if (status != CCL_OK)
    return status;
  found = download->header->kept;
  if (found > self->base.config.max_components)
    status = select_top_k (self);
  if (status == CCL_OK && !download->mapped && download->header->kept > download->first) {
    status = ccl_cuda_check (
        ccl_cuda_transfer (download, &self->work.result, download->first, download->header->kept),
        "transferring the components");
    if (status == CCL_OK)
      status = finish (self, download->stream);
  }
  *components = (CclComponents){
    .items = (const CclComponent *) (download->header + 1),
    .count = download->header->kept,
    .found = found,
  };
  return status;
}

static CclStatus
collect_frame (CudaSession *self, CclComponents *components)
{
  const CclCudaDownload *download = &self->download;
  CclComponents result = { NULL, 0, 0 };
  CclStatus status = collect_components (self, &result);

  if (status == CCL_OK && self->model.base)
    ccl_cuda_model_collect (&self->model);
  if (status == CCL_OK)
    status = read_updates (self);
  if (status == CCL_OK && self->shapes.sums)
    status = ccl_cuda_shapes_find (&self->shapes, &self->base, &self->queue,
                                   self->work.result.label_map, download->header->kept);
  if (status == CCL_OK && self->work.classes && !self->work.depth)
    status = ccl_cuda_classes_read (&self->classes, &self->base, &self->queue,
                                    self->work.result.components, download->header->kept);
  if (status != CCL_OK)
    return status;
  read_times (self);
  self->is_stacked = false;
  *components = result;
  return CCL_OK;
}

/* Analyses the model's mask again, with other operations. Times are those of the first analysis. */
static CclStatus
analyse_small (CudaSession *self, const CclParams *params, CclComponents *components)
{
  CclCudaStages *stages = self->work.stages;
  bool timed = self->timing.timed;
  CclStatus status;

  self->timing.timed = false;
  self->work.stages = NULL;
  self->operations = &self->chains[CCL_CHAIN_SMALL];
  set_params (self, params);
  self->work.frame = self->operations->n > 0 ? self->operations->clean : self->source;
  status = ccl_cuda_check (enqueue_frame (self), "analysing a mask again");
  if (status == CCL_OK)
    status = ccl_cuda_check (ccl_cuda_transfer_first (&self->download, &self->work.result),
                             "transferring the components");
  if (status == CCL_OK)
    status = mark_end (self, self->download.stream);
  if (status == CCL_OK)
    status = collect_components (self, components);
  self->timing.timed = timed;
  self->work.stages = stages;
  return status;
}

static CclStatus
collect_labels (CudaSession *self, CclLabels *labels)
{
  const CclConfig *config = &self->base.config;
  uint32_t *map = self->download.label_map;
  size_t size = (size_t) config->width * config->height * sizeof *map;
  CclStatus status = CCL_OK;

  if (!self->label_map_is_here) {
    status = ccl_cuda_check (CCL_CUDA (cudaMemcpyAsync, map, self->work.result.label_map, size,
                                       cudaMemcpyDeviceToHost, self->queue.stream),
                             "transferring the label map");
    if (status == CCL_OK)
      status = finish (self, self->queue.stream);
    self->label_map_is_here = status == CCL_OK;
  }
  if (status == CCL_OK)
    *labels = (CclLabels){ map, config->width * sizeof *map };
  return status;
}

static CclStatus
write_labels (CudaSession *self, uint32_t *labels, size_t stride, CclMemory memory)
{
  const CclConfig *config = &self->base.config;
  size_t row = config->width * sizeof *labels;
  CclStatus status = ccl_cuda_check (
      CCL_CUDA (cudaMemcpy2DAsync, labels, stride, self->work.result.label_map, row, row,
                config->height,
                memory == CCL_MEMORY_DEVICE ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost,
                self->queue.stream),
      "writing the label map");

  return status == CCL_OK ? finish (self, self->queue.stream) : status;
}

/* Transfers the mask or, with @i 1, the shadows of the last frame. */
static CclStatus
collect_mask (CudaSession *self, int i, CclMask *mask)
{
  const CclMask *to = &self->download.masks[i];
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
                                       self->queue.stream),
                             "transferring a mask");
    if (status == CCL_OK)
      status = finish (self, self->queue.stream);
    /* bits past the width may have any value */
    for (uint32_t y = 1; status == CCL_OK && y <= to->height; y++)
      to->words[y * to->pitch - 1] &= ccl_mask_last_bits (to->width);
    self->masks_are_here[i] = status == CCL_OK;
  }
  if (status == CCL_OK)
    *mask = *to;
  return status;
}

static CclStatus
stack_frames (CudaSession *self, const CclStack *stack, CclImage *image)
{
  CclStatus status;

  ccl_cuda_timing_begin (&self->timing);
  status = ccl_cuda_check (ccl_cuda_mark (&self->timing, CCL_CUDA_START, self->queue.stream),
                           "measuring time");
  if (status == CCL_OK)
    status = ccl_cuda_upload_stack (&self->upload, stack, image);
  self->is_stacked = status == CCL_OK;
  return status;
}

/* The session's functions, in its context */

static CclStatus
cuda_submit (CclSession *session, const CclImage *image, const CclParams *params)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->queue.device.context);

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
  CclStatus status = ccl_cuda_context_enter (self->queue.device.context);

  if (status != CCL_OK)
    return status;
  status = collect_frame (self, components);
  if (status != CCL_OK)
    synchronize (self);
  ccl_cuda_context_leave ();
  return status;
}

static CclStatus
cuda_collect_small (CclSession *session, const CclParams *params, CclComponents *components)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->queue.device.context);

  if (status != CCL_OK)
    return status;
  status = analyse_small (self, params, components);
  if (status != CCL_OK)
    synchronize (self);
  ccl_cuda_context_leave ();
  return status;
}

static CclStatus
cuda_labels (CclSession *session, CclLabels *labels)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->queue.device.context);

  if (status != CCL_OK)
    return status;
  status = collect_labels (self, labels);
  ccl_cuda_context_leave ();
  return status;
}

static CclStatus
cuda_write_labels (CclSession *session, uint32_t *labels, size_t stride, CclMemory memory)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->queue.device.context);

  if (status != CCL_OK)
    return status;
  status = write_labels (self, labels, stride, memory);
  if (status != CCL_OK)
    synchronize (self);
  ccl_cuda_context_leave ();
  return status;
}

static CclStatus
cuda_slices (CclSession *session, uint32_t count, const CclSlices **slices)
{
  CudaSession *self = (CudaSession *) session;
  CclSlices *to = self->download.slices;
  CclStatus status;

  *slices = to;
  if (count == 0)
    return CCL_OK;
  status = ccl_cuda_context_enter (self->queue.device.context);
  if (status != CCL_OK)
    return status;
  status =
      ccl_cuda_check (ccl_cuda_queue_read (&self->queue, to, self->work.slices, count * sizeof *to),
                      "transferring components");
  ccl_cuda_context_leave ();
  return status;
}

static CclStatus
cuda_stack (CclSession *session, const CclStack *stack, CclImage *image)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->queue.device.context);

  if (status != CCL_OK)
    return status;
  status = stack_frames (self, stack, image);
  if (status != CCL_OK)
    synchronize (self);
  ccl_cuda_context_leave ();
  return status;
}

static CclStatus
unstack_labels (CudaSession *self, const CclUnstack *unstack)
{
  CclCudaUnstack rows = {
    .map = self->work.result.label_map,
    .result_labels = self->batch_labels,
    .to = (uint8_t *) unstack->labels,
    .stride = unstack->stride,
    .step = unstack->step,
    .width = self->base.config.width,
    .height = self->base.frame_height,
    .n = unstack->n,
  };
  cudaError_t error = cudaSuccess;
  CclStatus status;

  if (unstack->count > 0)
    error = CCL_CUDA (cudaMemcpyAsync, self->batch_labels, unstack->result_labels,
                      unstack->count * sizeof *self->batch_labels, cudaMemcpyHostToDevice,
                      self->queue.stream);
  if (error == cudaSuccess)
    error = ccl_cuda_unstack_labels (&rows, self->queue.stream);
  status = ccl_cuda_check (error, "writing the label maps of a batch");
  return status == CCL_OK ? finish (self, self->queue.stream) : status;
}

static CclStatus
cuda_unstack (CclSession *session, const CclUnstack *unstack)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->queue.device.context);

  if (status != CCL_OK)
    return status;
  status = unstack_labels (self, unstack);
  if (status != CCL_OK)
    synchronize (self);
  ccl_cuda_context_leave ();
  return status;
}

static CclStatus
get_mask (CclSession *session, int i, CclMask *mask)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->queue.device.context);

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
  CclStatus status = ccl_cuda_context_enter (self->queue.device.context);

  if (status != CCL_OK)
    return status;
  status = ccl_cuda_model_background (&self->model, pixels, stride, self->queue.stream);
  ccl_cuda_context_leave ();
  return status;
}

static CclStatus
cuda_signatures (CclSession *session, const CclBox *boxes, uint32_t n, CclSignature *signatures)
{
  CudaSession *self = (CudaSession *) session;
  CclStatus status = ccl_cuda_context_enter (self->queue.device.context);

  if (status != CCL_OK)
    return status;
  status = ccl_cuda_signatures_find (&self->signatures, &self->queue, boxes, n, signatures);
  if (status != CCL_OK)
    synchronize (self);
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

  /* Free it even if the context is gone: the memory belongs to the host. */
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

static CclStatus
cuda_synchronize (int device, void *stream)
{
  CUcontext context = NULL;
  CclStatus status = ccl_cuda_context_find (device, &context);

  if (status == CCL_OK)
    status = ccl_cuda_context_enter (context);
  if (status != CCL_OK)
    return status;
  status = ccl_cuda_check (CCL_CUDA (cudaStreamSynchronize, (cudaStream_t) stream),
                           "waiting for a stream");
  ccl_cuda_context_leave ();
  return status;
}

const CclBackendClass ccl_backend_cuda = {
  .id = CCL_BACKEND_CUDA,
  .has_classes = cuda_has_classes,
  .device_count = ccl_cuda_count_devices,
  .algorithm = cuda_algorithm,
  .lacks = ccl_cuda_lacks,
  .open = cuda_open,
  .submit = cuda_submit,
  .collect = cuda_collect,
  .collect_small = cuda_collect_small,
  .labels = cuda_labels,
  .write_labels = cuda_write_labels,
  .mask = cuda_mask,
  .shadows = cuda_shadows,
  .background = cuda_background,
  .signatures = cuda_signatures,
  .close = cuda_close,
  .volume_algorithm = cuda_volume_algorithm,
  .slices = cuda_slices,
  .stack = cuda_stack,
  .unstack = cuda_unstack,
  .pinned_alloc = cuda_pinned_alloc,
  .pinned_free = cuda_pinned_free,
  .primary_context = cuda_primary_context,
  .synchronize = cuda_synchronize,
  .cropper_open = ccl_cuda_cropper_open,
  .cropper_draw = ccl_cuda_cropper_draw,
  .cropper_close = ccl_cuda_cropper_close,
};
