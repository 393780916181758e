/* cudaccl - tests of the element ccloverlay: hostile frames take neither much work nor memory
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#define WIDTH 1920
#define HEIGHT 1080

#define MOST_MEGABYTES 150

/* Shapes that would take too long are left out. The cases bound counts, because times depend on
 * the machine. */
typedef struct
{
  const gchar *name, *properties;
  void (*fill) (GstBuffer *buffer, guint number);
  guint n_frames;
  guint n_shapes; /* in the last frame, if some must be left out */
  guint most;     /* that may be drawn of them */
} Case;

static void
add_components (GstBuffer *buffer, guint n, GstCclComponent (*get) (guint i, guint number),
                guint number)
{
  GstCclComponent *components = g_new0 (GstCclComponent, n);
  guint i;

  for (i = 0; i < n; i++)
    components[i] = get (i, number);
  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, n, components, n);
  g_free (components);
}

static GstCclComponent
get_large (guint i, guint number)
{
  const GstCclComponent component = { 10000 + i,   i % 50,  i / 50 % 50, WIDTH - 50,
                                      HEIGHT - 50, 1000000, WIDTH / 2.0, HEIGHT / 2.0 };

  return component;
}

static void
fill_large (GstBuffer *buffer, guint number)
{
  add_components (buffer, 1024, get_large, number);
}

static void
fill_many_large (GstBuffer *buffer, guint number)
{
  add_components (buffer, 64800, get_large, number);
}

/* A track that jumps across the frame with each frame. */
static GstCclComponent
get_jumping (guint i, guint number)
{
  const guint random = (i + 1) * 2654435761u + number * 40503u * 65537u;
  const guint x = random % (WIDTH - 60), y = random / 65536 % (HEIGHT - 60);
  const GstCclComponent component = { i + 1, x, y, 60, 60, 3600, x + 30.0, y + 30.0, i + 1 };

  return component;
}

static void
fill_jumping (GstBuffer *buffer, guint number)
{
  add_components (buffer, 1024, get_jumping, number);
}

/* Tracks with new ids in each frame. */
static GstCclComponent
get_new_track (guint i, guint number)
{
  GstCclComponent component = get_jumping (i, number);

  component.track += 20000 * number;

  return component;
}

static void
fill_new_tracks (GstBuffer *buffer, guint number)
{
  add_components (buffer, 20000, get_new_track, number);
}

static void
fill_long_names (GstBuffer *buffer, guint number)
{
  GString *marks = g_string_new (NULL);
  guint i;

  for (i = 0; i < 100000; i++)
    g_string_append_unichar (marks, 0x300 + i % 100);
  for (i = 0; i < 100; i++) {
    gchar *name = g_strdup_printf ("%u%s", i, marks->str);
    GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (
        buffer, name, 20 + i % 10 * 190, 40 + i / 10 * 100, 10, 10);

    gst_video_region_of_interest_meta_add_param (
        roi, gst_structure_new ("cudaccl", "label", G_TYPE_UINT, i, NULL));
    g_free (name);
  }
  g_string_free (marks, TRUE);
}

/* Zones with many points all over the frame. */
static void
fill_zones (GstBuffer *buffer, guint number)
{
  const guint n_points = 1000, n = 300;
  gdouble *points = g_new (gdouble, 2 * n_points);
  GstCclZone *zones = g_new0 (GstCclZone, n);
  guint i;

  for (i = 0; i < n_points; i++) {
    points[2 * i] = i * 769 % WIDTH;
    points[2 * i + 1] = i * 601 % HEIGHT;
  }
  for (i = 0; i < n; i++) {
    zones[i].name = (gchar *) "zone";
    zones[i].n_points = n_points;
    zones[i].points = points;
  }
  gst_buffer_add_ccl_zones_meta (buffer, WIDTH, HEIGHT, zones, n, NULL, 0);
  g_free (zones);
  g_free (points);
}

