/* cudaccl - background models: the arithmetic of lamps that flicker
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Lamps on the mains get brighter and darker 100 or 120 times a second. A camera whose frames do
 * not take a multiple of that time shows it: a rolling shutter as bands of rows that move, another
 * one as frames of different brightness. So the gain of the light against the background is
 * estimated for each slice of rows, and the frame is divided by it before anything else happens to
 * it.
 *
 * A slice's gain comes from some of its pixels: the median of their ratios to the background tells
 * which of them show the background, and the gain is the ratio of their sums. The sums of
 * neighbouring slices count, too. Slices that objects hide get theirs from the next ones that are
 * known. The gain of a row is between those of two slices.
 *
 * The clock (step.c) decides when that happens: when the brightness of most bands of the picture,
 * which a model always observes, goes up and down often, until gains no longer change. The
 * background does not see slow changes of light meanwhile. So when the mean gain is far from one,
 * and at the end, the background is multiplied by it.
 *
 * As in pixel.h: the tests' reference, the CPU backend and the CUDA kernels call these functions.
 * Pixels and rows are those of the model. */

#ifndef CCL_MOTION_FLICKER_H
#define CCL_MOTION_FLICKER_H

#include "engine/motion/drift.h"

#define CCL_FLICKER_ONE 16384 /* a gain of one */
#define CCL_FLICKER_BANDS 8   /* whose brightness is observed */
#define CCL_FLICKER_SLICES 128
#define CCL_FLICKER_RATIOS 256  /* ranges of a 256th, from a half on */
#define CCL_FLICKER_COLUMNS 256 /* of a row that count, at least, if it has as many */
#define CCL_FLICKER_LINES 8     /* likewise, of a slice */
#define CCL_FLICKER_DARK 8      /* grey levels: darker backgrounds have no ratio */
#define CCL_FLICKER_BRIGHT 220  /* of brighter ones, the light may be cut off */
#define CCL_FLICKER_KNEE 239    /* brighter pixels of a bright slice stay nearer to what they are */
#define CCL_FLICKER_LEAST 16    /* pixels of a slice that is known */
/* A gain farther than this from the mean flickers if it has turned, by more than the second. */
#define CCL_FLICKER_CHANGE (CCL_FLICKER_ONE / 64)
#define CCL_FLICKER_TURN (CCL_FLICKER_ONE / 32)
/* A mean that is farther from one is a drift, too. */
#define CCL_FLICKER_FAR (CCL_FLICKER_ONE / 8)

/* How a frame is divided. */
typedef enum CclMotionFlicker
{
  CCL_FLICKER_NONE = 0,
  CCL_FLICKER_BEGIN,  /* the first frame that is divided by its gains */
  CCL_FLICKER_FOLLOW, /* the others */
  CCL_FLICKER_REBASE, /* likewise, after the background got the light that the picture has */
  CCL_FLICKER_END,    /* the background gets it, and the frame stays as it is */
} CclMotionFlicker;

/* Some pixels of a slice. */
typedef struct CclFlickerSlice
{
  uint32_t value, background; /* sums; 0: there are too few */
} CclFlickerSlice;

/* Which way a gain goes. */
typedef enum CclFlickerWay
{
  CCL_FLICKER_UNKNOWN = 0, /* there was none since the start */
  CCL_FLICKER_STEADY,
  CCL_FLICKER_RISES,
  CCL_FLICKER_FALLS,
} CclFlickerWay;

#define CCL_FLICKER_TURNED 4 /* it went another way before */

typedef struct CclFlicker
{
  CclFlickerSlice slices[CCL_FLICKER_SLICES];
  uint16_t means[CCL_FLICKER_SLICES];   /* of gains, over time */
  uint16_t factors[CCL_FLICKER_SLICES]; /* by which the frame is multiplied */
  /* Gains: the highest or the lowest one since they turned. */
  uint16_t extremes[CCL_FLICKER_SLICES];
  uint8_t ways[CCL_FLICKER_SLICES]; /* CclFlickerWay, and CCL_FLICKER_TURNED */
} CclFlicker;

/* The band of row @y, whose luma counts for the brightness: see ccl_drift_brightness(). */
static inline CCL_HOST_DEVICE uint32_t
ccl_flicker_band (uint32_t y, uint32_t height)
{
  const uint32_t rows = (height - 1) / CCL_DRIFT_ROWS + 1;

  return y / CCL_DRIFT_ROWS * CCL_FLICKER_BANDS / rows;
}

/* Sets the brightness of each band from the @sums of its luma: 0 for bands without rows. */
static inline void
ccl_flicker_levels (const uint64_t *sums, uint32_t width, uint32_t height, uint32_t *levels)
{
  uint32_t rows[CCL_FLICKER_BANDS] = { 0 };

  for (uint32_t y = 0; y < height; y += CCL_DRIFT_ROWS)
    rows[ccl_flicker_band (y, height)]++;
  for (int i = 0; i < CCL_FLICKER_BANDS; i++)
    levels[i] =
        rows[i] == 0 ? 0 : (uint32_t) (sums[i] * CCL_MOTION_ONE / ((uint64_t) width * rows[i]));
}

