/* cudaccl - CPU backend: colour signatures
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/cpu/signature.h"
#include <cudaccl/mask.h>

CclSignatureFrame
ccl_signature_frame (const CclImage *image)
{
  CclSignatureFrame frame = { .planes = { { image->data, image->stride } }, .step = 1 };

  for (int i = 0; image->chroma && i < 2; i++) {
    const CclImage *plane = &image->chroma->planes[i];

    frame.planes[1 + i] = (CclSignaturePlane){ plane->data, plane->stride };
    frame.step = image->chroma->step;
  }
  return frame;
}

static inline bool
is_masked (const CclMask *mask, uint32_t x, uint32_t y)
{
  return mask && !(mask->words[y * mask->pitch + x / 64] >> x % 64 & 1);
}

static void
find_half (const CclSignatureFrame *frame, const CclBox *box, uint32_t half, const CclMask *mask,
           CclSignatureHalf *result)
{
  const CclSignatureAxis columns = ccl_signature_columns (box);
  const CclSignatureAxis rows = ccl_signature_rows (box, half);
  const bool chroma = frame->planes[1].samples != NULL;
  uint32_t luma[CCL_SIGNATURE_LUMA] = { 0 }, chromas[2][CCL_SIGNATURE_CHROMA] = { { 0 } };
  uint32_t total = 0;

  for (uint32_t j = 0; j < rows.n; j++) {
    const uint32_t row = ccl_signature_place (&rows, j), y = ccl_signature_pixel (&rows, row);
    const uint8_t *samples[3];

    for (uint32_t k = 0; k < 3; k++)
      samples[k] = frame->planes[k].samples
                       ? frame->planes[k].samples + (k > 0 ? row : y) * frame->planes[k].stride
                       : NULL;
    for (uint32_t i = 0; i < columns.n; i++) {
      const uint32_t column = ccl_signature_place (&columns, i);
      const uint32_t x = ccl_signature_pixel (&columns, column);

      if (is_masked (mask, x, y))
        continue;
      total++;
      luma[ccl_signature_luma_bin (samples[0][x])]++;
      for (uint32_t k = 0; chroma && k < 2; k++)
        chromas[k][ccl_signature_chroma_bin (samples[1 + k][(size_t) column * frame->step])]++;
    }
  }
  for (uint32_t i = 0; i < CCL_SIGNATURE_LUMA; i++)
    result->luma[i] = ccl_signature_share (luma[i], total);
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t i = 0; i < CCL_SIGNATURE_CHROMA; i++)
      result->chroma[k][i] = ccl_signature_share (chromas[k][i], total);
}

void
ccl_signature_find (const CclSignatureFrame *frame, const CclBox *box, const CclMask *mask,
                    CclSignature *signature)
{
  for (uint32_t half = 0; half < 2; half++)
    find_half (frame, box, half, mask, &signature->halves[half]);
}
