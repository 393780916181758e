/* cudaccl - tests of the element cclmerge: events, queries, latency, whole pipelines
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmergetest.h"

#include <gst/check/gsttestclock.h>

/* EOS of the video ends the stream; after EOS of the mask, the video continues. */
GST_START_TEST (test_eos)
{
  gboolean video_first;

  for (video_first = FALSE; video_first <= TRUE; video_first++) {
    Pair pair;
    guint i;

    pair_init (&pair);
    pair_push_partners (&pair, 0, 1);

    if (!video_first) {
      gst_harness_push_event (pair.mask, gst_event_new_eos ());
      for (i = 1; i < 5; i++) {
        pair_push_video (&pair, i * GST_SECOND, 0);
      }
      fail_unless_equals_int (ccl_test_count_events (pair.video, GST_EVENT_EOS), 0);
      gst_harness_push_event (pair.video, gst_event_new_eos ());
    } else {
      gst_harness_push_event (pair.video, gst_event_new_eos ());
      gst_harness_push (pair.mask, mask_new (GST_SECOND, 1));
    }
    gst_event_unref (ccl_test_wait_event (pair.video, GST_EVENT_EOS));
    fail_unless_equals_int (gst_harness_push (pair.video, video_new (9 * GST_SECOND)),
                            GST_FLOW_EOS);
    pair_clear (&pair);
  }
}
GST_END_TEST;

/* A mask branch that continues after EOS of the video is not blocked, and EOS is sent once. */
GST_START_TEST (test_eos_drain)
{
  guint i, n_frames;

  for (n_frames = 0; n_frames < 3; n_frames++) {
    GstQuery *query = gst_query_new_drain ();
    Pair pair;

    pair_init (&pair);
    for (i = 0; i < n_frames; i++)
      pair_push_partners (&pair, i * GST_SECOND, 1);
    gst_harness_push_event (pair.video, gst_event_new_eos ());
    gst_event_unref (ccl_test_wait_event (pair.video, GST_EVENT_EOS));

    for (i = 0; i < 50; i++)
      fail_unless_equals_int (gst_harness_push (pair.mask, mask_new (i * GST_SECOND, 1)),
                              GST_FLOW_OK);
    gst_pad_peer_query (pair.mask->srcpad, query);
    fail_unless (gst_harness_push_event (pair.mask, gst_event_new_eos ()));

    /* A flush restarts both branches. */
    fail_unless_equals_int (ccl_test_count_events (pair.video, GST_EVENT_EOS), 0);
    pair_flush (&pair);
    pair_push_segment (&pair, 0);
    pair_push_partners (&pair, 0, 2);
    fail_unless_equals_int (ccl_test_count_events (pair.video, GST_EVENT_EOS), 0);

    gst_query_unref (query);
    pair_clear (&pair);
  }
}
GST_END_TEST;

/* Frames from before a flush are not used after it, even if timestamps restart. */
GST_START_TEST (test_flush)
{
  Pair pair;
  guint i;

  pair_init (&pair);
  for (i = 0; i < 5; i++) {
    pair_push_partners (&pair, 0, 1 + i);
    /* A frame waits for its partner, or a mask for its frame. */
    if (i % 2)
      gst_harness_push (pair.video, video_new (GST_SECOND));
    else
      gst_harness_push (pair.mask, mask_new (0, 99));

    pair_flush (&pair);
    pair_push_segment (&pair, 0);
    if (i == 2) {
      gst_harness_push (pair.mask, mask_new (5 * GST_SECOND, 77));
      pair_push_video (&pair, 0, 0);
      pair_flush (&pair);
      pair_push_segment (&pair, 0);
    }
  }
  fail_if (gst_harness_try_pull (pair.video));
  pair_clear (&pair);
}
GST_END_TEST;

/* Only the mask branch is flushed: its earlier frames, used or not, are dropped; the video's
 * stay. */
