/* cudaccl - background models: the arithmetic of a camera that shakes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Wind and traffic move a fixed camera by a pixel or a few, differently in each frame. Then every
 * edge of the picture is foreground. So the frame is compared with the background at all shifts up
 * to CCL_SHAKE_REACH, in some rows. Where another shift fits better than none, the frame is aligned
 * before anything else happens to it, and the masks are moved back to where the frame has its
 * pixels. Differences are clipped, so that objects, which fit nowhere, count little. An object in
 * front of a flat background fits better where it leaves the picture, so a shift must do so in most
 * parts of the picture, too.
 *
 * Somebody may knock a camera: it then looks elsewhere, farther than CCL_SHAKE_REACH, for good.
 * What it shows is then compared in the same way with the background, but in coarse pixels, the
 * means of as many pixels as leave CCL_SHAKE_COARSE of them. Such frames are not aligned: the shift
 * only tells that the camera was displaced (step.h).
 *
 * Pixels of the background that an aligned frame does not show get its own levels: they are not
 * foreground and hardly learn. Pixels of the frame without background are not foreground either.
 * Chroma moves by half as much: by half a sample, it is the mean of two, or of four.
 *
 * As in pixel.h: the tests' reference, the CPU backend and the CUDA kernels call these
 * functions. Pixels are those of the model. */

#ifndef CCL_MOTION_SHAKE_H
#define CCL_MOTION_SHAKE_H

#include "engine/motion/pixel.h"

#define CCL_SHAKE_REACH 4 /* pixels, the greatest shift either way */
#define CCL_SHAKE_SIDE (2 * CCL_SHAKE_REACH + 1)
#define CCL_SHAKE_SHIFTS (CCL_SHAKE_SIDE * CCL_SHAKE_SIDE)
#define CCL_SHAKE_ROWS 64 /* that are compared, about */
#define CCL_SHAKE_BANDS 8 /* of rows: a shift fits better in at least half of them */
#define CCL_SHAKE_MOST 32 /* grey levels: a greater difference counts as this */
#define CCL_SHAKE_GAIN 16 /* a shift fits better if it saves more than this part of the sum */
#define CCL_SHAKE_FITS \
  80 /* percent of the worst shift's sum, at most: in other light all fit badly */

#define CCL_SHAKE_COARSE 96   /* coarse pixels, the least width and height */
#define CCL_SHAKE_COARSEST 64 /* pixels, the greatest width of one */

/* How a frame is compared. */
typedef enum CclShakeSearch
{
  CCL_SHAKE_NONE = 0, /* it is not */
  CCL_SHAKE_ALIGN,    /* and aligned */
  CCL_SHAKE_SEARCH,   /* in coarse pixels */
} CclShakeSearch;

/* A sum of differences, as CUDA's atomicAdd() takes it. */
typedef unsigned long long CclShakeSum;

#define CCL_SHAKE_SUMS (CCL_SHAKE_BANDS * CCL_SHAKE_SHIFTS)

/* Pixel (x + shift.x, y + shift.y) of the frame shows pixel (x, y) of the background. */
typedef struct CclShift
{
  int8_t x, y;
} CclShift;

static inline CCL_HOST_DEVICE bool
ccl_shake_moves (CclShift shift)
{
  return shift.x != 0 || shift.y != 0;
}

/* The width and height of a coarse pixel; 1: there are none. Pixels at the right and the bottom may
 * be left over. */
static inline CCL_HOST_DEVICE uint32_t
ccl_shake_size (uint32_t width, uint32_t height)
{
  uint32_t size = 1;

  while (size < CCL_SHAKE_COARSEST && width / size / 2 >= CCL_SHAKE_COARSE &&
         height / size / 2 >= CCL_SHAKE_COARSE)
    size *= 2;
  return size;
}

/* The mean of a coarse pixel. */
static inline CCL_HOST_DEVICE uint32_t
ccl_shake_mean (uint32_t sum, uint32_t size)
{
  return (sum + size * size / 2) / (size * size);
}

/* Whether a shift is one that no shift beyond the reach can fit better than. */
static inline CCL_HOST_DEVICE bool
ccl_shake_is_inside (CclShift shift)
{
  return ccl_shake_moves (shift) && ccl_motion_distance (shift.x, 0) < CCL_SHAKE_REACH &&
         ccl_motion_distance (shift.y, 0) < CCL_SHAKE_REACH;
}

