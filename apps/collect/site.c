/* cudaccl-collect - its page and interface over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/collect/site.h"

#include "collect-page.h"
#include "apps/collect/database.h"
#include "apps/watch/records/json.h"
#include "apps/watch/settings/values.h"

#define MAX_VALUES 7

/* A query to run in a thread. */
typedef struct
{
  WatchSettings *settings;
  const gchar *text;
  gchar *values[MAX_VALUES];
  const gchar *type;
  GString *before; /* put before the answer, or NULL */
} Query;

static Query *
query_new (const WebRequest *request, const gchar *text)
{
  Query *self = g_new0 (Query, 1);

  self->settings = collect_get_settings (request->app);
  self->text = text;
  self->type = "application/json";
  return self;
}

static void
query_free (gpointer data)
{
  Query *self = data;

  for (guint i = 0; i < MAX_VALUES; i++)
    g_free (self->values[i]);
  if (self->before)
    g_string_free (self->before, TRUE);
  watch_settings_unref (self->settings);
  g_free (self);
}

static guint
count_values (const Query *self)
{
  return self->text == collect_db_events ? MAX_VALUES : self->text == collect_db_missing ? 1 : 0;
}

static void
run (WebAnswer *answer, gpointer data, GCancellable *cancellable)
{
  Query *self = data;
  gchar *text =
      collect_db_query (self->settings->database, self->text, (const gchar *const *) self->values,
                        count_values (self), &answer->error);

  if (!text) {
    answer->status = SOUP_STATUS_SERVICE_UNAVAILABLE;
    return;
  }
  if (self->before) {
    g_auto (GStrv) lines = g_strsplit (text, "\n", -1);

    for (gchar **line = lines; *line && **line; line++)
      g_string_append_printf (self->before, "cudaccl_collect_%s\n", *line);
    g_free (text);
    text = g_string_free (g_steal_pointer (&self->before), FALSE);
  }
  answer->status = SOUP_STATUS_OK;
  answer->type = self->type;
  answer->body = g_bytes_new_take (text, strlen (text));
}

static void
get_readiness (const WebRequest *request)
{
  CollectStats stats;

  collect_get_stats (request->app, &stats);
  if (stats.reason)
    /* Needs no token: name no hosts and users. */
    web_http_error (request->message, SOUP_STATUS_SERVICE_UNAVAILABLE,
                    "PostgreSQL or Kafka cannot be used: see /api/status");
  else
    web_http_json (request->message, SOUP_STATUS_OK, g_strdup ("{\"status\":\"ready\"}"));
  web_reason_free (stats.reason);
}

static void
get_status (const WebRequest *request)
{
  g_autoptr (WatchSettings) settings = collect_get_settings (request->app);
  GString *json = web_json_new ();
  CollectStats stats;

  collect_get_stats (request->app, &stats);
  web_json_add_string (json, "version", PACKAGE_VERSION);
  web_json_add_boolean (json, "token", settings->token != NULL);
  web_json_add_int (json, "stored", stats.stored);
  web_json_add_int (json, "again", stats.again);
  web_json_add_int (json, "refused", stats.refused);
  if (stats.last)
    watch_json_add_time (json, "last", stats.last);
  web_reason_add_both (json, stats.reason);
  web_http_json (request->message, SOUP_STATUS_OK, web_json_take (json));
  web_reason_free (stats.reason);
}

static void
get_fleet (const WebRequest *request)
{
  web_http_run (request, run, query_new (request, collect_db_fleet), query_free);
}

static void
get_missing (const WebRequest *request)
{
  Query *query = query_new (request, collect_db_missing);

  query->values[0] = g_strdup_printf ("%u", query->settings->collect_days);
  web_http_run (request, run, query, query_free);
}

/* Reads a time, or answers 400. */
static gboolean
read_time (const WebRequest *request, const gchar *name, gchar **value)
{
  const gchar *text = web_http_get (request, name);
  gint64 time;

  if (!text)
    return TRUE;
  if (!watch_time_from_string (text, &time))
    return web_http_refuse_value (request, name, "a time such as 2026-01-31T12:00:00Z");
  *value = g_strdup_printf ("%" G_GINT64_FORMAT, time);
  return TRUE;
}

