/* cudaccl - cclmerge: finds the components that belong to a frame of the video
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MERGE_MATCH_H__
#define __GST_CCL_MERGE_MATCH_H__

#include <gst/base/gstaggregator.h>

G_BEGIN_DECLS

/* Timestamps that go back by more than this have jumped. */
#define GST_CCL_MATCH_JUMP GST_SECOND

typedef enum
{
  GST_CCL_MATCH_PENDING, /* depends on data that has not arrived */
  GST_CCL_MATCH_FOUND,
  GST_CCL_MATCH_NONE, /* the branch is past the frame, and nothing was near enough */
  GST_CCL_MATCH_LATE, /* nothing came in time */
  GST_CCL_MATCH_IDLE, /* no branch, or it has ended, has a gap, or has not started yet */
} GstCclMatchResult;

/* The components that a frame of the video needs. */
typedef struct
{
  gboolean latest;        /* the last frame not after this one instead of the nearest */
  GstClockTimeDiff limit; /* largest distance, or with @latest largest age; >= 0 */
  GstClockTimeDiff time;  /* of the frame; GST_CLOCK_STIME_NONE: it matches nothing */
  GstClockTimeDiff now; /* live pipelines: running time at which a frame in time arrives; or NONE */
  gboolean timeout;     /* the latency has elapsed: do not wait any longer */
} GstCclMatchRequest;

typedef struct _GstCclBranchFrame GstCclBranchFrame;

/* Finds frames in a pad's queue that are more than GST_CCL_MATCH_JUMP later than one behind them.
 * Only the first frame of a queue can be seen, and more than one may be queued when the earlier one
 * arrives. */
typedef struct
{
  GstClockTimeDiff newest;  /* of the last frame that arrived, or GST_CLOCK_STIME_NONE */
  GstClockTimeDiff limit;   /* frames before @earlier may not be later than this */
  const GstBuffer *earlier; /* the last frame that went back, in the queue; or NULL. Not owned */
} GstCclMatchOrder;

void gst_ccl_match_order_reset (GstCclMatchOrder *order);

/* Call when @buffer with @time arrives, before it is queued. */
void gst_ccl_match_order_arrive (GstCclMatchOrder *order, const GstBuffer *buffer,
                                 GstClockTimeDiff time);

/* Whether a frame behind @buffer, the first of the queue, with @time, is far earlier. */
gboolean gst_ccl_match_order_is_ahead (const GstCclMatchOrder *order, const GstBuffer *buffer,
                                       GstClockTimeDiff time);

/* Call when @buffer leaves the queue. */
void gst_ccl_match_order_leave (GstCclMatchOrder *order, const GstBuffer *buffer);

/* The frames of the components' branch. Zero-initialise it, then call gst_ccl_matcher_init(). */
typedef struct
{
  guint width, height; /* of the current frames */

  /*< private >*/
  GMutex lock;                    /* flushes come from another thread than aggregate() */
  GstCclBranchFrame *last;        /* the latest frame not after the video */
  GstCclBranchFrame *next;        /* the first frame on the pad, once peeked at */
  const GstCclBranchFrame *match; /* one of them, or NULL */
  GArray *events;                 /* events for the next frame of the video */
  gboolean has_time;              /* the current frame of the video has a time */
  GstClockTimeDiff time;          /* time of the last frame of the video that had one */
  GstClockTimeDiff begin;         /* time of the first one, once it has come */
  gboolean begun;
  GstCclMatchOrder order;
  gboolean behind; /* the video has gone back, and the components have not followed yet */
  guint64 n_dropped;
} GstCclMatcher;

void gst_ccl_matcher_init (GstCclMatcher *matcher);
void gst_ccl_matcher_finalize (GstCclMatcher *matcher);

/* Counts dropped frames anew. */
void gst_ccl_matcher_start (GstCclMatcher *matcher);

/* Forgets the frames seen so far. */
void gst_ccl_matcher_clear (GstCclMatcher *matcher);

/* Drops all frames on @pad, which may be NULL. Returns TRUE if no more will come. Adds the number
 * of lost events to @n_lost. */
gboolean gst_ccl_matcher_drain (GstCclMatcher *matcher, GstAggregatorPad *pad, guint64 *n_lost);

/* Finds the frame of @pad (which may be NULL) that @request asks for, and drops the frames that no
 * later call needs. */
GstCclMatchResult gst_ccl_matcher_find (GstCclMatcher *matcher, GstAggregatorPad *pad,
                                        const GstCclMatchRequest *request);

/* Call when @buffer, with @time, arrives on @pad: queued frames that are far ahead of it, and of
 * the video, will be dropped. They would stay at the head of the queue until the video reaches
 * them, and block the frames behind. Those that the video reaches soon stay, as it may jump back as
 * well, later. */
void gst_ccl_matcher_arrive (GstCclMatcher *matcher, GstAggregatorPad *pad, const GstBuffer *buffer,
                             GstClockTimeDiff time);

/* Returns how many frames were dropped because timestamps jumped. */
guint64 gst_ccl_matcher_get_dropped (GstCclMatcher *matcher);

/* Attaches the result of the last gst_ccl_matcher_find() to @buffer, the frame of @width x
 * @height that it was for; and, if the frame has a time, the events that no frame has yet, even
 * without a match. Takes @buffer and returns it, or a shallow copy if it is shared. */
GstBuffer *gst_ccl_matcher_attach (GstCclMatcher *matcher, GstBuffer *buffer, guint width,
                                   guint height);

/* Gets the running time of @timestamp, which is negative before the segment. Returns FALSE if it
 * has none, or none below 2^63 ns. */
gboolean gst_ccl_segment_get_running_time (const GstSegment *segment, GstClockTime timestamp,
                                           GstClockTimeDiff *time);

/* The same in the segment of @pad. */
gboolean gst_ccl_pad_get_running_time (GstAggregatorPad *pad, GstClockTime timestamp,
                                       GstClockTimeDiff *time);

G_END_DECLS

#endif /* __GST_CCL_MERGE_MATCH_H__ */
