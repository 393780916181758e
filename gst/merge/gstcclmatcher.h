/* cudaccl - finds the frame of one branch that belongs to a frame of another
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MATCHER_H__
#define __GST_CCL_MATCHER_H__

#include <gst/base/gstaggregator.h>

G_BEGIN_DECLS

/* A frame with components. */
typedef struct
{
  GstBuffer *buffer; /* NULL for none */
  GstBuffer *zones;  /* zones, and the events that belong to the frame, or NULL */
  GstClockTimeDiff time;
  guint width;
  guint height;
} GstCclMatch;

typedef enum
{
  GST_CCL_MATCH_PENDING, /* depends on data that has not arrived */
  GST_CCL_MATCH_FOUND,
  GST_CCL_MATCH_NONE, /* the branch is past the frame, and nothing was near enough */
  GST_CCL_MATCH_LATE, /* nothing came in time */
  GST_CCL_MATCH_IDLE, /* there is no branch, or it has ended, has a gap, or has not started yet */
} GstCclMatchResult;

/* What a frame needs. */
typedef struct
{
  gboolean latest;        /* the last frame not after this one, instead of the nearest one */
  GstClockTimeDiff limit; /* greatest distance, or with @latest the greatest age; >= 0 */
  GstClockTimeDiff time;  /* of the frame */
  gboolean timeout;       /* the latency has elapsed: do not wait any longer */
} GstCclMatchRequest;

/* The frames of the components branch. Zero-initialise it, then call gst_ccl_matcher_init(). */
typedef struct
{
  guint width, height; /* of the current frames */

  /*< private >*/
  GstCclMatch last; /* the latest one not after the video, reduced to its components and zones */
  GArray *waiting;  /* WaitingEvents */
  GstBuffer *delivered; /* next frame on the pad, if its events are delivered, or NULL */
  gboolean begun;       /* something came, or the first frame was seen at @begin */
  GstClockTimeDiff begin;
  GMutex lock; /* protects what is above: flushes come from another thread than aggregate() */
} GstCclMatcher;

void gst_ccl_matcher_init (GstCclMatcher *matcher);
void gst_ccl_matcher_finalize (GstCclMatcher *matcher);

/* Forgets the frames seen so far. */
void gst_ccl_matcher_clear (GstCclMatcher *matcher);

/* Drops all frames on @pad, which may be NULL. Returns TRUE if no more will come. Adds the number
 * of lost events to @n_lost. */
gboolean gst_ccl_matcher_drain (GstCclMatcher *matcher, GstAggregatorPad *pad, guint64 *n_lost);

/* Finds the frame of @pad (which may be NULL) that @request asks for, and drops the frames that no
 * later call needs. If a frame was found, @match gets a reference to its buffer, and its zones.
 * Unless the result is GST_CCL_MATCH_PENDING, @match->zones also gets the events that no earlier
 * call returned, with their age, even if no frame was found. The caller owns both buffers. */
GstCclMatchResult gst_ccl_matcher_find (GstCclMatcher *matcher, GstAggregatorPad *pad,
                                        const GstCclMatchRequest *request, GstCclMatch *match);

/* Gets the running time of @timestamp, which is negative before the segment. Returns FALSE if it
 * has none, or none below 2^63 ns. */
gboolean gst_ccl_segment_get_running_time (const GstSegment *segment, GstClockTime timestamp,
                                           GstClockTimeDiff *time);

/* The same in the segment of @pad. */
gboolean gst_ccl_pad_get_running_time (GstAggregatorPad *pad, GstClockTime timestamp,
                                       GstClockTimeDiff *time);

G_END_DECLS

#endif /* __GST_CCL_MATCHER_H__ */
