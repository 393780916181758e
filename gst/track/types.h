/* cudaccl - detections, looks and tracks, as callers of the tracker see them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACK_TYPES_H__
#define __GST_CCL_TRACK_TYPES_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Bytes of a signature, a CclSignature of libcudaccl. */
#define GST_CCL_SIGNATURE 64

/* Found in a frame. In pixels; the centroid is in pixel coordinates, like the box. */
typedef struct
{
  gdouble x, y, width, height;
  gdouble centroid_x, centroid_y;
  gdouble area;            /* number of pixels */
  gboolean object;         /* a detector's box, all of one object; otherwise a component */
  gdouble confidence;      /* 0...1, of a detector's box; 0: unknown */
  guint class_id;          /* 0: none */
  gboolean stands;         /* it has not moved for a while */
  const guint8 *signature; /* what it looks like: GST_CCL_SIGNATURE bytes, or NULL. Valid while the
                            * tracker is called */
} GstCclDetection;

/* A part of a frame that a detector looked at, in pixels. */
typedef struct
{
  gdouble x, y, width, height;
} GstCclLook;

typedef struct
{
  gdouble iou_threshold;        /* 0...1: least overlap of a detection and a predicted box */
  GstClockTime min_persistence; /* how long components must be found to become a track; below one
                                 * microsecond, everything is a track at once */
  GstClockTime max_miss;        /* how long a track lives without a detection */
  gdouble smooth_alpha;         /* 0...1: weight of a new size in the running mean */
  guint max_tracks;             /* most tracks at a time */
  gdouble min_confidence;       /* 0...1: of a detector's box that starts a track */
  gdouble min_area;    /* 0...1: share of the frame below which a component starts no track, unless
                        * objects are small in general; 0: no limit */
  guint width, height; /* of the frames, or 0 */
} GstCclTrackerParams;

typedef struct
{
  guint id;       /* 1 and up; 0 until confirmed */
  gint detection; /* index of the track's largest detection in the frame, or -1 */
  gdouble x, y, width, height;
  gdouble centroid_x, centroid_y;
  gdouble area;
  gdouble velocity_x, velocity_y; /* in pixels per second */
  GstClockTime age;               /* since the first detection */
  GstClockTime missed;            /* since the last one that showed it; half the time in a group */
  gboolean shown;                 /* confirmed, and seen recently */
  gboolean known;                 /* a detector found it */
  guint class_id;                 /* voted by its detections; 0: none */
  gdouble confidence;             /* of the last detection that had one; 0: unknown */
} GstCclTrackInfo;

G_END_DECLS

#endif /* __GST_CCL_TRACK_TYPES_H__ */
