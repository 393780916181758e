/* cudaccl-watch - tests: sizes and memory that headers declare, of what encoders write
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>

#include "apps/watch/camera/headers.h"
#include "apps/watch/camera/limit.h"
#include "tests/lib/bitwriter.h"
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
  { "I420", "av1enc", "cpu-used=8 resize-mode=fixed resize-denominator=13", 6 * (8 + 4) },
  { "I420", "av1enc", "cpu-used=8 superres-mode=fixed", 6 * (8 + 4) },
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

/* --- Parameter sets of H.264 and H.265 --- */

/* Exponential Golomb codes, of up to 63 bits. */
static void
put_ue (Writer *self, guint32 value)
{
  const guint64 code = (guint64) value + 1;
  guint n = 0;

  while (code >> n > 1)
    n++;
  put (self, 0, n);
  if (n == 32)
    put (self, 1, 1);
  put (self, (guint32) code, MIN (n + 1, 32));
}

static void
put_se (Writer *self, gint32 value)
{
  put_ue (self, value > 0 ? 2 * (guint32) value - 1 : 2 * (0 - (guint32) value));
}

/* The contents of a parameter set. */
typedef struct
{
  guint width, height, references, chroma;
  gboolean deep;
} Set;

static void
put_scaling_list (Writer *self, guint n, gboolean longest)
{
  gint last = 8, next = 8;

  for (guint i = 0; i < n; i++) {
    if (next) {
      const gint delta = longest ? i % 2 ? -127 : 127 : (gint) draw (self, 256) - 128;

      put_se (self, delta);
      next = (last + delta + 256) % 256;
    }
    last = next ? next : last;
  }
}

/* @longest: everything in front of the size is as long as it may be. */
static void
put_h264_set (Writer *self, Set *set, gboolean longest)
{
  static const guint profiles[] = { 66, 77, 88, 100, 110, 122, 244, 44, 83, 86, 118, 128, 138 };
  const guint profile = longest ? 244 : profiles[draw (self, G_N_ELEMENTS (profiles))];
  guint type, n;

  *set = (Set){ .chroma = 1, .references = draw (self, 17) };
  put (self, 0x67, 8);
  put (self, profile, 8);
  put_any (self, 16);
  put_ue (self, draw (self, 32));
  if (profile != 66 && profile != 77 && profile != 88) {
    set->chroma = longest ? 3 : draw (self, 4);
    put_ue (self, set->chroma);
    if (set->chroma == 3)
      put_any (self, 1);
    for (guint i = 0; i < 2; i++) {
      const guint depth = draw (self, 2) * draw (self, 7);

      put_ue (self, depth);
      set->deep |= depth > 0;
    }
    put_any (self, 1);
    if (longest) {
      put (self, 1, 1);
      type = 1;
    } else {
      type = put_any (self, 1);
    }
    for (guint i = 0; type && i < (set->chroma == 3 ? 12 : 8); i++) {
      const gboolean present = longest || draw (self, 2);

      put (self, present, 1);
      if (present)
        put_scaling_list (self, i < 6 ? 16 : 64, longest);
    }
  }
  put_ue (self, draw (self, 13));
  type = longest ? 1 : draw (self, 3);
  put_ue (self, type);
  if (type == 0) {
    put_ue (self, draw (self, 13));
  } else if (type == 1) {
    put_any (self, 1);
    put_se (self, longest ? G_MININT32 + 1 : 5);
    put_se (self, -5);
    n = longest ? 255 : draw (self, 4);
    put_ue (self, n);
    for (guint i = 0; i < n; i++)
      put_se (self, longest ? G_MAXINT32 : (gint32) draw (self, 9) - 4);
  }
  put_ue (self, set->references);
  put_any (self, 1);
  set->width = 16 * (1 + draw (self, 512));
  set->height = 16 * (1 + draw (self, 256));
  put_ue (self, set->width / 16 - 1);
  put_ue (self, set->height / 16 - 1);
  if (put_any (self, 1) == 0) {
    set->height *= 2;
    put_any (self, 1);
  }
  put_any (self, 32);
}

