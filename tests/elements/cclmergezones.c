/* cudaccl - tests of the element cclmerge: zones and events
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmergetest.h"

#include <string.h>
#include <gst/base/gstaggregator.h>

#define MAX_FRAMES 40

/* A frame; times are in milliseconds. */
typedef struct
{
  guint time;
  guint n_events;
} Item;

typedef struct
{
  GstHarness *h;
  const Item *items;
  guint n_items;
} Feed;

static gdouble points[] = { 0.0, 24.0, 64.0, 24.0 };

static void
add_events (GstBuffer *buffer, const gchar *name, guint track, guint n)
{
  GstCclZone zone = { (gchar *) name, TRUE, 0, 2, points, track, 0, 0 };
  GstCclZoneEvent event = { GST_CCL_ZONE_IN, 0, track, 0, 16.0, 6.0, track, 0, 0, 0 };
  guint i;

  gst_buffer_add_ccl_zones_meta (buffer, MASK_WIDTH, MASK_HEIGHT, &zone, 1, NULL, 0);
  for (i = 0; i < n; i++) {
    GstCclZonesMeta *meta = gst_buffer_get_ccl_zones_meta (buffer);

    meta->events = g_renew (GstCclZoneEvent, meta->events, meta->n_events + 1);
    event.zone = meta->n_zones - 1;
    meta->events[meta->n_events++] = event;
  }
}

/* A frame of the components' branch, whose events have its number as the track. */
static GstBuffer *
zones_new (GstClockTime pts, guint number, guint n_events)
{
  GstBuffer *buffer = mask_new (pts, number);

  add_events (buffer, "gate", number, n_events);

  return buffer;
}

/* These run in threads: they must not assert. */
static gpointer
feed_video (gpointer data)
{
  const Feed *self = data;
  guint i;

  for (i = 0; i < self->n_items; i++)
    gst_harness_push (self->h, video_new (self->items[i].time * GST_MSECOND));
  gst_harness_push_event (self->h, gst_event_new_eos ());

  return NULL;
}

static gpointer
feed_mask (gpointer data)
{
  const Feed *self = data;
  guint i;

  for (i = 0; i < self->n_items; i++)
    gst_harness_push (
        self->h, zones_new (self->items[i].time * GST_MSECOND, i + 1, self->items[i].n_events));
  gst_harness_push_event (self->h, gst_event_new_eos ());

  return NULL;
}

/* The events of a frame, as `track@age` in milliseconds. */
static void
append_events (GString *text, GstBuffer *buffer)
{
  const GstCclZonesMeta *meta = gst_buffer_get_ccl_zones_meta (buffer);
  guint i;

  for (i = 0; meta && i < meta->n_events; i++) {
    const GstCclZoneEvent *event = &meta->events[i];

    fail_unless_equals_int (event->type, GST_CCL_ZONE_IN);
    fail_unless_equals_string (meta->zones[event->zone].name, "gate");
    fail_unless_equals_float (event->x, 32.0);
    fail_unless_equals_float (event->y, 12.0);
    g_string_append_printf (text, "%s%u@%d", i > 0 ? "," : "", event->track,
                            (gint) (event->frame_age / (gint64) GST_MSECOND));
  }
}

/* Waits until the element has dropped what comes after the video. */
static void
wait_for_end (GstHarness *h)
{
  gint64 deadline = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;
  GstPad *pad = gst_element_get_static_pad (h->element, "src");

  while (gst_pad_get_task_state (pad) == GST_TASK_STARTED) {
    fail_unless (g_get_monotonic_time () < deadline, "the output does not end");
    g_usleep (1000);
  }
  gst_object_unref (pad);
}

/* Waits until the element has dropped the frame on its pad. */
static void
wait_for_drop (GstPad *pad)
{
  gint64 deadline = g_get_monotonic_time () + 20 * G_TIME_SPAN_SECOND;

  while (gst_aggregator_pad_has_buffer (GST_AGGREGATOR_PAD (pad))) {
    fail_unless (g_get_monotonic_time () < deadline, "the frame is not dropped");
    g_usleep (1000);
  }
}

