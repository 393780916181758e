/* cudaccl-collect - reads Kafka, writes PostgreSQL
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/collect/collect.h"

#include <gst/base/gstccljsonparse.h>
#include <librdkafka/rdkafka.h>
#include <string.h>

#include "apps/collect/database.h"

#define BATCH 2000           /* most lines per transaction */
#define BATCH_SIZE (8 << 20) /* bytes; no lines are added beyond it */
#define MAX_NAME 256         /* bytes of a camera, a program, a kind, … */
#define WAIT 200             /* ms to wait for the first line */
#define MIN_DELAY 500        /* ms, before the next attempt */
#define MAX_DELAY 8000
#define JOIN_TIME (30 * G_TIME_SPAN_SECOND)
#define LEAVE_TIME (3 * G_TIME_SPAN_SECOND)
#define TEND_INTERVAL (10 * G_TIME_SPAN_SECOND)

struct _Collect
{
  WatchSettings *settings;
  gchar *status_topic;
  rd_kafka_t *client;
  PGconn *db; /* thread only; NULL: to be opened */
  gint64 tended;
  gint64 waits_since; /* start of the wait for partitions, monotonic time; 0: it has some, or others
                         have all */
  GThread *thread;

  GMutex lock;
  GCond stopped;
  gboolean stops;
  gint left;          /* the client has left the group */
  CollectStats stats; /* `reason` is not used */
  WebReason *kafka_reason, *db_reason;
};

/* @place holds the problem of Kafka, or that of PostgreSQL. Takes @reason, which may be NULL. */
static void
set_reason (Collect *self, WebReason **place, WebReason *reason)
{
  const gchar *text = web_reason_get_text (reason);

  g_mutex_lock (&self->lock);
  if (text && g_strcmp0 (text, web_reason_get_text (*place)) != 0)
    g_message ("%s", text);
  web_reason_free (*place);
  *place = reason;
  g_mutex_unlock (&self->lock);
}

static void
set_kafka_text (Collect *self, const gchar *text)
{
  set_reason (self, &self->kafka_reason,
              text ? web_reason_new (WEB_REASON_SINK_FAILED, "detail", text, NULL) : NULL);
}

static void
set_db_error (Collect *self, const GError *error)
{
  set_reason (self, &self->db_reason,
              error ? web_reason_copy (web_reason_from_error (error)) : NULL);
}

/* Waits for @delay milliseconds. Returns FALSE if the thread is to end. */
static gboolean
goes_on (Collect *self, gint64 delay)
{
  gint64 end = g_get_monotonic_time () + delay * G_TIME_SPAN_MILLISECOND;
  gboolean stops;

  g_mutex_lock (&self->lock);
  while (!self->stops && delay && g_cond_wait_until (&self->stopped, &self->lock, end)) {
  }
  stops = self->stops;
  g_mutex_unlock (&self->lock);
  return !stops;
}

/* --- PostgreSQL --- */

static gchar *
join (gchar **lines, guint n)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, "%s%s", i ? "," : "", lines[i]);
  return g_string_free (text, FALSE);
}

static void
count (Collect *self, guint64 stored, guint64 again, const gchar *refused)
{
  g_mutex_lock (&self->lock);
  self->stats.stored += stored;
  self->stats.again += again;
  if (refused && self->stats.refused++ == 0)
    g_message ("a line is dropped, and more may be: %s", refused);
  g_mutex_unlock (&self->lock);
}

static gboolean
open_db (Collect *self, GError **error)
{
  if (!self->db)
    self->db = collect_db_open (self->settings->database, error);
  return self->db != NULL;
}

