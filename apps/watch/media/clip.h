/* cudaccl-watch - an MP4 file from encoded frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CLIP_H__
#define __WATCH_CLIP_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Writes one file. Not thread-safe; all functions may wait for the disk. */
typedef struct _WatchClip WatchClip;

/* Creates the file @path for frames of @caps: H.264 or H.265 with alignment=au. */
WatchClip *watch_clip_new (const gchar *path, GstCaps *caps, GError **error);

/* Appends a frame in decoding order; the first must be a key frame. PTS must be valid, DTS is not
 * used. */
gboolean watch_clip_add (WatchClip *self, GstBuffer *buffer, GError **error);

/* Writes remaining frames and the index, and frees @self. */
gboolean watch_clip_finish (WatchClip *self, GError **error);

/* Frees @self without an index: watch_clip_repair() makes the file play. */
void watch_clip_abort (WatchClip *self);

/* Truncates an unfinished file behind its last complete fragment. Returns FALSE if there is
 * none. */
gboolean watch_clip_repair (const gchar *path);

G_END_DECLS

#endif /* __WATCH_CLIP_H__ */
