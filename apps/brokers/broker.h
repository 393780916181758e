/* cudaccl - the interface of clients of message brokers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __BROKER_H__
#define __BROKER_H__

#include <gio/gio.h>

G_BEGIN_DECLS

typedef struct
{
  const gchar *topic;
  const gchar *key; /* messages with the same key keep their order; not NULL */
  const void *data;
  gsize length;
  gboolean retain; /* MQTT: the broker keeps it for later subscribers; empty: it forgets it */
} BrokerMessage;

/* Copied by open(). */
typedef struct
{
  const gchar *hosts;  /* HOST or HOST:PORT, several with commas */
  const gchar *client; /* names the client; for MQTT its session, which outlives connections */
  guint window;        /* most messages in flight */
  const gchar *user;   /* or NULL */
  const gchar *password;
  gboolean tls;
  const gchar *ca_file; /* PEM file of authorities; NULL: the system's */
  int wake;             /* eventfd that ends poll(), which reads it; or -1 */
  /* MQTT only. */
  const BrokerMessage *will; /* sent by the broker when it loses the client; or NULL */
  const gchar *subscription; /* a topic to receive, or NULL */
} BrokerSettings;

/* Called in poll(). */
typedef struct
{
  /* The broker has the message with this number; with @error, it will never take it. */
  void (*confirmed) (guint64 number, const GError *error, gpointer user_data);
  /* Called for each new connection (@text is NULL), and for each attempt that failed: @text says
   * why. */
  void (*connected) (const gchar *text, gpointer user_data);
  /* A message of the subscription. */
  void (*received) (const gchar *topic, const void *data, gsize length, gpointer user_data);
} BrokerCallbacks;

/* A kind of broker. All functions are called from one thread. */
typedef struct
{
  /* Checks a topic to send to. */
  gboolean (*check_topic) (const gchar *topic, GError **error);

  /* Returns NULL and sets @error if the settings are wrong. An unreachable broker is not an
   * error: it may come back. @callbacks must stay valid. */
  gpointer (*open) (const BrokerSettings *settings, const BrokerCallbacks *callbacks,
                    gpointer user_data, GError **error);

  /* Copies and sends a message. Returns FALSE without @error if the caller must try again later,
   * with @error if the broker will never take it. */
  gboolean (*send) (gpointer broker, guint64 number, const BrokerMessage *message, GError **error);

  /* Runs the client for at most @timeout milliseconds. Returns FALSE and sets @error if the
   * broker refuses the client, which can only be closed then. */
  gboolean (*poll) (gpointer broker, gint timeout, GError **error);

  /* Frees the client; unconfirmed messages may still arrive. */
  void (*close) (gpointer broker);
} Broker;

extern const Broker broker_mqtt;
extern const Broker broker_kafka;

/* Returns the kind of broker for a URI's scheme: mqtt, mqtts (with TLS) or kafka. */
const Broker *broker_find (const gchar *scheme, GError **error);

/* Waits for @wake and for @socket (-1 for none), and reads @wake. */
void broker_wait (int wake, int socket, gshort events, gint timeout);

G_END_DECLS

#endif /* __BROKER_H__ */
