/* cudaccl-watch - pictures and events while they happen, and files
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Endless answers are written in pieces: the next one when the socket has taken the last.
 * Pictures that come in the meantime replace each other, so a slow client gets fewer. Events are
 * queued, up to MAX_QUEUED: then the connection ends, and the client asks for the events it
 * missed. It gets the last MAX_MISSED, and an event `missed` that tells where the others are. */

#include "apps/watch/http/live.h"

#include "apps/watch/http/app.h"
#include "apps/watch/records/json.h"

#include <gio/gio.h>
#include <string.h>

#define MAX_STREAMS 64
#define MAX_CAMERAS 256
#define MAX_RATE 10
#define DEFAULT_RATE 4
#define BOUNDARY "cudaccl"
#define NO_PICTURE 30 /* seconds until a stream without pictures ends */
#define SNAPSHOT_TIMEOUT 5
#define HEARTBEAT 15
#define MAX_QUEUED 256
#define MAX_MISSED 200
#define PIECE 131072 /* bytes of a file */

/* --- Answers in pieces --- */

typedef struct
{
  WebServerStats *stats;
  SoupServerMessage *message;
  guint pieces; /* pieces that are not written yet */
  gboolean is_stream, ended;
} Output;

/* Appends and takes @bytes. */
static void
output_take (Output *output, GBytes *bytes)
{
  soup_message_body_append_bytes (soup_server_message_get_response_body (output->message), bytes);
  g_bytes_unref (bytes);
  output->pieces++;
  web_http_unpause (output->message);
}

static void
output_text (Output *output, gchar *text)
{
  output_take (output, g_bytes_new_take (text, strlen (text)));
}

static void
output_end (Output *output)
{
  output->ended = TRUE;
  soup_message_body_complete (soup_server_message_get_response_body (output->message));
  web_http_unpause (output->message);
}

/* Begins an answer without an end, or answers 503 if there are too many. @written is called with
 * @data when the client has taken a piece, @finished when it is gone. */
static gboolean
output_start (Output *output, const WebRequest *request, const gchar *type, GCallback written,
              WebFinished finished, gpointer data)
{
  SoupServerMessage *message = request->message;
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);

  output->stats = web_server_get_stats (request->server);
  output->message = message;
  output->is_stream = type != NULL;
  if (output->is_stream) {
    if (output->stats->streams >= MAX_STREAMS) {
      output->stats->refused++;
      web_http_error (message, SOUP_STATUS_SERVICE_UNAVAILABLE,
                      "%d streams are open: close some pages", MAX_STREAMS);
      return FALSE;
    }
    output->stats->streams++;
    soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
    soup_message_headers_set_content_type (headers, type, NULL);
    soup_message_headers_set_encoding (headers, soup_server_message_get_http_version (message) ==
                                                        SOUP_HTTP_1_0
                                                    ? SOUP_ENCODING_EOF
                                                    : SOUP_ENCODING_CHUNKED);
    /* Proxies such as nginx would buffer the answer. */
    soup_message_headers_replace (headers, "X-Accel-Buffering", "no");
  }
  soup_message_body_set_accumulate (soup_server_message_get_response_body (message), FALSE);
  g_signal_connect (message, "wrote-chunk", written, data);
  web_http_on_finished (request->server, message, finished, data);
  return TRUE;
}

static void
output_finish (Output *output, gpointer data)
{
  g_signal_handlers_disconnect_by_data (output->message, data);
  output->stats->streams -= output->is_stream ? 1 : 0;
}

/* --- Pictures --- */

typedef struct _Live Live;

typedef struct
{
  Live *live;
  gchar *name;
  WatchCamera *camera; /* NULL: no such camera at present */
  guint viewer;
  GBytes *picture; /* latest picture, not written yet */
} View;

struct _Live
{
  WatchApp *app;
  Output output;
  GPtrArray *views;
  guint next; /* view whose turn it is */
  gboolean boxes;
  guint rate;
  guint silent; /* seconds without a picture */
  guint timer;
};

