/* cudaccl - interleaved colours and 16-bit samples: conversion to luma and chroma
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "engine/color.h"
#include "engine/aligned.h"
#include "engine/cpu/tuning.h"
#include "engine/error.h"

#include <inttypes.h>

#define RED 4899
#define GREEN 9617
#define BLUE 1868
#define RED_IN_CB (-2765)
#define GREEN_IN_CB (-5427)
#define BLUE_IN_CR (-1332)
#define GREEN_IN_CR (-6860)
#define MOST 8192 /* of blue in Cb and of red in Cr */
#define GREY ((128 << 16) + 32768)
#define ONE 16384
#define HALF 32768

/* @size bytes for each pixel; red, green and blue are bytes @r, @g and @b. */
#define COLORS(size, r, g, b)                              \
  {                                                        \
    .bytes = size, .chroma = true, .offsets = { r, g, b }, \
    .luma = { [r] = RED, [g] = GREEN, [b] = BLUE },        \
    .chromas = { { [r] = RED_IN_CB,                        \
                   [g] = GREEN_IN_CB,                      \
                   [b] = MOST,                             \
                   [size + r] = RED_IN_CB,                 \
                   [size + g] = GREEN_IN_CB,               \
                   [size + b] = MOST },                    \
                 { [r] = MOST,                             \
                   [g] = GREEN_IN_CR,                      \
                   [b] = BLUE_IN_CR,                       \
                   [size + r] = MOST,                      \
                   [size + g] = GREEN_IN_CR,               \
                   [size + b] = BLUE_IN_CR } },            \
    .bias = { GREY, GREY },                                \
  }

/* The first luma of a pair is byte @y, its chroma bytes @u and @v. */
#define PAIRS(y, u, v)                                                                        \
  {                                                                                           \
    .bytes = 2, .pairs = true, .chroma = true, .offsets = { y, u, v }, .luma = { [y] = ONE }, \
    .chromas = { { [u] = HALF }, { [v] = HALF } }, .bias = { HALF, HALF },                    \
  }

#define SAMPLES(high, bits)                             \
  {                                                     \
    .bytes = 2, .shift = (bits) -8, .offsets = { high } \
  }

static const CclColorWeights weights[] = {
  [CCL_FORMAT_RGB] = COLORS (3, 0, 1, 2),   [CCL_FORMAT_BGR] = COLORS (3, 2, 1, 0),
  [CCL_FORMAT_RGBX] = COLORS (4, 0, 1, 2),  [CCL_FORMAT_BGRX] = COLORS (4, 2, 1, 0),
  [CCL_FORMAT_XRGB] = COLORS (4, 1, 2, 3),  [CCL_FORMAT_XBGR] = COLORS (4, 3, 2, 1),
  [CCL_FORMAT_YUYV] = PAIRS (0, 1, 3),      [CCL_FORMAT_UYVY] = PAIRS (1, 0, 2),
  [CCL_FORMAT_GRAY16_LE] = SAMPLES (1, 16), [CCL_FORMAT_GRAY16_BE] = SAMPLES (0, 16),
  [CCL_FORMAT_GRAY10_LE] = SAMPLES (1, 10), [CCL_FORMAT_GRAY12_LE] = SAMPLES (1, 12),
};

const CclColorWeights *
ccl_color_weights (CclFormat format)
{
  if ((unsigned) format >= sizeof weights / sizeof *weights || weights[format].bytes == 0)
    return NULL;
  return &weights[format];
}

/* The chroma of 16-bit samples. */
static CclStatus
check_samples (const CclImage *image, uint32_t width)
{
  const CclChroma *chroma = image->chroma;
  const size_t samples = ((size_t) width + 1) / 2;

  if (!chroma || (chroma->step != 2 && chroma->step != 4))
    return ccl_fail (CCL_ERROR_INVALID, "the frame of 16-bit samples has no chroma, or its step is "
                                        "not 2 or 4; without chroma, use CCL_MOTION_LUMA");
  for (unsigned i = 0; i < 2; i++) {
    const CclImage *plane = &chroma->planes[i];

    if (!plane->data || plane->format != image->format)
      return ccl_fail (CCL_ERROR_INVALID, "the frame's chroma is NULL, or not of the format of its "
                                          "luma");
    if ((plane->memory == CCL_MEMORY_DEVICE) != (image->memory == CCL_MEMORY_DEVICE) ||
        (unsigned) plane->memory > CCL_MEMORY_DEVICE)
      return ccl_fail (CCL_ERROR_UNSUPPORTED,
                       "luma and chroma are in different kinds of memory; copy them to one");
    if (plane->stride < (samples - 1) * chroma->step + 2)
      return ccl_fail (CCL_ERROR_INVALID,
                       "a stride of %zu is less than the bytes of a row of chroma, %zu",
                       plane->stride, (samples - 1) * chroma->step + 2);
  }
  return CCL_OK;
}

