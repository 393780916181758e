/* cudaccl-watch - tests of the publisher with a real broker, librdkafka's mock and a web server
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <json-glib/json-glib.h>
#include <libsoup/soup.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/watch/publish/publisher.h"
#include "apps/watch/publish/states.h"
#include "tests/lib/testbroker.h"
#include "tests/lib/certificate.h"
#include "tests/lib/removetree.h"

#define N_CAMERAS 3

static const gchar *const cameras[N_CAMERAS] = { "yard", "door", "hall" };

/* --- A store, a publisher, and events --- */

typedef struct
{
  gchar *folder;
  WatchStore *store;
  WatchSettings settings;
  WatchPublisher *publisher;
  guint64 numbers[N_CAMERAS];
} Fixture;

static WatchPublisher *waked;

static void
wake (GPtrArray *events, gpointer user_data)
{
  WatchPublisher *publisher = g_atomic_pointer_get (&waked);

  if (publisher)
    watch_publisher_wake (publisher);
}

static void
publish (Fixture *self)
{
  g_autoptr (GError) error = NULL;

  self->publisher = watch_publisher_new (&self->settings, self->store, &error);
  fail_unless (self->publisher != NULL, "%s", error ? error->message : "");
  g_atomic_pointer_set (&waked, self->publisher);
}

static void
set_up (Fixture *self)
{
  g_autoptr (GError) error = NULL;

  memset (self, 0, sizeof (*self));
  self->folder = g_dir_make_tmp ("cudaccl-publisher-XXXXXX", NULL);
  self->store = watch_store_open (self->folder, &error);
  fail_unless (self->store != NULL, "%s", error ? error->message : "");
  watch_store_set_committed (self->store, wake, NULL);
  self->settings.data = self->folder;
  self->settings.mqtt_prefix = (gchar *) "site/1";
  self->settings.discovery = (gchar *) "homeassistant";
  self->settings.kafka_topic = (gchar *) "things";
  self->settings.line_kinds = WATCH_LINE_EVENTS;
  self->settings.spool_bytes = 64 << 20;
}

static void
stop (Fixture *self)
{
  g_atomic_pointer_set (&waked, NULL);
  g_clear_pointer (&self->publisher, watch_publisher_free);
}

static void
tear_down (Fixture *self)
{
  stop (self);
  watch_store_close (self->store);
  remove_tree (self->folder);
  g_free (self->folder);
}

/* Adds @n events, of the cameras in turns. */
static void
add_events (Fixture *self, guint n)
{
  for (guint i = 0; i < n; i++) {
    WatchEvent *event = g_new0 (WatchEvent, 1);

    event->camera = g_strdup (cameras[i % N_CAMERAS]);
    event->session = g_strdup ("session");
    event->number = ++self->numbers[i % N_CAMERAS];
    event->time = g_get_real_time ();
    event->kind = WATCH_EVENT_ENTER;
    event->zone = g_strdup ("a/b #1");
    event->x = event->y = 0.5;
    watch_store_add_event (self->store, event);
  }
  watch_store_flush (self->store);
}

static WatchSinkStatus *
get_status (Fixture *self, GArray **all)
{
  *all = watch_publisher_get_status (self->publisher);
  fail_unless_equals_int ((*all)->len, 1);
  return &g_array_index (*all, WatchSinkStatus, 0);
}

/* Waits until the sink is connected, or not. */
static void
wait_connected (Fixture *self, gboolean connected)
{
  for (guint i = 0; i < 1500; i++) {
    g_autoptr (GArray) all = NULL;

    if (get_status (self, &all)->connected == connected)
      return;
    g_usleep (10000);
  }
  fail ("the sink is still %sconnected", connected ? "not " : "");
}

/* Waits until nothing is pending. */
static void
wait_sent (Fixture *self)
{
  for (guint i = 0; i < 1500; i++) {
    g_autoptr (GArray) all = NULL;

    if (get_status (self, &all)->pending == 0)
      return;
    g_usleep (10000);
  }
  fail ("lines are still pending");
}

/* --- What arrived --- */

typedef struct
{
  guint64 last[N_CAMERAS]; /* the highest number that arrived in order */
  guint n;
} Arrived;

/* Each number follows one that was there: the first arrivals are in order, and none is missing. */
static void
arrive (Arrived *self, const gchar *line)
{
  g_autoptr (JsonNode) root = json_from_string (line, NULL);
  JsonObject *object;
  guint64 number;
  guint i = 0;

  fail_unless (root != NULL, "no JSON: %s", line);
  object = json_node_get_object (root);
  while (!g_str_equal (json_object_get_string_member (object, "camera"), cameras[i]))
    i++;
  number = json_object_get_int_member (object, "number");
  fail_unless (number <= self->last[i] + 1, "%s: %u after %u", cameras[i], (guint) number,
               (guint) self->last[i]);
  self->last[i] = MAX (self->last[i], number);
  self->n++;
}

