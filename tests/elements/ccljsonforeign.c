/* cudaccl - tests of ccljson's lines for other programs
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccljsontest.h"

#include <string.h>

#define UTC (G_GUINT64_CONSTANT (1769860800) * GST_SECOND + 123456789) /* 2026-01-31T12:00:00 */

/* Pushes a frame with @n objects: with all that is known, and with nothing but a box. */
static void
push_components (GstHarness *h, guint number, guint n)
{
  static const gchar *const names[] = { "motorcycle", "a|\"b\"", NULL };
  const GstCclComponent components[] = {
    { .x = 16, .y = 12, .width = 8, .height = 6, .track = 258, .class_id = 1, .confidence = 0.875 },
    { .width = WIDTH, .height = HEIGHT },
    { .x = 63, .y = 47, .width = 1, .height = 1, .track = 1, .class_id = 2, .confidence = 2.0 },
    { .x = 0, .y = 0, .width = 1, .height = 1, .track = 2, .class_id = 1 },
  };
  GstBuffer *buffer = frame_new (number * GST_SECOND, GST_SECOND);
  GstCaps *caps = gst_caps_new_empty_simple ("timestamp/x-unix");

  gst_buffer_add_reference_timestamp_meta (buffer, caps, UTC + number * GST_SECOND,
                                           GST_CLOCK_TIME_NONE);
  ccl_test_set_names (gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, n, components, n), names);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  gst_caps_unref (caps);
}

static void
check_caps (GstHarness *h, const gchar *format)
{
  GstCaps *caps = gst_pad_get_current_caps (h->sinkpad);

  fail_unless_equals_string (gst_structure_get_string (gst_caps_get_structure (caps, 0), "format"),
                             format);
  gst_caps_unref (caps);
}

static void
check_line (GstHarness *h, const gchar *expected)
{
  GstBuffer *buffer = gst_harness_try_pull (h);
  gchar *line;

  fail_unless (buffer != NULL, "no line %s", expected);
  line = take_line (buffer);
  fail_unless_equals_string (line, expected);
  g_free (line);
}

/* Replaces the first UUID in the line, but for its last 8 digits, by U, and checks it. */
static void
check_axis_line (GstHarness *h, const gchar *expected)
{
  GstBuffer *buffer = gst_harness_try_pull (h);
  gchar *line, *plain;
  GRegex *regex = g_regex_new ("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{4}"
                               "(?=[0-9a-f]{8}\")",
                               0, 0, NULL);

  fail_unless (buffer != NULL, "no line %s", expected);
  line = take_line (buffer);
  plain = g_regex_replace_literal (regex, line, -1, 0, "U", 0, NULL);
  fail_unless_equals_string (plain, expected);
  g_regex_unref (regex);
  g_free (plain);
  g_free (line);
}

GST_START_TEST (test_deepstream)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT,
                                   "ccljson schema=deepstream-minimal lines=frames+tracks+events");

  push_components (h, 0, 4);
  check_caps (h, "deepstream-minimal");
  check_line (h, "{\"version\":\"4.0\",\"id\":0,\"@timestamp\":\"2026-01-31T12:00:00.123Z\","
                 "\"sensorId\":\"0\",\"objects\":[\"258|16|12|24|18|motorcycle|#|0.875\","
                 "\"18446744073709551615|0|0|64|48|\",\"1|63|47|64|48|a \\\"b\\\"|#|1.000\","
                 "\"2|0|0|1|1|motorcycle\"]}");
  g_object_set (h->element, "source", "a\"\n", NULL);
  push_components (h, 1, 0);
  check_line (h, "{\"version\":\"4.0\",\"id\":1,\"@timestamp\":\"2026-01-31T12:00:01.123Z\","
                 "\"sensorId\":\"a\\\"\\u000a\",\"objects\":[]}");
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_if (gst_harness_try_pull (h));
  ccl_test_harness_free (h);
}
GST_END_TEST;

