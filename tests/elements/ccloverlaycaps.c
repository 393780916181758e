/* cudaccl - tests of the element ccloverlay: negotiation
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

/* What downstream takes and what it says it draws decides. */
GST_START_TEST (test_negotiation)
{
  static const struct
  {
    const gchar *in, *taken, *out; /* NULL where there is no way */
    gboolean draws, attached;
  } cases[] = {
    { CAPS, "video/x-raw(ANY)", SYSTEM_CAPS, TRUE, TRUE },
    { CAPS, "video/x-raw(ANY)", CAPS, FALSE, FALSE },
    { CAPS, "video/x-raw", CAPS, TRUE, FALSE },
    { CAPS, "video/x-raw", CAPS, FALSE, FALSE },
    { CAPS, "video/x-raw; video/x-raw(memory:SystemMemory," COMPOSITION ")", SYSTEM_CAPS, TRUE,
      TRUE },
    { CAPS, "video/x-raw; video/x-raw(memory:SystemMemory," COMPOSITION ")", CAPS, FALSE, FALSE },
    /* Downstream leaves a choice. */
    { CAPS, "video/x-raw; video/x-raw(memory:SystemMemory," COMPOSITION "),views={1,2}",
      SYSTEM_CAPS ",views=1", TRUE, TRUE },
    { CAPS, "video/x-raw,views={1,2}; video/x-raw(memory:SystemMemory," COMPOSITION "),views=3",
      CAPS ",views=1", FALSE, FALSE },
    /* Upstream has seen to it that downstream draws. */
    { SYSTEM_CAPS, "video/x-raw(ANY)", SYSTEM_CAPS, FALSE, TRUE },
    { SYSTEM_CAPS, "video/x-raw", NULL, FALSE, FALSE },
    /* What cannot be drawn on. */
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

/* Another sink in mid-stream, more than once. */
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

/* Upstream asks for buffers after the sink became another and before the next frame. */
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

/* The sink becomes another as soon as it has said that it draws. */
static GstPadProbeReturn
replace_sink (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstHarness *h = user_data;

  if (GST_QUERY_TYPE (GST_PAD_PROBE_INFO_QUERY (info)) == GST_QUERY_ALLOCATION)
    gst_harness_set_sink_caps_str (h, "video/x-raw");

  return GST_PAD_PROBE_OK;
}

/* While one negotiation is under way, there is reason for the next. */
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
check_first_box (GstBuffer *buffer)
{
  GstVideoOverlayComposition *composition =
      gst_buffer_get_video_overlay_composition_meta (buffer)->overlay;
  guint width, height;
  gint x, y;

  gst_video_overlay_rectangle_get_render_rectangle (
      gst_video_overlay_composition_get_rectangle (composition, 0), &x, &y, &width, &height);
  fail_unless (x == 5 && y == 3 && width == 8 && height == 6, "%ux%u at (%d, %d)", width, height, x,
               y);
}

/* Caps that come in the midst of a flush are refused; then the ones before come again. What is
 * drawn is as large as before. */
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
      check_first_box (buffer);
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

/* Both ways are told to those who ask. */
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

  /* It is for the sink to say where frames should lie. */
  gst_harness_set_sink_caps_str (h, "video/x-raw");
  gst_harness_add_propose_allocation_meta (h, GST_VIDEO_META_API_TYPE, NULL);
  gst_buffer_unref (gst_harness_push_and_pull (h, ccl_overlay_boxes_new ()));
  caps = gst_caps_from_string (CAPS);
  query = gst_query_new_allocation (caps, TRUE);
  fail_unless (gst_pad_peer_query (h->srcpad, query));
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  gst_query_unref (query);
  gst_caps_unref (caps);
  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
ccloverlaycaps_suite (void)
{
  Suite *s = suite_create ("ccloverlaycaps");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_negotiation);
  tcase_add_test (tc, test_reconfigure);
  tcase_add_test (tc, test_reconfigure_by_query);
  tcase_add_test (tc, test_reconfigure_midway);
  tcase_add_test (tc, test_size_needed);
  tcase_add_loop_test (tc, test_refused_between, 0, 2);
  tcase_add_test (tc, test_queries);

  return s;
}

GST_CHECK_MAIN (ccloverlaycaps);
