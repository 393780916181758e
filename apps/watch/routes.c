/* cudaccl-watch - what its server serves
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/web/http.h"
#include "apps/watch/onvif/services.h"
#include "watch-page.h"

static void
get_readiness (const WatchRequest *request)
{
  WatchStoreStats stats = { 0 };

  watch_store_get_stats (watch_get_shared (request->watch)->store, &stats);
  if (stats.last_error)
    watch_http_error (request->message, SOUP_STATUS_SERVICE_UNAVAILABLE,
                      "the database cannot be written");
  else
    watch_http_json (request->message, SOUP_STATUS_OK, g_strdup ("{\"status\":\"ready\"}"));
  g_free (stats.last_error);
}

#define SOAP (WATCH_ROUTE_OPEN | WATCH_ROUTE_BODY | WATCH_ROUTE_SOAP)
#define RANGE "camera zone class begin end before limit"

static const WatchRoute routes[] = {
  { "GET", "/healthz", NULL, WATCH_ROUTE_OPEN, watch_http_health },
  { "GET", "/readyz", NULL, WATCH_ROUTE_OPEN, get_readiness },
  { "POST", "/api/login", NULL, WATCH_ROUTE_OPEN | WATCH_ROUTE_BODY, watch_http_log_in },
  { "POST", "/api/logout", NULL, WATCH_ROUTE_OPEN, watch_http_log_out },
  { "GET", "/api/status", NULL, 0, watch_api_status },
  { "GET", "/api/cameras", NULL, 0, watch_api_cameras },
  { "POST", "/api/cameras", NULL, WATCH_ROUTE_BODY, watch_api_add_camera },
  { "PUT", "/api/cameras/{name}", NULL, WATCH_ROUTE_BODY, watch_api_change_camera },
  { "DELETE", "/api/cameras/{name}", NULL, 0, watch_api_remove_camera },
  { "GET", "/api/cameras/{name}/live", "boxes rate", WATCH_ROUTE_STREAM, watch_live_camera },
  { "GET", "/api/cameras/{name}/snapshot", "boxes", 0, watch_live_snapshot },
  { "GET", "/api/live", "cameras boxes rate", WATCH_ROUTE_STREAM, watch_live_cameras },
  { "GET", "/api/events", RANGE " kind", 0, watch_api_events },
  { "GET", "/api/events/stream", NULL, WATCH_ROUTE_STREAM, watch_live_events },
  { "GET", "/api/tracks", RANGE " points", 0, watch_api_tracks },
  { "GET", "/api/minutes", "camera zone begin end", 0, watch_api_minutes },
  { "GET", "/api/discover", NULL, 0, watch_api_discover },
  { "POST", "/api/try", NULL, WATCH_ROUTE_BODY, watch_api_try },
  { "POST", "/api/synopsis", NULL, WATCH_ROUTE_BODY, watch_synopsis_start },
  { "GET", "/api/synopsis", NULL, 0, watch_synopsis_get },
  { "DELETE", "/api/synopsis", NULL, 0, watch_synopsis_cancel },
  { "GET", "/api/synopsis/video", NULL, 0, watch_synopsis_video },
  { "GET", "/media/{file}", NULL, 0, watch_live_media },
  { "GET", "/metrics", NULL, 0, watch_metrics },
  { "GET", "/openapi.json", NULL, 0, watch_http_page },
  { "POST", WATCH_ONVIF_DEVICE_PATH, NULL, SOAP, watch_onvif_answer },
  { "POST", WATCH_ONVIF_MEDIA_PATH, NULL, SOAP, watch_onvif_answer },
  { "GET", "/{file}", NULL, WATCH_ROUTE_OPEN, watch_http_page },
};

static WatchSettings *
get_settings (gpointer app)
{
  return watch_get_settings (app);
}

static const WatchSite site = { routes, G_N_ELEMENTS (routes), "/cudaccl/watch/", get_settings };

const WatchRoute *
watch_http_get_routes (guint *n)
{
  *n = G_N_ELEMENTS (routes);
  return routes;
}

WatchServer *
watch_server_new (Watch *watch, GError **error)
{
  g_autoptr (WatchSettings) settings = watch_get_settings (watch);
  WatchServer *self;

  watch_page_get_resource (); /* a linker leaves out what is never named */
  self = watch_server_new_for (&site, watch, error);
  if (self)
    watch_server_set_state (self, watch_synopsis_job_new (settings->data),
                            (GDestroyNotify) watch_synopsis_job_free);
  return self;
}

WatchSynopsisJob *
watch_server_get_synopsis (WatchServer *self)
{
  return watch_server_get_state (self);
}
