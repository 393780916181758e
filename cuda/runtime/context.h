/* cudaccl - CUDA backend: the context that a queue runs in
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_CONTEXT_H
#define CCL_CUDA_CONTEXT_H

#include <cudaccl/ccl.h>

#include <cuda.h>

/* Sets @context to the primary context of @device unless it is set already. */
CclStatus ccl_cuda_context_find (int device, CUcontext *context);

/* Gets the device of a context. */
CclStatus ccl_cuda_context_device (CUcontext context, int *device);

/* Make @context current in this thread, and restore the previous one. */
CclStatus ccl_cuda_context_enter (CUcontext context);
void ccl_cuda_context_leave (void);

#endif
