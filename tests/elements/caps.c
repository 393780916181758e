/* cudaccl - tests of negotiation: caps in both directions, allocation, renegotiation
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

static GstCaps *
query_caps (GstElement *element, const gchar *pad_name)
{
  GstPad *pad = gst_element_get_static_pad (element, pad_name);
  GstCaps *caps = gst_pad_query_caps (pad, NULL);

  gst_object_unref (pad);

  return caps;
}

static gboolean
accepts (GstElement *element, const gchar *pad_name, const gchar *caps_string)
{
  GstPad *pad = gst_element_get_static_pad (element, pad_name);
  GstCaps *caps = gst_caps_from_string (caps_string);
  gboolean result = gst_pad_query_accept_caps (pad, caps);

  gst_caps_unref (caps);
  gst_object_unref (pad);

  return result;
}

GST_START_TEST (test_accept)
{
  static const gchar *const refused[] = {
    "video/x-raw,format=RGB,width=13,height=7",
    "video/x-raw,format=GRAY16_LE,width=13,height=7",
    "video/x-raw,format=P010_10LE,width=13,height=7",
    "video/x-raw,format=YUY2,width=13,height=7",
    "video/x-raw(memory:CUDAMemory),format=GRAY8,width=13,height=7",
    "video/x-raw(memory:GLMemory),format=NV12,width=13,height=7",
    "audio/x-raw",
  };
  GstElement *element = ccl_test_element_new (NULL, NULL);
  guint i;

  for (i = 0; picture_formats[i]; i++) {
    gchar *caps = g_strdup_printf ("video/x-raw,format=%s,width=13,height=7,framerate=30/1",
                                   picture_formats[i]);

    fail_unless (accepts (element, "sink", caps), "%s is not accepted", caps);
    fail_unless (accepts (element, "src", caps), "%s is not accepted", caps);
    g_free (caps);
  }

  for (i = 0; i < G_N_ELEMENTS (refused); i++) {
    fail_if (accepts (element, "sink", refused[i]), "%s is accepted", refused[i]);
    fail_if (accepts (element, "src", refused[i]), "%s is accepted", refused[i]);
  }

  gst_object_unref (element);
}
GST_END_TEST;

/* Memory that only CUDA reads is taken, unless the backend is another one. */
GST_START_TEST (test_accept_memory)
{
#ifdef HAVE_GSTCUDA
  static const gchar *const formats[] = { "NV12", "NV21", "I420", "YV12", "Y42B", "Y444" };
  static const gchar *const backends[] = { "auto", "cuda", "cpu" };
  guint i, j;

  for (i = 0; i < G_N_ELEMENTS (backends); i++) {
    GstElement *element = ccl_test_element_new (backends[i], NULL);

    for (j = 0; j < G_N_ELEMENTS (formats); j++) {
      gchar *caps = g_strdup_printf ("video/x-raw(memory:CUDAMemory),format=%s,width=13,height=7,"
                                     "framerate=30/1",
                                     formats[j]);
      gboolean wanted = !g_str_equal (backends[i], "cpu");

      fail_unless_equals_int (accepts (element, "sink", caps), wanted);
      fail_unless_equals_int (accepts (element, "src", caps), wanted);
      g_free (caps);
    }
    gst_object_unref (element);
  }
#endif
}
GST_END_TEST;

/* What one neighbour can do is what the other one sees, whichever of them it is. */
GST_START_TEST (test_both_directions)
{
  const gchar *limits = "video/x-raw,format={GRAY8,RGB,NV12},width=[1,320],height=240";
  const gchar *expected = "video/x-raw,format={GRAY8,NV12},width=[1,320],height=240,"
                          "framerate=[0/1,2147483647/1]";
  static const gchar *const pads[][2] = { { "sink", "src" }, { "src", "sink" } };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (pads); i++) {
    GstElement *pipeline = gst_pipeline_new (NULL);
    GstElement *element = ccl_test_element_new (NULL, NULL);
    GstElement *filter = gst_element_factory_make ("capsfilter", NULL);
    GstCaps *caps = gst_caps_from_string (limits), *want = gst_caps_from_string (expected);

    g_object_set (filter, "caps", caps, NULL);
    gst_caps_unref (caps);
    gst_bin_add_many (GST_BIN (pipeline), element, filter, NULL);
    fail_unless (i == 0 ? gst_element_link (element, filter) : gst_element_link (filter, element));

    caps = query_caps (element, pads[i][0]);
    fail_unless (gst_caps_is_equal (caps, want), "%" GST_PTR_FORMAT, caps);

    gst_caps_unref (caps);
    gst_caps_unref (want);
    gst_object_unref (pipeline);
  }
}
GST_END_TEST;

