/* cudaccl-watch - cameras and state over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/web/http.h"
#include "apps/watch/http/preview.h"
#include "apps/watch/settings/private.h"
#include "apps/watch/settings/values.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>

#define MAX_VALUE 65536 /* bytes of a setting */

/* --- What is --- */

static void
add_settings (JsonBuilder *builder, const WatchCameraSettings *camera)
{
  g_autofree gchar *uri = watch_uri_redact (camera->uri);
  g_autofree gchar *record_uri = camera->record_uri ? watch_uri_redact (camera->record_uri) : NULL;

  json_builder_set_member_name (builder, "settings");
  json_builder_begin_object (builder);
  watch_json_add_string (builder, "uri", uri);
  watch_json_add_string (builder, "record-uri", record_uri);
  watch_json_add_boolean (builder, "password", camera->password && camera->password[0]);
  watch_json_add_string (builder, "zones", camera->zones);
  watch_json_add_string (builder, "tripwires", camera->tripwires);
  watch_json_add_strings (builder, "classes", (const gchar *const *) camera->classes);
  watch_json_add_string (builder, "schedule", camera->schedule);
  watch_json_add_boolean (builder, "enabled", camera->enabled);
  watch_json_add_boolean (builder, "detect", camera->detect);
  watch_json_add_boolean (builder, "record", camera->record);
  watch_json_add_boolean (builder, "loop", camera->loop);
  watch_json_add_int (builder, "frozen-after", camera->frozen_after);
  watch_json_add_double (builder, "dwell-time", camera->dwell_time / 1e9);
  json_builder_end_object (builder);
}

