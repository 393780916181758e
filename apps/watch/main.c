/* cudaccl-watch - the command line
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <gio/gio.h>
#include <gio/gunixsocketaddress.h>
#include <glib-unix.h>
#include <glib/gstdio.h>
#include <gst/gst.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdlib.h>
#include <string.h>

#include "apps/watch/commands.h"
#include "apps/watch/health.h"
#include "apps/watch/onvif/probe.h"
#include "apps/watch/onvif/rtsp.h"
#include "apps/watch/routes.h"
#include "apps/watch/settings/replace.h"
#include "apps/watch/settings/values.h"
#include "apps/watch/watch.h"

/* Text of a new file. */
static const gchar new_file[] =
    "# Settings of cudaccl-watch; docs/watch.md describes them. Changes are taken at once. "
    "Cameras\n"
    "# can be added on the page, too.\n"
    "\n"
    "# [camera yard]\n"
    "# uri = rtsp://192.168.1.20/stream1\n"
    "# credentials = yard.txt    # a file with USER:PASSWORD that only you can read\n"
    "# tripwires = gate: 0.5,0 0.5,1\n"
    "# zones = lawn: 0,0.5 1,0.5 1,1 0,1\n"
    "# schedule = mon-fri 18:00-08:00, sat-sun 00:00-24:00\n"
    "\n"
    "# [record]\n"
    "# days = 30\n"
    "# size = 20 GB\n"
    "\n"
    "# [mqtt]\n"
    "# broker = mqtt://192.168.1.2\n";

/* --- systemd --- */

/* Sends @state to systemd, if it started this program. */
static void
notify (const gchar *state)
{
  const gchar *path = g_getenv ("NOTIFY_SOCKET");
  g_autoptr (GSocket) socket = NULL;
  g_autoptr (GSocketAddress) address = NULL;

  if (!path || !path[0])
    return;
  socket =
      g_socket_new (G_SOCKET_FAMILY_UNIX, G_SOCKET_TYPE_DATAGRAM, G_SOCKET_PROTOCOL_DEFAULT, NULL);
  address = path[0] == '@'
                ? g_unix_socket_address_new_with_type (path + 1, -1, G_UNIX_SOCKET_ADDRESS_ABSTRACT)
                : g_unix_socket_address_new (path);
  if (!socket || g_socket_send_to (socket, address, state, strlen (state), NULL, NULL) < 0)
    g_warning ("systemd does not answer at %s", path);
}

/* Tells systemd that the main loop runs: without this, it restarts the program. */
static gboolean
on_watchdog (gpointer user_data)
{
  const GPtrArray *cameras = watch_get_app (user_data)->cameras;
  g_autofree gchar *text = NULL;
  guint running = 0;

  for (guint i = 0; i < cameras->len; i++) {
    WatchCameraStatus status;

    watch_camera_get_status (g_ptr_array_index (cameras, i), &status);
    running += status.state == WATCH_CAMERA_RUNNING;
    watch_camera_status_clear (&status);
  }
  text = g_strdup_printf ("WATCHDOG=1\nSTATUS=%u of %u cameras", running, cameras->len);
  notify (text);
  return G_SOURCE_CONTINUE;
}

static guint
start_watchdog (Watch *watch)
{
  const gchar *text = g_getenv ("WATCHDOG_USEC");
  guint64 interval = text ? g_ascii_strtoull (text, NULL, 10) : 0;

  if (!g_getenv ("NOTIFY_SOCKET"))
    return 0;
  return g_timeout_add (interval ? (guint) CLAMP (interval / 2000, 100, 10000) : 10000, on_watchdog,
                        watch);
}

/* --- Signals --- */

static gboolean
on_hangup (gpointer user_data)
{
  g_autoptr (GError) error = NULL;

  if (!watch_reload (user_data, &error))
    g_warning ("nothing changes: %s", error->message);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_terminate (gpointer user_data)
{
  g_main_loop_quit (user_data);
  return G_SOURCE_CONTINUE;
}

/* --- The command line --- */

static gchar *
get_default_path (void)
{
  return g_build_filename (g_get_user_config_dir (), "cudaccl-watch.conf", NULL);
}

/* Returns the user's file, and creates it if it is missing. */
static gchar *
get_default_file (GError **error)
{
  g_autofree gchar *path = get_default_path ();

  if (g_file_test (path, G_FILE_TEST_EXISTS))
    return g_steal_pointer (&path);
  if (g_mkdir_with_parents (g_get_user_config_dir (), 0700) != 0) {
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s cannot be made: %s",
                 g_get_user_config_dir (), g_strerror (errno));
    return NULL;
  }
  if (!watch_replace_file (path, new_file, 0600, error))
    return NULL;
  g_print ("made the file %s\n", path);
  return g_steal_pointer (&path);
}

static gboolean
check (const gchar *path, GError **error)
{
  g_autoptr (WatchSettings) settings = watch_settings_load (path, error);

  if (settings)
    g_print ("%s: no mistakes, cameras: %u, of %u\n", path, settings->cameras->len,
             settings->cameras->len + settings->elsewhere->len);
  return settings != NULL;
}

/* --- Memory --- */

#define TRIM_INTERVAL 60 /* seconds */

/* Threads of lost cameras leave holes in glibc's arenas, of which there are eight per core, and
 * each grows to the size of all frames. */
