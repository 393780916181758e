/* cudaccl - tests of the element ccljson: whole streams, events, queries
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccljsontest.h"

/* Noise of all densities, but always the same. */
static GstBuffer *
noise_new (guint number)
{
  GRand *random = g_rand_new_with_seed (number);
  GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);
  GstMapInfo map;
  gsize i;

  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_WRITE));
  for (i = 0; i < map.size; i++)
    map.data[i] = g_rand_int_range (random, 0, 40) < (gint32) number ? 255 : 0;
  gst_buffer_unmap (buffer, &map);
  GST_BUFFER_PTS (buffer) = number * GST_SECOND;
  GST_BUFFER_DURATION (buffer) = GST_SECOND;
  g_rand_free (random);

  return buffer;
}

/* The lines of a whole stream say what the engine says when it is asked directly. */
GST_START_TEST (test_stream)
{
  GstHarness *h = gst_harness_new_parse ("cudaccl backend=cpu max-components=100 ! ccljson");
  CclAnalyzer *analyzer;
  CclConfig config;
  CclParams params;
  guint i, n_found = 0;

  ccl_config_init (&config, WIDTH, HEIGHT);
  config.backend = CCL_BACKEND_CPU;
  config.max_components = 100;
  ccl_params_init (&params);
  fail_unless_equals_int (ccl_analyzer_new (&config, &analyzer), CCL_OK);
  gst_harness_set_src_caps_str (h, CAPS);

  for (i = 0; i <= 40; i++) {
    GstBuffer *buffer = noise_new (i);
    GstCclComponent expected[100];
    CclComponents components;
    CclImage image = { NULL, WIDTH, CCL_MEMORY_HOST, NULL };
    JsonObject *object;
    GstMapInfo map;
    guint k;

    fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
    image.data = map.data;
    fail_unless_equals_int (ccl_analyzer_analyze (analyzer, &image, &params, &components), CCL_OK);
    for (k = 0; k < components.count; k++) {
      const CclComponent *item = &components.items[k];
      GstCclComponent component = { item->label,
                                    item->x,
                                    item->y,
                                    item->width,
                                    item->height,
                                    item->area,
                                    ccl_component_centroid_x (item),
                                    ccl_component_centroid_y (item) };

      expected[k] = component;
    }
    gst_buffer_unmap (buffer, &map);

    object = take_object (gst_harness_push_and_pull (h, buffer));
    check_integer (object, "timestamp", i * GST_SECOND);
    check_integer (object, "found", components.found);
    check_components (object, expected, components.count);
    json_object_unref (object);
    n_found += components.found;
  }
  fail_unless (n_found > 1000);

  ccl_analyzer_free (analyzer);
  gst_harness_teardown (h);
}
GST_END_TEST;

/* The size is that of the frames where the metadata does not tell, before and after a change. */
GST_START_TEST (test_renegotiation)
{
  GstHarness *h = json_harness_new (CAPS);
  guint i;

  for (i = 1; i < 10; i++) {
    JsonObject *object;

    ccl_test_set_caps (h, "NV12", (gint) i, 5);
    object = take_object (gst_harness_push_and_pull (h, frame_new (0, 1)));
    check_integer (object, "width", i);
    check_integer (object, "height", 5);
    json_object_unref (object);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Whoever reads the log learns why there are no lines. */
GST_START_TEST (test_size_needed)
{
  GstHarness *h =
      ccl_test_harness_new (gst_element_factory_make ("ccljson", NULL), "GRAY8", WIDTH, HEIGHT);

  ccl_test_check_size_needed (h);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Components of a frame that was cropped since are those of what is left, and so is the size. */
GST_START_TEST (test_later_crop)
{
  static const GstCclComponent components[] = { { 1, 12, 9, 6, 4, 9, 14.5, 10.5 },
                                                { 2, 50, 30, 6, 4, 9, 52.5, 31.5 } };
  static const GstCclComponent seen = { 1, 2, 1, 6, 4, 9, 4.5, 2.5 };
  GstHarness *h = json_harness_new ("video/x-raw,format=GRAY8,width=30,height=20,framerate=1/1");
  GstBuffer *buffer = ccl_test_black_new (WIDTH, HEIGHT);
  JsonObject *object;

  gst_buffer_add_ccl_meta (buffer, WIDTH, HEIGHT, 2, components, 2);
  ccl_test_crop (buffer, WIDTH, HEIGHT, 10, 8, 30, 20);
  object = take_object (gst_harness_push_and_pull (h, buffer));
  check_integer (object, "width", 30);
  check_integer (object, "height", 20);
  check_integer (object, "found", 1);
  check_components (object, &seen, 1);

  json_object_unref (object);
  gst_harness_teardown (h);
}
GST_END_TEST;

GST_START_TEST (test_queries)
{
  GstHarness *h = json_harness_new (CAPS);
  GstCaps *caps = gst_caps_from_string (CAPS);
  GstQuery *query = gst_query_new_allocation (caps, TRUE);

  fail_unless (gst_pad_peer_query (h->srcpad, query));
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL));
  fail_unless (gst_query_find_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL));
  gst_query_unref (query);

  gst_harness_set_upstream_latency (h, 30 * GST_MSECOND);
  fail_unless_equals_uint64 (gst_harness_query_latency (h), 30 * GST_MSECOND);

  gst_caps_unref (caps);
  gst_harness_teardown (h);
}
GST_END_TEST;

