/* cudaccl-watch - a day of a camera in some minutes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/synopsis/private.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <gst/app/gstappsrc.h>
#include <string.h>
#include <unistd.h>

/* Share of the progress for reading. */
#define READ_SHARE 0.9

/* Most frames that wait for the encoder, and time between checks. */
#define MAX_QUEUED 8
#define POLL_TIME (2 * GST_MSECOND)

/* --- Reading --- */

static void
tube_free (gpointer data)
{
  WatchTube *tube = data;

  g_array_unref (tube->cuts);
  g_free (tube);
}

static void
background_clear (gpointer data)
{
  g_free (((WatchBackground *) data)->data);
}

static gint
compare_tubes (gconstpointer a, gconstpointer b)
{
  const WatchTube *x = *(WatchTube *const *) a, *y = *(WatchTube *const *) b;

  return (x->begin > y->begin) - (x->begin < y->begin);
}

static void
scenes_clear (WatchScenes *self)
{
  if (self->file >= 0)
    close (self->file);
  g_ptr_array_unref (self->tubes);
  g_array_unref (self->backgrounds);
}

static gboolean
scenes_init (WatchScenes *self, const gchar *output, GError **error)
{
  g_autofree gchar *name = g_strconcat (output, ".XXXXXX", NULL);

  self->tubes = g_ptr_array_new_with_free_func (tube_free);
  self->backgrounds = g_array_new (FALSE, FALSE, sizeof (WatchBackground));
  g_array_set_clear_func (self->backgrounds, background_clear);
  self->file = g_mkstemp_full (name, O_RDWR | O_CLOEXEC, 0600);
  if (self->file < 0) {
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: %s", output,
                 g_strerror (errno));
    return FALSE;
  }
  /* The file is removed when it is closed. */
  g_unlink (name);
  return TRUE;
}

typedef struct
{
  WatchSynopsisProgress func;
  gpointer user_data;
  guint index, n;
} Progress;

static void
on_reached (gdouble done, gpointer user_data)
{
  const Progress *progress = user_data;

  if (progress->func)
    progress->func (READ_SHARE * (progress->index + done) / progress->n, progress->user_data);
}

static gboolean
read_all (WatchScenes *self, const GArray *recordings, Progress *progress,
          GCancellable *cancellable, guint *unreadable, GError **error)
{
  g_autoptr (GError) first = NULL;

  for (guint i = 0; i < recordings->len; i++) {
    g_autoptr (GError) failure = NULL;

    progress->index = i;
    on_reached (0, progress);
    if (watch_scenes_read (self, &g_array_index (recordings, WatchRecording, i), on_reached,
                           progress, cancellable, &failure))
      continue;
    /* Recordings that cannot be read are left out. */
    if (!g_error_matches (failure, G_IO_ERROR, G_IO_ERROR_FAILED)) {
      g_propagate_error (error, g_steal_pointer (&failure));
      return FALSE;
    }
    (*unreadable)++;
    if (!first)
      first = g_steal_pointer (&failure);
  }
  if (*unreadable == recordings->len && first) {
    g_propagate_error (error, g_steal_pointer (&first));
    return FALSE;
  }
  if (self->tubes->len == 0) {
    g_propagate_error (error,
                       web_reason_to_error (web_reason_new (WEB_REASON_SYNOPSIS_STILL, NULL)));
    return FALSE;
  }
  g_ptr_array_sort (self->tubes, compare_tubes);
  return TRUE;
}

/* --- Writing --- */

/* Returns an encoder for H.264 that works here. */
static GstElement *
make_encoder (void)
{
  static const gchar *const names[] = { "nvh264enc", "vah264enc", "x264enc", "openh264enc",
                                        "avenc_h264" };

  for (guint i = 0; i < G_N_ELEMENTS (names); i++) {
    GstElement *encoder = gst_element_factory_make (names[i], "encoder");
    gboolean works;

    if (!encoder)
      continue;
    gst_object_ref_sink (encoder);
    works = gst_element_set_state (encoder, GST_STATE_READY) == GST_STATE_CHANGE_SUCCESS;
    gst_element_set_state (encoder, GST_STATE_NULL);
    if (works) {
      if (g_str_equal (names[i], "x264enc")) {
        gst_util_set_object_arg (G_OBJECT (encoder), "speed-preset", "veryfast");
        gst_util_set_object_arg (G_OBJECT (encoder), "pass", "qual");
      }
      return encoder;
    }
    gst_object_unref (encoder);
  }
  return NULL;
}

/* Makes the pipeline from appsrc to filesink. */
static GstElement *
make_pipeline (const WatchScenes *scenes, const gchar *path, gboolean *jpeg, GError **error)
{
  GstElement *encoder = make_encoder (), *pipeline, *source, *sink, *head;
  g_autoptr (GstElement) tail = NULL;
  g_autoptr (GstCaps) caps = gst_caps_new_simple (
      "video/x-raw", "format", G_TYPE_STRING, "I420", "width", G_TYPE_INT, scenes->width, "height",
      G_TYPE_INT, scenes->height, "framerate", GST_TYPE_FRACTION, WATCH_SYNOPSIS_RATE, 1, NULL);

  *jpeg = encoder == NULL;
  pipeline = gst_parse_launch_full (
      encoder ? "appsrc name=source format=time ! videoconvert name=head "
                "h264parse name=tail ! mp4mux faststart=true ! filesink name=sink"
              : "appsrc name=source format=time ! videoconvert name=head "
                "! jpegenc ! matroskamux ! filesink name=sink",
      NULL, GST_PARSE_FLAG_FATAL_ERRORS, error);
  if (!pipeline) {
    g_clear_object (&encoder);
    return NULL;
  }
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  head = gst_bin_get_by_name (GST_BIN (pipeline), "head");
  g_object_set (source, "caps", caps, NULL);
  g_object_set (sink, "location", path, NULL);
  if (encoder) {
    tail = gst_bin_get_by_name (GST_BIN (pipeline), "tail");
    gst_bin_add (GST_BIN (pipeline), encoder);
    gst_element_link_many (head, encoder, tail, NULL);
    gst_object_unref (encoder);
  }
  gst_object_unref (source);
  gst_object_unref (sink);
  gst_object_unref (head);
  return pipeline;
}

