/* cudaccl-watch - one picture of an address, before it is a camera
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/camera/confine.h"
#include "apps/watch/camera/errors.h"
#include "apps/watch/camera/limit.h"
#include "apps/watch/http/preview.h"

#include <gst/app/gstappsink.h>

#define MAX_SIZE 1280 /* pixels a side */
#define MAX_THREADS 5 /* two for answers, and three whose source hangs */
#define STEP (GST_SECOND / 10)

/* Shared by the thread of the pipeline and the one that waits for it. */
typedef struct
{
  gint refs;
  WatchPreview preview;
  GMutex lock;
  GCond ended;
  gboolean done, left; /* there is an answer; its receiver has left */
  GstSample *sample;   /* a JPEG picture; or NULL, with */
  GError *error;
} Try;

static gint n_threads;

static void
clear_preview (WatchPreview *preview)
{
  g_free (preview->uri);
  g_free (preview->user);
  g_free (preview->password);
}

void
watch_preview_free (gpointer data)
{
  clear_preview (data);
  g_free (data);
}

static void
try_unref (Try *self)
{
  if (!g_atomic_int_dec_and_test (&self->refs))
    return;
  clear_preview (&self->preview);
  g_clear_pointer (&self->sample, gst_sample_unref);
  g_clear_error (&self->error);
  g_mutex_clear (&self->lock);
  g_cond_clear (&self->ended);
  g_free (self);
}

static void
on_source (GstElement *bin, GstElement *source, WatchPreview *preview)
{
  watch_confine_source (source, preview->uri, preview->user, preview->password);
}

static gboolean
accept_video (GstElement *bin, GstPad *pad, GstCaps *caps, gpointer user_data)
{
  /* Sound is not decoded. */
  return !g_str_has_prefix (gst_structure_get_name (gst_caps_get_structure (caps, 0)), "audio/");
}

static void
on_pad (GstElement *bin, GstPad *pad, GstElement *convert)
{
  g_autoptr (GstPad) sink = gst_element_get_static_pad (convert, "sink");

  if (!gst_pad_is_linked (sink))
    gst_pad_link (pad, sink);
}

/* Returns whether somebody still waits for the picture. */
static gboolean
is_wanted (Try *self)
{
  gboolean wanted;

  g_mutex_lock (&self->lock);
  wanted = !self->left;
  g_mutex_unlock (&self->lock);
  return wanted;
}

/* Waits for a picture or an error. */
static GstSample *
pull (Try *self, GstElement *pipeline, GstAppSink *sink, GError **error)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  while (is_wanted (self)) {
    GstSample *sample = gst_app_sink_try_pull_sample (sink, STEP);
    g_autoptr (GstMessage) message = NULL;

    if (sample)
      return sample;
    message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);
    if (message) {
      g_autoptr (GError) cause = NULL;
      g_autofree gchar *debug = NULL;

      gst_message_parse_error (message, &cause, &debug);
      g_propagate_error (
          error, web_reason_to_error (watch_error_to_reason (cause, debug, NULL, self->preview.uri,
                                                             self->preview.password)));
      return NULL;
    }
    if (gst_app_sink_is_eos (sink))
      break;
  }
  g_propagate_error (error, web_reason_to_error (web_reason_new (WEB_REASON_TEST_ENDED, NULL)));
  return NULL;
}

static GstElement *
make_pipeline (WatchPreview *preview, GError **error)
{
  g_autoptr (GstElement) source = NULL, convert = NULL;
  WatchLimit *limit;
  /* The address is set as a property: it cannot add elements. */
  GstElement *pipeline = gst_parse_launch_full (
      "uridecodebin name=source videoconvert name=convert ! videoscale ! "
      "video/x-raw,width=[1," G_STRINGIFY (MAX_SIZE) "],height=[1," G_STRINGIFY (
          MAX_SIZE) "],pixel-aspect-ratio=1/1 ! jpegenc ! "
                    "appsink name=sink sync=false max-buffers=1 drop=true",
      NULL, GST_PARSE_FLAG_FATAL_ERRORS, error);

  if (!pipeline)
    return NULL;
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  convert = gst_bin_get_by_name (GST_BIN (pipeline), "convert");
  g_object_set (source, "uri", preview->uri, NULL);
  limit = watch_limit_new (pipeline, preview->uri, preview->max_pixels, preview->max_memory);
  watch_limit_add_all (limit);
  watch_limit_unref (limit);
  watch_confine_parser (source, pipeline, preview->uri);
  g_signal_connect (source, "source-setup", G_CALLBACK (on_source), preview);
  g_signal_connect (source, "autoplug-continue", G_CALLBACK (accept_video), NULL);
  g_signal_connect_object (source, "pad-added", G_CALLBACK (on_pad), convert, 0);
  return pipeline;
}

