/* cudaccl-watch - pictures and events while they happen, and files
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_LIVE_H__
#define __WATCH_LIVE_H__

#include "apps/web/server.h"

G_BEGIN_DECLS

void watch_live_camera (const WebRequest *request);
void watch_live_cameras (const WebRequest *request);
void watch_live_snapshot (const WebRequest *request);
void watch_live_events (const WebRequest *request);
void watch_live_media (const WebRequest *request);

/* Answers with the file or the requested range of it, or 404. Browsers save it as @name, which
 * may be NULL. */
void watch_live_send_file (const WebRequest *request, const gchar *path, const gchar *type,
                           const gchar *name);

G_END_DECLS

#endif /* __WATCH_LIVE_H__ */
