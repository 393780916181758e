/* cudaccl - tests of the element cclmerge in live pipelines, with real clocks and queues
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include <string.h>

/* Nothing here depends on how fast the machine is: the tests wait for what must come, up to a
 * minute, and check relations that hold at any speed. */
#define TIMEOUT (60 * G_TIME_SPAN_SECOND)

#define FRAME (GST_SECOND / 30)

/* A camera of 30 frames per second, and a mask branch. */
#define PIPELINE                                                              \
  "videotestsrc is-live=true pattern=ball num-buffers=%d ! "                  \
  "video/x-raw,format=GRAY8,width=64,height=48,framerate=30/1 ! tee name=t "  \
  "t. ! queue max-size-time=0 max-size-buffers=0 ! cclmerge name=merge %s ! " \
  "fakesink name=sink sync=true signal-handoffs=true "                        \
  "t. ! %s ! cudaccl name=mask backend=cpu ! merge.components"

#define LEAKY "queue leaky=downstream max-size-buffers=1"

/* The output so far. */
typedef struct
{
  GstElement *pipeline;
  GstElement *merge;
  GRand *random;
  gint drift;     /* of the mask's timestamps, in parts per million */
  guint n_marked; /* frames of the mask */

  GMutex lock;
  GCond cond;
  guint n_frames;
  guint n_matched;
  guint n_in_turn;   /* the last frames that had components without interruption */
  guint n_wrong;     /* ages that are not the difference of the timestamps; events out of turn */
  guint n_delivered; /* events */
  GstClockTimeDiff min_age, max_age;
  guint n_warnings;
  GString *warnings;

  /* When it stopped. */
  GstStructure *stats;
  GstClockTime latency;
} Live;

/* The mask's timestamps, which are in the only component's area and in an event's dwell time: the
 * sink compares them. Each frame has an event. */
static GstPadProbeReturn
mark (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Live *live = user_data;
  GstBuffer *buffer = gst_buffer_make_writable (GST_PAD_PROBE_INFO_BUFFER (info));
  GstClockTimeDiff drift = (GstClockTimeDiff) GST_BUFFER_PTS (buffer) / 1000000 * live->drift;
  GstCclComponent component = { 1, 0, 0, 1, 1, 1, 0.0, 0.0 };
  GstCclZone zone = { (gchar *) "gate", TRUE };
  GstCclZoneEvent event = { GST_CCL_ZONE_IN, 0, ++live->n_marked };

  GST_PAD_PROBE_INFO_DATA (info) = buffer;
  if (live->random)
    g_usleep ((gulong) g_rand_int_range (live->random, 0, 60000));
  GST_BUFFER_PTS (buffer) += (GstClockTime) drift;
  component.area = 1 + GST_BUFFER_PTS (buffer);
  event.dwell = GST_BUFFER_PTS (buffer);
  gst_buffer_add_ccl_meta (buffer, 64, 48, 1, &component, 1);
  gst_buffer_add_ccl_zones_meta (buffer, 64, 48, &zone, 1, &event, 1);

  return GST_PAD_PROBE_OK;
}

static void
see (GstElement *sink, GstBuffer *buffer, GstPad *pad, Live *live)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  GstCclZonesMeta *zones = gst_buffer_get_ccl_zones_meta (buffer);
  guint i;

  g_mutex_lock (&live->lock);
  live->n_frames++;
  for (i = 0; zones && i < zones->n_events; i++) {
    const GstCclZoneEvent *event = &zones->events[i];

    live->n_wrong += event->track != ++live->n_delivered ||
                     event->frame_age != GST_CLOCK_DIFF (event->dwell, GST_BUFFER_PTS (buffer));
  }
  if (meta) {
    GstClockTimeDiff age = GST_CLOCK_DIFF (meta->components[0].area - 1, GST_BUFFER_PTS (buffer));

    live->n_matched++;
    live->n_in_turn++;
    live->n_wrong += meta->frame_age != age;
    live->min_age = MIN (live->min_age, age);
    live->max_age = MAX (live->max_age, age);
  } else {
    live->n_in_turn = 0;
  }
  g_cond_signal (&live->cond);
  g_mutex_unlock (&live->lock);
}

