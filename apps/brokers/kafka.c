/* cudaccl - sends messages to Kafka with librdkafka
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/brokers/broker.h"

#include <string.h>
#include <librdkafka/rdkafka.h>

typedef struct
{
  rd_kafka_t *client;
  int wake;
  GError *failure; /* the client is dead: another must send what is unconfirmed */
  gboolean connected;
  gboolean reported; /* the missing connection was reported */
  const BrokerCallbacks *callbacks;
  gpointer user_data;
} Kafka;

static void
set_connected (Kafka *self, const gchar *text)
{
  if (!text && self->connected)
    return;
  self->connected = !text;
  if (self->callbacks->connected)
    self->callbacks->connected (text, self->user_data);
}

/* Whether the broker refuses this message and would take others. */
static gboolean
is_refused (rd_kafka_resp_err_t code)
{
  return code == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE || code == RD_KAFKA_RESP_ERR_INVALID_MSG ||
         code == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE || code == RD_KAFKA_RESP_ERR_INVALID_RECORD ||
         code == RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP;
}

static GError *
new_error (rd_kafka_resp_err_t code)
{
  return g_error_new (G_IO_ERROR, G_IO_ERROR_FAILED, "the broker refuses a line: %s",
                      rd_kafka_err2str (code));
}

static void
delivered (rd_kafka_t *client, const rd_kafka_message_t *message, void *data)
{
  Kafka *self = data;
  g_autofree guint64 *number = message->_private;
  g_autoptr (GError) error = NULL;

  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    set_connected (self, NULL);
    self->callbacks->confirmed (*number, NULL, self->user_data);
  } else if (message->err == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
             message->err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT) {
    return;
  } else if (is_refused (message->err)) {
    error = new_error (message->err);
    self->callbacks->confirmed (*number, error, self->user_data);
  } else if (!self->failure) {
    self->failure = new_error (message->err);
  }
}

static void
failed (rd_kafka_t *client, int code, const char *reason, void *data)
{
  if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN || code == RD_KAFKA_RESP_ERR__AUTHENTICATION ||
      code == RD_KAFKA_RESP_ERR__SSL)
    set_connected (data, reason);
}

/* Without messages to send, nothing else tells that a broker is there. */
static int
report (rd_kafka_t *client, char *json, size_t length, void *data)
{
  Kafka *self = data;

  if (strstr (json, "\"state\":\"UP\""))
    set_connected (self, NULL);
  self->reported = !self->connected;
  return 0;
}

/* A client that has nothing to send does not connect again by itself. */
static void
connect_again (Kafka *self)
{
  const struct rd_kafka_metadata *metadata;

  self->reported = FALSE;
  if (rd_kafka_metadata (self->client, 0, NULL, &metadata, 1) == RD_KAFKA_RESP_ERR_NO_ERROR)
    rd_kafka_metadata_destroy (metadata);
}