static gboolean
is_complete (const Arrived *self, const Fixture *fixture)
{
  return memcmp (self->last, fixture->numbers, sizeof (self->last)) == 0;
}

/* --- MQTT --- */

/* The broker is away at first, restarts in the middle, and all events arrive in order. */
GST_START_TEST (test_mqtt_events)
{
  Fixture fixture;
  TestBroker broker;
  Arrived arrived = { 0 };
  g_autofree gchar *uri = NULL;

  set_up (&fixture);
  if (!test_broker_set_up (&broker, fixture.folder, NULL)) {
    tear_down (&fixture);
    return;
  }
  test_broker_subscribe (&broker, "site/1/+/events");
  test_end_process (&broker.process, SIGTERM);

  uri = g_strdup_printf ("mqtt://127.0.0.1:%u,127.0.0.1:%u", test_broker_find_port (), broker.port);
  fixture.settings.mqtt = uri;
  publish (&fixture);
  add_events (&fixture, 1000);
  {
    g_autoptr (GArray) all = NULL;
    WatchSinkStatus *status = get_status (&fixture, &all);

    fail_unless (!status->connected && status->reason != NULL);
    fail_unless_equals_string (status->name, "mqtt");
    fail_unless_equals_uint64 (status->pending, 1000);
  }
  test_broker_start (&broker);
  for (guint i = 0; !is_complete (&arrived, &fixture); i++) {
    g_autofree gchar *line = test_read_line (broker.lines);

    arrive (&arrived, strrchr (line, '\t') + 1);
    if (i == 200) {
      test_end_process (&broker.process, SIGTERM);
      add_events (&fixture, 1000);
      test_broker_start (&broker);
    }
  }
  wait_sent (&fixture);
  {
    g_autoptr (GArray) all = NULL;
    WatchSinkStatus *status = get_status (&fixture, &all);

    fail_unless (status->connected && !status->reason);
    fail_unless_equals_uint64 (status->sent, 2000);
    fail_unless_equals_uint64 (status->dropped, 0);
  }
  tear_down (&fixture);
  test_broker_tear_down (&broker);
}
GST_END_TEST;

static void
set_camera (Fixture *fixture, const gchar *name, gboolean moving, guint inside,
            const gchar *zone_name)
{
  WatchCameraStatus status = { WATCH_CAMERA_RUNNING, .objects = 2, .moving = moving };
  WatchZoneCounts zone = { (gchar *) zone_name, FALSE, 3, 2, inside };
  WatchZoneCounts wire = { (gchar *) "gate", TRUE, 7, 5, 0 };

  status.zones = g_array_new (FALSE, FALSE, sizeof (zone));
  g_array_append_val (status.zones, zone);
  g_array_append_val (status.zones, wire);
  watch_publisher_set_camera (fixture->publisher, name, &status);
  g_array_unref (status.zones);
}

static void
check_config (GHashTable *states, const gchar *topic, const gchar *member, const gchar *expected)
{
  const gchar *text = g_hash_table_lookup (states, topic);
  g_autoptr (JsonNode) root = text ? json_from_string (text, NULL) : NULL;

  fail_unless (root != NULL, "%s: %s", topic, text);
  fail_unless_equals_string (
      json_object_get_string_member_with_default (json_node_get_object (root), member, NULL),
      expected);
}

