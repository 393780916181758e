/* cudaccl-watch - cameras and state over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/http/api.h"

#include "apps/watch/http/app.h"
#include "apps/watch/http/preview.h"
#include "apps/watch/records/json.h"
#include "apps/watch/settings/replace.h"
#include "apps/watch/settings/values.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#define MAX_VALUE 65536 /* bytes of a setting */

/* --- State --- */

static void
add_settings (GString *json, const WatchCameraSettings *camera)
{
  g_autofree gchar *uri = watch_uri_redact (camera->uri);
  g_autofree gchar *record_uri = camera->record_uri ? watch_uri_redact (camera->record_uri) : NULL;

  web_json_begin_object (json, "settings");
  web_json_add_string (json, "uri", uri);
  web_json_add_string (json, "record-uri", record_uri);
  web_json_add_boolean (json, "password", camera->password && camera->password[0]);
  web_json_add_string (json, "zones", camera->zones);
  web_json_add_string (json, "tripwires", camera->tripwires);
  web_json_add_strings (json, "classes", (const gchar *const *) camera->classes);
  web_json_add_string (json, "schedule", camera->schedule);
  web_json_add_boolean (json, "enabled", camera->enabled);
  web_json_add_boolean (json, "detect", camera->detect);
  web_json_add_boolean (json, "record", camera->record);
  web_json_add_boolean (json, "loop", camera->loop);
  web_json_add_int (json, "frozen-after", camera->frozen_after);
  web_json_add_double (json, "dwell-time", camera->dwell_time / 1e9);
  web_json_add_double (json, "static-time", camera->static_time / 1e9);
  web_json_add_int (json, "max-pixels", camera->max_pixels);
  web_json_add_int (json, "max-memory", (gint64) camera->max_memory);
  web_json_add_int (json, "max-rate", camera->max_rate);
  web_json_end_object (json);
}

static void
add_camera (GString *json, WatchCamera *camera)
{
  WatchCameraStatus status;

  watch_camera_get_status (camera, &status);
  web_json_begin_object (json, NULL);
  watch_camera_status_add_json (json, watch_camera_get_name (camera), &status);
  add_settings (json, watch_camera_get_settings (camera));
  web_json_end_object (json);
  watch_camera_status_clear (&status);
}

void
watch_api_cameras (const WebRequest *request)
{
  WatchApp *app = request->app;
  GString *json = web_json_new ();

  web_json_begin_array (json, "cameras");
  for (guint i = 0; i < app->cameras->len; i++)
    add_camera (json, g_ptr_array_index (app->cameras, i));
  web_json_end_array (json);
  web_http_json (request->message, SOUP_STATUS_OK, web_json_take (json));
}

static void
add_sinks (GString *json, WatchApp *app)
{
  g_autoptr (GArray) sinks = app->get_sinks (app);

  web_json_begin_array (json, "sinks");
  for (guint i = 0; i < sinks->len; i++) {
    const WatchSinkStatus *sink = &g_array_index (sinks, WatchSinkStatus, i);

    web_json_begin_object (json, NULL);
    web_json_add_string (json, "name", sink->name);
    web_json_add_boolean (json, "connected", sink->connected);
    web_json_add_int (json, "sent", sink->sent);
    web_json_add_int (json, "pending", sink->pending);
    web_json_add_int (json, "dropped", sink->dropped);
    web_json_add_int (json, "refused", sink->refused);
    web_reason_add_both (json, sink->reason);
    web_json_end_object (json);
  }
  web_json_end_array (json);
}

void
watch_api_status (const WebRequest *request)
{
  WatchApp *app = request->app;
  const WatchSettings *settings = app->settings;
  const WatchShared *shared = &app->shared;
  GString *json = web_json_new ();
  WatchStoreStats store = { 0 };
  WatchMediaStats media = { 0 };

  watch_store_get_stats (shared->store, &store);
  watch_media_get_stats (shared->media, &media);
  web_json_add_string (json, "version", PACKAGE_VERSION);
  web_json_add_string (json, "session", shared->session);
  watch_json_add_time (json, "start", app->start);
  web_json_add_boolean (json, "token", settings->token != NULL);
  web_json_add_boolean (json, "model", settings->model != NULL);
  add_sinks (json, app);
  web_json_begin_object (json, "database");
  web_json_add_int (json, "bytes", store.bytes);
  web_json_add_int (json, "dropped", store.dropped);
  web_json_add_int (json, "restored", store.restored);
  web_reason_add_both (json, store.last_error);
  web_json_end_object (json);
  web_json_begin_object (json, "media");
  web_json_add_int (json, "bytes", media.bytes);
  web_json_add_int (json, "limit", settings->retention_bytes);
  web_json_add_int (json, "clips", media.clips);
  web_json_add_int (json, "pictures", media.pictures);
  web_json_add_int (json, "failed", media.failed);
  web_reason_add_both (json, media.last_error);
  web_json_end_object (json);
  web_http_json (request->message, SOUP_STATUS_OK, web_json_take (json));
  web_reason_free (store.last_error);
  web_reason_free (media.last_error);
}

