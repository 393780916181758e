/* cudaccl - CUDA backend: how a result reaches the host
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_DOWNLOAD_H
#define CCL_CUDA_DOWNLOAD_H

#include "cuda/runtime/completion.h"
#include "cuda/runtime/queue.h"
#include "cuda/tables/result.h"

/* The host's copy of a result, all in pinned memory. */
typedef struct CclCudaDownload
{
  CclCudaQueue *queue;
  cudaStream_t stream; /* of transfers; the queue's own if the result is mapped */
  cudaEvent_t ready;   /* the result is on the device */
  CclCudaCompletion completion;
  CclResultHeader *header; /* and max_components components */
  uint32_t *histogram;     /* [CCL_TOPK_BINS] */
  uint32_t *label_map;     /* NULL without label maps */
  CclMask masks[2];        /* the mask and the shadows; no words: not wanted */
  CclSlices *slices;       /* [max_components]; NULL without a volume */
  uint32_t first;          /* components that the first transfer takes with the header */
  bool mapped;             /* kernels write to the host's copy, and nothing has to be transferred */
} CclCudaDownload;

/* Opens a zeroed download: allocates where kernels write the result, and where the host reads it.
 * Close it also after an error. */
CclStatus ccl_cuda_download_open (CclCudaDownload *self, CclCudaQueue *queue,
                                  const CclSession *session, CclCudaResult *result);
/* Waits for all transfers. The queue's memory must be freed after it. */
void ccl_cuda_download_close (CclCudaDownload *self);

/* Enqueues the transfer of components @from to @to - 1. The header goes with the first one. */
cudaError_t ccl_cuda_transfer (CclCudaDownload *self, const CclCudaResult *result, uint32_t from,
                               uint32_t to);
/* Enqueues the first transfer, of the header and self->first components, unless they are mapped. */
cudaError_t ccl_cuda_transfer_first (CclCudaDownload *self, const CclCudaResult *result);

#endif
