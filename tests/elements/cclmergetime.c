/* cudaccl - tests of the element cclmerge: timestamps that jump
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmergetest.h"
#include "tests/lib/ccltimingtest.h"

#include <gst/check/gsttestclock.h>

#define N_FRAMES 60
#define DAY (86400 * GST_SECOND)

#define LAG 2 /* most frames that one branch is ahead of the other, as after a tee */
#define GLITCH 30

typedef struct
{
  GstHarness *h;
  const CclTestTiming *timing;
  GstClockTime start;      /* added to all timestamps */
  GstClockTimeDiff glitch; /* added to that of one frame */
  gboolean is_mask;
  gint *begun, *others; /* how many frames this branch and the other one have begun to push */
} Branch;

/* The label of the frame's component is its number from 1 on. */
static GstBuffer *
branch_frame_new (const Branch *branch, guint number)
{
  GstBuffer *buffer = branch->is_mask ? mask_new (0, number + 1) : video_new (0);

  ccl_test_timing_stamp (branch->timing, buffer, number);
  if (GST_BUFFER_PTS_IS_VALID (buffer))
    GST_BUFFER_PTS (buffer) += branch->start + (number == GLITCH ? (guint64) branch->glitch : 0);

  return buffer;
}

/* Runs in a thread: it must not assert. */
static gpointer
feed (gpointer data)
{
  const Branch *branch = data;
  guint i;

  for (i = 0; i < N_FRAMES; i++) {
    g_atomic_int_set (branch->begun, (gint) i + 1);
    while (g_atomic_int_get (branch->others) + LAG <= (gint) i)
      g_usleep (100);
    if (!branch->is_mask || !ccl_test_timing_drops (branch->timing, i))
      gst_harness_push (branch->h, branch_frame_new (branch, i));
  }
  gst_harness_push_event (branch->h, gst_event_new_eos ());

  return NULL;
}

/* Whether one frame of a branch is a day off. */
static const struct
{
  GstClockTimeDiff video, mask;
  const gchar *name;
} glitches[] = {
  { 0, 0, "as they are" },   { 0, DAY, "components ahead" }, { 0, -DAY, "components back" },
  { DAY, 0, "video ahead" }, { -DAY, 0, "video back" },
};

/* Pushes all frames to both branches. Returns how many of the video have their own components. */
static guint
run (Pair *pair, const CclTestTiming *timing, guint glitch)
{
  /* Later than the glitch, so that there is time before it. */
  const GstClockTime start = glitch > 0 && timing->speed > 0.0 ? 2 * DAY : 0;
  gint begun[2] = { 0, 0 };
  Branch video = {
    pair->video, timing, start, glitches[glitch].video, FALSE, &begun[0], &begun[1]
  };
  Branch mask = { pair->mask, timing, start, glitches[glitch].mask, TRUE, &begun[1], &begun[0] };
  GThread *threads[2];
  guint i, n_right = 0;

  ccl_test_timing_start (timing, pair->video, VIDEO_WIDTH, VIDEO_HEIGHT);
  ccl_test_timing_start (timing, pair->mask, MASK_WIDTH, MASK_HEIGHT);
  threads[0] = g_thread_new (NULL, feed, &video);
  threads[1] = g_thread_new (NULL, feed, &mask);
  for (i = 0; i < N_FRAMES; i++)
    n_right += take_label (gst_harness_pull (pair->video)) == i + 1;
  for (i = 0; i < 2; i++)
    g_thread_join (threads[i]);

  return n_right;
}

/* With any timestamps, all frames come out, with their own components except for a second after
 * a jump. */
