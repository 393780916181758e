/* cudaccl-watch - retained states of MQTT, and Home Assistant's discovery
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/publish/states.h"

#include <string.h>

#include "apps/watch/settings/replace.h"
#include "apps/web/json.h"

typedef struct
{
  gchar *topic;
  gchar *camera;      /* "": the program */
  GBytes *payload;    /* empty: clear the topic; NULL: an earlier run sent it */
  gboolean queued;    /* in the queue */
  gboolean permanent; /* kept when the zones of the camera change */
  guint generation;   /* generation of the camera when it was set */
} State;

/* The zones for which a camera's topics were made. */
typedef struct
{
  gchar *zones; /* names and kinds */
  guint generation;
} Camera;

struct _WatchStates
{
  gchar *prefix;
  gchar *discovery; /* or empty */
  gchar *file;
  GMutex lock;
  GHashTable *states;  /* topic to State */
  GHashTable *cameras; /* name to Camera */
  GQueue queue;        /* State, to send */
  gboolean changed;    /* the file must be written */
};

static void
free_state (gpointer data)
{
  State *state = data;

  g_free (state->topic);
  g_free (state->camera);
  g_clear_pointer (&state->payload, g_bytes_unref);
  g_free (state);
}

static void
free_camera (gpointer data)
{
  Camera *camera = data;

  g_free (camera->zones);
  g_free (camera);
}

static State *
add_state (WatchStates *self, const gchar *camera, const gchar *topic)
{
  State *state = g_hash_table_lookup (self->states, topic);

  if (state)
    return state;
  state = g_new0 (State, 1);
  state->topic = g_strdup (topic);
  state->camera = g_strdup (camera);
  g_hash_table_insert (self->states, state->topic, state);
  self->changed = TRUE;
  return state;
}

static void
enqueue (WatchStates *self, State *state)
{
  if (!state->queued)
    g_queue_push_tail (&self->queue, state);
  state->queued = TRUE;
}

/* Takes @payload. */
static State *
set_bytes (WatchStates *self, const gchar *camera, const gchar *topic, GBytes *payload)
{
  State *state = add_state (self, camera, topic);

  if (!state->payload || !g_bytes_equal (state->payload, payload))
    enqueue (self, state);
  g_clear_pointer (&state->payload, g_bytes_unref);
  state->payload = payload;
  return state;
}

static void
clear_state (WatchStates *self, State *state)
{
  if (state->payload && g_bytes_get_size (state->payload) == 0)
    return;
  g_clear_pointer (&state->payload, g_bytes_unref);
  state->payload = g_bytes_new_static ("", 0);
  enqueue (self, state);
}

/* Sets PREFIX/CAMERA/… to @text, which it takes. */
static void
set_text (WatchStates *self, const gchar *camera, guint generation, gchar *topic, gchar *text)
{
  State *state = set_bytes (self, camera, topic, g_bytes_new_take (text, strlen (text)));

  state->generation = generation;
  g_free (topic);
}

/* Clears the topics of @camera that were not set again. */
static void
clear_older (WatchStates *self, const gchar *camera, guint generation)
{
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, self->states);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    State *state = value;

    if (g_str_equal (state->camera, camera) && !state->permanent && state->generation < generation)
      clear_state (self, state);
  }
}

/* --- Names --- */

gchar *
watch_topic_level (const gchar *name)
{
  g_autofree gchar *valid = g_utf8_make_valid (name, -1);
  GString *level = g_string_new (NULL);

  for (const gchar *c = valid; *c; c = g_utf8_next_char (c)) {
    gunichar u = g_utf8_get_char (c);
    gint n = (gint) (g_utf8_next_char (c) - c);

    if (!strchr ("/+#%", (int) MIN (u, 127)) && !g_unichar_iscntrl (u) && (u & 0xfffe) != 0xfffe &&
        !(u >= 0xfdd0 && u <= 0xfdef)) {
      g_string_append_len (level, c, n);
      continue;
    }
    for (gint i = 0; i < n; i++)
      g_string_append_printf (level, "%%%02X", (guchar) c[i]);
  }
  return g_string_free (level, FALSE);
}

/* Returns an id for Home Assistant: letters and digits, others as _XX. */
static gchar *
make_id (const gchar *name)
{
  GString *id = g_string_new (NULL);

  for (const gchar *c = name; *c; c++) {
    if (g_ascii_isalnum (*c))
      g_string_append_c (id, *c);
    else
      g_string_append_printf (id, "_%02X", (guchar) *c);
  }
  return g_string_free (id, FALSE);
}

