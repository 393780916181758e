/* cudaccl-watch - tests of cameras: a file, a ball, and an RTSP server that comes and goes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <glib/gstdio.h>
#include <gst/app/app.h>
#include <gst/ccl/gstccl.h>
#include <gst/check/gstcheck.h>
#include <gst/check/gstharness.h>
#include <sqlite3.h>
#include <string.h>

#include "apps/watch/camera/analysis.h"
#include "apps/watch/camera/errors.h"
#include "apps/watch/camera/frozen.h"
#include "apps/watch/camera/jpeg.h"
#include "apps/watch/camera/stream.h"
#include "apps/watch/camera/tracks.h"
#include "apps/watch/camera/camera.h"
#include "tests/lib/removetree.h"
#include "tests/lib/waitfor.h"
#ifdef HAVE_RTSP_SERVER
#include "tests/lib/rtspserver.h"
#endif

static gchar *folder, *session;
static WatchStore *store;
static WatchMedia *media;

static void
setup (void)
{
  g_autoptr (GError) error = NULL;

  folder = g_dir_make_tmp ("watch-XXXXXX", NULL);
  session = g_uuid_string_random ();
  store = watch_store_open (folder, &error);
  fail_unless (store != NULL, "%s", error ? error->message : "");
  media = watch_media_open (folder, 0, 0, &error);
  fail_unless (media != NULL, "%s", error ? error->message : "");
}

static void
teardown (void)
{
  watch_media_unref (media);
  watch_store_close (store);
  remove_tree (folder);
  g_free (folder);
  g_free (session);
}

/* --- Cameras --- */

static WatchSettings *make_settings (const gchar *format, ...) G_GNUC_PRINTF (1, 2);

static WatchSettings *
make_settings (const gchar *format, ...)
{
  g_autofree gchar *text = NULL, *path = g_build_filename (folder, "watch.conf", NULL);
  g_autoptr (GError) error = NULL;
  WatchSettings *settings;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  settings = watch_settings_parse (path, text, &error);
  fail_unless (settings != NULL, "%s", error ? error->message : "");
  return settings;
}

static WatchCamera *
make_camera (WatchSettings *settings, guint i)
{
  const WatchShared shared = { session, store, media };

  return watch_camera_new (settings, g_ptr_array_index (settings->cameras, i), &shared, NULL, NULL);
}

static WatchCameraState
get_state (WatchCamera *camera, gchar **text)
{
  WatchCameraStatus status;
  WatchCameraState state;

  watch_camera_get_status (camera, &status);
  state = status.state;
  if (text)
    *text = g_strdup (web_reason_get_text (status.reason));
  watch_camera_status_clear (&status);
  return state;
}

static guint64
get_frames (WatchCamera *camera)
{
  WatchCameraStatus status;
  guint64 frames;

  watch_camera_get_status (camera, &status);
  frames = status.frames;
  watch_camera_status_clear (&status);
  return frames;
}

static void
wait_for_state (WatchCamera *camera, WatchCameraState state)
{
  WAIT_FOR (get_state (camera, NULL) == state);
}

static gint
compare_numbers (gconstpointer a, gconstpointer b)
{
  const WatchEvent *x = *(WatchEvent **) a, *y = *(WatchEvent **) b;

  return x->number < y->number ? -1 : x->number > y->number;
}

/* The events so far, in order of their numbers. */
static GPtrArray *
get_events (const gchar *camera, gint kind)
{
  const WatchQuery query = { .camera = camera, .kind = kind, .limit = 1000 };
  g_autoptr (GError) error = NULL;
  GPtrArray *events;
  gint64 next;

  watch_store_flush (store);
  events = watch_store_find_events (store, &query, &next, &error);
  fail_unless (events != NULL, "%s", error ? error->message : "");
  g_ptr_array_sort (events, compare_numbers);
  return events;
}

static guint
count_events (const gchar *camera, gint kind)
{
  g_autoptr (GPtrArray) events = get_events (camera, kind);

  return events->len;
}

#define LINE "tripwires = line: 0.5,0 0.5,1\n"

/* --- Without a server --- */

static guint n_pictures[2];
static GBytes *last_picture;

static void
on_picture (GBytes *jpeg, gpointer user_data)
{
  n_pictures[GPOINTER_TO_UINT (user_data)]++;
  g_clear_pointer (&last_picture, g_bytes_unref);
  last_picture = g_bytes_ref (jpeg);
}

