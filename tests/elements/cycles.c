/* cudaccl - tests that memory stays flat, over states and over frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#ifdef HAVE_MALLINFO2
#include <malloc.h>
#endif

#define WARM_UP 50
#define CYCLES 300
#define LOOK 100

/* Bytes that malloc() has handed out; 0 where nobody counts. */
static gsize
bytes_in_use (void)
{
#ifdef HAVE_MALLINFO2
  struct mallinfo2 info = mallinfo2 ();

  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

static void
usage_look (CclTestUsage *usage, guint cycle)
{
  if (cycle >= WARM_UP && (cycle - WARM_UP) % LOOK == 0)
    ccl_test_usage_look (usage, bytes_in_use ());
}

/* A leak a cycle, be it of one analyzer or of one frame's metadata, would be a hundred times what
 * is allowed for, and there each time. CUDA's own books grow by steps, now and then. */
static void
usage_check_flat (const CclTestUsage *usage)
{
  fail_unless (usage->n_looks > 1);
  fail_unless (usage->least < LOOK * 16, "%" G_GSSIZE_FORMAT " bytes more each %d cycles",
               usage->least, LOOK);
}

static void
push_picture (GstHarness *h)
{
  GstBuffer *buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));

  ccl_test_check_blobs (buffer, picture_blobs, n_picture_blobs, n_picture_blobs);
  gst_buffer_unref (buffer);
}

GST_START_TEST (test_states)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  CclTestUsage usage = { 0 };
  guint i;

  for (i = 0; i <= WARM_UP + CYCLES; i++) {
    usage_look (&usage, i);
    ccl_test_restart (h, i % 2 ? GST_STATE_READY : GST_STATE_NULL);
    gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=13,height=7,framerate=1/1");
    push_picture (h);
    ccl_test_drain (h);
  }
  usage_check_flat (&usage);

  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Elements come and go. */
GST_START_TEST (test_elements)
{
  CclTestUsage usage = { 0 };
  guint i;

  for (i = 0; i <= WARM_UP + CYCLES; i++) {
    GstHarness *h;

    usage_look (&usage, i);
    h = ccl_test_picture_harness_new (__i__, NULL);
    push_picture (h);
    ccl_test_harness_free (h);
  }
  usage_check_flat (&usage);
}
GST_END_TEST;

/* Once the size stands, frames allocate nothing for the analysis, and neither does a new frame
 * rate. */
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

/* Metadata frees what it holds when it is replaced, scaled, cropped or dropped. */
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
cycles_suite (void)
{
  Suite *s = suite_create ("cycles");
  TCase *tc = tcase_create ("general");
  gint n_backends = (gint) ccl_test_n_backends ();

  suite_add_tcase (s, tc);
  tcase_add_loop_test (tc, test_states, 0, n_backends);
  tcase_add_loop_test (tc, test_elements, 0, n_backends);
  tcase_add_loop_test (tc, test_frames, 0, n_backends);
  tcase_add_test (tc, test_metadata);

  return s;
}

GST_CHECK_MAIN (cycles);