/* The events of each frame of the video, or `-`; in brackets if the frame has zones only because of
 * its events, not of a matching frame. */
static gchar *
run (const Item *video, guint n_video, const Item *mask, guint n_mask, gboolean latest,
     guint64 limit, guint64 *n_lost, guint *n_warnings)
{
  GString *text = g_string_new (NULL);
  GstStructure *stats;
  GThread *threads[2];
  GstMessage *message;
  Feed feeds[2];
  guint i;
  Pair pair;

  pair_init (&pair, FALSE);
  g_object_set (pair.video->element, "mode", latest, latest ? "max-age" : "tolerance", limit, NULL);
  feeds[0] = (Feed){ pair.video, video, n_video };
  feeds[1] = (Feed){ pair.mask, mask, n_mask };
  threads[0] = g_thread_new (NULL, feed_video, &feeds[0]);
  threads[1] = g_thread_new (NULL, feed_mask, &feeds[1]);
  for (i = 0; i < n_video; i++) {
    GstBuffer *buffer = gst_harness_pull (pair.video);
    GstCclZonesMeta *meta = gst_buffer_get_ccl_zones_meta (buffer);
    GstCclMeta *components = gst_buffer_get_ccl_meta (buffer);

    fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), video[i].time * GST_MSECOND);
    g_string_append (text, i > 0 ? " " : "");
    g_string_append (text, components ? "" : "(");
    if (meta) {
      fail_unless (meta->width == VIDEO_WIDTH && meta->height == VIDEO_HEIGHT);
      fail_unless_equals_int (meta->n_zones, 1);
      fail_unless_equals_float (meta->zones[0].points[2], VIDEO_WIDTH);
      fail_unless_equals_float (meta->zones[0].points[3], VIDEO_HEIGHT / 2);
    }
    if (components) /* the counts are those of the same frame */
      fail_unless_equals_uint64 (meta->zones[0].in, components->components[0].label);
    append_events (text, buffer);
    if (!meta || meta->n_events == 0)
      g_string_append_c (text, '-');
    g_string_append (text, components ? "" : ")");
    gst_buffer_unref (buffer);
  }
  g_thread_join (threads[0]);
  g_thread_join (threads[1]);

  wait_for_end (pair.video);
  g_object_get (pair.video->element, "stats", &stats, NULL);
  fail_unless (gst_structure_get_uint64 (stats, "lost-events", n_lost));
  gst_structure_free (stats);
  *n_warnings = 0;
  while ((message = ccl_test_pop_message (pair.video, GST_MESSAGE_WARNING))) {
    GError *error;

    gst_message_parse_warning (message, &error, NULL);
    *n_warnings += strstr (error->message, "after the last frame") != NULL;
    g_clear_error (&error);
    gst_message_unref (message);
  }
  pair_clear (&pair);

  return g_string_free (text, FALSE);
}

static guint
parse (const gchar *text, Item *items)
{
  guint n = 0;

  while (*text) {
    gchar *end;

    items[n].time = (guint) g_ascii_strtoull (text, &end, 10);
    items[n].n_events = (guint) strspn (end, "!");
    text = end + items[n].n_events;
    text += *text == ' ';
    n++;
  }

  return n;
}

