/* cudaccl-watch - tests of cameras whose pictures are too large
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* CUDACCL_TEST_BOMB=30000 in the environment makes large pictures of so many pixels a side: without
 * limits they take gigabytes. */

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gst/base/gstbitwriter.h>
#include <gst/check/gstcheck.h>
#include <string.h>

#include "apps/watch/camera/camera.h"
#include "apps/watch/camera/stream.h"
#include "apps/watch/http/preview.h"
#include "tests/lib/pullsamples.h"
#include "tests/lib/removetree.h"

#define MAX_PIXELS 1000000
#define MAX_MEMORY 16 /* MiB */
#define MEMORY 64     /* MiB that a refusal may take */

static guint
get_side (void)
{
  const gchar *text = g_getenv ("CUDACCL_TEST_BOMB");

  return text ? (guint) atoi (text) & ~15u : 6000;
}

/* --- Pictures --- */

static void
add_chunk (GByteArray *png, const gchar *type, const guint8 *data, gsize size)
{
  guint32 crc = G_MAXUINT32;
  guint32 word = GUINT32_TO_BE ((guint32) size);
  guint begin;

  g_byte_array_append (png, (guint8 *) &word, 4);
  begin = png->len;
  g_byte_array_append (png, (const guint8 *) type, 4);
  g_byte_array_append (png, data, (guint) size);
  for (guint i = begin; i < png->len; i++) {
    crc ^= png->data[i];
    for (guint k = 0; k < 8; k++)
      crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
  }
  word = GUINT32_TO_BE (~crc);
  g_byte_array_append (png, (guint8 *) &word, 4);
}

/* Writes @n bytes of a number, at any address. */
static void
put (guint8 *data, guint32 value, guint n, gboolean big)
{
  for (guint i = 0; i < n; i++)
    data[i] = (guint8) (value >> 8 * (big ? n - 1 - i : i));
}

/* Black, a bit per pixel. */
static GByteArray *
make_png (guint side)
{
  g_autoptr (GConverter) zlib =
      G_CONVERTER (g_zlib_compressor_new (G_ZLIB_COMPRESSOR_FORMAT_ZLIB, 9));
  g_autoptr (GOutputStream) memory = g_memory_output_stream_new_resizable ();
  g_autoptr (GOutputStream) output = g_converter_output_stream_new (memory, zlib);
  g_autofree guint8 *row = g_malloc0 (side / 8 + 2);
  guint8 header[13] = { 0 };
  GByteArray *png = g_byte_array_new ();

  put (header, side, 4, TRUE);
  put (header + 4, side, 4, TRUE);
  header[8] = 1;
  for (guint i = 0; i < side; i++)
    fail_unless (g_output_stream_write_all (output, row, 1 + (side + 7) / 8, NULL, NULL, NULL));
  g_output_stream_close (output, NULL, NULL);
  g_byte_array_append (png, (const guint8 *) "\x89PNG\r\n\x1a\n", 8);
  add_chunk (png, "IHDR", header, sizeof (header));
  add_chunk (png, "IDAT", g_memory_output_stream_get_data (G_MEMORY_OUTPUT_STREAM (memory)),
             g_memory_output_stream_get_data_size (G_MEMORY_OUTPUT_STREAM (memory)));
  add_chunk (png, "IEND", NULL, 0);
  return png;
}

/* Returns what an encoder writes. */
static GByteArray *
encode (const gchar *encoder)
{
  g_autofree gchar *text = g_strdup_printf (
      "videotestsrc num-buffers=10 ! video/x-raw,width=64,height=64,framerate=10/1 "
      "! %s ! appsink name=out",
      encoder);
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) samples = pull_samples (text, &error);
  GByteArray *data = g_byte_array_new ();

  fail_unless (samples != NULL, "%s", error ? error->message : "");
  for (guint i = 0; i < samples->len; i++) {
    GstBuffer *buffer = gst_sample_get_buffer (g_ptr_array_index (samples, i));
    GstMapInfo map;

    gst_buffer_map (buffer, &map, GST_MAP_READ);
    g_byte_array_append (data, map.data, (guint) map.size);
    gst_buffer_unmap (buffer, &map);
  }
  return data;
}

