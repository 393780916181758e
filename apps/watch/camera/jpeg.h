/* cudaccl-watch - frames as JPEG pictures
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_JPEG_H__
#define __WATCH_CAMERA_JPEG_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Encodes frames of any format in memory that can be mapped, at most 1280 pixels wide. For one
 * thread at a time. */
typedef struct _WatchJpeg WatchJpeg;

/* With @boxes, zones and boxes are drawn by ccloverlay, if it is there. Returns NULL if GStreamer's
 * jpegenc is missing. */
WatchJpeg *watch_jpeg_new (gboolean boxes);
void watch_jpeg_free (WatchJpeg *self);

/* Returns NULL if the frame cannot be mapped or converted. */
GBytes *watch_jpeg_encode (WatchJpeg *self, GstBuffer *frame, const GstVideoInfo *info);

/* Runs @func in one of the few threads for pictures. */
void watch_jpeg_run (GFunc func, gpointer data);

G_END_DECLS

#endif /* __WATCH_CAMERA_JPEG_H__ */
