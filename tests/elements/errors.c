/* cudaccl - tests of what is refused, and how
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static gboolean
build_has_cuda (void)
{
  return ccl_algorithm (0)->backend == CCL_BACKEND_CUDA;
}

/* Asserts that @element cannot start. It is consumed. */
static void
check_start_fails (GstElement *element, GQuark domain, gint code, const gchar *text)
{
  GstBus *bus = gst_bus_new ();
  GstMessage *message;
  GError *error = NULL;

  gst_element_set_bus (element, bus);
  fail_unless_equals_int (gst_element_set_state (element, GST_STATE_PAUSED),
                          GST_STATE_CHANGE_FAILURE);
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (message != NULL);
  gst_message_parse_error (message, &error, NULL);
  fail_unless (g_error_matches (error, domain, code), "got %s %d: %s",
               g_quark_to_string (error->domain), error->code, error->message);
  fail_unless (strstr (error->message, text) != NULL, "'%s' is not in: %s", text, error->message);

  g_error_free (error);
  gst_message_unref (message);
  gst_element_set_state (element, GST_STATE_NULL);
  gst_element_set_bus (element, NULL);
  gst_object_unref (bus);
  gst_object_unref (element);
}

/* Where there is no device, or no CUDA at all, the error says what to do. */
GST_START_TEST (test_no_device)
{
  if (ccl_test_n_backends () > 1)
    return;

  if (build_has_cuda ())
    check_start_fails (ccl_test_element_new ("cuda", NULL), GST_RESOURCE_ERROR,
                       GST_RESOURCE_ERROR_NOT_FOUND, "backend cpu");
  else
    check_start_fails (ccl_test_element_new ("cuda", NULL), GST_LIBRARY_ERROR,
                       GST_LIBRARY_ERROR_SETTINGS, "this build has no CUDA backend");
}
GST_END_TEST;

GST_START_TEST (test_no_such_device)
{
  static const gchar *const backends[] = { "auto", "cuda" };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (backends); i++) {
    GstElement *element = ccl_test_element_new (backends[i], "cuda-device-id", 99, NULL);

    if (!build_has_cuda ())
      check_start_fails (element, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, "any device");
    else
      check_start_fails (element, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
                         ccl_test_n_backends () > 1 ? "-1 takes any" : "backend cpu");
  }
}
GST_END_TEST;

static void
collect_info (GstDebugCategory *category, GstDebugLevel level, const gchar *file,
              const gchar *function, gint line, GObject *object, GstDebugMessage *message,
              gpointer log)
{
  if (level == GST_LEVEL_INFO && g_str_equal (gst_debug_category_get_name (category), "cudaccl"))
    g_string_append (log, gst_debug_message_get (message));
}

