/* cudaccl - background models: the arithmetic of drifting brightness
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* At dusk, and when a camera's exposure goes up and down, the whole picture changes by a few levels
 * a frame. Little of it is foreground, so light is not searched (light.h), but objects lose
 * parts, and candidates never stay long enough to become background. The clock compares the mean
 * luma of some rows with what it was; if that has moved, the next frame is compared with the
 * background at some pixels. The median difference for each range of levels of the background is
 * how far that range has moved. If these shifts leave less difference than there was, explain most
 * pixels, and are alike for ranges next to each other, the background and the candidates of all
 * pixels are shifted by them. Light and fog change contrast and colours alike, so the chroma of all
 * pixels gets the gain that luma has from its darkest levels to the brightest ones. A shadow that
 * covers much of the picture fails: it shifts some surfaces, and others not.
 *
 * As in pixel.h: the tests' reference, the CPU backend and the CUDA kernels call these
 * functions. Background and shifts are in 1/128 grey levels (CCL_MOTION_ONE). */

#ifndef CCL_MOTION_DRIFT_H
#define CCL_MOTION_DRIFT_H

#include "engine/motion/light.h"

#define CCL_DRIFT_ROWS 16       /* the first of so many rows counts for the brightness */
#define CCL_DRIFT_STEP 4        /* pixels between those that are compared, across and down */
#define CCL_DRIFT_RANGES 128    /* of differences */
#define CCL_DRIFT_RANGE_BITS 6  /* log2 of a range's width: half a grey level */
#define CCL_DRIFT_EXPLAINED 8   /* ranges around the median */
#define CCL_DRIFT_MOST 24       /* grey levels: a greater shift is no drift */
#define CCL_DRIFT_NEIGHBOURS 2  /* known bins on either side that a shift is compared with */
#define CCL_DRIFT_SPREAD 16     /* grey levels: the least deviation of levels that has a slope */
#define CCL_DRIFT_TOLERANCE 256 /* the distance from theirs at which it is replaced by it */

/* Pixels whose background is in one bin of CCL_LIGHT_BINS. */
typedef struct CclDriftBin
{
  uint32_t pixels, explained;
  uint64_t before, after; /* the sums of distances from 0 and from the median, in ranges */
  int shift;              /* the median */
} CclDriftBin;

/* The darkest and the brightest level that a share of the background has, grey levels; @bright 0:
 * unknown. */
typedef struct CclDriftLevels
{
  uint8_t dark, bright;
} CclDriftLevels;

/* How pixels change, by the grey level of their background. */
typedef struct CclDrift
{
  int16_t shifts[256];
  int16_t gains[256]; /* of chroma, 1/256 */
} CclDrift;

/* The brightness of @rows rows of @width pixels, from the @sum of the luma that counts. */
static inline uint32_t
ccl_drift_brightness (uint64_t sum, uint32_t width, uint32_t rows)
{
  return (uint32_t) (sum * CCL_MOTION_ONE / ((uint64_t) width * ((rows - 1) / CCL_DRIFT_ROWS + 1)));
}

/* Where a pixel is counted: the range of its difference, and the bin of its background. */
static inline CCL_HOST_DEVICE uint32_t
ccl_drift_counter (int value, int background)
{
  const int half = CCL_DRIFT_RANGES / 2;
  int range = (value * CCL_MOTION_ONE - background) >> CCL_DRIFT_RANGE_BITS;

  range = ccl_motion_max (ccl_motion_min (range, half - 1), -half) + half;
  return (uint32_t) (range * CCL_LIGHT_BINS + background / (8 * CCL_MOTION_ONE));
}

