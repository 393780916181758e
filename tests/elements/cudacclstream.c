/* cudaccl - tests of the element cudaccl: streams, sharing, states, memory use
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"
#include "tests/lib/heap.h"

/* A shared buffer is shallow-copied: the copy has the same memory, even if that is NO_SHARE. */
GST_START_TEST (test_shared_buffer)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  GstBuffer *buffer = ccl_test_picture_new ("GRAY8", LAYOUT_PLANES), *out;
  guint i;

  ccl_test_set_times (buffer);
  GST_MINI_OBJECT_FLAG_SET (gst_buffer_peek_memory (buffer, 0), GST_MEMORY_FLAG_NO_SHARE);
  gst_buffer_add_video_region_of_interest_meta (buffer, "face", 1, 2, 3, 4)->id = 77;
  out = gst_harness_push_and_pull (h, gst_buffer_ref (buffer));

  fail_unless (out != buffer);
  fail_unless_equals_int (gst_buffer_n_memory (out), gst_buffer_n_memory (buffer));
  for (i = 0; i < gst_buffer_n_memory (buffer); i++)
    fail_unless (gst_buffer_peek_memory (out, i) == gst_buffer_peek_memory (buffer, i));
  ccl_test_check_times (out);

  fail_unless (gst_buffer_get_ccl_meta (out) != NULL);
  fail_unless (gst_buffer_get_video_meta (out) != NULL);
  fail_unless (gst_buffer_get_video_region_of_interest_meta_id (out, 77) != NULL);
  fail_unless (gst_buffer_get_ccl_meta (buffer) == NULL);
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 1);

  gst_buffer_unref (out);
  fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (buffer), 1);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* A buffer must not return to its pool while its memory is in use downstream. */
GST_START_TEST (test_shared_pool_buffer)
{
  GstHarness *h = ccl_test_launch (64, 48, "cudaccl backend=%s", ccl_test_backend (__i__));
  GstBuffer *buffer, *out;
  GstBufferPool *pool = ccl_test_pool_new (64 * 48, &buffer);
  GstMemory *memory = gst_buffer_peek_memory (buffer, 0);

  out = gst_harness_push_and_pull (h, gst_buffer_ref (buffer));
  fail_unless (gst_buffer_peek_memory (out, 0) == memory);
  gst_buffer_unref (buffer);
  ccl_test_check_pool (pool, FALSE);
  gst_buffer_unref (out);
  ccl_test_check_pool (pool, TRUE);

  gst_buffer_pool_set_active (pool, FALSE);
  gst_object_unref (pool);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Both branches of a tee share the memory; only one has the metadata. */
GST_START_TEST (test_tee)
{
  GstElement *pipeline = gst_parse_launch (
      "videotestsrc num-buffers=5 pattern=ball ! video/x-raw,format=NV12,width=320,height=240 ! "
      "tee name=t t. ! queue ! cudaccl name=ccl ! fakesink name=a signal-handoffs=true "
      "t. ! queue ! fakesink name=b signal-handoffs=true",
      NULL);
  GPtrArray *buffers[2];
  GstElement *element;
  guint i;

  element = gst_bin_get_by_name (GST_BIN (pipeline), "ccl");
  gst_util_set_object_arg (G_OBJECT (element), "backend", ccl_test_backend (__i__));
  gst_object_unref (element);
  for (i = 0; i < 2; i++) {
    buffers[i] = ccl_test_collect (pipeline, i == 0 ? "a" : "b");
  }

  ccl_test_play (pipeline);

  fail_unless_equals_int (buffers[0]->len, 5);
  fail_unless_equals_int (buffers[1]->len, 5);
  for (i = 0; i < 5; i++) {
    GstBuffer *a = g_ptr_array_index (buffers[0], i), *b = g_ptr_array_index (buffers[1], i);

    fail_unless (gst_buffer_peek_memory (a, 0) == gst_buffer_peek_memory (b, 0));
    fail_unless_equals_int (gst_buffer_get_ccl_meta (a)->n_components, 1);
    ccl_test_check_nothing (b);
  }

  g_ptr_array_unref (buffers[0]);
  g_ptr_array_unref (buffers[1]);
  gst_object_unref (pipeline);
}
GST_END_TEST;

/* Gaps pass. Those with pixels, such as videorate's copies, are analysed. */
GST_START_TEST (test_gap)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  GstBuffer *gaps[] = { gst_buffer_new (), ccl_test_picture_new ("GRAY8", LAYOUT_PACKED) };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (gaps); i++) {
    GstBuffer *out;

    GST_BUFFER_PTS (gaps[i]) = i * GST_SECOND;
    GST_BUFFER_FLAG_SET (gaps[i], GST_BUFFER_FLAG_GAP);
    out = gst_harness_push_and_pull (h, gaps[i]);
    fail_unless (out == gaps[i]);
    fail_unless (GST_BUFFER_FLAG_IS_SET (out, GST_BUFFER_FLAG_GAP));
    if (i == 0)
      ccl_test_check_nothing (out);
    else
      ccl_test_check_picture (out);
    gst_buffer_unref (out);
  }
  fail_if (ccl_test_pop_message (h, GST_MESSAGE_ERROR));

  ccl_test_drain (h);
  fail_unless (gst_harness_push_event (h, gst_event_new_gap (2 * GST_SECOND, GST_SECOND)));
  fail_unless_equals_int (ccl_test_count_events (h, GST_EVENT_GAP), 1);

  ccl_test_push_picture (h);
  ccl_test_harness_free (h);
}
GST_END_TEST;

