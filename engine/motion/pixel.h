/* cudaccl - background models: the arithmetic of one pixel
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The specification: the tests' reference calls these functions, the CPU's vectors and the CUDA
 * kernels do the same to several pixels at a time. All values are integers, and a pixel's new state
 * follows from its own old state, the old background around it and the frame, so every backend
 * gives the same bits in any order of pixels.
 *
 * State of a luma pixel: the background (a slow mean of what is not foreground), the noise (the
 * mean absolute difference from it), and a candidate: a value that was seen as foreground,
 * and for how long. A candidate that stays for the learning time becomes the background; this also
 * removes ghosts of the first frame. In shadow it takes twice as long: shadows move on. Where there
 * is chroma, a pixel that is brighter, but keeps texture and chroma, takes half as long: what was
 * taken for background there is a shadow. What it replaced is kept as the former background: where
 * something that stood leaves, that returns within a sixteenth of the learning time, and no ghost
 * stays. It returns once, and neither in shadow nor in what is lit, which come and go. Without a
 * background that was replaced, the former one is a value that was seen instead of the background,
 * with the number of its visits: how often the pixel changed from the background to it, but less
 * than once a learning time is forgotten. Leaves that wave visit often: while many pixels of the
 * foreground have the value of several visits, such pixels are background. State of a chroma
 * sample: the background alone.
 *
 * Units: background and differences are 1/128 grey levels (CCL_MOTION_ONE), noise is 1/16. */

#ifndef CCL_MOTION_PIXEL_H
#define CCL_MOTION_PIXEL_H

#include "engine/shared/device.h"

#include <stdbool.h>
#include <stdint.h>

#define CCL_MOTION_ONE 128              /* a grey level */
#define CCL_MOTION_CAP (40 * 128)       /* maximum threshold, unless the floor is higher */
#define CCL_MOTION_PULL (4 * 128)       /* differences that move the background are clamped to it */
#define CCL_MOTION_MOST_NOISE (12 * 16) /* differences that count as noise are clamped to it */
#define CCL_MOTION_FIRST_NOISE (2 * 16) /* noise of a new background */
#define CCL_MOTION_CANDIDATE_RANGE 8    /* grey levels that a candidate may vary by */
#define CCL_MOTION_COLOUR 32            /* chroma nearer to grey, both components, is constant */
#define CCL_MOTION_LEARNT 255           /* counts of a candidate in the learning time */
#define CCL_MOTION_RETURN 16            /* that a former background needs to return */
#define CCL_MOTION_KNOWN 2              /* visits of a value that is known */
#define CCL_MOTION_SETTLED 2            /* visits that are forgotten less often */
#define CCL_MOTION_MOST_VISITS 15
/* CclMotionPixel.visits is a number and these. */
#define CCL_MOTION_FORMER 16   /* it is a background that was replaced */
#define CCL_MOTION_VISITING 32 /* the pixel was foreground when it learned before */
/* Shadows are recognised from 3x3 samples, CCL_MOTION_SHADOW_STEP pixels apart. */
#define CCL_MOTION_SHADOW_STEP 2
#define CCL_MOTION_SHADOW_SIDE 3
#define CCL_MOTION_SHADOW_PIXELS 9
#define CCL_MOTION_CORNERS 4        /* of 2x2 samples, which all have the middle one */
#define CCL_MOTION_SHADOW_SPREAD 11 /* the ratio's highest mean deviation, 1/256 */

/* Rows learn in groups, which take turns, to spread the cost over frames. A group has every fourth
 * band of rows. */
#define CCL_MOTION_GROUPS 4
#define CCL_MOTION_BAND 8 /* rows; even, for the rows that share a row of chroma */

