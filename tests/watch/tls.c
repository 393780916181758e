/* cudaccl - tests: TLS of the server
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib/gstdio.h>

#include "tests/lib/certificate.h"
#include "tests/lib/removetree.h"
#include "tests/lib/watchhttp.h"

#define HEALTH "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

#define ANY "-no_ssl3" /* version of TLS */

static gchar *folder;
static guint n_warnings;
static gchar *warning; /* the last */

static void
on_warning (const gchar *domain, GLogLevelFlags level, const gchar *message, gpointer user_data)
{
  n_warnings++;
  g_free (warning);
  warning = g_strdup (message);
}

/* Makes two certificates with keys, `right` and `other`. */
static gboolean
begin (void)
{
  folder = g_dir_make_tmp ("watch-XXXXXX", NULL);
  if (g_tls_backend_supports_tls (g_tls_backend_get_default ()) &&
      make_certificate (folder, "right") && make_certificate (folder, "other"))
    return TRUE;
  g_print ("skipped: glib-networking or openssl is not installed\n");
  remove_tree (folder);
  g_free (folder);
  return FALSE;
}

static void
end (void)
{
  remove_tree (folder);
  g_free (folder);
}

/* Writes the file @to as that of a new name, or in place. */
static void
copy (const gchar *from, const gchar *to, gboolean rename)
{
  g_autofree gchar *source = g_build_filename (folder, from, NULL);
  g_autofree gchar *target = g_build_filename (folder, to, NULL);
  g_autofree gchar *text = NULL;
  gsize size;

  fail_unless (g_file_get_contents (source, &text, &size, NULL));
  fail_unless (g_file_set_contents_full (
      target, text, (gssize) size,
      rename ? G_FILE_SET_CONTENTS_CONSISTENT : G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static void
start_with (const gchar *certificate, const gchar *key)
{
  g_autofree gchar *settings = g_strdup_printf (TOKEN "certificate = %s/%s\nkey = %s/%s\n", folder,
                                                certificate, folder, key);

  start (settings);
}

/* --- A client --- */

typedef struct
{
  gchar *text;
  gboolean done;
} Output;

static void
on_output (GObject *process, GAsyncResult *result, gpointer user_data)
{
  Output *output = user_data;

  g_subprocess_communicate_utf8_finish (G_SUBPROCESS (process), result, &output->text, NULL, NULL);
  output->done = TRUE;
}

/* Returns what OpenSSL's client prints that sends @input. It trusts FOLDER/@authority alone. */
static gchar *
run_client (const gchar *input, const gchar *authority, const gchar *options)
{
  g_autoptr (GUri) uri = g_uri_parse (web_server_get_uri (server), G_URI_FLAGS_NONE, NULL);
  g_autofree gchar *command =
      g_strdup_printf ("openssl s_client -connect 127.0.0.1:%d -CAfile %s/%s -verify_return_error "
                       "-cipher DEFAULT:@SECLEVEL=0 %s",
                       g_uri_get_port (uri), folder, authority, options);
  g_auto (GStrv) argv = g_strsplit (command, " ", -1);
  g_autoptr (GSubprocess) process =
      g_subprocess_newv ((const gchar *const *) argv,
                         G_SUBPROCESS_FLAGS_STDIN_PIPE | G_SUBPROCESS_FLAGS_STDOUT_PIPE |
                             G_SUBPROCESS_FLAGS_STDERR_MERGE,
                         NULL);
  Output output = { NULL, FALSE };

  g_subprocess_communicate_utf8_async (process, input, NULL, on_output, &output);
  while (!output.done)
    g_main_context_iteration (NULL, TRUE);
  return output.text;
}

/* Whether a client that trusts @authority alone is served. */
static gboolean
is_served (const gchar *authority, const gchar *options)
{
  g_autofree gchar *all = g_strconcat (options, " -ign_eof", NULL);
  g_autofree gchar *output = run_client (HEALTH, authority, all);

  return strstr (output, "HTTP/1.1 200 ") != NULL;
}

/* --- Certificates --- */

/* A server that could shake hands with nobody does not start. */
GST_START_TEST (test_files)
{
  static const struct
  {
    const gchar *certificate, *key, *expected;
  } cases[] = {
    { "right.pem", "other.key", "the key is not that of the certificate" },
    { "right.key", "right.key", "certificate" },
    { "right.pem", "right.pem", "private key" },
  };

  if (!begin ())
    return;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *text = g_strdup_printf (TOKEN "certificate = %s/%s\nkey = %s/%s\n", folder,
                                              cases[i].certificate, folder, cases[i].key);
    WatchApp *one = watch_fake_new (text);
    g_autoptr (GError) error = NULL;

    fail_if (watch_server_new (one, &error), "%u", i);
    fail_unless (strstr (error->message, cases[i].expected) &&
                     strstr (error->message, cases[i].certificate) &&
                     strstr (error->message, cases[i].key),
                 "%s", error->message);
    watch_fake_free (one);
  }
  end ();
}
GST_END_TEST;

/* New connections get a renewed certificate, once its key is there, too. */
GST_START_TEST (test_renewal)
{
  guint handler;

  if (!begin ())
    return;
  handler = g_log_set_handler (NULL, G_LOG_LEVEL_WARNING, on_warning, NULL);
  for (guint rename = 0; rename < 2; rename++) {
    g_autofree gchar *key = g_build_filename (folder, "used.key", NULL);

    n_warnings = 0;
    copy ("right.pem", "used.pem", rename);
    copy ("right.key", "used.key", rename);
    start_with ("used.pem", "used.key");
    fail_unless (is_served ("right.pem", ANY));
    fail_if (is_served ("other.pem", ANY));
    fail_unless_equals_int (n_warnings, 0);

    copy ("other.pem", "used.pem", rename);
    fail_unless (is_served ("right.pem", ANY));
    fail_unless_equals_int (n_warnings, 1);
    fail_unless (strstr (warning, "the key is not that of the certificate"), "%s", warning);
    fail_unless (is_served ("right.pem", ANY));
    fail_unless_equals_int (n_warnings, 1);
    copy ("other.key", "used.key", rename);
    fail_unless (is_served ("other.pem", ANY));
    fail_if (is_served ("right.pem", ANY));

    g_unlink (key);
    fail_unless (is_served ("other.pem", ANY));
    fail_unless_equals_int (n_warnings, 2);
    stop ();
  }
  g_log_remove_handler (NULL, handler);
  g_clear_pointer (&warning, g_free);
  end ();
}
GST_END_TEST;

/* --- Clients --- */

GST_START_TEST (test_versions)
{
  g_autofree gchar *again = NULL;
  const gchar *second;

  if (!begin ())
    return;
  start_with ("right.pem", "right.key");
  fail_unless (is_served ("right.pem", "-tls1_3"));
  fail_unless (is_served ("right.pem", "-tls1_2"));
  fail_if (is_served ("right.pem", "-tls1_1"));
  fail_if (is_served ("right.pem", "-tls1"));
  /* `R` asks for another handshake, of which there could be many. */
  again = run_client ("R\n", "right.pem", "-tls1_2");
  second = strstr (again, "RENEGOTIATING");
  fail_unless (second, "%s", again);
  fail_if (strstr (second, "verify return:1"), "%s", second);
  fail_unless (is_served ("right.pem", ANY));
  stop ();
  end ();
}
GST_END_TEST;

/* Handshakes have the deadline of headers. */
GST_START_TEST (test_handshakes)
{
  static const gchar *const begins[] = { "", "\x16", "\x16\x03\x01\x01", "GET" };
  Client clients[G_N_ELEMENTS (begins)];

  if (!begin ())
    return;
  start_with ("right.pem", "right.key");
  web_server_set_deadlines (server, &(WebDeadlines){ 1000, 20000 });
  for (guint i = 0; i < G_N_ELEMENTS (begins); i++)
    client_open (&clients[i], begins[i]);
  for (guint i = 0; i < G_N_ELEMENTS (begins); i++) {
    fail_unless (client_read (&clients[i], NULL), "%u is still open", i);
    client_close (&clients[i]);
  }
  fail_unless (is_served ("right.pem", ANY));
  stop ();
  end ();
}
GST_END_TEST;

/* Connections that stall, nearly as many as there are places, keep no other from its handshake. */
GST_START_TEST (test_stalls)
{
  Client clients[250];
  gint64 begun;

  if (!begin ())
    return;
  start_with ("right.pem", "right.key");
  for (guint i = 0; i < G_N_ELEMENTS (clients); i++) {
    client_open (&clients[i], "");
    while (g_main_context_iteration (NULL, FALSE))
      ;
  }
  begun = g_get_monotonic_time ();
  fail_unless (is_served ("right.pem", ANY));
  fail_unless (g_get_monotonic_time () < begun + 5 * G_USEC_PER_SEC);
  for (guint i = 0; i < G_N_ELEMENTS (clients); i++)
    client_close (&clients[i]);
  stop ();
  end ();
}
GST_END_TEST;

static Suite *
tls_suite (void)
{
  Suite *s = suite_create ("tls");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_set_timeout (tc, 60);
  tcase_add_test (tc, test_files);
  tcase_add_test (tc, test_renewal);
  tcase_add_test (tc, test_versions);
  tcase_add_test (tc, test_handshakes);
  tcase_add_test (tc, test_stalls);
  return s;
}

GST_CHECK_MAIN (tls);
