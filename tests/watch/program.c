/* cudaccl-watch - tests of the program: reloading, listeners, and the command line
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib/gstdio.h>
#include <gst/check/gstcheck.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "apps/watch/watch.h"
#include "tests/lib/removetree.h"
#include "tests/lib/testbroker.h"
#include "tests/lib/waitfor.h"

static gchar *folder, *path;

static void
setup (void)
{
  folder = g_dir_make_tmp ("watch-XXXXXX", NULL);
  path = g_build_filename (folder, "watch.conf", NULL);
}

static void
teardown (void)
{
  remove_tree (folder);
  g_free (folder);
  g_free (path);
}

/* Writes the file: @cameras after the groups that all have. */
static void
write_file (const gchar *cameras)
{
  g_autofree gchar *text =
      g_strdup_printf ("[watch]\ndata = data\n[server]\nlisten = 127.0.0.1:0\n%s", cameras);

  fail_unless (g_file_set_contents (path, text, -1, NULL));
}

static gboolean
is_running (WatchCamera *camera)
{
  WatchCameraStatus status;
  gboolean running;

  watch_camera_get_status (camera, &status);
  running = status.state == WATCH_CAMERA_RUNNING;
  watch_camera_status_clear (&status);
  return running;
}

static void
on_event (const WatchEvent *event, gpointer user_data)
{
  GPtrArray *events = user_data;

  g_ptr_array_add (events, watch_event_copy (event));
}

GST_START_TEST (test_reload)
{
  g_autoptr (GPtrArray) events = g_ptr_array_new_with_free_func ((GDestroyNotify) watch_event_free);
  g_autoptr (GError) error = NULL;
  WatchCamera *a, *b;
  WatchApp *app;
  Watch *watch;
  guint id;

  write_file ("[camera a]\nuri = test://\n[camera b]\nuri = test://\nenabled = false\n");
  watch = watch_new (path, watch_camera_new, &error);
  fail_unless (watch != NULL, "%s", error ? error->message : "");
  app = watch_get_app (watch);
  id = watch_listeners_add (app->listeners, on_event, events);
  fail_unless_equals_int (app->cameras->len, 2);
  a = watch_app_find_camera (app, "a");
  b = watch_app_find_camera (app, "b");
  fail_unless (a && b && !watch_app_find_camera (app, "c"));
  WAIT_FOR (is_running (a));

  /* A mistake changes nothing. */
  write_file ("[camera a]\nuri = nothing\n");
  fail_if (watch_reload (watch, &error));
  fail_unless (strstr (error->message, "[camera a] uri") != NULL, "%s", error->message);
  g_clear_error (&error);
  fail_unless (watch_app_find_camera (app, "a") == a && is_running (a));

  /* Only what differs starts or stops. The file itself tells of its change. */
  write_file ("[camera c]\nuri = test://\n[camera a]\nuri = test://\n");
  WAIT_FOR (watch_app_find_camera (app, "c") != NULL);
  fail_unless (watch_app_find_camera (app, "a") == a && is_running (a));
  fail_unless (watch_app_find_camera (app, "b") == NULL);
  fail_unless (g_ptr_array_index (app->cameras, 1) == a);

  WAIT_FOR (events->len > 1);
  watch_listeners_remove (app->listeners, id);
  {
    const WatchEvent *event = g_ptr_array_index (events, 0);

    fail_unless_equals_int (event->kind, WATCH_EVENT_MOTION);
    fail_unless_equals_string (event->session, app->shared.session);
  }
  watch_free (watch);
  while (g_main_context_iteration (NULL, FALSE)) {
  }
}
GST_END_TEST;

/* Replaces what the link `..data` leads to, as the kubelet does. */
static void
swap_folder (const gchar *name, const gchar *text)
{
  g_autofree gchar *target = g_build_filename (folder, name, NULL);
  g_autofree gchar *file = g_build_filename (target, "watch.conf", NULL);
  g_autofree gchar *data = g_build_filename (folder, "..data", NULL);
  g_autofree gchar *link = g_build_filename (folder, "..data_tmp", NULL);

  fail_unless (g_mkdir (target, 0700) == 0);
  fail_unless (g_file_set_contents (file, text, -1, NULL));
  fail_unless (symlink (name, link) == 0 && g_rename (link, data) == 0);
}

static guint
count_events (const GPtrArray *events, const gchar *camera)
{
  guint n = 0;

  for (guint i = 0; i < events->len; i++)
    n += g_str_equal (((WatchEvent *) g_ptr_array_index (events, i))->camera, camera);
  return n;
}

