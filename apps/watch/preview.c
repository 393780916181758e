/* cudaccl-watch - one picture of an address, before it is a camera
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "camera-stream.h"
#include "preview.h"

#include <gst/app/gstappsink.h>

#define TIMEOUT (15 * GST_SECOND)
#define MAX_SIZE 1280 /* pixels a side */

void
watch_preview_free (gpointer data)
{
  WatchPreview *preview = data;

  g_free (preview->uri);
  g_free (preview->user);
  g_free (preview->password);
  g_free (preview);
}

static void
on_source (GstElement *bin, GstElement *source, WatchPreview *preview)
{
  GObjectClass *class = G_OBJECT_GET_CLASS (source);

  if (preview->user && g_object_class_find_property (class, "user-id"))
    g_object_set (source, "user-id", preview->user, NULL);
  if (preview->password && g_object_class_find_property (class, "user-pw"))
    g_object_set (source, "user-pw", preview->password, NULL);
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

/* Waits for a picture or an error. */
static void
wait (WatchAnswer *answer, const WatchPreview *preview, GstElement *pipeline, GstAppSink *sink,
      GCancellable *cancellable)
{
  g_autoptr (GstBus) bus = gst_element_get_bus (pipeline);

  for (GstClockTime waited = 0; waited < TIMEOUT && !g_cancellable_is_cancelled (cancellable);
       waited += GST_SECOND / 10) {
    g_autoptr (GstSample) sample = gst_app_sink_try_pull_sample (sink, GST_SECOND / 10);
    g_autoptr (GstMessage) message = gst_bus_pop_filtered (bus, GST_MESSAGE_ERROR);

    if (sample) {
      GstBuffer *buffer = gst_sample_get_buffer (sample);
      gsize size = gst_buffer_get_size (buffer);
      gpointer data = NULL;

      gst_buffer_extract_dup (buffer, 0, size, &data, &size);
      answer->status = SOUP_STATUS_OK;
      answer->type = "image/jpeg";
      answer->body = g_bytes_new_take (data, size);
      return;
    }
    if (message) {
      g_autoptr (GError) error = NULL;
      g_autofree gchar *debug = NULL, *text = NULL;

      gst_message_parse_error (message, &error, &debug);
      text = watch_error_to_text (error, debug, NULL, preview->uri, preview->password);
      g_set_error_literal (&answer->error, error->domain, error->code, text);
      return;
    }
    if (gst_app_sink_is_eos (sink))
      break;
  }
  g_set_error (&answer->error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
               "no picture came within %u seconds", (guint) (TIMEOUT / GST_SECOND));
}

void
watch_preview_run (WatchAnswer *answer, gpointer data, GCancellable *cancellable)
{
  WatchPreview *preview = data;
  g_autoptr (GstElement) pipeline = NULL;
  g_autoptr (GstElement) convert = NULL, sink = NULL;
  GstElement *source;

  answer->status = SOUP_STATUS_BAD_GATEWAY;
  /* The address is set as a property: it cannot add elements. */
  pipeline =
      gst_parse_launch ("uridecodebin name=source videoconvert name=convert ! videoscale ! "
                        "video/x-raw,width=[1," G_STRINGIFY (MAX_SIZE) "],height=[1," G_STRINGIFY (
                            MAX_SIZE) "],pixel-aspect-ratio=1/1 ! jpegenc ! "
                                      "appsink name=sink sync=false max-buffers=1 drop=true",
                        &answer->error);
  if (!pipeline || answer->error)
    return;
  source = gst_bin_get_by_name (GST_BIN (pipeline), "source");
  convert = gst_bin_get_by_name (GST_BIN (pipeline), "convert");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "sink");
  g_object_set (source, "uri", preview->uri, NULL);
  g_signal_connect (source, "source-setup", G_CALLBACK (on_source), preview);
  g_signal_connect (source, "autoplug-continue", G_CALLBACK (accept_video), NULL);
  g_signal_connect (source, "pad-added", G_CALLBACK (on_pad), convert);
  gst_object_unref (source);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  wait (answer, preview, pipeline, GST_APP_SINK (sink), cancellable);
  gst_element_set_state (pipeline, GST_STATE_NULL);
}
