/* cudaccl-watch - posts events to a web hook
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/publish/sink.h"

#include <glib-unix.h>
#include <json-glib/json-glib.h>
#include <libsoup/soup.h>
#include <string.h>
#include <sys/eventfd.h>

/* Most lines read from the spool and not taken. */
#define WINDOW 256

/* Most requests at a time, each for another camera: events of a camera keep their order. */
#define REQUESTS 8

#define TIMEOUT 15           /* s: for a request */
#define MAX_RETRY_AFTER 3600 /* s */
#define MAX_ANSWER (64 << 10)

/* SOUP_STATUS_TOO_MANY_REQUESTS is newer than libsoup 3.2. */
#define TOO_MANY_REQUESTS 429

typedef struct
{
  WatchSink sink;
  gchar *url;
  GMainContext *context;
  SoupSession *session;
  guint running;      /* requests */
  WebReason *failure; /* error of a request that must be sent again, or NULL */
  gint64 retry_after; /* of that request, in milliseconds */
} Webhook;

typedef struct
{
  Webhook *hook;
  guint64 number;
  SoupMessage *message;
  GCancellable *cancellable;
  GSource *timeout;
  gsize answered; /* bytes */
} Request;

static gboolean
timed_out (gpointer user_data)
{
  g_cancellable_cancel (((Request *) user_data)->cancellable);
  return G_SOURCE_REMOVE;
}

static void
request_end (Request *request)
{
  request->hook->running--;
  g_source_destroy (request->timeout);
  g_source_unref (request->timeout);
  g_object_unref (request->message);
  g_object_unref (request->cancellable);
  g_free (request);
}

static void
fail (Webhook *self, WebReason *failure, gint64 retry_after)
{
  web_reason_free (self->failure);
  self->failure = failure;
  self->retry_after = MAX (self->retry_after, retry_after);
}

/* Returns what Retry-After says, in milliseconds, or 0. */
static gint64
get_retry_after (SoupMessage *message)
{
  const gchar *text =
      soup_message_headers_get_one (soup_message_get_response_headers (message), "Retry-After");
  g_autoptr (GDateTime) date = NULL;
  gint64 seconds;

  if (!text)
    return 0;
  if (!g_ascii_string_to_signed (text, 10, 0, MAX_RETRY_AFTER, &seconds, NULL)) {
    if (g_ascii_isdigit (*text))
      seconds = MAX_RETRY_AFTER;
    else if ((date = soup_date_time_new_from_http_string (text)))
      seconds = CLAMP (g_date_time_to_unix (date) - g_get_real_time () / G_USEC_PER_SEC, 0,
                       MAX_RETRY_AFTER);
    else
      seconds = 0;
  }
  return seconds * 1000;
}

static void
request_done (Request *request)
{
  Webhook *self = request->hook;
  guint status = soup_message_get_status (request->message);
  const gchar *phrase = soup_message_get_reason_phrase (request->message);
  g_autofree gchar *number = g_strdup_printf ("%u", status);

  if (SOUP_STATUS_IS_SUCCESSFUL (status)) {
    watch_sink_done (&self->sink, request->number, NULL);
    if (!self->failure)
      watch_sink_set_state (&self->sink, TRUE, NULL);
  } else if (SOUP_STATUS_IS_REDIRECTION (status)) {
    fail (self, web_reason_new (WEB_REASON_WEBHOOK_MOVED, "status", number, NULL), 0);
  } else if (SOUP_STATUS_IS_CLIENT_ERROR (status) && status != SOUP_STATUS_REQUEST_TIMEOUT &&
             status != TOO_MANY_REQUESTS) {
    g_autofree gchar *text = g_strdup_printf ("the server answers %u %s", status, phrase);

    watch_sink_done (&self->sink, request->number, text);
  } else {
    fail (self,
          web_reason_new (WEB_REASON_WEBHOOK_FAILED, "status", number, "detail", phrase, NULL),
          get_retry_after (request->message));
  }
  request_end (request);
}

