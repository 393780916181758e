/* cudaccl-watch - the program: settings, cameras and all they share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/watch.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

#include "apps/watch/records/json.h"

#define RELOAD_DELAY 300     /* ms: editors write a file in several steps */
#define STATUS_INTERVAL 5000 /* ms */
#define STATUS_DELAY 500     /* ms after a camera changed: others may follow */
#define DAY (24 * 60 * 60 * (gint64) G_USEC_PER_SEC)

struct _Watch
{
  WatchApp app;
  gint refs; /* owner and pending calls to the main thread */
  gboolean closed;
  gchar *path;
  gchar *session;
  WatchCameraNew camera_new;
  WatchPublisher *publisher;
  GFileMonitor *monitors[2];                 /* or NULL */
  guint reload, minute, status, status_soon; /* sources */
  GThread *sweeper;                          /* removes old files, or NULL */
  gint sweeping;
  guint days; /* days to keep files, for the sweeper; 0: for ever */
};

static void
watch_unref (gpointer data)
{
  Watch *self = data;

  if (g_atomic_int_dec_and_test (&self->refs))
    g_free (self);
}

/* --- Status for others --- */

/* A host may run several programs, each with its share. */
static gchar *
get_program (Watch *self)
{
  const gchar *share = self->app.settings->share;

  return share && !g_str_has_prefix (share, "auto/")
             ? g_strdup_printf ("%s.%.*s", g_get_host_name (), (int) strcspn (share, "/"), share)
             : g_strdup (g_get_host_name ());
}

static void
add_camera (GString *json, WatchCamera *camera)
{
  WatchCameraStatus status;

  watch_camera_get_status (camera, &status);
  web_json_begin_object (json, NULL);
  watch_camera_status_add_summary (json, watch_camera_get_name (camera), &status);
  web_json_end_object (json);
  watch_camera_status_clear (&status);
}

/* Publishes the state of all cameras. @ends: for the last time. */
static void
publish_program (Watch *self, gboolean ends)
{
  g_autofree gchar *program = get_program (self), *text = NULL;
  g_autoptr (GArray) sinks = NULL;
  GString *json;
  guint64 pending = 0, dropped = 0;

  if (!self->publisher || !self->app.settings->kafka)
    return;
  sinks = watch_publisher_get_status (self->publisher);
  for (guint i = 0; i < sinks->len; i++) {
    const WatchSinkStatus *sink = &g_array_index (sinks, WatchSinkStatus, i);

    if (g_str_equal (sink->name, "kafka")) {
      pending = sink->pending;
      dropped = sink->dropped;
    }
  }
  json = web_json_new ();
  web_json_add_string (json, "program", program);
  web_json_add_string (json, "session", self->session);
  watch_json_add_time (json, "start", self->app.start);
  watch_json_add_time (json, "utc", g_get_real_time ());
  web_json_add_boolean (json, "ends", ends);
  web_json_add_string (json, "version", PACKAGE_VERSION);
  web_json_add_string (json, "share", self->app.settings->share);
  web_json_add_int (json, "pending", pending);
  web_json_add_int (json, "dropped", dropped);
  web_json_begin_array (json, "cameras");
  for (guint i = 0; i < self->app.cameras->len; i++)
    add_camera (json, g_ptr_array_index (self->app.cameras, i));
  web_json_end_array (json);
  text = web_json_take (json);
  watch_publisher_set_program (self->publisher, program, text);
}

static gboolean
on_status (gpointer user_data)
{
  publish_program (user_data, FALSE);
  return G_SOURCE_CONTINUE;
}

static gboolean
on_status_soon (gpointer user_data)
{
  ((Watch *) user_data)->status_soon = 0;
  publish_program (user_data, FALSE);
  return G_SOURCE_REMOVE;
}

static void
publish_soon (Watch *self)
{
  if (!self->status_soon)
    self->status_soon = g_timeout_add (STATUS_DELAY, on_status_soon, self);
}

/* --- Calls from other threads to the main thread --- */

typedef struct
{
  Watch *watch;
  GPtrArray *events; /* or NULL */
  gchar *camera;     /* the camera of `jpeg`, or NULL */
  GBytes *jpeg;
} Call;

static void
call_free (gpointer data)
{
  Call *call = data;

  g_clear_pointer (&call->events, g_ptr_array_unref);
  g_clear_pointer (&call->jpeg, g_bytes_unref);
  g_free (call->camera);
  watch_unref (call->watch);
  g_free (call);
}

/* Takes the members of @call. */
static void
call_main (Watch *self, GSourceFunc func, Call call)
{
  g_atomic_int_inc (&self->refs);
  call.watch = self;
  g_idle_add_full (G_PRIORITY_DEFAULT, func, g_memdup2 (&call, sizeof (call)), call_free);
}

