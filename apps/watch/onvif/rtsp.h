/* cudaccl-watch - ONVIF's metadata over RTSP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_RTSP_H__
#define __WATCH_RTSP_H__

#include "apps/watch/http/app.h"

G_BEGIN_DECLS

/* Serves the metadata of each camera at rtsp://ADDRESS:PORT/CAMERA, with the address of the page
 * and the port and user of the group [onvif]. Frames cost nothing while no client is connected.
 * Main thread only. */
typedef struct _WatchRtsp WatchRtsp;

/* Returns NULL and sets @error on failure. @app must live longer. */
WatchRtsp *watch_rtsp_new (WatchApp *app, GError **error);
void watch_rtsp_free (WatchRtsp *self);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (WatchRtsp, watch_rtsp_free)

G_END_DECLS

#endif /* __WATCH_RTSP_H__ */
