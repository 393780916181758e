/* cudaccl-watch - tracks of a camera: paths, zones and pictures
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_TRACKS_H__
#define __WATCH_CAMERA_TRACKS_H__

#include "apps/watch/records/records.h"

G_BEGIN_DECLS

/* A track that has not ended. */
typedef struct
{
  guint64 number;
  gint64 begin, last; /* first and last sighting */
  gchar *class_name;  /* or NULL */
  gdouble confidence;
  GArray *path;     /* WatchPoint: points that are kept */
  GArray *recent;   /* WatchPoint: points since the last kept one */
  GPtrArray *zones; /* names */
  gdouble seen;     /* area of the present box, in shares of the frame */
  gdouble area;     /* area of the box in the picture; 0: there is no picture */
  guint64 job;      /* job that encodes the picture, or 0 */
  GBytes *jpeg;     /* the picture, or NULL */
  gint64 picture_time;
  gchar *picture; /* file name of `jpeg`, or NULL */
} WatchLiveTrack;

WatchLiveTrack *watch_live_track_new (guint64 number);
void watch_live_track_free (WatchLiveTrack *self);

/* Adds a sighting. Drops points near a straight line: at any time between two kept points, the
 * box is off by a hundredth of the frame at most. */
void watch_live_track_add (WatchLiveTrack *self, const WatchPoint *point);

/* Adds the name of a zone, once. */
void watch_live_track_add_zone (WatchLiveTrack *self, const gchar *zone);

/* Returns the finished track. */
WatchTrack *watch_live_track_finish (WatchLiveTrack *self, const gchar *camera,
                                     const gchar *session);

G_END_DECLS

#endif /* __WATCH_CAMERA_TRACKS_H__ */
