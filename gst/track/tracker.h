/* cudaccl - tracks objects from frame to frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACKER_H__
#define __GST_CCL_TRACKER_H__

#include "types.h"

G_BEGIN_DECLS

typedef struct _GstCclTracker GstCclTracker;

void gst_ccl_tracker_params_init (GstCclTrackerParams *params);

GstCclTracker *gst_ccl_tracker_new (void);

void gst_ccl_tracker_free (GstCclTracker *self);

/* Takes effect with the next frame. Tracks above a lower max_tracks are dropped, newest first. */
void gst_ccl_tracker_set_params (GstCclTracker *self, const GstCclTrackerParams *params);

/* Drops all tracks. Ids are not reused. */
void gst_ccl_tracker_reset (GstCclTracker *self);

/* Advances to the frame at @time. Writes to @indices the index of each detection's track, the
 * oldest if several share it, or -1. A time that goes back counts as that of the frame before. */
void gst_ccl_tracker_update (GstCclTracker *self, GstClockTime time,
                             const GstCclDetection *detections, guint n_detections, gint *indices);

/* To be called before the update to a frame: a detector looked at parts of that frame or an earlier
 * one, and found @boxes, all of them objects. From the first look on, the objects that it knows
 * live on between its looks, and components of several objects do not change their sizes. */
void gst_ccl_tracker_look (GstCclTracker *self, GstClockTime time, const GstCclDetection *boxes,
                           guint n_boxes, const GstCclLook *parts, guint n_parts);

/* Whether a detector looks at some frames only: gst_ccl_tracker_look() was called. */
gboolean gst_ccl_tracker_is_looking (const GstCclTracker *self);

/* Advances to a frame that nothing is known about. */
void gst_ccl_tracker_skip (GstCclTracker *self, GstClockTime time);

/* All tracks, oldest first, valid until the next call that changes the tracker. */
const GstCclTrackInfo *gst_ccl_tracker_get_tracks (GstCclTracker *self, guint *n_tracks);

/* The number of detections without a track because there were max_tracks. */
guint64 gst_ccl_tracker_get_exceeded (const GstCclTracker *self);

/* How many times a track had too many detections near it: not all were compared with it, or it took
 * the best that was left instead of the one that is best for all. So no frame takes long. */
guint64 gst_ccl_tracker_get_crowded (const GstCclTracker *self);

G_END_DECLS

#endif /* __GST_CCL_TRACKER_H__ */
