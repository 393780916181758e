/* cudaccl - components cross from one process to another
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib/gstdio.h>

#include "tests/lib/ccltest.h"

#define CAPS "video/x-raw,format=GRAY8,width=64,height=48,framerate=50/1"

static void
check_same (GstBuffer *buffer, GstBuffer *expected)
{
  GstCclMeta *a = gst_buffer_get_ccl_meta (buffer);
  GstCclMeta *b = gst_buffer_get_ccl_meta (expected);
  guint i;

  fail_unless (a != NULL && b != NULL);
  fail_unless_equals_int (a->width, b->width);
  fail_unless_equals_int (a->height, b->height);
  fail_unless_equals_int (a->found, b->found);
  fail_unless_equals_int (a->n_components, b->n_components);
  for (i = 0; i < a->n_components; i++) {
    const GstCclComponent *x = &a->components[i], *y = &b->components[i];

    fail_unless_equals_int (x->label, y->label);
    fail_unless_equals_int (x->x, y->x);
    fail_unless_equals_int (x->y, y->y);
    fail_unless_equals_int (x->width, y->width);
    fail_unless_equals_int (x->height, y->height);
    fail_unless_equals_uint64 (x->area, y->area);
    fail_unless (x->centroid_x == y->centroid_x && x->centroid_y == y->centroid_y);
  }
}

/* The socket must be known before the harness starts the element. */
static GstHarness *
receiver_new (const gchar *path)
{
  GstElement *element = gst_element_factory_make ("unixfdsrc", NULL);
  GstHarness *h;

  g_object_set (element, "socket-path", path, NULL);
  h = gst_harness_new_with_element (element, NULL, "src");
  gst_object_unref (element);
  gst_harness_use_systemclock (h);
  gst_harness_play (h);

  return h;
}

static GstElement *
sender_new (const gchar *path)
{
  GstElement *pipeline = gst_parse_launch ("videotestsrc is-live=true pattern=ball ! " CAPS
                                           " ! cudaccl backend=cpu threshold=100 ! "
                                           "unixfdsink name=sink sync=false async=false",
                                           NULL);
  GstElement *sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");

  g_object_set (sink, "socket-path", path, NULL);
  gst_object_unref (sink);
  fail_unless (gst_element_set_state (pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE);

  return pipeline;
}

/* Asserts that a received frame has the components that its pixels have. */
static void
check_frame (GstHarness *analyser, GstBuffer *received)
{
  GstBuffer *pixels = gst_buffer_new (), *expected;

  gst_buffer_copy_into (pixels, received, GST_BUFFER_COPY_MEMORY | GST_BUFFER_COPY_TIMESTAMPS, 0,
                        -1);
  expected = gst_harness_push_and_pull (analyser, pixels);
  fail_unless_equals_int (gst_buffer_get_ccl_meta (expected)->n_components, 1);
  check_same (received, expected);
  gst_buffer_unref (expected);
}

GST_START_TEST (test_unixfd)
{
  GstElementFactory *factory = gst_element_factory_find ("unixfdsrc");
  GstHarness *analyser, *receiver;
  GstElement *sender;
  gchar *folder, *path;
  guint i;

  if (!factory) {
    g_printerr ("skipped: there is no element unixfdsrc here\n");
    return;
  }
  gst_object_unref (factory);

  folder = g_dir_make_tmp ("cudaccl-XXXXXX", NULL);
  fail_unless (folder != NULL);
  path = g_build_filename (folder, "socket", NULL);

  analyser =
      ccl_test_harness_new (ccl_test_element_new ("cpu", "threshold", 100, NULL), "GRAY8", 64, 48);
  sender = sender_new (path);
  receiver = receiver_new (path);

  for (i = 0; i < 5; i++) {
    GstBuffer *received = gst_harness_pull (receiver);

    fail_unless (received != NULL);
    check_frame (analyser, received);
    gst_buffer_unref (received);
  }

  gst_harness_teardown (receiver);
  gst_element_set_state (sender, GST_STATE_NULL);
  gst_object_unref (sender);
  ccl_test_harness_free (analyser);
  g_unlink (path);
  fail_unless_equals_int (g_rmdir (folder), 0);
  g_free (path);
  g_free (folder);
}
GST_END_TEST;

static Suite *
crossing_suite (void)
{
  Suite *s = suite_create ("crossing");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_unixfd);

  return s;
}

GST_CHECK_MAIN (crossing);