static void
add_boxes (JsonBuilder *builder, const WatchCameraStatus *status)
{
  watch_json_begin_array (builder, "boxes");
  for (guint i = 0; status->boxes && i < status->boxes->len; i++) {
    const WatchBox *box = &g_array_index (status->boxes, WatchBox, i);

    json_builder_begin_object (builder);
    watch_json_add_int (builder, "track", box->track);
    watch_json_add_string (builder, "class", box->class_name);
    watch_json_add_share (builder, "x", box->x);
    watch_json_add_share (builder, "y", box->y);
    watch_json_add_share (builder, "width", box->width);
    watch_json_add_share (builder, "height", box->height);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

static void
add_camera (JsonBuilder *builder, WatchCamera *camera)
{
  WatchCameraStatus status = { 0 };

  watch_camera_get_status (camera, &status);
  json_builder_begin_object (builder);
  watch_json_add_string (builder, "name", watch_camera_get_name (camera));
  watch_json_add_string (builder, "state", watch_camera_state_get_name (status.state));
  watch_json_add_time (builder, "since", status.since);
  watch_json_add_string (builder, "text", status.text);
  watch_json_add_int (builder, "frames", status.frames);
  watch_json_add_int (builder, "lost", status.lost);
  watch_json_add_int (builder, "late", status.late);
  watch_json_add_double (builder, "rate", (gint64) (status.rate * 10 + 0.5) / 10.0);
  watch_json_add_int (builder, "width", status.width);
  watch_json_add_int (builder, "height", status.height);
  watch_json_add_string (builder, "decoder", status.decoder);
  watch_json_add_string (builder, "backend", status.backend);
  watch_json_add_int (builder, "objects", status.objects);
  watch_json_add_boolean (builder, "moving", status.moving);
  watch_json_begin_array (builder, "zones");
  for (guint i = 0; status.zones && i < status.zones->len; i++) {
    const WatchZoneCounts *zone = &g_array_index (status.zones, WatchZoneCounts, i);

    json_builder_begin_object (builder);
    watch_json_add_string (builder, "name", zone->name);
    watch_json_add_boolean (builder, "tripwire", zone->tripwire);
    watch_json_add_int (builder, "in", zone->in);
    watch_json_add_int (builder, "out", zone->out);
    watch_json_add_int (builder, "inside", zone->inside);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
  add_boxes (builder, &status);
  add_settings (builder, watch_camera_get_settings (camera));
  json_builder_end_object (builder);
  watch_camera_status_clear (&status);
}

void
watch_api_cameras (const WatchRequest *request)
{
  GPtrArray *cameras = watch_get_cameras (request->watch);
  JsonBuilder *builder = json_builder_new ();

  json_builder_begin_object (builder);
  watch_json_begin_array (builder, "cameras");
  for (guint i = 0; i < cameras->len; i++)
    add_camera (builder, g_ptr_array_index (cameras, i));
  json_builder_end_array (builder);
  watch_http_json (request->message, SOUP_STATUS_OK, watch_json_take (builder));
}

static void
add_sinks (JsonBuilder *builder, Watch *watch)
{
  g_autoptr (GArray) sinks = watch_publisher_get_status (watch_get_publisher (watch));

  watch_json_begin_array (builder, "sinks");
  for (guint i = 0; i < sinks->len; i++) {
    const WatchSinkStatus *sink = &g_array_index (sinks, WatchSinkStatus, i);

    json_builder_begin_object (builder);
    watch_json_add_string (builder, "name", sink->name);
    watch_json_add_boolean (builder, "connected", sink->connected);
    watch_json_add_int (builder, "sent", sink->sent);
    watch_json_add_int (builder, "pending", sink->pending);
    watch_json_add_int (builder, "dropped", sink->dropped);
    watch_json_add_int (builder, "refused", sink->refused);
    watch_json_add_string (builder, "text", sink->text);
    json_builder_end_object (builder);
  }
  json_builder_end_array (builder);
}

void
watch_api_status (const WatchRequest *request)
{
  g_autoptr (WatchSettings) settings = watch_get_settings (request->watch);
  const WatchShared *shared = watch_get_shared (request->watch);
  JsonBuilder *builder = json_builder_new ();
  WatchStoreStats store = { 0 };
  WatchMediaStats media = { 0 };

  watch_store_get_stats (shared->store, &store);
  watch_media_get_stats (shared->media, &media);
  json_builder_begin_object (builder);
  watch_json_add_string (builder, "version", PACKAGE_VERSION);
  watch_json_add_string (builder, "session", shared->session);
  watch_json_add_time (builder, "start", watch_get_start (request->watch));
  watch_json_add_boolean (builder, "token", settings->token != NULL);
  watch_json_add_boolean (builder, "model", settings->model != NULL);
  add_sinks (builder, request->watch);
  json_builder_set_member_name (builder, "database");
  json_builder_begin_object (builder);
  watch_json_add_int (builder, "bytes", store.bytes);
  watch_json_add_int (builder, "dropped", store.dropped);
  watch_json_add_string (builder, "text", store.last_error);
  json_builder_end_object (builder);
  json_builder_set_member_name (builder, "media");
  json_builder_begin_object (builder);
  watch_json_add_int (builder, "bytes", media.bytes);
  watch_json_add_int (builder, "limit", settings->retention_bytes);
  watch_json_add_int (builder, "clips", media.clips);
  watch_json_add_int (builder, "pictures", media.pictures);
  watch_json_add_int (builder, "failed", media.failed);
  watch_json_add_string (builder, "text", media.last_error);
  json_builder_end_object (builder);
  watch_http_json (request->message, SOUP_STATUS_OK, watch_json_take (builder));
  g_free (store.last_error);
  g_free (media.last_error);
}

/* --- Changes --- */

typedef struct
{
  GPtrArray *keys, *values; /* for watch_settings_edit() */
  gchar *uri;               /* without user and password */
  gchar *user, *password;
  gboolean elsewhere; /* an address is on a host that does not know the password of before */
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

/* Returns the value as in the file: "" for null, or NULL if it cannot be one. */
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

static gboolean
fail (const WatchRequest *request, const gchar *name, const gchar *expected)
{
  watch_http_error (request->message, SOUP_STATUS_BAD_REQUEST, "%s: expected %s", name, expected);
  return FALSE;
}

/* An address that the page got from here, without password and query, is the one of before. */
static gboolean
is_same_uri (const gchar *given, const gchar *before)
{
  g_autofree gchar *redacted = before ? watch_uri_redact (before) : NULL;

  return g_strcmp0 (given, redacted) == 0;
}

static gboolean
is_other_host (const gchar *a, const gchar *b)
{
  g_autoptr (GUri) x = g_uri_parse (a, G_URI_FLAGS_NONE, NULL);
  g_autoptr (GUri) y = g_uri_parse (b, G_URI_FLAGS_NONE, NULL);

  return !x || !y || g_strcmp0 (g_uri_get_host (x), g_uri_get_host (y)) != 0;
}

static gboolean
read_uri (const WatchRequest *request, const gchar *name, gchar **value, Change *change)
{
  const gchar *expected = NULL;
  g_autofree gchar *uri = NULL, *user = NULL, *password = NULL;

  if (!**value)
    return TRUE;
  uri = watch_parse_camera_uri (*value, &user, &password, &expected);
  if (!uri)
    return fail (request, name, expected);
  if (user && !change->user)
    change->user = g_steal_pointer (&user);
  if (password && !change->password)
    change->password = g_steal_pointer (&password);
  g_free (*value);
  *value = g_steal_pointer (&uri);
  return TRUE;
}

/* Reads @object, and answers with an error if it is wrong. @before is NULL for a new camera. */
static gboolean
read_change (const WatchRequest *request, JsonObject *object, const WatchCameraSettings *before,
             Change *change)
{
  static const gchar *const known[] = { "uri",       "record-uri",   "zones",
                                        "tripwires", "classes",      "schedule",
                                        "enabled",   "detect",       "record",
                                        "loop",      "frozen-after", "dwell-time",
                                        "user",      "password",     NULL };
  g_autoptr (GList) names = json_object_get_members (object);

  change->keys = g_ptr_array_new_with_free_func (g_free);
  change->values = g_ptr_array_new_with_free_func (g_free);
  for (GList *l = names; l; l = l->next) {
    const gchar *name = l->data;
    g_autofree gchar *value = get_value (json_object_get_member (object, name));

    if (!before && g_str_equal (name, "name"))
      continue;
    if (!g_strv_contains (known, name)) {
      watch_http_error (request->message, SOUP_STATUS_BAD_REQUEST, "unknown member %.64s", name);
      return FALSE;
    }
    if (!value || strlen (value) > MAX_VALUE || strpbrk (value, "\n\r"))
      return fail (request, name, "a line of text, a number, true or false");
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
      change->elsewhere |= is_other_host (value, before->uri);
    g_ptr_array_add (change->keys, g_strdup (name));
    g_ptr_array_add (change->values, g_steal_pointer (&value));
  }
  if (!before && !change->uri)
    return fail (request, "uri", "the address of the camera");
  if (change->user && strpbrk (change->user, ":"))
    return fail (request, "user", "a name without a colon");
  return TRUE;
}

/* What the change leaves out stays as it is. The password does not go to another address, and to
 * another host neither it nor the user: a user of the page could read both there. */
static void
complete_credentials (Change *change, const WatchCameraSettings *before)
{
  if (!before || !before->user)
    return;
  if (change->elsewhere && !change->user && !change->password)
    change->user = g_strdup ("");
  else if (change->password && !change->user)
    change->user = g_strdup (before->user);
  else if (change->user && !change->password && !change->uri)
    change->password = g_strdup (before->password);
}

/* Writes user and password to @path, a file in the data folder that only this user can read, and
 * makes the settings name it. No user removes them. */
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
  return g_file_set_contents_full (path, line, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, error);
}

static void
answer_change (const WatchRequest *request, guint status, gboolean changed, GError *error)
{
  g_autoptr (GError) reload_error = NULL;

  if (!changed)
    watch_http_error (request->message, SOUP_STATUS_BAD_REQUEST, "%s", error->message);
  else if (!watch_reload (request->watch, &reload_error))
    watch_http_error (request->message, SOUP_STATUS_INTERNAL_SERVER_ERROR, "%s",
                      reload_error->message);
  else
    watch_http_json (request->message, status, g_strdup ("{}"));
}

static void
apply (const WatchRequest *request, const WatchSettings *settings, const gchar *name,
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
  /* The settings are checked with the new file; if they stay, so does the old one. */
  if (!changed && before && change->user)
    g_file_set_contents_full (path, before, -1, G_FILE_SET_CONTENTS_CONSISTENT, 0600, NULL);
  else if (changed ? change->user && !change->user[0] : change->user != NULL)
    g_unlink (path);
  answer_change (request, status, changed, error);
}

void
watch_api_add_camera (const WatchRequest *request)
{
  g_autoptr (WatchSettings) settings = watch_get_settings (request->watch);
  g_autoptr (JsonObject) object = watch_http_get_object (request);
  g_auto (Change) change = { 0 };
  const gchar *name;

  if (!object)
    return;
  name = json_object_has_member (object, "name")
             ? json_node_get_string (json_object_get_member (object, "name"))
             : NULL;
  if (!name || !watch_settings_is_name (name))
    fail (request, "name", "1 to 64 letters, digits, - and _");
  else if (watch_settings_find (settings, name))
    watch_http_error (request->message, SOUP_STATUS_CONFLICT, "there is a camera %s already", name);
  else if (read_change (request, object, NULL, &change))
    apply (request, settings, name, NULL, &change, SOUP_STATUS_CREATED);
}

/* Returns the camera's settings, or answers with 404. */
static WatchCameraSettings *
find (const WatchRequest *request, const WatchSettings *settings)
{
  WatchCameraSettings *camera = watch_settings_find (settings, request->name);

  if (!camera)
    watch_http_error (request->message, SOUP_STATUS_NOT_FOUND, "there is no camera %.64s",
                      request->name);
  return camera;
}

void
watch_api_change_camera (const WatchRequest *request)
{
  g_autoptr (WatchSettings) settings = watch_get_settings (request->watch);
  g_autoptr (JsonObject) object = watch_http_get_object (request);
  WatchCameraSettings *camera = object ? find (request, settings) : NULL;
  g_auto (Change) change = { 0 };

  if (camera && read_change (request, object, camera, &change))
    apply (request, settings, camera->name, camera, &change, SOUP_STATUS_OK);
}

void
watch_api_remove_camera (const WatchRequest *request)
{
  g_autoptr (WatchSettings) settings = watch_get_settings (request->watch);
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
watch_api_try (const WatchRequest *request)
{
  g_autoptr (JsonObject) object = watch_http_get_object (request);
  g_auto (Change) change = { 0 };
  WatchPreview *preview;

  if (!object || !read_change (request, object, NULL, &change))
    return;
  preview = g_new0 (WatchPreview, 1);
  preview->uri = g_strdup (change.uri);
  preview->user = g_strdup (change.user);
  preview->password = g_strdup (change.password);
  preview->timeout = WATCH_PREVIEW_TIMEOUT;
  watch_http_run (request, TRUE, watch_preview_run, preview, watch_preview_free);
}
