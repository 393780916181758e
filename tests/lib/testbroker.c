/* cudaccl - tests: a broker for MQTT, mosquitto
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "testbroker.h"

#include <gst/check/gstcheck.h>
#include <signal.h>
#include <sys/prctl.h>

#define READY "test/ready"

/* Children of a test that fails would live on, and the test runner would wait for them. */
static void
end_with_test (gpointer user_data)
{
  prctl (PR_SET_PDEATHSIG, SIGKILL);
}

gchar *
test_spawn (const gchar *const *argv, GSubprocess **process)
{
  g_autoptr (GSubprocessLauncher) launcher =
      g_subprocess_launcher_new (G_SUBPROCESS_FLAGS_STDOUT_PIPE);
  g_autoptr (GError) error = NULL;

  g_subprocess_launcher_set_child_setup (launcher, end_with_test, NULL, NULL);
  *process = g_subprocess_launcher_spawnv (launcher, argv, &error);
  return *process ? NULL : g_strdup (error->message);
}

guint16
test_broker_find_port (void)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();

  return g_socket_listener_add_any_inet_port (listener, NULL, NULL);
}

/* Waits until something listens to the port. */
static gboolean
can_connect (guint16 port)
{
  g_autoptr (GSocketClient) client = g_socket_client_new ();

  for (guint i = 0; i < 300; i++) {
    g_autoptr (GSocketConnection) connection =
        g_socket_client_connect_to_host (client, "127.0.0.1", port, NULL, NULL);

    if (connection)
      return TRUE;
    g_usleep (10000);
  }
  return FALSE;
}

void
test_broker_start (TestBroker *self)
{
  const gchar *const argv[] = { "mosquitto", "-c", self->conf, NULL };
  g_autofree gchar *error = test_spawn (argv, &self->process);

  fail_unless (!error, "%s", error);
  fail_unless (can_connect (self->port), "mosquitto does not start");
}

int
test_broker_run (int argc, char **argv, Suite *suite, const gchar *name)
{
  g_autofree gchar *path = g_strconcat (g_getenv ("PATH"), ":/usr/sbin:/usr/local/sbin", NULL);
  g_autofree gchar *program = NULL;
  int failed;

  g_setenv ("PATH", path, TRUE);
  program = g_find_program_in_path ("mosquitto");
  gst_check_init (&argc, &argv);
  failed = gst_check_run_suite (suite, name, __FILE__);
  if (failed || program)
    return failed;
  g_print ("skipped: mosquitto is not installed\n");
  return 77;
}

gboolean
test_broker_set_up (TestBroker *self, const gchar *folder, const gchar *security)
{
  g_autofree gchar *text = NULL;
  g_autofree gchar *program = g_find_program_in_path ("mosquitto");

  if (!program)
    return FALSE;
  memset (self, 0, sizeof (*self));
  self->port = test_broker_find_port ();
  self->conf = g_build_filename (folder, "mosquitto.conf", NULL);
  text = g_strdup_printf ("listener %u 127.0.0.1\n%s\npersistence true\n"
                          "persistence_location %s/\nmax_queued_messages 0\nlog_type error\n"
                          "user %s\n",
                          self->port, security ? security : "allow_anonymous true", folder,
                          g_get_user_name ());
  g_file_set_contents (self->conf, text, -1, NULL);
  test_broker_start (self);
  return TRUE;
}

void
test_end_process (GSubprocess **process, gint number)
{
  g_subprocess_send_signal (*process, number);
  g_subprocess_wait (*process, NULL, NULL);
  g_clear_object (process);
}

/* Runs one of mosquitto's programs; @options end with NULL. */
static GSubprocess *
run_client (TestBroker *self, const gchar *const *options)
{
  g_autofree gchar *port = g_strdup_printf ("%u", self->port), *error = NULL;
  g_autoptr (GPtrArray) argv = g_ptr_array_new ();
  GSubprocess *process;

  for (; *options; options++)
    g_ptr_array_add (argv, (gpointer) *options);
  for (const gchar *const *option = self->options; option && *option; option++)
    g_ptr_array_add (argv, (gpointer) *option);
  g_ptr_array_add (argv, (gpointer) "-p");
  g_ptr_array_add (argv, port);
  g_ptr_array_add (argv, NULL);
  error = test_spawn ((const gchar *const *) argv->pdata, &process);
  fail_unless (!error, "%s", error);
  return process;
}

/* Publishes a retained message on the topic READY. */
static void
publish_ready (TestBroker *self, const gchar *text)
{
  const gchar *const options[] = { "mosquitto_pub", "-r", "-t", READY, "-m", text, NULL };
  g_autoptr (GSubprocess) process = run_client (self, options);

  fail_unless (g_subprocess_wait_check (process, NULL, NULL));
}

void
test_broker_subscribe (TestBroker *self, const gchar *topic)
{
  const gchar *const options[] = {
    "mosquitto_sub", "-i", "reader",          "-c", "-q",           "1", "-t", topic, "-t",
    READY,           "-t", "homeassistant/#", "-F", "%r\\t%t\\t%p", NULL
  };
  g_autoptr (GHashTable) states = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);

  /* Later messages arrive in their order only if it has subscribed before. */
  publish_ready (self, "1");
  self->subscriber = run_client (self, options);
  self->lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (self->subscriber));
  test_broker_read_until (self, states, READY, "1");
  publish_ready (self, "");
  test_broker_read_until (self, states, READY, "");
}

void
test_broker_tear_down (TestBroker *self)
{
  if (self->subscriber)
    test_end_process (&self->subscriber, SIGTERM);
  g_clear_object (&self->lines);
  if (self->process)
    test_end_process (&self->process, SIGTERM);
  g_free (self->conf);
}

gchar *
test_read_line (GDataInputStream *lines)
{
  gchar *line = g_data_input_stream_read_line (lines, NULL, NULL, NULL);

  fail_unless (line != NULL, "no more lines");
  return line;
}

void
test_broker_read_until (TestBroker *self, GHashTable *states, const gchar *topic,
                        const gchar *payload)
{
  for (;;) {
    g_autofree gchar *line = test_read_line (self->lines);
    g_auto (GStrv) words = g_strsplit (line, "\t", 3);

    g_hash_table_insert (states, g_strdup (words[1]), g_strdup (words[2]));
    if (g_str_equal (words[1], topic) && g_str_equal (words[2], payload))
      return;
  }
}
