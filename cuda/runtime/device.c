/* cudaccl - CUDA backend: devices
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/runtime/device.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/context.h"
#include "cuda/runtime/error.h"

#include <stdio.h>

int
ccl_cuda_count_devices (void)
{
  int count = 0;
  cudaError_t error = CCL_CUDA (cudaGetDeviceCount, &count);

  if (error == cudaSuccess && count == 0)
    error = cudaErrorNoDevice;
  if (ccl_cuda_check (error, "looking for devices") != CCL_OK)
    return 0;
  return count;
}

/* Checks that this build's kernels run on the device of the context, and describes it. */
static CclStatus
check_device (CclCudaDevice *device, int index)
{
  struct cudaDeviceProp properties;
  bool overlap;
  CclStatus status = ccl_cuda_check (CCL_CUDA (cudaGetDeviceProperties, &properties, index),
                                     "querying the device");

  if (status != CCL_OK)
    return status;
  if (properties.major < 7)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "CUDA device %d (%s) has compute capability %d.%d; use a device with 7.0 or "
                     "newer, or backend cpu",
                     index, properties.name, properties.major, properties.minor);
  status = ccl_cuda_check (ccl_cuda_probe (&overlap), "loading the kernels");
  if (status != CCL_OK)
    return status;
  device->index = index;
  device->shares_memory = properties.integrated;
  device->overlap = overlap && properties.major >= 9;
  snprintf (device->name, sizeof device->name, "%.255s", properties.name);
  device->limits = (CclCudaLimits){
    .processors = (uint32_t) properties.multiProcessorCount,
    .threads = (uint32_t) properties.maxThreadsPerMultiProcessor,
    .blocks = (uint32_t) properties.maxBlocksPerMultiProcessor,
    .registers = (uint32_t) properties.regsPerMultiprocessor,
    .shared = (uint32_t) properties.sharedMemPerMultiprocessor,
    .shared_block = (uint32_t) properties.sharedMemPerBlockOptin,
    .shared_reserved = (uint32_t) properties.reservedSharedMemPerBlock,
    .cooperative = properties.cooperativeLaunch != 0,
  };
  return CCL_OK;
}

static CclStatus
open_device (int index, CUcontext context, CclCudaDevice *device)
{
  CclStatus status = ccl_cuda_context_find (index, &context);

  if (status == CCL_OK)
    status = ccl_cuda_context_enter (context);
  if (status != CCL_OK)
    return status;
  status = check_device (device, index);
  if (status == CCL_OK)
    device->context = context;
  else
    ccl_cuda_context_leave ();
  return status;
}

static CclStatus
open_context (int wanted, CUcontext context, CclCudaDevice *device)
{
  int index;
  CclStatus status = ccl_cuda_context_device (context, &index);

  if (status != CCL_OK)
    return status;
  if (wanted >= 0 && wanted != index)
    return ccl_fail (CCL_ERROR_INVALID,
                     "the CUDA context is on device %d, not %d; choose the same device, or -1",
                     index, wanted);
  return open_device (index, context, device);
}

CclStatus
ccl_cuda_device_open (int index, void *context, CclCudaDevice *device)
{
  int count = ccl_cuda_count_devices ();
  CclStatus status = CCL_ERROR_NO_DEVICE;

  *device = (CclCudaDevice){ .context = NULL };
  if (context)
    return open_context (index, context, device);
  if (index >= 0)
    return open_device (index, NULL, device);
  for (int i = 0; i < count && status != CCL_OK; i++)
    status = open_device (i, NULL, device);
  return status;
}
