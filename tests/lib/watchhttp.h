/* cudaccl - tests: a server of cudaccl-watch in this thread, and a client for it
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_WATCH_HTTP_H
#define TESTS_LIB_WATCH_HTTP_H

#include <gst/check/gstcheck.h>
#include <json-glib/json-glib.h>
#include <string.h>

#include "apps/watch/routes.h"
#include "tests/lib/watchfake.h"

#define LOCAL                                                               \
  "[watch]\ndata = FOLDER\n[server]\nlisten = 127.0.0.1:0\n"                \
  "[camera yard]\nuri = rtsp://owner:s3cret@192.0.2.1/live?key=conce4led\n" \
  "zones = lawn: 0,0.5 1,0.5 1,1\ntripwires = gate: 0.5,0 0.5,1\n"          \
  "[camera hall]\nuri = rtsp://192.0.2.2/live\nenabled = false\n"
#define TOKEN "[watch]\ndata = FOLDER\n[server]\nlisten = 127.0.0.1:0\ntoken-file = token\n"

/* --- A client --- */

typedef struct
{
  GSocketConnection *connection;
  GString *answer;
  gboolean ended;
} Client;

static WatchApp *watch;
static WebServer *server;

static inline void
start (const gchar *settings)
{
  g_autoptr (GBytes) picture = g_bytes_new_static ("\xff\xd8picture\xff\xd9", 11);
  GError *error = NULL;

  watch = watch_fake_new (settings);
  watch_fake_set_picture (watch, picture);
  server = watch_server_new (watch, &error);
  g_assert_no_error (error);
}

static inline void
stop (void)
{
  web_server_free (server);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  fail_unless_equals_int (watch_fake_get_viewers (watch), 0);
  watch_fake_free (watch);
}

static inline void
client_send (Client *client, const gchar *data, gsize size)
{
  GPollableOutputStream *stream =
      G_POLLABLE_OUTPUT_STREAM (g_io_stream_get_output_stream (G_IO_STREAM (client->connection)));

  while (size) {
    gssize n = g_pollable_output_stream_write_nonblocking (stream, data, size, NULL, NULL);

    if (n > 0) {
      data += n;
      size -= n;
    } else if (!g_pollable_output_stream_is_writable (stream)) {
      g_main_context_iteration (NULL, FALSE);
    } else {
      return; /* it has closed */
    }
  }
}

/* Connects without TLS to @host (NULL: that of the server's address), from @source (NULL: any). */
static inline void
client_open_from (Client *client, const gchar *host, const gchar *source, const gchar *request)
{
  g_autoptr (GSocketClient) socket_client = g_socket_client_new ();
  g_autoptr (GUri) uri = g_uri_parse (web_server_get_uri (server), G_URI_FLAGS_NONE, NULL);
  g_autoptr (GSocketAddress) local =
      source ? g_inet_socket_address_new_from_string (source, 0) : NULL;
  GError *error = NULL;

  g_socket_client_set_enable_proxy (socket_client, FALSE);
  g_socket_client_set_local_address (socket_client, local);
  client->connection =
      g_socket_client_connect_to_host (socket_client, host ? host : g_uri_get_host (uri),
                                       (guint16) g_uri_get_port (uri), NULL, &error);
  g_assert_no_error (error);
  client->answer = g_string_new (NULL);
  client->ended = FALSE;
  client_send (client, request, strlen (request));
}

static inline void
client_open (Client *client, const gchar *request)
{
  client_open_from (client, NULL, NULL, request);
}

static inline gboolean
set_true (gpointer flag)
{
  *(gboolean *) flag = TRUE;
  return G_SOURCE_REMOVE;
}

