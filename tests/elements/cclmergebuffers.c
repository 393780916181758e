/* cudaccl - tests of the element cclmerge: buffers, pads, errors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmergetest.h"

/* A frame without components stays the same buffer; with them, it does if nobody else has it. */
GST_START_TEST (test_same_buffer)
{
  GstBuffer *in, *out;
  Pair pair;
  guint i;

  pair_init (&pair, FALSE);
  for (i = 0; i < 2; i++) {
    GstBuffer *mask = mask_new (i * GST_SECOND, 1);

    in = video_new (i * GST_SECOND);
    if (i == 0) {
      gst_buffer_unref (mask);
      mask = gst_buffer_new ();
      GST_BUFFER_PTS (mask) = 0;
    }
    gst_harness_push (pair.mask, mask);
    out = gst_harness_push_and_pull (pair.video, in);
    fail_unless (out == in);
    fail_unless_equals_int (gst_buffer_get_ccl_meta (out) != NULL, i);
    gst_buffer_unref (out);
  }
  pair_clear (&pair);
}
GST_END_TEST;

/* A buffer that others have too gets a twin with the same memory, even if that is NO_SHARE. */
GST_START_TEST (test_shared_buffer)
{
  GstBuffer *in = video_new (0), *mask = mask_new (0, 3), *out;
  Pair pair;

  pair_init (&pair, FALSE);
  GST_MINI_OBJECT_FLAG_SET (gst_buffer_peek_memory (in, 0), GST_MEMORY_FLAG_NO_SHARE);
  gst_buffer_add_video_region_of_interest_meta (in, "face", 1, 2, 3, 4)->id = 77;
  gst_harness_push (pair.mask, gst_buffer_ref (mask));
  out = gst_harness_push_and_pull (pair.video, gst_buffer_ref (in));

  fail_unless (gst_buffer_peek_memory (out, 0) == gst_buffer_peek_memory (in, 0));
  fail_unless_equals_int (gst_buffer_get_ccl_meta (out)->n_components, 1);
  fail_unless (gst_buffer_get_video_region_of_interest_meta_id (out, 77) != NULL);
  fail_unless (gst_buffer_get_ccl_meta (in) == NULL);
  fail_unless_equals_int (gst_buffer_get_n_meta (in, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE),
                          1);
  fail_unless_equals_int (gst_buffer_get_ccl_meta (mask)->components[0].x, 8);

  gst_buffer_unref (out);
  pair_clear (&pair);
  fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (in), 1);
  fail_unless_equals_int (GST_MINI_OBJECT_REFCOUNT_VALUE (mask), 1);
  gst_buffer_unref (in);
  gst_buffer_unref (mask);
}
GST_END_TEST;

/* Neither must a buffer of a pool go back while its memory is on its way downstream, nor must a
 * mask be kept for its components alone. */
GST_START_TEST (test_pools)
{
  GstBufferPoolAcquireParams params = { .flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT };
  GstBufferPool *pools[2];
  GstBuffer *buffers[2], *out, *again;
  Pair pair;
  guint i;

  pair_init (&pair, FALSE);
  for (i = 0; i < 2; i++) {
    GstStructure *config;

    pools[i] = gst_buffer_pool_new ();
    config = gst_buffer_pool_get_config (pools[i]);
    gst_buffer_pool_config_set_params (config, NULL, 64, 1, 1);
    fail_unless (gst_buffer_pool_set_config (pools[i], config));
    fail_unless (gst_buffer_pool_set_active (pools[i], TRUE));
    fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pools[i], &buffers[i], NULL),
                            GST_FLOW_OK);
    GST_BUFFER_PTS (buffers[i]) = 0;
  }
  gst_buffer_add_ccl_meta (buffers[1], MASK_WIDTH, MASK_HEIGHT, 0, NULL, 0);

  gst_harness_push (pair.mask, buffers[1]);
  out = gst_harness_push_and_pull (pair.video, gst_buffer_ref (buffers[0]));
  fail_unless (gst_buffer_get_ccl_meta (out) != NULL);
  gst_buffer_unref (buffers[0]);
  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pools[0], &again, &params), GST_FLOW_EOS);
  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pools[1], &again, &params), GST_FLOW_OK);
  gst_buffer_unref (again);
  gst_buffer_unref (out);
  fail_unless_equals_int (gst_buffer_pool_acquire_buffer (pools[0], &again, &params), GST_FLOW_OK);
  gst_buffer_unref (again);

  for (i = 0; i < 2; i++) {
    gst_buffer_pool_set_active (pools[i], FALSE);
    gst_object_unref (pools[i]);
  }
  pair_clear (&pair);
}
GST_END_TEST;

/* Without a second branch there is nothing to wait for; and there is no third. While there is a pad
 * for it, linked or not, frames wait until it is released. */