CclStatus
ccl_color_check (const CclImage *image, uint32_t width, bool chroma)
{
  const CclColorWeights *w = ccl_color_weights (image->format);
  size_t row = ((size_t) width + (w->pairs && width % 2)) * w->bytes;

  if ((unsigned) image->memory > CCL_MEMORY_DEVICE)
    return ccl_fail (CCL_ERROR_UNSUPPORTED,
                     "frames of interleaved colours or of 16-bit samples cannot be in arrays; copy "
                     "them to memory");
  if (image->stride < row)
    return ccl_fail (CCL_ERROR_INVALID,
                     "a stride of %zu bytes is less than the %zu bytes of a row of %" PRIu32
                     " pixels",
                     image->stride, row, width);
  return chroma && !w->chroma ? check_samples (image, width) : CCL_OK;
}

size_t
ccl_color_place (CclColorPlanes *planes, uint8_t *memory, uint32_t width, uint32_t height,
                 bool chroma)
{
  size_t stride = ((size_t) width + 63) / 64 * 64, half = (stride / 2 + 63) / 64 * 64;
  size_t size = stride * height;

  planes->luma = (CclImage){ .data = memory, .stride = stride };
  if (!chroma)
    return size;
  planes->luma.chroma = &planes->chroma;
  planes->chroma.step = 1;
  for (unsigned i = 0; i < 2; i++) {
    planes->chroma.planes[i] = (CclImage){ .data = memory ? memory + size : NULL, .stride = half };
    size += half * ((size_t) height / 2 + height % 2);
  }
  return size;
}

/* Luma of a row of 16-bit samples: the band. */
static void
convert_band (uint8_t *to, const uint8_t *from, uint32_t width, const CclColorWeights *w,
              const CclCut *cut)
{
  for (uint32_t x = 0; x < width; x++)
    to[x] = ccl_color_band (w, cut, from + 2 * (size_t) x);
}

/* Converts rows @y and @y + 1 to a row of chroma. */
static void
convert_chroma (const CclColorPlanes *self, const CclCpuFunctions *functions,
                const CclColorWeights *w, const CclImage *image, uint32_t width, uint32_t height,
                uint32_t y)
{
  const uint8_t *from = image->data + y * image->stride;
  const uint8_t *rows[2] = { from, y + 1 < height ? from + image->stride : from };
  const bool single = width % 2 && !w->pairs;
  const uint32_t pairs = width / 2 + (width % 2 && w->pairs);
  const size_t end = (size_t) pairs * 2 * w->bytes;
  const uint8_t *last[2] = { rows[0] + end, rows[1] + end };

  for (unsigned i = 0; i < 2; i++) {
    const CclImage *plane = &self->chroma.planes[i];
    uint8_t *to = self->memory + (plane->data - self->memory) + y / 2 * plane->stride;

    functions->color_chroma (to, rows, pairs, w, i);
    if (single)
      to[pairs] = ccl_color_chroma (w, w->bytes, i, last, 0);
  }
}

/* Converts row @y of the chroma of 16-bit samples. */
static void
convert_samples (const CclColorPlanes *self, const CclCpuFunctions *functions,
                 const CclColorWeights *w, const CclChroma *chroma, uint32_t width, uint32_t y)
{
  for (unsigned i = 0; i < 2; i++) {
    const CclImage *plane = &self->chroma.planes[i], *from = &chroma->planes[i];

    functions->color_samples (self->memory + (plane->data - self->memory) + y * plane->stride,
                              from->data + y * from->stride, width / 2 + width % 2, chroma->step,
                              w);
  }
}

CclStatus
ccl_color_planes_convert (CclColorPlanes *self, const CclImage *image, uint32_t width,
                          uint32_t height, bool chroma, const CclCut *cut, CclAccount *account)
{
  const CclCpuFunctions *functions = ccl_cpu_functions_chosen ();
  const CclColorWeights *w = ccl_color_weights (image->format);

  if (!self->memory) {
    size_t size = ccl_color_place (self, NULL, width, height, chroma);

    self->memory = ccl_account_aligned (account, 1, size, "luma and chroma of a frame");
    if (!self->memory)
      return CCL_ERROR_NO_MEMORY;
    ccl_color_place (self, self->memory, width, height, chroma);
  }
  for (uint32_t y = 0; y < height; y++) {
    uint8_t *luma = self->memory + y * self->luma.stride;
    const uint8_t *from = image->data + y * image->stride;

    if (cut->wide)
      convert_band (luma, from, width, w, cut);
    else if (w->shift)
      functions->color_samples (luma, from, width, 2, w);
    else
      functions->color_luma (luma, from, width, w);
    if (chroma && y % 2 == 0 && w->shift)
      convert_samples (self, functions, w, image->chroma, width, y / 2);
    else if (chroma && y % 2 == 0)
      convert_chroma (self, functions, w, image, width, height, y);
  }
  return CCL_OK;
}

void
ccl_color_planes_clear (CclColorPlanes *self)
{
  ccl_aligned_free (self->memory);
}
