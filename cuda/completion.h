/* cudaccl - CUDA backend: how the host waits for the device
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_COMPLETION_H
#define CCL_CUDA_COMPLETION_H

#include "cuda/algorithm.h"
#include "cuda/api.h"

/* The completion of what a stream had to do when ccl_cuda_completion_record() was called last.
 *
 * An event takes a call of the driver for each poll, with a lock that all threads of a process
 * share, and the host sees it 2 us after the work is complete. So the stream writes a number to
 * page-locked memory instead, where the host can read it. Drivers before CUDA 11.7 cannot do that,
 * and a thread that is to sleep needs an event. */
typedef struct CclCudaCompletion
{
  CclSync sync;
  cudaEvent_t event;
  cudaStream_t stream; /* of the last call */
  uint32_t *number;    /* page-locked: what the stream has written; NULL: use the event */
  CUdeviceptr address; /* where the stream writes it */
  uint32_t last;       /* the number that the stream writes last */
} CclCudaCompletion;

/* Opens a zeroed completion. Its number is in @memory; even after an error, close it. */
CclStatus ccl_cuda_completion_open (CclCudaCompletion *self, CclSync sync, CclCudaMemory *memory);
void ccl_cuda_completion_close (CclCudaCompletion *self);

cudaError_t ccl_cuda_completion_record (CclCudaCompletion *self, cudaStream_t stream);
/* Returns an error if the device failed meanwhile. */
cudaError_t ccl_cuda_completion_wait (CclCudaCompletion *self);

#endif
