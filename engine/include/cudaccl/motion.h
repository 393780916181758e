/* cudaccl - background models: what moves in a camera's frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* With CclConfig.motion an analyzer learns the background of a fixed camera. The foreground of a
 * frame are the pixels that differ from it, instead of those that pass a threshold; region,
 * operations and analysis are the same.
 *
 * The model: the background is a slow mean of the pixels that are not foreground. A pixel is
 * foreground if its luma, blurred over 3x3 pixels, or its chroma differs from the background by
 * more than a threshold. The threshold is the larger of noise_floor and four times the pixel's mean
 * difference, plus the change that a shift of the picture by one pixel would cause there. Pixels
 * that are darker than the background but keep its texture and chroma are shadows. Objects that
 * stand still for the learning time become background; shadows take twice as long, and with chroma,
 * what a shadow in the background leaves behind half as long. A young model learns faster, so that
 * objects in the first frames soon leave no ghosts.
 *
 * When more than a fifth of the picture is foreground for 0.1 s, or two fifths are foreground or
 * shadow, the model searches for a change of light: for the levels that the background's have
 * become, in tiles of 32x32 pixels. If there is one, the background changes alike, and objects
 * stay foreground; the model then follows the light every 0.5 s, until it has not changed for 5 s.
 * If there is none, searches become rare.
 *
 * When the mean luma has changed by more than a level, the model checks whether the whole picture
 * has, as at dusk or when a camera adapts its exposure, and then shifts all of the background.
 *
 * A camera may shake by up to four pixels of the model: while it does, and every 0.5 s, the frame
 * is compared with the background at all such shifts, and moved to where it fits best. Masks are
 * those of the frame: its outer pixels, of which there is no background, are not foreground. If the
 * shift stays the same for four seconds, the model learns the new picture, as fast as a young one.
 * So it does when somebody has knocked the camera: where much more is foreground than in the last
 * frame, frames are compared with the background in coarse pixels, as many as leave at least 96
 * across and down, until a shift by up to four of them has been the same for 0.2 s.
 *
 * Lamps that flicker light frames, or bands of their rows, differently. While the brightness of the
 * picture goes up and down often, the gain of the light in each row is estimated, and the frame
 * divided by it.
 *
 * All arithmetic is in integers: the result is the same on every backend, with every instruction
 * set and any number of threads. */

#ifndef CCL_MOTION_H
#define CCL_MOTION_H

#include <cudaccl/api.h>

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum CclMotionFormat
{
  CCL_MOTION_LUMA = 0, /* luma only: GRAY8, or colour formats without their chroma */
  CCL_MOTION_LUMA_420, /* luma and chroma of half the width and height: NV12, I420 and the like */
} CclMotionFormat;

/* Settings for the life of a model. Start from ccl_motion_config_init(). */
typedef struct CclMotionConfig
{
  CclMotionFormat format;
  unsigned scale; /* 1, 2 or 4: a pixel of the model is the mean of scale x scale pixels of the
                   * frame, fewer at the right and bottom edges. Masks have the frame's size */
  bool shadows;   /* keep the shadows for ccl_analyzer_shadows() */
  uint64_t reserved[4]; /* for fields to come; 0 */
} CclMotionConfig;

/* Settings that may change from frame to frame. Start from ccl_motion_params_init(). */
typedef struct CclMotionParams
{
  uint64_t learning_time; /* nanoseconds that an object must stand still to become background; from
                           * 1 ms to 1 day */
  uint64_t warm_up;       /* nanoseconds after each start in which the model learns but masks are
                           * empty */
  uint8_t noise_floor;    /* grey levels: minimum difference in luma of foreground pixels; less in
                           * frames with a mean luma below 96, down to half of it at 48 */
  uint8_t light_change;   /* percent, 0 to 100: with more foreground than this, masks are empty, and
                           * if it lasts 0.3 s and is not light, the model starts anew; 0: never */
  bool keep_shadows;      /* shadows are foreground */
  bool freeze;            /* the model stays as it is */
  uint64_t reserved[4];   /* for fields to come; 0 */
} CclMotionParams;

/* The state of a model after the last collected frame. */
typedef struct CclMotionInfo
{
  uint32_t width, height; /* pixels of the model, a frame's divided by scale, rounded up */
  uint64_t foreground;    /* of the last frame, in pixels of the model before region and operations,
                           * also when its mask is empty */
  uint64_t age;           /* nanoseconds of frames since the start */
  uint64_t starts;        /* number of starts: the first frame's, and one for each lasting change of
                           * the scene and ccl_analyzer_reset() */
  bool light_change;      /* the last frame had more foreground than light_change */
  bool waves;             /* leaves wave: what comes again and again is background */
  uint64_t bytes;         /* of CclInfo.bytes: what the model holds */
  /* Numbers of frames so far: */
  uint64_t relit;     /* in which the light changed, and the background with it */
  uint64_t aligned;   /* that were shifted, since the camera shakes */
  uint64_t flickered; /* that were divided by the gains of their rows, since lamps flicker */
  uint32_t veil;      /* grey levels that fog adds to all others; 0: the air is clear */
  uint32_t displaced; /* how often the camera was moved for good, and its picture learned anew */
} CclMotionInfo;

/* Fills @config with the defaults: luma and chroma, scale 1, no shadows. */
CCL_API void ccl_motion_config_init (CclMotionConfig *config);

/* Fills @params with the defaults: learning time 10 s, no warm-up, noise floor 14, shadows dropped,
 * light change at 60 %. */
CCL_API void ccl_motion_params_init (CclMotionParams *params);

#ifdef __cplusplus
}
#endif

#endif
