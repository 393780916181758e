/* cudaccl - colour signatures: the reference
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Pixel by pixel: one is a sample if no other of its 2x2 comes before it, and neither its column
 * nor its row is left out. */

#include "tests/reference/signature.h"

#include <string.h>

/* Whether a pixel is a sample in one direction, of the part from @start to @end - 1, of which at
 * most @most are. */
static bool
is_sample (int64_t at, int64_t start, int64_t end, int64_t most)
{
  const int64_t places = (end - 1) / 2 - start / 2 + 1;
  int64_t step = 1;

  while ((places + step - 1) / step > most)
    step++;
  if (at > start && at % 2 != 0)
    return false;
  return (at / 2 - start / 2) % step == 0;
}

static uint32_t
chroma_bin (int value)
{
  static const int limits[] = { -16, -8, -4, 0, 4, 8, 16 };
  uint32_t bin = 0;

  while (bin < 7 && value - 128 >= limits[bin])
    bin++;
  return bin;
}

static void
find_half (const CclImage *image, const CclBox *box, int half, const CclMask *mask,
           CclSignatureHalf *result)
{
  const int64_t left = box->x + box->width / 5, right = box->x + box->width - box->width / 5;
  const int64_t eighth = half == 0 ? 1 : 4;
  const int64_t top = box->y + eighth * box->height / 8;
  int64_t bottom = box->y + (eighth + 3) * box->height / 8;
  int64_t n = 0, luma[CCL_SIGNATURE_LUMA] = { 0 }, chroma[2][CCL_SIGNATURE_CHROMA] = { { 0 } };

  if (bottom == top)
    bottom = top + 1;
  for (int64_t y = top; y < bottom; y++) {
    for (int64_t x = left; x < right; x++) {
      if (!is_sample (x, left, right, 16) || !is_sample (y, top, bottom, 32))
        continue;
      if (mask && !(mask->words[(size_t) y * mask->pitch + (size_t) x / 64] >> x % 64 & 1))
        continue;
      n++;
      luma[image->data[(size_t) y * image->stride + (size_t) x] / 16]++;
      for (int k = 0; image->chroma && k < 2; k++) {
        const CclImage *plane = &image->chroma->planes[k];

        chroma[k][chroma_bin (plane->data[(size_t) (y / 2) * plane->stride +
                                          (size_t) (x / 2) * image->chroma->step])]++;
      }
    }
  }
  memset (result, 0, sizeof *result);
  for (int i = 0; n > 0 && i < CCL_SIGNATURE_LUMA; i++)
    result->luma[i] = (uint8_t) ((double) (255 * luma[i]) / (double) n + 0.5);
  for (int i = 0; n > 0 && i < 2 * CCL_SIGNATURE_CHROMA; i++)
    result->chroma[i / CCL_SIGNATURE_CHROMA][i % CCL_SIGNATURE_CHROMA] =
        (uint8_t) ((double) (255 * chroma[i / CCL_SIGNATURE_CHROMA][i % CCL_SIGNATURE_CHROMA]) /
                       (double) n +
                   0.5);
}

void
ccl_reference_signature (const CclImage *image, const CclBox *box, const CclMask *mask,
                         CclSignature *signature)
{
  for (int half = 0; half < 2; half++)
    find_half (image, box, half, mask, &signature->halves[half]);
}
