/* cudaccl - CUDA backend: a stream on a device, and its memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_QUEUE_H
#define CCL_CUDA_QUEUE_H

#include "cuda/runtime/device.h"
#include "cuda/runtime/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The device, stream and memory that all parts of a session share. The device's context is entered
 * for each call of the backend and left after it. */
typedef struct CclCudaQueue
{
  CclCudaDevice device;
  cudaStream_t stream;
  cudaEvent_t ready; /* for ccl_cuda_queue_wait() */
  CclCudaMemory memory;
} CclCudaQueue;

/* Opens a zeroed queue on the device that ccl_cuda_device_open() chooses. @account counts its
 * memory. On success, the context is entered. After an error it is not, but the queue must be
 * closed nevertheless. */
CclStatus ccl_cuda_queue_open (CclCudaQueue *self, int device, void *context, CclAccount *account);

/* Waits for all enqueued work, then frees the queue's memory; in its context. */
void ccl_cuda_queue_close (CclCudaQueue *self);

/* Makes the queue wait for the work that @stream has so far; no effect for NULL and the queue's own
 * stream. */
cudaError_t ccl_cuda_queue_wait (CclCudaQueue *self, cudaStream_t stream);

/* Copies @size bytes to the host once all enqueued work is complete, and waits for the copy. */
cudaError_t ccl_cuda_queue_read (CclCudaQueue *self, void *to, const void *from, size_t size);

/* Create a stream and an event. */
CclStatus ccl_cuda_stream_new (cudaStream_t *stream);
CclStatus ccl_cuda_event_new (cudaEvent_t *event, unsigned flags);

/* Destroys an event unless it is NULL. */
void ccl_cuda_event_free (cudaEvent_t event);

/* Returns the nanoseconds between two complete events, or 0 if that fails. */
uint64_t ccl_cuda_nanoseconds (cudaEvent_t from, cudaEvent_t to);

#ifdef __cplusplus
}
#endif

#endif