GST_START_TEST (test_flush_components)
{
  guint waiting;

  for (waiting = 0; waiting < 2; waiting++) {
    Pair pair;

    pair_init (&pair);
    pair_push_partners (&pair, 0, 1);
    if (waiting)
      gst_harness_push (pair.video, video_new (GST_SECOND));
    else
      gst_harness_push (pair.mask, mask_new (GST_SECOND, 2));

    pair_flush_mask (&pair);
    if (!waiting)
      gst_harness_push (pair.video, video_new (0));
    gst_harness_push (pair.mask, mask_new (5 * GST_SECOND, 3));
    fail_unless_equals_int (pair_pull_label (&pair, waiting * GST_SECOND), 0);
    pair_push_video (&pair, 5 * GST_SECOND, 3);
    pair_clear (&pair);
  }
}
GST_END_TEST;

/* Frames are matched by running time. */
GST_START_TEST (test_segments)
{
  GstSegment segment;
  GstEvent *event;
  Pair pair;

  pair_init (&pair);
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = 10 * GST_SECOND;
  segment.base = 3 * GST_SECOND;
  gst_harness_push_event (pair.video, gst_event_new_segment (&segment));
  segment.start = 0;
  segment.base = 0;
  segment.rate = 2.0;
  gst_harness_push_event (pair.mask, gst_event_new_segment (&segment));

  /* 14 - 10 + 3 s and 14 / 2 s. */
  pair_push_partners (&pair, 14 * GST_SECOND, 5);
  event = ccl_test_wait_event (pair.video, GST_EVENT_SEGMENT);
  while (event) {
    gst_event_copy_segment (event, &segment);
    gst_event_unref (event);
    event = gst_harness_try_pull_event (pair.video);
    if (event && GST_EVENT_TYPE (event) != GST_EVENT_SEGMENT)
      gst_clear_event (&event);
  }
  fail_unless_equals_uint64 (segment.start, 10 * GST_SECOND);
  fail_unless_equals_uint64 (segment.base, 3 * GST_SECOND);

  /* A frame without a timestamp has no partner and waits for none; a mask without one is
   * skipped. */
  gst_harness_push (pair.mask, mask_new (GST_CLOCK_TIME_NONE, 6));
  pair_push_video (&pair, GST_CLOCK_TIME_NONE, 0);
  gst_harness_push (pair.video, video_new (15 * GST_SECOND));
  gst_harness_push (pair.mask, mask_new (16 * GST_SECOND, 7));
  fail_unless_equals_int (pair_pull_label (&pair, 15 * GST_SECOND), 7);
  pair_clear (&pair);
}
GST_END_TEST;

/* A gap in the video passes as a GAP event, not as an empty frame. At the start the segment must
 * come first. */
GST_START_TEST (test_video_gap)
{
  Pair pair;
  guint i;

  pair_init (&pair);
  pair_push_segment (&pair, GST_SECOND);
  for (i = 1; i < 6; i += 2) {
    GstClockTime timestamp, duration;
    const GstSegment *segment;
    GstEvent *event;

    gst_harness_push (pair.mask, mask_new ((i + 1) * GST_SECOND, i));
    gst_harness_push_event (pair.video, gst_event_new_gap (i * GST_SECOND, GST_SECOND));
    event = ccl_test_wait_event (pair.video, GST_EVENT_GAP);
    gst_event_parse_gap (event, &timestamp, &duration);
    fail_unless_equals_uint64 (timestamp, i * GST_SECOND);
    fail_unless_equals_uint64 (duration, GST_SECOND);
    gst_event_unref (event);
    fail_if (gst_harness_try_pull (pair.video));

    event = gst_pad_get_sticky_event (pair.video->sinkpad, GST_EVENT_SEGMENT, 0);
    gst_event_parse_segment (event, &segment);
    fail_unless_equals_uint64 (segment->start, GST_SECOND);
    gst_event_unref (event);

    pair_push_video (&pair, (i + 1) * GST_SECOND, i);
  }
  pair_clear (&pair);
}
GST_END_TEST;

