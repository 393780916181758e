/* cudaccl - tests of the element ccloverlay: negotiation, sharing, compositions, events
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccloverlaytest.h"

static void
check_caps (GstHarness *h, const gchar *expected)
{
  GstCaps *caps = gst_pad_get_current_caps (h->sinkpad), *wanted = gst_caps_from_string (expected);

  fail_unless (gst_caps_is_equal (caps, wanted), "the caps are %s", gst_caps_to_string (caps));
  gst_caps_unref (caps);
  gst_caps_unref (wanted);
}

/* Whether boxes are drawn or attached depends on downstream's caps and its allocation query. */
GST_START_TEST (test_negotiation)
{
  static const struct
  {
    const gchar *in, *taken, *out; /* NULL: not negotiable */
    gboolean draws, attached;
  } cases[] = {
    { CAPS, "video/x-raw(ANY)", SYSTEM_CAPS, TRUE, TRUE },
    { CAPS, "video/x-raw(ANY)", CAPS, FALSE, FALSE },
    { CAPS, "video/x-raw", CAPS, TRUE, FALSE },
    { CAPS, "video/x-raw", CAPS, FALSE, FALSE },
    { CAPS, "video/x-raw; video/x-raw(memory:SystemMemory," COMPOSITION ")", SYSTEM_CAPS, TRUE,
      TRUE },
    { CAPS, "video/x-raw; video/x-raw(memory:SystemMemory," COMPOSITION ")", CAPS, FALSE, FALSE },
    /* Downstream's caps need fixation. */
    { CAPS, "video/x-raw; video/x-raw(memory:SystemMemory," COMPOSITION "),views={1,2}",
      SYSTEM_CAPS ",views=1", TRUE, TRUE },
    { CAPS, "video/x-raw,views={1,2}; video/x-raw(memory:SystemMemory," COMPOSITION "),views=3",
      CAPS ",views=1", FALSE, FALSE },
    /* Upstream has negotiated the composition already. */
    { SYSTEM_CAPS, "video/x-raw(ANY)", SYSTEM_CAPS, FALSE, TRUE },
    { SYSTEM_CAPS, "video/x-raw", NULL, FALSE, FALSE },
    /* Memory and formats that cannot be drawn on. */
    { "video/x-raw(memory:Test)," FRAME, "video/x-raw(ANY)",
      "video/x-raw(memory:Test," COMPOSITION ")," FRAME, FALSE, TRUE },
    { "video/x-raw(memory:Test)," FRAME, "video/x-raw(memory:Test)", NULL, TRUE, FALSE },
    { "video/x-raw,format=NEW9,width=24,height=14,framerate=1/1", "video/x-raw(ANY)",
      "video/x-raw(memory:SystemMemory," COMPOSITION
      "),format=NEW9,width=24,height=14,framerate=1/1",
      TRUE, TRUE },
    { "video/x-raw,format=RGB8P,width=24,height=14,framerate=1/1", "video/x-raw", NULL, FALSE,
      FALSE },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
    GstBuffer *buffer = ccl_overlay_boxes_new ();

    gst_harness_set_sink_caps_str (h, cases[i].taken);
    if (cases[i].draws)
      gst_harness_add_propose_allocation_meta (h, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE,
                                               NULL);
    gst_harness_set_src_caps_str (h, cases[i].in);
    GST_INFO ("case %u", i);
    if (!cases[i].out) {
      fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_NOT_NEGOTIATED);
    } else {
      buffer = gst_harness_push_and_pull (h, buffer);
      ccl_overlay_check_drawn (buffer, cases[i].attached);
      check_caps (h, cases[i].out);
      gst_buffer_unref (buffer);
    }
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* The sink's caps change in mid-stream, repeatedly. */
GST_START_TEST (test_reconfigure)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  guint i;

  gst_harness_set_sink_caps_str (h, "video/x-raw(ANY)");
  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
  for (i = 0; i < 6; i++) {
    gboolean attached = i % 2 == 0;
    GstBuffer *buffer;
    guint k;

    gst_harness_set_sink_caps_str (h, attached ? "video/x-raw(ANY)" : "video/x-raw");
    for (k = 0; k < 2; k++) {
      buffer = gst_harness_push_and_pull (h, ccl_overlay_boxes_new ());
      ccl_overlay_check_drawn (buffer, attached);
      check_caps (h, attached ? SYSTEM_CAPS : CAPS);
      gst_buffer_unref (buffer);
    }
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The sink's caps change, and upstream queries allocation before the next frame. */
GST_START_TEST (test_reconfigure_by_query)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  GstCaps *caps = gst_caps_from_string (CAPS);
  guint i;

  gst_harness_set_sink_caps_str (h, "video/x-raw");
  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
  for (i = 0; i < 6; i++) {
    gboolean attached = i % 2 == 1;
    GstQuery *query = gst_query_new_allocation (caps, TRUE);
    GstBuffer *buffer;

    gst_harness_set_sink_caps_str (h, attached ? "video/x-raw(ANY)" : "video/x-raw");
    fail_unless (gst_pad_peer_query (h->srcpad, query));
    buffer = gst_harness_push_and_pull (h, ccl_overlay_boxes_new ());
    check_caps (h, attached ? SYSTEM_CAPS : CAPS);
    ccl_overlay_check_drawn (buffer, attached);
    gst_buffer_unref (buffer);
    gst_query_unref (query);
  }
  gst_caps_unref (caps);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Changes the sink's caps when it answers the allocation query. */
static GstPadProbeReturn
replace_sink (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstHarness *h = user_data;

  if (GST_QUERY_TYPE (GST_PAD_PROBE_INFO_QUERY (info)) == GST_QUERY_ALLOCATION)
    gst_harness_set_sink_caps_str (h, "video/x-raw");

  return GST_PAD_PROBE_OK;
}

/* The sink's caps change during a negotiation. */
GST_START_TEST (test_reconfigure_midway)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  gulong probe;
  guint i;

  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
  for (i = 0; i < 6; i++) {
    gboolean attached = i % 2 == 1;
    guint k;

    gst_harness_set_sink_caps_str (h, "video/x-raw(ANY)");
    if (!attached)
      probe = gst_pad_add_probe (h->sinkpad,
                                 GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PULL,
                                 replace_sink, h, NULL);
    for (k = 0; k < 2; k++) {
      GstBuffer *buffer = gst_harness_push_and_pull (h, ccl_overlay_boxes_new ());

      ccl_overlay_check_drawn (buffer, attached);
      check_caps (h, attached ? SYSTEM_CAPS : CAPS);
      gst_buffer_unref (buffer);
    }
    if (!attached)
      gst_pad_remove_probe (h->sinkpad, probe);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

GST_START_TEST (test_size_needed)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);

  ccl_test_check_size_needed (h);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static void
check_rectangle (GstBuffer *buffer)
{
  GstVideoOverlayComposition *composition =
      gst_buffer_get_video_overlay_composition_meta (buffer)->overlay;
  guint width, height;
  gint x, y;

  gst_video_overlay_rectangle_get_render_rectangle (
      gst_video_overlay_composition_get_rectangle (composition, 0), &x, &y, &width, &height);
  fail_unless (x == 0 && y == 0 && width == WIDTH && height == HEIGHT, "%ux%u at (%d, %d)", width,
               height, x, y);
}

/* Caps during a flush are refused, then the previous ones come again: the picture keeps its size.
 */
GST_START_TEST (test_refused_between)
{
  gboolean attached = __i__;
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  GstCaps *caps = gst_caps_from_string (CAPS);
  GstCaps *others =
      gst_caps_from_string ("video/x-raw,format=GRAY8,width=48,height=28,framerate=1/1");
  GstPad *pad = gst_element_get_static_pad (h->element, "src");
  GstSegment segment;
  guint i;

  gst_harness_set_sink_caps_str (h, attached ? "video/x-raw(ANY)" : "video/x-raw");
  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
  gst_segment_init (&segment, GST_FORMAT_TIME);

  for (i = 0; i < 3; i++) {
    GstBuffer *buffer = gst_harness_push_and_pull (h, ccl_overlay_boxes_new ());

    ccl_overlay_check_drawn (buffer, attached);
    if (attached)
      check_rectangle (buffer);
    gst_buffer_unref (buffer);

    gst_pad_push_event (pad, gst_event_new_flush_start ());
    fail_if (ccl_test_send_caps (h, others));
    gst_pad_push_event (pad, gst_event_new_flush_stop (TRUE));
    fail_unless (ccl_test_send_caps (h, caps));
    gst_harness_push_event (h, gst_event_new_segment (&segment));
  }
  gst_object_unref (pad);
  gst_caps_unref (caps);
  gst_caps_unref (others);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* CAPS queries return the caps with and without composition. */
GST_START_TEST (test_queries)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  GstCaps *caps, *expected;
  GstQuery *query;

  caps = gst_pad_peer_query_caps (h->sinkpad, NULL);
  expected = gst_caps_from_string (CAPS "; " SYSTEM_CAPS);
  fail_unless (gst_caps_is_equal (caps, expected));
  gst_caps_unref (caps);

  gst_harness_set_sink_caps_str (h, SYSTEM_CAPS);
  caps = gst_pad_peer_query_caps (h->srcpad, NULL);
  fail_unless (gst_caps_is_equal (caps, expected));
  gst_caps_unref (caps);
  gst_caps_unref (expected);

  gst_harness_set_sink_caps_str (h, "video/x-raw,format={RGB8P,NV12}");
  caps = gst_pad_peer_query_caps (h->srcpad, NULL);
  expected = gst_caps_from_string ("video/x-raw,format={RGB8P,GRAY8}");
  fail_if (gst_caps_can_intersect (caps, expected));
  gst_caps_unref (expected);
  expected = gst_caps_from_string ("video/x-raw,format=NV12");
  fail_unless (gst_caps_can_intersect (caps, expected));
  gst_caps_unref (caps);
  gst_caps_unref (expected);

  /* ALLOCATION queries go to the sink. */
  gst_harness_set_sink_caps_str (h, "video/x-raw");
  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_META_API_TYPE, NULL);
  ccl_test_push (h, ccl_overlay_boxes_new ());
  caps = gst_caps_from_string (CAPS);
  query = gst_query_new_allocation (caps, TRUE);
  fail_unless (gst_pad_peer_query (h->srcpad, query));
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_caps_unref (caps);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A shared frame is not written to; an unshared one is not copied. */
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

/* A shared frame returns to its pool only when the copy that uses its memory is gone. */
GST_START_TEST (test_pool)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  GstBuffer *in, *out;
  GstBufferPool *pool = ccl_test_pool_new (WIDTH * HEIGHT, &in);

  gst_harness_set_sink_caps_str (h, "video/x-raw(ANY)");
  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE, NULL);
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

/* With nothing to draw, the same buffer comes out, even if it is shared. */
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
  buffers[4] = gst_buffer_new (); /* a gap with components from cclmerge */
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

/* Buffers with the GAP flag but with pixels are frames. */
GST_START_TEST (test_gap_with_pixels)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  GstBuffer *buffer = ccl_overlay_boxes_new ();

  GST_BUFFER_FLAG_SET (buffer, GST_BUFFER_FLAG_GAP);
  buffer = gst_harness_push_and_pull (h, buffer);
  ccl_overlay_check_drawn (buffer, FALSE);
  fail_unless (GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP));
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A composition of one transparent pixel. */
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

