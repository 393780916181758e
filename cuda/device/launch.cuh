/* cudaccl - CUDA backend: kernels that start before the one in front of them is over
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUDA_LAUNCH_CUH
#define CCL_CUDA_LAUNCH_CUH

#include "cuda/frame.h"

/* Small frames spend as much time between kernels as in them. With programmatic dependent launch
 * (compute capability 9.0) the blocks of a kernel are there already when the kernel before it ends.
 * Such a kernel must begin with follow_kernel(), in all its threads. */

/* Waits for all the work before this kernel. */
static __device__ inline void
follow_kernel (void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Lets the next kernel's blocks come as soon as all blocks of this one run. Only for kernels that
 * fill the device evenly: those blocks go where there is room, and stay there. */
static __device__ inline void
let_kernel_follow (void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* Launches a kernel that begins with follow_kernel(). */
static inline cudaError_t
launch_following (const CclCudaFrame *f, const void *kernel, uint32_t blocks, uint32_t threads,
                  void **arguments, cudaStream_t stream)
{
#if CUDART_VERSION >= 11080
  cudaLaunchAttribute attribute;
  cudaLaunchConfig_t config = {};

  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = dim3 (blocks);
  config.blockDim = dim3 (threads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = f->overlap ? 1 : 0;
  return cudaLaunchKernelExC (&config, kernel, arguments);
#else
  return cudaLaunchKernel (kernel, dim3 (blocks), dim3 (threads), arguments, 0, stream);
#endif
}

#endif