/* The rows of a slice; the last one may have fewer. */
static inline CCL_HOST_DEVICE uint32_t
ccl_flicker_rows (uint32_t height)
{
  return (height - 1) / CCL_FLICKER_SLICES + 1;
}

static inline CCL_HOST_DEVICE uint32_t
ccl_flicker_slices (uint32_t height)
{
  return (height - 1) / ccl_flicker_rows (height) + 1;
}

/* One in this many of @n rows or columns counts, so that at least @least do. */
static inline CCL_HOST_DEVICE uint32_t
ccl_flicker_step (uint32_t n, uint32_t least)
{
  return n < least ? 1 : n / least;
}

/* Whether pixels with this background count. */
static inline CCL_HOST_DEVICE bool
ccl_flicker_counts (int background)
{
  return background >= CCL_FLICKER_DARK * CCL_MOTION_ONE &&
         background < CCL_FLICKER_BRIGHT * CCL_MOTION_ONE;
}

/* The ratio of a pixel of the frame, which is not blurred. */
static inline CCL_HOST_DEVICE int
ccl_flicker_ratio (int value, int background)
{
  const int ratio = value * (256 * CCL_MOTION_ONE) / background - 128;

  return ccl_motion_max (ccl_motion_min (ratio, CCL_FLICKER_RATIOS - 1), 0);
}

/* Whether a pixel shows the background in a light of ratio @median. */
static inline CCL_HOST_DEVICE bool
ccl_flicker_explains (const CclMotionStep *step, int value, int background, int median)
{
  const int level = background * (2 * median + 257) / 512;

  return ccl_motion_distance (value * CCL_MOTION_ONE, level) <= step->floor;
}

/* Whether a slice is known, from the number of its pixels that count, and of those explained. */
static inline CCL_HOST_DEVICE bool
ccl_flicker_knows (uint32_t pixels, uint32_t explained, int median)
{
  return explained >= CCL_FLICKER_LEAST && 2 * explained >= pixels && median > 0 &&
         median < CCL_FLICKER_RATIOS - 1;
}

static inline CCL_HOST_DEVICE int
ccl_flicker_quotient (uint64_t a, uint64_t b)
{
  const uint64_t quotient = a * CCL_FLICKER_ONE / b;

  return quotient < CCL_FLICKER_ONE / 2   ? CCL_FLICKER_ONE / 2
         : quotient > 2 * CCL_FLICKER_ONE ? 2 * CCL_FLICKER_ONE
                                          : (int) quotient;
}

/* The gain of slice @at of @n; 0 if none is known. */
static inline CCL_HOST_DEVICE int
ccl_flicker_gain (const CclFlickerSlice *slices, int n, int at)
{
  uint64_t value = 0, background = 0;
  int before = at, behind = at, from, to;

  for (int i = ccl_motion_max (at - 1, 0); i <= ccl_motion_min (at + 1, n - 1); i++) {
    const uint64_t weight = i == at ? 2 : 1;

    value += weight * slices[i].value;
    background += weight * slices[i].background;
  }
  if (background > 0)
    return ccl_flicker_quotient (value, background);
  while (before >= 0 && slices[before].background == 0)
    before--;
  while (behind < n && slices[behind].background == 0)
    behind++;
  if (before < 0 && behind == n)
    return 0;
  from = before < 0 ? behind : before;
  to = behind == n ? before : behind;
  from = ccl_flicker_quotient (slices[from].value, slices[from].background);
  to = ccl_flicker_quotient (slices[to].value, slices[to].background);
  return before < 0 || behind == n ? from : from + (to - from) * (at - before) / (behind - before);
}

/* Follows the @gain of slice @at. Returns whether it has turned since the start. Fog and exposure
 * go one way, and so do gains when the background follows them. */
static inline CCL_HOST_DEVICE bool
ccl_flicker_turns (CclFlicker *flicker, int at, int gain)
{
  const int extreme = flicker->extremes[at], turned = flicker->ways[at] & CCL_FLICKER_TURNED;
  const int before = flicker->ways[at] - turned;
  const int now = gain > extreme ? CCL_FLICKER_RISES : CCL_FLICKER_FALLS;
  const bool turns = before > CCL_FLICKER_STEADY && now != before;

  if (before != CCL_FLICKER_UNKNOWN && now != before &&
      ccl_motion_distance (gain, extreme) <= CCL_FLICKER_TURN)
    return turned;
  flicker->extremes[at] = (uint16_t) gain;
  flicker->ways[at] = (uint8_t) (before == CCL_FLICKER_UNKNOWN ? CCL_FLICKER_STEADY
                                 : turns                       ? now + CCL_FLICKER_TURNED
                                                               : now + turned);
  return turned || turns;
}

/* Sets the mean of slice @at of @n, and its factor unless the background changes. Returns whether
 * the slice flickers. */
