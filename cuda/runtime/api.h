/* cudaccl - CUDA backend: the functions of CUDA that it calls
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All calls of the runtime and of the driver go through one table, so that tests can make any of
 * them fail, or run the backend without a device. */

#ifndef CCL_CUDA_API_H
#define CCL_CUDA_API_H

#include "cuda/runtime/eglframe.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* X (result, name, parameters, arguments) for each function. */
#define CCL_CUDA_RUNTIME_FUNCTIONS(X)                                                              \
  X (cudaError_t, cudaArrayGetInfo,                                                                \
     (struct cudaChannelFormatDesc * format, struct cudaExtent * extent, unsigned *flags,          \
      cudaArray_t array),                                                                          \
     (format, extent, flags, array))                                                               \
  X (cudaError_t, cudaArrayGetPlane, (cudaArray_t * plane, cudaArray_t array, unsigned index),     \
     (plane, array, index))                                                                        \
  X (cudaError_t, cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr attribute, int device), \
     (value, attribute, device))                                                                   \
  X (cudaError_t, cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned flags), (event, flags)) \
  X (cudaError_t, cudaEventDestroy, (cudaEvent_t event), (event))                                  \
  X (cudaError_t, cudaEventElapsedTime, (float *milliseconds, cudaEvent_t start, cudaEvent_t end), \
     (milliseconds, start, end))                                                                   \
  X (cudaError_t, cudaEventQuery, (cudaEvent_t event), (event))                                    \
  X (cudaError_t, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream), (event, stream))      \
  X (cudaError_t, cudaEventRecordWithFlags,                                                        \
     (cudaEvent_t event, cudaStream_t stream, unsigned flags), (event, stream, flags))             \
  X (cudaError_t, cudaEventSynchronize, (cudaEvent_t event), (event))                              \
  X (cudaError_t, cudaFree, (void *memory), (memory))                                              \
  X (cudaError_t, cudaFreeHost, (void *memory), (memory))                                          \
  X (cudaError_t, cudaFuncGetAttributes,                                                           \
     (struct cudaFuncAttributes * attributes, const void *kernel), (attributes, kernel))           \
  X (cudaError_t, cudaFuncSetAttribute,                                                            \
     (const void *kernel, enum cudaFuncAttribute attribute, int value),                            \
     (kernel, attribute, value))                                                                   \
  X (cudaError_t, cudaGetDevice, (int *device), (device))                                          \
  X (cudaError_t, cudaGetDeviceCount, (int *count), (count))                                       \
  X (cudaError_t, cudaGetDeviceProperties, (struct cudaDeviceProp * properties, int device),       \
     (properties, device))                                                                         \
  X (const char *, cudaGetErrorName, (cudaError_t error), (error))                                 \
  X (const char *, cudaGetErrorString, (cudaError_t error), (error))                               \
  X (cudaError_t, cudaGetLastError, (void), ())                                                    \
  X (cudaError_t, cudaGraphDestroy, (cudaGraph_t graph), (graph))                                  \
  X (cudaError_t, cudaGraphExecDestroy, (cudaGraphExec_t exec), (exec))                            \
  X (cudaError_t, cudaGraphInstantiateWithFlags,                                                   \
     (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags), (exec, graph, flags))  \
  X (cudaError_t, cudaGraphLaunch, (cudaGraphExec_t exec, cudaStream_t stream), (exec, stream))    \
  X (cudaError_t, cudaHostAlloc, (void **memory, size_t size, unsigned flags),                     \
     (memory, size, flags))                                                                        \
  X (cudaError_t, cudaHostGetDevicePointer, (void **pointer, void *memory, unsigned flags),        \
     (pointer, memory, flags))                                                                     \
  X (cudaError_t, cudaLaunchCooperativeKernel,                                                     \
     (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,                  \
      cudaStream_t stream),                                                                        \
     (kernel, grid, block, arguments, shared, stream))                                             \
  X (cudaError_t, cudaLaunchKernel,                                                                \
     (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,                  \
      cudaStream_t stream),                                                                        \
     (kernel, grid, block, arguments, shared, stream))                                             \
  X (cudaError_t, cudaMalloc, (void **memory, size_t size), (memory, size))                        \
  X (cudaError_t, cudaMemcpy2DAsync,                                                               \
     (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, \
      enum cudaMemcpyKind kind, cudaStream_t stream),                                              \
     (to, to_pitch, from, from_pitch, width, height, kind, stream))                                \
  X (cudaError_t, cudaMemcpy2DFromArrayAsync,                                                      \
     (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,            \
      size_t height, enum cudaMemcpyKind kind, cudaStream_t stream),                               \
     (to, pitch, from, x, y, width, height, kind, stream))                                         \
  X (cudaError_t, cudaMemcpyAsync,                                                                 \
     (void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream),     \
     (to, from, size, kind, stream))                                                               \
  X (cudaError_t, cudaMemsetAsync, (void *memory, int value, size_t size, cudaStream_t stream),    \
     (memory, value, size, stream))                                                                \
  X (cudaError_t, cudaOccupancyMaxActiveBlocksPerMultiprocessor,                                   \
     (int *blocks, const void *kernel, int threads, size_t shared),                                \
     (blocks, kernel, threads, shared))                                                            \
  X (cudaError_t, cudaStreamBeginCapture, (cudaStream_t stream, enum cudaStreamCaptureMode mode),  \
     (stream, mode))                                                                               \
  X (cudaError_t, cudaStreamCreateWithFlags, (cudaStream_t * stream, unsigned flags),              \
     (stream, flags))                                                                              \
  X (cudaError_t, cudaStreamDestroy, (cudaStream_t stream), (stream))                              \
  X (cudaError_t, cudaStreamEndCapture, (cudaStream_t stream, cudaGraph_t * graph),                \
     (stream, graph))                                                                              \
  X (cudaError_t, cudaStreamQuery, (cudaStream_t stream), (stream))                                \
  X (cudaError_t, cudaStreamSynchronize, (cudaStream_t stream), (stream))                          \
  X (cudaError_t, cudaStreamWaitEvent, (cudaStream_t stream, cudaEvent_t event, unsigned flags),   \
     (stream, event, flags))

