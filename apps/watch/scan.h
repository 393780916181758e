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

/* Finds events and tracks in @files as fast as they can be decoded, and prints a line for each
 * finished file. Scans several cameras at a time, and the files of a camera one after another.
 * Takes zones, tripwires and the network from the camera of that name in @settings, if there is
 * one. Makes no pictures and clips, and spools nothing. An interrupted scan is resumed where
 * the last track ended. Reports files that fail on standard error, and then returns FALSE and
 * sets @error. */
gboolean watch_scan (WatchSettings *settings, WatchStore *store, gchar **files,
                     const WatchScanOptions *options, GError **error);

G_END_DECLS

#endif /* __WATCH_SCAN_H__ */
