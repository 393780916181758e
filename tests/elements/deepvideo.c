/* cudaccl - tests recordings with 10 bits for each sample, as decoders give them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccltest.h"

#include <unistd.h>

#define N_FRAMES 40

static const struct
{
  const gchar *format, *encoder, *chain; /* the first element, and what makes a file of it */
} recordings[] = {
  { "I420_10LE", "x265enc", "x265enc speed-preset=ultrafast ! h265parse ! matroskamux" },
  { "I420_10LE", "avenc_ffv1", "avenc_ffv1 ! matroskamux" },
  { "I422_10LE", "avenc_ffv1", "avenc_ffv1 ! matroskamux" },
};

/* All find the ball. */
static const gchar *const elements[] = { "cclmotion warm-up=0", "cclmask warm-up=0",
                                         "cudaccl threshold=200", "cclcolor threshold=200" };

static void
play (const gchar *launch, const gchar *path, guint *n_frames, guint *n_found)
{
  GError *error = NULL;
  GstElement *pipeline = gst_parse_launch (launch, &error), *file, *sink;
  GstBus *bus = gst_element_get_bus (pipeline);
  GstMessage *message;

  g_assert_no_error (error);
  file = gst_bin_get_by_name (GST_BIN (pipeline), "file");
  g_object_set (file, "location", path, NULL);
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while (sink) {
    GstSample *sample = NULL;
    GstCclMeta *meta;

    g_signal_emit_by_name (sink, "pull-sample", &sample);
    if (!sample)
      break;
    meta = gst_buffer_get_ccl_meta (gst_sample_get_buffer (sample));
    *n_frames += 1;
    *n_found += meta && meta->n_components > 0;
    gst_sample_unref (sample);
  }
  message = gst_bus_timed_pop_filtered (bus, 60 * GST_SECOND, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (message != NULL, "%s does not end", launch);
  if (GST_MESSAGE_TYPE (message) == GST_MESSAGE_ERROR) {
    gst_message_parse_error (message, &error, NULL);
    fail ("%s: %s", launch, error->message);
  }
  gst_message_unref (message);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_clear_object (&sink);
  gst_object_unref (file);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}

static gboolean
have (const gchar *name)
{
  GstElementFactory *factory = gst_element_factory_find (name);
  gboolean found = factory != NULL;

  gst_clear_object (&factory);

  return found;
}

/* Nothing has to convert what a decoder gives. */
GST_START_TEST (test_recording)
{
  gchar *path = NULL, *make;
  guint i;
  gint file;

  if (!have (recordings[__i__].encoder) || !have ("matroskamux")) {
    g_print ("skipped: no %s\n", recordings[__i__].encoder);
    return;
  }
  file = g_file_open_tmp ("cudaccl-XXXXXX.mkv", &path, NULL);
  fail_unless (file >= 0);
  close (file);
  make = g_strdup_printf ("videotestsrc pattern=ball num-buffers=%d ! "
                          "video/x-raw,format=%s,width=160,height=120,framerate=25/1 ! %s ! "
                          "filesink name=file",
                          N_FRAMES, recordings[__i__].format, recordings[__i__].chain);
  play (make, path, NULL, NULL);

  for (i = 0; i < G_N_ELEMENTS (elements); i++) {
    guint n_frames = 0, n_found = 0;
    gchar *launch = g_strdup_printf (
        "filesrc name=file ! decodebin ! %s ! appsink name=sink sync=false", elements[i]);

    play (launch, path, &n_frames, &n_found);
    fail_unless_equals_int (n_frames, N_FRAMES);
    fail_unless (n_found >= N_FRAMES - 5, "%s finds the ball in %u frames", launch, n_found);
    g_free (launch);
  }
  unlink (path);
  g_free (path);
  g_free (make);
}
GST_END_TEST;

static Suite *
deepvideo_suite (void)
{
  Suite *suite = suite_create ("deepvideo");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (suite, tc);
  tcase_add_loop_test (tc, test_recording, 0, G_N_ELEMENTS (recordings));

  return suite;
}

GST_CHECK_MAIN (deepvideo);
