/* cudaccl-watch - tests of what the interface streams, makes and sends
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/watch/http/preview.h"
#include "apps/watch/http/synopsis-job.h"
#include "apps/watch/store/private.h"
#include "tests/lib/certificate.h"
#include "tests/lib/removetree.h"
#include "tests/lib/watchhttp.h"

/* 2026-01-31T12:00:00Z */
#define TIME G_GINT64_CONSTANT (1769860800000000)

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
  fail_unless_equals_int (watch_fake_get_boxes (watch), 1);
  client_open (&both, "GET /api/cameras/yard/live?boxes=0 HTTP/1.1\r\nHost: localhost\r\n\r\n");
  fail_unless (client_read (&both, "picture"));
  fail_unless_equals_int (watch_fake_get_viewers (watch), 2);
  fail_unless_equals_int (watch_fake_get_boxes (watch), 1);
  client_close (&both);

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
  check_cases ((Case[]){ { GET ("/api/cameras/yard/live"), 503, "streams are open" },
                         { GET ("/api/cameras/yard/snapshot"), 200, "picture" } },
               2);
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

  /* Events between two connections, in order. */
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
    watch_store_add_event (watch->shared.store, make_event (i, time + i));
  watch_store_flush (watch->shared.store);
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
    { RANGE ("Range: bytes=-11\r\n"), 206, "Content-Range: bytes 0-9/10", "0123456789" },
    { RANGE ("Range: bytes=-9223372036854775808\r\n"), 206, "Content-Range: bytes 0-9/10",
      "0123456789" },
    { RANGE ("Range: bytes=-0\r\n"), 416, "Content-Range: bytes */10", NULL },
    { RANGE ("Range: bytes=-00\r\n"), 416, "Content-Range: bytes */10", NULL },
    { RANGE ("Range: bytes=-0\r\nIf-Range: \"other\"\r\n"), 200, NULL, "0123456789" },
    { RANGE ("Range: bytes=0-99\r\n"), 206, "Content-Range: bytes 0-9/10", "0123456789" },
    { RANGE ("Range: bytes=10-\r\n"), 416, "Content-Range: bytes */10", NULL },
    { RANGE ("Range: bytes=18446744073709551616-\r\n"), 416, "Content-Range: bytes */10", NULL },
    { RANGE ("Range: bytes=3-18446744073709551616\r\n"), 206, "Content-Range: bytes 3-9/10",
      "3456789" },
    { RANGE ("Range: bytes=-18446744073709551616\r\n"), 206, "Content-Range: bytes 0-9/10",
      "0123456789" },
    { RANGE ("Range: BYTES= 9-9 \r\n"), 206, "Content-Range: bytes 9-9/10", "9" },
    { RANGE ("Range: bytes=-\r\n"), 200, NULL, "0123456789" },
    { RANGE ("Range: bytes=2\r\n"), 200, NULL, "0123456789" },
    { RANGE ("Range: bytes=2-3x\r\n"), 200, NULL, "0123456789" },
    { RANGE ("Range: bytes=+2-3\r\n"), 200, NULL, "0123456789" },
    { RANGE ("Range: bytes=4-2\r\n"), 200, NULL, "0123456789" },
    { RANGE ("Range: lines=1-2\r\n"), 200, NULL, "0123456789" },
    { RANGE ("Range: bytes=1-2,5-6\r\n"), 200, NULL, "0123456789" },
    { RANGE ("Range: bytes=2-4\r\nIf-Range: \"other\"\r\n"), 200, NULL, "0123456789" },
    { HEAD ("HEAD", "/media/%s") "\r\n", 200, "Content-Length: 10", "" },
  };
  g_autoptr (GBytes) picture = g_bytes_new_static ("0123456789", 10);
  g_autofree gchar *name = NULL, *path = NULL;

  start (LOCAL);
  name = watch_media_add_picture (watch->shared.media, "yard", g_get_real_time (), 1, picture);
  path = watch_media_get_path (watch->shared.media, name);
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

