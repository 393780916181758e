/* cudaccl - background models: the arithmetic of a change of light
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* When much of the picture is foreground or shadow for a moment, either the light has changed, and
 * the old background still tells where objects are, or the scene has. Light changes the levels of a
 * surface alike: the new level follows from the old one. So the frame is compared with the
 * background in square tiles: a tile's curve is the median level of the frame for each range of
 * levels of the background. Where the curve explains most pixels of most tiles, it is light. The
 * background of changed tiles then follows their curves, and becomes the frame where the frame is
 * near, so that objects neither vanish nor leave ghosts. Tiles that objects hide follow the mean
 * curve. Near changed tiles, where light fades, any level between the old one and the new is
 * background.
 *
 * As in pixel.h: the tests' reference, the CPU backend and the CUDA kernels call these
 * functions. Background is in 1/128 grey levels (CCL_MOTION_ONE). */

#ifndef CCL_MOTION_LIGHT_H
#define CCL_MOTION_LIGHT_H

#include "engine/motion/pixel.h"

#include <stddef.h>

#define CCL_LIGHT_TILE 32                    /* pixels of the model, a tile's width and height */
#define CCL_LIGHT_BINS 32                    /* ranges of eight levels of the background */
#define CCL_LIGHT_LEVELS 128                 /* ranges of two levels of the frame */
#define CCL_LIGHT_NEAR (12 * CCL_MOTION_ONE) /* the distance from the curve that it explains */
#define CCL_LIGHT_CHANGE 4   /* grey levels that count as a change while light is followed */
#define CCL_LIGHT_SHIFT 3    /* the curve's lowest mean change of a changed tile, likewise */
#define CCL_LIGHT_BRIGHT 250 /* levels in which order is lost */
#define CCL_LIGHT_REACH 2    /* tiles around changed ones in which light fades */

/* How tiles changed. */
enum
{
  CCL_LIGHT_FULL = 1,  /* most pixels have */
  CCL_LIGHT_LIT = 2,   /* and the curve explains them */
  CCL_LIGHT_VOTE = 4,  /* full, and with texture: a flat tile proves nothing */
  CCL_LIGHT_RISES = 8, /* full, and what was brighter still is */
};

#define CCL_LIGHT_AGREES (CCL_LIGHT_LIT | CCL_LIGHT_VOTE | CCL_LIGHT_RISES)

typedef struct CclLightTile
{
  uint8_t curve[CCL_LIGHT_BINS]; /* the frame's levels in the middle of each bin */
  uint32_t flags;                /* 0: there may be no curve */
} CclLightTile;

/* Where a tile is. */
typedef enum CclLightPlace
{
  CCL_LIGHT_ELSEWHERE = 0, /* nothing happens */
  CCL_LIGHT_INSIDE,        /* among changed tiles */
  CCL_LIGHT_BORDER,        /* a changed tile, parts of which may be as they were */
  CCL_LIGHT_FADING,        /* near changed tiles */
} CclLightPlace;

/* The pixels of a tile. */
typedef struct CclLightCount
{
  uint32_t bins[CCL_LIGHT_BINS]; /* pixels, by their background */
  uint32_t pixels, explained, changed;
} CclLightCount;

/* Sums over all tiles. */
typedef struct CclLightTotal
{
  uint32_t votes, agreed, lit;
  uint32_t curve[CCL_LIGHT_BINS]; /* the sum of the lit tiles' */
} CclLightTotal;

static inline CCL_HOST_DEVICE uint32_t
ccl_light_tiles (uint32_t pixels)
{
  return (pixels - 1) / CCL_LIGHT_TILE + 1;
}

/* Bins with fewer pixels of a tile's have no median. */
static inline CCL_HOST_DEVICE uint32_t
ccl_light_least (uint32_t pixels)
{
  return pixels / 64 > 8 ? pixels / 64 : 8;
}

/* The old level in the middle of a bin. */
static inline CCL_HOST_DEVICE int
ccl_light_middle (int bin)
{
  return 8 * bin + 4;
}

