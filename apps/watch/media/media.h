/* cudaccl-watch - the media folder, for recorders
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_MEDIA_H__
#define __WATCH_MEDIA_H__

#include "apps/watch/media/recorder.h"

G_BEGIN_DECLS

/* A clip that the folder's thread writes. The file appears under its name when it is finished. */
typedef struct _WatchWriting WatchWriting;

/* Starts a clip. Returns NULL if the disk is full. If no frame comes for @patience microseconds, it
 * is finished without watch_media_end_clip(). */
WatchWriting *watch_media_begin_clip (WatchMedia *self, const gchar *camera, gint64 time,
                                      guint64 number, GstCaps *caps, gint64 patience);
const gchar *watch_writing_get_name (WatchWriting *writing);
/* Whether it takes no more frames. */
gboolean watch_writing_has_ended (WatchWriting *writing);

/* Queues a frame. Returns FALSE if the clip has ended, such as when the disk is full or slower than
 * the cameras: watch_media_end_clip() must still be called. */
gboolean watch_media_add_frame (WatchMedia *self, WatchWriting *writing, GstBuffer *buffer);

/* Finishes the clip in the background. Takes @writing. */
void watch_media_end_clip (WatchMedia *self, WatchWriting *writing);

/* Clips and pictures are not begun with less than @bytes free, and not for @hold microseconds after
 * one could not be written. For tests. */
void watch_media_set_reserve (WatchMedia *self, guint64 bytes, gint64 hold);

/* Waits until all that was queued before is written. For tests. */
void watch_media_flush (WatchMedia *self);

/* Sets the error of the statistics, and logs it if it is new. Takes @text. */
void watch_media_take_error (WatchMedia *self, gchar *text);

G_END_DECLS

#endif /* __WATCH_MEDIA_H__ */