/* A camera that moves to another program and back has the same session, so its numbers go on. */
GST_START_TEST (test_share)
{
  static const gchar text[] =
      "[watch]\ndata = %s/data\nshare = 0/%u\n[server]\nlisten = 127.0.0.1:0\n"
      "[camera a]\nuri = test://\nrecord = false\n[camera door-2]\nuri = test://\nrecord = false\n";
  g_autoptr (GPtrArray) events = g_ptr_array_new_with_free_func ((GDestroyNotify) watch_event_free);
  g_autoptr (GError) error = NULL;
  WatchApp *app = NULL;
  Watch *watch;

  for (guint i = 0; i < 3; i++) {
    g_autofree gchar *name = g_strdup_printf ("..%u", i);
    g_autofree gchar *settings = g_strdup_printf (text, folder, i == 1 ? 2 : 1);

    swap_folder (name, settings);
    if (i == 0) {
      fail_unless (symlink ("..data/watch.conf", path) == 0);
      watch = watch_new (path, watch_camera_new, &error);
      fail_unless (watch != NULL, "%s", error ? error->message : "");
      app = watch_get_app (watch);
      watch_listeners_add (app->listeners, on_event, events);
    }
    WAIT_FOR (app->cameras->len == (i == 1 ? 1 : 2));
    fail_unless (watch_app_find_camera (app, "door-2") != NULL);
    WAIT_FOR (count_events (events, "a") >= (i == 2 ? 2 : 1));
  }
  watch_free (watch);
  while (g_main_context_iteration (NULL, FALSE)) {
  }
  for (guint i = 0; i < events->len; i++) {
    const WatchEvent *x = g_ptr_array_index (events, i);

    for (guint k = 0; k < i; k++) {
      const WatchEvent *y = g_ptr_array_index (events, k);

      fail_if (x->number == y->number && g_str_equal (x->camera, y->camera));
    }
  }
}
GST_END_TEST;

/* When new sinks are refused, those of before start again, and send the states of all cameras. */
GST_START_TEST (test_refused_sinks)
{
  static const gchar camera[] = "[camera a]\nuri = test://\nenabled = false\n";
  g_autoptr (GHashTable) states = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autofree gchar *right = NULL;
  g_autoptr (GString) wrong = NULL;
  g_autoptr (GError) error = NULL;
  TestBroker broker;
  Watch *watch;

  if (!test_broker_set_up (&broker, folder, NULL))
    return;
  test_broker_subscribe (&broker, "cudaccl/#");
  right = g_strdup_printf ("[mqtt]\nbroker = mqtt://127.0.0.1:%u\n%s", broker.port, camera);
  wrong = g_string_new (right);
  g_string_append (wrong, "[webhooks]\nurls =");
  for (guint i = 0; i < 17; i++)
    g_string_append_printf (wrong, " http://127.0.0.1:9/%u", i);
  write_file (right);
  watch = watch_new (path, watch_camera_new, &error);
  fail_unless (watch != NULL, "%s", error ? error->message : "");
  test_broker_read_until (&broker, states, "cudaccl/a/availability", "offline");
  write_file (wrong->str);
  fail_if (watch_reload (watch, &error));
  fail_unless (strstr (error->message, "webhooks: expected fewer"), "%s", error->message);
  test_broker_read_until (&broker, states, "cudaccl/availability", "offline");
  test_broker_read_until (&broker, states, "cudaccl/availability", "online");
  test_broker_read_until (&broker, states, "cudaccl/a/availability", "offline");
  watch_free (watch);
  while (g_main_context_iteration (NULL, FALSE)) {
  }
  test_broker_tear_down (&broker);
}
GST_END_TEST;

/* Runs the program with an argument or the file, and returns the exit status. */
static gint
run_program (const gchar *option, const gchar *file, gchar **output)
{
  const gchar *argv[] = { WATCH_PROGRAM, option, file, NULL };
  gint status = -1;

  fail_unless (g_spawn_sync (NULL, (gchar **) argv, NULL, G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL,
                             NULL, output, &status, NULL));
  return status;
}

GST_START_TEST (test_command_line)
{
  g_autofree gchar *fine = NULL, *wrong = NULL, *unknown = NULL;

  write_file ("[camera a]\nuri = test://\n");
  fail_unless_equals_int (run_program ("--check", path, &fine), 0);
  fail_unless_equals_string (fine, "");
  write_file ("[camera a]\nurl = test://\n");
  fail_unless (run_program ("--check", path, &wrong) != 0);
  fail_unless (strstr (wrong, "watch.conf: [camera a]: no such key: url") != NULL, "%s", wrong);
  fail_unless (run_program ("--none", path, &unknown) != 0);
  fail_unless (strstr (unknown, "--none") != NULL);
}
GST_END_TEST;

