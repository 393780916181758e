/* cudaccl - a fake of CUDA for tests
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cudafake.h"

#include <stdlib.h>
#include <string.h>

#define PROCESSORS 4
#define SHARED_BYTES (96 * 1024)

/* The object behind a handle. Each use touches it, so that sanitizers find invalid handles. */
typedef struct Handle
{
  unsigned uses;
} Handle;

int test_cuda_fake_fill;
int test_cuda_fake_devices = 1;
bool test_cuda_fake_late_values;

static cudaError_t
handle_new (void *pointer)
{
  Handle *handle = calloc (1, sizeof *handle);

  memcpy (pointer, &handle, sizeof handle);
  return handle ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* NULL is the default stream. */
static cudaError_t
use (void *handle)
{
  if (handle)
    ((Handle *) handle)->uses++;
  return cudaSuccess;
}

static cudaError_t
handle_free (void *handle)
{
  use (handle);
  free (handle);
  return cudaSuccess;
}

static cudaError_t
memory_new (void **memory, size_t size, int fill)
{
  *memory = calloc (1, size ? size : 1); /* most of it is never touched */
  if (*memory && fill)
    memset (*memory, fill, size);
  return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t
array_get_info (struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned *flags,
                cudaArray_t array)
{
  *format = (struct cudaChannelFormatDesc){ .x = 8, .f = cudaChannelFormatKindUnsigned };
  *extent = (struct cudaExtent){ .width = TEST_CUDA_FAKE_WIDTH, .height = TEST_CUDA_FAKE_HEIGHT };
  return cudaSuccess;
}

static cudaError_t
device_get_attribute (int *value, enum cudaDeviceAttr attribute, int device)
{
  switch (attribute) {
  case cudaDevAttrCooperativeLaunch:
    *value = 1;
    break;
  case cudaDevAttrMultiProcessorCount:
    *value = PROCESSORS;
    break;
  case cudaDevAttrReservedSharedMemoryPerBlock:
    *value = 1024;
    break;
  default:
    *value = SHARED_BYTES;
    break;
  }
  return cudaSuccess;
}

static cudaError_t
event_create (cudaEvent_t *event, unsigned flags)
{
  return handle_new (event);
}

static cudaError_t
event_destroy (cudaEvent_t event)
{
  return handle_free (event);
}

static cudaError_t
event_elapsed_time (float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
  *milliseconds = 1;
  use (start);
  return use (end);
}

static cudaError_t
event_use (cudaEvent_t event)
{
  return use (event);
}

static cudaError_t
event_record (cudaEvent_t event, cudaStream_t stream)
{
  use (event);
  return use (stream);
}

static cudaError_t
event_record_with_flags (cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
  return event_record (event, stream);
}

static cudaError_t
memory_free (void *memory)
{
  free (memory);
  return cudaSuccess;
}

static cudaError_t
func_get_attributes (struct cudaFuncAttributes *attributes, const void *kernel)
{
  *attributes = (struct cudaFuncAttributes){ .ptxVersion = 90, .numRegs = 32 };
  return cudaSuccess;
}

static cudaError_t
func_set_attribute (const void *kernel, enum cudaFuncAttribute attribute, int value)
{
  return cudaSuccess;
}

static cudaError_t
get_device (int *device)
{
  *device = 0;
  return cudaSuccess;
}

static cudaError_t
get_device_count (int *count)
{
  *count = test_cuda_fake_devices;
  return *count ? cudaSuccess : cudaErrorNoDevice;
}

static cudaError_t
get_device_properties (struct cudaDeviceProp *properties, int device)
{
  memset (properties, 0, sizeof *properties);
  strcpy (properties->name, "fake");
  properties->major = 9;
  properties->multiProcessorCount = PROCESSORS;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->warpSize = 32;
  properties->maxBlocksPerMultiProcessor = 32;
  properties->regsPerMultiprocessor = 65536;
  properties->sharedMemPerMultiprocessor = SHARED_BYTES + 4096;
  properties->sharedMemPerBlockOptin = SHARED_BYTES;
  properties->reservedSharedMemPerBlock = 1024;
  properties->cooperativeLaunch = 1;
  return cudaSuccess;
}

static const char *
get_error_text (cudaError_t error)
{
  switch (error) {
  case cudaErrorMemoryAllocation:
    return "cudaErrorMemoryAllocation";
  case cudaErrorIllegalAddress:
    return "cudaErrorIllegalAddress";
  case cudaErrorNoDevice:
    return "cudaErrorNoDevice";
  default:
    return "cudaErrorUnknown";
  }
}

static cudaError_t
get_last_error (void)
{
  return cudaSuccess;
}

static cudaError_t
graph_destroy (cudaGraph_t graph)
{
  return handle_free (graph);
}

static cudaError_t
graph_exec_destroy (cudaGraphExec_t exec)
{
  return handle_free (exec);
}

static cudaError_t
graph_instantiate (cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
  use (graph);
  return handle_new (exec);
}

static cudaError_t
graph_launch (cudaGraphExec_t exec, cudaStream_t stream)
{
  use (exec);
  return use (stream);
}

static cudaError_t
host_alloc (void **memory, size_t size, unsigned flags)
{
  return memory_new (memory, size, test_cuda_fake_fill);
}

static cudaError_t
host_get_device_pointer (void **pointer, void *memory, unsigned flags)
{
  *pointer = memory;
  return cudaSuccess;
}

static cudaError_t
launch (const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
        cudaStream_t stream)
{
  return use (stream);
}

#if CUDART_VERSION >= 11080
static cudaError_t
launch_ex (const cudaLaunchConfig_t *config, const void *kernel, void **arguments)
{
  return use (config->stream);
}
#endif

static cudaError_t
device_alloc (void **memory, size_t size)
{
  return memory_new (memory, size, 0);
}

static cudaError_t
memcpy_2d (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
           size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
  return use (stream);
}

static cudaError_t
memcpy_2d_from_array (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                      size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
  return use (stream);
}

static cudaError_t
copy (void *to, const void *from, size_t size, enum cudaMemcpyKind kind, cudaStream_t stream)
{
  return use (stream);
}

static cudaError_t
set (void *memory, int value, size_t size, cudaStream_t stream)
{
  return use (stream);
}

static cudaError_t
occupancy (int *blocks, const void *kernel, int threads, size_t shared)
{
  *blocks = 1;
  return cudaSuccess;
}

static cudaError_t
stream_begin_capture (cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
  return use (stream);
}

static cudaError_t
stream_create (cudaStream_t *stream, unsigned flags)
{
  return handle_new (stream);
}

static cudaError_t
stream_destroy (cudaStream_t stream)
{
  return handle_free (stream);
}

static cudaError_t
stream_end_capture (cudaStream_t stream, cudaGraph_t *graph)
{
  use (stream);
  return handle_new (graph);
}

/* The value that a stream writes after its work; NULL for none. */
static struct
{
  uint32_t *address, value;
} pending_write;

static void
write_value (void)
{
  if (pending_write.address)
    *pending_write.address = pending_write.value;
  pending_write.address = NULL;
}

static cudaError_t
stream_complete (cudaStream_t stream)
{
  write_value ();
  return use (stream);
}

static cudaError_t
stream_wait_event (cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
  use (event);
  return use (stream);
}

static CUresult
stream_write_value (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags)
{
  pending_write.address = (uint32_t *) (uintptr_t) address;
  pending_write.value = value;
  if (!test_cuda_fake_late_values)
    write_value ();
  return (CUresult) use (stream);
}

static CUresult
init (unsigned flags)
{
  return test_cuda_fake_devices ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

static CUresult
device_get (CUdevice *device, int ordinal)
{
  *device = ordinal;
  return CUDA_SUCCESS;
}

/* The only context; its contents do not matter. */
static CUresult
primary_retain (CUcontext *context, CUdevice device)
{
  static Handle primary;

  *context = (CUcontext) (void *) &primary;
  return CUDA_SUCCESS;
}

static CUresult
push (CUcontext context)
{
  return CUDA_SUCCESS;
}

static CUresult
pop (CUcontext *context)
{
  *context = NULL;
  return CUDA_SUCCESS;
}

static CUresult
current_device (CUdevice *device)
{
  *device = 0;
  return CUDA_SUCCESS;
}

static CUresult
api_version (CUcontext context, unsigned *version)
{
  *version = 3020;
  return CUDA_SUCCESS;
}

/* An EGL image is its array. */
static CUresult
egl_register (CUgraphicsResource *resource, void *image, unsigned flags)
{
  *resource = image;
  return CUDA_SUCCESS;
}

static CUresult
egl_get_frame (CclEglFrame *frame, CUgraphicsResource resource, unsigned index, unsigned level)
{
  *frame = (CclEglFrame){
    .planes = { resource },
    .width = TEST_CUDA_FAKE_WIDTH,
    .height = TEST_CUDA_FAKE_HEIGHT,
    .pitch = TEST_CUDA_FAKE_WIDTH,
    .n_planes = 1,
    .type = CCL_EGL_FRAME_ARRAY,
    .format = CU_AD_FORMAT_UNSIGNED_INT8,
  };
  return CUDA_SUCCESS;
}

static CUresult
egl_unregister (CUgraphicsResource resource)
{
  return CUDA_SUCCESS;
}

static cudaError_t
exclusive_sum (void *scratch, size_t *scratch_size, uint64_t *counts, size_t n, cudaStream_t stream)
{
  if (!scratch)
    *scratch_size = 1;
  return cudaSuccess;
}

const CclCudaApi test_cuda_fake = {
  .cudaArrayGetInfo = array_get_info,
  .cudaDeviceGetAttribute = device_get_attribute,
  .cudaEventCreateWithFlags = event_create,
  .cudaEventDestroy = event_destroy,
  .cudaEventElapsedTime = event_elapsed_time,
  .cudaEventQuery = event_use,
  .cudaEventRecord = event_record,
  .cudaEventRecordWithFlags = event_record_with_flags,
  .cudaEventSynchronize = event_use,
  .cudaFree = memory_free,
  .cudaFreeHost = memory_free,
  .cudaFuncGetAttributes = func_get_attributes,
  .cudaFuncSetAttribute = func_set_attribute,
  .cudaGetDevice = get_device,
  .cudaGetDeviceCount = get_device_count,
  .cudaGetDeviceProperties = get_device_properties,
  .cudaGetErrorName = get_error_text,
  .cudaGetErrorString = get_error_text,
  .cudaGetLastError = get_last_error,
  .cudaGraphDestroy = graph_destroy,
  .cudaGraphExecDestroy = graph_exec_destroy,
  .cudaGraphInstantiateWithFlags = graph_instantiate,
  .cudaGraphLaunch = graph_launch,
  .cudaHostAlloc = host_alloc,
  .cudaHostGetDevicePointer = host_get_device_pointer,
  .cudaLaunchCooperativeKernel = launch,
  .cudaLaunchKernel = launch,
#if CUDART_VERSION >= 11080
  .cudaLaunchKernelExC = launch_ex,
#endif
  .cudaMalloc = device_alloc,
  .cudaMemcpy2DAsync = memcpy_2d,
  .cudaMemcpy2DFromArrayAsync = memcpy_2d_from_array,
  .cudaMemcpyAsync = copy,
  .cudaMemsetAsync = set,
  .cudaOccupancyMaxActiveBlocksPerMultiprocessor = occupancy,
  .cudaStreamBeginCapture = stream_begin_capture,
  .cudaStreamCreateWithFlags = stream_create,
  .cudaStreamDestroy = stream_destroy,
  .cudaStreamEndCapture = stream_end_capture,
  .cudaStreamQuery = stream_complete,
  .cudaStreamSynchronize = stream_complete,
  .cudaStreamWaitEvent = stream_wait_event,
  .cuInit = init,
  .cuDeviceGet = device_get,
  .cuDevicePrimaryCtxRetain = primary_retain,
  .cuCtxPushCurrent_v2 = push,
  .cuCtxPopCurrent_v2 = pop,
  .cuCtxGetDevice = current_device,
  .cuCtxGetApiVersion = api_version,
  .cuStreamWriteValue32_v2 = stream_write_value,
  .cuGraphicsEGLRegisterImage = egl_register,
  .cuGraphicsResourceGetMappedEglFrame = egl_get_frame,
  .cuGraphicsUnregisterResource = egl_unregister,
  .ccl_cuda_exclusive_sum = exclusive_sum,
};
