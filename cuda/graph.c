/* cudaccl - CUDA backend: the work on a frame, replayed
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All that a frame needs between its pixels and its result depends on the CclCudaFrame alone. So it
 * is captured into a graph when the same CclCudaFrame comes again, as it does with every frame that
 * goes through the session's own image and as often as a pool gives a buffer out, and replayed from
 * then on. What comes once, say while a controller moves the threshold, is launched as it is.
 *
 * Large results are transferred in a stream of their own: in one stream a transfer makes the next
 * graph begin 7 us later, on an H200. */

#include "cuda/session.h"

#include <string.h>

/* A graph that was not used for so many frames gives way to another one. Making one takes about as
 * long as a small frame, so there must not be one each frame. */
#define IDLE_FRAMES 64

cudaError_t
ccl_cuda_mark (CudaSession *self, int event)
{
  /* In a capture: not for its own purposes, but each time the graph runs. */
  unsigned flags = self->capturing ? cudaEventRecordExternal : cudaEventRecordDefault;

  if (!self->base.config.timing)
    return cudaSuccess;
  return cudaEventRecordWithFlags (self->events[event], self->stream, flags);
}

cudaError_t
ccl_cuda_enqueue_transfer (CudaSession *self, uint32_t from, uint32_t to)
{
  size_t skip = from == 0 ? 0 : from + 1; /* the header counts as one: it is as large */
  cudaError_t error = cudaEventRecord (self->events[EVENT_RESULT], self->stream);

  if (error == cudaSuccess)
    error = cudaStreamWaitEvent (self->results, self->events[EVENT_RESULT], 0);
  if (error != cudaSuccess)
    return error;
  return cudaMemcpyAsync (
      (CclComponent *) self->result + skip, (CclComponent *) self->frame.header + skip,
      (to + 1 - skip) * sizeof (CclComponent), cudaMemcpyDeviceToHost, self->results);
}

/* From roots to the result. */
static cudaError_t
enqueue_compaction (CudaSession *self)
{
  const CclCudaFrame *frame = &self->frame;
  size_t numbers = (size_t) frame->height * frame->slots * sizeof *frame->numbers;
  cudaError_t error = cudaSuccess;

  if (frame->numbers)
    error = cudaMemsetAsync (frame->numbers, 0, numbers, self->stream);
  if (error == cudaSuccess)
    error = self->algorithm->compact (frame, self->stream);
  if (error == cudaSuccess && frame->volume.slices)
    error = ccl_cuda_volume_slices (frame, self->stream);
  ccl_cuda_stage (frame, "compaction", self->stream);
  if (error == cudaSuccess && frame->map) {
    error = self->algorithm->paint (frame, self->stream);
    ccl_cuda_stage_map (frame, self->stream);
  }
  return error == cudaSuccess ? ccl_cuda_mark (self, EVENT_ANALYSED) : error;
}

static cudaError_t
fetch (CudaSession *self)
{
  if (self->result_is_mapped)
    return cudaSuccess;
  return ccl_cuda_enqueue_transfer (self, 0, ccl_cuda_first_transfer (self));
}

cudaError_t
ccl_cuda_enqueue_result (CudaSession *self)
{
  cudaError_t error = enqueue_compaction (self);

  return error == cudaSuccess ? fetch (self) : error;
}

static cudaError_t
enqueue (CudaSession *self)
{
  cudaError_t error = ccl_cuda_mark (self, EVENT_UPLOADED);

  if (error == cudaSuccess)
    error = ccl_cuda_run (self->algorithm, &self->frame, self->stream);
  return error == cudaSuccess ? enqueue_compaction (self) : error;
}

static cudaError_t
capture (CudaSession *self, cudaGraphExec_t *exec)
{
  cudaGraph_t graph = NULL;
  /* Other threads may allocate meanwhile: this mode looks at this thread only. */
  cudaError_t error = cudaStreamBeginCapture (self->stream, cudaStreamCaptureModeThreadLocal), end;

  if (error != cudaSuccess)
    return error;
  self->capturing = true;
  error = enqueue (self);
  self->capturing = false;
  end = cudaStreamEndCapture (self->stream, &graph);
  if (error == cudaSuccess)
    error = end;
  if (error == cudaSuccess)
    error = cudaGraphInstantiateWithFlags (exec, graph, 0);
  if (graph)
    cudaGraphDestroy (graph);
  return error;
}

static void
forget (CclCudaGraph *graph)
{
  if (graph->exec)
    cudaGraphExecDestroy (graph->exec);
  *graph = (CclCudaGraph){ 0 };
}

void
ccl_cuda_graphs_free (CudaSession *self)
{
  for (int i = 0; i < N_GRAPHS; i++)
    forget (&self->graphs[i]);
}

/* The graph of the current frame, or a free one that becomes it; NULL if all are in use. */
static CclCudaGraph *
find_graph (CudaSession *self)
{
  CclCudaGraph *oldest = &self->graphs[0];

  for (int i = 0; i < N_GRAPHS; i++) {
    CclCudaGraph *graph = &self->graphs[i];

    /* Frames are copied and compared as bytes: their padding is copied along. */
    if (graph->used && memcmp (&graph->frame, &self->frame, sizeof self->frame) == 0)
      return graph;
    if (graph->used < oldest->used)
      oldest = graph;
  }
  if (oldest->used && self->frames - oldest->used < IDLE_FRAMES)
    return NULL;
  forget (oldest);
  memcpy (&oldest->frame, &self->frame, sizeof self->frame);
  return oldest;
}

/* Nothing was lost but time: some drivers and tools cannot capture, and what is launched plainly
 * has ways around more. */
static void
do_without_graphs (CudaSession *self)
{
  cudaGetLastError ();
  ccl_cuda_graphs_free (self);
  self->no_graphs = true;
}

cudaError_t
ccl_cuda_enqueue_analysis (CudaSession *self)
{
  /* Stages' events are recorded where the stages are enqueued. */
  bool may_replay = !self->no_graphs && !self->frame.stages;
  CclCudaGraph *graph = may_replay ? find_graph (self) : NULL;
  bool seen = graph && graph->used;
  cudaError_t error;

  self->frames++;
  if (graph)
    graph->used = self->frames;
  if (seen && !graph->exec && capture (self, &graph->exec) != cudaSuccess)
    do_without_graphs (self);
  if (graph && graph->exec) {
    error = cudaGraphLaunch (graph->exec, self->stream);
    if (error == cudaSuccess)
      return fetch (self);
    do_without_graphs (self);
  }
  error = enqueue (self);
  return error == cudaSuccess ? fetch (self) : error;
}
