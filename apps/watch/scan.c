/* cudaccl-watch - puts recordings into the database
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/scan.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gst/app/gstappsink.h>
#include <string.h>

#include "apps/watch/camera/analysis.h"
#include "apps/watch/media/recordings.h"

/* Decoding waits for the database above this many queued records. */
#define MAX_QUEUED 4096
/* Most sessions of one file: each scan that is resumed begins another. */
#define MAX_SESSIONS 1000
/* A file was scanned completely if its last track ended this close to the end. */
#define REST (5 * G_TIME_SPAN_SECOND)

typedef struct
{
  WatchSettings *settings;
  WatchStore *store;
  const WatchScanOptions *options;
  gint n_failed; /* atomic */
} Scan;

/* A file that is being scanned. */
typedef struct
{
  Scan *scan;
  const gchar *path;
  gchar *camera;
  gchar *session;
  gint64 begin; /* start of the file */
  gint64 from;  /* start of the scan */
  gint64 last;  /* time of the last frame */
  guint64 n_frames;
} File;

/* Returns the name of the file without extension, as a valid name of a camera. */
static gchar *
get_camera_name (const gchar *path)
{
  gchar *name = g_path_get_basename (path);
  gchar *dot = strrchr (name, '.');

  if (dot && dot != name)
    *dot = '\0';
  g_strcanon (name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "-_", '_');
  if (strlen (name) > 64)
    name[64] = '\0';
  return name;
}

/* Returns the UUID of the @n-th scan of the file: always the same. */
static gchar *
make_session (const gchar *path, const GStatBuf *status, const gchar *camera, gint64 begin, guint n)
{
  g_autofree gchar *full = g_canonicalize_filename (path, NULL);
  g_autofree gchar *text = g_strdup_printf (
      "%s\n%" G_GINT64_FORMAT "\n%" G_GINT64_FORMAT "\n%s\n%" G_GINT64_FORMAT "\n%u", full,
      (gint64) status->st_size, (gint64) status->st_mtime, camera, begin, n);
  g_autofree gchar *hash = g_compute_checksum_for_string (G_CHECKSUM_SHA1, text, -1);

  /* Version 5, variant 1. */
  return g_strdup_printf ("%.8s-%.4s-5%.3s-a%.3s-%.12s", hash, hash + 8, hash + 13, hash + 17,
                          hash + 20);
}

/* Finds out when the recording began, and how far it was scanned before. */
static gboolean
file_init (File *self, gint64 *end, GError **error)
{
  const WatchScanOptions *options = self->scan->options;
  GStatBuf status;
  gint64 duration;

  if (g_stat (self->path, &status) != 0) {
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s", g_strerror (errno));
    return FALSE;
  }
  self->camera = options->camera ? g_strdup (options->camera) : get_camera_name (self->path);
  if (!watch_recording_get_times (self->path, &self->begin, &duration, error))
    return FALSE;
  if (options->begin)
    self->begin = options->begin;
  self->from = self->last = self->begin;
  *end = duration ? self->begin + duration : G_MAXINT64;
  for (guint n = 0; n < MAX_SESSIONS; n++) {
    gint64 last;

    g_free (self->session);
    self->session = make_session (self->path, &status, self->camera, self->begin, n);
    if (!watch_store_get_session_end (self->scan->store, self->session, &last, error))
      return FALSE;
    if (!last)
      break;
    self->from = MAX (self->from, last);
  }
  return TRUE;
}

/* --- The pipeline --- */

