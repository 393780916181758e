/* cudaccl - crops: the arithmetic of one sample
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The CPU and the CUDA kernel use these functions. All values are integers; sums do not depend on
 * the order of their terms.
 *
 * A direction of a crop has a grid of its own, in which pixels of the frame are `to` wide and those
 * of the picture `size`, so that all edges are whole numbers. A sample of chroma is two pixels
 * wide. */

#ifndef CCL_CROP_PIXEL_H
#define CCL_CROP_PIXEL_H

#include <cudaccl/crop.h>
#include "engine/shared/device.h"

/* A direction of a crop, in a plane. */
typedef struct CclCropAxis
{
  uint32_t from, size; /* of the crop, in pixels of the frame */
  uint32_t to;         /* its size in the picture */
  uint32_t sub;        /* pixels that a sample of the plane stands for: 1 or 2 */
  uint32_t samples;    /* of the plane, at least 1 */
} CclCropAxis;

/* The samples that a sample of the picture consists of: @n from @first on, with weights @head of
 * the first, @tail of the last (0 if it is the first) and @body of the others. */
typedef struct CclCropTaps
{
  uint32_t first, n, head, body, tail;
} CclCropTaps;

static inline CCL_HOST_DEVICE bool
ccl_crop_shrinks (const CclCropAxis *axis)
{
  return axis->size >= axis->sub * axis->to;
}

/* The sum of the weights of every sample of the picture. */
static inline CCL_HOST_DEVICE uint32_t
ccl_crop_total (const CclCropAxis *axis)
{
  return ccl_crop_shrinks (axis) ? axis->size : 2 * axis->sub * axis->to;
}

/* The samples of the frame that make up sample @i, 0 to `to` - 1. */
static inline CCL_HOST_DEVICE CclCropTaps
ccl_crop_taps (const CclCropAxis *axis, uint32_t i)
{
  const uint32_t width = axis->sub * axis->to; /* of a sample of the plane */
  CclCropTaps taps = { 0, 1, ccl_crop_total (axis), width, 0 };

  if (ccl_crop_shrinks (axis)) {
    uint32_t start = axis->from * axis->to + i * axis->size, end = start + axis->size;
    uint32_t last = (end - 1) / width;

    taps.first = start / width;
    taps.n = last - taps.first + 1;
    if (taps.n > 1) {
      taps.head = (taps.first + 1) * width - start;
      taps.tail = end - last * width;
    }
  } else {
    /* Twice the distance from the centre of the plane's first sample. */
    uint32_t centre = 2 * axis->from * axis->to + (2 * i + 1) * axis->size;

    if (centre > width) {
      centre -= width;
      taps.first = centre / (2 * width);
      if (taps.first + 1 < axis->samples) {
        taps.n = 2;
        taps.tail = centre - taps.first * 2 * width;
        taps.head -= taps.tail;
      }
    }
  }
  return taps;
}

static inline CCL_HOST_DEVICE uint32_t
ccl_crop_weight (const CclCropTaps *taps, uint32_t k)
{
  return k == 0 ? taps->head : k == taps->n - 1 ? taps->tail : taps->body;
}

/* For ccl_crop_mean(): @total, at most 2^27, is the sum of all weights. */
static inline CCL_HOST_DEVICE uint64_t
ccl_crop_reciprocal (uint32_t total)
{
  return UINT64_MAX / total + 1; /* 0 for 1 */
}

/* The rounded mean of samples of 8 bits with the weighted sum @sum. The product with the
 * reciprocal is exact: sum * total < 2^64. */
static inline CCL_HOST_DEVICE uint32_t
ccl_crop_mean (uint64_t sum, uint32_t total, uint64_t reciprocal)
{
  sum += total / 2;
  if (reciprocal == 0)
    return (uint32_t) sum;
#ifdef __CUDA_ARCH__
  return (uint32_t) __umul64hi (sum, reciprocal);
#else
  return (uint32_t) ((unsigned __int128) sum * reciprocal >> 64);
#endif
}

/* Factors of 1/256. */
typedef struct CclCropColors
{
  int32_t black, luma, red_v, green_u, green_v, blue_u;
} CclCropColors;

static inline CCL_HOST_DEVICE uint8_t
ccl_crop_clamp (int32_t value)
{
  return (uint8_t) (value < 0 ? 0 : value > 255 * 256 ? 255 : value >> 8);
}

/* A plane as one backend reads it. */
typedef struct CclCropPlane
{
  const uint8_t *samples;
  size_t stride;
  uint32_t step;  /* bytes from sample to sample */
  uint32_t shift; /* of little-endian samples of 16 bits: to their highest 8 bits; 0: bytes */
} CclCropPlane;

static inline CCL_HOST_DEVICE uint8_t
ccl_crop_sample (const uint8_t *sample, uint32_t shift)
{
  return shift == 0 ? sample[0] : (uint8_t) ((sample[0] | sample[1] << 8) >> shift);
}

/* A checked job for a backend. Planes are luma and chroma, or, with @rgb, red, green and blue. */
typedef struct CclCropTask
{
  CclCropPlane planes[3]; /* without chroma, planes 1 and 2 have no samples */
  uint32_t width, height; /* of the frame */
  uint32_t sub_x, sub_y;  /* of planes 1 and 2: pixels of the frame that a sample stands for */
  bool rgb;
  CclCropColors colors;
  uint32_t n;
  CclCrop crops[CCL_MAX_CROPS];
} CclCropTask;

/* Converts a sample of the three planes; without chroma, all are luma. */
static inline CCL_HOST_DEVICE void
ccl_crop_convert (const CclCropTask *task, const uint32_t values[3], uint8_t rgb[3])
{
  const CclCropColors *c = &task->colors;
  int32_t luma = ((int32_t) values[0] - c->black) * c->luma + 128;
  int32_t u = (int32_t) values[1] - 128, v = (int32_t) values[2] - 128;

  if (task->rgb || !task->planes[1].samples) {
    for (unsigned k = 0; k < 3; k++)
      rgb[k] = (uint8_t) values[k];
    return;
  }
  rgb[0] = ccl_crop_clamp (luma + c->red_v * v);
  rgb[1] = ccl_crop_clamp (luma + c->green_u * u + c->green_v * v);
  rgb[2] = ccl_crop_clamp (luma + c->blue_u * u);
}

/* @plane: 0, or 1 for both others. */
static inline CCL_HOST_DEVICE CclCropAxis
ccl_crop_axis_x (const CclCropTask *task, const CclCrop *crop, unsigned plane)
{
  uint32_t sub = plane > 0 ? task->sub_x : 1;
  CclCropAxis axis = { crop->x, crop->width, crop->to_width, sub, (task->width + sub - 1) / sub };

  return axis;
}

static inline CCL_HOST_DEVICE CclCropAxis
ccl_crop_axis_y (const CclCropTask *task, const CclCrop *crop, unsigned plane)
{
  uint32_t sub = plane > 0 ? task->sub_y : 1;
  CclCropAxis axis = { crop->y, crop->height, crop->to_height, sub,
                       (task->height + sub - 1) / sub };

  return axis;
}

#endif
