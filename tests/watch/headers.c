/* cudaccl-watch - tests: sizes and memory that headers declare, of what encoders write
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include "apps/watch/camera/headers.h"
#include "apps/watch/camera/limit.h"
#include "tests/lib/pullsamples.h"

#define WIDTH 320
#define HEIGHT 192

/* Halves of a byte for each pixel of what the decoder keeps: references, and four more. */
static const struct
{
  const gchar *format, *encoder, *rest;
  guint memory;
} cases[] = {
  { "I420", "x264enc", "option-string=ref=3:bframes=0 ! video/x-h264,stream-format=byte-stream",
    3 * (3 + 4) },
  { "I420", "x264enc", "option-string=ref=5:bframes=0 ! video/x-h264,stream-format=avc",
    3 * (5 + 4) },
  { "I420", "x264enc", "option-string=ref=2:bframes=0:interlaced=1 ! video/x-h264", 3 * (2 + 4) },
  { "Y444", "x264enc", "option-string=ref=2:bframes=0 ! video/x-h264,profile=high-4:4:4",
    6 * (2 + 4) },
  { "I420_10LE", "x264enc", "option-string=ref=2:bframes=0 ! video/x-h264,profile=high-10",
    6 * (2 + 4) },
  { "I420", "x265enc", "option-string=ref=3:bframes=0 ! video/x-h265,stream-format=byte-stream",
    3 * (4 + 4) },
  { "I420", "x265enc",
    "option-string=ref=1:bframes=0 ! h265parse ! video/x-h265,stream-format=hvc1", 3 * (3 + 4) },
  { "I420", "vp8enc", "", 3 * (3 + 4) },
  { "I420", "vp9enc", "", 3 * (8 + 4) },
  { "I420", "av1enc", "cpu-used=8", 6 * (8 + 4) },
  { "I420", "jpegenc", "", 6 * 4 },
  { "RGB", "pngenc", "", 6 * 4 },
};

/* Reads what the encoder writes, without the size in caps. */
static void
read_video (WatchHeaders *headers, guint i)
{
  g_autofree gchar *text = g_strdup_printf (
      "videotestsrc num-buffers=4 pattern=snow ! video/x-raw,width=%u,height=%u,framerate=10/1 "
      "! videoconvert ! video/x-raw,format=%s ! %s %s ! appsink name=out",
      WIDTH, HEIGHT, cases[i].format, cases[i].encoder, cases[i].rest);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) samples = pull_samples (text, &error);
  g_autoptr (GstCaps) caps = NULL;

  fail_unless (samples && samples->len > 0, "%s: %s", text, error ? error->message : "nothing");
  caps = gst_caps_copy (gst_sample_get_caps (g_ptr_array_index (samples, 0)));
  gst_structure_remove_fields (gst_caps_get_structure (caps, 0), "width", "height", NULL);
  watch_headers_set_caps (headers, caps);
  for (guint k = 0; k < samples->len; k++) {
    GstBuffer *buffer = gst_sample_get_buffer (g_ptr_array_index (samples, k));
    GstMapInfo map;

    gst_buffer_map (buffer, &map, GST_MAP_READ);
    watch_headers_read (headers, map.data, map.size);
    gst_buffer_unmap (buffer, &map);
  }
}

GST_START_TEST (test_encoders)
{
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GstElementFactory) factory = gst_element_factory_find (cases[i].encoder);
    WatchHeaders headers = { 0 };

    if (!factory) {
      g_printerr ("%s is missing\n", cases[i].encoder);
      continue;
    }
    read_video (&headers, i);
    fail_unless (headers.width == WIDTH && headers.height == HEIGHT, "%u: %ux%u", i, headers.width,
                 headers.height);
    fail_unless (headers.memory == (guint64) WIDTH * HEIGHT * cases[i].memory / 2,
                 "%u: %" G_GUINT64_FORMAT " halves", i, headers.memory * 2 / WIDTH / HEIGHT);
  }
}
GST_END_TEST;

/* --- Several frames of VP9 in a buffer --- */

#define SMALL 64
#define LARGE 512

/* Appends a key frame. */
static void
add_vp9 (GByteArray *data, guint side)
{
  g_autofree gchar *text = g_strdup_printf (
      "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=%u,height=%u ! vp9enc deadline=1 "
      "! appsink name=out",
      side, side);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) samples = pull_samples (text, &error);
  GstMapInfo map;

  fail_unless (samples && samples->len == 1, "%s", error ? error->message : "no frame");
  gst_buffer_map (gst_sample_get_buffer (g_ptr_array_index (samples, 0)), &map, GST_MAP_READ);
  g_byte_array_append (data, map.data, (guint) map.size);
  gst_buffer_unmap (gst_sample_get_buffer (g_ptr_array_index (samples, 0)), &map);
}