static void
live_init (Live *live, gint n_frames, const gchar *properties, const gchar *mask)
{
  gchar *description = g_strdup_printf (PIPELINE, n_frames, properties, mask);
  GstElement *element;

  memset (live, 0, sizeof (*live));
  live->min_age = G_MAXINT64;
  live->max_age = G_MININT64;
  live->warnings = g_string_new (NULL);
  g_mutex_init (&live->lock);
  g_cond_init (&live->cond);
  live->pipeline = gst_parse_launch (description, NULL);
  fail_unless (live->pipeline != NULL);
  live->merge = gst_bin_get_by_name (GST_BIN (live->pipeline), "merge");

  ccl_test_probe (live->pipeline, "mask", "src", mark, live);
  element = gst_bin_get_by_name (GST_BIN (live->pipeline), "sink");
  g_signal_connect (element, "handoff", G_CALLBACK (see), live);
  gst_object_unref (element);
  g_free (description);
}

/* Stops the pipeline and keeps what it says: assertions must not fail while it runs. */
static void
live_stop (Live *live)
{
  GstQuery *query = gst_query_new_latency ();

  g_object_get (live->merge, "stats", &live->stats, NULL);
  if (gst_element_query (live->merge, query))
    gst_query_parse_latency (query, NULL, &live->latency, NULL);
  gst_query_unref (query);
  gst_element_set_state (live->pipeline, GST_STATE_NULL);
}

/* Waits until @n frames in turn had components, and stops. */
static void
live_wait (Live *live, guint n)
{
  gint64 end = g_get_monotonic_time () + TIMEOUT;
  gboolean reached = TRUE;

  g_mutex_lock (&live->lock);
  while (reached && live->n_in_turn < n)
    reached = g_cond_wait_until (&live->cond, &live->lock, end);
  g_mutex_unlock (&live->lock);
  live_stop (live);
  fail_unless (reached, "no %u frames in turn had components, but %u of %u had", n, live->n_matched,
               live->n_frames);
  fail_unless_equals_int (live->n_wrong, 0);
}

static void
recalculate (GstElement *pipeline, gpointer user_data)
{
  gst_bin_recalculate_latency (GST_BIN (pipeline));
}

/* Does what applications do with a latency message, and collects warnings. */
static GstBusSyncReply
handle_message (GstBus *bus, GstMessage *message, gpointer user_data)
{
  Live *live = user_data;

  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_LATENCY)
    gst_element_call_async (live->pipeline, recalculate, NULL, NULL);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_WARNING &&
      GST_MESSAGE_SRC (message) == GST_OBJECT (live->merge)) {
    GError *error = NULL;

    gst_message_parse_warning (message, &error, NULL);
    g_mutex_lock (&live->lock);
    g_string_append (live->warnings, error->message);
    /* Not those about events after the end. */
    live->n_warnings += strstr (error->message, "without components") != NULL;
    g_mutex_unlock (&live->lock);
    g_clear_error (&error);
  }

  return GST_BUS_PASS;
}