#if CUDART_VERSION >= 11080
#define CCL_CUDA_RUNTIME_FUNCTIONS_11_8(X)                                     \
  X (cudaError_t, cudaLaunchKernelExC,                                         \
     (const cudaLaunchConfig_t *config, const void *kernel, void **arguments), \
     (config, kernel, arguments))
#else
#define CCL_CUDA_RUNTIME_FUNCTIONS_11_8(X)
#endif

/* The driver's, which ccl_cuda_api_load() finds at run time. */
#define CCL_CUDA_DRIVER_FUNCTIONS(X)                                             \
  X (CUresult, cuInit, (unsigned flags), (flags))                                \
  X (CUresult, cuDeviceGet, (CUdevice * device, int ordinal), (device, ordinal)) \
  X (CUresult, cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device), \
     (context, device))                                                          \
  X (CUresult, cuCtxPushCurrent_v2, (CUcontext context), (context))              \
  X (CUresult, cuCtxPopCurrent_v2, (CUcontext * context), (context))             \
  X (CUresult, cuCtxGetDevice, (CUdevice * device), (device))                    \
  X (CUresult, cuCtxGetApiVersion, (CUcontext context, unsigned *version), (context, version))

/* Functions that the driver may lack. */
#define CCL_CUDA_OPTIONAL_FUNCTIONS(X)                                                       \
  X (CUresult, cuStreamWriteValue32_v2,                                                      \
     (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags),               \
     (stream, address, value, flags))                                                        \
  X (CUresult, cuGraphicsEGLRegisterImage,                                                   \
     (CUgraphicsResource * resource, void *image, unsigned flags), (resource, image, flags)) \
  X (CUresult, cuGraphicsResourceGetMappedEglFrame,                                          \
     (CclEglFrame * frame, CUgraphicsResource resource, unsigned index, unsigned level),     \
     (frame, resource, index, level))                                                        \
  X (CUresult, cuGraphicsUnregisterResource, (CUgraphicsResource resource), (resource))

/* CUB calls the runtime itself, so its scan is in the table as a whole. */
#define CCL_CUDA_OWN_FUNCTIONS(X)                                                            \
  X (cudaError_t, ccl_cuda_exclusive_sum,                                                    \
     (void *scratch, size_t *scratch_size, uint64_t *counts, size_t n, cudaStream_t stream), \
     (scratch, scratch_size, counts, n, stream))

/* All that the linker finds, and all. */
#define CCL_CUDA_LINKED_FUNCTIONS(X)  \
  CCL_CUDA_RUNTIME_FUNCTIONS (X)      \
  CCL_CUDA_RUNTIME_FUNCTIONS_11_8 (X) \
  CCL_CUDA_OWN_FUNCTIONS (X)
#define CCL_CUDA_FUNCTIONS(X)   \
  CCL_CUDA_LINKED_FUNCTIONS (X) \
  CCL_CUDA_DRIVER_FUNCTIONS (X) \
  CCL_CUDA_OPTIONAL_FUNCTIONS (X)

/* The functions by their names, macros of CUDA's headers expanded. */
#define CCL_CUDA_FIELD(result, name, parameters, arguments) result (*name) parameters;
typedef struct CclCudaApi
{
  CCL_CUDA_FUNCTIONS (CCL_CUDA_FIELD)
} CclCudaApi;
#undef CCL_CUDA_FIELD

/* The table that is used, CUDA's own unless a test has changed it. */
extern CclCudaApi ccl_cuda_api;

/* Calls a function of the table and returns its error, those of the driver as cudaError_t: CUDA's
 * two APIs have had the same numbers for the same errors since 10.1. ccl_cuda_check() names the
 * function if it failed. */
#define CCL_CUDA(name, ...) ccl_cuda_remember ((cudaError_t) ccl_cuda_api.name (__VA_ARGS__), #name)

/* Remembers the call that failed last in this thread. */
void ccl_cuda_remember_failure (cudaError_t error, const char *name);

static inline cudaError_t
ccl_cuda_remember (cudaError_t error, const char *name)
{
  if (error != cudaSuccess && error != cudaErrorNotReady)
    ccl_cuda_remember_failure (error, name);
  return error;
}

/* Finds the driver's functions, unless the table has them. NULL: the driver has no such function,
 * or there is no driver. */
void ccl_cuda_api_load (void);

/* Enqueues a scan: replaces each of the @n elements of @counts by the sum of those before it. If
 * @scratch is NULL, only stores the size of the scratch memory that this takes. */
cudaError_t ccl_cuda_exclusive_sum (void *scratch, size_t *scratch_size, uint64_t *counts, size_t n,
                                    cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
