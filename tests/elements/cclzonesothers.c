/* cudaccl - tests of cclzones with the detections of other elements, and of batches
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include <string.h>

#ifdef HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#define WIDTH 200
#define HEIGHT 100
#define N_FRAMES 12

/* Who gave the object its id. */
typedef enum
{
  NOBODY,
  REGIONS, /* DL Streamer's gvatrack */
  ANALYTICS,
  LOST,     /* the tracker of analytics metadata has lost it */
  UPSTREAM, /* GStreamer's ioutracker gives it 0 */
} Tracker;

static const Tracker trackers[] = {
  NOBODY,    REGIONS,
#ifdef HAVE_ANALYTICS
  ANALYTICS, LOST,    UPSTREAM,
#endif
};

static const Tracker untracked[] = {
  NOBODY,
#ifdef HAVE_ANALYTICS
  UPSTREAM,
#endif
};

#ifdef HAVE_ANALYTICS
static void
add_detection (GstBuffer *buffer, Tracker tracker, gint y)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_add_analytics_relation_meta (buffer);
  GstAnalyticsTrackingMtd tracking;
  GstAnalyticsODMtd detection;

  fail_unless (gst_analytics_relation_meta_add_od_mtd (meta, g_quark_from_string ("person"), 95,
                                                       y - 20, 10, 20, 0.9f, &detection));
  if (tracker == UPSTREAM)
    return;
  fail_unless (gst_analytics_relation_meta_add_tracking_mtd (meta, 7, 0, &tracking));
  if (tracker == LOST)
    gst_analytics_tracking_mtd_set_lost (&tracking);
  fail_unless (gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO,
                                                         detection.id, tracking.id));
}
#else
static void
add_detection (GstBuffer *buffer, Tracker tracker, gint y)
{
}
#endif

/* A frame with an object, 10 x 20, whose bottom centre is at 100, y. */
static GstBuffer *
frame_new (Tracker tracker, guint number, gint y)
{
  GstBuffer *buffer = ccl_test_frame_new (WIDTH, HEIGHT, number);
  GstVideoRegionOfInterestMeta *roi;

  if (tracker > REGIONS) {
    add_detection (buffer, tracker, y);
    return buffer;
  }
  roi = gst_buffer_add_video_region_of_interest_meta (buffer, "person", 95, (guint) y - 20, 10, 20);
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("detection", "confidence", G_TYPE_DOUBLE, 0.9, NULL));
  if (tracker == REGIONS)
    gst_video_region_of_interest_meta_add_param (
        roi, gst_structure_new ("object_id", "id", G_TYPE_INT, 7, NULL));

  return buffer;
}

/* An object that another element tracks crosses the wire, with its id and class. */
GST_START_TEST (test_trackers)
{
  const Tracker tracker = trackers[__i__];
  const gchar *line = tracker == UPSTREAM ? "ioutracker ! cclzones" : "cclzones";
  const gboolean counted = tracker != NOBODY && tracker != LOST;
  GstElementFactory *factory = gst_element_factory_find ("ioutracker");
  guint number, n_events = 0;
  GstMessage *message;
  GstHarness *h;

  if (tracker == UPSTREAM && !factory) {
    g_print ("skipped: no ioutracker\n");
    return;
  }
  h = ccl_test_launch (WIDTH, HEIGHT, "%s tripwires='gate: 0.25,0.5 0.75,0.5'", line);
  for (number = 0; number < N_FRAMES; number++)
    ccl_test_push (h, frame_new (tracker, number, 30 + 4 * (gint) number));

  while ((message = ccl_test_pop_message (h, GST_MESSAGE_ELEMENT))) {
    const GstStructure *structure = gst_message_get_structure (message);
    guint track;

    fail_unless (gst_structure_get_uint (structure, "track", &track));
    fail_unless_equals_int64 (track, tracker == UPSTREAM ? G_MAXUINT : 7);
    fail_unless_equals_string (gst_structure_get_string (structure, "event"), "in");
    fail_unless_equals_string (gst_structure_get_string (structure, "class"), "person");
    gst_message_unref (message);
    n_events++;
  }
  fail_unless_equals_int (n_events, counted ? 1 : 0);
  ccl_test_harness_free (h);
  gst_clear_object (&factory);
}
GST_END_TEST;