/* A picture whose header says @side, and if @late behind a comment of 64 KiB. */
static GByteArray *
make_jpeg (guint side, gboolean late)
{
  GByteArray *data = encode ("jpegenc snapshot=true"), *jpeg = g_byte_array_new ();
  static guint8 comment[65535 + 2] = { 0xff, 0xfe, 0xff, 0xff };
  guint8 *frame = memmem (data->data, data->len, "\xff\xc0", 2);

  fail_unless (frame != NULL);
  if (side) {
    put (frame + 5, side, 2, TRUE);
    put (frame + 7, side, 2, TRUE);
  }
  g_byte_array_append (jpeg, data->data, 2);
  if (late)
    g_byte_array_append (jpeg, comment, sizeof (comment));
  g_byte_array_append (jpeg, data->data + 2, data->len - 2);
  g_byte_array_unref (data);
  return jpeg;
}

static void
put_ue (GstBitWriter *bits, guint32 value)
{
  guint n = g_bit_storage (value + 1);

  if (n > 1)
    gst_bit_writer_put_bits_uint32 (bits, 0, n - 1);
  gst_bit_writer_put_bits_uint32 (bits, value + 1, n);
}

static void
add_unit (GByteArray *stream, GstBitWriter *bits)
{
  const guint8 *data;
  guint zeros = 0;

  gst_bit_writer_put_bits_uint8 (bits, 1, 1);
  gst_bit_writer_align_bytes (bits, 0);
  data = gst_bit_writer_get_data (bits);
  g_byte_array_append (stream, (const guint8 *) "\0\0\0\1", 4);
  for (guint i = 0; i < gst_bit_writer_get_size (bits) / 8; i++) {
    if (zeros >= 2 && data[i] <= 3) {
      g_byte_array_append (stream, (const guint8 *) "\3", 1);
      zeros = 0;
    }
    zeros = data[i] ? 0 : zeros + 1;
    g_byte_array_append (stream, data + i, 1);
  }
  gst_bit_writer_reset (bits);
}

/* Parameter sets and a grey picture; of Baseline. */
static void
add_h264 (GByteArray *stream, guint id, guint side, guint references)
{
  GstBitWriter bits;

  gst_bit_writer_init (&bits);
  gst_bit_writer_put_bits_uint32 (&bits, 0x67420033 | 0xc000, 32);
  put_ue (&bits, id);
  put_ue (&bits, 0);
  put_ue (&bits, 2); /* the order is that of decoding */
  put_ue (&bits, references);
  gst_bit_writer_put_bits_uint8 (&bits, 0, 1);
  put_ue (&bits, side / 16 - 1);
  put_ue (&bits, side / 16 - 1);
  gst_bit_writer_put_bits_uint8 (&bits, 0xc, 4); /* frames, 8x8 inference, no crop, no VUI */
  add_unit (stream, &bits);
  gst_bit_writer_init (&bits);
  gst_bit_writer_put_bits_uint8 (&bits, 0x68, 8);
  put_ue (&bits, id);
  put_ue (&bits, id);
  gst_bit_writer_put_bits_uint8 (&bits, 0, 2);
  for (guint i = 0; i < 3; i++)
    put_ue (&bits, 0);
  gst_bit_writer_put_bits_uint8 (&bits, 0, 3);
  for (guint i = 0; i < 3; i++)
    put_ue (&bits, 0);
  gst_bit_writer_put_bits_uint8 (&bits, 0, 3);
  add_unit (stream, &bits);
}

static void
add_h264_picture (GByteArray *stream, guint id)
{
  GstBitWriter bits;

  gst_bit_writer_init (&bits);
  gst_bit_writer_put_bits_uint8 (&bits, 0x65, 8);
  put_ue (&bits, 0);
  put_ue (&bits, 7);
  put_ue (&bits, id);
  gst_bit_writer_put_bits_uint8 (&bits, 0, 4);
  put_ue (&bits, 0);
  gst_bit_writer_put_bits_uint8 (&bits, 0, 2);
  put_ue (&bits, 0);
  for (guint i = 0; i < 64; i++)
    put_ue (&bits, 3); /* macroblocks */
  add_unit (stream, &bits);
}

