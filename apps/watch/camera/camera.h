/* cudaccl-watch - a camera and its pipeline
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_H__
#define __WATCH_CAMERA_H__

#include "apps/watch/camera/shared.h"
#include "apps/watch/camera/viewers.h"
#include "apps/watch/records/status.h"
#include "apps/watch/settings/settings.h"

G_BEGIN_DECLS

/* Runs the pipeline of one camera: connects, tries again for ever, detects a frozen picture, and
 * turns metadata into events, tracks and minutes in the store. No failure of a camera reaches
 * another. Main thread only unless noted. */
typedef struct _WatchCamera WatchCamera;

/* How others see a camera; tests implement it without a pipeline. */
typedef struct
{
  void (*update) (WatchCamera *self, WatchCameraSettings *settings);
  void (*get_status) (WatchCamera *self, WatchCameraStatus *status);
  guint (*add_viewer) (WatchCamera *self, gboolean boxes, guint rate, WatchPicture func,
                       gpointer user_data);
  void (*remove_viewer) (WatchCamera *self, guint id);
  void (*stop) (WatchCamera *self);
  void (*free) (WatchCamera *self);
} WatchCameraInterface;

/* The first member of any implementation. */
struct _WatchCamera
{
  const WatchCameraInterface *interface;
  WatchCameraSettings *settings; /* owned */
};

const gchar *watch_camera_get_name (WatchCamera *self);
/* Borrowed. */
WatchCameraSettings *watch_camera_get_settings (WatchCamera *self);

/* Fills in @status; clear it with watch_camera_status_clear(). From any thread. */
void watch_camera_get_status (WatchCamera *self, WatchCameraStatus *status);

/* Calls @func with up to @rate pictures a second, from now on. Pictures are encoded only while
 * there are viewers, once for all of them. With @boxes, zones and boxes are drawn by ccloverlay. */
guint watch_camera_add_viewer (WatchCamera *self, gboolean boxes, guint rate, WatchPicture func,
                               gpointer user_data);
void watch_camera_remove_viewer (WatchCamera *self, guint id);

/* Takes other settings. If only zones, tripwires, classes or the like differ, the pipeline goes on.
 */
void watch_camera_update (WatchCamera *self, WatchCameraSettings *settings);

/* Begins to stop, so that several cameras can stop at the same time. */
void watch_camera_stop (WatchCamera *self);

/* Stops the camera and waits some seconds at most for its threads: a source that hangs is left
 * to its own thread. */
void watch_camera_free (WatchCamera *self);

/* Called in the main thread when the state changes. */
typedef void (*WatchCameraChanged) (WatchCamera *camera, gpointer user_data);

typedef WatchCamera *(*WatchCameraNew) (WatchSettings *settings, WatchCameraSettings *camera,
                                        const WatchShared *shared, WatchCameraChanged changed,
                                        gpointer user_data);

/* A camera with a pipeline. */
WatchCamera *watch_camera_new (WatchSettings *settings, WatchCameraSettings *camera,
                               const WatchShared *shared, WatchCameraChanged changed,
                               gpointer user_data);

G_END_DECLS

#endif /* __WATCH_CAMERA_H__ */
