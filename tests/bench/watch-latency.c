/* cudaccl-watch - how long an event takes to a subscriber of MQTT
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* watch-latency-bench HOST PORT [EVENTS [RATE]]: adds EVENTS (10000) events to a new store, RATE
 * (500) a second, and prints the times until a subscriber at the broker has each: through the queue
 * of the store, the database on the disk, the publisher and the broker, with QoS 1. Exit status 1
 * if an event is missing. */

#include <glib/gstdio.h>
#include <mosquitto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/watch/publish/publisher.h"

#define PREFIX "latency"
#define TOPIC PREFIX "/yard/events"

typedef struct
{
  gint64 *added, *arrived; /* by number */
  guint n;
  gint count;      /* atomic: events that arrived */
  gint subscribed; /* atomic */
} Bench;

static WatchPublisher *publisher;

static void
wake (GPtrArray *events, gpointer user_data)
{
  watch_publisher_wake (publisher);
}

static void
subscribed (struct mosquitto *client, void *data, int id, int n, const int *qos)
{
  g_atomic_int_set (&((Bench *) data)->subscribed, TRUE);
}

static void
received (struct mosquitto *client, void *data, const struct mosquitto_message *message)
{
  Bench *self = data;
  gint64 now = g_get_monotonic_time ();
  g_autofree gchar *line = g_strndup (message->payload, (gsize) message->payloadlen);
  const gchar *number = strstr (line, "\"number\":");
  guint64 i = number ? g_ascii_strtoull (number + strlen ("\"number\":"), NULL, 10) : 0;

  if (i >= 1 && i <= self->n && !self->arrived[i - 1]) {
    self->arrived[i - 1] = now;
    g_atomic_int_inc (&self->count);
  }
}

static int
compare (const void *a, const void *b)
{
  gint64 x = *(const gint64 *) a, y = *(const gint64 *) b;

  return (x > y) - (x < y);
}

static void
add_events (Bench *self, WatchStore *store, guint rate)
{
  gint64 start = g_get_monotonic_time ();

  for (guint i = 0; i < self->n; i++) {
    WatchEvent *event = g_new0 (WatchEvent, 1);
    gint64 rest = start + (gint64) i * G_USEC_PER_SEC / rate - g_get_monotonic_time ();

    if (rest > 0)
      g_usleep ((gulong) rest);
    event->camera = g_strdup ("yard");
    event->session = g_strdup ("latency");
    event->number = i + 1;
    event->time = g_get_real_time ();
    event->kind = WATCH_EVENT_ENTER;
    event->zone = g_strdup ("door");
    event->x = event->y = 0.5;
    self->added[i] = g_get_monotonic_time ();
    watch_store_add_event (store, event);
  }
}

int
main (int argc, char **argv)
{
  Bench bench = { .n = argc > 3 ? (guint) atoi (argv[3]) : 10000 };
  guint rate = argc > 4 ? (guint) atoi (argv[4]) : 500;
  g_autofree gchar *folder = g_dir_make_tmp ("watch-latency-XXXXXX", NULL);
  g_autofree gchar *uri = NULL;
  g_autofree gchar *remove = NULL;
  g_autoptr (GError) error = NULL;
  WatchStore *store;
  WatchSettings settings = { .data = folder,
                             .mqtt_prefix = (gchar *) PREFIX,
                             .discovery = (gchar *) "",
                             .line_kinds = WATCH_LINE_EVENTS,
                             .spool_bytes = 64 << 20 };
  struct mosquitto *client;

  if (argc < 3 || bench.n == 0 || rate == 0) {
    fprintf (stderr, "usage: watch-latency-bench HOST PORT [EVENTS [RATE]]\n");
    return 2;
  }
  bench.added = g_new0 (gint64, bench.n);
  bench.arrived = g_new0 (gint64, bench.n);
  settings.mqtt = uri = g_strdup_printf ("mqtt://%s:%s", argv[1], argv[2]);

  mosquitto_lib_init ();
  client = mosquitto_new (NULL, true, &bench);
  mosquitto_subscribe_callback_set (client, subscribed);
  mosquitto_message_callback_set (client, received);
  if (mosquitto_connect (client, argv[1], atoi (argv[2]), 60) != MOSQ_ERR_SUCCESS ||
      mosquitto_loop_start (client) != MOSQ_ERR_SUCCESS) {
    fprintf (stderr, "no broker at %s:%s\n", argv[1], argv[2]);
    return 2;
  }
  mosquitto_subscribe (client, NULL, TOPIC, 1);
  store = watch_store_open (folder, &error);
  if (store)
    publisher = watch_publisher_new (&settings, store, &error);
  if (!publisher) {
    fprintf (stderr, "%s\n", error->message);
    return 2;
  }
  watch_store_set_committed (store, wake, NULL);
  while (!g_atomic_int_get (&bench.subscribed))
    g_usleep (10000);
  g_usleep (G_USEC_PER_SEC); /* the publisher connects */

  add_events (&bench, store, rate);
  for (guint i = 0; g_atomic_int_get (&bench.count) < (gint) bench.n && i < 3000; i++)
    g_usleep (10000);
  mosquitto_disconnect (client);
  mosquitto_loop_stop (client, false);
  mosquitto_destroy (client);
  watch_publisher_free (publisher);
  watch_store_close (store);
  remove = g_strdup_printf ("rm -r '%s'", folder);
  if (system (remove) != 0)
    fprintf (stderr, "cannot remove %s\n", folder);

  if (bench.count < (gint) bench.n) {
    fprintf (stderr, "%d of %u events arrived\n", bench.count, bench.n);
    return 1;
  }
  for (guint i = 0; i < bench.n; i++)
    bench.arrived[i] -= bench.added[i];
  qsort (bench.arrived, bench.n, sizeof (*bench.arrived), compare);
  printf ("%u events, %u/s: p50 %.2f ms, p99 %.2f ms, max %.2f ms\n", bench.n, rate,
          bench.arrived[bench.n / 2] / 1e3, bench.arrived[bench.n * 99 / 100] / 1e3,
          bench.arrived[bench.n - 1] / 1e3);
  g_free (bench.added);
  g_free (bench.arrived);
  return 0;
}
