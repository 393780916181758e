/* cudaccl - emulation: CUDA's runtime but for streams
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/emulation/streams.h"

#include <map>
#include <stdio.h>
#include <stdlib.h>

/* The limits of compute capability 9.0. */
#define SHARED_BYTES 233472 /* of a multiprocessor */
#define SHARED_BYTES_OF_BLOCK 232448
#define SHARED_BYTES_RESERVED 1024
#define SHARED_BYTES_BY_DEFAULT 49152
#define STATIC_BYTES 128          /* what a kernel has is not known */
#define THREADS_OF_PROCESSOR 1024 /* of 7.5: the fewer threads, the faster */
#define BLOCKS_OF_PROCESSOR 32

typedef std::lock_guard<std::recursive_mutex> Lock;

static thread_local cudaError_t last_error;
static std::map<const void *, size_t> most_dynamic;

/* Sources register kernels while the program starts. */
static std::map<const void *, EmulatedKernel> &
kernels (void)
{
  static std::map<const void *, EmulatedKernel> map;

  return map;
}

cudaError_t
runtime_error (cudaError_t error)
{
  if (error != cudaSuccess)
    last_error = error;
  return error;
}

extern "C" cudaError_t
cudaGetLastError (void)
{
  cudaError_t error = last_error;

  last_error = cudaSuccess;
  return error;
}

extern "C" cudaError_t
cudaPeekAtLastError (void)
{
  return last_error;
}

