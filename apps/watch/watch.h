/* cudaccl-watch - the program: settings, cameras and all they share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_H__
#define __WATCH_H__

#include "apps/watch/http/app.h"

G_BEGIN_DECLS

/* Main thread only. */
typedef struct _Watch Watch;

/* Loads @path, opens the database, and starts cameras made by @camera_new: tests have cameras
 * without pipelines. */
Watch *watch_new (const gchar *path, WatchCameraNew camera_new, GError **error);
void watch_free (Watch *self);

/* Borrowed. */
WatchApp *watch_get_app (Watch *self);

/* Reads the file again: starts, stops and changes the cameras that differ, and no others. If the
 * file is wrong, nothing changes. Called for SIGHUP, when the file changes, and by the page. */
gboolean watch_reload (Watch *self, GError **error);

G_END_DECLS

#endif /* __WATCH_H__ */
