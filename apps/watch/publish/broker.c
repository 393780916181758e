/* cudaccl-watch - sends lines to MQTT and Kafka, and states to MQTT
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/publish/sink.h"

#include <string.h>

#include "apps/brokers/broker.h"
#include "apps/watch/publish/states.h"

/* Most lines read from the spool and not taken. */
#define WINDOW 512

/* Most states in flight: pictures are large. */
#define STATE_WINDOW 16

/* Numbers of states have this bit. */
#define STATE_NUMBER (G_GUINT64_CONSTANT (1) << 63)

/* Longest wait while nothing wakes the sink, in milliseconds. */
#define POLL 1000

typedef struct
{
  gchar *topic;
  GBytes *payload;
} Sent;

typedef struct
{
  WatchSink sink;
  const Broker *broker;
  gpointer client; /* NULL: to be opened */
  gchar *topic;    /* MQTT: prefix of topics; Kafka: the topic */
  gchar *hosts, *user, *password, *ca_file, *id;
  gboolean tls;
  gboolean connected;

  /* MQTT only. */
  WatchStates *states; /* or NULL */
  gchar *will;         /* topic */
  gchar *birth;        /* topic of Home Assistant's birth message, or NULL */
  Sent next;           /* no topic: none */
  GHashTable *sent;    /* Sent, by number */
  guint64 state_number;
  gboolean offline; /* TRUE once `offline` was queued */

  /* Kafka only. */
  gchar *status_key, *status; /* next to send, or NULL; protected by the sink's lock */
  gboolean status_sent;       /* a status is in flight */
} BrokerSink;

static void
free_sent (gpointer data)
{
  Sent *sent = data;

  g_free (sent->topic);
  g_clear_pointer (&sent->payload, g_bytes_unref);
  g_free (sent);
}

static void
confirmed (guint64 number, const GError *error, gpointer user_data)
{
  BrokerSink *self = user_data;
  Sent *sent;

  if (!(number & STATE_NUMBER)) {
    watch_sink_done (&self->sink, number, error ? error->message : NULL);
    return;
  }
  if (!self->sent) {
    self->status_sent = FALSE;
    return;
  }
  sent = g_hash_table_lookup (self->sent, &number);
  if (sent) {
    watch_states_done (self->states, sent->topic, sent->payload);
    g_hash_table_remove (self->sent, &number);
  }
}

static void
connected (const gchar *text, gpointer user_data)
{
  BrokerSink *self = user_data;

  self->connected = !text;
  if (text)
    watch_sink_fail (&self->sink, text);
  else
    watch_sink_set_state (&self->sink, TRUE, NULL);
  /* The broker may have been restarted without its states. */
  if (!text && self->states)
    watch_states_send_again (self->states);
}

/* Home Assistant has started without any states. */
static void
received (const gchar *topic, const void *data, gsize length, gpointer user_data)
{
  BrokerSink *self = user_data;

  if (length == strlen ("online") && memcmp (data, "online", length) == 0)
    watch_states_send_again (self->states);
}

static const BrokerCallbacks callbacks = { confirmed, connected, received };

static gboolean
open_client (BrokerSink *self, GError **error)
{
  const BrokerMessage will = {
    .topic = self->will, .key = "", .data = "offline", .length = strlen ("offline"), .retain = TRUE
  };
  const BrokerSettings settings = {
    .hosts = self->hosts,
    .client = self->id,
    .window = WINDOW + STATE_WINDOW,
    .user = self->user,
    .password = self->password,
    .tls = self->tls,
    .ca_file = self->ca_file,
    .wake = self->sink.wake,
    .will = self->will ? &will : NULL,
    .subscription = self->birth,
  };

  self->client = self->broker->open (&settings, &callbacks, self, error);
  return self->client != NULL;
}

static void
close_client (BrokerSink *self)
{
  if (self->client)
    self->broker->close (self->client);
  self->client = NULL;
  self->connected = self->status_sent = FALSE;
  if (self->sent)
    g_hash_table_remove_all (self->sent);
  watch_sink_send_again (&self->sink);
}

/* MQTT has a topic per camera and kind; Kafka one per kind, with cameras as keys. */
static gchar *
make_topic (BrokerSink *self, const WatchLine *line)
{
  const gchar *kind = watch_line_kind_get_name (line->kind);

  if (self->states)
    return g_strjoin ("/", self->topic, line->camera, kind, NULL);
  return line->kind == WATCH_LINE_EVENTS ? g_strdup (self->topic)
                                         : g_strjoin (".", self->topic, kind, NULL);
}

