/* cudaccl - sends messages to an MQTT broker with libmosquitto
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/brokers/broker.h"

#include <errno.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <mosquitto.h>

#define KEEPALIVE 10 /* s: how soon a broker that vanished is noticed, at most */
#define MIN_RETRY (500 * G_TIME_SPAN_MILLISECOND)
#define MAX_RETRY (4 * G_TIME_SPAN_SECOND)

/* The state of an attempt to connect. */
enum
{
  ATTEMPT_NONE,
  ATTEMPT_RUNNING, /* no function of the client may be called */
  ATTEMPT_ENDED,
  ATTEMPT_ABANDONED, /* its thread frees the client */
};

typedef struct
{
  struct mosquitto *client;
  GPtrArray *hosts;    /* GSocketConnectable */
  guint host;          /* index of the one in use */
  gchar *subscription; /* or NULL */
  int wake;            /* duplicated, since an abandoned attempt may outlive the caller's; or -1 */
  gboolean tls;
  gboolean connected;   /* the broker has accepted the client */
  gboolean established; /* there was a connection: report a loss */
  gint refused;         /* the broker's reason for refusing the client, or 0 */
  gint64 retry;
  gint64 next_attempt; /* monotonic time */
  gint attempt;        /* atomic */
  gint result;         /* of the attempt */
  gint result_errno;   /* of the last call of the library */
  GHashTable *unacked; /* the library's ids to numbers of messages */
  const BrokerCallbacks *callbacks;
  gpointer user_data;
} Mqtt;

static const gchar *
get_host (Mqtt *self, guint *port)
{
  GNetworkAddress *address = g_ptr_array_index (self->hosts, self->host);

  *port = g_network_address_get_port (address);
  return g_network_address_get_hostname (address);
}

/* The next attempt is to another host, and waits for longer. */
static void
lost (Mqtt *self, const gchar *reason)
{
  guint port;
  const gchar *host = get_host (self, &port);
  g_autofree gchar *text = g_strdup_printf ("no connection to %s:%u: %s", host, port, reason);

  self->connected = FALSE;
  self->host = (self->host + 1) % self->hosts->len;
  self->next_attempt = g_get_monotonic_time () + self->retry;
  self->retry = MIN (2 * self->retry, MAX_RETRY);
  if (self->callbacks->connected)
    self->callbacks->connected (text, self->user_data);
}

static void
connected (struct mosquitto *client, void *data, int reason)
{
  Mqtt *self = data;

  self->connected = reason == 0;
  /* 3: the broker is not ready yet. */
  self->refused = reason == 3 ? 0 : reason;
  if (!self->connected)
    return;
  self->retry = MIN_RETRY;
  if (self->subscription)
    mosquitto_subscribe (client, NULL, self->subscription, 0);
  if (self->callbacks->connected)
    self->callbacks->connected (NULL, self->user_data);
}

static void
disconnected (struct mosquitto *client, void *data, int reason)
{
  Mqtt *self = data;

  self->connected = FALSE;
}

static void
published (struct mosquitto *client, void *data, int id)
{
  Mqtt *self = data;
  guint64 *number = g_hash_table_lookup (self->unacked, GINT_TO_POINTER (id));

  if (!number)
    return;
  self->callbacks->confirmed (*number, NULL, self->user_data);
  g_hash_table_remove (self->unacked, GINT_TO_POINTER (id));
}

static void
received (struct mosquitto *client, void *data, const struct mosquitto_message *message)
{
  Mqtt *self = data;

  if (self->callbacks->received)
    self->callbacks->received (message->topic, message->payload, (gsize) message->payloadlen,
                               self->user_data);
}

static void
free_client (Mqtt *self)
{
  if (self->client) {
    mosquitto_disconnect (self->client);
    mosquitto_destroy (self->client);
  }
  g_clear_pointer (&self->unacked, g_hash_table_unref);
  g_ptr_array_unref (self->hosts);
  g_free (self->subscription);
  if (self->wake >= 0)
    close (self->wake);
  g_free (self);
  mosquitto_lib_cleanup ();
}

