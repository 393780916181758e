/* cudaccl-watch - tracks of a camera: paths, zones and pictures
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_CAMERA_TRACKS_H__
#define __WATCH_CAMERA_TRACKS_H__

#include "apps/watch/records/records.h"

G_BEGIN_DECLS

/* A track that goes on. */
typedef struct
{
  guint64 number;
  gint64 begin, last; /* first and last sighting */
  gchar *class_name;  /* or NULL */
  gdouble confidence;
  GArray *path;     /* of WatchPoint: what is kept */
  GArray *recent;   /* of WatchPoint: since the last one that is kept */
  GPtrArray *zones; /* names */
  gdouble seen;     /* area of the present box, as a share of the frame */
  gdouble area;     /* of the box in the picture, 0: there is no picture */
  guint64 job;      /* that encodes the picture, 0: none does */
  GBytes *jpeg;     /* the picture, or NULL */
  gint64 picture_time;
  gchar *picture; /* name of the file with `jpeg`, or NULL while there is none */
} WatchLiveTrack;

WatchLiveTrack *watch_live_track_new (guint64 number);
void watch_live_track_free (WatchLiveTrack *self);

/* Adds a sighting. Points that a straight line shows well enough are dropped: the box at any time
 * between two that are kept is at most a hundredth of the frame off. */
void watch_live_track_add (WatchLiveTrack *self, const WatchPoint *point);

/* Adds the name of a zone, once. */
void watch_live_track_add_zone (WatchLiveTrack *self, const gchar *zone);

/* Returns the finished track. */
WatchTrack *watch_live_track_finish (WatchLiveTrack *self, const gchar *camera,
                                     const gchar *session);

G_END_DECLS

#endif /* __WATCH_CAMERA_TRACKS_H__ */
