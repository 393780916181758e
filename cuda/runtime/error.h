/* cudaccl - CUDA backend: errors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_ERROR_H
#define CCL_CUDA_ERROR_H

#include "engine/error.h"

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns CCL_OK, or reports a CUDA error and what to do about it. @what: the step that failed. */
CclStatus ccl_cuda_check (cudaError_t error, const char *what);

#ifdef __cplusplus
}
#endif

#endif
