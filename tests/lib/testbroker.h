/* cudaccl - tests: a broker for MQTT, mosquitto
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __TEST_BROKER_H__
#define __TEST_BROKER_H__

#include <gio/gio.h>
#include <gst/check/gstcheck.h>

typedef struct
{
  guint16 port;
  const gchar *const *options; /* of the subscriber, or NULL */
  gchar *conf;
  GSubprocess *process;
  GSubprocess *subscriber;
  GDataInputStream *lines; /* of the subscriber */
} TestBroker;

/* Starts a program; returns an error message, or NULL. */
gchar *test_spawn (const gchar *const *argv, GSubprocess **process);
/* Sends the program @signal, and waits for its end. */
void test_end_process (GSubprocess **process, gint number);

/* A free port. */
guint16 test_broker_find_port (void);
/* The next line; fails without one. */
gchar *test_read_line (GDataInputStream *lines);

/* Runs the tests, for main(). Returns 77, which Meson shows as skipped, if none failed but those
 * with a broker could not run. */
int test_broker_run (int argc, char **argv, Suite *suite, const gchar *name);

/* Starts the broker on a free port, with its files in @folder. @security has lines of its
 * configuration; with NULL anybody may connect. Returns FALSE if mosquitto is not installed: the
 * test must return. */
gboolean test_broker_set_up (TestBroker *self, const gchar *folder, const gchar *security);
void test_broker_start (TestBroker *self);
void test_broker_tear_down (TestBroker *self);

/* Reads all messages of @topic and of Home Assistant's discovery, with a session that survives the
 * broker. A line is `RETAINED TOPIC PAYLOAD`, with tabs. */
void test_broker_subscribe (TestBroker *self, const gchar *topic);
/* Reads messages into @states, payloads by topics, until the one of @topic is @payload. */
void test_broker_read_until (TestBroker *self, GHashTable *states, const gchar *topic,
                             const gchar *payload);

#endif /* __TEST_BROKER_H__ */
