/* cudaccl - CUDA backend: background models, the kernels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_MODEL_KERNELS_H
#define CCL_CUDA_MODEL_KERNELS_H

#include "engine/motion/drift.h"
#include "engine/motion/flicker.h"
#include "engine/motion/shake.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A plane of samples that kernels can read. */
typedef struct CclModelPlane
{
  const uint8_t *samples;
  size_t pitch; /* bytes */
} CclModelPlane;

/* A frame: planes 1 and 2 are chroma. */
typedef struct CclModelFrame
{
  CclModelPlane planes[3];
  uint32_t width, height;               /* of luma */
  uint32_t chroma_width, chroma_height; /* 0 without chroma */
  uint32_t step;                        /* bytes from one sample of chroma to the next */
} CclModelFrame;

/* Sums over a frame: luma's bands, and then what ccl_motion_knows(). */
#define CCL_MODEL_KNOWN CCL_FLICKER_BANDS
#define CCL_MODEL_SUMS (CCL_FLICKER_BANDS + 1)

/* Observations of a frame: see CclModel. */
typedef struct CclModelSeen
{
  uint64_t foreground, shadows, sums[CCL_MODEL_SUMS];
  bool relit;            /* only written by frames that search for a change of light */
  bool flickers, far;    /* only by frames that are divided by their gains */
  CclShift shift;        /* only by frames that are aligned, or compared in coarse pixels */
  CclDriftLevels levels; /* only by frames that check for a drift */
} CclModelSeen;

/* Tables of a change of light, for the model's tiles. */
typedef struct CclModelLight
{
  uint32_t columns, rows;
  CclLightTile *tiles;
  CclLightTotal *total;
} CclModelLight;

/* Tables of a drift: see engine/motion/drift.h. */
typedef struct CclModelDrift
{
  uint32_t *counters;
  CclDrift *drift;
  uint32_t *any; /* 1 if there is a drift */
} CclModelDrift;

/* A mask that kernels write, in whole words of 64 pixels. */
typedef struct CclModelMask
{
  uint64_t *words; /* NULL if not wanted */
  size_t pitch;    /* words */
} CclModelMask;

/* Tables for aligning a frame, or for dividing it by its gains: see engine/motion/shake.h. */
typedef struct CclModelShake
{
  CclShakeSum *sums;     /* CCL_SHAKE_SUMS */
  CclShift *shift;       /* that the frame is aligned by */
  uint8_t *values;       /* coarse pixels of the frame, NULL without such */
  uint16_t *background;  /* and of the background */
  uint32_t coarse;       /* ccl_shake_size() */
  CclModelFrame frame;   /* the result; its chroma is interleaved */
  CclModelMask masks[2]; /* of it */
} CclModelShake;

#define CCL_MODEL_UNIT 16
#define CCL_MODEL_TOTALS (2 + CCL_MODEL_SUMS)

/* The state of all pixels. The number of luma pixels in a row is a multiple of CCL_MODEL_UNIT, and
 * rows begin at multiples of 16 bytes. The background has two copies (M1 in model.cu). */
typedef struct CclModelState
{
  size_t pitch; /* from row to row: luma pixels, or twice the chroma samples */
  uint16_t *background[2];
  uint8_t *noise, *candidates, *counts, *formers, *visits;
  uint32_t *chroma;           /* both backgrounds of a sample; the second in the upper half */
  unsigned long long *totals; /* of foreground and shadows, and sums; 0 between frames */
  CclModelSeen *seen;         /* in pinned memory (M6) */
} CclModelState;

/* A frame's job for the kernels. Passed by value. */
typedef struct CclModelTask
{
  CclModelFrame frame;
  CclModelState state;
  CclModelLight light;
  CclModelDrift drift;
  CclModelShake shake;
  CclFlicker *flicker;
  CclMotionStep step;
  CclModelMask mask, shadows;
  uint64_t most;    /* with more foreground, both masks are empty */
  uint32_t newest;  /* bit i: the copy that is valid in rows of group i */
  uint32_t columns; /* blocks side by side */
  uint32_t column_reciprocal;
  uint8_t silent;     /* 1: masks are empty */
  uint8_t vectors[2]; /* how luma and chroma can be loaded: see CclModelVectors */
} CclModelTask;

typedef enum CclModelVectors
{
  CCL_MODEL_SINGLE = 0, /* sample by sample */
  CCL_MODEL_VECTOR,     /* by vectors, from two planes */
  CCL_MODEL_PAIRS,      /* by vectors, from interleaved chroma that begins with plane 1 */
} CclModelVectors;

/* Enqueues a frame. Changes @task: sets columns, column_reciprocal and vectors, and what is
 * aligned. */
cudaError_t ccl_cuda_model_apply (CclModelTask *task, cudaStream_t stream);

/* Enqueues the search for a change of light; part of ccl_cuda_model_apply(). */
cudaError_t ccl_cuda_model_relight (const CclModelTask *task, cudaStream_t stream);

/* Enqueues the check for a drift, likewise. */
cudaError_t ccl_cuda_model_follow_drift (const CclModelTask *task, cudaStream_t stream);

/* Enqueues shifting the background by the drift, if there is any, likewise. */
cudaError_t ccl_cuda_model_shift (const CclModelTask *task, cudaStream_t stream);

/* Enqueues the search for the gains of a frame's light, likewise. */
cudaError_t ccl_cuda_model_find_flicker (const CclModelTask *task, cudaStream_t stream);

/* Enqueues the search for the frame's shift, and sets @task's frame to the aligned one, divided by
 * its gains, likewise. */
cudaError_t ccl_cuda_model_align (CclModelTask *task, cudaStream_t stream);

/* Enqueues moving a mask to where the frame has its pixels, likewise. */
cudaError_t ccl_cuda_model_move (const CclModelMask *from, const CclModelMask *to,
                                 const CclModelTask *task, cudaStream_t stream);

/* Enqueues the reduction of a frame to rounded means of @scale by @scale samples. @to: its size is
 * set, and its chroma is interleaved. */
cudaError_t ccl_cuda_model_shrink (const CclModelFrame *from, const CclModelFrame *to,
                                   uint32_t scale, cudaStream_t stream);

/* Enqueues the enlargement of a mask by @scale, 2 or 4, to @width by @height pixels. */
cudaError_t ccl_cuda_model_enlarge (const CclModelMask *from, const CclModelMask *to,
                                    uint32_t width, uint32_t height, uint32_t scale,
                                    cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