/* Detections without a tracker cause one warning, which names trackers. */
GST_START_TEST (test_no_tracker)
{
  GstHarness *h = ccl_test_launch (WIDTH, HEIGHT, "cclzones tripwires='gate: 0.25,0.5 0.75,0.5'");
  GstMessage *message;
  GError *error = NULL;
  guint number;

  for (number = 0; number < 100; number++)
    ccl_test_push (h, frame_new (untracked[__i__], number, 30));
  message = ccl_test_pop_message (h, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_parse_warning (message, &error, NULL);
  fail_unless (strstr (error->message, "ioutracker") != NULL, "%s", error->message);
  g_clear_error (&error);
  gst_message_unref (message);
  fail_unless (ccl_test_pop_message (h, GST_MESSAGE_WARNING) == NULL);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* ccltrack gives its own ids, whatever others gave. */
GST_START_TEST (test_own_ids)
{
  GstHarness *h =
      ccl_test_launch (WIDTH, HEIGHT, "ccltrack ! cclzones tripwires='gate: 0.25,0.5 0.75,0.5'");
  GstMessage *message;
  guint number, track;

  for (number = 0; number < N_FRAMES; number++)
    ccl_test_push (h, frame_new (REGIONS, number, 30 + 4 * (gint) number));
  message = ccl_test_pop_message (h, GST_MESSAGE_ELEMENT);
  fail_unless (message != NULL);
  fail_unless (gst_structure_get_uint (gst_message_get_structure (message), "track", &track));
  fail_unless_equals_int (track, 1);
  gst_message_unref (message);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Batches of several streams pass, before frames and after them, with one warning. */
GST_START_TEST (test_batches)
{
  static const gchar *const names[] = { "ccltrack", "cclzones" };
  static const gchar *const caps[] = {
    "multistream/x-analytics-batch(meta:GstAnalyticsBatchMeta)",
    "video/x-raw,format=GRAY8,width=200,height=100,framerate=25/1",
    "multistream/x-analytics-batch(meta:GstAnalyticsBatchMeta)",
  };
  GstHarness *h = gst_harness_new (names[__i__]);
  GstMessage *message;
  guint i;

  ccl_test_add_bus (h->element);

  for (i = 0; i < G_N_ELEMENTS (caps); i++) {
    const gboolean frames = i == 1;
    GstBuffer *buffer = frames ? ccl_test_frame_new (WIDTH, HEIGHT, i) : gst_buffer_new (), *out;

    gst_harness_set_src_caps_str (h, caps[i]);
    out = gst_harness_push_and_pull (h, buffer);
    fail_unless (out != NULL);
    fail_unless (frames || out == buffer);
    fail_unless_equals_int (gst_buffer_get_n_meta (out, GST_CCL_META_API_TYPE), 0);
    gst_buffer_unref (out);
  }
  message = ccl_test_pop_message (h, GST_MESSAGE_WARNING);
  fail_unless (message != NULL);
  gst_message_unref (message);
  fail_unless (ccl_test_pop_message (h, GST_MESSAGE_WARNING) == NULL);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
cclzonesothers_suite (void)
{
  Suite *suite = suite_create ("cclzonesothers");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_trackers, 0, G_N_ELEMENTS (trackers));
  tcase_add_loop_test (tc, test_no_tracker, 0, G_N_ELEMENTS (untracked));
  tcase_add_test (tc, test_own_ids);
  tcase_add_loop_test (tc, test_batches, 0, 2);

  return suite;
}

GST_CHECK_MAIN (cclzonesothers);
