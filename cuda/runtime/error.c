/* cudaccl - CUDA backend: errors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/runtime/error.h"
#include "cuda/runtime/api.h"

/* Maps a CUDA error to a status, and to advice. */
static CclStatus
classify (cudaError_t error, const char **advice)
{
  switch (error) {
  case cudaErrorMemoryAllocation:
    *advice = "use smaller frames, fewer analyzers or another device";
    return CCL_ERROR_NO_MEMORY;
  case cudaErrorNoDevice:
  case cudaErrorInsufficientDriver:
  case cudaErrorInvalidDevice:
  case cudaErrorDevicesUnavailable:
  case cudaErrorInitializationError:
  case cudaErrorSystemDriverMismatch:
  case cudaErrorSystemNotReady:
  case cudaErrorStubLibrary:
  case cudaErrorCompatNotSupportedOnDevice:
    *advice = "install or update NVIDIA's driver, choose another device, or use backend cpu";
    return CCL_ERROR_NO_DEVICE;
  case cudaErrorNoKernelImageForDevice:
  case cudaErrorUnsupportedPtxVersion:
    *advice = "build with this device's compute capability in the option cuda-arch, or use backend "
              "cpu";
    return CCL_ERROR_UNSUPPORTED;
  case cudaErrorIllegalAddress:
  case cudaErrorMisalignedAddress:
  case cudaErrorLaunchFailure:
  case cudaErrorAssert:
  case cudaErrorECCUncorrectable:
    *advice = "restart the program; check that frames in device memory are valid";
    return CCL_ERROR_DEVICE;
  default:
    *advice = "create a new analyzer or use backend cpu";
    return CCL_ERROR_DEVICE;
  }
}

static _Thread_local struct
{
  cudaError_t error;
  const char *name;
} failure;

void
ccl_cuda_remember_failure (cudaError_t error, const char *name)
{
  failure.error = error;
  failure.name = name;
}

CclStatus
ccl_cuda_check (cudaError_t error, const char *what)
{
  const char *name = error == failure.error ? failure.name : NULL;
  const char *advice;
  CclStatus status;

  if (error == cudaSuccess)
    return CCL_OK;
  ccl_cuda_api.cudaGetLastError (); /* or the next launch would report it again */
  failure.error = cudaSuccess;
  status = classify (error, &advice);
  return ccl_fail (status, "CUDA: %s%s%s (%s) while %s; %s", name ? name : "", name ? ": " : "",
                   ccl_cuda_api.cudaGetErrorString (error), ccl_cuda_api.cudaGetErrorName (error),
                   what, advice);
}