/* --- Home Assistant's discovery --- */

typedef struct
{
  const gchar *component; /* of Home Assistant */
  const gchar *leaf;      /* last level of the state's topic */
  const gchar *name;      /* for people; zones put their name before it */
  const gchar *device_class;
  const gchar *state_class;
  const gchar *icon;
  gboolean polygons_only;
} Entity;

static const Entity camera_entities[] = {
  { "binary_sensor", "motion", "Motion", "motion" },
  { "binary_sensor", "availability", "Connection", "connectivity" },
  { "sensor", "objects", "Objects", NULL, "measurement", "mdi:account-multiple" },
  { "image", "picture", "Last event" },
};

static const Entity zone_entities[] = {
  { "binary_sensor", "occupancy", "occupancy", "occupancy", .polygons_only = TRUE },
  { "sensor", "inside", "inside", NULL, "measurement", "mdi:account-multiple",
    .polygons_only = TRUE },
  { "sensor", "in", "in", NULL, "total_increasing", "mdi:location-enter" },
  { "sensor", "out", "out", NULL, "total_increasing", "mdi:location-exit" },
};

static void
add_availability (GString *json, const gchar *base, const gchar *camera)
{
  g_autofree gchar *topic =
      g_strjoin ("/", base, camera ? camera : "availability", camera ? "availability" : NULL, NULL);

  web_json_begin_object (json, NULL);
  web_json_add_string (json, "topic", topic);
  web_json_end_object (json);
}

static gchar *
make_config (WatchStates *self, const gchar *camera, const gchar *zone, const Entity *entity,
             const gchar *id, const gchar *device)
{
  GString *json = web_json_new ();
  g_autofree gchar *level = zone ? watch_topic_level (zone) : NULL;
  g_autofree gchar *topic = zone ? g_strjoin ("/", self->prefix, camera, level, entity->leaf, NULL)
                                 : g_strjoin ("/", self->prefix, camera, entity->leaf, NULL);
  g_autofree gchar *name = zone ? g_strjoin (" ", zone, entity->name, NULL) : NULL;
  gboolean connection = g_str_equal (entity->leaf, "availability");
  gboolean picture = g_str_equal (entity->component, "image");

  web_json_add_string (json, "name", zone ? name : entity->name);
  web_json_add_string (json, "unique_id", id);
  web_json_add_string (json, picture ? "image_topic" : "state_topic", topic);
  if (picture)
    web_json_add_string (json, "content_type", "image/jpeg");
  if (g_str_equal (entity->component, "binary_sensor")) {
    web_json_add_string (json, "payload_on", connection ? "online" : "ON");
    web_json_add_string (json, "payload_off", connection ? "offline" : "OFF");
  }
  web_json_add_string (json, "device_class", entity->device_class);
  web_json_add_string (json, "state_class", entity->state_class);
  web_json_add_string (json, "icon", entity->icon);
  if (connection)
    web_json_add_string (json, "entity_category", "diagnostic");

  /* The connection and the picture matter while the camera is away, too. */
  web_json_begin_array (json, "availability");
  add_availability (json, self->prefix, NULL);
  if (!connection && !picture)
    add_availability (json, self->prefix, camera);
  web_json_end_array (json);
  web_json_add_string (json, "availability_mode", "all");

  web_json_begin_object (json, "device");
  web_json_begin_array (json, "identifiers");
  web_json_add_string (json, NULL, device);
  web_json_end_array (json);
  web_json_add_string (json, "name", camera);
  web_json_add_string (json, "manufacturer", "cudaccl");
  web_json_add_string (json, "model", "Camera");
  web_json_add_string (json, "sw_version", PACKAGE_VERSION);
  web_json_end_object (json);

  web_json_begin_object (json, "origin");
  web_json_add_string (json, "name", "cudaccl-watch");
  web_json_add_string (json, "sw_version", PACKAGE_VERSION);
  web_json_end_object (json);

  return web_json_take (json);
}

static void
add_entities (WatchStates *self, const gchar *camera, guint generation, const WatchZoneCounts *zone,
              const Entity *entities, guint n)
{
  g_autofree gchar *whole = g_strjoin ("/", self->prefix, camera, NULL);
  g_autofree gchar *device = make_id (whole);
  g_autofree gchar *zone_id = zone ? make_id (zone->name) : NULL;

  for (guint i = 0; i < n; i++) {
    g_autofree gchar *object = NULL;
    g_autofree gchar *id = NULL;

    if (zone && zone->tripwire && entities[i].polygons_only)
      continue;
    object = zone ? g_strjoin ("-", zone_id, entities[i].leaf, NULL) : g_strdup (entities[i].leaf);
    id = g_strjoin ("-", device, object, NULL);
    set_text (
        self, camera, generation,
        g_strjoin ("/", self->discovery, entities[i].component, device, object, "config", NULL),
        make_config (self, camera, zone ? zone->name : NULL, &entities[i], id, device));
  }
}

