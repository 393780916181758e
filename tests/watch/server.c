/* cudaccl-watch - tests of the interface over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/web/auth.h"
#include "apps/watch/onvif/discovery.h"
#include "tests/lib/watchhttp.h"

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

#define RESTORE                                                                     \
  "{\"uri\":\"rtsp://192.0.2.3/\",\"record-uri\":null,\"user\":\"v\",\"password\":" \
  "\"new\"}"
/* Moves the camera from rtsp://192.0.2.3/ to @uri; @kept is what is left of its credentials. */
#define ORIGIN(uri, kept)                                                           \
  { { SEND ("PUT", "/api/cameras/door", RESTORE), 200, NULL }, "v:new\n" },         \
  {                                                                                 \
    { SEND ("PUT", "/api/cameras/door", "{\"uri\":\"" uri "\"}"), 200, NULL }, kept \
  }

GST_START_TEST (test_cameras)
{
  static const Case cases[] = {
    { SEND ("POST", "/api/cameras", "{\"name\":\"door\",\"uri\":\"rtsp://u:s3cret@192.0.2.3/\"}"),
      201, "{}" },
    { GET ("/api/cameras"), 200, "\"uri\":\"rtsp://192.0.2.3/\",\"password\":true" },
    { SEND ("POST", "/api/cameras", "{\"name\":\"door\",\"uri\":\"rtsp://192.0.2.3/a_long\"}"), 409,
      "{\"error\":\"there is a camera door already\",\"reason\":{\"code\":\"camera-exists\","
      "\"arguments\":{\"camera\":\"door\"},\"text\":\"there is a camera door already\"}}" },
    { SEND ("POST", "/api/cameras", "{\"name\":\"gate\"}"), 400, "uri: expected the address" },
    { SEND ("POST", "/api/cameras", "{\"name\":\"a/b\",\"uri\":\"rtsp://192.0.2.3/\"}"), 400,
      "name: expected" },
    { SEND ("POST", "/api/cameras", "{\"name\":\"gate\",\"uri\":\"a ! b c\"}"), 400,
      "uri: expected" },
    { SEND ("POST", "/api/cameras", "{\"name\":12}"), 400,
      "{\"code\":\"value-wrong\",\"arguments\":{\"name\":\"name\",\"detail\":\"1 to 64" },
    { SEND ("POST", "/api/cameras", "{\"name\":\"gate\",\"uri\":null}"), 400, "uri: expected" },
    { SEND ("POST", "/api/try", "{\"uri\":null}"), 400, "uri: expected" },
    { SEND ("POST", "/api/try", "{\"uri\":\"file:///etc/hostname\"}"), 403, "file-needs-token" },
    { SEND ("POST", "/api/cameras", "{\"name\":\"a\",\"uri\":\"file:///none\"}"), 403, "token" },
    { SEND ("PUT", "/api/cameras/yard", "{\"record-uri\":\"FILE:/none\"}"), 400, "expected" },
    { SEND ("PUT", "/api/cameras/yard", "{\"record-uri\":\"file:///none\"}"), 403, "token" },
    { SEND ("PUT", "/api/cameras/yard", "{\"uri\":null}"), 400, "uri: expected" },
    { SEND ("POST", "/api/cameras", "{\"name\":\"a\\u0000b\",\"uri\":\"rtsp://192.0.2.3/\"}"), 400,
      "U+0000" },
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
    { SEND ("PUT", "/api/cameras/yard",
            "{\"zones\":null,\"frozen-after\":2.0e1,\"dwell-time\":7.5,\"static-time\":20}"),
      200, NULL },
    { GET ("/api/cameras"), 200, "\"frozen-after\":20,\"dwell-time\":7.5,\"static-time\":20" },
    { SEND ("PUT", "/api/cameras/yard", "{\"zones\":\"a\\nloop=1\"}"), 400,
      "zones: control characters" },
    { SEND ("PUT", "/api/cameras/yard", "{\"data\":{}}"), 400, "unknown member data" },
    { SEND ("PUT", "/api/cameras/none", "{}"), 404, "there is no camera none" },
    { SEND ("DELETE", "/api/cameras/door", ""), 200, NULL },
    { SEND ("DELETE", "/api/cameras/door", ""), 404, NULL },
  };
  /* Members that are left out stay, and so does everything if one value is wrong. */
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
    ORIGIN ("rtsp://192.0.2.3:554/c", "v:new\n"),
    ORIGIN ("rtspt://192.0.2.3/b", "v:new\n"),
    ORIGIN ("rtsp://192.0.2.3:8554/b", NULL),
    ORIGIN ("rtsps://192.0.2.3:554/b", NULL),
    ORIGIN ("http://192.0.2.3/b", NULL),
    ORIGIN ("http://192.0.2.3:554/b", NULL),
    ORIGIN ("rtsp://192.0.2.4/b", NULL),
    /* A user name does not bring the password along. */
    { { SEND ("PUT", "/api/cameras/door", RESTORE), 200, NULL }, "v:new\n" },
    { { SEND ("PUT", "/api/cameras/door",
              "{\"record-uri\":\"rtsp://192.0.2.3:8554/\",\"user\":\"v\"}"),
        200, NULL },
      "v:\n" },
    { { SEND ("PUT", "/api/cameras/door", RESTORE), 200, NULL }, "v:new\n" },
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

/* Newer versions of libsoup, such as 3.8, refuse a strange Host themselves. */
static void
check_refused (const gchar *request)
{
  g_autofree gchar *answer = ask (request);

  if (get_status (answer) != 400)
    check_answer (request, answer, 403, NULL);
}

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
  check_refused (WITH ("Host: evil@localhost\r\n"));
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
    { HEAD ("POST", "/api/try") "Authorization: Bearer a-long-token\r\nContent-Length: 24\r\n\r\n"
                                "{\"uri\":\"file:///none/a\"}",
      502, "file-missing" },
    /* A token needs no header against CSRF, and no local name. */
    { HEAD ("DELETE", "/api/cameras/none") "Authorization: Bearer a-long-token\r\n\r\n", 404,
      NULL },
    { "GET /api/cameras HTTP/1.1\r\nHost: shop.example\r\nConnection: close\r\n"
      "Authorization: Bearer a-long-token\r\n\r\n",
      200, NULL },
    { BEARER ("wrong"), 401, "the token is wrong" },
    { BEARER ("a-long-token "), 200, NULL }, /* a header ends without spaces */
    { SEND ("POST", "/api/login", "{\"token\":\"no\"}"), 401,
      "{\"error\":\"the token is wrong\",\"reason\":{\"code\":\"token-wrong\",\"arguments\":{}," },
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
  fail_unless_equals_int (strlen (cookie), strlen (WEB_AUTH_COOKIE "=") + 64);
  with = g_strdup_printf (COOKIE ("GET", "/api/cameras"), cookie);
  out = g_strdup_printf (COOKIE ("POST", "/api/logout"), cookie);
  check_cases ((Case[]){ { with, 200, NULL }, { out, 200, NULL }, { with, 401, NULL } }, 3);

  /* Too many wrong ones: then even the right one is refused. */
  for (guint i = 0; i < WEB_AUTH_FAILURES; i++)
    g_free (ask (BEARER ("wrong")));
  check_cases ((Case[]){ { BEARER ("a-long-token"), 429, "Retry-After: 60" } }, 1);
  stop ();
}
GST_END_TEST;

