/* cudaccl - cclmerge: finds the components that belong to a frame of the video
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmerge-match.h"

#include <gst/base/gstcclutils.h>
#include <gst/ccl/gstccl.h>
#include <gst/found/gstcclfindings.h>

/* No live source is this far ahead of the clock. */
#define FUTURE (10 * GST_SECOND)

gboolean
gst_ccl_segment_get_running_time (const GstSegment *segment, GstClockTime timestamp,
                                  GstClockTimeDiff *time)
{
  guint64 running_time = 0;
  gint sign = 0;

  if (GST_CLOCK_TIME_IS_VALID (timestamp) && segment->format == GST_FORMAT_TIME)
    sign = gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, timestamp, &running_time);
  if (sign == 0 || running_time > G_MAXINT64)
    return FALSE;

  *time = sign * (GstClockTimeDiff) running_time;

  return TRUE;
}

gboolean
gst_ccl_pad_get_running_time (GstAggregatorPad *pad, GstClockTime timestamp, GstClockTimeDiff *time)
{
  gboolean result;

  GST_OBJECT_LOCK (pad);
  result = gst_ccl_segment_get_running_time (&pad->segment, timestamp, time);
  GST_OBJECT_UNLOCK (pad);

  return result;
}

void
gst_ccl_match_order_reset (GstCclMatchOrder *order)
{
  order->newest = GST_CLOCK_STIME_NONE;
  order->earlier = NULL;
}

void
gst_ccl_match_order_arrive (GstCclMatchOrder *order, const GstBuffer *buffer, GstClockTimeDiff time)
{
  const GstClockTimeDiff jump = GST_CCL_MATCH_JUMP;
  /* The difference is limited: there is no overflow. */
  const GstClockTimeDiff limit = gst_ccl_time_diff (time, -jump);

  if (GST_CLOCK_STIME_IS_VALID (order->newest) && gst_ccl_time_diff (order->newest, time) > jump) {
    order->limit = order->earlier ? MIN (order->limit, limit) : limit;
    order->earlier = buffer;
  }
  order->newest = time;
}

gboolean
gst_ccl_match_order_is_ahead (const GstCclMatchOrder *order, const GstBuffer *buffer,
                              GstClockTimeDiff time)
{
  return order->earlier && order->earlier != buffer && time > order->limit;
}

void
gst_ccl_match_order_leave (GstCclMatchOrder *order, const GstBuffer *buffer)
{
  if (order->earlier == buffer)
    order->earlier = NULL;
}

/* A frame of the branch without its pixels, or a gap. */
struct _GstCclBranchFrame
{
  GstCclFindings findings;
  GstClockTimeDiff time; /* for a gap: its end */
  gboolean gap;
  GstClockTimeDiff gap_start;
  gboolean ahead; /* far later than a frame behind it */
};

/* Returns NULL if @buffer, the first on @pad, has no running time and matches nothing. */
static GstCclBranchFrame *
frame_new (GstCclMatcher *matcher, GstAggregatorPad *pad, GstBuffer *buffer)
{
  GstCclBranchFrame *frame;
  GstClockTimeDiff time;

  if (!gst_ccl_pad_get_running_time (pad, GST_BUFFER_PTS (buffer), &time))
    return NULL;

  frame = g_new0 (GstCclBranchFrame, 1);
  gst_ccl_findings_init (&frame->findings, buffer, matcher->width, matcher->height);
  frame->time = frame->gap_start = time;
  frame->gap = gst_ccl_buffer_is_gap (buffer);
  if (frame->gap && GST_BUFFER_DURATION_IS_VALID (buffer)) {
    GstClockTime end = GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer);

    if (end < GST_BUFFER_PTS (buffer) || !gst_ccl_pad_get_running_time (pad, end, &frame->time))
      frame->time = G_MAXINT64; /* it never ends */
  }

  return frame;
}

static void
frame_free (GstCclBranchFrame *frame)
{
  gst_ccl_findings_clear (&frame->findings);
  g_free (frame);
}

void
gst_ccl_matcher_init (GstCclMatcher *matcher)
{
  g_mutex_init (&matcher->lock);
  gst_ccl_match_order_reset (&matcher->order);
  matcher->events = gst_ccl_events_new ();
}

