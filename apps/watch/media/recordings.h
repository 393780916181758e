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

/* Sets @begin to the time in the recording's tags or, without one, to the file's modification
 * time less the duration, and @duration in microseconds, 0 if unknown. */
gboolean watch_recording_get_times (const gchar *path, gint64 *begin, gint64 *duration,
                                    GError **error);

/* Both return an array of WatchRecording in order of time, which clears its items, or NULL and
 * @error. */

/* Returns the clips, in the folder @media, of the camera's events of [begin, end); having none
 * is an error. A clip begins @pre_roll seconds before its event. */
GArray *watch_recordings_from_clips (WatchStore *store, const gchar *media, const gchar *camera,
                                     gint64 begin, gint64 end, guint pre_roll, GError **error);

GArray *watch_recordings_from_files (gchar **files, GError **error);

G_END_DECLS

#endif /* __WATCH_RECORDINGS_H__ */