static void
send_lines (BrokerSink *self)
{
  WatchSink *sink = &self->sink;

  watch_sink_fill (sink, WINDOW);
  for (guint i = 0; i < sink->lines->len; i++) {
    WatchSinkLine *line = &g_array_index (sink->lines, WatchSinkLine, i);
    g_autofree gchar *topic = NULL;
    g_autoptr (GError) error = NULL;
    BrokerMessage message = { .key = line->line->camera, .data = line->line->line };

    if (line->state != WATCH_LINE_WAITING)
      continue;
    message.topic = topic = make_topic (self, line->line);
    message.length = strlen (line->line->line);
    line->state = WATCH_LINE_SENT;
    if (self->broker->send (self->client, sink->first + i, &message, &error))
      continue;
    if (error) {
      watch_sink_done (sink, sink->first + i, error->message);
      continue;
    }
    line->state = WATCH_LINE_WAITING;
    return;
  }
}

static void
send_states (BrokerSink *self)
{
  while (self->connected && g_hash_table_size (self->sent) < STATE_WINDOW) {
    guint64 number = self->state_number + 1;
    g_autoptr (GError) error = NULL;
    BrokerMessage message = { .key = "", .retain = TRUE };

    if (!self->next.topic &&
        !watch_states_next (self->states, &self->next.topic, &self->next.payload))
      return;
    message.topic = self->next.topic;
    message.data = g_bytes_get_data (self->next.payload, &message.length);
    if (self->broker->send (self->client, number, &message, &error)) {
      self->state_number = number;
      g_hash_table_insert (self->sent, g_memdup2 (&number, sizeof (number)),
                           g_memdup2 (&self->next, sizeof (self->next)));
    } else if (error) {
      g_message ("%s: %s", self->sink.name, error->message);
      g_free (self->next.topic);
      g_bytes_unref (self->next.payload);
    } else {
      return;
    }
    self->next.topic = NULL;
    self->next.payload = NULL;
  }
}

/* Sends the latest status, one at a time: it is not worth a place in the spool. Returns whether
 * none is in flight. */
static gboolean
send_status (BrokerSink *self)
{
  g_autofree gchar *key = NULL, *text = NULL;

  g_mutex_lock (&self->sink.lock);
  if (self->client && !self->status_sent) {
    key = g_steal_pointer (&self->status_key);
    text = g_steal_pointer (&self->status);
  }
  g_mutex_unlock (&self->sink.lock);
  if (text) {
    g_autofree gchar *topic = g_strconcat (self->topic, ".status", NULL);
    const BrokerMessage message = { topic, key, text, strlen (text), FALSE };

    self->status_sent = self->broker->send (self->client, STATE_NUMBER, &message, NULL);
  }
  return !self->status_sent;
}

/* Returns whether states keep the sink from ending. */
static gboolean
end_states (BrokerSink *self)
{
  gboolean ends;

  g_mutex_lock (&self->sink.lock);
  ends = self->sink.deadline != 0;
  g_mutex_unlock (&self->sink.lock);
  if (ends && !self->offline) {
    self->offline = TRUE;
    watch_states_set_online (self->states, FALSE);
    return TRUE;
  }
  return self->next.topic || g_hash_table_size (self->sent) > 0;
}

static void
run (WatchSink *sink)
{
  BrokerSink *self = (BrokerSink *) sink;

  while (watch_sink_goes_on (sink, self->states ? end_states (self) : !send_status (self))) {
    g_autoptr (GError) error = NULL;

    if (self->client || open_client (self, &error)) {
      send_lines (self);
      if (self->states)
        send_states (self);
      self->broker->poll (self->client, MIN (watch_sink_take (sink, FALSE), POLL), &error);
    }
    if (error) {
      close_client (self);
      watch_sink_fail (sink, error->message);
      watch_sink_back_off (sink, 0);
    }
  }
  close_client (self);
}

static void
broker_sink_free (WatchSink *sink)
{
  BrokerSink *self = (BrokerSink *) sink;

  g_free (self->topic);
  g_free (self->hosts);
  g_free (self->user);
  g_free (self->password);
  g_free (self->ca_file);
  g_free (self->id);
  g_clear_pointer (&self->states, watch_states_free);
  g_free (self->will);
  g_free (self->birth);
  g_free (self->status_key);
  g_free (self->status);
  g_free (self->next.topic);
  g_clear_pointer (&self->next.payload, g_bytes_unref);
  g_clear_pointer (&self->sent, g_hash_table_unref);
  watch_sink_clear (sink);
  g_free (self);
}

