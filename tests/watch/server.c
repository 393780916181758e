/* cudaccl-watch - tests of the interface over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <json-glib/json-glib.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth.h"
#include "discovery.h"
#include "http.h"
#include "preview.h"
#include "tests/lib/removetree.h"
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

static Watch *watch;
static WatchServer *server;

static void
start (const gchar *settings)
{
  g_autoptr (GBytes) picture = g_bytes_new_static ("\xff\xd8picture\xff\xd9", 11);
  GError *error = NULL;

  watch = watch_fake_new (settings);
  watch_fake_set_picture (watch, picture);
  server = watch_server_new (watch, &error);
  g_assert_no_error (error);
}

static void
stop (void)
{
  watch_server_free (server);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  fail_unless_equals_int (watch_fake_get_viewers (watch), 0);
  watch_fake_free (watch);
}

static void
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

static void
client_open (Client *client, const gchar *request)
{
  g_autoptr (GSocketClient) socket_client = g_socket_client_new ();
  GError *error = NULL;

  g_socket_client_set_enable_proxy (socket_client, FALSE);
  client->connection = g_socket_client_connect_to_uri (socket_client, watch_server_get_uri (server),
                                                       80, NULL, &error);
  g_assert_no_error (error);
  client->answer = g_string_new (NULL);
  client->ended = FALSE;
  client_send (client, request, strlen (request));
}

static gboolean
set_true (gpointer flag)
{
  *(gboolean *) flag = TRUE;
  return G_SOURCE_REMOVE;
}

/* Reads until the answer has @text (NULL: until its end), for at most ten seconds. */
static gboolean
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

static void
client_close (Client *client)
{
  g_io_stream_close (G_IO_STREAM (client->connection), NULL, NULL);
  g_object_unref (client->connection);
  g_string_free (client->answer, TRUE);
}

static gint
get_status (const gchar *answer)
{
  return g_str_has_prefix (answer, "HTTP/1.1 ") ? atoi (answer + 9) : 0;
}

static const gchar *
get_body (const gchar *answer)
{
  const gchar *body = strstr (answer, "\r\n\r\n");

  return body ? body + 4 : "";
}

/* Returns the whole answer. `HOST` and `LENGTH` in @request are replaced. */
static gchar *
ask (const gchar *request)
{
  g_autoptr (GUri) uri = g_uri_parse (watch_server_get_uri (server), G_URI_FLAGS_NONE, NULL);
  g_autofree gchar *host = g_strdup_printf ("127.0.0.1:%d", g_uri_get_port (uri)), *length = NULL;
  g_autoptr (GString) text = g_string_new (request);
  Client client;
  gchar *answer;

  length = g_strdup_printf ("%zu", strlen (get_body (request)));
  g_string_replace (text, "HOST", host, 0);
  g_string_replace (text, "LENGTH", length, 1);
  client_open (&client, text->str);
  fail_unless (client_read (&client, NULL), "no end of the answer to %.200s: %.1500s", request,
               client.answer->str);
  answer = g_strdup (client.answer->str);
  client_close (&client);
  return answer;
}

/* The head of a request, without its last line. */
#define HEAD(method, path) method " " path " HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n"
#define GET(path) HEAD ("GET", path) "\r\n"
#define SEND(method, path, body) \
  HEAD (method, path) "X-Cudaccl-Watch: 1\r\nContent-Length: LENGTH\r\n\r\n" body

/* An error is one line of JSON in words, and nothing tells a secret. */
static void
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

static void
check_cases (const Case *cases, guint n)
{
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *answer = ask (cases[i].request);

    check_answer (cases[i].request, answer, cases[i].status, cases[i].expected);
  }
}

/* --- Routes --- */

GST_START_TEST (test_routes)
{
  static const Case cases[] = {
    { GET ("/"), 200, "<!doctype html" },
    { GET ("/index.html"), 200, "Content-Type: text/html" },
    { GET ("/openapi.json"), 200, "\"openapi\"" },
    { HEAD ("HEAD", "/") "\r\n", 200, "Content-Length: " },
    { GET ("/healthz"), 200, "ok" },
    { GET ("/readyz"), 200, "ready" },
    { GET ("/metrics"), 200, "cudaccl_watch_camera_up{camera=\"yard\"} 1\n" },
    { GET ("/metrics"), 200, "cudaccl_watch_sink_pending{sink=\"webhook \\\"example.org\\\"\"} 3" },
    { GET ("/api/status"), 200, "\"text\":\"connection refused\"" },
    { GET ("/api/cameras"), 200, "\"uri\":\"rtsp://192.0.2.1/live\"" },
    { GET ("/api/cameras"), 200, "\"zones\":\"lawn: 0,0.5 1,0.5 1,1\"" },
    { GET ("/api/cameras/yard/snapshot"), 200, "picture" },
    { GET ("/api/cameras/none/snapshot"), 404, "there is no camera none" },
    { GET ("/api/cameras/yard/snapshot?boxes=2"), 400, "boxes: expected 0 or 1" },
    { GET ("/api/cameras/none/live"), 404, NULL },
    { GET ("/api/cameras/yard/live?rate=11"), 400, "rate: expected 1 to 10" },
    { GET ("/api/live"), 400, "expected names" },
    { GET ("/api/live?cameras=yard,%20"), 400, "expected up to 256 names" },
    { GET ("/api/events"), 200, "{\"events\":[]}" },
    { GET ("/api/events?kind=in&camera=yard&begin=2026-01-31T12:00:00Z&end=1769860801"), 200,
      "{\"events\":[]}" },
    { GET ("/api/events?kind=motions"), 400, "kind: expected motion" },
    { GET ("/api/events?limit=0"), 400, "limit: expected 1 to 1000" },
    { GET ("/api/events?limit=1001"), 400, "limit" },
    { GET ("/api/events?begin=yesterday"), 400, "begin: expected a time" },
    { GET ("/api/events?begin=2&end=1"), 400, "end: expected a time after begin" },
    { GET ("/api/events?colour=red"), 400, "unknown parameter colour; known: camera zone" },
    { GET ("/api/events?camera=%ff"), 400, "not UTF-8" },
    { GET ("/api/tracks?points=0,0%201,1"), 200, "{\"tracks\":[]}" },
    { GET ("/api/tracks?points=0,0"), 400, "points: expected 2 to 64" },
    { GET ("/api/tracks?points=0,0%201"), 400, "points" },
    { GET ("/api/tracks?points=0,0%201,1.5"), 400, "points" },
    { GET ("/api/tracks?points=0,0%201,nan"), 400, "points" },
    { GET ("/api/minutes?camera=yard"), 200, "{\"minutes\":[]}" },
    { GET ("/api/none"), 404, "there is no such page" },
    { GET ("/api/login"), 405, "Allow: POST\r\n" },
    { SEND ("PUT", "/api/cameras", ""), 405, "Allow: GET, POST\r\n" },
    { SEND ("DELETE", "/", ""), 405, "expected GET, not DELETE" },
    { HEAD ("HEAD", "/api/cameras/yard/live") "\r\n", 405, NULL },
    { SEND ("POST", "/api/login", "{\"token\":\"abc\"}"), 404, "no token is set" },
    { SEND ("POST", "/api/logout", ""), 200, NULL },
    /* Outside of its folders */
    { GET ("/../watch.conf"), 404, NULL },
    { GET ("/media/../watch.conf"), 404, NULL },
    { GET ("/media//etc/passwd"), 404, NULL },
    { GET ("/media/"), 404, NULL },
    { GET ("/api/cameras/yard%2f/snapshot"), 404, NULL },
    { GET ("/%ff"), 404, NULL },
  };

  /* Some of which libsoup refuses. */
  static const gchar *const outside[] = {
    GET ("/%2e%2e/watch.conf"),       GET ("/%2e%2e%2fwatch.conf"), GET ("/media/..%2fwatch.conf"),
    GET ("/media/%2e%2e/watch.conf"), GET ("/media/%00"),           GET ("/media/..\\watch.conf"),
  };

  start (LOCAL);
  check_cases (cases, G_N_ELEMENTS (cases));
  for (guint i = 0; i < G_N_ELEMENTS (outside); i++) {
    g_autofree gchar *answer = ask (outside[i]);

    fail_unless (get_status (answer) == 404 || get_status (answer) == 400, "%.1500s", answer);
  }
  stop ();
}
GST_END_TEST;

