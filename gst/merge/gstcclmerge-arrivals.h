/* cudaccl - cclmerge: when frames arrive: jumps of their timestamps, and how late components are
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MERGE_ARRIVALS_H__
#define __GST_CCL_MERGE_ARRIVALS_H__

#include <gst/base/gstaggregator.h>
#include <gst/common/gstccltime.h>

#include "gstcclmerge-match.h"

G_BEGIN_DECLS

/* Follows what arrives on the pads, before it waits there for its turn. */
typedef struct
{
  /* Whoever looks at the next frame of the video and then takes it from its pad holds this. */
  GMutex video_lock;

  /*< private >*/
  GQueue early;        /* of the video, see gst_ccl_arrivals_take_early(); under @video_lock */
  GstElement *element; /* not owned */
  GstAggregatorPad *video;
  GstCclMatcher *matcher;

  /* Of the thread that pushes to the pad. */
  GstCclTime video_time;
  GstCclTime components_time;

  GMutex lock;             /* protects what follows */
  GstClockTimeDiff newest; /* frame of the video, or GST_CLOCK_STIME_NONE */
  GstClockTimeDiff shift;  /* from the video's running time to the clock's, since a jump */
  /* How long after their running time the last components came, in a ring. */
  GstClockTimeDiff lateness[16];
  guint n, next;
} GstCclArrivals;

void gst_ccl_arrivals_init (GstCclArrivals *self, GstElement *element, GstAggregatorPad *video,
                            GstCclMatcher *matcher);
void gst_ccl_arrivals_finalize (GstCclArrivals *self);

/* Forgets everything, for an element that stops. */
void gst_ccl_arrivals_reset (GstCclArrivals *self);

/* Follows what arrives on the pad of the video, or that of the components. Posts a warning where
 * timestamps jump, and drops components before a jump back. */
void gst_ccl_arrivals_watch (GstCclArrivals *self, GstAggregatorPad *pad);

/* Frames of the video that are earlier than the one before it, by more than a second, take that
 * from the pad: components for it would not come for long. Returns the first such frame, to be
 * pushed before all others, or NULL. Call with @video_lock held. */
GstBuffer *gst_ccl_arrivals_take_early (GstCclArrivals *self);

/* The running time of the clock when a frame of the video at @time should have arrived. */
GstClockTime gst_ccl_arrivals_get_due (GstCclArrivals *self, GstClockTimeDiff time);

/* The time of a frame of the video that is due now. */
GstClockTimeDiff gst_ccl_arrivals_get_now (GstCclArrivals *self);

/* How late the last components were; 0 if there were none. */
GstClockTimeDiff gst_ccl_arrivals_get_last_lateness (GstCclArrivals *self);

/* How late components usually are: the second largest of the last ones, so that a single late frame
 * has no effect. 0 after only a few frames: the first ones are often late. */
GstClockTimeDiff gst_ccl_arrivals_get_usual_lateness (GstCclArrivals *self);

G_END_DECLS

#endif /* __GST_CCL_MERGE_ARRIVALS_H__ */