GST_START_TEST (test_timing)
{
  const CclTestTiming *timing = &ccl_test_timings[__i__ / G_N_ELEMENTS (glitches)];
  guint glitch = __i__ % G_N_ELEMENTS (glitches), mode, n_right, n_jumps;
  gboolean jumps = timing->jumps || glitch > 0;

  if ((timing->untimed || timing->speed < 0.0) && glitch > 0)
    return;

  for (mode = 0; mode < 2; mode++) {
    guint n = timing->untimed ? 0 : N_FRAMES - timing->dropped;
    Pair pair;

    pair_init (&pair);
    g_object_set (pair.video->element, "mode", mode, NULL);
    n_right = run (&pair, timing, glitch);
    fail_unless (n_right <= n && n_right + (jumps ? 10 : 0) >= n, "%s, %s, mode %u: %u",
                 timing->name, glitches[glitch].name, mode, n_right);
    n_jumps = ccl_test_count_warnings (pair.video, " jump ");
    fail_unless (!n_jumps == !jumps, "%s, %s: %u warnings", timing->name, glitches[glitch].name,
                 n_jumps);
    pair_clear (&pair);
  }
}
GST_END_TEST;

/* Three frames of a branch, pushed by a thread: the queue may not have room for the last one. */
typedef struct
{
  GstHarness *h;
  GstBuffer *frames[3];
  gint n_arrived;
} Three;

static gpointer
push_three (gpointer data)
{
  Three *three = data;
  guint i;

  for (i = 0; i < 3; i++)
    gst_harness_push (three->h, three->frames[i]);

  return NULL;
}

/* Added after the element's own probe, so that the element knows of the frames counted. */
static GstPadProbeReturn
count_arrival (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  Three *three = user_data;

  g_atomic_int_inc (&three->n_arrived);

  return GST_PAD_PROBE_OK;
}

/* A frame of either branch that is far ahead does not block it, either, if it is not yet the first
 * in the queue when an earlier one arrives. */
GST_START_TEST (test_queued_ahead)
{
  gboolean is_video = __i__ == 1;
  GThread *thread;
  Three three = { NULL };
  GstPad *pad;
  guint i;
  Pair pair;

  pair_init (&pair);
  /* Before GStreamer 1.28, queues have more than one frame only with a latency. */
  g_object_set (pair.video->element, "latency", (guint64) GST_SECOND, NULL);
  three.h = is_video ? pair.video : pair.mask;
  for (i = 0; i < 3; i++) {
    GstClockTime pts = i == 1 ? DAY : i * FRAME_TIME;

    three.frames[i] = is_video ? video_new (pts) : mask_new (pts, i + 1);
  }
  pad = gst_element_get_static_pad (pair.video->element, is_video ? "video" : "components");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BUFFER, count_arrival, &three, NULL);
  gst_object_unref (pad);

  thread = g_thread_new (NULL, push_three, &three);
  while (g_atomic_int_get (&three.n_arrived) < 3)
    g_usleep (100);
  if (is_video) {
    gst_harness_push (pair.mask, mask_new (0, 1));
    fail_unless_equals_int (pair_pull_label (&pair, 0), 1);
    gst_harness_push (pair.mask, mask_new (2 * FRAME_TIME, 3));
    fail_unless_equals_int (pair_pull_label (&pair, DAY), 0);
    fail_unless_equals_int (pair_pull_label (&pair, 2 * FRAME_TIME), 3);
  } else {
    pair_push_video (&pair, 0, 1);
    pair_push_video (&pair, 2 * FRAME_TIME, 3);
    fail_unless_equals_uint64 (ccl_test_stat (pair.video->element, "dropped"), 1);
  }
  g_thread_join (thread);
  pair_push_partners (&pair, 3 * FRAME_TIME, 4);
  pair_clear (&pair);
}
GST_END_TEST;

/* Without timestamps, frames of the video come out as those of the other branch come in, even if
 * more of these are queued. */