/* Writes a file of @size bytes that differ in each piece, and returns its name. */
static gchar *
write_clip (guint number, gsize size, gchar **path)
{
  gchar *name = g_strdup_printf ("yard/2026-01-31/120000-%06u-aaaa.mp4", number);
  g_autofree guint32 *data = g_malloc (size + 4);
  g_autofree gchar *day = NULL;

  *path = watch_media_get_path (watch->shared.media, name);
  day = g_path_get_dirname (*path);
  for (gsize i = 0; i < size / 4; i++)
    data[i] = (guint32) i * 2654435761u | 0x01010101;
  fail_unless_equals_int (g_mkdir_with_parents (day, 0700), 0);
  fail_unless (g_file_set_contents (*path, (const gchar *) data, (gssize) size, NULL));
  return name;
}

/* Files of many pieces, of none, and those that are cut or left while they are sent. */
GST_START_TEST (test_downloads)
{
#define ASK_FOR(method, name, more) g_strdup_printf (HEAD (method, "/media/%s") more "\r\n", name)
  g_autofree gchar *large_path = NULL, *empty_path = NULL, *folder_path = NULL, *huge_path = NULL;
  g_autofree gchar *large = NULL, *empty = NULL, *folder = NULL, *huge = NULL, *content = NULL;
  g_autofree gchar *request = NULL;
  gsize size;
  Client client;

  start (LOCAL);
  large = write_clip (1, 400000, &large_path);
  empty = write_clip (2, 0, &empty_path);
  folder = write_clip (3, 0, &folder_path);
  huge = write_clip (4, 4, &huge_path);
  fail_unless (g_file_get_contents (large_path, &content, &size, NULL));
  fail_unless_equals_int (unlink (folder_path), 0);
  fail_unless_equals_int (mkdir (folder_path, 0700), 0);
  {
    g_autofree gchar *whole = ASK_FOR ("GET", large, ""), *none = ASK_FOR ("GET", empty, "");
    g_autofree gchar *part = ASK_FOR ("GET", large, "Range: bytes=100000-299999\r\n");
    g_autofree gchar *last = ASK_FOR ("GET", empty, "Range: bytes=0-\r\n");
    g_autofree gchar *no_file = ASK_FOR ("GET", folder, "");
    const struct
    {
      const gchar *request, *header;
      gint status;
      gsize begin, length; /* of the content */
    } cases[] = {
      { whole, "Content-Type: video/mp4", 200, 0, 400000 },
      { part, "Content-Range: bytes 100000-299999/400000", 206, 100000, 200000 },
      { none, "Content-Length: 0", 200 },
      { last, "Content-Range: bytes */0", 416 },
      { no_file, "there is no such file", 404 },
    };

    for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
      g_autofree gchar *answer = ask (cases[i].request);
      const gchar *body = get_body (answer);

      check_answer (cases[i].request, answer, cases[i].status, cases[i].header);
      fail_unless (cases[i].status > 206 ||
                       (strlen (body) == cases[i].length &&
                        memcmp (body, content + cases[i].begin, cases[i].length) == 0),
                   "case %u: %u bytes", i, (guint) strlen (body));
    }
  }

  /* More than sockets hold. The client must not take the end of a file that was cut for all. */
  fail_unless_equals_int (truncate (huge_path, 256 << 20), 0);
  request = g_strdup_printf ("GET /media/%s HTTP/1.1\r\nHost: localhost\r\n\r\n", huge);
  client_open (&client, request);
  fail_unless (client_read (&client, "Content-Length: 268435456"));
  fail_unless_equals_int (truncate (huge_path, 4), 0);
  while (!client.ended) {
    g_string_truncate (client.answer, 0);
    client_read (&client, NULL);
  }
  client_close (&client);
  fail_unless_equals_int (truncate (huge_path, 256 << 20), 0);
  client_open (&client, request);
  fail_unless (client_read (&client, "Content-Length: 268435456"));
  client_close (&client);
  g_free (ask (GET ("/api/status")));
  stop ();
}
GST_END_TEST;

