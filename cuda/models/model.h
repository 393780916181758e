/* cudaccl - CUDA backend: the background model of a session
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_MODEL_H
#define CCL_CUDA_MODEL_H

#include "cuda/models/kernels.h"
#include "cuda/runtime/memory.h"
#include "engine/motion.h"

typedef struct CclCudaModel
{
  CclModel *base; /* NULL: there is no model */
  CclModelState state;
  CclModelFrame frame;      /* its planes are those of the frame that is submitted */
  CclModelFrame small;      /* the frame in the model's size, if that is another */
  CclModelMask masks[2];    /* foreground and shadows, of the model's size; NULL: not wanted */
  CclModelMask enlarged[2]; /* of the frame's, if that is another */
  uint32_t newest;          /* see CclModelTask */
  uint64_t *foreground;     /* pinned: the last frame's, once that is complete */
} CclCudaModel;

/* Planes in one block of memory, in rows at multiples of 16 bytes. Both chroma planes have room for
 * pairs. */
typedef struct CclModelLayout
{
  size_t luma, chroma; /* pitches */
  size_t chroma_at[2];
  size_t size;
} CclModelLayout;

/* A frame of this size, without its planes. */
CclModelFrame ccl_cuda_model_frame (const CclModel *base, uint32_t width, uint32_t height);
CclModelLayout ccl_cuda_model_layout (const CclModelFrame *frame);

/* Makes a zeroed model for frames of @config's size, with all its memory. */
CclStatus ccl_cuda_model_open (CclCudaModel *self, CclModel *base, const CclConfig *config,
                               CclCudaMemory *memory);

/* Enqueues the base's step with the frame. If all work on the frame was enqueued, the caller flips
 * the bits of newest that the step learns. */
cudaError_t ccl_cuda_model_enqueue (const CclCudaModel *self, cudaStream_t stream);

/* Waits for the stream; as CclBackendClass.background(). */
CclStatus ccl_cuda_model_background (const CclCudaModel *self, uint8_t *pixels, size_t stride,
                                     cudaStream_t stream);

/* Foreground or, with @i 1, shadows, of the frame's size. */
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
