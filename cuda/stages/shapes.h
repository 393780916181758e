/* cudaccl - CUDA backend: shapes of components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_SHAPES_H
#define CCL_CUDA_SHAPES_H

#include "cuda/runtime/queue.h"
#include "cuda/tables/shape.h"
#include "engine/backend.h"

/* The shapes of a session's frames. They are found once a frame is complete, from its label map, so
 * with any algorithm. */
typedef struct CclCudaShapes
{
  CclCudaShape *sums;  /* [max_components] on the device; NULL: not wanted */
  CclCudaShape *host;  /* their copy, in pinned memory */
  const uint8_t *luma; /* on the device, of the frame submitted last */
  size_t pitch;
} CclCudaShapes;

/* Opens zeroed shapes: allocates what they need, and @session's shapes, which the caller frees. */
CclStatus ccl_cuda_shapes_open (CclCudaShapes *self, CclSession *session, CclCudaQueue *queue);

/* Finds the shapes of @count components in the device's @label_map; waits for them. */
CclStatus ccl_cuda_shapes_find (const CclCudaShapes *self, CclSession *session, CclCudaQueue *queue,
                                const uint32_t *label_map, uint32_t count);

#endif