/* --- Changes --- */

typedef struct
{
  GPtrArray *keys, *values; /* for watch_settings_edit() */
  gchar *uri;               /* without user and password */
  gchar *user, *password;
  gboolean elsewhere; /* of another origin, which must not learn the old password */
} Change;

static void
change_clear (Change *change)
{
  g_clear_pointer (&change->keys, g_ptr_array_unref);
  g_clear_pointer (&change->values, g_ptr_array_unref);
  g_free (change->uri);
  g_free (change->user);
  g_free (change->password);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Change, change_clear)

/* Returns the value as the file has it, "" for null; NULL if its type is wrong. */
static gchar *
get_value (JsonNode *node)
{
  GType type = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_INVALID;
  gchar number[G_ASCII_DTOSTR_BUF_SIZE];
  GString *list;
  JsonArray *array;

  if (JSON_NODE_HOLDS_NULL (node))
    return g_strdup ("");
  if (type == G_TYPE_STRING)
    return g_strdup (json_node_get_string (node));
  if (type == G_TYPE_BOOLEAN)
    return g_strdup (json_node_get_boolean (node) ? "true" : "false");
  if (type == G_TYPE_INT64)
    return g_strdup_printf ("%" G_GINT64_FORMAT, json_node_get_int (node));
  if (type == G_TYPE_DOUBLE)
    return g_strdup (g_ascii_formatd (number, sizeof number, "%.9g", json_node_get_double (node)));
  if (!JSON_NODE_HOLDS_ARRAY (node))
    return NULL;
  array = json_node_get_array (node);
  list = g_string_new (NULL);
  for (guint i = 0; i < json_array_get_length (array); i++) {
    JsonNode *item = json_array_get_element (array, i);

    if (!JSON_NODE_HOLDS_VALUE (item) || json_node_get_value_type (item) != G_TYPE_STRING)
      return g_string_free (list, TRUE);
    g_string_append_printf (list, "%s%s", i ? "," : "", json_node_get_string (item));
  }
  return g_string_free (list, FALSE);
}

/* The page gets addresses without password and query: such an address is unchanged. */
static gboolean
is_same_uri (const gchar *given, const gchar *before)
{
  g_autofree gchar *redacted = before ? watch_uri_redact (before) : NULL;

  return g_strcmp0 (given, redacted) == 0;
}

static gboolean
read_uri (const WebRequest *request, const gchar *name, gchar **value, Change *change)
{
  const gchar *expected = NULL;
  g_autofree gchar *uri = NULL, *user = NULL, *password = NULL;

  if (!**value && g_str_equal (name, "uri"))
    return web_http_refuse_value (request, name, "the address of the camera");
  if (!**value)
    return TRUE;
  uri = watch_parse_camera_uri (*value, &user, &password, &expected);
  if (!uri)
    return web_http_refuse_value (request, name, expected);
  /* Errors would tell other users of this machine which files there are. */
  if (g_str_has_prefix (uri, "file:") && !((WatchApp *) request->app)->settings->token) {
    web_http_refuse (request->message, SOUP_STATUS_FORBIDDEN,
                     web_reason_new (WEB_REASON_FILE_NEEDS_TOKEN, NULL));
    return FALSE;
  }
  if (user && !change->user)
    change->user = g_steal_pointer (&user);
  if (password && !change->password)
    change->password = g_steal_pointer (&password);
  g_free (*value);
  *value = g_steal_pointer (&uri);
  return TRUE;
}

static gboolean
refuse_control (const WebRequest *request, const gchar *name)
{
  web_http_refuse (request->message, SOUP_STATUS_BAD_REQUEST,
                   web_reason_new (WEB_REASON_CONTROL_CHARACTER, "name", name, NULL));
  return FALSE;
}