/* Times of frames, with a "!" for each event, and what the frames of the video get. */
static const struct
{
  const gchar *name;
  gboolean latest;
  guint limit;
  const gchar *video, *mask, *events;
  guint lost;
} cases[] = {
  { "same times", FALSE, 0, "0 1000 2000", "0! 1000!! 2000", "1@0 2@0,2@0 -", 0 },
  { "more of them", FALSE, 500, "0 1000", "0! 200! 400 600! 800! 1000!",
    "1@0 2@800,4@400,5@200,6@0", 0 },
  { "late", FALSE, 500, "1000 2000", "1200! 2100!!", "1@-200 2@-100,2@-100", 0 },
  { "twice before it, once after", FALSE, 1000, "0 500 1000 2000", "1000!", "1@-1000 - - -", 0 },
  { "nothing near", FALSE, 0, "0 1000 2000", "10! 990! 2500!", "(-) (1@990,2@10) (-)", 1 },
  { "before the video", FALSE, 0, "2000", "0! 1000! 2000!", "1@2000,2@1000,3@0", 0 },
  { "after the video", FALSE, 0, "0", "0! 1000! 2000!!!", "1@0", 4 },
  { "none at all", FALSE, 0, "0 1000", "0 1000", "- -", 0 },
  { "latest, same times", TRUE, 0, "0 1000 2000", "0! 1000!! 2000", "1@0 2@0,2@0 -", 0 },
  { "latest, used again", TRUE, 5000, "0 1000 2000", "0!", "1@0 - -", 0 },
  { "latest, several", TRUE, 5000, "0 2000", "0! 500! 1000! 2000!", "1@0 2@1500,3@1000,4@0", 0 },
  { "latest, too old", TRUE, 100, "0 1000 2000", "0 500! 2000", "- (2@500) -", 0 },
  { "latest, never a later one", TRUE, 5000, "0 1000", "1! 1001!", "(-) 1@999", 1 },
};

/* Each event is delivered once, or counted as lost. */
GST_START_TEST (test_events)
{
  Item video[MAX_FRAMES], mask[MAX_FRAMES];
  guint n_video = parse (cases[__i__].video, video), n_mask = parse (cases[__i__].mask, mask);
  guint64 n_lost;
  guint n_warnings;
  gchar *events = run (video, n_video, mask, n_mask, cases[__i__].latest,
                       cases[__i__].limit * GST_MSECOND, &n_lost, &n_warnings);

  fail_unless (g_str_equal (events, cases[__i__].events), "%s: %s, not %s", cases[__i__].name,
               events, cases[__i__].events);
  fail_unless_equals_uint64 (n_lost, cases[__i__].lost);
  fail_unless_equals_int (n_warnings, cases[__i__].lost > 0);
  g_free (events);
}
GST_END_TEST;

/* Random rates and jitter: each event is delivered once, by a frame of the right time, or counted
 * as lost. */
GST_START_TEST (test_random_events)
{
  guint32 seed = g_random_int ();
  GRand *random = g_rand_new_with_seed (seed);
  guint delivered[MAX_FRAMES + 1] = { 0 }, i, time, n_warnings, last = 0;
  Item video[MAX_FRAMES], mask[MAX_FRAMES];
  guint64 n_lost, n_all = 0, n_delivered = 0;
  gboolean latest = __i__ % 2;
  gchar *events, **frames;

  g_print ("seed %u\n", seed);
  for (i = 0, time = (guint) g_rand_int_range (random, 0, 200); i < MAX_FRAMES; i++) {
    video[i].time = time;
    time += (guint) g_rand_int_range (random, 1, 100);
  }
  for (i = 0, time = (guint) g_rand_int_range (random, 0, 200); i < MAX_FRAMES; i++) {
    mask[i].time = time;
    mask[i].n_events = (guint) g_rand_int_range (random, 0, 3);
    n_all += mask[i].n_events;
    time += (guint) g_rand_int_range (random, 1, 100);
  }
  events = run (video, MAX_FRAMES, mask, MAX_FRAMES, latest,
                (guint64) g_rand_int_range (random, 0, 120) * GST_MSECOND, &n_lost, &n_warnings);
  frames = g_strsplit (events, " ", -1);
  for (i = 0; i < MAX_FRAMES; i++) {
    const gchar *at = frames[i] + strspn (frames[i], "(");

    while (g_ascii_isdigit (*at)) {
      gchar *end;
      guint track = (guint) g_ascii_strtoull (at, &end, 10);
      gint age = (gint) g_ascii_strtoll (end + 1, &end, 10);

      fail_unless_equals_int ((gint) video[i].time - age, mask[track - 1].time);
      fail_unless (track >= last);
      last = track;
      delivered[track]++;
      n_delivered++;
      at = end + (*end == ',');
    }
  }
  fail_unless_equals_uint64 (n_delivered + n_lost, n_all);
  for (i = 0; i < MAX_FRAMES; i++)
    fail_unless (delivered[i + 1] == mask[i].n_events || mask[i].time > video[MAX_FRAMES - 1].time,
                 "event %u: %u", i, delivered[i + 1]);
  g_strfreev (frames);
  g_free (events);
  g_rand_free (random);
}
GST_END_TEST;

