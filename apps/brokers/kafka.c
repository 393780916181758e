/* cudaccl - sends lines to Kafka with librdkafka
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "broker.h"

#include <string.h>
#include <gio/gio.h>
#include <librdkafka/rdkafka.h>

typedef struct
{
  rd_kafka_t *client;
  rd_kafka_topic_t *topic;
  gchar *key;
  GError *failure; /* of a line that the broker will never take */
  ConfirmFunc confirm;
  gpointer user_data;
} Kafka;

static void
delivered (rd_kafka_t *client, const rd_kafka_message_t *message, void *data)
{
  Kafka *self = data;
  guint64 *number = message->_private;

  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
    self->confirm (*number, self->user_data);
  else if (message->err != RD_KAFKA_RESP_ERR__PURGE_QUEUE &&
           message->err != RD_KAFKA_RESP_ERR__PURGE_INFLIGHT && !self->failure)
    g_set_error (&self->failure, G_IO_ERROR, G_IO_ERROR_FAILED, "the broker refuses a line: %s",
                 rd_kafka_err2str (message->err));
  g_free (number);
}

static void
kafka_close (gpointer broker)
{
  Kafka *self = broker;

  if (self->client) {
    rd_kafka_purge (self->client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_poll (self->client, 0);
  }
  g_clear_pointer (&self->topic, rd_kafka_topic_destroy);
  g_clear_pointer (&self->client, rd_kafka_destroy);
  g_clear_error (&self->failure);
  g_free (self->key);
  g_free (self);
}

static gpointer
kafka_open (const Target *target, ConfirmFunc confirm, gpointer user_data, GError **error)
{
  /* Acknowledged by all replicas, once and in order, however long the broker is away. */
  const gchar *const settings[][2] = {
    { "bootstrap.servers", target->host },
    { "client.id", "cudaccl" },
    { "enable.idempotence", "true" },
    { "acks", "all" },
    { "message.timeout.ms", "0" },
    { "linger.ms", "5" },
    { "reconnect.backoff.max.ms", "1000" },
    { "topic.metadata.refresh.fast.interval.ms", "250" },
    { target->user ? "security.protocol" : NULL, "SASL_SSL" },
    { target->user ? "sasl.mechanism" : NULL, "PLAIN" },
    { target->user ? "sasl.username" : NULL, target->user },
    { target->password ? "sasl.password" : NULL, target->password },
  };
  Kafka *self = g_new0 (Kafka, 1);
  rd_kafka_conf_t *conf = rd_kafka_conf_new ();
  gchar text[512] = "";
  guint i;

  self->key = g_strdup (target->key);
  self->confirm = confirm;
  self->user_data = user_data;
  rd_kafka_conf_set_opaque (conf, self);
  rd_kafka_conf_set_dr_msg_cb (conf, delivered);
  for (i = 0; i < G_N_ELEMENTS (settings); i++) {
    if (settings[i][0] && rd_kafka_conf_set (conf, settings[i][0], settings[i][1], text,
                                             sizeof (text)) != RD_KAFKA_CONF_OK)
      goto failed;
  }
  self->client = rd_kafka_new (RD_KAFKA_PRODUCER, conf, text, sizeof (text));
  if (!self->client)
    goto failed;
  self->topic = rd_kafka_topic_new (self->client, target->topic, NULL);
  if (!self->topic) {
    g_strlcpy (text, rd_kafka_err2str (rd_kafka_last_error ()), sizeof (text));
    conf = NULL;
    goto failed;
  }

  return self;

failed:
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "%s", text);
  if (!self->client)
    rd_kafka_conf_destroy (conf);
  kafka_close (self);

  return NULL;
}

static gboolean
kafka_send (gpointer broker, guint64 number, const gchar *line, gsize length, GError **error)
{
  Kafka *self = broker;
  guint64 *copy = g_memdup2 (&number, sizeof (number));

  /* Lines with the same key go to the same partition, where they keep their order. */
  if (rd_kafka_produce (self->topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, (void *) line,
                        length, self->key, strlen (self->key), copy) == 0)
    return TRUE;

  g_free (copy);
  if (rd_kafka_last_error () != RD_KAFKA_RESP_ERR__QUEUE_FULL)
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED,
                 "cannot send a line of %" G_GSIZE_FORMAT " bytes: %s", length,
                 rd_kafka_err2str (rd_kafka_last_error ()));

  return FALSE;
}

static gboolean
kafka_poll (gpointer broker, gint timeout, GError **error)
{
  Kafka *self = broker;
  gchar text[512];

  rd_kafka_poll (self->client, timeout);
  if (!self->failure && rd_kafka_fatal_error (self->client, text, sizeof (text)))
    g_set_error (&self->failure, G_IO_ERROR, G_IO_ERROR_FAILED, "%s", text);
  if (self->failure) {
    g_propagate_error (error, g_steal_pointer (&self->failure));
    return FALSE;
  }

  return TRUE;
}

const Broker broker_kafka = {
  .scheme = "kafka",
  .open = kafka_open,
  .send = kafka_send,
  .poll = kafka_poll,
  .close = kafka_close,
};
