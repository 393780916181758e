/* cudaccl - background models: from time to what a frame does
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_MOTION_STEP_H
#define CCL_MOTION_STEP_H

#include <cudaccl/motion.h>
#include "engine/motion_pixel.h"

/* A model's time, in nanoseconds of frames that it learned from. */
typedef struct CclMotionClock
{
  bool running;                        /* there was a frame since the start */
  uint64_t age;                        /* since the first frame */
  uint64_t pending[CCL_MOTION_GROUPS]; /* not learned from yet */
  uint64_t rest[CCL_MOTION_GROUPS];    /* of candidates' counts, in 1 / learning time */
  uint32_t updates;
  uint64_t changed; /* how long the light has been different */
} CclMotionClock;

/* Advances the clock to the next frame, @elapsed after the last one, and returns its updates. */
CclMotionStep ccl_motion_clock_tick (CclMotionClock *clock, const CclMotionParams *params,
                                     uint64_t elapsed);

/* The maximum number of foreground pixels, out of @pixels, without a change of light. */
uint64_t ccl_motion_most (const CclMotionParams *params, uint64_t pixels);

/* Records whether the frame was a change of light, whose foreground is meaningless. A lasting
 * change restarts the clock. */
void ccl_motion_clock_judge (CclMotionClock *clock, bool freeze, uint64_t elapsed,
                             bool light_change);

#endif
