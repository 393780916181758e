/* cudaccl-watch - the table of its routes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_ROUTES_H__
#define __WATCH_ROUTES_H__

#include "apps/watch/http/app.h"
#include "apps/web/server.h"

G_BEGIN_DECLS

/* Serves the page, /api/…, /media/…, /metrics, /healthz, /readyz, /openapi.json and ONVIF's
 * services on the address of the settings. docs/watch.md describes them. */
WebServer *watch_server_new (WatchApp *app, GError **error);

const WebRoute *watch_routes_get (guint *n);

G_END_DECLS

#endif /* __WATCH_ROUTES_H__ */
