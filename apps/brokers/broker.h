/* cudaccl - the interface of clients of message brokers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __BROKER_H__
#define __BROKER_H__

#include <glib.h>

/* Lines that the broker has not confirmed, at most. */
#define WINDOW 64

/* Where lines go. */
typedef struct
{
  const gchar *host; /* HOST or HOST:PORT, for Kafka several with commas */
  const gchar *topic;
  const gchar *key; /* of the messages and of the client; not NULL */
  const gchar *user;
  const gchar *password; /* or NULL */
} Target;

/* Called by poll() when the broker has confirmed the line with this number. */
typedef void (*ConfirmFunc) (guint64 number, gpointer user_data);

/* A kind of broker. All functions are called from one thread. */
typedef struct
{
  const gchar *scheme;

  /* Returns NULL and sets @error if the settings are wrong. A broker that cannot be reached is no
   * error: it may come. */
  gpointer (*open) (const Target *target, ConfirmFunc confirm, gpointer user_data, GError **error);

  /* Sends a line, which it copies. Returns FALSE without error if that must be tried again later,
   * with @error if the broker will never take it. */
  gboolean (*send) (gpointer broker, guint64 number, const gchar *line, gsize length,
                    GError **error);

  /* Lets the client work for some milliseconds at most. Returns FALSE and sets @error if the broker
   * refuses the client for good. */
  gboolean (*poll) (gpointer broker, gint timeout, GError **error);

  /* Frees it; lines that are not confirmed may still arrive. */
  void (*close) (gpointer broker);
} Broker;

extern const Broker broker_mqtt;
extern const Broker broker_kafka;

#endif /* __BROKER_H__ */