typedef enum
{
  PNG,
  PNG_SMALL,
  JPEG,
  JPEG_LATE,
  JPEG_SMALL,
  JPEG_ENDLESS,
  MJPEG, /* grows */
  H264,
  H264_GROWS,
  H264_HIDES, /* behind parameter sets of a small picture */
  H264_DEEP,  /* pictures that are small enough, and sixteen references */
  BMP,
} Kind;

static GByteArray *
make_data (Kind kind)
{
  GByteArray *data = NULL, *more = NULL;
  static const gchar part[] = "--part\r\nContent-Type: image/jpeg\r\n\r\n";

  switch (kind) {
  case PNG:
    return make_png (get_side ());
  case PNG_SMALL:
    return make_png (64);
  case JPEG:
  case JPEG_LATE:
    return make_jpeg (get_side (), kind == JPEG_LATE);
  case JPEG_SMALL:
    return make_jpeg (0, TRUE);
  case JPEG_ENDLESS:
    data = make_jpeg (0, FALSE);
    g_byte_array_set_size (data, data->len - 2);
    more = g_byte_array_new ();
    g_byte_array_set_size (more, 40 << 20);
    memset (more->data, 0x55, more->len);
    break;
  case MJPEG:
    data = g_byte_array_new ();
    for (guint i = 0; i < 3; i++) {
      more = make_jpeg (i == 2 ? get_side () : 0, FALSE);
      g_byte_array_append (data, (const guint8 *) part, strlen (part));
      g_byte_array_append (data, more->data, more->len);
      g_byte_array_append (data, (const guint8 *) "\r\n", 2);
      g_byte_array_unref (more);
    }
    g_byte_array_append (data, (const guint8 *) part, strlen (part));
    return data;
  case H264_GROWS:
    data = encode ("x264enc tune=zerolatency ! video/x-h264,stream-format=byte-stream");
    break;
  case H264:
  case H264_HIDES:
  case H264_DEEP:
    data = g_byte_array_new ();
    break;
  default:
    data = g_byte_array_new ();
    g_byte_array_set_size (data, 54 + 64 * 64 * 3);
    memset (data->data, 0, data->len);
    memcpy (data->data, "BM", 2);
    put (data->data + 2, data->len, 4, FALSE);
    data->data[10] = 54;
    data->data[14] = 40;
    data->data[18] = data->data[22] = 64;
    data->data[26] = 1;
    data->data[28] = 24;
  }
  if (kind == H264 || kind == H264_GROWS || kind == H264_HIDES || kind == H264_DEEP) {
    const gboolean deep = kind == H264_DEEP;

    for (guint i = 0; i < 4; i++) {
      add_h264 (data, 0, deep ? 960 : get_side () / 16 * 16, deep ? 16 : 1);
      if (kind == H264_HIDES)
        add_h264 (data, 1, 64, 1);
      add_h264_picture (data, 0);
    }
  }
  if (more) {
    g_byte_array_append (data, more->data, more->len);
    g_byte_array_unref (more);
  }
  return data;
}

/* --- A server --- */

typedef struct
{
  GSocketService *service;
  guint16 port;
  GByteArray *data;
  const gchar *type;
  gint connections;
  gint running; /* atomic: threads that use this */
} Server;

static gboolean
on_connection (GThreadedSocketService *service, GSocketConnection *connection, GObject *source,
               gpointer user_data)
{
  Server *self = user_data;
  GOutputStream *output = g_io_stream_get_output_stream (G_IO_STREAM (connection));
  g_autoptr (GDataInputStream) input =
      g_data_input_stream_new (g_io_stream_get_input_stream (G_IO_STREAM (connection)));
  g_autofree gchar *head =
      g_strdup_printf ("HTTP/1.0 200 OK\r\nContent-Type: %s\r\n\r\n", self->type);
  gchar *line;

  g_atomic_int_inc (&self->running);
  g_atomic_int_inc (&self->connections);
  g_socket_set_timeout (g_socket_connection_get_socket (connection), 5);
  while ((line = g_data_input_stream_read_line (input, NULL, NULL, NULL))) {
    gboolean last = g_str_equal (line, "\r") || !*line;

    g_free (line);
    if (last)
      break;
  }
  if (g_output_stream_write_all (output, head, strlen (head), NULL, NULL, NULL))
    g_output_stream_write_all (output, self->data->data, self->data->len, NULL, NULL, NULL);
  g_atomic_int_add (&self->running, -1);
  return TRUE;
}