/* --- Values --- */

static void
set_value (WatchStates *self, const gchar *camera, guint generation, const gchar *zone,
           const gchar *leaf, gchar *text)
{
  g_autofree gchar *level = zone ? watch_topic_level (zone) : NULL;

  set_text (self, camera, generation,
            zone ? g_strjoin ("/", self->prefix, camera, level, leaf, NULL)
                 : g_strjoin ("/", self->prefix, camera, leaf, NULL),
            text);
}

static void
set_number (WatchStates *self, const gchar *camera, guint generation, const gchar *zone,
            const gchar *leaf, guint64 value)
{
  set_value (self, camera, generation, zone, leaf, g_strdup_printf ("%" G_GUINT64_FORMAT, value));
}

static void
set_values (WatchStates *self, const gchar *camera, guint generation,
            const WatchCameraStatus *status)
{
  gboolean running = status->state == WATCH_CAMERA_RUNNING;

  set_value (self, camera, generation, NULL, "availability",
             g_strdup (running ? "online" : "offline"));
  set_value (self, camera, generation, NULL, "motion",
             g_strdup (running && status->moving ? "ON" : "OFF"));
  set_number (self, camera, generation, NULL, "objects", running ? status->objects : 0);
  for (guint i = 0; status->zones && i < status->zones->len; i++) {
    const WatchZoneCounts *zone = &g_array_index (status->zones, WatchZoneCounts, i);

    set_number (self, camera, generation, zone->name, "in", zone->in);
    set_number (self, camera, generation, zone->name, "out", zone->out);
    if (zone->tripwire)
      continue;
    set_number (self, camera, generation, zone->name, "inside", zone->inside);
    set_value (self, camera, generation, zone->name, "occupancy",
               g_strdup (zone->inside > 0 ? "ON" : "OFF"));
  }
}

static gchar *
describe_zones (const GArray *zones)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; zones && i < zones->len; i++) {
    const WatchZoneCounts *zone = &g_array_index (zones, WatchZoneCounts, i);

    g_string_append_printf (text, "%c%s\n", zone->tripwire ? 't' : 'z', zone->name);
  }
  return g_string_free (text, FALSE);
}

void
watch_states_set_camera (WatchStates *self, const gchar *name, const WatchCameraStatus *status)
{
  g_autofree gchar *zones = status ? describe_zones (status->zones) : NULL;
  Camera *camera;

  g_mutex_lock (&self->lock);
  camera = g_hash_table_lookup (self->cameras, name);
  if (!status) {
    GHashTableIter iter;
    gpointer value;

    g_hash_table_iter_init (&iter, self->states);
    while (g_hash_table_iter_next (&iter, NULL, &value)) {
      if (g_str_equal (((State *) value)->camera, name))
        clear_state (self, value);
    }
    g_hash_table_remove (self->cameras, name);
    g_mutex_unlock (&self->lock);
    return;
  }

  if (!camera) {
    camera = g_new0 (Camera, 1);
    g_hash_table_insert (self->cameras, g_strdup (name), camera);
  }
  if (g_strcmp0 (camera->zones, zones) == 0) {
    set_values (self, name, camera->generation, status);
  } else {
    g_free (camera->zones);
    camera->zones = g_steal_pointer (&zones);
    camera->generation++;
    /* Send the configuration first: Home Assistant subscribes to states when it has it. */
    if (*self->discovery) {
      add_entities (self, name, camera->generation, NULL, camera_entities,
                    G_N_ELEMENTS (camera_entities));
      for (guint i = 0; status->zones && i < status->zones->len; i++)
        add_entities (self, name, camera->generation,
                      &g_array_index (status->zones, WatchZoneCounts, i), zone_entities,
                      G_N_ELEMENTS (zone_entities));
    }
    set_values (self, name, camera->generation, status);
    clear_older (self, name, camera->generation);
  }
  g_mutex_unlock (&self->lock);
}

static gboolean
is_picture (const gchar *topic)
{
  return g_str_has_suffix (topic, "/picture");
}