/* Frames do not wait during a gap of the mask. */
GST_START_TEST (test_mask_gap)
{
  Pair pair;
  guint i;

  pair_init (&pair);
  gst_harness_push_event (pair.mask, gst_event_new_gap (0, 10 * GST_SECOND));
  for (i = 0; i < 9; i++) {
    pair_push_video (&pair, i * GST_SECOND, 0);
  }
  gst_harness_push (pair.video, video_new (10 * GST_SECOND));
  gst_harness_push (pair.mask, mask_new (10 * GST_SECOND, 4));
  fail_unless_equals_int (pair_pull_label (&pair, 10 * GST_SECOND), 4);
  pair_clear (&pair);
}
GST_END_TEST;

/* Buffers with the GAP flag but with pixels, such as videorate's copies, are frames. */
GST_START_TEST (test_mask_gap_with_pixels)
{
  Pair pair;
  guint i;

  pair_init (&pair);
  for (i = 0; i < 4; i++) {
    GstBuffer *mask = mask_new (i * GST_SECOND, 1 + i);

    gst_buffer_append_memory (mask, gst_allocator_alloc (NULL, MASK_WIDTH * MASK_HEIGHT, NULL));
    GST_BUFFER_DURATION (mask) = GST_SECOND;
    GST_BUFFER_FLAG_SET (mask, GST_BUFFER_FLAG_GAP);
    gst_harness_push (pair.mask, mask);
    pair_push_video (&pair, i * GST_SECOND, 1 + i);
  }
  pair_clear (&pair);
}
GST_END_TEST;

static gboolean
wait_for_event (GstHarness *h, GstEventType type)
{
  GstEvent *event;

  while ((event = gst_harness_try_pull_upstream_event (h))) {
    gboolean found = GST_EVENT_TYPE (event) == type;

    gst_event_unref (event);
    if (found)
      return TRUE;
  }

  return FALSE;
}

/* The video's tags pass, the mask's do not. Upstream, RECONFIGURE goes to the video and QOS to
 * both. */
GST_START_TEST (test_events)
{
  GstEvent *event;
  GstTagList *tags;
  gchar *title;
  Pair pair;

  pair_init (&pair);
  gst_harness_push_event (pair.mask,
                          gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "mask", NULL)));
  gst_harness_push_event (pair.video,
                          gst_event_new_tag (gst_tag_list_new (GST_TAG_TITLE, "video", NULL)));
  pair_push_partners (&pair, 0, 1);

  event = ccl_test_wait_event (pair.video, GST_EVENT_TAG);
  gst_event_parse_tag (event, &tags);
  fail_unless (gst_tag_list_get_string (tags, GST_TAG_TITLE, &title));
  fail_unless_equals_string (title, "video");
  g_free (title);
  gst_event_unref (event);
  fail_unless_equals_int (ccl_test_count_events (pair.video, GST_EVENT_TAG), 0);

  while (gst_harness_upstream_events_in_queue (pair.video))
    gst_event_unref (gst_harness_pull_upstream_event (pair.video));
  while (gst_harness_upstream_events_in_queue (pair.mask))
    gst_event_unref (gst_harness_pull_upstream_event (pair.mask));
  gst_harness_push_upstream_event (pair.video, gst_event_new_reconfigure ());
  fail_unless (wait_for_event (pair.video, GST_EVENT_RECONFIGURE));
  fail_if (wait_for_event (pair.mask, GST_EVENT_RECONFIGURE));
  gst_harness_push_upstream_event (pair.video,
                                   gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 1, 0));
  fail_unless (wait_for_event (pair.video, GST_EVENT_QOS));
  fail_unless (wait_for_event (pair.mask, GST_EVENT_QOS));
  pair_clear (&pair);
}
GST_END_TEST;

static gboolean
accepts (GstPad *pad, const gchar *text)
{
  GstCaps *caps = gst_caps_from_string (text);
  gboolean accepted = gst_pad_query_accept_caps (pad, caps);

  gst_caps_unref (caps);

  return accepted;
}

