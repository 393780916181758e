/* cudaccl - CUDA backend: whether this build has kernels for a device
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/runtime/api.h"
#include "cuda/runtime/device.h"

static __global__ void
probe (void)
{
}

extern "C" cudaError_t
ccl_cuda_probe (bool *overlap)
{
  cudaFuncAttributes attributes;
  cudaError_t error = CCL_CUDA (cudaFuncGetAttributes, &attributes, (const void *) probe);

  /* Code for older devices does not wait in follow_kernel(), even where it runs on a newer one. */
  *overlap = error == cudaSuccess && attributes.ptxVersion >= 90;
  return error;
}
