/* cudaccl-watch - live pictures of a camera
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_VIEWERS_H__
#define __WATCH_CAMERA_VIEWERS_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Called in the main thread with a JPEG picture of the camera, at most 1280 pixels wide. NULL is
 * the last call: the camera is freed, and the viewer with it. */
typedef void (*WatchPicture) (GBytes *jpeg, gpointer user_data);

/* Encodes frames while there are viewers: once for all with boxes, once for all without, one at
 * a time. Skips frames that come meanwhile. Main thread only unless noted. */
typedef struct _WatchViewers WatchViewers;

WatchViewers *watch_viewers_new (void);
/* Calls viewers with NULL, for the last time. */
void watch_viewers_free (WatchViewers *self);

guint watch_viewers_add (WatchViewers *self, gboolean boxes, guint rate, WatchPicture func,
                         gpointer user_data);
void watch_viewers_remove (WatchViewers *self, guint id);

/* From any thread. */
void watch_viewers_add_frame (WatchViewers *self, GstBuffer *frame, const GstVideoInfo *video);

G_END_DECLS

#endif /* __WATCH_CAMERA_VIEWERS_H__ */