/* Downstream decides the video's caps and allocation; masks may have any format. */
GST_START_TEST (test_queries)
{
  GstCaps *caps = gst_caps_from_string ("video/x-raw,format=NV12,width=8,height=8,framerate=1/1");
  GstPad *video, *mask;
  GstQuery *query;
  Pair pair;

  pair_init (&pair);
  gst_harness_set_sink_caps_str (pair.video, "video/x-raw,format={NV12,RGB};audio/x-raw");
  gst_harness_add_propose_allocation_meta (pair.video, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE,
                                           NULL);
  video = gst_element_get_static_pad (pair.video->element, "video");
  mask = gst_element_get_static_pad (pair.video->element, "components");

  fail_unless (accepts (video, "video/x-raw,format=RGB,width=1,height=1"));
  fail_if (accepts (video, "video/x-raw,format=GRAY8,width=1,height=1"));
  fail_if (accepts (video, "audio/x-raw"));
  fail_unless (accepts (mask, "video/x-raw,format=GRAY8,width=1,height=1"));
  fail_unless (accepts (mask, "video/x-raw(memory:CUDAMemory),format=NV12,width=1,height=1"));
  fail_if (accepts (mask, "audio/x-raw"));

  query = gst_query_new_allocation (caps, TRUE);
  fail_unless (gst_pad_peer_query (pair.video->srcpad, query));
  fail_unless (
      gst_query_find_allocation_meta (query, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL));
  gst_query_unref (query);
  query = gst_query_new_allocation (caps, TRUE);
  fail_unless (gst_pad_peer_query (pair.mask->srcpad, query));
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  gst_query_unref (query);

  gst_caps_unref (caps);
  gst_object_unref (video);
  gst_object_unref (mask);
  pair_clear (&pair);
}
GST_END_TEST;

/* Live, a frame waits for at most the latency; a partner that comes in time is used. */
GST_START_TEST (test_live)
{
  const GstClockTime latency = 300 * GST_MSECOND + GST_SECOND / 2 + 20 * GST_MSECOND;
  GstClock *clock;
  Pair pair;

  pair_init_live (&pair, 300 * GST_MSECOND);
  pair_push_partners (&pair, 0, 1);
  g_object_set (pair.video->element, "latency", 20 * GST_MSECOND, NULL);
  fail_unless_equals_uint64 (gst_harness_query_latency (pair.video), latency);
  g_object_set (pair.video->element, "tolerance", 70 * GST_MSECOND, NULL);
  fail_unless_equals_uint64 (gst_harness_query_latency (pair.video), 390 * GST_MSECOND);
  g_object_set (pair.video->element, "tolerance", GST_CLOCK_TIME_NONE, NULL);
  fail_unless_equals_uint64 (gst_harness_query_latency (pair.video), latency);

  clock = gst_element_get_clock (pair.video->element);
  fail_unless (GST_IS_TEST_CLOCK (clock));
  gst_harness_push (pair.video, video_new (GST_SECOND));
  gst_test_clock_wait_for_next_pending_id (GST_TEST_CLOCK (clock), NULL);
  fail_if (gst_harness_try_pull (pair.video));
  fail_unless (gst_test_clock_crank (GST_TEST_CLOCK (clock)));
  fail_unless_equals_uint64 (gst_clock_get_time (clock), GST_SECOND + latency);
  fail_unless_equals_int (pair_pull_label (&pair, GST_SECOND), 0);

  gst_harness_push (pair.video, video_new (2 * GST_SECOND));
  gst_test_clock_wait_for_next_pending_id (GST_TEST_CLOCK (clock), NULL);
  gst_harness_push (pair.mask, mask_new (2 * GST_SECOND, 2));
  fail_unless_equals_int (pair_pull_label (&pair, 2 * GST_SECOND), 2);
  fail_unless_equals_uint64 (gst_clock_get_time (clock), GST_SECOND + latency);

  gst_object_unref (clock);
  pair_clear (&pair);
}
GST_END_TEST;

