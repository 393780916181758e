/* cudaccl - background models: what a backend implements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_MOTION_BACKEND_H
#define CCL_MOTION_BACKEND_H

#include "ccl/backend.h"
#include "ccl/motion_step.h"

/* The part of a model that the front knows; a backend's own session begins with it. */
typedef struct CclMotionSession
{
  CclMotionConfig config; /* checked */
  CclAccount account;
  uint32_t width, height; /* of the model */
  char device_name[256];
} CclMotionSession;

/* A backend. Functions that fail leave their reason with ccl_fail(). */
typedef struct CclMotionClass
{
  CclBackend id;
  /* Makes a session with all the memory that it will ever need. */
  CclStatus (*open) (const CclMotionSession *wanted, CclMotionSession **session);
  /* Writes both masks, @shadows unless it is NULL, and counts the foreground. What they are of is
   * checked but for the memory that they are in. */
  CclStatus (*apply) (CclMotionSession *session, const CclMotionStep *step,
                      const CclMotionImage *image, CclMask *mask, CclMask *shadows,
                      uint64_t *foreground);
  /* Makes a mask of apply()'s empty. */
  CclStatus (*clear) (CclMotionSession *session, CclMask *mask);
  CclStatus (*background) (CclMotionSession *session, uint8_t *pixels, size_t stride);
  void (*close) (CclMotionSession *session);
} CclMotionClass;

extern const CclMotionClass ccl_motion_cpu;

/* A background in grey levels. */
static inline CCL_HOST_DEVICE uint8_t
ccl_motion_level (uint16_t background)
{
  return (uint8_t) ((background + CCL_MOTION_ONE / 2) / CCL_MOTION_ONE);
}

#endif
