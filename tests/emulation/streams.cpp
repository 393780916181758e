/* cudaccl - emulation: streams, events and graphs
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Nothing happens until the host waits for it, or queries whether it is done: so a missing wait
 * shows. Then random numbers choose what else is done meanwhile. */

#include "tests/emulation/streams.h"

#include <stdio.h>
#include <stdlib.h>

std::recursive_mutex runtime_lock;

typedef std::lock_guard<std::recursive_mutex> Lock;

static CUstream_st default_stream = { {}, true, NULL, false };
static std::vector<CUstream_st *> streams = { &default_stream };
static uint64_t clock_now;        /* of events: how much has been done */
static thread_local int captures; /* of this thread */
static uint32_t order_state = 1;

static CUstream_st *
find_stream (cudaStream_t stream)
{
  return stream ? stream : &default_stream;
}

static bool
exists (const CUstream_st *stream)
{
  for (const CUstream_st *other : streams) {
    if (other == stream)
      return true;
  }
  return false;
}

static Marker
mark (CUstream_st *stream)
{
  Marker marker = std::make_shared<bool> (false);
  Work work = {};

  work.kind = Work::CALL;
  work.marker = marker;
  work.call = [marker] { *marker = true; };
  stream->work.push_back (work);
  return marker;
}

static void
wait_for (CUstream_st *stream, const Marker &marker)
{
  Work work = {};

  work.kind = Work::WAIT;
  work.marker = marker;
  stream->work.push_back (work);
}

/* The default stream waits for all blocking streams, and they wait for it. */
static void
order_with_default (CUstream_st *stream)
{
  for (CUstream_st *other : streams) {
    if (other != stream && other->blocking && !other->work.empty () &&
        (stream == &default_stream || (stream->blocking && other == &default_stream)))
      wait_for (stream, mark (other));
  }
}

cudaError_t
streams_enqueue (cudaStream_t handle, Work work)
{
  Lock lock (runtime_lock);
  CUstream_st *stream = find_stream (handle);

  if (!exists (stream))
    return runtime_error (cudaErrorInvalidResourceHandle);
  if (stream->capture) {
    stream->capture->work.push_back (work);
    return cudaSuccess;
  }
  order_with_default (stream);
  stream->work.push_back (work);
  return cudaSuccess;
}

cudaError_t
streams_enqueue_call (cudaStream_t stream, const std::function<void ()> &call)
{
  Work work = {};

  work.kind = Work::CALL;
  work.call = call;
  return streams_enqueue (stream, work);
}

/* Runs the kernels at the front, as far as each may start before the one before it has ended. */
static void
run_kernels (CUstream_st *stream)
{
  std::vector<Grid> grids;

  do {
    grids.push_back (stream->work.front ().grid);
    stream->work.pop_front ();
  } while (!stream->work.empty () && stream->work.front ().kind == Work::KERNEL &&
           stream->work.front ().grid.follows && !grids.back ().cooperative && grids.size () < 8);
  scheduler_run (&grids);
}

/* Does the first work of a stream, after what it waits for. */
static void
advance (CUstream_st *stream)
{
  Work work;

  clock_now++;
  if (stream->work.front ().kind == Work::KERNEL) {
    run_kernels (stream);
    return;
  }
  if (stream->work.front ().kind == Work::WAIT)
    streams_await (stream->work.front ().marker);
  if (stream->work.empty ())
    return;
  work = stream->work.front ();
  stream->work.pop_front ();
  if (work.kind != Work::WAIT)
    work.call ();
}

static uint32_t
order_below (uint32_t n)
{
  if (order_state == 1)
    order_state = options_get ()->seed | 1;
  order_state = order_state * 1664525u + 1013904223u;
  return (uint32_t) ((uint64_t) order_state * n >> 32);
}

/* Whether a stream can go on without waiting for a function of the host. */
static bool
can_progress (const CUstream_st *stream)
{
  return !stream->work.empty () && stream->work.front ().kind != Work::HOST &&
         (stream->work.front ().kind != Work::WAIT || *stream->work.front ().marker);
}

/* Does one step of a stream that has work, or of the work that it waits for. */
static void
step (CUstream_st *stream)
{
  if (can_progress (stream))
    advance (stream);
  else if (stream->work.front ().kind == Work::WAIT)
    streams_await (stream->work.front ().marker);
}

