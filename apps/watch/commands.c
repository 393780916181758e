/* cudaccl-watch - commands for recordings
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/commands.h"

#include <gio/gio.h>
#include <stdio.h>
#include <unistd.h>

#include "apps/web/json.h"
#include "apps/watch/scan.h"
#include "apps/synopsis/synopsis.h"

static gboolean do_scan, report;
static gchar *synopsis_camera, *day, *output, *settings_path, *data, *camera, *begin;
static gint jobs, seconds = 180;

static const GOptionEntry entries[] = {
  { "scan", 0, 0, G_OPTION_ARG_NONE, &do_scan,
    "Find what moves in the recordings FILE…, for searches", NULL },
  { "camera", 0, 0, G_OPTION_ARG_STRING, &camera,
    "with --scan: the camera of the recordings; default: their names", "NAME" },
  { "begin", 0, 0, G_OPTION_ARG_STRING, &begin,
    "with --scan: when the recording began, such as 2026-01-31T12:00:00Z", "TIME" },
  { "jobs", 0, 0, G_OPTION_ARG_INT, &jobs,
    "with --scan: cameras at a time; default: one for each core", "N" },
  { "synopsis", 0, 0, G_OPTION_ARG_STRING, &synopsis_camera,
    "Show a day of the camera, or the recordings FILE…, in a few minutes", "CAMERA" },
  { "day", 0, 0, G_OPTION_ARG_STRING, &day, "with --synopsis: the day; default: today",
    "YYYY-MM-DD" },
  { "output", 'o', 0, G_OPTION_ARG_FILENAME, &output, "with --synopsis: the video", "FILE.mp4" },
  { "seconds", 0, 0, G_OPTION_ARG_INT, &seconds,
    "with --synopsis: length of the video at most; default: 180", "N" },
  /* Reports for the page: lines of JSON. */
  { "report", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &report,
    "with --synopsis: print progress and result as lines of JSON", NULL },
  { "settings", 0, 0, G_OPTION_ARG_FILENAME, &settings_path, "with both: the file of settings",
    "FILE" },
  { "data", 0, 0, G_OPTION_ARG_FILENAME, &data,
    "with both: the folder of the database, instead of that of the settings", "FOLDER" },
  { NULL },
};

GOptionGroup *
watch_commands_get_options (void)
{
  GOptionGroup *group =
      g_option_group_new ("recordings", "Recordings:", "Show options for recordings", NULL, NULL);

  g_option_group_add_entries (group, entries);
  return group;
}

gboolean
watch_commands_given (void)
{
  return do_scan || synopsis_camera;
}

static gboolean
fail (GError **error, const gchar *text)
{
  g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, text);
  return FALSE;
}

static gboolean
run_scan (WatchSettings *settings, gchar **files, GError **error)
{
  WatchScanOptions options = { camera, 0, (guint) jobs };
  WatchStore *store;
  gboolean done;

  if (!files[0])
    return fail (error, "--scan: expected recordings");
  if (jobs < 0 || jobs > 256)
    return fail (error, "--jobs: expected 1 to 256");
  if (begin && !watch_time_from_string (begin, &options.begin))
    return fail (error, "--begin: expected a time such as 2026-01-31T12:00:00Z");
  store = watch_store_open (data ? data : settings->data, error);
  if (!store)
    return FALSE;
  done = watch_scan (settings, store, files, &options, error);
  watch_store_close (store);
  return done;
}

/* From midnight to midnight, local time. */
static gboolean
get_day (gint64 *from, gint64 *to)
{
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  g_autoptr (GDateTime) first = NULL, last = NULL;
  gint year = g_date_time_get_year (now), month = g_date_time_get_month (now);
  gint number = g_date_time_get_day_of_month (now);
  gchar rest;

  if (day && sscanf (day, "%4d-%2d-%2d%c", &year, &month, &number, &rest) != 3)
    return FALSE;
  first = g_date_time_new_local (year, month, number, 0, 0, 0);
  if (!first)
    return FALSE;
  last = g_date_time_add_days (first, 1);
  *from = g_date_time_to_unix (first) * G_TIME_SPAN_SECOND;
  *to = g_date_time_to_unix (last) * G_TIME_SPAN_SECOND;
  return TRUE;
}

