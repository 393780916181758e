/* cudaccl-watch - settings, a key file
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/settings/settings.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <gst/zones/gstcclzoneparser.h>

#include "apps/watch/settings/private.h"
#include "apps/watch/settings/values.h"
#include "apps/watch/settings/share.h"
#include "apps/web/reason.h"

#define MAX_CAMERAS 256 /* per program; the file may list the cameras of many */
#define MAX_FILE (1024 * 1024)
#define CAMERA WATCH_CAMERA_PREFIX "NAME" /* the group in the table of keys */

typedef enum
{
  TEXT,       /* gchar *; NULL if it is not set */
  EMPTY_TEXT, /* gchar *; may be set to nothing */
  PATH,       /* gchar *; made absolute */
  FILE_PATH,  /* the same; the file must exist */
  OUTPUT,     /* the same, or - for standard output */
  SECRET,     /* gchar *; first line of a file that others must not be able to read */
  USER,       /* two gchar *: user and password, from such a file */
  WORDS,      /* gchar **; separated by spaces */
  LIST,       /* gchar **; separated by commas */
  BOOLEAN,    /* gboolean */
  UINT,       /* guint */
  SECONDS,    /* guint64 in nanoseconds */
  SIZE,       /* guint64 in bytes */
  OTHER,      /* see read_other() */
} KeyType;

typedef struct
{
  const gchar *group, *name;
  KeyType type;
  gsize offset;
  const gchar *value; /* the default, or NULL */
  const gchar *expected;
  guint64 min, max;                      /* UINT and SIZE only */
  gboolean (*check) (const gchar *text); /* checks text, and each item of a list; or NULL */
  const gchar *variable;                 /* environment variable that overrides the file; or NULL */
} Key;

#define FIELD(field) G_STRUCT_OFFSET (WatchSettings, field)
#define CAMERA_FIELD(field) G_STRUCT_OFFSET (WatchCameraSettings, field)
#define MIB (G_GUINT64_CONSTANT (1) << 20)

static gboolean is_web_uri (const gchar *text);
static gboolean is_mqtt_uri (const gchar *text);
static gboolean is_topic (const gchar *text);
static gboolean is_kafka_topic (const gchar *text);
static gboolean is_kafka_brokers (const gchar *text);
static gboolean is_provider (const gchar *text);
static gboolean is_class (const gchar *text);
static gboolean is_share (const gchar *text);

#define MAX_PIXELS "1024 to 1073741824 pixels"
#define MAX_MEMORY "1 MiB to 1 TiB"
#define MAX_RATE "1 to 100000 frames a second"
#define USER_FILE "a file with one line, USER:PASSWORD"

