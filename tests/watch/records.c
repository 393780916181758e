/* cudaccl-watch - tests of events and tracks as JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <json-glib/json-glib.h>

#include "apps/watch/records/json.h"

/* 2026-01-31T12:00:00.25Z */
#define TIME G_GINT64_CONSTANT (1769860800250000)

GST_START_TEST (test_times)
{
  static const struct
  {
    const gchar *text;
    gint64 time; /* -1: wrong */
  } cases[] = {
    { "2026-01-31T12:00:00.250Z", TIME },
    { "2026-01-31T13:00:00.25+01:00", TIME },
    { "1769860800.25", TIME },
    { "0", 0 },
    { "-1", -1 },
    { "nan", -1 },
    { "1e300", -1 },
    { "", -1 },
    { "yesterday", -1 },
    { "12 ", -1 },
  };
  g_autofree gchar *text = watch_time_to_string (TIME);

  fail_unless_equals_string (text, cases[0].text);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    gint64 time = -1;

    fail_unless_equals_int (watch_time_from_string (cases[i].text, &time), cases[i].time >= 0);
    fail_unless_equals_int64 (time, cases[i].time);
  }
}
GST_END_TEST;

GST_START_TEST (test_kinds)
{
  WatchEventKind kind;

  for (guint i = 0; i < WATCH_N_EVENT_KINDS; i++) {
    fail_unless (watch_event_kind_from_name (watch_event_kind_get_name (i), &kind));
    fail_unless_equals_int (kind, i);
  }
  fail_if (watch_event_kind_from_name ("motions", &kind));
}
GST_END_TEST;

GST_START_TEST (test_event)
{
  WatchEvent event = { "yard",       "0c3e",      7,        TIME,     WATCH_EVENT_DWELL,
                       "door \"1\"", 42,          "person", 0.123456, 1,
                       2500000,      3,           2,        1,        NULL,
                       "yard/a.jpg", "yard/a.mp4" };
  WatchEvent lost = { "yard", "0c3e", 8, TIME, WATCH_EVENT_LOST, .x = -1, .text = "no \xff route" };
  g_autoptr (WatchEvent) copy = watch_event_copy (&event);
  g_autofree gchar *line = watch_event_to_json (copy);
  g_autofree gchar *lost_line = watch_event_to_json (&lost);

  fail_unless_equals_string (
      line,
      "{\"camera\":\"yard\",\"session\":\"0c3e\",\"number\":7,\"utc\":\"2026-01-31T12:00:00.250Z\","
      "\"event\":\"dwell\",\"zone\":\"door \\\"1\\\"\",\"track\":42,\"class\":\"person\","
      "\"x\":0.1235,\"y\":1,\"dwell\":2.5,\"in\":3,\"out\":2,\"inside\":1,"
      "\"picture\":\"yard/a.jpg\",\"clip\":\"yard/a.mp4\"}");
  fail_unless_equals_string (
      lost_line,
      "{\"camera\":\"yard\",\"session\":\"0c3e\",\"number\":8,\"utc\":\"2026-01-31T12:00:00.250Z\","
      "\"event\":\"lost\",\"text\":\"no \xef\xbf\xbd route\"}");
}
GST_END_TEST;

GST_START_TEST (test_reason)
{
  g_autoptr (WebReason) reason = web_reason_new (WEB_REASON_MEDIA_FULL, "path", "/a \"b\"", "free",
                                                 "7", "reserve", "256", NULL);
  g_autoptr (GError) error = NULL, copy = NULL;
  g_autofree gchar *json = web_reason_to_json (reason), *line = NULL;
  GString *text = web_json_new ();
  WatchEvent event = { "yard", "0c3e", 8, TIME, WATCH_EVENT_LOST, .x = -1 };

  fail_unless_equals_string (
      reason->text, "nothing is recorded: /a \"b\" can take only 7 MB, and 256 MB are kept free; "
                    "make space on its disk, or lower the retention");
  fail_unless (g_str_has_prefix (json, "{\"code\":\"media-full\",\"arguments\":{"
                                       "\"path\":\"/a \\\"b\\\"\",\"free\":7,\"reserve\":256},"
                                       "\"text\":\"nothing is recorded: "),
               "%s", json);

  /* Errors carry it, and so do their copies. */
  error = web_reason_to_error (g_steal_pointer (&reason));
  fail_unless (g_error_matches (error, WEB_REASON_ERROR, WEB_REASON_MEDIA_FULL));
  copy = g_error_copy (error);
  g_clear_error (&error);
  fail_unless_equals_string (web_reason_from_error (copy)->code, "media-full");
  fail_unless_equals_string (web_reason_from_error (copy)->text, copy->message);
  g_clear_error (&copy);
  copy = g_error_new_literal (G_FILE_ERROR, 0, "a");
  fail_unless (web_reason_from_error (copy) == NULL && web_reason_from_error (NULL) == NULL);

  event.reason = json;
  line = watch_event_to_json (&event);
  fail_unless (strstr (line, "\"event\":\"lost\",\"reason\":{\"code\":\"media-full\",") != NULL,
               "%s", line);
  web_reason_add_json (text, "reason", NULL);
  fail_unless_equals_string (text->str, "{");
  g_string_free (text, TRUE);
}
GST_END_TEST;

