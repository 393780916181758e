/* cudaccl-watch - tests of what is made of recordings
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gst/app/gstappsink.h>
#include <gst/app/gstappsrc.h>
#include <gst/check/gstcheck.h>
#include <gst/video/video.h>
#include <string.h>

#include "apps/watch/scan.h"
#include "apps/web/json.h"
#include "apps/watch/store/store.h"
#include "apps/watch/http/synopsis-job.h"
#include "apps/synopsis/private.h"
#include "tests/lib/iofault.h"
#include "tests/lib/removetree.h"

#define WIDTH 320
#define HEIGHT 240
#define RATE 10
#define SECONDS 7
#define SIZE 24
#define GROUND 70
#define BEGIN G_GINT64_CONSTANT (1769860800000000)

static gchar *folder;

static void
setup (void)
{
  folder = g_dir_make_tmp ("watch-recordings-XXXXXX", NULL);
}

static void
teardown (void)
{
  remove_tree (folder);
  g_clear_pointer (&folder, g_free);
}

static gchar *
in_folder (const gchar *name)
{
  return g_build_filename (folder, name, NULL);
}

/* The contents of a recording. */
typedef struct
{
  guint width, height;
  guint n; /* frames */
  guint y; /* of a square that moves to the right; 0: nothing moves */
  guint step;
  guint begin, end; /* frames that show it */
  guint size;       /* of the square; 0: SIZE */
  guint minutes;    /* from a frame to the next; 0: as RATE has it */
} Scene;