static void
publish_state (Watch *self, WatchCamera *camera)
{
  WatchCameraStatus status;

  if (!self->publisher)
    return;
  watch_camera_get_status (camera, &status);
  watch_publisher_set_camera (self->publisher, watch_camera_get_name (camera), &status);
  watch_camera_status_clear (&status);
}

static void
publish_states (Watch *self)
{
  for (guint i = 0; i < self->app.cameras->len; i++)
    publish_state (self, g_ptr_array_index (self->app.cameras, i));
}

static gboolean
on_events (gpointer data)
{
  const Call *call = data;
  Watch *self = call->watch;
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);

  if (self->closed)
    return G_SOURCE_REMOVE;
  if (self->publisher)
    watch_publisher_wake (self->publisher);
  for (guint i = 0; i < call->events->len; i++) {
    const WatchEvent *event = g_ptr_array_index (call->events, i);
    WatchCamera *camera = watch_app_find_camera (&self->app, event->camera);

    watch_listeners_call (self->app.listeners, event);
    /* Counts and motion have changed with the event. */
    if (camera && g_hash_table_add (seen, event->camera))
      publish_state (self, camera);
  }
  return G_SOURCE_REMOVE;
}

/* Runs in the store's thread. */
static void
on_committed (GPtrArray *events, gpointer user_data)
{
  Watch *self = user_data;
  GPtrArray *copies = g_ptr_array_new_with_free_func ((GDestroyNotify) watch_event_free);

  for (guint i = 0; i < events->len; i++)
    g_ptr_array_add (copies, watch_event_copy (g_ptr_array_index (events, i)));
  call_main (self, on_events, (Call){ .events = copies });
}

static gboolean
on_picture_saved (gpointer data)
{
  const Call *call = data;

  if (!call->watch->closed && call->watch->publisher)
    watch_publisher_set_picture (call->watch->publisher, call->camera, call->jpeg);
  return G_SOURCE_REMOVE;
}

/* Runs in any thread. */
static void
on_picture (const gchar *camera, GBytes *jpeg, gpointer user_data)
{
  call_main (user_data, on_picture_saved,
             (Call){ .camera = g_strdup (camera), .jpeg = g_bytes_ref (jpeg) });
}

/* --- Cameras --- */

static void
on_camera_changed (WatchCamera *camera, gpointer user_data)
{
  WatchCameraStatus status;

  watch_camera_get_status (camera, &status);
  g_message ("%s: %s%s%s", watch_camera_get_name (camera),
             watch_camera_state_get_name (status.state), status.reason ? ": " : "",
             status.reason ? status.reason->text : "");
  watch_camera_status_clear (&status);
  publish_state (user_data, camera);
  publish_soon (user_data);
}

static WatchCamera *
take_camera (GPtrArray *cameras, const gchar *name)
{
  for (guint i = 0; i < cameras->len; i++) {
    WatchCamera *camera = g_ptr_array_index (cameras, i);

    if (g_str_equal (watch_camera_get_name (camera), name)) {
      g_ptr_array_remove_index (cameras, i);
      return camera;
    }
  }
  return NULL;
}

/* Stops all of them at once, so that those that hang do not add up. */
static void
free_cameras (Watch *self, GPtrArray *cameras)
{
  for (guint i = 0; i < cameras->len; i++)
    watch_camera_stop (g_ptr_array_index (cameras, i));
  for (guint i = 0; i < cameras->len; i++) {
    WatchCamera *camera = g_ptr_array_index (cameras, i);

    if (self->publisher &&
        !watch_settings_find (self->app.settings, watch_camera_get_name (camera)))
      watch_publisher_set_camera (self->publisher, watch_camera_get_name (camera), NULL);
    watch_camera_free (camera);
  }
  g_ptr_array_set_size (cameras, 0);
}

/* Whether all cameras must be restarted. */
static gboolean
shared_settings_differ (const WatchSettings *a, const WatchSettings *b)
{
  static const gchar *const names[][2] = { { "watch", "model" },      { "watch", "labels" },
                                           { "watch", "provider" },   { "record", "pre-roll" },
                                           { "record", "post-roll" }, { "record", "memory" },
                                           { "lines", NULL } };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (!watch_settings_equal (a, b, names[i][0], names[i][1]))
      return TRUE;
  }
  return FALSE;
}

static gboolean
sinks_differ (const WatchSettings *a, const WatchSettings *b)
{
  return watch_publisher_differs (a, b) || !watch_settings_equal (a, b, "watch", "spool");
}

