/* cudaccl - tests of cclzones
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltimingtest.h"
#include "tests/lib/sanitizer.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WIDTH 200
#define HEIGHT 100

/* Pushes a frame with an object, 10 x 20, whose bottom centre is at x, y. */
static void
push_object (GstHarness *h, guint number, guint track, gint x, gint y)
{
  GstCclComponent component = { 1, (guint) x - 5, (guint) y - 20, 10, 20, 200, x, y - 10, track };
  GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, number);

  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, track ? 1 : 0);
  ccl_test_push (h, buffer);
}

static void
check_event (GstHarness *h, const gchar *event, const gchar *zone, guint track)
{
  GstMessage *message = ccl_test_pop_message (h, GST_MESSAGE_ELEMENT);
  const GstStructure *structure;
  guint got;

  fail_unless (message != NULL, "no event %s", event);
  structure = gst_message_get_structure (message);
  fail_unless (gst_structure_has_name (structure, "cclzones"));
  fail_unless_equals_string (gst_structure_get_string (structure, "event"), event);
  fail_unless_equals_string (gst_structure_get_string (structure, "zone"), zone);
  fail_unless (gst_structure_get_uint (structure, "track", &got));
  fail_unless_equals_int (got, track);
  gst_message_unref (message);
}

static void
check_counts (GstHarness *h, const gchar *zone, guint64 in, guint64 out, guint inside)
{
  GstStructure *counts, *count;
  guint64 got_in, got_out;
  guint got_inside;

  g_object_get (h->element, "counts", &counts, NULL);
  fail_unless (gst_structure_get (counts, zone, GST_TYPE_STRUCTURE, &count, NULL));
  fail_unless (gst_structure_get (count, "in", G_TYPE_UINT64, &got_in, "out", G_TYPE_UINT64,
                                  &got_out, "inside", G_TYPE_UINT, &got_inside, NULL));
  fail_unless_equals_uint64 (got_in, in);
  fail_unless_equals_uint64 (got_out, out);
  fail_unless_equals_int (got_inside, inside);
  gst_structure_free (count);
  gst_structure_free (counts);
}

static void
append_event (GString *text, const gchar *event, const gchar *zone, guint track, guint64 dwell)
{
  g_string_append_printf (text, "%s%s %s %u", text->len ? ", " : "", event, zone, track);
  if (dwell > 0)
    g_string_append_printf (text, " %u ms", (guint) (dwell / GST_MSECOND));
}

/* Checks all events since the last call, as `event zone track`, and `time ms` in the zone if any.
 * Returns the number of warnings. */
static guint
check_events (GstHarness *h, const gchar *expected)
{
  GString *text = g_string_new (NULL);
  GstMessage *message;
  guint n_warnings = 0;

  while ((message = ccl_test_pop_message (h, GST_MESSAGE_ELEMENT | GST_MESSAGE_WARNING))) {
    const GstStructure *structure = gst_message_get_structure (message);
    guint64 dwell;
    guint track;

    if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING) {
      n_warnings++;
    } else {
      fail_unless (gst_structure_get (structure, "track", G_TYPE_UINT, &track, "dwell",
                                      G_TYPE_UINT64, &dwell, NULL));
      append_event (text, gst_structure_get_string (structure, "event"),
                    gst_structure_get_string (structure, "zone"), track, dwell);
    }
    gst_message_unref (message);
  }
  fail_unless_equals_string (text->str, expected);
  g_string_free (text, TRUE);

  return n_warnings;
}

/* The same of a frame's metadata. */
static gchar *
describe_events (const GstCclZonesMeta *meta)
{
  GString *text = g_string_new (NULL);
  guint i;

  for (i = 0; i < meta->n_events; i++) {
    const GstCclZoneEvent *event = &meta->events[i];

    append_event (text, gst_ccl_zone_event_type_get_name (event->type),
                  meta->zones[event->zone].name, event->track, event->dwell);
  }

  return g_string_free (text, FALSE);
}

static void
check_no_event (GstHarness *h)
{
  fail_unless (ccl_test_pop_message (h, GST_MESSAGE_ELEMENT) == NULL);
}

GST_START_TEST (test_tripwire)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclzones tripwires='gate: 0.25,0.5 0.75,0.5'");
  guint number = 0;
  gint y;

  for (y = 30; y <= 80; y += 5)
    push_object (h, number++, 7, 100, y);
  check_event (h, "in", "gate", 7);
  for (; y >= 30; y -= 5)
    push_object (h, number++, 7, 100, y);
  check_event (h, "out", "gate", 7);

  /* Beside the wire. */
  for (y = 30; y <= 80; y += 5)
    push_object (h, number++, 8, 20, y);
  /* Flicker. */
  for (y = 0; y < 10; y++)
    push_object (h, number++, 9, 100, y % 2 ? 49 : 51);
  check_no_event (h);
  check_counts (h, "gate", 1, 1, 0);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* An object that moves smoothly crosses the wire twice if it goes over it and back, even within the
 * hysteresis. One whose box grows by two pixels in single frames does not, and one that jumps to
 * and fro does not. */