static void
put_h265_set (Writer *self, Set *set)
{
  const guint layers = draw (self, 7);
  guint32 present[6];

  *set = (Set){ .chroma = draw (self, 4),
                .width = 8 * (1 + draw (self, 1024)),
                .height = 8 * (1 + draw (self, 1024)) };
  put (self, 33 << 9 | 1, 16);
  put_any (self, 4);
  put (self, layers, 3);
  put_any (self, 1 + 96);
  for (guint i = 0; i < layers; i++)
    present[i] = put_any (self, 2);
  if (layers)
    put (self, 0, 2 * (8 - layers));
  for (guint i = 0; i < layers; i++)
    put_any (self, (present[i] & 2 ? 88 : 0) + (present[i] & 1 ? 8 : 0));
  put_ue (self, draw (self, 16));
  put_ue (self, set->chroma);
  if (set->chroma == 3)
    put_any (self, 1);
  put_ue (self, set->width);
  put_ue (self, set->height);
  if (put_any (self, 1)) {
    for (guint i = 0; i < 4; i++)
      put_ue (self, draw (self, 8));
  }
  for (guint i = 0; i < 2; i++) {
    const guint depth = draw (self, 2) * draw (self, 9);

    put_ue (self, depth);
    set->deep |= depth > 0;
  }
  put_ue (self, draw (self, 13));
  for (guint i = put_any (self, 1) ? 0 : layers; i <= layers; i++) {
    const guint n = draw (self, 16);

    set->references = MAX (set->references, n + 1);
    put_ue (self, n);
    put_ue (self, draw (self, n + 1));
    put_ue (self, draw (self, 100));
  }
  put_any (self, 32);
}

/* Returns what was put as a NAL unit. */
static GByteArray *
take_unit (Writer *self)
{
  GByteArray *unit = g_byte_array_new ();
  const guint8 *data;
  guint zeros = 0;

  put (self, 1, 1);
  gst_bit_writer_align_bytes (&self->bits, 0);
  data = gst_bit_writer_get_data (&self->bits);
  for (guint i = 0; i < gst_bit_writer_get_size (&self->bits) / 8; i++) {
    if (zeros >= 2 && data[i] <= 3) {
      g_byte_array_append (unit, (const guint8 *) "\3", 1);
      zeros = 0;
    }
    zeros = data[i] ? 0 : zeros + 1;
    g_byte_array_append (unit, data + i, 1);
  }
  writer_restart (self);
  return unit;
}

/* Returns a set of random contents, @set. */
static GByteArray *
take_set (Writer *self, Set *set, gboolean h264, gboolean longest)
{
  if (h264)
    put_h264_set (self, set, longest);
  else
    put_h265_set (self, set);
  return take_unit (self);
}

/* Appends @value in @n bytes. */
static void
append_number (GByteArray *bytes, guint32 value, guint n)
{
  while (n-- > 0) {
    const guint8 byte = (guint8) (value >> 8 * n);

    g_byte_array_append (bytes, &byte, 1);
  }
}

/* Appends @unit with a start code, or behind its length in @length_size bytes. */
static void
append_unit (GByteArray *stream, const guint8 *unit, guint size, guint length_size)
{
  append_number (stream, length_size ? size : 1, length_size ? length_size : 3);
  g_byte_array_append (stream, unit, size);
}

