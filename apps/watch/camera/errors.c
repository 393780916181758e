/* cudaccl-watch - why a camera cannot be used
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/camera/errors.h"
#include "apps/watch/settings/values.h"

#include <gio/gio.h>
#include <string.h>
#include <gst/pbutils/pbutils.h>

/* Parts of the text or debug text of elements' errors. The first that fits counts. */
static const struct
{
  const gchar *says;
  WebReasonCode code;
} causes[] = {
  { "Unauthorized", WEB_REASON_LOGIN_REFUSED },
  { "(301)", WEB_REASON_CAMERA_MOVED },
  { "(302)", WEB_REASON_CAMERA_MOVED },
  { "(303)", WEB_REASON_CAMERA_MOVED },
  { "(307)", WEB_REASON_CAMERA_MOVED },
  { "(308)", WEB_REASON_CAMERA_MOVED },
  { "(401)", WEB_REASON_LOGIN_REFUSED },
  { "Forbidden", WEB_REASON_STREAM_FORBIDDEN },
  { "(404)", WEB_REASON_STREAM_MISSING },
  { "Not Found", WEB_REASON_STREAM_MISSING },
  { "(454)", WEB_REASON_SESSION_ENDED },
  { "(503)", WEB_REASON_CAMERA_BUSY },
  { "(461)", WEB_REASON_TCP_REFUSED },
  { "Connection refused", WEB_REASON_CONNECTION_REFUSED },
  { "No route to host", WEB_REASON_NO_ROUTE },
  { "Network is unreachable", WEB_REASON_NETWORK_UNREACHABLE },
  { "timed out", WEB_REASON_NO_ANSWER },
  { "Timeout", WEB_REASON_NO_ANSWER },
  { "Could not resolve", WEB_REASON_HOST_UNKNOWN },
  { "Error resolving", WEB_REASON_HOST_UNKNOWN },
  { "Name or service not known", WEB_REASON_HOST_UNKNOWN },
  { "TLS", WEB_REASON_CONNECTION_INSECURE },
  { "certificate", WEB_REASON_CERTIFICATE_INVALID },
  { "closed the connection", WEB_REASON_CONNECTION_CLOSED },
  { "Could not read from resource", WEB_REASON_CONNECTION_BROKEN },
  { "Could not write to resource", WEB_REASON_CONNECTION_BROKEN },
  { "No such file", WEB_REASON_FILE_MISSING },
  { "Permission denied", WEB_REASON_FILE_FORBIDDEN },
  { "Device or resource busy", WEB_REASON_DEVICE_BUSY },
  { "Device or resource is busy", WEB_REASON_DEVICE_BUSY },
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

WebReason *
watch_error_to_reason (const GError *error, const gchar *debug, const gchar *source,
                       const gchar *uri, const gchar *password)
{
  g_autofree gchar *redacted = watch_uri_redact (uri);
  g_autofree gchar *text = NULL;

  if (web_reason_from_error (error))
    return web_reason_copy (web_reason_from_error (error));
  for (guint i = 0; i < G_N_ELEMENTS (causes); i++) {
    if (strstr (error->message, causes[i].says) || (debug && strstr (debug, causes[i].says)))
      return web_reason_new (causes[i].code, "address", redacted, NULL);
  }
  if (g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_AUTHORIZED))
    return web_reason_new (WEB_REASON_LOGIN_REFUSED, "address", redacted, NULL);
  text = g_strdup_printf ("%s%s%s%s", error->message, source ? " (" : "", source ? source : "",
                          source ? ")" : "");
  text = hide (text, password);
  /* Messages may contain the address with its query. */
  if (!g_str_equal (uri, redacted)) {
    gchar **parts = g_strsplit (text, uri, -1);

    g_free (text);
    text = g_strjoinv (redacted, parts);
    g_strfreev (parts);
  }
  return web_reason_new (WEB_REASON_SOURCE_FAILED, "address", redacted, "detail", text, NULL);
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

WebReason *
watch_missing_element_to_reason (const gchar *name)
{
  return web_reason_new (WEB_REASON_ELEMENT_MISSING, "element", name, "package", get_package (name),
                         NULL);
}

WebReason *
watch_missing_decoder_to_reason (const GstCaps *caps)
{
  g_autoptr (GstCaps) first = gst_caps_fixate (gst_caps_copy_nth (caps, 0));
  g_autofree gchar *codec = gst_pb_utils_get_codec_description (first);

  return web_reason_new (WEB_REASON_DECODER_MISSING, "codec",
                         codec ? codec : gst_structure_get_name (gst_caps_get_structure (first, 0)),
                         NULL);
}