GST_START_TEST (test_visit)
{
  static const gint visit[] = {
    46, 47, 48, 49, 49, 50, 50, 51, 51, 51, 51, 51, 50, 49, 48, 47, 46
  };
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclzones tripwires='gate: 50,50 150,50'");
  guint number = 0, i;

  for (i = 0; i < G_N_ELEMENTS (visit); i++)
    push_object (h, number++, 1, 100, visit[i]);
  check_event (h, "in", "gate", 1);
  check_event (h, "out", "gate", 1);

  for (i = 0; i < 40; i++)
    push_object (h, number++, 2, 100, i % 13 == 12 ? 51 : 49);
  for (i = 0; i < 40; i++)
    push_object (h, number++, 3, 100, i % 8 < 4 ? 49 : 51);
  push_object (h, number++, 2, 100, 49);
  push_object (h, number++, 3, 100, 49);
  check_no_event (h);
  check_counts (h, "gate", 1, 1, 0);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Crossings that hysteresis holds back: the object is gone, or the stream ends, or the element
 * stops. Objects that go round the end of the wire do not cross it, unless on the way back. */
GST_START_TEST (test_pending)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclzones tripwires='gate: 50,50 150,50'");
  guint number = 0;
  gint x;

  push_object (h, number++, 1, 100, 40);
  push_object (h, number++, 1, 100, 51);
  check_no_event (h);
  push_object (h, number += 21, 2, 20, 40);
  check_event (h, "in", "gate", 1);

  push_object (h, ++number, 2, 20, 70);
  for (x = 30; x <= 100; x += 10)
    push_object (h, ++number, 2, x, 70);
  check_no_event (h);
  push_object (h, ++number, 2, 100, 30);
  check_event (h, "out", "gate", 2);

  push_object (h, ++number, 2, 100, 51);
  check_no_event (h);
  fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
  check_event (h, "in", "gate", 2);
  check_no_event (h);
  check_counts (h, "gate", 2, 1, 0);
  ccl_test_harness_free (h);

  /* The element stops without an end of the stream. */
  h = ccl_test_launch (WIDTH, HEIGHT, "cclzones tripwires='gate: 50,50 150,50'");
  push_object (h, 0, 1, 100, 40);
  push_object (h, 1, 1, 100, 51);
  check_no_event (h);
  gst_element_set_state (h->element, GST_STATE_READY);
  check_event (h, "in", "gate", 1);
  check_no_event (h);
  check_counts (h, "gate", 1, 0, 0);
  ccl_test_harness_free (h);
}
GST_END_TEST;

GST_START_TEST (test_zone)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclzones zones='50,30 150,30 150,90 50,90'");
  guint number = 0, i;
  gint x;

  g_object_set (h->element, "dwell-time", GST_SECOND, NULL);
  for (x = 20; x <= 100; x += 10)
    push_object (h, number++, 3, x, 60);
  check_event (h, "enter", "zone1", 3);
  for (i = 0; i < 10; i++)
    push_object (h, number++, 3, 100, 60);
  check_event (h, "dwell", "zone1", 3);
  check_counts (h, "zone1", 1, 0, 1);
  for (; x <= 180; x += 10)
    push_object (h, number++, 3, x, 60);
  check_event (h, "leave", "zone1", 3);
  check_counts (h, "zone1", 1, 1, 0);

  /* An object that appears inside and disappears has entered and left. */
  push_object (h, number, 4, 100, 60);
  check_event (h, "enter", "zone1", 4);
  push_object (h, number + 25, 0, 100, 60);
  check_event (h, "leave", "zone1", 4);
  check_no_event (h);
  check_counts (h, "zone1", 2, 2, 0);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A polygon whose sides cross consists of two triangles with opposite turns. */
GST_START_TEST (test_crossed_sides)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclzones zones='50,20 150,20 50,90 150,90'");

  push_object (h, 0, 1, 100, 30);
  check_event (h, "enter", "zone1", 1);
  push_object (h, 1, 2, 100, 80);
  check_event (h, "enter", "zone1", 2);
  push_object (h, 2, 3, 60, 55);
  check_no_event (h);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Zones that change while PLAYING: those that stay keep their counts. */