static void
write_picture (Live *live)
{
  for (guint i = 0; i < live->views->len && live->output.pieces == 0 && !live->output.ended; i++) {
    View *view = g_ptr_array_index (live->views, (live->next + i) % live->views->len);

    if (!view->picture)
      continue;
    live->next = (live->next + i + 1) % live->views->len;
    output_text (&live->output,
                 g_strdup_printf ("Content-Type: image/jpeg\r\nContent-Length: %" G_GSIZE_FORMAT
                                  "\r\nX-Camera: %s\r\n\r\n",
                                  g_bytes_get_size (view->picture), view->name));
    output_take (&live->output, g_steal_pointer (&view->picture));
    /* Browsers show the picture when they see the next boundary. */
    output_text (&live->output, g_strdup ("\r\n--" BOUNDARY "\r\n"));
  }
}

static void
on_picture (GBytes *jpeg, gpointer user_data)
{
  View *view = user_data;

  if (!jpeg) {
    view->camera = NULL;
    return;
  }
  view->live->silent = 0;
  g_clear_pointer (&view->picture, g_bytes_unref);
  view->picture = g_bytes_ref (jpeg);
  write_picture (view->live);
}

static void
on_picture_written (SoupServerMessage *message, gpointer user_data)
{
  Live *live = user_data;

  if (live->output.pieces > 0 && --live->output.pieces == 0)
    write_picture (live);
}

/* Finds cameras that were added, or added again. */
static void
look_for_cameras (Live *live)
{
  for (guint i = 0; i < live->views->len; i++) {
    View *view = g_ptr_array_index (live->views, i);

    if (view->camera)
      continue;
    view->camera = watch_app_find_camera (live->app, view->name);
    if (view->camera)
      view->viewer =
          watch_camera_add_viewer (view->camera, live->boxes, live->rate, on_picture, view);
  }
}

/* Only a write tells that a client is gone. */
static gboolean
on_live_second (gpointer user_data)
{
  Live *live = user_data;

  look_for_cameras (live);
  if (++live->silent < NO_PICTURE)
    return G_SOURCE_CONTINUE;
  live->timer = 0;
  output_end (&live->output);
  return G_SOURCE_REMOVE;
}

static void
view_free (gpointer data)
{
  View *view = data;

  if (view->camera)
    watch_camera_remove_viewer (view->camera, view->viewer);
  g_clear_pointer (&view->picture, g_bytes_unref);
  g_free (view->name);
  g_free (view);
}

static void
on_live_finished (SoupServerMessage *message, gpointer user_data)
{
  Live *live = user_data;

  output_finish (&live->output, live);
  g_ptr_array_unref (live->views);
  if (live->timer)
    g_source_remove (live->timer);
  g_free (live);
}

/* Reads `boxes` (default 1) and `rate`, or answers with an error. */
static gboolean
read_options (const WebRequest *request, gboolean *boxes, guint *rate)
{
  const gchar *boxes_text = web_http_get (request, "boxes");
  const gchar *rate_text = web_http_get (request, "rate");
  guint64 with = 1, n = DEFAULT_RATE;

  if (boxes_text && !g_ascii_string_to_unsigned (boxes_text, 10, 0, 1, &with, NULL))
    web_http_refuse_value (request, "boxes", "0 or 1");
  else if (rate_text && !g_ascii_string_to_unsigned (rate_text, 10, 1, MAX_RATE, &n, NULL))
    web_http_refuse_value (request, "rate", "1 to " G_STRINGIFY (MAX_RATE) " pictures a second");
  else {
    *boxes = with == 1;
    *rate = (guint) n;
    return TRUE;
  }
  return FALSE;
}

