/* cudaccl - tests: a cudaccl-watch without cameras
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "watchfake.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

struct _WatchCamera
{
  Watch *watch;
  WatchCameraSettings *settings;
  WatchCameraState state;
  gchar *text;
  gint64 since;
  GArray *viewers; /* of Viewer */
};

typedef struct
{
  guint id;
  WatchPicture func;
  gpointer user_data;
} Viewer;

struct _Watch
{
  gchar *folder, *path, *text;
  WatchSettings *settings;
  WatchShared shared;
  GPtrArray *cameras;
  WatchListeners *listeners;
  GBytes *picture;
  guint next_id, timer;
  gint64 start;
};

/* --- Cameras --- */

static WatchCamera *
camera_new (Watch *watch, WatchCameraSettings *settings)
{
  WatchCamera *self = g_new0 (WatchCamera, 1);

  self->watch = watch;
  self->settings = watch_camera_settings_ref (settings);
  self->state = settings->enabled ? WATCH_CAMERA_RUNNING : WATCH_CAMERA_OFF;
  self->text = g_strdup (settings->enabled ? "running" : "disabled");
  self->since = watch->start;
  self->viewers = g_array_new (FALSE, FALSE, sizeof (Viewer));
  return self;
}

static void
camera_free (gpointer data)
{
  WatchCamera *self = data;

  for (guint i = 0; i < self->viewers->len; i++) {
    Viewer viewer = g_array_index (self->viewers, Viewer, i);

    viewer.func (NULL, viewer.user_data);
  }
  g_array_unref (self->viewers);
  watch_camera_settings_unref (self->settings);
  g_free (self->text);
  g_free (self);
}

const gchar *
watch_camera_get_name (WatchCamera *self)
{
  return self->settings->name;
}

WatchCameraSettings *
watch_camera_get_settings (WatchCamera *self)
{
  return self->settings;
}

const gchar *
watch_camera_state_get_name (WatchCameraState state)
{
  static const gchar *const names[] = { "off", "connecting", "running", "frozen", "lost" };

  return names[state];
}

static void
add_zones (GArray *zones, const gchar *text, gboolean tripwire)
{
  g_auto (GStrv) items = g_strsplit (text ? text : "", ";", -1);

  for (gchar **item = items; *item; item++) {
    WatchZoneCounts zone = { .tripwire = tripwire, .in = 12, .out = 7, .inside = tripwire ? 0 : 2 };

    if (!strchr (*item, ':'))
      continue;
    zone.name = g_strstrip (g_strndup (*item, strcspn (*item, ":")));
    g_array_append_val (zones, zone);
  }
}

void
watch_camera_get_status (WatchCamera *self, WatchCameraStatus *status)
{
  static const WatchBox box = { 42, NULL, 0.25f, 0.25f, 0.125f, 0.5f };

  memset (status, 0, sizeof *status);
  status->state = self->state;
  status->since = self->since;
  status->text = g_strdup (self->text);
  status->frames = 1000;
  status->rate = 25;
  status->width = 768;
  status->height = 576;
  status->decoder = g_strdup ("avdec_h264");
  status->backend = g_strdup ("cpu");
  status->objects = 1;
  status->zones = g_array_new (FALSE, TRUE, sizeof (WatchZoneCounts));
  add_zones (status->zones, self->settings->zones, FALSE);
  add_zones (status->zones, self->settings->tripwires, TRUE);
  status->boxes = g_array_new (FALSE, TRUE, sizeof (WatchBox));
  g_array_append_val (status->boxes, box);
}

void
watch_camera_status_clear (WatchCameraStatus *status)
{
  for (guint i = 0; i < status->zones->len; i++)
    g_free (g_array_index (status->zones, WatchZoneCounts, i).name);
  g_array_unref (status->zones);
  g_array_unref (status->boxes);
  g_free (status->text);
  g_free (status->decoder);
  g_free (status->backend);
}

guint
watch_camera_add_viewer (WatchCamera *self, gboolean boxes, guint rate, WatchPicture func,
                         gpointer user_data)
{
  Viewer viewer = { ++self->watch->next_id, func, user_data };

  g_array_append_val (self->viewers, viewer);
  return viewer.id;
}

void
watch_camera_remove_viewer (WatchCamera *self, guint id)
{
  for (guint i = 0; i < self->viewers->len; i++)
    if (g_array_index (self->viewers, Viewer, i).id == id) {
      g_array_remove_index (self->viewers, i);
      return;
    }
  g_error ("there is no viewer %u", id);
}

static gboolean
show_pictures (gpointer user_data)
{
  Watch *self = user_data;

  for (guint i = 0; self->picture && i < self->cameras->len; i++) {
    WatchCamera *camera = g_ptr_array_index (self->cameras, i);

    for (guint v = 0; camera->state == WATCH_CAMERA_RUNNING && v < camera->viewers->len; v++) {
      Viewer viewer = g_array_index (camera->viewers, Viewer, v);

      viewer.func (self->picture, viewer.user_data);
    }
  }
  return G_SOURCE_CONTINUE;
}

/* --- The program --- */

WatchSettings *
watch_get_settings (Watch *self)
{
  return watch_settings_ref (self->settings);
}

const WatchShared *
watch_get_shared (Watch *self)
{
  return &self->shared;
}

WatchPublisher *
watch_get_publisher (Watch *self)
{
  return (WatchPublisher *) self;
}

gint64
watch_get_start (Watch *self)
{
  return self->start;
}

GPtrArray *
watch_get_cameras (Watch *self)
{
  return self->cameras;
}

WatchCamera *
watch_find_camera (Watch *self, const gchar *name)
{
  for (guint i = 0; i < self->cameras->len; i++) {
    WatchCamera *camera = g_ptr_array_index (self->cameras, i);

    if (g_str_equal (camera->settings->name, name))
      return camera;
  }
  return NULL;
}

