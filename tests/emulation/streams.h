/* cudaccl - emulation: streams
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef EMULATION_STREAMS_H
#define EMULATION_STREAMS_H

#include "tests/emulation/emulation.h"

#include <deque>

/* Done when all work before it is. */
typedef std::shared_ptr<bool> Marker;

struct Work
{
  enum
  {
    CALL,   /* @call: copies, markers */
    HOST,   /* @call: a function of the host, which may take long */
    KERNEL, /* @grid */
    WAIT,   /* for @marker */
  } kind;
  std::function<void ()> call;
  Grid grid;
  Marker marker;
};

struct CUgraph_st
{
  std::vector<Work> work;
};

struct CUgraphExec_st
{
  std::vector<Work> work;
};

struct CUstream_st
{
  std::deque<Work> work;
  bool blocking; /* waits for the default stream, and is waited for */
  CUgraph_st *capture;
  bool capture_failed;
};

struct CUevent_st
{
  unsigned flags;
  Marker marker; /* NULL: never recorded */
  uint64_t time;
};

/* Enqueues work, or adds it to the stream's graph. */
cudaError_t streams_enqueue (cudaStream_t stream, Work work);
cudaError_t streams_enqueue_call (cudaStream_t stream, const std::function<void ()> &call);
/* Does the work before the marker, or all work of the stream, or all work. */
void streams_await (const Marker &marker);
void streams_drain (cudaStream_t stream);
void streams_drain_all (void);
/* Does some of the work. */
void streams_progress (void);
/* Whether this thread may not synchronise, because it captures; that ends the capture, too. */
bool streams_forbids (void);

/* runtime.cpp: makes @error the last one, and returns it. */
cudaError_t runtime_error (cudaError_t error);

#endif