static void
start_live (const WebRequest *request, const gchar *const *names)
{
  Live *live = g_new0 (Live, 1);

  live->app = request->app;
  live->views = g_ptr_array_new_with_free_func (view_free);
  if (!read_options (request, &live->boxes, &live->rate) ||
      !output_start (&live->output, request, "multipart/x-mixed-replace; boundary=" BOUNDARY,
                     G_CALLBACK (on_picture_written), on_live_finished, live)) {
    g_ptr_array_unref (live->views);
    g_free (live);
    return;
  }
  for (; *names && live->views->len < MAX_CAMERAS; names++) {
    View *view = g_new0 (View, 1);

    view->live = live;
    view->name = g_strdup (*names);
    g_ptr_array_add (live->views, view);
  }
  output_text (&live->output, g_strdup ("--" BOUNDARY "\r\n"));
  look_for_cameras (live);
  live->timer = g_timeout_add_seconds (1, on_live_second, live);
}

void
watch_live_camera (const WebRequest *request)
{
  if (watch_app_find_camera (request->app, request->name))
    start_live (request, (const gchar *[]){ request->name, NULL });
  else
    watch_app_refuse_camera (request);
}

/* Browsers open six connections to a host: the page shows all cameras through one. */
void
watch_live_cameras (const WebRequest *request)
{
  const gchar *cameras = web_http_get (request, "cameras");
  g_auto (GStrv) names = g_strsplit (cameras ? cameras : "", ",", MAX_CAMERAS + 1);
  guint n = g_strv_length (names);

  for (gchar **name = names; *name; name++) {
    if (!watch_settings_is_name (*name) || n > MAX_CAMERAS) {
      web_http_refuse_value (request, "cameras",
                             "up to " G_STRINGIFY (MAX_CAMERAS) " names, separated by commas");
      return;
    }
  }
  if (n)
    start_live (request, (const gchar *const *) names);
  else
    web_http_refuse_value (request, "cameras", "names");
}

/* --- One picture --- */

typedef struct
{
  WebServer *server;
  SoupServerMessage *message;
  WatchCamera *camera;
  guint viewer;
  guint source; /* answers at the timeout, or soon */
  GBytes *picture;
} Snapshot;

static void
on_snapshot_finished (SoupServerMessage *message, gpointer user_data)
{
  Snapshot *snapshot = user_data;

  if (snapshot->camera)
    watch_camera_remove_viewer (snapshot->camera, snapshot->viewer);
  g_clear_handle_id (&snapshot->source, g_source_remove);
  g_clear_pointer (&snapshot->picture, g_bytes_unref);
  g_free (snapshot);
}

static void
answer_snapshot (Snapshot *snapshot)
{
  SoupServerMessage *message = snapshot->message;

  if (snapshot->picture) {
    soup_server_message_set_status (message, SOUP_STATUS_OK, NULL);
    soup_message_headers_set_content_type (soup_server_message_get_response_headers (message),
                                           "image/jpeg", NULL);
    soup_message_body_append_bytes (soup_server_message_get_response_body (message),
                                    snapshot->picture);
  } else {
    web_http_error (message, SOUP_STATUS_SERVICE_UNAVAILABLE,
                    "the camera has no picture: see its state");
  }
  web_http_unpause (message);
  web_http_finish (snapshot->server, snapshot);
}

static gboolean
on_snapshot_ready (gpointer user_data)
{
  Snapshot *snapshot = user_data;

  snapshot->source = 0;
  answer_snapshot (snapshot);
  return G_SOURCE_REMOVE;
}

/* Viewers cannot be removed from within their callback. */
static void
on_snapshot_picture (GBytes *jpeg, gpointer user_data)
{
  Snapshot *snapshot = user_data;

  if (!jpeg)
    snapshot->camera = NULL;
  else if (!snapshot->picture)
    snapshot->picture = g_bytes_ref (jpeg);
  g_clear_handle_id (&snapshot->source, g_source_remove);
  snapshot->source = g_idle_add (on_snapshot_ready, snapshot);
}