GST_START_TEST (test_auth)
{
  g_autoptr (WebAuth) auth = web_auth_new ();
  g_autoptr (GInetAddress) here = g_inet_address_new_from_string ("2001:db8::1");
  g_autoptr (GInetAddress) near = g_inet_address_new_from_string ("2001:db8::2");
  g_autoptr (GInetAddress) far = g_inet_address_new_from_string ("192.0.2.1");
  gint64 time = G_USEC_PER_SEC;
  gchar *oldest = NULL;

  for (guint i = 0; i < WEB_AUTH_FAILURES; i++)
    fail_unless_equals_int (web_auth_check (auth, "token", "bearer no", NULL, here, time, NULL),
                            WEB_AUTH_WRONG);
  fail_unless_equals_int (web_auth_check (auth, "token", "Bearer token", NULL, near, time, NULL),
                          WEB_AUTH_TOO_MANY);
  fail_unless_equals_int (web_auth_check (auth, "token", "Bearer token", NULL, far, time, NULL),
                          WEB_AUTH_OK);
  /* Another secret has counts of its own, and knowing it does not begin those of the token anew. */
  fail_unless_equals_int (web_auth_check_secret (auth, "other", "a", "a", here, time), WEB_AUTH_OK);
  fail_unless_equals_int (web_auth_check (auth, "token", "Bearer token", NULL, here, time, NULL),
                          WEB_AUTH_TOO_MANY);
  time += WEB_AUTH_BLOCK * G_USEC_PER_SEC;
  fail_unless_equals_int (web_auth_check (auth, "token", "Bearer token", NULL, here, time, NULL),
                          WEB_AUTH_OK);

  /* The oldest of too many sessions ends; another token ends all; so does a month. */
  for (guint i = 0; i <= WEB_AUTH_MAX_SESSIONS; i++) {
    g_autofree gchar *session = NULL, *cookie = NULL;

    fail_unless_equals_int (web_auth_log_in (auth, "token", "token", far, ++time, &session),
                            WEB_AUTH_OK);
    cookie = g_strconcat (WEB_AUTH_COOKIE "=", session, NULL);
    fail_unless_equals_int (web_auth_check (auth, "token", NULL, cookie, far, time, NULL),
                            WEB_AUTH_OK);
    if (i == 0)
      oldest = g_steal_pointer (&cookie);
    if (i == 2)
      fail_unless_equals_int (web_auth_check (auth, "other", NULL, cookie, far, time, NULL),
                              WEB_AUTH_NEEDED);
    if (i == WEB_AUTH_MAX_SESSIONS)
      fail_unless_equals_int (
          web_auth_check (auth, "token", NULL, cookie, far, time + 31 * G_TIME_SPAN_DAY, NULL),
          WEB_AUTH_NEEDED);
  }
  fail_unless_equals_int (web_auth_check (auth, "token", NULL, oldest, far, time, NULL),
                          WEB_AUTH_OK);
  for (guint i = 0; i < WEB_AUTH_MAX_SESSIONS; i++) {
    g_autofree gchar *session = NULL;

    web_auth_log_in (auth, "token", "token", far, ++time, &session);
  }
  fail_unless_equals_int (web_auth_check (auth, "token", NULL, oldest, far, time, NULL),
                          WEB_AUTH_NEEDED);
  g_free (oldest);

  /* A cookie that is used is renewed, once a day. */
  {
    g_autofree gchar *session = NULL, *cookie = NULL;

    web_auth_log_in (auth, "token", "token", far, time, &session);
    cookie = g_strconcat ("a=b; " WEB_AUTH_COOKIE "=", session, NULL);
    for (guint hours = 0; hours < 100; hours += 5) {
      g_autofree gchar *renewed = NULL;

      fail_unless_equals_int (web_auth_check (auth, "token", NULL, cookie, far,
                                              time + hours * G_TIME_SPAN_HOUR, &renewed),
                              WEB_AUTH_OK);
      fail_unless_equals_string (renewed,
                                 hours == 25 || hours == 50 || hours == 75 ? session : NULL);
    }
  }

  /* However many addresses have failed, the right token is taken from others. */
  for (guint i = 0; i < WEB_AUTH_FAILURES * 2 * WEB_AUTH_MAX_NETWORKS; i++) {
    const guint8 bytes[] = { 10, i >> 16 & 255, i >> 8 & 255, i & 255 };
    g_autoptr (GInetAddress) one = g_inet_address_new_from_bytes (bytes, G_SOCKET_FAMILY_IPV4);

    web_auth_check (auth, "token", "Bearer no", NULL, one, time, NULL);
    if (i % 1000 == 0)
      fail_unless_equals_int (web_auth_check (auth, "token", "Bearer token", NULL, far, time, NULL),
                              WEB_AUTH_OK);
  }
}
GST_END_TEST;