GST_START_TEST (test_caps_pass_unchanged)
{
  const gchar *text = "video/x-raw,format=NV12,width=13,height=7,framerate=25/2,"
                      "pixel-aspect-ratio=4/3,interlace-mode=mixed,colorimetry=bt709,"
                      "multiview-mode=mono,x-unknown=1";
  GstHarness *h = ccl_test_harness_new (ccl_test_element_new ("cpu", NULL), "GRAY8", 1, 1);
  GstCaps *caps = gst_caps_from_string (text), *out;

  gst_harness_set_src_caps_str (h, text);
  gst_buffer_unref (gst_harness_push_and_pull (h, ccl_test_picture_new ("NV12", LAYOUT_PACKED)));
  out = gst_pad_get_current_caps (h->sinkpad);
  fail_unless (gst_caps_is_equal (out, caps), "%" GST_PTR_FORMAT, out);

  gst_caps_unref (out);
  gst_caps_unref (caps);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Sizes and formats change in mid-stream, back and forth. */
GST_START_TEST (test_renegotiation)
{
  GstHarness *h = ccl_test_harness_new (ccl_test_element_new (ccl_test_backend (__i__), NULL),
                                        "GRAY8", 640, 480);
  guint i;

  for (i = 0; i < 3 * g_strv_length ((gchar **) picture_formats); i++) {
    const gchar *format = picture_formats[i % g_strv_length ((gchar **) picture_formats)];
    guint size = 1 + 97 * i;
    GstBuffer *buffer;

    ccl_test_set_caps (h, "GRAY8", size, 5);
    buffer = gst_harness_push_and_pull (h, ccl_test_black_new (size, 5));
    fail_unless_equals_int (gst_buffer_get_ccl_meta (buffer)->width, size);
    ccl_test_check_blobs (buffer, NULL, 0, 0);
    gst_buffer_unref (buffer);

    ccl_test_set_caps (h, format, PICTURE_WIDTH, PICTURE_HEIGHT);
    buffer = gst_harness_push_and_pull (h, ccl_test_picture_new (format, LAYOUT_PADDED));
    ccl_test_check_blobs (buffer, picture_blobs, n_picture_blobs, n_picture_blobs);
    gst_buffer_unref (buffer);
  }

  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Buffers pass through, so only downstream can say which ones upstream may make. */
GST_START_TEST (test_allocation)
{
  gboolean downstream_can;

  for (downstream_can = FALSE; downstream_can <= TRUE; downstream_can++) {
    GstHarness *h = ccl_test_harness_new (ccl_test_element_new ("cpu", NULL), "GRAY8", 64, 48);
    GstAllocationParams params = { .align = 31, .padding = 16 };
    GstAllocator *allocator = NULL;
    GstCaps *caps;
    GstQuery *query;

    if (downstream_can) {
      gst_harness_add_propose_allocation_meta (h, GST_VIDEO_META_API_TYPE, NULL);
      gst_harness_set_propose_allocator (h, NULL, &params);
    }
    gst_buffer_unref (gst_harness_push_and_pull (h, ccl_test_black_new (64, 48)));

    caps = gst_pad_get_current_caps (h->srcpad);
    query = gst_query_new_allocation (caps, TRUE);
    gst_pad_peer_query (h->srcpad, query);
    fail_unless_equals_int (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL),
                            downstream_can);
    if (downstream_can) {
      fail_unless_equals_int (gst_query_get_n_allocation_params (query), 1);
      gst_query_parse_nth_allocation_param (query, 0, &allocator, &params);
      fail_unless_equals_int (params.align, 31);
      fail_unless_equals_int (params.padding, 16);
    }

    gst_query_unref (query);
    gst_caps_unref (caps);
    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

static Suite *
caps_suite (void)
{
  Suite *s = suite_create ("caps");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_accept);
  tcase_add_test (tc, test_accept_memory);
  tcase_add_test (tc, test_both_directions);
  tcase_add_test (tc, test_caps_pass_unchanged);
  tcase_add_loop_test (tc, test_renegotiation, 0, (gint) ccl_test_n_backends ());
  tcase_add_test (tc, test_allocation);

  return s;
}

GST_CHECK_MAIN (caps);