/* Read the answer, so that the connection can be reused. */
static void
skipped (GObject *stream, GAsyncResult *result, gpointer user_data)
{
  Request *request = user_data;
  gssize n = g_input_stream_skip_finish (G_INPUT_STREAM (stream), result, NULL);

  if (n > 0 && (request->answered += (gsize) n) < MAX_ANSWER) {
    g_input_stream_skip_async (G_INPUT_STREAM (stream), MAX_ANSWER, G_PRIORITY_DEFAULT,
                               request->cancellable, skipped, request);
    return;
  }
  g_object_unref (stream);
  request_done (request);
}

static void
answered (GObject *session, GAsyncResult *result, gpointer user_data)
{
  Request *request = user_data;
  g_autoptr (GError) error = NULL;
  GInputStream *stream = soup_session_send_finish (SOUP_SESSION (session), result, &error);

  if (stream) {
    g_input_stream_skip_async (stream, MAX_ANSWER, G_PRIORITY_DEFAULT, request->cancellable,
                               skipped, request);
    return;
  }
  if (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED))
    fail (request->hook,
          web_reason_new (WEB_REASON_WEBHOOK_SILENT, "seconds", G_STRINGIFY (TIMEOUT), NULL), 0);
  else
    fail (request->hook, web_reason_new (WEB_REASON_WEBHOOK_BROKEN, "detail", error->message, NULL),
          0);
  request_end (request);
}

/* CAMERA/SESSION/NUMBER, so that receivers recognise repeated events. */
static gchar *
make_key (const WatchLine *line)
{
  g_autoptr (JsonNode) root = json_from_string (line->line, NULL);
  JsonObject *object = root && JSON_NODE_HOLDS_OBJECT (root) ? json_node_get_object (root) : NULL;
  const gchar *session =
      object ? json_object_get_string_member_with_default (object, "session", NULL) : NULL;

  if (!session)
    return NULL;
  return g_strdup_printf ("%s/%s/%" G_GINT64_FORMAT, line->camera, session,
                          json_object_get_int_member_with_default (object, "number", 0));
}

static void
post (Webhook *self, guint64 number, const WatchLine *line)
{
  g_autofree gchar *key = make_key (line);
  g_autoptr (GBytes) body = g_bytes_new (line->line, strlen (line->line));
  Request *request = g_new0 (Request, 1);

  request->hook = self;
  request->number = number;
  request->cancellable = g_cancellable_new ();
  request->timeout = g_timeout_source_new_seconds (TIMEOUT);
  g_source_set_callback (request->timeout, timed_out, request, NULL);
  g_source_attach (request->timeout, self->context);
  request->message = soup_message_new (SOUP_METHOD_POST, self->url);
  /* A redirection would turn the request into GET, or lead events elsewhere. */
  soup_message_add_flags (request->message, SOUP_MESSAGE_NO_REDIRECT);
  soup_message_set_request_body_from_bytes (request->message, "application/json", body);
  if (key)
    soup_message_headers_append (soup_message_get_request_headers (request->message),
                                 "Idempotency-Key", key);
  self->running++;
  soup_session_send_async (self->session, request->message, G_PRIORITY_DEFAULT,
                           request->cancellable, answered, request);
}

/* Whether an earlier line of the same camera is not done. */
static gboolean
must_wait (WatchSink *sink, guint i)
{
  for (guint j = 0; j < i; j++) {
    const WatchSinkLine *earlier = &g_array_index (sink->lines, WatchSinkLine, j);

    if (earlier->state != WATCH_LINE_DONE &&
        g_str_equal (earlier->line->camera,
                     g_array_index (sink->lines, WatchSinkLine, i).line->camera))
      return TRUE;
  }
  return FALSE;
}

static void
send_lines (Webhook *self)
{
  WatchSink *sink = &self->sink;

  watch_sink_fill (sink, WINDOW);
  for (guint i = 0; i < sink->lines->len && self->running < REQUESTS; i++) {
    WatchSinkLine *line = &g_array_index (sink->lines, WatchSinkLine, i);

    if (line->state != WATCH_LINE_WAITING || must_wait (sink, i))
      continue;
    line->state = WATCH_LINE_SENT;
    post (self, sink->first + i, line->line);
  }
}

