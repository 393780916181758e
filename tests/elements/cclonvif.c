/* cudaccl - tests of cclonvif; tests/python/test_onvif.py has those of the documents' structure
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>
#include <string.h>

#include "tests/lib/ccltest.h"

#define WIDTH 64
#define HEIGHT 48

/* The document of a frame, which is consumed. */
static gchar *
write_frame (GstBuffer *buffer)
{
  GstHarness *h = gst_harness_new ("cclonvif");
  gchar *document;
  gsize size;

  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=64,height=48,framerate=1/1");
  GST_BUFFER_PTS (buffer) = 0;
  buffer = gst_harness_push_and_pull (h, buffer);
  gst_buffer_extract_dup (buffer, 0, (gsize) -1, (gpointer *) &document, &size);
  document = g_realloc (document, size + 1);
  document[size] = '\0';
  gst_buffer_unref (buffer);
  gst_harness_teardown (h);

  return document;
}

/* The document for a component with that centroid. */
static gchar *
write_document (gdouble centroid_x, gdouble centroid_y)
{
  GstCclComponent component = { 1, 16, 12, 32, 24, 9, centroid_x, centroid_y, 7 };
  GstBuffer *buffer = gst_buffer_new ();

  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, 1);

  return write_frame (buffer);
}

/* Events of standing objects say how long they have stood. */
GST_START_TEST (test_standing)
{
  static const struct
  {
    GstCclZoneEventType type;
    const gchar *topic;
  } cases[] = {
    { GST_CCL_ZONE_STOPPED, "tns1:RuleEngine/LoiteringDetector/ObjectIsLoitering<" },
    { GST_CCL_ZONE_LEFT, "tns1:RuleEngine/AbandonedObject/Object<" },
    { GST_CCL_ZONE_REMOVED, "tns1:RuleEngine/MissingObject/Object<" },
  };
  const GstCclZone zone = { .name = (gchar *) "yard" };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    const GstCclZoneEvent event = { cases[i].type, 0, 7, 90 * GST_SECOND, 1.0, 2.0 };
    GstCaps *caps = gst_caps_new_empty_simple ("timestamp/x-unix");
    GstBuffer *buffer = gst_buffer_new ();
    gchar *document;

    gst_buffer_add_reference_timestamp_meta (buffer, caps, 1000 * GST_SECOND, GST_CLOCK_TIME_NONE);
    gst_caps_unref (caps);
    gst_buffer_add_ccl_zones_meta (buffer, WIDTH, HEIGHT, &zone, 1, &event, 1);
    document = write_frame (buffer);
    fail_unless (strstr (document, cases[i].topic), "%s", document);
    fail_unless (strstr (document, "Name=\"Since\" Value=\"1970-01-01T00:15:10.000000000Z\""), "%s",
                 document);
    fail_unless (strstr (document, "Name=\"ObjectId\" Value=\"7\""), "%s", document);
    g_free (document);
  }
}
GST_END_TEST;

GST_START_TEST (test_object)
{
  gchar *document = write_document (31.5, 7.5);

  fail_unless (strstr (document, "<tt:Object ObjectId=\"7\"><tt:Appearance><tt:Shape>"
                                 "<tt:BoundingBox bottom=\"-0.5\" top=\"0.5\" right=\"0.5\" "
                                 "left=\"-0.5\"/><tt:CenterOfGravity x=\"0\" y=\"0.666667\"/>"),
               "%s", document);
  g_free (document);
}
GST_END_TEST;

/* Attributes are finite numbers, even if the metadata is not. */
GST_START_TEST (test_finite)
{
  static const gdouble values[] = { INFINITY, -INFINITY, NAN,    G_MAXDOUBLE, -G_MAXDOUBLE,
                                    1e305,    1e-300,    -1e300, 1e40 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (values); i++) {
    gchar *document = write_document (values[i], -values[i]);
    const gchar *at = strstr (document, "<tt:CenterOfGravity");
    guint n = 0;

    while ((at = strstr (at, "=\""))) {
      gchar *end;
      gdouble value = g_ascii_strtod (at + 2, &end);

      fail_unless (*end == '"' && end > at + 2 && isfinite (value), "%s", document);
      fail_unless (g_ascii_isdigit (at[2]) || at[2] == '-', "%s", document);
      at = end;
      n++;
    }
    fail_unless_equals_int (n, 2);
    g_free (document);
  }
}
GST_END_TEST;

static Suite *
cclonvif_suite (void)
{
  Suite *s = suite_create ("cclonvif");
  TCase *tc = tcase_create ("documents");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_standing);
  tcase_add_test (tc, test_object);
  tcase_add_test (tc, test_finite);

  return s;
}

GST_CHECK_MAIN (cclonvif);