static const Key keys[] = {
  { "watch", "data", PATH, FIELD (data), NULL, "a folder" },
  { "watch", "model", FILE_PATH, FIELD (model), NULL, "an ONNX file" },
  { "watch", "labels", FILE_PATH, FIELD (labels), NULL, "a text file with names of classes" },
  { "watch", "provider", TEXT, FIELD (provider), NULL, "cpu, cuda or tensorrt",
    .check = is_provider },
  { "watch", "share", TEXT, FIELD (share), NULL,
    "INDEX/COUNT, such as 0/20, or auto/20 on a host whose name ends in its index",
    .check = is_share, .variable = "CUDACCL_WATCH_SHARE" },
  { "watch", "spool", SIZE, FIELD (spool_bytes), "256 MiB", "1 MiB to 1 TiB", MIB, MIB << 20 },
  { "watch", "max-pixels", UINT, FIELD (max_pixels), "67108864", MAX_PIXELS, 1024, 1 << 30 },
  { "watch", "max-memory", SIZE, FIELD (max_memory), "1 GiB", MAX_MEMORY, MIB, MIB << 20 },
  { "watch", "max-rate", UINT, FIELD (max_rate), "120", MAX_RATE, 1, 100000 },
  { "server", "listen", OTHER, FIELD (listen), "127.0.0.1:8480",
    "ADDRESS:PORT, such as 127.0.0.1:8480 or [::]:8480" },
  { "server", "token-file", SECRET, FIELD (token), NULL, "a file with one line, the token" },
  { "server", "certificate", FILE_PATH, FIELD (certificate), NULL, "a PEM file" },
  { "server", "key", FILE_PATH, FIELD (key), NULL, "a PEM file" },
  { "record", "pre-roll", UINT, FIELD (pre_roll), "5", "0 to 60 seconds", 0, 60 },
  { "record", "post-roll", UINT, FIELD (post_roll), "5", "1 to 60 seconds", 1, 60 },
  { "record", "days", UINT, FIELD (retention_days), "30", "0 to 36500", 0, 36500 },
  { "record", "size", SIZE, FIELD (retention_bytes), "20 GB", "a size like 20 GB, or 0", 0,
    G_MAXINT64 },
  { "record", "memory", SIZE, FIELD (ring_bytes), "32 MiB", "1 MiB to 4 GiB", MIB, MIB << 12 },
  { "mqtt", "broker", TEXT, FIELD (mqtt), NULL,
    "mqtt://HOST or mqtts://HOST, perhaps with a port; the user and password belong into the file "
    "`credentials`",
    .check = is_mqtt_uri },
  { "mqtt", "credentials", USER, FIELD (mqtt_user), NULL, USER_FILE },
  { "mqtt", "ca-file", FILE_PATH, FIELD (mqtt_ca), NULL, "a PEM file" },
  { "mqtt", "prefix", TEXT, FIELD (mqtt_prefix), "cudaccl", "a topic without + and #",
    .check = is_topic },
  { "mqtt", "discovery", EMPTY_TEXT, FIELD (discovery), "homeassistant",
    "a topic without + and #, or nothing", .check = is_topic },
  { "kafka", "brokers", TEXT, FIELD (kafka), NULL, "HOST:PORT, several separated by commas",
    .check = is_kafka_brokers },
  { "kafka", "topic", TEXT, FIELD (kafka_topic), "cudaccl", "letters, digits, `.`, `_` and `-`",
    .check = is_kafka_topic },
  { "kafka", "credentials", USER, FIELD (kafka_user), NULL, USER_FILE },
  { "kafka", "ca-file", FILE_PATH, FIELD (kafka_ca), NULL, "a PEM file" },
  { "webhooks", "urls", WORDS, FIELD (webhooks), NULL,
    "addresses with http:// or https://, separated by spaces", .check = is_web_uri },
  { "lines", "file", OUTPUT, FIELD (lines), NULL, "a file, or - for standard output" },
  { "lines", "kinds", OTHER, FIELD (line_kinds), "events",
    "events, tracks and frames, separated by commas" },
  { "onvif", "credentials", USER, FIELD (onvif_user), NULL, USER_FILE },
  { "onvif", "rtsp-port", UINT, FIELD (rtsp_port), "8554", "1 to 65535", 1, 65535 },
  { "onvif", "discovery", BOOLEAN, FIELD (onvif_discovery), "true", "true or false" },

  /* cudaccl-collect. */
  { "collect", "database", TEXT, FIELD (database), NULL,
    "a connection string of PostgreSQL, such as host=db.example dbname=cudaccl" },
  { "collect", "days", UINT, FIELD (collect_days), "30", "0 to 36500", 0, 36500 },

  /* Read before the addresses, which may name a user, too. */
  { CAMERA, "credentials", USER, CAMERA_FIELD (user), NULL, USER_FILE },
  { CAMERA, "uri", OTHER, CAMERA_FIELD (uri), NULL, NULL },
  { CAMERA, "record-uri", OTHER, CAMERA_FIELD (record_uri), NULL, NULL },
  { CAMERA, "zones", OTHER, CAMERA_FIELD (zones), NULL, NULL },
  { CAMERA, "tripwires", OTHER, CAMERA_FIELD (tripwires), NULL, NULL },
  { CAMERA, "classes", LIST, CAMERA_FIELD (classes), NULL, "names of classes, separated by commas",
    .check = is_class },
  { CAMERA, "schedule", TEXT, CAMERA_FIELD (schedule), NULL,
    "days and times, such as `mon-fri 08:00-18:00, sat 10:00-14:00`",
    .check = watch_parse_schedule },
  { CAMERA, "enabled", BOOLEAN, CAMERA_FIELD (enabled), "true", "true or false" },
  { CAMERA, "detect", BOOLEAN, CAMERA_FIELD (detect), NULL, "true or false" },
  { CAMERA, "record", BOOLEAN, CAMERA_FIELD (record), "true", "true or false" },
  { CAMERA, "loop", BOOLEAN, CAMERA_FIELD (loop), "false", "true or false" },
  { CAMERA, "frozen-after", UINT, CAMERA_FIELD (frozen_after), "5", "1 to 3600 seconds", 1, 3600 },
  { CAMERA, "dwell-time", SECONDS, CAMERA_FIELD (dwell_time), "0", "0 to 86400 seconds" },
  { CAMERA, "static-time", SECONDS, CAMERA_FIELD (static_time), "0", "0 to 86400 seconds" },
  { CAMERA, "max-pixels", UINT, CAMERA_FIELD (max_pixels), NULL, MAX_PIXELS, 1024, 1 << 30 },
  { CAMERA, "max-memory", SIZE, CAMERA_FIELD (max_memory), NULL, MAX_MEMORY, MIB, MIB << 20 },
  { CAMERA, "max-rate", UINT, CAMERA_FIELD (max_rate), NULL, MAX_RATE, 1, 100000 },
};

