/* cudaccl - emulation: CUDA's runtime, as far as cudaccl uses it
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Names and values are those of CUDA's own header, which CI does not have. runtime.cpp and
 * streams.cpp have the functions. */

#ifndef EMULATION_CUDA_RUNTIME_API_H
#define EMULATION_CUDA_RUNTIME_API_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#define CUDART_VERSION 12040

#ifdef __cplusplus
extern "C" {
#define EMULATION_DEFAULT(value) = value
#else
#define EMULATION_DEFAULT(value)
#endif

#define EMULATION_EXPORT __attribute__ ((visibility ("default")))

typedef enum cudaError
{
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidPitchValue = 12,
  cudaErrorInvalidDevicePointer = 17,
  cudaErrorStubLibrary = 34,
  cudaErrorInsufficientDriver = 35,
  cudaErrorDevicesUnavailable = 46,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorDeviceUninitialized = 201,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorECCUncorrectable = 214,
  cudaErrorUnsupportedPtxVersion = 222,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorContextIsDestroyed = 709,
  cudaErrorAssert = 710,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
  cudaErrorCooperativeLaunchTooLarge = 720,
  cudaErrorNotPermitted = 800,
  cudaErrorNotSupported = 801,
  cudaErrorSystemNotReady = 802,
  cudaErrorSystemDriverMismatch = 803,
  cudaErrorCompatNotSupportedOnDevice = 804,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorIllegalState = 401,
  cudaErrorUnknown = 999
} cudaError_t;

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
typedef struct CUgraph_st *cudaGraph_t;
typedef struct CUgraphExec_st *cudaGraphExec_t;
typedef struct cudaArray *cudaArray_t;
typedef const struct cudaArray *cudaArray_const_t;
typedef void (*cudaHostFn_t) (void *data);

enum cudaMemcpyKind
{
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4
};

enum cudaDeviceAttr
{
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
  cudaDevAttrCooperativeLaunch = 95,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
  cudaDevAttrReservedSharedMemoryPerBlock = 111
};

enum cudaFuncAttribute
{
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8
};

enum cudaStreamCaptureMode
{
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2
};

enum cudaChannelFormatKind
{
  cudaChannelFormatKindSigned = 0,
  cudaChannelFormatKindUnsigned = 1,
  cudaChannelFormatKindNV12 = 4,
};

struct cudaChannelFormatDesc
{
  int x, y, z, w;
  enum cudaChannelFormatKind f;
};

struct cudaExtent
{
  size_t width, height, depth;
};

#define cudaHostAllocDefault 0
#define cudaHostAllocPortable 1
#define cudaHostAllocMapped 2
#define cudaStreamNonBlocking 1
#define cudaEventDefault 0
#define cudaEventBlockingSync 1
#define cudaEventDisableTiming 2
#define cudaEventRecordDefault 0
#define cudaEventRecordExternal 1

/* The members that cudaccl reads. */
struct cudaDeviceProp
{
  char name[256];
  size_t totalGlobalMem;
  int major, minor;
  int multiProcessorCount, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor, warpSize;
  int regsPerMultiprocessor;
  size_t sharedMemPerMultiprocessor, sharedMemPerBlockOptin, reservedSharedMemPerBlock;
  int integrated, cooperativeLaunch;
};

struct cudaFuncAttributes
{
  size_t sharedSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion;
};

struct uint3
{
  unsigned x, y, z;
};
typedef struct uint3 uint3;

struct dim3
{
  unsigned x, y, z;
#ifdef __cplusplus
  constexpr dim3 (unsigned x = 1, unsigned y = 1, unsigned z = 1) : x (x), y (y), z (z)
  {
  }
#endif
};
typedef struct dim3 dim3;

enum cudaLaunchAttributeID
{
  cudaLaunchAttributeProgrammaticStreamSerialization = 6
};

typedef union cudaLaunchAttributeValue
{
  char pad[64];
  int programmaticStreamSerializationAllowed;
} cudaLaunchAttributeValue;

typedef struct cudaLaunchAttribute
{
  enum cudaLaunchAttributeID id;
  cudaLaunchAttributeValue val;
} cudaLaunchAttribute;

typedef struct cudaLaunchConfig_st
{
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
} cudaLaunchConfig_t;

EMULATION_EXPORT cudaError_t cudaGetDeviceCount (int *count);
EMULATION_EXPORT cudaError_t cudaGetDevice (int *device);
EMULATION_EXPORT cudaError_t cudaSetDevice (int device);
EMULATION_EXPORT cudaError_t cudaGetDeviceProperties (struct cudaDeviceProp *properties,
                                                      int device);
EMULATION_EXPORT cudaError_t cudaDeviceGetAttribute (int *value, enum cudaDeviceAttr attribute,
                                                     int device);
EMULATION_EXPORT cudaError_t cudaDeviceSynchronize (void);
EMULATION_EXPORT cudaError_t cudaGetLastError (void);
EMULATION_EXPORT cudaError_t cudaPeekAtLastError (void);
EMULATION_EXPORT const char *cudaGetErrorName (cudaError_t error);
EMULATION_EXPORT const char *cudaGetErrorString (cudaError_t error);

EMULATION_EXPORT cudaError_t cudaMalloc (void **pointer, size_t size);
EMULATION_EXPORT cudaError_t cudaMallocHost (void **pointer, size_t size);
EMULATION_EXPORT cudaError_t cudaHostAlloc (void **pointer, size_t size, unsigned flags);
EMULATION_EXPORT cudaError_t cudaHostGetDevicePointer (void **device, void *host, unsigned flags);
EMULATION_EXPORT cudaError_t cudaFree (void *pointer);
EMULATION_EXPORT cudaError_t cudaFreeHost (void *pointer);
EMULATION_EXPORT cudaError_t cudaMemGetInfo (size_t *available, size_t *total);
EMULATION_EXPORT cudaError_t cudaMallocArray (cudaArray_t *array,
                                              const struct cudaChannelFormatDesc *format,
                                              size_t width, size_t height, unsigned flags);
EMULATION_EXPORT cudaError_t cudaFreeArray (cudaArray_t array);
EMULATION_EXPORT cudaError_t cudaArrayGetPlane (cudaArray_t *plane, cudaArray_t array,
                                                unsigned index);
EMULATION_EXPORT cudaError_t cudaArrayGetInfo (struct cudaChannelFormatDesc *format,
                                               struct cudaExtent *extent, unsigned *flags,
                                               cudaArray_t array);

EMULATION_EXPORT cudaError_t cudaMemcpy (void *to, const void *from, size_t size,
                                         enum cudaMemcpyKind kind);
EMULATION_EXPORT cudaError_t cudaMemcpyAsync (void *to, const void *from, size_t size,
                                              enum cudaMemcpyKind kind,
                                              cudaStream_t stream EMULATION_DEFAULT (0));
EMULATION_EXPORT cudaError_t cudaMemcpy2DAsync (void *to, size_t to_pitch, const void *from,
                                                size_t from_pitch, size_t width, size_t height,
                                                enum cudaMemcpyKind kind,
                                                cudaStream_t stream EMULATION_DEFAULT (0));
EMULATION_EXPORT cudaError_t cudaMemcpy2DToArray (cudaArray_t to, size_t x, size_t y,
                                                  const void *from, size_t pitch, size_t width,
                                                  size_t height, enum cudaMemcpyKind kind);
EMULATION_EXPORT cudaError_t cudaMemcpy2DFromArrayAsync (void *to, size_t pitch,
                                                         cudaArray_const_t from, size_t x, size_t y,
                                                         size_t width, size_t height,
                                                         enum cudaMemcpyKind kind,
                                                         cudaStream_t stream EMULATION_DEFAULT (0));
EMULATION_EXPORT cudaError_t cudaMemset (void *to, int value, size_t size);
EMULATION_EXPORT cudaError_t cudaMemsetAsync (void *to, int value, size_t size,
                                              cudaStream_t stream EMULATION_DEFAULT (0));

EMULATION_EXPORT cudaError_t cudaStreamCreate (cudaStream_t *stream);
EMULATION_EXPORT cudaError_t cudaStreamCreateWithFlags (cudaStream_t *stream, unsigned flags);
EMULATION_EXPORT cudaError_t cudaStreamDestroy (cudaStream_t stream);
EMULATION_EXPORT cudaError_t cudaStreamSynchronize (cudaStream_t stream);
EMULATION_EXPORT cudaError_t cudaStreamQuery (cudaStream_t stream);
EMULATION_EXPORT cudaError_t cudaStreamWaitEvent (cudaStream_t stream, cudaEvent_t event,
                                                  unsigned flags EMULATION_DEFAULT (0));
EMULATION_EXPORT cudaError_t cudaLaunchHostFunc (cudaStream_t stream, cudaHostFn_t function,
                                                 void *data);
EMULATION_EXPORT cudaError_t cudaEventCreate (cudaEvent_t *event);
EMULATION_EXPORT cudaError_t cudaEventCreateWithFlags (cudaEvent_t *event, unsigned flags);
EMULATION_EXPORT cudaError_t cudaEventDestroy (cudaEvent_t event);
EMULATION_EXPORT cudaError_t cudaEventRecord (cudaEvent_t event,
                                              cudaStream_t stream EMULATION_DEFAULT (0));
EMULATION_EXPORT cudaError_t cudaEventRecordWithFlags (cudaEvent_t event, cudaStream_t stream,
                                                       unsigned flags);
EMULATION_EXPORT cudaError_t cudaEventQuery (cudaEvent_t event);
EMULATION_EXPORT cudaError_t cudaEventSynchronize (cudaEvent_t event);
EMULATION_EXPORT cudaError_t cudaEventElapsedTime (float *milliseconds, cudaEvent_t from,
                                                   cudaEvent_t to);

EMULATION_EXPORT cudaError_t cudaStreamBeginCapture (cudaStream_t stream,
                                                     enum cudaStreamCaptureMode mode);
EMULATION_EXPORT cudaError_t cudaStreamEndCapture (cudaStream_t stream, cudaGraph_t *graph);
EMULATION_EXPORT cudaError_t cudaGraphInstantiateWithFlags (cudaGraphExec_t *exec,
                                                            cudaGraph_t graph,
                                                            unsigned long long flags);
EMULATION_EXPORT cudaError_t cudaGraphLaunch (cudaGraphExec_t exec, cudaStream_t stream);
EMULATION_EXPORT cudaError_t cudaGraphDestroy (cudaGraph_t graph);
EMULATION_EXPORT cudaError_t cudaGraphExecDestroy (cudaGraphExec_t exec);

EMULATION_EXPORT cudaError_t cudaLaunchKernel (const void *kernel, dim3 grid, dim3 block,
                                               void **arguments, size_t shared,
                                               cudaStream_t stream);
EMULATION_EXPORT cudaError_t cudaLaunchCooperativeKernel (const void *kernel, dim3 grid, dim3 block,
                                                          void **arguments, size_t shared,
                                                          cudaStream_t stream);
EMULATION_EXPORT cudaError_t cudaLaunchKernelExC (const cudaLaunchConfig_t *config,
                                                  const void *kernel, void **arguments);
EMULATION_EXPORT cudaError_t cudaFuncGetAttributes (struct cudaFuncAttributes *attributes,
                                                    const void *kernel);
EMULATION_EXPORT cudaError_t cudaFuncSetAttribute (const void *kernel,
                                                   enum cudaFuncAttribute attribute, int value);
EMULATION_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor (int *blocks,
                                                                            const void *kernel,
                                                                            int threads,
                                                                            size_t shared);

#ifdef __cplusplus
}
#endif

#endif