/* The attached rectangles have the right pixels and places. Upstream's own rectangles stay, and
 * its composition is not changed. */
GST_START_TEST (test_composition)
{
  GstHarness *h = ccl_overlay_harness_new (SYSTEM_CAPS, "color", 0x80112233, NULL);
  GstBuffer *buffer = ccl_overlay_boxes_new (), *canvas;
  GstVideoOverlayRectangle *rectangle;
  GstVideoOverlayComposition *earlier = composition_new (), *composition;
  gint x, y;
  guint width, height, i;
  guint32 values[2];

  gst_buffer_add_video_overlay_composition_meta (buffer, earlier);
  buffer = gst_harness_push_and_pull (h, buffer);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_VIDEO_OVERLAY_COMPOSITION_META_API_TYPE), 1);
  composition = gst_buffer_get_video_overlay_composition_meta (buffer)->overlay;
  fail_unless_equals_int (gst_video_overlay_composition_n_rectangles (earlier), 1);
  fail_unless_equals_int (gst_video_overlay_composition_n_rectangles (composition), 2);

  rectangle = gst_video_overlay_composition_get_rectangle (composition, 1);
  fail_unless (
      gst_video_overlay_rectangle_get_render_rectangle (rectangle, &x, &y, &width, &height));
  fail_unless (x == 0 && y == 0 && width == WIDTH && height == HEIGHT);
  canvas = gst_video_overlay_rectangle_get_pixels_unscaled_argb (
      rectangle, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  gst_buffer_extract (canvas, 4 * (3 * WIDTH + 5), &values[0], 4);
  gst_buffer_extract (canvas, 4 * (4 * WIDTH + 6), &values[1], 4);
  /* Cairo rounds colours to the precision that they have with their alpha. */
  for (i = 0; i < 32; i += 8)
    fail_unless (ABS ((gint) (values[0] >> i & 255) - (gint) (0x80112233u >> i & 255)) <= 1,
                 "the box is %08x", values[0]);
  fail_unless_equals_int (values[1], 0);

  gst_video_overlay_composition_unref (earlier);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The rectangle of a box in the lower right is as large as the drawing. */
GST_START_TEST (test_lower_right)
{
  GstHarness *h = ccl_overlay_harness_new (SYSTEM_CAPS, NULL);
  GstCclComponent box = { 1, 150, 150, 9, 9, 81, 154.0, 154.0 };
  GstVideoOverlayRectangle *rectangle;
  GstBuffer *buffer;
  guint width, height;
  gint x, y;

  gst_harness_set_src_caps_str (h, "video/x-raw(memory:SystemMemory," COMPOSITION
                                   "),format=GRAY8,width=200,height=200");
  buffer = gst_harness_push_and_pull (h, ccl_overlay_frame_new (200, 200, 200, 200, &box, 1));
  rectangle = gst_video_overlay_composition_get_rectangle (
      gst_buffer_get_video_overlay_composition_meta (buffer)->overlay, 0);
  gst_video_overlay_rectangle_get_render_rectangle (rectangle, &x, &y, &width, &height);
  fail_unless (x > 0 && x <= 150 && x + width >= 159 && x + width <= 200);
  fail_unless (y > 0 && y <= 150 && y + height >= 159 && y + height <= 200);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Boxes far from each other have rectangles of their own, which share no rows. */
GST_START_TEST (test_rectangles)
{
  GstHarness *h = ccl_overlay_harness_new (SYSTEM_CAPS, NULL);
  GstCclComponent moved[2] = { ccl_overlay_boxes[0], ccl_overlay_boxes[1] };
  guint y;

  gst_harness_set_src_caps_str (h, "video/x-raw(memory:SystemMemory," COMPOSITION
                                   "),format=GRAY8,width=24,height=200");
  for (y = 6; y < 190; y++) {
    GstVideoOverlayComposition *composition;
    gint tops[2] = { 0, 0 }, x;
    guint width, heights[2] = { 0, 0 }, n, i;
    GstBuffer *buffer;

    moved[1].y = y;
    buffer =
        gst_harness_push_and_pull (h, ccl_overlay_frame_new (WIDTH, 200, WIDTH, 200, moved, 2));
    composition = gst_buffer_get_video_overlay_composition_meta (buffer)->overlay;
    n = gst_video_overlay_composition_n_rectangles (composition);
    fail_unless (n == 2 || (n == 1 && y < 100), "%u rectangles with a box at %u", n, y);
    for (i = 0; i < n; i++)
      gst_video_overlay_rectangle_get_render_rectangle (
          gst_video_overlay_composition_get_rectangle (composition, i), &x, &tops[i], &width,
          &heights[i]);
    fail_unless (n == 1 || (tops[0] + (gint) heights[0] < tops[1] && tops[0] + heights[0] < 100));
    fail_unless ((guint) tops[n - 1] <= y && (guint) tops[n - 1] + heights[n - 1] >= y + 3);
    gst_buffer_unref (buffer);
  }
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* With nothing to draw, upstream's composition passes unchanged. */
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
  ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "only 100");
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Properties apply from the next frame on. */
GST_START_TEST (test_properties)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  guint draw, color, line_width, font_size;
  GstElement *element = gst_element_factory_make ("ccloverlay", NULL);
  GstBuffer *buffer;

  g_object_get (element, "draw", &draw, "color", &color, "line-width", &line_width, "font-size",
                &font_size, NULL);
  fail_unless (draw == 401 && color == 0 && line_width == 0 && font_size == 0);
  gst_object_unref (element);

  g_object_get (h->element, "draw", &draw, "color", &color, "line-width", &line_width, "font-size",
                &font_size, NULL);
  fail_unless (draw == 401 && color == 0xffffffff && line_width == 1 && font_size == 7);

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

GST_START_TEST (test_events)
{
  GstHarness *h = ccl_overlay_harness_new (CAPS, NULL);
  GstBuffer *buffer;
  guint i;

  for (i = 0; i < 3; i++) {
    ccl_test_push (h, ccl_overlay_boxes_new ());
    ccl_test_flush (h, ccl_overlay_boxes_new ());
  }
  buffer = gst_harness_push_and_pull (h, ccl_overlay_boxes_new ());
  ccl_overlay_check_drawn (buffer, FALSE);
  gst_buffer_unref (buffer);

  /* Late frames are dropped. */
  gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 3 * GST_SECOND, GST_SECOND));
  buffer = ccl_overlay_boxes_new ();
  GST_BUFFER_PTS (buffer) = 2 * GST_SECOND;
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  fail_if (gst_harness_try_pull (h));

  ccl_test_drain (h);
  gst_harness_push_event (h, gst_event_new_gap (GST_SECOND, GST_SECOND));
  fail_unless_equals_int (ccl_test_count_events (h, GST_EVENT_GAP), 1);
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (ccl_test_count_events (h, GST_EVENT_EOS), 1);
  fail_unless_equals_int (gst_harness_push (h, ccl_overlay_boxes_new ()), GST_FLOW_EOS);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* The default line width follows the frame size. */
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
ccloverlaystream_suite (void)
{
  Suite *s = suite_create ("ccloverlaystream");
  TCase *tc;

  tc = tcase_create ("caps");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_negotiation);
  tcase_add_test (tc, test_reconfigure);
  tcase_add_test (tc, test_reconfigure_by_query);
  tcase_add_test (tc, test_reconfigure_midway);
  tcase_add_test (tc, test_size_needed);
  tcase_add_loop_test (tc, test_refused_between, 0, 2);
  tcase_add_test (tc, test_queries);

  tc = tcase_create ("flow");
  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_sharing);
  tcase_add_test (tc, test_pool);
  tcase_add_test (tc, test_nothing);
  tcase_add_test (tc, test_gap_with_pixels);
  tcase_add_test (tc, test_composition);
  tcase_add_test (tc, test_lower_right);
  tcase_add_test (tc, test_rectangles);
  tcase_add_test (tc, test_nothing_to_add);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_properties);
  tcase_add_test (tc, test_events);
  tcase_add_test (tc, test_sizes);

  return s;
}

GST_CHECK_MAIN (ccloverlaystream);