/* Waits up to @timeout for a message of @types. Returns FALSE if it is an error. */
static gboolean
check_bus (GstElement *pipeline, GstMessageType types, GstClockTime timeout, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);
  g_autoptr (GstMessage) message = gst_bus_timed_pop_filtered (bus, timeout, types);

  if (!message || GST_MESSAGE_TYPE (message) != GST_MESSAGE_ERROR)
    return TRUE;
  gst_message_parse_error (message, error, NULL);
  return FALSE;
}

static gboolean
write_frames (const WatchScenes *scenes, guint n_frames, GstElement *pipeline,
              const Progress *progress, GCancellable *cancellable, GError **error)
{
  g_autoptr (GstElement) source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  WatchPainter *painter = watch_painter_new (scenes, n_frames);
  gboolean done = TRUE, full;
  GstVideoInfo info;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_I420, scenes->width, scenes->height);
  for (guint n = 0; n < n_frames && done; n++) {
    GstBuffer *buffer = gst_buffer_new_allocate (NULL, GST_VIDEO_INFO_SIZE (&info), NULL);
    GstVideoFrame frame;

    GST_BUFFER_PTS (buffer) = gst_util_uint64_scale (n, GST_SECOND, WATCH_SYNOPSIS_RATE);
    GST_BUFFER_DURATION (buffer) = GST_SECOND / WATCH_SYNOPSIS_RATE;
    gst_video_frame_map (&frame, &info, buffer, GST_MAP_WRITE);
    done = watch_painter_draw (painter, n, &frame, error);
    gst_video_frame_unmap (&frame);
    if (!done || g_cancellable_set_error_if_cancelled (cancellable, error)) {
      gst_buffer_unref (buffer);
      done = FALSE;
      break;
    }
    if (gst_app_src_push_buffer (GST_APP_SRC (source), buffer) != GST_FLOW_OK)
      break;
    /* With `block`, appsrc would wait for ever if an element has failed. */
    do {
      full = gst_app_src_get_current_level_bytes (GST_APP_SRC (source)) >=
             MAX_QUEUED * GST_VIDEO_INFO_SIZE (&info);
      done = check_bus (pipeline, GST_MESSAGE_ERROR, full ? POLL_TIME : 0, error);
    } while (full && done && !g_cancellable_is_cancelled (cancellable));
    if (progress->func && n % 64 == 0)
      progress->func (READ_SHARE + (1 - READ_SHARE) * n / n_frames, progress->user_data);
  }
  watch_painter_free (painter);
  if (!done)
    return FALSE;
  gst_app_src_end_of_stream (GST_APP_SRC (source));
  return check_bus (pipeline, GST_MESSAGE_ERROR | GST_MESSAGE_EOS, GST_CLOCK_TIME_NONE, error);
}

static gboolean
write_video (const WatchScenes *scenes, guint n_frames, const gchar *output,
             const Progress *progress, GCancellable *cancellable, gboolean *jpeg, GError **error)
{
  g_autofree gchar *path = g_strconcat (output, ".part", NULL);
  g_autoptr (GstElement) pipeline = make_pipeline (scenes, path, jpeg, error);
  gboolean done;

  if (!pipeline)
    return FALSE;
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  done = write_frames (scenes, n_frames, pipeline, progress, cancellable, error);
  gst_element_set_state (pipeline, GST_STATE_NULL);
  if (done && g_rename (path, output) != 0) {
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s: %s", output,
                 g_strerror (errno));
    done = FALSE;
  }
  if (!done)
    g_unlink (path);
  return done;
}

gboolean
watch_synopsis_make (const GArray *recordings, const gchar *output, guint seconds,
                     WatchSynopsisProgress progress_func, gpointer user_data,
                     GCancellable *cancellable, WatchSynopsisResult *result, GError **error)
{
  Progress progress = { progress_func, user_data, 0, recordings->len };
  WatchScenes scenes = { 0 };
  gboolean done;
  guint n_frames;

  g_return_val_if_fail (seconds >= 15 && seconds <= 3600, FALSE);

  memset (result, 0, sizeof (*result));
  done = scenes_init (&scenes, output, error) &&
         read_all (&scenes, recordings, &progress, cancellable, &result->unreadable, error);
  if (done) {
    n_frames = watch_scenes_plan (&scenes, seconds * WATCH_SYNOPSIS_RATE);
    result->objects = scenes.tubes->len;
    result->seconds = (gdouble) n_frames / WATCH_SYNOPSIS_RATE;
    done = write_video (&scenes, n_frames, output, &progress, cancellable, &result->jpeg, error);
  }
  scenes_clear (&scenes);
  return done;
}
