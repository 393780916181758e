/* cudaccl - tests of the element ccloverlay: sharing, compositions, events
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccloverlaytest.h"

/* One that others use too stays as it is; one that nobody else has is not copied. */
GST_START_TEST (test_sharing)
{
  guint attached, shared;

  for (attached = 0; attached < 2; attached++) {
    GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);

    if (attached) {
      gst_harness_set_sink_caps_str (h, "video/x-raw(ANY)");
      gst_harness_add_propose_allocation_meta (h, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE,
                                               NULL);
    }
    for (shared = 0; shared < 2; shared++) {
      GstBuffer *in = ccl_overlay_boxes_new (), *out;
      GstMemory *memory = gst_buffer_peek_memory (in, 0);

      if (shared)
        gst_buffer_ref (in);
      out = gst_harness_push_and_pull (h, in);
      ccl_overlay_check_drawn (out, attached);
      fail_unless ((out == in) == !shared);
      fail_unless ((gst_buffer_peek_memory (out, 0) == memory) == (attached || !shared));
      if (shared) {
        fail_unless_equals_int (ccl_overlay_pixel (in, 5, 3), BACKGROUND);
        fail_if (gst_buffer_get_video_overlay_composition_meta (in));
        gst_buffer_unref (in);
      }
      gst_buffer_unref (out);
    }
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* The pool of a shared frame gets it back only when the copy is gone that may use its memory. */
GST_START_TEST (test_pool)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  GstBufferPool *pool = gst_buffer_pool_new ();
  GstStructure *config = gst_buffer_pool_get_config (pool);
  GstBuffer *in, *out;

  gst_harness_set_sink_caps_str (h, "video/x-raw(ANY)");
  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
  gst_buffer_pool_config_set_params (config, NULL, WIDTH * HEIGHT, 1, 1);
  fail_unless (gst_buffer_pool_set_config (pool, config));
  fail_unless (gst_buffer_pool_set_active (pool, TRUE));
  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pool, &in, NULL), GST_FLOW_OK);
  gst_buffer_memset (in, 0, BACKGROUND, WIDTH * HEIGHT);
  gst_buffer_add_ccl_meta (in, WIDTH, HEIGHT, 2, ccl_overlay_boxes, 2);

  out = gst_harness_push_and_pull (h, gst_buffer_ref (in));
  gst_buffer_unref (in);
  fail_unless (out != in && gst_buffer_get_parent_buffer_meta (out));
  gst_buffer_unref (out);

  fail_unless (gst_buffer_pool_set_active (pool, FALSE));
  gst_object_unref (pool);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Where nothing is drawn, the very same buffer comes out, whoever else has it. */