GST_START_TEST (test_queued_untimed)
{
  guint i;
  Pair pair;

  pair_init (&pair);
  g_object_set (pair.video->element, "latency", (guint64) GST_SECOND, NULL);
  for (i = 0; i < 2; i++)
    gst_harness_push (pair.mask,
                      mask_new (__i__ == 0 ? GST_CLOCK_TIME_NONE : i * FRAME_TIME, i + 1));
  for (i = 0; i < 2; i++)
    pair_push_video (&pair, GST_CLOCK_TIME_NONE, 0);
  pair_clear (&pair);
}
GST_END_TEST;

/* Nor does one that the video has not waited for, while the next frame of the video waits for that
 * branch. */
GST_START_TEST (test_ahead_of_video)
{
  Pair pair;

  pair_init (&pair);
  g_object_set (pair.video->element, "mode", __i__, NULL);
  pair_push_partners (&pair, 0, 1);
  gst_harness_push (pair.mask, mask_new (DAY, 99));
  pair_push_video (&pair, FRAME_TIME, 1);
  gst_harness_push (pair.mask, mask_new (2 * FRAME_TIME, 3));
  pair_push_video (&pair, 2 * FRAME_TIME, 3);
  fail_unless_equals_uint64 (ccl_test_stat (pair.video->element, "dropped"), 1);
  pair_clear (&pair);
}
GST_END_TEST;

/* A live pair, at 10 frames per second, whose frames may wait for @latency. */
static GstTestClock *
live_init (Pair *pair, GstClockTime latency)
{
  GstClock *clock;

  pair_init_live (pair, latency);
  g_object_set (pair->video->element, "tolerance", (guint64) 0, NULL);
  clock = gst_element_get_clock (pair->video->element);

  return GST_TEST_CLOCK (clock);
}

/* Frames that get the components of their own time. */
static void
check_live (Pair *pair, GstClockTime first, guint n)
{
  guint i;

  for (i = 0; i < n; i++)
    pair_push_partners (pair, first + i * FRAME_TIME, i + 1);
}

/* A frame of components a day ahead does not keep the later ones from being used. Its events are
 * delivered. */
GST_START_TEST (test_live_components_ahead)
{
  GstCclZone zone = { (gchar *) "gate", TRUE };
  GstCclZoneEvent event = { GST_CCL_ZONE_IN, 0, 7 };
  GstBuffer *mask = mask_new (DAY, 99), *out;
  const GstCclZonesMeta *zones;
  const GstCclMeta *meta;
  GstTestClock *clock;
  Pair pair;

  clock = live_init (&pair, FRAME_TIME);
  check_live (&pair, 0, 5);
  gst_buffer_add_ccl_zones_meta (mask, MASK_WIDTH, MASK_HEIGHT, &zone, 1, &event, 1);
  gst_harness_push (pair.mask, mask);
  out = pair_merge (&pair, mask_new (5 * FRAME_TIME, 6), video_new (5 * FRAME_TIME));
  meta = gst_buffer_get_ccl_meta (out);
  fail_unless (meta && meta->components[0].label == 6);
  zones = gst_buffer_get_ccl_zones_meta (out);
  fail_unless (zones && zones->n_events == 1);
  fail_unless_equals_int64 (zones->events[0].frame_age, 0);
  gst_buffer_unref (out);
  check_live (&pair, 6 * FRAME_TIME, 5);
  fail_unless_equals_uint64 (ccl_test_stat (pair.video->element, "dropped"), 1);
  fail_unless_equals_int (ccl_test_count_warnings (pair.video, " jump "), 1);
  gst_object_unref (clock);
  pair_clear (&pair);
}
GST_END_TEST;

/* If all components are a day ahead, they are dropped: they do not pile up and do not block their
 * branch. */
GST_START_TEST (test_live_components_stay_ahead)
{
  GstTestClock *clock;
  guint i;
  Pair pair;

  clock = live_init (&pair, FRAME_TIME);
  check_live (&pair, 0, 5);
  for (i = 5; i < 50; i++) {
    gst_harness_push (pair.mask, mask_new (DAY + i * FRAME_TIME, 99));
    gst_harness_push (pair.video, video_new (i * FRAME_TIME));
    gst_test_clock_wait_for_next_pending_id (clock, NULL);
    fail_unless (gst_test_clock_crank (clock));
    fail_unless_equals_int (pair_pull_label (&pair, i * FRAME_TIME), 0);
  }
  fail_unless (ccl_test_stat (pair.video->element, "dropped") >= 40);
  gst_object_unref (clock);
  pair_clear (&pair);
}
GST_END_TEST;

