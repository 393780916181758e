/* cudaccl - CUDA backend: devices
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_DEVICE_H
#define CCL_CUDA_DEVICE_H

#include "cuda/runtime/devicelimits.h"

#include <cudaccl/ccl.h>

#include <cuda.h>
#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A device that this build's kernels run on. */
typedef struct CclCudaDevice
{
  CUcontext context; /* the caller's, or the device's primary one; NULL before it is open */
  int index;
  char name[256];
  bool shares_memory; /* with the host */
  bool overlap;       /* launch_following() may overlap kernels */
  CclCudaLimits limits;
} CclCudaDevice;

/* Opens the device of @context, a CUcontext, or, if that is NULL, device number @index or, with -1,
 * the first one that works. On success, the context is entered. */
CclStatus ccl_cuda_device_open (int index, void *context, CclCudaDevice *device);

/* Returns the number of devices; for 0 the reason is reported. */
int ccl_cuda_count_devices (void);

/* Checks that this build has kernels for the current device. @overlap: whether these kernels can
 * follow each other by launch_following(). */
cudaError_t ccl_cuda_probe (bool *overlap);

#ifdef __cplusplus
}
#endif

#endif
