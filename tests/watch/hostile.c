/* cudaccl-watch - tests of texts from outside in JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Cameras, servers, models and files choose names and messages. All that leaves the program with
 * them is JSON to a strict parser, with the same text in it. */

#include "tests/lib/watchhttp.h"

#include <glib/gstdio.h>
#include <unistd.h>

#include "apps/watch/camera/errors.h"
#include "apps/watch/http/synopsis-job.h"
#include "apps/watch/publish/states.h"
#include "apps/watch/records/json.h"
#include "apps/watch/settings/values.h"
#include "tests/fuzz/strictjson.h"
#include "tests/lib/removetree.h"

#define TIME G_GINT64_CONSTANT (1769860800000000)

#define CONTROLS                                                                           \
  "\x01\x02\x03\x04\x05\x06\x07\b\t\n\x0b\f\r\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18" \
  "\x19\x1a\x1b\x1c\x1d\x1e\x1f\x7f"
/* Quotes, backslashes, C1, U+2028, U+2029, U+202E, a noncharacter, an astral character. */
#define OTHERS \
  "\"'\\/</script>\xc2\x80\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xae\xef\xbf\xbf\xf0\x9f\x98\x80"
/* A lone byte, an overlong form, a surrogate, a truncated character. */
#define INVALID "\xff\xc0\xaf\xed\xa0\x80\xe2\x82"

static const gchar hostile[] = CONTROLS OTHERS INVALID;

/* Parses @text strictly. */
static StrictValue *
parse (const gchar *text)
{
  const char *error = NULL;
  size_t position = 0;
  StrictValue *value = strict_parse (text, strlen (text), &error, &position);

  fail_unless (value != NULL, "%s at %zu of %.3000s", error, position, text);
  return value;
}

/* Counts the strings that contain the hostile text, as valid UTF-8. */
static guint
count (const StrictValue *value)
{
  g_autofree gchar *valid = g_utf8_make_valid (hostile, -1);
  guint n = 0;

  for (; value; value = value->next) {
    n += value->kind == STRICT_STRING && strstr (value->text, valid);
    n += count (value->first);
  }
  return n;
}

static void
check_text (const gchar *text, guint n)
{
  StrictValue *value = parse (text);

  fail_unless (count (value) == n, "%u texts, not %u, in %s", count (value), n, text);
  strict_free (value);
}

static WatchEvent
get_event (gchar *reason)
{
  gchar *text = (gchar *) hostile;

  return (WatchEvent){ .camera = (gchar *) "yard",
                       .session = text,
                       .number = 1,
                       .time = TIME,
                       .kind = WATCH_EVENT_LOST,
                       .zone = text,
                       .track = 1,
                       .class_name = text,
                       .text = text,
                       .picture = text,
                       .clip = text,
                       .reason = reason };
}

static WatchTrack
get_track (WatchPoint *point, gchar **zones)
{
  return (WatchTrack){ .camera = (gchar *) "yard",
                       .session = (gchar *) hostile,
                       .number = 1,
                       .begin = TIME,
                       .end = TIME,
                       .class_name = (gchar *) hostile,
                       .n_points = 1,
                       .points = point,
                       .zones = zones,
                       .picture = (gchar *) hostile };
}

/* The payloads of MQTT, Kafka, web hooks and files. */
GST_START_TEST (test_lines)
{
  g_autoptr (WebReason) reason =
      web_reason_new (WEB_REASON_SINK_FAILED, "detail", hostile, hostile, "a", NULL);
  g_autofree gchar *reason_text = web_reason_to_json (reason), *line = NULL;
  WatchPoint point = { TIME, 0, 0, 1, 1 };
  gchar *zones[] = { (gchar *) hostile, (gchar *) "door", NULL };
  WatchEvent event = get_event (reason_text);
  WatchTrack track = get_track (&point, zones);
  WatchMinute minute = { (gchar *) hostile, (gchar *) hostile, TIME, 1, 1, 1 };
  g_autoptr (GArray) boxes = watch_boxes_new ();
  WatchBox box = { 1, g_strdup (hostile), 0, 0, 1, 1 };

  check_text (reason_text, 2);
  line = watch_event_to_json (&event);
  fail_if (strchr (line, '\n') != NULL);
  check_text (line, 6 + 2);
  g_free (line);
  line = watch_track_to_json (&track);
  check_text (line, 4);
  g_free (line);
  line = watch_minute_to_json (&minute);
  check_text (line, 2);
  g_free (line);
  g_array_append_val (boxes, box);
  line = watch_frame_to_json (hostile, hostile, 1, TIME, boxes);
  check_text (line, 3);
}
GST_END_TEST;