#define PIPELINE                                                                              \
  "videotestsrc name=src pattern=ball num-buffers=%d ! "                                      \
  "video/x-raw,format=NV12,width=160,height=120,framerate=10/1 ! tee name=t "                 \
  "t. ! queue ! cclmerge name=merge ! %s fakesink name=a signal-handoffs=true sync=false "    \
  "t. ! queue ! videoscale ! video/x-raw,width=80,height=60 ! cudaccl backend=cpu ! queue ! " \
  "merge.components t. ! queue ! fakesink name=b signal-handoffs=true sync=false"

/* A tee: every frame has the ball's box, and shares its memory with the other branch. */
GST_START_TEST (test_tee)
{
  gchar *description = g_strdup_printf (PIPELINE, 20, "");
  GstElement *pipeline = gst_parse_launch (description, NULL);
  GPtrArray *buffers[2];
  guint i;

  for (i = 0; i < 2; i++)
    buffers[i] = ccl_test_collect (pipeline, i == 0 ? "a" : "b");
  ccl_test_play (pipeline);

  fail_unless_equals_int (buffers[0]->len, 20);
  fail_unless_equals_int (buffers[1]->len, 20);
  for (i = 0; i < 20; i++) {
    GstBuffer *a = g_ptr_array_index (buffers[0], i), *b = g_ptr_array_index (buffers[1], i);
    GstCclMeta *meta = gst_buffer_get_ccl_meta (a);

    fail_unless (gst_buffer_peek_memory (a, 0) == gst_buffer_peek_memory (b, 0));
    fail_unless (meta && meta->n_components == 1);
    fail_unless_equals_int (meta->width, 160);
    ccl_test_check_nothing (b);
  }
  for (i = 0; i < 2; i++)
    g_ptr_array_unref (buffers[i]);
  gst_object_unref (pipeline);
  g_free (description);
}
GST_END_TEST;

#define LARGE_WIDTH 3840
#define LARGE_HEIGHT 2160
#define SCALE 6
#define LINE 6 /* ccloverlay's default for frames of this size */
#define GRAY 100

/* Asserts that the luma differs from the original in the outline of the box alone. */
static void
check_luma (GstBuffer *drawn, GstBuffer *plain, const GstCclComponent *box)
{
  GstMapInfo after, before;
  guint x, y;

  fail_unless (gst_buffer_map (drawn, &after, GST_MAP_READ));
  fail_unless (gst_buffer_map (plain, &before, GST_MAP_READ));
  for (y = 0; y < LARGE_HEIGHT; y++) {
    for (x = 0; x < LARGE_WIDTH; x++) {
      guint left = x - box->x * SCALE, top = y - box->y * SCALE;
      guint right = box->width * SCALE - 1 - left, bottom = box->height * SCALE - 1 - top;
      gboolean inside = left < box->width * SCALE && top < box->height * SCALE;
      gboolean line = inside && (left < LINE || top < LINE || right < LINE || bottom < LINE);
      gsize i = (gsize) y * LARGE_WIDTH + x;

      if (after.data[i] != (line ? GRAY : before.data[i]))
        fail ("(%u, %u) is %u", x, y, after.data[i]);
      /* The ball is in the box, up to the smaller frame's resolution. */
      if (!inside && before.data[i] > 200)
        fail_unless (left + SCALE < (box->width + 2) * SCALE &&
                     top + SCALE < (box->height + 2) * SCALE);
    }
  }
  gst_buffer_unmap (plain, &before);
  gst_buffer_unmap (drawn, &after);
}