/* --- Checks --- */

static gboolean
has_only (const gchar *text, const gchar *others, gsize max)
{
  gsize n = 0;

  while (g_ascii_isalnum (text[n]) || (text[n] && strchr (others, text[n])))
    n++;
  return n > 0 && n <= max && !text[n];
}

static gboolean
is_uri_of (const gchar *text, const gchar *scheme, const gchar *secure, GUriFlags flags)
{
  g_autoptr (GUri) uri = g_uri_parse (text, flags, NULL);

  return uri && g_uri_get_host (uri) && g_uri_get_host (uri)[0] && !g_uri_get_userinfo (uri) &&
         (g_str_equal (g_uri_get_scheme (uri), scheme) ||
          g_str_equal (g_uri_get_scheme (uri), secure));
}

static gboolean
is_web_uri (const gchar *text)
{
  return is_uri_of (text, "http", "https", G_URI_FLAGS_ENCODED);
}

/* The hosts after the first have no scheme. */
static gboolean
is_mqtt_uri (const gchar *text)
{
  g_auto (GStrv) hosts = g_strsplit (text, ",", -1);

  for (gchar **host = hosts; *host; host++) {
    g_autofree gchar *uri = host == hosts ? g_strdup (*host) : g_strconcat ("mqtt://", *host, NULL);

    if (!is_uri_of (uri, "mqtt", "mqtts", G_URI_FLAGS_NONE))
      return FALSE;
  }
  return hosts[0] != NULL;
}

static gboolean
is_topic (const gchar *text)
{
  return strlen (text) <= 128 && text[0] != '/' && text[0] != '$' && !strpbrk (text, "+#");
}

static gboolean
is_kafka_topic (const gchar *text)
{
  return has_only (text, "._-", 249);
}

static gboolean
is_kafka_brokers (const gchar *text)
{
  return has_only (text, ".:,-_[]", 1024);
}

static gboolean
is_provider (const gchar *text)
{
  static const gchar *const names[] = { "cpu", "cuda", "tensorrt", NULL };

  return g_strv_contains (names, text);
}

static gboolean
is_class (const gchar *text)
{
  return text[0] && strlen (text) <= 128 && !watch_has_control (text, "");
}

static gboolean
is_share (const gchar *text)
{
  guint index, count;

  return watch_share_parse (text, g_get_host_name (), &index, &count);
}

gboolean
watch_settings_is_name (const gchar *name)
{
  return has_only (name, "-_", 64);
}

/* --- Reading --- */

typedef struct
{
  const gchar *path; /* of the file */
  GKeyFile *file;
  const gchar *group;
  const Key *key;
  GError **error;
} Reader;

