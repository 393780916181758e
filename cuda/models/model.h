/* cudaccl - CUDA backend: the background model of a session
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_MODEL_H
#define CCL_CUDA_MODEL_H

#include "cuda/models/kernels.h"
#include "cuda/runtime/memory.h"
#include "engine/motion/model.h"

typedef struct CclCudaModel
{
  CclModel *base; /* borrowed; NULL without a model */
  CclModelState state;
  CclModelFrame frame;      /* planes of the last frame submitted */
  CclModelFrame small;      /* the frame in the model's size, if that differs */
  CclModelMask masks[2];    /* foreground and shadows in the model's size; NULL if not wanted */
  CclModelMask enlarged[2]; /* in the frame's size, if that differs */
  uint32_t newest;          /* see CclModelTask */
  CclModelLight light;
  CclModelDrift drift;
  CclModelShake shake;
  CclFlicker *flicker;
  CclModelSeen *seen; /* pinned: by the last frame, once that is complete */
} CclCudaModel;

/* Where the planes of a frame lie in one block of memory. Rows begin at multiples of 16 bytes, and
 * either chroma plane has room for interleaved chroma. */
typedef struct CclModelLayout
{
  size_t luma, chroma; /* pitches */
  size_t chroma_at[2];
  size_t size;
} CclModelLayout;

/* Returns a frame of this size, without planes. */
CclModelFrame ccl_cuda_model_frame (const CclModel *base, uint32_t width, uint32_t height);
CclModelLayout ccl_cuda_model_layout (const CclModelFrame *frame);

/* Opens a zeroed model for frames of @config's size, and allocates all its memory. */
CclStatus ccl_cuda_model_open (CclCudaModel *self, CclModel *base, const CclConfig *config,
                               CclCudaMemory *memory);

/* Enqueues base->step for the frame. Once all work on the frame is enqueued, the caller flips the
 * bits of newest that the step learns. */
cudaError_t ccl_cuda_model_enqueue (const CclCudaModel *self, cudaStream_t stream);

/* Sets what the frame has shown, once it is complete. */
void ccl_cuda_model_collect (const CclCudaModel *self);

/* CclBackendClass.background(); waits for the stream. */
CclStatus ccl_cuda_model_background (const CclCudaModel *self, uint8_t *pixels, size_t stride,
                                     cudaStream_t stream);

/* Returns the foreground or, with @i 1, the shadows in the frame's size. */
static inline const CclModelMask *
ccl_cuda_model_mask (const CclCudaModel *self, int i)
{
  return self->base->config.scale > 1 ? &self->enlarged[i] : &self->masks[i];
}

/* Sets interleaved chroma, from @samples on. */
static inline void
ccl_cuda_model_set_pairs (CclModelFrame *frame, const uint8_t *samples, size_t pitch)
{
  frame->planes[1] = (CclModelPlane){ samples, pitch };
  frame->planes[2] = (CclModelPlane){ samples + 1, pitch };
  frame->step = 2;
}

#endif