static void
set_up (GstElement *pipeline, const File *self)
{
  const WatchSettings *settings = self->scan->settings;
  const WatchCameraSettings *camera = watch_settings_find (settings, self->camera);
  g_autoptr (GstElement) zones = gst_bin_get_by_name (GST_BIN (pipeline), "zones");
  g_autoptr (GstElement) motion = gst_bin_get_by_name (GST_BIN (pipeline), "motion");
  g_autoptr (GstElement) track = gst_bin_get_by_name (GST_BIN (pipeline), "track");
  g_autoptr (GstElement) detect = gst_bin_get_by_name (GST_BIN (pipeline), "detect");
  g_autoptr (GstCaps) video = gst_caps_from_string ("video/x-raw(ANY)");

  gst_child_proxy_set (GST_CHILD_PROXY (pipeline), "source::location", self->path, "decoder::caps",
                       video, NULL);
  if (camera)
    g_object_set (zones, "zones", camera->zones ? camera->zones : "", "tripwires",
                  camera->tripwires ? camera->tripwires : "", "dwell-time", camera->dwell_time,
                  NULL);
  if (camera)
    g_object_set (motion, "static-time", camera->static_time, NULL);
  if (!detect)
    return;
  g_object_set (detect, "model", settings->model, NULL);
  if (settings->labels)
    g_object_set (detect, "labels", settings->labels, NULL);
  if (settings->provider)
    gst_util_set_object_arg (G_OBJECT (detect), "provider", settings->provider);
  gst_util_set_object_arg (G_OBJECT (detect), "region", "moving");
  if (camera && camera->classes) {
    g_autofree gchar *classes = g_strjoinv (",", camera->classes);

    g_object_set (detect, "classes", classes, NULL);
    g_object_set (track, "classes-only", TRUE, NULL);
  }
}

static GstElement *
make_pipeline (const File *self, GError **error)
{
  const WatchSettings *settings = self->scan->settings;
  const WatchCameraSettings *camera = watch_settings_find (settings, self->camera);
  gboolean detect = settings->model && (!camera || camera->detect);
  g_autofree gchar *text = g_strdup_printf (
      "filesrc name=source ! decodebin name=decoder expose-all-streams=false ! videoconvert "
      "! cclmotion name=motion attach=components %s ! ccltrack name=track ! cclzones name=zones "
      "! appsink name=sink sync=false max-buffers=4",
      detect ? "! ccldetect name=detect" : "");
  GstElement *pipeline = gst_parse_launch_full (text, NULL, GST_PARSE_FLAG_FATAL_ERRORS, error);

  if (pipeline)
    set_up (pipeline, self);
  return pipeline;
}

/* Returns the next frame, or NULL at the end or after an error. */
static GstSample *
pull (GstElement *sink, GstBus *bus, GError **error)
{
  for (;;) {
    GstSample *sample = gst_app_sink_try_pull_sample (GST_APP_SINK (sink), GST_SECOND / 4);
    g_autoptr (GstMessage) message = NULL;

    if (sample)
      return sample;
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    if (message)
      gst_message_parse_error (message, error, NULL);
    if (message || gst_app_sink_is_eos (GST_APP_SINK (sink)))
      return NULL;
  }
}

static void
add_frame (File *self, WatchAnalysis *analysis, GstSample *sample)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  GstClockTime time = gst_segment_to_stream_time (gst_sample_get_segment (sample), GST_FORMAT_TIME,
                                                  GST_BUFFER_PTS (buffer));
  WatchStoreStats stats;
  GstVideoInfo info;

  if (!GST_CLOCK_TIME_IS_VALID (time) ||
      !gst_video_info_from_caps (&info, gst_sample_get_caps (sample)))
    return;
  self->last = self->begin + (gint64) (time / 1000);
  /* Frames between the key frame and `from` only train the background. */
  if (self->from == self->begin || self->last > self->from)
    watch_analysis_add_frame (analysis, buffer, &info, FALSE, self->last);
  if (++self->n_frames % 64 != 0)
    return;
  watch_store_get_stats (self->scan->store, &stats);
  web_reason_free (stats.last_error);
  if (stats.queued > MAX_QUEUED)
    watch_store_flush (self->scan->store);
}

static gboolean
file_read (File *self, GError **error)
{
  const WatchShared shared = { .session = self->session, .store = self->scan->store };
  g_autoptr (GstElement) pipeline = make_pipeline (self, error), sink = NULL;
  g_autoptr (GstBus) bus = NULL;
  g_autoptr (GError) failure = NULL;
  WatchAnalysis *analysis;
  WatchStorePast past;
  GstSample *sample;

  if (!pipeline)
    return FALSE;
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  bus = gst_element_get_bus (pipeline);
  watch_store_get_past (self->scan->store, self->camera, &past);
  analysis = watch_analysis_new (self->scan->settings, self->camera, &past, &shared);
  watch_store_past_clear (&past);
  gst_element_set_state (pipeline, GST_STATE_PAUSED);
  gst_element_get_state (pipeline, NULL, NULL, GST_CLOCK_TIME_NONE);
  if (self->from > self->begin)
    gst_element_seek_simple (pipeline, GST_FORMAT_TIME,
                             GST_SEEK_FLAG_FLUSH | GST_SEEK_FLAG_KEY_UNIT |
                                 GST_SEEK_FLAG_SNAP_BEFORE,
                             (self->from - self->begin) * 1000);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = pull (sink, bus, &failure))) {
    add_frame (self, analysis, sample);
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  watch_analysis_restart (analysis, self->last);
  watch_analysis_free (analysis);
  if (!failure && self->n_frames == 0 && self->from == self->begin)
    g_set_error_literal (&failure, G_IO_ERROR, G_IO_ERROR_FAILED, "no video");
  if (!failure)
    return TRUE;
  g_propagate_error (error, g_steal_pointer (&failure));
  return FALSE;
}