/* How fast a row learns. */
typedef struct CclMotionPace
{
  int16_t rate;         /* share of a difference that the background takes on, 1/32768 */
  int16_t noise_rate;   /* the same for the noise */
  uint8_t dither;       /* 0 to 127, for the noise's lost bits */
  uint8_t count;        /* what a candidate gains, 0 to 127; 0: candidates stay as they are */
  uint8_t shadow_count; /* the same in shadow, about half */
  uint8_t lit_count;    /* the same where it is lit, about twice; at most 127 */
  uint8_t enough;       /* the count that makes it the background */
} CclMotionPace;

/* The step before a frame is compared with the background: see light.h, and drift.h for
 * CCL_MOTION_DRIFT. */
typedef enum CclMotionLight
{
  CCL_MOTION_STEADY = 0,
  CCL_MOTION_DRIFT,  /* the brightness of the picture has changed a little */
  CCL_MOTION_SEARCH, /* the light may have changed */
  CCL_MOTION_FOLLOW, /* it did recently: it may still change, by less */
} CclMotionLight;

/* How a frame updates the model. */
typedef struct CclMotionStep
{
  bool first;           /* the frame becomes the background; nothing is foreground */
  bool displaced;       /* the camera was: from now on, the model learns fast */
  uint8_t align;        /* CclShakeSearch: see shake.h */
  uint8_t light;        /* CclMotionLight */
  uint8_t flicker;      /* CclMotionFlicker: see flicker.h */
  int16_t flicker_rate; /* share of a difference that means of gains take on, 1/32768 */
  bool shadows;         /* shadows are not foreground */
  bool shady;           /* there are many: a corner tells them, and what is lit is none, too */
  uint8_t reach;        /* grey levels that a value may vary by from visit to visit */
  bool waves;           /* what is known is not foreground */
  uint8_t fades;        /* before the frame, each pixel forgets a visit; 1: unless it has settled */
  uint8_t veil;         /* grey levels that fog adds to everything: shadows are told above it */
  uint16_t floor, cap;  /* the lowest and the highest threshold of luma */
  uint16_t chroma_floor; /* the threshold of chroma, for the sum of both differences */
  uint8_t learn;         /* a bit for each group: 1 if its state changes */
  CclMotionPace paces[CCL_MOTION_GROUPS];
} CclMotionStep;

/* The group of a row. Row y of chroma learns as row 2 y of luma. */
static inline CCL_HOST_DEVICE uint32_t
ccl_motion_group (uint32_t y)
{
  return y / CCL_MOTION_BAND % CCL_MOTION_GROUPS;
}

/* The pace of a row, NULL if it does not learn now. */
static inline CCL_HOST_DEVICE const CclMotionPace *
ccl_motion_pace (const CclMotionStep *step, uint32_t y)
{
  uint32_t group = ccl_motion_group (y);

  return step->learn >> group & 1 ? &step->paces[group] : 0;
}

/* The state of a luma pixel. */
typedef struct CclMotionPixel
{
  int background;
  int noise;
  int candidate; /* grey levels */
  int count;
  int former; /* see above, grey levels */
  int visits; /* of the former; with a count of 0, it is not CCL_MOTION_VISITING */
} CclMotionPixel;

static inline CCL_HOST_DEVICE int
ccl_motion_min (int a, int b)
{
  return a < b ? a : b;
}

static inline CCL_HOST_DEVICE int
ccl_motion_max (int a, int b)
{
  return a > b ? a : b;
}

static inline CCL_HOST_DEVICE int
ccl_motion_distance (int a, int b)
{
  return a > b ? a - b : b - a;
}

/* The rounded product with a fraction of 1/32768, as x86's PMULHRSW and ARM's SQRDMULH give it. */
static inline CCL_HOST_DEVICE int
ccl_motion_scale (int value, int fraction)
{
  return (value * fraction + 0x4000) >> 15;
}

/* The mean of two bytes, rounded up, as x86's PAVGB, ARM's URHADD and CUDA's __vavgu4() give it. */
static inline CCL_HOST_DEVICE int
ccl_motion_average (int a, int b)
{
  return (a + b + 1) >> 1;
}

