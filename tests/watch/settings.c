/* cudaccl-watch - tests of settings
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <glib/gstdio.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "apps/watch/settings/replace.h"
#include "apps/watch/settings/settings.h"
#include "apps/watch/settings/share.h"
#include "apps/watch/settings/values.h"

static gchar *folder, *path, *secret, *open_secret;

static void
setup (void)
{
  folder = g_dir_make_tmp ("watch-XXXXXX", NULL);
  path = g_build_filename (folder, "watch.conf", NULL);
  secret = g_build_filename (folder, "secret", NULL);
  open_secret = g_build_filename (folder, "open", NULL);
  fail_unless (g_file_set_contents (secret, "owner:p@ss:word\n", -1, NULL));
  fail_unless (g_chmod (secret, 0600) == 0);
  fail_unless (g_file_set_contents (open_secret, "owner:password\n", -1, NULL));
  fail_unless (g_chmod (open_secret, 0644) == 0);
}

static void
teardown (void)
{
  g_remove (path);
  g_remove (secret);
  g_remove (open_secret);
  fail_unless (g_rmdir (folder) == 0);
  g_free (folder);
  g_free (path);
  g_free (secret);
  g_free (open_secret);
}

GST_START_TEST (test_defaults)
{
  g_autoptr (WatchSettings) settings = watch_settings_parse (path, "", NULL);

  fail_unless (settings != NULL);
  fail_unless_equals_int (settings->cameras->len, 0);
  fail_unless_equals_string (settings->listen, "127.0.0.1:8480");
  fail_unless_equals_string (settings->discovery, "homeassistant");
  fail_unless_equals_int (settings->pre_roll, 5);
  fail_unless_equals_uint64 (settings->retention_bytes, 20000000000);
  fail_unless_equals_uint64 (settings->ring_bytes, 32 << 20);
  fail_unless (settings->data && g_path_is_absolute (settings->data));
  fail_unless (settings->line_kinds == WATCH_LINE_EVENTS);
  fail_unless (settings->token == NULL && settings->mqtt == NULL && settings->webhooks == NULL);
}
GST_END_TEST;

GST_START_TEST (test_all)
{
  static const gchar text[] =
      "# a comment\n"
      "[watch]\ndata = data\nmodel = secret\nspool = 1 MiB\n"
      "[server]\nlisten = [::]:80\ntoken-file = secret\n"
      "[record]\npre-roll = 0\npost-roll = 60\ndays = 0\nsize = 1.5 GB\nmemory = 4GiB\n"
      "[mqtt]\nbroker = mqtts://broker:8883\ncredentials = secret\ndiscovery =\n"
      "[kafka]\nbrokers = a:9092,b:9092\ntopic = yard.events\n"
      "[webhooks]\nurls = http://a/?x=1,2  https://b:8443/\n"
      "[lines]\nfile = -\nkinds = tracks, frames\n"
      "[collect]\ndays = 0\n"
      "[camera yard]\nuri = rtsp://10.0.0.7:554/s?channel=1\nrecord-uri = rtspt://10.0.0.7/main\n"
      "credentials = secret\nzones = grass: 0,0.6 0.5,0.6 0.5,1; 0,0 1,0 1,1\n"
      "tripwires = [{\"id\": \"gate\", \"points\": [[0.5, 0], [0.5, 1]]}]\n"
      "classes = person, traffic light\nschedule = mon-fri 08:00-18:00, 22:00-06:00\n"
      "frozen-after = 10\nmax-pixels = 2073600\nmax-memory = 64 MiB\ndwell-time = 2.5\nstatic-time "
      "= 30\nloop = "
      "yes\nrecord = off\n"
      "[camera door-2]\nuri = /dev/video0\nenabled = false\n"
      "[camera ball]\nuri = test://\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (WatchSettings) settings = watch_settings_parse (path, text, &error);
  g_autofree gchar *data = g_build_filename (folder, "data", NULL);
  g_autoptr (WatchSettings) other =
      watch_settings_parse (path, "[lines]\nfile = events.jsonl\n", NULL);
  g_autofree gchar *lines = g_build_filename (folder, "events.jsonl", NULL);
  const WatchCameraSettings *yard;

  fail_unless (settings != NULL, "%s", error ? error->message : "");
  fail_unless_equals_string (settings->data, data);
  fail_unless_equals_string (settings->token, "owner:p@ss:word");
  fail_unless_equals_string (settings->mqtt_user, "owner");
  fail_unless_equals_string (settings->mqtt_password, "p@ss:word");
  fail_unless_equals_string (settings->discovery, "");
  fail_unless_equals_uint64 (settings->retention_bytes, 1500000000);
  fail_unless_equals_int (g_strv_length (settings->webhooks), 2);
  fail_unless_equals_string (settings->webhooks[0], "http://a/?x=1,2");
  fail_unless_equals_string (settings->lines, "-");
  fail_unless_equals_int (settings->collect_days, 0);
  fail_unless_equals_string (other->lines, lines);
  fail_unless (settings->line_kinds == (WATCH_LINE_TRACKS | WATCH_LINE_FRAMES));
  fail_unless_equals_int (settings->cameras->len, 3);
  yard = watch_settings_find (settings, "yard");
  fail_unless (yard == g_ptr_array_index (settings->cameras, 0));
  fail_unless_equals_string (yard->uri, "rtsp://10.0.0.7:554/s?channel=1");
  fail_unless_equals_string (yard->user, "owner");
  fail_unless_equals_string (yard->classes[1], "traffic light");
  fail_unless_equals_uint64 (yard->dwell_time, 2500 * GST_MSECOND);
  fail_unless_equals_uint64 (yard->static_time, 30 * GST_SECOND);
  fail_unless_equals_int (yard->max_pixels, 2073600);
  fail_unless_equals_uint64 (yard->max_memory, 64 << 20);
  fail_unless_equals_int (watch_settings_find (settings, "door-2")->max_pixels, 64 << 20);
  fail_unless_equals_uint64 (watch_settings_find (settings, "door-2")->max_memory, 1 << 30);
  fail_unless (yard->loop && !yard->record && yard->detect && yard->enabled);
  fail_if (watch_camera_settings_equal (yard, g_ptr_array_index (settings->cameras, 1), NULL));
  fail_unless_equals_string (watch_settings_find (settings, "door-2")->uri, "v4l2:///dev/video0");
  fail_unless (watch_settings_find (settings, "yard2") == NULL);
}
GST_END_TEST;

/* Wrong settings, and a part of the message. */
static const struct
{
  const gchar *text, *message;
} wrong[] = {
  { "[watch\n", "watch.conf" },
  { "data = x\n", "group" },
  { "[watch]\n[watch]\n", "[watch]: is there twice" },
  { "[camera a]\nuri=test://\nuri = test://\n", "[camera a] uri]: is there twice" },
  { "[wtach]\n", "[wtach]: no such group; expected watch, server" },
  { "[camera NAME]\nuri = test://\n[camera]\n", "[camera]: no such group" },
  { "[record]\npreroll = 5\n", "[record]: no such key: preroll; expected pre-roll, post-roll" },
  { "[record]\npre-roll[de] = 5\n", "no such key: pre-roll[de]" },
  { "[record]\npre-roll = 61\n", "[record] pre-roll: expected 0 to 60 seconds, not “61”" },
  { "[record]\npre-roll = -1\n", "expected 0 to 60" },
  { "[record]\nmemory = nan\n", "[record] memory: expected 1 MiB to 4 GiB" },
  { "[record]\nmemory = 1e300 TB\n", "expected 1 MiB to 4 GiB" },
  { "[record]\nmemory = 5 apples\n", "expected 1 MiB to 4 GiB" },
  { "[watch]\nmodel = none.onnx\n", "[watch] model: expected an ONNX file; there is no file /" },
  { "[watch]\nprovider = tpu\n", "expected cpu, cuda or tensorrt" },
  { "[watch]\ndata = \\q\n", "[watch] data: the value is not valid" },
  { "[watch]\ndata = \xff\n", "[watch] data: the value is not UTF-8" },
  { "[watch]\nshare = 20/20\n", "[watch] share: expected INDEX/COUNT, such as 0/20" },
  { "[watch]\nshare = 0/2\n[mqtt]\nbroker = mqtt://a\n", "[mqtt]: programs that share cameras" },
  { "[watch]\nshare = 0/2\n[camera yard]\nuri = x\n", "[camera yard] uri: expected" },
  { "[server]\nlisten = 8480\n", "[server] listen: expected ADDRESS:PORT" },
  { "[server]\nlisten = ::1:8480\n", "expected ADDRESS:PORT" },
  { "[server]\nlisten = 127.0.0.1:65536\n", "expected ADDRESS:PORT" },
  { "[server]\nlisten = 0.0.0.0:8480\n", "[server]: `listen` lets other machines connect" },
  { "[server]\ntoken-file = open\n", "[server] token-file: others can read" },
  { "[server]\ntoken-file = none\n", "token-file: Failed to open file" },
  { "[server]\ntoken-file = /dev/zero\n", "token-file: " }, /* not read */
  { "[server]\ncertificate = secret\n", "both or neither" },
  { "[mqtt]\nbroker = broker:1883\n", "[mqtt] broker: expected mqtt://HOST" },
  { "[mqtt]\nbroker = mqtt://a:b@c\n", "expected mqtt://HOST" },
  { "[mqtt]\nprefix = a/#\n", "a topic without + and #" },
  { "[mqtt]\nbroker = mqtt://a\nca-file = secret\n",
    "[mqtt]: `ca-file` needs TLS: write mqtts:// instead of mqtt://" },
  { "[mqtt]\nca-file = secret\n", "[mqtt]: `ca-file` needs TLS" },
  { "[mqtt]\ncredentials = secret\n", "[mqtt]: `credentials` needs a key `broker`" },
  { "[mqtt]\nbroker = mqtt://a:1883,u:p@b:1883\n", "expected mqtt://HOST" },
  { "[kafka]\ncredentials = secret\n", "[kafka]: `credentials` needs a key `brokers`" },
  { "[onvif]\nrtsp-port = 554\n", "[onvif]: expected a key `credentials`" },
  { "[onvif]\ncredentials = secret\nrtsp-port = 0\n", "rtsp-port: expected 1 to 65535" },
  { "[kafka]\ntopic = a b\n", "[kafka] topic: expected letters" },
  { "[webhooks]\nurls = ftp://a/\n", "[webhooks] urls: expected addresses with http://" },
  { "[collect]\ndays = 36501\n", "[collect] days: expected 0 to 36500" },
  { "[lines]\nkinds = events;tracks\n", "[lines] kinds: expected events, tracks and frames" },
  { "[camera a]\n", "[camera a]: expected a key `uri`" },
  { "[camera  a]\nuri = test://\n", "expected a name of up to 64" },
  { "[camera a/b]\nuri = test://\n", "expected a name of up to 64" },
  { "[camera a]\nuri = exec://rm\n", "[camera a] uri: expected an address like rtsp://" },
  { "[camera a]\nuri = test://x ! filesink\n", "expected an address" },
  { "[camera a]\nuri = v4l2:///etc/passwd\n", "expected an address" },
  { "[camera a]\nuri = v4l2:///dev/../etc/passwd\n", "expected an address" },
  { "[camera a]\nuri = file://host/a\n", "expected an address" },
  { "[camera a]\nuri = file:/a\n", "expected an address" },
  { "[camera a]\nuri = V4L2:///dev/video0\n", "expected an address" },
  { "[camera a]\nuri = rtsp:///a\n", "expected an address" },
  { "[camera a]\nuri = rtsp://a b/\n", "expected an address" },
  { "[camera a]\nuri = rtsp://u:secret/word@a/\n", "write @ as %40" },
  { "[camera a]\nuri = rtsp://u:p@a/\ncredentials = secret\n", "only one user and password" },
  { "[camera a]\nuri = test://\ncredentials = open\n", "others can read" },
  { "[camera a]\nuri = test://\nzones = 0,0 1,1\n", "[camera a] zones: zones" },
  { "[camera a]\nuri = test://\ntripwires = 0,0 1,1 2\n", "[camera a] tripwires: tripwires" },
  { "[camera a]\nuri = test://\ndetect = true\n", "needs a key `model`" },
  { "[camera a]\nuri = test://\nclasses = person\n", "`classes` needs `detect`" },
  { "[camera a]\nuri = test://\nenabled = maybe\n", "expected true or false, not “maybe”" },
  { "[camera a]\nuri = test://\ndwell-time = inf\n", "expected 0 to 86400 seconds" },
  { "[camera a]\nuri = test://\nmax-pixels = 64 MP\n", "1024 to 1073741824 pixels" },
  { "[camera a]\nuri = test://\nschedule = mon\n", "schedule: expected days and times" },
};

