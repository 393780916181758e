/* cudaccl-watch - tests: an RTSP server with one stream
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef TESTS_LIB_RTSP_SERVER_H
#define TESTS_LIB_RTSP_SERVER_H

#include <gst/check/gstcheck.h>
#include <gst/rtsp-server/rtsp-server.h>

/* In a thread of its own, as another program. */
typedef struct
{
  GMainContext *context;
  GMainLoop *loop;
  GThread *thread;
  GstRTSPServer *server;
  gchar *port;
  guint id;
  GstElement *source; /* of the last client, or NULL */
} Server;

static void
on_configure (GstRTSPMediaFactory *factory, GstRTSPMedia *rtsp, gpointer user_data)
{
  Server *server = user_data;
  g_autoptr (GstElement) bin = gst_rtsp_media_get_element (rtsp);

  g_clear_object (&server->source);
  server->source = gst_bin_get_by_name (GST_BIN (bin), "source");
}

static gpointer
run_server (gpointer data)
{
  Server *server = data;

  g_main_context_push_thread_default (server->context);
  g_main_loop_run (server->loop);
  g_main_context_pop_thread_default (server->context);
  return NULL;
}

/* With @port NULL, any that is free. */
static Server *
start_server_over (const gchar *port, const gchar *encoder, GstRTSPLowerTrans protocols)
{
  Server *server = g_new0 (Server, 1);
  g_autofree gchar *launch = g_strdup_printf (
      "( videotestsrc name=source is-live=true pattern=ball "
      "! video/x-raw,format=I420,width=320,height=240,framerate=60/1 ! %s name=pay0 )",
      encoder);
  GstRTSPMountPoints *mounts;
  GstRTSPMediaFactory *factory;

  server->context = g_main_context_new ();
  server->loop = g_main_loop_new (server->context, FALSE);
  server->server = gst_rtsp_server_new ();
  gst_rtsp_server_set_address (server->server, "127.0.0.1");
  gst_rtsp_server_set_service (server->server, port ? port : "0");
  mounts = gst_rtsp_server_get_mount_points (server->server);
  factory = gst_rtsp_media_factory_new ();
  gst_rtsp_media_factory_set_launch (factory, launch);
  gst_rtsp_media_factory_set_shared (factory, TRUE);
  gst_rtsp_media_factory_set_protocols (factory, protocols);
  g_signal_connect (factory, "media-configure", G_CALLBACK (on_configure), server);
  gst_rtsp_mount_points_add_factory (mounts, "/a", factory);
  g_object_unref (mounts);
  server->id = gst_rtsp_server_attach (server->server, server->context);
  fail_unless (server->id != 0);
  server->port = g_strdup_printf ("%d", gst_rtsp_server_get_bound_port (server->server));
  server->thread = g_thread_new ("server", run_server, server);
  return server;
}

static Server *
start_server (const gchar *port, const gchar *encoder)
{
  return start_server_over (port, encoder, GST_RTSP_LOWER_TRANS_TCP);
}

static GstRTSPFilterResult
remove_client (GstRTSPServer *server, GstRTSPClient *client, gpointer user_data)
{
  return GST_RTSP_FILTER_REMOVE;
}

/* Returns the port. */
static gchar *
stop_server (Server *server)
{
  gchar *port = g_steal_pointer (&server->port);
  GSource *source = g_main_context_find_source_by_id (server->context, server->id);

  g_source_destroy (source);
  g_list_free (gst_rtsp_server_client_filter (server->server, remove_client, NULL));
  g_main_loop_quit (server->loop);
  g_thread_join (server->thread);
  g_clear_object (&server->source);
  g_object_unref (server->server);
  g_main_loop_unref (server->loop);
  g_main_context_unref (server->context);
  g_free (server);
  return port;
}

#endif /* TESTS_LIB_RTSP_SERVER_H */