static gboolean
read_events (const WebRequest *request, Query *query)
{
  const gchar *before = web_http_get (request, "before");
  const gchar *limit = web_http_get (request, "limit");
  guint64 number = 100;

  query->values[0] = g_strdup (web_http_get (request, "camera"));
  query->values[1] = g_strdup (web_http_get (request, "kind"));
  if (!read_time (request, "begin", &query->values[2]) ||
      !read_time (request, "end", &query->values[3]))
    return FALSE;
  if (limit && !watch_parse_uint (limit, 1, 1000, &number))
    return web_http_refuse_value (request, "limit", "1 to 1000");
  query->values[6] = g_strdup_printf ("%" G_GUINT64_FORMAT, number);
  if (before) {
    g_auto (GStrv) parts = g_strsplit (before, "-", 3);

    if (g_strv_length (parts) != 2 || !watch_parse_uint (parts[0], 0, G_MAXINT64, &number) ||
        !watch_parse_uint (parts[1], 0, G_MAXINT64, &number))
      return web_http_refuse_value (request, "before", "`next` of the page before");
    query->values[4] = g_strdup (parts[0]);
    query->values[5] = g_strdup (parts[1]);
  }
  return TRUE;
}

static void
get_events (const WebRequest *request)
{
  Query *query = query_new (request, collect_db_events);

  if (read_events (request, query))
    web_http_run (request, run, query, query_free);
  else
    query_free (query);
}

static void
get_metrics (const WebRequest *request)
{
  Query *query = query_new (request, collect_db_totals);
  CollectStats stats;

  collect_get_stats (request->app, &stats);
  query->type = "text/plain; version=0.0.4; charset=utf-8";
  query->before = g_string_new (NULL);
  g_string_printf (query->before,
                   "# TYPE cudaccl_collect_stored_total counter\n"
                   "cudaccl_collect_stored_total %" G_GUINT64_FORMAT "\n"
                   "# TYPE cudaccl_collect_again_total counter\n"
                   "cudaccl_collect_again_total %" G_GUINT64_FORMAT "\n"
                   "# TYPE cudaccl_collect_refused_total counter\n"
                   "cudaccl_collect_refused_total %" G_GUINT64_FORMAT "\n"
                   "cudaccl_collect_failing %d\n",
                   stats.stored, stats.again, stats.refused, stats.reason != NULL);
  web_reason_free (stats.reason);
  web_http_run (request, run, query, query_free);
}

static const WebRoute routes[] = {
  { "GET", "/healthz", NULL, WEB_ROUTE_OPEN, web_http_health },
  { "GET", "/readyz", NULL, WEB_ROUTE_OPEN, get_readiness },
  { "POST", "/api/login", NULL, WEB_ROUTE_OPEN | WEB_ROUTE_BODY, web_http_log_in },
  { "POST", "/api/logout", NULL, WEB_ROUTE_OPEN, web_http_log_out },
  { "GET", "/api/status", NULL, 0, get_status },
  { "GET", "/api/fleet", NULL, 0, get_fleet },
  { "GET", "/api/events", "camera kind begin end before limit", 0, get_events },
  { "GET", "/api/missing", NULL, 0, get_missing },
  { "GET", "/metrics", NULL, 0, get_metrics },
  { "GET", "/{file}", NULL, WEB_ROUTE_OPEN, web_http_page },
};

static gchar *
get_token (gpointer app)
{
  g_autoptr (WatchSettings) settings = collect_get_settings (app);

  return g_strdup (settings->token);
}

WebServer *
collect_site_new (Collect *collect, GError **error)
{
  static const WebSite site = { routes, G_N_ELEMENTS (routes), "/cudaccl/collect/", get_token };
  g_autoptr (WatchSettings) settings = collect_get_settings (collect);
  const WebAddress address = { settings->listen, settings->certificate, settings->key };

  collect_page_get_resource (); /* keep the linker from dropping the resource */
  return web_server_new (&site, collect, &address, error);
}