static void
server_open (Server *self, GByteArray *data, const gchar *type)
{
  *self = (Server){ .service = g_threaded_socket_service_new (8), .data = data, .type = type };
  self->port = g_socket_listener_add_any_inet_port (G_SOCKET_LISTENER (self->service), NULL, NULL);
  fail_unless (self->port);
  g_signal_connect (self->service, "run", G_CALLBACK (on_connection), self);
  g_socket_service_start (self->service);
}

static void
server_close (Server *self)
{
  g_socket_service_stop (self->service);
  g_socket_listener_close (G_SOCKET_LISTENER (self->service));
  g_object_unref (self->service);
  while (g_atomic_int_get (&self->running) > 0)
    g_usleep (1000);
}

/* --- Streams and test pictures --- */

static void
on_frame (GstBuffer *buffer, const GstVideoInfo *video, const WatchFrameInfo *info, gint64 time,
          gpointer user_data)
{
}

static void
on_ended (const WebReason *reason, gboolean finished, gboolean decoder, gpointer user_data)
{
  gchar **code = user_data;

  GST_INFO ("%s", reason->text);
  *code = g_strdup (reason->code);
}

static gchar *
run_stream (const gchar *uri)
{
  static const WatchStreamFuncs funcs = { NULL, on_frame, on_ended };
  g_autoptr (GError) error = NULL;
  g_autoptr (WatchSettings) settings = watch_settings_parse (
      "/tmp/watch.conf",
      "[watch]\ndata = data\nmax-pixels = " G_STRINGIFY (MAX_PIXELS) "\nmax-memory = " G_STRINGIFY (
          MAX_MEMORY) " MiB\n[camera a]\nuri = test://\n",
      &error);
  gint64 end = g_get_monotonic_time () + 60 * G_USEC_PER_SEC;
  WatchStream *stream;
  gchar *code = NULL;

  fail_unless (settings != NULL, "%s", error ? error->message : "");
  stream = watch_stream_new (settings, g_ptr_array_index (settings->cameras, 0), uri, TRUE, 0,
                             &funcs, &code);
  while (!code && g_get_monotonic_time () < end) {
    g_main_context_iteration (NULL, FALSE);
    g_usleep (1000);
  }
  watch_stream_stop (stream);
  fail_unless (watch_stream_wait (stream, end));
  watch_stream_unref (stream);
  fail_unless (code != NULL, "the stream goes on");
  return code;
}

static gint previewed;

static gpointer
preview_thread (gpointer uri)
{
  WatchPreview preview = { uri, NULL, NULL, 30000, MAX_PIXELS, MAX_MEMORY << 20 };
  WebAnswer answer = { 0 };
  gchar *code;

  watch_preview_run (&answer, &preview, NULL);
  code = g_strdup (answer.body ? "picture" : web_reason_from_error (answer.error)->code);
  g_clear_pointer (&answer.body, g_bytes_unref);
  g_clear_error (&answer.error);
  g_atomic_int_set (&previewed, TRUE);
  g_main_context_wakeup (NULL);
  return code;
}

static gchar *
run_preview (const gchar *uri)
{
  GThread *thread;

  g_atomic_int_set (&previewed, FALSE);
  thread = g_thread_new ("preview", preview_thread, (gpointer) uri);
  while (!g_atomic_int_get (&previewed))
    g_main_context_iteration (NULL, TRUE);
  return g_thread_join (thread);
}