void
gst_ccl_matcher_finalize (GstCclMatcher *matcher)
{
  gst_ccl_matcher_clear (matcher);
  g_array_unref (matcher->events);
  g_mutex_clear (&matcher->lock);
}

void
gst_ccl_matcher_start (GstCclMatcher *matcher)
{
  g_mutex_lock (&matcher->lock);
  matcher->n_dropped = 0;
  g_mutex_unlock (&matcher->lock);
}

static void
clear_unlocked (GstCclMatcher *matcher)
{
  g_clear_pointer (&matcher->last, frame_free);
  g_clear_pointer (&matcher->next, frame_free);
  matcher->match = NULL;
  g_array_set_size (matcher->events, 0);
  matcher->begun = matcher->behind = FALSE;
  gst_ccl_match_order_reset (&matcher->order);
}

void
gst_ccl_matcher_clear (GstCclMatcher *matcher)
{
  g_mutex_lock (&matcher->lock);
  clear_unlocked (matcher);
  g_mutex_unlock (&matcher->lock);
}

/* Whether @frame begins so much later than @time that a timestamp must have jumped. */
static gboolean
is_after_jump (const GstCclBranchFrame *frame, GstClockTimeDiff time)
{
  return gst_ccl_time_diff (frame->gap_start, time) > (GstClockTimeDiff) GST_CCL_MATCH_JUMP;
}

/* Moves the events of a frame to the next frame of the video. */
static void
take_events (GstCclMatcher *matcher, GstCclBranchFrame *frame)
{
  gst_ccl_events_add (matcher->events, &frame->findings.zones, frame->time);
  frame->findings.zones.n_events = 0;
}

/* Peeks at the first frame on @pad, and drops it if it matches nothing. Removes the frame from the
 * order, as it is peeked at only once. Returns FALSE if there is none. */
static gboolean
peek_one (GstCclMatcher *matcher, GstAggregatorPad *pad)
{
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (pad);
  const GstCclZonesMeta *zones = buffer ? gst_buffer_get_ccl_zones_meta (buffer) : NULL;

  if (!buffer)
    return FALSE;

  matcher->next = frame_new (matcher, pad, buffer);
  if (matcher->next) {
    matcher->next->ahead =
        gst_ccl_match_order_is_ahead (&matcher->order, buffer, matcher->next->gap_start);
  } else {
    if (zones)
      gst_ccl_events_add (matcher->events, zones, GST_CLOCK_STIME_NONE);
    gst_aggregator_pad_drop_buffer (pad);
  }
  gst_ccl_match_order_leave (&matcher->order, buffer);
  gst_buffer_unref (buffer);

  return TRUE;
}

/* Peeks at the first frame on @pad, which may be NULL. Returns FALSE if the queue is empty. */
static gboolean
peek (GstCclMatcher *matcher, GstAggregatorPad *pad)
{
  if (!pad)
    g_clear_pointer (&matcher->next, frame_free);
  while (pad && !matcher->next && peek_one (matcher, pad))
    ;

  return matcher->next != NULL;
}

/* Takes the first frame on @pad, which is not later than the video, and makes it the last one seen.
 */
static void
take (GstCclMatcher *matcher, GstAggregatorPad *pad)
{
  GstCclBranchFrame *frame = g_steal_pointer (&matcher->next);

  if (frame->gap) {
    frame_free (frame);
  } else {
    take_events (matcher, frame);
    g_clear_pointer (&matcher->last, frame_free);
    matcher->last = frame;
  }
  gst_aggregator_pad_drop_buffer (pad);
}

guint64
gst_ccl_matcher_get_dropped (GstCclMatcher *matcher)
{
  guint64 n;

  g_mutex_lock (&matcher->lock);
  n = matcher->n_dropped;
  g_mutex_unlock (&matcher->lock);

  return n;
}

/* Returns whether the first frame on the pad, far later than the video, is later than frames behind
 * it, too, belongs to a time that the video has jumped away from, or, in a live pipeline, to the
 * far future. */