/* Many zones, and many events of theirs. */
static void
fill_events (GstBuffer *buffer, guint number)
{
  const guint n = 20000;
  gdouble points[] = { 0, 0, 3, 3 };
  GstCclZone *zones = g_new0 (GstCclZone, n);
  GstCclZoneEvent *events = g_new0 (GstCclZoneEvent, n);
  guint i;

  for (i = 0; i < n; i++) {
    zones[i].name = (gchar *) "zone";
    zones[i].tripwire = TRUE;
    zones[i].n_points = 2;
    zones[i].points = points;
    events[i].zone = i;
    events[i].x = i % WIDTH;
    events[i].y = i % HEIGHT;
  }
  gst_buffer_add_ccl_zones_meta (buffer, WIDTH, HEIGHT, zones, n, events, n);
  g_free (zones);
  g_free (events);
}

static const Case cases[] = {
  { "labels in very large type", "draw=labels font-size=1000", fill_large, 2 },
  { "filled boxes", "draw=boxes line-width=1000", fill_many_large, 2, 64800, 60 },
  { "jumping tracks", "draw=trails+velocities", fill_jumping, 12, 7 * 1024, 3000 },
  { "tracks without end", "draw=trails trail-time=3600000000000", fill_new_tracks, 12, 20000, 0 },
  { "long names", "draw=names", fill_long_names, 1 },
  { "zones with many points", "draw=zones", fill_zones, 2, 300 * 1000, 2000 },
  { "zones with many events", "draw=zones+events", fill_events, 2, 6 * 20000, 90000 },
};

/* Shapes that are left out are counted, with a single warning. */
static void
check_warning (GstHarness *h, gboolean expected)
{
  fail_unless_equals_int (ccl_test_count_warnings (h, ""), expected);
  fail_unless ((ccl_test_stat (h->element, "left-out") > 0) == expected,
               "%" G_GUINT64_FORMAT " shapes were left out",
               ccl_test_stat (h->element, "left-out"));
}

GST_START_TEST (test_limits)
{
  const Case *c = &cases[__i__];
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccloverlay %s", c->properties);
  gboolean limited = ccl_test_limit_memory ((gsize) MOST_MEGABYTES << 20);
  guint64 before = 0, drawn;
  guint i;

  for (i = 0; i < c->n_frames; i++) {
    GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);

    before = ccl_test_stat (h->element, "left-out");
    GST_BUFFER_PTS (buffer) = i * 40 * GST_MSECOND;
    c->fill (buffer, i);
    ccl_test_push (h, buffer);
  }
  if (limited)
    ccl_test_unlimit_memory ();
  drawn = before + c->n_shapes - ccl_test_stat (h->element, "left-out");
  fail_unless (drawn <= c->most, "%s: %" G_GUINT64_FORMAT " shapes were drawn", c->name, drawn);
  check_warning (h, c->n_shapes > 0);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Nothing is left out with as many components as cudaccl finds by default. */
GST_START_TEST (test_enough)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccloverlay draw=boxes+centroids+tracks+areas");
  GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);

  fill_jumping (buffer, 0);
  ccl_test_push (h, buffer);
  check_warning (h, FALSE);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The statistics begin anew with a start. */
GST_START_TEST (test_stats)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccloverlay draw=boxes line-width=1000");
  GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);
  guint64 left_out;

  fill_many_large (buffer, 0);
  ccl_test_push (h, gst_buffer_ref (buffer));
  left_out = ccl_test_stat (h->element, "left-out");
  ccl_test_push (h, gst_buffer_ref (buffer));
  fail_unless_equals_uint64 (ccl_test_stat (h->element, "left-out"), 2 * left_out);
  check_warning (h, TRUE);

  ccl_test_restart (h, GST_STATE_READY);
  ccl_test_push (h, buffer);
  fail_unless_equals_uint64 (ccl_test_stat (h->element, "left-out"), left_out);
  check_warning (h, TRUE);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
ccloverlaylimits_suite (void)
{
  Suite *s = suite_create ("ccloverlaylimits");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_limits, 0, G_N_ELEMENTS (cases));
  tcase_add_test (tc, test_enough);
  tcase_add_test (tc, test_stats);

  return s;
}

GST_CHECK_MAIN (ccloverlaylimits);
