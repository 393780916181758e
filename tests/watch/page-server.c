/* cudaccl-watch - serves the page without cameras, for page.py
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints the address, and obeys lines from standard input until it ends:
 *
 *   state CAMERA STATE TEXT…    such as `state yard 4 no route to host`, a reason that the page
 * does not know late CAMERA SECONDS         no new picture comes lost CAMERA ADDRESS         no way
 * leads to the address event CAMERA KIND ZONE      with a picture and a clip file prints the file
 * of settings, and a line `.` program PATH                is run to make a synopsis */

#include "apps/watch/http/synopsis-job.h"
#include "apps/watch/routes.h"
#include "tests/lib/watchfake.h"

#include <gio/gunixinputstream.h>
#include <gst/gst.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SETTINGS                                                                             \
  "[watch]\ndata = FOLDER\n[server]\nlisten = 127.0.0.1:0\n%s"                               \
  "[camera yard]\nuri = rtsp://owner:s3cret@192.0.2.1/live\n"                                \
  "zones = lawn: 0.05,0.55 0.45,0.5 0.5,0.95 0.05,0.95\ntripwires = gate: 0.7,0.3 0.7,0.9\n" \
  "[camera hall]\nuri = rtsp://192.0.2.2/live\n"

static WatchApp *watch;
static WebServer *server;
static GMainLoop *loop;
static guint64 number;

/* A JPEG of the file, or of colour bars. */
static GBytes *
read_picture (const gchar *path)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GstElement) sink = NULL;
  g_autoptr (GstSample) sample = NULL;
  gchar *data;
  gsize size;

  if (path) {
    g_assert_true (g_file_get_contents (path, &data, &size, NULL));
    return g_bytes_new_take (data, size);
  }
  pipeline = gst_parse_launch ("videotestsrc num-buffers=1 ! video/x-raw,width=768,height=576 ! "
                               "jpegenc ! appsink name=sink sync=false",
                               &error);
  if (error) {
    g_printerr ("%s\n", error->message);
    exit (77);
  }
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  g_signal_emit_by_name (sink, "pull-sample", &sample);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  gst_buffer_extract_dup (gst_sample_get_buffer (sample), 0, G_MAXSIZE, (gpointer *) &data, &size);
  return g_bytes_new_take (data, size);
}

static void
add_event (const gchar *camera, WatchEventKind kind, const gchar *zone, gint64 time,
           GBytes *picture)
{
  WatchMedia *media = watch->shared.media;
  WatchEvent event;

  number++;
  event = (WatchEvent){ .camera = (gchar *) camera,
                        .session = (gchar *) watch->shared.session,
                        .number = number,
                        .time = time,
                        .kind = kind,
                        .zone = (gchar *) zone,
                        .track = number,
                        .in = number,
                        .out = number / 2,
                        .x = 0.5,
                        .y = 0.5 };

  event.picture = watch_media_add_picture (media, camera, event.time, event.number, picture);
  watch_fake_add_event (watch, watch_event_copy (&event));
  g_free (event.picture);
}

/* A day with counts, and tracks from left to right. */
static void
add_day (void)
{
  WatchStore *store = watch->shared.store;
  gint64 now = g_get_real_time (), minute = G_TIME_SPAN_MINUTE;

  for (gint64 i = 0; i < 12 * 60; i += 1 + i % 7) {
    const gchar *const zones[] = { NULL, "lawn", "gate" };

    for (guint z = 0; z < G_N_ELEMENTS (zones); z++) {
      WatchMinute *one = g_new0 (WatchMinute, 1);

      one->camera = g_strdup ("yard");
      one->zone = g_strdup (zones[z]);
      one->time = (now / minute - i) * minute;
      one->in = (guint64) (i * 7 % 5 + z);
      one->out = (guint64) (i * 5 % 4);
      watch_store_add_minute (store, one);
    }
  }
  for (guint i = 1; i <= 12; i++) {
    WatchPoint points[] = { { now - i * minute, 0.1f, 0.03f * i, 0.1f, 0.3f },
                            { now - i * minute + 9 * G_USEC_PER_SEC, 0.8f, 0.05f * i, 0.1f,
                              0.3f } };
    gchar *zones[] = { (gchar *) "gate", NULL };
    WatchTrack track = { (gchar *) "yard",
                         (gchar *) "0c3e",
                         i,
                         points[0].time,
                         points[1].time,
                         NULL,
                         0,
                         G_N_ELEMENTS (points),
                         points,
                         zones,
                         NULL };

    watch_store_add_track (store, watch_track_copy (&track));
  }
  watch_store_flush (store);
}

