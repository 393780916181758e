/* cudaccl - tests of cclonvifread
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <math.h>
#include <string.h>

#include "tests/lib/ccltest.h"

#define WIDTH 320
#define HEIGHT 240
#define READ "cclonvifread width=320 height=240"

#define BEGIN                                                                        \
  "<?xml version=\"1.0\"?><tt:MetadataStream xmlns:tt=\"http://www.onvif.org/ver10/" \
  "schema\"><tt:VideoAnalytics>"
#define END "</tt:VideoAnalytics></tt:MetadataStream>"
#define FRAME "<tt:Frame UtcTime=\"2026-11-27T12:00:00.25Z\">"
#define BOX(left, top, right, bottom)                                          \
  "<tt:Shape><tt:BoundingBox left=\"" left "\" top=\"" top "\" right=\"" right \
  "\" bottom=\"" bottom "\"/></tt:Shape>"

static GstHarness *
reader_new (void)
{
  GstHarness *h = gst_harness_new ("cclonvifread");

  g_object_set (h->element, "width", WIDTH, "height", HEIGHT, NULL);
  gst_harness_set_src_caps_str (h, "application/x-onvif-metadata,encoding=utf8,parsed=true");

  return h;
}

static GstBuffer *
document_new (const gchar *text, gsize size)
{
  GstBuffer *buffer = size > 0 ? gst_buffer_new_memdup (text, size) : gst_buffer_new ();

  GST_BUFFER_PTS (buffer) = GST_SECOND;
  GST_BUFFER_DURATION (buffer) = 40 * GST_MSECOND;

  return buffer;
}

/* Returns the frame of a document that has one. */
static GstBuffer *
read_document (const gchar *text)
{
  GstHarness *h = reader_new ();
  GstBuffer *buffer;

  fail_unless_equals_int (gst_harness_push (h, document_new (text, strlen (text))), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 1);
  buffer = gst_harness_pull (h);
  gst_harness_teardown (h);

  return buffer;
}

static const GstCclComponent *
get_component (GstBuffer *buffer, guint n)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);

  fail_unless (meta != NULL);
  fail_unless (meta->width == WIDTH && meta->height == HEIGHT);
  fail_unless_equals_int (meta->n_components, n);

  return meta->components;
}

static void
check_box (const GstCclComponent *c, guint x, guint y, guint width, guint height)
{
  fail_unless (c->x == x && c->y == y && c->width == width && c->height == height,
               "%ux%u at (%u, %u) instead of %ux%u at (%u, %u)", c->width, c->height, c->x, c->y,
               width, height, x, y);
}

/* Round trip through cclonvif: random objects, in both kinds of coordinates. */
GST_START_TEST (test_round_trip)
{
  static const gchar *const names[] = { "person", "car", "bus", "bicycle", "motorcycle", "gnome" };
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclonvif coordinates=%s ! " READ,
                                   __i__ ? "pixels" : "normalized");
  guint number, i;

  for (number = 0; number < 20; number++) {
    GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, number);
    GstCclComponent items[12] = { { 0 } };
    const GstCclComponent *got;
    GstCclMeta *meta;

    for (i = 0; i < G_N_ELEMENTS (items); i++) {
      GstCclComponent *c = &items[i];

      c->label = i + 1;
      c->x = (guint) g_random_int_range (0, WIDTH);
      c->y = (guint) g_random_int_range (0, HEIGHT);
      c->width = 1 + (guint) g_random_int_range (0, WIDTH - (gint) c->x);
      c->height = 1 + (guint) g_random_int_range (0, HEIGHT - (gint) c->y);
      c->centroid_x = c->x + g_random_double () * c->width;
      c->centroid_y = c->y + g_random_double () * c->height;
      c->track = i % 3 ? 1 + (guint) g_random_int_range (0, 1000000) : 0;
      c->class_id = i % 7;
      c->confidence = c->class_id ? 0.5 : 0.0;
    }
    meta = gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, G_N_ELEMENTS (items), items,
                                    G_N_ELEMENTS (items));
    {
      const gchar *list[] = { names[0], names[1], names[2], names[3], names[4], names[5], NULL };
      GstCclClassNames *classes = gst_ccl_class_names_new (list);

      gst_ccl_meta_set_class_names (meta, classes);
      gst_ccl_class_names_unref (classes);
    }
    buffer = gst_harness_push_and_pull (h, buffer);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), number * FRAME_TIME);
    fail_unless (gst_buffer_get_reference_timestamp_meta (buffer, NULL) != NULL);
    fail_unless_equals_int (gst_buffer_get_size (buffer), 0);
    got = get_component (buffer, G_N_ELEMENTS (items));
    meta = gst_buffer_get_ccl_meta (buffer);
    for (i = 0; i < G_N_ELEMENTS (items); i++) {
      check_box (&got[i], items[i].x, items[i].y, items[i].width, items[i].height);
      fail_unless (fabs (got[i].centroid_x - items[i].centroid_x) < 0.01);
      fail_unless (fabs (got[i].centroid_y - items[i].centroid_y) < 0.01);
      fail_unless_equals_int (got[i].track, items[i].track);
      fail_unless (fabs (got[i].confidence - items[i].confidence) < 1e-6);
      fail_unless_equals_string (
          got[i].class_id ? gst_ccl_class_names_get_name (meta->class_names, got[i].class_id) : "",
          items[i].class_id ? names[items[i].class_id - 1] : "");
    }
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Zones count what a camera found, without pixels. */
GST_START_TEST (test_zones)
{
  GstHarness *h = ccl_test_launch (
      WIDTH, HEIGHT, "cclonvif ! " READ " ! cclzones tripwires='gate: 0.25,0.5 0.75,0.5'");
  GstMessage *message;
  guint number, n = 0;

  for (number = 0; number < 15; number++) {
    GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, number);
    GstCclComponent c = { 1, 150, 60 + 8 * number, 20, 20, 400, 160, 70 + 8 * number, 7 };

    gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &c, 1);
    ccl_test_push (h, buffer);
  }
  while ((message = ccl_test_pop_message (h, GST_MESSAGE_ELEMENT))) {
    guint track;

    fail_unless (gst_structure_get_uint (gst_message_get_structure (message), "track", &track));
    fail_unless_equals_int (track, 7);
    gst_message_unref (message);
    n++;
  }
  fail_unless_equals_int (n, 1);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Documents of other makers: prefixes, transformations, class candidates, sides the other way
 * round, what is outside, and a namespace of none. */
