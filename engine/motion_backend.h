/* cudaccl - background models: what a backend implements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_MOTION_BACKEND_H
#define CCL_MOTION_BACKEND_H

#include "engine/backend.h"
#include "engine/motion_step.h"

/* The part of a model that all backends share; a backend's own session begins with it. */
typedef struct CclMotionSession
{
  CclMotionConfig config; /* checked */
  CclAccount account;
  uint32_t width, height; /* of the model */
  int device;             /* -1 on the CPU */
  uint64_t time;          /* set by finish(), with config.timing: nanoseconds */
  char device_name[256];
  /* Of foreground and of shadows, in the memory that the backend writes, made by open(). */
  CclMask masks[2];    /* of the model's size */
  CclMask enlarged[2]; /* of the frame's; only if the scale is not 1 */
} CclMotionSession;

/* The work on a frame. Its arguments are checked, except for the kind of memory. */
typedef struct CclMotionJob
{
  CclMotionStep step;
  const CclMotionImage *image;
  CclMask *mask, *shadows; /* results; the second may be NULL */
  uint64_t most;           /* with more foreground, both are empty */
  bool silent;             /* both are empty in any case */
  bool enlarge;            /* both are the session's own; also write the session's enlarged ones */
  void *stream;            /* to enqueue in; NULL for the session's own */
} CclMotionJob;

/* A backend. Functions that fail leave their reason with ccl_fail(). */
typedef struct CclMotionClass
{
  CclBackend id;
  /* Makes a session with all the memory that it will ever need. */
  CclStatus (*open) (const CclMotionSession *wanted, CclMotionSession **session);
  /* Begins a frame, which may not be complete on return. */
  CclStatus (*apply) (CclMotionSession *session, const CclMotionJob *job);
  /* Waits until its foreground, in pixels of the model, is known, or with @all until it is
   * complete.
   */
  CclStatus (*finish) (CclMotionSession *session, bool all, uint64_t *foreground);
  /* Copies one of the session's masks to one of the same size in host memory. */
  CclStatus (*read) (CclMotionSession *session, const CclMask *from, CclMask *to);
  CclStatus (*background) (CclMotionSession *session, uint8_t *pixels, size_t stride);
  void (*close) (CclMotionSession *session);
} CclMotionClass;

extern const CclMotionClass ccl_motion_cpu;
#ifdef HAVE_CUDA
extern const CclMotionClass ccl_motion_cuda;
#endif

/* A background in grey levels. */
static inline CCL_HOST_DEVICE uint8_t
ccl_motion_level (uint16_t background)
{
  return (uint8_t) ((background + CCL_MOTION_ONE / 2) / CCL_MOTION_ONE);
}

#endif
