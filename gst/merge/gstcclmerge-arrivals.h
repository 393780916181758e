/* cudaccl - cclmerge: when frames arrive: jumps of their timestamps, and how late components are
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MERGE_ARRIVALS_H__
#define __GST_CCL_MERGE_ARRIVALS_H__

#include <gst/base/gstaggregator.h>
#include <gst/base/gstccltime.h>

#include "gstcclmerge-match.h"

G_BEGIN_DECLS

/* Watches what arrives on the pads, before it is queued there. */
typedef struct
{
  /* Held while peeking at and popping the next frame of the video. */
  GMutex video_lock;

  /*< private >*/
  GQueue early;        /* of the video, see gst_ccl_arrivals_take_early(); under @video_lock */
  GstElement *element; /* not owned */
  GstAggregatorPad *video;
  GstCclMatcher *matcher;

  /* Only used by the thread that pushes to the pad. */
  GstCclTime video_time;
  GstCclTime components_time;

  GMutex lock;             /* protects what follows */
  GstClockTimeDiff newest; /* frame of the video, or GST_CLOCK_STIME_NONE */
  GstClockTimeDiff shift;  /* from the video's running time to the clock's, since a jump */
  /* A ring: how late the last components were, relative to their running time. */
  GstClockTimeDiff lateness[16];
  guint n, next;
} GstCclArrivals;

void gst_ccl_arrivals_init (GstCclArrivals *self, GstElement *element, GstAggregatorPad *video,
                            GstCclMatcher *matcher);
void gst_ccl_arrivals_finalize (GstCclArrivals *self);

/* Resets all state when the element stops. */
void gst_ccl_arrivals_reset (GstCclArrivals *self);

/* Watches the video's or the components' pad. Posts a warning where
 * timestamps jump, and drops components before a jump back. */
void gst_ccl_arrivals_watch (GstCclArrivals *self, GstAggregatorPad *pad);

/* If a frame of the video is more than a second earlier than the one queued before it, the queued
 * one is taken from the pad: its components would not arrive for a long time. Returns the first
 * frame taken, to be pushed before all others, or NULL. Call with @video_lock held. */
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