/* Returns FALSE if the thread must end before everything is committed. */
static gboolean
write_lines (Collect *self, CollectKind kind, gchar **lines, guint n)
{
  g_autofree gchar *text = join (lines, n);
  gint64 delay = 0;

  while (n && goes_on (self, delay)) {
    CollectResult result = COLLECT_AGAIN;
    g_autoptr (GError) error = NULL;
    guint64 stored = 0;

    if (open_db (self, &error))
      result = collect_db_write (self->db, kind, text, &stored, &error);
    if (result == COLLECT_DONE) {
      count (self, stored, kind == COLLECT_EVENTS ? n - stored : 0, NULL);
      set_db_error (self, NULL);
      return TRUE;
    }
    if (result == COLLECT_REFUSED && n == 1) {
      count (self, 0, 0, error->message);
      return TRUE;
    }
    if (result == COLLECT_REFUSED)
      return write_lines (self, kind, lines, n / 2) &&
             write_lines (self, kind, lines + n / 2, n - n / 2);
    set_db_error (self, error);
    g_clear_pointer (&self->db, PQfinish);
    delay = CLAMP (2 * delay, MIN_DELAY, MAX_DELAY);
  }
  return n == 0;
}

/* Opens the database, and removes old rows. */
static void
tend (Collect *self)
{
  gint64 now = g_get_monotonic_time ();
  g_autoptr (GError) error = NULL;

  if (self->tended && now - self->tended < TEND_INTERVAL)
    return;
  self->tended = now;
  if (open_db (self, &error) &&
      collect_db_trim (self->db, self->settings->collect_days, &error) == COLLECT_DONE) {
    set_db_error (self, NULL);
    return;
  }
  set_db_error (self, error);
  g_clear_pointer (&self->db, PQfinish);
}

/* --- Kafka --- */

static void
on_error (rd_kafka_t *client, int code, const char *reason, void *data)
{
  if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || code == RD_KAFKA_RESP_ERR__AUTHENTICATION ||
      code == RD_KAFKA_RESP_ERR__SSL)
    set_kafka_text (data, reason);
}

static void
on_rebalance (rd_kafka_t *client, rd_kafka_resp_err_t code,
              rd_kafka_topic_partition_list_t *partitions, void *data)
{
  Collect *self = data;
  gboolean assigns = code == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS;

  rd_kafka_assign (client, assigns ? partitions : NULL);
  self->waits_since = assigns ? 0 : g_get_monotonic_time ();
}

static gboolean
has_string (JsonObject *line, const gchar *name)
{
  JsonNode *node = json_object_get_member (line, name);

  return node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == G_TYPE_STRING &&
         strlen (json_node_get_string (node)) <= MAX_NAME;
}

/* Whether the line may go to PostgreSQL, whose statements allow any type of the other members. */
static gboolean
is_line (JsonNode *node, CollectKind kind)
{
  JsonObject *line = JSON_NODE_HOLDS_OBJECT (node) ? json_node_get_object (node) : NULL;
  JsonNode *number;

  if (!line || !has_string (line, "utc"))
    return FALSE;
  if (kind == COLLECT_STATES)
    return has_string (line, "program");
  number = json_object_get_member (line, "number");
  return has_string (line, "camera") && has_string (line, "session") &&
         has_string (line, "event") && number && JSON_NODE_HOLDS_VALUE (number) &&
         json_node_get_value_type (number) == G_TYPE_INT64;
}

/* Adds the line to the list of its kind, and returns its size. Messages without text remove keys
 * from compacted topics. */
static gsize
add_line (Collect *self, const rd_kafka_message_t *message, GPtrArray *lists[])
{
  const gchar *topic = rd_kafka_topic_name (message->rkt);
  CollectKind kind = g_str_equal (topic, self->status_topic) ? COLLECT_STATES : COLLECT_EVENTS;
  g_autofree gchar *line = g_strndup (message->payload, message->len); /* or NULL */
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) node = NULL;

  if (!line)
    return 0;
  if (strlen (line) == message->len && g_utf8_validate (line, -1, NULL))
    node = gst_ccl_json_parse (line, topic, &error);
  if (node && is_line (node, kind))
    g_ptr_array_add (lists[kind], g_steal_pointer (&line));
  else
    count (self, 0, 0, error ? error->message : "expected an event or a state as JSON");
  return message->len;
}

