/* cudaccl - CUDA backend: the device and the context that a session runs in
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/runtime/device.h"
#include "cuda/session.h"

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
check_device (CclCudaPlace *place, int device)
{
  struct cudaDeviceProp properties;
  bool overlap;
  CclStatus status = ccl_cuda_check (CCL_CUDA (cudaGetDeviceProperties, &properties, device),
                                     "querying the device");

  if (status != CCL_OK)
    return status;
  if (properties.major < 7)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "CUDA device %d (%s) has compute capability %d.%d; use a device with 7.0 or "
                     "newer, or backend cpu",
                     device, properties.name, properties.major, properties.minor);
  status = ccl_cuda_check (ccl_cuda_probe (&overlap), "loading the kernels");
  if (status != CCL_OK)
    return status;
  snprintf (place->name, sizeof place->name, "%.255s", properties.name);
  place->shares_memory = properties.integrated;
  place->overlap = overlap && properties.major >= 9;
  place->device = (CclCudaDevice){
    .index = device,
    .processors = (uint32_t) properties.multiProcessorCount,
    .warps = (uint32_t) (properties.multiProcessorCount * properties.maxThreadsPerMultiProcessor /
                         properties.warpSize),
    .limits = {
      .processors = (uint32_t) properties.multiProcessorCount,
      .threads = (uint32_t) properties.maxThreadsPerMultiProcessor,
      .blocks = (uint32_t) properties.maxBlocksPerMultiProcessor,
      .registers = (uint32_t) properties.regsPerMultiprocessor,
      .shared = (uint32_t) properties.sharedMemPerMultiprocessor,
      .shared_block = (uint32_t) properties.sharedMemPerBlockOptin,
      .shared_reserved = (uint32_t) properties.reservedSharedMemPerBlock,
      .cooperative = properties.cooperativeLaunch != 0,
    },
  };
  return CCL_OK;
}

static CclStatus
open_device (int device, CUcontext context, CclCudaPlace *place)
{
  CclStatus status = ccl_cuda_context_find (device, &context);

  if (status == CCL_OK)
    status = ccl_cuda_context_enter (context);
  if (status != CCL_OK)
    return status;
  status = check_device (place, device);
  if (status == CCL_OK)
    place->context = context;
  else
    ccl_cuda_context_leave ();
  return status;
}

static CclStatus
open_context (int wanted, CUcontext context, CclCudaPlace *place)
{
  int device;
  CclStatus status = ccl_cuda_context_device (context, &device);

  if (status != CCL_OK)
    return status;
  if (wanted >= 0 && wanted != device)
    return ccl_fail (CCL_ERROR_INVALID,
                     "the CUDA context is on device %d, not %d; choose the same device, or -1",
                     device, wanted);
  return open_device (device, context, place);
}

CclStatus
ccl_cuda_place_open (int device, void *context, CclCudaPlace *place)
{
  int count = ccl_cuda_count_devices ();
  CclStatus status = CCL_ERROR_NO_DEVICE;

  *place = (CclCudaPlace){ .context = NULL };
  if (context)
    return open_context (device, context, place);
  if (device >= 0)
    return open_device (device, NULL, place);
  for (int i = 0; i < count && status != CCL_OK; i++)
    status = open_device (i, NULL, place);
  return status;
}