void
streams_progress (void)
{
  CUstream_st *stream = streams[order_below ((uint32_t) streams.size ())];

  if (can_progress (stream))
    advance (stream);
}

/* Where the work that ends with a marker is. */
static CUstream_st *
stream_with (const Marker &marker)
{
  for (CUstream_st *stream : streams) {
    for (const Work &work : stream->work) {
      if (work.kind == Work::CALL && work.marker == marker)
        return stream;
    }
  }
  return NULL;
}

void
streams_await (const Marker &marker)
{
  while (!*marker) {
    CUstream_st *stream = stream_with (marker);

    if (!stream)
      return; /* its stream has been destroyed */
    if (order_below (4) == 0)
      streams_progress ();
    else
      advance (stream);
  }
}

void
streams_drain (cudaStream_t handle)
{
  CUstream_st *stream = find_stream (handle);

  if (stream == &default_stream)
    order_with_default (stream);
  while (!stream->work.empty ()) {
    if (order_below (4) == 0)
      streams_progress ();
    if (!stream->work.empty ())
      advance (stream);
  }
}

void
streams_drain_all (void)
{
  for (size_t i = 0; i < streams.size (); i++)
    streams_drain (streams[i]);
}

bool
streams_forbids (void)
{
  bool forbids = false;

  if (captures == 0)
    return false;
  for (CUstream_st *stream : streams) {
    if (stream->capture)
      forbids = stream->capture_failed = true;
  }
  return forbids;
}

/* The API */

extern "C" cudaError_t
cudaStreamCreateWithFlags (cudaStream_t *stream, unsigned flags)
{
  Lock lock (runtime_lock);

  *stream = new CUstream_st{ {}, !(flags & cudaStreamNonBlocking), NULL, false };
  streams.push_back (*stream);
  return cudaSuccess;
}

extern "C" cudaError_t
cudaStreamCreate (cudaStream_t *stream)
{
  return cudaStreamCreateWithFlags (stream, 0);
}

extern "C" cudaError_t
cudaStreamDestroy (cudaStream_t stream)
{
  Lock lock (runtime_lock);

  if (!stream || !exists (stream))
    return runtime_error (cudaErrorInvalidResourceHandle);
  streams_drain (stream);
  for (size_t i = 0; i < streams.size (); i++) {
    if (streams[i] == stream)
      streams.erase (streams.begin () + (ptrdiff_t) i);
  }
  delete stream->capture;
  delete stream;
  return cudaSuccess;
}

extern "C" cudaError_t
cudaStreamSynchronize (cudaStream_t stream)
{
  Lock lock (runtime_lock);

  if (!exists (find_stream (stream)))
    return runtime_error (cudaErrorInvalidResourceHandle);
  if (streams_forbids ())
    return runtime_error (cudaErrorStreamCaptureUnsupported);
  streams_drain (stream);
  return cudaSuccess;
}

extern "C" cudaError_t
cudaDeviceSynchronize (void)
{
  Lock lock (runtime_lock);

  if (streams_forbids ())
    return runtime_error (cudaErrorStreamCaptureUnsupported);
  streams_drain_all ();
  return cudaSuccess;
}

extern "C" cudaError_t
cudaStreamQuery (cudaStream_t stream)
{
  Lock lock (runtime_lock);

  if (find_stream (stream)->work.empty ())
    return cudaSuccess;
  streams_progress ();
  if (!find_stream (stream)->work.empty ())
    step (find_stream (stream));
  return runtime_error (cudaErrorNotReady);
}

extern "C" cudaError_t
cudaLaunchHostFunc (cudaStream_t stream, cudaHostFn_t function, void *data)
{
  Work work = {};

  work.kind = Work::HOST;
  work.call = [function, data] { function (data); };
  return streams_enqueue (stream, work);
}

/* Events */

extern "C" cudaError_t
cudaEventCreateWithFlags (cudaEvent_t *event, unsigned flags)
{
  *event = new CUevent_st{ flags, NULL, 0 };
  return cudaSuccess;
}

extern "C" cudaError_t
cudaEventCreate (cudaEvent_t *event)
{
  return cudaEventCreateWithFlags (event, 0);
}

/* Markers outlive their event. */
extern "C" cudaError_t
cudaEventDestroy (cudaEvent_t event)
{
  Lock lock (runtime_lock);

  if (!event)
    return runtime_error (cudaErrorInvalidResourceHandle);
  if (event->marker && !*event->marker)
    streams_await (event->marker);
  delete event;
  return cudaSuccess;
}