static gboolean
read_lines (Collect *self, GPtrArray *lists[])
{
  rd_kafka_message_t *message;
  gsize size = 0;
  guint n = 0;

  while (n < BATCH && size < BATCH_SIZE &&
         (message = rd_kafka_consumer_poll (self->client, n ? 0 : WAIT))) {
    if (!message->err) {
      size += add_line (self, message, lists);
      n++;
    } else if (message->err != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
      set_kafka_text (self, rd_kafka_message_errstr (message));
    }
    rd_kafka_message_destroy (message);
  }
  if (n == 0)
    return FALSE;
  set_kafka_text (self, NULL);
  g_mutex_lock (&self->lock);
  self->stats.last = g_get_real_time ();
  g_mutex_unlock (&self->lock);
  return TRUE;
}

/* Commits the lines read so far. librdkafka would commit those read by the time it sends the
 * request: lines that are not written yet, too. */
static void
commit (Collect *self)
{
  rd_kafka_topic_partition_list_t *read;

  if (rd_kafka_assignment (self->client, &read) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return;
  if (rd_kafka_position (self->client, read) == RD_KAFKA_RESP_ERR_NO_ERROR)
    rd_kafka_commit (self->client, read, TRUE);
  rd_kafka_topic_partition_list_destroy (read);
}

static gboolean
open_client (Collect *self, GError **error)
{
  const WatchSettings *settings = self->settings;
  const gchar *const values[][2] = {
    { "bootstrap.servers", settings->kafka },
    { "client.id", "cudaccl-collect" },
    { "group.id", "cudaccl-collect" },
    { "auto.offset.reset", "earliest" },
    { "enable.auto.commit", "false" },
    { "allow.auto.create.topics", "true" },
    /* Bound the lines of a transaction, and those that wait for it. */
    { "queued.max.messages.kbytes", "16384" },
    { "topic.metadata.refresh.interval.ms", "10000" },
    { "reconnect.backoff.max.ms", "1000" },
    { "session.timeout.ms", "10000" },
    /* PostgreSQL may be away for long. */
    { "max.poll.interval.ms", "86400000" },
    { settings->kafka_user || settings->kafka_ca ? "security.protocol" : NULL,
      settings->kafka_user ? "SASL_SSL" : "SSL" },
    { settings->kafka_ca ? "ssl.ca.location" : NULL, settings->kafka_ca },
    { settings->kafka_user ? "sasl.mechanism" : NULL, "PLAIN" },
    { settings->kafka_user ? "sasl.username" : NULL, settings->kafka_user },
    { settings->kafka_password ? "sasl.password" : NULL, settings->kafka_password },
  };
  rd_kafka_topic_partition_list_t *topics;
  rd_kafka_conf_t *conf = rd_kafka_conf_new ();
  rd_kafka_resp_err_t code;
  gchar text[512] = "";

  rd_kafka_conf_set_opaque (conf, self);
  rd_kafka_conf_set_error_cb (conf, on_error);
  rd_kafka_conf_set_rebalance_cb (conf, on_rebalance);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    if (values[i][0] && rd_kafka_conf_set (conf, values[i][0], values[i][1], text, sizeof (text)) !=
                            RD_KAFKA_CONF_OK)
      goto failed;
  }
  self->client = rd_kafka_new (RD_KAFKA_CONSUMER, conf, text, sizeof (text));
  if (!self->client)
    goto failed;
  self->waits_since = g_get_monotonic_time ();
  rd_kafka_poll_set_consumer (self->client);
  topics = rd_kafka_topic_partition_list_new (2);
  rd_kafka_topic_partition_list_add (topics, settings->kafka_topic, RD_KAFKA_PARTITION_UA);
  rd_kafka_topic_partition_list_add (topics, self->status_topic, RD_KAFKA_PARTITION_UA);
  code = rd_kafka_subscribe (self->client, topics);
  rd_kafka_topic_partition_list_destroy (topics);
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
    return TRUE;
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "Kafka: %s", rd_kafka_err2str (code));
  return FALSE;

