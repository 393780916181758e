/* cudaccl-collect - the command line
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib-unix.h>
#include <stdio.h>
#include <stdlib.h>

#include "apps/collect/site.h"

static gboolean
on_terminate (gpointer user_data)
{
  g_main_loop_quit (user_data);
  return G_SOURCE_CONTINUE;
}

static gboolean
run (const gchar *path, GError **error)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (WatchSettings) settings = watch_settings_load (path, error);
  Collect *collect = settings ? collect_new (settings, error) : NULL;
  WebServer *server = collect ? collect_site_new (collect, error) : NULL;

  if (server) {
    g_print ("cudaccl-collect is at %s\n", web_server_get_uri (server));
    fflush (stdout);
    g_unix_signal_add (SIGTERM, on_terminate, loop);
    g_unix_signal_add (SIGINT, on_terminate, loop);
    g_main_loop_run (loop);
    web_server_free (server);
  }
  if (collect)
    collect_free (collect);
  return server != NULL;
}

int
main (int argc, char **argv)
{
  gboolean version = FALSE;
  const GOptionEntry entries[] = {
    { "version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version, and exit", NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("FILE");
  g_autoptr (GError) error = NULL;

  g_option_context_set_summary (
      context, "Writes the events of many cudaccl-watch from Kafka to PostgreSQL, and shows all "
               "cameras on a page.\nFILE has the settings, see docs/scale.md.");
  g_option_context_add_main_entries (context, entries, NULL);
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    g_printerr ("cudaccl-collect: %s\n", error->message);
    return 2;
  }
  if (version) {
    g_print ("cudaccl-collect %s\n", PACKAGE_VERSION);
    return EXIT_SUCCESS;
  }
  if (argc != 2) {
    g_printerr ("cudaccl-collect: expected one file; see --help\n");
    return 2;
  }
  if (run (argv[1], &error))
    return EXIT_SUCCESS;
  g_printerr ("cudaccl-collect: %s\n", error->message);
  return EXIT_FAILURE;
}