static void
limit_memory (void)
{
#ifdef __GLIBC__
  mallopt (M_ARENA_MAX, 2);
  mallopt (M_MMAP_THRESHOLD, 128 * 1024);
  mallopt (M_TRIM_THRESHOLD, 128 * 1024);
#endif
}

/* Gives free pages in the middle of the arenas back, too. */
static gboolean
trim_memory (gpointer data)
{
#ifdef __GLIBC__
  malloc_trim (0);
#endif
  return G_SOURCE_CONTINUE;
}

/* --- Running --- */

/* Parts of ONVIF beside the services over HTTP. */
typedef struct
{
  WatchRtsp *rtsp;
  WatchProbe *probe; /* or NULL */
} Onvif;

static gboolean
start_onvif (Onvif *self, WatchApp *app, WebServer *server, GError **error)
{
  WatchSettings *settings = app->settings;
  gboolean local = TRUE;

  if (!settings->onvif_user)
    return TRUE;
  self->rtsp = watch_rtsp_new (app, error);
  watch_parse_listen (settings->listen, &local);
  if (self->rtsp && !local && settings->onvif_discovery) {
    self->probe = watch_probe_new (settings, web_server_get_uri (server));
    watch_probe_start (self->probe);
  }
  return self->rtsp != NULL;
}

static gboolean
run (const gchar *path, GError **error)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  Watch *watch = watch_new (path, watch_camera_new, error);
  WebServer *server = watch ? watch_server_new (watch_get_app (watch), error) : NULL;
  Onvif onvif = { NULL, NULL };
  guint signals[3], watchdog, trim;
  gboolean started = server && start_onvif (&onvif, watch_get_app (watch), server, error);

  if (started) {
    g_print ("cudaccl-watch is at %s\n", web_server_get_uri (server));
    fflush (stdout);
    signals[0] = g_unix_signal_add (SIGTERM, on_terminate, loop);
    signals[1] = g_unix_signal_add (SIGINT, on_terminate, loop);
    signals[2] = g_unix_signal_add (SIGHUP, on_hangup, watch);
    notify ("READY=1");
    watchdog = start_watchdog (watch);
    trim = g_timeout_add_seconds (TRIM_INTERVAL, trim_memory, NULL);
    g_main_loop_run (loop);
    notify ("STOPPING=1");
    g_clear_handle_id (&watchdog, g_source_remove);
    g_source_remove (trim);
    /* From now on, signals end the program at once. */
    for (guint i = 0; i < G_N_ELEMENTS (signals); i++)
      g_source_remove (signals[i]);
  }
  g_clear_pointer (&onvif.probe, watch_probe_free);
  g_clear_pointer (&onvif.rtsp, watch_rtsp_free);
  g_clear_pointer (&server, web_server_free);
  g_clear_pointer (&watch, watch_free);
  while (g_main_context_iteration (NULL, FALSE)) {
  }
  return started;
}

int
main (int argc, char **argv)
{
  gboolean only_check = FALSE, healthy = FALSE, version = FALSE, done;
  const GOptionEntry entries[] = {
    { "check", 0, 0, G_OPTION_ARG_NONE, &only_check, "Check the file of settings, and exit", NULL },
    { "healthy", 0, 0, G_OPTION_ARG_NONE, &healthy,
      "Ask the program that runs with FILE, and exit: with 0 if it is well", NULL },
    { "version", 0, 0, G_OPTION_ARG_NONE, &version, "Print the version, and exit", NULL },
    { NULL },
  };
  g_autoptr (GOptionContext) context = g_option_context_new ("[FILE]");
  g_autoptr (GError) error = NULL;
  g_autofree gchar *path = NULL;

  limit_memory ();
  g_option_context_set_summary (
      context, "Watches cameras: finds what moves, counts it in zones and over lines, records "
               "clips, and shows all on a page.\nFILE has the settings; default: "
               "~/.config/cudaccl-watch.conf, which is made if it is not there.");
  g_option_context_add_main_entries (context, entries, NULL);
  g_option_context_add_group (context, watch_commands_get_options ());
  if (!g_option_context_parse (context, &argc, &argv, &error)) {
    g_printerr ("cudaccl-watch: %s\n", error->message);
    return 2;
  }
  if (argc > 2 && !watch_commands_given ()) {
    g_printerr ("cudaccl-watch: expected one file; see --help\n");
    return 2;
  }
  if (version) {
    g_print ("cudaccl-watch %s\n", PACKAGE_VERSION);
    return EXIT_SUCCESS;
  }
  if (healthy) {
    path = argc > 1 ? g_strdup (argv[1]) : get_default_path ();
    if (watch_health_check (path, &error))
      return EXIT_SUCCESS;
    g_printerr ("cudaccl-watch: %s\n", error->message);
    return EXIT_FAILURE;
  }
  /* Nothing is displayed, but with GStreamer 1.22 NVIDIA decoders would open an EGL display for
   * the process, and the driver (580) can crash when threads that used it end. */
  g_setenv ("GST_GL_WINDOW", "none", FALSE);
  gst_init (NULL, NULL);
  if (watch_commands_given ()) {
    path = get_default_path ();
    done = watch_commands_run (path, argv + 1, &error);
  } else {
    path = argc > 1 ? g_strdup (argv[1]) : get_default_file (&error);
    done = path && (only_check ? check (path, &error) : run (path, &error));
  }
  if (!done)
    g_printerr ("cudaccl-watch: %s\n", error->message);
  return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