void
watch_live_snapshot (const WebRequest *request)
{
  WatchCamera *camera = watch_app_find_camera (request->app, request->name);
  Snapshot *snapshot;
  gboolean boxes;
  guint rate;

  if (!read_options (request, &boxes, &rate))
    return;
  if (!camera) {
    watch_app_refuse_camera (request);
    return;
  }
  snapshot = g_new0 (Snapshot, 1);
  snapshot->server = request->server;
  snapshot->message = request->message;
  snapshot->camera = camera;
  web_http_pause (request->message);
  web_http_on_finished (request->server, request->message, on_snapshot_finished, snapshot);
  snapshot->source = g_timeout_add_seconds (SNAPSHOT_TIMEOUT, on_snapshot_ready, snapshot);
  snapshot->viewer =
      watch_camera_add_viewer (camera, boxes, MAX_RATE, on_snapshot_picture, snapshot);
}

/* --- Events --- */

typedef struct
{
  WatchApp *app;
  Output output;
  guint listener, timer;
} Events;

static gchar *
format_event (const WatchEvent *event)
{
  g_autofree gchar *line = watch_event_to_json (event);

  return g_strdup_printf ("id: %" G_GINT64_FORMAT "\ndata: %s\n\n", event->time, line);
}

static void
on_event (const WatchEvent *event, gpointer user_data)
{
  Events *events = user_data;

  if (events->output.ended)
    return;
  if (events->output.pieces < MAX_QUEUED)
    output_text (&events->output, format_event (event));
  else
    output_end (&events->output);
}

static gboolean
on_heartbeat (gpointer user_data)
{
  Events *events = user_data;

  if (events->output.pieces == 0 && !events->output.ended)
    output_text (&events->output, g_strdup (":\n\n"));
  return G_SOURCE_CONTINUE;
}

static void
on_event_written (SoupServerMessage *message, gpointer user_data)
{
  Events *events = user_data;

  events->output.pieces -= events->output.pieces > 0 ? 1 : 0;
}

static void
on_events_finished (SoupServerMessage *message, gpointer user_data)
{
  Events *events = user_data;

  output_finish (&events->output, events);
  watch_listeners_remove (events->app->listeners, events->listener);
  g_source_remove (events->timer);
  g_free (events);
}

/* Tells the client that there are more events, from @before on, a row. */
static void
tell_missed (Events *events, gint64 begin, gint64 before)
{
  GString *json = web_json_new ();
  g_autofree gchar *text = NULL;

  watch_json_add_time (json, "begin", begin);
  if (before)
    web_json_add_int (json, "before", before);
  text = web_json_take (json);
  output_text (&events->output, g_strdup_printf ("event: missed\ndata: %s\n\n", text));
}

/* Events of several cameras are not committed in order of time: send some twice, but miss none. */
static void
send_missed (Events *events, gint64 since)
{
  WatchQuery query = { .begin = MAX (since - 10 * G_USEC_PER_SEC, 0),
                       .kind = -1,
                       .limit = MAX_MISSED };
  gint64 next = 0;
  g_autoptr (GPtrArray) missed =
      watch_store_find_events (events->app->shared.store, &query, &next, NULL);

  if (!missed || next)
    tell_missed (events, query.begin, next);
  for (guint i = missed ? missed->len : 0; i > 0; i--)
    output_text (&events->output, format_event (g_ptr_array_index (missed, i - 1)));
}

void
watch_live_events (const WebRequest *request)
{
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (request->message);
  const gchar *last = soup_message_headers_get_one (headers, "Last-Event-ID");
  Events *events = g_new0 (Events, 1);
  guint64 since;

  events->app = request->app;
  if (!output_start (&events->output, request, "text/event-stream", G_CALLBACK (on_event_written),
                     on_events_finished, events)) {
    g_free (events);
    return;
  }
  output_text (&events->output, g_strdup ("retry: 2000\n\n"));
  if (last && g_ascii_string_to_unsigned (last, 10, 1, G_MAXINT64, &since, NULL))
    send_missed (events, (gint64) since);
  events->listener = watch_listeners_add (events->app->listeners, on_event, events);
  events->timer = g_timeout_add_seconds (HEARTBEAT, on_heartbeat, events);
}