GST_START_TEST (test_cameras)
{
  static const Case cases[] = {
    { SEND ("POST", "/api/cameras", "{\"name\":\"door\",\"uri\":\"rtsp://u:s3cret@192.0.2.3/\"}"),
      201, "{}" },
    { GET ("/api/cameras"), 200, "\"uri\":\"rtsp://192.0.2.3/\",\"password\":true" },
    { SEND ("POST", "/api/cameras", "{\"name\":\"door\",\"uri\":\"rtsp://192.0.2.3/a_long\"}"), 409,
      "there is a camera door already" },
    { SEND ("POST", "/api/cameras", "{\"name\":\"gate\"}"), 400, "uri: expected the address" },
    { SEND ("POST", "/api/cameras", "{\"name\":\"a/b\",\"uri\":\"rtsp://192.0.2.3/\"}"), 400,
      "name: expected" },
    { SEND ("POST", "/api/cameras", "{\"name\":\"gate\",\"uri\":\"a ! b c\"}"), 400,
      "uri: expected" },
    { SEND ("POST", "/api/cameras", "{\"name\":12}"), 400, "name: expected" },
    { SEND ("POST", "/api/cameras", "[]"), 400, "must be an object" },
    { SEND ("POST", "/api/cameras", "{\xff"), 400, "not UTF-8" },
    { SEND ("POST", "/api/cameras", ""), 400, NULL },
    /* The address that GET gave is the one of before. */
    { SEND ("PUT", "/api/cameras/yard",
            "{\"uri\":\"rtsp://192.0.2.1/live\",\"enabled\":false     }"),
      200, NULL },
    { GET ("/api/cameras"), 200,
      "\"zones\":\"lawn: 0,0.5 1,0.5 1,1\",\"tripwires\":\"gate: 0.5,0 "
      "0.5,1\",\"enabled\":false" },
    { SEND ("PUT", "/api/cameras/yard", "{\"zones\":\"a: 0,0\"}"), 400, "zones" },
    { SEND ("PUT", "/api/cameras/yard", "{\"zones\":null,\"frozen-after\":2.0e1}"), 200, NULL },
    { GET ("/api/cameras"), 200, "\"frozen-after\":20" },
    { SEND ("PUT", "/api/cameras/yard", "{\"zones\":\"a\\nloop=1\"}"), 400,
      "zones: expected a line of text" },
    { SEND ("PUT", "/api/cameras/yard", "{\"data\":{}}"), 400, "unknown member data" },
    { SEND ("PUT", "/api/cameras/none", "{}"), 404, "there is no camera none" },
    { SEND ("DELETE", "/api/cameras/door", ""), 200, NULL },
    { SEND ("DELETE", "/api/cameras/door", ""), 404, NULL },
  };
  /* What is left out stays, and so does everything if one value is wrong. */
  static const struct
  {
    Case put;
    const gchar *secret;
  } changes[] = {
    { { SEND ("PUT", "/api/cameras/door", "{\"password\":\"new\"}"), 200, NULL }, "u:new\n" },
    { { SEND ("PUT", "/api/cameras/door", "{\"user\":\"v\"}"), 200, NULL }, "v:new\n" },
    { { SEND ("PUT", "/api/cameras/door",
              "{\"user\":\"w\",\"password\":\"x\",\"zones\":\"a: 0,0\"}"),
        400, "zones" },
      "v:new\n" },
    { { SEND ("PUT", "/api/cameras/door", "{\"user\":null,\"zones\":\"a: 0,0\"}"), 400, "zones" },
      "v:new\n" },
    { { SEND ("PUT", "/api/cameras/door", "{\"uri\":\"rtsp://192.0.2.3/b\"}"), 200, NULL },
      "v:new\n" },
    { { SEND ("PUT", "/api/cameras/door", "{\"record-uri\":\"rtsp://192.0.2.9/\"}"), 200, NULL },
      NULL },
    { { SEND ("PUT", "/api/cameras/door", "{\"user\":\"v\",\"password\":\"new\"}"), 200, NULL },
      "v:new\n" },
    { { SEND ("PUT", "/api/cameras/door", "{\"user\":null}"), 200, NULL }, NULL },
    { { SEND ("PUT", "/api/cameras/door", "{\"user\":\"u\",\"zones\":\"a: 0,0\"}"), 400, "zones" },
      NULL },
    { { SEND ("PUT", "/api/cameras/door",
              "{\"user\":\"u\",\"password\":\"s3cret\",\"uri\":\"rtsp://192.0.2.3/"
              "\",\"record-uri\":null}"),
        200, NULL },
      "u:s3cret\n" },
  };
  g_autofree gchar *secret = NULL, *text = NULL;
  gchar *path;

  start (LOCAL);
  check_cases (cases, 1);
  secret = g_build_filename (watch_fake_get_folder (watch), "credentials", "door", NULL);
  fail_unless (g_file_get_contents (secret, &text, NULL, NULL));
  fail_unless_equals_string (text, "u:s3cret\n");
  for (guint i = 0; i < G_N_ELEMENTS (changes); i++) {
    check_cases (&changes[i].put, 1);
    g_clear_pointer (&text, g_free);
    g_file_get_contents (secret, &text, NULL, NULL);
    fail_unless_equals_string (text, changes[i].secret);
  }
  check_cases (cases + 1, G_N_ELEMENTS (cases) - 1);
  fail_if (g_file_test (secret, G_FILE_TEST_EXISTS));

  g_free (text);
  path = g_build_filename (watch_fake_get_folder (watch), "watch.conf", NULL);
  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  g_free (path);
  fail_unless (strstr (text, "uri = rtsp://owner:s3cret@192.0.2.1/live?key=conce4led\n"), "%.1500s",
               text);
  stop ();
}
GST_END_TEST;

