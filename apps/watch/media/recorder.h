/* cudaccl-watch - clips from a ring of encoded frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_RECORDER_H__
#define __WATCH_RECORDER_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Keeps the last seconds of a camera's H.264 or H.265 in memory, and writes clips from them to MP4
 * without encoding them again. One for each camera. Clips are written by a thread that all
 * recorders of a media folder share; frames never wait for the disk. */
typedef struct _WatchRecorder WatchRecorder;

/* The folder for clips and pictures, and its limits. Shared by all cameras. */
typedef struct _WatchMedia WatchMedia;

typedef struct
{
  guint64 bytes; /* in the folder */
  guint64 clips; /* written since it was opened */
  guint64 pictures;
  guint64 failed;    /* could not be written */
  guint64 removed;   /* by the limits */
  gchar *last_error; /* such as a full disk, or NULL; g_free() */
} WatchMediaStats;

/* Opens DATA/media. Adds up what is there, and makes the clips play that were being written when
 * the program was killed. */
WatchMedia *watch_media_open (const gchar *data, guint retention_days, guint64 retention_bytes,
                              GError **error);
WatchMedia *watch_media_ref (WatchMedia *self);
/* With the last reference: waits for clips that are being written, at most 10 s. */
void watch_media_unref (WatchMedia *self);

void watch_media_get_stats (WatchMedia *self, WatchMediaStats *stats);

/* Removes the oldest files until the limits hold, and returns their names, NULL-terminated, for
 * watch_store_forget_files(). Call it once a minute. */
gchar **watch_media_sweep (WatchMedia *self, gint64 now);

/* Writes a picture in the background and returns its name in the folder at once, such as
 * `yard/2026-01-31/120000-000042-1f9c.jpg`; NULL if the disk is full. @number is of the event or
 * track.
 */
gchar *watch_media_add_picture (WatchMedia *self, const gchar *camera, gint64 time, guint64 number,
                                GBytes *jpeg);

/* Returns the path of a file in the folder, or NULL if @name is not one that the two functions
 * return: names from outside cannot leave the folder. */
gchar *watch_media_get_path (WatchMedia *self, const gchar *name);

WatchRecorder *watch_recorder_new (WatchMedia *media, const gchar *camera, GstClockTime pre_roll,
                                   GstClockTime post_roll, guint64 ring_bytes);
/* Ends the clip that is being recorded. */
void watch_recorder_free (WatchRecorder *self);

/* Adds an access unit, as h264parse and h265parse push them with alignment=au, from the streaming
 * thread. Parameter sets are in @caps (stream-format avc, hvc1) or with each key frame
 * (byte-stream, config-interval=-1). @time is its wall-clock time in microseconds. Caps that
 * change, and times that jump, end the clip. A ring that is full drops whole groups of pictures,
 * oldest first. */
void watch_recorder_add (WatchRecorder *self, GstBuffer *buffer, GstCaps *caps, gint64 time);

/* Wants a clip from @pre_roll before @time to @post_roll after, both at most a minute. Returns its
 * name at once; it is complete when it has been recorded. It begins with the last key frame at or
 * before the pre-roll, or with the first of the ring. An event within a clip that is being recorded
 * extends it and gets the same name; one that would make it longer than five minutes begins the
 * next, pre-roll included. Returns NULL if there is no frame to record, or the disk is full. */
gchar *watch_recorder_trigger (WatchRecorder *self, gint64 time, guint64 number);

G_END_DECLS

#endif /* __WATCH_RECORDER_H__ */
