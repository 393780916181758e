/* cudaccl - CUDA backend: operations on masks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_OPERATIONS_H
#define CCL_CUDA_OPERATIONS_H

#include "cuda/filters/passes.h"
#include "cuda/tile/tile.h"

/* A launch of passes, or a fill or a drop, which takes an analysis. */
typedef struct CclOperationStep
{
  bool flips; /* does @flip rather than @passes */
  CclPasses passes;
  CclFlipPass flip;
} CclOperationStep;

/* An opening by a rectangle that reaches CCL_MAX_OPERATION_SIZE / 2 pixels takes the most. */
#define CCL_MAX_STEPS \
  (2 * (CCL_MAX_OPERATION_SIZE / 2 / CCL_PASSES_REACH + 1) * CCL_MAX_OPERATIONS + 1)

/* The steps that lead from a frame's pixels to the mask that is analysed. */
typedef struct CclCudaOperations
{
  uint32_t n; /* 0 to analyse the frame as it is */
  CclOperationStep steps[CCL_MAX_STEPS];
  uint64_t *masks[2];   /* [height * pitch] */
  size_t pitch;         /* words */
  uint64_t *region;     /* [height of a frame * pitch], or NULL */
  CclCudaFrame clean;   /* the resulting mask, as bits */
  CclCudaWork analysis; /* the analysis for fill and drop, by the tile algorithm */
  bool own_tables;      /* analysis.tables must be freed */
  uint64_t min_area;    /* replaces a drop at the end; 0 without one */
} CclCudaOperations;

/* Plans @range of @session's operations and its region, and allocates their memory. Call this after
 * @work was opened: if its algorithm is tile, both share tables. */
CclStatus ccl_cuda_operations_open (CclCudaOperations *operations, const CclSession *session,
                                    CclChainRange range, const CclCudaWork *work,
                                    CclCudaQueue *queue);
void ccl_cuda_operations_close (CclCudaOperations *operations);

/* Enqueues all steps, from @source to operations->clean. */
cudaError_t ccl_cuda_operations_enqueue (const CclCudaOperations *operations,
                                         const CclCudaFrame *source, cudaStream_t stream);

#endif