/* Whether a shift of coarse pixels is more than any frame is aligned by. */
static inline CCL_HOST_DEVICE bool
ccl_shake_is_far (CclShift shift, uint32_t size)
{
  return (uint32_t) ccl_motion_max (ccl_motion_distance (shift.x, 0),
                                    ccl_motion_distance (shift.y, 0)) *
             size >
         CCL_SHAKE_REACH;
}

/* One in this many rows is compared, from CCL_SHAKE_REACH to the last but CCL_SHAKE_REACH; likewise
 * for columns. */
static inline CCL_HOST_DEVICE uint32_t
ccl_shake_step (uint32_t height)
{
  return height < CCL_SHAKE_ROWS ? 1 : height / CCL_SHAKE_ROWS;
}

/* The rows that are compared. */
static inline CCL_HOST_DEVICE uint32_t
ccl_shake_rows (uint32_t height)
{
  return height < CCL_SHAKE_SIDE ? 0 : (height - CCL_SHAKE_SIDE) / ccl_shake_step (height) + 1;
}

/* Where the sums of a band of rows begin, by the number of a row among those that are compared. */
static inline CCL_HOST_DEVICE uint32_t
ccl_shake_band (uint32_t row, uint32_t height)
{
  return (uint32_t) ((uint64_t) row * CCL_SHAKE_BANDS / ccl_shake_rows (height)) * CCL_SHAKE_SHIFTS;
}

/* The difference of a pixel of the frame, which is not blurred. */
static inline CCL_HOST_DEVICE uint32_t
ccl_shake_difference (int value, int background)
{
  return (uint32_t) ccl_motion_min (ccl_motion_distance (value, background >> 7), CCL_SHAKE_MOST);
}

/* The sum of all bands, for a shift. */
static inline CCL_HOST_DEVICE CclShakeSum
ccl_shake_total (const CclShakeSum *sums, int shift)
{
  CclShakeSum total = 0;

  for (int band = 0; band < CCL_SHAKE_BANDS; band++)
    total += sums[band * CCL_SHAKE_SHIFTS + shift];
  return total;
}

/* The bound below which a sum fits better than @sum. */
static inline CCL_HOST_DEVICE CclShakeSum
ccl_shake_better (CclShakeSum sum)
{
  return sum - sum / CCL_SHAKE_GAIN;
}

/* The shift that fits best, from the sums of differences in each band, and their totals. Shifts go
 * row by row, from the top left. */
static inline CCL_HOST_DEVICE CclShift
ccl_shake_find (const CclShakeSum *sums, const CclShakeSum *totals)
{
  const int none = CCL_SHAKE_SHIFTS / 2;
  int best = none, better = 0;
  CclShakeSum least = ccl_shake_better (totals[none]), most = 0;
  CclShift shift = { 0, 0 };

  for (int i = 0; i < CCL_SHAKE_SHIFTS; i++) {
    most = totals[i] > most ? totals[i] : most;
    if (totals[i] < least) {
      least = totals[i];
      best = i;
    }
  }
  for (int band = 0; band < CCL_SHAKE_BANDS; band++) {
    const CclShakeSum *of = sums + band * CCL_SHAKE_SHIFTS;

    better += of[best] < ccl_shake_better (of[none]) ? 1 : 0;
  }
  if (2 * better >= CCL_SHAKE_BANDS && least * 100 <= most * CCL_SHAKE_FITS) {
    shift.x = (int8_t) (best % CCL_SHAKE_SIDE - CCL_SHAKE_REACH);
    shift.y = (int8_t) (best / CCL_SHAKE_SIDE - CCL_SHAKE_REACH);
  }
  return shift;
}

/* The shift of chroma may be half a sample: it is then the mean of what two shifts show, or four,
 * between @low and @high. Luma has one shift. */
static inline CCL_HOST_DEVICE void
ccl_shake_bounds (CclShift shift, bool chroma, CclShift *low, CclShift *high)
{
  *low = *high = shift;
  if (!chroma)
    return;
  low->x = (int8_t) (shift.x >> 1);
  low->y = (int8_t) (shift.y >> 1);
  high->x = (int8_t) ((shift.x + 1) >> 1);
  high->y = (int8_t) ((shift.y + 1) >> 1);
}

/* Whether the frame shows sample @at of @n in a row or column. */
static inline CCL_HOST_DEVICE bool
ccl_shake_shows (uint32_t at, int shift, uint32_t n)
{
  return (int64_t) at + shift >= 0 && (int64_t) at + shift < (int64_t) n;
}

#endif