/* A frame of the video a day ahead does not wait for a day. */
GST_START_TEST (test_live_video_ahead)
{
  GstTestClock *clock;
  Pair pair;

  clock = live_init (&pair, FRAME_TIME);
  check_live (&pair, 0, 5);
  gst_harness_push (pair.video, video_new (DAY));
  gst_harness_push (pair.video, video_new (5 * FRAME_TIME));
  gst_harness_push (pair.mask, mask_new (5 * FRAME_TIME, 6));
  fail_unless_equals_int (pair_pull_label (&pair, DAY), 0);
  fail_unless_equals_int (pair_pull_label (&pair, 5 * FRAME_TIME), 6);
  check_live (&pair, 6 * FRAME_TIME, 5);

  /* The same if no later frame follows. */
  gst_harness_push (pair.video, video_new (DAY));
  fail_unless (gst_test_clock_crank (clock));
  fail_unless_equals_uint64 (gst_clock_get_time (GST_CLOCK (clock)), FRAME_TIME);
  fail_unless_equals_int (pair_pull_label (&pair, DAY), 0);
  gst_object_unref (clock);
  pair_clear (&pair);
}
GST_END_TEST;

/* After a jump of both branches, frames still wait for components that come later. */
GST_START_TEST (test_live_jumps)
{
  static const GstClockTimeDiff jumps[] = { DAY, -DAY, 30 * GST_SECOND, -(30 * GST_SECOND) };
  const GstClockTime start = 2 * DAY, later = start + (GstClockTime) jumps[__i__];
  GstTestClock *clock;
  guint i;
  Pair pair;

  clock = live_init (&pair, 5 * FRAME_TIME);
  gst_test_clock_set_time (clock, start);
  check_live (&pair, start, 10);
  for (i = 0; i < 20; i++) {
    gst_test_clock_set_time (clock, start + (10 + i) * FRAME_TIME);
    gst_harness_push (pair.video, video_new (later + i * FRAME_TIME));
    gst_test_clock_wait_for_next_pending_id (clock, NULL);
    gst_test_clock_set_time (clock, start + (10 + i) * FRAME_TIME + FRAME_TIME / 2);
    gst_harness_push (pair.mask, mask_new (later + i * FRAME_TIME, i + 1));
    fail_unless_equals_int (pair_pull_label (&pair, later + i * FRAME_TIME), i + 1);
  }
  fail_unless_equals_uint64 (ccl_test_stat (pair.video->element, "lateness"), FRAME_TIME / 2);
  fail_unless_equals_uint64 (ccl_test_stat (pair.video->element, "added-latency"), 0);
  gst_object_unref (clock);
  pair_clear (&pair);
}
GST_END_TEST;

/* A flush forgets how late components were. */
GST_START_TEST (test_lateness_and_flush)
{
  GstTestClock *clock;
  gboolean both;
  guint i;
  Pair pair;

  for (both = FALSE; both <= TRUE; both++) {
    clock = live_init (&pair, 5 * FRAME_TIME);
    for (i = 0; i < 3; i++) {
      gst_test_clock_set_time (clock, i * FRAME_TIME + GST_SECOND);
      pair_push_partners (&pair, i * FRAME_TIME, i + 1);
    }
    fail_unless_equals_uint64 (ccl_test_stat (pair.video->element, "lateness"), GST_SECOND);
    fail_unless_equals_uint64 (ccl_test_stat (pair.video->element, "added-latency"), 0);
    if (both) {
      pair_flush (&pair);
      pair_push_segment (&pair, 0);
    } else {
      pair_flush_mask (&pair);
    }
    fail_unless_equals_uint64 (ccl_test_stat (pair.video->element, "lateness"), 0);

    /* With those before it would be usual by now. */
    for (i = 13; i < 16; i++)
      pair_push_partners (&pair, i * FRAME_TIME, i + 1);
    fail_unless_equals_uint64 (ccl_test_stat (pair.video->element, "added-latency"), 0);
    gst_object_unref (clock);
    pair_clear (&pair);
  }
}
GST_END_TEST;