/* Reads @object, and answers with an error if it is wrong. @before is NULL for a new camera. */
static gboolean
read_change (const WebRequest *request, JsonObject *object, const WatchCameraSettings *before,
             Change *change)
{
  static const gchar *const known[] = {
    "uri",        "record-uri", "zones",    "tripwires",    "classes",    "schedule", "enabled",
    "detect",     "record",     "loop",     "frozen-after", "dwell-time", "user",     "password",
    "max-pixels", "max-memory", "max-rate", "static-time",  NULL
  };
  g_autoptr (GList) names = json_object_get_members (object);

  change->keys = g_ptr_array_new_with_free_func (g_free);
  change->values = g_ptr_array_new_with_free_func (g_free);
  for (GList *l = names; l; l = l->next) {
    const gchar *name = l->data;
    g_autofree gchar *value = get_value (json_object_get_member (object, name));

    if (!before && g_str_equal (name, "name"))
      continue;
    if (!g_strv_contains (known, name)) {
      web_http_error (request->message, SOUP_STATUS_BAD_REQUEST, "unknown member %.64s", name);
      return FALSE;
    }
    if (value && watch_has_control (value, "\t"))
      return refuse_control (request, name);
    if (!value || strlen (value) > MAX_VALUE)
      return web_http_refuse_value (request, name, "a line of text, a number, true or false");
    if (g_str_equal (name, "user") || g_str_equal (name, "password")) {
      gchar **place = g_str_equal (name, "user") ? &change->user : &change->password;

      g_free (*place);
      *place = g_steal_pointer (&value);
      continue;
    }
    if (before && ((g_str_equal (name, "uri") && is_same_uri (value, before->uri)) ||
                   (g_str_equal (name, "record-uri") && is_same_uri (value, before->record_uri))))
      continue;
    if (g_str_has_suffix (name, "uri") && !read_uri (request, name, &value, change))
      return FALSE;
    if (g_str_equal (name, "uri"))
      change->uri = g_strdup (value);
    if (before && g_str_has_suffix (name, "uri") && *value)
      change->elsewhere |= !watch_uri_is_same_origin (value, before->uri);
    g_ptr_array_add (change->keys, g_strdup (name));
    g_ptr_array_add (change->values, g_steal_pointer (&value));
  }
  if (!before && !change->uri)
    return web_http_refuse_value (request, "uri", "the address of the camera");
  if (change->user && strpbrk (change->user, ":"))
    return web_http_refuse_value (request, "user", "a name without a colon");
  return TRUE;
}

/* Keeps what the change leaves out. But another address does not get the old password, and
 * another origin neither it nor the user name: a user of the page could read them there. */
static void
complete_credentials (Change *change, const WatchCameraSettings *before)
{
  if (!before || !before->user)
    return;
  if (change->elsewhere && !change->user && !change->password)
    change->user = g_strdup ("");
  else if (change->password && !change->user)
    change->user = g_strdup (before->user);
  else if (change->user && !change->password && !change->uri && !change->elsewhere)
    change->password = g_strdup (before->password);
}

/* Writes user and password to @path, a file in the data folder that only this user can read, and
 * names it in the settings. Without a user, removes the key. */
static gboolean
write_credentials (const gchar *path, Change *change, GError **error)
{
  g_autofree gchar *folder = g_path_get_dirname (path);
  g_autofree gchar *line = NULL;

  if (!change->user && !change->password)
    return TRUE;
  g_ptr_array_add (change->keys, g_strdup ("credentials"));
  if (!change->user || !change->user[0]) {
    g_ptr_array_add (change->values, g_strdup (""));
    return TRUE;
  }
  line = g_strdup_printf ("%s:%s\n", change->user, change->password ? change->password : "");
  if (g_mkdir_with_parents (folder, 0700) != 0) {
    g_set_error (error, G_FILE_ERROR, g_file_error_from_errno (errno), "%s: %s", folder,
                 g_strerror (errno));
    return FALSE;
  }
  g_ptr_array_add (change->values, g_strdup (path));
  return watch_replace_file (path, line, 0600, error);
}

static void
answer_change (const WebRequest *request, guint status, gboolean changed, GError *error)
{
  WatchApp *app = request->app;
  g_autoptr (GError) reload_error = NULL;

  if (error && web_reason_from_error (error))
    web_http_fail (request->message, SOUP_STATUS_BAD_REQUEST, error);
  else if (changed && app->reload (app, &reload_error))
    web_http_json (request->message, status, g_strdup ("{}"));
  else
    web_http_refuse (request->message,
                     changed ? SOUP_STATUS_INTERNAL_SERVER_ERROR : SOUP_STATUS_BAD_REQUEST,
                     web_reason_new (WEB_REASON_SETTINGS_REFUSED, "detail",
                                     changed ? reload_error->message : error->message, NULL));
}

