/* cudaccl - tests of the element cudaccl: bands of values, and classes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include <glib/gstdio.h>
#include <string.h>

#define WIDTH 8
#define HEIGHT 4

/* Two components of class 1, which touch class 2, and one of class 3; a class without a name. */
static const gchar *const map[HEIGHT] = { "11220000", "11220933", "22110033", "22110030" };

static const struct
{
  guint x, y, width, height, class_id;
  const gchar *type; /* with connectivity 4 */
} objects[] = {
  { 0, 0, 2, 2, 1, "road" }, { 2, 0, 2, 2, 2, "car" }, { 5, 1, 1, 1, 9, "thing" },
  { 6, 1, 2, 3, 3, "sign" }, { 0, 2, 2, 2, 2, "car" }, { 2, 2, 2, 2, 1, "road" },
};

static const gchar *const formats[] = { "GRAY8", "GRAY16_LE", "GRAY16_BE" };

/* A frame of @values: digits, times @scale. */
static GstBuffer *
make_frame (guint format, const gchar *const values[HEIGHT], guint scale)
{
  const guint bytes = format > 0 ? 2 : 1;
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, WIDTH * HEIGHT * bytes, NULL);
  GstMapInfo info;
  guint i;

  fail_unless (gst_buffer_map (buffer, &info, GST_MAP_WRITE));
  for (i = 0; i < WIDTH * HEIGHT; i++) {
    guint value = (guint) (values[i / WIDTH][i % WIDTH] - '0') * scale;

    if (format == 0)
      info.data[i] = (guint8) value;
    else if (format == 1)
      GST_WRITE_UINT16_LE (info.data + 2 * i, value);
    else
      GST_WRITE_UINT16_BE (info.data + 2 * i, value);
  }
  gst_buffer_unmap (buffer, &info);

  return buffer;
}

static gchar *
write_labels (const gchar *text)
{
  gchar *name = NULL;
  gint fd = g_file_open_tmp ("labels-XXXXXX.txt", &name, NULL);

  fail_unless (fd >= 0 && g_close (fd, NULL));
  fail_unless (g_file_set_contents (name, text, -1, NULL));

  return name;
}

static void
check_regions (GstBuffer *buffer)
{
  GstVideoRegionOfInterestMeta *roi;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (objects); i++) {
    const gchar *name = NULL;

    roi = gst_buffer_get_video_region_of_interest_meta_id (buffer, (gint) i);
    fail_unless_equals_string (g_quark_to_string (roi->roi_type), objects[i].type);
    gst_structure_get (gst_video_region_of_interest_meta_get_param (roi, "cudaccl"), "class",
                       G_TYPE_STRING, &name, NULL);
    fail_unless (!name == (objects[i].class_id == 9));
    g_free ((gchar *) name);
  }
}

GST_START_TEST (test_classes)
{
  gchar *labels = write_labels ("background\nroad\ncar\nsign\n");
  GstHarness *h = ccl_test_harness_new (
      ccl_test_element_new (ccl_test_backend (__i__ / 3), "connectivity", 4, "roi-type", "thing",
                            "labels", labels, "post-messages", TRUE, NULL),
      formats[__i__ % 3], WIDTH, HEIGHT);
  GstBuffer *out;
  GstCclMeta *meta;
  GstMessage *message;
  gchar *text;
  guint i, n;

  gst_util_set_object_arg (G_OBJECT (h->element), "values", "equal");
  ccl_test_restart (h, GST_STATE_READY);
  ccl_test_set_caps (h, formats[__i__ % 3], WIDTH, HEIGHT);
  out = gst_harness_push_and_pull (h, make_frame ((guint) __i__ % 3, map, 1));
  meta = gst_buffer_get_ccl_meta (out);
  n = gst_ccl_meta_get_n_components (meta);
  fail_unless_equals_int (n, G_N_ELEMENTS (objects));
  for (i = 0; i < n; i++) {
    const GstCclComponent *c = gst_ccl_meta_get_component (meta, i);

    fail_unless_equals_int (c->x, objects[i].x);
    fail_unless_equals_int (c->y, objects[i].y);
    fail_unless_equals_int (c->width, objects[i].width);
    fail_unless_equals_int (c->height, objects[i].height);
    fail_unless_equals_int (c->class_id, objects[i].class_id);
    if (c->class_id < 4)
      fail_unless_equals_string (gst_ccl_meta_get_class_name (meta, c->class_id), objects[i].type);
  }
  check_regions (out);
  message = ccl_test_pop_message (h, GST_MESSAGE_ELEMENT);
  text = gst_structure_to_string (gst_message_get_structure (message));
  fail_unless (strstr (text, "sign"));
  g_free (text);

  gst_message_unref (message);
  gst_buffer_unref (out);
  ccl_test_harness_free (h);
  g_unlink (labels);
  g_free (labels);
}
GST_END_TEST;

