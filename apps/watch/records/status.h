/* cudaccl-watch - the state of a camera
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_STATUS_H__
#define __WATCH_STATUS_H__

#include "apps/web/reason.h"

G_BEGIN_DECLS

typedef enum
{
  WATCH_CAMERA_OFF,        /* disabled, or outside of its schedule */
  WATCH_CAMERA_CONNECTING, /* no frame yet */
  WATCH_CAMERA_RUNNING,
  WATCH_CAMERA_FROZEN, /* connected, but no new picture */
  WATCH_CAMERA_LOST,   /* waits for the next try */
} WatchCameraState;

/* The counts of a zone, kept over restarts. */
typedef struct
{
  gchar *name;
  gboolean tripwire;
  guint64 in, out;
  guint inside;
} WatchZoneCounts;

/* An object in a frame. */
typedef struct
{
  guint64 track;
  gchar *class_name; /* or NULL */
  gfloat x, y, width, height;
} WatchBox;

typedef struct
{
  WatchCameraState state;
  gint64 since;      /* start of the state */
  WebReason *reason; /* may be NULL */
  guint64 frames;    /* analysed in this session */
  guint64 lost;      /* times that the camera was lost or frozen in this session */
  guint64 late;      /* frames dropped because the machine is too slow */
  gdouble rate;      /* frames per second, over the last seconds */
  guint width, height;
  gchar *decoder;  /* name of the element, or NULL */
  gchar *backend;  /* of cclmotion: cuda or cpu, or NULL */
  guint objects;   /* in the last frame */
  gboolean moving; /* TRUE from an event `motion` to the next `still` */
  GArray *zones;   /* WatchZoneCounts */
  GArray *boxes;   /* WatchBox: the objects of the last frame */
} WatchCameraStatus;

const gchar *watch_camera_state_get_name (WatchCameraState state);

/* Arrays that clear their items. */
GArray *watch_zone_counts_new (void);
GArray *watch_boxes_new (void);

/* Sets all to 0, and the arrays to empty ones. */
void watch_camera_status_init (WatchCameraStatus *status);
void watch_camera_status_clear (WatchCameraStatus *status);

G_END_DECLS

#endif /* __WATCH_STATUS_H__ */