/* Errors of elements, such as with the reason phrase of a camera's answer. */
GST_START_TEST (test_errors)
{
  static const gint codes[] = { GST_RESOURCE_ERROR_FAILED, GST_RESOURCE_ERROR_READ,
                                GST_RESOURCE_ERROR_OPEN_READ, GST_RESOURCE_ERROR_NOT_FOUND };

  for (guint i = 0; i < G_N_ELEMENTS (codes); i++) {
    g_autoptr (GError) error = g_error_new (GST_RESOURCE_ERROR, codes[i], "%s", hostile);
    g_autoptr (WebReason) reason =
        watch_error_to_reason (error, hostile, "souphttpsrc", "http://192.0.2.1/\x1f", NULL);
    g_autofree gchar *text = web_reason_to_json (reason);

    strict_free (parse (text));
  }
}
GST_END_TEST;

GST_START_TEST (test_states)
{
  const WatchSettings settings = { .mqtt_prefix = (gchar *) hostile,
                                   .discovery = (gchar *) "homeassistant" };
  g_autofree gchar *folder = g_dir_make_tmp ("watch-hostile-XXXXXX", NULL);
  g_autofree gchar *file = g_build_filename (folder, "topics", NULL), *topic = NULL;
  WatchStates *states = watch_states_new (&settings, file);
  WatchZoneCounts zone = { .name = g_strdup (hostile), .in = 1 };
  WatchCameraStatus status;
  GBytes *payload;
  guint n = 0;

  watch_camera_status_init (&status);
  status.state = WATCH_CAMERA_RUNNING;
  g_array_append_val (status.zones, zone);
  watch_states_set_camera (states, "yard", &status);
  watch_camera_status_clear (&status);
  while (watch_states_next (states, &topic, &payload)) {
    gsize size;
    const gchar *data = g_bytes_get_data (payload, &size);
    g_autofree gchar *text = g_strndup (data, size);

    if (g_str_has_suffix (topic, "/config")) {
      strict_free (parse (text));
      n++;
    }
    g_bytes_unref (payload);
    g_clear_pointer (&topic, g_free);
  }
  fail_unless_equals_int (n, 8);
  watch_states_free (states);
  remove_tree (folder);
}
GST_END_TEST;

static void
check_answer_has (const gchar *request, guint n)
{
  g_autofree gchar *answer = ask (request);

  fail_unless_equals_int (get_status (answer), 200);
  check_text (get_body (answer), n);
}

GST_START_TEST (test_answers)
{
  g_autoptr (WebReason) reason =
      web_reason_new (WEB_REASON_SOURCE_FAILED, "address", hostile, "detail", hostile, NULL);
  WatchPoint point = { TIME, 0, 0, 1, 1 };
  gchar *zones[] = { (gchar *) hostile, NULL };
  WatchEvent event;
  WatchTrack track = get_track (&point, zones);
  g_autofree gchar *text = web_reason_to_json (reason), *data = NULL;
  Client client;

  start (LOCAL);
  client_open (&client, "GET /api/events/stream HTTP/1.1\r\nHost: localhost\r\n\r\n");
  fail_unless (client_read (&client, "\r\n\r\n"));
  event = get_event (text);
  watch_fake_add_event (watch, watch_event_copy (&event));
  watch_fake_set_state (watch, "yard", WATCH_CAMERA_LOST, web_reason_copy (reason));
  watch_store_add_track (watch->shared.store, watch_track_copy (&track));
  fail_unless (watch_store_flush (watch->shared.store));

  check_answer_has (GET ("/api/cameras"), 4);
  check_answer_has (GET ("/api/events"), 6 + 3);
  check_answer_has (GET ("/api/tracks"), 4);
  check_answer_has (GET ("/api/status"), 0);

  fail_unless (client_read (&client, "\"event\":\"lost\""), "%s", client.answer->str);
  fail_unless (client_read (&client, "\n\n"));
  for (gchar *at = client.answer->str; (at = strstr (at, "\ndata: ")); at++) {
    data = g_strndup (at + 7, strcspn (at + 7, "\r\n"));
    strict_free (parse (data));
    g_clear_pointer (&data, g_free);
  }
  client_close (&client);
  stop ();
}
GST_END_TEST;

