/* cudaccl - colour signatures: the arithmetic of a sample
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The CPU and the CUDA kernel use these functions. A half of a box is sampled on a grid of pixels
 * of 2x2, which share a sample of chroma. */

#ifndef CCL_SHARED_SIGNATURE_H
#define CCL_SHARED_SIGNATURE_H

#include <cudaccl/signature.h>
#include "engine/shared/device.h"

#define CCL_SIGNATURE_COLUMNS 16 /* most of a half */
#define CCL_SIGNATURE_ROWS 32
#define CCL_SIGNATURE_BINS (CCL_SIGNATURE_LUMA + 2 * CCL_SIGNATURE_CHROMA) /* of a half */

/* A plane as one backend reads it. */
typedef struct CclSignaturePlane
{
  const uint8_t *samples;
  size_t stride;
} CclSignaturePlane;

/* A frame. Passed to kernels by value. */
typedef struct CclSignatureFrame
{
  CclSignaturePlane planes[3]; /* luma and chroma; chroma without samples: none */
  uint32_t step;               /* bytes from sample to sample of chroma */
} CclSignatureFrame;

/* Places in one direction: @n places of 2x2 from @first on, @step apart. */
typedef struct CclSignatureAxis
{
  uint32_t first, n, step;
  uint32_t start; /* of the part: its first place may begin before it */
} CclSignatureAxis;

/* @start < @end */
static inline CCL_HOST_DEVICE CclSignatureAxis
ccl_signature_axis (uint32_t start, uint32_t end, uint32_t most)
{
  CclSignatureAxis axis = { start / 2, (end - 1) / 2 - start / 2 + 1, 1, start };

  axis.step = (axis.n - 1) / most + 1;
  axis.n = (axis.n - 1) / axis.step + 1;
  return axis;
}

static inline CCL_HOST_DEVICE CclSignatureAxis
ccl_signature_columns (const CclBox *box)
{
  return ccl_signature_axis (box->x + box->width / 5, box->x + box->width - box->width / 5,
                             CCL_SIGNATURE_COLUMNS);
}

/* @half: 0 or 1. A box of a single row is both halves. */
static inline CCL_HOST_DEVICE CclSignatureAxis
ccl_signature_rows (const CclBox *box, uint32_t half)
{
  uint32_t start = (uint32_t) ((1 + 3 * half) * (uint64_t) box->height / 8);
  uint32_t end = (uint32_t) ((4 + 3 * half) * (uint64_t) box->height / 8);

  if (end == start)
    end++;
  return ccl_signature_axis (box->y + start, box->y + end, CCL_SIGNATURE_ROWS);
}

static inline CCL_HOST_DEVICE uint32_t
ccl_signature_place (const CclSignatureAxis *axis, uint32_t i)
{
  return axis->first + i * axis->step;
}

/* The pixel that stands for a place: its first one in the part. */
static inline CCL_HOST_DEVICE uint32_t
ccl_signature_pixel (const CclSignatureAxis *axis, uint32_t place)
{
  return 2 * place < axis->start ? axis->start : 2 * place;
}

static inline CCL_HOST_DEVICE uint32_t
ccl_signature_luma_bin (uint32_t value)
{
  return value * CCL_SIGNATURE_LUMA / 256;
}

static inline CCL_HOST_DEVICE uint32_t
ccl_signature_chroma_bin (uint32_t value)
{
  return (uint32_t) (value >= 112) + (value >= 120) + (value >= 124) + (value >= 128) +
         (value >= 132) + (value >= 136) + (value >= 144);
}

/* Of 255, rounded. @count of @total samples, which is at most 512. */
static inline CCL_HOST_DEVICE uint8_t
ccl_signature_share (uint32_t count, uint32_t total)
{
  return total > 0 ? (uint8_t) ((255 * count + total / 2) / total) : 0;
}

#endif
