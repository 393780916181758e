/* cudaccl - device and pinned memory for tests
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/device.h"
#include "tests/lib/image.h"

#ifdef HAVE_CUDA

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(call) check ((call), #call)

/* Work before a late upload: some hundred microseconds or more on any device. */
#ifndef LATE_BYTES
#define LATE_BYTES ((size_t) 64 << 20)
#endif
#define LATE_ROUNDS 8

#define HOLD_SECONDS 10

/* More than any device's L2 cache. */
#define RATE_BYTES ((size_t) 1 << 30)

static void
check (cudaError_t error, const char *call)
{
  if (error != cudaSuccess)
    test_fatal ("%s: %s", call, cudaGetErrorString (error));
}

/* Looks up a function of the driver, which is not linked. */
static void
find_driver (const char *name, void *function)
{
  void *symbol = dlsym (RTLD_DEFAULT, name); /* the emulated one, if there is */
  void *library = symbol ? NULL : dlopen ("libcuda.so.1", RTLD_NOW);

  if (library)
    symbol = dlsym (library, name);
  if (!symbol)
    test_fatal ("the driver has no %s", name);
  memcpy (function, &symbol, sizeof symbol);
}

void *
test_device_context_current (void)
{
  CUresult (*get_current) (CUcontext * context);
  CUcontext context;

  find_driver ("cuCtxGetCurrent", &get_current);
  CHECK ((cudaError_t) get_current (&context));
  return context;
}

void *
test_device_context_new (void)
{
  CUresult (*create) (CUcontext * context, unsigned flags, CUdevice device);
  CUcontext context;

  find_driver ("cuCtxCreate_v2", &create);
  CHECK ((cudaError_t) create (&context, 0, TEST_DEVICE));
  test_device_context_leave ();
  return context;
}

void
test_device_context_free (void *context)
{
  CUresult (*destroy) (CUcontext context);

  find_driver ("cuCtxDestroy_v2", &destroy);
  CHECK ((cudaError_t) destroy (context));
}

void
test_device_context_enter (void *context)
{
  CUresult (*push) (CUcontext context);

  find_driver ("cuCtxPushCurrent_v2", &push);
  CHECK ((cudaError_t) push (context));
}

void
test_device_context_leave (void)
{
  CUresult (*pop) (CUcontext * context);
  CUcontext context;

  find_driver ("cuCtxPopCurrent_v2", &pop);
  CHECK ((cudaError_t) pop (&context));
}

static void
use_device (void)
{
  if (!test_device_context_current ())
    CHECK (cudaSetDevice (TEST_DEVICE));
}

bool
test_device_available (void)
{
  static int count = -1; /* slow on machines without a driver */

  if (count < 0)
    count = ccl_cuda_device_count ();
  return count > 0;
}

void *
test_device_alloc (CclMemory memory, size_t bytes)
{
  void *pointer = NULL;

  use_device ();
  if (memory == CCL_MEMORY_DEVICE)
    CHECK (cudaMalloc (&pointer, bytes));
  else
    CHECK (cudaMallocHost (&pointer, bytes));
  return pointer;
}

void
test_device_free (CclMemory memory, void *pointer)
{
  if (!pointer)
    return;
  if (memory == CCL_MEMORY_DEVICE)
    CHECK (cudaFree (pointer));
  else
    CHECK (cudaFreeHost (pointer));
}

size_t
test_device_cache_bytes (void)
{
  int bytes;

  CHECK (cudaDeviceGetAttribute (&bytes, cudaDevAttrL2CacheSize, TEST_DEVICE));
  return (size_t) bytes;
}

size_t
test_device_free_bytes (void)
{
  size_t available, total;

  use_device ();
  CHECK (cudaMemGetInfo (&available, &total));
  return available;
}

typedef struct TestBallast
{
  void *blocks[1024];
  size_t n;
} TestBallast;

