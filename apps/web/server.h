/* cudaccl-watch - the page and its interface over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_SERVER_H__
#define __WATCH_SERVER_H__

#include "apps/watch/watch.h"

G_BEGIN_DECLS

/* Serves the page, /api/…, /media/…, /metrics, /healthz, /readyz and /openapi.json on the address
 * of the settings. docs/watch.md describes them. */
typedef struct _WatchServer WatchServer;

WatchServer *watch_server_new (Watch *watch, GError **error);
void watch_server_free (WatchServer *self);

/* The address of the page, such as http://127.0.0.1:8480/. */
const gchar *watch_server_get_uri (WatchServer *self);

G_END_DECLS

#endif /* __WATCH_SERVER_H__ */