/* Frames of other sizes, cropped frames, zones that are no longer there, those of the video itself,
 * ages of an earlier cclmerge, and frames without time. */
GST_START_TEST (test_zones)
{
  GstBuffer *mask, *video = video_new (2 * GST_SECOND), *out;
  gdouble own[] = { 1.0, 2.0, 3.0, 4.0 };
  GstCclZone zone = { (gchar *) "own", TRUE, 0, 2, own, 9, 0, 0 };
  GstCclZoneEvent event = { GST_CCL_ZONE_OUT, 0, 77, 0, 1.0, 1.0, 0, 0, 0, 0 };
  GstCclZonesMeta *meta;
  Pair pair;

  pair_init (&pair, FALSE);
  g_object_set (pair.video->element, "tolerance", (guint64) 0, NULL);
  /* First: only one frame of a branch waits in the element. */
  gst_buffer_add_ccl_zones_meta (video, VIDEO_WIDTH, VIDEO_HEIGHT, &zone, 1, &event, 1);
  gst_harness_push (pair.video, gst_buffer_ref (video));

  mask = gst_buffer_new ();
  add_events (mask, "gone", 1, 1);
  gst_buffer_get_ccl_zones_meta (mask)->events[0].frame_age = 5;
  GST_BUFFER_PTS (mask) = GST_SECOND;
  gst_harness_push (pair.mask, mask);

  mask = gst_buffer_new ();
  add_events (mask, "gone", 2, 1);
  gst_harness_push (pair.mask, mask);

  /* Of 64x48 pixels, the 32x24 at 8, 4 are left. */
  mask = zones_new (2 * GST_SECOND, 3, 1);
  add_events (mask, "gate", 4, 1); /* another element's, with the same name */
  gst_buffer_append_memory (mask, gst_allocator_alloc (NULL, MASK_WIDTH * MASK_HEIGHT, NULL));
  ccl_test_crop (mask, MASK_WIDTH, MASK_HEIGHT, 8, 4, 32, 24);
  gst_harness_push (pair.mask, mask);

  out = gst_harness_pull (pair.video);
  fail_unless_equals_int (gst_buffer_get_ccl_zones_meta (video)->n_zones, 1);
  meta = gst_buffer_get_ccl_zones_meta (out);
  fail_unless (meta->width == VIDEO_WIDTH && meta->height == VIDEO_HEIGHT);
  fail_unless_equals_int (meta->n_zones, 4);
  fail_unless_equals_string (meta->zones[0].name, "own");
  fail_unless_equals_float (meta->zones[0].points[3], 4.0);
  fail_unless_equals_string (meta->zones[1].name, "gate");
  fail_unless_equals_float (meta->zones[1].points[0], -32.0);
  fail_unless_equals_float (meta->zones[1].points[1], 80.0);
  fail_unless_equals_string (meta->zones[3].name, "gone");
  fail_unless_equals_float (meta->zones[3].points[2], VIDEO_WIDTH);

  fail_unless_equals_int (meta->n_events, 5);
  fail_unless_equals_int (meta->events[0].track, 77);
  fail_unless (meta->events[1].track == 1 && meta->events[1].zone == 3);
  fail_unless_equals_int64 (meta->events[1].frame_age, GST_SECOND + 5);
  fail_unless_equals_float (meta->events[1].x, 32.0);
  fail_unless (meta->events[2].track == 2 && meta->events[2].zone == 3);
  fail_unless_equals_int64 (meta->events[2].frame_age, 0);
  fail_unless (meta->events[3].track == 3 && meta->events[3].zone == 1);
  fail_unless_equals_float (meta->events[3].x, 32.0);
  fail_unless_equals_float (meta->events[3].y, 8.0);
  fail_unless (meta->events[4].track == 4 && meta->events[4].zone == 2);
  gst_buffer_unref (video);
  gst_buffer_unref (out);
  pair_clear (&pair);
}
GST_END_TEST;