static void
kafka_close (gpointer broker)
{
  Kafka *self = broker;

  if (self->client) {
    rd_kafka_purge (self->client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_poll (self->client, 0);
  }
  g_clear_pointer (&self->client, rd_kafka_destroy);
  g_clear_error (&self->failure);
  g_free (self);
}

static gboolean
kafka_check_topic (const gchar *topic, GError **error)
{
  gsize length =
      strspn (topic, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-");

  if (length > 0 && length < 250 && !topic[length] && !g_str_equal (topic, ".") &&
      !g_str_equal (topic, ".."))
    return TRUE;

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
               "'%s' is no topic of Kafka: use up to 249 letters, digits, '.', '_' and '-'", topic);
  return FALSE;
}

static gpointer
kafka_open (const BrokerSettings *settings, const BrokerCallbacks *callbacks, gpointer user_data,
            GError **error)
{
  /* Acknowledged by all replicas, once and in order, however long the broker is away. */
  const gchar *const values[][2] = {
    { "bootstrap.servers", settings->hosts },
    { "client.id", "cudaccl" },
    { "enable.idempotence", "true" },
    { "acks", "all" },
    { "message.timeout.ms", "0" },
    { "linger.ms", "5" },
    { "reconnect.backoff.max.ms", "1000" },
    { "topic.metadata.refresh.fast.interval.ms", "250" },
    { callbacks->connected ? "statistics.interval.ms" : NULL, "1000" },
    { settings->user || settings->tls ? "security.protocol" : NULL,
      settings->user ? "SASL_SSL" : "SSL" },
    { settings->ca_file ? "ssl.ca.location" : NULL, settings->ca_file },
    { settings->user ? "sasl.mechanism" : NULL, "PLAIN" },
    { settings->user ? "sasl.username" : NULL, settings->user },
    { settings->password ? "sasl.password" : NULL, settings->password },
  };
  Kafka *self = g_new0 (Kafka, 1);
  rd_kafka_conf_t *conf = rd_kafka_conf_new ();
  gchar text[512] = "";

  self->wake = settings->wake;
  self->callbacks = callbacks;
  self->user_data = user_data;
  rd_kafka_conf_set_opaque (conf, self);
  rd_kafka_conf_set_dr_msg_cb (conf, delivered);
  rd_kafka_conf_set_error_cb (conf, failed);
  rd_kafka_conf_set_stats_cb (conf, report);
  for (guint i = 0; i < G_N_ELEMENTS (values); i++) {
    if (values[i][0] && rd_kafka_conf_set (conf, values[i][0], values[i][1], text, sizeof (text)) !=
                            RD_KAFKA_CONF_OK)
      goto failed;
  }
  self->client = rd_kafka_new (RD_KAFKA_PRODUCER, conf, text, sizeof (text));
  if (!self->client)
    goto failed;
  if (self->wake >= 0) {
    static const guint64 one = 1;
    rd_kafka_queue_t *queue = rd_kafka_queue_get_main (self->client);

    rd_kafka_queue_io_event_enable (queue, self->wake, &one, sizeof (one));
    rd_kafka_queue_destroy (queue);
  }

  return self;

failed:
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "%s", text);
  rd_kafka_conf_destroy (conf);
  kafka_close (self);

  return NULL;
}

static gboolean
kafka_send (gpointer broker, guint64 number, const BrokerMessage *message, GError **error)
{
  Kafka *self = broker;
  guint64 *copy = g_memdup2 (&number, sizeof (number));
  /* Lines with the same key go to the same partition, where they keep their order. */
  rd_kafka_resp_err_t code = rd_kafka_producev (
      self->client, RD_KAFKA_V_TOPIC (message->topic), RD_KAFKA_V_MSGFLAGS (RD_KAFKA_MSG_F_COPY),
      RD_KAFKA_V_VALUE ((void *) message->data, message->length),
      RD_KAFKA_V_KEY (message->key, strlen (message->key)), RD_KAFKA_V_OPAQUE (copy),
      RD_KAFKA_V_END);

  if (code == RD_KAFKA_RESP_ERR_NO_ERROR)
    return TRUE;

  g_free (copy);
  if (is_refused (code))
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE,
                 "cannot send a line of %" G_GSIZE_FORMAT " bytes: %s", message->length,
                 rd_kafka_err2str (code));
  else if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL && !self->failure)
    self->failure = new_error (code);

  return FALSE;
}

static gboolean
kafka_poll (gpointer broker, gint timeout, GError **error)
{
  Kafka *self = broker;
  gchar text[512];

  /* librdkafka writes to @wake when it has something to report. */
  if (self->wake >= 0)
    broker_wait (self->wake, -1, 0, timeout);
  rd_kafka_poll (self->client, self->wake >= 0 ? 0 : timeout);
  if (self->reported)
    connect_again (self);
  if (!self->failure && rd_kafka_fatal_error (self->client, text, sizeof (text)))
    g_set_error (&self->failure, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", text);
  if (self->failure) {
    g_propagate_error (error, g_steal_pointer (&self->failure));
    return FALSE;
  }

  return TRUE;
}

const Broker broker_kafka = {
  .check_topic = kafka_check_topic,
  .open = kafka_open,
  .send = kafka_send,
  .poll = kafka_poll,
  .close = kafka_close,
};