GST_START_TEST (test_forms)
{
  const GstCclComponent *c;
  GstBuffer *buffer = read_document (
      BEGIN FRAME
      "<tt:Transformation><tt:Translate x=\"-1\" y=\"-1\"/><tt:Scale x=\"0.002\" y=\"0.002\"/>"
      "</tt:Transformation>"
      "<tt:Object ObjectId=\"0\"><tt:Appearance>" BOX (
          "0", "1000", "500",
          "500") "<tt:Class><tt:ClassCandidate><tt:Type>Animal</tt:Type><tt:Likelihood>0.2</"
                 "tt:Likelihood>"
                 "</tt:ClassCandidate><tt:ClassCandidate><tt:Type>Vehicle</"
                 "tt:Type><tt:Likelihood>0.7"
                 "</tt:Likelihood></tt:ClassCandidate></tt:Class></tt:Appearance></tt:Object>"
                 "<tt:Object ObjectId=\"9\"><tt:Appearance>" BOX (
                     "500", "500", "0",
                     "1000") "</tt:Appearance></tt:Object>"
                             "<tt:Object "
                             "ObjectId=\"10\"><tt:Appearance><tt:Transformation><tt:Translate "
                             "x=\"0\" y=\"0\"/>"
                             "<tt:Scale x=\"1\" y=\"1\"/></tt:Transformation>" BOX (
                                 "-3", "1", "0",
                                 "0") "</tt:Appearance></tt:Object>"
                                      "<tt:Object ObjectId=\"11\"><tt:Appearance>" BOX (
                                          "1100", "500", "1200",
                                          "0") "</tt:Appearance></tt:Object>"
                                               "<tt:Object ObjectId=\"12\"/></tt:Frame>" END);

  c = get_component (buffer, 3);
  check_box (&c[0], 0, 0, 160, 120);
  fail_unless_equals_int64 (c[0].track, G_MAXUINT);
  fail_unless_equals_string (
      gst_ccl_class_names_get_name (gst_buffer_get_ccl_meta (buffer)->class_names, c[0].class_id),
      "vehicle");
  fail_unless (fabs (c[0].confidence - 0.7) < 1e-9);
  check_box (&c[1], 0, 0, 160, 120);
  fail_unless_equals_int (c[1].track, 9);
  check_box (&c[2], 0, 0, 160, 120);
  fail_unless_equals_int (c[2].class_id, 0);
  gst_buffer_unref (buffer);

  buffer = read_document ("<MetadataStream><VideoAnalytics><Frame><Object><Appearance><Shape>"
                          "<BoundingBox left='-1' top='1' right='1' bottom='-1'/></Shape>"
                          "</Appearance></Object></Frame></VideoAnalytics></MetadataStream>");
  check_box (get_component (buffer, 1), 0, 0, WIDTH, HEIGHT);
  fail_unless (gst_buffer_get_reference_timestamp_meta (buffer, NULL) == NULL);
  gst_buffer_unref (buffer);
}
GST_END_TEST;

