/* cudaccl - calls of CUDA that fail
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cudafault.h"
#include "tests/lib/image.h"

#include <string.h>

#define MAX_LIVE 256

TestCudaFault test_cuda_fault;

static CclCudaApi real, saved;
static bool broken; /* work was not enqueued, so what depends on it must not be, either */

/* A created object: its pointer, and the function that frees it. */
static struct
{
  void *pointer;
  const char *destroy;
} live[MAX_LIVE];

static bool
is_any (const char *name, const char *const *names)
{
  for (; *names; names++)
    if (strcmp (name, *names) == 0)
      return true;
  return false;
}

/* Enqueues work on which later work depends. */
static bool
enqueues (const char *name)
{
  static const char *const names[] = { "cudaLaunchKernel",
                                       "cudaLaunchKernelExC",
                                       "cudaLaunchCooperativeKernel",
                                       "cudaMemsetAsync",
                                       "cudaMemcpyAsync",
                                       "cudaMemcpy2DAsync",
                                       "cudaMemcpy2DFromArrayAsync",
                                       "ccl_cuda_exclusive_sum",
                                       NULL };

  return is_any (name, names);
}

static bool
waits (const char *name)
{
  static const char *const names[] = { "cudaStreamSynchronize", "cudaEventSynchronize", NULL };

  return is_any (name, names);
}

/* Later work no longer depends on earlier work: a capture has ended, or another call of the engine
 * begins. */
static bool
ends_work (const char *name)
{
  static const char *const names[] = { "cudaStreamEndCapture", "cuCtxPushCurrent_v2", NULL };

  return is_any (name, names);
}

/* Also works in a lost context. */
static bool
survives (const char *name)
{
  static const char *const names[] = { "cuCtxGetApiVersion", "cuCtxPushCurrent_v2",
                                       "cuCtxPopCurrent_v2", NULL };

  return is_any (name, names);
}

/* Counts a call, and returns whether it fails. */
static bool
begin_call (const char *name)
{
  TestCudaFault *self = &test_cuda_fault;
  bool counts = !self->only || strcmp (self->only, name) == 0, failed;

  if (counts)
    self->calls++;
  failed = counts && self->calls == self->fail_at;
  if (failed)
    self->failed = name;
  else
    failed = self->failed && self->sticky && !survives (name);
  if (failed && strncmp (name, "cuda", 4) == 0)
    self->last = self->error; /* the driver's functions have no last error */

  if (enqueues (name) && failed && !self->sticky)
    broken = true;
  else if (broken && strncmp (name, "cudaLaunch", strlen ("cudaLaunch")) == 0)
    self->enqueued_behind = true;
  else if (waits (name) || ends_work (name))
    broken = false;

  if (waits (name))
    self->busy = false;
  else if ((enqueues (name) || strcmp (name, "cudaGraphLaunch") == 0) && !failed)
    self->busy = true;
  return failed;
}

static void
add (void *pointer, const char *destroy)
{
  unsigned i = 0;

  while (i < MAX_LIVE && live[i].pointer)
    i++;
  if (i == MAX_LIVE)
    test_fatal ("more than %d resources of CUDA", MAX_LIVE);
  live[i].pointer = pointer;
  live[i].destroy = destroy;
  test_cuda_fault.live++;
}

static bool
take (void *pointer, const char *destroy)
{
  for (unsigned i = 0; i < MAX_LIVE; i++) {
    if (live[i].pointer == pointer && strcmp (live[i].destroy, destroy) == 0) {
      live[i].pointer = NULL;
      test_cuda_fault.live--;
      return true;
    }
  }
  test_cuda_fault.freed_twice = true;
  return false;
}