static void
write_scene (const gchar *path, const Scene *scene)
{
  g_autoptr (GstElement) pipeline =
      gst_parse_launch ("appsrc name=source format=time ! jpegenc quality=95 ! matroskamux "
                        "! filesink name=sink",
                        NULL);
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;
  g_autoptr (GstCaps) caps = gst_caps_new_simple (
      "video/x-raw", "format", G_TYPE_STRING, "GRAY8", "width", G_TYPE_INT, (gint) scene->width,
      "height", G_TYPE_INT, (gint) scene->height, "framerate", GST_TYPE_FRACTION, RATE, 1, NULL);
  const gsize size = (gsize) scene->width * scene->height;
  const guint square = scene->size ? scene->size : SIZE;

  g_object_set (source, "caps", caps, NULL);
  g_object_set (sink, "location", path, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  for (guint n = 0; n < scene->n; n++) {
    guint8 *pixels = g_malloc (size);
    guint x = 20 + scene->step * (n - MIN (n, 2 * RATE));
    gboolean shown = scene->y && n >= scene->begin && n < scene->end;
    GstBuffer *buffer;

    memset (pixels, GROUND, size);
    for (guint row = scene->y; shown && row < scene->y + square; row++)
      memset (pixels + row * scene->width + x, 220, square);
    buffer = gst_buffer_new_wrapped (pixels, size);
    GST_BUFFER_PTS (buffer) =
        scene->minutes ? n * scene->minutes * 60 * GST_SECOND : n * GST_SECOND / RATE;
    GST_BUFFER_DURATION (buffer) = GST_SECOND / RATE;
    gst_app_src_push_buffer (GST_APP_SRC (source), buffer);
  }
  gst_app_src_end_of_stream (GST_APP_SRC (source));
  message =
      gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_ERROR | GST_MESSAGE_EOS);
  fail_unless_equals_int (GST_MESSAGE_TYPE (message), GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

/* Writes a recording in which a square moves to the right at @y after two seconds; without @y,
 * nothing moves. */
static void
write_recording (const gchar *path, guint y)
{
  write_scene (path, &(Scene){ WIDTH, HEIGHT, RATE * SECONDS, y, 4, 2 * RATE, G_MAXUINT });
}

/* Adds a recording of an hour later than the last. */
static void
add (GArray *recordings, const gchar *name, gint y)
{
  WatchRecording recording = { in_folder (name), BEGIN + recordings->len * G_TIME_SPAN_HOUR };

  if (y >= 0)
    write_recording (recording.path, y);
  else
    g_file_set_contents (recording.path, "no video", -1, NULL);
  g_array_append_val (recordings, recording);
}

static void
recording_clear (gpointer data)
{
  g_free (((WatchRecording *) data)->path);
}

static GArray *
recordings_new (void)
{
  GArray *recordings = g_array_new (FALSE, FALSE, sizeof (WatchRecording));

  g_array_set_clear_func (recordings, recording_clear);
  return recordings;
}

/* Whether the row has pixels of a square. */
static gboolean
has_square (const GstVideoFrame *frame, guint y)
{
  const guint8 *row = (const guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, 0) +
                      y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, 0);
  guint n = 0;

  for (guint x = 0; x < WIDTH; x++)
    n += row[x] > 180;
  return n >= SIZE * 3 / 4;
}

/* Counts the frames, and those with a square in both of the rows, if @n_both is not NULL. */
static void
count_frames (const gchar *path, guint *n_frames, guint *n_both)
{
  g_autoptr (GstElement) pipeline =
      gst_parse_launch ("filesrc name=source ! decodebin ! videoconvert "
                        "! video/x-raw,format=I420 ! appsink name=sink sync=false",
                        NULL);
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  g_autoptr (GstElement) sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  GstSample *sample;

  *n_frames = 0;
  if (n_both)
    *n_both = 0;
  g_object_set (source, "location", path, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_pull_sample (GST_APP_SINK (sink)))) {
    GstVideoFrame frame;
    GstVideoInfo info;
    const guint8 *pixels;

    fail_unless (gst_video_info_from_caps (&info, gst_sample_get_caps (sample)));
    fail_unless_equals_int (info.width, WIDTH);
    fail_unless_equals_int (info.height, HEIGHT);
    fail_unless (gst_video_frame_map (&frame, &info, gst_sample_get_buffer (sample), GST_MAP_READ));
    (*n_frames)++;
    if (n_both) {
      pixels = GST_VIDEO_FRAME_PLANE_DATA (&frame, 0);
      /* The ground shows no square that was there before: in limited range. It has all rows. */
      fail_unless (ABS (pixels[230 * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0) + 8] - 76) < 10);
      fail_unless (ABS (pixels[8] - 76) < 10, "%u", pixels[8]);
      for (guint plane = 1; plane < 3; plane++) {
        pixels = GST_VIDEO_FRAME_PLANE_DATA (&frame, plane);
        fail_unless (ABS (pixels[4] - 128) < 10, "plane %u: %u", plane, pixels[4]);
      }
      *n_both += has_square (&frame, 72) && has_square (&frame, 172);
    }
    gst_video_frame_unmap (&frame);
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
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

GST_START_TEST (test_together)
{
  g_autoptr (GArray) recordings = recordings_new ();
  g_autofree gchar *output = in_folder ("out.mp4");
  g_autoptr (GError) error = NULL;
  WatchSynopsisResult result;
  guint n_frames, n_both;

  add (recordings, "a.mkv", 60);
  add (recordings, "b.mkv", -1);
  add (recordings, "c.mkv", 160);
  fail_unless (watch_synopsis_make (recordings, output, 60, NULL, NULL, NULL, &result, &error),
               "%s", error ? error->message : "");
  fail_unless_equals_int (result.objects, 2);
  fail_unless_equals_int (result.unreadable, 1);
  /* Each takes some four seconds, both together no more. */
  fail_unless (result.seconds > 3 && result.seconds < 6, "%f s", result.seconds);
  count_frames (output, &n_frames, &n_both);
  fail_unless (ABS (n_frames - result.seconds * 15) < 1.5, "%u frames, %f s", n_frames,
               result.seconds);
  fail_unless (n_both > 40, "%u", n_both);
  fail_unless_equals_int (count_files (), 4);
}
GST_END_TEST;

GST_START_TEST (test_apart)
{
  g_autoptr (GArray) recordings = recordings_new ();
  g_autofree gchar *output = in_folder ("out.mp4");
  g_autoptr (GError) error = NULL;
  WatchSynopsisResult result;

  /* At the same place: one follows the other closely. */
  add (recordings, "a.mkv", 60);
  add (recordings, "b.mkv", 60);
  fail_unless (watch_synopsis_make (recordings, output, 60, NULL, NULL, NULL, &result, &error));
  fail_unless_equals_int (result.objects, 2);
  fail_unless (result.seconds > 4.5 && result.seconds < 10, "%f s", result.seconds);
}
GST_END_TEST;

/* Adds a recording of an hour later than the last. */
static void
add_scene (GArray *recordings, const gchar *name, const Scene *scene)
{
  WatchRecording recording = { in_folder (name), BEGIN + recordings->len * G_TIME_SPAN_HOUR };

  write_scene (recording.path, scene);
  g_array_append_val (recordings, recording);
}

/* More backgrounds than are kept: one each ten minutes, from every third frame. */
GST_START_TEST (test_many)
{
  static const Scene still = { .width = WIDTH, .height = HEIGHT, .n = 3 * 132, .minutes = 4 };
  g_autoptr (GArray) recordings = recordings_new ();
  g_autofree gchar *output = in_folder ("out.mp4");
  g_autoptr (GError) error = NULL;
  WatchSynopsisResult result;
  guint n_frames, n_both;

  add (recordings, "a.mkv", 60);
  add_scene (recordings, "still.mkv", &still);
  fail_unless (watch_synopsis_make (recordings, output, 60, NULL, NULL, NULL, &result, &error),
               "%s", error ? error->message : "");
  fail_unless_equals_int (result.objects, 1);
  fail_unless_equals_int (result.unreadable, 0);
  count_frames (output, &n_frames, &n_both);
  fail_unless (n_frames > 45, "%u", n_frames);
}
GST_END_TEST;

/* Which movements are objects, and how recordings that differ from the first are handled. */
GST_START_TEST (test_objects)
{
  static const struct
  {
    Scene scene;
    guint share; /* of the file that is left, in percent */
    guint objects;
  } cases[] = {
    /* Longer ones are split, short ones left out. */
    { { WIDTH, HEIGHT, 300, 160, 1, 20, 300 }, 100, 3 },
    { { WIDTH, HEIGHT, 70, 160, 4, 20, 29 }, 100, 0 },
    /* The camera has got another resolution, or lies on its side. */
    { { 2 * WIDTH, 2 * HEIGHT, 70, 160, 4, 20, 70 }, 100, 1 },
    { { HEIGHT, WIDTH, 70, 160, 2, 20, 70 }, 100, 1 },
    /* The program or the disk ended in between. */
    { { WIDTH, HEIGHT, 70, 160, 4, 20, 70 }, 70, 1 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GArray) recordings = recordings_new ();
    g_autofree gchar *output = in_folder ("out.mp4"), *content = NULL;
    g_autoptr (GError) error = NULL;
    WatchSynopsisResult result;
    guint n_frames;
    gsize size;

    add (recordings, "a.mkv", 60);
    add_scene (recordings, "b.mkv", &cases[i].scene);
    if (cases[i].share < 100) {
      const gchar *path = g_array_index (recordings, WatchRecording, 1).path;

      fail_unless (g_file_get_contents (path, &content, &size, NULL));
      fail_unless (g_file_set_contents (path, content, size * cases[i].share / 100, NULL));
    }
    fail_unless (watch_synopsis_make (recordings, output, 60, NULL, NULL, NULL, &result, &error),
                 "case %u: %s", i, error ? error->message : "");
    fail_unless (result.objects == 1 + cases[i].objects, "case %u: %u objects", i, result.objects);
    fail_unless_equals_int (result.unreadable, 0);
    count_frames (output, &n_frames, NULL);
    fail_unless (n_frames > 45, "case %u: %u frames", i, n_frames);
  }
}
GST_END_TEST;

static gchar *
describe (WatchSynopsisJob *job)
{
  GString *json = web_json_new ();

  watch_synopsis_job_describe (job, json);
  return web_json_take (json);
}

/* Waits until the state is another one; returns what is known then. */
static gchar *
wait_while_running (WatchSynopsisJob *job)
{
  gchar *text = describe (job);

  while (g_str_has_prefix (text, "{\"state\":\"running\"")) {
    g_main_context_iteration (NULL, TRUE);
    g_free (text);
    text = describe (job);
  }
  return text;
}

#define HALF_MADE                                                                    \
  "#!/bin/sh\nwhile [ $# -gt 1 ]; do [ \"$1\" = --output ] && out=$2; shift; done\n" \
  ": >\"$out.part\"\nexec sleep 60\n"

/* The program makes a video from the clips of an event, in a process of its own. */
GST_START_TEST (test_job)
{
  WatchSynopsisJob *job = watch_synopsis_job_new (folder);
  g_autofree gchar *path = in_folder ("watch.conf"), *media = in_folder ("media/yard/2026-01-31"),
                   *clip = g_build_filename (media, "120000-1-abcd.mp4", NULL),
                   *program = in_folder ("program"), *part = in_folder ("synopsis.mp4.part");
  g_autofree gchar *text = NULL, *missing = NULL, *video = NULL, *name = NULL;
  g_autoptr (WatchSettings) settings = NULL;
  g_autoptr (GError) error = NULL;
  const WatchEvent event = { .camera = (gchar *) "yard",
                             .session = (gchar *) "s",
                             .number = 1,
                             .time = BEGIN,
                             .kind = WATCH_EVENT_MOTION,
                             .clip = (gchar *) "yard/2026-01-31/120000-1-abcd.mp4" };
  WatchStore *store = watch_store_open (folder, &error);
  guint n_frames, n_both;
  const gchar *type;

  fail_unless (store != NULL, "%s", error ? error->message : "");
  fail_unless (g_file_set_contents (path, "", -1, NULL));
  settings = watch_settings_load (path, &error);
  fail_unless (settings != NULL, "%s", error ? error->message : "");
  g_free (settings->data);
  settings->data = g_strdup (folder);
  g_mkdir_with_parents (media, 0700);
  write_recording (clip, 60);
  watch_store_add_event (store, watch_event_copy (&event));
  fail_unless (watch_store_flush (store));

  watch_synopsis_job_set_program (job, WATCH_PROGRAM);
  fail_unless (watch_synopsis_job_start (job, settings, "yard", "2026-01-31", 15, &error));
  fail_if (watch_synopsis_job_start (job, settings, "yard", "2026-01-31", 15, &error));
  fail_unless (g_error_matches (error, WEB_REASON_ERROR, WEB_REASON_SYNOPSIS_BUSY));
  text = wait_while_running (job);
  fail_unless (strstr (text, "\"state\":\"done\",\"camera\":\"yard\",\"day\":\"2026-01-31\"") &&
                   strstr (text, "\"progress\":1.0,\"objects\":1,\"recordings\":1"),
               "%s", text);
  video = watch_synopsis_job_get_video (job, &type, &name);
  fail_unless (g_str_has_prefix (name, "yard-2026-01-31.m"), "%s", name);
  count_frames (video, &n_frames, &n_both);
  fail_unless (n_frames > 45, "%u", n_frames);

  /* A day without clips is an error in words, and the video of before is gone. */
  fail_unless (watch_synopsis_job_start (job, settings, "yard", "2026-01-30", 15, NULL));
  missing = wait_while_running (job);
  fail_unless (strstr (missing, "\"state\":\"failed\"") &&
                   strstr (missing, "has no clips of that day"),
               "%s", missing);
  fail_if (g_file_test (video, G_FILE_TEST_EXISTS));
  fail_if (watch_synopsis_job_get_video (job, &type, NULL));

  /* A half-made video does not stay when the program ends. */
  fail_unless (
      g_file_set_contents_full (program, HALF_MADE, -1, G_FILE_SET_CONTENTS_NONE, 0700, NULL));
  watch_synopsis_job_set_program (job, program);
  fail_unless (watch_synopsis_job_start (job, settings, "yard", "2026-01-31", 15, NULL));
  while (!g_file_test (part, G_FILE_TEST_EXISTS))
    g_usleep (10000);
  watch_synopsis_job_free (job);
  fail_if (g_file_test (part, G_FILE_TEST_EXISTS));
  watch_store_close (store);
}
GST_END_TEST;

static void
write_sound (const gchar *path)
{
  g_autofree gchar *text =
      g_strdup_printf ("audiotestsrc num-buffers=50 ! matroskamux ! filesink location=%s", path);
  g_autoptr (GstElement) pipeline = gst_parse_launch (text, NULL);
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = NULL;

  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  message = gst_bus_timed_pop_filtered (bus, GST_CLOCK_TIME_NONE, GST_MESSAGE_EOS);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}

typedef struct
{
  GCancellable *cancellable;
  gdouble at; /* of the progress */
} Canceller;

static void
cancel (gdouble done, gpointer user_data)
{
  const Canceller *canceller = user_data;

  if (done >= canceller->at)
    g_cancellable_cancel (canceller->cancellable);
}

GST_START_TEST (test_errors)
{
  enum
  {
    STILL,
    SQUARE,
    LARGE, /* more cut-outs than between two checks of the disk */
    SOUND,
    NOTHING
  };
  static const Scene large = { 2 * WIDTH, 2 * HEIGHT, 180, 60, 2, 20, 180, 280 };
  static const struct
  {
    guint shows;
    const gchar *output;
    GQuark (*domain) (void);
    gint code;
    gdouble cancel;      /* share of the progress, or 0: not */
    const gchar *folder; /* that is in the way */
    guint failing;       /* calls */
    gint64 space;        /* bytes that are free */
  } cases[] = {
    { STILL, "out.mp4", web_reason_error_quark, WEB_REASON_SYNOPSIS_STILL },
    { NOTHING, "out.mp4", g_io_error_quark, G_IO_ERROR_FAILED },
    { SOUND, "out.mp4", g_io_error_quark, G_IO_ERROR_FAILED },
    { SQUARE, "out.mp4", g_io_error_quark, G_IO_ERROR_CANCELLED, 1e-9 },
    { SQUARE, "out.mp4", g_io_error_quark, G_IO_ERROR_CANCELLED, 0.5 },
    { SQUARE, "out.mp4", g_io_error_quark, G_IO_ERROR_CANCELLED, 0.9 },
    { SQUARE, "missing/out.mp4", g_io_error_quark, G_IO_ERROR_NOT_FOUND },
    { SQUARE, "out.mp4", g_io_error_quark, G_IO_ERROR_IS_DIRECTORY, 0, "out.mp4" },
    { SQUARE, "out.mp4", gst_resource_error_quark, GST_RESOURCE_ERROR_OPEN_WRITE, 0,
      "out.mp4.part" },
    { SQUARE, "out.mp4", g_io_error_quark, G_IO_ERROR_NO_SPACE, 0, NULL, 1u << IO_FAULT_PWRITE },
    { LARGE, "out.mp4", web_reason_error_quark, WEB_REASON_SYNOPSIS_FULL, 0, NULL, 0, 100 << 20 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_autoptr (GArray) recordings = recordings_new ();
    g_autoptr (GCancellable) cancellable = g_cancellable_new ();
    Canceller canceller = { cancellable, cases[i].cancel };
    g_autofree gchar *output = in_folder (cases[i].output);
    g_autofree gchar *way = cases[i].folder ? in_folder (cases[i].folder) : NULL;
    g_autoptr (GError) error = NULL;
    WatchSynopsisResult result;
    IoFault fault = { .kinds = IO_FAULT_ALL,
                      .failing = cases[i].failing,
                      .error = ENOSPC,
                      .fail_end = cases[i].failing ? G_MAXINT64 : 0,
                      .space = cases[i].space };

    if (cases[i].shows == LARGE)
      add_scene (recordings, "a.mkv", &large);
    else
      add (recordings, "a.mkv", cases[i].shows == STILL ? 0 : cases[i].shows == SQUARE ? 60 : -1);
    if (cases[i].shows == SOUND)
      write_sound (g_array_index (recordings, WatchRecording, 0).path);
    if (way)
      fail_unless_equals_int (g_mkdir (way, 0700), 0);
    g_strlcpy (fault.folder, folder, sizeof fault.folder);
    io_fault = &fault;
    fail_if (watch_synopsis_make (recordings, output, 60, cases[i].cancel > 0 ? cancel : NULL,
                                  &canceller, cancellable, &result, &error),
             "case %u", i);
    io_fault = NULL;
    fail_unless (g_error_matches (error, cases[i].domain (), cases[i].code), "case %u: %s", i,
                 error->message);
    if (way)
      fail_unless_equals_int (g_rmdir (way), 0);
    fail_unless_equals_int (count_files (), 1);
  }
}
GST_END_TEST;

/* --- Scanning --- */

#define SETTINGS                                                         \
  "[camera a]\nuri = rtsp://localhost/\ntripwires = gate: 0.4,0 0.4,1\n" \
  "[camera other]\nuri = rtsp://localhost/\ntripwires = gate: 0.4,0 0.4,1\n"

static void
ignore (const gchar *text)
{
}

static guint
count_tracks (WatchStore *store, const gchar *camera, const gchar *zone, const gdouble *line)
{
  WatchQuery query = {
    .camera = camera, .zone = zone, .limit = 100, .points = line, .n_points = line ? 2 : 0
  };
  g_autoptr (GPtrArray) tracks = NULL;
  gint64 next;

  tracks = watch_store_find_tracks (store, &query, &next, NULL);
  return tracks->len;
}

static guint
count_crossings (WatchStore *store, const gchar *camera)
{
  WatchQuery query = { .camera = camera, .zone = "gate", .kind = -1, .limit = 100 };
  g_autoptr (GPtrArray) events = NULL;
  gint64 next;

  events = watch_store_find_events (store, &query, &next, NULL);
  return events->len;
}

GST_START_TEST (test_scan)
{
  static const gdouble middle[] = { 0.3, 0.2, 0.3, 0.5 }, low[] = { 0.3, 0.6, 0.3, 0.9 };
  static const gchar *const names[] = { "a.mkv", "b and c.mkv", "none.mkv", "text.mkv", NULL };
  static const gint positions[] = { 60, 160, 0, -1 };
  g_autoptr (WatchSettings) settings = watch_settings_parse ("/nonexistent", SETTINGS, NULL);
  g_autoptr (GArray) recordings = recordings_new ();
  g_autoptr (GPtrArray) files = g_ptr_array_new ();
  WatchStore *store = watch_store_open (folder, NULL);
  GPrintFunc print = g_set_print_handler (ignore);
  GPrintFunc print_error = g_set_printerr_handler (ignore);
  WatchScanOptions options = { .jobs = 2 };

  for (guint i = 0; names[i]; i++) {
    add (recordings, names[i], positions[i]);
    g_ptr_array_add (files, g_array_index (recordings, WatchRecording, i).path);
  }
  g_ptr_array_add (files, NULL);

  for (guint round = 0; round < 2; round++) {
    g_autoptr (GError) error = NULL;

    /* All but one, and nothing twice. */
    fail_if (watch_scan (settings, store, (gchar **) files->pdata, &options, &error));
    fail_unless (strstr (error->message, "1 of 4 files") != NULL, "%s", error->message);
    fail_unless_equals_int (count_tracks (store, "a", NULL, NULL), 1);
    fail_unless_equals_int (count_tracks (store, "b_and_c", NULL, NULL), 1);
    fail_unless_equals_int (count_tracks (store, NULL, NULL, NULL), 2);
    /* The settings have a camera for the first. */
    fail_unless_equals_int (count_crossings (store, "a"), 1);
    fail_unless_equals_int (count_crossings (store, "b_and_c"), 0);
    fail_unless_equals_int (count_tracks (store, NULL, "gate", NULL), 1);
    fail_unless_equals_int (count_tracks (store, "a", NULL, middle), 1);
    fail_unless_equals_int (count_tracks (store, "a", NULL, low), 0);
    fail_unless_equals_int (count_tracks (store, "b_and_c", NULL, low), 1);
  }

  /* Another camera and time: another scan. */
  {
    WatchQuery query = { .camera = "other", .limit = 1 };
    g_autoptr (GPtrArray) tracks = NULL;
    g_autoptr (GError) error = NULL;
    const WatchTrack *track;
    gint64 next;

    options = (WatchScanOptions){ .camera = "other", .begin = BEGIN };
    fail_if (watch_scan (settings, store, (gchar **) files->pdata, &options, &error));
    fail_unless (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT));
    g_clear_error (&error);
    g_ptr_array_set_size (files, 1);
    g_ptr_array_add (files, NULL);
    fail_unless (watch_scan (settings, store, (gchar **) files->pdata, &options, &error));
    tracks = watch_store_find_tracks (store, &query, &next, NULL);
    fail_unless_equals_int (tracks->len, 1);
    track = g_ptr_array_index (tracks, 0);
    fail_unless (ABS (track->begin - BEGIN - 2.8 * G_TIME_SPAN_SECOND) < G_TIME_SPAN_SECOND);
    fail_unless (ABS (track->end - BEGIN - 6.9 * G_TIME_SPAN_SECOND) < G_TIME_SPAN_SECOND / 2);
    fail_unless_equals_int (count_crossings (store, "other"), 1);
  }

  /* The numbers and counts of a camera go on over its files. */
  {
    WatchStorePast past;

    options = (WatchScanOptions){ .camera = "a", .jobs = 2 };
    g_ptr_array_set_size (files, 0);
    add (recordings, "x.mkv", 60);
    add (recordings, "y.mkv", 60);
    for (guint i = 4; i < recordings->len; i++)
      g_ptr_array_add (files, g_array_index (recordings, WatchRecording, i).path);
    g_ptr_array_add (files, NULL);
    fail_unless (watch_scan (settings, store, (gchar **) files->pdata, &options, NULL));
    fail_unless_equals_int (count_crossings (store, "a"), 3);
    watch_store_get_past (store, "a", &past);
    fail_unless_equals_uint64 (past.last_track, 3);
    fail_unless_equals_int (past.counts->len, 1);
    fail_unless_equals_uint64 (g_array_index (past.counts, WatchStoreCounts, 0).in +
                                   g_array_index (past.counts, WatchStoreCounts, 0).out,
                               3);
    watch_store_past_clear (&past);
  }
  watch_store_close (store);
  g_set_print_handler (print);
  g_set_printerr_handler (print_error);
}
GST_END_TEST;

/* Something is put down once the model has settled, and stands for the camera's static time. */
GST_START_TEST (test_standing_scan)
{
  const Scene scene = { WIDTH, HEIGHT, 24 * RATE, 60, 0, 14 * RATE, G_MAXUINT };
  g_autoptr (WatchSettings) settings = watch_settings_parse (
      "/nonexistent",
      "[camera a]\nuri = rtsp://localhost/\nzones = all: 0,0 1,0 1,1 0,1\nstatic-time = 4\n", NULL);
  g_autofree gchar *path = in_folder ("a.mkv");
  gchar *files[] = { path, NULL };
  WatchStore *store = watch_store_open (folder, NULL);
  const WatchQuery query = { .camera = "a", .kind = WATCH_EVENT_LEFT, .limit = 100 };
  g_autoptr (GPtrArray) events = NULL;
  const WatchScanOptions options = { .begin = BEGIN };
  GPrintFunc print = g_set_print_handler (ignore);
  const WatchEvent *event;
  gint64 next;

  write_scene (path, &scene);
  fail_unless (watch_scan (settings, store, files, &options, NULL));
  events = watch_store_find_events (store, &query, &next, NULL);
  fail_unless_equals_int (events->len, 1);
  event = g_ptr_array_index (events, 0);
  fail_unless_equals_string (event->zone, "all");
  fail_unless (event->dwell >= 4 * G_TIME_SPAN_SECOND && event->dwell < 5 * G_TIME_SPAN_SECOND);
  watch_store_close (store);
  g_set_print_handler (print);
}
GST_END_TEST;

/* A scan that was cut short goes on in a session of its own, so that its tracks are not taken for
 * those of the sessions before. */
GST_START_TEST (test_resumed_scan)
{
  const WatchScanOptions options = { .camera = "a", .begin = BEGIN };
  g_autoptr (WatchSettings) settings = watch_settings_parse ("/nonexistent", SETTINGS, NULL);
  g_autoptr (GArray) recordings = recordings_new ();
  g_autoptr (GPtrArray) sessions = g_ptr_array_new_with_free_func (g_free);
  GPrintFunc print = g_set_print_handler (ignore);
  gchar *files[] = { NULL, NULL };

  add (recordings, "a.mkv", 60);
  files[0] = g_array_index (recordings, WatchRecording, 0).path;
  for (guint n = 0; n < 3; n++) {
    g_autofree gchar *name = g_strdup_printf ("scan-%u", n), *data = in_folder (name);
    const WatchQuery query = { .camera = "a", .limit = 100 };
    g_autoptr (GPtrArray) tracks = NULL;
    g_autoptr (GError) error = NULL;
    WatchStore *store;
    gint64 next;

    g_mkdir (data, 0700);
    store = watch_store_open (data, NULL);
    for (guint i = 0; i < n; i++) {
      WatchPoint point = { BEGIN + i, 0.5f, 0.5f, 0.1f, 0.1f };
      const WatchTrack track = { .camera = (gchar *) "a",
                                 .session = g_ptr_array_index (sessions, i),
                                 .number = i + 1,
                                 .begin = point.time,
                                 .end = point.time + G_TIME_SPAN_SECOND,
                                 .points = &point,
                                 .n_points = 1 };

      watch_store_add_track (store, watch_track_copy (&track));
    }
    fail_unless (watch_scan (settings, store, files, &options, &error));
    tracks = watch_store_find_tracks (store, &query, &next, NULL);
    fail_unless_equals_int (tracks->len, n + 1);
    for (guint i = 0; i < tracks->len; i++) {
      const WatchTrack *track = g_ptr_array_index (tracks, i);

      if (track->number <= n)
        continue;
      for (guint k = 0; k < n; k++)
        fail_if (g_str_equal (track->session, g_ptr_array_index (sessions, k)), "scans %u and %u",
                 n, k);
      fail_unless_equals_int (sessions->len, n);
      g_ptr_array_add (sessions, g_strdup (track->session));
    }
    watch_store_close (store);
  }
  g_set_print_handler (print);
}
GST_END_TEST;

/* Of several cuts at a time, the last one counts. */
GST_START_TEST (test_cuts)
{
  static const gint64 times[] = { 0, 10, 20, 30, 40 };
  g_autoptr (GArray) cuts = g_array_new (FALSE, TRUE, sizeof (WatchCut));
  WatchTube tube = { .cuts = cuts };

  for (guint n = 1; n <= G_N_ELEMENTS (times); n++) {
    WatchCut cut = { .time = times[n - 1] };

    g_array_append_val (cuts, cut);
    for (gint64 time = 0; time < 60; time++)
      fail_unless_equals_int64 (watch_tube_get_cut (&tube, time)->time,
                                times[MIN ((guint) time / 10, n - 1)]);
  }
  g_array_index (cuts, WatchCut, cuts->len - 1).time = G_TIME_SPAN_SECOND;
  fail_unless_equals_int (watch_tube_get_length (&tube), WATCH_SYNOPSIS_RATE + 1);
}
GST_END_TEST;

static Suite *
recordings_suite (void)
{
  Suite *s = suite_create ("recordings");
  TCase *tc = tcase_create ("recordings");

  suite_add_tcase (s, tc);
  tcase_add_checked_fixture (tc, setup, teardown);
  tcase_add_test (tc, test_together);
  tcase_add_test (tc, test_apart);
  tcase_add_test (tc, test_many);
  tcase_add_test (tc, test_objects);
  tcase_add_test (tc, test_job);
  tcase_add_test (tc, test_errors);
  tcase_add_test (tc, test_scan);
  tcase_add_test (tc, test_standing_scan);
  tcase_add_test (tc, test_resumed_scan);
  tcase_add_test (tc, test_cuts);
  return s;
}

GST_CHECK_MAIN (recordings);
