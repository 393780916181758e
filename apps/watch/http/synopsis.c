/* cudaccl-watch - the synopsis over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/http/synopsis.h"

#include "apps/watch/http/app.h"
#include "apps/watch/http/live.h"
#include "apps/web/json.h"
#include "apps/watch/http/synopsis-job.h"

#include <stdio.h>
#include <string.h>

#define DEFAULT_SECONDS 180

static void
answer (const WebRequest *request, guint status)
{
  GString *json = web_json_new ();

  watch_synopsis_job_describe (web_server_get_state (request->server), json);
  web_http_json (request->message, status, web_json_take (json));
}

static const gchar *
get_string (JsonObject *object, const gchar *name)
{
  JsonNode *node = json_object_get_member (object, name);

  return node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_string (node) : NULL;
}

static gboolean
is_day (const gchar *text)
{
  gint year, month, day, n = 0;

  return text && strlen (text) == 10 &&
         sscanf (text, "%4d-%2d-%2d%n", &year, &month, &day, &n) == 3 && n == 10 && year > 0 &&
         month > 0 && day > 0 &&
         g_date_valid_dmy ((GDateDay) day, (GDateMonth) month, (GDateYear) year);
}

static gboolean
get_seconds (JsonObject *object, gint64 *seconds)
{
  JsonNode *node = json_object_get_member (object, "seconds");

  *seconds = DEFAULT_SECONDS;
  if (!node)
    return TRUE;
  *seconds = JSON_NODE_HOLDS_VALUE (node) ? json_node_get_int (node) : 0;
  return *seconds >= 15 && *seconds <= 3600;
}

void
watch_synopsis_start (const WebRequest *request)
{
  g_autoptr (WatchSettings) settings = watch_app_get_settings (request->app);
  g_autoptr (JsonObject) object = web_http_get_object (request);
  g_autoptr (GError) error = NULL;
  const gchar *camera, *day;
  gint64 seconds = 0;

  if (!object)
    return;
  camera = get_string (object, "camera");
  day = get_string (object, "day");
  if (!camera || !watch_settings_is_name (camera))
    web_http_refuse_value (request, "camera", "a name");
  else if (!is_day (day))
    web_http_refuse_value (request, "day", "YYYY-MM-DD");
  else if (!get_seconds (object, &seconds))
    web_http_refuse_value (request, "seconds", "15 to 3600");
  else if (watch_synopsis_job_start (web_server_get_state (request->server), settings, camera, day,
                                     (guint) seconds, &error))
    answer (request, SOUP_STATUS_ACCEPTED);
  else
    web_http_fail (request->message,
                   g_error_matches (error, WEB_REASON_ERROR, WEB_REASON_SYNOPSIS_BUSY)
                       ? SOUP_STATUS_CONFLICT
                       : SOUP_STATUS_INTERNAL_SERVER_ERROR,
                   error);
}

void
watch_synopsis_get (const WebRequest *request)
{
  answer (request, SOUP_STATUS_OK);
}

void
watch_synopsis_cancel (const WebRequest *request)
{
  watch_synopsis_job_cancel (web_server_get_state (request->server));
  answer (request, SOUP_STATUS_OK);
}

void
watch_synopsis_video (const WebRequest *request)
{
  const gchar *type = NULL;
  g_autofree gchar *name = NULL;
  g_autofree gchar *path =
      watch_synopsis_job_get_video (web_server_get_state (request->server), &type, &name);

  if (!path) {
    web_http_error (request->message, SOUP_STATUS_NOT_FOUND,
                    "there is no synopsis: POST /api/synopsis makes one");
    return;
  }
  watch_live_send_file (request, path, type, name);
}