static gboolean fail (const Reader *reader, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

static gboolean
fail (const Reader *reader, const gchar *format, ...)
{
  g_autofree gchar *text = NULL, *valid = NULL;
  g_autoptr (GString) message = g_string_new (reader->path);
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  if (reader->group)
    g_string_append_printf (message, ": [%s]", reader->group);
  if (reader->key)
    g_string_append_printf (message, " %s", reader->key->name);
  g_string_append_printf (message, ": %s", text);
  /* Names of groups and files may be invalid. */
  valid = g_utf8_make_valid (message->str, -1);
  g_set_error_literal (reader->error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_INVALID_VALUE, valid);
  return FALSE;
}

static gboolean
fail_value (const Reader *reader, const gchar *value)
{
  return fail (reader, "expected %s, not “%.100s”", reader->key->expected, value);
}

/* Values go to files, pages, brokers and logs. */
static gboolean
refuse_control (const Reader *reader)
{
  g_autofree gchar *place = g_strdup_printf ("[%s] %s", reader->group, reader->key->name);

  g_propagate_prefixed_error (
      reader->error,
      web_reason_to_error (web_reason_new (WEB_REASON_CONTROL_CHARACTER, "name", place, NULL)),
      "%s: ", reader->path);
  return FALSE;
}

/* Zones may have tabs and line breaks between their parts; read_zones() checks names. */
static gboolean
allows_lines (const Key *key)
{
  return g_str_equal (key->name, "zones") || g_str_equal (key->name, "tripwires");
}

static gchar *
make_absolute (const Reader *reader, const gchar *path)
{
  g_autofree gchar *folder = g_path_get_dirname (reader->path);

  return g_canonicalize_filename (path, g_path_is_absolute (folder) ? folder : NULL);
}

/* Files of systemd's LoadCredential= are readable by their group if access control lists are used:
 * the folder is the service's own. */
static gboolean
others_can_read (const gchar *path)
{
  const gchar *credentials = g_getenv ("CREDENTIALS_DIRECTORY");
  GStatBuf info;

  if (credentials && g_str_has_prefix (path, credentials) && path[strlen (credentials)] == '/')
    return FALSE;
  return g_stat (path, &info) == 0 && (info.st_mode & (S_IRWXG | S_IRWXO));
}

/* Returns the first line of the file, or NULL. */
static gchar *
read_secret (const Reader *reader, const gchar *name)
{
  g_autofree gchar *path = make_absolute (reader, name), *text = NULL;
  g_autoptr (GError) error = NULL;

  if (others_can_read (path)) {
    fail (reader, "others can read %s; run chmod 600 on it", path);
    return NULL;
  }
  text = watch_settings_read_file (path, &error);
  if (!text) {
    fail (reader, "%s; expected %s", error->message, reader->key->expected);
    return NULL;
  }
  text[strcspn (text, "\r\n")] = '\0';
  if (!text[0] || strlen (text) > 4096 || !g_utf8_validate (text, -1, NULL)) {
    fail (reader, "%s: expected %s", path, reader->key->expected);
    return NULL;
  }
  return g_steal_pointer (&text);
}

static gboolean
read_user (const Reader *reader, const gchar *name, gchar **field)
{
  g_autofree gchar *text = read_secret (reader, name);
  gchar *colon = text ? strchr (text, ':') : NULL;

  if (!colon || colon == text)
    return text ? fail (reader, "%s: expected %s", name, reader->key->expected) : FALSE;
  field[0] = g_strndup (text, (gsize) (colon - text));
  field[1] = g_strdup (colon + 1);
  return TRUE;
}

static gboolean
read_list (const Reader *reader, const gchar *text, const gchar *separators, gchar ***field)
{
  g_auto (GStrv) items = g_strsplit_set (text, separators, -1);
  g_autoptr (GPtrArray) list = g_ptr_array_new_with_free_func (g_free);

  for (gchar **item = items; *item; item++) {
    g_strstrip (*item);
    if (!(*item)[0])
      continue;
    if (!reader->key->check (*item))
      return fail_value (reader, *item);
    g_ptr_array_add (list, g_strdup (*item));
  }
  if (list->len == 0 || list->len > 256)
    return fail (reader, "expected %s, 256 at most", reader->key->expected);
  g_ptr_array_add (list, NULL);
  *field = (gchar **) g_ptr_array_free (g_steal_pointer (&list), FALSE);
  return TRUE;
}

static gboolean
read_camera_uri (const Reader *reader, const gchar *text, gchar **field,
                 WatchCameraSettings *camera)
{
  g_autofree gchar *user = NULL, *password = NULL;
  const gchar *expected;

  *field = watch_parse_camera_uri (text, &user, &password, &expected);
  if (!*field)
    return fail (reader, "expected %s", expected);
  if (!user)
    return TRUE;
  if (others_can_read (reader->path))
    return fail (reader, "others can read the password in this file; run chmod 600 on it, or put "
                         "the password into a file of its own, `credentials`");
  if (camera->user && (g_strcmp0 (user, camera->user) || g_strcmp0 (password, camera->password)))
    return fail (reader, "expected only one user and password for the camera");
  if (!camera->user) {
    camera->user = g_steal_pointer (&user);
    camera->password = password ? g_steal_pointer (&password) : g_strdup ("");
  }
  return TRUE;
}

static gboolean
read_zones (const Reader *reader, const gchar *text, gboolean tripwires, gchar **field)
{
  GstCclZoneSet *set = gst_ccl_zone_set_new ();
  g_autoptr (GError) error = NULL;
  gboolean valid = gst_ccl_zone_set_add_text (set, text, tripwires, reader->key->name, &error);
  GstCclZonesMeta zones = gst_ccl_zone_set_get_meta (set);
  gboolean control = FALSE;

  for (guint i = 0; i < zones.n_zones && valid; i++)
    control = control || watch_has_control (zones.zones[i].name, "");
  gst_ccl_zone_set_free (set);
  if (!valid)
    return fail (reader, "%s", error->message);
  if (control)
    return refuse_control (reader);
  *field = g_strdup (text);
  return TRUE;
}

static gboolean
read_kinds (const Reader *reader, const gchar *text, WatchSettings *settings)
{
  g_auto (GStrv) kinds = g_strsplit (text, ",", -1);

  for (gchar **item = kinds; *item; item++) {
    WatchLineKinds kind;

    if (!watch_line_kind_from_name (g_strstrip (*item), &kind))
      return fail_value (reader, *item);
    settings->line_kinds |= kind;
  }
  return TRUE;
}

/* @object is a camera in its group, else the settings. */
static gboolean
read_other (const Reader *reader, const gchar *text, gpointer object)
{
  const gchar *name = reader->key->name;
  gchar **field = (gchar **) ((gchar *) object + reader->key->offset);
  gboolean local;

  if (g_str_equal (name, "uri") || g_str_equal (name, "record-uri"))
    return read_camera_uri (reader, text, field, object);
  if (g_str_equal (name, "zones") || g_str_equal (name, "tripwires"))
    return read_zones (reader, text, g_str_equal (name, "tripwires"), field);
  if (g_str_equal (name, "kinds"))
    return read_kinds (reader, text, object);
  /* listen */
  if (!watch_parse_listen (text, &local))
    return fail_value (reader, text);
  *field = g_strdup (text);
  return TRUE;
}

/* Sets a field of @object. */
static gboolean
read_value (const Reader *reader, const gchar *text, gpointer object)
{
  const Key *key = reader->key;
  gpointer field = (gchar *) object + key->offset;
  guint64 number;

  switch (key->type) {
  case TEXT:
  case EMPTY_TEXT:
    if (key->check && !key->check (text))
      return fail_value (reader, text);
    *(gchar **) field = g_strdup (text);
    return TRUE;
  case PATH:
  case FILE_PATH:
    *(gchar **) field = make_absolute (reader, text);
    return key->type == PATH || g_file_test (*(gchar **) field, G_FILE_TEST_IS_REGULAR) ||
           fail (reader, "expected %s; there is no file %s", key->expected, *(gchar **) field);
  case OUTPUT:
    *(gchar **) field = g_str_equal (text, "-") ? g_strdup (text) : make_absolute (reader, text);
    return TRUE;
  case SECRET:
    *(gchar **) field = read_secret (reader, text);
    return *(gchar **) field != NULL;
  case USER:
    return read_user (reader, text, field);
  case WORDS:
    return read_list (reader, text, " \t", field);
  case LIST:
    return read_list (reader, text, ",;", field);
  case BOOLEAN:
    return watch_parse_boolean (text, field) || fail_value (reader, text);
  case UINT:
    if (!watch_parse_uint (text, key->min, key->max, &number))
      return fail_value (reader, text);
    *(guint *) field = (guint) number;
    return TRUE;
  case SECONDS:
    return watch_parse_seconds (text, field) || fail_value (reader, text);
  case SIZE:
    if (!watch_parse_size (text, &number) || number < key->min || number > key->max)
      return fail_value (reader, text);
    *(guint64 *) field = number;
    return TRUE;
  case OTHER:
    break;
  }
  return read_other (reader, text, object);
}

static const Key *
find_key (const gchar *group, const gchar *name)
{
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    if (g_str_equal (keys[i].group, group) && (!name || g_str_equal (keys[i].name, name)))
      return &keys[i];
  }
  return NULL;
}