/* Returns the most memory that the process had so far, in MiB. */
static guint
get_peak (void)
{
  g_autofree gchar *text = NULL;
  const gchar *line;

  fail_unless (g_file_get_contents ("/proc/self/status", &text, NULL, NULL));
  line = strstr (text, "VmHWM:");
  return line ? (guint) (atoi (line + 6) / 1024) : 0;
}

typedef struct
{
  Kind kind;
  const gchar *type;
  gboolean file;
  const gchar *stream, *preview; /* codes */
} Case;

static const Case cases[] = {
  { PNG_SMALL, "image/png", TRUE, "file-ended", "picture" },
  { PNG_SMALL, "image/png", FALSE, "stream-ended", "picture" },
  { JPEG_SMALL, "image/jpeg", TRUE, "file-ended", "picture" },
  { JPEG_SMALL, "image/jpeg", FALSE, "stream-ended", "picture" },
  { PNG, "image/png", TRUE, "picture-too-large", "picture-too-large" },
  { PNG, "image/png", FALSE, "picture-too-large", "picture-too-large" },
  { JPEG, "image/jpeg", TRUE, "picture-too-large", "picture-too-large" },
  { JPEG, "image/jpeg", FALSE, "picture-too-large", "picture-too-large" },
  { JPEG_LATE, "image/jpeg", TRUE, "picture-too-large", "picture-too-large" },
  { JPEG_LATE, "image/jpeg", FALSE, "picture-too-large", "picture-too-large" },
  { JPEG_ENDLESS, "image/jpeg", FALSE, "picture-too-long", "picture-too-long" },
  { MJPEG, "multipart/x-mixed-replace;boundary=part", FALSE, "picture-too-large", NULL },
  { H264, "video/x-h264", TRUE, "picture-too-large", "picture-too-large" },
  { H264, "video/x-h264", FALSE, "picture-too-large", "picture-too-large" },
  { H264_GROWS, "video/x-h264", TRUE, "picture-too-large", NULL },
  { H264_GROWS, "video/x-h264", FALSE, "picture-too-large", NULL },
  { H264_HIDES, "video/x-h264", TRUE, "picture-too-large", "picture-too-large" },
  { H264_DEEP, "video/x-h264", TRUE, "decoder-too-large", "decoder-too-large" },
  { H264_DEEP, "video/x-h264", FALSE, "decoder-too-large", "decoder-too-large" },
  { BMP, "image/bmp", TRUE, "format-refused", "format-refused" },
  { BMP, "image/bmp", FALSE, "format-refused", "format-refused" },
};

GST_START_TEST (test_pictures)
{
  const Case *one = &cases[__i__ / 2];
  const gboolean preview = __i__ % 2;
  const gchar *expected = preview ? one->preview : one->stream;
  g_autoptr (GByteArray) data = make_data (one->kind);
  g_autofree gchar *folder = g_dir_make_tmp ("watch-XXXXXX", NULL), *uri = NULL, *code = NULL;
  g_autofree gchar *path = g_build_filename (folder, "picture", NULL);
  guint before = get_peak ();
  Server server = { 0 };

  if (one->file) {
    fail_unless (g_file_set_contents (path, (gchar *) data->data, data->len, NULL));
    uri = g_filename_to_uri (path, NULL, NULL);
  } else {
    server_open (&server, data, one->type);
    uri = g_strdup_printf ("http://127.0.0.1:%u/", server.port);
  }
  code = preview ? run_preview (uri) : run_stream (uri);
  GST_INFO ("case %u, %s: %s, %u MiB more", __i__ / 2, preview ? "preview" : "stream", code,
            get_peak () - before);
  if (expected)
    fail_unless_equals_string (code, expected);
#ifndef __SANITIZE_ADDRESS__
  fail_unless (get_peak () < before + MEMORY, "%u MiB", get_peak () - before);
#endif
  if (!one->file)
    server_close (&server);
  remove_tree (folder);
}
GST_END_TEST;