/* Codec data with @set, or without one. */
static GstBuffer *
make_codec_data (gboolean h264, guint length_size, const GByteArray *set)
{
  g_autoptr (GByteArray) data = g_byte_array_new ();

  if (h264) {
    append_number (data, 0x01640033, 4);
    append_number (data, 0xfc | (length_size - 1), 1);
    append_number (data, set ? 0xe1 : 0xe0, 1);
  } else {
    g_byte_array_set_size (data, 21);
    memset (data->data, 1, 21);
    append_number (data, 0xfc | (length_size - 1), 1);
    append_number (data, set ? 2 : 0, 1);
    if (set) { /* another kind of set first */
      append_number (data, 32, 1);
      append_number (data, 1, 2);
      append_number (data, 3, 2);
      append_number (data, 0x400102, 3);
      append_number (data, 33, 1);
      append_number (data, 1, 2);
    }
  }
  if (set) {
    append_number (data, set->len, 2);
    g_byte_array_append (data, set->data, set->len);
  }
  return gst_buffer_new_memdup (data->data, data->len);
}

/* Sets of all kinds, in codec data and in streams of both formats. */
GST_START_TEST (test_sets)
{
  static const guint8 before[] = { 0x09, 0xf0 }; /* a unit of no interest, for both */
  static const guint halves[] = { 2, 3, 4, 6 };
  Writer writer;

  writer_init (&writer);
  for (guint i = 0; i < 20000; i++) {
    const gboolean h264 = draw (&writer, 2), longest = h264 && draw (&writer, 20) == 0;
    const guint length_size = draw (&writer, 2) ? 2 * (1 + draw (&writer, 2)) : 0;
    const gboolean in_caps = length_size && draw (&writer, 2);
    GstCaps *caps = gst_caps_new_empty_simple (h264 ? "video/x-h264" : "video/x-h265");
    g_autoptr (GByteArray) unit = NULL, stream = g_byte_array_new ();
    WatchHeaders headers = { 0 };
    guint64 memory;
    Set set;

    unit = take_set (&writer, &set, h264, longest);
    if (length_size) {
      GstBuffer *data = make_codec_data (h264, length_size, in_caps ? unit : NULL);

      gst_caps_set_simple (caps, "codec_data", GST_TYPE_BUFFER, data, NULL);
      gst_buffer_unref (data);
    }
    watch_headers_set_caps (&headers, caps);
    append_unit (stream, before, sizeof (before), length_size);
    if (!in_caps)
      append_unit (stream, unit->data, unit->len, length_size);
    append_unit (stream, before, sizeof (before), length_size);
    watch_headers_read (&headers, stream->data, stream->len);
    memory = (guint64) set.width * set.height * halves[set.chroma] * (set.deep ? 2 : 1) *
             (set.references + 4) / 2;
    fail_unless (
        headers.width == set.width && headers.height == set.height && headers.memory == memory,
        "%u: %s, %u bytes%s: %ux%u, not %ux%u", i, h264 ? "H.264" : "H.265", unit->len,
        longest ? ", the longest" : "", headers.width, headers.height, set.width, set.height);
    gst_caps_unref (caps);
  }
  writer_clear (&writer);
}
GST_END_TEST;

/* A set behind the end of what is read is not there, however many units precede it. */
GST_START_TEST (test_end)
{
  static const guint8 before[] = { 0x09, 0xf0, 0x80, 0x80 };
  Writer writer;

  writer_init (&writer);
  for (guint i = 0; i < 2 * 3; i++) {
    const gboolean h264 = i % 2;
    const guint length_size = i / 2 * 2;
    g_autoptr (GstCaps) caps = gst_caps_new_empty_simple (h264 ? "video/x-h264" : "video/x-h265");
    g_autoptr (GByteArray) unit = NULL, stream = g_byte_array_new ();
    WatchHeaders headers = { 0 };
    gsize end;
    Set set;

    unit = take_set (&writer, &set, h264, FALSE);
    if (length_size) {
      g_autoptr (GstBuffer) data = make_codec_data (h264, length_size, NULL);

      gst_caps_set_simple (caps, "codec_data", GST_TYPE_BUFFER, data, NULL);
    }
    watch_headers_set_caps (&headers, caps);
    for (guint k = 0; k < unit->len; k++)
      append_unit (stream, before, sizeof (before), length_size);
    end = stream->len;
    append_unit (stream, unit->data, unit->len, length_size);
    watch_headers_read (&headers, stream->data, end);
    fail_unless (headers.width == 0, "%u: %u bytes", i, unit->len);
    watch_headers_read (&headers, stream->data, stream->len);
    fail_unless_equals_int (headers.width, set.width);
  }
  writer_clear (&writer);
}
GST_END_TEST;