GST_START_TEST (test_ball)
{
  g_autoptr (WatchSettings) settings = make_settings ("[camera a]\nuri = test://\n" LINE);
  g_autoptr (WatchSettings) other =
      make_settings ("[camera a]\nuri = test://\nzones = half: 0,0 0.5,0 0.5,1 0,1\n" LINE);
  WatchCamera *camera = make_camera (settings, 0);
  WatchCameraStatus status;
  const guint8 *bytes;
  guint plain, boxes, before;
  guint64 in = 0;
  gint64 since;
  gsize size;

  wait_for_state (camera, WATCH_CAMERA_RUNNING);
  plain = watch_camera_add_viewer (camera, FALSE, 5, on_picture, GUINT_TO_POINTER (0));
  boxes = watch_camera_add_viewer (camera, TRUE, 5, on_picture, GUINT_TO_POINTER (1));
  WAIT_FOR (count_events ("a", WATCH_EVENT_IN) + count_events ("a", WATCH_EVENT_OUT) > 0);
  fail_unless_equals_int (count_events ("a", WATCH_EVENT_MOTION), 1);
  WAIT_FOR (n_pictures[0] > 1 && n_pictures[1] > 1);
  bytes = g_bytes_get_data (last_picture, &size);
  fail_unless (size > 1000 && bytes[0] == 0xff && bytes[1] == 0xd8);
  watch_camera_remove_viewer (camera, plain);
  watch_camera_remove_viewer (camera, boxes);
  before = n_pictures[0] + n_pictures[1];

  watch_camera_get_status (camera, &status);
  fail_unless_equals_int (status.width, 640);
  fail_unless_equals_int (status.objects, 1);
  fail_unless (status.moving && status.backend && status.lost == 0);
  fail_unless_equals_string (g_array_index (status.zones, WatchZoneCounts, 0).name, "line");
  in = g_array_index (status.zones, WatchZoneCounts, 0).in +
       g_array_index (status.zones, WatchZoneCounts, 0).out;
  fail_unless (in > 0);
  since = status.since;
  watch_camera_status_clear (&status);

  /* Other zones do not interrupt it. */
  watch_camera_update (camera, g_ptr_array_index (other->cameras, 0));
  WAIT_FOR (count_events ("a", WATCH_EVENT_ENTER) > 0);
  watch_camera_get_status (camera, &status);
  fail_unless_equals_int64 (status.since, since);
  fail_unless_equals_int (status.zones->len, 2);
  watch_camera_status_clear (&status);
  fail_unless_equals_int (n_pictures[0] + n_pictures[1], before);
  watch_camera_free (camera);
  g_clear_pointer (&last_picture, g_bytes_unref);

  /* Each event is there once, in order, and those with an object have a picture. */
  {
    g_autoptr (GPtrArray) events = get_events ("a", -1);

    for (guint i = 0; i < events->len; i++) {
      const WatchEvent *event = g_ptr_array_index (events, i);

      fail_unless_equals_uint64 (event->number, i + 1);
      if (event->track)
        fail_unless (event->picture != NULL);
    }
  }
}
GST_END_TEST;

/* The ball is of no class. */
GST_START_TEST (test_classes)
{
  static const gchar *const classes[] = { "person", NULL };
  g_autoptr (WatchSettings) settings = make_settings ("[camera a]\nuri = test://\n" LINE);
  WatchCameraSettings *of_camera = g_ptr_array_index (settings->cameras, 0);
  WatchCameraStatus status;
  WatchCamera *camera;

  /* Settings take classes with a model only, which would be slow. */
  of_camera->classes = g_strdupv ((gchar **) classes);
  camera = make_camera (settings, 0);
  WAIT_FOR (get_frames (camera) > 60);
  watch_camera_get_status (camera, &status);
  fail_unless_equals_int (status.objects, 0);
  fail_if (status.moving);
  watch_camera_status_clear (&status);
  fail_unless_equals_int (count_events ("a", -1), 0);
  watch_camera_free (camera);
}
GST_END_TEST;

/* Makes a second of video. */
static gchar *
make_file (void)
{
  gchar *path = g_build_filename (folder, "ball.avi", NULL);
  g_autofree gchar *text = g_strdup_printf (
      "videotestsrc pattern=ball num-buffers=20 ! video/x-raw,width=160,height=120,framerate=20/1 "
      "! jpegenc ! avimux ! filesink location=%s",
      path);
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS | GST_MESSAGE_ERROR);
  fail_unless (GST_MESSAGE_TYPE (message) == GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  return path;
}