/* --- Who may --- */

GST_START_TEST (test_local)
{
#define WITH(headers) "GET /api/cameras HTTP/1.1\r\nConnection: close\r\n" headers "\r\n"
#define CHANGE(headers) HEAD ("DELETE", "/api/cameras/none") headers "Content-Length: 0\r\n\r\n"
  static const Case cases[] = {
    { WITH ("Host: localhost:8480\r\n"), 200, NULL },
    { WITH ("Host: LocalHost\r\n"), 200, NULL },
    { WITH ("Host: 127.1.2.3\r\n"), 200, NULL },
    { WITH ("Host: [::1]:8480\r\n"), 200, NULL },
    { WITH ("Host: evil.example\r\n"), 403, "without a token" },
    { WITH ("Host: localhost.evil.example\r\n"), 403, NULL },
    { WITH ("Host: 127.0.0.1.evil.example\r\n"), 403, NULL },
    { WITH ("Host: evil@localhost\r\n"), 403, NULL },
    { WITH ("Host: 192.0.2.1\r\n"), 403, NULL },
    { WITH ("Host: HOST\r\nSec-Fetch-Site: cross-site\r\n"), 403, "other sites" },
    { WITH ("Host: HOST\r\nSec-Fetch-Site: same-site\r\n"), 403, NULL },
    { WITH ("Host: HOST\r\nSec-Fetch-Site: same-origin\r\n"), 200, NULL },
    { WITH ("Host: HOST\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"), 200,
      NULL },
    { CHANGE (""), 403, "X-Cudaccl-Watch" },
    { CHANGE ("X-Cudaccl-Watch: 1\r\n"), 404, NULL },
    { CHANGE ("X-Cudaccl-Watch: 1\r\nOrigin: http://HOST\r\n"), 404, NULL },
    { CHANGE ("X-Cudaccl-Watch: 1\r\nOrigin: http://evil.example\r\n"), 403, NULL },
    { CHANGE ("X-Cudaccl-Watch: 1\r\nOrigin: null\r\n"), 403, NULL },
    { CHANGE ("X-Cudaccl-Watch: 1\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n"),
      403, NULL },
  };

  start (LOCAL);
  check_cases (cases, G_N_ELEMENTS (cases));
  stop ();
}
GST_END_TEST;

GST_START_TEST (test_token)
{
#define BEARER(token) HEAD ("GET", "/api/cameras") "Authorization: Bearer " token "\r\n\r\n"
#define COOKIE(method, path) HEAD (method, path) "X-Cudaccl-Watch: 1\r\nCookie: a=b; %s\r\n\r\n"
  static const Case cases[] = {
    { GET ("/"), 200, NULL },
    { GET ("/healthz"), 200, NULL },
    { GET ("/api/cameras"), 401, "WWW-Authenticate: Bearer" },
    { GET ("/metrics"), 401, NULL },
    { GET ("/media/a"), 401, NULL },
    { GET ("/openapi.json"), 401, NULL },
    { GET ("/api/events/stream"), 401, NULL },
    { SEND ("DELETE", "/api/cameras/none", ""), 401, NULL },
    { HEAD ("GET", "/api/cameras") "Authorization: Basic YTpi\r\n\r\n", 401, NULL },
    { HEAD ("GET", "/api/cameras") "Cookie: cudaccl-watch=; cudaccl-watch\r\n\r\n", 401, NULL },
    /* A token needs no header against CSRF, and no local name. */
    { HEAD ("DELETE", "/api/cameras/none") "Authorization: Bearer a-long-token\r\n\r\n", 404,
      NULL },
    { "GET /api/cameras HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n"
      "Authorization: Bearer a-long-token\r\n\r\n",
      200, NULL },
    { BEARER ("wrong"), 401, "the token is wrong" },
    { BEARER ("a-long-token "), 200, NULL }, /* a header ends without spaces */
    { SEND ("POST", "/api/login", "{\"token\":\"no\"}"), 401, "the token is wrong" },
    { SEND ("POST", "/api/login", "{}"), 400, "expected {" },
    { SEND ("POST", "/api/login", "{\"token\":{}}"), 400, NULL },
  };
  const gchar *log_in = SEND ("POST", "/api/login", "{\"token\":\"a-long-token\"}");
  g_autofree gchar *answer = NULL, *with = NULL, *out = NULL;
  gchar *cookie;

  start (TOKEN);
  check_cases (cases, G_N_ELEMENTS (cases));

  answer = ask (log_in);
  check_answer (log_in, answer, 200, "; Path=/; HttpOnly; SameSite=Strict; Max-Age=2592000");
  cookie = strstr (answer, "Set-Cookie: ") + strlen ("Set-Cookie: ");
  *strchr (cookie, ';') = '\0';
  fail_unless_equals_int (strlen (cookie), strlen (WATCH_AUTH_COOKIE "=") + 64);
  with = g_strdup_printf (COOKIE ("GET", "/api/cameras"), cookie);
  out = g_strdup_printf (COOKIE ("POST", "/api/logout"), cookie);
  check_cases ((Case[]){ { with, 200, NULL }, { out, 200, NULL }, { with, 401, NULL } }, 3);

  /* Too many wrong ones: then even the right one is refused. */
  for (guint i = 0; i < WATCH_AUTH_FAILURES; i++)
    g_free (ask (BEARER ("wrong")));
  check_cases ((Case[]){ { BEARER ("a-long-token"), 429, "Retry-After: 60" } }, 1);
  stop ();
}
GST_END_TEST;

