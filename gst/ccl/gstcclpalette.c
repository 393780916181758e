/* cudaccl - colours for components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpalette.h"

/* 2^32 divided by the golden ratio: multiples of it, modulo 2^32, stay as far apart as can be,
 * however many there are. That GST_CCL_N_COLORS is a Fibonacci number lets the hues go on smoothly
 * where they begin again; it is a multiple of the number of tones, too. */
#define GOLDEN 0x9e3779b9u

/* @share / 255 of @value. */
static guint
fraction (guint value, guint share)
{
  return (value * share + 127) / 255;
}

/**
 * gst_ccl_label_get_color:
 * @label: the label of a component, or 0 for the background
 *
 * Gets the colour in which `cclcolor` and `ccloverlay` show a component. Labels that are near each
 * other have very different colours, and none is dark; after %GST_CCL_N_COLORS labels they repeat.
 * The background is black.
 *
 * Returns: the colour, 0xRRGGBB
 *
 * Since: 0.1
 */
guint32
gst_ccl_label_get_color (guint label)
{
  /* Labels whose hues come near each other differ in these. */
  static const struct
  {
    guint value, saturation;
  } tones[] = { { 255, 255 }, { 255, 130 }, { 190, 230 }, { 225, 180 } };
  guint index, value, saturation, f, p, q, t;
  guint64 hue;

  if (label == 0)
    return 0;

  index = (label - 1) % GST_CCL_N_COLORS;
  value = tones[index % G_N_ELEMENTS (tones)].value;
  saturation = tones[index % G_N_ELEMENTS (tones)].saturation;

  /* A sixth of the circle is 2^32: the sector is in the upper half, the place in it below. */
  hue = (guint64) (index * GOLDEN) * 6;
  f = (guint) (hue >> 24) & 255;
  p = fraction (value, 255 - saturation);
  q = fraction (value, 255 - fraction (saturation, f));
  t = fraction (value, 255 - fraction (saturation, 255 - f));

  switch (hue >> 32) {
  case 0:
    return value << 16 | t << 8 | p;
  case 1:
    return q << 16 | value << 8 | p;
  case 2:
    return p << 16 | value << 8 | t;
  case 3:
    return p << 16 | q << 8 | value;
  case 4:
    return t << 16 | p << 8 | value;
  default:
    return value << 16 | p << 8 | q;
  }
}
