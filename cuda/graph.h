/* cudaccl - CUDA backend: the work on a frame as a graph
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_GRAPH_H
#define CCL_CUDA_GRAPH_H

#include "cuda/timing.h"

#define N_GRAPHS 16

/* All that changes between the frames of a session. */
typedef struct CclCudaGraphKey
{
  const uint8_t *pixels;
  size_t pitch;
  uint32_t min_area, max_area, min_width, min_height;
  uint8_t threshold, highest, invert, bits;
  bool near;          /* with the operations for near objects */
  uint8_t class_size; /* bytes of a pixel with a class; 0: values are no classes */
} CclCudaGraphKey;

/* The work on frames with one key, ready to be replayed. */
typedef struct CclCudaGraph
{
  CclCudaGraphKey key;
  cudaGraphExec_t exec; /* NULL while the key has come only once */
  uint64_t used;        /* number of its last frame, from 1; 0 if free */
} CclCudaGraph;

typedef struct CclCudaGraphs
{
  CclCudaGraph items[N_GRAPHS];
  CclCudaGraph timed; /* of measured frames, if not all are measured */
  bool disabled;      /* always launch directly */
} CclCudaGraphs;

/* Enqueues the work on a frame in @stream: by a graph with this @key if possible, otherwise by
 * @enqueue, which gets @data. Counts the frame in @timing. */
cudaError_t ccl_cuda_graphs_enqueue (CclCudaGraphs *self, const CclCudaGraphKey *key,
                                     CclCudaTiming *timing, cudaStream_t stream,
                                     cudaError_t (*enqueue) (void *data), void *data);

void ccl_cuda_graphs_free (CclCudaGraphs *self);

#endif
