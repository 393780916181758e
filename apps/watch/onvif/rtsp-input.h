/* cudaccl-watch - what strangers may send over RTSP
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_RTSP_INPUT_H__
#define __WATCH_RTSP_INPUT_H__

#include <gio/gio.h>

G_BEGIN_DECLS

/* Bytes that a connection may send before the login, in all. Clients need about 1 000. */
#define WATCH_RTSP_MAX_STRANGE 16384

/* The input of an RTSP connection. gst-rtsp-server reads it byte by byte until it is empty. Without
 * this buffer, each byte is a system call, other connections wait, and there is no limit before the
 * login. Thread of the clients only. */
#define WATCH_TYPE_RTSP_INPUT (watch_rtsp_input_get_type ())
G_DECLARE_FINAL_TYPE (WatchRtspInput, watch_rtsp_input, WATCH, RTSP_INPUT, GFilterInputStream)

/* Returns a socket that listens as @socket does, and whose connections have a WatchRtspInput, or
 * NULL and sets @error. */
GSocket *watch_rtsp_input_listen (GSocket *socket, GError **error);

/* Returns the input of a connection's socket, borrowed, or NULL if it has none. */
WatchRtspInput *watch_rtsp_input_get (GSocket *socket);

/* Lifts the limit: the client has logged in. */
void watch_rtsp_input_trust (WatchRtspInput *self);
/* Whether the client sent more than a stranger may. */
gboolean watch_rtsp_input_is_over (WatchRtspInput *self);

G_END_DECLS

#endif /* __WATCH_RTSP_INPUT_H__ */
