/* cudaccl - requests and answers over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/web/http.h"

#include <gst/base/gstccljsonparse.h>
#include <string.h>

#include "apps/web/json.h"

void
web_http_bytes (SoupServerMessage *message, guint status, const gchar *type, GBytes *body)
{
  SoupMessageHeaders *headers = soup_server_message_get_response_headers (message);

  soup_server_message_set_status (message, status, NULL);
  soup_message_headers_set_content_type (headers, type, NULL);
  soup_message_body_append_bytes (soup_server_message_get_response_body (message), body);
}

void
web_http_json (SoupServerMessage *message, guint status, gchar *text)
{
  g_autoptr (GBytes) body = g_bytes_new_take (text, strlen (text));

  web_http_bytes (message, status, "application/json", body);
}

void
web_http_error (SoupServerMessage *message, guint status, const gchar *format, ...)
{
  GString *json = web_json_new ();
  g_autofree gchar *text = NULL;
  va_list arguments;

  va_start (arguments, format);
  text = g_strdup_vprintf (format, arguments);
  va_end (arguments);
  web_json_add_string (json, "error", text);
  web_http_json (message, status, web_json_take (json));
}

void
web_http_refuse (SoupServerMessage *message, guint status, WebReason *reason)
{
  GString *json = web_json_new ();

  web_json_add_string (json, "error", reason->text);
  web_reason_add_json (json, "reason", reason);
  web_http_json (message, status, web_json_take (json));
  web_reason_free (reason);
}

void
web_http_fail (SoupServerMessage *message, guint status, const GError *error)
{
  const WebReason *reason = web_reason_from_error (error);

  if (reason)
    web_http_refuse (message, status, web_reason_copy (reason));
  else
    web_http_error (message, status, "%s", error->message);
}

gboolean
web_http_refuse_value (const WebRequest *request, const gchar *name, const gchar *expected)
{
  web_http_refuse (request->message, SOUP_STATUS_BAD_REQUEST,
                   web_reason_new (WEB_REASON_VALUE_WRONG, "name", name, "detail", expected, NULL));
  return FALSE;
}

void
web_http_pause (SoupServerMessage *message)
{
#if SOUP_CHECK_VERSION(3, 2, 0)
  soup_server_message_pause (message);
#else
  soup_server_pause_message (g_object_get_data (G_OBJECT (message), "soup"), message);
#endif
}

void
web_http_unpause (SoupServerMessage *message)
{
#if SOUP_CHECK_VERSION(3, 2, 0)
  soup_server_message_unpause (message);
#else
  soup_server_unpause_message (g_object_get_data (G_OBJECT (message), "soup"), message);
#endif
}

void
web_http_abort (SoupServerMessage *message)
{
  g_autoptr (GIOStream) stream = soup_server_message_steal_connection (message);

  if (stream)
    g_io_stream_close (stream, NULL, NULL);
}

const gchar *
web_http_get (const WebRequest *request, const gchar *name)
{
  const gchar *value = request->query ? g_hash_table_lookup (request->query, name) : NULL;

  return value && *value ? value : NULL;
}

/* json-glib ends strings there, silently. */
static gboolean
has_null_character (const gchar *text)
{
  for (const gchar *at = strchr (text, '\\'); at && at[1]; at = strchr (at + 2, '\\'))
    if (g_str_has_prefix (at, "\\u0000"))
      return TRUE;
  return FALSE;
}

JsonObject *
web_http_get_object (const WebRequest *request)
{
  g_autoptr (GBytes) body =
      soup_message_body_flatten (soup_server_message_get_request_body (request->message));
  g_autofree gchar *text = g_strndup (g_bytes_get_data (body, NULL), g_bytes_get_size (body));
  g_autoptr (GError) error = NULL;
  g_autoptr (JsonNode) root = NULL;

  if (strlen (text) != g_bytes_get_size (body) || !g_utf8_validate (text, -1, NULL)) {
    web_http_error (request->message, SOUP_STATUS_BAD_REQUEST, "the body is not UTF-8");
    return NULL;
  }
  if (has_null_character (text)) {
    web_http_error (request->message, SOUP_STATUS_BAD_REQUEST,
                    "the body has the character U+0000: leave it out");
    return NULL;
  }
  root = gst_ccl_json_parse (text, "body", &error);
  if (root && JSON_NODE_HOLDS_OBJECT (root))
    return json_node_dup_object (root);
  web_http_error (request->message, SOUP_STATUS_BAD_REQUEST, "%s",
                  error ? error->message : "the body must be an object of JSON");
  return NULL;
}