static BrokerSink *
new_sink (const WatchSinkClass *klass, const gchar *scheme, const gchar *topic, const gchar *name,
          const gchar *hosts, WatchLineKinds kinds, GError **error)
{
  const Broker *broker = broker_find (scheme, error);
  BrokerSink *self;

  if (!broker || !broker->check_topic (topic, error))
    return NULL;
  self = g_new0 (BrokerSink, 1);
  watch_sink_init (&self->sink, klass, g_strdup (name), g_strdup (name), kinds);
  self->broker = broker;
  self->topic = g_strdup (topic);
  self->hosts = g_strdup (hosts);
  return self;
}

/* --- MQTT --- */

static void
set_camera (WatchSink *sink, const gchar *camera, const WatchCameraStatus *status)
{
  watch_states_set_camera (((BrokerSink *) sink)->states, camera, status);
  watch_sink_wake (sink);
}

static void
set_picture (WatchSink *sink, const gchar *camera, GBytes *jpeg)
{
  watch_states_set_picture (((BrokerSink *) sink)->states, camera, jpeg);
  watch_sink_wake (sink);
}

static gboolean
make_mqtt (const WatchSettings *settings, WatchSinkAdd add, gpointer user_data, GError **error)
{
  static const WatchSinkClass klass = { run, broker_sink_free, set_camera, set_picture };
  const gchar *hosts = settings->mqtt ? strstr (settings->mqtt, "://") : NULL;
  g_autofree gchar *scheme =
      hosts ? g_strndup (settings->mqtt, (gsize) (hosts - settings->mqtt)) : g_strdup ("");
  g_autofree gchar *file = g_build_filename (settings->data, "mqtt-topics", NULL);
  g_autofree gchar *id = NULL;
  g_autofree gchar *sum = NULL;
  BrokerSink *self;

  if (!settings->mqtt)
    return TRUE;
  if (!hosts || strchr (hosts, '@')) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                 "mqtt: expected mqtt://HOST:PORT or mqtts://HOST:PORT; user and password belong "
                 "into the file of `credentials`");
    return FALSE;
  }
  self = new_sink (&klass, scheme, settings->mqtt_prefix, "mqtt", hosts + 3, settings->line_kinds,
                   error);
  if (!self)
    return FALSE;
  g_strdelimit (self->hosts, "/", '\0');
  self->user = g_strdup (settings->mqtt_user);
  self->password = g_strdup (settings->mqtt_password);
  self->ca_file = g_strdup (settings->mqtt_ca);
  self->tls = g_str_equal (scheme, "mqtts");
  /* The same after each start, and unique to this program; brokers take 23 characters. */
  id = g_strjoin ("\n", g_get_host_name (), settings->data, settings->mqtt_prefix, NULL);
  sum = g_compute_checksum_for_string (G_CHECKSUM_SHA256, id, -1);
  self->id = g_strdup_printf ("cudaccl-%.14s", sum);
  self->will = g_strjoin ("/", settings->mqtt_prefix, "availability", NULL);
  if (settings->discovery && *settings->discovery)
    self->birth = g_strjoin ("/", settings->discovery, "status", NULL);
  self->states = watch_states_new (settings, file);
  self->sent = g_hash_table_new_full (g_int64_hash, g_int64_equal, g_free, free_sent);
  self->state_number = STATE_NUMBER;
  watch_states_set_online (self->states, TRUE);
  add (&self->sink, user_data);
  return TRUE;
}

const WatchSinkType watch_sink_mqtt = { "mqtt", make_mqtt };

/* --- Kafka --- */

/* Only the latest status is kept; the program is the key. */
static void
set_program (WatchSink *sink, const gchar *program, const gchar *status)
{
  BrokerSink *self = (BrokerSink *) sink;

  g_mutex_lock (&sink->lock);
  g_free (self->status_key);
  g_free (self->status);
  self->status_key = g_strdup (program);
  self->status = g_strdup (status);
  g_mutex_unlock (&sink->lock);
  watch_sink_wake (sink);
}

static gboolean
make_kafka (const WatchSettings *settings, WatchSinkAdd add, gpointer user_data, GError **error)
{
  static const WatchSinkClass klass = { run, broker_sink_free, .set_program = set_program };
  BrokerSink *self;

  if (!settings->kafka)
    return TRUE;
  self = new_sink (&klass, "kafka", settings->kafka_topic, "kafka", settings->kafka,
                   settings->line_kinds, error);
  if (!self)
    return FALSE;
  self->user = g_strdup (settings->kafka_user);
  self->password = g_strdup (settings->kafka_password);
  self->ca_file = g_strdup (settings->kafka_ca);
  self->tls = self->ca_file != NULL;
  add (&self->sink, user_data);
  return TRUE;
}

const WatchSinkType watch_sink_kafka = { "kafka", make_kafka };
