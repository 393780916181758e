/* cudaccl-watch without video: for fleet.py
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* fleet-program SETTINGS INTERVAL LEDGER: runs the program of the settings with its share, database
 * and brokers, but with cameras that have an event when they start and then every INTERVAL
 * milliseconds. Adds a line for each event that was committed to LEDGER. */

#include <fcntl.h>
#include <glib-unix.h>
#include <gst/gst.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/watch/watch.h"

typedef struct
{
  WatchCamera parent;
  const WatchShared *shared;
  gint64 since;
  guint source;
} Camera;

static guint interval;
static int ledger;
static GHashTable *numbers; /* of the last events, by camera: as in camera/analysis.c */

static void
add_event (Camera *self, WatchEventKind kind)
{
  WatchEvent *event = g_new0 (WatchEvent, 1);
  const gchar *name = self->parent.settings->name;
  guint64 number = GPOINTER_TO_SIZE (g_hash_table_lookup (numbers, name)) + 1;

  g_hash_table_insert (numbers, g_strdup (name), GSIZE_TO_POINTER (number));
  event->camera = g_strdup (name);
  event->session = g_strdup (self->shared->session);
  event->number = number;
  event->time = g_get_real_time ();
  event->kind = kind;
  event->x = event->y = 0.5;
  if (kind == WATCH_EVENT_IN)
    event->zone = g_strdup ("gate");
  watch_store_add_event (self->shared->store, event);
}

static gboolean
on_interval (gpointer user_data)
{
  add_event (user_data, WATCH_EVENT_IN);
  return G_SOURCE_CONTINUE;
}

static void
get_status (WatchCamera *camera, WatchCameraStatus *status)
{
  watch_camera_status_init (status);
  status->state = WATCH_CAMERA_RUNNING;
  status->since = ((Camera *) camera)->since;
  status->rate = 30;
}

static void
update (WatchCamera *camera, WatchCameraSettings *settings)
{
}

static void
stop (WatchCamera *camera)
{
}

static void
camera_free (WatchCamera *camera)
{
  g_source_remove (((Camera *) camera)->source);
  watch_camera_settings_unref (camera->settings);
  g_free (camera);
}

static WatchCamera *
camera_new (WatchSettings *settings, WatchCameraSettings *camera, const WatchShared *shared,
            WatchCameraChanged changed, gpointer user_data)
{
  static const WatchCameraInterface interface = {
    .update = update, .get_status = get_status, .stop = stop, .free = camera_free
  };
  Camera *self = g_new0 (Camera, 1);

  self->parent.interface = &interface;
  self->parent.settings = watch_camera_settings_ref (camera);
  self->shared = shared;
  self->since = g_get_real_time ();
  add_event (self, WATCH_EVENT_BACK);
  self->source = g_timeout_add (interval / 2 + g_random_int () % interval, on_interval, self);
  return &self->parent;
}

/* It was committed before: what is in the ledger must arrive. */
static void
on_event (const WatchEvent *event, gpointer user_data)
{
  g_autofree gchar *line =
      g_strdup_printf ("%s %s %" G_GUINT64_FORMAT " %" G_GINT64_FORMAT "\n", event->camera,
                       event->session, event->number, event->time);

  if (write (ledger, line, strlen (line)) != (gssize) strlen (line))
    g_error ("the ledger cannot be written");
}

static gboolean
on_terminate (gpointer user_data)
{
  g_main_loop_quit (user_data);
  return G_SOURCE_CONTINUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GMainLoop) loop = g_main_loop_new (NULL, FALSE);
  g_autoptr (GError) error = NULL;
  Watch *watch;

  if (argc != 4)
    return 2;
  gst_init (NULL, NULL);
  interval = (guint) atoi (argv[2]);
  ledger = open (argv[3], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  numbers = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  watch = watch_new (argv[1], camera_new, &error);
  if (!watch) {
    g_printerr ("%s\n", error->message);
    return EXIT_FAILURE;
  }
  watch_listeners_add (watch_get_app (watch)->listeners, on_event, NULL);
  g_unix_signal_add (SIGTERM, on_terminate, loop);
  g_main_loop_run (loop);
  watch_free (watch);
  g_hash_table_unref (numbers);
  return EXIT_SUCCESS;
}