GST_START_TEST (test_file)
{
  g_autofree gchar *path = make_file (), *text = NULL;
  g_autoptr (WatchSettings) settings =
      make_settings ("[camera once]\nuri = %s\n[camera loop]\nuri = %s\nloop = true\n"
                     "[camera none]\nuri = /none.avi\n[camera off]\nuri = test://\nenabled = no\n",
                     path, path);
  WatchCamera *once = make_camera (settings, 0), *loop = make_camera (settings, 1),
              *none = make_camera (settings, 2), *off = make_camera (settings, 3);
  gint64 start = g_get_monotonic_time ();

  wait_for_state (once, WATCH_CAMERA_OFF);
  fail_unless_equals_uint64 (get_frames (once), 20);
  WAIT_FOR (get_frames (loop) > 50);
  /* At its rate. */
  fail_unless (g_get_monotonic_time () > start + 2 * G_USEC_PER_SEC);
  fail_unless_equals_int (get_state (loop, NULL), WATCH_CAMERA_RUNNING);
  fail_unless_equals_int (count_events ("loop", WATCH_EVENT_LOST), 0);
  fail_unless_equals_int (get_state (none, &text), WATCH_CAMERA_LOST);
  fail_unless (strstr (text, "there is no such file") != NULL, "%s", text);
  {
    g_autoptr (GPtrArray) events = get_events ("none", WATCH_EVENT_LOST);
    const WatchEvent *event = g_ptr_array_index (events, 0);

    fail_unless_equals_string (event->text, text);
    fail_unless (g_str_has_prefix (event->reason, "{\"code\":\"file-missing\","), "%s",
                 event->reason);
  }
  fail_unless_equals_int (count_events ("none", WATCH_EVENT_LOST), 1);
  fail_unless_equals_int (get_state (off, NULL), WATCH_CAMERA_OFF);
  watch_camera_free (once);
  watch_camera_free (loop);
  watch_camera_free (none);
  watch_camera_free (off);
}
GST_END_TEST;

static void
on_changed (WatchCamera *camera, gpointer user_data)
{
  ++*(guint *) user_data;
}

/* Whether its reason is @code; empty: there is none. */
static gboolean
has_code (WatchCamera *camera, const gchar *code)
{
  WatchCameraStatus status;
  gboolean has;

  watch_camera_get_status (camera, &status);
  has = g_str_equal (code, status.reason ? status.reason->code : "");
  watch_camera_status_clear (&status);
  return has;
}

/* Settings that change while it runs. */
GST_START_TEST (test_update)
{
  g_autofree gchar *path = make_file ();
  static const gchar *const days[] = { "mon", "tue", "wed", "thu", "fri", "sat", "sun" };
  g_autoptr (GDateTime) now = g_date_time_new_now_local ();
  /* In three days. */
  g_autofree gchar *later = g_strdup_printf ("loop = true\nschedule = %s 10:00-10:01\n",
                                             days[(g_date_time_get_day_of_week (now) + 2) % 7]);
  const struct
  {
    const gchar *path, *more;
    WatchCameraState state;
    const gchar *code; /* of the reason */
    guint lost, back;  /* events so far */
  } steps[] = {
    { path, "loop = true\n", WATCH_CAMERA_RUNNING, "no-clips", 0, 0 },
    { path, "loop = true\nrecord = false\n", WATCH_CAMERA_RUNNING, "", 0, 0 },
    { path, "loop = true\nrecord = false\nmax-rate = 2\n", WATCH_CAMERA_RUNNING, "rate-limited", 0,
      0 },
    { path, later, WATCH_CAMERA_OFF, "outside-schedule", 0, 0 },
    { path, "loop = true\nenabled = false\n", WATCH_CAMERA_OFF, "disabled", 0, 0 },
    { path, "", WATCH_CAMERA_OFF, "file-ended", 0, 0 },
    { "/none.avi", "", WATCH_CAMERA_LOST, "file-missing", 1, 0 },
    { path, "loop = true\n", WATCH_CAMERA_RUNNING, "no-clips", 1, 1 },
  };
  const WatchShared shared = { session, store, media };
  WatchCamera *camera = NULL;
  guint n_changes = 0;

  for (guint i = 0; i < G_N_ELEMENTS (steps); i++) {
    g_autoptr (WatchSettings) settings =
        make_settings ("[camera a]\nuri = %s\n%s", steps[i].path, steps[i].more);
    WatchCameraSettings *own = g_ptr_array_index (settings->cameras, 0);
    const guint before = n_changes;

    if (camera)
      watch_camera_update (camera, own);
    else
      camera = watch_camera_new (settings, own, &shared, on_changed, &n_changes);
    /* Once more: nothing changes. */
    watch_camera_update (camera, own);
    WAIT_FOR (get_state (camera, NULL) == steps[i].state && has_code (camera, steps[i].code));
    fail_unless (n_changes > before, "step %u: on_changed was not called", i);
    fail_unless_equals_int (count_events ("a", WATCH_EVENT_LOST), steps[i].lost);
    fail_unless_equals_int (count_events ("a", WATCH_EVENT_BACK), steps[i].back);
  }
  watch_camera_free (camera);
}
GST_END_TEST;

