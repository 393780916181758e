/* cudaccl - tests: a cudaccl-watch without cameras
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Real settings, store and media; cameras do as they are told, by WatchCameraInterface. */

#ifndef __WATCH_FAKE_H__
#define __WATCH_FAKE_H__

#include "apps/watch/http/app.h"

/* Makes a folder with the file of settings @text; `FOLDER` in it is replaced. */
WatchApp *watch_fake_new (const gchar *text);
/* Removes the folder, too. */
void watch_fake_free (WatchApp *self);

const gchar *watch_fake_get_folder (WatchApp *self);

/* The picture that cameras which run show, ten times a second; default: none. */
void watch_fake_set_picture (WatchApp *self, GBytes *jpeg);

/* Takes @reason, which may be NULL. */
void watch_fake_set_state (WatchApp *self, const gchar *camera, WatchCameraState state,
                           WebReason *reason);

/* Stores the event and tells the listeners; takes it. */
void watch_fake_add_event (WatchApp *self, WatchEvent *event);

/* Writes the file as it was, if it has changed. */
void watch_fake_reset (WatchApp *self);

/* Viewers and listeners that were not removed. */
guint watch_fake_get_viewers (WatchApp *self);
/* Viewers that want boxes. */
guint watch_fake_get_boxes (WatchApp *self);

#endif /* __WATCH_FAKE_H__ */
