/* cudaccl - CUDA backend: the context that a session runs in
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* cudaSetDevice() would replace the context that the caller has made current by the primary one. So
 * a session's context is pushed for each call and popped after it, which needs the driver's API. */

#include "cuda/session.h"

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* The driver's functions. Its library comes with the driver, so nothing links with it. */
static struct
{
  CUresult (*init) (unsigned flags);
  CUresult (*device_get) (CUdevice *device, int ordinal);
  CUresult (*primary_retain) (CUcontext *context, CUdevice device);
  CUresult (*push) (CUcontext context);
  CUresult (*pop) (CUcontext *context);
  CUresult (*current_device) (CUdevice *device);
  bool found;
  CUresult ready; /* valid once found */
} driver;

bool
ccl_cuda_find_functions (const CclCudaFunction *functions, size_t n)
{
  void *library = dlopen ("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

  for (size_t i = 0; i < n; i++) {
    void *symbol = dlsym (RTLD_DEFAULT, functions[i].name);

    if (!symbol && library)
      symbol = dlsym (library, functions[i].name);
    if (!symbol)
      return false;
    memcpy (functions[i].pointer, &symbol, sizeof symbol);
  }
  return true;
}

static void
find_driver (void)
{
  static const CclCudaFunction functions[] = {
    { "cuInit", &driver.init },
    { "cuDeviceGet", &driver.device_get },
    { "cuDevicePrimaryCtxRetain", &driver.primary_retain },
    { "cuCtxPushCurrent_v2", &driver.push },
    { "cuCtxPopCurrent_v2", &driver.pop },
    { "cuCtxGetDevice", &driver.current_device },
  };

  driver.found = ccl_cuda_find_functions (functions, sizeof functions / sizeof *functions);
  /* The runtime does this, too, but may not have been called before. */
  if (driver.found)
    driver.ready = driver.init (0);
}

/* CUDA's two APIs have had the same numbers for the same errors since 10.1. */
CclStatus
ccl_cuda_check_driver (CUresult result, const char *what)
{
  return ccl_cuda_check ((cudaError_t) result, what);
}

CclStatus
ccl_cuda_context_find (int device, CUcontext *context)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  CUdevice handle;
  CclStatus status;

  pthread_once (&once, find_driver);
  if (!driver.found)
    return ccl_cuda_check (cudaErrorInsufficientDriver, "looking for the driver's functions");
  if (*context)
    return CCL_OK;
  status = ccl_cuda_check_driver (driver.ready, "starting the driver");
  if (status == CCL_OK)
    status = ccl_cuda_check_driver (driver.device_get (&handle, device), "opening the device");
  /* The reference is kept, as the runtime would keep one: dropping the last one destroys the
   * context, and the next session would load all kernels again. */
  if (status == CCL_OK)
    status = ccl_cuda_check_driver (driver.primary_retain (context, handle), "opening the device");
  return status;
}

CclStatus
ccl_cuda_context_enter (CUcontext context)
{
  return ccl_cuda_check_driver (driver.push (context), "entering the device's context");
}

void
ccl_cuda_context_leave (void)
{
  CUcontext context;

  driver.pop (&context);
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
  status =
      ccl_cuda_check_driver (driver.current_device (&handle), "querying the device of a context");
  ccl_cuda_context_leave ();
  *device = handle; /* a CUdevice is the device's index */
  return status;
}