void
watch_states_set_picture (WatchStates *self, const gchar *camera, GBytes *jpeg)
{
  g_autofree gchar *topic = g_strjoin ("/", self->prefix, camera, "picture", NULL);

  g_mutex_lock (&self->lock);
  set_bytes (self, camera, topic, g_bytes_ref (jpeg))->permanent = TRUE;
  g_mutex_unlock (&self->lock);
}

void
watch_states_set_online (WatchStates *self, gboolean online)
{
  g_mutex_lock (&self->lock);
  set_text (self, "", 0, g_strjoin ("/", self->prefix, "availability", NULL),
            g_strdup (online ? "online" : "offline"));
  g_mutex_unlock (&self->lock);
}

/* --- Sending --- */

void
watch_states_send_again (WatchStates *self)
{
  GHashTableIter iter;
  gpointer value;

  g_mutex_lock (&self->lock);
  g_hash_table_iter_init (&iter, self->states);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    if (((State *) value)->payload)
      enqueue (self, value);
  }
  g_mutex_unlock (&self->lock);
}

/* Called before a topic that the file lacks is sent. */
static void
save (WatchStates *self)
{
  g_autoptr (GString) text = g_string_new (NULL);
  g_autoptr (GError) error = NULL;
  GHashTableIter iter;
  gpointer value;

  g_hash_table_iter_init (&iter, self->states);
  while (g_hash_table_iter_next (&iter, NULL, &value)) {
    State *state = value;

    if (*state->camera)
      g_string_append_printf (text, "%s\t%s\n", state->camera, state->topic);
  }
  if (!watch_replace_file (self->file, text->str, 0600, &error))
    g_message ("mqtt: cannot note the topics: %s", error->message);
  self->changed = FALSE;
}

static void
load (WatchStates *self, const WatchSettings *settings)
{
  g_autofree gchar *text = NULL;
  g_auto (GStrv) lines = NULL;

  if (!g_file_get_contents (self->file, &text, NULL, NULL))
    return;
  lines = g_strsplit (text, "\n", -1);
  for (gchar **line = lines; *line; line++) {
    g_auto (GStrv) words = g_strsplit (*line, "\t", 2);
    gboolean known = FALSE;
    State *state;

    if (g_strv_length (words) != 2)
      continue;
    for (guint i = 0; settings->cameras && i < settings->cameras->len; i++) {
      const WatchCameraSettings *camera = g_ptr_array_index (settings->cameras, i);

      known = known || g_str_equal (camera->name, words[0]);
    }
    state = add_state (self, words[0], words[1]);
    state->permanent = is_picture (words[1]) && g_str_has_prefix (words[1], self->prefix);
    /* Topics of known cameras are sorted out once their zones are known. */
    if (!known)
      clear_state (self, state);
  }
  self->changed = FALSE;
}

gboolean
watch_states_next (WatchStates *self, gchar **topic, GBytes **payload)
{
  State *state;

  g_mutex_lock (&self->lock);
  if (self->changed)
    save (self);
  state = g_queue_pop_head (&self->queue);
  if (state) {
    state->queued = FALSE;
    *topic = g_strdup (state->topic);
    *payload = g_bytes_ref (state->payload);
  }
  g_mutex_unlock (&self->lock);
  return state != NULL;
}

void
watch_states_done (WatchStates *self, const gchar *topic, GBytes *payload)
{
  State *state;

  g_mutex_lock (&self->lock);
  state = g_hash_table_lookup (self->states, topic);
  if (state && g_bytes_get_size (payload) == 0 && !state->queued && state->payload &&
      g_bytes_get_size (state->payload) == 0) {
    g_hash_table_remove (self->states, topic);
    self->changed = TRUE;
  }
  g_mutex_unlock (&self->lock);
}

WatchStates *
watch_states_new (const WatchSettings *settings, const gchar *file)
{
  WatchStates *self = g_new0 (WatchStates, 1);

  self->prefix = g_strdup (settings->mqtt_prefix);
  self->discovery = g_strdup (settings->discovery ? settings->discovery : "");
  self->file = g_strdup (file);
  self->states = g_hash_table_new_full (g_str_hash, g_str_equal, NULL, free_state);
  self->cameras = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, free_camera);
  g_queue_init (&self->queue);
  g_mutex_init (&self->lock);
  load (self, settings);
  return self;
}

void
watch_states_free (WatchStates *self)
{
  if (self->changed)
    save (self);
  g_queue_clear (&self->queue);
  g_hash_table_unref (self->states);
  g_hash_table_unref (self->cameras);
  g_mutex_clear (&self->lock);
  g_free (self->prefix);
  g_free (self->discovery);
  g_free (self->file);
  g_free (self);
}
