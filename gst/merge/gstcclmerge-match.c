/* cudaccl - cclmerge: finds the components that belong to a frame of the video
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmerge-match.h"

#include <gst/ccl/gstccl.h>
#include <gst/common/gstcclfindings.h>
#include <gst/common/gstcclutils.h>

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

/* A frame of the branch without its pixels, or a gap. */
struct _GstCclBranchFrame
{
  GstCclFindings findings;
  GstClockTimeDiff time; /* of a gap: its end */
  gboolean gap;
  GstClockTimeDiff gap_start;
};

/* Returns NULL if @buffer, the first one on @pad, has no running time: it matches nothing. */
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
  matcher->events = gst_ccl_events_new ();
}

void
gst_ccl_matcher_finalize (GstCclMatcher *matcher)
{
  gst_ccl_matcher_clear (matcher);
  g_array_unref (matcher->events);
  g_mutex_clear (&matcher->lock);
}

static void
clear_unlocked (GstCclMatcher *matcher)
{
  g_clear_pointer (&matcher->last, frame_free);
  g_clear_pointer (&matcher->next, frame_free);
  matcher->match = NULL;
  g_array_set_size (matcher->events, 0);
  matcher->begun = FALSE;
}

void
gst_ccl_matcher_clear (GstCclMatcher *matcher)
{
  g_mutex_lock (&matcher->lock);
  clear_unlocked (matcher);
  g_mutex_unlock (&matcher->lock);
}

/* Moves the events of a frame to those for the next frame of the video. */
static void
take_events (GstCclMatcher *matcher, GstCclBranchFrame *frame)
{
  gst_ccl_events_add (matcher->events, &frame->findings.zones, frame->time);
  frame->findings.zones.n_events = 0;
}

/* Looks at the first frame on @pad, which may be NULL. Returns FALSE if there is none. */
static gboolean
peek (GstCclMatcher *matcher, GstAggregatorPad *pad)
{
  GstBuffer *buffer;

  if (!pad)
    g_clear_pointer (&matcher->next, frame_free);
  while (pad && !matcher->next && (buffer = gst_aggregator_pad_peek_buffer (pad))) {
    const GstCclZonesMeta *zones = gst_buffer_get_ccl_zones_meta (buffer);

    matcher->next = frame_new (matcher, pad, buffer);
    if (!matcher->next) {
      if (zones)
        gst_ccl_events_add (matcher->events, zones, GST_CLOCK_STIME_NONE);
      gst_aggregator_pad_drop_buffer (pad);
    }
    gst_buffer_unref (buffer);
  }

  return matcher->next != NULL;
}

/* Goes on to the first frame on @pad, which is not after the video. */
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

/* The result if nothing is queued on @pad, which may be NULL. */
static GstCclMatchResult
result_without_data (GstAggregatorPad *pad, gboolean timeout)
{
  if (!pad || gst_aggregator_pad_is_eos (pad))
    return GST_CCL_MATCH_IDLE;

  return timeout ? GST_CCL_MATCH_LATE : GST_CCL_MATCH_PENDING;
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
    /* A later frame would have to be nearer. */
    GstClockTimeDiff farthest = last_fits ? distance (time, last->time) - 1 : request->limit;

    if (farthest < 0) {
      result = GST_CCL_MATCH_NONE;
    } else if (!peek (matcher, pad)) {
      result = result_without_data (pad, request->timeout);
    } else {
      next = matcher->next;
      if (next->time <= time || (next->gap && distance (next->time, time) <= farthest)) {
        /* Not after the video, or a gap that a nearer frame may follow. */
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
    if (!peek (matcher, pad)) {
      result = result_without_data (pad, request->timeout);
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

  /* At the start the branch has as long to deliver as at any time later. */
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
  matcher->time = request->time;
  matcher->match = NULL;
  if (!matcher->begun && GST_CLOCK_STIME_IS_VALID (request->time)) {
    matcher->begun = TRUE;
    matcher->begin = request->time;
  }
  if (!GST_CLOCK_STIME_IS_VALID (request->time))
    result = GST_CCL_MATCH_NONE;
  else if (request->latest)
    result = find_latest (matcher, pad, request);
  else
    result = find_nearest (matcher, pad, request);
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
  if (matcher->events->len > 0 && GST_CLOCK_STIME_IS_VALID (matcher->time)) {
    buffer = make_writable (buffer);
    gst_ccl_events_attach (matcher->events, buffer, width, height, n_zones, n_events,
                           matcher->time);
  }
  g_mutex_unlock (&matcher->lock);

  return buffer;
}
