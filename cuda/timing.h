/* cudaccl - CUDA backend: how long a frame and its stages take
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_TIMING_H
#define CCL_CUDA_TIMING_H

#include "engine/backend.h"

#include <cuda_runtime_api.h>

/* The moments of a frame that are measured. */
typedef enum CclCudaMoment
{
  CCL_CUDA_START,
  CCL_CUDA_UPLOADED,
  CCL_CUDA_MODELLED,
  CCL_CUDA_ANALYSED,
  CCL_CUDA_DOWNLOADED,
  CCL_CUDA_MOMENTS,
} CclCudaMoment;

/* When the stages of a frame ended. */
typedef struct CclCudaStages
{
  cudaEvent_t events[CCL_MAX_STAGES];
  const char *names[CCL_MAX_STAGES];
  uint32_t n;
  uint32_t before;    /* stages before the analysis */
  uint32_t labelling; /* bit i: stage i makes labels of pixels */
} CclCudaStages;

typedef struct CclCudaTiming
{
  uint32_t interval; /* measure one of this many frames; 0: none */
  uint64_t frames;   /* submitted so far */
  uint64_t next;     /* measure the first frame from this number on */
  bool timed;        /* the current frame is measured */
  bool capturing;    /* a graph */
  cudaEvent_t moments[CCL_CUDA_MOMENTS];
  CclCudaStages stages;
} CclCudaTiming;

/* Opens zeroed timing for @config. Close it also after an error. */
CclStatus ccl_cuda_timing_open (CclCudaTiming *self, const CclConfig *config);
void ccl_cuda_timing_close (CclCudaTiming *self);

/* Decides whether the next frame is measured. ccl_cuda_graphs_enqueue() may still decide against
 * it. */
void ccl_cuda_timing_begin (CclCudaTiming *self);
/* Counts the frame. */
void ccl_cuda_timing_count (CclCudaTiming *self);

/* Records @moment, if the frame is measured. */
cudaError_t ccl_cuda_mark (CclCudaTiming *self, CclCudaMoment moment, cudaStream_t stream);

/* Nanoseconds from one moment of a complete frame to another. */
uint64_t ccl_cuda_timing_between (const CclCudaTiming *self, CclCudaMoment from, CclCudaMoment to);

/* Drops the stages from the selection on, which is done again. */
void ccl_cuda_stages_rewind (CclCudaStages *self);
/* Reads the times of a complete frame's stages. */
void ccl_cuda_stages_read (const CclCudaTiming *self, CclTiming *timing);

#endif
