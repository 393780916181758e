/* cudaccl - a recording as an RTSP camera
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Serves the H.264 of FILE on rtsp://127.0.0.1:PORT/, again and again, at RATE frames per second,
 * to all who connect; encode it without B-frames. One process a camera, so that it can be killed or
 * stopped like one: SIGKILL resets its connections, SIGSTOP makes it silent, SIGUSR1 makes it send
 * the same picture until SIGUSR2. Prints its address when it listens. */

#include <glib-unix.h>
#include <gst/app/app.h>
#include <gst/rtsp-server/rtsp-server.h>
#include <stdio.h>
#include <stdlib.h>

/* Of frames that a client has not taken. */
#define MAX_QUEUED 100

typedef struct
{
  GPtrArray *frames; /* of GstBuffer */
  GstCaps *caps;
  GPtrArray *sources; /* of GstElement: appsrc of the streams */
  GstClockTime duration;
  guint next;
  gboolean frozen;
} Camera;

static gboolean
load (Camera *camera, const gchar *file, GError **error)
{
  g_autoptr (GstElement) pipeline = gst_parse_launch (
      "filesrc name=file ! parsebin ! h264parse config-interval=-1 ! "
      "video/x-h264,stream-format=byte-stream,alignment=au ! appsink name=out sync=false",
      error);
  g_autoptr (GstElement) source = NULL, sink = NULL;
  GstSample *sample;

  if (!pipeline)
    return FALSE;
  source = gst_bin_get_by_name (GST_BIN (pipeline), "file");
  sink = gst_bin_get_by_name (GST_BIN (pipeline), "out");
  g_object_set (source, "location", file, NULL);
  gst_element_set_state (pipeline, GST_STATE_PLAYING);
  while ((sample = gst_app_sink_pull_sample (GST_APP_SINK (sink)))) {
    gst_caps_replace (&camera->caps, gst_sample_get_caps (sample));
    g_ptr_array_add (camera->frames, gst_buffer_ref (gst_sample_get_buffer (sample)));
    gst_sample_unref (sample);
  }
  gst_element_set_state (pipeline, GST_STATE_NULL);
  if (camera->frames->len)
    return TRUE;
  g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED, "%s has no H.264", file);
  return FALSE;
}

static gboolean
send_frame (gpointer data)
{
  Camera *camera = data;
  GstBuffer *frame = g_ptr_array_index (camera->frames, camera->frozen ? 0 : camera->next);

  if (!camera->frozen)
    camera->next = (camera->next + 1) % camera->frames->len;
  for (guint i = 0; i < camera->sources->len; i++) {
    GstElement *source = g_ptr_array_index (camera->sources, i);
    GstBuffer *copy = gst_buffer_copy (frame);

    GST_BUFFER_PTS (copy) = GST_BUFFER_DTS (copy) = GST_CLOCK_TIME_NONE;
    GST_BUFFER_DURATION (copy) = camera->duration;
    gst_app_src_push_buffer (GST_APP_SRC (source), copy);
  }
  return G_SOURCE_CONTINUE;
}

static void
on_unprepared (GstRTSPMedia *media, gpointer user_data)
{
  Camera *camera = user_data;

  g_ptr_array_remove (camera->sources, g_object_get_data (G_OBJECT (media), "source"));
}

static void
on_media (GstRTSPMediaFactory *factory, GstRTSPMedia *media, gpointer user_data)
{
  Camera *camera = user_data;
  g_autoptr (GstElement) bin = gst_rtsp_media_get_element (media);
  GstElement *source = gst_bin_get_by_name_recurse_up (GST_BIN (bin), "source");

  g_object_set (source, "caps", camera->caps, NULL);
  g_ptr_array_add (camera->sources, source);
  g_object_set_data (G_OBJECT (media), "source", source);
  g_signal_connect (media, "unprepared", G_CALLBACK (on_unprepared), camera);
}

static gboolean
freeze (gpointer data)
{
  ((Camera *) data)->frozen = TRUE;
  return G_SOURCE_CONTINUE;
}

static gboolean
thaw (gpointer data)
{
  ((Camera *) data)->frozen = FALSE;
  return G_SOURCE_CONTINUE;
}

int
main (int argc, char **argv)
{
  g_autoptr (GMainLoop) loop = NULL;
  g_autoptr (GstRTSPServer) server = NULL;
  g_autoptr (GstRTSPMountPoints) mounts = NULL;
  g_autoptr (GError) error = NULL;
  GstRTSPMediaFactory *factory;
  Camera camera = { 0 };
  gdouble rate;

  gst_init (&argc, &argv);
  rate = argc == 4 ? g_ascii_strtod (argv[3], NULL) : 0;
  if (!(rate >= 1 && rate <= 1000)) {
    fprintf (stderr, "usage: rtsp-camera FILE PORT RATE\n");
    return EXIT_FAILURE;
  }
  camera.frames = g_ptr_array_new_with_free_func ((GDestroyNotify) gst_buffer_unref);
  camera.sources = g_ptr_array_new_with_free_func (gst_object_unref);
  camera.duration = GST_SECOND / rate;
  if (!load (&camera, argv[1], &error)) {
    fprintf (stderr, "rtsp-camera: %s\n", error->message);
    return EXIT_FAILURE;
  }

  loop = g_main_loop_new (NULL, FALSE);
  server = gst_rtsp_server_new ();
  gst_rtsp_server_set_address (server, "127.0.0.1");
  gst_rtsp_server_set_service (server, argv[2]);
  factory = gst_rtsp_media_factory_new ();
  gst_rtsp_media_factory_set_launch (
      factory,
      "( appsrc name=source is-live=true do-timestamp=true format=time leaky-type=downstream "
      "max-buffers=" G_STRINGIFY (MAX_QUEUED) " max-bytes=0 ! h264parse ! rtph264pay name=pay0 "
                                              "pt=96 config-interval=-1 )");
  gst_rtsp_media_factory_set_shared (factory, TRUE);
  g_signal_connect (factory, "media-configure", G_CALLBACK (on_media), &camera);
  mounts = gst_rtsp_server_get_mount_points (server);
  gst_rtsp_mount_points_add_factory (mounts, "/", factory);
  if (!gst_rtsp_server_attach (server, NULL)) {
    fprintf (stderr, "rtsp-camera: cannot listen on port %s\n", argv[2]);
    return EXIT_FAILURE;
  }
  g_unix_signal_add (SIGUSR1, freeze, &camera);
  g_unix_signal_add (SIGUSR2, thaw, &camera);
  g_timeout_add (1000 / rate, send_frame, &camera);
  printf ("rtsp://127.0.0.1:%s/\n", argv[2]);
  fflush (stdout);
  g_main_loop_run (loop);
  return EXIT_SUCCESS;
}
