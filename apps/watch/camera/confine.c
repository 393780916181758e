/* cudaccl-watch - keeps a camera's stream to the camera's address
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/camera/confine.h"

#include <string.h>

#include "apps/watch/settings/values.h"
#include "apps/web/reason.h"

/* GstAutoplugSelectResult, which no header has. */
enum
{
  SELECT_TRY = 0,
  SELECT_SKIP = 2,
};

typedef struct
{
  GstElement *pipeline; /* borrowed: it owns the parser */
  gchar *uri;
} Parser;

static void
parser_free (gpointer data, GClosure *closure)
{
  Parser *self = data;

  g_free (self->uri);
  g_free (self);
}

static void
uri_free (gpointer data, GClosure *closure)
{
  g_free (data);
}

/* Before each request: rtspsrc has followed a redirect if its location is another one. */
static gboolean
on_before_send (GstElement *source, gpointer message, gpointer user_data)
{
  g_autofree gchar *location = NULL;

  g_object_get (source, "location", &location, NULL);
  if (!location || !watch_uri_is_same_origin (location, user_data))
    g_object_set (source, "user-id", NULL, "user-pw", NULL, NULL);
  return TRUE;
}

void
watch_confine_source (GstElement *source, const gchar *uri, const gchar *user,
                      const gchar *password)
{
  GObjectClass *class = G_OBJECT_GET_CLASS (source);

  if ((!user && !password) || !g_object_class_find_property (class, "user-id") ||
      !g_object_class_find_property (class, "user-pw"))
    return;
  g_object_set (source, "user-id", user, "user-pw", password, NULL);
  /* souphttpsrc would send them to the host that it is redirected to. */
  if (g_object_class_find_property (class, "automatic-redirect"))
    g_object_set (source, "automatic-redirect", FALSE, NULL);
  if (g_signal_lookup ("before-send", G_OBJECT_TYPE (source)))
    g_signal_connect_data (source, "before-send", G_CALLBACK (on_before_send), g_strdup (uri),
                           uri_free, 0);
}

static gint
on_select (GstElement *bin, GstPad *pad, GstCaps *caps, GstElementFactory *factory,
           gpointer user_data)
{
  const Parser *self = user_data;
  const gchar *class = gst_element_factory_get_metadata (factory, GST_ELEMENT_METADATA_KLASS);
  g_autofree gchar *address = NULL;
  GError *error;

  /* HLS, DASH and Smooth Streaming are Adaptive, SDP is Network. */
  if (!class || (!strstr (class, "Adaptive") && !strstr (class, "Network")))
    return SELECT_TRY;
  address = watch_uri_redact (self->uri);
  error =
      web_reason_to_error (web_reason_new (WEB_REASON_PLAYLIST_REFUSED, "address", address, NULL));
  gst_element_post_message (self->pipeline,
                            gst_message_new_error (GST_OBJECT (self->pipeline), error, NULL));
  g_error_free (error);
  return SELECT_SKIP;
}

void
watch_confine_parser (GstElement *bin, GstElement *pipeline, const gchar *uri)
{
  Parser *self = g_new (Parser, 1);

  self->pipeline = pipeline;
  self->uri = g_strdup (uri);
  g_signal_connect_data (bin, "autoplug-select", G_CALLBACK (on_select), self, parser_free, 0);
}
