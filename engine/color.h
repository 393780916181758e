/* cudaccl - interleaved colours and 16-bit samples: conversion to luma and chroma
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* All formats of CclFormat but bytes and bits are converted in the same way, with integers, so that
 * every backend gives the same bytes: luma is a weighted sum of the bytes of a pixel, a sample of
 * chroma one of the bytes of 2x2 pixels; of 16-bit samples, both are the highest bits in use. The
 * weights of red, green and blue are those of BT.601 in full range, luma's those of OpenCV's
 * cvtColor(). Where width or height is odd, the last column and row count twice. */

#ifndef CCL_COLOR_H
#define CCL_COLOR_H

#include "engine/account.h"
#include "engine/shared/luma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Luma and chroma of a frame. */
typedef struct CclColorPlanes
{
  CclImage luma; /* its chroma points into this struct, or is NULL */
  CclChroma chroma;
  uint8_t *memory; /* of ccl_color_planes_convert() */
} CclColorPlanes;

/* Returns NULL for bytes, bits and unknown formats. */
const CclColorWeights *ccl_color_weights (CclFormat format);

/* Checks an image of such a format. @chroma: chroma is needed. 16-bit samples have it in planes of
 * their own, in the same kind of memory. */
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

#ifdef __cplusplus
}
#endif

#endif
