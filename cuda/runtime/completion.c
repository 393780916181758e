/* cudaccl - CUDA backend: how the host waits for the device
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cuda/runtime/completion.h"
#include "cuda/runtime/api.h"
#include "cuda/runtime/error.h"
#include "cuda/runtime/queue.h"
#include "engine/cpu/clock.h"

#include <sched.h>
#include <time.h>

/* CCL_SYNC_AUTO busy-polls for as long as an HD frame takes with its transfer. Then it leaves the
 * core to other threads, first between two polls, then for SLEEP_NS at a time: such a long wait
 * means that the device does other work, so SLEEP_NS more makes little difference. */
#define SPIN_NS 150000
#define YIELD_NS 1000000
#define SLEEP_NS 50000
/* A stream that was idle for longer than this is live: it waits for its source, not for the device.
 * There CCL_SYNC_AUTO sleeps for as long as frames usually take, which costs a switch to another
 * thread instead of busy-polling for 50 to 100 us. The timer is some 50 us late, which does not
 * matter to a source of 30 frames per second. */
#define LIVE_NS 2000000
#define FIRST_NAP_NS 50000
#define LEAST_NAP_NS 10000
#define MOST_NAP_NS 1000000
/* How often to ask the driver whether the device has failed: then it writes no value. */
#define QUERY_NS 100000

CclStatus
ccl_cuda_completion_open (CclCudaCompletion *self, CclSync sync, CclCudaMemory *memory)
{
  unsigned flags = sync == CCL_SYNC_BLOCK ? cudaEventBlockingSync : cudaEventDefault;
  CclStatus status = ccl_cuda_event_new (&self->event, flags | cudaEventDisableTiming);
  uint32_t *value;
  void *mapped;

  self->sync = sync;
  self->nap = FIRST_NAP_NS;
  if (status != CCL_OK || sync == CCL_SYNC_BLOCK || !ccl_cuda_api.cuStreamWriteValue32_v2)
    return status;
  status = ccl_cuda_allocate_pinned (memory, &value, sizeof *value);
  if (status == CCL_OK)
    status = ccl_cuda_map_pinned (value, &mapped);
  if (status != CCL_OK)
    return status;
  *value = 0;
  self->value = value;
  self->device_value = (CUdeviceptr) (uintptr_t) mapped;
  return CCL_OK;
}

void
ccl_cuda_completion_close (CclCudaCompletion *self)
{
  ccl_cuda_event_free (self->event);
}

/* Errors of platforms whose streams cannot write to pinned memory. */
static bool
is_refusal (cudaError_t error)
{
  return error == cudaErrorNotSupported || error == cudaErrorNotPermitted ||
         error == cudaErrorInvalidValue;
}

cudaError_t
ccl_cuda_completion_record (CclCudaCompletion *self, cudaStream_t stream)
{
  cudaError_t error;

  self->stream = stream;
  if (self->value) {
    error = CCL_CUDA (cuStreamWriteValue32_v2, stream, self->device_value, ++self->expected,
                      CU_STREAM_WRITE_VALUE_DEFAULT);
    if (!is_refusal (error))
      return error;
    self->value = NULL;
  }
  return CCL_CUDA (cudaEventRecord, self->event, stream);
}

/* The default flag puts a fence before the write: who sees the value sees all that the stream wrote
 * before it. */
static bool
has_value (const CclCudaCompletion *self)
{
  return __atomic_load_n (self->value, __ATOMIC_ACQUIRE) == self->expected;
}

static cudaError_t
query (const CclCudaCompletion *self)
{
  cudaError_t error = self->value ? CCL_CUDA (cudaStreamQuery, self->stream)
                                  : CCL_CUDA (cudaEventQuery, self->event);

  /* Not an error, but some versions keep it as the last one. */
  if (error == cudaErrorNotReady)
    ccl_cuda_api.cudaGetLastError ();
  return error;
}

static bool
is_live (const CclCudaCompletion *self, uint64_t now)
{
  return self->sync == CCL_SYNC_AUTO && self->ended > 0 && now - self->ended > LIVE_NS;
}

/* Waits a little before the next poll. */
static void
pass_time (CclSync sync, uint64_t waited)
{
  static const struct timespec nap = { .tv_nsec = SLEEP_NS };

  if (sync == CCL_SYNC_SPIN || (sync == CCL_SYNC_AUTO && waited < SPIN_NS))
    ccl_cpu_relax ();
  else if (sync == CCL_SYNC_YIELD || waited < YIELD_NS)
    sched_yield ();
  else
    nanosleep (&nap, NULL);
}

static bool
is_complete (const CclCudaCompletion *self)
{
  return self->value ? has_value (self) : query (self) == cudaSuccess;
}

/* Sleeps for as long as frames take. A frame that is complete by then makes the next nap a little
 * shorter, another one longer by half of what was missing. Returns when the nap ended. */
static uint64_t
take_nap (CclCudaCompletion *self)
{
  const struct timespec nap = { .tv_nsec = (long) self->nap };

  nanosleep (&nap, NULL);
  self->naps++;
  if (is_complete (self))
    self->nap -= self->nap / 16;
  return ccl_cpu_now ();
}

cudaError_t
ccl_cuda_completion_wait (CclCudaCompletion *self)
{
  /* an event is queried with every poll */
  const uint64_t interval = self->value ? QUERY_NS : 0;
  uint64_t start, now, next;
  cudaError_t error = cudaErrorNotReady;
  bool live;

  if (self->sync == CCL_SYNC_BLOCK)
    return CCL_CUDA (cudaEventSynchronize, self->event);
  start = ccl_cpu_now ();
  live = is_live (self, start) && !is_complete (self);
  if (live)
    start = take_nap (self);
  next = start + interval;
  while (error == cudaErrorNotReady && !(self->value && has_value (self))) {
    now = ccl_cpu_now ();
    if (now >= next) {
      error = query (self);
      next = now + interval;
    }
    if (error == cudaErrorNotReady)
      pass_time (self->sync, now - start);
  }
  self->ended = ccl_cpu_now ();
  if (live) {
    self->nap += (self->ended - start) / 2;
    self->nap = self->nap < LEAST_NAP_NS ? LEAST_NAP_NS : self->nap;
    self->nap = self->nap > MOST_NAP_NS ? MOST_NAP_NS : self->nap;
  }
  return error == cudaErrorNotReady ? cudaSuccess : error;
}