/* A document of several frames, one without objects; one of events alone. */
GST_START_TEST (test_frames)
{
  static const gchar *const text =
      BEGIN FRAME "</tt:Frame><tt:Frame UtcTime=\"2026-11-27T12:00:00.75Z\"/>" END;
  static const gchar *const events =
      "<tt:MetadataStream xmlns:tt=\"x\"><tt:Event/></tt:MetadataStream>";
  GstHarness *h = reader_new ();
  GstBuffer *buffer;
  guint i;

  fail_unless_equals_int (gst_harness_push (h, document_new (text, strlen (text))), GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_push (h, document_new (events, strlen (events))),
                          GST_FLOW_OK);
  fail_unless_equals_int (gst_harness_buffers_in_queue (h), 2);
  for (i = 0; i < 2; i++) {
    buffer = gst_harness_pull (h);
    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), GST_SECOND + i * 500 * GST_MSECOND);
    fail_unless_equals_uint64 (gst_buffer_get_reference_timestamp_meta (buffer, NULL)->timestamp,
                               1795780800 * GST_SECOND + (250 + i * 500) * GST_MSECOND);
    get_component (buffer, 0);
    gst_buffer_unref (buffer);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

static gchar *
repeat (const gchar *before, const gchar *text, guint n, const gchar *after)
{
  GString *string = g_string_new (before);

  while (n-- > 0)
    g_string_append (string, text);

  return g_string_free (g_string_append (string, after), FALSE);
}

static guint
count_messages (GstBus *bus, GstMessageType type)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (bus, type))) {
    n++;
    gst_message_unref (message);
  }

  return n;
}

/* Invalid documents are refused, each a warning if a valid one was before, and ten in a row end the
 * stream. */
GST_START_TEST (test_hostile)
{
  static const gchar *const valid = BEGIN FRAME "</tt:Frame>" END;
  gchar *documents[] = {
    g_strdup (""),
    g_strdup ("<"),
    g_strdup ("not XML"),
    g_strdup ("<html/>"),
    g_strdup (BEGIN FRAME),
    g_strdup (BEGIN FRAME "</tt:Frame>" END "<more/>"
                          "&"),
    g_strdup ("<!DOCTYPE a [<!ENTITY b \"c\">]>" BEGIN "&b;" END),
    g_strdup (BEGIN FRAME "<tt:Object><tt:Appearance>" BOX (
        "nan", "0", "1", "0") "</tt:Appearance></tt:Object></tt:Frame>" END),
    g_strdup (BEGIN FRAME "<tt:Object><tt:Appearance>" BOX (
        "1e300", "0", "1", "0") "</tt:Appearance></tt:Object></tt:Frame>" END),
    g_strdup (BEGIN FRAME "<tt:Object><tt:Appearance>" BOX (
        "0x", "0", "1", "0") "</tt:Appearance></tt:Object></tt:Frame>" END),
    repeat ("<MetadataStream>", "<a>", 70, "</MetadataStream>"),
    repeat (BEGIN, "<tt:Frame/>", 65, END),
    repeat (BEGIN "<tt:Frame>", "<tt:Object/>", 4097, "</tt:Frame>" END),
    repeat (BEGIN, "<!-- a comment that is long -->", 40000, END),
    g_strdup (BEGIN "<tt:Frame a=\"\xff\"/>" END),
  };
  GstHarness *h = reader_new ();
  GstBus *bus = gst_bus_new ();
  guint64 refused;
  guint i;

  gst_element_set_bus (h->element, bus);
  for (i = 0; i < G_N_ELEMENTS (documents); i++) {
    fail_unless_equals_int (
        gst_harness_push (h, document_new (documents[i], strlen (documents[i]))), GST_FLOW_OK);
    fail_unless_equals_int (gst_harness_buffers_in_queue (h), 0);
    fail_unless (count_messages (bus, GST_MESSAGE_WARNING) == 1, "%.100s is not refused",
                 documents[i]);
    fail_unless_equals_int (gst_harness_push (h, document_new (valid, strlen (valid))),
                            GST_FLOW_OK);
    gst_buffer_unref (gst_harness_pull (h));
  }
  fail_unless_equals_int (gst_harness_push (h, document_new ("<a>\0</a>", 8)), GST_FLOW_OK);
  g_object_get (h->element, "refused", &refused, NULL);
  fail_unless_equals_uint64 (refused, G_N_ELEMENTS (documents) + 1);
  for (i = 1; i < 10; i++)
    fail_unless_equals_int (gst_harness_push (h, document_new ("<", 1)),
                            i < 9 ? GST_FLOW_OK : GST_FLOW_ERROR);
  fail_unless_equals_int (count_messages (bus, GST_MESSAGE_ERROR), 1);

  gst_element_set_bus (h->element, NULL);
  gst_object_unref (bus);
  gst_harness_teardown (h);
  for (i = 0; i < G_N_ELEMENTS (documents); i++)
    g_free (documents[i]);
}
GST_END_TEST;

static Suite *
cclonvifread_suite (void)
{
  Suite *suite = suite_create ("cclonvifread");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_round_trip, 0, 2);
  tcase_add_test (tc, test_zones);
  tcase_add_test (tc, test_forms);
  tcase_add_test (tc, test_frames);
  tcase_add_test (tc, test_hostile);

  return suite;
}

GST_CHECK_MAIN (cclonvifread);