GST_START_TEST (test_flush_and_eos)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  guint i;

  for (i = 0; i < 5; i++) {
    ccl_test_push_picture (h);
    ccl_test_flush (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  }

  ccl_test_push_picture (h);
  ccl_test_drain (h);
  gst_harness_push_event (h, gst_event_new_eos ());
  fail_unless_equals_int (ccl_test_count_events (h, GST_EVENT_EOS), 1);
  fail_unless_equals_int (gst_harness_push (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED)),
                          GST_FLOW_EOS);

  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Late frames, and only those, are dropped before they are analysed. */
GST_START_TEST (test_qos)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  GstBuffer *buffer;

  ccl_test_push_picture (h);
  gst_harness_push_upstream_event (
      h, gst_event_new_qos (GST_QOS_TYPE_UNDERFLOW, 2.0, 3 * GST_SECOND, GST_SECOND));

  buffer = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED);
  GST_BUFFER_PTS (buffer) = 2 * GST_SECOND;
  fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);
  fail_if (gst_harness_try_pull (h));

  fail_unless_equals_uint64 (ccl_test_stat (h->element, "frames"), 1);

  buffer = ccl_test_picture_new ("GRAY8", LAYOUT_PACKED);
  GST_BUFFER_PTS (buffer) = 60 * GST_SECOND;
  buffer = gst_harness_push_and_pull (h, buffer);
  ccl_test_check_picture (buffer);
  gst_buffer_unref (buffer);

  ccl_test_harness_free (h);
}
GST_END_TEST;

static gpointer
run_many (gpointer data)
{
  GstHarness *h = *(GstHarness **) data;
  guint i, n_wrong = 0;

  for (i = 0; i < 500; i++) {
    GstBuffer *buffer;
    GstCclMeta *meta;

    g_object_set (h->element, "invert", i % 2, NULL);
    buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
    meta = gst_buffer_get_ccl_meta (buffer);
    if (meta->n_components != (i % 2 ? 2 : n_picture_blobs) ||
        meta->components[0].area != (i % 2 ? 75 : 4))
      n_wrong++;
    gst_buffer_unref (buffer);
  }

  return GUINT_TO_POINTER (n_wrong);
}

/* Elements of one process do not interfere. */
GST_START_TEST (test_concurrent)
{
  GstHarness *harnesses[4];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (harnesses); i++)
    harnesses[i] = ccl_test_picture_harness_new ((gint) (i % ccl_test_n_backends ()), NULL);
  ccl_test_run_threads (run_many, harnesses, sizeof (*harnesses), G_N_ELEMENTS (harnesses));
  for (i = 0; i < G_N_ELEMENTS (harnesses); i++)
    ccl_test_harness_free (harnesses[i]);
}
GST_END_TEST;

#define WARM_UP 50
#define CYCLES 300
#define LOOK 100

static void
usage_look (CclTestUsage *usage, guint cycle)
{
  if (cycle >= WARM_UP && (cycle - WARM_UP) % LOOK == 0)
    ccl_test_usage_look (usage, test_heap_bytes ());
}

/* A leak per cycle, of an analyzer or of a frame's metadata, would exceed this limit in every
 * interval. CUDA's own bookkeeping grows in steps, now and then. */
static void
usage_check_flat (const CclTestUsage *usage)
{
  fail_unless (usage->n_looks > 1);
  fail_unless (usage->least < LOOK * 16, "%" G_GSSIZE_FORMAT " bytes more each %d cycles",
               usage->least, LOOK);
}