/* A camera is lost from its last event `lost` until an event `back`. */
GST_START_TEST (test_lost_since)
{
  static const struct
  {
    const gchar *camera;
    WatchEventKind kind;
    gint64 since; /* of the yard, after the event */
  } cases[] = {
    { "hall", WATCH_EVENT_LOST, 0 }, { "yard", WATCH_EVENT_LOST, 2 },
    { "hall", WATCH_EVENT_BACK, 2 }, { "yard", WATCH_EVENT_STILL, 2 },
    { "yard", WATCH_EVENT_BACK, 0 }, { "yard", WATCH_EVENT_LOST, 6 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    const WatchEvent event = { .camera = (gchar *) cases[i].camera,
                               .session = session,
                               .number = i + 1,
                               .time = i + 1,
                               .kind = cases[i].kind };
    WatchStorePast past;

    watch_store_add_event (store, watch_event_copy (&event));
    watch_store_get_past (store, "yard", &past);
    fail_unless_equals_int64 (past.lost_since, cases[i].since);
    watch_store_past_clear (&past);
  }
}
GST_END_TEST;

/* A camera that was lost when the program ended is back when it comes, and not lost once more. */
GST_START_TEST (test_restart)
{
  g_autofree gchar *path = make_file (), *late = g_build_filename (folder, "late.avi", NULL);
  g_autoptr (WatchSettings) settings = make_settings ("[camera a]\nuri = %s\n", late);
  g_autoptr (GPtrArray) lost = NULL, back = NULL;
  WatchCamera *camera = make_camera (settings, 0);

  wait_for_state (camera, WATCH_CAMERA_LOST);
  watch_camera_free (camera);
  g_free (session);
  session = g_uuid_string_random ();
  camera = make_camera (settings, 0);
  fail_unless_equals_int (get_state (camera, NULL), WATCH_CAMERA_CONNECTING);
  wait_for_state (camera, WATCH_CAMERA_LOST);
  fail_unless_equals_int (g_rename (path, late), 0);
  WAIT_FOR (count_events ("a", WATCH_EVENT_BACK) > 0);
  watch_camera_free (camera);

  lost = get_events ("a", WATCH_EVENT_LOST);
  back = get_events ("a", WATCH_EVENT_BACK);
  fail_unless (lost->len == 1 && back->len == 1, "%u, %u", lost->len, back->len);
  {
    const WatchEvent *event = g_ptr_array_index (back, 0);

    fail_unless_equals_string (event->session, session);
    fail_unless_equals_int64 (event->dwell,
                              event->time - ((WatchEvent *) g_ptr_array_index (lost, 0))->time);
  }
}
GST_END_TEST;

/* Frames go on while the database is locked, also the first with a zone, whose counts go on. */
GST_START_TEST (test_locked)
{
  const WatchShared shared = { session, store, media };
  g_autoptr (WatchSettings) settings = make_settings ("[camera a]\nuri = test://\n");
  g_autofree gchar *path = g_build_filename (folder, "watch.sqlite", NULL);
  g_autoptr (GstBuffer) frame = gst_buffer_new ();
  const GstCclZone zones[] = { { .name = (gchar *) "known", .inside = 1 },
                               { .name = (gchar *) "new" } };
  const WatchEvent known = { .camera = (gchar *) "a",
                             .session = session,
                             .number = 1,
                             .time = 1,
                             .kind = WATCH_EVENT_ENTER,
                             .zone = (gchar *) "known",
                             .in = 7,
                             .out = 5 };
  WatchCameraStatus status = { 0 };
  WatchAnalysis *analysis;
  WatchStoreStats stats;
  WatchStorePast past;
  GstVideoInfo video;
  gint64 start;
  sqlite3 *db;

  watch_store_add_event (store, watch_event_copy (&known));
  fail_unless (watch_store_flush (store));
  watch_store_get_past (store, "a", &past);
  analysis = watch_analysis_new (settings, "a", &past, &shared);
  watch_store_past_clear (&past);
  fail_unless_equals_int (sqlite3_open (path, &db), SQLITE_OK);
  fail_unless_equals_int (sqlite3_exec (db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);

  gst_video_info_set_format (&video, GST_VIDEO_FORMAT_GRAY8, 64, 48);
  gst_buffer_add_ccl_zones_meta (frame, 64, 48, zones, G_N_ELEMENTS (zones), NULL, 0);
  watch_analysis_add_event (analysis, WATCH_EVENT_LOST, 2, NULL, 0);
  start = g_get_monotonic_time ();
  watch_analysis_add_frame (analysis, frame, &video, FALSE, 3);
  /* SQLite waits two seconds for the lock. */
  fail_unless (g_get_monotonic_time () < start + G_USEC_PER_SEC);
  watch_store_get_stats (store, &stats);
  fail_unless_equals_int (stats.queued, 1);
  web_reason_free (stats.last_error);

  status.zones = g_array_new (FALSE, FALSE, sizeof (WatchZoneCounts));
  status.boxes = g_array_new (FALSE, FALSE, sizeof (WatchBox));
  watch_analysis_get_status (analysis, &status);
  fail_unless_equals_int (status.zones->len, 2);
  for (guint i = 0; i < status.zones->len; i++) {
    WatchZoneCounts *zone = &g_array_index (status.zones, WatchZoneCounts, i);

    fail_unless_equals_string (zone->name, zones[i].name);
    fail_unless_equals_uint64 (zone->in, i ? 0 : 7);
    fail_unless_equals_uint64 (zone->out, i ? 0 : 5);
    g_free (zone->name);
  }
  watch_camera_status_clear (&status);
  sqlite3_exec (db, "ROLLBACK", NULL, NULL, NULL);
  sqlite3_close (db);
  watch_analysis_free (analysis);
}
GST_END_TEST;

GST_START_TEST (test_path)
{
  WatchLiveTrack *live = watch_live_track_new (7);
  WatchTrack *track;
  guint k = 0;

  /* Right, then down, and a jump that a line would miss. */
  for (guint i = 0; i <= 200; i++) {
    WatchPoint point = { i, MIN (i, 100) / 200.0f, (i > 100 ? i - 100 : 0) / 200.0f, 0.1f, 0.1f };

    if (i == 150)
      point.x += 0.02f;
    watch_live_track_add (live, &point);
  }
  track = watch_live_track_finish (live, "a", session);
  fail_unless_equals_int64 (track->points[0].time, 0);
  fail_unless_equals_int64 (track->points[track->n_points - 1].time, 200);
  fail_unless (track->n_points < 12, "%u points", track->n_points);
  for (guint i = 0; i <= 200; i++) {
    const WatchPoint *a, *b;
    gdouble t, x, y;

    while (track->points[k + 1].time < i)
      k++;
    a = &track->points[k];
    b = a + 1;
    t = (gdouble) (i - a->time) / (b->time - a->time);
    x = MIN (i, 100) / 200.0 + (i == 150 ? 0.02 : 0);
    y = (i > 100 ? i - 100 : 0) / 200.0;
    fail_unless (ABS (a->x + t * (b->x - a->x) - x) < 0.0101);
    fail_unless (ABS (a->y + t * (b->y - a->y) - y) < 0.0101);
  }
  watch_live_track_free (live);
  watch_track_free (track);
}
GST_END_TEST;

/* Pictures as letters, one a second from the first on; a key frame is a capital. */
GST_START_TEST (test_frozen_pictures)
{
  static const struct
  {
    const gchar *pictures;
    guint frozen; /* from this one on; 99: never */
    guint again;  /* until this one */
  } cases[] = {
    { "ABCDEFGHIJKL", 99, 99 },    { "AAAAAAAA", 5, 99 },
    { "AaaaaBbbbbCcccc", 99, 99 }, /* without noise in between */
    { "AbcdeAbcdeAbcde", 5, 99 },  /* encoded anew */
    { "AAAAAAAB", 5, 7 },          { "Abbbbbbbbbbbbbb", 99, 99 },
  };
  GstVideoInfo video;
  guint i, k;

  gst_video_info_set_format (&video, GST_VIDEO_FORMAT_GRAY8, 64, 16);
  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    WatchFrozen frozen = { 0 };

    for (k = 0; cases[i].pictures[k]; k++) {
      GstBuffer *buffer = gst_buffer_new_allocate (NULL, video.size, NULL);

      gst_buffer_memset (buffer, 0, (guint8) g_ascii_toupper (cases[i].pictures[k]), video.size);
      fail_unless_equals_int (watch_frozen_add (&frozen, buffer, &video,
                                                g_ascii_isupper (cases[i].pictures[k]),
                                                (k + 10) * G_USEC_PER_SEC, 5 * G_USEC_PER_SEC),
                              k >= cases[i].frozen && k < cases[i].again);
      gst_buffer_unref (buffer);
    }
  }
}
GST_END_TEST;

/* Pictures are at most 1280 pixels wide, and have the colours of their frames. */
GST_START_TEST (test_pictures)
{
  static const struct
  {
    const gchar *caps;
    gint width, height;
  } cases[] = {
    { "format=NV12,width=1920,height=1080,colorimetry=bt709", 1280, 720 },
    { "format=NV12,width=3841,height=101,colorimetry=bt601", 1280, 32 },
    { "format=I420,width=640,height=479,colorimetry=bt601", 640, 478 },
    { "format=BGRx,width=1281,height=900", 1280, 898 },
    { "format=RGB,width=2,height=2", 2, 2 },
  };
  WatchJpeg *jpeg = watch_jpeg_new (FALSE);

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autofree gchar *source = g_strdup_printf ("videotestsrc num-buffers=1 pattern=red ! "
                                                "capsfilter caps=\"video/x-raw,framerate=25/1,%s\"",
                                                cases[i].caps);
    GstHarness *frames = gst_harness_new_parse (source);
    GstVideoInfo info, seen;
    GstVideoFrame picture;
    GstBuffer *frame;
    GstCaps *caps;

    gst_harness_play (frames);
    frame = gst_harness_pull (frames);
    caps = gst_pad_get_current_caps (frames->sinkpad);
    fail_unless (gst_video_info_from_caps (&info, caps));
    gst_caps_unref (caps);
    /* Twice: what is prepared for the first serves the second. */
    for (guint turn = 0; turn < 2; turn++) {
      GBytes *bytes = watch_jpeg_encode (jpeg, frame, &info);
      GstHarness *pictures = gst_harness_new_parse (
          "jpegdec ! videoconvert ! capsfilter caps=\"video/x-raw,format=RGB\"");
      const guint8 *pixel;
      GstBuffer *decoded;

      fail_unless (bytes != NULL, "%s", cases[i].caps);
      gst_harness_set_src_caps_str (pictures, "image/jpeg");
      gst_harness_push (pictures, gst_buffer_new_wrapped_bytes (bytes));
      g_bytes_unref (bytes);
      gst_harness_push_event (pictures, gst_event_new_eos ());
      decoded = gst_harness_pull (pictures);
      caps = gst_pad_get_current_caps (pictures->sinkpad);
      fail_unless (gst_video_info_from_caps (&seen, caps));
      gst_caps_unref (caps);
      fail_unless_equals_int (GST_VIDEO_INFO_WIDTH (&seen), cases[i].width);
      fail_unless_equals_int (GST_VIDEO_INFO_HEIGHT (&seen), cases[i].height);
      fail_unless (gst_video_frame_map (&picture, &seen, decoded, GST_MAP_READ));
      pixel = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&picture, 0) +
              GST_VIDEO_FRAME_PLANE_STRIDE (&picture, 0) * (cases[i].height - 1);
      fail_unless (pixel[0] >= 250 && pixel[1] <= 5 && pixel[2] <= 5, "%s: %u %u %u", cases[i].caps,
                   pixel[0], pixel[1], pixel[2]);
      gst_video_frame_unmap (&picture);
      gst_buffer_unref (decoded);
      gst_harness_teardown (pictures);
    }
    gst_buffer_unref (frame);
    gst_harness_teardown (frames);
  }
  watch_jpeg_free (jpeg);
}
GST_END_TEST;

