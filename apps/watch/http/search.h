/* cudaccl-watch - searches over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_HTTP_SEARCH_H__
#define __WATCH_HTTP_SEARCH_H__

#include "apps/web/server.h"

G_BEGIN_DECLS

void watch_api_events (const WebRequest *request);
void watch_api_tracks (const WebRequest *request);
void watch_api_minutes (const WebRequest *request);

G_END_DECLS

#endif /* __WATCH_HTTP_SEARCH_H__ */