GST_START_TEST (test_states)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  CclTestUsage usage = { 0 };
  guint i;

  for (i = 0; i <= WARM_UP + CYCLES; i++) {
    usage_look (&usage, i);
    ccl_test_restart (h, i % 2 ? GST_STATE_READY : GST_STATE_NULL);
    ccl_test_set_caps (h, "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
    ccl_test_push_picture (h);
    ccl_test_drain (h);
  }
  usage_check_flat (&usage);

  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Elements are created and freed. */
GST_START_TEST (test_elements)
{
  CclTestUsage usage = { 0 };
  guint i;

  for (i = 0; i <= WARM_UP + CYCLES; i++) {
    GstHarness *h;

    usage_look (&usage, i);
    h = ccl_test_picture_harness_new (__i__, NULL);
    ccl_test_push_picture (h);
    ccl_test_harness_free (h);
  }
  usage_check_flat (&usage);
}
GST_END_TEST;

/* With a fixed frame size the analysis allocates nothing, even if the frame rate changes. */
GST_START_TEST (test_frames)
{
  GstElement *element = ccl_test_element_new (ccl_test_backend (__i__), "attach", 0, NULL);
  GstHarness *h = ccl_test_harness_new (element, "GRAY8", 640, 480);
  GRand *rand = g_rand_new_with_seed (1);
  guint64 settled = 0;
  CclTestUsage usage = { 0 };
  guint i, j;

  gst_harness_set_drop_buffers (h, TRUE);
  for (i = 0; i <= WARM_UP + CYCLES; i++) {
    GstBuffer *buffer = ccl_test_black_new (640, 480);
    GstMapInfo map;

    gst_buffer_map (buffer, &map, GST_MAP_WRITE);
    for (j = 0; j < map.size; j++)
      map.data[j] = (guint8) g_rand_int_range (rand, 0, 1 + (gint) (i % 256));
    gst_buffer_unmap (buffer, &map);

    if (i == WARM_UP + CYCLES / 2)
      gst_harness_set_src_caps_str (h,
                                    "video/x-raw,format=GRAY8,width=640,height=480,framerate=2/1");
    fail_unless_equals_int (gst_harness_push (h, buffer), GST_FLOW_OK);

    if (i == WARM_UP)
      settled = ccl_test_allocations (h);
    usage_look (&usage, i);
  }
  fail_unless (settled > 0);
  fail_unless_equals_uint64 (ccl_test_allocations (h), settled);
  usage_check_flat (&usage);

  g_rand_free (rand);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Metadata frees its components when it is replaced, scaled, cropped or dropped. */
GST_START_TEST (test_metadata)
{
  GstCclComponent components[64] = { { .width = 13, .height = 7, .area = 1 } };
  GstVideoInfo in_info, out_info;
  GstVideoMetaTransform trans = { &in_info, &out_info };
  CclTestUsage usage = { 0 };
  guint i;

  gst_video_info_set_format (&in_info, GST_VIDEO_FORMAT_GRAY8, 13, 7);
  gst_video_info_set_format (&out_info, GST_VIDEO_FORMAT_GRAY8, 26, 14);

  for (i = 0; i <= WARM_UP + CYCLES; i++) {
    GstBuffer *buffer = gst_buffer_new (), *copy;
    GstCclMeta *meta;

    usage_look (&usage, i);
    gst_buffer_add_ccl_meta (buffer, 13, 7, 64, components, 64);
    meta = gst_buffer_add_ccl_meta (buffer, 13, 7, 64, components, 64);
    copy = gst_buffer_copy (buffer);
    GST_CCL_META_INFO->transform_func (copy, &meta->meta, buffer,
                                       gst_video_meta_transform_scale_get_quark (), &trans);
    fail_unless (gst_ccl_meta_crop (meta, 0, 0, 1, 1));
    gst_buffer_unref (copy);
    gst_buffer_unref (buffer);
  }
  usage_check_flat (&usage);
}
GST_END_TEST;

static Suite *
cudacclstream_suite (void)
{
  Suite *s = suite_create ("cudacclstream");
  TCase *tc;
  gint n_backends = (gint) ccl_test_n_backends ();

  tc = tcase_create ("stream");
  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_shared_buffer, 0, n_backends);
  tcase_add_loop_test (tc, test_shared_pool_buffer, 0, n_backends);
  tcase_add_loop_test (tc, test_tee, 0, n_backends);
  tcase_add_loop_test (tc, test_gap, 0, n_backends);
  tcase_add_loop_test (tc, test_flush_and_eos, 0, n_backends);
  tcase_add_loop_test (tc, test_qos, 0, n_backends);
  tcase_add_test (tc, test_concurrent);

  tc = tcase_create ("cycles");
  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_states, 0, n_backends);
  tcase_add_loop_test (tc, test_elements, 0, n_backends);
  tcase_add_loop_test (tc, test_frames, 0, n_backends);
  tcase_add_test (tc, test_metadata);

  return s;
}

GST_CHECK_MAIN (cudacclstream);