/* The program itself reads this report, and shows its reason on the page. */
GST_START_TEST (test_report)
{
  g_autofree gchar *still = g_build_filename (folder, "still.mkv", NULL);
  g_autofree gchar *video = g_build_filename (folder, "out.mp4", NULL);
  g_autofree gchar *text = g_strdup_printf (
      "videotestsrc pattern=black num-buffers=30 ! video/x-raw,width=64,height=64,framerate=10/1 ! "
      "jpegenc ! matroskamux ! filesink location=%s",
      still);
  const gchar *argv[] = { WATCH_PROGRAM, "--synopsis", "a", still, "--report", "-o", video, NULL };
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autofree gchar *output = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  gst_message_unref (
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  gst_element_set_state (pipeline, GST_STATE_NULL);
  fail_unless (g_spawn_sync (NULL, (gchar **) argv, NULL, G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                             &output, NULL, NULL, NULL));
  fail_unless (strstr (output, "\"reason\":{\"code\":\"synopsis-still\"") != NULL, "%s", output);
}
GST_END_TEST;

static guint
find_free_port (void)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();

  return g_socket_listener_add_any_inet_port (listener, NULL, NULL);
}

/* As a container: it asks before, while and after the program runs. */
GST_START_TEST (test_healthy)
{
  g_autofree gchar *text = g_strdup_printf (
      "[watch]\ndata = data\n[server]\nlisten = 127.0.0.1:%u\n", find_free_port ());
  g_autofree gchar *before = NULL, *after = NULL;
  g_autoptr (GSubprocess) program = NULL;
  gboolean healthy = FALSE;

  fail_unless (run_program ("--healthy", path, &before) != 0);
  fail_unless (strstr (before, "watch.conf") != NULL, "%s", before);
  fail_unless (g_file_set_contents (path, text, -1, NULL));
  program = g_subprocess_new (G_SUBPROCESS_FLAGS_STDOUT_SILENCE, NULL, WATCH_PROGRAM, path, NULL);
  fail_unless (program != NULL);
  for (guint i = 0; i < 600 && !healthy; i++) {
    g_autofree gchar *output = NULL;

    healthy = run_program ("--healthy", path, &output) == 0;
    if (!healthy)
      g_usleep (100000);
  }
  fail_unless (healthy);
  g_subprocess_send_signal (program, SIGTERM);
  fail_unless (g_subprocess_wait_check (program, NULL, NULL));
  fail_unless (run_program ("--healthy", path, &after) != 0);
  fail_unless (strstr (after, "/readyz") != NULL, "%s", after);
}
GST_END_TEST;

/* As systemd: it says when it is ready and that it turns, takes SIGHUP, and ends with SIGTERM. */
GST_START_TEST (test_service)
{
  g_autofree gchar *name = g_build_filename (folder, "notify", NULL);
  g_autoptr (GSocketAddress) address = g_unix_socket_address_new (name);
  g_autoptr (GSocket) socket =
      g_socket_new (G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_DEFAULT, NULL);
  g_autoptr (GSubprocessLauncher) launcher =
      g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_autoptr (GSubprocess) program = NULL;
  static const gchar *const expected[] = { "READY=1", "WATCHDOG=1", "STOPPING=1" };
  gchar message[256];

  fail_unless (g_socket_bind (socket, address, TRUE, NULL));
  g_socket_set_timeout (socket, 60);
  g_subprocess_launcher_setenv (launcher, "NOTIFY_SOCKET", name, TRUE);
  g_subprocess_launcher_setenv (launcher, "WATCHDOG_USEC", "400000", TRUE);
  write_file ("[camera a]\nuri = test://\n");
  program = g_subprocess_launcher_spawn (launcher, NULL, WATCH_PROGRAM, path, NULL);
  fail_unless (program != NULL);
  for (guint i = 0; i < G_N_ELEMENTS (expected); i++) {
    do {
      gssize n = g_socket_receive (socket, message, sizeof (message) - 1, NULL, NULL);

      fail_unless (n > 0, "no message %s", expected[i]);
      message[n] = '\0';
    } while (i == 2 && g_str_has_prefix (message, "WATCHDOG"));
    fail_unless (g_str_has_prefix (message, expected[i]), "%s", message);
    if (i == 0)
      g_subprocess_send_signal (program, SIGHUP);
    else if (i == 1)
      g_subprocess_send_signal (program, SIGTERM);
  }
  fail_unless (g_subprocess_wait_check (program, NULL, NULL));
}
GST_END_TEST;

static Suite *
program_suite (void)
{
  Suite *suite = suite_create ("program");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, setup, teardown);
  tcase_add_test (tcase, test_reload);
  tcase_add_test (tcase, test_share);
  tcase_add_test (tcase, test_refused_sinks);
  tcase_add_test (tcase, test_command_line);
  tcase_add_test (tcase, test_report);
  tcase_add_test (tcase, test_healthy);
  tcase_add_test (tcase, test_service);

  return suite;
}

int
main (int argc, char **argv)
{
  return test_broker_run (argc, argv, program_suite (), "program");
}