/* When a frame of the video arrives, the element peeks at the one before it. A stop drops both,
 * even if the streaming thread has ended by then. */
GST_START_TEST (test_seen_and_stopped)
{
  GstTestClock *clock;
  GstPad *pad;
  Pair pair;
  guint i;

  clock = live_init (&pair, 5 * FRAME_TIME);
  gst_test_clock_set_time (clock, DAY);
  check_live (&pair, 0, 3);

  /* A change of state deactivates this pad first, too. */
  pad = gst_element_get_static_pad (pair.video->element, "src");
  gst_pad_set_active (pad, FALSE);
  gst_object_unref (pad);
  for (i = 3; i < 5; i++)
    gst_harness_push (pair.video, video_new (i * FRAME_TIME));
  gst_element_set_state (pair.video->element, GST_STATE_NULL);
  gst_element_set_state (pair.video->element, GST_STATE_PLAYING);

  check_live (&pair, 5 * FRAME_TIME, 3);
  gst_object_unref (clock);
  pair_clear (&pair);
}
GST_END_TEST;

/* Blocks the first frame; a flush ends that. */
static GstPadProbeReturn
block_once (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  gint *n = user_data;

  return g_atomic_int_add (n, 1) == 0 ? GST_PAD_PROBE_OK : GST_PAD_PROBE_REMOVE;
}

/* A flush drops frames that need not wait but could not leave yet. */
GST_START_TEST (test_early_and_flush)
{
  gint n = 0;
  GstPad *pad;
  Pair pair;

  pair_init (&pair);
  pad = gst_element_get_static_pad (pair.video->element, "src");
  gst_pad_add_probe (pad, GST_PAD_PROBE_TYPE_BLOCK | GST_PAD_PROBE_TYPE_BUFFER, block_once, &n,
                     NULL);
  gst_harness_push (pair.mask, mask_new (0, 1));
  gst_harness_push (pair.video, video_new (0));
  while (!gst_pad_is_blocking (pad))
    g_usleep (1000);
  gst_harness_push (pair.video, video_new (DAY));
  gst_harness_push (pair.video, video_new (FRAME_TIME)); /* so the one before it is early */
  pair_flush (&pair);
  pair_push_segment (&pair, 0);
  pair_push_partners (&pair, 2 * FRAME_TIME, 3);
  gst_object_unref (pad);
  pair_clear (&pair);
}
GST_END_TEST;

static Suite *
cclmergetime_suite (void)
{
  Suite *s = suite_create ("cclmergetime");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_timing, 0, (int) (ccl_test_n_timings * G_N_ELEMENTS (glitches)));
  tcase_add_loop_test (tc, test_queued_ahead, 0, 2);
  tcase_add_loop_test (tc, test_ahead_of_video, 0, 2);
  tcase_add_loop_test (tc, test_queued_untimed, 0, 2);
  tcase_add_test (tc, test_live_components_ahead);
  tcase_add_test (tc, test_live_components_stay_ahead);
  tcase_add_test (tc, test_live_video_ahead);
  tcase_add_loop_test (tc, test_live_jumps, 0, 4);
  tcase_add_test (tc, test_lateness_and_flush);
  tcase_add_test (tc, test_seen_and_stopped);
  tcase_add_test (tc, test_early_and_flush);

  return s;
}

GST_CHECK_MAIN (cclmergetime);