/* Whether a setting differs that is read only at the start. */
static gboolean
needs_restart (const WatchSettings *a, const WatchSettings *b)
{
  static const gchar *const names[][2] = {
    { "watch", "data" }, { "server", "listen" }, { "server", "certificate" },
    { "server", "key" }, { "record", "days" },   { "record", "size" },
    { "onvif", NULL }
  };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    if (!watch_settings_equal (a, b, names[i][0], names[i][1]))
      return TRUE;
  }
  return FALSE;
}

/* Creates, updates and removes cameras to match the settings. @renew: restarts all. */
static void
set_cameras (Watch *self, gboolean renew)
{
  GPtrArray *before = g_steal_pointer (&self->app.cameras);
  WatchCamera *camera;

  self->app.cameras = g_ptr_array_new ();
  if (renew)
    free_cameras (self, before);
  for (guint i = 0; i < self->app.settings->cameras->len; i++) {
    WatchCameraSettings *settings = g_ptr_array_index (self->app.settings->cameras, i);

    camera = take_camera (before, settings->name);
    if (camera)
      watch_camera_update (camera, settings);
    else
      camera = self->camera_new (self->app.settings, settings, &self->app.shared, on_camera_changed,
                                 self);
    g_ptr_array_add (self->app.cameras, camera);
    publish_state (self, camera);
  }
  free_cameras (self, before);
  g_ptr_array_unref (before);
  publish_soon (self);
}

/* --- The file --- */

gboolean
watch_reload (Watch *self, GError **error)
{
  WatchSettings *settings = watch_settings_load (self->path, error), *before = self->app.settings;
  gboolean renew;

  if (!settings)
    return FALSE;
  if (sinks_differ (before, settings)) {
    WatchPublisher *publisher;

    /* Only one publisher may take lines from the spool. */
    g_clear_pointer (&self->publisher, watch_publisher_free);
    publisher = watch_publisher_new (settings, self->app.shared.store, error);
    if (!publisher) {
      self->publisher = watch_publisher_new (before, self->app.shared.store, NULL);
      /* A new publisher knows no states. */
      publish_states (self);
      watch_settings_unref (settings);
      return FALSE;
    }
    self->publisher = publisher;
  }
  if (needs_restart (before, settings))
    g_message ("%s: restart cudaccl-watch for the folder of data, the address, the certificate, "
               "ONVIF and the limits of recordings",
               self->path);
  renew = shared_settings_differ (before, settings);
  self->app.settings = settings;
  set_cameras (self, renew);
  watch_settings_unref (before);
  return TRUE;
}

static gboolean
on_reload (gpointer user_data)
{
  Watch *self = user_data;
  g_autoptr (GError) error = NULL;

  self->reload = 0;
  if (!watch_reload (self, &error))
    g_warning ("nothing changes: %s", error->message);
  return G_SOURCE_REMOVE;
}

static void
on_file_changed (GFileMonitor *monitor, GFile *file, GFile *other, GFileMonitorEvent event,
                 gpointer user_data)
{
  Watch *self = user_data;

  if (event == G_FILE_MONITOR_EVENT_DELETED || event == G_FILE_MONITOR_EVENT_ATTRIBUTE_CHANGED)
    return;
  if (self->reload)
    g_source_remove (self->reload);
  self->reload = g_timeout_add (RELOAD_DELAY, on_reload, self);
}

static GFileMonitor *
monitor (Watch *self, const gchar *path)
{
  g_autoptr (GFile) file = g_file_new_for_path (path);
  GFileMonitor *monitor = g_file_monitor_file (file, G_FILE_MONITOR_WATCH_MOVES, NULL, NULL);

  if (monitor)
    g_signal_connect (monitor, "changed", G_CALLBACK (on_file_changed), self);
  return monitor;
}

/* --- Once a minute --- */

static WatchFileState
get_file_state (const gchar *name, gpointer user_data)
{
  return watch_media_get_state (user_data, name);
}

static gpointer
sweep (gpointer data)
{
  Watch *self = data;
  gint64 now = g_get_real_time ();
  g_auto (GStrv) files = watch_media_sweep (self->app.shared.media, now);

  if (files && files[0])
    watch_store_forget_files (self->app.shared.store, (const gchar *const *) files);
  watch_store_forget_missing (self->app.shared.store, get_file_state, self->app.shared.media);
  if (self->days)
    watch_store_remove_before (self->app.shared.store, now - self->days * DAY);
  g_atomic_int_set (&self->sweeping, FALSE);
  return NULL;
}

static void
start_sweep (Watch *self)
{
  if (g_atomic_int_get (&self->sweeping))
    return;
  if (self->sweeper)
    g_thread_join (self->sweeper);
  self->sweeping = TRUE;
  self->days = self->app.settings->retention_days;
  self->sweeper = g_thread_new ("watch-sweep", sweep, self);
}

