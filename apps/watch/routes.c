/* cudaccl-watch - the table of its routes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/routes.h"

#include "apps/watch/http/api.h"
#include "apps/watch/http/live.h"
#include "apps/watch/http/metrics.h"
#include "apps/watch/http/search.h"
#include "apps/watch/http/synopsis-job.h"
#include "apps/watch/http/synopsis.h"
#include "apps/watch/onvif/discovery.h"
#include "apps/watch/onvif/services.h"
#include "watch-page.h"

static void
get_readiness (const WebRequest *request)
{
  WatchApp *app = request->app;
  WatchStoreStats stats = { 0 };

  watch_store_get_stats (app->shared.store, &stats);
  if (stats.last_error)
    web_http_error (request->message, SOUP_STATUS_SERVICE_UNAVAILABLE,
                    "the database cannot be written");
  else
    web_http_json (request->message, SOUP_STATUS_OK, g_strdup ("{\"status\":\"ready\"}"));
  web_reason_free (stats.last_error);
}

#define SOAP (WEB_ROUTE_OPEN | WEB_ROUTE_BODY | WEB_ROUTE_SOAP)
#define RANGE "camera zone class begin end before limit"

static const WebRoute routes[] = {
  { "GET", "/healthz", NULL, WEB_ROUTE_OPEN, web_http_health },
  { "GET", "/readyz", NULL, WEB_ROUTE_OPEN, get_readiness },
  { "POST", "/api/login", NULL, WEB_ROUTE_OPEN | WEB_ROUTE_BODY, web_http_log_in },
  { "POST", "/api/logout", NULL, WEB_ROUTE_OPEN, web_http_log_out },
  { "GET", "/api/status", NULL, 0, watch_api_status },
  { "GET", "/api/cameras", NULL, 0, watch_api_cameras },
  { "POST", "/api/cameras", NULL, WEB_ROUTE_BODY, watch_api_add_camera },
  { "PUT", "/api/cameras/{name}", NULL, WEB_ROUTE_BODY, watch_api_change_camera },
  { "DELETE", "/api/cameras/{name}", NULL, 0, watch_api_remove_camera },
  { "GET", "/api/cameras/{name}/live", "boxes rate", WEB_ROUTE_STREAM, watch_live_camera },
  { "GET", "/api/cameras/{name}/snapshot", "boxes", 0, watch_live_snapshot },
  { "GET", "/api/live", "cameras boxes rate", WEB_ROUTE_STREAM, watch_live_cameras },
  { "GET", "/api/events", RANGE " kind", 0, watch_api_events },
  { "GET", "/api/events/stream", NULL, WEB_ROUTE_STREAM, watch_live_events },
  { "GET", "/api/tracks", RANGE " points", 0, watch_api_tracks },
  { "GET", "/api/minutes", "camera zone begin end", 0, watch_api_minutes },
  { "GET", "/api/discover", NULL, 0, watch_discovery_answer },
  { "POST", "/api/try", NULL, WEB_ROUTE_BODY, watch_api_try },
  { "POST", "/api/synopsis", NULL, WEB_ROUTE_BODY, watch_synopsis_start },
  { "GET", "/api/synopsis", NULL, 0, watch_synopsis_get },
  { "DELETE", "/api/synopsis", NULL, 0, watch_synopsis_cancel },
  { "GET", "/api/synopsis/video", NULL, 0, watch_synopsis_video },
  { "GET", "/media/{file}", NULL, 0, watch_live_media },
  { "GET", "/metrics", NULL, 0, watch_metrics },
  { "GET", "/openapi.json", NULL, 0, web_http_page },
  { "POST", WATCH_ONVIF_DEVICE_PATH, NULL, SOAP, watch_onvif_answer },
  { "POST", WATCH_ONVIF_MEDIA_PATH, NULL, SOAP, watch_onvif_answer },
  { "GET", "/{file}", NULL, WEB_ROUTE_OPEN, web_http_page },
};

static gchar *
get_token (gpointer app)
{
  return g_strdup (((WatchApp *) app)->settings->token);
}

static const WebSite site = { routes, G_N_ELEMENTS (routes), "/cudaccl/watch/", get_token };

const WebRoute *
watch_routes_get (guint *n)
{
  *n = G_N_ELEMENTS (routes);
  return routes;
}

WebServer *
watch_server_new (WatchApp *app, GError **error)
{
  const WatchSettings *settings = app->settings;
  const WebAddress address = { settings->listen, settings->certificate, settings->key };
  WebServer *self;

  watch_page_get_resource (); /* keep the linker from dropping the resource */
  self = web_server_new (&site, app, &address, error);
  if (self)
    web_server_set_state (self, watch_synopsis_job_new (settings->data),
                          (GDestroyNotify) watch_synopsis_job_free);
  return self;
}