/* Components of a 640x360 mask are drawn in the right place on 3840x2160 frames. */
GST_START_TEST (test_small_mask)
{
  static const gchar *const names[] = { "drawn", "plain", "mask" };
  const guint n = 3;
  GstElement *pipeline = gst_parse_launch (
      "videotestsrc pattern=ball num-buffers=3 ! "
      "video/x-raw,format=GRAY8,width=3840,height=2160,framerate=1/1 ! tee name=t "
      "t. ! queue ! cclmerge name=merge ! ccloverlay color=0xff646464 ! "
      "fakesink name=drawn signal-handoffs=true sync=false "
      "t. ! queue ! fakesink name=plain signal-handoffs=true sync=false "
      "t. ! queue ! videoscale method=nearest-neighbour ! video/x-raw,width=640,height=360 ! "
      "cudaccl backend=cpu ! tee name=m m. ! queue ! merge.components "
      "m. ! queue ! fakesink name=mask signal-handoffs=true sync=false",
      NULL);
  GPtrArray *buffers[3];
  guint i;

  for (i = 0; i < 3; i++)
    buffers[i] = ccl_test_collect (pipeline, names[i]);
  ccl_test_play (pipeline);

  for (i = 0; i < 3; i++)
    fail_unless_equals_int (buffers[i]->len, n);
  for (i = 0; i < n; i++) {
    GstCclMeta *meta = gst_buffer_get_ccl_meta (g_ptr_array_index (buffers[2], i));

    fail_unless (meta && meta->width == LARGE_WIDTH / SCALE && meta->n_components == 1);
    check_luma (g_ptr_array_index (buffers[0], i), g_ptr_array_index (buffers[1], i),
                &meta->components[0]);
  }
  for (i = 0; i < 3; i++)
    g_ptr_array_unref (buffers[i]);
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* Seeks, forwards and backwards, in a source that feeds both branches. */
GST_START_TEST (test_seek)
{
  gchar *description = g_strdup_printf (PIPELINE, -1, "ccloverlay color=0xffffffff !");
  GstElement *pipeline = gst_parse_launch (description, NULL);
  guint i, k;

  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  ccl_test_wait_for (pipeline, GST_MESSAGE_ASYNC_DONE);
  for (i = 0; i < 4; i++) {
    GstClockTime start = (i % 2 ? 1 : 50) * GST_SECOND;
    GPtrArray *buffers = ccl_test_collect (pipeline, "a");
    GstElement *sink;

    fail_unless (gst_element_seek (
        pipeline, 1.0, GST_FORMAT_TIME, GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_ACCURATE,
        GST_SEEK_TYPE_SET, (gint64) start, GST_SEEK_TYPE_SET, (gint64) (start + GST_SECOND)));
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    ccl_test_wait_for (pipeline, GST_MESSAGE_EOS);

    sink = gst_bin_get_by_name (GST_BIN (pipeline), "a");
    g_signal_handlers_disconnect_by_data (sink, buffers);
    gst_object_unref (sink);
    fail_unless_equals_int (buffers->len, 10);
    for (k = 0; k < 10; k++) {
      GstBuffer *buffer = g_ptr_array_index (buffers, k);
      GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
      guint8 corner;

      fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), start + k * GST_SECOND / 10);
      fail_unless (meta && meta->n_components == 1);
      gst_buffer_extract (buffer, meta->components[0].y * 160 + meta->components[0].x, &corner, 1);
      fail_unless_equals_int (corner, 235); /* the outline, white in video range */
    }
    g_ptr_array_unref (buffers);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_object_unref (pipeline);
  g_free (description);
}
GST_END_TEST;

static Suite *
cclmergestream_suite (void)
{
  Suite *s = suite_create ("cclmergestream");
  TCase *tc;

  tc = tcase_create ("flow");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_eos);
  tcase_add_test (tc, test_eos_drain);
  tcase_add_test (tc, test_flush);
  tcase_add_test (tc, test_flush_components);
  tcase_add_test (tc, test_segments);
  tcase_add_test (tc, test_video_gap);
  tcase_add_test (tc, test_mask_gap);
  tcase_add_test (tc, test_mask_gap_with_pixels);
  tcase_add_test (tc, test_events);
  tcase_add_test (tc, test_queries);
  tcase_add_test (tc, test_live);

  tc = tcase_create ("pipelines");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_tee);
  tcase_add_test (tc, test_small_mask);
  tcase_add_test (tc, test_seek);

  return s;
}

GST_CHECK_MAIN (cclmergestream);