/* The log says what analyses the frames, and, when it is not what it could be, why. */
GST_START_TEST (test_log)
{
  GString *log = g_string_new (NULL);
  GstHarness *h;
  GstStructure *stats;

  gst_debug_add_log_function (collect_info, log, NULL);
  gst_debug_set_threshold_for_name ("cudaccl", GST_LEVEL_INFO);
  h = ccl_test_harness_new (ccl_test_element_new ("auto", NULL), "GRAY8", PICTURE_WIDTH,
                            PICTURE_HEIGHT);
  gst_debug_unset_threshold_for_name ("cudaccl");
  gst_debug_remove_log_function (collect_info);

#ifndef GST_DISABLE_GST_DEBUG
  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless (strstr (log->str, gst_structure_get_string (stats, "device")) != NULL, "%s",
               log->str);
  fail_unless (strstr (log->str, gst_structure_get_string (stats, "algorithm")) != NULL, "%s",
               log->str);
  gst_structure_free (stats);
  fail_unless_equals_int (strstr (log->str, "because") != NULL, ccl_test_n_backends () == 1);
  if (ccl_test_n_backends () == 1)
    fail_unless (strstr (log->str, build_has_cuda () ? "driver" : "no CUDA backend") != NULL, "%s",
                 log->str);
#endif

  g_string_free (log, TRUE);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* Without a wish for a device, the CPU does. */
GST_START_TEST (test_fallback)
{
  GstHarness *h = ccl_test_harness_new (ccl_test_element_new ("auto", NULL), "GRAY8", PICTURE_WIDTH,
                                        PICTURE_HEIGHT);
  GstBuffer *buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  GstStructure *stats;

  ccl_test_check_blobs (buffer, picture_blobs, n_picture_blobs, n_picture_blobs);
  fail_if (ccl_test_pop_message (h, GST_MESSAGE_ERROR | GST_MESSAGE_WARNING));
  g_object_get (h->element, "stats", &stats, NULL);
  fail_unless_equals_string (gst_structure_get_string (stats, "backend"),
                             ccl_test_n_backends () > 1 ? "cuda" : "cpu");

  gst_structure_free (stats);
  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* An algorithm with a backend that does not have it. */
GST_START_TEST (test_algorithm_of_other_backend)
{
  const CclAlgorithm *algorithm;
  guint i;

  for (i = 0; (algorithm = ccl_algorithm (i)); i++) {
    CclBackend other = algorithm->backend == CCL_BACKEND_CPU ? CCL_BACKEND_CUDA : CCL_BACKEND_CPU;
    GstElement *element;

    if (other == CCL_BACKEND_CUDA && ccl_test_n_backends () < 2)
      continue;

    element = ccl_test_element_new (ccl_backend_name (other), NULL);
    gst_util_set_object_arg (G_OBJECT (element), "algorithm", algorithm->name);
    check_start_fails (element, GST_LIBRARY_ERROR, GST_LIBRARY_ERROR_SETTINGS, algorithm->name);
  }
}
GST_END_TEST;

/* More pixels than the engine can count. */
GST_START_TEST (test_huge_frame)
{
  GstHarness *h = ccl_test_harness_new (ccl_test_element_new (ccl_test_backend (__i__), NULL),
                                        "GRAY8", 65536, 65536);

  fail_unless_equals_int (gst_harness_push (h, gst_buffer_new ()), GST_FLOW_NOT_NEGOTIATED);
  ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "65536");
  ccl_test_harness_free (h);
}
GST_END_TEST;

/* More memory than there is. */
GST_START_TEST (test_no_memory)
{
#if !defined(__SANITIZE_ADDRESS__)
  GstHarness *h = ccl_test_harness_new (ccl_test_element_new ("cpu", NULL), "GRAY8", PICTURE_WIDTH,
                                        PICTURE_HEIGHT);
  struct rlimit before, low;
  gulong pages = 0;
  GstBuffer *buffer;
  gchar *statm;

  fail_unless (g_file_get_contents ("/proc/self/statm", &statm, NULL, NULL));
  pages = strtoul (statm, NULL, 10);
  g_free (statm);

  /* Room for everything but the analyzer's tables. */
  fail_unless_equals_int (getrlimit (RLIMIT_AS, &before), 0);
  low = before;
  low.rlim_cur = pages * (gulong) sysconf (_SC_PAGESIZE) + (32 << 20);
  fail_unless_equals_int (setrlimit (RLIMIT_AS, &low), 0);
  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=65535,height=30000,"
                                   "framerate=1/1");
  fail_unless_equals_int (gst_harness_push (h, gst_buffer_new ()), GST_FLOW_NOT_NEGOTIATED);
  fail_unless_equals_int (setrlimit (RLIMIT_AS, &before), 0);
  ccl_test_check_error (h, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NO_SPACE_LEFT,
                        "use smaller frames");

  gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=13,height=7,framerate=1/1");
  buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
  ccl_test_check_blobs (buffer, picture_blobs, n_picture_blobs, n_picture_blobs);

  gst_buffer_unref (buffer);
  ccl_test_harness_free (h);
#endif
}
GST_END_TEST;

/* Frames of 13x7 GRAY8 pixels whose buffers are not what they say. Without a stride there is no
 * GstVideoMeta. */
static const struct
{
  const gchar *what;
  gsize size;
  gint stride;
  gsize offset;
  guint width, height;
  guint crop_x, crop_y;
  gboolean good;
} frames[] = {
  { "empty", 0, 0, 0, 0, 0, 0, 0, FALSE },
  { "one byte short", 16 * 7 - 1, 0, 0, 0, 0, 0, 0, FALSE },
  { "all there", 16 * 7, 0, 0, 0, 0, 0, 0, TRUE },
  { "last row cut after its pixels", 6 * 20 + 13, 20, 0, 13, 7, 0, 0, TRUE },
  { "last pixel missing", 6 * 20 + 12, 20, 0, 13, 7, 0, 0, FALSE },
  { "a stride that goes past the memory", 16 * 7, 4096, 0, 13, 7, 0, 0, FALSE },
  { "the largest stride", 16 * 7, G_MAXINT, 0, 13, 7, 0, 0, FALSE },
  { "rows that overlap", 16 * 7, 12, 0, 13, 7, 0, 0, FALSE },
  { "no stride", 16 * 7, -1, 0, 13, 7, 0, 0, FALSE },
  { "bottom up", 16 * 7, -16, 6 * 16, 13, 7, 0, 0, FALSE },
  { "an offset that moves the end out", 16 * 7, 16, 4, 13, 7, 0, 0, FALSE },
  { "an offset that just fits", 16 * 7, 16, 3, 13, 7, 0, 0, TRUE },
  { "an offset past the end", 16 * 7, 16, 16 * 7, 13, 7, 0, 0, FALSE },
  { "the largest offset", 16 * 7, 16, G_MAXSIZE, 13, 7, 0, 0, FALSE },
  { "too narrow", 16 * 7, 16, 0, 12, 7, 0, 0, FALSE },
  { "too low", 16 * 7, 16, 0, 13, 6, 0, 0, FALSE },
  { "larger than the caps", 32 * 32, 32, 0, 32, 32, 0, 0, TRUE },
  { "cropped", 32 * 32, 32, 0, 32, 32, 19, 25, TRUE },
  { "cropped past the right", 32 * 32, 32, 0, 32, 32, 20, 25, FALSE },
  { "cropped past the bottom", 32 * 32, 32, 0, 32, 32, 19, 26, FALSE },
  { "cropped at the far end", 32 * 32, 32, 0, 32, 32, G_MAXUINT, G_MAXUINT, FALSE },
  { "cropped where no memory is", 32 * 31, 32, 0, 32, 32, 19, 25, FALSE },
};