static GstEventType
pull_event_type (GstHarness *h)
{
  GstEvent *event = gst_harness_try_pull_event (h);
  GstEventType type = event ? GST_EVENT_TYPE (event) : GST_EVENT_UNKNOWN;

  gst_clear_event (&event);

  return type;
}

GST_START_TEST (test_events)
{
  GstHarness *h = json_harness_new (CAPS);
  GstSegment segment;
  guint i;

  for (i = 0; i < 3; i++) {
    json_object_unref (take_object (gst_harness_push_and_pull (h, frame_new (0, 1))));
    gst_harness_push_event (h, gst_event_new_flush_start ());
    fail_unless_equals_int (gst_harness_push (h, frame_new (0, 1)), GST_FLOW_FLUSHING);
    gst_harness_push_event (h, gst_event_new_flush_stop (TRUE));
    gst_segment_init (&segment, GST_FORMAT_TIME);
    gst_harness_push_event (h, gst_event_new_segment (&segment));
  }
  json_object_unref (take_object (gst_harness_push_and_pull (h, frame_new (0, 1))));

  while (pull_event_type (h) != GST_EVENT_UNKNOWN)
    ;
  gst_harness_push_event (h, gst_event_new_gap (GST_SECOND, GST_SECOND));
  fail_unless_equals_int (pull_event_type (h), GST_EVENT_GAP);
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (pull_event_type (h), GST_EVENT_EOS);
  fail_unless_equals_int (gst_harness_push (h, frame_new (0, 1)), GST_FLOW_EOS);

  gst_harness_teardown (h);
}
GST_END_TEST;

/* When the sink is late, no line is written; and only then. */
GST_START_TEST (test_qos)
{
  GstHarness *h = json_harness_new (CAPS);

  json_object_unref (take_object (gst_harness_push_and_pull (h, frame_new (0, GST_SECOND))));
  gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 3 * GST_SECOND, GST_SECOND));
  fail_unless_equals_int (gst_harness_push (h, frame_new (2 * GST_SECOND, GST_SECOND)),
                          GST_FLOW_OK);
  fail_if (gst_harness_try_pull (h));
  json_object_unref (
      take_object (gst_harness_push_and_pull (h, frame_new (60 * GST_SECOND, GST_SECOND))));

  gst_harness_teardown (h);
}
GST_END_TEST;

static Suite *
ccljsonflow_suite (void)
{
  Suite *s = suite_create ("ccljsonflow");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_stream);
  tcase_add_test (tc, test_renegotiation);
  tcase_add_test (tc, test_size_needed);
  tcase_add_test (tc, test_later_crop);
  tcase_add_test (tc, test_queries);
  tcase_add_test (tc, test_events);
  tcase_add_test (tc, test_qos);

  return s;
}

GST_CHECK_MAIN (ccljsonflow);
