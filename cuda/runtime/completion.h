/* cudaccl - CUDA backend: how the host waits for the device
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_COMPLETION_H
#define CCL_CUDA_COMPLETION_H

#include "cuda/runtime/memory.h"

#include <cuda.h>

/* The end of the work that a stream had when ccl_cuda_completion_record() was last called.
 *
 * Each poll of an event is a call of the driver and takes a lock that all threads of the process
 * share, and the host sees the event 2 us late. So the stream writes a value to pinned memory,
 * which the host polls. An event serves where the driver is older than CUDA 11.7 or refuses the
 * write, and for CCL_SYNC_BLOCK, which sleeps. */
typedef struct CclCudaCompletion
{
  CclSync sync;
  cudaEvent_t event;
  cudaStream_t stream;      /* the last call's */
  const uint32_t *value;    /* pinned, written last; NULL to use the event */
  CUdeviceptr device_value; /* the same for the stream */
  uint32_t expected;        /* what the stream writes last */
  uint64_t ended;           /* when the last wait did; 0: none yet */
  uint64_t nap;             /* ns to sleep in a live stream before polling */
  uint64_t naps;            /* taken, for tests */
} CclCudaCompletion;

/* Opens a zeroed completion. Close it also after an error. Its value belongs to @memory: free that
 * only when the stream is idle. */
CclStatus ccl_cuda_completion_open (CclCudaCompletion *self, CclSync sync, CclCudaMemory *memory);
void ccl_cuda_completion_close (CclCudaCompletion *self);

/* Marks the end of the work in @stream; the mark before it is forgotten. */
cudaError_t ccl_cuda_completion_record (CclCudaCompletion *self, cudaStream_t stream);
/* Waits for the mark, or until the device fails. */
cudaError_t ccl_cuda_completion_wait (CclCudaCompletion *self);

#endif