GST_START_TEST (test_change)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclzones zones='a: 50,30 150,30 150,90 50,90'");

  push_object (h, 0, 1, 100, 60);
  check_event (h, "enter", "a", 1);
  g_object_set (h->element, "zones", "a: 50,30 150,30 150,90 50,90; b: 0,0 1,0 1,1 0,1", NULL);
  push_object (h, 1, 1, 100, 60);
  check_event (h, "enter", "b", 1);
  check_no_event (h);
  check_counts (h, "a", 1, 0, 1);

  g_object_set (h->element, "zones", "a: 50,30 150", NULL);
  push_object (h, 2, 1, 100, 60);
  gst_message_unref (ccl_test_pop_message (h, GST_MESSAGE_WARNING));
  check_counts (h, "b", 1, 0, 1);

  /* Elsewhere it is another zone, whatever its name. */
  g_object_set (h->element, "zones", "a: 0,0 40,0 40,40 0,40; b: 0,0 1,0 1,1 0,1", NULL);
  push_object (h, 3, 1, 100, 60);
  check_no_event (h);
  check_counts (h, "a", 0, 0, 0);
  check_counts (h, "b", 1, 0, 1);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static const struct
{
  const gchar *property, *value, *text;
} errors[] = {
  { "zones", "a: 1,2 3,4 x", "zones, character 12: expected a point x,y" },
  { "zones", "a: 1,2 3,4", "zones, character 1, \"a\": a zone has three points or more" },
  { "zones", "a: 1,2 3,4 5,6", "has no area" },
  { "zones", "a: 0.1,0.1 0.2,0.2 0.3,0.3", "has no area" },
  { "zones", "a: 1,2 1,2 1,2 1,2", "has no area" },
  { "zones", "a: 0,0 1,0 1,1; a: 0,0 1,0 1,1", "zones, character 17, \"a\": the name is taken" },
  { "tripwires", "1,1 2,2 3,3", "a tripwire has two points" },
  { "tripwires", "1,1 1,1", "must differ" },
  { "tripwires", "\xff: 1,1 1,2", "not UTF-8" },
  { "config", "/nonexistent/zones.json", "/nonexistent/zones.json" },
#ifdef HAVE_JSON_GLIB
  { "zones", " [1", "zones: <data>:1" },
  { "zones", "[1]", "zones[0]: expected an object" },
  { "zones", "{}", "zones: expected an array" },
  { "zones", "[{\"id\":\"a\",\"points\":[{\"x\":1}]}]", "zones[0].points[0]: expected a" },
  { "zones", "[{\"id\":\"a\",\"points\":[[0,0],[1e999,0],[0,1]]}]",
    "zones[0].points[1]: expected a point" },
  { "zones", "[{\"id\":\"a\",\"type\":\"circle\",\"radius\":3}]", "zones[0]: expected a center" },
  { "zones", "[{\"id\":\"a\",\"center\":[0,0],\"radius\":1e999}]", "zones[0]: expected a center" },
  { "zones", "[{\"id\":\"a\",\"center\":[1e308,0],\"radius\":1e308}]",
    "zones[0]: expected a center" },
  { "tripwires", "[{\"id\":\"a\",\"points\":[[1,2],[3,4]],\"color\":{\"r\":256}}]",
    "tripwires[0].color: expected r, g and b" },
  { "tripwires", "[{}]", "tripwires[0].id: expected a string" },
#endif
};

GST_START_TEST (test_errors)
{
  GstElement *element = gst_element_factory_make ("cclzones", NULL);

  g_object_set (element, errors[__i__].property, errors[__i__].value, NULL);
  ccl_test_check_start_fails (element, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS,
                              errors[__i__].text);
}
GST_END_TEST;

#ifdef HAVE_JSON_GLIB
/* A file in the format of DL Streamer's gvaanalytics, arrays in properties, and invalid files. */
GST_START_TEST (test_json)
{
  GstElement *element = gst_element_factory_make ("cclzones", NULL);
  GstHarness *h;
  gchar *path = g_build_filename (g_get_tmp_dir (), "cclzones-XXXXXX", NULL);
  gint file = g_mkstemp (path);
  GstMessage *message;
  gchar *debug;
  GError *error;

  g_object_set (element, "zones", "[{\"id\":\"left\",\"points\":[[0,0],[0.25,0],[0.25,1],[0,1]]}]",
                NULL);
  h = ccl_test_harness_new (element, "GRAY8", WIDTH, HEIGHT);
  fail_unless (file >= 0);
  close (file);
  g_file_set_contents (
      path,
      "{\"zones\":[{\"id\":\"disc\",\"type\":\"circle\",\"center\":{\"x\":100,\"y\":50},"
      "\"radius\":20,\"color\":{\"r\":255,\"g\":16,\"b\":0},\"thickness\":3}],\n"
      "\"tripwires\":[{\"id\":\"wire\",\"points\":[{\"x\":80,\"y\":0},{\"x\":80,\"y\":100}]}]}",
      -1, NULL);
  g_object_set (h->element, "config", path, NULL);
  push_object (h, 0, 1, 30, 50);
  check_event (h, "enter", "left", 1);
  push_object (h, 1, 1, 100, 50);
  check_event (h, "enter", "disc", 1);
  check_event (h, "out", "wire", 1);
  check_event (h, "leave", "left", 1);
  check_no_event (h);

  g_file_set_contents (path, "{\"zones\":[],\n\"tripwires\":[{\"id\":\"a\",\"points\":[1]}]}", -1,
                       NULL);
  g_object_set (h->element, "config", path, NULL);
  push_object (h, 2, 1, 100, 50);
  message = ccl_test_pop_message (h, GST_MESSAGE_WARNING);
  gst_message_parse_warning (message, &error, &debug);
  fail_unless (strstr (error->message, path) != NULL);
  fail_unless (strstr (error->message, "tripwires[0].points[0]") != NULL, "%s", error->message);
  g_clear_error (&error);
  g_free (debug);
  gst_message_unref (message);
  check_counts (h, "wire", 0, 1, 0);

  g_unlink (path);
  g_free (path);
  ccl_test_harness_free (h);
}
GST_END_TEST;
#endif