/* The largest blocks first, down to what the driver allocates at a time and below. */
void *
test_device_fill (void)
{
  TestBallast *self = calloc (1, sizeof *self);
  size_t most = sizeof self->blocks / sizeof *self->blocks;

  if (!self)
    test_fatal ("out of memory");
  use_device ();
  for (size_t size = (size_t) 1 << 36; size >= 4096; size /= 2) {
    while (self->n < most && cudaMalloc (&self->blocks[self->n], size) == cudaSuccess)
      self->n++;
    cudaGetLastError ();
  }
  return self;
}

void
test_device_empty (void *ballast)
{
  TestBallast *self = ballast;

  while (self->n > 0)
    CHECK (cudaFree (self->blocks[--self->n]));
  free (self);
}

void
test_device_trap (void)
{
  static const char ptx[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                            ".visible .entry fall () { trap; ret; }\n";
  CUresult (*load) (CUmodule * module, const void *image);
  CUresult (*get_function) (CUfunction * function, CUmodule module, const char *name);
  CUresult (*launch) (CUfunction function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                      unsigned by, unsigned bz, unsigned shared, CUstream stream, void **arguments,
                      void **extra);
  CUfunction function;
  CUmodule module;

  use_device ();
  find_driver ("cuModuleLoadData", &load);
  find_driver ("cuModuleGetFunction", &get_function);
  find_driver ("cuLaunchKernel", &launch);
  CHECK ((cudaError_t) load (&module, ptx));
  CHECK ((cudaError_t) get_function (&function, module, "fall"));
  CHECK ((cudaError_t) launch (function, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
  cudaDeviceSynchronize (); /* fails */
  cudaGetLastError ();
}

void
test_device_upload (void *device, const void *host, size_t bytes)
{
  CHECK (cudaMemcpy (device, host, bytes, cudaMemcpyHostToDevice));
  /* Copies from pinned memory may be asynchronous to other streams. */
  CHECK (cudaStreamSynchronize (0));
}

void
test_device_download (void *host, const void *device, size_t bytes)
{
  CHECK (cudaMemcpy (host, device, bytes, cudaMemcpyDeviceToHost));
}

void *
test_device_array_new (const uint8_t *pixels, size_t stride, uint32_t width, uint32_t height)
{
  struct cudaChannelFormatDesc bytes = { .x = 8, .f = cudaChannelFormatKindUnsigned };
  cudaArray_t array;

  CHECK (cudaSetDevice (TEST_DEVICE));
  CHECK (cudaMallocArray (&array, &bytes, width, height, 0));
  CHECK (cudaMemcpy2DToArray (array, 0, 0, pixels, stride, width, height, cudaMemcpyHostToDevice));
  CHECK (cudaStreamSynchronize (0));
  return array;
}

void
test_device_array_free (void *array)
{
  CHECK (cudaFreeArray (array));
}

void *
test_device_stream_new (void)
{
  cudaStream_t stream;

  use_device ();
  CHECK (cudaStreamCreateWithFlags (&stream, cudaStreamNonBlocking));
  return stream;
}

void
test_device_stream_free (void *stream)
{
  if (stream)
    CHECK (cudaStreamDestroy (stream));
}

void
test_device_stream_wait (void *stream)
{
  CHECK (cudaStreamSynchronize (stream));
}

void
test_device_upload_late (void *device, const void *host, size_t bytes, void *stream)
{
  static void *ballast;

  if (!ballast)
    ballast = test_device_alloc (CCL_MEMORY_DEVICE, LATE_BYTES);
  CHECK (cudaMemsetAsync (device, 0x55, bytes, stream));
  for (int i = 0; i < LATE_ROUNDS; i++)
    CHECK (cudaMemsetAsync (ballast, i, LATE_BYTES, stream));
  CHECK (cudaMemcpyAsync (device, host, bytes, cudaMemcpyHostToDevice, stream));
}

typedef struct TestHold
{
  cudaStream_t stream;
  atomic_bool released, gave_up;
} TestHold;

static void
hold (void *data)
{
  static const struct timespec nap = { .tv_nsec = 1000000 };
  TestHold *self = data;

  for (int i = 0; i < HOLD_SECONDS * 1000 && !atomic_load (&self->released); i++)
    nanosleep (&nap, NULL);
  atomic_store (&self->gave_up, !atomic_load (&self->released));
}

void *
test_device_hold_new (void)
{
  TestHold *self = calloc (1, sizeof *self);

  if (!self)
    test_fatal ("out of memory");
  CHECK (cudaStreamCreate (&self->stream));
  CHECK (cudaLaunchHostFunc (self->stream, hold, self));
  return self;
}

bool
test_device_hold_free (void *hold)
{
  TestHold *self = hold;
  bool held;

  atomic_store (&self->released, true);
  CHECK (cudaStreamSynchronize (self->stream));
  held = !atomic_load (&self->gave_up);
  CHECK (cudaStreamDestroy (self->stream));
  free (self);
  return held;
}

double
test_device_rate (void)
{
  void *from = test_device_alloc (CCL_MEMORY_DEVICE, RATE_BYTES);
  void *to = test_device_alloc (CCL_MEMORY_DEVICE, RATE_BYTES);
  cudaEvent_t start, end;
  float best = 0;

  CHECK (cudaEventCreate (&start));
  CHECK (cudaEventCreate (&end));
  CHECK (cudaMemset (from, 0, RATE_BYTES));
  for (int i = 0; i < 10; i++) {
    float milliseconds;

    CHECK (cudaEventRecord (start, NULL));
    CHECK (cudaMemcpyAsync (to, from, RATE_BYTES, cudaMemcpyDeviceToDevice, NULL));
    CHECK (cudaEventRecord (end, NULL));
    CHECK (cudaEventSynchronize (end));
    CHECK (cudaEventElapsedTime (&milliseconds, start, end));
    if (i == 0 || milliseconds < best)
      best = milliseconds;
  }
  CHECK (cudaEventDestroy (start));
  CHECK (cudaEventDestroy (end));
  test_device_free (CCL_MEMORY_DEVICE, from);
  test_device_free (CCL_MEMORY_DEVICE, to);
  return 2.0 * RATE_BYTES / (double) best / 1e6;
}

#else

bool
test_device_available (void)
{
  return false;
}

void *
test_device_alloc (CclMemory memory, size_t bytes)
{
  test_fatal ("this build has no CUDA");
}

void
test_device_free (CclMemory memory, void *pointer)
{
}

size_t
test_device_cache_bytes (void)
{
  test_fatal ("this build has no CUDA");
}

size_t
test_device_free_bytes (void)
{
  return 0;
}

void *
test_device_fill (void)
{
  test_fatal ("this build has no CUDA");
}

void
test_device_empty (void *ballast)
{
}

void
test_device_trap (void)
{
  test_fatal ("this build has no CUDA");
}

void
test_device_upload (void *device, const void *host, size_t bytes)
{
  test_fatal ("this build has no CUDA");
}

void
test_device_download (void *host, const void *device, size_t bytes)
{
  test_fatal ("this build has no CUDA");
}

void *
test_device_array_new (const uint8_t *pixels, size_t stride, uint32_t width, uint32_t height)
{
  test_fatal ("this build has no CUDA");
}

void
test_device_array_free (void *array)
{
}

void *
test_device_stream_new (void)
{
  test_fatal ("this build has no CUDA");
}

void
test_device_stream_free (void *stream)
{
}

void
test_device_stream_wait (void *stream)
{
}

void
test_device_upload_late (void *device, const void *host, size_t bytes, void *stream)
{
  test_fatal ("this build has no CUDA");
}

void *
test_device_hold_new (void)
{
  test_fatal ("this build has no CUDA");
}

bool
test_device_hold_free (void *hold)
{
  return false;
}

void *
test_device_context_new (void)
{
  test_fatal ("this build has no CUDA");
}

void
test_device_context_free (void *context)
{
}

void
test_device_context_enter (void *context)
{
}

void
test_device_context_leave (void)
{
}

void *
test_device_context_current (void)
{
  return NULL;
}

double
test_device_rate (void)
{
  test_fatal ("this build has no CUDA");
}

#endif
