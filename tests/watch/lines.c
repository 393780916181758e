/* cudaccl-watch - tests of lines to pipes and full disks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <fcntl.h>
#include <gst/check/gstcheck.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apps/watch/publish/publisher.h"
#include "tests/lib/removetree.h"

static gchar *folder, *path;
static WatchStore *store;
static WatchPublisher *publisher;
static guint64 n_events;

static void
wake (GPtrArray *events, gpointer user_data)
{
  watch_publisher_wake (publisher);
}

static void
set_up (void)
{
  folder = g_dir_make_tmp ("cudaccl-lines-XXXXXX", NULL);
  path = g_build_filename (folder, "lines", NULL);
  store = watch_store_open (folder, NULL);
  fail_unless (store != NULL);
  n_events = 0;
}

static void
publish (const gchar *lines)
{
  const WatchSettings settings = { .data = folder,
                                   .lines = (gchar *) lines,
                                   .line_kinds = WATCH_LINE_EVENTS,
                                   .spool_bytes = 64 << 20 };

  publisher = watch_publisher_new (&settings, store, NULL);
  fail_unless (publisher != NULL);
  watch_store_set_committed (store, wake, NULL);
}

static void
tear_down (void)
{
  watch_store_set_committed (store, NULL, NULL);
  watch_publisher_free (publisher);
  watch_store_close (store);
  remove_tree (folder);
  g_free (folder);
  g_free (path);
}

static void
add_events (guint n)
{
  for (guint i = 0; i < n; i++) {
    WatchEvent *event = g_new0 (WatchEvent, 1);

    event->camera = g_strdup ("yard");
    event->session = g_strdup ("session");
    event->number = ++n_events;
    event->time = g_get_real_time ();
    event->kind = WATCH_EVENT_ENTER;
    event->zone = g_strdup ("lawn");
    watch_store_add_event (store, event);
  }
  watch_store_flush (store);
}

/* Waits until the sink's reason has @code, or it has sent all (NULL). */
static void
wait_for (const gchar *code)
{
  for (guint i = 0; i < 6000; i++) {
    g_autoptr (GArray) all = watch_publisher_get_status (publisher);
    const WatchSinkStatus *status = &g_array_index (all, WatchSinkStatus, 0);

    if (code ? status->reason && g_str_equal (status->reason->code, code) && status->pending > 0
             : status->connected && status->pending == 0)
      return;
    g_usleep (10000);
  }
  fail ("not %s", code ? code : "sent");
}

/* Checks that @text consists of whole lines with the numbers @from to @to in order. */
static void
check_lines (const gchar *text, guint64 from, guint64 to)
{
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

  fail_unless_equals_uint64 (g_strv_length (lines), to - from + 2);
  for (guint64 i = from; i <= to; i++) {
    const gchar *line = lines[i - from];
    const gchar *number = strstr (line, "\"number\":");

    fail_unless (line[0] == '{' && g_str_has_suffix (line, "}"), "%s", line);
    fail_unless (number != NULL, "%s", line);
    fail_unless_equals_uint64 (strtoull (number + strlen ("\"number\":"), NULL, 10), i);
  }
}

/* Reads @n lines. */
static GString *
read_lines (int fd, guint n)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; n && i < 6000; i++) {
    gchar buffer[4096];
    ssize_t size = read (fd, buffer, sizeof buffer);

    for (ssize_t k = 0; k < size; k++)
      n -= buffer[k] == '\n';
    if (size > 0)
      g_string_append_len (text, buffer, size);
    else
      g_usleep (10000);
  }
  fail_unless_equals_int (n, 0);
  return text;
}

/* Nobody reads; somebody does, and hangs, and goes on, and ends in the middle. */
GST_START_TEST (test_pipe)
{
  g_autoptr (GString) text = NULL;
  int reader;

  fail_unless_equals_int (mkfifo (path, 0600), 0);
  publish (path);
  add_events (10);
  wait_for ("sink-failed");

  reader = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  fail_unless (reader >= 0);
  text = read_lines (reader, 10);
  wait_for (NULL);
  check_lines (text->str, 1, 10);
  g_string_free (text, TRUE);

  add_events (2000); /* more than a pipe takes */
  wait_for ("reader-hangs");
  text = read_lines (reader, 2000);
  wait_for (NULL);
  check_lines (text->str, 11, 2010);
  g_string_free (text, TRUE);

  close (reader);
  add_events (5);
  wait_for ("sink-failed");
  reader = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  text = read_lines (reader, 5);
  wait_for (NULL);
  check_lines (text->str, 2011, 2015);
  close (reader);
}
GST_END_TEST;

/* The disk is full in the middle of a line: no part of it stays, and all lines come later. */
GST_START_TEST (test_full_disk)
{
  const goffset before = 8 << 20; /* above the database */
  struct rlimit limit, small;
  g_autofree gchar *text = NULL;
  gsize size;

  fail_unless (g_file_set_contents (path, "", 0, NULL));
  fail_unless_equals_int (truncate (path, before), 0);
  getrlimit (RLIMIT_FSIZE, &limit);
  small = (struct rlimit){ (rlim_t) before + 1000, limit.rlim_max };
  fail_unless_equals_int (setrlimit (RLIMIT_FSIZE, &small), 0);
  publish (path);
  add_events (50);
  wait_for ("sink-failed");
  fail_unless_equals_int (setrlimit (RLIMIT_FSIZE, &limit), 0);
  wait_for (NULL);
  fail_unless (g_file_get_contents (path, &text, &size, NULL));
  fail_unless (size > before + 1 && text[before] == '\n');
  check_lines (text + before + 1, 1, 50);
}
GST_END_TEST;

/* A device that takes nothing: the end of the program does not wait for it. */
GST_START_TEST (test_full_device)
{
  publish ("/dev/full");
  add_events (5);
  wait_for ("sink-failed");
}
GST_END_TEST;

static Suite *
lines_suite (void)
{
  Suite *s = suite_create ("lines");
  TCase *tc = tcase_create ("general");

  signal (SIGPIPE, SIG_IGN);
  signal (SIGXFSZ, SIG_IGN);
  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, set_up, tear_down);
  tcase_add_test (tc, test_pipe);
  tcase_add_test (tc, test_full_disk);
  tcase_add_test (tc, test_full_device);
  return s;
}

GST_CHECK_MAIN (lines);