static GArray *
find_recordings (WatchSettings *settings, GError **error)
{
  const gchar *folder = data ? data : settings->data;
  g_autofree gchar *media = g_build_filename (folder, "media", NULL);
  GArray *recordings;
  WatchStore *store;
  gint64 from, to;

  if (!get_day (&from, &to)) {
    fail (error, "--day: expected a date such as 2026-01-31");
    return NULL;
  }
  /* Another process may be watching the cameras. */
  store = watch_store_open_for_reading (folder, error);
  if (!store)
    return NULL;
  recordings = watch_recordings_from_clips (store, media, synopsis_camera, from, to,
                                            settings->pre_roll, error);
  watch_store_close (store);
  return recordings;
}

static void
print_report (GString *json)
{
  g_autofree gchar *line = web_json_take (json);

  printf ("%s\n", line);
  fflush (stdout);
}

static void
on_progress (gdouble done, gpointer user_data)
{
  if (report) {
    GString *json = web_json_new ();

    web_json_add_double (json, "progress", (gint64) (done * 1000) / 1e3);
    print_report (json);
  } else if (isatty (STDERR_FILENO)) {
    g_printerr ("\r%3.0f%%", done * 100);
  }
}

static void
report_result (const WatchSynopsisResult *result, guint n_recordings)
{
  GString *json = web_json_new ();

  web_json_add_int (json, "objects", result->objects);
  web_json_add_int (json, "recordings", n_recordings - result->unreadable);
  web_json_add_int (json, "unreadable", result->unreadable);
  web_json_add_double (json, "seconds", (gint64) (result->seconds * 10) / 10.0);
  web_json_add_boolean (json, "jpeg", result->jpeg);
  print_report (json);
}

static void
report_error (const GError *error)
{
  GString *json = web_json_new ();

  web_json_add_string (json, "error", error->message);
  web_reason_add_json (json, "reason", web_reason_from_error (error));
  print_report (json);
}

static gboolean
run_synopsis (WatchSettings *settings, gchar **files, GError **error)
{
  g_autoptr (GArray) recordings = NULL;
  WatchSynopsisResult result;
  gboolean done;

  if (!output)
    return fail (error, "--synopsis: expected a file for the video: -o FILE.mp4");
  if (seconds < 15 || seconds > 3600)
    return fail (error, "--seconds: expected 15 to 3600");
  recordings =
      files[0] ? watch_recordings_from_files (files, error) : find_recordings (settings, error);
  if (!recordings)
    return FALSE;
  done = watch_synopsis_make (recordings, output, (guint) seconds, on_progress, NULL, NULL, &result,
                              error);
  if (isatty (STDERR_FILENO) && !report)
    g_printerr ("\r    \r");
  if (!done)
    return FALSE;
  if (report) {
    report_result (&result, recordings->len);
    return TRUE;
  }
  g_print ("%s: %u objects of %u recordings in %.0f s\n", output, result.objects,
           recordings->len - result.unreadable, result.seconds);
  if (result.unreadable)
    g_printerr ("%u recordings could not be read\n", result.unreadable);
  if (result.jpeg)
    g_printerr ("There is no encoder for H.264 here: the file is Matroska with JPEG pictures\n");
  return TRUE;
}

static gboolean
run (const gchar *path, gchar **files, GError **error)
{
  g_autoptr (WatchSettings) settings = NULL;

  if (do_scan && synopsis_camera)
    return fail (error, "Expected only one of --scan and --synopsis");
  if (settings_path)
    path = settings_path;
  /* Use the defaults if there is no file. */
  settings = settings_path || g_file_test (path, G_FILE_TEST_EXISTS)
                 ? watch_settings_load (path, error)
                 : watch_settings_parse (path, "", error);
  if (!settings)
    return FALSE;
  return do_scan ? run_scan (settings, files, error) : run_synopsis (settings, files, error);
}

gboolean
watch_commands_run (const gchar *path, gchar **files, GError **error)
{
  if (run (path, files, error))
    return TRUE;
  if (report)
    report_error (*error);
  return FALSE;
}