GST_START_TEST (test_mqtt_states)
{
  static const gchar *const motion = "homeassistant/binary_sensor/site_2F1_2Fyard/motion/config";
  static const gchar *const zone = "homeassistant/binary_sensor/site_2F1_2Fyard/"
                                   "a_2Fb_20_231-occupancy/config";
  static const gchar *const wire = "homeassistant/sensor/site_2F1_2Fyard/gate-in/config";
  const gchar *const again[] = { "mosquitto_pub",        "-p", NULL,     "-t",
                                 "homeassistant/status", "-m", "online", NULL };
  g_autoptr (GHashTable) states = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  g_autoptr (GBytes) jpeg = g_bytes_new_static ("JPEG", 4);
  g_autofree gchar *uri = NULL;
  g_autofree gchar *port = NULL, *file = NULL, *noted = NULL;
  WatchCameraSettings yard = { (gchar *) "yard" };
  GSubprocess *process;
  Fixture fixture;
  TestBroker broker;

  set_up (&fixture);
  if (!test_broker_set_up (&broker, fixture.folder, NULL)) {
    tear_down (&fixture);
    return;
  }
  test_broker_subscribe (&broker, "site/#");
  fixture.settings.mqtt = uri = g_strdup_printf ("mqtt://127.0.0.1:%u", broker.port);
  file = g_build_filename (fixture.folder, "mqtt-topics", NULL);
  fixture.settings.cameras = g_ptr_array_new ();
  g_ptr_array_add (fixture.settings.cameras, &yard);
  publish (&fixture);
  wait_connected (&fixture, TRUE);
  set_camera (&fixture, "yard", TRUE, 2, "a/b #1");
  set_camera (&fixture, "door", FALSE, 0, "a/b #1");
  watch_publisher_set_picture (fixture.publisher, "yard", jpeg);
  test_broker_read_until (&broker, states, "site/1/yard/picture", "JPEG");
  fail_unless_equals_string (g_hash_table_lookup (states, "site/1/availability"), "online");
  fail_unless_equals_string (g_hash_table_lookup (states, "site/1/yard/availability"), "online");
  fail_unless_equals_string (g_hash_table_lookup (states, "site/1/yard/motion"), "ON");
  fail_unless_equals_string (g_hash_table_lookup (states, "site/1/yard/objects"), "2");
  fail_unless_equals_string (g_hash_table_lookup (states, "site/1/yard/a%2Fb %231/inside"), "2");
  fail_unless_equals_string (g_hash_table_lookup (states, "site/1/yard/a%2Fb %231/occupancy"),
                             "ON");
  fail_unless_equals_string (g_hash_table_lookup (states, "site/1/yard/gate/in"), "7");
  fail_if (g_hash_table_contains (states, "site/1/yard/gate/inside"));
  fail_unless_equals_string (g_hash_table_lookup (states, "site/1/door/motion"), "OFF");
  check_config (states, motion, "state_topic", "site/1/yard/motion");
  check_config (states, motion, "device_class", "motion");
  check_config (states, motion, "unique_id", "site_2F1_2Fyard-motion");
  check_config (states, zone, "state_topic", "site/1/yard/a%2Fb %231/occupancy");
  check_config (states, zone, "name", "a/b #1 occupancy");
  check_config (states, wire, "state_class", "total_increasing");
  /* Noted before they are sent: a program that is killed clears them at its next start. */
  fail_unless (g_file_get_contents (file, &noted, NULL, NULL));
  fail_unless (strstr (noted, "door\tsite/1/door/motion\n") != NULL, "%s", noted);

  /* The zone has another name: topics of the old one are cleared. */
  set_camera (&fixture, "yard", TRUE, 1, "new");
  test_broker_read_until (&broker, states, zone, "");
  fail_unless_equals_string (g_hash_table_lookup (states, "site/1/yard/new/inside"), "1");

  /* Home Assistant starts: all is sent again. */
  g_hash_table_remove_all (states);
  port = g_strdup_printf ("%u", broker.port);
  ((const gchar **) again)[2] = port;
  fail_unless (test_spawn (again, &process) == NULL);
  g_subprocess_wait (process, NULL, NULL);
  g_object_unref (process);
  test_broker_read_until (&broker, states, "site/1/yard/picture", "JPEG");
  while (!g_hash_table_contains (states, motion) ||
         !g_hash_table_contains (states, "site/1/door/motion")) {
    g_autofree gchar *line = test_read_line (broker.lines);
    g_auto (GStrv) words = g_strsplit (line, "\t", 3);

    g_hash_table_insert (states, g_strdup (words[1]), g_strdup (words[2]));
  }

  /* The program ends, and starts without the camera `door`, and the zone `new`. */
  stop (&fixture);
  test_broker_read_until (&broker, states, "site/1/availability", "offline");
  publish (&fixture);
  test_broker_read_until (&broker, states, "site/1/availability", "online");
  while (g_strcmp0 (g_hash_table_lookup (states, "site/1/door/motion"), "") != 0)
    test_broker_read_until (&broker, states, "site/1/door/motion", "");
  set_camera (&fixture, "yard", TRUE, 1, "other");
  test_broker_read_until (&broker, states, "site/1/yard/new/inside", "");

  /* The camera goes: nothing of it stays. */
  watch_publisher_set_camera (fixture.publisher, "yard", NULL);
  test_broker_read_until (&broker, states, "site/1/yard/picture", "");
  g_usleep (200000);
  stop (&fixture);
  test_broker_read_until (&broker, states, "site/1/availability", "offline");
  test_end_process (&broker.subscriber, SIGTERM);
  g_clear_object (&broker.lines);
  {
    const gchar *const argv[] = { "mosquitto_sub", "-p", port, "-t", "#", "-F",
                                  "%r\\t%t\\t%p",  "-W", "1",  NULL };
    g_autofree gchar *left = NULL;

    fail_unless (test_spawn (argv, &process) == NULL);
    g_subprocess_communicate_utf8 (process, NULL, NULL, &left, NULL, NULL);
    g_object_unref (process);
    fail_unless_equals_string (left, "1\tsite/1/availability\toffline\n");
  }
  g_ptr_array_unref (fixture.settings.cameras);
  tear_down (&fixture);
  test_broker_tear_down (&broker);
}
GST_END_TEST;