static GstBuffer *
make_frame (guint i)
{
  GstBuffer *buffer = gst_buffer_new ();
  gsize offset[GST_VIDEO_MAX_PLANES] = { frames[i].offset };
  gint stride[GST_VIDEO_MAX_PLANES] = { frames[i].stride };

  /* Memory of exactly that size, so that a memory checker sees every byte too far. */
  if (frames[i].size > 0) {
    gpointer data = g_malloc0 (frames[i].size);

    gst_buffer_append_memory (
        buffer, gst_memory_new_wrapped (0, data, frames[i].size, 0, frames[i].size, data, g_free));
  }

  if (frames[i].stride != 0)
    gst_buffer_add_video_meta_full (buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_FORMAT_GRAY8,
                                    frames[i].width, frames[i].height, 1, offset, stride);

  if (frames[i].crop_x > 0) {
    GstVideoCropMeta *crop = gst_buffer_add_video_crop_meta (buffer);

    crop->x = frames[i].crop_x;
    crop->y = frames[i].crop_y;
    crop->width = PICTURE_WIDTH;
    crop->height = PICTURE_HEIGHT;
  }

  return buffer;
}

GST_START_TEST (test_frame)
{
  gint backend;

  for (backend = 0; backend < (gint) ccl_test_n_backends (); backend++) {
    GstHarness *h = ccl_test_harness_new (ccl_test_element_new (ccl_test_backend (backend), NULL),
                                          "GRAY8", PICTURE_WIDTH, PICTURE_HEIGHT);
    GstFlowReturn ret = gst_harness_push (h, make_frame (__i__));
    GstBuffer *buffer = gst_harness_try_pull (h);

    GST_INFO ("%s", frames[__i__].what);
    fail_unless_equals_int (ret, frames[__i__].good ? GST_FLOW_OK : GST_FLOW_ERROR);
    fail_unless_equals_int (buffer != NULL, frames[__i__].good);
    if (buffer) {
      ccl_test_check_blobs (buffer, NULL, 0, 0);
      gst_buffer_unref (buffer);
    } else {
      ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "frame");
    }
    fail_if (ccl_test_pop_message (h, GST_MESSAGE_ERROR));

    ccl_test_harness_free (h);
  }
}
GST_END_TEST;

/* After a bad frame, good ones are analysed, with a restart or without. */
GST_START_TEST (test_recovery)
{
  GstHarness *h = ccl_test_picture_harness_new (__i__, NULL);
  guint i;

  for (i = 0; i < 4; i++) {
    GstBuffer *buffer;

    fail_unless_equals_int (gst_harness_push (h, gst_buffer_new ()), GST_FLOW_ERROR);
    ccl_test_check_error (h, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT, "bytes");

    if (i % 2) {
      gst_element_set_state (h->element, i == 1 ? GST_STATE_READY : GST_STATE_NULL);
      gst_element_set_state (h->element, GST_STATE_PLAYING);
      gst_harness_set_src_caps_str (h, "video/x-raw,format=GRAY8,width=13,height=7,framerate=1/1");
    }

    buffer = gst_harness_push_and_pull (h, ccl_test_picture_new ("GRAY8", LAYOUT_PACKED));
    ccl_test_check_blobs (buffer, picture_blobs, n_picture_blobs, n_picture_blobs);
    gst_buffer_unref (buffer);
  }

  ccl_test_harness_free (h);
}
GST_END_TEST;

static Suite *
errors_suite (void)
{
  Suite *s = suite_create ("errors");
  TCase *tc = tcase_create ("general");
  gint n_backends = (gint) ccl_test_n_backends ();

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_no_device);
  tcase_add_test (tc, test_no_such_device);
  tcase_add_test (tc, test_fallback);
  tcase_add_test (tc, test_log);
  tcase_add_test (tc, test_no_memory);
  tcase_add_test (tc, test_algorithm_of_other_backend);
  tcase_add_loop_test (tc, test_huge_frame, 0, n_backends);
  tcase_add_loop_test (tc, test_frame, 0, G_N_ELEMENTS (frames));
  tcase_add_loop_test (tc, test_recovery, 0, n_backends);

  return s;
}

GST_CHECK_MAIN (errors);
