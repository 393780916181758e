/* cudaccl - interleaved colours and 16-bit samples: conversion to luma and chroma
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All formats of CclFormat but bytes and bits are converted in the same way, with integers, so that
 * every backend gives the same bytes: luma is a weighted sum of the bytes of a pixel, a sample of
 * chroma one of the bytes of 2x2 pixels. The weights of red, green and blue are those of BT.601 in
 * full range, luma's those of OpenCV's cvtColor(). Where width or height is odd, the last column
 * and row count twice. */

#ifndef CCL_COLOR_H
#define CCL_COLOR_H

#include "engine/account.h"
#include "engine/shared/cut.h"
#include "engine/shared/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CCL_COLOR_MOST_BYTES 4 /* of a pixel */

typedef struct CclColorWeights
{
  uint8_t bytes;      /* of a pixel */
  bool pairs;         /* two pixels share their chroma: rows hold an even number of pixels */
  bool chroma;        /* there is any */
  uint8_t offsets[3]; /* of the bytes of red, green and blue, of a pair's luma and chroma, or of the
                       * high byte */
  int32_t luma[CCL_COLOR_MOST_BYTES];           /* of each byte of a pixel, 1/16384 */
  int32_t chromas[2][2 * CCL_COLOR_MOST_BYTES]; /* of each byte of two pixels of a row, 1/65536 */
  int32_t bias[2];                              /* added to the sums of chroma */
} CclColorWeights;

/* Luma and chroma of a frame. */
typedef struct CclColorPlanes
{
  CclImage luma; /* its chroma points into this struct, or is NULL */
  CclChroma chroma;
  uint8_t *memory; /* of ccl_color_planes_convert() */
} CclColorPlanes;

/* Returns NULL for bytes, bits and unknown formats. */
const CclColorWeights *ccl_color_weights (CclFormat format);

/* Checks an image of such a format. @chroma: chroma is needed. */
CclStatus ccl_color_check (const CclImage *image, uint32_t width, bool chroma);

/* Places the planes of a frame at @memory, which is aligned to 64 bytes. Returns the bytes needed.
 */
size_t ccl_color_place (CclColorPlanes *planes, uint8_t *memory, uint32_t width, uint32_t height,
                        bool chroma);

/* Converts a checked image in host memory to planes in memory of @self, which the first call
 * allocates; later calls have the same size. With a @cut that is wide, luma is the band's. Errors:
 * CCL_ERROR_NO_MEMORY. */
CclStatus ccl_color_planes_convert (CclColorPlanes *self, const CclImage *image, uint32_t width,
                                    uint32_t height, bool chroma, const CclCut *cut,
                                    CclAccount *account);
void ccl_color_planes_clear (CclColorPlanes *self);

static inline CCL_HOST_DEVICE uint8_t
ccl_color_luma (const CclColorWeights *weights, unsigned bytes, const uint8_t *pixel)
{
  int32_t sum = 8192;

  for (unsigned k = 0; k < bytes; k++)
    sum += weights->luma[k] * pixel[k];
  return (uint8_t) (sum >> 14);
}

/* A sample of 16 bits: 255 in the band of @cut, else 0. */
static inline CCL_HOST_DEVICE uint8_t
ccl_color_band (const CclColorWeights *weights, const CclCut *cut, const uint8_t *sample)
{
  const unsigned high = weights->offsets[0];
  const unsigned value = sample[high] * 256u + sample[1 - high];

  return value >= cut->low && value <= cut->high ? 255 : 0;
}

/* @rows: the first pixel of the two in each of two rows; @next: bytes from it to the second. */
static inline CCL_HOST_DEVICE uint8_t
ccl_color_chroma (const CclColorWeights *weights, unsigned bytes, unsigned which,
                  const uint8_t *const rows[2], unsigned next)
{
  const int32_t *factors = weights->chromas[which];
  int32_t sum = weights->bias[which];

  for (unsigned k = 0; k < bytes; k++)
    sum += factors[k] * (rows[0][k] + rows[1][k]) +
           factors[bytes + k] * (rows[0][next + k] + rows[1][next + k]);
  sum >>= 16;
  return (uint8_t) (sum > 255 ? 255 : sum);
}

#ifdef __cplusplus
}
#endif

#endif
