/* cudaccl - tests: a cudaccl-watch without cameras
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Implements watch.h, camera.h and the state of sinks for the server's tests: real settings, store
 * and media, but cameras do as they are told. */

#ifndef __WATCH_FAKE_H__
#define __WATCH_FAKE_H__

#include "apps/watch/watch.h"

/* Makes a folder with the file of settings @text; `FOLDER` in it is replaced. */
Watch *watch_fake_new (const gchar *text);
/* Removes the folder, too. */
void watch_fake_free (Watch *self);

const gchar *watch_fake_get_folder (Watch *self);

/* The picture that cameras which run show, ten times a second; default: none. */
void watch_fake_set_picture (Watch *self, GBytes *jpeg);

void watch_fake_set_state (Watch *self, const gchar *camera, WatchCameraState state,
                           const gchar *text);

/* Stores the event and tells the listeners; takes it. */
void watch_fake_add_event (Watch *self, WatchEvent *event);

/* Writes the file as it was, if it has changed. */
void watch_fake_reset (Watch *self);

/* Viewers and listeners that were not removed. */
guint watch_fake_get_viewers (Watch *self);

#endif /* __WATCH_FAKE_H__ */
