/* cudaccl - tests: slow clients, and more than there are places
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <gio/gunixinputstream.h>
#include <glib-unix.h>
#include <unistd.h>

#include "tests/lib/watchhttp.h"

#define GET_WITH(headers) "GET /api/cameras HTTP/1.1\r\nHost: localhost\r\n" headers
#define STREAM "GET /api/events/stream HTTP/1.1\r\nHost: localhost\r\n"
#define BEARER "Authorization: Bearer a-long-token\r\n\r\n"
#define PUT "PUT /api/cameras/yard HTTP/1.1\r\nHost: localhost\r\nX-Cudaccl-Watch: 1\r\n"

/* --- Deadlines --- */

/* Sent by a client at first, followed by a byte of @dribble each tenth of a second. */
static const struct
{
  const gchar *begin, *answer, *dribble;
  gboolean stays;
} slow[] = {
  { "", NULL, "", FALSE },
  { "", NULL, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: 000000000000000000000000000", FALSE },
  { PUT "Content-Length: 1000\r\n\r\n{", NULL, "                                        ", FALSE },
  { GET_WITH ("\r\n"), "\r\nConnection: close\r\n", "", FALSE },
  { "GET /api/cameras/yard/live HTTP/1.1\r\nHost: localhost\r\n\r\n", "picture", "", TRUE },
  { STREAM "\r\n", "text/event-stream", "", TRUE },
};

static gboolean
wake (gpointer data)
{
  return G_SOURCE_CONTINUE;
}

/* Deadlines are of a second; sweeps are a second apart. */
GST_START_TEST (test_deadlines)
{
  Client clients[G_N_ELEMENTS (slow)];
  gint64 end;
  guint timer;

  start (LOCAL);
  web_server_set_deadlines (server, &(WebDeadlines){ 1000, 1000 });
  for (guint i = 0; i < G_N_ELEMENTS (slow); i++) {
    client_open (&clients[i], slow[i].begin);
    if (slow[i].answer)
      fail_unless (client_read (&clients[i], slow[i].answer), "%u: %s", i, clients[i].answer->str);
  }
  timer = g_timeout_add (100, wake, NULL);
  end = g_get_monotonic_time () + 5 * G_USEC_PER_SEC / 2;
  for (guint sent = 0; g_get_monotonic_time () < end; sent++) {
    for (guint i = 0; i < G_N_ELEMENTS (slow); i++)
      if (sent < strlen (slow[i].dribble))
        client_send (&clients[i], slow[i].dribble + sent, 1);
    g_main_context_iteration (NULL, TRUE);
  }
  g_source_remove (timer);
  fail_unless_equals_int (web_server_get_stats (server)->connections, 2);
  for (guint i = 0; i < G_N_ELEMENTS (slow); i++) {
    if (slow[i].stays)
      g_string_truncate (clients[i].answer, 0);
    else
      fail_unless (client_read (&clients[i], NULL), "%u is still open", i);
    if (slow[i].stays && i == 4)
      fail_unless (client_read (&clients[i], "picture"), "%u was ended", i);
    client_close (&clients[i]);
  }
  stop ();
}
GST_END_TEST;

/* --- Places --- */

/* Returns how many of @n connections from @address are accepted, which read from a copy of @fd. */
static guint
connect_from (const gchar *address, guint n, gint fd)
{
  g_autoptr (GSocketAddress) local = g_inet_socket_address_new_from_string ("192.0.2.9", 8480);
  g_autoptr (GSocketAddress) remote = g_inet_socket_address_new_from_string (address, 1024);
  guint accepted = 0;

  while (n--) {
    g_autoptr (GInputStream) in = g_unix_input_stream_new (dup (fd), TRUE);
    g_autoptr (GOutputStream) out = g_memory_output_stream_new_resizable ();
    g_autoptr (GIOStream) stream = g_simple_io_stream_new (in, out);

    accepted += web_server_accept (server, stream, local, remote) ? 1 : 0;
  }
  return accepted;
}

/* An address may have half of the connections, of IPv6 a network. Loopback may have all, and four
 * places of its own. Streams without a socket give no way. */
GST_START_TEST (test_connections)
{
  static const struct
  {
    const gchar *address;
    guint n, accepted;
  } cases[] = {
    { "192.0.2.1", 130, 128 },    { "2001:db8::1", 100, 100 }, { "2001:db8::2", 30, 28 },
    { "2001:db8:0:1::1", 1, 0 },  { "127.0.0.1", 5, 4 },
  }, later[] = { { "::1", 200, 200 }, { "192.0.2.1", 57, 56 } };
  gint ends[2];

  fail_unless (g_unix_open_pipe (ends, FD_CLOEXEC, NULL));
  start (LOCAL);
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    fail_unless_equals_int (connect_from (cases[i].address, cases[i].n, ends[0]),
                            cases[i].accepted);
  fail_unless_equals_int (web_server_get_stats (server)->connections, 260);
  fail_unless_equals_uint64 (web_server_get_stats (server)->refused, 6);
  close (ends[1]);
  while (web_server_get_stats (server)->connections)
    g_main_context_iteration (NULL, TRUE);
  close (ends[0]);
  fail_unless (g_unix_open_pipe (ends, FD_CLOEXEC, NULL));
  for (guint i = 0; i < G_N_ELEMENTS (later); i++)
    fail_unless_equals_int (connect_from (later[i].address, later[i].n, ends[0]),
                            later[i].accepted);
  stop ();
  close (ends[0]);
  close (ends[1]);
}
GST_END_TEST;

static void
open_many (Client *clients, guint n, const gchar *request)
{
  for (guint i = 0; i < n; i++) {
    client_open (&clients[i], request);
    while (g_main_context_iteration (NULL, FALSE))
      ;
  }
}

/* Connections that send nothing give way to a health check and to clients with the token, whose
 * streams stay. */
GST_START_TEST (test_flood)
{
  Client trusted, flood[300];
  WatchEvent *event;
  g_autofree gchar *health = NULL, *cameras = NULL;

  start (TOKEN);
  client_open (&trusted, STREAM BEARER);
  fail_unless (client_read (&trusted, "text/event-stream"), "%s", trusted.answer->str);
  open_many (flood, G_N_ELEMENTS (flood), "GET");
  fail_unless (web_server_get_stats (server)->connections <= 260);
  health = ask (GET ("/healthz"));
  fail_unless (strstr (health, " 200 "), "%s", health);
  cameras = ask (HEAD ("GET", "/api/cameras") BEARER);
  fail_unless (strstr (cameras, " 200 "), "%s", cameras);
  event = g_new0 (WatchEvent, 1);
  *event = (WatchEvent){
    .camera = g_strdup ("yard"), .session = g_strdup ("one"), .number = 7, .time = 7, .x = -1
  };
  watch_fake_add_event (watch, event);
  fail_unless (client_read (&trusted, "\"number\":7"), "the stream was ended");
  client_close (&trusted);
  for (guint i = 0; i < G_N_ELEMENTS (flood); i++)
    client_close (&flood[i]);
  stop ();
}
GST_END_TEST;

/* --- Work --- */

/* Tries of cameras that say nothing take all their threads and places, but none of a search for
 * cameras. */
GST_START_TEST (test_tries)
{
  g_autoptr (GSocketListener) silent = g_socket_listener_new ();
  guint port = g_socket_listener_add_any_inet_port (silent, NULL, NULL);
  g_autofree gchar *body = g_strdup_printf ("{\"uri\":\"http://127.0.0.1:%u/\"}", port);
  g_autofree gchar *request =
      g_strdup_printf ("POST /api/try HTTP/1.1\r\nHost: localhost\r\nX-Cudaccl-Watch: 1\r\n"
                       "Content-Length: %zu\r\n\r\n%s",
                       strlen (body), body);
  g_autofree gchar *answer = NULL;
  Client tries[45];

  start (LOCAL);
  open_many (tries, G_N_ELEMENTS (tries), request);
  fail_unless (client_read (&tries[44], " 503 "), "%s", tries[44].answer->str);
  answer = ask (GET ("/api/discover"));
  fail_unless (strstr (answer, " 200 "), "%s", answer);
  for (guint i = 0; i < G_N_ELEMENTS (tries); i++)
    client_close (&tries[i]);
  stop ();
}
GST_END_TEST;

static Suite *
clients_suite (void)
{
  Suite *s = suite_create ("clients");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 60);
  tcase_add_test (tc, test_deadlines);
  tcase_add_test (tc, test_connections);
  tcase_add_test (tc, test_flood);
  tcase_add_test (tc, test_tries);
  return s;
}

GST_CHECK_MAIN (clients);