GST_START_TEST (test_wrong)
{
  g_autoptr (GError) error = NULL;

  fail_unless (watch_settings_parse (path, wrong[__i__].text, &error) == NULL, "%s",
               wrong[__i__].text);
  fail_unless (strstr (error->message, wrong[__i__].message) != NULL, "%s: %s", wrong[__i__].text,
               error->message);
  fail_unless (g_str_has_prefix (error->message, path));
  fail_unless (strstr (error->message, "secret/word") == NULL);
}
GST_END_TEST;

/* A password in the address: only where others cannot read it. */
GST_START_TEST (test_password)
{
  static const gchar text[] = "[camera a]\nuri = rtsp://me:p%40ss@[::1]:80/x?y\n";
  g_autoptr (GError) error = NULL;
  g_autoptr (WatchSettings) settings = NULL;
  const WatchCameraSettings *camera;

  fail_unless (g_file_set_contents (path, text, -1, NULL));
  fail_unless (g_chmod (path, 0640) == 0);
  fail_unless (watch_settings_load (path, &error) == NULL);
  fail_unless (strstr (error->message, "run chmod 600 on it") != NULL, "%s", error->message);
  fail_unless (g_chmod (path, 0600) == 0);
  settings = watch_settings_load (path, NULL);
  camera = watch_settings_find (settings, "a");
  fail_unless_equals_string (camera->uri, "rtsp://[::1]:80/x?y");
  fail_unless_equals_string (camera->user, "me");
  fail_unless_equals_string (camera->password, "p@ss");
}
GST_END_TEST;

