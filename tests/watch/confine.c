/* cudaccl-watch - tests of where credentials go: redirects and playlists of a hostile camera
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <string.h>

#include "apps/watch/camera/stream.h"
#include "apps/watch/http/preview.h"

/* A server on loopback that asks for a password, and gives @answer to those who send one. */
typedef struct
{
  GSocketService *service;
  guint16 port;
  const gchar *protocol; /* HTTP/1.1 or RTSP/1.0 */
  gchar *answer;         /* NULL: 401 again */
  gboolean open;         /* nobody needs a password */
  gint connections, logins;
} Server;

static gboolean
on_connection (GThreadedSocketService *service, GSocketConnection *connection, GObject *source,
               gpointer user_data)
{
  Server *self = user_data;
  GOutputStream *output = g_io_stream_get_output_stream (G_IO_STREAM (connection));
  g_autoptr (GDataInputStream) input =
      g_data_input_stream_new (g_io_stream_get_input_stream (G_IO_STREAM (connection)));
  gboolean login = self->open;
  guint sequence = 0;
  gchar *line;

  g_atomic_int_inc (&self->connections);
  g_socket_set_timeout (g_socket_connection_get_socket (connection), 5);
  while ((line = g_data_input_stream_read_line (input, NULL, NULL, NULL))) {
    g_autofree gchar *text = NULL;

    g_strchomp (line);
    if (g_ascii_strncasecmp (line, "CSeq:", 5) == 0)
      sequence = (guint) strtoul (line + 5, NULL, 10);
    if (g_ascii_strncasecmp (line, "Authorization:", 14) == 0) {
      g_atomic_int_inc (&self->logins);
      login = TRUE;
    }
    if (!line[0]) {
      text = g_strdup_printf (
          "%s %s\r\nCSeq: %u\r\n%s", self->protocol,
          login && self->answer ? "" : "401 Unauthorized", sequence,
          login && self->answer
              ? ""
              : "WWW-Authenticate: Basic realm=\"camera\"\r\nContent-Length: 0\r\n\r\n");
      if (login && self->answer) {
        g_free (text);
        text = g_strdup_printf ("%s %s\r\nCSeq: %u\r\n%s", self->protocol,
                                strstr (self->answer, "Location") ? "302 Found" : "200 OK",
                                sequence, self->answer);
      }
      if (!g_output_stream_write_all (output, text, strlen (text), NULL, NULL, NULL)) {
        g_free (line);
        break;
      }
      login = self->open;
    }
    g_free (line);
  }
  return TRUE;
}

static void
server_open (Server *self, const gchar *protocol)
{
  *self = (Server){ .service = g_threaded_socket_service_new (16), .protocol = protocol };
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
  g_clear_pointer (&self->answer, g_free);
}

static void
on_frame (GstBuffer *buffer, const GstVideoInfo *video, const WatchFrameInfo *info, gint64 time,
          gpointer user_data)
{
}

static void
on_ended (const WebReason *reason, gboolean finished, gboolean decoder, gpointer user_data)
{
  gchar **code = user_data;

  *code = g_strdup (reason->code);
}

/* Returns the code of the reason for which the stream failed. */
static gchar *
run_stream (const gchar *uri, const gchar *user)
{
  static const WatchStreamFuncs funcs = { NULL, on_frame, on_ended };
  g_autofree gchar *folder = g_dir_make_tmp ("watch-XXXXXX", NULL);
  g_autofree gchar *path = g_build_filename (folder, "watch.conf", NULL);
  g_autoptr (GError) error = NULL;
  g_autoptr (WatchSettings) settings =
      watch_settings_parse (path, "[watch]\ndata = data\n[camera a]\nuri = test://\n", &error);
  WatchCameraSettings *camera;
  WatchStream *stream;
  gchar *code = NULL;
  gint64 end = g_get_monotonic_time () + 20 * G_USEC_PER_SEC;

  fail_unless (settings != NULL, "%s", error ? error->message : "");
  camera = g_ptr_array_index (settings->cameras, 0);
  camera->user = g_strdup (user);
  camera->password = g_strdup (user ? "s3cret" : NULL);
  stream = watch_stream_new (settings, camera, uri, TRUE, 0, &funcs, &code);
  while (!code && g_get_monotonic_time () < end) {
    g_main_context_iteration (NULL, FALSE);
    g_usleep (1000);
  }
  watch_stream_stop (stream);
  fail_unless (watch_stream_wait (stream, end));
  watch_stream_unref (stream);
  g_remove (folder);
  fail_unless (code != NULL, "the stream goes on");
  return code;
}

static gint previewed;

static gpointer
preview_thread (gpointer uri)
{
  WatchPreview preview = { uri, (gchar *) "owner", (gchar *) "s3cret", 15000, 1 << 26 };
  WebAnswer answer = { 0 };
  gchar *code;

  watch_preview_run (&answer, &preview, NULL);
  code = answer.body ? g_strdup ("picture") : NULL;
  if (!code)
    code = g_strdup (web_reason_from_error (answer.error)->code);
  g_clear_pointer (&answer.body, g_bytes_unref);
  g_clear_error (&answer.error);
  g_atomic_int_set (&previewed, TRUE);
  g_main_context_wakeup (NULL);
  return code;
}