/* A background in grey levels. */
static inline CCL_HOST_DEVICE uint8_t
ccl_motion_level (uint16_t background)
{
  return (uint8_t) ((background + CCL_MOTION_ONE / 2) / CCL_MOTION_ONE);
}

/* The weighted mean, 1-2-1, of a column's three pixels, and then of a row's three of those: the
 * blur. It is a little too bright, frames and background alike. */
static inline CCL_HOST_DEVICE int
ccl_motion_blur (int before, int middle, int after)
{
  return ccl_motion_average (ccl_motion_average (before, after), middle);
}

/* The slope of the background from its four neighbours. */
static inline CCL_HOST_DEVICE int
ccl_motion_slope (int left, int right, int above, int below)
{
  return ccl_motion_max (ccl_motion_distance (left, right), ccl_motion_distance (above, below));
}

/* The difference above which a pixel is foreground. Half the slope is the change that a shift by
 * one pixel causes: it keeps a shaking camera from producing foreground at edges. */
static inline CCL_HOST_DEVICE int
ccl_motion_threshold (const CclMotionStep *step, int noise, int slope)
{
  int threshold = ccl_motion_max (step->floor, 4 * noise * CCL_MOTION_ONE / 16);

  return ccl_motion_min (threshold + (slope >> 1), step->cap);
}

/* Whether chroma is foreground; @u and @v are grey levels. */
static inline CCL_HOST_DEVICE bool
ccl_motion_chroma_differs (const CclMotionStep *step, int u, int v, int background_u,
                           int background_v)
{
  return ccl_motion_distance (u * CCL_MOTION_ONE, background_u) +
             ccl_motion_distance (v * CCL_MOTION_ONE, background_v) >
         step->chroma_floor;
}

/* Whether the background has colour: if not, as in infrared, the same chroma proves nothing. */
static inline CCL_HOST_DEVICE bool
ccl_motion_coloured (int background_u, int background_v)
{
  const int grey = 128 * CCL_MOTION_ONE;

  return ccl_motion_distance (background_u, grey) + ccl_motion_distance (background_v, grey) >
         CCL_MOTION_COLOUR;
}

/* The darkest shadow of what is bright: many shadows may meet. The veil is not shaded; its part is
 * a multiple of the divisor, so that this is the rounded half or quarter of what is above it. */
static inline CCL_HOST_DEVICE int
ccl_motion_darkest (const CclMotionStep *step, int bright)
{
  const int veil = step->veil * CCL_MOTION_ONE;

  return step->shady ? (bright >> 2) + veil / 4 * 3 : (bright >> 1) + veil / 2;
}

/* Whether luma @value is dark enough for a shadow, but not too dark. */
static inline CCL_HOST_DEVICE bool
ccl_motion_shaded (const CclMotionStep *step, int value, int background)
{
  return value * CCL_MOTION_ONE < background &&
         value * CCL_MOTION_ONE > ccl_motion_darkest (step, background);
}

/* Whether luma is what a shadow in the background leaves behind: brighter, but not too bright. */
static inline CCL_HOST_DEVICE bool
ccl_motion_lit (const CclMotionStep *step, int value, int background)
{
  return value * CCL_MOTION_ONE > background &&
         ccl_motion_darkest (step, value * CCL_MOTION_ONE) < background;
}

/* Luma above the veil, 1/8 grey levels. */
static inline CCL_HOST_DEVICE int
ccl_motion_unveiled (const CclMotionStep *step, int luma)
{
  return ccl_motion_max (luma - step->veil * 8, 0);
}

/* Whether luma above the veil is the background's times a constant factor in @side by @side
 * samples. */