gboolean
watch_settings_is_camera_key (const gchar *name)
{
  return find_key (CAMERA, name) != NULL;
}

/* Reads the present group of the file, with the keys that the table lists for @group. */
static gboolean
read_group (Reader *reader, const gchar *group, gpointer object)
{
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    const Key *key = &keys[i];
    g_autofree gchar *text = NULL;
    g_autoptr (GError) error = NULL;

    if (!g_str_equal (key->group, group))
      continue;
    reader->key = key;
    text = g_key_file_get_string (reader->file, reader->group, key->name, &error);
    if (error && error->domain == G_KEY_FILE_ERROR && error->code == G_KEY_FILE_ERROR_INVALID_VALUE)
      return fail (reader, "the value is not valid; write \\ as \\\\");
    if (error && error->code == G_KEY_FILE_ERROR_UNKNOWN_ENCODING)
      return fail (reader, "the value is not UTF-8");
    if (text)
      g_strstrip (text);
    if (key->variable && g_getenv (key->variable)) {
      g_free (text);
      text = g_strstrip (g_strdup (g_getenv (key->variable)));
    }
    if (!text || (!text[0] && key->type != EMPTY_TEXT)) {
      g_free (text);
      text = g_strdup (key->value);
    }
    if (text && watch_has_control (text, allows_lines (key) ? "\n\r\t" : "\t"))
      return refuse_control (reader);
    if (text && !read_value (reader, text, object))
      return FALSE;
  }
  reader->key = NULL;
  return TRUE;
}