extern "C" cudaError_t
cudaEventRecordWithFlags (cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
  Lock lock (runtime_lock);
  bool captured = find_stream (stream)->capture;
  Marker marker = std::make_shared<bool> (false);
  Work work = {};

  work.kind = Work::CALL;
  work.marker = marker;
  work.call = [event, marker] {
    *marker = true;
    event->time = clock_now;
  };
  /* In a graph each launch records it, and nothing waits for it. */
  if (captured)
    *marker = true;
  else
    event->marker = marker;
  return streams_enqueue (stream, work);
}

extern "C" cudaError_t
cudaEventRecord (cudaEvent_t event, cudaStream_t stream)
{
  return cudaEventRecordWithFlags (event, stream, 0);
}

extern "C" cudaError_t
cudaStreamWaitEvent (cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
  Lock lock (runtime_lock);
  Work work = {};

  if (!event->marker)
    return cudaSuccess;
  work.kind = Work::WAIT;
  work.marker = event->marker;
  return streams_enqueue (stream, work);
}

extern "C" cudaError_t
cudaEventQuery (cudaEvent_t event)
{
  Lock lock (runtime_lock);
  CUstream_st *stream;

  if (!event->marker || *event->marker)
    return cudaSuccess;
  streams_progress ();
  stream = *event->marker ? NULL : stream_with (event->marker);
  if (stream)
    step (stream);
  return runtime_error (cudaErrorNotReady);
}

extern "C" cudaError_t
cudaEventSynchronize (cudaEvent_t event)
{
  Lock lock (runtime_lock);

  if (streams_forbids ())
    return runtime_error (cudaErrorStreamCaptureUnsupported);
  if (event->marker)
    streams_await (event->marker);
  return cudaSuccess;
}

/* Of emulated time: something for every step. */
extern "C" cudaError_t
cudaEventElapsedTime (float *milliseconds, cudaEvent_t from, cudaEvent_t to)
{
  Lock lock (runtime_lock);

  if ((from->flags | to->flags) & cudaEventDisableTiming)
    return runtime_error (cudaErrorInvalidResourceHandle);
  if ((from->marker && !*from->marker) || (to->marker && !*to->marker))
    return runtime_error (cudaErrorNotReady);
  *milliseconds = 0.001f * (float) (int64_t) (to->time - from->time);
  return cudaSuccess;
}

/* Graphs: the work of a stream, in its order. */

extern "C" cudaError_t
cudaStreamBeginCapture (cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
  Lock lock (runtime_lock);

  if (!options_get ()->capture)
    return runtime_error (cudaErrorNotSupported);
  if (!stream || stream->capture)
    return runtime_error (cudaErrorStreamCaptureUnsupported);
  stream->capture = new CUgraph_st ();
  stream->capture_failed = false;
  captures++;
  return cudaSuccess;
}

extern "C" cudaError_t
cudaStreamEndCapture (cudaStream_t stream, cudaGraph_t *graph)
{
  Lock lock (runtime_lock);

  *graph = NULL;
  if (!stream->capture)
    return runtime_error (cudaErrorStreamCaptureInvalidated);
  captures--;
  if (stream->capture_failed) {
    delete stream->capture;
    stream->capture = NULL;
    return runtime_error (cudaErrorStreamCaptureInvalidated);
  }
  *graph = stream->capture;
  stream->capture = NULL;
  return cudaSuccess;
}

extern "C" cudaError_t
cudaGraphInstantiateWithFlags (cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
  *exec = new CUgraphExec_st{ graph->work };
  return cudaSuccess;
}

extern "C" cudaError_t
cudaGraphLaunch (cudaGraphExec_t exec, cudaStream_t stream)
{
  Lock lock (runtime_lock);
  cudaError_t error = cudaSuccess;

  for (const Work &work : exec->work) {
    if (error == cudaSuccess)
      error = streams_enqueue (stream, work);
  }
  return error;
}

extern "C" cudaError_t
cudaGraphDestroy (cudaGraph_t graph)
{
  delete graph;
  return cudaSuccess;
}

extern "C" cudaError_t
cudaGraphExecDestroy (cudaGraphExec_t exec)
{
  delete exec;
  return cudaSuccess;
}