/* --- JPEG --- */

/* Appends a segment whose content looks like a frame's header. */
static void
add_decoy (Writer *self, GByteArray *stream)
{
  static const guint8 markers[] = { 0xe0, 0xef, 0xfe, 0xc4, 0xc8, 0xcc, 0xdb };
  static const guint8 content[] = { 0xff, 0xc0, 0, 17, 8, 0xff, 0xff, 0xff, 0xff, 3 };
  const guint n = draw (self, 3) ? draw (self, 40) : draw (self, 3000);

  append_number (stream, 0xff00u | markers[draw (self, G_N_ELEMENTS (markers))], 2);
  append_number (stream, 2 + n, 2);
  for (guint i = 0; i < n; i++)
    append_number (stream, content[i % G_N_ELEMENTS (content)], 1);
}

/* A picture in pieces of any size. Only its frame's header has its size. */
/* Sets that end with the height, or one bit later: frames, or fields of half of it. */
GST_START_TEST (test_height)
{
  static const struct
  {
    guint8 set[10];
    guint size, width, height;
  } cases[] = {
    { { 0, 0, 1, 0x67, 66, 0, 30, 0xf8, 0x84 }, 9, 0, 0 },
    { { 0, 0, 1, 0x67, 66, 0, 30, 0xf8, 0x84, 0x80 }, 10, 64, 64 },
    { { 0, 0, 1, 0x67, 66, 0, 30, 0xf8, 0x84, 0x40 }, 10, 64, 128 },
  };
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple ("video/x-h264");

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    WatchHeaders headers = { 0 };

    watch_headers_set_caps (&headers, caps);
    watch_headers_read (&headers, cases[i].set, cases[i].size);
    fail_unless (headers.width == cases[i].width && headers.height == cases[i].height, "%u: %ux%u",
                 i, headers.width, headers.height);
  }
}
GST_END_TEST;

GST_START_TEST (test_jpeg_pieces)
{
  static const guint8 frames[] = { 0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7,
                                   0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf };
  Writer writer;
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple ("image/jpeg");

  writer_init (&writer);
  for (guint i = 0; i < 5000; i++) {
    const guint width = 1 + draw (&writer, 65000), height = 1 + draw (&writer, 65000);
    g_autoptr (GByteArray) stream = g_byte_array_new ();
    WatchHeaders headers = { 0 };

    append_number (stream, 0xffd8, 2);
    for (guint k = draw (&writer, 5); k > 0; k--) {
      add_decoy (&writer, stream);
      if (draw (&writer, 3) == 0) /* markers without a segment */
        append_number (stream, draw (&writer, 2) ? 0xff01 : 0xffd0 + draw (&writer, 8), 2);
      for (guint fill = draw (&writer, 3); fill > 0; fill--)
        append_number (stream, 0xff, 1);
    }
    append_number (stream, 0xff00u | frames[draw (&writer, G_N_ELEMENTS (frames))], 2);
    append_number (stream, 17, 2);
    append_number (stream, 8, 1);
    append_number (stream, height, 2);
    append_number (stream, width, 2);
    append_number (stream, 3, 1);
    for (guint k = 0; k < 9; k++)
      append_number (stream, k, 1);
    add_decoy (&writer, stream);
    watch_headers_set_caps (&headers, caps);
    for (guint at = 0; at < stream->len;) {
      guint n = 1 + draw (&writer, draw (&writer, 2) ? 4 : 4000);

      n = MIN (n, stream->len - at);
      watch_headers_read (&headers, stream->data + at, n);
      at += n;
    }
    fail_unless (headers.width == width && headers.height == height, "%u: %ux%u, not %ux%u", i,
                 headers.width, headers.height, width, height);
    fail_unless_equals_uint64 (headers.memory, (guint64) width * height * 6 * 4 / 2);
  }
  writer_clear (&writer);
}
GST_END_TEST;