failed:
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "Kafka: %s", text);
  rd_kafka_conf_destroy (conf);
  return FALSE;
}

/* It may wait for a broker for ever: run it in its own thread. */
static gpointer
destroy (gpointer client)
{
  rd_kafka_destroy_flags (client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
  return NULL;
}

/* Replace a client that the group does not accept. */
static void
open_again (Collect *self)
{
  g_autoptr (GError) error = NULL;

  set_kafka_text (self, "Kafka gives this program no partitions: trying again");
  g_thread_unref (g_thread_new ("collect-close", destroy, g_steal_pointer (&self->client)));
  if (!open_client (self, &error))
    g_error ("%s", error->message); /* the same settings were valid before */
}

static gpointer
run (gpointer data)
{
  Collect *self = data;
  gboolean done = TRUE;

  while (done && goes_on (self, 0)) {
    g_autoptr (GPtrArray) events = g_ptr_array_new_with_free_func (g_free);
    g_autoptr (GPtrArray) states = g_ptr_array_new_with_free_func (g_free);
    GPtrArray *lists[] = { [COLLECT_EVENTS] = events, [COLLECT_STATES] = states };

    tend (self);
    if (self->waits_since && g_get_monotonic_time () - self->waits_since > JOIN_TIME)
      open_again (self);
    if (read_lines (self, lists)) {
      for (guint i = 0; i < G_N_ELEMENTS (lists) && done; i++)
        done = write_lines (self, i, (gchar **) lists[i]->pdata, lists[i]->len);
      if (done)
        commit (self);
    }
  }
  g_clear_pointer (&self->db, PQfinish);
  return NULL;
}

/* --- Public --- */

Collect *
collect_new (WatchSettings *settings, GError **error)
{
  Collect *self;

  if (!settings->kafka || !settings->database) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                 "%s: expected a key `brokers` in the group [kafka], and a key `database` in the "
                 "group [collect]",
                 settings->path);
    return NULL;
  }
  self = g_new0 (Collect, 1);
  self->settings = watch_settings_ref (settings);
  self->status_topic = g_strconcat (settings->kafka_topic, ".status", NULL);
  g_mutex_init (&self->lock);
  g_cond_init (&self->stopped);
  if (!open_client (self, error)) {
    collect_free (self);
    return NULL;
  }
  self->db_reason = web_reason_new (WEB_REASON_SINK_WAITS, NULL);
  self->thread = g_thread_new ("collect", run, self);
  return self;
}

/* Leaves the group. */
static gpointer
leave (gpointer data)
{
  Collect *self = data;

  rd_kafka_consumer_close (self->client);
  rd_kafka_destroy (self->client);
  g_atomic_int_set (&self->left, TRUE);
  return NULL;
}

void
collect_free (Collect *self)
{
  gint64 end = g_get_monotonic_time () + LEAVE_TIME;

  g_mutex_lock (&self->lock);
  self->stops = TRUE;
  g_cond_signal (&self->stopped);
  g_mutex_unlock (&self->lock);
  if (self->thread)
    g_thread_join (self->thread);
  if (self->client) {
    g_thread_unref (g_thread_new ("collect-leave", leave, self));
    while (!g_atomic_int_get (&self->left) && g_get_monotonic_time () < end)
      g_usleep (10000);
    /* Without Kafka it does not end; the program ends anyway. */
    if (!g_atomic_int_get (&self->left))
      return;
  }
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->stopped);
  web_reason_free (self->kafka_reason);
  web_reason_free (self->db_reason);
  g_free (self->status_topic);
  watch_settings_unref (self->settings);
  g_free (self);
}

void
collect_get_stats (Collect *self, CollectStats *stats)
{
  g_mutex_lock (&self->lock);
  *stats = self->stats;
  stats->reason = web_reason_copy (self->db_reason ? self->db_reason : self->kafka_reason);
  g_mutex_unlock (&self->lock);
}

WatchSettings *
collect_get_settings (Collect *self)
{
  return watch_settings_ref (self->settings);
}
