/* cudaccl - colours for components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/ccl/gstcclpalette.h>

/* 2^32 divided by the golden ratio: its multiples modulo 2^32 are as far apart as possible, however
 * many there are. GST_CCL_N_COLORS is a Fibonacci number, so the sequence of hues repeats smoothly,
 * and a multiple of the number of tones. */
#define GOLDEN 0x9e3779b9u

/* 1 in fixed point, with 32 fractional bits. */
#define ONE (G_GUINT64_CONSTANT (1) << 32)

/* Returns a channel that is lower than the largest one, @value, by @share / ONE of the range
 * between the largest and the smallest. Rounds only once: otherwise some hues would coincide. */
static guint
lower (guint value, guint saturation, guint64 share)
{
  return (guint) ((value * (255 * ONE - saturation * share) + 255 * ONE / 2) / (255 * ONE));
}

/**
 * gst_ccl_label_get_color:
 * @label: the label of a component, or 0 for the background
 *
 * Gets the colour in which `cclcolor` and `ccloverlay` show a component. Nearby labels have very
 * different colours, and none is dark. %GST_CCL_N_COLORS consecutive labels have different colours,
 * which then repeat. The background is black.
 *
 * Returns: the colour, 0xRRGGBB
 *
 * Since: 0.1
 */
guint32
gst_ccl_label_get_color (guint label)
{
  /* Labels with similar hues differ in these. */
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

  /* A sixth of the circle is ONE: the upper half is the sector, the lower half the position in it.
   */
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
