/* cudaccl-watch - what is wrong with a camera, in words
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/camera/errors.h"
#include "apps/watch/settings/values.h"

#include <gio/gio.h>
#include <string.h>
#include <gst/pbutils/pbutils.h>

/* What elements say in their errors' text or debug text, and what it means. The first that fits
 * counts. */
static const struct
{
  const gchar *says, *text;
} texts[] = {
  { "Unauthorized", "the camera refuses the user or password; check `credentials`" },
  { "(401)", "the camera refuses the user or password; check `credentials`" },
  { "Forbidden", "the camera does not allow this user to see the stream (403)" },
  { "(404)", "the camera has no such stream (404); check the path in `uri`" },
  { "Not Found", "the camera has no such stream (404); check the path in `uri`" },
  { "(454)", "the camera ended the session" },
  { "(503)", "the camera is busy (503): perhaps it serves no more viewers" },
  { "(461)", "the camera cannot send over TCP; try rtspu:// instead of rtsp://" },
  { "Connection refused", "nothing answers at this address and port; is the camera on?" },
  { "No route to host", "there is no way to this address; check the network and the address" },
  { "Network is unreachable", "there is no way to this address; check the network" },
  { "timed out", "the camera does not answer; is it on, and in this network?" },
  { "Timeout", "the camera does not answer; is it on, and in this network?" },
  { "Could not resolve", "there is no machine of this name; check the address" },
  { "Error resolving", "there is no machine of this name; check the address" },
  { "Name or service not known", "there is no machine of this name; check the address" },
  { "TLS",
    "the connection is not secure: its certificate is not valid; use rtsp:// or http:// in a "
    "network that you trust" },
  { "certificate", "the certificate of the camera is not valid" },
  { "closed the connection", "the camera closed the connection" },
  { "Could not read from resource", "the connection to the camera broke" },
  { "Could not write to resource", "the connection to the camera broke" },
  { "No such file", "there is no such file or device" },
  { "Permission denied", "the file or device may not be read; check its permissions" },
  { "Device or resource busy", "another program uses the device" },
  { "Device or resource is busy", "another program uses the device" },
};

static gchar *
hide (gchar *text, const gchar *secret)
{
  gchar **parts;
  gchar *hidden;

  if (!secret || !secret[0])
    return text;
  parts = g_strsplit (text, secret, -1);
  hidden = g_strjoinv ("***", parts);
  g_strfreev (parts);
  g_free (text);
  return hidden;
}

gchar *
watch_error_to_text (const GError *error, const gchar *debug, const gchar *source, const gchar *uri,
                     const gchar *password)
{
  g_autofree gchar *redacted = watch_uri_redact (uri);
  gchar *text;

  /* In words already. */
  if (error->domain == G_IO_ERROR)
    return g_strdup (error->message);
  for (guint i = 0; i < G_N_ELEMENTS (texts); i++) {
    if (strstr (error->message, texts[i].says) || (debug && strstr (debug, texts[i].says)))
      return g_strdup_printf ("%s: %s", redacted, texts[i].text);
  }
  if (g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_AUTHORIZED))
    return g_strdup_printf ("%s: %s", redacted, texts[0].text);
  text = g_strdup_printf ("%s: %s%s%s%s", redacted, error->message, source ? " (" : "",
                          source ? source : "", source ? ")" : "");
  text = hide (text, password);
  /* Messages may have the address with its query. */
  if (!g_str_equal (uri, redacted)) {
    gchar **parts = g_strsplit (text, uri, -1);

    g_free (text);
    text = g_strjoinv (redacted, parts);
    g_strfreev (parts);
  }
  return text;
}

static const gchar *
get_package (const gchar *name)
{
  static const struct
  {
    const gchar *prefix, *package;
  } packages[] = {
    { "rtsp", "gstreamer1.0-plugins-good" },     { "v4l2", "gstreamer1.0-plugins-good" },
    { "souphttp", "gstreamer1.0-plugins-good" }, { "jpeg", "gstreamer1.0-plugins-good" },
    { "h26", "gstreamer1.0-plugins-bad" },       { "video", "gstreamer1.0-plugins-base" },
    { "parsebin", "gstreamer1.0-plugins-base" }, { "ccl", "cudaccl" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (packages); i++) {
    if (g_str_has_prefix (name, packages[i].prefix))
      return packages[i].package;
  }
  return "libgstreamer1.0-0";
}

gchar *
watch_missing_element_to_text (const gchar *name)
{
  return g_strdup_printf ("GStreamer's element %s is missing; install the package %s, or add its "
                          "folder to GST_PLUGIN_PATH",
                          name, get_package (name));
}

gchar *
watch_missing_decoder_to_text (const GstCaps *caps)
{
  g_autoptr (GstCaps) first = gst_caps_fixate (gst_caps_copy_nth (caps, 0));
  g_autofree gchar *codec = gst_pb_utils_get_codec_description (first);

  return g_strdup_printf ("there is no decoder for %s; install the package gstreamer1.0-libav, or "
                          "choose another codec, such as H.264, in the camera's settings",
                          codec ? codec
                                : gst_structure_get_name (gst_caps_get_structure (first, 0)));
}