static void
clear_camera (gpointer data)
{
  WatchCameraSettings *self = data;

  g_free (self->name);
  g_free (self->uri);
  g_free (self->record_uri);
  g_free (self->user);
  g_free (self->password);
  g_free (self->zones);
  g_free (self->tripwires);
  g_strfreev (self->classes);
  g_free (self->schedule);
}

static gboolean
read_camera (Reader *reader, const gchar *group, WatchSettings *settings)
{
  WatchCameraSettings *camera = g_atomic_rc_box_new0 (WatchCameraSettings);
  guint index = 0, count = 1;
  gboolean elsewhere;

  if (settings->share)
    watch_share_parse (settings->share, g_get_host_name (), &index, &count);
  camera->detect = settings->model != NULL;
  camera->max_pixels = settings->max_pixels;
  camera->max_memory = settings->max_memory;
  camera->max_rate = settings->max_rate;
  camera->name = g_strdup (group + strlen (WATCH_CAMERA_PREFIX));
  elsewhere = watch_share_find (camera->name, count) != index;
  g_ptr_array_add (elsewhere ? settings->elsewhere : settings->cameras, camera);
  if (!watch_settings_is_name (camera->name))
    return fail (reader, "expected a name of up to 64 letters, digits, `-` and `_`");
  if (settings->cameras->len > MAX_CAMERAS)
    return fail (reader,
                 "expected at most %d cameras for a program; see `share` in the group [watch]",
                 MAX_CAMERAS);
  if (!read_group (reader, CAMERA, camera))
    return FALSE;
  if (!camera->uri)
    return fail (reader, "expected a key `uri`, the address of the camera");
  if (camera->detect && !settings->model)
    return fail (reader, "`detect` needs a key `model` in the group [watch]");
  if (camera->classes && !camera->detect)
    return fail (reader, "`classes` needs `detect`, and a key `model` in the group [watch]");
  return TRUE;
}

/* GKeyFile would merge duplicates silently. */
static gboolean
check_duplicates (Reader *reader, const gchar *text)
{
  g_autoptr (GHashTable) seen = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_auto (GStrv) lines = g_strsplit (text, "\n", -1);
  g_autofree gchar *group = g_strdup ("");

  for (gchar **item = lines; *item; item++) {
    gchar *line = g_strstrip (*item), *name;

    if (!line[0] || line[0] == '#')
      continue;
    if (line[0] == '[') {
      line[1 + strcspn (line + 1, "]")] = '\0';
      g_free (group);
      group = g_strdup (line + 1);
      name = g_strdup (group);
    } else {
      line[strcspn (line, "=")] = '\0';
      name = g_strconcat (group, "] ", g_strchomp (line), NULL);
    }
    if (!g_hash_table_add (seen, name)) {
      reader->group = name;
      return fail (reader, "is there twice");
    }
  }
  return TRUE;
}

static gboolean
check_names (Reader *reader)
{
  g_auto (GStrv) groups = g_key_file_get_groups (reader->file, NULL);

  for (gchar **group = groups; *group; group++) {
    const gchar *known = g_str_has_prefix (*group, WATCH_CAMERA_PREFIX) ? CAMERA : *group;
    g_auto (GStrv) names = g_key_file_get_keys (reader->file, *group, NULL, NULL);

    reader->group = *group;
    if (known == *group && (!find_key (known, NULL) || g_str_equal (known, CAMERA)))
      return fail (reader, "no such group; expected watch, server, record, mqtt, kafka, webhooks, "
                           "lines, onvif, collect, or camera NAME");
    for (gchar **name = names; name && *name; name++) {
      if (!find_key (known, *name)) {
        g_autoptr (GString) expected = g_string_new (NULL);

        for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
          if (g_str_equal (keys[i].group, known))
            g_string_append_printf (expected, "%s%s", expected->len ? ", " : "", keys[i].name);
        }
        return fail (reader, "no such key: %.100s; expected %s", *name, expected->str);
      }
    }
  }
  return TRUE;
}