GST_START_TEST (test_auth)
{
  g_autoptr (WatchAuth) auth = watch_auth_new ();
  g_autoptr (GInetAddress) here = g_inet_address_new_from_string ("2001:db8::1");
  g_autoptr (GInetAddress) near = g_inet_address_new_from_string ("2001:db8::2");
  g_autoptr (GInetAddress) far = g_inet_address_new_from_string ("192.0.2.1");
  gint64 time = G_USEC_PER_SEC;
  gchar *oldest = NULL;

  for (guint i = 0; i < WATCH_AUTH_FAILURES; i++)
    fail_unless_equals_int (watch_auth_check (auth, "token", "bearer no", NULL, here, time, NULL),
                            WATCH_AUTH_WRONG);
  fail_unless_equals_int (watch_auth_check (auth, "token", "Bearer token", NULL, near, time, NULL),
                          WATCH_AUTH_TOO_MANY);
  fail_unless_equals_int (watch_auth_check (auth, "token", "Bearer token", NULL, far, time, NULL),
                          WATCH_AUTH_OK);
  time += WATCH_AUTH_BLOCK * G_USEC_PER_SEC;
  fail_unless_equals_int (watch_auth_check (auth, "token", "Bearer token", NULL, here, time, NULL),
                          WATCH_AUTH_OK);

  /* The oldest of too many sessions ends; another token ends all; so does a month. */
  for (guint i = 0; i <= WATCH_AUTH_MAX_SESSIONS; i++) {
    g_autofree gchar *session = NULL, *cookie = NULL;

    fail_unless_equals_int (watch_auth_log_in (auth, "token", "token", far, ++time, &session),
                            WATCH_AUTH_OK);
    cookie = g_strconcat (WATCH_AUTH_COOKIE "=", session, NULL);
    fail_unless_equals_int (watch_auth_check (auth, "token", NULL, cookie, far, time, NULL),
                            WATCH_AUTH_OK);
    if (i == 0)
      oldest = g_steal_pointer (&cookie);
    if (i == 2)
      fail_unless_equals_int (watch_auth_check (auth, "other", NULL, cookie, far, time, NULL),
                              WATCH_AUTH_NEEDED);
    if (i == WATCH_AUTH_MAX_SESSIONS)
      fail_unless_equals_int (
          watch_auth_check (auth, "token", NULL, cookie, far, time + 31 * G_TIME_SPAN_DAY, NULL),
          WATCH_AUTH_NEEDED);
  }
  fail_unless_equals_int (watch_auth_check (auth, "token", NULL, oldest, far, time, NULL),
                          WATCH_AUTH_OK);
  for (guint i = 0; i < WATCH_AUTH_MAX_SESSIONS; i++) {
    g_autofree gchar *session = NULL;

    watch_auth_log_in (auth, "token", "token", far, ++time, &session);
  }
  fail_unless_equals_int (watch_auth_check (auth, "token", NULL, oldest, far, time, NULL),
                          WATCH_AUTH_NEEDED);
  g_free (oldest);

  /* A cookie that is used is renewed, once a day. */
  {
    g_autofree gchar *session = NULL, *cookie = NULL;

    watch_auth_log_in (auth, "token", "token", far, time, &session);
    cookie = g_strconcat ("a=b; " WATCH_AUTH_COOKIE "=", session, NULL);
    for (guint hours = 0; hours < 100; hours += 5) {
      g_autofree gchar *renewed = NULL;

      fail_unless_equals_int (watch_auth_check (auth, "token", NULL, cookie, far,
                                                time + hours * G_TIME_SPAN_HOUR, &renewed),
                              WATCH_AUTH_OK);
      fail_unless_equals_string (renewed,
                                 hours == 25 || hours == 50 || hours == 75 ? session : NULL);
    }
  }

  /* Addresses beyond the limit share their failures. */
  for (guint i = 0; i < 1024 + WATCH_AUTH_FAILURES; i++) {
    const guint8 bytes[] = { 10, 0, i >> 8, i & 255 };
    g_autoptr (GInetAddress) one = g_inet_address_new_from_bytes (bytes, G_SOCKET_FAMILY_IPV4);

    watch_auth_check (auth, "token", "Bearer no", NULL, one, time, NULL);
  }
}
GST_END_TEST;

/* --- Limits --- */

GST_START_TEST (test_limits)
{
  g_autofree gchar *long_path = g_strnfill (9000, 'a'), *body = g_strnfill (300000, ' ');
  g_autofree gchar *path = g_strdup_printf (GET ("/%s"), long_path);
  g_autofree gchar *query = g_strdup_printf (GET ("/api/events?camera=%s"), long_path);
  g_autofree gchar *big = g_strdup_printf (SEND ("POST", "/api/cameras", "%s"), body);
  g_autofree gchar *unexpected = g_strdup_printf (SEND ("DELETE", "/api/cameras/yard", "%s"), body);
  const Case cases[] = {
    { path, 414, NULL },
    { query, 414, NULL },
    { big, 413, "at most 262144 bytes" },
    { unexpected, 400, "no body is expected" },
    { HEAD ("POST", "/api/cameras") "X-Cudaccl-Watch: 1\r\nTransfer-Encoding: chunked\r\n\r\n"
                                    "2\r\n{}\r\n0\r\n\r\n",
      411, NULL },
  };

  start (LOCAL);
  check_cases (cases, G_N_ELEMENTS (cases));
  stop ();
}
GST_END_TEST;

