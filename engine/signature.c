/* cudaccl - colour signatures
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/backend.h"
#include "engine/cpu/signature.h"
#include "engine/mask/mask.h"
#include "engine/motion/model.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

CclStatus
ccl_check_box (const CclBox *box, uint32_t width, uint32_t height)
{
  if (box->width > 0 && box->height > 0 && (uint64_t) box->x + box->width <= width &&
      (uint64_t) box->y + box->height <= height)
    return CCL_OK;
  return ccl_fail (CCL_ERROR_INVALID,
                   "a box of %" PRIu32 "x%" PRIu32 " at %" PRIu32 ",%" PRIu32
                   " is empty or not inside of the frame of %" PRIu32 "x%" PRIu32
                   "; clip it to the frame",
                   box->width, box->height, box->x, box->y, width, height);
}

static CclStatus
check_mask (const CclMask *mask, uint32_t width, uint32_t height)
{
  CclStatus status = ccl_check_mask (mask, "ccl_signature");

  if (status == CCL_OK && (mask->width != width || mask->height != height))
    status = ccl_fail (CCL_ERROR_INVALID, "the mask and the frame have different sizes");
  return status;
}

CclStatus
ccl_signature (const CclImage *image, uint32_t width, uint32_t height, const CclBox *box,
               const CclMask *mask, CclSignature *signature)
{
  CclSignatureFrame frame;
  CclStatus status;

  if (!image || !image->data || !box || !signature)
    return ccl_fail (CCL_ERROR_INVALID,
                     "ccl_signature: an argument is NULL; the frame's pixels are needed, too");
  if (image->format != CCL_FORMAT_BYTES)
    return ccl_fail (CCL_ERROR_UNSUPPORTED, "a signature is of luma as bytes, not of format %d",
                     (int) image->format);
  status =
      ccl_motion_check_image (image->chroma ? CCL_MOTION_LUMA_420 : CCL_MOTION_LUMA, image, width);
  if (status == CCL_OK)
    status = ccl_check_box (box, width, height);
  if (status == CCL_OK && mask)
    status = check_mask (mask, width, height);
  if (status != CCL_OK)
    return status;
  if (image->memory > CCL_MEMORY_PINNED ||
      (image->chroma && (image->chroma->planes[0].memory > CCL_MEMORY_PINNED ||
                         image->chroma->planes[1].memory > CCL_MEMORY_PINNED)))
    return ccl_fail (CCL_ERROR_UNSUPPORTED, "ccl_signature: the frame is not in host memory; use "
                                            "ccl_analyzer_signatures(), or copy it there");
  frame = ccl_signature_frame (image);
  ccl_signature_find (&frame, box, mask, signature);
  return CCL_OK;
}

/* The Bhattacharyya coefficient of shares of 255. The square roots are rounded down, so that sums
 * are whole numbers. */
static uint32_t
compare (const uint8_t *a, const uint8_t *b, uint32_t n)
{
  uint32_t sum = 0;

  for (uint32_t i = 0; i < n; i++)
    sum += (uint32_t) sqrtf ((float) (65536u * a[i] * b[i]));
  return sum;
}

static bool
has_chroma (const CclSignatureHalf *half)
{
  static const CclSignatureHalf none;

  return memcmp (half->chroma, none.chroma, sizeof none.chroma) != 0;
}

double
ccl_signature_likeness (const CclSignature *a, const CclSignature *b)
{
  uint32_t sum = 0, n = 0;

  if (!a || !b) {
    ccl_fail (CCL_ERROR_INVALID, "ccl_signature_likeness: an argument is NULL");
    return 0;
  }
  for (int half = 0; half < 2; half++) {
    const CclSignatureHalf *p = &a->halves[half], *q = &b->halves[half];

    sum += compare (p->luma, q->luma, CCL_SIGNATURE_LUMA);
    n++;
    for (int k = 0; has_chroma (p) && has_chroma (q) && k < 2; k++, n++)
      sum += compare (p->chroma[k], q->chroma[k], CCL_SIGNATURE_CHROMA);
  }
  /* Shares are rounded, so their sums may be more than 255. */
  sum = sum < n * 255 * 256 ? sum : n * 255 * 256;
  return (double) sum / (n * 255 * 256);
}