GST_START_TEST (test_errors)
{
  static const struct
  {
    gint code;
    const gchar *message, *debug, *code_name, *text;
  } cases[] = {
    { GST_RESOURCE_ERROR_OPEN_READ, "Unauthorized", NULL, "login-refused",
      "rtsp://h/a: the camera refuses the user" },
    { GST_RESOURCE_ERROR_NOT_AUTHORIZED, "?", NULL, "login-refused",
      "the camera refuses the user" },
    { GST_RESOURCE_ERROR_OPEN_READ, "Could not open", "Failed to connect. (Connection refused)",
      "connection-refused", "nothing answers at this address" },
    { GST_RESOURCE_ERROR_FAILED, "bad hunter2 at rtsp://h/a?p=hunter2", NULL, "source-failed",
      "rtsp://h/a: bad *** at rtsp://h/a?p=*** (rtspsrc)" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GError) error =
        g_error_new_literal (GST_RESOURCE_ERROR, cases[i].code, cases[i].message);
    g_autoptr (WebReason) reason =
        watch_error_to_reason (error, cases[i].debug, "rtspsrc", "rtsp://h/a?p=hunter2", "hunter2");

    fail_unless_equals_string (reason->code, cases[i].code_name);
    fail_unless_equals_string (reason->arguments[0], "address");
    fail_unless_equals_string (reason->arguments[1], "rtsp://h/a");
    fail_unless (strstr (reason->text, cases[i].text) != NULL, "%s", reason->text);
    fail_unless (strstr (reason->text, "hunter2") == NULL, "%s", reason->text);
  }
}
GST_END_TEST;

