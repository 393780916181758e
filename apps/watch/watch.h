/* cudaccl-watch - the program: settings, cameras and all they share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_H__
#define __WATCH_H__

#include "apps/watch/camera/camera.h"
#include "apps/watch/listeners.h"
#include "apps/watch/publish/publisher.h"

G_BEGIN_DECLS

/* For the main thread. */
typedef struct _Watch Watch;

/* Loads @path, opens the database, and starts the cameras. */
Watch *watch_new (const gchar *path, GError **error);
void watch_free (Watch *self);

/* The present settings, and a new reference to them. */
WatchSettings *watch_get_settings (Watch *self);
const WatchShared *watch_get_shared (Watch *self);
WatchPublisher *watch_get_publisher (Watch *self);

/* Reads the file again: starts, stops and changes the cameras that differ, and no others. If the
 * file is wrong, nothing changes. Called for SIGHUP, when the file changes, and by the page. */
gboolean watch_reload (Watch *self, GError **error);

/* The cameras, in the order of the file; do not free. */
GPtrArray *watch_get_cameras (Watch *self);
WatchCamera *watch_find_camera (Watch *self, const gchar *name);

/* Calls @func in the main thread with each event that was committed. */
guint watch_add_listener (Watch *self, WatchEventFunc func, gpointer user_data);
void watch_remove_listener (Watch *self, guint id);

/* When the program started, and whether it is ready: all cameras have been started. */
gint64 watch_get_start (Watch *self);

G_END_DECLS

#endif /* __WATCH_H__ */