GST_START_TEST (test_pads)
{
  GstHarness *h = gst_harness_new_with_padnames ("cclmerge", "video", "src");
  GstPadTemplate *templ = gst_element_get_pad_template (h->element, "components");
  GstPad *pad, *second;
  GstBuffer *in, *out;
  guint i;

  gst_harness_set_live (h, FALSE);
  ccl_test_set_caps (h, "NV12", VIDEO_WIDTH, VIDEO_HEIGHT);
  for (i = 0; i < 3; i++) {
    in = video_new (i);
    out = gst_harness_push_and_pull (h, in);
    fail_unless (out == in);
    gst_buffer_unref (out);

    pad = gst_element_request_pad_simple (h->element, "components");
    fail_unless (pad != NULL);
    second = gst_element_request_pad (h->element, templ, NULL, NULL);
    fail_unless (second == NULL);
    in = video_new (i);
    gst_harness_push (h, in);
    fail_if (gst_harness_try_pull (h));
    gst_element_release_request_pad (h->element, pad);
    gst_object_unref (pad);
    out = gst_harness_pull (h);
    fail_unless (out == in);
    gst_buffer_unref (out);
  }
  gst_harness_teardown (h);
}
GST_END_TEST;

/* Caps that do not tell a size are an error that says so; others may follow. */
GST_START_TEST (test_caps_without_size)
{
  static const gchar *const wrong[] = {
    "video/x-raw,format=NV12,height=96,framerate=1/1",
    "video/x-raw,format=NV12,width=128,framerate=1/1",
    "video/x-raw,format=NV12,width=0,height=96,framerate=1/1",
  };
  Pair pair;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (wrong); i++) {
    pair_init (&pair, FALSE);
    gst_harness_set_src_caps_str (pair.video, wrong[i]);
    gst_harness_push (pair.video, video_new (0));
    ccl_test_check_error (pair.video, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "size");
    fail_if (gst_harness_try_pull (pair.video));
    pair_clear (&pair);
  }
}
GST_END_TEST;

/* Components of a frame of no size, or of one that is not known, are nobody's; the next ones are.
 */
GST_START_TEST (test_mask_without_size)
{
  static const GstCclComponent component = { 1, 8, 6, 4, 3, 12, 9.5, 7.0 };
  Pair pair;
  guint i;

  pair_init (&pair, FALSE);
  gst_harness_set_src_caps_str (pair.mask, "video/x-raw,format=GRAY8");
  for (i = 0; i < 3; i++) {
    GstBuffer *mask = gst_buffer_new ();

    GST_BUFFER_PTS (mask) = i * GST_SECOND;
    if (i > 0)
      gst_buffer_add_ccl_meta (mask, i == 1 ? 0 : MASK_WIDTH, MASK_HEIGHT, 1, &component, 1);
    add_roi (mask, "blob", 0, &component);
    gst_harness_push (pair.mask, mask);
    gst_harness_push (pair.video, video_new (i * GST_SECOND));
    fail_unless_equals_int (pair_pull_label (&pair, i * GST_SECOND), i == 2 ? 1 : 0);
  }
  pair_clear (&pair);
}
GST_END_TEST;

static GstFlowReturn
refuse (GstPad *pad, GstObject *parent, GstBuffer *buffer)
{
  gst_buffer_unref (buffer);

  return GST_FLOW_ERROR;
}

/* When nobody takes the video any more, both branches are told. */
GST_START_TEST (test_refusal)
{
  GstFlowReturn ret[2] = { GST_FLOW_OK, GST_FLOW_OK };
  Pair pair;
  guint i;

  pair_init (&pair, FALSE);
  gst_pad_set_chain_function (pair.video->sinkpad, refuse);
  for (i = 0; i < 100 && (ret[0] == GST_FLOW_OK || ret[1] == GST_FLOW_OK); i++) {
    ret[0] = gst_harness_push (pair.mask, mask_new (i * GST_SECOND, 1));
    ret[1] = gst_harness_push (pair.video, video_new (i * GST_SECOND));
  }
  fail_unless_equals_int (ret[0], GST_FLOW_ERROR);
  fail_unless_equals_int (ret[1], GST_FLOW_ERROR);
  pair_clear (&pair);
}
GST_END_TEST;

/* Streams without times have no partners. */
GST_START_TEST (test_bytes)
{
  GstSegment segment;
  guint is_mask;

  gst_segment_init (&segment, GST_FORMAT_BYTES);
  for (is_mask = 0; is_mask < 2; is_mask++) {
    Pair pair;

    pair_init (&pair, FALSE);
    gst_harness_push_event (is_mask ? pair.mask : pair.video, gst_event_new_segment (&segment));
    gst_harness_push (pair.mask, mask_new (0, 1));
    gst_harness_push_event (pair.mask, gst_event_new_eos ());
    gst_harness_push (pair.video, video_new (0));
    fail_unless_equals_int (pair_pull_label (&pair, 0), 0);
    pair_clear (&pair);
  }
}
GST_END_TEST;

static Suite *
cclmergebuffers_suite (void)
{
  Suite *s = suite_create ("cclmergebuffers");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_same_buffer);
  tcase_add_test (tc, test_shared_buffer);
  tcase_add_test (tc, test_pools);
  tcase_add_test (tc, test_pads);
  tcase_add_test (tc, test_caps_without_size);
  tcase_add_test (tc, test_mask_without_size);
  tcase_add_test (tc, test_refusal);
  tcase_add_test (tc, test_bytes);

  return s;
}

GST_CHECK_MAIN (cclmergebuffers);