static gboolean
check_together (Reader *reader, const WatchSettings *settings)
{
  gboolean local;

  reader->group = "server";
  if (!settings->certificate != !settings->key)
    return fail (reader, "expected both or neither of `certificate` and `key`");
  watch_parse_listen (settings->listen, &local);
  if (!local && !settings->token)
    return fail (reader,
                 "`listen` lets other machines connect: expected a key `token-file`, a file "
                 "with a token that they need");
  reader->group = "mqtt";
  if (settings->mqtt_user && !settings->mqtt)
    return fail (reader, "`credentials` needs a key `broker`");
  /* A program that ends would report the cameras of the others as offline. */
  if (settings->mqtt && settings->share)
    return fail (reader,
                 "programs that share cameras cannot share the topics of MQTT: use Kafka or "
                 "web hooks, or remove `share` in the group [watch]");
  /* Certificates would turn TLS on, although the address says otherwise. */
  if (settings->mqtt_ca && !(settings->mqtt && g_str_has_prefix (settings->mqtt, "mqtts://")))
    return fail (reader, "`ca-file` needs TLS: write mqtts:// instead of mqtt:// in `broker`");
  reader->group = "kafka";
  if (settings->kafka_user && !settings->kafka)
    return fail (reader, "`credentials` needs a key `brokers`");
  reader->group = "onvif";
  if (g_key_file_has_group (reader->file, "onvif") && !settings->onvif_user)
    return fail (reader, "expected a key `credentials`, " USER_FILE " for clients");
  return TRUE;
}

/* systemd's StateDirectory=, or a folder of the user. */
static gchar *
get_default_data (void)
{
  const gchar *state = g_getenv ("STATE_DIRECTORY");

  return state && state[0] ? g_strndup (state, strcspn (state, ":"))
                           : g_build_filename (g_get_user_data_dir (), "cudaccl-watch", NULL);
}

static gboolean
read_all (Reader *reader, const gchar *text, WatchSettings *settings)
{
  g_auto (GStrv) groups = NULL;
  g_autoptr (GError) error = NULL;

  if (strlen (text) > MAX_FILE)
    return fail (reader, "expected at most 1 MiB");
  if (!g_key_file_load_from_data (reader->file, text, (gsize) -1, G_KEY_FILE_KEEP_TRANSLATIONS,
                                  &error) &&
      !g_error_matches (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_NOT_FOUND))
    return fail (reader, "%s", error->message);
  if (!check_duplicates (reader, text) || !check_names (reader))
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    if (g_str_equal (keys[i].group, CAMERA) ||
        (i && g_str_equal (keys[i].group, keys[i - 1].group)))
      continue;
    reader->group = keys[i].group;
    if (!read_group (reader, keys[i].group, settings))
      return FALSE;
  }
  if (!settings->data)
    settings->data = get_default_data ();
  if (!check_together (reader, settings))
    return FALSE;
  groups = g_key_file_get_groups (reader->file, NULL);
  for (gchar **group = groups; *group; group++) {
    reader->group = *group;
    if (g_str_has_prefix (*group, WATCH_CAMERA_PREFIX) && !read_camera (reader, *group, settings))
      return FALSE;
  }
  return TRUE;
}

WatchSettings *
watch_settings_parse (const gchar *path, const gchar *text, GError **error)
{
  g_autoptr (GKeyFile) file = g_key_file_new ();
  g_autoptr (WatchSettings) settings = g_atomic_rc_box_new0 (WatchSettings);
  g_autofree gchar *absolute = g_canonicalize_filename (path, NULL);
  Reader reader = { absolute, file, .error = error };

  settings->path = g_strdup (absolute);
  settings->cameras = g_ptr_array_new_with_free_func ((GDestroyNotify) watch_camera_settings_unref);
  settings->elsewhere =
      g_ptr_array_new_with_free_func ((GDestroyNotify) watch_camera_settings_unref);
  return read_all (&reader, text, settings) ? g_steal_pointer (&settings) : NULL;
}

gchar *
watch_settings_read_file (const gchar *path, GError **error)
{
  g_autofree gchar *text = NULL;
  gsize length;
  GStatBuf info;

  /* Never read a device or a huge file. */
  if (g_stat (path, &info) == 0 && (!S_ISREG (info.st_mode) || info.st_size > MAX_FILE)) {
    g_set_error (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE,
                 "%s: expected a file of at most 1 MiB", path);
    return NULL;
  }
  if (!g_file_get_contents (path, &text, &length, error))
    return NULL;
  if (strlen (text) != length) {
    g_set_error (error, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_PARSE, "%s: expected text", path);
    return NULL;
  }
  return g_steal_pointer (&text);
}