/* --- With a server --- */

#ifdef HAVE_RTSP_SERVER

#define JPEG "jpegenc ! rtpjpegpay"

GST_START_TEST (test_lost)
{
  Server *server = start_server (NULL, JPEG);
  g_autoptr (WatchSettings) settings = make_settings (
      "[camera a]\nuri = rtsp://127.0.0.1:%s/a\n" LINE "[camera b]\nuri = rtsp://127.0.0.1:1/b\n",
      server->port);
  WatchCamera *camera = make_camera (settings, 0), *bad = make_camera (settings, 1);
  g_autofree gchar *port = NULL, *text = NULL;
  guint crossings;
  guint64 last = 0, total = 0;

  wait_for_state (camera, WATCH_CAMERA_RUNNING);
  WAIT_FOR (count_events ("a", WATCH_EVENT_IN) + count_events ("a", WATCH_EVENT_OUT) > 0);
  port = stop_server (server);
  wait_for_state (camera, WATCH_CAMERA_LOST);
  crossings = count_events ("a", WATCH_EVENT_IN) + count_events ("a", WATCH_EVENT_OUT);
  server = start_server (port, JPEG);
  wait_for_state (camera, WATCH_CAMERA_RUNNING);
  WAIT_FOR (count_events ("a", WATCH_EVENT_IN) + count_events ("a", WATCH_EVENT_OUT) > crossings);
  fail_unless_equals_int (get_state (bad, &text), WATCH_CAMERA_LOST);
  fail_unless (strstr (text, "nothing answers") != NULL, "%s", text);
  fail_unless_equals_int (count_events ("b", -1), 1);
  watch_camera_free (bad);

  /* When it is added again, numbers, counts and ids go on. */
  watch_camera_free (camera);
  crossings = count_events ("a", WATCH_EVENT_IN) + count_events ("a", WATCH_EVENT_OUT);
  camera = make_camera (settings, 0);
  WAIT_FOR (count_events ("a", WATCH_EVENT_IN) + count_events ("a", WATCH_EVENT_OUT) > crossings);
  watch_camera_free (camera);
  g_free (stop_server (server));

  fail_unless_equals_int (count_events ("a", WATCH_EVENT_LOST), 1);
  fail_unless_equals_int (count_events ("a", WATCH_EVENT_BACK), 1);
  {
    g_autoptr (GPtrArray) events = get_events ("a", -1);

    for (guint i = 0; i < events->len; i++) {
      const WatchEvent *event = g_ptr_array_index (events, i);

      fail_unless_equals_uint64 (event->number, i + 1);
      if (event->kind == WATCH_EVENT_BACK)
        fail_unless (event->dwell > G_USEC_PER_SEC / 2);
      if (event->kind == WATCH_EVENT_IN || event->kind == WATCH_EVENT_OUT) {
        fail_unless_equals_uint64 (event->in + event->out, ++total);
        fail_unless (event->track >= last);
        last = event->track;
      }
    }
    fail_unless (total >= 3);
  }
  {
    const WatchQuery query = { .camera = "a", .limit = 1000 };
    gint64 next;
    g_autoptr (GPtrArray) tracks = watch_store_find_tracks (store, &query, &next, NULL);
    g_autoptr (GHashTable) numbers = g_hash_table_new (g_int64_hash, g_int64_equal);
    guint n_crossing = 0;

    fail_unless (tracks->len >= 3);
    for (guint i = 0; i < tracks->len; i++) {
      WatchTrack *track = g_ptr_array_index (tracks, i);

      fail_unless (g_hash_table_add (numbers, &track->number),
                   "%" G_GUINT64_FORMAT " is there twice", track->number);
      fail_unless (track->n_points > 0 && track->begin <= track->end);
      if (track->zones) {
        fail_unless_equals_string (track->zones[0], "line");
        fail_if (track->zones[1]);
        n_crossing++;
      }
    }
    fail_unless (n_crossing >= 3);
  }
}
GST_END_TEST;