/* The main context accepts connections of the servers meanwhile. */
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

#define PLAYLIST                                                                              \
  "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:1\n#EXT-X-MEDIA-SEQUENCE:0\n#EXTINF:1,\n" \
  "%s://%s:%u/a.ts\n#EXTINF:1,\nfile:///etc/hostname\n#EXT-X-ENDLIST\n"

/* A camera asks for the password and redirects to another address, which must not get it. */
GST_START_TEST (test_elsewhere)
{
  static const struct
  {
    const gchar *scheme, *host, *target;
    gboolean playlist;
    const gchar *code; /* or NULL: any */
  } cases[] = {
    { "http", "127.0.0.1", "http", FALSE, "camera-moved" },
    { "http", "localhost", "http", FALSE, "camera-moved" },
    { "http", "127.0.0.1", "http", TRUE, "playlist-refused" },
    { "http", "localhost", "http", TRUE, "playlist-refused" },
    { "http", "127.0.0.1", "https", FALSE, "camera-moved" },
    { "http", "127.0.0.1", "https", TRUE, "playlist-refused" },
    { "rtsp", "127.0.0.1", "rtsps", FALSE, NULL },
    { "rtsp", "127.0.0.1", "rtsp", FALSE, NULL },
    { "rtsp", "localhost", "rtspt", FALSE, NULL },
  };

  for (guint i = 0; i < 2 * G_N_ELEMENTS (cases); i++) {
    const gboolean rtsp = g_str_equal (cases[i / 2].scheme, "rtsp");
    const gchar *protocol = rtsp ? "RTSP/1.0" : "HTTP/1.1";
    g_autofree gchar *uri = NULL, *code = NULL, *body = NULL;
    Server camera, other;

    server_open (&camera, protocol);
    server_open (&other, protocol);
    if (cases[i / 2].playlist) {
      body = g_strdup_printf (PLAYLIST, cases[i / 2].target, cases[i / 2].host, other.port);
      camera.answer = g_strdup_printf ("Content-Type: application/vnd.apple.mpegurl\r\n"
                                       "Content-Length: %zu\r\n\r\n%s",
                                       strlen (body), body);
    } else {
      camera.answer = g_strdup_printf ("Location: %s://%s:%u/\r\nContent-Length: 0\r\n\r\n",
                                       cases[i / 2].target, cases[i / 2].host, other.port);
    }
    uri = g_strdup_printf ("%s://127.0.0.1:%u/live", cases[i / 2].scheme, camera.port);
    code = i % 2 ? run_preview (uri) : run_stream (uri, "owner");
    GST_INFO ("%u: %s, %d logins at the camera, %d connections and %d logins elsewhere", i, code,
              camera.logins, other.connections, other.logins);
    fail_unless (g_atomic_int_get (&camera.logins) > 0, "case %u: the camera got no password", i);
    fail_unless (g_atomic_int_get (&other.logins) == 0, "case %u: the password went elsewhere", i);
    if (!rtsp)
      fail_unless (g_atomic_int_get (&other.connections) == 0, "case %u: it goes elsewhere", i);
    if (cases[i / 2].code)
      fail_unless (g_str_equal (code, cases[i / 2].code), "case %u: %s", i, code);
    server_close (&camera);
    server_close (&other);
  }
}
GST_END_TEST;

/* A camera without a password may redirect: there is none to lose. */
GST_START_TEST (test_open)
{
  static const gchar *const schemes[] = { "http", "rtsp" };

  for (guint i = 0; i < G_N_ELEMENTS (schemes); i++) {
    const gchar *protocol = i ? "RTSP/1.0" : "HTTP/1.1";
    g_autofree gchar *uri = NULL, *code = NULL;
    Server camera, other;

    server_open (&camera, protocol);
    server_open (&other, protocol);
    camera.open = TRUE;
    camera.answer = g_strdup_printf ("Location: %s://127.0.0.1:%u/\r\nContent-Length: 0\r\n\r\n",
                                     schemes[i], other.port);
    uri = g_strdup_printf ("%s://127.0.0.1:%u/live", schemes[i], camera.port);
    code = run_stream (uri, NULL);
    fail_unless (g_atomic_int_get (&other.connections) > 0, "%s: not followed: %s", uri, code);
    fail_unless (g_atomic_int_get (&other.logins) == 0);
    server_close (&camera);
    server_close (&other);
  }
}
GST_END_TEST;

static Suite *
confine_suite (void)
{
  Suite *s = suite_create ("confine");
  TCase *tc = tcase_create ("confine");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_elsewhere);
  tcase_add_test (tc, test_open);
  return s;
}

GST_CHECK_MAIN (confine);