/* --- IPv6 --- */

static gboolean
have_ipv6 (void)
{
  g_autoptr (GSocketAddress) address = g_inet_socket_address_new_from_string ("::1", 0);
  g_autoptr (GSocket) socket =
      g_socket_new (G_SOCKET_FAMILY_IPV6, G_SOCKET_TYPE_STREAM, G_SOCKET_PROTOCOL_TCP, NULL);

  return socket && g_socket_bind (socket, address, FALSE, NULL);
}

static void
check_from (const gchar *host, const gchar *source, const gchar *token, gint status)
{
  g_autofree gchar *request =
      g_strdup_printf (HEAD ("GET", "/api/cameras") "Authorization: Bearer %s\r\n\r\n", token);
  g_autofree gchar *answer = ask_from (host, source, request);

  fail_unless (get_status (answer) == status, "%s from %s: %.300s", token, source, answer);
}

/* [::] serves IPv4, too, whose addresses are counted one by one. */
GST_START_TEST (test_ipv6)
{
  static const Case cases[] = {
    { WITH ("Host: [::1]:8480\r\n"), 200, NULL },
    { WITH ("Host: [0:0::1]\r\n"), 200, NULL },
    { WITH ("Host: localhost\r\n"), 200, NULL },
    { WITH ("Host: [::2]\r\n"), 403, "without a token" },
    { WITH ("Host: [::1]:8480\r\nOrigin: http://[::1]\r\n"), 403, NULL },
  };

  if (!have_ipv6 ()) {
    g_print ("skipped: the machine has no IPv6\n");
    return;
  }
  start ("[watch]\ndata = FOLDER\n[server]\nlisten = [::1]:0\n[camera yard]\n"
         "uri = rtsp://192.0.2.1/\n");
  fail_unless (g_str_has_prefix (web_server_get_uri (server), "http://[::1]:"), "%s",
               web_server_get_uri (server));
  check_cases (cases, G_N_ELEMENTS (cases));
  check_refused (WITH ("Host: [fe80::1%25lo]\r\n"));
  stop ();

  start ("[watch]\ndata = FOLDER\n[server]\nlisten = [::]:0\ntoken-file = token\n");
  for (guint i = 0; i < WEB_AUTH_FAILURES; i++)
    check_from ("::1", "::1", "wrong", 401);
  check_from ("::1", "::1", "a-long-token", 429);
  for (guint i = 0; i < WEB_AUTH_FAILURES; i++)
    check_from ("127.0.0.1", "127.0.0.2", "wrong", 401);
  check_from ("127.0.0.1", "127.0.0.2", "a-long-token", 429);
  check_from ("127.0.0.1", "127.0.0.3", "a-long-token", 200);
  stop ();
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

/* --- Searches --- */

GST_START_TEST (test_search)
{
  static const struct
  {
    const gchar *request, *body;
  } cases[] = {
    { GET ("/api/events?limit=2"), "{\"events\":[{\"number\":3},\n{\"number\":2}],\"next\":2}" },
    { GET ("/api/events?before=2"), "{\"events\":[{\"number\":1}]}" },
    { GET ("/api/tracks"), "{\"tracks\":[]}" },
    { GET ("/api/minutes"), "{\"minutes\":[]}" },
  };

  start (LOCAL);
  for (guint number = 1; number <= 3; number++) {
    WatchEvent *event = g_new0 (WatchEvent, 1);

    event->camera = g_strdup ("yard");
    event->session = g_strdup ("one");
    event->number = number;
    event->time = number;
    event->x = -1;
    watch_fake_add_event (watch, event);
  }
  fail_unless (watch_store_flush (watch->shared.store));
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *answer = ask (cases[i].request);
    g_autoptr (GRegex) others =
        g_regex_new ("(?<=\\{)\"camera\":[^}]*(?=\"number\")|,\"utc\"[^}]*", 0, 0, NULL);
    g_autofree gchar *body = g_regex_replace (others, get_body (answer), -1, 0, "", 0, NULL);

    fail_unless_equals_string (body, cases[i].body);
  }
  stop ();
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
    WatchApp *one = watch_fake_new (text);
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
  const WebRoute *routes;
  JsonObject *paths;
  guint n, n_described = 0;
  GList *l;

  start (LOCAL);
  answer = ask (GET ("/openapi.json"));
  stop ();
  fail_unless (json_parser_load_from_data (parser, get_body (answer), -1, NULL));
  paths =
      json_object_get_object_member (json_node_get_object (json_parser_get_root (parser)), "paths");
  routes = watch_routes_get (&n);
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

/* The last file that could not be written is told until another one fails; asking leaves nothing
 * behind. */
GST_START_TEST (test_failed_file)
{
  start (LOCAL);
  for (guint i = 0; i < 2; i++) {
    g_autofree gchar *path = g_strdup_printf ("yard-%u.mp4", i), *status = NULL, *metrics = NULL,
                     *expected = g_strdup_printf ("%s could not be written: no space", path);

    watch_media_take_error (
        watch->shared.media,
        web_reason_new (WEB_REASON_MEDIA_NOT_WRITTEN, "path", path, "detail", "no space", NULL));
    status = ask (GET ("/api/status"));
    metrics = ask (GET ("/metrics"));
    fail_unless (strstr (status, expected) != NULL, "%s", status);
    fail_unless (strstr (metrics, "cudaccl_watch_media_failed_total ") != NULL, "%s", metrics);
  }
  stop ();
}
GST_END_TEST;

GST_START_TEST (test_promtool)
{
  g_autofree gchar *promtool = g_find_program_in_path ("promtool"), *answer = NULL, *out = NULL,
                   *err = NULL;
  g_autoptr (GSubprocess) process = NULL;
  gboolean ran;

  if (!promtool) {
    g_print ("skipped: promtool is not installed\n");
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
    const gchar *sender;       /* NULL: 192.0.2.7 */
  } cases[] = {
    { ENVELOPE (
          MATCH ("http://192.0.2.7/onvif/device_service",
                 "onvif://www.onvif.org/type/video_encoder "
                 "onvif://www.onvif.org/hardware/DS-2CD onvif://www.onvif.org/name/Back%20Door")),
      "Back Door,DS-2CD,rtsp://192.0.2.7/;" },
    { ENVELOPE (MATCH ("http://192.0.2.7:8080/a http://[fe80::1]/a", "")
                    MATCH ("http://[2001:db8::1]/a", "onvif://www.onvif.org/name/%ff")),
      "-,-,rtsp://192.0.2.7/;" },
    { ENVELOPE (MATCH ("http://[2001:db8::1]/a", "onvif://www.onvif.org/name/%ff")),
      "-,-,rtsp://[2001:db8::1]/;", "2001:db8::1" },
    /* Where a hostile device wants passwords to go; as many devices as it likes. */
    { ENVELOPE (MATCH ("http://192.0.2.66/a http://evil.example/a", "")
                    MATCH ("http://user:password@192.0.2.67:81/a", "")),
      "-,-,rtsp://192.0.2.7/;" },
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

    watch_discovery_parse (cases[i].text, strlen (cases[i].text),
                           cases[i].sender ? cases[i].sender : "192.0.2.7", devices);
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
  tcase_add_test (tc, test_ipv6);
  tcase_add_test (tc, test_limits);
  tcase_add_test (tc, test_search);
  tcase_add_test (tc, test_start);
  tcase_add_test (tc, test_openapi);
  tcase_add_test (tc, test_failed_file);
  tcase_add_test (tc, test_promtool);
  tcase_add_test (tc, test_discovery);
  return s;
}

GST_CHECK_MAIN (server);
