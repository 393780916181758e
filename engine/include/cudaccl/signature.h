/* cudaccl - colour signatures of objects
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Histograms of an object's brightness and colours, by which it is told from others. Luma has
 * CCL_SIGNATURE_LUMA bins of the same width, chroma CCL_SIGNATURE_CHROMA, by the distance from
 * grey. */

#ifndef CCL_SIGNATURE_H
#define CCL_SIGNATURE_H

#include <cudaccl/ccl.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bins of luma, all of the same width. */
#define CCL_SIGNATURE_LUMA 16

/* Bins of chroma, by the distance from grey: below -16, -8, -4, 0, 4, 8 and 16, and the rest. */
#define CCL_SIGNATURE_CHROMA 8

/* Histograms of a part of a box: of each 255 samples, how many are in a bin. All 0 if there was no
 * sample, or no chroma. */
typedef struct CclSignatureHalf
{
  uint8_t luma[CCL_SIGNATURE_LUMA];
  uint8_t chroma[2][CCL_SIGNATURE_CHROMA]; /* in the order of CclChroma.planes */
} CclSignatureHalf;

/* The colour signature of a box: the upper half, without an eighth at the top, where a
 * person's head is, and the lower one, without an eighth at the bottom; of both, the middle three
 * fifths of the width. No padding. */
typedef struct CclSignature
{
  CclSignatureHalf halves[2];
} CclSignature;

/* Finds the signature of @box, not empty and inside of a frame of @width by @height pixels in host
 * memory. @image: luma as bytes, and chroma as for CCL_MOTION_LUMA_420 if there is any. A sample is
 * luma and chroma of a pixel of 2x2; large boxes are subsampled to at most 16 columns and 32
 * rows per half. @mask: only pixels with a bit count; NULL: all. Errors:
 * CCL_ERROR_INVALID (NULL, a bad image, box or mask), CCL_ERROR_UNSUPPORTED (another format, device
 * memory). */
CCL_API CclStatus ccl_signature (const CclImage *image, uint32_t width, uint32_t height,
                                 const CclBox *box, const CclMask *mask, CclSignature *signature);

/* Finds the signatures of @n boxes in the frame collected last, of components or of a detector. Its
 * pixels are read again: they must be as they were. There is chroma if the model reads it. Every
 * backend gives the bytes of ccl_signature(). The first call may allocate memory. Errors:
 * CCL_ERROR_INVALID (NULL, a bad box, CclConfig.signatures was not set, or no frame was collected
 * since the last submit), CCL_ERROR_NO_MEMORY, CCL_ERROR_DEVICE. */
CCL_API CclStatus ccl_analyzer_signatures (CclAnalyzer *analyzer, const CclBox *boxes, uint32_t n,
                                           CclSignature *signatures);

/* How much two signatures are alike, 0 to 1: the mean of the histograms' Bhattacharyya
 * coefficients, of luma alone if one of them has no chroma. The same value everywhere.
 * 0, with CCL_ERROR_INVALID's text in ccl_last_error(), if an argument is NULL. */
CCL_API double ccl_signature_likeness (const CclSignature *a, const CclSignature *b);

#ifdef __cplusplus
}
#endif

#endif