static gboolean
is_stale (GstCclMatcher *matcher, const GstCclMatchRequest *request)
{
  GstClockTimeDiff start = matcher->next->gap_start;

  if (!is_after_jump (matcher->next, request->time)) {
    matcher->behind = FALSE;
    return FALSE;
  }
  if (matcher->behind || matcher->next->ahead)
    return TRUE;

  return GST_CLOCK_STIME_IS_VALID (request->now) &&
         gst_ccl_time_diff (start, request->now) > (GstClockTimeDiff) FUTURE &&
         gst_ccl_time_diff (request->time, request->now) <= (GstClockTimeDiff) FUTURE;
}

/* Drops the first frame on @pad, whose timestamp has jumped, but keeps its events. */
static void
drop (GstCclMatcher *matcher, GstAggregatorPad *pad)
{
  gst_ccl_events_add (matcher->events, &matcher->next->findings.zones, GST_CLOCK_STIME_NONE);
  g_clear_pointer (&matcher->next, frame_free);
  gst_aggregator_pad_drop_buffer (pad);
  matcher->n_dropped++;
}

void
gst_ccl_matcher_arrive (GstCclMatcher *matcher, GstAggregatorPad *pad, const GstBuffer *buffer,
                        GstClockTimeDiff time)
{
  g_mutex_lock (&matcher->lock);
  gst_ccl_match_order_arrive (&matcher->order, buffer, time);
  if (peek (matcher, pad) && is_after_jump (matcher->next, time))
    matcher->next->ahead = TRUE;
  /* The queue may have no room for @buffer, and the video's next frame may wait for that: then
   * nothing else drops a frame that is ahead of both. */
  while (matcher->begun && peek (matcher, pad) && matcher->next->ahead &&
         matcher->next != matcher->match && is_after_jump (matcher->next, matcher->time))
    drop (matcher, pad);
  g_mutex_unlock (&matcher->lock);
}

/* Like peek(), but drops frames whose timestamps have jumped. */
static gboolean
peek_current (GstCclMatcher *matcher, GstAggregatorPad *pad, const GstCclMatchRequest *request)
{
  while (peek (matcher, pad)) {
    if (!is_stale (matcher, request))
      return TRUE;
    drop (matcher, pad);
  }

  return FALSE;
}

gboolean
gst_ccl_matcher_drain (GstCclMatcher *matcher, GstAggregatorPad *pad, guint64 *n_lost)
{
  g_mutex_lock (&matcher->lock);
  while (peek (matcher, pad))
    take (matcher, pad);
  *n_lost += gst_ccl_events_count (matcher->events);
  clear_unlocked (matcher);
  g_mutex_unlock (&matcher->lock);

  return !pad || gst_aggregator_pad_is_eos (pad);
}

/* Returns the result if nothing is queued on @pad, which may be NULL. After a jump back, it is
 * unknown whether the components will follow. */
static GstCclMatchResult
result_without_data (const GstCclMatcher *matcher, GstAggregatorPad *pad, gboolean timeout)
{
  if (!pad || gst_aggregator_pad_is_eos (pad))
    return GST_CCL_MATCH_IDLE;

  return timeout || matcher->behind ? GST_CCL_MATCH_LATE : GST_CCL_MATCH_PENDING;
}

static GstClockTimeDiff
distance (GstClockTimeDiff a, GstClockTimeDiff b)
{
  return ABS (gst_ccl_time_diff (a, b));
}

static GstCclMatchResult
find_nearest (GstCclMatcher *matcher, GstAggregatorPad *pad, const GstCclMatchRequest *request)
{
  const GstClockTimeDiff time = request->time;
  GstCclMatchResult result;

  for (;;) {
    const GstCclBranchFrame *last = matcher->last, *next;
    gboolean last_fits = last && distance (time, last->time) <= request->limit;
    /* A later frame would need to be nearer. */
    GstClockTimeDiff farthest = last_fits ? distance (time, last->time) - 1 : request->limit;

    if (farthest < 0) {
      result = GST_CCL_MATCH_NONE;
    } else if (!peek_current (matcher, pad, request)) {
      result = result_without_data (matcher, pad, request->timeout);
    } else {
      next = matcher->next;
      if (next->time <= time || (next->gap && distance (next->time, time) <= farthest)) {
        /* A frame not after the video, or a gap that a nearer frame may follow. */
        take (matcher, pad);
        continue;
      }
      if (distance (next->time, time) <= farthest) {
        matcher->match = next;
        return GST_CCL_MATCH_FOUND;
      }
      result = next->gap && next->gap_start <= time ? GST_CCL_MATCH_IDLE : GST_CCL_MATCH_NONE;
    }

    if (result == GST_CCL_MATCH_PENDING || !last_fits)
      return result;
    matcher->match = last;
    return GST_CCL_MATCH_FOUND;
  }
}