/* Runs the server until it has the file @path open @n times, for at most ten seconds. */
static void
wait_open (const gchar *path, guint n)
{
  gint64 end = g_get_monotonic_time () + 10 * G_USEC_PER_SEC;

  for (;;) {
    g_autoptr (GDir) dir = g_dir_open ("/proc/self/fd", 0, NULL);
    const gchar *name;
    guint open = 0;

    while ((name = g_dir_read_name (dir))) {
      g_autofree gchar *link = g_build_filename ("/proc/self/fd", name, NULL);
      g_autofree gchar *target = g_file_read_link (link, NULL);

      open += g_strcmp0 (target, path) == 0;
    }
    if (open == n)
      return;
    fail_unless (g_get_monotonic_time () < end, "%s is open %u times, not %u", path, open, n);
    if (!g_main_context_iteration (NULL, FALSE))
      g_usleep (1000);
  }
}

static GMutex held;

static void
wait_held (GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
  g_mutex_lock (&held);
  g_mutex_unlock (&held);
  g_task_return_boolean (task, TRUE);
}

/* Until @held is unlocked, nothing is read from files: GIO's threads, which are 10 at first and one
 * more each 0.1 s, have other tasks. */
static void
hold_reading (void)
{
  g_mutex_lock (&held);
  for (guint i = 0; i < 100; i++) {
    g_autoptr (GTask) task = g_task_new (NULL, NULL, NULL, NULL);

    g_task_set_priority (task, G_PRIORITY_HIGH);
    g_task_run_in_thread (task, wait_held);
  }
}

/* Clients leave, and the server ends, while files are read and written: these are closed. */
GST_START_TEST (test_leaving)
{
  guint32 seed = g_random_int ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  g_autofree gchar *path = NULL, *name = NULL, *request = NULL;
  Client clients[8];

  g_print ("seed %u\n", seed);
  start (LOCAL);
  name = write_clip (1, 4, &path);
  request = g_strdup_printf ("GET /media/%s HTTP/1.1\r\nHost: localhost\r\n\r\n", name);
  fail_unless_equals_int (truncate (path, 256 << 20), 0); /* more than sockets hold */
  for (guint round = 0; round < 40; round++) {
    for (guint i = 0; i < G_N_ELEMENTS (clients); i++)
      client_open (&clients[i], request);
    for (guint i = 0; i < G_N_ELEMENTS (clients); i++) {
      for (guint n = g_rand_int_range (rand, 0, 200); n > 0; n--)
        g_main_context_iteration (NULL, FALSE);
      client_close (&clients[i]);
    }
    wait_open (path, 0);
  }

  /* They leave while the first piece is read. */
  hold_reading ();
  for (guint i = 0; i < G_N_ELEMENTS (clients); i++)
    client_open (&clients[i], request);
  wait_open (path, G_N_ELEMENTS (clients));
  for (guint i = 0; i < G_N_ELEMENTS (clients); i++)
    client_close (&clients[i]);
  while (g_main_context_iteration (NULL, FALSE))
    ;
  g_mutex_unlock (&held);
  wait_open (path, 0);

  /* The server ends while it is read. */
  hold_reading ();
  for (guint i = 0; i < G_N_ELEMENTS (clients); i++)
    client_open (&clients[i], request);
  wait_open (path, G_N_ELEMENTS (clients));
  web_server_free (server);
  g_mutex_unlock (&held);
  wait_open (path, 0);
  for (guint i = 0; i < G_N_ELEMENTS (clients); i++)
    client_close (&clients[i]);
  watch_fake_free (watch);
}
GST_END_TEST;

