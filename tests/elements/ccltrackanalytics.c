/* cudaccl - tests of ccltrack: GStreamer's analytics metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/analytics/analytics.h>

#include "tests/lib/ccltest.h"

#define WIDTH 160
#define HEIGHT 120

/* Two objects that move. With @components, the frame has those and a detection of something else
 * between the objects' own; without, the detections are all there is. */
static GstBuffer *
detections_new (guint number, gboolean components)
{
  GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, number);
  GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta (buffer);
  GstCclComponent items[2] = { { 1, 20 + 2 * number, 10, 20, 40, 800, 30, 30 },
                               { 2, 100 - 2 * number, 60, 20, 40, 800, 110, 80 } };
  GstAnalyticsODMtd detection;
  guint i;

  for (i = 0; i < 2; i++) {
    if (i == 1 && components)
      fail_unless (gst_analytics_relation_meta_add_od_mtd (meta, g_quark_from_string ("car"), 50,
                                                           50, 10, 10, 0.5f, &detection));
    fail_unless (gst_analytics_relation_meta_add_od_mtd (meta, g_quark_from_string ("blob"),
                                                         (gint) items[i].x, (gint) items[i].y, 20,
                                                         40, 1.0f, &detection));
  }
  if (components)
    gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 2, items, 2);

  return buffer;
}

/* Checks the track of a detection; 0 is none. */
static void
check_detection (GstBuffer *buffer, guint id, guint64 track, guint number)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  GstClockTime first, last;
  GstAnalyticsTrackingMtd tracking;
  GstAnalyticsMtd back;
  guint64 got;
  gboolean lost;

  fail_unless_equals_int (gst_analytics_relation_meta_get_direct_related (
                              meta, id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
                              gst_analytics_tracking_mtd_get_mtd_type (), NULL, &tracking),
                          track != 0);
  if (!track)
    return;

  fail_unless (gst_analytics_tracking_mtd_get_info (&tracking, &got, &first, &last, &lost));
  fail_unless_equals_uint64 (got, track);
  fail_unless_equals_uint64 (first, 0);
  fail_unless_equals_uint64 (last, number * FRAME_TIME);
  fail_unless (!lost);
  fail_unless (gst_analytics_relation_meta_get_direct_related (
      meta, tracking.id, GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_od_mtd_get_mtd_type (),
      NULL, &back));
  fail_unless_equals_int (back.id, id);
}

GST_START_TEST (test_tracks)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=300000000");
  gboolean components = __i__ == 0;
  const guint first = components ? 2 : 1; /* frame with ids */
  guint number;

  for (number = 0; number < 6; number++) {
    GstBuffer *buffer = gst_harness_push_and_pull (h, detections_new (number, components));

    check_detection (buffer, 0, number >= first ? 1 : 0, number);
    check_detection (buffer, components ? 2 : 1, number >= first ? 2 : 0, number);
    if (components)
      check_detection (buffer, 1, 0, number);
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Returns the tracks in the metadata, as `id` or `id lost`. */
static gchar *
list_tracks (GstBuffer *buffer)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  GString *text = g_string_new (NULL);
  GstAnalyticsTrackingMtd tracking;
  gpointer state = NULL;

  while (meta && gst_analytics_relation_meta_iterate (
                     meta, &state, gst_analytics_tracking_mtd_get_mtd_type (), &tracking)) {
    GstClockTime first, last;
    gboolean lost;
    guint64 id;

    fail_unless (gst_analytics_tracking_mtd_get_info (&tracking, &id, &first, &last, &lost));
    g_string_append_printf (text, "%s%" G_GUINT64_FORMAT "%s", text->len ? ", " : "", id,
                            lost ? " lost" : "");
  }

  return g_string_free (text, FALSE);
}

/* By default, objects become detections with tracks; one that another detector does not find any
 * more, and that is still shown, is lost. */
GST_START_TEST (test_lost)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "ccltrack min-persistence=0");
  gboolean detector = __i__ == 1;
  guint number, n_lost = 0;

  for (number = 0; number < 12; number++) {
    GstBuffer *buffer;
    gchar *tracks;

    if (detector && number < 6) {
      buffer = detections_new (number, FALSE);
    } else {
      GstCclComponent item = { 1, 20 + 2 * number, 10, 20, 40, 800, 30, 30 };

      buffer = ccl_test_frame_new (WIDTH, HEIGHT, number);
      if (!detector)
        gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 1, &item, 1);
    }
    buffer = gst_harness_push_and_pull (h, buffer);
    tracks = list_tracks (buffer);
    if (detector)
      n_lost += number >= 6 && g_str_equal (tracks, "1 lost, 2 lost");
    else
      fail_unless (g_str_equal (tracks, "1"), "tracks %s", tracks);
    g_free (tracks);
    gst_buffer_unref (buffer);
  }
  fail_unless (!detector || n_lost > 0);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
ccltrackanalytics_suite (void)
{
  Suite *suite = suite_create ("ccltrackanalytics");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, test_tracks, 0, 2);
  tcase_add_loop_test (tcase, test_lost, 0, 2);

  return suite;
}

GST_CHECK_MAIN (ccltrackanalytics)
