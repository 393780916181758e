/* cudaccl - interleaved colours and 16-bit samples: the arithmetic of one pixel
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_LUMA_H
#define CCL_LUMA_H

#include "engine/shared/cut.h"
#include "engine/shared/device.h"

#define CCL_COLOR_MOST_BYTES 4 /* of a pixel */

typedef struct CclColorWeights
{
  uint8_t bytes; /* of a pixel */
  bool pairs;    /* two pixels share their chroma: rows hold an even number of pixels */
  bool chroma;   /* there is any among them */
  uint8_t shift; /* of samples of 16 bits: from the sample to its highest 8 bits; otherwise 0 */
  uint8_t offsets[3]; /* of the bytes of red, green and blue, of a pair's luma and chroma, or of the
                       * high byte */
  int32_t luma[CCL_COLOR_MOST_BYTES];           /* of each byte of a pixel, 1/16384 */
  int32_t chromas[2][2 * CCL_COLOR_MOST_BYTES]; /* of each byte of two pixels of a row, 1/65536 */
  int32_t bias[2];                              /* added to the sums of chroma */
} CclColorWeights;

static inline CCL_HOST_DEVICE uint8_t
ccl_color_luma (const CclColorWeights *weights, unsigned bytes, const uint8_t *pixel)
{
  int32_t sum = 8192;

  for (unsigned k = 0; k < bytes; k++)
    sum += weights->luma[k] * pixel[k];
  return (uint8_t) (sum >> 14);
}

/* The highest 8 bits in use of a sample of 16 bits. */
static inline CCL_HOST_DEVICE uint8_t
ccl_color_sample (const CclColorWeights *weights, const uint8_t *sample)
{
  const unsigned high = weights->offsets[0];

  return (uint8_t) ((sample[high] * 256u + sample[1 - high]) >> weights->shift);
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

#endif