GST_START_TEST (test_nothing)
{
  static const GstCclComponent outside = { 1, 24, 3, 8, 6, 30, 8.5, 5.5 };
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  GstBuffer *buffers[5], *out;
  guint i;

  buffers[0] = ccl_test_black_new (WIDTH, HEIGHT);
  buffers[1] = ccl_overlay_frame_new (WIDTH, HEIGHT, WIDTH, HEIGHT, NULL, 0);
  buffers[2] = ccl_overlay_frame_new (WIDTH, HEIGHT, WIDTH, HEIGHT, &outside, 1);
  buffers[3] = ccl_overlay_frame_new (WIDTH, HEIGHT, 0, 0, ccl_overlay_boxes, 2);
  buffers[4] = gst_buffer_new (); /* a gap that cclmerge gave components */
  gst_buffer_add_ccl_meta (buffers[4], WIDTH, HEIGHT, 2, ccl_overlay_boxes, 2);
  GST_BUFFER_FLAG_SET (buffers[4], GST_BUFFER_FLAG_GAP);

  for (i = 0; i < G_N_ELEMENTS (buffers); i++) {
    out = gst_harness_push_and_pull (h, gst_buffer_ref (buffers[i]));
    fail_unless (out == buffers[i], "buffer %u was copied", i);
    gst_buffer_unref (out);
    gst_buffer_unref (buffers[i]);
  }

  g_object_set (h->element, "draw", 0, NULL);
  buffers[0] = ccl_overlay_boxes_new ();
  out = gst_harness_push_and_pull (h, gst_buffer_ref (buffers[0]));
  fail_unless (out == buffers[0]);
  gst_buffer_unref (out);
  gst_buffer_unref (buffers[0]);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Gaps with pixels are frames. */
GST_START_TEST (test_gap_with_pixels)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  GstBuffer *buffer = ccl_overlay_boxes_new ();

  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  buffer = gst_harness_push_and_pull (h, buffer);
  ccl_overlay_check_drawn (buffer, FALSE);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* One transparent pixel. */
static GstVideoOverlayComposition *
composition_new (void)
{
  GstBuffer *pixels = gst_buffer_new_allocate (NULL, 4, NULL);
  GstVideoOverlayRectangle *rectangle;
  GstVideoOverlayComposition *composition;

  gst_buffer_memset (pixels, 0, 0, 4);
  gst_buffer_add_video_meta (pixels, GST_VIDEO_FRAME_FLAG_NONE,
                             GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, 1, 1);
  rectangle =
      gst_video_overlay_rectangle_new_raw (pixels, 1, 1, 1, 1, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  composition = gst_video_overlay_composition_new (rectangle);
  gst_video_overlay_rectangle_unref (rectangle);
  gst_buffer_unref (pixels);

  return composition;
}

/* What is attached has the right pixels in the right places; what upstream wants to be seen stays,
 * and is seen by nobody else differently. */
GST_START_TEST (test_composition)
{
  GstHarness *h = ccl_overlay_harness_new (SYSTEM_CAPS, "color", 0x80112233, NULL);
  GstBuffer *buffer = ccl_overlay_boxes_new (), *canvas;
  GstVideoOverlayRectangle *rectangle;
  GstVideoOverlayComposition *earlier = composition_new (), *composition;
  gint x, y;
  guint width, height;
  guint32 values[2];

  gst_buffer_add_video_overlay_composition_meta (buffer, earlier);
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE), 1);
  composition = gst_buffer_get_video_overlay_composition_meta (buffer)->overlay;
  fail_unless_equals_int (gst_video_overlay_composition_n_rectangles (earlier), 1);
  /* The boxes share no rows, so there is a rectangle for each. */
  fail_unless_equals_int (gst_video_overlay_composition_n_rectangles (composition), 3);

  rectangle = gst_video_overlay_composition_get_rectangle (composition, 1);
  fail_unless (
      gst_video_overlay_rectangle_get_render_rectangle (rectangle, &x, &y, &width, &height));
  fail_unless (x == 5 && y == 3 && width == 8 && height == 6);
  canvas = gst_video_overlay_rectangle_get_pixels_unscaled_argb (
      rectangle, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  gst_buffer_extract (canvas, 4 * 7, &values[0], 4);
  gst_buffer_extract (canvas, 4 * (8 + 1), &values[1], 4);
  fail_unless (values[0] == 0x80112233 && values[1] == 0);

  gst_video_overlay_composition_unref (earlier);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Boxes that share a row share a rectangle, those that only touch do not. */
GST_START_TEST (test_rectangles)
{
  GstHarness *h = ccl_overlay_harness_new (SYSTEM_CAPS, NULL);
  GstCclComponent moved[2] = { ccl_overlay_boxes[0], ccl_overlay_boxes[1] };
  guint y;

  for (y = 6; y < 12; y++) {
    GstBuffer *buffer;

    moved[1].y = y;
    buffer = gst_harness_push_and_pull (
        h, ccl_overlay_frame_new (WIDTH, HEIGHT, WIDTH, HEIGHT, moved, 2));
    fail_unless_equals_int (gst_video_overlay_composition_n_rectangles (
                                gst_buffer_get_video_overlay_composition_meta (buffer)->overlay),
                            y < 3 + 6 ? 1 : 2);
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* What upstream wants to be seen goes on as it is where there is nothing to add. */
GST_START_TEST (test_nothing_to_add)
{
  GstHarness *h = ccl_overlay_harness_new (SYSTEM_CAPS, "draw", 0, NULL);
  GstVideoOverlayComposition *composition = composition_new ();
  GstBuffer *buffer = ccl_overlay_boxes_new (), *out;

  gst_buffer_add_video_overlay_composition_meta (buffer, composition);
  out = gst_harness_push_and_pull (h, gst_buffer_ref (buffer));
  fail_unless (out == buffer);
  fail_unless (gst_buffer_get_video_overlay_composition_meta (out)->overlay == composition);
  gst_buffer_unref (out);
  gst_buffer_unref (buffer);
  gst_video_overlay_composition_unref (composition);
  ccl_test_harness_free (h);
}
GST_END_TEST;

GST_START_TEST (test_errors)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, 100, NULL);

  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 2, ccl_overlay_boxes, 2);
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_ERROR);
  ccl_test_check_error (h, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_WRITE, "smaller");
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Properties count from the next frame on. */
GST_START_TEST (test_properties)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  guint draw, color, line_width, font_size;
  GstElement *element = gst_element_factory_make ("ccloverlay", NULL);
  GstBuffer *buffer;

  g_object_get (element, "draw", &draw, "color", &color, "line-width", &line_width, "font-size",
                &font_size, NULL);
  fail_unless (draw == 1 && color == 0 && line_width == 0 && font_size == 0);
  gst_object_unref (element);

  g_object_get (h->element, "draw", &draw, "color", &color, "line-width", &line_width, "font-size",
                &font_size, NULL);
  fail_unless (draw == 1 && color == 0xffffffff && line_width == 1 && font_size == 7);

  gst_util_set_object_arg (G_OBJECT (h->element), "draw", "centroids");
  g_object_set (h->element, "color", 0xff000000, "line-width", 3, NULL);
  buffer = gst_harness_push_and_pull (h, ccl_overlay_boxes_new ());
  fail_unless_equals_int (ccl_overlay_pixel (buffer, 5, 3), BACKGROUND);
  fail_unless_equals_int (ccl_overlay_pixel (buffer, 8, 5), 0);
  fail_unless_equals_int (ccl_overlay_pixel (buffer, 8, 0), 0);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static gboolean
pull_event (GstHarness *h, GstEventType type)
{
  gboolean found = FALSE;
  GstEvent *event;

  while ((event = gst_harness_try_pull_event (h))) {
    found |= GST_EVENT_TYPE (event) == type;
    gst_event_unref (event);
  }

  return found;
}

GST_START_TEST (test_events)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  GstSegment segment;
  GstBuffer *buffer;
  guint i;

  for (i = 0; i < 3; i++) {
    gst_buffer_unref (gst_harness_push_and_pull (h, ccl_overlay_boxes_new ()));
    gst_harness_push_event (h, gst_event_new_flush_start ());
    fail_unless_equals_int (gst_harness_push (h, ccl_overlay_boxes_new ()), GST_FLOW_FLUSHING);
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
  }
  buffer = gst_harness_push_and_pull (h, ccl_overlay_boxes_new ());
  ccl_overlay_check_drawn (buffer, FALSE);
  gst_buffer_unref (buffer);

  /* When the sink is late, nothing is drawn in vain. */
  gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 3 * GST_SECOND, GST_SECOND));
  buffer = ccl_overlay_boxes_new ();
  GST_BUFFER_PTS (buffer) = 2 * GST_SECOND;
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  fail_if (gst_harness_try_pull (h));

  pull_event (h, GST_EVENT_UNKNOWN);
  gst_harness_push_event (h, gst_event_new_gap (GST_SECOND, GST_SECOND));
  fail_unless (pull_event (h, GST_EVENT_GAP));
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless (pull_event (h, GST_EVENT_EOS));
  fail_unless_equals_int (gst_harness_push (h, ccl_overlay_boxes_new ()), GST_FLOW_EOS);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The size of the frames changes, and with it what is in proportion to it. */
