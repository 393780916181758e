/* cudaccl - CUDA backend: programmatic dependent launch
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Small frames spend as much time between kernels as in them. With programmatic dependent launch
 * (compute capability 9.0) a kernel's blocks are already resident when the kernel before it ends.
 * All threads of such a kernel call follow_kernel() before they touch what earlier kernels write.
 */

#ifndef CCL_CUDA_LAUNCH_CUH
#define CCL_CUDA_LAUNCH_CUH

#include "cuda/frame.h"

#include <cuda_runtime_api.h>

/* Waits until all work before this kernel is complete and visible. */
static __device__ inline void
follow_kernel (void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Lets the next kernel's blocks become resident once all blocks of this kernel have called it. Only
 * for kernels that load the device evenly: those blocks go wherever there is room, and stay. */
static __device__ inline void
let_kernel_follow (void)
{
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/* Launches a kernel that calls follow_kernel(). */
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
