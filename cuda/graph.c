/* cudaccl - CUDA backend: the work on a frame as a graph
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* With CclConfig.graphs. Between frames of a session only a few values change: CclCudaGraphKey.
 * When a key repeats, as it does with every frame that is transferred to the session's own image,
 * and whenever a pool reuses a buffer, the work is captured into a graph, which is replayed from
 * then on. Work with a new key, for example while a controller changes the threshold, is launched
 * directly.
 *
 * Events that measure times are part of a graph, too, and take as long as a small kernel. Where
 * only some frames are measured, these have a graph of their own.
 *
 * Large results are transferred in a stream of their own: in one stream a transfer delays the next
 * graph by 7 us, on an H200. */

#include "cuda/graph.h"
#include "cuda/runtime/api.h"

/* A graph that has not been used for this many frames can be replaced. Capturing one takes about as
 * long as a small frame, so it must not happen for every frame. */
#define IDLE_FRAMES 64

static bool
keys_equal (const CclCudaGraphKey *a, const CclCudaGraphKey *b)
{
  return a->pixels == b->pixels && a->pitch == b->pitch && a->threshold == b->threshold &&
         a->highest == b->highest && a->invert == b->invert && a->bits == b->bits &&
         a->near == b->near && a->class_size == b->class_size && a->min_area == b->min_area &&
         a->max_area == b->max_area && a->min_width == b->min_width &&
         a->min_height == b->min_height;
}

static void
free_graph (CclCudaGraph *graph)
{
  if (graph->exec)
    CCL_CUDA (cudaGraphExecDestroy, graph->exec);
  *graph = (CclCudaGraph){ 0 };
}

void
ccl_cuda_graphs_free (CclCudaGraphs *self)
{
  for (int i = 0; i < N_GRAPHS; i++)
    free_graph (&self->items[i]);
  free_graph (&self->timed);
}

/* Gives @graph the key @key, unless another one has used it lately. Returns whether the frame,
 * number @frame, may use it. */
static bool
take_graph (CclCudaGraph *graph, const CclCudaGraphKey *key, uint64_t frame)
{
  if (graph->used && keys_equal (&graph->key, key))
    return true;
  if (graph->used && frame - graph->used < IDLE_FRAMES)
    return false;
  free_graph (graph);
  graph->key = *key;
  return true;
}

/* Returns the graph with @key, or one that is free or idle and gets that key; NULL if all are in
 * use. */
static CclCudaGraph *
find_graph (CclCudaGraphs *self, const CclCudaGraphKey *key, uint64_t frame)
{
  CclCudaGraph *found = &self->items[0];

  for (int i = 0; i < N_GRAPHS; i++) {
    CclCudaGraph *graph = &self->items[i];

    if (graph->used && keys_equal (&graph->key, key)) {
      found = graph;
      break;
    }
    if (graph->used < found->used)
      found = graph;
  }
  return take_graph (found, key, frame) ? found : NULL;
}

static cudaError_t
capture (CclCudaTiming *timing, cudaStream_t stream, cudaError_t (*enqueue) (void *data),
         void *data, cudaGraphExec_t *exec)
{
  cudaGraph_t graph = NULL;
  cudaGraphExec_t created;
  /* Other threads may allocate meanwhile: this mode restricts this thread only. They must not
   * synchronise the context: see CclConfig.graphs. */
  cudaError_t error = CCL_CUDA (cudaStreamBeginCapture, stream, cudaStreamCaptureModeThreadLocal),
              end;

  if (error != cudaSuccess)
    return error;
  timing->capturing = true;
  error = enqueue (data);
  timing->capturing = false;
  end = CCL_CUDA (cudaStreamEndCapture, stream, &graph);
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

/* Some drivers and tools cannot capture, and plain launches have more fallbacks. Going without
 * graphs only costs time. */
static void
do_without_graphs (CclCudaGraphs *self)
{
  ccl_cuda_api.cudaGetLastError ();
  ccl_cuda_graphs_free (self);
  self->disabled = true;
}

cudaError_t
ccl_cuda_graphs_enqueue (CclCudaGraphs *self, const CclCudaGraphKey *key, CclCudaTiming *timing,
                         cudaStream_t stream, cudaError_t (*enqueue) (void *data), void *data)
{
  CclCudaGraph *graph = NULL;
  bool seen;

  if (!self->disabled && timing->timed && timing->interval > 1) {
    /* Until the graph of measured frames is idle, frames with other keys are not measured. */
    timing->timed = take_graph (&self->timed, key, timing->frames);
    graph = timing->timed ? &self->timed : NULL;
  }
  if (!self->disabled && !graph)
    graph = find_graph (self, key, timing->frames);
  ccl_cuda_timing_count (timing);
  seen = graph && graph->used;
  if (graph)
    graph->used = timing->frames;
  if (seen && !graph->exec && capture (timing, stream, enqueue, data, &graph->exec) != cudaSuccess)
    do_without_graphs (self);
  if (graph && graph->exec) {
    if (CCL_CUDA (cudaGraphLaunch, graph->exec, stream) == cudaSuccess)
      return cudaSuccess;
    do_without_graphs (self);
  }
  return enqueue (data);
}