/* Runs in its own thread: devices and network file systems may never return. */
static gpointer
run_try (gpointer data)
{
  Try *self = data;
  g_autoptr (GError) error = NULL;
  g_autoptr (GstElement) pipeline = make_pipeline (&self->preview, &error), sink = NULL;
  GstSample *sample = NULL;

  if (pipeline) {
    sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
    gst_element_set_state (pipeline, GST_STATE_PLAYING);
    sample = pull (self, pipeline, GST_APP_SINK (sink), &error);
  }
  g_mutex_lock (&self->lock);
  self->sample = sample;
  self->error = g_steal_pointer (&error);
  self->done = TRUE;
  g_cond_signal (&self->ended);
  g_mutex_unlock (&self->lock);

  if (pipeline)
    gst_element_set_state (pipeline, GST_STATE_NULL);
  try_unref (self);
  g_atomic_int_add (&n_threads, -1);
  return NULL;
}

static void
take_picture (GstSample *sample, WebAnswer *answer)
{
  GstBuffer *buffer = gst_sample_get_buffer (sample);
  gsize size = gst_buffer_get_size (buffer);
  gpointer data = NULL;

  gst_buffer_extract_dup (buffer, 0, size, &data, &size);
  answer->status = SOUP_STATUS_OK;
  answer->type = "image/jpeg";
  answer->body = g_bytes_new_take (data, size);
}

/* Waits for the thread until the timeout. */
static void
wait_for (Try *self, WebAnswer *answer, GCancellable *cancellable)
{
  g_autofree gchar *seconds = g_strdup_printf ("%.3g", self->preview.timeout / 1e3);
  gint64 now = g_get_monotonic_time (), end = now + self->preview.timeout * G_TIME_SPAN_MILLISECOND;

  g_mutex_lock (&self->lock);
  while (!self->done && now < end && !g_cancellable_is_cancelled (cancellable)) {
    g_cond_wait_until (&self->ended, &self->lock, MIN (end, now + (gint64) (STEP / 1000)));
    now = g_get_monotonic_time ();
  }
  self->left = TRUE;
  if (self->sample)
    take_picture (self->sample, answer);
  else if (self->error)
    answer->error = g_steal_pointer (&self->error);
  else
    answer->error =
        web_reason_to_error (web_reason_new (WEB_REASON_TEST_LATE, "seconds", seconds, NULL));
  g_mutex_unlock (&self->lock);
}

void
watch_preview_run (WebAnswer *answer, gpointer data, GCancellable *cancellable)
{
  const WatchPreview *preview = data;
  Try *self;

  if (g_atomic_int_add (&n_threads, 1) >= MAX_THREADS) {
    g_atomic_int_add (&n_threads, -1);
    answer->status = SOUP_STATUS_SERVICE_UNAVAILABLE;
    answer->error = web_reason_to_error (web_reason_new (WEB_REASON_TESTS_HANG, NULL));
    return;
  }
  answer->status = SOUP_STATUS_BAD_GATEWAY;
  self = g_new0 (Try, 1);
  self->refs = 2;
  g_mutex_init (&self->lock);
  g_cond_init (&self->ended);
  self->preview = *preview;
  self->preview.uri = g_strdup (preview->uri);
  self->preview.user = g_strdup (preview->user);
  self->preview.password = g_strdup (preview->password);
  g_thread_unref (g_thread_new ("watch-preview", run_try, self));
  wait_for (self, answer, cancellable);
  try_unref (self);
}
