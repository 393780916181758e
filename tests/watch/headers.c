/* cudaccl-watch - tests: sizes and memory that headers declare, of what encoders write
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>

#include "apps/watch/camera/headers.h"
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

static Suite *
headers_suite (void)
{
  Suite *s = suite_create ("headers");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_encoders);
  return s;
}

GST_CHECK_MAIN (headers);