static inline CCL_HOST_DEVICE bool
ccl_flicker_set (CclFlicker *flicker, const CclMotionStep *step, int n, int at)
{
  const int gain = ccl_flicker_gain (flicker->slices, n, at);
  const bool begins = step->flicker == CCL_FLICKER_BEGIN;
  const int mean = begins ? CCL_FLICKER_ONE : flicker->means[at];

  flicker->means[at] = (uint16_t) mean;
  flicker->factors[at] = CCL_FLICKER_ONE;
  if (begins)
    flicker->ways[at] = CCL_FLICKER_UNKNOWN;
  if (gain == 0)
    return false;
  flicker->means[at] = (uint16_t) (mean + ccl_motion_scale (gain - mean, step->flicker_rate));
  flicker->factors[at] = (uint16_t) ccl_flicker_quotient (CCL_FLICKER_ONE, (uint64_t) gain);
  return ccl_flicker_turns (flicker, at, gain) &&
         ccl_motion_distance (gain, mean) > CCL_FLICKER_CHANGE;
}

/* Whether a frame flickers, as @slices of @n do. */
static inline CCL_HOST_DEVICE bool
ccl_flicker_is (int slices, int n)
{
  return 4 * slices >= n;
}

/* The light of the picture against the background, from the sum of the means of @n slices. */
static inline CCL_HOST_DEVICE int
ccl_flicker_light (uint32_t sum, int n)
{
  return (int) (sum / (uint32_t) n);
}

static inline CCL_HOST_DEVICE bool
ccl_flicker_far (int light)
{
  return ccl_motion_distance (light, CCL_FLICKER_ONE) > CCL_FLICKER_FAR;
}

/* Whether the background gets the picture's light. */
static inline CCL_HOST_DEVICE bool
ccl_flicker_rebases (const CclMotionStep *step)
{
  return step->flicker == CCL_FLICKER_REBASE || step->flicker == CCL_FLICKER_END;
}

/* Changes the mean and the factor of a slice when the background gets @light. */
static inline CCL_HOST_DEVICE void
ccl_flicker_rebase (CclFlicker *flicker, const CclMotionStep *step, int light, int at)
{
  const uint64_t factor = flicker->factors[at];

  flicker->means[at] = (uint16_t) ccl_flicker_quotient (flicker->means[at], (uint64_t) light);
  flicker->extremes[at] = (uint16_t) ccl_flicker_quotient (flicker->extremes[at], (uint64_t) light);
  flicker->factors[at] = CCL_FLICKER_ONE;
  if (step->flicker == CCL_FLICKER_REBASE)
    flicker->factors[at] =
        (uint16_t) ccl_flicker_quotient (factor * (uint64_t) light, UINT64_C (1) << 28);
}

/* Sets what a grey level of the background does then: see drift.h, and below. */
static inline CCL_HOST_DEVICE void
ccl_flicker_drift (CclDrift *drift, int light, int level)
{
  const int low = ccl_motion_min (level, CCL_FLICKER_KNEE), above = level - low;
  int shift = low * CCL_MOTION_ONE * (light - CCL_FLICKER_ONE) / CCL_FLICKER_ONE;

  if (light < CCL_FLICKER_ONE)
    shift -= shift * above / (255 - CCL_FLICKER_KNEE);
  drift->shifts[level] = (int16_t) shift;
  drift->gains[level] = (int16_t) (256 * light / CCL_FLICKER_ONE);
}

/* The factor of row @y. */
static inline CCL_HOST_DEVICE int
ccl_flicker_factor (const uint16_t *factors, uint32_t y, uint32_t height)
{
  const uint32_t rows = ccl_flicker_rows (height), last = ccl_flicker_slices (height) - 1;
  /* in half rows, from the middle of the first slice on */
  const uint32_t from = 2 * y + 1 > rows ? 2 * y + 1 - rows : 0;
  const uint32_t slice = from / (2 * rows), part = from % (2 * rows);

  if (slice >= last)
    return factors[last];
  return (
      int) ((factors[slice] * (uint64_t) (2 * rows - part) + factors[slice + 1] * (uint64_t) part) /
            (2 * rows));
}

/* Luma in the background's light. White may have been any brighter: it stays white. */
static inline CCL_HOST_DEVICE int
ccl_flicker_luma (int value, int factor)
{
  const int knee = CCL_FLICKER_KNEE, half = CCL_FLICKER_ONE / 2;
  const int low = (ccl_motion_min (value, knee) * factor + half) / CCL_FLICKER_ONE;

  if (factor < CCL_FLICKER_ONE)
    return low + (ccl_motion_max (value - knee, 0) * (255 - low)) / (255 - knee);
  return ccl_motion_min ((value * factor + half) / CCL_FLICKER_ONE, 255);
}

static inline CCL_HOST_DEVICE int
ccl_flicker_chroma (int value, int factor)
{
  const int colour =
      (ccl_motion_distance (value, 128) * factor + CCL_FLICKER_ONE / 2) / CCL_FLICKER_ONE;

  return value < 128 ? ccl_motion_max (128 - colour, 0) : ccl_motion_min (128 + colour, 255);
}

#endif