static inline CCL_HOST_DEVICE bool
ccl_motion_fits (const CclMotionStep *step, const int *values, const int *backgrounds, int side)
{
  int value[CCL_MOTION_SHADOW_PIXELS], background[CCL_MOTION_SHADOW_PIXELS];
  int value_sum = 0, background_sum = 0, spread = 0;

  for (int i = 0; i < side * side; i++) {
    const int at = i / side * CCL_MOTION_SHADOW_SIDE + i % side;

    value[i] = ccl_motion_unveiled (step, values[at] * 8);
    background[i] = ccl_motion_unveiled (step, backgrounds[at] >> 4);
    value_sum += value[i];
    background_sum += background[i];
  }
  for (int i = 0; i < side * side; i++)
    spread += ccl_motion_distance (value[i] * background_sum, background[i] * value_sum);
  return spread <= (value_sum * background_sum >> 8) * CCL_MOTION_SHADOW_SPREAD;
}

/* The first sample of a corner. */
static inline CCL_HOST_DEVICE int
ccl_motion_corner (int corner)
{
  return corner / 2 * CCL_MOTION_SHADOW_SIDE + corner % 2;
}

/* Whether a pixel has the texture of the background, as in a shadow. @values are grey levels of
 * CCL_MOTION_SHADOW_PIXELS samples. Next to an object, the samples of a corner are all outside, but
 * in objects, few samples prove little: what is lit needs all. */
static inline CCL_HOST_DEVICE bool
ccl_motion_keeps_texture (const CclMotionStep *step, const int *values, const int *backgrounds)
{
  const int middle = CCL_MOTION_SHADOW_PIXELS / 2;
  const bool dark = values[middle] * CCL_MOTION_ONE < backgrounds[middle];

  if (ccl_motion_fits (step, values, backgrounds, CCL_MOTION_SHADOW_SIDE))
    return true;
  for (int i = 0; step->shady && dark && i < CCL_MOTION_CORNERS; i++) {
    const int first = ccl_motion_corner (i);

    if (ccl_motion_fits (step, values + first, backgrounds + first, 2))
      return true;
  }
  return false;
}

/* The background of a luma pixel or a chroma sample that is not foreground. */
static inline CCL_HOST_DEVICE int
ccl_motion_follow (const CclMotionPace *pace, int background, int value)
{
  int difference = value * CCL_MOTION_ONE - background;

  difference = ccl_motion_max (ccl_motion_min (difference, CCL_MOTION_PULL), -CCL_MOTION_PULL);
  return background + ccl_motion_scale (difference, pace->rate);
}

/* The noise of a pixel that is not foreground. */
static inline CCL_HOST_DEVICE int
ccl_motion_noise (const CclMotionPace *pace, int noise, int value, int background)
{
  int difference = ccl_motion_distance (value * CCL_MOTION_ONE, background) >> 3;
  int change = (ccl_motion_min (difference, CCL_MOTION_MOST_NOISE) - noise) * 128;

  return (noise * 128 + ccl_motion_scale (change, pace->noise_rate) + pace->dither) >> 7;
}

static inline CCL_HOST_DEVICE void
ccl_motion_begin_pixel (CclMotionPixel *pixel, int value)
{
  pixel->background = value * CCL_MOTION_ONE;
  pixel->noise = CCL_MOTION_FIRST_NOISE;
  pixel->candidate = value;
  pixel->count = 0;
  pixel->former = value;
  pixel->visits = 0;
}

static inline CCL_HOST_DEVICE int
ccl_motion_n_visits (int visits)
{
  return visits & CCL_MOTION_MOST_VISITS;
}

/* The visits after some time. */
static inline CCL_HOST_DEVICE int
ccl_motion_fade (const CclMotionStep *step, int visits)
{
  const int n = ccl_motion_n_visits (visits);

  return visits - (n > 0 && (n < CCL_MOTION_SETTLED || step->fades > 1));
}

static inline CCL_HOST_DEVICE bool
ccl_motion_visits (const CclMotionStep *step, int former, int value)
{
  return ccl_motion_distance (value, former) <= step->reach;
}

/* Whether a value that differs from the background is known. */
static inline CCL_HOST_DEVICE bool
ccl_motion_knows (const CclMotionStep *step, int former, int visits, int value)
{
  return ccl_motion_n_visits (visits) >= CCL_MOTION_KNOWN &&
         ccl_motion_visits (step, former, value);
}

