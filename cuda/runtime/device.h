/* cudaccl - CUDA backend: the device and the context that a session runs in
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_PLACE_H
#define CCL_CUDA_PLACE_H

#include "cuda/algorithms/algorithm.h"

#include <cuda.h>

typedef struct CclCudaPlace
{
  CUcontext context; /* the caller's, or the device's primary one; NULL before it is open */
  CclCudaDevice device;
  char name[256];
  bool shares_memory; /* with the host */
  bool overlap;       /* launch_following() may overlap kernels */
} CclCudaPlace;

/* Opens the device of @context, a CUcontext, or, if that is NULL, device number @device, or with -1
 * the first one that works. On success, the context is entered. */
CclStatus ccl_cuda_place_open (int device, void *context, CclCudaPlace *place);

/* The number of devices; with 0, the reason is reported. */
int ccl_cuda_count_devices (void);

#endif