/* Zones and events of a frame of one pixel. */
GST_START_TEST (test_one_pixel)
{
  static const guint sizes[][2] = { { 1, 48 }, { 64, 1 }, { 1, 1 } };
  gdouble wire[] = { 0.0, 0.0, 1.0, 1.0 };
  GstCclZone zone = { (gchar *) "gate", TRUE, 0, 2, wire, 0, 0, 0 };
  GstCclZoneEvent event = { GST_CCL_ZONE_IN, 0, 1, 0, 1.0, 1.0, 0, 0, 0, 0 };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (sizes); i++) {
    GstBuffer *mask = gst_buffer_new (), *out;
    const GstCclZonesMeta *meta;
    Pair pair;

    pair_init (&pair, FALSE);
    GST_BUFFER_PTS (mask) = 0;
    gst_buffer_add_ccl_zones_meta (mask, sizes[i][0], sizes[i][1], &zone, 1, &event, 1);
    gst_harness_push (pair.mask, mask);
    out = gst_harness_push_and_pull (pair.video, video_new (0));
    meta = gst_buffer_get_ccl_zones_meta (out);
    fail_unless (meta && meta->n_zones == 1 && meta->n_events == 1, "%u", i);
    fail_unless_equals_float (meta->zones[0].points[2], VIDEO_WIDTH / (gdouble) sizes[i][0]);
    fail_unless_equals_float (meta->events[0].y, VIDEO_HEIGHT / (gdouble) sizes[i][1]);
    gst_buffer_unref (out);
    pair_clear (&pair);
  }
}
GST_END_TEST;

/* Zones that come with an event alone keep their order, behind those of the video. */
GST_START_TEST (test_order_of_zones)
{
  GstBuffer *mask = gst_buffer_new (), *video = video_new (2 * GST_SECOND), *out;
  const GstCclZonesMeta *meta;
  Pair pair;

  pair_init (&pair, FALSE);
  g_object_set (pair.video->element, "tolerance", (guint64) 0, NULL);
  add_events (video, "own", 7, 0);
  GST_BUFFER_PTS (mask) = GST_SECOND;
  add_events (mask, "first", 1, 0);
  add_events (mask, "second", 2, 1);
  gst_harness_push (pair.mask, mask);
  gst_harness_push_event (pair.mask, gst_event_new_eos ());
  out = gst_harness_push_and_pull (pair.video, video);
  meta = gst_buffer_get_ccl_zones_meta (out);
  fail_unless_equals_int (meta->n_zones, 3);
  fail_unless_equals_string (meta->zones[0].name, "own");
  fail_unless_equals_string (meta->zones[1].name, "first");
  fail_unless_equals_string (meta->zones[2].name, "second");
  fail_unless_equals_int (meta->n_events, 1);
  fail_unless_equals_int (meta->events[0].zone, 2);
  gst_buffer_unref (out);
  pair_clear (&pair);
}
GST_END_TEST;

/* A shared frame is copied before it gets zones, also if it gets no components. */
GST_START_TEST (test_shared_frame)
{
  GstBuffer *mask = gst_buffer_new (), *video = video_new (0), *out;
  Pair pair;

  pair_init (&pair, FALSE);
  GST_BUFFER_PTS (mask) = 0;
  add_events (mask, "gate", 1, 0);
  gst_harness_push (pair.mask, mask);
  out = gst_harness_push_and_pull (pair.video, gst_buffer_ref (video));
  fail_unless_equals_int (gst_buffer_get_ccl_zones_meta (out)->n_zones, 1);
  fail_if (gst_buffer_get_ccl_zones_meta (video));
  gst_buffer_unref (video);
  gst_buffer_unref (out);
  pair_clear (&pair);
}
GST_END_TEST;