/* The count that a candidate begins with where it is the former background. */
static inline CCL_HOST_DEVICE int
ccl_motion_head (const CclMotionPace *pace)
{
  return ccl_motion_max (pace->enough - CCL_MOTION_RETURN, 0);
}

/* Updates the state of a pixel that is neither foreground nor shadow. */
static inline CCL_HOST_DEVICE void
ccl_motion_learn_background (const CclMotionPace *pace, CclMotionPixel *pixel, int value)
{
  int background = pixel->background;

  if (pace->count > 0 && pixel->count > 0)
    pixel->visits &= ~CCL_MOTION_VISITING;
  pixel->background = ccl_motion_follow (pace, background, value);
  pixel->noise = ccl_motion_noise (pace, pixel->noise, value, background);
  pixel->count = ccl_motion_max (pixel->count - pace->count, 0);
}

/* Updates what foreground visits. Unless leaves wave, it does not take the place of a background
 * that was replaced, which may return at any time. */
static inline CCL_HOST_DEVICE void
ccl_motion_learn_visit (const CclMotionStep *step, CclMotionPixel *pixel, int value)
{
  const bool visits = ccl_motion_visits (step, pixel->former, value);
  const bool former = pixel->visits & CCL_MOTION_FORMER;
  const int n = ccl_motion_n_visits (pixel->visits);

  if (!(pixel->visits & CCL_MOTION_VISITING)) {
    if (visits) {
      pixel->visits += n < CCL_MOTION_MOST_VISITS;
    } else if (n > 1 && (step->waves || !former)) {
      pixel->visits--;
    } else if (step->waves || !former) {
      pixel->former = value;
      pixel->visits = 1;
    }
    pixel->visits += CCL_MOTION_VISITING;
  }
  if (visits && !former)
    pixel->former += (value > pixel->former) - (value < pixel->former);
}

/* Updates the state of a pixel that is foreground or shadow. @count: the one of @pace that is for
 * it; @plain: it is neither shadow nor lit, and there are not many shadows; @seen: it is neither
 * dropped as shadow nor as lit. Returns whether the candidate has become the background: chroma's
 * background is then the frame's. */
static inline CCL_HOST_DEVICE bool
ccl_motion_learn_candidate (const CclMotionStep *step, const CclMotionPace *pace, int count,
                            bool plain, bool seen, CclMotionPixel *pixel, int value)
{
  const int old = pixel->background >> 7;
  const bool returns = plain && pixel->visits & CCL_MOTION_FORMER &&
                       ccl_motion_distance (value, pixel->former) <= CCL_MOTION_CANDIDATE_RANGE;
  const int head = returns ? ccl_motion_head (pace) : 0;

  if (pace->count == 0)
    return false;
  if (seen)
    ccl_motion_learn_visit (step, pixel, value);
  if (ccl_motion_distance (value, pixel->candidate) > CCL_MOTION_CANDIDATE_RANGE) {
    pixel->count -= 2 * count;
    if (returns || pixel->count < 0) {
      pixel->candidate = value;
      pixel->count = head;
    }
    pixel->count = ccl_motion_max (pixel->count, 1);
    return false;
  }
  pixel->candidate += (value > pixel->candidate) - (value < pixel->candidate);
  pixel->count = ccl_motion_min (ccl_motion_max (pixel->count, head) + count, CCL_MOTION_LEARNT);
  if (pixel->count < pace->enough) {
    pixel->count = ccl_motion_max (pixel->count, 1);
    return false;
  }
  pixel->background = value * CCL_MOTION_ONE;
  pixel->noise = CCL_MOTION_FIRST_NOISE;
  pixel->candidate = old;
  pixel->count = returns ? 0 : pace->enough >> 1;
  pixel->visits = 0;
  if (plain && !returns) {
    pixel->former = old;
    pixel->visits = CCL_MOTION_FORMER + 1;
  }
  return true;
}

#endif