GST_START_TEST (test_schedule)
{
  /* 2026-01-30 was a Friday. */
  static const struct
  {
    const gchar *schedule;
    guint day, hour, minute;
    gboolean included;
  } cases[] = {
    { NULL, 30, 12, 0, TRUE },
    { "mon-fri 08:00-18:00", 30, 7, 59, FALSE },
    { "mon-fri 08:00-18:00", 30, 8, 0, TRUE },
    { "mon-fri 08:00-18:00", 30, 17, 59, TRUE },
    { "mon-fri 08:00-18:00", 30, 18, 0, FALSE },
    { "mon-fri 08:00-18:00", 31, 12, 0, FALSE },
    { "mon-fri 08:00-18:00, SAT 10:00-14:00", 31, 12, 0, TRUE },
    { "sat-mon 00:00-24:00", 29, 12, 0, FALSE },
    { "sat-mon 00:00-24:00", 31, 23, 59, TRUE },
    { "22:00-06:00", 30, 23, 0, TRUE },
    { "22:00-06:00", 30, 5, 59, TRUE },
    { "22:00-06:00", 30, 6, 0, FALSE },
    { "fri 22:00-06:00", 31, 5, 0, TRUE }, /* Saturday morning */
    { "fri 22:00-06:00", 30, 5, 0, FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GDateTime) date = g_date_time_new_local (
        2026, 1, (gint) cases[i].day, (gint) cases[i].hour, (gint) cases[i].minute, 0);

    fail_unless_equals_int (
        watch_schedule_includes (cases[i].schedule, g_date_time_to_unix (date) * G_USEC_PER_SEC),
        cases[i].included);
  }
}
GST_END_TEST;

