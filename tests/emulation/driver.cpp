/* cudaccl - emulation: CUDA's driver
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The program exports these functions, so a look-up finds them before those of a driver that may be
 * installed. */

#include "tests/emulation/streams.h"

#include <cuda.h>

#define DRIVER extern "C" EMULATION_EXPORT CUresult

struct CUctx_st
{
  int device;
};

static CUctx_st primary;
static thread_local std::vector<CUcontext> contexts; /* the last one is current */

DRIVER
cuInit (unsigned flags)
{
  return CUDA_SUCCESS;
}

DRIVER
cuDeviceGet (CUdevice *device, int ordinal)
{
  *device = ordinal;
  return ordinal == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

DRIVER
cuDevicePrimaryCtxRetain (CUcontext *context, CUdevice device)
{
  *context = &primary;
  return CUDA_SUCCESS;
}

DRIVER
cuCtxCreate_v2 (CUcontext *context, unsigned flags, CUdevice device)
{
  *context = new CUctx_st ();
  contexts.push_back (*context);
  return CUDA_SUCCESS;
}

DRIVER
cuCtxDestroy_v2 (CUcontext context)
{
  delete context;
  return CUDA_SUCCESS;
}

DRIVER
cuCtxPushCurrent_v2 (CUcontext context)
{
  if (!context)
    return CUDA_ERROR_INVALID_CONTEXT;
  contexts.push_back (context);
  return CUDA_SUCCESS;
}

DRIVER
cuCtxPopCurrent_v2 (CUcontext *context)
{
  if (contexts.empty ())
    return CUDA_ERROR_INVALID_CONTEXT;
  *context = contexts.back ();
  contexts.pop_back ();
  return CUDA_SUCCESS;
}

DRIVER
cuCtxGetCurrent (CUcontext *context)
{
  *context = contexts.empty () ? NULL : contexts.back ();
  return CUDA_SUCCESS;
}

DRIVER
cuCtxGetApiVersion (CUcontext context, unsigned *version)
{
  *version = 3020;
  return CUDA_SUCCESS;
}

DRIVER
cuCtxGetDevice (CUdevice *device)
{
  if (contexts.empty ())
    return CUDA_ERROR_INVALID_CONTEXT;
  *device = 0;
  return CUDA_SUCCESS;
}

DRIVER
cuStreamWriteValue32_v2 (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags)
{
  return (CUresult) streams_enqueue_call (stream, [address, value] {
    __atomic_store_n ((uint32_t *) address, value, __ATOMIC_RELEASE);
  });
}