GST_START_TEST (test_track)
{
  WatchPoint points[] = { { TIME, 0, 0.5, 0.25, 0.125 }, { TIME + 1500000, 0.1, 0.5, 0.25, 0.5 } };
  gchar *zones[] = { "door", "hall", NULL };
  WatchTrack track = { "yard", "0c3e", 42,    TIME, TIME + 1500000, "person", 0.75,
                       2,      points, zones, NULL };
  g_autoptr (WatchTrack) copy = watch_track_copy (&track);
  g_autofree gchar *line = watch_track_to_json (copy);

  fail_unless_equals_string (
      line, "{\"camera\":\"yard\",\"session\":\"0c3e\",\"track\":42,\"begin\":\"2026-01-31T12:00:"
            "00.250Z\","
            "\"end\":\"2026-01-31T12:00:01.750Z\",\"class\":\"person\",\"confidence\":0.75,"
            "\"zones\":[\"door\",\"hall\"],"
            "\"path\":[[0,0,0.5,0.25,0.125],[1.5,0.1,0.5,0.25,0.5]]}");
}
GST_END_TEST;

GST_START_TEST (test_status)
{
  const WatchBox box = { .track = 42,
                         .class_name = g_strdup ("person"),
                         .x = 0.125,
                         .y = 0.25,
                         .width = 0.5,
                         .height = 0.75 };
  WatchCameraStatus status;
  GString *json = web_json_new ();
  g_autofree gchar *text = NULL;

  watch_camera_status_init (&status);
  g_array_append_val (status.boxes, box);
  watch_camera_status_add_json (json, "yard", &status);
  text = web_json_take (json);
  fail_unless (strstr (text, "\"boxes\":[{\"track\":42,\"class\":\"person\",\"x\":0.125,\"y\":0.25,"
                             "\"width\":0.5,\"height\":0.75}]") != NULL,
               "%s", text);
  watch_camera_status_clear (&status);
}
GST_END_TEST;

/* json-glib 1.6 does not escape U+001F. */
GST_START_TEST (test_json)
{
  GString *json = web_json_new ();
  gchar controls[34] = { 0 };
  g_autofree gchar *text = NULL;
  g_autoptr (JsonNode) root = NULL;

  for (gchar c = 1; c < ' '; c++)
    controls[c - 1] = c;
  controls[31] = 0x7f;
  web_json_add_string (json, "controls", controls);
  web_json_add_string (json, "plain", "\"\\/ <ü\xff>");
  web_json_add_string (json, "none", NULL);
  web_json_begin_array (json, "numbers");
  web_json_add_double (json, NULL, 3);
  web_json_add_double (json, NULL, -0.1);
  web_json_add_double (json, NULL, 1e300);
  web_json_add_decimal (json, NULL, 0.12345, 4);
  web_json_add_decimal (json, NULL, 1200, 3);
  web_json_add_int (json, NULL, G_MININT64);
  web_json_add_uint (json, NULL, G_MAXUINT64);
  web_json_add_boolean (json, NULL, TRUE);
  web_json_end_array (json);
  web_json_begin_array (json, "empty");
  web_json_end_array (json);
  web_json_begin_object (json, "object");
  web_json_end_object (json);
  text = web_json_take (json);
  fail_unless_equals_string (
      text,
      "{\"controls\":"
      "\"\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f"
      "\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c"
      "\\u001d"
      "\\u001e\\u001f\\u007f\",\"plain\":\"\\\"\\\\/ <ü\xef\xbf\xbd>\","
      "\"numbers\":[3.0,-0.10000000000000001,1.0000000000000001e+300,0.1235,1200,"
      "-9223372036854775808,18446744073709551615,true],\"empty\":[],\"object\":{}}");
  root = json_from_string (text, NULL);
  fail_unless_equals_string (
      json_object_get_string_member (json_node_get_object (root), "controls"), controls);
}
GST_END_TEST;

static Suite *
records_suite (void)
{
  Suite *s = suite_create ("records");
  TCase *tc = tcase_create ("records");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_times);
  tcase_add_test (tc, test_kinds);
  tcase_add_test (tc, test_event);
  tcase_add_test (tc, test_reason);
  tcase_add_test (tc, test_track);
  tcase_add_test (tc, test_status);
  tcase_add_test (tc, test_json);
  return s;
}

GST_CHECK_MAIN (records);
