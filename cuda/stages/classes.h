/* cudaccl - CUDA backend: frames of classes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_CLASSES_H
#define CCL_CUDA_CLASSES_H

#include "cuda/runtime/queue.h"
#include "cuda/tables/classes.h"
#include "cuda/tables/frame.h"
#include "engine/backend.h"

/* The classes of a session's frames (CCL_VALUES_EQUAL). */
typedef struct CclCudaClasses
{
  CclClassFrame source; /* the frame submitted last */
  uint32_t *planes;     /* CclClassPlane; NULL: values are no classes */
  uint32_t *region;
  size_t pitch;     /* of a row of both, in words */
  uint16_t *values; /* [max_components] of the last result */
} CclCudaClasses;

/* Opens zeroed classes: copies the region and allocates what they need, and for frames @session's
 * values, which the caller frees. */
CclStatus ccl_cuda_classes_open (CclCudaClasses *self, CclSession *session, CclCudaQueue *queue);

/* Takes the pixels of a frame of @format, which are on the device. Returns the frame of bits that
 * algorithms analyse once ccl_cuda_find_classes() is enqueued. */
CclCudaFrame ccl_cuda_classes_take (CclCudaClasses *self, const CclCudaFrame *frame,
                                    CclFormat format);

/* Sets @session's values to those of @count components; waits for them. */
CclStatus ccl_cuda_classes_read (const CclCudaClasses *self, CclSession *session,
                                 CclCudaQueue *queue, const CclComponent *components,
                                 uint32_t count);

#endif