/* --- Streams and files --- */

GST_START_TEST (test_live)
{
  Client client, both, refused[80];
  guint n = 0;

  start (LOCAL);
  client_open (&client, "GET /api/cameras/yard/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
  fail_unless (client_read (&client, "picture\xff\xd9\r\n"), "%.1500s", client.answer->str);
  fail_unless (strstr (client.answer->str, "Content-Type: multipart/x-mixed-replace; "
                                           "boundary=cudaccl"));
  fail_unless (strstr (client.answer->str, "Content-Length: 11\r\nX-Camera: yard\r\n"));

  /* A camera that is changed is a new one: its viewers follow. */
  g_free (ask (SEND ("PUT", "/api/cameras/yard", "{\"loop\":  true}")));
  g_string_truncate (client.answer, 0);
  fail_unless (client_read (&client, "picture"));
  g_free (ask (SEND ("DELETE", "/api/cameras/yard", "")));
  client_close (&client);

  g_free (ask (SEND ("POST", "/api/cameras", "{\"name\":\"yard\",\"uri\":\"rtsp://192.0.2.9/\"}")));
  client_open (&both, "GET /api/live?cameras=hall,yard HTTP/1.1\r\nHost: localhost\r\n\r\n");
  fail_unless (client_read (&both, "X-Camera: yard"), "%.1500s", both.answer->str);
  fail_if (strstr (both.answer->str, "X-Camera: hall"));
  for (; n < G_N_ELEMENTS (refused); n++) {
    client_open (&refused[n], "GET /api/events/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
    fail_unless (client_read (&refused[n], "\r\n\r\n"));
    if (get_status (refused[n].answer->str) == 503)
      break;
  }
  fail_unless (n >= 60 && n < 70, "%u streams", n);
  while (n)
    client_close (&refused[n--]);
  client_close (&refused[0]);
  client_close (&both);
  stop ();
}
GST_END_TEST;

static WatchEvent *
make_event (guint64 number, gint64 time)
{
  return watch_event_copy (&(WatchEvent){ .camera = (gchar *) "yard",
                                          .session = (gchar *) "0c3e",
                                          .number = number,
                                          .time = time,
                                          .kind = WATCH_EVENT_IN,
                                          .zone = (gchar *) "gate",
                                          .x = 0.5,
                                          .y = 0.5 });
}

GST_START_TEST (test_events)
{
  gint64 time = g_get_real_time () - G_TIME_SPAN_MINUTE;
  g_autofree gchar *id =
      g_strdup_printf ("id: %" G_GINT64_FORMAT "\ndata: {\"camera\":\"yard\"", time);
  g_autofree gchar *request = NULL, *page = NULL, *others = NULL;
  const gchar *missed;
  Client client;
  gint64 before;

  start (LOCAL);
  client_open (&client, "GET /api/events/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  fail_unless (client_read (&client, "retry: 2000\n\n"), "%.1500s", client.answer->str);
  fail_unless (strstr (client.answer->str, "Content-Type: text/event-stream"));
  watch_fake_add_event (watch, make_event (1, time));
  fail_unless (client_read (&client, id), "%.1500s", client.answer->str);
  client_close (&client);

  /* What came between two connections, in order. */
  watch_fake_add_event (watch, make_event (2, time + 1));
  watch_fake_add_event (watch, make_event (3, time + 2));
  request = g_strdup_printf ("GET /api/events/stream HTTP/1.1\r\nHost: localhost\r\n"
                             "Last-Event-ID: %" G_GINT64_FORMAT "\r\n\r\n",
                             time);
  client_open (&client, request);
  fail_unless (client_read (&client, "\"number\":3,"), "%.1500s", client.answer->str);
  fail_unless (strstr (client.answer->str, "\"number\":2,") <
               strstr (client.answer->str, "\"number\":3,"));
  fail_if (strstr (client.answer->str, "event: missed"));
  client_close (&client);

  /* Of many, the last; and where the others are. */
  for (guint i = 4; i <= 210; i++)
    watch_store_add_event (watch_get_shared (watch)->store, make_event (i, time + i));
  watch_store_flush (watch_get_shared (watch)->store);
  client_open (&client, request);
  fail_unless (client_read (&client, "\"number\":210,"), "%.1500s", client.answer->str);
  fail_if (strstr (client.answer->str, "\"number\":10,"));
  fail_unless (strstr (client.answer->str, "\"number\":11,"));
  missed = strstr (client.answer->str, "event: missed\ndata: {\"begin\":\"");
  fail_unless (missed && missed < strstr (client.answer->str, "\"number\":11,"), "%.1500s",
               client.answer->str);
  before = strtoll (strstr (missed, "\"before\":") + strlen ("\"before\":"), NULL, 10);
  page = g_strdup_printf (GET ("/api/events?before=%" G_GINT64_FORMAT "&begin=%.24s"), before,
                          strstr (missed, "begin") + strlen ("begin\":\""));
  others = ask (page);
  fail_if (strstr (others, "\"number\":11,"));
  for (guint i = 1; i <= 10; i++) {
    g_autofree gchar *number = g_strdup_printf ("\"number\":%u,", i);

    fail_unless (strstr (others, number), "%s: %.1500s", number, others);
  }
  client_close (&client);

  check_cases ((Case[]){ { GET ("/api/events?limit=2"), 200, "\"next\":" },
                         { GET ("/api/events?limit=3&kind=in&zone=gate"), 200, "\"number\":208" },
                         { GET ("/api/events?kind=out"), 200, "{\"events\":[]}" } },
               3);
  stop ();
}
GST_END_TEST;

GST_START_TEST (test_media)
{
#define RANGE(range) HEAD ("GET", "/media/%s") range "\r\n"
  static const struct
  {
    const gchar *request;
    gint status;
    const gchar *header, *body;
  } cases[] = {
    { RANGE (""), 200, "Accept-Ranges: bytes", "0123456789" },
    { RANGE ("Range: bytes=2-4\r\n"), 206, "Content-Range: bytes 2-4/10", "234" },
    { RANGE ("Range: bytes=7-\r\n"), 206, "Content-Range: bytes 7-9/10", "789" },
    { RANGE ("Range: bytes=-2\r\n"), 206, "Content-Range: bytes 8-9/10", "89" },
    { RANGE ("Range: bytes=0-99\r\n"), 206, "Content-Range: bytes 0-9/10", "0123456789" },
    { RANGE ("Range: bytes=10-\r\n"), 416, "Content-Range: bytes */10", NULL },
    { RANGE ("Range: bytes=4-2\r\n"), 200, NULL, "0123456789" },
    { RANGE ("Range: lines=1-2\r\n"), 200, NULL, "0123456789" },
    { RANGE ("Range: bytes=1-2,5-6\r\n"), 200, NULL, "0123456789" },
    { RANGE ("Range: bytes=2-4\r\nIf-Range: \"other\"\r\n"), 200, NULL, "0123456789" },
    { HEAD ("HEAD", "/media/%s") "\r\n", 200, "Content-Length: 10", "" },
  };
  g_autoptr (GBytes) picture = g_bytes_new_static ("0123456789", 10);
  g_autofree gchar *name = NULL, *path = NULL;

  start (LOCAL);
  name = watch_media_add_picture (watch_get_shared (watch)->media, "yard", g_get_real_time (), 1,
                                  picture);
  path = watch_media_get_path (watch_get_shared (watch)->media, name);
  while (!g_file_test (path, G_FILE_TEST_EXISTS))
    g_usleep (1000);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GString) request = g_string_new (cases[i].request);
    g_autofree gchar *answer = NULL;

    g_string_replace (request, "%s", name, 1);
    answer = ask (request->str);
    check_answer (request->str, answer, cases[i].status, cases[i].header);
    if (cases[i].body)
      fail_unless_equals_string (get_body (answer), cases[i].body);
  }
  stop ();
}
GST_END_TEST;

/* --- Synopsis --- */

/* Writes a program that does what cudaccl-watch does there, and waits where it must be ended. */
static void
set_program (const gchar *text)
{
  g_autofree gchar *path = g_build_filename (watch_fake_get_folder (watch), "program", NULL);
  g_autofree gchar *script =
      g_strdup_printf ("#!/bin/sh\n"
                       "while [ $# -gt 1 ]; do [ \"$1\" = --output ] && out=$2; shift; done\n%s",
                       text);

  fail_unless (
      g_file_set_contents_full (path, script, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0700, NULL));
  watch_synopsis_job_set_program (watch_server_get_synopsis (server), path);
}

/* Asks until the answer has @text. */
static void
wait_for_synopsis (const gchar *text)
{
  g_autofree gchar *answer = NULL;

  for (guint i = 0; i < 1000; i++) {
    g_free (answer);
    answer = ask (GET ("/api/synopsis"));
    check_answer ("GET /api/synopsis", answer, 200, NULL);
    if (strstr (answer, text))
      return;
    g_usleep (10000);
  }
  fail ("%s\nhas never: %s", answer, text);
}

GST_START_TEST (test_synopsis)
{
#define MAKE SEND ("POST", "/api/synopsis", "{\"camera\":\"yard\",\"day\":\"2026-01-31\"}")
  static const Case wrong[] = {
    { GET ("/api/synopsis"), 200, "{\"state\":\"none\"}" },
    { GET ("/api/synopsis/video"), 404, "there is no synopsis" },
    { SEND ("POST", "/api/synopsis", "{\"day\":\"2026-01-31\"}"), 400, "camera: expected" },
    { SEND ("POST", "/api/synopsis", "{\"camera\":\"--data\",\"day\":{}}"), 400, "day: expected" },
    { SEND ("POST", "/api/synopsis", "{\"camera\":\"a/b\",\"day\":\"2026-01-31\"}"), 400,
      "camera" },
    { SEND ("POST", "/api/synopsis", "{\"camera\":\"yard\",\"day\":\"2026-02-30\"}"), 400,
      "day: expected YYYY-MM-DD" },
    { SEND ("POST", "/api/synopsis", "{\"camera\":\"yard\",\"day\":\"2026-1-310\"}"), 400, "day" },
    { SEND ("POST", "/api/synopsis", "{\"camera\":\"yard\",\"day\":\"2026-01-31\",\"seconds\":14}"),
      400, "seconds: expected 15 to 3600" },
  };
  g_autofree gchar *video = NULL, *part = NULL;

  start (LOCAL);
  check_cases (wrong, G_N_ELEMENTS (wrong));
  video = g_build_filename (watch_fake_get_folder (watch), "synopsis.mp4", NULL);
  part = g_strconcat (video, ".part", NULL);

  /* It tells how far it is, is the only one, and ends when it is told to. */
  set_program ("echo >$out.part; echo '{\"progress\":0.25}'; exec sleep 1000");
  check_cases ((Case[]){ { MAKE, 202, "{\"state\":\"running\",\"camera\":\"yard\"" } }, 1);
  wait_for_synopsis ("\"progress\":0.25");
  check_cases ((Case[]){ { MAKE, 409, "of yard is being made" },
                         { GET ("/api/synopsis/video"), 404, NULL },
                         { SEND ("DELETE", "/api/synopsis", ""), 200, "{\"state\":\"none\"}" } },
               3);
  while (g_file_test (part, G_FILE_TEST_EXISTS))
    g_main_context_iteration (NULL, TRUE);

  /* What is wrong is said, also if it said nothing. */
  set_program ("echo '{\"error\":\"nothing moves\"}'; exit 1");
  check_cases ((Case[]){ { MAKE, 202, NULL } }, 1);
  wait_for_synopsis (
      "\"state\":\"failed\",\"camera\":\"yard\",\"day\":\"2026-01-31\",\"seconds\":180,"
      "\"progress\":0.0,\"error\":\"nothing moves\"}");
  set_program ("kill -SEGV $$");
  check_cases ((Case[]){ { MAKE, 202, NULL } }, 1);
  wait_for_synopsis ("\"error\":\"the process was ended by the signal 11");
  set_program ("exit 0");
  check_cases ((Case[]){ { MAKE, 202, NULL } }, 1);
  wait_for_synopsis ("\"error\":\"the process ended without a video");

  /* The video, whole and in part, until it is removed. */
  set_program ("printf 0123456789 >$out; echo '{\"objects\":4,\"recordings\":2,\"unreadable\":1,"
               "\"seconds\":12.5,\"jpeg\":false}'");
  check_cases ((Case[]){ { MAKE, 202, NULL } }, 1);
  wait_for_synopsis (
      "\"progress\":1.0,\"objects\":4,\"recordings\":2,\"unreadable\":1,\"length\":12.5,"
      "\"video\":\"/api/synopsis/video\",\"type\":\"video/mp4\"}");
  check_cases ((Case[]){ { GET ("/api/synopsis/video"), 200, "\r\n\r\n0123456789" },
                         { GET ("/api/synopsis/video"), 200,
                           "Content-Disposition: inline; filename=\"yard-2026-01-31.mp4\"" },
                         { HEAD ("GET", "/api/synopsis/video") "Range: bytes=2-3\r\n\r\n", 206,
                           "\r\n\r\n23" },
                         { SEND ("DELETE", "/api/synopsis", ""), 200, "none" },
                         { GET ("/api/synopsis/video"), 404, NULL } },
               5);
  fail_if (g_file_test (video, G_FILE_TEST_EXISTS));

  /* It ends with the server. */
  set_program ("echo $$ >$out.pid; exec sleep 1000");
  check_cases ((Case[]){ { MAKE, 202, NULL } }, 1);
  {
    g_autofree gchar *path = g_strconcat (video, ".pid", NULL);
    gchar *pid = NULL;

    while (!g_file_get_contents (path, &pid, NULL, NULL) || !*pid) {
      g_free (pid);
      g_usleep (1000);
    }
    stop ();
    for (guint i = 0; i < 1000 && kill (atoi (pid), 0) == 0; i++) {
      g_main_context_iteration (NULL, FALSE);
      g_usleep (1000);
    }
    fail_unless (kill (atoi (pid), 0) != 0);
    g_free (pid);
  }
}
GST_END_TEST;

/* --- Test pictures --- */

static void
run_preview (const gchar *path, guint timeout, GCancellable *cancellable, WatchAnswer *answer)
{
  g_autofree gchar *uri = g_filename_to_uri (path, NULL, NULL);
  WatchPreview preview = { uri, NULL, NULL, timeout };
  gint64 start = g_get_monotonic_time ();

  *answer = (WatchAnswer){ 0 };
  watch_preview_run (answer, &preview, cancellable);
  fail_unless (g_get_monotonic_time () < start + 5 * G_USEC_PER_SEC);
}

static void
clear_answer (WatchAnswer *answer)
{
  g_clear_pointer (&answer->body, g_bytes_unref);
  g_clear_error (&answer->error);
}

/* A pipe that has no writer hangs when it is opened. */
GST_START_TEST (test_preview)
{
  g_autofree gchar *folder = g_dir_make_tmp ("watch-XXXXXX", NULL);
  g_autofree gchar *pipe = g_build_filename (folder, "pipe", NULL),
                   *file = g_build_filename (folder, "picture", NULL);
  g_autofree gchar *text =
      g_strdup_printf ("videotestsrc num-buffers=1 ! jpegenc ! filesink location=%s", file);
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GCancellable) cancelled = g_cancellable_new ();
  WatchAnswer answer;
  const guint8 *data;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless_equals_int (mkfifo (pipe, 0600), 0);

  g_cancellable_cancel (cancelled);
  run_preview (pipe, 60000, cancelled, &answer);
  fail_if (answer.body);
  clear_answer (&answer);
  for (guint i = 1; i < 5; i++) {
    run_preview (pipe, 200, NULL, &answer);
    fail_unless_equals_int (answer.status, 502);
    fail_unless_equals_string (answer.error->message, "no picture came within 0.2 seconds");
    clear_answer (&answer);
  }
  /* Five threads hang: no more are made. */
  run_preview (file, 60000, NULL, &answer);
  fail_unless_equals_int (answer.status, 503);
  fail_unless (strstr (answer.error->message, "earlier test pictures hang"), "%s",
               answer.error->message);
  clear_answer (&answer);

  /* They end when the source does. It is opened more than once. */
  for (;;) {
    int fd = open (pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

    if (fd >= 0)
      close (fd);
    run_preview (file, 60000, NULL, &answer);
    if (answer.status != 503)
      break;
    clear_answer (&answer);
    g_usleep (10000);
  }
  fail_unless (answer.status == 200, "%s", answer.error ? answer.error->message : "");
  data = g_bytes_get_data (answer.body, NULL);
  fail_unless (data[0] == 0xff && data[1] == 0xd8);
  clear_answer (&answer);
  remove_tree (folder);
}
GST_END_TEST;

/* --- Starting --- */

GST_START_TEST (test_start)
{
  static const struct
  {
    const gchar *listen, *expected;
  } cases[] = {
    { "192.0.2.1:8480\ntoken-file = token", "192.0.2.1:8480: " },
    { "127.0.0.1:0\ncertificate = token\nkey = token", "certificate" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *text =
        g_strdup_printf ("[watch]\ndata = FOLDER\n[server]\nlisten = %s\n", cases[i].listen);
    Watch *one = watch_fake_new (text);
    g_autoptr (GError) error = NULL;

    fail_if (watch_server_new (one, &error));
    fail_unless (strstr (error->message, cases[i].expected), "%.1500s", error->message);
    watch_fake_free (one);
  }
}
GST_END_TEST;

/* --- What is said about it --- */

GST_START_TEST (test_openapi)
{
  g_autoptr (JsonParser) parser = json_parser_new ();
  g_autofree gchar *answer = NULL;
  const WatchRoute *routes;
  JsonObject *paths;
  guint n, n_described = 0;
  GList *l;

  start (LOCAL);
  answer = ask (GET ("/openapi.json"));
  stop ();
  fail_unless (json_parser_load_from_data (parser, get_body (answer), -1, NULL));
  paths =
      json_object_get_object_member (json_node_get_object (json_parser_get_root (parser)), "paths");
  routes = watch_http_get_routes (&n);
  for (guint i = 0; i < n; i++) {
    g_autofree gchar *method = g_ascii_strdown (routes[i].method, -1);
    g_auto (GStrv) names = g_strsplit (routes[i].query ? routes[i].query : "", " ", -1);
    JsonObject *path = json_object_has_member (paths, routes[i].path)
                           ? json_object_get_object_member (paths, routes[i].path)
                           : NULL;
    JsonObject *operation = path && json_object_has_member (path, method)
                                ? json_object_get_object_member (path, method)
                                : NULL;
    g_autofree gchar *text = NULL;
    g_autoptr (JsonNode) node = json_node_new (JSON_NODE_OBJECT);

    fail_unless (operation != NULL, "%s %s is not described", routes[i].method, routes[i].path);
    json_node_set_object (node, operation);
    text = json_to_string (node, FALSE);
    for (gchar **name = names; *name; name++) {
      g_autofree gchar *quoted = g_strdup_printf ("/parameters/%s\"", *name);

      fail_unless (strstr (text, quoted), "%s: %s is not described", routes[i].path, *name);
    }
  }
  for (l = json_object_get_values (paths); l; l = g_list_delete_link (l, l)) {
    JsonObject *path = json_node_get_object (l->data);

    n_described += json_object_get_size (path) - json_object_has_member (path, "parameters");
  }
  fail_unless_equals_int (n_described, n);
}
GST_END_TEST;

GST_START_TEST (test_promtool)
{
  g_autofree gchar *promtool = g_find_program_in_path ("promtool"), *answer = NULL, *out = NULL,
                   *err = NULL;
  g_autoptr (GSubprocess) process = NULL;
  gboolean ran;

  if (!promtool) {
    GST_INFO ("promtool is not installed");
    return;
  }
  start (LOCAL);
  answer = ask (GET ("/metrics"));
  stop ();
  process = g_subprocess_new (G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                                  G_SUBPROCESS_FLAGS_STDERR_PIPE,
                              NULL, promtool, "check", "metrics", NULL);
  ran = g_subprocess_communicate_utf8 (process, get_body (answer), NULL, &out, &err, NULL);
  fail_unless (ran && g_subprocess_get_successful (process), "%.500s%.500s\n%.1500s", out, err,
               get_body (answer));
}
GST_END_TEST;

GST_START_TEST (test_discovery)
{
#define MATCH(addresses, scopes)                                                 \
  "<d:ProbeMatch><d:Types>dn:NetworkVideoTransmitter</d:Types><d:Scopes>" scopes \
  "</d:Scopes><d:XAddrs>" addresses "</d:XAddrs></d:ProbeMatch>"
#define ENVELOPE(matches)                                                                       \
  "<?xml version=\"1.0\"?><!-- a --><s:Envelope xmlns:s=\"a\"><s:Body><d:ProbeMatches>" matches \
  "</d:ProbeMatches></s:Body></s:Envelope>"
  static const struct
  {
    const gchar *text, *found; /* name,model,uri;… */
  } cases[] = {
    { ENVELOPE (
          MATCH ("http://192.0.2.7/onvif/device_service",
                 "onvif://www.onvif.org/type/video_encoder "
                 "onvif://www.onvif.org/hardware/DS-2CD onvif://www.onvif.org/name/Back%20Door")),
      "Back Door,DS-2CD,rtsp://192.0.2.7/;" },
    { ENVELOPE (MATCH ("http://192.0.2.7:8080/a http://[fe80::1]/a", "")
                    MATCH ("http://[2001:db8::1]/a", "onvif://www.onvif.org/name/%ff")),
      "-,-,rtsp://192.0.2.7/;-,-,rtsp://[2001:db8::1]/;" },
    { ENVELOPE (MATCH ("http://192.0.2.7/", "") MATCH ("http://192.0.2.7/", "")),
      "-,-,rtsp://192.0.2.7/;" },
    { ENVELOPE (MATCH ("javascript:alert(1) file:///etc/passwd //a", "")), "" },
    { ENVELOPE ("<d:XAddrs>http://192.0.2.7/</d:XAddrs>"), "" },
    { "<!DOCTYPE a [<!ENTITY b \"b\">]><a>&b;</a>", "" },
    { "<ProbeMatch><XAddrs>http://192.0.2.7/</XAddrs>", "" },
    { "<ProbeMatch><XAddrs>", "" },
    { "\xff", "" },
    { "", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GPtrArray) devices = watch_devices_new ();
    g_autoptr (GString) found = g_string_new (NULL);

    watch_discovery_parse (cases[i].text, strlen (cases[i].text), devices);
    for (guint d = 0; d < devices->len; d++) {
      const WatchDevice *device = g_ptr_array_index (devices, d);

      g_string_append_printf (found, "%s,%s,%s;", device->name ? device->name : "-",
                              device->model ? device->model : "-", device->uri);
    }
    fail_unless_equals_string (found->str, cases[i].found);
  }
}
GST_END_TEST;

static Suite *
server_suite (void)
{
  Suite *s = suite_create ("server");
  TCase *tc = tcase_create ("server");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_routes);
  tcase_add_test (tc, test_cameras);
  tcase_add_test (tc, test_local);
  tcase_add_test (tc, test_token);
  tcase_add_test (tc, test_auth);
  tcase_add_test (tc, test_limits);
  tcase_add_test (tc, test_live);
  tcase_add_test (tc, test_events);
  tcase_add_test (tc, test_media);
  tcase_add_test (tc, test_synopsis);
  tcase_add_test (tc, test_preview);
  tcase_add_test (tc, test_start);
  tcase_add_test (tc, test_openapi);
  tcase_add_test (tc, test_promtool);
  tcase_add_test (tc, test_discovery);
  return s;
}

GST_CHECK_MAIN (server);
