/* cudaccl - tests of the element cclmerge: zones and events
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmergetest.h"

#include <string.h>
#include <gst/base/gstaggregator.h>

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

/* Frames of other sizes, cropped frames, zones that have gone, the video's own zones, ages from
 * an earlier cclmerge, and frames without time. */
GST_START_TEST (test_zones)
{
  GstBuffer *mask, *video = video_new (2 * GST_SECOND), *out;
  gdouble own[] = { 1.0, 2.0, 3.0, 4.0 };
  GstCclZone zone = { (gchar *) "own", TRUE, 0, 2, own, 9, 0, 0 };
  GstCclZoneEvent event = { GST_CCL_ZONE_OUT, 0, 77, 0, 1.0, 1.0, 0, 0, 0, 0 };
  GstCclZonesMeta *meta;
  Pair pair;

  pair_init (&pair);
  g_object_set (pair.video->element, "tolerance", (guint64) 0, NULL);
  /* First: only one frame of a branch waits in the element. */
  gst_buffer_add_ccl_zones_meta (video, VIDEO_WIDTH, VIDEO_HEIGHT, &zone, 1, &event, 1);
  gst_harness_push (pair.video, gst_buffer_ref (video));

  mask = empty_mask_new (GST_SECOND);
  add_events (mask, "gone", 1, 1);
  gst_buffer_get_ccl_zones_meta (mask)->events[0].frame_age = 5;
  gst_harness_push (pair.mask, mask);

  mask = empty_mask_new (GST_CLOCK_TIME_NONE);
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
    GstBuffer *mask = empty_mask_new (0), *out;
    const GstCclZonesMeta *meta;
    Pair pair;

    pair_init (&pair);
    gst_buffer_add_ccl_zones_meta (mask, sizes[i][0], sizes[i][1], &zone, 1, &event, 1);
    out = pair_merge (&pair, mask, video_new (0));
    meta = gst_buffer_get_ccl_zones_meta (out);
    fail_unless (meta && meta->n_zones == 1 && meta->n_events == 1, "%u", i);
    fail_unless_equals_float (meta->zones[0].points[2], VIDEO_WIDTH / (gdouble) sizes[i][0]);
    fail_unless_equals_float (meta->events[0].y, VIDEO_HEIGHT / (gdouble) sizes[i][1]);
    gst_buffer_unref (out);
    pair_clear (&pair);
  }
}
GST_END_TEST;

/* Zones that an event alone brings keep their order, behind the video's own. */
GST_START_TEST (test_order_of_zones)
{
  GstBuffer *mask = empty_mask_new (GST_SECOND), *video = video_new (2 * GST_SECOND), *out;
  const GstCclZonesMeta *meta;
  Pair pair;

  pair_init (&pair);
  g_object_set (pair.video->element, "tolerance", (guint64) 0, NULL);
  add_events (video, "own", 7, 0);
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
  GstBuffer *mask = empty_mask_new (0), *video = video_new (0), *out;
  Pair pair;

  pair_init (&pair);
  add_events (mask, "gate", 1, 0);
  out = pair_merge (&pair, mask, gst_buffer_ref (video));
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

  pair_init (&pair);
  g_object_set (pair.video->element, "tolerance", (guint64) 0, NULL);
  out = pair_merge (&pair, zones_new (0, 1, 1), video_new (0));
  append_frame (text, out);
  gst_buffer_unref (out);

  gst_harness_push (pair.video, video_new (2 * GST_SECOND));
  gst_harness_push (pair.mask, zones_new (GST_SECOND, 2, 1));
  gst_harness_push (pair.mask, mask_new (2 * GST_SECOND, 3));
  out = gst_harness_pull (pair.video);
  append_frame (text, out);
  gst_buffer_unref (out);
  out = pair_merge (&pair, mask_new (3 * GST_SECOND, 3), video_new (3 * GST_SECOND));
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
  append_frame (text, out);
  gst_buffer_unref (out);
  fail_unless_equals_string (text->str, "1:1@0 3:2@1000 0:4@1000");
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

  pair_init (&pair);
  g_object_set (pair.video->element, "tolerance", (guint64) 0, NULL);
  gst_harness_push (pair.mask, zones_new (GST_SECOND, 1, 1));
  gst_harness_push (pair.video, video_new (2 * GST_SECOND));
  pad = gst_element_get_static_pad (pair.video->element, "components");
  wait_for_drop (pad);
  gst_object_unref (pad);
  fail_if (gst_harness_try_pull (pair.video));
  pair_flush (&pair);
  pair_push_segment (&pair, 0);
  out = pair_merge (&pair, zones_new (GST_SECOND, 2, 0), video_new (GST_SECOND));
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
  tcase_add_test (tcase, test_zones);
  tcase_add_test (tcase, test_one_pixel);
  tcase_add_test (tcase, test_order_of_zones);
  tcase_add_test (tcase, test_shared_frame);
  tcase_add_test (tcase, test_end_of_zones);
  tcase_add_test (tcase, test_flush);

  return suite;
}

GST_CHECK_MAIN (cclmergezones)
