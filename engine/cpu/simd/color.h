/* cudaccl - CPU backend: interleaved colours to luma and chroma, one row
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The compiler makes vectors of these loops, since the bytes of a pixel are a constant. */

#include "engine/shared/luma.h"

static inline void
luma_of_row (uint8_t *to, const uint8_t *from, uint32_t width, const CclColorWeights *weights,
             unsigned bytes)
{
  for (uint32_t x = 0; x < width; x++)
    to[x] = ccl_color_luma (weights, bytes, from + (size_t) x * bytes);
}

static void
color_luma (uint8_t *to, const uint8_t *from, uint32_t width, const CclColorWeights *weights)
{
  switch (weights->bytes) {
  case 2:
    luma_of_row (to, from, width, weights, 2);
    break;
  case 3:
    luma_of_row (to, from, width, weights, 3);
    break;
  default:
    luma_of_row (to, from, width, weights, 4);
    break;
  }
}

static inline void
chroma_of_rows (uint8_t *to, const uint8_t *const rows[2], uint32_t pairs,
                const CclColorWeights *weights, unsigned which, unsigned bytes)
{
  for (uint32_t x = 0; x < pairs; x++) {
    size_t at = (size_t) x * 2 * bytes;
    const uint8_t *pixels[2] = { rows[0] + at, rows[1] + at };

    to[x] = ccl_color_chroma (weights, bytes, which, pixels, bytes);
  }
}

static void
color_chroma (uint8_t *to, const uint8_t *const rows[2], uint32_t pairs,
              const CclColorWeights *weights, unsigned which)
{
  switch (weights->bytes) {
  case 2:
    chroma_of_rows (to, rows, pairs, weights, which, 2);
    break;
  case 3:
    chroma_of_rows (to, rows, pairs, weights, which, 3);
    break;
  default:
    chroma_of_rows (to, rows, pairs, weights, which, 4);
    break;
  }
}

static inline void
samples_of_row (uint8_t *to, const uint8_t *from, uint32_t n, unsigned step,
                const CclColorWeights *weights, unsigned high)
{
  const unsigned shift = weights->shift;

  for (uint32_t x = 0; x < n; x++, from += step)
    to[x] = (uint8_t) ((from[high] << 8 | from[1 - high]) >> shift);
}

static void
color_samples (uint8_t *to, const uint8_t *from, uint32_t n, unsigned step,
               const CclColorWeights *weights)
{
  if (weights->offsets[0] == 0)
    samples_of_row (to, from, n, step, weights, 0);
  else if (step == 2)
    samples_of_row (to, from, n, 2, weights, 1);
  else
    samples_of_row (to, from, n, 4, weights, 1);
}
