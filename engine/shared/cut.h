/* cudaccl - which values are foreground
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef CCL_CUT_H
#define CCL_CUT_H

#include <cudaccl/ccl.h>

/* Bytes are foreground where above < value <= up_to or, inverted, where not; bits where they are 1
 * or, inverted, 0. */
typedef struct CclCut
{
  uint8_t above, up_to; /* above <= up_to */
  bool invert;
  bool wide; /* 16-bit samples first become bytes: 255 where low <= sample <= high, else 0 */
  uint16_t low, high;
} CclCut;

static inline bool
ccl_format_is_16_bit (CclFormat format)
{
  return format == CCL_FORMAT_GRAY16_LE || format == CCL_FORMAT_GRAY16_BE ||
         format == CCL_FORMAT_GRAY10_LE || format == CCL_FORMAT_GRAY12_LE;
}

/* The bytes of a pixel with a class. */
static inline unsigned
ccl_class_size (CclFormat format)
{
  return format == CCL_FORMAT_GRAY32 ? 4 : ccl_format_is_16_bit (format) ? 2 : 1;
}

/* The cut of frames of @format. */
static inline CclCut
ccl_cut (CclValues values, const CclParams *params, CclFormat format)
{
  CclCut cut = { 0, UINT8_MAX, params->invert, false, params->low, params->high };

  if (format == CCL_FORMAT_BITS)
    return cut;
  if (values != CCL_VALUES_BAND) {
    cut.above = params->threshold;
  } else if (ccl_format_is_16_bit (format)) {
    cut.above = 127;
    cut.wide = true;
  } else if (params->low > params->high || params->low > UINT8_MAX) {
    cut.above = UINT8_MAX; /* nothing */
  } else if (params->low > 0) {
    cut.above = (uint8_t) (params->low - 1);
    cut.up_to = params->high < UINT8_MAX ? (uint8_t) params->high : UINT8_MAX;
  } else {
    /* Not above the highest: no value is below 0. */
    cut.above = params->high < UINT8_MAX ? (uint8_t) params->high : UINT8_MAX;
    cut.invert = !params->invert;
  }
  return cut;
}

#endif
