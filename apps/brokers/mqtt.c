/* cudaccl - sends lines to an MQTT broker with libmosquitto
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "broker.h"

#include <stdlib.h>
#include <string.h>
#include <mosquitto.h>
#include <gio/gio.h>

#define DEFAULT_PORT 1883
#define KEEPALIVE 10 /* s: how soon a broker that vanished is noticed, at most */
#define RETRY (500 * G_TIME_SPAN_MILLISECOND)

typedef struct
{
  struct mosquitto *client;
  gchar *host;
  gint port;
  gchar *topic;
  gboolean connected;
  gint refused;        /* the broker's reason for refusing the client, or 0 */
  gint64 next_attempt; /* to connect; monotonic time */
  GThread *attempt;    /* NULL: none is under way */
  gint attempted;      /* atomic: whether that one has ended */
  GHashTable *unacked; /* from the library's ids to numbers of lines */
  ConfirmFunc confirm;
  gpointer user_data;
} Mqtt;

static void
connected (struct mosquitto *client, void *data, int reason)
{
  Mqtt *self = data;

  self->connected = reason == 0;
  /* 3: the broker is not ready yet. */
  self->refused = reason == 3 ? 0 : reason;
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
  self->confirm (*number, self->user_data);
  g_hash_table_remove (self->unacked, GINT_TO_POINTER (id));
}

/* A broker whose host is switched off keeps mosquitto_connect() waiting for minutes. No other
 * function of the client is called meanwhile. */
static gpointer
attempt (gpointer data)
{
  Mqtt *self = data;

  mosquitto_connect (self->client, self->host, self->port, KEEPALIVE);
  g_atomic_int_set (&self->attempted, TRUE);

  return NULL;
}

/* Whether the client may be used. */
static gboolean
end_attempt (Mqtt *self)
{
  if (self->attempt && g_atomic_int_get (&self->attempted))
    g_thread_join (g_steal_pointer (&self->attempt));

  return !self->attempt;
}

static void
mqtt_close (gpointer broker)
{
  Mqtt *self = broker;

  /* The program ends sooner than the attempt. */
  if (!end_attempt (self))
    return;
  if (self->client) {
    mosquitto_disconnect (self->client);
    mosquitto_destroy (self->client);
  }
  g_clear_pointer (&self->unacked, g_hash_table_unref);
  g_free (self->host);
  g_free (self->topic);
  g_free (self);
  mosquitto_lib_cleanup ();
}

static gpointer
mqtt_open (const Target *target, ConfirmFunc confirm, gpointer user_data, GError **error)
{
  Mqtt *self = g_new0 (Mqtt, 1);
  const gchar *colon = strrchr (target->host, ':');
  gchar *id;

  mosquitto_lib_init ();
  self->port = colon ? atoi (colon + 1) : DEFAULT_PORT;
  self->host =
      colon ? g_strndup (target->host, (gsize) (colon - target->host)) : g_strdup (target->host);
  self->topic = g_strdup (target->topic);
  self->confirm = confirm;
  self->user_data = user_data;
  self->unacked = g_hash_table_new_full (NULL, NULL, NULL, g_free);

  if (self->port <= 0 || self->port > 65535 ||
      mosquitto_pub_topic_check (target->topic) != MOSQ_ERR_SUCCESS) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                 "'%s' is no broker's address, or '%s' is no topic to publish to", target->host,
                 target->topic);
    mqtt_close (self);
    return NULL;
  }

  /* The session outlives connections: the library sends what was not acknowledged again. */
  id = g_strdup_printf ("cudaccl-%s", target->key);
  self->client = mosquitto_new (id, false, self);
  g_free (id);
  mosquitto_connect_callback_set (self->client, connected);
  mosquitto_disconnect_callback_set (self->client, disconnected);
  mosquitto_publish_callback_set (self->client, published);
  mosquitto_max_inflight_messages_set (self->client, WINDOW);
  if (target->user)
    mosquitto_username_pw_set (self->client, target->user, target->password);

  return self;
}

static gboolean
mqtt_send (gpointer broker, guint64 number, const gchar *line, gsize length, GError **error)
{
  Mqtt *self = broker;
  int id, result;

  if (!self->connected)
    return FALSE;

  result = mosquitto_publish (self->client, &id, self->topic, (int) length, line, 1, false);
  if (result == MOSQ_ERR_PAYLOAD_SIZE || result == MOSQ_ERR_OVERSIZE_PACKET) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_MESSAGE_TOO_LARGE,
                 "a line of %" G_GSIZE_FORMAT " bytes is too large for the broker: limit lines "
                 "with max-components",
                 length);
    return FALSE;
  }
  /* After a loss of connection the library has the message, and sends it later. */
  if (result != MOSQ_ERR_SUCCESS && result != MOSQ_ERR_NO_CONN && result != MOSQ_ERR_CONN_LOST)
    return FALSE;
  g_hash_table_insert (self->unacked, GINT_TO_POINTER (id), g_memdup2 (&number, sizeof (number)));

  return TRUE;
}

static gboolean
mqtt_poll (gpointer broker, gint timeout, GError **error)
{
  Mqtt *self = broker;
  gint64 now = g_get_monotonic_time ();

  if (!end_attempt (self)) {
    g_usleep ((gulong) timeout * 1000);
  } else if (mosquitto_socket (self->client) < 0) {
    self->connected = FALSE;
    if (now >= self->next_attempt) {
      self->next_attempt = now + RETRY;
      g_atomic_int_set (&self->attempted, FALSE);
      self->attempt = g_thread_new ("connect", attempt, self);
    } else {
      g_usleep ((gulong) timeout * 1000);
    }
  } else {
    mosquitto_loop (self->client, timeout, 1);
  }

  if (self->refused) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_PERMISSION_DENIED, "%s:%d refuses the client: %s",
                 self->host, self->port, mosquitto_connack_string (self->refused));
    return FALSE;
  }

  return TRUE;
}

const Broker broker_mqtt = {
  .scheme = "mqtt",
  .open = mqtt_open,
  .send = mqtt_send,
  .poll = mqtt_poll,
  .close = mqtt_close,
};
