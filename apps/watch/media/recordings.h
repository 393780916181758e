/* cudaccl-watch - recordings and their times
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_RECORDINGS_H__
#define __WATCH_RECORDINGS_H__

#include "apps/watch/store/store.h"

G_BEGIN_DECLS

typedef struct
{
  gchar *path;
  gint64 begin; /* time of the first frame */
} WatchRecording;

/* Finds out when the recording began: the time in its tags or, if there is none, when the file was
 * last modified less its duration; and how long it is in microseconds, 0 if that is unknown. */
gboolean watch_recording_get_times (const gchar *path, gint64 *begin, gint64 *duration,
                                    GError **error);

/* Both return an array of WatchRecording in order of time, which clears its items, or NULL and
 * @error. */

/* The clips of the camera's events of [begin, end), which are in the folder @media. @pre_roll in
 * seconds: how long before its event a clip begins. An error if there are none. */
GArray *watch_recordings_from_clips (WatchStore *store, const gchar *media, const gchar *camera,
                                     gint64 begin, gint64 end, guint pre_roll, GError **error);

GArray *watch_recordings_from_files (gchar **files, GError **error);

G_END_DECLS

#endif /* __WATCH_RECORDINGS_H__ */
