/* cudaccl - CUDA backend: colour signatures of boxes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_SIGNATURES_H
#define CCL_CUDA_SIGNATURES_H

#include "cuda/runtime/queue.h"
#include "engine/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Boxes at a time. */
#define CCL_CUDA_SIGNATURES 1024

/* A session's boxes on their way to the device, and signatures on their way back. */
typedef struct CclCudaSignatures
{
  CclSignatureFrame frame; /* on the device, submitted last */
  CclBox *boxes, *host_boxes;
  CclSignature *found, *host; /* NULL before the first call, as the boxes. Host memory is pinned */
} CclCudaSignatures;

/* Finds the signatures of checked boxes, and waits for them. The first call allocates. */
CclStatus ccl_cuda_signatures_find (CclCudaSignatures *self, CclCudaQueue *queue,
                                    const CclBox *boxes, uint32_t n, CclSignature *signatures);

/* Enqueues the signatures of @n boxes in device memory. */
cudaError_t ccl_cuda_find_signatures (const CclSignatureFrame *frame, const CclBox *boxes,
                                      uint32_t n, CclSignature *signatures, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