/* Over TLS and with a password. What is wrong is said, and nothing is sent then. */
GST_START_TEST (test_mqtt_tls)
{
  Fixture fixture;
  TestBroker broker;
  Arrived arrived = { 0 };
  g_autofree gchar *security = NULL, *passwords = NULL, *right = NULL, *other = NULL, *uri = NULL;
  const gchar *const options[] = { "-u", "me", "-P", "s3cret", "--cafile", NULL, NULL };
  const gchar *make_passwords[] = { "mosquitto_passwd", "-b", "-c", NULL, "me", "s3cret", NULL };
  g_autofree gchar *problem = NULL;
  GSubprocess *process = NULL;

  set_up (&fixture);
  g_setenv ("PATH", "/usr/bin:/bin:/usr/sbin:/usr/local/bin:/usr/local/sbin", TRUE);
  right = g_build_filename (fixture.folder, "right.pem", NULL);
  other = g_build_filename (fixture.folder, "other.pem", NULL);
  make_passwords[3] = passwords = g_build_filename (fixture.folder, "passwords", NULL);
  ((const gchar **) options)[5] = right;
  security = g_strdup_printf ("allow_anonymous false\npassword_file %s\ncertfile %s\nkeyfile "
                              "%s/right.key",
                              passwords, right, fixture.folder);
  if (!make_certificate (fixture.folder, "right") || !make_certificate (fixture.folder, "other") ||
      (problem = test_spawn (make_passwords, &process)) ||
      !g_subprocess_wait_check (process, NULL, NULL) ||
      !test_broker_set_up (&broker, fixture.folder, security)) {
    g_print ("skipped: openssl or mosquitto is not installed\n");
    g_clear_object (&process);
    tear_down (&fixture);
    return;
  }
  g_object_unref (process);
  broker.options = options;
  test_broker_subscribe (&broker, "site/1/+/events");
  fixture.settings.mqtt = uri = g_strdup_printf ("mqtts://127.0.0.1:%u", broker.port);
  fixture.settings.mqtt_user = (gchar *) "me";
  for (guint i = 0; i < 3; i++) {
    g_autoptr (GArray) all = NULL;
    WatchSinkStatus *status;

    fixture.settings.mqtt_password = (gchar *) (i == 0 ? "wr0ng" : "s3cret");
    fixture.settings.mqtt_ca = i == 1 ? other : right;
    publish (&fixture);
    add_events (&fixture, 30);
    if (i == 2)
      break;
    while (g_str_equal (get_status (&fixture, &all)->reason->text, "not connected yet")) {
      g_clear_pointer (&all, g_array_unref);
      g_usleep (10000);
    }
    status = &g_array_index (all, WatchSinkStatus, 0);
    fail_if (status->connected || status->sent || strstr (status->reason->text, "wr0ng"));
    fail_unless (strstr (status->reason->text, i == 0 ? "uthori" : "TLS"), "%u: %s", i,
                 status->reason->text);
    stop (&fixture);
  }
  while (!is_complete (&arrived, &fixture)) {
    g_autofree gchar *line = test_read_line (broker.lines);

    arrive (&arrived, strrchr (line, '\t') + 1);
  }
  wait_connected (&fixture, TRUE);
  tear_down (&fixture);
  test_broker_tear_down (&broker);
}
GST_END_TEST;