static void
run_for (guint milliseconds)
{
  gboolean over = FALSE;

  g_timeout_add (milliseconds, set_true, &over);
  while (!over)
    g_main_context_iteration (NULL, TRUE);
}

/* Returns the first byte of the body's pictures that is not @byte, or 0 at the end. */
static gchar
skip_picture (Client *client, gchar byte)
{
  GInputStream *stream = g_io_stream_get_input_stream (G_IO_STREAM (client->connection));
  g_autofree gchar *buffer = g_malloc (1 << 16);

  for (;;) {
    g_autoptr (GError) error = NULL;
    gssize n = g_pollable_input_stream_read_nonblocking (G_POLLABLE_INPUT_STREAM (stream), buffer,
                                                         1 << 16, NULL, &error);

    for (gssize i = 0; i < n; i++)
      if ((guchar) buffer[i] >= 0x80 && buffer[i] != byte)
        return buffer[i];
    if (n == 0)
      return 0;
    if (n < 0) {
      fail_unless (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK), "%s",
                   error->message);
      g_main_context_iteration (NULL, FALSE);
    }
  }
}

/* Clients that read slowly cost no more memory, and get what is new. */
GST_START_TEST (test_slow)
{
  const gsize size = 32 << 20; /* more than sockets hold */
  Client client;

  start (LOCAL);
  client_open (&client, "GET /api/cameras/yard/live HTTP/1.1\r\nHost: localhost\r\n\r\n");
  fail_unless (client_read (&client, "picture"));
  for (guchar byte = 0x81; byte <= 0x84; byte++) {
    g_autofree gchar *data = g_malloc (size);
    g_autoptr (GBytes) picture = NULL;

    memset (data, byte, size);
    picture = g_bytes_new_take (g_steal_pointer (&data), size);
    watch_fake_set_picture (watch, picture);
    run_for (300);
  }
  fail_unless_equals_int ((guchar) skip_picture (&client, (gchar) 0xff), 0x81);
  fail_unless_equals_int ((guchar) skip_picture (&client, (gchar) 0x81), 0x84);
  client_close (&client);

  /* More events than are kept for a client that takes none: it must ask again. */
  client_open (&client, "GET /api/events/stream HTTP/1.0\r\nHost: localhost\r\n"
                        "Last-Event-ID: x\r\n\r\n");
  fail_unless (client_read (&client, "retry: 2000\n\n"), "%.1500s", client.answer->str);
  fail_if (strstr (client.answer->str, "chunked"));
  for (guint i = 1; i <= 300; i++)
    watch_fake_add_event (watch, make_event (i, TIME + i));
  fail_unless (client_read (&client, NULL));
  fail_unless (strstr (client.answer->str, "\"number\":256,"));
  fail_if (strstr (client.answer->str, "\"number\":257,"));
  client_close (&client);
  stop ();
}
GST_END_TEST;