static gboolean
on_minute (gpointer user_data)
{
  publish_states (user_data);
  start_sweep (user_data);
  return G_SOURCE_CONTINUE;
}

/* --- Public --- */

static gboolean
open_all (Watch *self, GError **error)
{
  const WatchSettings *settings = self->app.settings;

  if (g_mkdir_with_parents (settings->data, 0700) != 0) {
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno),
                 "the folder %s cannot be made: %s; set `data` in the group [watch] of %s",
                 settings->data, g_strerror (errno), self->path);
    return FALSE;
  }
  self->app.shared.store = watch_store_open (settings->data, error);
  if (!self->app.shared.store)
    return FALSE;
  watch_settings_clean (settings);
  self->app.shared.media =
      watch_media_open (settings->data, settings->retention_days, settings->retention_bytes, error);
  if (!self->app.shared.media)
    return FALSE;
  self->publisher = watch_publisher_new (self->app.settings, self->app.shared.store, error);
  return self->publisher != NULL;
}

static gboolean
reload (WatchApp *app, GError **error)
{
  return watch_reload ((Watch *) app, error);
}

static GArray *
get_sinks (WatchApp *app)
{
  return watch_publisher_get_status (((Watch *) app)->publisher);
}

Watch *
watch_new (const gchar *path, WatchCameraNew camera_new, GError **error)
{
  WatchSettings *settings = watch_settings_load (path, error);
  g_autofree gchar *folder = NULL, *data = NULL;
  Watch *self;

  if (!settings)
    return NULL;
  self = g_new0 (Watch, 1);
  self->app.reload = reload;
  self->app.get_sinks = get_sinks;
  self->camera_new = camera_new;
  self->refs = 1;
  self->path = g_strdup (settings->path);
  self->app.settings = settings;
  self->session = g_uuid_string_random ();
  self->app.start = g_get_real_time ();
  self->app.shared.session = self->session;
  self->app.shared.metadata = watch_metadata_new ();
  self->app.shared.picture = on_picture;
  self->app.shared.picture_data = self;
  self->app.listeners = watch_listeners_new ();
  self->app.cameras = g_ptr_array_new ();
  if (!open_all (self, error)) {
    watch_free (self);
    return NULL;
  }
  watch_store_set_committed (self->app.shared.store, on_committed, self);
  set_cameras (self, FALSE);
  folder = g_path_get_dirname (self->path);
  data = g_build_filename (folder, "..data", NULL);
  self->monitors[0] = monitor (self, self->path);
  /* Kubernetes replaces all files of a ConfigMap at once: it gives this link another target. */
  if (g_file_test (data, G_FILE_TEST_IS_SYMLINK))
    self->monitors[1] = monitor (self, data);
  self->minute = g_timeout_add_seconds (60, on_minute, self);
  start_sweep (self);
  self->status = g_timeout_add (STATUS_INTERVAL, on_status, self);
  return self;
}

void
watch_free (Watch *self)
{
  g_clear_handle_id (&self->reload, g_source_remove);
  g_clear_handle_id (&self->minute, g_source_remove);
  g_clear_handle_id (&self->status, g_source_remove);
  g_clear_handle_id (&self->status_soon, g_source_remove);
  for (guint i = 0; i < G_N_ELEMENTS (self->monitors); i++)
    g_clear_object (&self->monitors[i]);
  if (self->sweeper)
    g_thread_join (self->sweeper);
  /* Stop all of them at once, so that those that hang do not add up. */
  for (guint i = 0; i < self->app.cameras->len; i++)
    watch_camera_stop (g_ptr_array_index (self->app.cameras, i));
  for (guint i = 0; i < self->app.cameras->len; i++)
    watch_camera_free (g_ptr_array_index (self->app.cameras, i));
  g_ptr_array_set_size (self->app.cameras, 0);
  publish_program (self, TRUE);
  g_ptr_array_unref (self->app.cameras);
  /* Send the cameras' last events to the sinks, too. */
  if (self->publisher) {
    watch_store_flush (self->app.shared.store);
    watch_publisher_free (self->publisher);
  }
  g_clear_pointer (&self->app.shared.media, watch_media_unref);
  g_clear_pointer (&self->app.shared.store, watch_store_close);
  watch_metadata_unref (self->app.shared.metadata);
  self->closed = TRUE;
  watch_listeners_free (self->app.listeners);
  watch_settings_unref (self->app.settings);
  g_free (self->session);
  g_free (self->path);
  watch_unref (self);
}

WatchApp *
watch_get_app (Watch *self)
{
  return &self->app;
}