GST_START_TEST (test_topic_levels)
{
  static const gchar *const cases[][2] = {
    { "door", "door" },
    { "a/b", "a%2Fb" },
    { "+#%", "%2B%23%25" },
    { "caf\xc3\xa9 1", "caf\xc3\xa9 1" },
    { "a\nb\x7f", "a%0Ab%7F" },
    { "\xc2\x85", "%C2%85" },
    { "\xff", "\xef\xbf\xbd" },
    { "\xef\xbf\xbf", "%EF%BF%BF" },
    { "\xef\xb7\x90", "%EF%B7%90" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *level = watch_topic_level (cases[i][0]);

    fail_unless_equals_string (level, cases[i][1]);
  }
}
GST_END_TEST;

/* --- Kafka --- */

/* Returns the address of a Kafka broker, or NULL without librdkafka's mock. */
static gchar *
start_mock (const gchar *const *argv, GSubprocess **mock, GDataInputStream **lines)
{
  g_autofree gchar *error = NULL;

  if (!argv[0] || !*argv[0]) {
    g_print ("skipped: built without librdkafka's mock\n");
    return NULL;
  }
  error = test_spawn (argv, mock);
  fail_unless (!error, "%s", error);
  *lines = g_data_input_stream_new (g_subprocess_get_stdout_pipe (*mock));
  return test_read_line (*lines);
}

/* The mock goes down for two seconds after a quarter of the lines. */
GST_START_TEST (test_kafka)
{
  const gchar *const argv[] = { g_getenv ("KAFKA_MOCK"), "things", "300", NULL };
  g_autofree gchar *address = NULL;
  g_autoptr (GDataInputStream) lines = NULL;
  g_autoptr (GHashTable) partitions =
      g_hash_table_new_full (g_str_hash, g_str_equal, g_free, g_free);
  GSubprocess *mock;
  Arrived arrived = { 0 };
  Fixture fixture;

  address = start_mock (argv, &mock, &lines);
  if (!address)
    return;
  set_up (&fixture);
  fixture.settings.kafka = address;
  publish (&fixture);
  add_events (&fixture, 300);
  while (!is_complete (&arrived, &fixture)) {
    g_autofree gchar *line = test_read_line (lines);
    g_auto (GStrv) words = g_strsplit (line, " ", 3);
    const gchar *partition = g_hash_table_lookup (partitions, words[1]);

    fail_unless (!partition || g_str_equal (partition, words[0]), "a camera in two partitions");
    g_hash_table_replace (partitions, g_strdup (words[1]), g_strdup (words[0]));
    fail_unless (strstr (words[2], words[1]) != NULL, "wrong key");
    arrive (&arrived, words[2]);
  }
  wait_sent (&fixture);
  wait_connected (&fixture, TRUE);
  {
    g_autoptr (GArray) all = NULL;
    WatchSinkStatus *status = get_status (&fixture, &all);

    fail_unless_equals_uint64 (status->sent, 300);
  }
  tear_down (&fixture);
  test_end_process (&mock, SIGKILL);
}
GST_END_TEST;

/* The latest status arrives, and those before it may not. */
GST_START_TEST (test_kafka_status)
{
  const gchar *const argv[] = { g_getenv ("KAFKA_MOCK"), "things.status", "4", NULL };
  g_autofree gchar *address = NULL;
  g_autoptr (GDataInputStream) lines = NULL;
  GSubprocess *mock;
  Fixture fixture;
  gboolean found = FALSE;

  address = start_mock (argv, &mock, &lines);
  if (!address)
    return;
  set_up (&fixture);
  fixture.settings.kafka = address;
  publish (&fixture);
  /* The broker is away after the first, for a while. */
  for (guint i = 0; i <= 20; i++) {
    g_autofree gchar *status = g_strdup_printf ("{\"status\":%u}", i);

    watch_publisher_set_program (fixture.publisher, "host-7", status);
    g_usleep (20000);
  }
  while (!found) {
    g_autofree gchar *line = test_read_line (lines);
    g_auto (GStrv) words = g_strsplit (line, " ", 3);

    fail_unless_equals_string (words[1], "host-7");
    found = g_str_equal (words[2], "{\"status\":20}");
  }
  tear_down (&fixture);
  test_end_process (&mock, SIGKILL);
}
GST_END_TEST;

/* --- Web hooks --- */

typedef struct
{
  GMutex lock;
  Arrived arrived;
  GHashTable *keys; /* of those that were accepted */
  guint n, not_found, failed;
  gint64 refused_at; /* with Retry-After: 1 */
  GMainLoop *loop;
  gchar *uri;
  GCond ready;
} Hook;

static void
handle (SoupServer *server, SoupServerMessage *message, const char *path, GHashTable *query,
        gpointer user_data)
{
  Hook *self = user_data;
  SoupMessageHeaders *headers = soup_server_message_get_request_headers (message);
  const gchar *key = soup_message_headers_get_one (headers, "Idempotency-Key");
  SoupMessageBody *body = soup_server_message_get_request_body (message);
  g_autofree gchar *line = g_strndup (body->data, (gsize) body->length);

  g_mutex_lock (&self->lock);
  fail_unless_equals_string (soup_server_message_get_method (message), "POST");
  fail_unless_equals_string (soup_message_headers_get_content_type (headers, NULL),
                             "application/json");
  self->n++;
  if (self->refused_at && g_get_monotonic_time () < self->refused_at + 900000)
    self->failed++;
  if (self->n == 7) {
    soup_server_message_set_status (message, 500, NULL);
  } else if (self->n == 20) {
    self->refused_at = g_get_monotonic_time ();
    soup_server_message_set_status (message, 429, NULL);
    soup_message_headers_append (soup_server_message_get_response_headers (message), "Retry-After",
                                 "1");
  } else if (g_str_equal (key, "yard/session/9")) {
    /* Never taken: the others go on, and it counts as arrived. */
    self->not_found++;
    arrive (&self->arrived, line);
    soup_server_message_set_status (message, 404, NULL);
  } else {
    arrive (&self->arrived, line);
    g_hash_table_add (self->keys, g_strdup (key));
    soup_server_message_set_response (message, "text/plain", SOUP_MEMORY_STATIC, "thanks", 6);
    soup_server_message_set_status (message, 200, NULL);
  }
  g_mutex_unlock (&self->lock);
}

static gboolean
on_incoming (GSocketService *service, GSocketConnection *connection, GObject *source,
             gpointer server)
{
  g_autoptr (GSocketAddress) local = g_socket_connection_get_local_address (connection, NULL);
  g_autoptr (GSocketAddress) remote = g_socket_connection_get_remote_address (connection, NULL);

  soup_server_accept_iostream (server, G_IO_STREAM (connection), local, remote, NULL);
  return TRUE;
}

/* Does not listen with SoupServer, which leaks each socket that it accepts (libsoup 3.2.3). */
static gpointer
serve (gpointer data)
{
  Hook *self = data;
  g_autoptr (GMainContext) context = g_main_context_new ();
  g_autoptr (SoupServer) server = NULL;
  g_autoptr (GSocketService) service = NULL;

  g_main_context_push_thread_default (context);
  server = soup_server_new (NULL, NULL);
  soup_server_add_handler (server, NULL, handle, self, NULL);
  service = g_socket_service_new ();
  g_signal_connect (service, "incoming", G_CALLBACK (on_incoming), server);
  g_mutex_lock (&self->lock);
  self->uri = g_strdup_printf (
      "http://127.0.0.1:%u/",
      g_socket_listener_add_any_inet_port (G_SOCKET_LISTENER (service), NULL, NULL));
  self->loop = g_main_loop_new (context, FALSE);
  g_cond_signal (&self->ready);
  g_mutex_unlock (&self->lock);
  g_main_loop_run (self->loop);
  g_socket_listener_close (G_SOCKET_LISTENER (service));
  g_main_context_pop_thread_default (context);
  return NULL;
}

GST_START_TEST (test_webhook)
{
  Hook hook = { .keys = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL) };
  gchar *urls[] = { NULL, NULL };
  Fixture fixture;
  GThread *thread;

  g_mutex_init (&hook.lock);
  g_cond_init (&hook.ready);
  thread = g_thread_new ("hook", serve, &hook);
  g_mutex_lock (&hook.lock);
  while (!hook.loop)
    g_cond_wait (&hook.ready, &hook.lock);
  g_mutex_unlock (&hook.lock);

  set_up (&fixture);
  urls[0] = g_strconcat (hook.uri, "secret?token=secret", NULL);
  fixture.settings.webhooks = urls;
  publish (&fixture);
  add_events (&fixture, 300);
  wait_sent (&fixture);
  {
    g_autoptr (GArray) all = NULL;
    WatchSinkStatus *status = get_status (&fixture, &all);

    fail_unless_equals_string (status->name, "webhook 127.0.0.1");
    fail_unless_equals_uint64 (status->sent, 299);
    fail_unless_equals_uint64 (status->refused, 1);
    fail_unless (status->connected && !status->reason);
  }
  fail_unless (is_complete (&hook.arrived, &fixture));
  fail_unless_equals_int (hook.not_found, 1);
  fail_unless (hook.refused_at != 0);
  /* Requests that were under way when the server said so may still arrive. */
  fail_unless (hook.failed < 8, "%u requests before the time", hook.failed);
  fail_unless_equals_int (g_hash_table_size (hook.keys), 299);

  g_main_loop_quit (hook.loop);
  g_thread_join (thread);
  /* The server is gone: the sink says so without the path, and ends at once. */
  add_events (&fixture, 3);
  wait_connected (&fixture, FALSE);
  {
    g_autoptr (GArray) all = NULL;
    WatchSinkStatus *status = get_status (&fixture, &all);

    fail_unless (status->reason && !strstr (status->reason->text, "secret"), "%s",
                 status->reason->text);
  }
  tear_down (&fixture);
  g_main_loop_unref (hook.loop);
  g_hash_table_unref (hook.keys);
  g_free (hook.uri);
  g_free (urls[0]);
  g_mutex_clear (&hook.lock);
  g_cond_clear (&hook.ready);
}
GST_END_TEST;