static gboolean
woken (gint fd, GIOCondition condition, gpointer user_data)
{
  eventfd_t value;

  eventfd_read (fd, &value);
  return G_SOURCE_CONTINUE;
}

/* Ends an iteration of the main context. */
static gboolean
tick (gpointer user_data)
{
  return G_SOURCE_CONTINUE;
}

static void
run (WatchSink *sink)
{
  Webhook *self = (Webhook *) sink;
  g_autoptr (GSource) wake = g_unix_fd_source_new (sink->wake, G_IO_IN);
  g_autoptr (GSource) ticks = g_timeout_source_new (200);

  g_main_context_push_thread_default (self->context);
  self->session = soup_session_new_with_options ("timeout", TIMEOUT, "max-conns", REQUESTS,
                                                 "max-conns-per-host", REQUESTS, "user-agent",
                                                 "cudaccl-watch/" PACKAGE_VERSION, NULL);
  g_source_set_callback (wake, G_SOURCE_FUNC (woken), self, NULL);
  g_source_attach (wake, self->context);
  g_source_set_callback (ticks, tick, self, NULL);
  g_source_attach (ticks, self->context);
  watch_sink_set_state (sink, TRUE, NULL);

  while (watch_sink_goes_on (sink, FALSE)) {
    if (!self->failure) {
      send_lines (self);
    } else if (self->running == 0) {
      watch_sink_set_state (sink, FALSE, g_steal_pointer (&self->failure));
      watch_sink_send_again (sink);
      watch_sink_take (sink, TRUE);
      watch_sink_back_off (sink, self->retry_after);
      self->retry_after = 0;
      continue;
    }
    g_main_context_iteration (self->context, TRUE);
    watch_sink_take (sink, FALSE);
  }

  soup_session_abort (self->session);
  while (self->running > 0)
    g_main_context_iteration (self->context, TRUE);
  g_clear_object (&self->session);
  g_source_destroy (wake);
  g_source_destroy (ticks);
  g_main_context_pop_thread_default (self->context);
}

static void
webhook_free (WatchSink *sink)
{
  Webhook *self = (Webhook *) sink;

  g_main_context_unref (self->context);
  web_reason_free (self->failure);
  g_free (self->url);
  watch_sink_clear (sink);
  g_free (self);
}

static WatchSink *
webhook_new (const gchar *url, GError **error)
{
  static const WatchSinkClass klass = { run, webhook_free };
  g_autoptr (GUri) uri = g_uri_parse (url, SOUP_HTTP_URI_FLAGS, NULL);
  g_autofree gchar *sum = NULL;
  Webhook *self;

  if (!uri || !g_uri_get_host (uri) || !*g_uri_get_host (uri) ||
      (g_strcmp0 (g_uri_get_scheme (uri), "http") != 0 &&
       g_strcmp0 (g_uri_get_scheme (uri), "https") != 0)) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                 "webhooks: expected addresses such as https://HOST/PATH");
    return NULL;
  }
  /* The path may hold a secret: show only the host. */
  sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, url, -1);
  self = g_new0 (Webhook, 1);
  watch_sink_init (&self->sink, &klass, g_strdup_printf ("webhook-%.16s", sum),
                   g_strdup_printf ("webhook %s", g_uri_get_host (uri)), WATCH_LINE_EVENTS);
  self->url = g_strdup (url);
  self->context = g_main_context_new ();
  return &self->sink;
}

static gboolean
make (const WatchSettings *settings, WatchSinkAdd add, gpointer user_data, GError **error)
{
  for (gchar **url = settings->webhooks; url && *url; url++) {
    WatchSink *sink = webhook_new (*url, error);

    if (!sink)
      return FALSE;
    add (sink, user_data);
  }
  return TRUE;
}

const WatchSinkType watch_sink_webhooks = { "webhooks", make };