/* Sums up a bin. */
static inline CCL_HOST_DEVICE CclDriftBin
ccl_drift_bin (const uint32_t *counters, int bin)
{
  CclDriftBin sums = { .pixels = 0 };
  uint32_t below;
  int median = 0;

  for (int range = 0; range < CCL_DRIFT_RANGES; range++)
    sums.pixels += counters[range * CCL_LIGHT_BINS + bin];
  below = counters[bin];
  while (2 * (uint64_t) below < sums.pixels)
    below += counters[++median * CCL_LIGHT_BINS + bin];
  for (int range = 0; range < CCL_DRIFT_RANGES; range++) {
    const uint64_t n = counters[range * CCL_LIGHT_BINS + bin];
    const int distance = ccl_motion_distance (range, median);

    sums.before += n * (uint64_t) ccl_motion_distance (range, CCL_DRIFT_RANGES / 2);
    sums.after += n * (uint64_t) distance;
    sums.explained += distance <= CCL_DRIFT_EXPLAINED ? (uint32_t) n : 0;
  }
  sums.shift = (2 * (median - CCL_DRIFT_RANGES / 2) + 1) * (1 << (CCL_DRIFT_RANGE_BITS - 1));
  return sums;
}

/* Whether a bin has enough of @pixels for a shift. */
static inline CCL_HOST_DEVICE bool
ccl_drift_knows (const CclDriftBin *bin, uint32_t pixels)
{
  return bin->pixels > 8 && bin->pixels >= pixels / 256;
}

/* The shift of a bin that is in @known, or what its neighbours have if it stands out from them. */
static inline CCL_HOST_DEVICE int
ccl_drift_smooth (const CclDriftBin *bins, uint32_t known, int bin)
{
  const int shift = bins[bin].shift;
  int sorted[2 * CCL_DRIFT_NEIGHBOURS + 1], n = 0, middle;

  for (int side = -1; side <= 1; side++) {
    int left = side == 0 ? 1 : CCL_DRIFT_NEIGHBOURS;

    for (int i = bin + side; i >= 0 && i < CCL_LIGHT_BINS && left > 0; i += side) {
      int at = n;

      if (!(known >> i & 1))
        continue;
      for (; at > 0 && sorted[at - 1] > bins[i].shift; at--)
        sorted[at] = sorted[at - 1];
      sorted[at] = bins[i].shift;
      n++;
      left--;
    }
  }
  middle = ccl_motion_max (ccl_motion_min (shift, sorted[n / 2]), sorted[(n - 1) / 2]);
  return ccl_motion_distance (middle, shift) > CCL_DRIFT_TOLERANCE ? middle : shift;
}

/* Whether the @shifts of the bins that are @known, smoothed, are a drift. */
static inline CCL_HOST_DEVICE bool
ccl_drift_is (const CclDriftBin *bins, uint32_t known, const int *shifts)
{
  uint64_t pixels = 0, explained = 0, before = 0, after = 0, rough = 0;
  bool small = true;

  for (int bin = 0; bin < CCL_LIGHT_BINS; bin++) {
    pixels += bins[bin].pixels;
    if (!(known >> bin & 1))
      continue;
    explained += bins[bin].explained;
    before += bins[bin].before;
    after += bins[bin].after;
    rough +=
        (uint64_t) bins[bin].pixels * (uint64_t) ccl_motion_distance (bins[bin].shift, shifts[bin]);
    small = small && ccl_motion_distance (shifts[bin], 0) <= CCL_DRIFT_MOST * CCL_MOTION_ONE;
  }
  return known && small && explained * 10 >= pixels * 7 && after * 10 <= before * 9 &&
         (rough >> CCL_DRIFT_RANGE_BITS) * 8 <= before - after;
}

/* The shift of any bin: between known ones, or in proportion to the level beyond them. */
static inline CCL_HOST_DEVICE int
ccl_drift_shift (const int *shifts, uint32_t known, int bin)
{
  int before = bin, behind = bin;

  while (before >= 0 && !(known >> before & 1))
    before--;
  while (behind < CCL_LIGHT_BINS && !(known >> behind & 1))
    behind++;
  if (before == behind)
    return shifts[bin];
  if (before < 0)
    return shifts[behind] * ccl_light_middle (bin) / ccl_light_middle (behind);
  if (behind == CCL_LIGHT_BINS)
    return shifts[before] * ccl_light_middle (bin) / ccl_light_middle (before);
  return shifts[before] + (shifts[behind] - shifts[before]) * (bin - before) / (behind - before);
}