/* --- Lines --- */

static guint
read_file (const gchar *path, Arrived *arrived)
{
  g_autofree gchar *text = NULL;
  g_auto (GStrv) lines = NULL;
  guint n = 0;

  if (!g_file_get_contents (path, &text, NULL, NULL))
    return 0;
  lines = g_strsplit (text, "\n", -1);
  for (gchar **line = lines; *line; line++) {
    /* The start of a line of a program that was killed, or is still writing. */
    if (!g_str_has_suffix (*line, "}"))
      continue;
    arrive (arrived, *line);
    n++;
  }
  return n;
}

GST_START_TEST (test_lines)
{
  Arrived arrived = { 0 };
  g_autofree gchar *path = NULL;
  g_autofree gchar *moved = NULL;
  Fixture fixture;

  set_up (&fixture);
  fixture.settings.lines = path = g_build_filename (fixture.folder, "lines", NULL);
  moved = g_strconcat (path, ".1", NULL);
  g_file_set_contents (path, "half a line", -1, NULL);
  publish (&fixture);
  add_events (&fixture, 100);
  wait_sent (&fixture);
  fail_unless_equals_int (g_rename (path, moved), 0);
  add_events (&fixture, 50);
  wait_sent (&fixture);
  fail_unless_equals_int (read_file (moved, &arrived), 100);
  fail_unless_equals_int (read_file (path, &arrived), 50);
  fail_unless (is_complete (&arrived, &fixture));

  /* A folder that is not there: nothing is lost. */
  g_unlink (path);
  g_mkdir (path, 0700);
  add_events (&fixture, 50);
  wait_connected (&fixture, FALSE);
  g_rmdir (path);
  wait_sent (&fixture);
  fail_unless_equals_int (read_file (path, &arrived), 50);
  fail_unless (is_complete (&arrived, &fixture));
  tear_down (&fixture);
}
GST_END_TEST;

