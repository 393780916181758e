/* cudaccl - common parts of message broker clients
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/brokers/broker.h"

#include <poll.h>
#include <sys/eventfd.h>

static const struct
{
  const gchar *scheme, *library;
  const Broker *broker;
} brokers[] = {
#ifdef HAVE_MOSQUITTO
  { "mqtt", NULL, &broker_mqtt },
  { "mqtts", NULL, &broker_mqtt },
#else
  { "mqtt", "libmosquitto-dev", NULL },
  { "mqtts", "libmosquitto-dev", NULL },
#endif
#ifdef HAVE_RDKAFKA
  { "kafka", NULL, &broker_kafka },
#else
  { "kafka", "librdkafka-dev", NULL },
#endif
};

const Broker *
broker_find (const gchar *scheme, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (brokers); i++) {
    if (!g_str_equal (brokers[i].scheme, scheme))
      continue;
    if (!brokers[i].broker)
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
                   "built without %s: install it and build again", brokers[i].library);
    return brokers[i].broker;
  }
  g_set_error (error, G_IO_ERROR, G_IO_ERROR_NOT_SUPPORTED,
               "'%s' is not supported: use mqtt://, mqtts:// or kafka://", scheme);
  return NULL;
}

void
broker_wait (int wake, int socket, gshort events, gint timeout)
{
  /* poll() ignores negative descriptors. */
  struct pollfd fds[] = { { wake, POLLIN, 0 }, { socket, events, 0 } };
  eventfd_t value;

  if (poll (fds, G_N_ELEMENTS (fds), timeout) > 0 && fds[0].revents)
    eventfd_read (wake, &value);
}
