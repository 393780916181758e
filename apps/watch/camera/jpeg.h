/* cudaccl-watch - frames as JPEG pictures
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_JPEG_H__
#define __WATCH_CAMERA_JPEG_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Encodes mappable frames of any format, at most 1280 pixels wide. One thread at a time. */
typedef struct _WatchJpeg WatchJpeg;

/* With @boxes, zones and boxes are drawn by ccloverlay, if it is there. Returns NULL if GStreamer's
 * jpegenc is missing. */
WatchJpeg *watch_jpeg_new (gboolean boxes);
void watch_jpeg_free (WatchJpeg *self);

/* Returns NULL if the frame cannot be mapped or converted. */
GBytes *watch_jpeg_encode (WatchJpeg *self, GstBuffer *frame, const GstVideoInfo *info);

/* Runs @func in an encoder thread. */
void watch_jpeg_run (GFunc func, gpointer data);

G_END_DECLS

#endif /* __WATCH_CAMERA_JPEG_H__ */
