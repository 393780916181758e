/* cudaccl-watch - puts recordings into the database
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_SCAN_H__
#define __WATCH_SCAN_H__

#include "apps/watch/settings/settings.h"
#include "apps/watch/store/store.h"

G_BEGIN_DECLS

typedef struct
{
  const gchar *camera; /* NULL: each file is a camera with the file's name */
  gint64 begin;        /* time of the first frame; 0: see watch_recording_get_times() */
  guint jobs;          /* cameras at a time; 0: as many as there are cores */
} WatchScanOptions;

/* Finds events and tracks in @files as fast as they can be decoded, and prints a line for each file
 * that is done. Several cameras are scanned at a time, the files of one after each other. Zones,
 * tripwires and the network are those of the camera of that name in @settings, if there is one.
 * There are no pictures and clips, and nothing goes to the spool. The scan of a file that was
 * interrupted is resumed where the last track ended. Files that fail are reported on standard
 * error. Returns FALSE and @error if there were any. */
gboolean watch_scan (WatchSettings *settings, WatchStore *store, gchar **files,
                     const WatchScanOptions *options, GError **error);

G_END_DECLS

#endif /* __WATCH_SCAN_H__ */
