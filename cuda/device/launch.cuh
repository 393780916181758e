/* cudaccl - CUDA backend: launching kernels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Small frames spend as much time between kernels as in them. With programmatic dependent launch
 * (compute capability 9.0) a kernel's blocks are already resident when the kernel before it ends.
 * All threads of such a kernel call follow_kernel() before they touch what earlier kernels
 * write. */

#ifndef CCL_CUDA_LAUNCH_CUH
#define CCL_CUDA_LAUNCH_CUH

#include "cuda/runtime/api.h"
#include "cuda/device/machine.cuh"
#include "cuda/tables/frame.h"

/* Keeps the type of a parameter from being deduced from its argument. */
template <typename T> struct Argument
{
  typedef T Type;
};

/* Launch a kernel: plainly, with all blocks co-resident, and one that calls follow_kernel(). Unlike
 * with CUDA's own syntax, the error is returned and need not be fetched. */

template <typename... T>
static inline cudaError_t
launch (void (*kernel) (T...), dim3 grid, dim3 block, size_t shared, cudaStream_t stream,
        typename Argument<T>::Type... arguments)
{
  void *pointers[] = { (void *) &arguments... };

  return CCL_CUDA (cudaLaunchKernel, kernel_address (kernel), grid, block, pointers, shared,
                   stream);
}

template <typename... T>
static inline cudaError_t
launch_cooperative (void (*kernel) (T...), dim3 grid, dim3 block, size_t shared,
                    cudaStream_t stream, typename Argument<T>::Type... arguments)
{
  void *pointers[] = { (void *) &arguments... };

  return CCL_CUDA (cudaLaunchCooperativeKernel, kernel_address (kernel), grid, block, pointers,
                   shared, stream);
}

template <typename... T>
static inline cudaError_t
launch_following (const CclCudaFrame &f, void (*kernel) (T...), dim3 grid, dim3 block,
                  cudaStream_t stream, typename Argument<T>::Type... arguments)
{
#if CUDART_VERSION >= 11080
  void *pointers[] = { (void *) &arguments... };
  cudaLaunchAttribute attribute;
  cudaLaunchConfig_t config = {};

  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = f.overlap ? 1 : 0;
  return CCL_CUDA (cudaLaunchKernelExC, &config, kernel_address (kernel), pointers);
#else
  return launch (kernel, grid, block, 0, stream, arguments...);
#endif
}

#endif