GST_START_TEST (test_sizes)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, "line-width", 0, NULL);
  guint sizes[] = { 2, 40, 600, 1080, 2160, 3 }, i, x;

  for (i = 0; i < G_N_ELEMENTS (sizes); i++) {
    guint size = sizes[i], expected = MIN (MAX ((size + 180) / 360, 2), size), n = 0;
    GstCclComponent all = { 1, 0, 0, size, size, 5, 0.0, 0.0 };
    GstBuffer *buffer;
    GstMapInfo map;

    ccl_test_set_caps (h, "GRAY8", (gint) size, (gint) size);
    buffer = gst_harness_push_and_pull (h, ccl_overlay_frame_new (size, size, size, size, &all, 1));
    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    for (x = 0; x < (size + 1) / 2; x++)
      n += map.data[size / 2 * GST_ROUND_UP_4 (size) + x] == 255;
    fail_unless_equals_int (n, MIN (expected, (size + 1) / 2));
    gst_buffer_unmap (buffer, &map);
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
ccloverlayflow_suite (void)
{
  Suite *s = suite_create ("ccloverlayflow");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_sharing);
  tcase_add_test (tc, test_pool);
  tcase_add_test (tc, test_nothing);
  tcase_add_test (tc, test_gap_with_pixels);
  tcase_add_test (tc, test_composition);
  tcase_add_test (tc, test_rectangles);
  tcase_add_test (tc, test_nothing_to_add);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_properties);
  tcase_add_test (tc, test_events);
  tcase_add_test (tc, test_sizes);

  return s;
}

GST_CHECK_MAIN (ccloverlayflow);