/* An object that becomes static in a zone causes one event: stopped, left or removed. */
GST_START_TEST (test_standing)
{
  static const struct
  {
    const gchar *event;
    guint flags;
    guint64 before; /* ms for which it was tracked before it stood */
  } cases[] = {
    { "stopped", GST_CCL_COMPONENT_STATIC, 5000 },
    { "left", GST_CCL_COMPONENT_STATIC, 500 },
    { "removed", GST_CCL_COMPONENT_STATIC | GST_CCL_COMPONENT_REMOVED, 0 },
  };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = ccl_test_launch (WIDTH, HEIGHT,
                                     "cclzones zones='a: 0,0 0.5,0 0.5,1 0,1; b: 150,0 200,0 "
                                     "200,100 150,100' tripwires='wire: 0,0 1,1'");

    for (k = 0; k < 8; k++) {
      GstCclComponent component = { 1, 15, 40, 10, 20, 200, 20, 50, 7 };
      GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, k);
      GstMessage *message;
      guint64 stood;

      /* static from the third frame on, not for a frame, and then again */
      if (k >= 2 && k != 6) {
        component.flags = cases[i].flags;
        component.static_age = 1000 + 10 * k;
      }
      component.age = (cases[i].before + 1000 + 10 * k) * GST_MSECOND;
      gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, 1);
      ccl_test_push (h, buffer);
      if (k == 0)
        check_event (h, "enter", "a", 7);
      if (k != 2 && k != 7) {
        fail_unless (ccl_test_pop_message (h, GST_MESSAGE_ELEMENT) == NULL);
        continue;
      }
      message = ccl_test_pop_message (h, GST_MESSAGE_ELEMENT);
      fail_unless (message != NULL);
      fail_unless_equals_string (
          gst_structure_get_string (gst_message_get_structure (message), "event"), cases[i].event);
      fail_unless_equals_string (
          gst_structure_get_string (gst_message_get_structure (message), "zone"), "a");
      fail_unless (gst_structure_get_uint64 (gst_message_get_structure (message), "dwell", &stood));
      fail_unless_equals_uint64 (stood, (1000 + 10 * k) * GST_MSECOND);
      gst_message_unref (message);
    }
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* Components outside of the polygons, and their regions, are dropped, tracked or not. */
GST_START_TEST (test_drop_outside)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT,
                                   "cclzones zones='a: 0,0 0.5,0 0.5,1 0,1; b: 150,0 200,0 200,100 "
                                   "150,100' tripwires='wire: 0,0 1,1'");
  const GstCclComponent components[] = { { 1, 15, 40, 10, 20, 200, 20, 50, 7 },
                                         { 2, 110, 40, 10, 20, 200, 115, 50, 8 },
                                         { 3, 160, 40, 10, 20, 200, 165, 50, 0 } };
  guint drop, i;

  for (drop = 0; drop < 2; drop++) {
    GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);
    GstCclMeta *meta;

    g_object_set (h->element, "drop-outside", drop, NULL);
    gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 5, components, 3);
    for (i = 0; i < 3; i++)
      gst_video_region_of_interest_meta_add_param (
          gst_buffer_add_video_region_of_interest_meta (buffer, "x", components[i].x, 40, 10, 20),
          gst_structure_new ("cudaccl", "label", G_TYPE_UINT, i + 1, NULL));
    buffer = gst_harness_push_and_pull (h, buffer);
    meta = gst_buffer_get_ccl_meta (buffer);
    fail_unless_equals_int (meta->n_components, 3 - drop);
    fail_unless_equals_int (meta->found, 5 - drop);
    fail_unless_equals_int (meta->components[1].label, drop ? 3 : 2);
    fail_unless_equals_int (
        gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 3 - drop);
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The frame's metadata has zones in pixels, counts and events; a second element adds its own,
 * and scaled frames have scaled ones. The pixels of shared frames are not copied. */
