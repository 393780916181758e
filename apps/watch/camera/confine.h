/* cudaccl-watch - keeps a camera's stream to the camera's address
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_CONFINE_H__
#define __WATCH_CAMERA_CONFINE_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Gives the source of @uri the user and password, which may be NULL. Redirects do not get them:
 * over HTTP one is an error then, over RTSP another origin is asked without them. */
void watch_confine_source (GstElement *source, const gchar *uri, const gchar *user,
                           const gchar *password);

/* Keeps @bin, a parsebin or uridecodebin, from elements that open addresses in what they read, such
 * as playlists: posts an error of @pipeline instead. */
void watch_confine_parser (GstElement *bin, GstElement *pipeline, const gchar *uri);

G_END_DECLS

#endif /* __WATCH_CAMERA_CONFINE_H__ */
