/* cudaccl-watch - the synopsis over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_HTTP_SYNOPSIS_H__
#define __WATCH_HTTP_SYNOPSIS_H__

#include "apps/web/server.h"

G_BEGIN_DECLS

/* The state of the server is a WatchSynopsisJob. */
void watch_synopsis_start (const WebRequest *request);
void watch_synopsis_get (const WebRequest *request);
void watch_synopsis_cancel (const WebRequest *request);
void watch_synopsis_video (const WebRequest *request);

G_END_DECLS

#endif /* __WATCH_HTTP_SYNOPSIS_H__ */