/* --- Frames of VP9 --- */

static void
put_vp9_colors (Writer *self, guint profile)
{
  /* sRGB is for profiles 1 and 3. */
  const guint space = draw (self, profile & 1 ? 8 : 7);

  if (profile >= 2)
    put_any (self, 1);
  put (self, space, 3);
  if (space != 7)
    put_any (self, 1);
  if (profile & 1)
    put_any (self, space != 7 ? 3 : 1);
}

/* Returns whether the frame has a size of its own; otherwise it has that of a reference. */
static gboolean
put_vp9 (Writer *self, guint profile, guint width, guint height)
{
  const guint32 sync = 0x498342;
  gboolean own = TRUE, key, shown, resilient, intra;

  put (self, 2, 2);
  put (self, profile & 1, 1);
  put (self, profile >> 1, 1);
  if (profile == 3)
    put (self, 0, 1);
  put (self, 0, 1);
  key = put_any (self, 1) == 0;
  shown = put_any (self, 1) != 0;
  resilient = put_any (self, 1) != 0;
  if (key) {
    put (self, sync, 24);
    put_vp9_colors (self, profile);
  } else {
    intra = !shown && put_any (self, 1);
    if (!resilient)
      put_any (self, 2);
    if (intra) {
      put (self, sync, 24);
      if (profile > 0)
        put_vp9_colors (self, profile);
      put_any (self, 8);
    } else {
      put_any (self, 8 + 3 * 4);
      for (guint i = 0; own && i < 3; i++)
        own = put_any (self, 1) == 0;
    }
  }
  if (own) {
    put (self, width - 1, 16);
    put (self, height - 1, 16);
  }
  put_any (self, own ? draw (self, 2) : 64);
  return own;
}

GST_START_TEST (test_vp9_sizes)
{
  Writer writer;
  g_autoptr (GstCaps) caps = gst_caps_new_empty_simple ("video/x-vp9");

  writer_init (&writer);
  for (guint i = 0; i < 20000; i++) {
    const guint profile = draw (&writer, 4), width = 1 + draw (&writer, 65536),
                height = 1 + draw (&writer, 65536);
    const gboolean own = put_vp9 (&writer, profile, width, height);
    guint64 memory =
        (guint64) width * height * (profile & 1 ? 6 : 3) * (profile >= 2 ? 2 : 1) * (8 + 4) / 2;
    WatchHeaders headers = { 0 };

    gst_bit_writer_align_bytes (&writer.bits, 0);
    put (&writer, 0, 8); /* the last byte may be of an index */
    watch_headers_set_caps (&headers, caps);
    watch_headers_read (&headers, gst_bit_writer_get_data (&writer.bits),
                        gst_bit_writer_get_size (&writer.bits) / 8);
    fail_unless (headers.width == (own ? width : 0) && headers.height == (own ? height : 0) &&
                     headers.memory == (own ? memory : 0),
                 "%u: profile %u: %ux%u, not %ux%u", i, profile, headers.width, headers.height,
                 width, height);
    writer_restart (&writer);
  }
  writer_clear (&writer);
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
  tcase_add_test (tc, test_sets);
  tcase_add_test (tc, test_end);
  tcase_add_test (tc, test_height);
  tcase_add_test (tc, test_jpeg_pieces);
  tcase_add_test (tc, test_vp9_sizes);
  if (encoder && decoder)
    tcase_add_loop_test (tc, test_frames_behind, 0, G_N_ELEMENTS (behind));
  else
    g_printerr ("vp9enc or vp9dec is missing\n");
  gst_clear_object (&encoder);
  gst_clear_object (&decoder);
  return s;
}

GST_CHECK_MAIN (headers);