static void
live_play (Live *live)
{
  gst_bus_set_sync_handler (GST_ELEMENT_BUS (live->pipeline), handle_message, live, NULL);
  fail_if (gst_element_set_state (live->pipeline, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE);
}

static guint64
live_stat (Live *live, const gchar *name)
{
  guint64 value;

  fail_unless (gst_structure_get_uint64 (live->stats, name, &value), "%s", name);

  return value;
}

static void
live_clear (Live *live)
{
  gst_structure_free (live->stats);
  gst_object_unref (live->merge);
  gst_object_unref (live->pipeline);
  g_clear_pointer (&live->random, g_rand_free);
  g_string_free (live->warnings, TRUE);
  g_cond_clear (&live->cond);
  g_mutex_clear (&live->lock);
}

/* A mask of 60 ms per frame, with any queue before it: frames leave without components, are
 * counted, and a warning says so. */
GST_START_TEST (test_slow)
{
  static const gchar *const queues[] = { "queue", LEAKY };
  const guint n = 60;
  gchar *mask = g_strdup_printf ("%s ! identity sleep-time=60000", queues[__i__]);
  Live live;

  live_init (&live, (gint) n, "mode=wait max-latency=0", mask);
  live_play (&live);
  ccl_test_wait_for (live.pipeline, GST_MESSAGE_EOS);
  live_stop (&live);
  fail_unless_equals_int (live.n_frames, n);
  fail_unless_equals_uint64 (live_stat (&live, "frames"), n);
  fail_unless_equals_uint64 (live_stat (&live, "matched"), live.n_matched);
  fail_unless_equals_uint64 (live_stat (&live, "unmatched"), n - live.n_matched);
  fail_unless (live_stat (&live, "late") >= 10);
  fail_unless_equals_uint64 (live_stat (&live, "added-latency"), 0);
  fail_unless_equals_int (live.n_warnings, 1);
  fail_unless (strstr (live.warnings->str, "mode=latest") != NULL, "%s", live.warnings->str);
  fail_unless_equals_int (live.n_wrong, 0);
  fail_unless (live.n_delivered >= live.n_matched, "%u of %u", live.n_delivered, live.n_marked);
  live_clear (&live);
  g_free (mask);
}
GST_END_TEST;

/* The same mask with the recipe: every frame has components, from an earlier frame. */
GST_START_TEST (test_slow_latest)
{
  Live live;

  live_init (&live, -1, "mode=latest max-age=100000000000", LEAKY " ! identity sleep-time=60000");
  live_play (&live);
  live_wait (&live, 60);
  fail_unless_equals_uint64 (live_stat (&live, "added-latency"), 0);
  fail_unless_equals_int (live.n_warnings, 0);
  fail_unless (live.min_age >= 0);
  fail_unless (live.max_age >= (GstClockTimeDiff) (50 * GST_MSECOND));
  live_clear (&live);
}
GST_END_TEST;

/* A branch that keeps up, but whose components come late: the latency follows, and then every frame
 * has its own. */
GST_START_TEST (test_delayed)
{
  static const struct
  {
    const gchar *mask;
    gboolean jitter, added;
  } cases[] = {
    { "queue min-threshold-buffers=5 max-size-time=0 max-size-buffers=0", FALSE, TRUE },
    { "queue max-size-time=0 max-size-buffers=0", TRUE, TRUE },
    /* This one reports its latency. */
    { "queue min-threshold-time=150000000 max-size-time=0 max-size-buffers=0", FALSE, FALSE },
  };
  GstStructure *stats;
  guint64 value = 1;
  Live live;

  live_init (&live, -1, "mode=wait max-latency=100000000000", cases[__i__].mask);
  if (cases[__i__].jitter)
    live.random = g_rand_new_with_seed (18);
  live_play (&live);
  live_wait (&live, 60);
  if (cases[__i__].added)
    fail_unless (live_stat (&live, "added-latency") > 0);
  fail_unless (live.latency >= live_stat (&live, "added-latency"));
  if (!cases[__i__].jitter)
    fail_unless (live.latency >= 150 * GST_MSECOND, "latency is %" GST_TIME_FORMAT,
                 GST_TIME_ARGS (live.latency));

  /* A new start begins anew. */
  gst_element_set_state (live.merge, GST_STATE_PAUSED);
  g_object_get (live.merge, "stats", &stats, NULL);
  gst_element_set_state (live.merge, GST_STATE_NULL);
  fail_unless (gst_structure_get_uint64 (stats, "added-latency", &value) && value == 0);
  fail_unless (gst_structure_get_uint64 (stats, "frames", &value) && value == 0);
  gst_structure_free (stats);
  live_clear (&live);
}
GST_END_TEST;

/* The mask's clock is 1 % slow or fast. After four seconds that is more than a frame, so that
 * frames get another neighbour. The tolerance is a little more than half the distance of the mask's
 * frames, so none is without. */
GST_START_TEST (test_drift)
{
  static const gint drifts[] = { -10000, 10000 };
  Live live;

  live_init (&live, -1, "mode=wait max-latency=100000000000 tolerance=17000000", "queue");
  live.drift = drifts[__i__];
  live_play (&live);
  live_wait (&live, 150);
  fail_unless (live.min_age >= -(GstClockTimeDiff) (17 * GST_MSECOND));
  fail_unless (live.max_age <= (GstClockTimeDiff) (17 * GST_MSECOND));
  fail_unless (live.max_age - live.min_age > (GstClockTimeDiff) (FRAME / 2));
  live_clear (&live);
}
GST_END_TEST;

static Suite *
cclmergelive_suite (void)
{
  Suite *s = suite_create ("cclmergelive");
  TCase *tc;

  tc = tcase_create ("live");
  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_slow, 0, 2);
  tcase_add_test (tc, test_slow_latest);
  tcase_add_loop_test (tc, test_delayed, 0, 3);
  tcase_add_loop_test (tc, test_drift, 0, 2);

  return s;
}

GST_CHECK_MAIN (cclmergelive);
