/* cudaccl-watch - clips from a ring of encoded frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_RECORDER_H__
#define __WATCH_RECORDER_H__

#include "apps/watch/media/media.h"

G_BEGIN_DECLS

/* Keeps the last seconds of a camera's H.264 or H.265 in memory, and writes MP4 clips from them
 * without encoding them again. One per camera. All recorders of a media folder share one writer
 * thread; frames never wait for the disk. */
typedef struct _WatchRecorder WatchRecorder;

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

/* Requests a clip from @pre_roll before @time to @post_roll after, both at most a minute.
 * Returns its name at once; the clip is complete when it has been recorded. It begins with the
 * last key frame at or before the pre-roll, or with the first of the ring. An event within a
 * running clip extends it and gets its name; an event that would make it longer than five
 * minutes begins the next clip, pre-roll included. Returns NULL if there is no frame to record,
 * or the disk is full. */
gchar *watch_recorder_trigger (WatchRecorder *self, gint64 time, guint64 number);

G_END_DECLS

#endif /* __WATCH_RECORDER_H__ */
