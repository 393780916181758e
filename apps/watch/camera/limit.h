/* cudaccl-watch - limits on what a camera makes decoders allocate
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_LIMIT_H__
#define __WATCH_CAMERA_LIMIT_H__

#include "apps/web/reason.h"

#include <gst/gst.h>

G_BEGIN_DECLS

/* Bytes that may come without a picture. */
#define WATCH_LIMIT_BYTES (32 * 1024 * 1024)

/* Limits of one pipeline. Buffers beyond them are dropped before they are stored or decoded, and
 * the pipeline posts an error with the reason. */
typedef struct _WatchLimit WatchLimit;

WatchLimit *watch_limit_new (GstElement *pipeline, const gchar *uri, guint64 max_pixels,
                             guint64 max_memory);
void watch_limit_unref (WatchLimit *self);

/* Counts bytes at @pad, in front of elements that collect whole pictures. */
void watch_limit_add_source (WatchLimit *self, GstPad *pad);
/* Checks encoded pictures at @pad, in front of the decoder. */
void watch_limit_add_pictures (WatchLimit *self, GstPad *pad);
/* Checks decoded frames at @pad. */
void watch_limit_add_frames (WatchLimit *self, GstPad *pad);

/* Adds these to all elements that the pipeline gets from now on. */
void watch_limit_add_all (WatchLimit *self);

/* Whether @reason is such an error, which a new try would not change. */
gboolean watch_limit_is_reason (const WebReason *reason);

G_END_DECLS

#endif /* __WATCH_CAMERA_LIMIT_H__ */