/* The camera goes before it has a picture. */
GST_START_TEST (test_snapshot)
{
  Client client;

  start (LOCAL);
  client_open (
      &client,
      "GET /api/cameras/hall/snapshot HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
  while (watch_fake_get_viewers (watch) == 0)
    g_main_context_iteration (NULL, TRUE);
  g_free (ask (SEND ("DELETE", "/api/cameras/hall", "")));
  fail_unless (client_read (&client, NULL));
  check_answer ("hall", client.answer->str, 503, "the camera has no picture");
  client_close (&client);
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
  watch_synopsis_job_set_program (web_server_get_state (server), path);
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
                         { SEND ("DELETE", "/api/synopsis", ""), 200, "{\"state\":\"ending\"}" } },
               3);
  while (g_file_test (part, G_FILE_TEST_EXISTS))
    g_main_context_iteration (NULL, TRUE);
  check_cases ((Case[]){ { GET ("/api/synopsis"), 200, "{\"state\":\"none\"}" } }, 1);

  /* The answer says why it failed, even if the process does not. */
  set_program ("echo '{\"error\":\"nothing moves\"}'; exit 1");
  check_cases ((Case[]){ { MAKE, 202, NULL } }, 1);
  wait_for_synopsis (
      "\"state\":\"failed\",\"camera\":\"yard\",\"day\":\"2026-01-31\",\"seconds\":180,"
      "\"progress\":0.0,\"error\":\"nothing moves\",\"reason\":{\"code\":\"synopsis-failed\","
      "\"arguments\":{\"detail\":\"nothing moves\"},\"text\":\"nothing moves\"}}");
  set_program ("echo '{\"error\":\"no\",\"reason\":{\"code\":\"synopsis-still\"}}'; exit 1");
  check_cases ((Case[]){ { MAKE, 202, NULL } }, 1);
  wait_for_synopsis ("\"error\":\"no\",\"reason\":{\"code\":\"synopsis-still\",\"arguments\":{},"
                     "\"text\":\"no\"}}");
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
run_preview (const gchar *path, guint timeout, GCancellable *cancellable, WebAnswer *answer)
{
  g_autofree gchar *uri = g_filename_to_uri (path, NULL, NULL);
  WatchPreview preview = { uri, NULL, NULL, timeout, 1 << 26, 1 << 30 };
  gint64 start = g_get_monotonic_time ();

  *answer = (WebAnswer){ 0 };
  watch_preview_run (answer, &preview, cancellable);
  fail_unless (g_get_monotonic_time () < start + 5 * G_USEC_PER_SEC);
}

static void
clear_answer (WebAnswer *answer)
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
  WebAnswer answer;
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

/* --- Searches --- */

/* A search that takes too long ends with an error that says what to do. */
GST_START_TEST (test_search_limit)
{
  WatchStore *store;

  start (LOCAL);
  store = watch->shared.store;
  for (guint i = 0; i < 4000; i++) {
    WatchMinute *minute = g_new0 (WatchMinute, 1);

    minute->camera = g_strdup ("yard");
    minute->time = i * G_TIME_SPAN_MINUTE;
    minute->in = 1;
    watch_store_add_minute (store, minute);
  }
  watch_store_flush (store);
  check_cases ((Case[]){ { GET ("/api/minutes?camera=yard"), 200, "\"minutes\":[{" } }, 1);
  store->search_time = 0;
  check_cases ((Case[]){ { GET ("/api/minutes?camera=yard"), 400,
                           "The search took more than 5 s; give a camera or a shorter time" },
                         { GET ("/api/events"), 200, "{\"events\":[]}" } },
               2);
  stop ();
}
GST_END_TEST;

/* --- TLS --- */

typedef struct
{
  SoupMessage *message;
  GBytes *body;
  GError *error;
  gboolean done;
} Fetch;

static void
on_fetched (GObject *session, GAsyncResult *result, gpointer user_data)
{
  Fetch *fetch = user_data;

  fetch->body = soup_session_send_and_read_finish (SOUP_SESSION (session), result, &fetch->error);
  fetch->done = TRUE;
}

/* As a client that only trusts the certificates of the file. */
static void
fetch (Fetch *self, const gchar *method, const gchar *path, const gchar *body,
       const gchar *certificates)
{
  g_autoptr (GTlsDatabase) database = g_tls_file_database_new (certificates, NULL);
  g_autoptr (SoupSession) session = soup_session_new ();
  g_autofree gchar *uri = g_strconcat (web_server_get_uri (server), path, NULL);

  *self = (Fetch){ soup_message_new (method, uri) };
  soup_session_set_tls_database (session, database);
  soup_message_headers_append (soup_message_get_request_headers (self->message), "X-Cudaccl-Watch",
                               "1");
  if (body) {
    g_autoptr (GBytes) bytes = g_bytes_new (body, strlen (body));

    soup_message_set_request_body_from_bytes (self->message, "application/json", bytes);
  }
  soup_session_send_and_read_async (session, self->message, G_PRIORITY_DEFAULT, NULL, on_fetched,
                                    self);
  while (!self->done)
    g_main_context_iteration (NULL, TRUE);
}

