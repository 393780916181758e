/* cudaccl - CUDA backend: the context that a session runs in
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cudaSetDevice() would replace the caller's current context with the primary one. So a session's
 * context is pushed for each call and popped after it, which needs the driver's API. */

#include "cuda/runtime/context.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/error.h"

static bool
have_driver (void)
{
  const CclCudaApi *api = &ccl_cuda_api;

  ccl_cuda_api_load ();
  return api->cuInit && api->cuDeviceGet && api->cuDevicePrimaryCtxRetain &&
         api->cuCtxPushCurrent_v2 && api->cuCtxPopCurrent_v2 && api->cuCtxGetDevice &&
         api->cuCtxGetApiVersion;
}

CclStatus
ccl_cuda_context_find (int device, CUcontext *context)
{
  CUdevice handle;
  CclStatus status;

  if (!have_driver ())
    return ccl_cuda_check (cudaErrorInsufficientDriver, "looking for the driver's functions");
  if (*context)
    return CCL_OK;
  /* The runtime does this, too, but may not have been called before. */
  status = ccl_cuda_check (CCL_CUDA (cuInit, 0), "starting the driver");
  if (status == CCL_OK)
    status = ccl_cuda_check (CCL_CUDA (cuDeviceGet, &handle, device), "opening the device");
  /* The reference is kept, as the runtime keeps its own: dropping the last one destroys the
   * context, and the next session would have to load all kernels again. */
  if (status == CCL_OK)
    status =
        ccl_cuda_check (CCL_CUDA (cuDevicePrimaryCtxRetain, context, handle), "opening the device");
  return status;
}

CclStatus
ccl_cuda_context_enter (CUcontext context)
{
  unsigned version;
  CclStatus status;

  /* A context that its owner has destroyed can still be pushed, but has lost its pinned
   * memory. */
  status = ccl_cuda_check (CCL_CUDA (cuCtxGetApiVersion, context, &version),
                           "entering the device's context");
  if (status == CCL_OK)
    status =
        ccl_cuda_check (CCL_CUDA (cuCtxPushCurrent_v2, context), "entering the device's context");
  return status;
}

void
ccl_cuda_context_leave (void)
{
  CUcontext context;

  CCL_CUDA (cuCtxPopCurrent_v2, &context);
}

CclStatus
ccl_cuda_context_device (CUcontext context, int *device)
{
  CclStatus status = ccl_cuda_context_find (-1, &context);
  CUdevice handle = -1;

  if (status == CCL_OK)
    status = ccl_cuda_context_enter (context);
  if (status != CCL_OK)
    return status;
  status = ccl_cuda_check (CCL_CUDA (cuCtxGetDevice, &handle), "querying the device of a context");
  ccl_cuda_context_leave ();
  *device = handle; /* a CUdevice is the device's index */
  return status;
}