/* Reads until the answer has @text (NULL: until its end), for at most ten seconds. */
static inline gboolean
client_read (Client *client, const gchar *text)
{
  GPollableInputStream *stream =
      G_POLLABLE_INPUT_STREAM (g_io_stream_get_input_stream (G_IO_STREAM (client->connection)));
  gboolean late = FALSE;
  guint timer = g_timeout_add_seconds (10, set_true, &late);
  gchar buffer[4096];

  while (!late && !client->ended && !(text && strstr (client->answer->str, text))) {
    gssize n = g_pollable_input_stream_read_nonblocking (stream, buffer, sizeof buffer, NULL, NULL);

    if (n > 0)
      g_string_append_len (client->answer, buffer, n);
    else if (n == 0 || g_pollable_input_stream_is_readable (stream))
      client->ended = TRUE;
    else if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (1000);
  }
  if (!late)
    g_source_remove (timer);
  return text ? strstr (client->answer->str, text) != NULL : client->ended;
}

static inline void
client_close (Client *client)
{
  g_io_stream_close (G_IO_STREAM (client->connection), NULL, NULL);
  g_object_unref (client->connection);
  g_string_free (client->answer, TRUE);
}

static inline gint
get_status (const gchar *answer)
{
  return g_str_has_prefix (answer, "HTTP/1.1 ") ? atoi (answer + 9) : 0;
}

static inline const gchar *
get_body (const gchar *answer)
{
  const gchar *body = strstr (answer, "\r\n\r\n");

  return body ? body + 4 : "";
}

/* Returns the whole answer. `HOST` and `LENGTH` in @request are replaced. For the others, see
 * client_open_from(). */
static inline gchar *
ask_from (const gchar *server_host, const gchar *source, const gchar *request)
{
  g_autoptr (GUri) uri = g_uri_parse (web_server_get_uri (server), G_URI_FLAGS_NONE, NULL);
  g_autofree gchar *host = g_strdup_printf ("127.0.0.1:%d", g_uri_get_port (uri)), *length = NULL;
  g_autoptr (GString) text = g_string_new (request);
  Client client;
  gchar *answer;

  length = g_strdup_printf ("%zu", strlen (get_body (request)));
  g_string_replace (text, "HOST", host, 0);
  g_string_replace (text, "LENGTH", length, 1);
  client_open_from (&client, server_host, source, text->str);
  fail_unless (client_read (&client, NULL), "no end of the answer to %.200s: %.1500s", request,
               client.answer->str);
  answer = g_strdup (client.answer->str);
  client_close (&client);
  return answer;
}

static inline gchar *
ask (const gchar *request)
{
  return ask_from (NULL, NULL, request);
}

/* The head of a request, without its last line. */
#define HEAD(method, path) method " " path " HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n"
#define GET(path) HEAD ("GET", path) "\r\n"
#define SEND(method, path, body) \
  HEAD (method, path) "X-Cudaccl-Watch: 1\r\nContent-Length: LENGTH\r\n\r\n" body

/* An error is one line of JSON in words, and nothing tells a secret. */
static inline void
check_answer (const gchar *request, const gchar *answer, gint status, const gchar *expected)
{
  fail_unless (get_status (answer) == status, "%.300s\nexpected %d:\n%.2000s", request, status,
               answer);
  fail_unless (!expected || strstr (answer, expected), "%.300s\nhas no %s:\n%.2000s", request,
               expected, answer);
  fail_if (strstr (answer, "s3cret") || strstr (answer, "conce4led") ||
               strstr (answer, "a-long-token"),
           "%.300s tells a secret:\n%.2000s", request, answer);
  fail_unless (strstr (answer, "X-Content-Type-Options: nosniff") &&
                   strstr (answer, "frame-ancestors 'none'"),
               "%.300s has no headers of security:\n%.2000s", request, answer);
  if (status >= 400 && !g_str_has_prefix (request, "HEAD"))
    fail_unless (g_str_has_prefix (get_body (answer), "{\"error\":\""), "%.300s:\n%.2000s", request,
                 answer);
}

typedef struct
{
  const gchar *request;
  gint status;
  const gchar *expected; /* part of the answer, or NULL */
} Case;

static inline void
check_cases (const Case *cases, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *answer = ask (cases[i].request);

    check_answer (cases[i].request, answer, cases[i].status, cases[i].expected);
  }
}

#endif /* TESTS_LIB_WATCH_HTTP_H */