/* When the branch has no more zones, frames have none. Waiting events survive the release of
 * the pad. */
GST_START_TEST (test_end_of_zones)
{
  GstBuffer *out;
  GString *text = g_string_new (NULL);
  GstPad *pad;
  Pair pair;

  pair_init (&pair, FALSE);
  g_object_set (pair.video->element, "tolerance", (guint64) 0, NULL);
  gst_harness_push (pair.mask, zones_new (0, 1, 1));
  out = gst_harness_push_and_pull (pair.video, video_new (0));
  append_events (text, out);
  gst_buffer_unref (out);

  gst_harness_push (pair.video, video_new (2 * GST_SECOND));
  gst_harness_push (pair.mask, zones_new (GST_SECOND, 2, 1));
  gst_harness_push (pair.mask, mask_new (2 * GST_SECOND, 3));
  out = gst_harness_pull (pair.video);
  g_string_append_c (text, ' ');
  append_events (text, out);
  gst_buffer_unref (out);
  gst_harness_push (pair.mask, mask_new (3 * GST_SECOND, 3));
  out = gst_harness_push_and_pull (pair.video, video_new (3 * GST_SECOND));
  fail_unless (gst_buffer_get_ccl_zones_meta (out) == NULL);
  gst_buffer_unref (out);

  /* The last one is dropped for a frame that waits until the pad is gone. */
  gst_harness_push (pair.video, video_new (5 * GST_SECOND));
  gst_harness_push (pair.mask, zones_new (4 * GST_SECOND, 4, 1));
  pad = gst_element_get_static_pad (pair.video->element, "components");
  wait_for_drop (pad);
  fail_if (gst_harness_try_pull (pair.video));
  gst_element_release_request_pad (pair.video->element, pad);
  gst_object_unref (pad);
  out = gst_harness_pull (pair.video);
  g_string_append_c (text, ' ');
  append_events (text, out);
  gst_buffer_unref (out);
  fail_unless_equals_string (text->str, "1@0 2@1000 4@1000");
  g_string_free (text, TRUE);
  pair_clear (&pair);
}
GST_END_TEST;

/* A flush drops the events of frames that wait, as it drops other frames. */
GST_START_TEST (test_flush)
{
  GstBuffer *out;
  GstPad *pad;
  Pair pair;

  pair_init (&pair, FALSE);
  g_object_set (pair.video->element, "tolerance", (guint64) 0, NULL);
  gst_harness_push (pair.mask, zones_new (GST_SECOND, 1, 1));
  gst_harness_push (pair.video, video_new (2 * GST_SECOND));
  pad = gst_element_get_static_pad (pair.video->element, "components");
  wait_for_drop (pad);
  gst_object_unref (pad);
  fail_if (gst_harness_try_pull (pair.video));
  pair_flush (&pair);
  pair_push_segment (&pair, 0);
  gst_harness_push (pair.mask, zones_new (GST_SECOND, 2, 0));
  out = gst_harness_push_and_pull (pair.video, video_new (GST_SECOND));
  fail_unless_equals_int (gst_buffer_get_ccl_zones_meta (out)->n_events, 0);
  fail_unless_equals_uint64 (gst_buffer_get_ccl_zones_meta (out)->zones[0].in, 2);
  gst_buffer_unref (out);
  pair_clear (&pair);
}
GST_END_TEST;

static Suite *
cclmergezones_suite (void)
{
  Suite *suite = suite_create ("cclmergezones");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, test_events, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tcase, test_random_events, 0, 40);
  tcase_add_test (tcase, test_zones);
  tcase_add_test (tcase, test_one_pixel);
  tcase_add_test (tcase, test_order_of_zones);
  tcase_add_test (tcase, test_shared_frame);
  tcase_add_test (tcase, test_end_of_zones);
  tcase_add_test (tcase, test_flush);

  return suite;
}

GST_CHECK_MAIN (cclmergezones)