/* A server that takes requests and never answers holds up neither the other sinks nor the end. */
GST_START_TEST (test_slow_webhook)
{
  g_autoptr (GSocketListener) listener = g_socket_listener_new ();
  g_autofree gchar *url = NULL, *path = NULL;
  gchar *urls[] = { NULL, NULL };
  Arrived arrived = { 0 };
  Fixture fixture;
  gint64 start;

  set_up (&fixture);
  /* The kernel accepts connections. */
  urls[0] = url = g_strdup_printf ("http://127.0.0.1:%u/",
                                   g_socket_listener_add_any_inet_port (listener, NULL, NULL));
  fixture.settings.webhooks = urls;
  fixture.settings.lines = path = g_build_filename (fixture.folder, "lines", NULL);
  publish (&fixture);
  for (guint i = 0; i < 10; i++)
    add_events (&fixture, 30);
  while (!is_complete (&arrived, &fixture)) {
    arrived = (Arrived){ 0 };
    read_file (path, &arrived);
    g_usleep (10000);
  }
  {
    g_autoptr (GArray) all = watch_publisher_get_status (fixture.publisher);
    const WatchSinkStatus *hook = &g_array_index (all, WatchSinkStatus, 1);

    fail_unless_equals_string (hook->name, "webhook 127.0.0.1");
    fail_unless_equals_uint64 (hook->sent, 0);
    fail_unless_equals_uint64 (hook->pending, 300);
  }
  start = g_get_monotonic_time ();
  stop (&fixture);
  fail_unless (g_get_monotonic_time () < start + 4 * G_USEC_PER_SEC);
  tear_down (&fixture);
}
GST_END_TEST;

/* Answers a byte at a time, and counts the requests. */
static gboolean
drip (GThreadedSocketService *service, GSocketConnection *connection, GObject *source,
      gpointer n_requests)
{
  GOutputStream *stream = g_io_stream_get_output_stream (G_IO_STREAM (connection));
  const gchar *text = "HTTP/1.1 200 OK\r\nX-Slow: ";

  g_atomic_int_inc ((gint *) n_requests);
  while (g_output_stream_write (stream, *text ? text++ : "x", 1, NULL, NULL) == 1)
    g_usleep (200000);
  return TRUE;
}

/* Such a server is given up after a while, though something always comes, and is asked again. */
GST_START_TEST (test_dripping_webhook)
{
  g_autoptr (GSocketService) service = g_threaded_socket_service_new (4);
  g_autofree gchar *url = NULL;
  gchar *urls[] = { NULL, NULL };
  gint n_requests = 0;
  Fixture fixture;

  set_up (&fixture);
  g_signal_connect (service, "run", G_CALLBACK (drip), &n_requests);
  urls[0] = url = g_strdup_printf (
      "http://127.0.0.1:%u/",
      g_socket_listener_add_any_inet_port (G_SOCKET_LISTENER (service), NULL, NULL));
  fixture.settings.webhooks = urls;
  publish (&fixture);
  add_events (&fixture, 1);
  for (guint i = 0; i < 6000; i++) {
    g_autoptr (GArray) all = NULL;
    const WatchSinkStatus *status = get_status (&fixture, &all);

    if (status->reason && g_atomic_int_get (&n_requests) > 1) {
      fail_unless_equals_string (status->reason->code, "webhook-silent");
      break;
    }
    fail_unless (i < 5999, "the server was not given up");
    while (g_main_context_iteration (NULL, FALSE))
      ; /* accepts connections */
    g_usleep (10000);
  }
  stop (&fixture);
  g_socket_service_stop (service);
  g_socket_listener_close (G_SOCKET_LISTENER (service));
  tear_down (&fixture);
}
GST_END_TEST;