GST_START_TEST (test_meta)
{
  GstHarness *h = ccl_test_launch (
      WIDTH, HEIGHT, "cclzones zones='a: 0,0 0.5,0 0.5,1 0,1' tripwires='gate: 100,0 100,100'");
  GstHarness *second = ccl_test_launch (WIDTH, HEIGHT, "cclzones zones='b: 0,0 1,0 1,1 0,1'");
  GstCclComponent component = { 1, 15, 40, 10, 20, 200, 20, 50, 7 };
  GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT), *out, *scaled;
  const GstCclZone *zone;
  GstCclZonesMeta *meta;
  guint n;

  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, 1);
  out = gst_harness_push_and_pull (h, gst_buffer_ref (buffer));
  fail_unless (gst_buffer_get_ccl_zones_meta (buffer) == NULL);
  fail_unless (gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (buffer, 0));
  gst_buffer_unref (buffer);
  out = gst_harness_push_and_pull (second, out);

  meta = gst_buffer_get_ccl_zones_meta (out);
  fail_unless_equals_int (gst_ccl_zones_meta_get_n_zones (meta), 3);
  fail_unless_equals_int (gst_ccl_zones_meta_get_n_events (meta), 2);
  fail_unless_equals_int (meta->width, WIDTH);
  zone = gst_ccl_zones_meta_get_zone (meta, 0);
  fail_unless_equals_string (zone->name, "a");
  fail_unless_equals_uint64 (zone->in, 1);
  fail_unless_equals_int (zone->inside, 1);
  fail_unless_equals_float (gst_ccl_zone_get_points (zone, &n)[2], 100.0);
  fail_unless_equals_int (n, 8);
  zone = gst_ccl_zones_meta_get_zone (meta, 1);
  fail_unless (zone->tripwire);
  fail_unless_equals_int (meta->events[1].zone, 2);
  fail_unless_equals_int (meta->events[1].track, 7);
  fail_unless_equals_string (gst_ccl_zone_event_type_get_name (meta->events[1].type), "enter");

  scaled = ccl_test_scaled_new (out, &meta->meta, WIDTH, HEIGHT, 2 * WIDTH, HEIGHT / 2);
  meta = gst_buffer_get_ccl_zones_meta (scaled);
  fail_unless_equals_int (meta->width, 2 * WIDTH);
  fail_unless_equals_float (meta->zones[0].points[2], 200.0);
  fail_unless_equals_float (meta->events[0].x, 40.0);
  fail_unless_equals_float (meta->events[0].y, 30.0);

  gst_buffer_unref (scaled);
  gst_buffer_unref (out);
  ccl_test_harness_free (second);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Pushes a frame with two objects, @size times larger than WIDTH and HEIGHT. Returns the frame. */
static GstBuffer *
push_two (GstHarness *h, guint number, guint size, guint y1, guint y2)
{
  const guint y[2] = { y1, y2 };
  GstBuffer *buffer = ccl_test_frame_new (size * WIDTH, size * HEIGHT, number);
  GstCclComponent components[2] = { { 0 } };
  guint i;

  for (i = 0; i < 2; i++) {
    components[i].label = i + 1;
    components[i].track = i + 1;
    components[i].x = size * (75 + 40 * i);
    components[i].y = size * (y[i] - 20);
    components[i].width = size * 10;
    components[i].height = size * 20;
    components[i].area = 200 * size * size;
  }
  gst_buffer_add_ccl_meta (buffer, size * WIDTH, size * HEIGHT, 2, components, 2);

  return gst_harness_push_and_pull (h, buffer);
}

typedef enum
{
  BREAK_GAP_EVENT,
  BREAK_GAP_BUFFER,
  BREAK_SEGMENT,
  BREAK_FORMAT,
  BREAK_SIZE,
  BREAK_STREAM,
  BREAK_FLUSH,
  BREAK_END_STREAM,
  BREAK_END_FLUSH,
} Break;

/* An interruption between two frames, whether the objects are new after it, and its events and
 * those of the next frame. */
static const struct
{
  Break type;
  gboolean anew;
  const gchar *events, *after;
  guint in, out, gate;
} breaks[] = {
  { BREAK_GAP_EVENT, FALSE, "", "in gate 1, in gate 2", 2, 0, 2 },
  { BREAK_GAP_BUFFER, FALSE, "", "in gate 1, in gate 2", 2, 0, 2 },
  { BREAK_SEGMENT, FALSE, "", "in gate 1, in gate 2", 2, 0, 2 },
  { BREAK_FORMAT, FALSE, "", "in gate 1, in gate 2", 2, 0, 2 },
  { BREAK_SIZE, TRUE, "in gate 1, leave area 1 600 ms, leave area 2 600 ms",
    "enter area 1, enter area 2", 4, 2, 1 },
  { BREAK_STREAM, TRUE, "in gate 1, leave area 1 600 ms, leave area 2 600 ms",
    "enter area 1, enter area 2", 4, 2, 1 },
  { BREAK_FLUSH, TRUE, "", "enter area 1, enter area 2", 4, 0, 0 },
  { BREAK_END_STREAM, TRUE, "in gate 1, leave area 1 600 ms, leave area 2 600 ms",
    "enter area 1, enter area 2", 4, 2, 1 },
  { BREAK_END_FLUSH, TRUE, "in gate 1", "enter area 1, enter area 2", 4, 0, 1 },
};