static void
fetch_clear (Fetch *self)
{
  g_object_unref (self->message);
  g_clear_pointer (&self->body, g_bytes_unref);
  g_clear_error (&self->error);
}

GST_START_TEST (test_tls)
{
  g_autofree gchar *folder = g_dir_make_tmp ("watch-XXXXXX", NULL);
  g_autofree gchar *right = g_build_filename (folder, "right.pem", NULL),
                   *other = g_build_filename (folder, "other.pem", NULL);
  g_autofree gchar *settings =
      g_strdup_printf (TOKEN "certificate = %s\nkey = %s/right.key\n", right, folder);
  g_autoptr (GTlsDatabase) authorities = NULL;
  const gchar *cookie;
  Client client;
  Fetch one;

  if (!g_tls_backend_supports_tls (g_tls_backend_get_default ()) ||
      !make_certificate (folder, "right") || !make_certificate (folder, "other")) {
    g_print ("skipped: glib-networking or openssl is not installed\n");
    remove_tree (folder);
    return;
  }
  /* Else each client reads all authorities of the system first, which sanitizers make slow. */
  authorities = g_tls_file_database_new (right, NULL);
  g_tls_backend_set_default_database (g_tls_backend_get_default (), authorities);
  start (settings);
  fail_unless (g_str_has_prefix (web_server_get_uri (server), "https://127.0.0.1:"));
  /* A client that does not know the server's certificate is not served, and one without TLS
   * neither: others are served meanwhile. */
  fetch (&one, "GET", "healthz", NULL, other);
  fail_unless (g_error_matches (one.error, G_TLS_ERROR, G_TLS_ERROR_BAD_CERTIFICATE), "%s",
               one.error ? one.error->message : "it is served");
  fetch_clear (&one);
  client_open (&client, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  fetch (&one, "GET", "healthz", NULL, right);
  fail_unless (one.body && strstr (g_bytes_get_data (one.body, NULL), "ok"), "%s",
               one.error ? one.error->message : "");
  fetch_clear (&one);
  fail_unless (client_read (&client, NULL));
  fail_if (strstr (client.answer->str, "HTTP/"), "%.500s", client.answer->str);
  client_close (&client);

  fetch (&one, "POST", "api/login", "{\"token\":\"a-long-token\"}", right);
  cookie =
      soup_message_headers_get_one (soup_message_get_response_headers (one.message), "Set-Cookie");
  fail_unless (cookie && g_str_has_suffix (cookie, "; Secure"), "%s", cookie);
  fetch_clear (&one);
  stop ();
  remove_tree (folder);
}
GST_END_TEST;

static Suite *
streams_suite (void)
{
  Suite *s = suite_create ("streams");
  TCase *tc = tcase_create ("streams");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_live);
  tcase_add_test (tc, test_events);
  tcase_add_test (tc, test_media);
  tcase_add_test (tc, test_downloads);
  tcase_add_test (tc, test_leaving);
  tcase_add_test (tc, test_slow);
  tcase_add_test (tc, test_snapshot);
  tcase_add_test (tc, test_synopsis);
  tcase_add_test (tc, test_preview);
  tcase_add_test (tc, test_search_limit);
  tcase_add_test (tc, test_tls);
  return s;
}

/* Of clang's coverage, which is written at exit. */
extern int __llvm_profile_write_file (void) __attribute__ ((weak));

/* Without handlers at exit: threads of test pictures that hang may go on, and would use GStreamer
 * after its end. */
int
main (int argc, char **argv)
{
  int status;

  gst_check_init (&argc, &argv);
  status = gst_check_run_suite (streams_suite (), "streams", __FILE__);
  if (__llvm_profile_write_file)
    __llvm_profile_write_file ();
  _exit (status);
}