/* As of a later version of the program. */
static WebReason *
new_unknown_reason (const gchar *text)
{
  WebReason *reason = g_new0 (WebReason, 1);

  reason->code = g_strdup ("of-tomorrow");
  reason->arguments = g_new0 (gchar *, 1);
  reason->text = g_strdup (text);
  return reason;
}

static void
obey (const gchar *line, GBytes *picture)
{
  g_auto (GStrv) words = g_strsplit (line, " ", 4);
  guint n = g_strv_length (words);
  g_autofree gchar *text = NULL, *path = NULL;
  WatchEventKind kind;

  if (n == 4 && g_str_equal (words[0], "state")) {
    watch_fake_set_state (watch, words[1], (WatchCameraState) atoi (words[2]),
                          new_unknown_reason (words[3]));
  } else if (n == 3 && g_str_equal (words[0], "lost")) {
    watch_fake_set_state (watch, words[1], WATCH_CAMERA_LOST,
                          web_reason_new (WEB_REASON_NO_ROUTE, "address", words[2], NULL));
  } else if (n == 3 && g_str_equal (words[0], "late")) {
    watch_fake_set_state (watch, words[1], WATCH_CAMERA_FROZEN,
                          web_reason_new (WEB_REASON_PICTURE_LATE, "seconds", words[2], NULL));
  } else if (n == 4 && g_str_equal (words[0], "event") &&
             watch_event_kind_from_name (words[2], &kind)) {
    add_event (words[1], kind, words[3], g_get_real_time (), picture);
  } else if (g_str_equal (line, "file")) {
    path = g_build_filename (watch_fake_get_folder (watch), "watch.conf", NULL);
    g_assert_true (g_file_get_contents (path, &text, NULL, NULL));
    printf ("%s.\n", text);
  } else if (n == 2 && g_str_equal (words[0], "program")) {
    watch_synopsis_job_set_program (web_server_get_state (server), words[1]);
  } else {
    g_printerr ("no such command: %s\n", line);
  }
}

static void
on_line (GObject *source, GAsyncResult *result, gpointer picture)
{
  GDataInputStream *stream = G_DATA_INPUT_STREAM (source);
  g_autofree gchar *line = g_data_input_stream_read_line_finish (stream, result, NULL, NULL);

  if (!line) {
    g_main_loop_quit (loop);
    return;
  }
  obey (line, picture);
  fflush (stdout);
  g_data_input_stream_read_line_async (stream, G_PRIORITY_DEFAULT, NULL, on_line, picture);
}

int
main (int argc, char **argv)
{
  g_autoptr (GInputStream) input = g_unix_input_stream_new (STDIN_FILENO, FALSE);
  g_autoptr (GDataInputStream) lines = g_data_input_stream_new (input);
  g_autoptr (GBytes) picture = NULL;
  g_autofree gchar *settings = NULL;
  g_autoptr (GError) error = NULL;
  gboolean token = argc > 1 && g_str_equal (argv[1], "--token");

  gst_init (&argc, &argv);
  picture = read_picture (argc > 1 && !token ? argv[1] : NULL);
  settings = g_strdup_printf (SETTINGS, token ? "token-file = token\n" : "");
  watch = watch_fake_new (settings);
  watch_fake_set_picture (watch, picture);
  add_day ();
  for (guint i = 0; i < 60; i++)
    add_event ("yard", i % 2 ? WATCH_EVENT_IN : WATCH_EVENT_LEAVE, i % 2 ? "gate" : "lawn",
               g_get_real_time () - (60 - i) * G_TIME_SPAN_MINUTE, picture);
  server = watch_server_new (watch, &error);
  g_assert_no_error (error);
  printf ("%s\n", web_server_get_uri (server));
  fflush (stdout);
  loop = g_main_loop_new (NULL, FALSE);
  g_data_input_stream_read_line_async (lines, G_PRIORITY_DEFAULT, NULL, on_line, picture);
  g_main_loop_run (loop);
  g_main_loop_unref (loop);
  web_server_free (server);
  watch_fake_free (watch);
  return 0;
}