static void
push_break (GstHarness *h, Break type)
{
  switch (type) {
  case BREAK_GAP_EVENT:
    fail_unless (gst_harness_push_event (h, gst_event_new_gap (7 * FRAME_TIME, FRAME_TIME)));
    break;
  case BREAK_GAP_BUFFER:
    ccl_test_push (h, ccl_test_gap_new (7 * FRAME_TIME));
    break;
  case BREAK_SEGMENT:
    ccl_test_push_segment (h, 0, 8 * FRAME_TIME);
    break;
  case BREAK_FORMAT:
    ccl_test_set_caps (h, "NV12", WIDTH, HEIGHT);
    break;
  case BREAK_SIZE:
    ccl_test_set_caps (h, "GRAY8", 2 * WIDTH, 2 * HEIGHT);
    break;
  case BREAK_END_STREAM:
    fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
    /* fall through */
  case BREAK_STREAM:
    fail_unless (gst_harness_push_event (h, gst_event_new_stream_start ("next")));
    ccl_test_push_segment (h, 0, 8 * FRAME_TIME);
    break;
  case BREAK_END_FLUSH:
    fail_unless (gst_harness_push_event (h, gst_event_new_eos ()));
    /* fall through */
  case BREAK_FLUSH:
    ccl_test_flush (h, ccl_test_gap_new (7 * FRAME_TIME));
    break;
  }
}

/* One object is just over the wire when the break comes, too near to have crossed it, the other far
 * before it; after the break both are far beyond it. How long they are in the zone goes on if they
 * are the same objects. */
GST_START_TEST (test_breaks)
{
  Break type = breaks[__i__].type;
  GstHarness *h = ccl_test_launch (
      WIDTH, HEIGHT,
      "cclzones zones='area: 0.25,0.3 0.75,0.3 0.75,0.9 0.25,0.9' tripwires='gate: 0,0.5 1,0.5'");
  guint first = type <= BREAK_GAP_BUFFER || type == BREAK_FORMAT || type == BREAK_SIZE ? 8 : 0;
  guint size = type == BREAK_SIZE ? 2 : 1, number;
  const gchar *separator = *breaks[__i__].events ? ", " : "";
  GstCclZonesMeta *meta;
  gchar *expected, *got;
  GstBuffer *buffer;

  g_object_set (h->element, "dwell-time", GST_SECOND, NULL);
  gst_buffer_unref (push_two (h, 0, 1, 40, 40));
  check_events (h, "enter area 1, enter area 2");
  for (number = 1; number < 7; number++)
    gst_buffer_unref (push_two (h, number, 1, number == 6 ? 51 : 40, 40));
  check_events (h, "");

  push_break (h, type);
  check_events (h, breaks[__i__].events);
  check_counts (h, "area", 2, breaks[__i__].out, breaks[__i__].anew ? 0 : 2);

  /* The first frame has the events of the break as well. */
  buffer = push_two (h, first, size, 80, 80);
  check_events (h, breaks[__i__].after);
  meta = gst_buffer_get_ccl_zones_meta (buffer);
  expected = g_strconcat (breaks[__i__].events, separator, breaks[__i__].after, NULL);
  got = describe_events (meta);
  fail_unless_equals_string (got, expected);
  if (*breaks[__i__].events) {
    fail_unless_equals_float (meta->events[0].x, size * 80.0);
    fail_unless_equals_float (meta->events[0].y, size * 51.0);
    /* A flush begins a new running time. */
    fail_unless_equals_int64 (meta->events[0].frame_age,
                              type == BREAK_END_FLUSH ? 0 : 2 * (gint64) FRAME_TIME);
    fail_unless_equals_int64 (meta->events[meta->n_events - 1].frame_age, 0);
  }
  g_free (expected);
  g_free (got);
  gst_buffer_unref (buffer);

  for (number = 1; number < 12; number++) {
    buffer = push_two (h, first + number, size, 80, 80);
    check_events (h, number == (breaks[__i__].anew ? 10 : 2)
                         ? "dwell area 1 1000 ms, dwell area 2 1000 ms"
                         : "");
    meta = gst_buffer_get_ccl_zones_meta (buffer);
    fail_unless_equals_int (meta->n_events, number == (breaks[__i__].anew ? 10 : 2) ? 2 : 0);
    gst_buffer_unref (buffer);
  }
  check_counts (h, "area", breaks[__i__].in, breaks[__i__].out, 2);
  check_counts (h, "gate", breaks[__i__].gate, 0, 0);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Events between frames keep their zones, even if another element's zones have the same names. */
GST_START_TEST (test_series)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT,
                                   "cclzones zones='0,0 0.2,0 0.2,1 0,1' ! "
                                   "cclzones zones='0.3,0 1,0 1,1 0.3,1'");
  const GstCclZonesMeta *meta;
  GstBuffer *buffer;

  gst_buffer_unref (push_two (h, 0, 1, 40, 40));
  fail_unless (gst_harness_push_event (h, gst_event_new_stream_start ("next")));
  ccl_test_push_segment (h, 0, 0);

  /* Both objects left the second zone, and are there again. */
  buffer = push_two (h, 1, 1, 40, 40);
  meta = gst_buffer_get_ccl_zones_meta (buffer);
  fail_unless_equals_int (meta->n_zones, 2);
  fail_unless_equals_int (meta->n_events, 4);
  fail_unless_equals_int (meta->events[0].type, GST_CCL_ZONE_LEAVE);
  fail_unless_equals_int (meta->events[0].zone, 1);
  fail_unless_equals_int (meta->events[3].zone, 1);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* With any timestamps, an object in the zone in frames 10 to 34 enters it once, has been there
 * for a second in frame 20, and leaves it when it is not seen for two seconds. */
