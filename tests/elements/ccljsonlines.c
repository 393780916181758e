/* cudaccl - tests of the kinds of lines that ccljson writes, and of what identifies them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccljsontest.h"

#include <string.h>

/* Pushes a frame with an object for each track, which ends with 0; they are at x = 10 * @number. */
static void
push_tracks (GstHarness *h, guint number, const guint *tracks)
{
  GstBuffer *buffer = frame_new (number * GST_SECOND, GST_SECOND);
  GstCclComponent components[8] = { 0 };
  guint n;

  for (n = 0; tracks[n] > 0; n++) {
    components[n].label = n + 1;
    components[n].x = 10 * number;
    components[n].width = components[n].height = 5;
    components[n].area = 25;
    components[n].centroid_x = 10.0 * number + 2.0;
    components[n].centroid_y = 2.0;
    components[n].track = tracks[n];
    components[n].age = number * GST_SECOND;
  }
  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, n, components, n);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
}

#define PUSH(h, number, ...) push_tracks (h, number, (const guint[]){ __VA_ARGS__, 0 })

/* The next line, which must be there and have this number. */
static JsonObject *
pull_line (GstHarness *h, guint64 number)
{
  GstBuffer *buffer = gst_harness_try_pull (h);
  JsonObject *object;

  fail_unless (buffer != NULL, "no line %" G_GUINT64_FORMAT, number);
  object = take_object (buffer);
  check_integer (object, "line", number);

  return object;
}

static void
check_track (JsonObject *object, guint track, guint first, guint last, guint n_frames)
{
  static const gchar *const names[] = { "first", "last" };
  const guint numbers[] = { first, last };
  guint i;

  fail_if (json_object_has_member (object, "components"));
  fail_if (json_object_has_member (object, "event"));
  check_integer (object, "track", track);
  check_integer (object, "frames", n_frames);
  check_integer (object, "width", WIDTH);
  check_integer (object, "height", HEIGHT);
  check_double (object, "distance", 10.0 * (last - first));
  for (i = 0; i < 2; i++) {
    JsonObject *sighting = json_object_get_object_member (object, names[i]);
    JsonObject *component = json_object_get_object_member (sighting, "component");

    check_integer (sighting, "frame", numbers[i]);
    check_integer (sighting, "timestamp", numbers[i] * GST_SECOND);
    check_integer (sighting, "running-time", numbers[i] * GST_SECOND);
    check_integer (component, "x", 10 * numbers[i]);
    check_integer (component, "track", track);
    check_integer (component, "age", numbers[i] * GST_SECOND);
  }
  json_object_unref (object);
}

/* A track has a line when it has not been found for more than two seconds, and at the end of the
 * stream. */
GST_START_TEST (test_tracks)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccljson lines=tracks");
  guint i;

  PUSH (h, 0, 7, 3);
  PUSH (h, 1, 3);
  PUSH (h, 2, 7, 3, 3); /* a fragment */
  PUSH (h, 3, 9);
  PUSH (h, 4, 9);
  fail_if (gst_harness_try_pull (h));
  PUSH (h, 5, 11);
  check_track (pull_line (h, 0), 3, 0, 2, 3);
  check_track (pull_line (h, 1), 7, 0, 2, 2);
  fail_if (gst_harness_try_pull (h));

  PUSH (h, 6, 3); /* again, with the same id */
  for (i = 7; i < 9; i++) {
    PUSH (h, i, 11);
    if (i == 7)
      check_track (pull_line (h, 2), 9, 3, 4, 2);
    fail_if (gst_harness_try_pull (h));
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  check_track (pull_line (h, 3), 3, 6, 6, 1);
  check_track (pull_line (h, 4), 11, 5, 8, 3);
  fail_if (gst_harness_try_pull (h));
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A jump of the timestamps ends no track: they go on. Gaps do. */
GST_START_TEST (test_track_time)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccljson lines=tracks");

  PUSH (h, 10, 1);
  PUSH (h, 86400, 1);
  PUSH (h, 20, 1);
  PUSH (h, 21, 2);
  fail_if (gst_harness_try_pull (h));
  gst_harness_push_event (h, gst_event_new_gap (22 * GST_SECOND, GST_SECOND));
  PUSH (h, 23, 2);
  json_object_unref (pull_line (h, 0));
  fail_if (gst_harness_try_pull (h));
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Without timestamps and durations, time goes by the frame rate: here, a frame a second. */
GST_START_TEST (test_track_rate)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccljson lines=tracks");
  guint i;

  for (i = 0; i < 4; i++) {
    const GstCclComponent component = { .label = 1, .area = 1, .track = i == 0 ? 1 : 2 };
    GstBuffer *buffer = frame_new (GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE);

    gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, 1);
    fail_if (gst_harness_try_pull (h));
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  }
  json_object_unref (pull_line (h, 0));
  fail_if (gst_harness_try_pull (h));
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The maximum number of tracks; for more, there is a warning, and no line. */
GST_START_TEST (test_too_many_tracks)
{
  const guint n = 65536 + 2;
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccljson lines=tracks");
  GstCclComponent *components = g_new0 (GstCclComponent, n);
  GstBuffer *buffer;
  guint i, k;

  for (i = 0; i < n; i++)
    components[i].track = i + 1;
  for (i = 0; i < 3; i++) {
    if (i == 2) /* it warns again */
      ccl_test_restart (h, GST_STATE_READY);
    buffer = frame_new (i * GST_SECOND, GST_SECOND);
    gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, n, components, n);
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
    fail_unless_equals_int (ccl_test_count_warnings (h, ""), i != 1);
  }
  gst_harness_push_event (h, gst_event_new_eos ());
  for (k = 0; (buffer = gst_harness_try_pull (h)); k++)
    gst_buffer_unref (buffer);
  fail_unless_equals_int (k, 65536);
  g_free (components);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static GstBuffer *