GST_START_TEST (test_frozen)
{
  Server *server = start_server (NULL, JPEG);
  g_autoptr (WatchSettings) settings =
      make_settings ("[camera a]\nuri = rtsp://127.0.0.1:%s/a\nfrozen-after = 1\n", server->port);
  WatchCamera *camera = make_camera (settings, 0);
  g_autofree gchar *text = NULL;

  wait_for_state (camera, WATCH_CAMERA_RUNNING);
  gst_util_set_object_arg (G_OBJECT (server->source), "pattern", "checkers-8");
  wait_for_state (camera, WATCH_CAMERA_FROZEN);
  fail_unless_equals_int (get_state (camera, &text), WATCH_CAMERA_FROZEN);
  fail_unless (strstr (text, "the same for 1 seconds") != NULL, "%s", text);
  gst_util_set_object_arg (G_OBJECT (server->source), "pattern", "ball");
  wait_for_state (camera, WATCH_CAMERA_RUNNING);
  fail_unless_equals_int (count_events ("a", WATCH_EVENT_LOST), 1);
  fail_unless_equals_int (count_events ("a", WATCH_EVENT_BACK), 1);
  watch_camera_free (camera);
  g_free (stop_server (server));
}
GST_END_TEST;

static gboolean
have (const gchar *name)
{
  g_autoptr (GstElementFactory) factory = gst_element_factory_find (name);

  if (!factory)
    g_print ("skipped: no element %s\n", name);
  return factory != NULL;
}