static void
apply (const WebRequest *request, const WatchSettings *settings, const gchar *name,
       const WatchCameraSettings *camera, Change *change, guint status)
{
  g_autofree gchar *path = g_build_filename (settings->data, "credentials", name, NULL),
                   *before = NULL;
  g_autoptr (GError) error = NULL;
  gboolean changed;

  complete_credentials (change, camera);
  g_file_get_contents (path, &before, NULL, NULL);
  changed = write_credentials (path, change, &error);
  g_ptr_array_add (change->keys, NULL);
  g_ptr_array_add (change->values, NULL);
  changed =
      changed && watch_settings_edit (settings, name, (const gchar *const *) change->keys->pdata,
                                      (const gchar *const *) change->values->pdata, &error);
  /* The settings were checked with the new file: if they stay, restore the old one. */
  if (!changed && before && change->user)
    watch_replace_file (path, before, 0600, NULL);
  else if (changed ? change->user && !change->user[0] : change->user != NULL)
    g_unlink (path);
  answer_change (request, status, changed, error);
}

void
watch_api_add_camera (const WebRequest *request)
{
  g_autoptr (WatchSettings) settings = watch_app_get_settings (request->app);
  g_autoptr (JsonObject) object = web_http_get_object (request);
  g_auto (Change) change = { 0 };
  const gchar *name;

  if (!object)
    return;
  name = json_object_has_member (object, "name")
             ? json_node_get_string (json_object_get_member (object, "name"))
             : NULL;
  if (!name || !watch_settings_is_name (name))
    web_http_refuse_value (request, "name", "1 to 64 letters, digits, - and _");
  else if (watch_settings_find (settings, name))
    web_http_refuse (request->message, SOUP_STATUS_CONFLICT,
                     web_reason_new (WEB_REASON_CAMERA_EXISTS, "camera", name, NULL));
  else if (read_change (request, object, NULL, &change))
    apply (request, settings, name, NULL, &change, SOUP_STATUS_CREATED);
}

/* Returns the camera's settings, or answers with 404. */
static WatchCameraSettings *
find (const WebRequest *request, const WatchSettings *settings)
{
  WatchCameraSettings *camera = watch_settings_find (settings, request->name);

  if (!camera)
    watch_app_refuse_camera (request);
  return camera;
}

void
watch_api_change_camera (const WebRequest *request)
{
  g_autoptr (WatchSettings) settings = watch_app_get_settings (request->app);
  g_autoptr (JsonObject) object = web_http_get_object (request);
  WatchCameraSettings *camera = object ? find (request, settings) : NULL;
  g_auto (Change) change = { 0 };

  if (camera && read_change (request, object, camera, &change))
    apply (request, settings, camera->name, camera, &change, SOUP_STATUS_OK);
}

void
watch_api_remove_camera (const WebRequest *request)
{
  g_autoptr (WatchSettings) settings = watch_app_get_settings (request->app);
  WatchCameraSettings *camera = find (request, settings);
  g_autofree gchar *path = NULL;
  g_autoptr (GError) error = NULL;
  gboolean removed;

  if (!camera)
    return;
  removed = watch_settings_edit (settings, camera->name, NULL, NULL, &error);
  if (removed) {
    path = g_build_filename (settings->data, "credentials", camera->name, NULL);
    g_unlink (path);
  }
  answer_change (request, SOUP_STATUS_OK, removed, error);
}

/* --- Trying an address --- */

void
watch_api_try (const WebRequest *request)
{
  g_autoptr (JsonObject) object = web_http_get_object (request);
  g_auto (Change) change = { 0 };
  WatchPreview *preview;

  if (!object || !read_change (request, object, NULL, &change))
    return;
  preview = g_new0 (WatchPreview, 1);
  preview->uri = g_strdup (change.uri);
  preview->user = g_strdup (change.user);
  preview->password = g_strdup (change.password);
  preview->timeout = WATCH_PREVIEW_TIMEOUT;
  preview->max_pixels = ((WatchApp *) request->app)->settings->max_pixels;
  preview->max_memory = ((WatchApp *) request->app)->settings->max_memory;
  web_http_run (request, watch_preview_run, preview, watch_preview_free);
}