/* The levels of the known bins, in the light of the frame. */
static inline CCL_HOST_DEVICE CclDriftLevels
ccl_drift_levels (const CclDriftBin *bins, uint32_t known)
{
  int dark = 255, bright = 0;

  for (int bin = 0; bin < CCL_LIGHT_BINS; bin++) {
    const int level = ccl_light_middle (bin) + bins[bin].shift / CCL_MOTION_ONE;

    if (!(known >> bin & 1))
      continue;
    dark = ccl_motion_min (dark, level);
    bright = ccl_motion_max (bright, level);
  }
  dark = ccl_motion_min (ccl_motion_max (dark, 0), 255);
  return (CclDriftLevels){ (uint8_t) dark, (uint8_t) ccl_motion_min (bright, 255) };
}

/* The gain of all chroma, 1/256: the slope of the line through the bins, since light and fog change
 * contrast and colours alike. 0: the levels are too near to each other to tell. */
static inline CCL_HOST_DEVICE int
ccl_drift_gain (const CclDriftBin *bins, const int *shifts, uint32_t known)
{
  int64_t pixels = 0, sum = 0, variance = 0, covariance = 0, mean;

  for (int bin = 0; bin < CCL_LIGHT_BINS; bin++) {
    const int64_t n = known >> bin & 1 ? bins[bin].pixels : 0;

    pixels += n;
    sum += n * ccl_light_middle (bin);
  }
  mean = pixels > 0 ? sum / pixels : 0;
  for (int bin = 0; bin < CCL_LIGHT_BINS; bin++) {
    const int64_t n = known >> bin & 1 ? bins[bin].pixels : 0;
    const int64_t from = ccl_light_middle (bin) - mean;

    variance += n * from * from;
    covariance += n * from * shifts[bin];
  }
  if (variance <= pixels * CCL_DRIFT_SPREAD * CCL_DRIFT_SPREAD)
    return 0;
  return 256 + (int) (covariance * 256 / (variance * CCL_MOTION_ONE));
}

/* Sets what a grey level does. */
static inline CCL_HOST_DEVICE void
ccl_drift_set (CclDrift *drift, int level, const int *shifts, uint32_t known, int gain)
{
  const int bin = ccl_motion_min (ccl_motion_max (level - 4, 0) / 8, CCL_LIGHT_BINS - 2);
  const int from = ccl_drift_shift (shifts, known, bin);
  const int to = ccl_drift_shift (shifts, known, bin + 1);
  const int shift = from + (to - from) * (level - ccl_light_middle (bin)) / 8;
  const int now = ccl_motion_max (level * CCL_MOTION_ONE + shift, 0);

  drift->shifts[level] = (int16_t) shift;
  if (gain == 0)
    gain = level > 8 ? now * 256 / (level * CCL_MOTION_ONE) : 256;
  drift->gains[level] = (int16_t) ccl_motion_max (ccl_motion_min (gain, 1024), 0);
}

static inline CCL_HOST_DEVICE int
ccl_drift_background (const CclDrift *drift, int background)
{
  const int now = background + drift->shifts[background / CCL_MOTION_ONE];

  return ccl_motion_max (ccl_motion_min (now, 255 * CCL_MOTION_ONE), 0);
}

static inline CCL_HOST_DEVICE int
ccl_drift_candidate (const CclDrift *drift, int candidate)
{
  return (ccl_drift_background (drift, candidate * CCL_MOTION_ONE) + CCL_MOTION_ONE / 2) /
         CCL_MOTION_ONE;
}

/* The former background; 0, none, stays 0. */
/* The background of chroma where luma's was @background. */
static inline CCL_HOST_DEVICE int
ccl_drift_chroma (const CclDrift *drift, int chroma, int background)
{
  const int grey = 128 * CCL_MOTION_ONE;
  const int now = grey + (chroma - grey) * drift->gains[background / CCL_MOTION_ONE] / 256;

  return ccl_motion_max (ccl_motion_min (now, 255 * CCL_MOTION_ONE), 0);
}

#endif