static void
scan_file (Scan *scan, const gchar *path)
{
  File self = { .scan = scan, .path = path };
  gint64 start = g_get_monotonic_time ();
  g_autoptr (GError) error = NULL;
  gint64 end = 0;
  gboolean done = file_init (&self, &end, &error);
  gboolean known = done && self.from > self.begin && self.from > end - REST;
  gdouble seconds;

  if (done && !known)
    done = file_read (&self, &error);
  seconds = (g_get_monotonic_time () - start) / 1e6;
  if (known)
    g_print ("%s: camera %s, was scanned before\n", self.path, self.camera);
  if (self.n_frames > 0) {
    g_autofree gchar *from = watch_time_to_string (self.from);
    g_autofree gchar *to = watch_time_to_string (self.last);

    g_print ("%s: camera %s, %s to %s, %" G_GUINT64_FORMAT " frames in %.1f s (%.0f a second)\n",
             self.path, self.camera, from, to, self.n_frames, seconds, self.n_frames / seconds);
  }
  if (!done) {
    g_printerr ("%s: %s\n", self.path, error->message);
    g_atomic_int_inc (&self.scan->n_failed);
  }
  g_free (self.camera);
  g_free (self.session);
}

/* Scans the files of a camera, whose tracks and counts go on. Thread of the pool. */
static void
scan_camera (gpointer data, gpointer user_data)
{
  GPtrArray *paths = data;

  for (guint i = 0; i < paths->len; i++)
    scan_file (user_data, g_ptr_array_index (paths, i));
  g_ptr_array_unref (paths);
}

/* Pushes the files to the pool, by camera. */
static void
push_files (GThreadPool *pool, gchar **files, const gchar *camera)
{
  g_autoptr (GHashTable) cameras = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GPtrArray) all = g_ptr_array_new ();

  for (; *files; files++) {
    gchar *name = camera ? g_strdup (camera) : get_camera_name (*files);
    GPtrArray *paths = g_hash_table_lookup (cameras, name);

    if (!paths) {
      paths = g_ptr_array_new ();
      g_ptr_array_add (all, paths);
      g_hash_table_insert (cameras, g_steal_pointer (&name), paths);
    }
    g_ptr_array_add (paths, *files);
    g_free (name);
  }
  for (guint i = 0; i < all->len; i++)
    g_thread_pool_push (pool, g_ptr_array_index (all, i), NULL);
}

gboolean
watch_scan (WatchSettings *settings, WatchStore *store, gchar **files,
            const WatchScanOptions *options, GError **error)
{
  Scan scan = { settings, store, options, 0 };
  guint jobs = options->jobs ? options->jobs : g_get_num_processors ();
  guint n_files = g_strv_length (files);
  GThreadPool *pool;

  if (options->begin && n_files > 1) {
    g_set_error_literal (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
                         "A begin is for one file, since only one can begin then");
    return FALSE;
  }
  watch_store_stop_spooling (store);
  pool = g_thread_pool_new (scan_camera, &scan, jobs, FALSE, NULL);
  push_files (pool, files, options->camera);
  g_thread_pool_free (pool, FALSE, TRUE);
  if (!watch_store_flush (store)) {
    WatchStoreStats stats;

    watch_store_get_stats (store, &stats);
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "Not all could be written: %s",
                 stats.last_error ? stats.last_error->text : "the database failed");
    web_reason_free (stats.last_error);
    return FALSE;
  }
  if (scan.n_failed > 0) {
    g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "%d of %u files could not be scanned",
                 scan.n_failed, n_files);
    return FALSE;
  }
  return TRUE;
}
