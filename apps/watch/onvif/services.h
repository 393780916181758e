/* cudaccl-watch - ONVIF's services over HTTP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_ONVIF_H__
#define __WATCH_ONVIF_H__

#include "apps/watch/settings/settings.h"
#include "apps/web/server.h"

G_BEGIN_DECLS

/* Tells clients where to find the metadata of cameras: each camera is a profile of Media2.
 * Clients need the password of the group [onvif], by UsernameToken or HTTP digest. Main thread
 * only. */
#define WATCH_ONVIF_DEVICE_PATH "/onvif/device_service"
#define WATCH_ONVIF_MEDIA_PATH "/onvif/media2_service"

/* The path selects the service. */
void watch_onvif_answer (const WebRequest *request);

/* Return a UUID that never changes, and the scopes that clients search for, separated by spaces. */
gchar *watch_onvif_get_id (const WatchSettings *settings);
gchar *watch_onvif_get_scopes (void);

G_END_DECLS

#endif /* __WATCH_ONVIF_H__ */
