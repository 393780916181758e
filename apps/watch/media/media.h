/* cudaccl-watch - the media folder
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_MEDIA_H__
#define __WATCH_MEDIA_H__

#include <gst/gst.h>

#include "apps/watch/records/records.h"
#include "apps/web/reason.h"

G_BEGIN_DECLS

/* The folder for clips and pictures, and its limits. Shared by all cameras. */
typedef struct _WatchMedia WatchMedia;

typedef struct
{
  guint64 bytes; /* bytes in the folder */
  guint64 clips; /* clips written since the folder was opened */
  guint64 pictures;
  guint64 failed;        /* files that could not be written */
  guint64 removed;       /* files removed by the limits */
  WebReason *last_error; /* such as a full disk, or NULL; web_reason_free() */
} WatchMediaStats;

/* Opens DATA/media. Adds up its files, and repairs clips that were being written when the
 * program was killed. */
WatchMedia *watch_media_open (const gchar *data, guint retention_days, guint64 retention_bytes,
                              GError **error);
WatchMedia *watch_media_ref (WatchMedia *self);
/* With the last reference: waits for clips that are being written, at most 10 s. */
void watch_media_unref (WatchMedia *self);

void watch_media_get_stats (WatchMedia *self, WatchMediaStats *stats);

/* Removes the oldest files until the limits hold. Returns their names, NULL-terminated, for
 * watch_store_forget_files(). Call it once a minute. */
gchar **watch_media_sweep (WatchMedia *self, gint64 now);

/* Writes a picture in the background and returns its name in the folder at once, such as
 * `yard/2026-01-31/120000-000042-1f9c.jpg`; NULL if the disk is full. @number is of the event or
 * track.
 */
gchar *watch_media_add_picture (WatchMedia *self, const gchar *camera, gint64 time, guint64 number,
                                GBytes *jpeg);

/* Returns the path of a file in the folder, or NULL if @name does not have the form of the
 * folder's names: names from outside cannot leave it. */
gchar *watch_media_get_path (WatchMedia *self, const gchar *name);

/* Whether a file that the folder has named is there. A clip that is being written is pending. Files
 * whose whole day is gone count as there: their disk may be mounted later. */
WatchFileState watch_media_get_state (WatchMedia *self, const gchar *name);

/* --- For recorders --- */

/* A clip written by the folder's thread. The file gets its name when it is finished. */
typedef struct _WatchWriting WatchWriting;

/* Starts a clip. Returns NULL if the disk is full. If no frame comes for @patience microseconds, it
 * is finished without watch_media_end_clip(). */
WatchWriting *watch_media_begin_clip (WatchMedia *self, const gchar *camera, gint64 time,
                                      guint64 number, GstCaps *caps, gint64 patience);
const gchar *watch_writing_get_name (WatchWriting *writing);
/* Whether it takes no more frames. */
gboolean watch_writing_has_ended (WatchWriting *writing);

/* Queues a frame. Returns FALSE if the clip has ended, because the disk is full or too slow:
 * watch_media_end_clip() must still be called. */
gboolean watch_media_add_frame (WatchMedia *self, WatchWriting *writing, GstBuffer *buffer);

/* Finishes the clip in the background. Takes @writing. */
void watch_media_end_clip (WatchMedia *self, WatchWriting *writing);

/* For tests: begins no file with less than @bytes free, nor for @hold microseconds after one
 * could not be written. */
void watch_media_set_reserve (WatchMedia *self, guint64 bytes, gint64 hold);

/* For tests: waits until everything queued is written. */
void watch_media_flush (WatchMedia *self);

/* Sets the error of the statistics, and logs it if it is new. Takes @reason. */
void watch_media_take_error (WatchMedia *self, WebReason *reason);

G_END_DECLS

#endif /* __WATCH_MEDIA_H__ */