/* Clips of H.264 from the camera itself. @_i: from the analysed stream, or another one. */
GST_START_TEST (test_clip)
{
  Server *server;
  WatchSettings *settings;
  WatchCamera *camera;
  WatchMediaStats stats = { 0 };

  if (!have ("x264enc") || !have ("h264parse") || !have ("avdec_h264"))
    return;
  server = start_server (NULL, "x264enc tune=zerolatency key-int-max=60 ! rtph264pay");
  settings = make_settings ("[record]\npre-roll = 1\npost-roll = 1\n"
                            "[camera a]\n%suri = rtsp://127.0.0.1:%s/a\n" LINE,
                            __i__ ? "uri = test://\nrecord-" : "", server->port);
  camera = make_camera (settings, 0);
  WAIT_FOR (count_events ("a", WATCH_EVENT_IN) + count_events ("a", WATCH_EVENT_OUT) > 0);
  watch_camera_free (camera);
  {
    g_autoptr (GPtrArray) events = get_events ("a", WATCH_EVENT_MOTION);
    const WatchEvent *event = g_ptr_array_index (events, 0);

    fail_unless (event->clip != NULL);
  }
  do {
    web_reason_free (stats.last_error);
    watch_media_get_stats (media, &stats);
    g_usleep (10000);
  } while (stats.clips == 0 && stats.failed == 0);
  fail_unless_equals_uint64 (stats.failed, 0);
  watch_settings_unref (settings);
  g_free (stop_server (server));
}
GST_END_TEST;

typedef struct
{
  gint n_units; /* atomic */
  gchar *error;
} Recorded;

static void
on_unit (GstBuffer *buffer, GstCaps *caps, gint64 time, gpointer user_data)
{
  g_atomic_int_inc (&((Recorded *) user_data)->n_units);
}

static void
on_recorded_end (const WebReason *reason, gboolean finished, gboolean decoder, gpointer user_data)
{
  ((Recorded *) user_data)->error = g_strdup (reason->text);
}

/* A stream for recording alone goes on until it is stopped, from cameras that send over TCP or UDP
 * alone, which the address names. */
GST_START_TEST (test_recorded_alone)
{
  static const struct
  {
    const gchar *scheme;
    GstRTSPLowerTrans protocol;
  } cases[] = {
    { "rtsp", GST_RTSP_LOWER_TRANS_TCP },
    { "rtspt", GST_RTSP_LOWER_TRANS_TCP },
    { "rtspu", GST_RTSP_LOWER_TRANS_UDP },
  };
  const WatchStreamFuncs funcs = { .encoded = on_unit, .ended = on_recorded_end };

  if (!have ("x264enc") || !have ("h264parse"))
    return;
  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    Server *server = start_server_over (
        NULL, "x264enc tune=zerolatency key-int-max=15 ! rtph264pay", cases[i].protocol);
    g_autoptr (WatchSettings) settings =
        make_settings ("[camera a]\nuri = %s://127.0.0.1:%s/a\n", cases[i].scheme, server->port);
    WatchCameraSettings *camera = g_ptr_array_index (settings->cameras, 0);
    Recorded recorded = { 0 };
    WatchStream *stream =
        watch_stream_new (settings, camera, camera->uri, FALSE, 0, &funcs, &recorded);

    WAIT_FOR (g_atomic_int_get (&recorded.n_units) >= 60 || recorded.error);
    fail_if (recorded.error != NULL, "%s: %s", cases[i].scheme, recorded.error);
    watch_stream_stop (stream);
    fail_unless (watch_stream_wait (stream, g_get_monotonic_time () + 60 * G_USEC_PER_SEC));
    fail_if (recorded.error != NULL, "%s: %s", cases[i].scheme, recorded.error);
    watch_stream_unref (stream);
    g_free (stop_server (server));
  }
}
GST_END_TEST;

#endif

static Suite *
camera_suite (void)
{
  Suite *suite = suite_create ("camera");
  TCase *tcase = tcase_create ("general");

  /* GStreamer's RTSP client may read from a connection that another thread closes: criticals of
   * GIO, rarely. Those of GStreamer's libraries still fail the test. */
  g_log_set_always_fatal (G_LOG_FATAL_MASK);

  suite_add_tcase (suite, tcase);
  tcase_add_checked_fixture (tcase, setup, teardown);
  tcase_add_test (tcase, test_ball);
  tcase_add_test (tcase, test_classes);
  tcase_add_test (tcase, test_file);
  tcase_add_test (tcase, test_update);
  tcase_add_test (tcase, test_lost_since);
  tcase_add_test (tcase, test_restart);
  tcase_add_test (tcase, test_locked);
  tcase_add_test (tcase, test_path);
  tcase_add_test (tcase, test_frozen_pictures);
  tcase_add_test (tcase, test_pictures);
  tcase_add_test (tcase, test_errors);
#ifdef HAVE_RTSP_SERVER
  tcase_add_test (tcase, test_lost);
  tcase_add_test (tcase, test_frozen);
  tcase_add_loop_test (tcase, test_clip, 0, 2);
  tcase_add_test (tcase, test_recorded_alone);
#endif

  return suite;
}

GST_CHECK_MAIN (camera)