WatchSettings *
watch_settings_load (const gchar *path, GError **error)
{
  g_autofree gchar *text = watch_settings_read_file (path, error);

  return text ? watch_settings_parse (path, text, error) : NULL;
}

/* --- Access --- */

static void
clear_settings (gpointer data)
{
  WatchSettings *self = data;

  g_free (self->path);
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    const Key *key = &keys[i];
    gchar **field = (gchar **) ((gchar *) self + key->offset);

    if (g_str_equal (key->group, CAMERA))
      continue;
    switch (key->type) {
    case USER:
      g_free (field[1]);
      G_GNUC_FALLTHROUGH;
    case TEXT:
    case EMPTY_TEXT:
    case PATH:
    case FILE_PATH:
    case OUTPUT:
    case SECRET:
      g_free (field[0]);
      break;
    case WORDS:
    case LIST:
      g_strfreev (*(gchar ***) field);
      break;
    default:
      break;
    }
  }
  g_free (self->listen);
  g_ptr_array_unref (self->cameras);
  g_ptr_array_unref (self->elsewhere);
}

WatchSettings *
watch_settings_ref (WatchSettings *self)
{
  return g_atomic_rc_box_acquire (self);
}

void
watch_settings_unref (WatchSettings *self)
{
  g_atomic_rc_box_release_full (self, clear_settings);
}

WatchCameraSettings *
watch_camera_settings_ref (WatchCameraSettings *self)
{
  return g_atomic_rc_box_acquire (self);
}

void
watch_camera_settings_unref (WatchCameraSettings *self)
{
  g_atomic_rc_box_release_full (self, clear_camera);
}

static gboolean
lists_equal (gchar **a, gchar **b)
{
  return a && b ? g_strv_equal ((const gchar *const *) a, (const gchar *const *) b) : a == b;
}

static gboolean
values_equal (const Key *key, gconstpointer a, gconstpointer b)
{
  const gchar *x = (const gchar *) a + key->offset, *y = (const gchar *) b + key->offset;

  switch (key->type) {
  case USER:
    if (g_strcmp0 (((gchar **) x)[1], ((gchar **) y)[1]) != 0)
      return FALSE;
    G_GNUC_FALLTHROUGH;
  case TEXT:
  case EMPTY_TEXT:
  case PATH:
  case FILE_PATH:
  case OUTPUT:
  case SECRET:
    return g_strcmp0 (*(gchar **) x, *(gchar **) y) == 0;
  case WORDS:
  case LIST:
    return lists_equal (*(gchar ***) x, *(gchar ***) y);
  case BOOLEAN:
  case UINT:
    return *(guint *) x == *(guint *) y;
  case SECONDS:
  case SIZE:
    return *(guint64 *) x == *(guint64 *) y;
  case OTHER:
    break;
  }
  if (g_str_equal (key->name, "kinds"))
    return *(WatchLineKinds *) x == *(WatchLineKinds *) y;
  return g_strcmp0 (*(gchar **) x, *(gchar **) y) == 0;
}

static gboolean
groups_equal (const gchar *group, const gchar *name, gconstpointer a, gconstpointer b)
{
  for (guint i = 0; i < G_N_ELEMENTS (keys); i++) {
    if (g_str_equal (keys[i].group, group) && (!name || g_str_equal (keys[i].name, name)) &&
        !values_equal (&keys[i], a, b))
      return FALSE;
  }
  return TRUE;
}

gboolean
watch_settings_equal (const WatchSettings *a, const WatchSettings *b, const gchar *group,
                      const gchar *name)
{
  return groups_equal (group, name, a, b);
}

gboolean
watch_camera_settings_equal (const WatchCameraSettings *a, const WatchCameraSettings *b,
                             const gchar *name)
{
  return g_str_equal (a->name, b->name) && groups_equal (CAMERA, name, a, b);
}

WatchCameraSettings *
watch_settings_find (const WatchSettings *self, const gchar *name)
{
  const GPtrArray *lists[] = { self->cameras, self->elsewhere };

  for (guint k = 0; k < G_N_ELEMENTS (lists); k++) {
    for (guint i = 0; i < lists[k]->len; i++) {
      WatchCameraSettings *camera = g_ptr_array_index (lists[k], i);

      if (g_str_equal (camera->name, name))
        return camera;
    }
  }
  return NULL;
}