/* Waits are real even if they fail: the caller may free what the device is working on. */
#define WRAP(result, name, parameters, arguments)                          \
  static result wrap_##name parameters                                     \
  {                                                                        \
    bool failed = begin_call (#name);                                      \
    result returned = (result) 0;                                          \
                                                                           \
    if (!failed || waits (#name))                                          \
      returned = real.name arguments;                                      \
    return failed ? (result) (uintptr_t) test_cuda_fault.error : returned; \
  }

CCL_CUDA_FUNCTIONS (WRAP)

/* A failed call may leave anything behind. */
#define CREATE(result, name, parameters, arguments, destroy) \
  static result create_##name parameters                     \
  {                                                          \
    result returned = wrap_##name arguments;                 \
    static char garbage;                                     \
                                                             \
    if (returned == (result) 0)                              \
      add ((void *) *created, #destroy);                     \
    else                                                     \
      *created = (void *) &garbage;                          \
    return returned;                                         \
  }

CREATE (cudaError_t, cudaMalloc, (void **created, size_t size), (created, size), cudaFree)
CREATE (cudaError_t, cudaHostAlloc, (void **created, size_t size, unsigned flags),
        (created, size, flags), cudaFreeHost)
CREATE (cudaError_t, cudaStreamCreateWithFlags, (cudaStream_t * created, unsigned flags),
        (created, flags), cudaStreamDestroy)
CREATE (cudaError_t, cudaEventCreateWithFlags, (cudaEvent_t * created, unsigned flags),
        (created, flags), cudaEventDestroy)
CREATE (cudaError_t, cudaGraphInstantiateWithFlags,
        (cudaGraphExec_t * created, cudaGraph_t graph, unsigned long long flags),
        (created, graph, flags), cudaGraphExecDestroy)
CREATE (CUresult, cuGraphicsEGLRegisterImage,
        (CUgraphicsResource * created, void *image, unsigned flags), (created, image, flags),
        cuGraphicsUnregisterResource)

/* The object is gone even if the call fails. */
#define DESTROY(result, name, type)                                             \
  static result destroy_##name (type pointer)                                   \
  {                                                                             \
    bool failed = begin_call (#name);                                           \
    result returned = take (pointer, #name) ? real.name (pointer) : (result) 0; \
                                                                                \
    return failed ? (result) (uintptr_t) test_cuda_fault.error : returned;      \
  }

#define DESTROYERS(X)                                    \
  X (cudaError_t, cudaFree, void *)                      \
  X (cudaError_t, cudaFreeHost, void *)                  \
  X (cudaError_t, cudaStreamDestroy, cudaStream_t)       \
  X (cudaError_t, cudaEventDestroy, cudaEvent_t)         \
  X (cudaError_t, cudaGraphDestroy, cudaGraph_t)         \
  X (cudaError_t, cudaGraphExecDestroy, cudaGraphExec_t) \
  X (CUresult, cuGraphicsUnregisterResource, CUgraphicsResource)

DESTROYERS (DESTROY)

/* When the calls of all functions count, polls that find nothing do not: their number depends on
 * time. */
static cudaError_t
count_poll (cudaError_t error)
{
  if (error == cudaErrorNotReady && !test_cuda_fault.only)
    test_cuda_fault.calls--;
  if (error == cudaSuccess)
    test_cuda_fault.busy = false;
  return error;
}

static cudaError_t
event_query (cudaEvent_t event)
{
  return count_poll (wrap_cudaEventQuery (event));
}

static cudaError_t
stream_query (cudaStream_t stream)
{
  return count_poll (wrap_cudaStreamQuery (stream));
}

/* The value that a stream writes after its work. */
static struct
{
  const uint32_t *address; /* NULL: nothing */
  uint32_t value;
} awaited_write;

static CUresult
stream_write_value (CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags)
{
  CUresult result = wrap_cuStreamWriteValue32_v2 (stream, address, value, flags);

  /* pinned memory has the same address on the host */
  awaited_write.address = result == CUDA_SUCCESS ? (const uint32_t *) (uintptr_t) address : NULL;
  awaited_write.value = value;
  return result;
}

/* A capture ends, and leaves no graph if that fails. */
static cudaError_t
stream_end_capture (cudaStream_t stream, cudaGraph_t *graph)
{
  bool failed = begin_call ("cudaStreamEndCapture");
  cudaError_t error = real.cudaStreamEndCapture (stream, graph);

  if (failed && *graph)
    real.cudaGraphDestroy (*graph);
  if (failed)
    *graph = NULL;
  if (*graph)
    add (*graph, "cudaGraphDestroy");
  return failed ? test_cuda_fault.error : error;
}

static cudaError_t
get_last_error (void)
{
  TestCudaFault *self = &test_cuda_fault;
  cudaError_t own = real.cudaGetLastError (), error = self->last != cudaSuccess ? self->last : own;

  if (!self->failed || !self->sticky)
    self->last = cudaSuccess;
  return error;
}

static CUresult
push (CUcontext context)
{
  CUresult result = wrap_cuCtxPushCurrent_v2 (context);

  test_cuda_fault.entered += result == CUDA_SUCCESS;
  return result;
}

/* The context is popped even if the call fails. */
static CUresult
pop (CUcontext *context)
{
  bool failed = begin_call ("cuCtxPopCurrent_v2");
  CUresult result = real.cuCtxPopCurrent_v2 (context);

  /* An engine call has ended: it may have read the value instead of calling CUDA. */
  if (awaited_write.address &&
      __atomic_load_n (awaited_write.address, __ATOMIC_ACQUIRE) == awaited_write.value)
    test_cuda_fault.busy = false;
  awaited_write.address = NULL;
  test_cuda_fault.entered--;
  return failed ? (CUresult) test_cuda_fault.error : result;
}

void
test_cuda_fault_begin (const CclCudaApi *api)
{
  ccl_cuda_api_load ();
  saved = ccl_cuda_api;
  real = *api;
#define USE_WRAPPED(result, name, parameters, arguments) \
  if (real.name)                                         \
    ccl_cuda_api.name = wrap_##name;                     \
  else                                                   \
    ccl_cuda_api.name = NULL;
  CCL_CUDA_FUNCTIONS (USE_WRAPPED)
#define USE_DESTROYER(result, name, type) \
  if (real.name)                          \
    ccl_cuda_api.name = destroy_##name;
  DESTROYERS (USE_DESTROYER)
  ccl_cuda_api.cudaMalloc = create_cudaMalloc;
  ccl_cuda_api.cudaHostAlloc = create_cudaHostAlloc;
  ccl_cuda_api.cudaStreamCreateWithFlags = create_cudaStreamCreateWithFlags;
  ccl_cuda_api.cudaEventCreateWithFlags = create_cudaEventCreateWithFlags;
  ccl_cuda_api.cudaGraphInstantiateWithFlags = create_cudaGraphInstantiateWithFlags;
  if (real.cuGraphicsEGLRegisterImage)
    ccl_cuda_api.cuGraphicsEGLRegisterImage = create_cuGraphicsEGLRegisterImage;
  ccl_cuda_api.cudaEventQuery = event_query;
  ccl_cuda_api.cudaStreamQuery = stream_query;
  if (real.cuStreamWriteValue32_v2)
    ccl_cuda_api.cuStreamWriteValue32_v2 = stream_write_value;
  ccl_cuda_api.cudaStreamEndCapture = stream_end_capture;
  ccl_cuda_api.cudaGetLastError = get_last_error;
  ccl_cuda_api.cudaGetErrorName = real.cudaGetErrorName;
  ccl_cuda_api.cudaGetErrorString = real.cudaGetErrorString;
  ccl_cuda_api.cuCtxPushCurrent_v2 = push;
  ccl_cuda_api.cuCtxPopCurrent_v2 = pop;
  test_cuda_fault_arm (0, cudaSuccess, false);
}

void
test_cuda_fault_end (void)
{
  test_cuda_fault_clear ();
  ccl_cuda_api = saved;
}

void
test_cuda_fault_arm (uint64_t fail_at, cudaError_t error, bool sticky)
{
  unsigned n = test_cuda_fault.live;

  test_cuda_fault = (TestCudaFault){
    .fail_at = fail_at,
    .error = error,
    .sticky = sticky,
    .live = n,
  };
  broken = false;
}

void
test_cuda_fault_clear (void)
{
  for (unsigned i = 0; i < MAX_LIVE; i++) {
#define FREE(result, name, type)                               \
  if (live[i].pointer && strcmp (live[i].destroy, #name) == 0) \
    real.name (live[i].pointer);
    DESTROYERS (FREE)
    live[i].pointer = NULL;
  }
  test_cuda_fault.live = 0;
}
