/* cudaccl - colours for components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpalette.h"

/* 2^32 divided by the golden ratio: multiples of it, modulo 2^32, stay as far apart as can be,
 * however many there are. That GST_CCL_N_COLORS is a Fibonacci number lets the hues go on smoothly
 * where they begin again; it is a multiple of the number of tones, too. */
#define GOLDEN 0x9e3779b9u

/* As a number with 32 binary places. */
#define ONE (G_GUINT64_CONSTANT (1) << 32)

/* A channel that lacks @share / ONE of what the largest one, @value, is more than the smallest one.
 * It is rounded once: the hues are so near each other that some would become the same otherwise. */
static guint
lower (guint value, guint saturation, guint64 share)
{
  return (guint) ((value * (255 * ONE - saturation * share) + 255 * ONE / 2) / (255 * ONE));
}

/**
 * gst_ccl_label_get_color:
 * @label: the label of a component, or 0 for the background
 *
 * Gets the colour in which `cclcolor` and `ccloverlay` show a component. Labels that are near each
 * other have very different colours, and none is dark; no two of %GST_CCL_N_COLORS labels that
 * follow each other have the same one, and then they repeat. The background is black.
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
  guint index, value, saturation, p, q, t;
  guint64 hue, place;

  if (label == 0)
    return 0;

  index = (label - 1) % GST_CCL_N_COLORS;
  value = tones[index % G_N_ELEMENTS (tones)].value;
  saturation = tones[index % G_N_ELEMENTS (tones)].saturation;

  /* A sixth of the circle is ONE: the sector is in the upper half, the place in it below. */
  hue = (guint64) (index * GOLDEN) * 6;
  place = hue % ONE;
  p = lower (value, saturation, ONE);
  q = lower (value, saturation, place);
  t = lower (value, saturation, ONE - place);

  switch (hue / ONE) {
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