/* Another try would end in the same way: it comes after 16 seconds, not after one. */
GST_START_TEST (test_retry)
{
  g_autofree gchar *folder = g_dir_make_tmp ("watch-XXXXXX", NULL), *text = NULL;
  g_autoptr (GByteArray) data = make_data (PNG);
  g_autoptr (WatchSettings) settings = NULL;
  g_autoptr (GError) error = NULL;
  WatchShared shared = { "session", watch_store_open (folder, &error),
                         watch_media_open (folder, 0, 0, &error) };
  WatchCameraStatus status;
  WatchCamera *camera;
  Server server;
  gint64 end;

  server_open (&server, data, "image/png");
  text = g_strdup_printf ("[watch]\ndata = data\n[camera a]\nuri = http://127.0.0.1:%u/?secret\n"
                          "max-pixels = " G_STRINGIFY (MAX_PIXELS) "\n",
                          server.port);
  settings = watch_settings_parse ("/tmp/watch.conf", text, &error);
  fail_unless (settings && shared.store && shared.media, "%s", error ? error->message : "");
  camera =
      watch_camera_new (settings, g_ptr_array_index (settings->cameras, 0), &shared, NULL, NULL);
  end = g_get_monotonic_time () + 4 * G_USEC_PER_SEC;
  while (g_get_monotonic_time () < end) {
    g_main_context_iteration (NULL, FALSE);
    g_usleep (1000);
  }
  fail_unless_equals_int (g_atomic_int_get (&server.connections), 1);
  watch_camera_get_status (camera, &status);
  g_free (text);
  text = g_strdup_printf ("http://127.0.0.1:%u/: a picture of %u×%u pixels is beyond `max-pixels`, "
                          "1000000; if the camera is right, set a larger one",
                          server.port, get_side (), get_side ());
  fail_unless_equals_string (web_reason_get_text (status.reason), text);
  watch_camera_status_clear (&status);
  watch_camera_free (camera);
  server_close (&server);
  watch_media_unref (shared.media);
  watch_store_close (shared.store);
  remove_tree (folder);
}
GST_END_TEST;

/* Frames beyond the rate are not analysed, and the status says so. */
GST_START_TEST (test_rate)
{
  g_autofree gchar *folder = g_dir_make_tmp ("watch-XXXXXX", NULL);
  g_autoptr (WatchSettings) settings = NULL;
  g_autoptr (GError) error = NULL;
  WatchShared shared = { "session", watch_store_open (folder, &error),
                         watch_media_open (folder, 0, 0, &error) };
  gint64 start = g_get_monotonic_time (), end = start + 60 * G_USEC_PER_SEC;
  gboolean limited = FALSE;
  WatchCamera *camera;
  guint64 frames = 0;

  settings =
      watch_settings_parse ("/tmp/watch.conf", "[camera a]\nuri = test://\nmax-rate = 2\n", &error);
  fail_unless (settings && shared.store && shared.media, "%s", error ? error->message : "");
  camera =
      watch_camera_new (settings, g_ptr_array_index (settings->cameras, 0), &shared, NULL, NULL);
  while (!limited && g_get_monotonic_time () < end) {
    WatchCameraStatus status;

    g_main_context_iteration (NULL, FALSE);
    g_usleep (1000);
    watch_camera_get_status (camera, &status);
    limited = status.reason && g_str_equal (status.reason->code, "rate-limited");
    frames = status.frames;
    watch_camera_status_clear (&status);
  }
  fail_unless (limited, "%u frames", (guint) frames);
  /* The burst, and the rate. */
  fail_unless (frames <= 8 + 2 * (guint) ((g_get_monotonic_time () - start) / G_USEC_PER_SEC + 1),
               "%u frames", (guint) frames);
  watch_camera_free (camera);
  watch_media_unref (shared.media);
  watch_store_close (shared.store);
  remove_tree (folder);
}
GST_END_TEST;

static Suite *
limit_suite (void)
{
  Suite *s = suite_create ("limit");
  TCase *tc = tcase_create ("limit");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_retry);
  tcase_add_test (tc, test_rate);
  tcase_add_loop_test (tc, test_pictures, 0, 2 * G_N_ELEMENTS (cases));
  return s;
}

GST_CHECK_MAIN (limit);
