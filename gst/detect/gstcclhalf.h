/* cudaccl - 16-bit floating-point numbers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_HALF_H__
#define __GST_CCL_HALF_H__

#include <glib.h>
#include <math.h>
#include <string.h>

G_BEGIN_DECLS

/* Returns the nearest IEEE 754 binary16 number, or infinity. @value must not be NaN. */
static inline guint16
gst_ccl_half_from_float (gfloat value)
{
  const guint sign = signbit (value) ? 0x8000 : 0;
  gint exponent;
  gfloat fraction = frexpf (fabsf (value), &exponent);

  if (fabsf (value) >= 65520.0f)
    return (guint16) (sign | 0x7c00);
  if (exponent < -13 || value == 0.0f) /* below the smallest normal number */
    return (guint16) (sign | (guint) lrintf (ldexpf (fabsf (value), 24)));

  /* If the fraction is rounded up to 2048, the exponent increases. */
  return (guint16) (sign + ((guint) (exponent + 13) << 10) +
                    (guint) lrintf (ldexpf (fraction, 11)));
}

static inline gfloat
gst_ccl_half_to_float (guint16 half)
{
  guint32 bits = (guint32) (half & 0x7fff) << 13;
  gfloat value;

  /* With this exponent the number is 2^112 times too large, so that subnormal ones come out
   * right, too. */
  memcpy (&value, &bits, sizeof (value));
  value *= 0x1p112f;
  memcpy (&bits, &value, sizeof (bits));
  if ((half & 0x7c00) == 0x7c00) /* infinity or NaN */
    bits |= 0x7f800000;
  bits |= (guint32) (half & 0x8000) << 16;
  memcpy (&value, &bits, sizeof (value));

  return value;
}

G_END_DECLS

#endif /* __GST_CCL_HALF_H__ */