static GstCclMatchResult
find_latest (GstCclMatcher *matcher, GstAggregatorPad *pad, const GstCclMatchRequest *request)
{
  const GstClockTimeDiff time = request->time;
  GstCclMatchResult result = GST_CCL_MATCH_NONE;
  const GstCclBranchFrame *last;

  while (!matcher->last || matcher->last->time != time) {
    if (!peek_current (matcher, pad, request)) {
      result = result_without_data (matcher, pad, request->timeout);
      if (result == GST_CCL_MATCH_PENDING)
        return result;
      break;
    }
    if (matcher->next->time > time)
      break;
    take (matcher, pad);
  }

  last = matcher->last;
  if (last && last->time <= time && distance (time, last->time) <= request->limit) {
    matcher->match = last;
    return GST_CCL_MATCH_FOUND;
  }

  /* At the start, the branch may take as long to deliver as later on. */
  if (!last && distance (time, matcher->begin) <= request->limit)
    return GST_CCL_MATCH_IDLE;

  return result;
}

GstCclMatchResult
gst_ccl_matcher_find (GstCclMatcher *matcher, GstAggregatorPad *pad,
                      const GstCclMatchRequest *request)
{
  GstCclMatchResult result;

  g_mutex_lock (&matcher->lock);
  matcher->match = NULL;
  if (!GST_CLOCK_STIME_IS_VALID (request->time)) {
    /* If the video has no timestamps, the branch must not wait for one. But each frame of the video
     * needs one of the branch: GstAggregator waits for both. */
    if (!pad)
      g_clear_pointer (&matcher->next, frame_free);
    if (!matcher->has_time && pad && !matcher->next)
      peek_one (matcher, pad);
    if (!matcher->has_time && pad && matcher->next)
      take (matcher, pad);
    matcher->has_time = FALSE;
    g_mutex_unlock (&matcher->lock);
    return GST_CCL_MATCH_NONE;
  }

  if (!matcher->begun)
    matcher->begin = matcher->time = request->time;
  matcher->begun = matcher->has_time = TRUE;
  if (gst_ccl_time_diff (matcher->time, request->time) > (GstClockTimeDiff) GST_CCL_MATCH_JUMP)
    matcher->behind = TRUE;
  matcher->time = request->time;
  result =
      request->latest ? find_latest (matcher, pad, request) : find_nearest (matcher, pad, request);
  g_mutex_unlock (&matcher->lock);

  return result;
}

static GstBuffer *
make_writable (GstBuffer *buffer)
{
  GstBuffer *copy;

  if (gst_buffer_is_writable (buffer))
    return buffer;

  copy = gst_ccl_buffer_copy_shallow (buffer);
  gst_buffer_unref (buffer);

  return copy;
}

GstBuffer *
gst_ccl_matcher_attach (GstCclMatcher *matcher, GstBuffer *buffer, guint width, guint height)
{
  const GstCclZonesMeta *zones = gst_buffer_get_ccl_zones_meta (buffer);
  guint n_zones = zones ? zones->n_zones : 0, n_events = zones ? zones->n_events : 0;
  const GstCclBranchFrame *match;

  g_mutex_lock (&matcher->lock);
  match = matcher->match;
  if (match && match == matcher->next)
    take_events (matcher, matcher->next);

  if (match && match->findings.has_components) {
    buffer = make_writable (buffer);
    gst_ccl_findings_attach_components (&match->findings, buffer, width, height,
                                        gst_ccl_time_diff (matcher->time, match->time));
  }
  if (match && match->findings.zones.width > 0) {
    buffer = make_writable (buffer);
    gst_ccl_findings_attach_zones (&match->findings, buffer, width, height);
  }
  if (matcher->events->len > 0 && matcher->has_time) {
    buffer = make_writable (buffer);
    gst_ccl_events_attach (matcher->events, buffer, width, height, n_zones, n_events,
                           matcher->time);
  }
  g_mutex_unlock (&matcher->lock);

  return buffer;
}
