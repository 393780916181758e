/* cudaccl - tests: a cudaccl-watch without cameras
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "watchfake.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>

typedef struct
{
  WatchApp app;
  gchar *folder, *path, *text;
  GBytes *picture;
  guint next_id, timer;
} Fake;

typedef struct
{
  WatchCamera parent;
  Fake *fake;
  WatchCameraState state;
  WebReason *reason;
  gint64 since;
  GArray *viewers; /* Viewer */
} Camera;

typedef struct
{
  guint id;
  WatchPicture func;
  gpointer user_data;
  gboolean boxes;
} Viewer;

/* --- Cameras --- */

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

static void
get_status (WatchCamera *camera, WatchCameraStatus *status)
{
  static const WatchBox box = { 42, NULL, 0.25f, 0.25f, 0.125f, 0.5f };
  Camera *self = (Camera *) camera;

  watch_camera_status_init (status);
  status->state = self->state;
  status->since = self->since;
  status->reason = web_reason_copy (self->reason);
  status->frames = 1000;
  status->rate = 25;
  status->width = 768;
  status->height = 576;
  status->decoder = g_strdup ("avdec_h264");
  status->backend = g_strdup ("cpu");
  status->objects = 1;
  add_zones (status->zones, camera->settings->zones, FALSE);
  add_zones (status->zones, camera->settings->tripwires, TRUE);
  g_array_append_val (status->boxes, box);
}

static guint
add_viewer (WatchCamera *camera, gboolean boxes, guint rate, WatchPicture func, gpointer user_data)
{
  Camera *self = (Camera *) camera;
  Viewer viewer = { ++self->fake->next_id, func, user_data, boxes };

  g_array_append_val (self->viewers, viewer);
  return viewer.id;
}

static void
remove_viewer (WatchCamera *camera, guint id)
{
  Camera *self = (Camera *) camera;

  for (guint i = 0; i < self->viewers->len; i++)
    if (g_array_index (self->viewers, Viewer, i).id == id) {
      g_array_remove_index (self->viewers, i);
      return;
    }
  g_error ("there is no viewer %u", id);
}

static Camera *
camera_new (Fake *fake, WatchCameraSettings *settings)
{
  static const WatchCameraInterface interface = { .get_status = get_status,
                                                  .add_viewer = add_viewer,
                                                  .remove_viewer = remove_viewer };
  Camera *self = g_new0 (Camera, 1);

  self->parent.interface = &interface;
  self->fake = fake;
  self->parent.settings = watch_camera_settings_ref (settings);
  self->state = settings->enabled ? WATCH_CAMERA_RUNNING : WATCH_CAMERA_OFF;
  self->reason = settings->enabled ? NULL : web_reason_new (WEB_REASON_DISABLED, NULL);
  self->since = fake->app.start;
  self->viewers = g_array_new (FALSE, FALSE, sizeof (Viewer));
  return self;
}

static void
camera_free (gpointer data)
{
  Camera *self = data;

  for (guint i = 0; i < self->viewers->len; i++) {
    Viewer viewer = g_array_index (self->viewers, Viewer, i);

    viewer.func (NULL, viewer.user_data);
  }
  g_array_unref (self->viewers);
  watch_camera_settings_unref (self->parent.settings);
  web_reason_free (self->reason);
  g_free (self);
}

static gboolean
show_pictures (gpointer user_data)
{
  Fake *self = user_data;

  for (guint i = 0; self->picture && i < self->app.cameras->len; i++) {
    Camera *camera = g_ptr_array_index (self->app.cameras, i);

    for (guint v = 0; camera->state == WATCH_CAMERA_RUNNING && v < camera->viewers->len; v++) {
      Viewer viewer = g_array_index (camera->viewers, Viewer, v);

      viewer.func (self->picture, viewer.user_data);
    }
  }
  return G_SOURCE_CONTINUE;
}

/* --- The program --- */

static gboolean
reload (WatchApp *app, GError **error)
{
  Fake *self = (Fake *) app;
  WatchSettings *settings = watch_settings_load (self->path, error);

  if (!settings)
    return FALSE;
  g_clear_pointer (&app->settings, watch_settings_unref);
  app->settings = settings;
  g_ptr_array_set_size (app->cameras, 0);
  for (guint i = 0; i < settings->cameras->len; i++)
    g_ptr_array_add (app->cameras, camera_new (self, g_ptr_array_index (settings->cameras, i)));
  return TRUE;
}