GST_START_TEST (test_timing)
{
  const CclTestTiming *timing = &ccl_test_timings[__i__];
  GstHarness *h = ccl_test_launch (
      WIDTH, HEIGHT, "cclzones zones='a: 0.5,0 1,0 1,1 0.5,1' tripwires='gate: 0.5,0 0.5,1'");
  guint number;

  g_object_set (h->element, "dwell-time", GST_SECOND, NULL);
  gst_harness_use_testclock (h);
  ccl_test_timing_start (timing, h, WIDTH, HEIGHT);
  for (number = 0; number < 80; number++) {
    GstCclComponent component = { 1, number < 10 ? 20 : 150, 40, 10, 20, 200, 0, 0, 7 };
    GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);
    GstCclZonesMeta *meta;
    guint inside = number >= 10 && number < 55;

    if (ccl_test_timing_drops (timing, number))
      continue;
    gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, number < 35);
    ccl_test_timing_stamp (timing, buffer, number);
    gst_harness_set_time (h, number * FRAME_TIME);
    buffer = gst_harness_push_and_pull (h, buffer);
    meta = gst_buffer_get_ccl_zones_meta (buffer);
    fail_unless (meta->zones[0].inside == inside, "%s, frame %u: %u inside", timing->name, number,
                 meta->zones[0].inside);
    gst_buffer_unref (buffer);
  }

  check_counts (h, "a", 1, 1, 0);
  check_counts (h, "gate", 0, 1, 0);
  fail_unless_equals_int (
      check_events (h, "enter a 7, out gate 7, dwell a 7 1000 ms, leave a 7 2400 ms"),
      timing->jumps);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Gaps do not mean that an object is gone, however long they last. */
GST_START_TEST (test_gaps)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclzones zones='a: 0,0 1,0 1,1 0,1'");
  guint number;

  g_object_set (h->element, "dwell-time", 6 * GST_SECOND, NULL);
  push_object (h, 0, 1, 100, 60);
  check_events (h, "enter a 1");
  for (number = 1; number < 50; number++) {
    ccl_test_push (h, ccl_test_gap_new (number * FRAME_TIME));
    check_counts (h, "a", 1, 0, 1);
  }
  fail_unless (gst_harness_push_event (h, gst_event_new_gap (5 * GST_SECOND, 60 * GST_SECOND)));
  check_no_event (h);
  push_object (h, 650, 1, 100, 60);
  fail_unless_equals_int (check_events (h, "dwell a 1 65000 ms"), 0);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Components without tracks cause one warning, unless ccltrack has not confirmed their objects
 * yet. */
GST_START_TEST (test_untracked)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclzones zones='a: 0,0 1,0 1,1 0,1'");
  GstCclComponent component = { 1, 15, 40, 10, 20, 200, 20, 50, 0 };
  guint number, tracked;

  for (tracked = 0; tracked < 2; tracked++) {
    ccl_test_restart (h, GST_STATE_READY);
    ccl_test_set_caps (h, "GRAY8", WIDTH, HEIGHT);
    for (number = 0; number < 100; number++) {
      GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);

      component.track = tracked && number == 5;
      gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &component, 1);
      ccl_test_push (h, buffer);
    }
    fail_unless_equals_int (check_events (h, tracked ? "enter a 1, leave a 1" : ""), !tracked);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* More objects than there is room for. These tests take milliseconds a frame, and took seconds or
 * minutes where the work is quadratic. */
