/* cudaccl - tests of libgstccl: colours of labels
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdlib.h>

#include <gst/ccl/gstcclpalette.h>
#include <gst/check/gstcheck.h>

static gint
channel (guint label, guint number)
{
  return (gint) (gst_ccl_label_get_color (label) >> (16 - 8 * number) & 255);
}

/* The sum over the channels. */
static gint
distance (guint a, guint b)
{
  gint sum = 0;
  guint i;

  for (i = 0; i < 3; i++)
    sum += ABS (channel (a, i) - channel (b, i));

  return sum;
}

/* The colours are part of the interface and must not change. */
GST_START_TEST (test_values)
{
  static const struct
  {
    guint label;
    guint32 color;
  } expected[] = {
    { 0, 0x000000 }, { 1, 0xff0000 },    { 2, 0x7da3ff },    { 3, 0x77be13 },
    { 4, 0xe142cd }, { 2584, 0x42e170 }, { 2585, 0xff0000 }, { G_MAXUINT, 0xbe135d },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (expected); i++)
    fail_unless (gst_ccl_label_get_color (expected[i].label) == expected[i].color,
                 "%u has the colour %06x, not %06x", expected[i].label,
                 gst_ccl_label_get_color (expected[i].label), expected[i].color);
}
GST_END_TEST;

/* Adjacent labels differ clearly from each other and from the background. */
GST_START_TEST (test_contrast)
{
  guint label, k;

  for (label = 1; label <= GST_CCL_N_COLORS; label++) {
    gint most = MAX (MAX (channel (label, 0), channel (label, 1)), channel (label, 2));

    fail_unless (gst_ccl_label_get_color (label) <= 0xffffff);
    fail_unless (most >= 190, "%u is dark", label);
    for (k = 1; k <= 7; k++)
      fail_unless (distance (label, label + k) > 120, "%u and %u are too much alike", label,
                   label + k);
  }
}
GST_END_TEST;

static gint
compare (gconstpointer a, gconstpointer b)
{
  guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;

  return (x > y) - (x < y);
}

/* Within a period all colours differ, from each other and from the background's. */
GST_START_TEST (test_distinct)
{
  guint32 colors[1 + GST_CCL_N_COLORS];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (colors); i++)
    colors[i] = gst_ccl_label_get_color (i);
  qsort (colors, G_N_ELEMENTS (colors), sizeof (*colors), compare);
  for (i = 1; i < G_N_ELEMENTS (colors); i++)
    fail_unless (colors[i] != colors[i - 1], "two labels have the colour %06x", colors[i]);
}
GST_END_TEST;

static Suite *
cclpalette_suite (void)
{
  Suite *s = suite_create ("cclpalette");
  TCase *tc = tcase_create ("palette");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_values);
  tcase_add_test (tc, test_contrast);
  tcase_add_test (tc, test_distinct);

  return s;
}

GST_CHECK_MAIN (cclpalette);
