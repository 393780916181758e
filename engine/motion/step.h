/* cudaccl - background models: from time to what a frame does
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_MOTION_STEP_H
#define CCL_MOTION_STEP_H

#include <cudaccl/motion.h>
#include "engine/motion/flicker.h"
#include "engine/motion/shake.h"

/* How the brightness of a band of the picture goes up and down. */
typedef struct CclFlickerTurns
{
  uint32_t extreme; /* the highest or the lowest since it turned; 0: it was not seen yet */
  bool rises;
  uint64_t often; /* more with each turn, less with time */
} CclFlickerTurns;

/* A model's time, in nanoseconds of frames that it learned from. */
typedef struct CclMotionClock
{
  bool running;                        /* there was a frame since the start */
  uint64_t age;                        /* since the first frame */
  uint64_t known;                      /* since then, or since the camera was displaced; a change
                                        * of light makes it less */
  uint64_t pending[CCL_MOTION_GROUPS]; /* not learned from yet */
  uint64_t rest[CCL_MOTION_GROUPS];    /* of candidates' counts, in 1 / learning time */
  uint64_t shadow_rest[CCL_MOTION_GROUPS]; /* likewise, of those in shadow */
  uint32_t updates;
  uint64_t changed;    /* how long masks have been empty for too much foreground */
  uint8_t light;       /* CclMotionLight of the last frame */
  uint8_t next;        /* and of the next one */
  bool searched;       /* since changed is not 0 */
  bool relit;          /* the search in the last frame has found a change of light */
  uint64_t much;       /* how long much has been foreground or shadow */
  uint64_t last;       /* since light was searched or followed */
  uint64_t wait;       /* before it is searched again: longer each time that none is found */
  uint64_t follow;     /* how long to follow it */
  uint32_t brightness; /* of the last frame; 0: there was none */
  uint32_t level;      /* what the brightness was when it was last compared */
  uint64_t unchecked;  /* since a drift was checked for */
  uint32_t dark;       /* a mean of the last CclDriftLevels, 1/128 grey levels */
  uint32_t bright;     /* likewise; 0: there were none */
  uint64_t shaking;    /* how long frames will be aligned */
  uint64_t still;      /* since a frame was aligned */
  uint64_t displaced;  /* how long the shift has been the same */
  uint64_t paused;     /* how long none will be, since the camera was displaced */
  uint64_t busy;       /* foreground and shadows of the last frame */
  uint64_t flickering; /* how long frames will be divided by their gains */
  uint64_t calm;       /* how long none will be, since there was no flicker */
  CclFlickerTurns turns[CCL_FLICKER_BANDS];
  uint8_t flicker; /* CclMotionFlicker of the next frame */
  bool flickered;  /* since frames are divided */
  uint8_t learns;  /* groups whose candidates gained in the last frame */
  uint8_t fades;   /* in turns */
  uint64_t faded;  /* since the pixels forgot a visit */
  uint64_t
      repeated;    /* means of what is known, and of what is foreground without that, of a frame */
  uint64_t others; /* that learns, 1/256 pixels */
  uint64_t waving; /* how long what is known will not be foreground */
  CclShift shift;  /* of the last frame that was aligned */
  uint8_t align;   /* CclShakeSearch of the next frame */
  uint64_t quiet;  /* what clock.busy was before much more differed */
  uint64_t knock;  /* how long frames are searched for a displaced camera */
  uint64_t waits;  /* since the last one was */
  uint64_t near;   /* how long none has been far */
  uint64_t away;   /* how long all have been, by the same shift */
  CclShift far;    /* the last one's, coarse pixels */
  bool shady;      /* the last frame had many shadows: see CclMotionStep */
} CclMotionClock;

/* Observations of a frame. */
typedef struct CclMotionSeen
{
  uint64_t pixels, foreground, shadows;
  uint32_t brightness;               /* the mean luma, 1/128 grey levels */
  uint32_t bands[CCL_FLICKER_BANDS]; /* likewise, of each band, 0 without one */
  bool relit;                        /* the light has changed, and the background with it */
  CclDriftLevels levels;             /* of the background, if a drift was checked for */
  CclShift shift;                    /* of the frame, if it was aligned */
  CclShift moved;                    /* of the frame in coarse pixels, if these were compared */
  uint32_t coarse;                   /* ccl_shake_size(), or 0 */
  bool flickers;                     /* the frame, if it was divided by its gains */
  bool far;                          /* and the light is far from the background's */
  bool light_change;                 /* there is too much foreground */
  uint64_t known;                    /* pixels of what learned that ccl_motion_knows() */
} CclMotionSeen;

/* Advances the clock to the next frame, @elapsed after the last one, and returns its updates. */
CclMotionStep ccl_motion_clock_tick (CclMotionClock *clock, const CclMotionParams *params,
                                     uint64_t elapsed);

/* The maximum number of foreground pixels, out of @pixels, without a change of light. */
uint64_t ccl_motion_most (const CclMotionParams *params, uint64_t pixels);

/* Records what the frame has shown. If the picture has become brighter or darker, the next frame
 * checks for a drift. Where much has changed, the next frame searches for a change of
 * light. If there is none, and too much foreground for a while, the clock restarts. While the
 * camera shakes, and now and then, the next frame is aligned. Where the brightness goes up and down
 * often, the next frames are divided by their gains. Where much of what differs is known, that is
 * not foreground for a while. */
void ccl_motion_clock_judge (CclMotionClock *clock, bool freeze, uint64_t elapsed,
                             const CclMotionSeen *seen);

#endif