/* The curve at a bin, from the @medians of the bins whose bits are set in @known; not 0. */
static inline CCL_HOST_DEVICE uint8_t
ccl_light_level (const uint8_t *medians, uint32_t known, int bin)
{
  int before = bin, behind = bin, level;

  while (before >= 0 && !(known >> before & 1))
    before--;
  while (behind < CCL_LIGHT_BINS && !(known >> behind & 1))
    behind++;
  if (before == behind)
    level = medians[bin];
  else if (before < 0)
    level = medians[behind] * ccl_light_middle (bin) / ccl_light_middle (behind);
  else if (behind == CCL_LIGHT_BINS)
    level = medians[before] * ccl_light_middle (bin) / ccl_light_middle (before);
  else
    level =
        medians[before] + (medians[behind] - medians[before]) * (bin - before) / (behind - before);
  return (uint8_t) ccl_motion_min (level, 255);
}

/* The background that a curve makes of @background. */
static inline CCL_HOST_DEVICE int
ccl_light_follow (const uint8_t *curve, int background)
{
  int bin = ccl_motion_max ((background >> 7) - 4, 0) >> 3, from, level;

  bin = ccl_motion_min (bin, CCL_LIGHT_BINS - 2);
  from = background - ccl_light_middle (bin) * CCL_MOTION_ONE;
  level = curve[bin] * CCL_MOTION_ONE + (curve[bin + 1] - curve[bin]) * from / 8;
  return ccl_motion_max (ccl_motion_min (level, 255 * CCL_MOTION_ONE), 0);
}

/* Whether luma is not what it was. */
static inline CCL_HOST_DEVICE bool
ccl_light_differs (const CclMotionStep *step, int value, int background)
{
  int least = step->light == CCL_MOTION_FOLLOW ? CCL_LIGHT_CHANGE * CCL_MOTION_ONE : step->floor;

  return ccl_motion_distance (value * CCL_MOTION_ONE, background) > least;
}

static inline CCL_HOST_DEVICE bool
ccl_light_explains (int value, int level)
{
  return ccl_motion_distance (value * CCL_MOTION_ONE, level) <= CCL_LIGHT_NEAR;
}

/* The flags of a tile. */
static inline CCL_HOST_DEVICE uint32_t
ccl_light_judge (const CclMotionStep *step, const CclLightCount *count, const uint8_t *curve)
{
  uint32_t sum = 0, shift = 0, flags = 0;
  int low = CCL_LIGHT_BINS, high = CCL_LIGHT_BINS;

  /* the 20th and the 80th percentile of the background */
  for (int bin = 0; bin < CCL_LIGHT_BINS; bin++) {
    sum += count->bins[bin];
    shift += count->bins[bin] * (uint32_t) ccl_motion_distance (curve[bin], ccl_light_middle (bin));
    if (sum * 5 >= count->pixels)
      low = ccl_motion_min (low, bin);
    if (sum * 5 >= count->pixels * 4)
      high = ccl_motion_min (high, bin);
  }
  if (count->changed * 2 <= count->pixels ||
      (step->light == CCL_MOTION_FOLLOW && shift < CCL_LIGHT_SHIFT * count->pixels))
    return 0;
  flags = CCL_LIGHT_FULL;
  if (high - low >= 2)
    flags |= CCL_LIGHT_VOTE;
  if (count->explained * 5 >= count->pixels * 3)
    flags |= CCL_LIGHT_LIT;
  if (curve[high] > curve[low] || curve[low] >= CCL_LIGHT_BRIGHT)
    flags |= CCL_LIGHT_RISES;
  return flags;
}

/* Adds a tile. */
static inline void
ccl_light_add (CclLightTotal *total, const CclLightTile *tile)
{
  const bool lit = tile->flags & CCL_LIGHT_LIT;

  total->votes += tile->flags & CCL_LIGHT_VOTE ? 1 : 0;
  total->agreed += (tile->flags & CCL_LIGHT_AGREES) == CCL_LIGHT_AGREES;
  total->lit += lit;
  for (int bin = 0; lit && bin < CCL_LIGHT_BINS; bin++)
    total->curve[bin] += tile->curve[bin];
}