GST_START_TEST (test_many_objects)
{
  const guint n = 20000, room = 4096;
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclzones zones='a: 0,0 1,0 1,1 0,1'");
  GstCclComponent *components = g_new0 (GstCclComponent, n);
  gint64 start = g_get_monotonic_time ();
  guint64 exceeded;
  guint number, i;

  for (number = 0; number < 25; number++) {
    GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, number);

    for (i = 0; i < n; i++) {
      components[i].track = 1 + (number * n + i) * 7919 % 1000003;
      components[i].x = i % WIDTH;
      components[i].width = components[i].height = 1;
    }
    gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, n, components, n);
    ccl_test_push (h, buffer);
    ccl_test_drain (h);
  }
  fail_unless (g_get_monotonic_time () - start < 10 * G_TIME_SPAN_SECOND);
  /* The first ones leave after 2 seconds, which makes room for others. */
  check_counts (h, "a", 2 * room, room, room);
  g_object_get (h->element, "exceeded", &exceeded, NULL);
  fail_unless_equals_uint64 (exceeded, (guint64) 25 * n - 2 * room);
  g_free (components);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Many regions of interest, half of which are outside. */
GST_START_TEST (test_many_regions)
{
  const guint n = 129600;
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclzones zones='a: 0,0 0.5,0 0.5,1 0,1'");
  GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);
  gint64 start;
  guint i;

  g_object_set (h->element, "drop-outside", TRUE, NULL);
  for (i = 0; i < n; i++)
    gst_video_region_of_interest_meta_add_param (
        gst_buffer_add_video_region_of_interest_meta (buffer, "x", i % WIDTH, 40, 1, 2),
        gst_structure_new ("cudaccl", "label", G_TYPE_UINT, i + 1, NULL));
  start = g_get_monotonic_time ();
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless (TEST_SANITIZER || g_get_monotonic_time () - start < 4 * G_TIME_SPAN_SECOND);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), n / 2);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static void
check_start_fails (const gchar *property, const gchar *value, const gchar *problem)
{
  GstElement *element = gst_element_factory_make ("cclzones", NULL);

  g_object_set (element, property, value, NULL);
  ccl_test_check_start_fails (element, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, problem);
}

/* More zones, points or brackets than the limits. */
GST_START_TEST (test_limits)
{
  GString *text = g_string_new (NULL);
  guint i;

  for (i = 0; i < 1025; i++)
    g_string_append (text, "0,0 1,0 1,1;");
  check_start_fails ("zones", text->str, "\"zone1025\": there are more than 1024 zones");

  g_string_assign (text, "0,0 1,0");
  for (i = 0; i < 32768; i++)
    g_string_append (text, " 1,1");
  check_start_fails ("zones", text->str, "the zones have more than 32768 points");

#ifdef HAVE_JSON_GLIB
  g_string_assign (text, "");
  for (i = 0; i < 200000; i++)
    g_string_append_c (text, '[');
  check_start_fails ("zones", text->str, "too many nested brackets");
#endif
  g_string_free (text, TRUE);
}
GST_END_TEST;

#ifdef HAVE_JSON_GLIB
/* Not a regular file, or one that is too large: reading a pipe without a writer would never end. */
GST_START_TEST (test_config)
{
  gchar *folder = g_dir_make_tmp ("cclzones-XXXXXX", NULL);
  gchar *path = g_build_filename (folder, "zones.json", NULL);
  gchar *text = g_strnfill (1024 * 1024 + 1, ' ');

  fail_unless_equals_int (mkfifo (path, 0600), 0);
  check_start_fails ("config", path, "zones.json: not a regular file");
  check_start_fails ("config", folder, "not a regular file");
  g_unlink (path);
  fail_unless (g_file_set_contents (path, text, -1, NULL));
  check_start_fails ("config", path, "zones.json: more than 1048576 bytes");
  g_unlink (path);
  g_rmdir (folder);
  g_free (text);
  g_free (path);
  g_free (folder);
}
GST_END_TEST;
#endif

static Suite *
cclzones_suite (void)
{
  Suite *suite = suite_create ("cclzones");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_test (tcase, test_tripwire);
  tcase_add_test (tcase, test_visit);
  tcase_add_test (tcase, test_pending);
  tcase_add_test (tcase, test_zone);
  tcase_add_test (tcase, test_crossed_sides);
  tcase_add_test (tcase, test_change);
  tcase_add_test (tcase, test_meta);
  tcase_add_test (tcase, test_standing);
  tcase_add_test (tcase, test_drop_outside);
  tcase_add_test (tcase, test_series);
  tcase_add_test (tcase, test_gaps);
  tcase_add_test (tcase, test_untracked);
  tcase_add_test (tcase, test_many_objects);
  tcase_add_test (tcase, test_many_regions);
  tcase_add_test (tcase, test_limits);
  tcase_add_loop_test (tcase, test_timing, 0, (int) ccl_test_n_timings);
  tcase_add_loop_test (tcase, test_breaks, 0, G_N_ELEMENTS (breaks));
  tcase_add_loop_test (tcase, test_errors, 0, G_N_ELEMENTS (errors));
#ifdef HAVE_JSON_GLIB
  tcase_add_test (tcase, test_json);
  tcase_add_test (tcase, test_config);
#endif

  return suite;
}

GST_CHECK_MAIN (cclzones)
