/* cudaccl - cclmerge: when frames arrive: jumps of their timestamps, and how late components are
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MERGE_ARRIVALS_H__
#define __GST_CCL_MERGE_ARRIVALS_H__

#include <gst/base/gstaggregator.h>
#include <gst/base/gstccltime.h>

#include "gstcclmerge-match.h"

G_BEGIN_DECLS

/* Watches frames that arrive on the pads, before they are queued. */
typedef struct
{
  /* Held while peeking at and popping the next frame of the video. */
  GMutex video_lock;

  /*< private >*/
  GQueue early;           /* frames of the video; protected by @video_lock */
  GstCclMatchOrder order; /* of the video's frames; protected by @video_lock */
  GstElement *element;    /* borrowed */
  GstAggregatorPad *video;
  GstCclMatcher *matcher;

  /* Only used by the thread that pushes to the pad. */
  GstCclTime video_time;
  GstCclTime components_time;

  GMutex lock;             /* protects the fields below */
  GstClockTimeDiff newest; /* newest frame of the video, or GST_CLOCK_STIME_NONE */
  GstClockTimeDiff shift;  /* from the video's running time to the clock's after a jump */
  /* Ring buffer: how long after their running time the last components arrived. */
  GstClockTimeDiff lateness[16];
  guint n, next;
} GstCclArrivals;

void gst_ccl_arrivals_init (GstCclArrivals *self, GstElement *element, GstAggregatorPad *video,
                            GstCclMatcher *matcher);
void gst_ccl_arrivals_finalize (GstCclArrivals *self);

/* Resets all state when the element stops. */
void gst_ccl_arrivals_reset (GstCclArrivals *self);

/* Watches the pad of the video or of the components. Posts a warning when timestamps jump, and
 * drops components before a jump back. */
void gst_ccl_arrivals_watch (GstCclArrivals *self, GstAggregatorPad *pad);

/* Returns the next frame that was taken from the video's pad, to be pushed before all others, or
 * NULL. A queued frame is taken when a later one is more than a second earlier, because its
 * components would not arrive for a long time. Call with @video_lock held. */
GstBuffer *gst_ccl_arrivals_take_early (GstCclArrivals *self);

/* Takes the next frame from the video's pad, or returns NULL. Call with @video_lock held. */
GstBuffer *gst_ccl_arrivals_pop (GstCclArrivals *self);

/* Returns the running time of the clock at which a frame of the video at @time should have
 * arrived. */
GstClockTime gst_ccl_arrivals_get_due (GstCclArrivals *self, GstClockTimeDiff time);

/* Returns the time of a frame of the video that is due now. */
GstClockTimeDiff gst_ccl_arrivals_get_now (GstCclArrivals *self);

/* Returns how late the last components were; 0 without any. */
GstClockTimeDiff gst_ccl_arrivals_get_last_lateness (GstCclArrivals *self);

/* Returns how late components usually are: the second largest of the last values, so that a
 * single late frame has no effect. 0 in the first frames, which are often late. */
GstClockTimeDiff gst_ccl_arrivals_get_usual_lateness (GstCclArrivals *self);

G_END_DECLS

#endif /* __GST_CCL_MERGE_ARRIVALS_H__ */