/* Whether it is the light that has changed. */
static inline CCL_HOST_DEVICE bool
ccl_light_changed (const CclMotionStep *step, const CclLightTotal *total, uint32_t tiles)
{
  uint64_t least = step->light == CCL_MOTION_FOLLOW ? 30 : 10;

  return total->votes > 0 && (uint64_t) total->agreed * 5 >= (uint64_t) total->votes * 3 &&
         (uint64_t) total->lit * 100 >= tiles * least;
}

/* Whether tile (@x, @y) is lit, or hidden by objects among lit tiles. False outside. */
static inline CCL_HOST_DEVICE bool
ccl_light_reaches (const CclLightTile *tiles, int columns, int rows, int x, int y)
{
  int lit = 0, all = 0;
  uint32_t flags;

  if (x < 0 || y < 0 || x >= columns || y >= rows)
    return false;
  flags = tiles[(size_t) y * columns + x].flags;
  if (!(flags & CCL_LIGHT_FULL) || flags & CCL_LIGHT_LIT)
    return flags & CCL_LIGHT_LIT;
  for (int v = ccl_motion_max (y - 1, 0); v <= ccl_motion_min (y + 1, rows - 1); v++) {
    for (int u = ccl_motion_max (x - 1, 0); u <= ccl_motion_min (x + 1, columns - 1); u++) {
      lit += tiles[(size_t) v * columns + u].flags & CCL_LIGHT_LIT ? 1 : 0;
      all++;
    }
  }
  return 2 * lit >= all - 1;
}

/* How the pixels of tile (@x, @y) change. */
static inline CCL_HOST_DEVICE CclLightPlace
ccl_light_place (const CclLightTile *tiles, int columns, int rows, int x, int y)
{
  const int reach = CCL_LIGHT_REACH;
  bool reaches = ccl_light_reaches (tiles, columns, rows, x, y), any = reaches, all = reaches;

  for (int v = ccl_motion_max (y - reach, 0); v <= ccl_motion_min (y + reach, rows - 1); v++) {
    for (int u = ccl_motion_max (x - reach, 0); u <= ccl_motion_min (x + reach, columns - 1); u++) {
      bool other = ccl_light_reaches (tiles, columns, rows, u, v);

      any = any || other;
      if (ccl_motion_distance (u, x) <= 1 && ccl_motion_distance (v, y) <= 1)
        all = all && other;
    }
  }
  if (!any)
    return CCL_LIGHT_ELSEWHERE;
  return all ? CCL_LIGHT_INSIDE : reaches ? CCL_LIGHT_BORDER : CCL_LIGHT_FADING;
}

/* The mean of the lit tiles' curves. */
static inline CCL_HOST_DEVICE uint8_t
ccl_light_mean (const CclLightTotal *total, int bin)
{
  return (uint8_t) (total->curve[bin] / total->lit);
}

/* Whether a pixel becomes the frame; else, its background becomes @level, what the curve makes of
 * it, or stays as it is where light fades. */
static inline CCL_HOST_DEVICE bool
ccl_light_takes (CclLightPlace place, int value, int background, int level)
{
  int low = ccl_motion_min (background, level), high = ccl_motion_max (background, level);

  if (place != CCL_LIGHT_FADING)
    return ccl_light_explains (value, level) ||
           (place == CCL_LIGHT_BORDER && ccl_light_explains (value, background));
  value *= CCL_MOTION_ONE;
  return value >= low - CCL_LIGHT_NEAR && value <= high + CCL_LIGHT_NEAR;
}

/* The background of chroma where luma's goes from @background to @level: colours are as strong as
 * the light. */
static inline CCL_HOST_DEVICE int
ccl_light_chroma (int chroma, int background, int level)
{
  const int grey = 128 * CCL_MOTION_ONE;
  int gain = background > 8 * CCL_MOTION_ONE ? level * 256 / background : 256;
  int scaled = grey + (chroma - grey) * ccl_motion_min (gain, 1024) / 256;

  return ccl_motion_max (ccl_motion_min (scaled, 255 * CCL_MOTION_ONE), 0);
}

#endif
