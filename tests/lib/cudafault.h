/* cudaccl - calls of CUDA that fail
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Stands between the backend and CUDA, or a fake of it: counts calls, makes one fail, and keeps
 * account of what is created and not freed. For programs that use CUDA in one thread at a time. */

#ifndef TESTS_LIB_CUDA_FAULT_H
#define TESTS_LIB_CUDA_FAULT_H

#include "cuda/runtime/api.h"

typedef struct TestCudaFault
{
  /* Set by test_cuda_fault_arm(). */
  uint64_t fail_at;  /* the call that fails, from 1 on; 0: none */
  cudaError_t error; /* its result */
  bool sticky;       /* calls after it fail, too, as in a context that is lost */
  const char *only;  /* counts, and fails, only calls of this function; NULL: of all */
  /* Counted since then. */
  uint64_t calls;
  const char *failed;   /* the function that failed first, or NULL */
  unsigned live;        /* memories, streams, events, graphs and EGL images not freed yet */
  int entered;          /* contexts pushed and not popped yet */
  cudaError_t last;     /* what cudaGetLastError() returns next */
  bool busy;            /* the device may still be working on what was enqueued */
  bool enqueued_behind; /* a kernel was launched behind work that was not enqueued */
  bool freed_twice;     /* or something that was never created */
} TestCudaFault;

extern TestCudaFault test_cuda_fault;

/* Makes the backend use @api through this, until test_cuda_fault_end(). */
void test_cuda_fault_begin (const CclCudaApi *api);
void test_cuda_fault_end (void);

/* Resets the counters and makes call @fail_at fail. */
void test_cuda_fault_arm (uint64_t fail_at, cudaError_t error, bool sticky);

/* Frees what the backend has not freed. */
void test_cuda_fault_clear (void);

#endif