static const struct
{
  cudaError_t error;
  const char *name, *text;
} errors[] = {
  { cudaSuccess, "cudaSuccess", "no error" },
  { cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument" },
  { cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory" },
  { cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
    "invalid configuration argument" },
  { cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal" },
  { cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected" },
  { cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
    "CUDA driver version is insufficient for CUDA runtime version" },
  { cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle" },
  { cudaErrorNotReady, "cudaErrorNotReady", "device not ready" },
  { cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
    "too many blocks in cooperative launch" },
  { cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported" },
  { cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure" },
  { cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
    "an illegal memory access was encountered" },
};

extern "C" const char *
cudaGetErrorName (cudaError_t error)
{
  for (const auto &e : errors) {
    if (e.error == error)
      return e.name;
  }
  return "cudaErrorUnknown";
}

extern "C" const char *
cudaGetErrorString (cudaError_t error)
{
  for (const auto &e : errors) {
    if (e.error == error)
      return e.text;
  }
  return "unknown error";
}

/* The device */

extern "C" cudaError_t
cudaGetDeviceCount (int *count)
{
  *count = 1;
  return cudaSuccess;
}

extern "C" cudaError_t
cudaGetDevice (int *device)
{
  *device = 0;
  return cudaSuccess;
}

extern "C" cudaError_t
cudaSetDevice (int device)
{
  return device == 0 ? cudaSuccess : runtime_error (cudaErrorInvalidDevice);
}

extern "C" cudaError_t
cudaGetDeviceProperties (struct cudaDeviceProp *properties, int device)
{
  const Options *options = options_get ();

  if (device != 0)
    return runtime_error (cudaErrorInvalidDevice);
  memset (properties, 0, sizeof *properties);
  snprintf (properties->name, sizeof properties->name, "emulated device");
  properties->totalGlobalMem = options->memory;
  properties->major = 9;
  properties->multiProcessorCount = (int) options->processors;
  properties->maxThreadsPerMultiProcessor = THREADS_OF_PROCESSOR;
  properties->warpSize = LANES;
  properties->maxBlocksPerMultiProcessor = BLOCKS_OF_PROCESSOR;
  properties->regsPerMultiprocessor = 65536;
  properties->sharedMemPerMultiprocessor = SHARED_BYTES;
  properties->sharedMemPerBlockOptin = SHARED_BYTES_OF_BLOCK;
  properties->reservedSharedMemPerBlock = SHARED_BYTES_RESERVED;
  properties->integrated = options->integrated;
  properties->cooperativeLaunch = options->cooperative;
  return cudaSuccess;
}

extern "C" cudaError_t
cudaDeviceGetAttribute (int *value, enum cudaDeviceAttr attribute, int device)
{
  if (device != 0)
    return runtime_error (cudaErrorInvalidDevice);
  switch (attribute) {
  case cudaDevAttrMultiProcessorCount:
    *value = (int) options_get ()->processors;
    break;
  case cudaDevAttrL2CacheSize:
    *value = 1 << 20;
    break;
  case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
    *value = SHARED_BYTES;
    break;
  case cudaDevAttrCooperativeLaunch:
    *value = options_get ()->cooperative;
    break;
  case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    *value = SHARED_BYTES_OF_BLOCK;
    break;
  case cudaDevAttrReservedSharedMemoryPerBlock:
    *value = SHARED_BYTES_RESERVED;
    break;
  default:
    return runtime_error (cudaErrorInvalidValue);
  }
  return cudaSuccess;
}

/* Memory */

static cudaError_t
allocate (void **pointer, size_t size, bool host)
{
  Lock lock (runtime_lock);

  if (streams_forbids ())
    return runtime_error (cudaErrorStreamCaptureUnsupported);
  *pointer = size > 0 ? memory_allocate (size, host) : NULL;
  return *pointer || size == 0 ? cudaSuccess : runtime_error (cudaErrorMemoryAllocation);
}

/* Waits for all work, as CUDA does. */
static cudaError_t
release (void *pointer, bool host)
{
  Lock lock (runtime_lock);

  if (!pointer)
    return cudaSuccess;
  if (streams_forbids ())
    return runtime_error (cudaErrorStreamCaptureUnsupported);
  streams_drain_all ();
  return memory_free (pointer, host) ? cudaSuccess : runtime_error (cudaErrorInvalidValue);
}

extern "C" cudaError_t
cudaMalloc (void **pointer, size_t size)
{
  return allocate (pointer, size, false);
}

extern "C" cudaError_t
cudaMallocHost (void **pointer, size_t size)
{
  return allocate (pointer, size, true);
}

extern "C" cudaError_t
cudaHostAlloc (void **pointer, size_t size, unsigned flags)
{
  return allocate (pointer, size, true);
}

extern "C" cudaError_t
cudaFree (void *pointer)
{
  return release (pointer, false);
}

extern "C" cudaError_t
cudaFreeHost (void *pointer)
{
  return release (pointer, true);
}

extern "C" cudaError_t
cudaHostGetDevicePointer (void **device, void *host, unsigned flags)
{
  Lock lock (runtime_lock);
  bool is_host = false;

  if (!memory_owns (host) || !memory_find (host, 1, &is_host) || !is_host)
    return runtime_error (cudaErrorInvalidValue);
  *device = host;
  return cudaSuccess;
}

extern "C" cudaError_t
cudaMemGetInfo (size_t *available, size_t *total)
{
  Lock lock (runtime_lock);

  *available = memory_available ();
  *total = options_get ()->memory;
  return cudaSuccess;
}

/* Copies */

/* Whether a copy's range is where @device says, and inside of an allocation. */
static bool
is_valid (const void *address, size_t size, bool device)
{
  bool host = true;

  if (size == 0)
    return true;
  if (memory_owns (address) && !memory_find (address, size, &host))
    report (NULL, "a copy of %zu bytes at %p is not in one allocation", size, address);
  return host != device;
}

static bool
kinds_match (const void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
  bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;

  return kind == cudaMemcpyDefault ||
         (is_valid (to, size, to_device) && is_valid (from, size, from_device));
}

static void
copy_rows (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
           size_t height)
{
  for (size_t y = 0; y < height; y++) {
    char *t = (char *) to + y * to_pitch;
    const char *f = (const char *) from + y * from_pitch;

    memory_copy_initialised (t, f, width, "a copy");
    memmove (t, f, width);
  }
}

extern "C" cudaError_t
cudaMemcpy2DAsync (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                   size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
  Lock lock (runtime_lock);
  size_t last = height > 0 ? height - 1 : 0;

  if (width > to_pitch || width > from_pitch)
    return runtime_error (cudaErrorInvalidPitchValue);
  if (width == 0 || height == 0)
    return cudaSuccess;
  if (!kinds_match (to, from, width, kind) ||
      !kinds_match ((char *) to + last * to_pitch, (const char *) from + last * from_pitch, width,
                    kind))
    return runtime_error (cudaErrorInvalidValue);
  /* Pageable memory: the source is read, or the destination written, before this returns. */
  if (kind == cudaMemcpyHostToDevice && !memory_owns (from)) {
    auto bytes = std::make_shared<std::vector<char>> (width * height);

    copy_rows (bytes->data (), width, from, from_pitch, width, height);
    return streams_enqueue_call (
        stream, [=] { copy_rows (to, to_pitch, bytes->data (), width, width, height); });
  }
  return streams_enqueue_call (stream,
                               [=] { copy_rows (to, to_pitch, from, from_pitch, width, height); });
}

extern "C" cudaError_t
cudaMemcpyAsync (void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                 cudaStream_t stream)
{
  return cudaMemcpy2DAsync (to, size, from, size, size, 1, kind, stream);
}

extern "C" cudaError_t
cudaMemcpy (void *to, const void *from, size_t size, enum cudaMemcpyKind kind)
{
  cudaError_t error = cudaMemcpyAsync (to, from, size, kind, 0);

  return error == cudaSuccess ? cudaStreamSynchronize (0) : error;
}

extern "C" cudaError_t
cudaMemsetAsync (void *to, int value, size_t size, cudaStream_t stream)
{
  if (!is_valid (to, size, true) && !memory_owns (to))
    return runtime_error (cudaErrorInvalidValue);
  return streams_enqueue_call (stream, [=] {
    memset (to, value, size);
    memory_set_initialised (to, size);
  });
}

extern "C" cudaError_t
cudaMemset (void *to, int value, size_t size)
{
  return cudaMemsetAsync (to, value, size, 0);
}

/* Arrays of bytes */

struct cudaArray
{
  struct cudaChannelFormatDesc format;
  size_t width, height;
  std::vector<char> bytes;
};

extern "C" cudaError_t
cudaMallocArray (cudaArray_t *array, const struct cudaChannelFormatDesc *format, size_t width,
                 size_t height, unsigned flags)
{
  *array = new cudaArray{ *format, width, height ? height : 1, {} };
  (*array)->bytes.resize (width * (*array)->height);
  return cudaSuccess;
}

extern "C" cudaError_t
cudaFreeArray (cudaArray_t array)
{
  Lock lock (runtime_lock);

  streams_drain_all ();
  delete array;
  return cudaSuccess;
}

/* No arrays of several planes are made here. */
extern "C" cudaError_t
cudaArrayGetPlane (cudaArray_t *plane, cudaArray_t array, unsigned index)
{
  (void) plane, (void) array, (void) index;
  return cudaErrorInvalidValue;
}

extern "C" cudaError_t
cudaArrayGetInfo (struct cudaChannelFormatDesc *format, struct cudaExtent *extent, unsigned *flags,
                  cudaArray_t array)
{
  *format = array->format;
  *extent = { array->width, array->height, 0 };
  return cudaSuccess;
}

extern "C" cudaError_t
cudaMemcpy2DToArray (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch,
                     size_t width, size_t height, enum cudaMemcpyKind kind)
{
  if (x + width > to->width || y + height > to->height)
    return runtime_error (cudaErrorInvalidValue);
  for (size_t i = 0; i < height; i++)
    memcpy (&to->bytes[(y + i) * to->width + x], (const char *) from + i * pitch, width);
  return cudaSuccess;
}

extern "C" cudaError_t
cudaMemcpy2DFromArrayAsync (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y,
                            size_t width, size_t height, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
  if (x + width > from->width || y + height > from->height || width > pitch)
    return runtime_error (cudaErrorInvalidValue);
  return streams_enqueue_call (stream, [=] {
    copy_rows (to, pitch, &from->bytes[y * from->width + x], from->width, width, height);
  });
}

/* Kernels */

void
emulated_register (const void *kernel, const EmulatedKernel &bind)
{
  kernels ()[kernel] = bind;
}

extern "C" cudaError_t
cudaFuncGetAttributes (struct cudaFuncAttributes *attributes, const void *kernel)
{
  memset (attributes, 0, sizeof *attributes);
  attributes->sharedSizeBytes = STATIC_BYTES;
  attributes->maxThreadsPerBlock = MOST_THREADS;
  attributes->ptxVersion = attributes->binaryVersion = options_get ()->overlap ? 90 : 80;
  return cudaSuccess;
}

extern "C" cudaError_t
cudaFuncSetAttribute (const void *kernel, enum cudaFuncAttribute attribute, int value)
{
  Lock lock (runtime_lock);

  if (value < 0 || value > SHARED_BYTES_OF_BLOCK)
    return runtime_error (cudaErrorInvalidValue);
  most_dynamic[kernel] = (size_t) value;
  return cudaSuccess;
}

extern "C" cudaError_t
cudaOccupancyMaxActiveBlocksPerMultiprocessor (int *blocks, const void *kernel, int threads,
                                               size_t shared)
{
  size_t of_threads = THREADS_OF_PROCESSOR / (size_t) threads;
  size_t of_shared = SHARED_BYTES / (shared + STATIC_BYTES + SHARED_BYTES_RESERVED);

  if (threads <= 0 || threads > (int) MOST_THREADS)
    return runtime_error (cudaErrorInvalidValue);
  *blocks = (int) min (min (of_threads, of_shared), (size_t) BLOCKS_OF_PROCESSOR);
  return cudaSuccess;
}

static bool
is_too_large (const Grid *grid)
{
  int blocks = 0;
  uint64_t n = (uint64_t) grid->size.x * grid->size.y * grid->size.z;

  cudaOccupancyMaxActiveBlocksPerMultiprocessor (
      &blocks, grid->kernel, (int) (grid->block.x * grid->block.y * grid->block.z), grid->shared);
  return n > (uint64_t) blocks * options_get ()->processors;
}

static cudaError_t
enqueue_kernel (Grid grid, cudaStream_t stream)
{
  Lock lock (runtime_lock);
  uint64_t threads = (uint64_t) grid.block.x * grid.block.y * grid.block.z;
  size_t most = SHARED_BYTES_BY_DEFAULT;
  Work work = {};

  if (most_dynamic.count (grid.kernel))
    most = max (most, most_dynamic[grid.kernel]);
  if (threads == 0 || threads > MOST_THREADS || grid.size.x == 0 || grid.size.y == 0 ||
      grid.size.z == 0 || grid.size.x > INT_MAX || grid.size.y > 65535 || grid.size.z > 65535)
    return runtime_error (cudaErrorInvalidConfiguration);
  if (grid.shared > most)
    return runtime_error (cudaErrorInvalidValue);
  if (grid.cooperative && !options_get ()->cooperative)
    return runtime_error (cudaErrorNotSupported);
  if (grid.cooperative && is_too_large (&grid))
    return runtime_error (cudaErrorCooperativeLaunchTooLarge);
  work.kind = Work::KERNEL;
  work.grid = grid;
  return streams_enqueue (stream, work);
}

cudaError_t
emulated_launch (const void *kernel, dim3 size, dim3 block, size_t shared, cudaStream_t stream,
                 const EmulatedCall &call)
{
  Grid grid = {};

  grid.kernel = kernel;
  grid.call = call;
  grid.size = size;
  grid.block = block;
  grid.shared = shared;
  return enqueue_kernel (grid, stream);
}

static cudaError_t
launch (const void *kernel, dim3 size, dim3 block, void **arguments, size_t shared,
        cudaStream_t stream, bool cooperative, bool follows)
{
  Lock lock (runtime_lock);
  auto found = kernels ().find (kernel);
  Grid grid = {};

  if (found == kernels ().end ())
    return runtime_error (cudaErrorInvalidDeviceFunction);
  grid.kernel = kernel;
  grid.call = found->second (arguments);
  grid.size = size;
  grid.block = block;
  grid.shared = shared;
  grid.cooperative = cooperative;
  grid.follows = follows;
  return enqueue_kernel (grid, stream);
}

extern "C" cudaError_t
cudaLaunchKernel (const void *kernel, dim3 size, dim3 block, void **arguments, size_t shared,
                  cudaStream_t stream)
{
  return launch (kernel, size, block, arguments, shared, stream, false, false);
}

extern "C" cudaError_t
cudaLaunchCooperativeKernel (const void *kernel, dim3 size, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream)
{
  return launch (kernel, size, block, arguments, shared, stream, true, false);
}

extern "C" cudaError_t
cudaLaunchKernelExC (const cudaLaunchConfig_t *config, const void *kernel, void **arguments)
{
  bool follows = false;

  for (unsigned i = 0; i < config->numAttrs; i++) {
    if (config->attrs[i].id == cudaLaunchAttributeProgrammaticStreamSerialization)
      follows = config->attrs[i].val.programmaticStreamSerializationAllowed != 0;
  }
  return launch (kernel, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                 config->stream, false, follows);
}