/* Both limits belong to the band, and change while playing. */
GST_START_TEST (test_band)
{
  static const struct
  {
    guint low, high;
    gboolean invert;
    guint area; /* of all components */
  } cases[] = {
    { 1, 65535, FALSE, 22 }, { 2, 2, FALSE, 8 }, { 2, 3, FALSE, 13 }, { 0, 1, FALSE, 18 },
    { 2, 3, TRUE, 19 },      { 3, 2, FALSE, 0 }, { 9, 9, FALSE, 1 },
  };
  const guint scale = __i__ % 3 ? 7000 : 28;
  GstElement *element = ccl_test_element_new (ccl_test_backend (__i__ / 3), NULL);
  GstHarness *h;
  guint i, k;

  gst_util_set_object_arg (G_OBJECT (element), "values", "band");
  h = ccl_test_harness_new (element, formats[__i__ % 3], WIDTH, HEIGHT);
  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstBuffer *out;
    GstCclMeta *meta;
    guint64 area = 0;

    g_object_set (element, "low", cases[i].low * scale, "high", MIN (cases[i].high * scale, 65535u),
                  "invert", cases[i].invert, NULL);
    out = gst_harness_push_and_pull (h, make_frame ((guint) __i__ % 3, map, scale));
    meta = gst_buffer_get_ccl_meta (out);
    for (k = 0; k < gst_ccl_meta_get_n_components (meta); k++)
      area += gst_ccl_meta_get_component (meta, k)->area;
    fail_unless_equals_uint64 (area, cases[i].area);
    gst_buffer_unref (out);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Settings that do not go with classes. */
GST_START_TEST (test_refusals)
{
  static const struct
  {
    const gchar *property, *value, *text;
  } cases[] = {
    { "morphology", "median3", "operations" },
    { "features", "holes", "shapes" },
#if !GST_CHECK_VERSION(1, 26, 0)
    { "segmentation", "true", "1.26" },
#endif
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *element = ccl_test_element_new (NULL, NULL);

    gst_util_set_object_arg (G_OBJECT (element), "values", "equal");
    gst_util_set_object_arg (G_OBJECT (element), cases[i].property, cases[i].value);
    ccl_test_check_start_fails (element, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                                cases[i].text);
  }
  ccl_test_check_start_fails (ccl_test_element_new ("cpu", "labels", "/no/such/labels.txt", NULL),
                              GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_OPEN_READ,
                              "/no/such/labels.txt");
}
GST_END_TEST;

static Suite *
cudacclvalues_suite (void)
{
  Suite *s = suite_create ("cudacclvalues");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_classes, 0, 3 * (gint) ccl_test_n_backends ());
  tcase_add_loop_test (tc, test_band, 0, 3 * (gint) ccl_test_n_backends ());
  tcase_add_test (tc, test_refusals);

  return s;
}

GST_CHECK_MAIN (cudacclvalues);