gboolean
watch_reload (Watch *self, GError **error)
{
  WatchSettings *settings = watch_settings_load (self->path, error);

  if (!settings)
    return FALSE;
  g_clear_pointer (&self->settings, watch_settings_unref);
  self->settings = settings;
  g_ptr_array_set_size (self->cameras, 0);
  for (guint i = 0; i < settings->cameras->len; i++)
    g_ptr_array_add (self->cameras, camera_new (self, g_ptr_array_index (settings->cameras, i)));
  return TRUE;
}

guint
watch_add_listener (Watch *self, WatchEventFunc func, gpointer user_data)
{
  return watch_listeners_add (self->listeners, func, user_data);
}

void
watch_remove_listener (Watch *self, guint id)
{
  watch_listeners_remove (self->listeners, id);
}

static void
sink_clear (gpointer data)
{
  g_free (((WatchSinkStatus *) data)->name);
  g_free (((WatchSinkStatus *) data)->text);
}

GArray *
watch_publisher_get_status (WatchPublisher *self)
{
  GArray *sinks = g_array_new (FALSE, TRUE, sizeof (WatchSinkStatus));
  WatchSinkStatus mqtt = { .name = g_strdup ("mqtt"), .connected = TRUE, .sent = 12 };
  WatchSinkStatus hook = { .name = g_strdup ("webhook \"example.org\""),
                           .pending = 3,
                           .text = g_strdup ("connection refused") };

  g_array_set_clear_func (sinks, sink_clear);
  g_array_append_val (sinks, mqtt);
  g_array_append_val (sinks, hook);
  return sinks;
}

/* --- For tests --- */

Watch *
watch_fake_new (const gchar *text)
{
  Watch *self = g_new0 (Watch, 1);
  g_autofree gchar *name = NULL;
  GError *error = NULL;
  GString *settings = g_string_new (text);

  self->folder = g_dir_make_tmp ("watch-XXXXXX", &error);
  g_assert_no_error (error);
  g_string_replace (settings, "FOLDER", self->folder, 0);
  self->path = g_build_filename (self->folder, "watch.conf", NULL);
  name = g_build_filename (self->folder, "token", NULL);
  g_assert_true (g_file_set_contents_full (name, "a-long-token\n", -1, 0, 0600, NULL));
  g_free (name);
  name = g_build_filename (self->folder, "user", NULL);
  g_assert_true (g_file_set_contents_full (name, "viewer:s3cret\n", -1, 0, 0600, NULL));
  self->text = g_string_free (settings, FALSE);
  g_assert_true (g_file_set_contents_full (self->path, self->text, -1, 0, 0600, NULL));

  self->start = g_get_real_time ();
  self->cameras = g_ptr_array_new_with_free_func (camera_free);
  self->listeners = watch_listeners_new ();
  self->shared.session = "5e5510a0-0000-4000-8000-000000000000";
  watch_reload (self, &error);
  g_assert_no_error (error);
  self->shared.store = watch_store_open (self->folder, &error);
  g_assert_no_error (error);
  self->shared.media = watch_media_open (self->folder, 30, 0, &error);
  g_assert_no_error (error);
  self->timer = g_timeout_add (100, show_pictures, self);
  return self;
}

static void
remove_folder (const gchar *path)
{
  GDir *folder = g_dir_open (path, 0, NULL);
  const gchar *name;

  while (folder && (name = g_dir_read_name (folder))) {
    g_autofree gchar *inner = g_build_filename (path, name, NULL);

    remove_folder (inner);
  }
  if (folder)
    g_dir_close (folder);
  g_remove (path);
}

void
watch_fake_free (Watch *self)
{
  g_source_remove (self->timer);
  g_ptr_array_unref (self->cameras);
  watch_listeners_free (self->listeners);
  g_clear_pointer (&self->picture, g_bytes_unref);
  watch_store_close (self->shared.store);
  watch_media_unref (self->shared.media);
  watch_settings_unref (self->settings);
  remove_folder (self->folder);
  g_free (self->folder);
  g_free (self->path);
  g_free (self->text);
  g_free (self);
}

const gchar *
watch_fake_get_folder (Watch *self)
{
  return self->folder;
}

void
watch_fake_set_picture (Watch *self, GBytes *jpeg)
{
  g_clear_pointer (&self->picture, g_bytes_unref);
  self->picture = g_bytes_ref (jpeg);
}

void
watch_fake_set_state (Watch *self, const gchar *name, WatchCameraState state, const gchar *text)
{
  WatchCamera *camera = watch_find_camera (self, name);

  camera->state = state;
  camera->since = g_get_real_time ();
  g_free (camera->text);
  camera->text = g_strdup (text);
}

void
watch_fake_add_event (Watch *self, WatchEvent *event)
{
  WatchEvent *copy = watch_event_copy (event);

  watch_store_add_event (self->shared.store, event);
  watch_store_flush (self->shared.store);
  watch_listeners_call (self->listeners, copy);
  watch_event_free (copy);
}

void
watch_fake_reset (Watch *self)
{
  g_autofree gchar *text = NULL;

  if (g_file_get_contents (self->path, &text, NULL, NULL) && g_str_equal (text, self->text))
    return;
  g_assert_true (g_file_set_contents_full (self->path, self->text, -1, 0, 0600, NULL));
  watch_reload (self, NULL);
}

guint
watch_fake_get_viewers (Watch *self)
{
  guint n = watch_listeners_get_n (self->listeners);

  for (guint i = 0; i < self->cameras->len; i++)
    n += ((WatchCamera *) g_ptr_array_index (self->cameras, i))->viewers->len;
  return n;
}