frame_with_events_new (guint number, guint n_events)
{
  static gdouble points[] = { 0.0, 0.0, 1.0, 1.0 };
  static const GstCclZone zone = { (gchar *) "gate", TRUE, 0, 2, points, 5, 6, 0 };
  static const GstCclZoneEvent zone_events[] = {
    { GST_CCL_ZONE_IN, 0, 7, 0, 1.5, 2.0, 1, 0, 0 },
    { GST_CCL_ZONE_OUT, 0, 8, 0, 3.0, 4.0, 1, 1, 0, -40 },
  };
  GstBuffer *buffer = frame_new (number * GST_SECOND, GST_SECOND);

  gst_buffer_add_ccl_zones_meta (buffer, WIDTH, HEIGHT, &zone, 1, zone_events, n_events);

  return buffer;
}

/* A line for each event, and nothing for other frames. */
GST_START_TEST (test_events)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccljson lines=events");
  JsonObject *object;
  guint i;

  for (i = 0; i < 5; i++)
    gst_harness_push (h, frame_with_events_new (i, i == 3 ? 2 : 0));
  for (i = 0; i < 2; i++) {
    object = pull_line (h, i);
    fail_if (json_object_has_member (object, "components"));
    check_integer (object, "frame", 3);
    check_integer (object, "timestamp", 3 * GST_SECOND);
    check_integer (object, "width", WIDTH);
    check_integer (object, "track", 7 + i);
    check_double (object, "x", i == 0 ? 1.5 : 3.0);
    fail_unless_equals_string (json_object_get_string_member (object, "event"),
                               i == 0 ? "in" : "out");
    fail_unless_equals_string (json_object_get_string_member (object, "zone"), "gate");
    fail_unless_equals_int (json_object_has_member (object, "frame-age"), i == 1);
    json_object_unref (object);
  }
  fail_if (gst_harness_try_pull (h));
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Several kinds, and none. */
GST_START_TEST (test_kinds)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccljson lines=frames+tracks+events");
  JsonObject *object;

  PUSH (h, 0, 5);
  object = pull_line (h, 0);
  check_integer (object, "count", 1);
  json_object_unref (object);

  gst_harness_push (h, frame_with_events_new (3, 1));
  object = pull_line (h, 1);
  check_integer (object, "count", 0);
  fail_unless (json_object_has_member (object, "events"));
  json_object_unref (object);
  object = pull_line (h, 2);
  fail_unless_equals_string (json_object_get_string_member (object, "event"), "in");
  json_object_unref (object);
  check_track (pull_line (h, 3), 5, 0, 0, 1);

  gst_util_set_object_arg (G_OBJECT (h->element), "lines", "0");
  PUSH (h, 4, 6);
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_if (gst_harness_try_pull (h));
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* No session has the same line twice, and no two starts are the same session. */
GST_START_TEST (test_session)
{
  GHashTable *sessions = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  guint start, i;

  for (start = 0; start < 3; start++) {
    GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccljson lines=frames");
    gchar *session = NULL;

    for (i = 0; i < 6; i++) {
      JsonObject *object;
      const gchar *got;

      if (i == 3) {
        ccl_test_restart (h, GST_STATE_READY);
        g_clear_pointer (&session, g_free);
      }
      PUSH (h, i, 1);
      object = pull_line (h, i % 3);
      check_integer (object, "frame", i % 3);
      got = json_object_get_string_member (object, "session");
      fail_unless (g_uuid_string_is_valid (got), "%s", got);
      if (!session)
        fail_unless (g_hash_table_add (sessions, g_strdup (got)));
      fail_unless (!session || g_str_equal (got, session));
      g_free (session);
      session = g_strdup (got);
      json_object_unref (object);
    }
    g_free (session);
    ccl_test_harness_free (h);
  }
  fail_unless_equals_int (g_hash_table_size (sessions), 6);
  g_hash_table_unref (sessions);
}
GST_END_TEST;

static Suite *
ccljsonlines_suite (void)
{
  Suite *s = suite_create ("ccljsonlines");
  TCase *tc = tcase_create ("lines");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_tracks);
  tcase_add_test (tc, test_track_time);
  tcase_add_test (tc, test_track_rate);
  tcase_add_test (tc, test_too_many_tracks);
  tcase_add_test (tc, test_events);
  tcase_add_test (tc, test_kinds);
  tcase_add_test (tc, test_session);

  return s;
}

GST_CHECK_MAIN (ccljsonlines);