GST_START_TEST (test_redact)
{
  static const gchar *const cases[][2] = {
    { "rtsp://10.0.0.7:554/a", "rtsp://10.0.0.7:554/a" },
    { "rtsp://u:p@h/a?password=p#x", "rtsp://h/a" },
    { "rtsp://u:p@ss?w/o#rd@h/a", "rtsp://h/a" },
    { "u:p@h", "h" },
    { "", "" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *text = watch_uri_redact (cases[i][0]);

    fail_unless_equals_string (text, cases[i][1]);
  }
}
GST_END_TEST;

/* Computed by another program, see docs/scale.md. */
GST_START_TEST (test_share_known)
{
  static const guint counts[] = { 1, 2, 3, 20, 21, 10000 };
  static const struct
  {
    const gchar *camera;
    guint found[G_N_ELEMENTS (counts)];
  } cases[] = {
    { "a", { 0, 1, 1, 1, 1, 8449 } },
    { "yard", { 0, 1, 2, 12, 12, 705 } },
    { "door-2", { 0, 0, 0, 6, 6, 7033 } },
    { "c999", { 0, 1, 2, 15, 15, 4892 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    for (guint k = 0; k < G_N_ELEMENTS (counts); k++)
      fail_unless_equals_int (watch_share_find (cases[i].camera, counts[k]), cases[i].found[k]);
}
GST_END_TEST;

/* All cameras are somewhere, about as many everywhere, and those that move go to the new one. */
GST_START_TEST (test_share_moves)
{
  guint n = 10000, before[20] = { 0 }, moved = 0;

  for (guint i = 0; i < n; i++) {
    g_autofree gchar *name = g_strdup_printf ("camera-%u", i);
    guint a = watch_share_find (name, 20), b = watch_share_find (name, 21);

    fail_unless (a < 20 && (a == b || b == 20));
    before[a]++;
    moved += a != b;
  }
  /* Five standard deviations. */
  for (guint i = 0; i < 20; i++)
    fail_unless (before[i] > 390 && before[i] < 610, "%u: %u", i, before[i]);
  fail_unless (moved > 370 && moved < 583, "%u", moved);
}
GST_END_TEST;

GST_START_TEST (test_share_parse)
{
  static const struct
  {
    const gchar *text, *host;
    gboolean valid;
    guint index, count;
  } cases[] = {
    { "0/1", "x", TRUE, 0, 1 },
    { "19/20", "x", TRUE, 19, 20 },
    { "20/20", "x", FALSE },
    { "-1/20", "x", FALSE },
    { "1", "x", FALSE },
    { "1/2/3", "x", FALSE },
    { "0/0", "x", FALSE },
    { "0/10001", "x", FALSE },
    { "auto/20", "watch-7", TRUE, 7, 20 },
    { "auto/20", "watch-2-19", TRUE, 19, 20 },
    { "auto/20", "watch-20", TRUE, 20, 20 }, /* one too many has no cameras */
    { "auto/20", "watch", FALSE },
    { "auto/20", "watch-99999999999999999999", FALSE },
    { "", "watch-7", FALSE },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    guint index = 77, count = 77;

    fail_unless_equals_int (watch_share_parse (cases[i].text, cases[i].host, &index, &count),
                            cases[i].valid);
    fail_unless_equals_int (index, cases[i].valid ? cases[i].index : 77);
    fail_unless_equals_int (count, cases[i].valid ? cases[i].count : 77);
  }
}
GST_END_TEST;

/* The file has the cameras of all, and is checked as a whole. */
GST_START_TEST (test_share)
{
  g_autoptr (GString) text = g_string_new ("[watch]\nshare = 3/5\n");
  g_autoptr (WatchSettings) settings = NULL;
  g_autoptr (GError) error = NULL;

  for (guint i = 0; i < 1000; i++)
    g_string_append_printf (text, "[camera c%u]\nuri = test://\n", i);
  settings = watch_settings_parse (path, text->str, &error);
  fail_unless (settings != NULL, "%s", error ? error->message : "");
  fail_unless_equals_int (settings->cameras->len + settings->elsewhere->len, 1000);
  for (guint i = 0; i < settings->cameras->len; i++) {
    const WatchCameraSettings *camera = g_ptr_array_index (settings->cameras, i);

    fail_unless_equals_int (watch_share_find (camera->name, 5), 3);
    fail_unless (watch_settings_find (settings, camera->name) == camera);
  }
  for (guint i = 0; i < settings->elsewhere->len; i++) {
    const WatchCameraSettings *camera = g_ptr_array_index (settings->elsewhere, i);

    fail_if (watch_share_find (camera->name, 5) == 3);
    fail_unless (watch_settings_find (settings, camera->name) == camera);
  }

  g_setenv ("CUDACCL_WATCH_SHARE", "4/5", TRUE);
  watch_settings_unref (settings);
  settings = watch_settings_parse (path, text->str, &error);
  g_setenv ("CUDACCL_WATCH_SHARE", "0/1", TRUE);
  fail_unless (watch_settings_parse (path, text->str, &error) == NULL);
  fail_unless (strstr (error->message, "at most 256 cameras for a program") != NULL, "%s",
               error->message);
  g_unsetenv ("CUDACCL_WATCH_SHARE");
  fail_unless (settings != NULL);
  fail_unless_equals_int (
      watch_share_find (((WatchCameraSettings *) g_ptr_array_index (settings->cameras, 0))->name,
                        5),
      4);
}
GST_END_TEST;

static void
fail_unless_file_is (const gchar *expected)
{
  g_autofree gchar *text = NULL;

  fail_unless (g_file_get_contents (path, &text, NULL, NULL));
  fail_unless_equals_string (text, expected);
}

GST_START_TEST (test_edit)
{
  static const gchar *const names[] = { "uri", "zones", "schedule", NULL };
  static const gchar *const values[] = { "test://", "a: 0,0 1,0\n 1,1", "", NULL };
  static const gchar *const unknown[] = { "x]\n[lines", NULL };
  static const gchar *const invalid[] = { "exec://", "", "", NULL };
  static const gchar text[] = "# the file\n\n# a camera\n[camera a]\n# where\nuri=/a.avi\n"
                              "schedule=08:00-18:00\n\n# another\n[camera b]\nuri=/b.avi\n";
  g_autoptr (WatchSettings) settings = NULL;
  g_autoptr (GError) error = NULL;
  GStatBuf info;

  fail_unless (g_file_set_contents (path, text, -1, NULL));
  fail_unless (g_chmod (path, 0640) == 0);
  settings = watch_settings_load (path, NULL);
  fail_unless (settings != NULL);

  /* Nothing that is wrong changes the file. */
  fail_if (watch_settings_edit (settings, "a", unknown, values, &error));
  fail_unless (strstr (error->message, "no such key") != NULL);
  g_clear_error (&error);
  fail_if (watch_settings_edit (settings, "a", names, invalid, &error));
  g_clear_error (&error);
  fail_if (watch_settings_edit (settings, "a]\n[lines", names, values, &error));
  g_clear_error (&error);
  fail_if (watch_settings_edit (settings, "c", NULL, NULL, &error));
  fail_unless_file_is (text);

  fail_unless (watch_settings_edit (settings, "a", names, values, NULL));
  fail_unless_file_is ("# the file\n\n# a camera\n[camera a]\n# where\nuri = test://\n"
                       "zones = a: 0,0 1,0\\n 1,1\n\n# another\n[camera b]\nuri=/b.avi\n");
  fail_unless (watch_settings_edit (settings, "c", names, values, NULL));
  fail_unless (watch_settings_edit (settings, "a", NULL, NULL, NULL));
  fail_unless_file_is ("# the file\n\n# another\n[camera b]\nuri=/b.avi\n\n[camera c]\n"
                       "uri = test://\nzones = a: 0,0 1,0\\n 1,1\n");
  fail_unless (g_stat (path, &info) == 0);
  fail_unless_equals_int (info.st_mode & 0777, 0640);
}
GST_END_TEST;

/* Changes a setting until it is killed. */
static void
run_child (const gchar *file)
{
  static const gchar *const names[] = { "schedule", NULL };
  g_autoptr (WatchSettings) settings = watch_settings_load (file, NULL);

  for (guint i = 0;; i++) {
    const gchar *const values[] = { i % 2 ? "08:00-18:00" : "09:00-18:00", NULL };

    if (!watch_settings_edit (settings, "a", names, values, NULL))
      exit (1);
  }
}

static guint
count_files (void)
{
  g_autoptr (GDir) dir = g_dir_open (folder, 0, NULL);
  guint n = 0;

  while (g_dir_read_name (dir))
    n++;
  return n;
}

/* A process that is killed may leave a new file, which the next one removes. */
GST_START_TEST (test_kill)
{
  g_autofree gchar *text =
      g_strdup_printf ("[watch]\ndata = %s\n[camera a]\nuri = test://\n", folder);
  const guint before = count_files () + 1;
  guint n_left = 0;

  fail_unless (g_file_set_contents (path, text, -1, NULL));
  for (guint round = 0; round < 40; round++) {
    g_autoptr (WatchSettings) settings = NULL;
    int status;
    pid_t child = fork ();

    if (child == 0)
      run_child (path);
    g_usleep (20000 + round * 731);
    kill (child, SIGKILL);
    fail_unless (waitpid (child, &status, 0) == child && WIFSIGNALED (status));
    /* The file is whole. */
    settings = watch_settings_load (path, NULL);
    fail_unless (settings && settings->cameras->len == 1);
    n_left += count_files () - before;
    watch_settings_clean (settings);
    fail_unless_equals_int (count_files (), before);
  }
  GST_INFO ("%u files were left", n_left);
}
GST_END_TEST;

/* Only files of the exact form go, and none that a process is writing. */
GST_START_TEST (test_clean)
{
  static const struct
  {
    const gchar *name;
    gboolean removed;
  } files[] = {
    { "watch.conf.cudaccl-aB3dE9", TRUE },  { "yard.cudaccl-000000", TRUE },
    { "watch.conf.sample", FALSE },         { "watch.conf.backup", FALSE },
    { "watch.conf.cudaccl-aB3dE", FALSE },  { "watch.conf.cudaccl-aB3dE9x", FALSE },
    { "watch.conf.cudaccl-aB3-E9", FALSE }, { "watch.conf.cudaccl-aB3dE9~", FALSE },
    { ".cudaccl-aB3dE9", FALSE },           { "watch.conf-cudaccl-aB3dE9", FALSE },
    { "watch.sqlite.aB3dE9", FALSE },
  };
  g_autofree gchar *busy = g_strconcat (path, ".cudaccl-busy00", NULL);
  g_autofree gchar *link_name = g_strconcat (path, ".cudaccl-link00", NULL);
  int fd;

  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree gchar *name = g_build_filename (folder, files[i].name, NULL);

    fail_unless (g_file_set_contents (name, "a", -1, NULL));
  }
  fd = open (busy, O_RDWR | O_CREAT, 0600);
  fail_unless (fd >= 0 && flock (fd, LOCK_EX) == 0);
  fail_unless_equals_int (symlink (secret, link_name), 0);
  watch_replace_clean (folder, "yard");
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree gchar *name = g_build_filename (folder, files[i].name, NULL);

    fail_unless_equals_int (g_file_test (name, G_FILE_TEST_EXISTS),
                            !g_str_has_prefix (files[i].name, "yard"));
  }
  watch_replace_clean (folder, NULL);
  for (guint i = 0; i < G_N_ELEMENTS (files); i++) {
    g_autofree gchar *name = g_build_filename (folder, files[i].name, NULL);

    fail_unless (g_file_test (name, G_FILE_TEST_EXISTS) != files[i].removed, "%s", name);
    g_remove (name);
  }
  fail_unless (g_remove (busy) == 0 && g_remove (link_name) == 0);
  close (fd);
}
GST_END_TEST;

static Suite *
settings_suite (void)
{
  Suite *suite = suite_create ("settings");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, setup, teardown);
  tcase_add_test (tcase, test_defaults);
  tcase_add_test (tcase, test_all);
  tcase_add_loop_test (tcase, test_wrong, 0, G_N_ELEMENTS (wrong));
  tcase_add_test (tcase, test_password);
  tcase_add_test (tcase, test_schedule);
  tcase_add_test (tcase, test_redact);
  tcase_add_test (tcase, test_edit);
  tcase_add_test (tcase, test_kill);
  tcase_add_test (tcase, test_clean);
  tcase_add_test (tcase, test_share_known);
  tcase_add_test (tcase, test_share_moves);
  tcase_add_test (tcase, test_share_parse);
  tcase_add_test (tcase, test_share);

  return suite;
}

GST_CHECK_MAIN (settings)
