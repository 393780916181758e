/* cudaccl - CUDA backend: how pixels reach kernels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_UPLOAD_H
#define CCL_CUDA_UPLOAD_H

#include "cuda/models/model.h"
#include "cuda/runtime/queue.h"
#include "cuda/stages/batch.h"
#include "cuda/tables/frame.h"
#include "engine/backend.h"

/* Brings the frames of a session to where kernels can read them. */
typedef struct CclCudaUpload
{
  CclCudaQueue *queue;
  CclModelFrame *model; /* borrowed; NULL without a background model */
  bool raw;             /* 16-bit samples stay as they are */
  uint32_t width, height;
  CclUpload policy;
  bool in_place;     /* kernels may read bits in the staging buffer */
  bool reads_pinned; /* kernels read pinned pixels in place */
  bool blocks;       /* CCL_SYNC_BLOCK, which prefers saving CPU time to speed */
  bool shares_pool;  /* has a reference to the shared pool, to stage frames */
  bool swapped;      /* the model has the chroma planes of the last frame in the other order */
  /* Room for a frame's pixels or bits, on the device and pinned; allocated with the first frame
   * that needs it. */
  uint8_t *image, *staging;
  size_t image_size, staging_size;
  CclCudaSource *sources,
      *sources_host; /* [frames] of a batch, once there was one; the latter is pinned */
} CclCudaUpload;

/* Opens a zeroed upload. @model: the frame of the background model, or NULL. @reads_once: kernels
 * read each pixel once. */
void ccl_cuda_upload_open (CclCudaUpload *self, CclCudaQueue *queue, const CclConfig *config,
                           CclModelFrame *model, bool reads_once);
void ccl_cuda_upload_close (CclCudaUpload *self);

/* Allocates what is still missing to upload such frames. */
CclStatus ccl_cuda_upload_allocate (CclCudaUpload *self, const CclImage *image);

/* Enqueues the transfer of pixels to where kernels can read them: sets the planes of the model's
 * frame, or @frame's pixels, pitch and bits, and threshold and invert to those of packed pixels.
 * @cut: the frame's. @route_name: CclInfo.upload. */
CclStatus ccl_cuda_upload (CclCudaUpload *self, const CclImage *image, const CclCut *cut,
                           CclCudaFrame *frame, const char **route_name);

/* CclBackendClass.stack(): allocates what is still missing, and enqueues the stacking. The number
 * of frames and their size must be the same each time. */
CclStatus ccl_cuda_upload_stack (CclCudaUpload *self, const CclStack *stack, CclImage *image);

#endif