static void
sink_clear (gpointer data)
{
  g_free (((WatchSinkStatus *) data)->name);
  web_reason_free (((WatchSinkStatus *) data)->reason);
}

static GArray *
get_sinks (WatchApp *app)
{
  GArray *sinks = g_array_new (FALSE, TRUE, sizeof (WatchSinkStatus));
  WatchSinkStatus mqtt = { .name = g_strdup ("mqtt"), .connected = TRUE, .sent = 12 };
  WatchSinkStatus hook = { .name = g_strdup ("webhook \"example.org\""),
                           .pending = 3,
                           .reason = web_reason_new (WEB_REASON_SINK_FAILED, "detail",
                                                     "connection refused", NULL) };

  g_array_set_clear_func (sinks, sink_clear);
  g_array_append_val (sinks, mqtt);
  g_array_append_val (sinks, hook);
  return sinks;
}

/* --- For tests --- */

WatchApp *
watch_fake_new (const gchar *text)
{
  Fake *self = g_new0 (Fake, 1);
  WatchApp *app = &self->app;
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

  app->reload = reload;
  app->get_sinks = get_sinks;
  app->start = g_get_real_time ();
  app->cameras = g_ptr_array_new_with_free_func (camera_free);
  app->listeners = watch_listeners_new ();
  app->shared.session = "5e5510a0-0000-4000-8000-000000000000";
  reload (app, &error);
  g_assert_no_error (error);
  app->shared.store = watch_store_open (self->folder, &error);
  g_assert_no_error (error);
  app->shared.media = watch_media_open (self->folder, 30, 0, &error);
  g_assert_no_error (error);
  self->timer = g_timeout_add (100, show_pictures, self);
  return app;
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
watch_fake_free (WatchApp *app)
{
  Fake *self = (Fake *) app;

  g_source_remove (self->timer);
  g_ptr_array_unref (app->cameras);
  watch_listeners_free (app->listeners);
  g_clear_pointer (&self->picture, g_bytes_unref);
  watch_store_close (app->shared.store);
  watch_media_unref (app->shared.media);
  watch_settings_unref (app->settings);
  remove_folder (self->folder);
  g_free (self->folder);
  g_free (self->path);
  g_free (self->text);
  g_free (self);
}

const gchar *
watch_fake_get_folder (WatchApp *app)
{
  return ((Fake *) app)->folder;
}

void
watch_fake_set_picture (WatchApp *app, GBytes *jpeg)
{
  Fake *self = (Fake *) app;

  g_clear_pointer (&self->picture, g_bytes_unref);
  self->picture = g_bytes_ref (jpeg);
}

void
watch_fake_set_state (WatchApp *app, const gchar *name, WatchCameraState state, WebReason *reason)
{
  Camera *camera = (Camera *) watch_app_find_camera (app, name);

  camera->state = state;
  camera->since = g_get_real_time ();
  web_reason_free (camera->reason);
  camera->reason = reason;
}

void
watch_fake_add_event (WatchApp *app, WatchEvent *event)
{
  WatchEvent *copy = watch_event_copy (event);

  watch_store_add_event (app->shared.store, event);
  watch_store_flush (app->shared.store);
  watch_listeners_call (app->listeners, copy);
  watch_event_free (copy);
}

void
watch_fake_reset (WatchApp *app)
{
  Fake *self = (Fake *) app;
  g_autofree gchar *text = NULL;

  if (g_file_get_contents (self->path, &text, NULL, NULL) && g_str_equal (text, self->text))
    return;
  g_assert_true (g_file_set_contents_full (self->path, self->text, -1, 0, 0600, NULL));
  reload (app, NULL);
}

guint
watch_fake_get_boxes (WatchApp *app)
{
  guint n = 0;

  for (guint i = 0; i < app->cameras->len; i++) {
    const GArray *viewers = ((Camera *) g_ptr_array_index (app->cameras, i))->viewers;

    for (guint v = 0; v < viewers->len; v++)
      n += g_array_index (viewers, Viewer, v).boxes;
  }
  return n;
}

guint
watch_fake_get_viewers (WatchApp *app)
{
  guint n = watch_listeners_get_n (app->listeners);

  for (guint i = 0; i < app->cameras->len; i++)
    n += ((Camera *) g_ptr_array_index (app->cameras, i))->viewers->len;
  return n;
}
