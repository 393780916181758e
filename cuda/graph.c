/* cudaccl - CUDA backend: the work on a frame as a graph
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Between frames of a session only a few values change: CclCudaGraphKey. When a key repeats, as it
 * does with every frame that is transferred to the session's own image, and whenever a pool reuses
 * a buffer, the work is captured into a graph, which is replayed from then on. Work with a new key,
 * for example while a controller changes the threshold, is launched directly.
 *
 * Events that measure times are part of a graph, too, and take as long as a small kernel. Where
 * only some frames are measured, these have a graph of their own.
 *
 * Large results are transferred in a stream of their own: in one stream a transfer delays the next
 * graph by 7 us, on an H200. */

#include "cuda/session.h"

/* A graph that has not been used for this many frames can be replaced. Capturing one takes about as
 * long as a small frame, so it must not happen for every frame. */
#define IDLE_FRAMES 64

static CclCudaGraphKey
key_of (const CudaSession *self)
{
  const CclCudaFrame *source = &self->source;
  const CclCudaResult *result = &self->work.result;

  return (CclCudaGraphKey){
    .pixels = source->pixels,
    .pitch = source->pitch,
    .threshold = source->threshold,
    .invert = source->invert,
    .bits = source->bits,
    .min_area = result->min_area,
    .max_area = result->max_area,
    .min_width = result->min_width,
    .min_height = result->min_height,
  };
}

static bool
keys_equal (const CclCudaGraphKey *a, const CclCudaGraphKey *b)
{
  return a->pixels == b->pixels && a->pitch == b->pitch && a->threshold == b->threshold &&
         a->invert == b->invert && a->bits == b->bits && a->min_area == b->min_area &&
         a->max_area == b->max_area && a->min_width == b->min_width &&
         a->min_height == b->min_height;
}

static cudaError_t
capture (CudaSession *self, cudaGraphExec_t *exec)
{
  cudaGraph_t graph = NULL;
  cudaGraphExec_t created;
  /* Other threads may allocate meanwhile: this mode restricts this thread only. */
  cudaError_t error =
                  CCL_CUDA (cudaStreamBeginCapture, self->stream, cudaStreamCaptureModeThreadLocal),
              end;

  if (error != cudaSuccess)
    return error;
  self->capturing = true;
  error = ccl_cuda_enqueue_frame (self);
  self->capturing = false;
  end = CCL_CUDA (cudaStreamEndCapture, self->stream, &graph);
  if (error == cudaSuccess)
    error = end;
  if (error == cudaSuccess)
    error = CCL_CUDA (cudaGraphInstantiateWithFlags, &created, graph, 0);
  if (error == cudaSuccess)
    *exec = created;
  if (graph)
    CCL_CUDA (cudaGraphDestroy, graph);
  return error;
}

static void
free_graph (CclCudaGraph *graph)
{
  if (graph->exec)
    CCL_CUDA (cudaGraphExecDestroy, graph->exec);
  *graph = (CclCudaGraph){ 0 };
}

void
ccl_cuda_graphs_free (CudaSession *self)
{
  for (int i = 0; i < N_GRAPHS; i++)
    free_graph (&self->graphs[i]);
  free_graph (&self->timed_graph);
}

/* The graph with the current key, or a free one that gets it; NULL if all are in use. */
static CclCudaGraph *
find_graph (CudaSession *self)
{
  CclCudaGraphKey key = key_of (self);
  CclCudaGraph *oldest = &self->graphs[0];

  for (int i = 0; i < N_GRAPHS; i++) {
    CclCudaGraph *graph = &self->graphs[i];

    if (graph->used && keys_equal (&graph->key, &key))
      return graph;
    if (graph->used < oldest->used)
      oldest = graph;
  }
  if (oldest->used && self->frames - oldest->used < IDLE_FRAMES)
    return NULL;
  free_graph (oldest);
  oldest->key = key;
  return oldest;
}

/* The graph of measured frames, if its key is the current one. It takes a new key after IDLE_FRAMES
 * frames without use; until then, frames with other keys are not measured and use find_graph(). */
static CclCudaGraph *
find_timed_graph (CudaSession *self)
{
  CclCudaGraphKey key = key_of (self);
  CclCudaGraph *graph = &self->timed_graph;

  if (graph->used && keys_equal (&graph->key, &key))
    return graph;
  if (graph->used && self->frames - graph->used < IDLE_FRAMES) {
    self->timed = false;
    return find_graph (self);
  }
  free_graph (graph);
  graph->key = key;
  return graph;
}

/* Some drivers and tools cannot capture, and plain launches have more fallbacks. This only costs
 * time. */
static void
do_without_graphs (CudaSession *self)
{
  ccl_cuda_api.cudaGetLastError ();
  ccl_cuda_graphs_free (self);
  self->no_graphs = true;
}

cudaError_t
ccl_cuda_replay_frame (CudaSession *self)
{
  /* Stages' events are recorded while the stages are enqueued. */
  bool may_replay = !self->no_graphs && !self->work.stages;
  bool times_some = self->timed && self->timing_interval > 1;
  CclCudaGraph *graph = NULL;
  cudaError_t error;
  bool seen;

  if (may_replay)
    graph = times_some ? find_timed_graph (self) : find_graph (self);
  seen = graph && graph->used;
  self->frames++;
  if (self->timed)
    self->next_timed = self->frames - 1 + self->timing_interval;
  if (graph)
    graph->used = self->frames;
  if (seen && !graph->exec && capture (self, &graph->exec) != cudaSuccess)
    do_without_graphs (self);
  if (graph && graph->exec) {
    error = CCL_CUDA (cudaGraphLaunch, graph->exec, self->stream);
    if (error == cudaSuccess)
      return ccl_cuda_enqueue_first_transfer (self);
    do_without_graphs (self);
  }
  error = ccl_cuda_enqueue_frame (self);
  return error == cudaSuccess ? ccl_cuda_enqueue_first_transfer (self) : error;
}