/* A process that makes a video says why it failed: \u001f in its line. */
GST_START_TEST (test_synopsis)
{
  g_autofree gchar *folder = g_dir_make_tmp ("watch-hostile-XXXXXX", NULL);
  g_autofree gchar *program = g_build_filename (folder, "program", NULL);
  g_autofree gchar *path = g_build_filename (folder, "watch.conf", NULL);
  g_autofree gchar *text = g_strdup_printf ("[watch]\ndata = %s\n", folder);
  g_autoptr (WatchSettings) settings = watch_settings_parse (path, text, NULL);
  g_autoptr (WebReason) reason =
      web_reason_new (WEB_REASON_SYNOPSIS_FAILED, "detail", hostile, "seconds", "2.5", NULL);
  GString *line = web_json_new ();
  g_autofree gchar *written = NULL, *script = NULL, *answer = NULL, *quoted = NULL;
  WatchSynopsisJob *job = watch_synopsis_job_new (folder);
  gboolean ended = FALSE;

  web_json_add_string (line, "error", reason->text);
  web_reason_add_json (line, "reason", reason);
  written = web_json_take (line);
  quoted = g_shell_quote (written);
  script = g_strdup_printf ("#!/bin/sh\nprintf '%%s\\n' %s\nexit 1\n", quoted);
  fail_unless (g_file_set_contents_full (program, script, -1, 0, 0700, NULL));
  watch_synopsis_job_set_program (job, program);
  fail_unless (watch_synopsis_job_start (job, settings, "yard", "2026-01-31", 15, NULL));
  while (!ended) {
    GString *json = web_json_new ();

    g_main_context_iteration (NULL, TRUE);
    g_free (answer);
    watch_synopsis_job_describe (job, json);
    answer = web_json_take (json);
    ended = strstr (answer, "\"running\"") == NULL;
  }
  check_text (answer, 3);
  fail_unless (strstr (answer, "\"code\":\"synopsis-failed\"") &&
                   strstr (answer, "\"seconds\":2.5"),
               "%s", answer);
  watch_synopsis_job_free (job);
  remove_tree (folder);
}
GST_END_TEST;

/* Names with control characters do not come in: the settings and the interface refuse them. */
GST_START_TEST (test_refused)
{
#define PUT(body) SEND ("PUT", "/api/cameras/yard", body)
  static const Case cases[] = {
    { PUT ("{\"zones\": \"a\\u001fb: 0,0 1,0 1,1\"}"), 400, "\"code\":\"control-character\"" },
    { PUT ("{\"zones\": \"a\\nb: 0,0 1,0 1,1\"}"), 400, "\"code\":\"control-character\"" },
    { PUT ("{\"tripwires\": \"[{\\\"id\\\": \\\"a\\\\u001fb\\\", \\\"points\\\": "
           "[[0,0],[1,1]]}]\"}"),
      400, "\"code\":\"control-character\"" },
    { PUT ("{\"zones\": \"a\\u0085b: 0,0 1,0 1,1\"}"), 400, "\"code\":\"control-character\"" },
    { PUT ("{\"classes\": [\"a\\u007f\"]}"), 400, "\"code\":\"control-character\"" },
    { PUT ("{\"schedule\": \"mon\\u0001\"}"), 400, "\"code\":\"control-character\"" },
    { PUT ("{\"user\": \"a\\u001b\"}"), 400, "\"code\":\"control-character\"" },
    { PUT ("{\"zones\": \"T\\u00fcr \\u202e\\ud83d\\ude00: 0,0 1,0 1,1\"}"), 200, NULL },
  };
  static const gchar *const texts[] = {
    "[camera a]\nuri = test://\nzones = a\x1f: 0,0 1,0 1,1\n",
    "[camera a]\nuri = test://\nzones = a\\nb: 0,0 1,0 1,1\n",
    ("[camera a]\nuri = test://\nzones = [{\"id\": \"a\\\\u001f\", \"points\": "
     "[[0,0],[1,0],[1,1]]}]\n"),
    "[watch]\nmodel = /dev/null\n[camera a]\nuri = test://\nclasses = a\\tb\n",
    "[mqtt]\nprefix = a\\nb\n",
    "[lines]\nfile = a\x7f\n",
  };

  start (LOCAL);
  check_cases (cases, G_N_ELEMENTS (cases));
  stop ();
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    g_autoptr (GError) error = NULL;

    fail_unless (watch_settings_parse ("watch.conf", texts[i], &error) == NULL, "%s", texts[i]);
    fail_unless (i == 3 || g_error_matches (error, WEB_REASON_ERROR, WEB_REASON_CONTROL_CHARACTER),
                 "%s", error->message);
    fail_unless (strstr (error->message, "watch.conf: "), "%s", error->message);
  }
  fail_if (watch_has_control ("a\tb\xc3\xbc", "\t") || !watch_has_control ("a\tb", ""));
}
GST_END_TEST;

static Suite *
hostile_suite (void)
{
  Suite *s = suite_create ("hostile");
  TCase *tc = tcase_create ("general");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_lines);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_states);
  tcase_add_test (tc, test_answers);
  tcase_add_test (tc, test_synopsis);
  tcase_add_test (tc, test_refused);
  return s;
}

GST_CHECK_MAIN (hostile);