/* Appends an index of frames, whose last one ends @more bytes behind where the index begins. */
static void
add_index (GByteArray *data, guint first, guint more)
{
  const guint sizes[] = { first, data->len - first + more };
  const guint8 index[] = {
    0xc9, (guint8) sizes[0], (guint8) (sizes[0] >> 8), (guint8) sizes[1], (guint8) (sizes[1] >> 8),
    0xc9
  };

  g_byte_array_append (data, index, sizeof (index));
}

/* Buffers behind one with a small frame, and how many of them and it are decoded. */
static const struct
{
  const gchar *name;
  guint shown, small, large;
  gint index; /* bytes of it that are in the last frame; -1: none */
  guint frames;
  gboolean refused;
} behind[] = {
  { "a frame", 0, 1, 0, -1, 2, FALSE },
  { "a frame that is shown again", 1, 0, 0, -1, 2, FALSE },
  { "small frames with an index", 0, 2, 0, 0, 2, FALSE },
  { "a large frame", 0, 0, 1, -1, 1, TRUE },
  { "a large frame behind another", 0, 1, 1, -1, 2, FALSE },
  { "a large frame behind one that is shown again", 1, 0, 1, -1, 2, FALSE },
  { "a large frame with an index", 0, 1, 1, 0, 1, TRUE },
  { "a large frame that reaches into the index", 0, 1, 1, 3, 1, TRUE },
};

GST_START_TEST (test_frames_behind)
{
  GstElement *pipeline = gst_pipeline_new (NULL);
  GstHarness *decoder = gst_harness_new ("vp9dec");
  WatchLimit *limit = watch_limit_new (pipeline, "rtsp://camera", 4 * SMALL * SMALL, G_MAXUINT64);
  GstPad *pad = gst_element_get_static_pad (decoder->element, "sink");
  GByteArray *data = g_byte_array_new ();
  GstBus *bus = gst_element_get_bus (pipeline);
  guint first = 0, n = 0;
  GstMessage *message;
  GstBuffer *frame;

  watch_limit_add_pictures (limit, pad);
  gst_harness_set_src_caps_str (decoder, "video/x-vp9,framerate=10/1");
  add_vp9 (data, SMALL);
  gst_harness_push (decoder, gst_buffer_new_memdup (data->data, data->len));
  g_byte_array_set_size (data, 0);
  for (guint i = 0; i < behind[__i__].shown; i++)
    g_byte_array_append (data, (const guint8 *) "\x88", 1);
  for (guint i = 0; i < behind[__i__].small; i++) {
    first = data->len;
    add_vp9 (data, SMALL);
  }
  if (behind[__i__].large) {
    first = data->len;
    add_vp9 (data, LARGE);
  }
  if (behind[__i__].index > 0)
    g_byte_array_set_size (data, first + 10 - (guint) behind[__i__].index);
  if (behind[__i__].index >= 0)
    add_index (data, first, (guint) behind[__i__].index);
  gst_harness_push (decoder, gst_buffer_new_memdup (data->data, data->len));
  while ((frame = gst_harness_try_pull (decoder))) {
    fail_unless_equals_int (gst_buffer_get_size (frame), SMALL * SMALL * 3 / 2);
    gst_buffer_unref (frame);
    n++;
  }
  message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
  fail_unless (n == behind[__i__].frames && (message != NULL) == behind[__i__].refused,
               "%s: %u frames, %srefused", behind[__i__].name, n, message ? "" : "not ");
  gst_clear_message (&message);
  g_byte_array_unref (data);
  gst_object_unref (pad);
  gst_harness_teardown (decoder);
  watch_limit_unref (limit);
  gst_object_unref (bus);
  gst_object_unref (pipeline);
}
GST_END_TEST;

static Suite *
headers_suite (void)
{
  Suite *s = suite_create ("headers");
  TCase *tc = tcase_create ("general");
  GstElementFactory *encoder = gst_element_factory_find ("vp9enc");
  GstElementFactory *decoder = gst_element_factory_find ("vp9dec");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_encoders);
  if (encoder && decoder)
    tcase_add_loop_test (tc, test_frames_behind, 0, G_N_ELEMENTS (behind));
  else
    g_printerr ("vp9enc or vp9dec is missing\n");
  gst_clear_object (&encoder);
  gst_clear_object (&decoder);
  return s;
}

GST_CHECK_MAIN (headers);