GST_START_TEST (test_axis)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccljson schema=axis lines=frames+tracks+events");

  push_components (h, 0, 4);
  check_caps (h, "axis");
  check_axis_line (
      h,
      "{\"channel_id\":1,\"timestamp\":\"2026-01-31T12:00:00.123456Z\",\"detections\":["
      "{\"bounding_box\":{\"left\":0.25000,\"top\":0.25000,\"right\":0.37500,\"bottom\":0.37500},"
      "\"object_track_id\":\"U00000102\",\"class\":{\"type\":\"Bike\",\"score\":0.875}},"
      "{\"bounding_box\":{\"left\":0.00000,\"top\":0.00000,\"right\":1.00000,"
      "\"bottom\":1.00000}},"
      "{\"bounding_box\":{\"left\":0.98438,\"top\":0.97917,\"right\":1.00000,"
      "\"bottom\":1.00000},\"object_track_id\":\"U00000001\","
      "\"class\":{\"type\":\"a|\\\"b\\\"\",\"score\":1.000}},"
      "{\"bounding_box\":{\"left\":0.00000,\"top\":0.00000,\"right\":0.01562,"
      "\"bottom\":0.02083},\"object_track_id\":\"U00000002\"}]}");
  push_components (h, 1, 1);
  json_object_unref (take_object (gst_harness_pull (h)));
  gst_harness_push_event (h, gst_event_new_eos ());
  check_axis_line (h, "{\"channel_id\":1,\"id\":\"U00000001\",\"start_time\":"
                      "\"2026-01-31T12:00:00.123456Z\",\"end_time\":"
                      "\"2026-01-31T12:00:00.123456Z\",\"duration\":0.000000,\"classes\":["
                      "{\"type\":\"a|\\\"b\\\"\",\"score\":1.000}]}");
  check_axis_line (h, "{\"channel_id\":1,\"id\":\"U00000002\",\"start_time\":"
                      "\"2026-01-31T12:00:00.123456Z\",\"end_time\":"
                      "\"2026-01-31T12:00:00.123456Z\",\"duration\":0.000000,\"classes\":[]}");
  check_axis_line (h, "{\"channel_id\":1,\"id\":\"U00000102\",\"start_time\":"
                      "\"2026-01-31T12:00:00.123456Z\",\"end_time\":"
                      "\"2026-01-31T12:00:01.123456Z\",\"duration\":1.000000,\"classes\":["
                      "{\"type\":\"Bike\",\"score\":0.875}]}");
  fail_if (gst_harness_try_pull (h));
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* They need a time of day, which files have not. */
GST_START_TEST (test_time)
{
  const gint64 before = g_get_real_time () / G_USEC_PER_SEC;
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccljson schema=axis lines=frames");
  GTimeZone *utc = g_time_zone_new_utc ();
  gint64 times[2];
  guint i;

  for (i = 0; i < 2; i++) {
    JsonObject *object;
    GDateTime *time;

    fail_unless_equals_int (gst_harness_push (h, frame_new (7 * i * GST_SECOND, GST_SECOND)),
                            GST_FLOW_OK);
    object = take_object (gst_harness_pull (h));
    time = g_date_time_new_from_iso8601 (json_object_get_string_member (object, "timestamp"), utc);
    fail_unless (time != NULL);
    times[i] = g_date_time_to_unix (time);
    g_date_time_unref (time);
    json_object_unref (object);
  }
  fail_unless (times[0] >= before && times[0] <= before + 60);
  fail_unless_equals_int (times[1] - times[0], 7);
  g_time_zone_unref (utc);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A schema without lines of a kind says so, rather than to write none for ever. */
GST_START_TEST (test_kinds)
{
  static const struct
  {
    const gchar *schema, *lines, *advice; /* NULL: there are some */
  } cases[] = {
    { "deepstream-minimal", "tracks+events", "set lines=frames." },
    { "axis", "events", "set lines=frames or lines=tracks." },
    { "axis", "tracks", NULL },
    { "cudaccl", "events", NULL },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstElement *json =
        ccl_test_parse ("ccljson schema=%s lines=%s", cases[i].schema, cases[i].lines);

    if (cases[i].advice)
      ccl_test_check_start_fails (json, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS,
                                  cases[i].advice);
    else
      ccl_test_harness_free (ccl_test_harness_new (json, "GRAY8", WIDTH, HEIGHT));
  }
}
GST_END_TEST;

static Suite *
ccljsonforeign_suite (void)
{
  Suite *s = suite_create ("ccljsonforeign");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_deepstream);
  tcase_add_test (tc, test_axis);
  tcase_add_test (tc, test_time);
  tcase_add_test (tc, test_kinds);

  return s;
}

GST_CHECK_MAIN (ccljsonforeign);
