/* cudaccl-watch - a camera and its pipeline
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_H__
#define __WATCH_CAMERA_H__

#include "apps/watch/camera/metadata.h"
#include "apps/watch/media/recorder.h"
#include "apps/watch/settings/settings.h"
#include "apps/watch/store/store.h"

G_BEGIN_DECLS

/* Runs the pipeline of one camera: connects, tries again for ever, finds out when the picture
 * freezes, and turns what the elements find into events, tracks and minutes of the store. No
 * failure of a camera reaches another. For the main thread unless noted. */
typedef struct _WatchCamera WatchCamera;

typedef enum
{
  WATCH_CAMERA_OFF,        /* disabled, or outside of its schedule */
  WATCH_CAMERA_CONNECTING, /* no frame yet */
  WATCH_CAMERA_RUNNING,
  WATCH_CAMERA_FROZEN, /* connected, but no new picture */
  WATCH_CAMERA_LOST,   /* waits for the next try */
} WatchCameraState;

/* The counts of a zone, over restarts. */
typedef struct
{
  gchar *name;
  gboolean tripwire;
  guint64 in, out;
  guint inside;
} WatchZoneCounts;

typedef struct
{
  WatchCameraState state;
  gint64 since;   /* of the state */
  gchar *text;    /* the state in words, with what to do; no credentials */
  guint64 frames; /* analysed in this session */
  guint64 lost;   /* times that the camera was lost or frozen in this session */
  guint64 late;   /* frames dropped because the machine is too slow */
  gdouble rate;   /* frames per second, over the last seconds */
  guint width, height;
  gchar *decoder;  /* name of the element, or NULL */
  gchar *backend;  /* of cclmotion: cuda or cpu, or NULL */
  guint objects;   /* in the last frame */
  gboolean moving; /* between the events motion and still */
  GArray *zones;   /* of WatchZoneCounts */
  GArray *boxes;   /* of WatchBox: the objects of the last frame */
} WatchCameraStatus;

typedef struct
{
  guint64 track;
  gchar *class_name; /* or NULL */
  gfloat x, y, width, height;
} WatchBox;

const gchar *watch_camera_state_get_name (WatchCameraState state);

/* What all cameras share. The pointers must stay valid. */
typedef struct
{
  const gchar *session;
  WatchStore *store;
  WatchMedia *media;
  WatchMetadata *metadata; /* or NULL */
  /* Called with each picture that is saved, from any thread; or NULL. */
  void (*picture) (const gchar *camera, GBytes *jpeg, gpointer user_data);
  gpointer picture_data;
} WatchShared;

/* Called in the main thread when the state has changed. */
typedef void (*WatchCameraChanged) (WatchCamera *camera, gpointer user_data);

WatchCamera *watch_camera_new (WatchSettings *settings, WatchCameraSettings *camera,
                               const WatchShared *shared, WatchCameraChanged changed,
                               gpointer user_data);
/* Begins to stop it: then several can be freed at once. */
void watch_camera_stop (WatchCamera *self);

/* Stops it and waits until its threads have ended, for at most some seconds: a source that hangs is
 * left to a thread of its own. */
void watch_camera_free (WatchCamera *self);

const gchar *watch_camera_get_name (WatchCamera *self);
WatchCameraSettings *watch_camera_get_settings (WatchCamera *self);

/* Takes other settings. If only zones, tripwires, classes or the like differ, the pipeline goes on.
 */
void watch_camera_update (WatchCamera *self, WatchCameraSettings *camera);

/* Fills in @status; clear it with watch_camera_status_clear(). From any thread. */
void watch_camera_get_status (WatchCamera *self, WatchCameraStatus *status);
void watch_camera_status_clear (WatchCameraStatus *status);

/* Called in the main thread with a JPEG picture of the camera, at most 1280 pixels wide; with NULL
 * when the camera is freed, and then not again: there is nothing to remove. */
typedef void (*WatchPicture) (GBytes *jpeg, gpointer user_data);

/* Calls @func with up to @rate pictures a second, from now on. Pictures are encoded only while
 * there are viewers, once for all of them. With @boxes, zones and boxes are drawn by ccloverlay. */
guint watch_camera_add_viewer (WatchCamera *self, gboolean boxes, guint rate, WatchPicture func,
                               gpointer user_data);
void watch_camera_remove_viewer (WatchCamera *self, guint id);

G_END_DECLS

#endif /* __WATCH_CAMERA_H__ */