/* A broker whose host is switched off keeps mosquitto_connect() waiting for minutes. */
static gpointer
attempt (gpointer data)
{
  Mqtt *self = data;
  int wake = self->wake >= 0 ? dup (self->wake) : -1;
  guint port;
  const gchar *host = get_host (self, &port);

  self->result = mosquitto_connect (self->client, host, (int) port, KEEPALIVE);
  self->result_errno = errno;
  if (!g_atomic_int_compare_and_exchange (&self->attempt, ATTEMPT_RUNNING, ATTEMPT_ENDED))
    free_client (self);
  if (wake >= 0) {
    eventfd_write (wake, 1);
    close (wake);
  }

  return NULL;
}

static void
mqtt_close (gpointer broker)
{
  Mqtt *self = broker;

  if (!g_atomic_int_compare_and_exchange (&self->attempt, ATTEMPT_RUNNING, ATTEMPT_ABANDONED))
    free_client (self);
}

static gboolean
mqtt_check_topic (const gchar *topic, GError **error)
{
  if (*topic && g_utf8_validate (topic, -1, NULL) &&
      mosquitto_pub_topic_check (topic) == MOSQ_ERR_SUCCESS)
    return TRUE;

  g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
               "'%s' is no topic of MQTT to publish to: it must not have '+' and '#'", topic);
  return FALSE;
}

static gpointer
mqtt_open (const BrokerSettings *settings, const BrokerCallbacks *callbacks, gpointer user_data,
           GError **error)
{
  const BrokerMessage *will = settings->will;
  g_auto (GStrv) hosts = g_strsplit (settings->hosts, ",", -1);
  Mqtt *self = g_new0 (Mqtt, 1);

  mosquitto_lib_init ();
  self->hosts = g_ptr_array_new_with_free_func (g_object_unref);
  self->subscription = g_strdup (settings->subscription);
  self->wake = settings->wake >= 0 ? dup (settings->wake) : -1;
  self->retry = MIN_RETRY;
  self->callbacks = callbacks;
  self->user_data = user_data;
  self->unacked = g_hash_table_new_full (NULL, NULL, NULL, g_free);
  for (gchar **host = hosts; *host; host++) {
    GSocketConnectable *address =
        g_network_address_parse (*host, settings->tls ? 8883 : 1883, error);

    if (!address)
      goto failed;
    g_ptr_array_add (self->hosts, address);
  }

  /* The session outlives connections: the library sends what was not acknowledged again. */
  self->client = mosquitto_new (settings->client, false, self);
  mosquitto_connect_callback_set (self->client, connected);
  mosquitto_disconnect_callback_set (self->client, disconnected);
  mosquitto_publish_callback_set (self->client, published);
  mosquitto_message_callback_set (self->client, received);
  mosquitto_max_inflight_messages_set (self->client, settings->window);
  mosquitto_int_option (self->client, MOSQ_OPT_TCP_NODELAY, 1);
  if (settings->user)
    mosquitto_username_pw_set (self->client, settings->user, settings->password);
  self->tls = settings->tls;
  if (settings->tls && !settings->ca_file)
    mosquitto_int_option (self->client, MOSQ_OPT_TLS_USE_OS_CERTS, 1);
  if (settings->ca_file && mosquitto_tls_set (self->client, settings->ca_file, NULL, NULL, NULL,
                                              NULL) != MOSQ_ERR_SUCCESS) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                 "cannot read the certificates in '%s'", settings->ca_file);
    goto failed;
  }
  if (will)
    mosquitto_will_set (self->client, will->topic, (int) will->length, will->data, 1, will->retain);

  return self;

failed:
  free_client (self);
  return NULL;
}