/* --- Files --- */

typedef struct
{
  Output output;
  GFileInputStream *stream;
  goffset left;
  gboolean reading, finished;
} Download;

static void read_piece (Download *download);

static void
download_free (Download *download)
{
  g_object_unref (download->stream);
  g_object_unref (download->output.message);
  g_free (download);
}

static void
on_piece (GObject *source, GAsyncResult *result, gpointer user_data)
{
  Download *download = user_data;
  g_autoptr (GBytes) bytes =
      g_input_stream_read_bytes_finish (G_INPUT_STREAM (source), result, NULL);

  download->reading = FALSE;
  if (download->finished) {
    download_free (download);
    return;
  }
  if (!bytes || g_bytes_get_size (bytes) == 0) {
    /* The disk failed: the client must not take this for the end. */
    web_http_abort (download->output.message);
    return;
  }
  download->left -= g_bytes_get_size (bytes);
  output_take (&download->output, g_steal_pointer (&bytes));
}

static void
read_piece (Download *download)
{
  if (download->left == 0 || download->reading)
    return;
  download->reading = TRUE;
  g_input_stream_read_bytes_async (G_INPUT_STREAM (download->stream), MIN (download->left, PIECE),
                                   G_PRIORITY_DEFAULT, NULL, on_piece, download);
}

static void
on_piece_written (SoupServerMessage *message, gpointer user_data)
{
  Download *download = user_data;

  download->output.pieces = 0;
  read_piece (download);
}

static void
on_download_finished (SoupServerMessage *message, gpointer user_data)
{
  Download *download = user_data;

  output_finish (&download->output, download);
  download->finished = TRUE;
  if (!download->reading)
    download_free (download);
}

/* Moves @text past a number; returns FALSE if there is none. Those beyond 2^63 - 1 become that. */
static gboolean
skip_number (const gchar **text, goffset *number)
{
  gchar *end;

  if (!g_ascii_isdigit (**text))
    return FALSE;
  *number = (goffset) MIN (g_ascii_strtoull (*text, &end, 10), G_MAXINT64);
  *text = end;

  return TRUE;
}

/* Parses `bytes=FIRST-LAST`, `bytes=FIRST-` or `bytes=-COUNT`; @end is the last byte. Returns FALSE
 * for anything else, including several ranges, which a server may ignore. libsoup's parser is not
 * used: before 3.8 it returns ranges that the file does not have, later it ignores them. */
static gboolean
parse_range (const gchar *text, goffset size, goffset *start, goffset *end)
{
  goffset first = 0, last = G_MAXINT64;
  gboolean has_first, has_last;

  if (!text || g_ascii_strncasecmp (text, "bytes=", 6) != 0)
    return FALSE;
  text += 6;
  text += strspn (text, " \t");
  has_first = skip_number (&text, &first);
  if (*text++ != '-')
    return FALSE;
  has_last = skip_number (&text, &last);
  if (text[strspn (text, " \t")] != '\0' || (!has_first && !has_last) || first > last)
    return FALSE;

  *start = has_first ? first : size - MIN (last, size);
  *end = has_first ? MIN (last, size - 1) : size - 1;

  return TRUE;
}

/* Sets the status and length of the requested range: a single one, or everything. Returns FALSE
 * if the file has no such range. */