/* A process is killed while it writes; the next one goes on. */
GST_START_TEST (test_killed)
{
  Arrived arrived = { 0 };
  g_autofree gchar *path = NULL;
  Fixture fixture;
  gint status;
  pid_t child;

  /* The child must not share what threads of this process hold: it opens all itself. */
  set_up (&fixture);
  watch_store_close (fixture.store);
  fixture.settings.lines = path = g_build_filename (fixture.folder, "lines", NULL);
  child = fork ();
  if (child == 0) {
    fixture.store = watch_store_open (fixture.folder, NULL);
    watch_store_set_committed (fixture.store, wake, NULL);
    publish (&fixture);
    for (;;) {
      add_events (&fixture, 30);
      g_usleep (1000);
    }
  }
  while (read_file (path, &arrived) < 60) {
    arrived = (Arrived){ 0 };
    g_usleep (5000);
  }
  kill (child, SIGKILL);
  waitpid (child, &status, 0);
  fail_unless (WIFSIGNALED (status));

  fixture.store = watch_store_open (fixture.folder, NULL);
  fail_unless (fixture.store != NULL);
  {
    WatchQuery query = { .camera = "yard", .kind = -1, .limit = 1 };
    gint64 next;

    for (guint i = 0; i < N_CAMERAS; i++) {
      g_autoptr (GPtrArray) events = NULL;

      query.camera = cameras[i];
      events = watch_store_find_events (fixture.store, &query, &next, NULL);
      fixture.numbers[i] = ((WatchEvent *) g_ptr_array_index (events, 0))->number;
    }
  }
  publish (&fixture);
  wait_sent (&fixture);
  arrived = (Arrived){ 0 };
  read_file (path, &arrived);
  fail_unless (is_complete (&arrived, &fixture), "%u of %u", (guint) arrived.last[0],
               (guint) fixture.numbers[0]);
  tear_down (&fixture);
}
GST_END_TEST;

/* The spool is bounded: what is too old is dropped, counted, and all else arrives. */
GST_START_TEST (test_bound)
{
  g_autofree gchar *path = NULL;
  g_autofree gchar *text = NULL;
  guint64 dropped, pending;
  Fixture fixture;
  guint n = 0;

  set_up (&fixture);
  fixture.settings.lines = path = g_build_filename (fixture.folder, "lines", NULL);
  fixture.settings.spool_bytes = 100000;
  g_mkdir (path, 0700);
  publish (&fixture);
  add_events (&fixture, 3000);
  {
    g_autoptr (GArray) all = NULL;
    WatchSinkStatus *status = get_status (&fixture, &all);

    dropped = status->dropped;
    pending = status->pending;
  }
  fail_unless (dropped > 1000);
  fail_unless_equals_uint64 (dropped + pending, 3000);
  stop (&fixture);
  g_rmdir (path);
  publish (&fixture);
  wait_sent (&fixture);
  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  for (gchar *c = text; *c; c++)
    n += *c == '\n';
  fail_unless_equals_int (n, (gint) pending);
  tear_down (&fixture);
}
GST_END_TEST;

/* Settings that cannot work are errors at once. */
GST_START_TEST (test_settings)
{
  gchar *hooks[] = { (gchar *) "ftp://host/", NULL };
  const WatchSettings cases[] = {
    { .mqtt = (gchar *) "mqtt://user:secret@host" },
    { .mqtt = (gchar *) "http://host" },
    { .mqtt = (gchar *) "mqtt://host", .mqtt_prefix = (gchar *) "a/#" },
    { .kafka = (gchar *) "host", .kafka_topic = (gchar *) "a b" },
    { .webhooks = hooks },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Fixture fixture;
    g_autoptr (GError) error = NULL;

    set_up (&fixture);
    fixture.settings.mqtt = cases[i].mqtt;
    fixture.settings.kafka = cases[i].kafka;
    fixture.settings.webhooks = cases[i].webhooks;
    if (cases[i].mqtt_prefix)
      fixture.settings.mqtt_prefix = cases[i].mqtt_prefix;
    if (cases[i].kafka_topic)
      fixture.settings.kafka_topic = cases[i].kafka_topic;
    fail_unless (!watch_publisher_new (&fixture.settings, fixture.store, &error));
    fail_unless (error != NULL);
    fail_if (strstr (error->message, "secret") != NULL, "%s", error->message);
    tear_down (&fixture);
  }
}
GST_END_TEST;

static Suite *
publisher_suite (void)
{
  Suite *s = suite_create ("publisher");
  TCase *tc = tcase_create ("publisher");

  suite_add_tcase (s, tc);
  /* First: it forks. */
  tcase_add_test (tc, test_killed);
  tcase_add_test (tc, test_mqtt_events);
  tcase_add_test (tc, test_mqtt_states);
  tcase_add_test (tc, test_mqtt_tls);
  tcase_add_test (tc, test_topic_levels);
  tcase_add_test (tc, test_kafka);
  tcase_add_test (tc, test_kafka_status);
  tcase_add_test (tc, test_webhook);
  tcase_add_test (tc, test_slow_webhook);
  tcase_add_test (tc, test_dripping_webhook);
  tcase_add_test (tc, test_lines);
  tcase_add_test (tc, test_bound);
  tcase_add_test (tc, test_settings);
  return s;
}

int
main (int argc, char **argv)
{
  return test_broker_run (argc, argv, publisher_suite (), "publisher");
}