static gboolean
mqtt_send (gpointer broker, guint64 number, const BrokerMessage *message, GError **error)
{
  Mqtt *self = broker;
  int id, result;

  if (!self->connected)
    return FALSE;

  result = mosquitto_publish (self->client, &id, message->topic, (int) message->length,
                              message->data, 1, message->retain);
  if (result == MOSQ_ERR_PAYLOAD_SIZE || result == MOSQ_ERR_OVERSIZE_PACKET) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE,
                 "a line of %" G_GSIZE_FORMAT " bytes is too large for the broker: limit lines "
                 "with max-components",
                 message->length);
    return FALSE;
  }
  if (result == MOSQ_ERR_INVAL || result == MOSQ_ERR_MALFORMED_UTF8) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                 "'%s' is no topic of MQTT to publish to", message->topic);
    return FALSE;
  }
  /* After a loss of connection the library has the message, and sends it later. */
  if (result != MOSQ_ERR_SUCCESS && result != MOSQ_ERR_NO_CONN && result != MOSQ_ERR_CONN_LOST)
    return FALSE;
  g_hash_table_insert (self->unacked, GINT_TO_POINTER (id), g_memdup2 (&number, sizeof (number)));

  return TRUE;
}

/* Without a connection: tries to connect from time to time. */
static void
connect_again (Mqtt *self, gint timeout)
{
  gint64 rest = self->next_attempt - g_get_monotonic_time ();

  if (rest > 0) {
    broker_wait (self->wake, -1, 0, (gint) MIN (timeout, rest / G_TIME_SPAN_MILLISECOND + 1));
    return;
  }
  g_atomic_int_set (&self->attempt, ATTEMPT_RUNNING);
  g_thread_unref (g_thread_new ("connect", attempt, self));
}

/* Why there is no connection; @result is the library's. */
static const gchar *
get_reason (Mqtt *self, int result, gboolean was_connected)
{
  /* libmosquitto 2.1 reports a failed TLS handshake this way. */
  if (result == MOSQ_ERR_ERRNO && self->result_errno == EPROTO && self->tls && !was_connected)
    result = MOSQ_ERR_TLS;
  return result == MOSQ_ERR_ERRNO ? g_strerror (self->result_errno) : mosquitto_strerror (result);
}

static gboolean
mqtt_poll (gpointer broker, gint timeout, GError **error)
{
  Mqtt *self = broker;
  gint state = g_atomic_int_get (&self->attempt);

  if (state == ATTEMPT_RUNNING) {
    broker_wait (self->wake, -1, 0, timeout);
    return TRUE;
  }
  if (state == ATTEMPT_ENDED) {
    g_atomic_int_set (&self->attempt, ATTEMPT_NONE);
    self->established = self->result == MOSQ_ERR_SUCCESS;
    if (!self->established)
      lost (self, get_reason (self, self->result, FALSE));
  }

  if (mosquitto_socket (self->client) < 0) {
    connect_again (self, timeout);
  } else {
    const gboolean was_connected = self->connected;
    int result;

    /* Without @wake the library waits; otherwise it only does what is due. */
    if (self->wake >= 0)
      broker_wait (self->wake, mosquitto_socket (self->client),
                   mosquitto_want_write (self->client) ? POLLIN | POLLOUT : POLLIN, timeout);
    result = mosquitto_loop (self->client, self->wake >= 0 ? 0 : timeout, 1);
    self->result_errno = errno;
    if (mosquitto_socket (self->client) < 0 && self->established) {
      self->established = FALSE;
      if (!self->refused)
        lost (self, get_reason (self, result, was_connected));
    }
  }

  if (self->refused) {
    guint port;
    const gchar *host = get_host (self, &port);

    g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED, "%s:%u refuses the client: %s",
                 host, port, mosquitto_connack_string (self->refused));
    return FALSE;
  }

  return TRUE;
}

const Broker broker_mqtt = {
  .check_topic = mqtt_check_topic,
  .open = mqtt_open,
  .send = mqtt_send,
  .poll = mqtt_poll,
  .close = mqtt_close,
};