static gboolean
set_range (SoupServerMessage *message, const gchar *tag, goffset size, goffset *start,
           goffset *length)
{
  SoupMessageHeaders *asked = soup_server_message_get_request_headers (message);
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);
  const gchar *condition = soup_message_headers_get_one (asked, "If-Range");
  goffset end;
  gboolean some = (!condition || g_str_equal (condition, tag)) &&
                  parse_range (soup_message_headers_get_one (asked, "Range"), size, start, &end);

  if (!some) {
    *start = 0;
    end = size - 1;
  }
  *length = end - *start + 1;
  if (some && *start >= size) {
    g_autofree gchar *text = g_strdup_printf ("bytes */%" G_GOFFSET_FORMAT, size);

    soup_message_headers_replace (headers, "Content-Range", text);
    return FALSE;
  }
  if (some)
    soup_message_headers_set_content_range (headers, *start, *start + *length - 1, size);
  soup_server_message_set_status (message, some ? SOUP_STATUS_PARTIAL_CONTENT : SOUP_STATUS_OK,
                                  NULL);
  soup_message_headers_set_content_length (headers, *length);
  return TRUE;
}

void
watch_live_send_file (const WebRequest *request, const gchar *path, const gchar *type,
                      const gchar *name)
{
  SoupServerMessage *message = request->message;
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);
  g_autoptr (GFile) file = path ? g_file_new_for_path (path) : NULL;
  g_autoptr (GFileInputStream) stream = file ? g_file_read (file, NULL, NULL) : NULL;
  g_autoptr (GFileInfo) info =
      stream ? g_file_input_stream_query_info (
                   stream, "standard::size,standard::type,time::modified,time::modified-usec", NULL,
                   NULL)
             : NULL;
  g_autoptr (GDateTime) date = NULL;
  g_autofree gchar *tag = NULL;
  goffset size, start, length;
  Download *download;

  if (!info || g_file_info_get_file_type (info) != G_FILE_TYPE_REGULAR) {
    web_http_error (message, SOUP_STATUS_NOT_FOUND,
                    "there is no such file: it is removed, or not written yet");
    return;
  }
  size = g_file_info_get_size (info);
  date = g_file_info_get_modification_date_time (info);
  /* A clip grows while it is recorded. */
  tag = g_strdup_printf (
      "\"%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x\"", (gint64) size,
      date ? g_date_time_to_unix (date) * G_USEC_PER_SEC + g_date_time_get_microsecond (date) : 0);
  soup_message_headers_replace (headers, "Accept-Ranges", "bytes");
  soup_message_headers_replace (headers, "ETag", tag);
  soup_message_headers_replace (headers, "Cache-Control", "private, no-cache");
  if (!set_range (message, tag, size, &start, &length)) {
    web_http_error (message, SOUP_STATUS_REQUESTED_RANGE_NOT_SATISFIABLE,
                    "the file has %" G_GOFFSET_FORMAT " bytes", size);
    return;
  }
  soup_message_headers_set_content_type (headers, type, NULL);
  if (name) {
    g_autofree gchar *disposition = g_strdup_printf ("inline; filename=\"%s\"", name);

    soup_message_headers_replace (headers, "Content-Disposition", disposition);
  }
  if (length == 0 || g_str_equal (soup_server_message_get_method (message), "HEAD"))
    return;
  if (!g_seekable_seek (G_SEEKABLE (stream), start, G_SEEK_SET, NULL, NULL)) {
    web_http_error (message, SOUP_STATUS_INTERNAL_SERVER_ERROR, "the file cannot be read");
    return;
  }
  download = g_new0 (Download, 1);
  download->stream = g_steal_pointer (&stream);
  download->left = length;
  output_start (&download->output, request, NULL, G_CALLBACK (on_piece_written),
                on_download_finished, download);
  g_object_ref (message);
  read_piece (download);
}

void
watch_live_media (const WebRequest *request)
{
  WatchApp *app = request->app;
  g_autofree gchar *path = watch_media_get_path (app->shared.media, request->name);

  watch_live_send_file (
      request, path, g_str_has_suffix (request->name, ".mp4") ? "video/mp4" : "image/jpeg", NULL);
}
