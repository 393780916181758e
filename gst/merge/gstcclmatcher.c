/* cudaccl - finds the frame of one branch that belongs to a frame of another
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmatcher.h"

#include <gst/ccl/gstccl.h>
#include <gst/common/gstcclutils.h>

#include <gst/common/gstccltransfer.h>

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

/* Events for the next frame of the video. */
typedef struct
{
  GstBuffer *zones;      /* with the events */
  GstClockTimeDiff time; /* of the frame, or GST_CLOCK_STIME_NONE */
} WaitingEvents;

static void
clear_waiting (gpointer data)
{
  gst_buffer_unref (((WaitingEvents *) data)->zones);
}

void
gst_ccl_matcher_init (GstCclMatcher *matcher)
{
  g_mutex_init (&matcher->lock);
  matcher->waiting = g_array_new (FALSE, FALSE, sizeof (WaitingEvents));
  g_array_set_clear_func (matcher->waiting, clear_waiting);
}

static void
clear_match (GstCclMatch *match)
{
  gst_clear_buffer (&match->buffer);
  gst_clear_buffer (&match->zones);
}

void
gst_ccl_matcher_finalize (GstCclMatcher *matcher)
{
  gst_ccl_matcher_clear (matcher);
  g_array_unref (matcher->waiting);
  g_mutex_clear (&matcher->lock);
}

void
gst_ccl_matcher_clear (GstCclMatcher *matcher)
{
  g_mutex_lock (&matcher->lock);
  clear_match (&matcher->last);
  g_array_set_size (matcher->waiting, 0);
  gst_clear_buffer (&matcher->delivered);
  matcher->begun = FALSE;
  g_mutex_unlock (&matcher->lock);
}

static guint
count_events (GstBuffer *buffer)
{
  const GstCclZonesMeta *meta = gst_buffer_get_ccl_zones_meta (buffer);

  return meta ? meta->n_events : 0;
}

/* Keeps the events of a frame for the next one of the video, unless the video has them already. */
static void
keep_events (GstCclMatcher *matcher, GstBuffer *buffer, GstClockTimeDiff time)
{
  WaitingEvents waiting = { NULL, time };

  if (matcher->delivered != buffer && count_events (buffer) > 0)
    waiting.zones = gst_ccl_transfer_extract_zones (buffer);
  if (waiting.zones)
    g_array_append_val (matcher->waiting, waiting);
  gst_clear_buffer (&matcher->delivered);
}

gboolean
gst_ccl_matcher_drain (GstCclMatcher *matcher, GstAggregatorPad *pad, guint64 *n_lost)
{
  GstBuffer *buffer;
  guint i;

  g_mutex_lock (&matcher->lock);
  while (pad && (buffer = gst_aggregator_pad_pop_buffer (pad))) {
    keep_events (matcher, buffer, GST_CLOCK_STIME_NONE);
    gst_buffer_unref (buffer);
  }
  for (i = 0; i < matcher->waiting->len; i++)
    *n_lost += count_events (g_array_index (matcher->waiting, WaitingEvents, i).zones);
  g_mutex_unlock (&matcher->lock);
  gst_ccl_matcher_clear (matcher);

  return !pad || gst_aggregator_pad_is_eos (pad);
}

static GstBuffer *
extract_zones_without_events (GstBuffer *buffer)
{
  GstBuffer *zones = gst_ccl_transfer_extract_zones (buffer);

  if (zones)
    gst_buffer_get_ccl_zones_meta (zones)->n_events = 0;

  return zones;
}

/* Moves the waiting events to @match, for the frame of the video at @time. */
static void
deliver_events (GstCclMatcher *matcher, GstCclMatch *match, GstClockTimeDiff time)
{
  guint n = matcher->waiting->len, i;
  GstCclEvents *sources;

  if (n == 0)
    return;

  sources = g_new (GstCclEvents, n);
  for (i = 0; i < n; i++) {
    const WaitingEvents *waiting = &g_array_index (matcher->waiting, WaitingEvents, i);

    sources[i].zones = waiting->zones;
    sources[i].age =
        GST_CLOCK_STIME_IS_VALID (waiting->time) ? gst_ccl_time_diff (time, waiting->time) : 0;
  }
  if (!match->zones)
    match->zones = gst_buffer_new ();
  gst_ccl_transfer_events (match->zones, 0, sources, n);
  g_free (sources);
  g_array_set_size (matcher->waiting, 0);
}

/* The next item on the pad: a frame, or a gap with the time of its end. */
typedef struct
{
  GstCclMatch frame;
  gboolean gap;
  GstClockTimeDiff gap_start;
} Item;

/* Gets the next item on @pad; the caller must unreference its buffer. Drops buffers without running
 * time, which match nothing. @item has no zones. */
static gboolean
peek (GstCclMatcher *matcher, GstAggregatorPad *pad, Item *item)
{
  GstBuffer *buffer;

  while ((buffer = gst_aggregator_pad_peek_buffer (pad))) {
    if (gst_ccl_pad_get_running_time (pad, GST_BUFFER_PTS (buffer), &item->frame.time)) {
      item->frame.buffer = buffer;
      item->frame.zones = NULL;
      item->frame.width = matcher->width;
      item->frame.height = matcher->height;
      item->gap = gst_ccl_buffer_is_gap (buffer);
      item->gap_start = item->frame.time;
      if (item->gap && GST_BUFFER_DURATION_IS_VALID (buffer)) {
        GstClockTime end = GST_BUFFER_PTS (buffer) + GST_BUFFER_DURATION (buffer);

        /* A gap that never ends. */
        if (end < GST_BUFFER_PTS (buffer) ||
            !gst_ccl_pad_get_running_time (pad, end, &item->frame.time))
          item->frame.time = G_MAXINT64;
      }
      return TRUE;
    }

    keep_events (matcher, buffer, GST_CLOCK_STIME_NONE);
    gst_buffer_unref (buffer);
    gst_aggregator_pad_drop_buffer (pad);
  }

  return FALSE;
}

/* Drops the next item on @pad, which is not after the video. */
static void
take (GstCclMatcher *matcher, GstAggregatorPad *pad, const Item *item)
{
  GstCclMatch *last = &matcher->last;

  if (!item->gap) {
    clear_match (last);
    *last = item->frame;
    last->buffer = gst_ccl_transfer_extract (item->frame.buffer);
    last->zones = extract_zones_without_events (item->frame.buffer);
    keep_events (matcher, item->frame.buffer, item->frame.time);
  }
  gst_aggregator_pad_drop_buffer (pad);
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
find_nearest (GstCclMatcher *matcher, GstAggregatorPad *pad, const GstCclMatchRequest *request,
              GstCclMatch *match)
{
  const GstClockTimeDiff time = request->time;
  GstCclMatch *last = &matcher->last;
  GstCclMatchResult result;

  for (;;) {
    gboolean last_fits = last->buffer && distance (time, last->time) <= request->limit;
    /* A later frame would have to be nearer. */
    GstClockTimeDiff farthest = last_fits ? distance (time, last->time) - 1 : request->limit;
    Item next;

    if (farthest < 0) {
      result = GST_CCL_MATCH_NONE;
    } else if (!pad || !peek (matcher, pad, &next)) {
      result = result_without_data (pad, request->timeout);
    } else if (next.frame.time > time && distance (next.frame.time, time) > farthest) {
      result = next.gap && next.gap_start <= time ? GST_CCL_MATCH_IDLE : GST_CCL_MATCH_NONE;
      gst_buffer_unref (next.frame.buffer);
    } else if (next.frame.time > time && !next.gap) {
      *match = next.frame;
      return GST_CCL_MATCH_FOUND;
    } else {
      /* Not after the video, or a gap that a nearer frame may follow. */
      take (matcher, pad, &next);
      gst_buffer_unref (next.frame.buffer);
      continue;
    }

    if (result == GST_CCL_MATCH_PENDING || !last_fits)
      return result;
    *match = *last;
    gst_buffer_ref (match->buffer);
    return GST_CCL_MATCH_FOUND;
  }
}

static GstCclMatchResult
find_latest (GstCclMatcher *matcher, GstAggregatorPad *pad, const GstCclMatchRequest *request,
             GstCclMatch *match)
{
  const GstClockTimeDiff time = request->time;
  GstCclMatch *last = &matcher->last;
  GstCclMatchResult result = GST_CCL_MATCH_NONE;
  Item next;

  while (!last->buffer || last->time != time) {
    gboolean is_past;

    if (!pad || !peek (matcher, pad, &next)) {
      result = result_without_data (pad, request->timeout);
      if (result == GST_CCL_MATCH_PENDING)
        return result;
      break;
    }
    is_past = next.frame.time > time;
    if (!is_past)
      take (matcher, pad, &next);
    gst_buffer_unref (next.frame.buffer);
    if (is_past)
      break;
  }

  if (last->buffer && last->time <= time && distance (time, last->time) <= request->limit) {
    *match = *last;
    gst_buffer_ref (match->buffer);
    return GST_CCL_MATCH_FOUND;
  }

  /* At the start the branch has as long to deliver as at any time later. */
  if (!last->buffer && distance (time, matcher->begin) <= request->limit)
    return GST_CCL_MATCH_IDLE;

  return result;
}

/* The zones of a match: the last frame, or a later one that is still on the pad. The events of the
 * latter are delivered now, and not again when it leaves the pad. */
static GstBuffer *
take_zones (GstCclMatcher *matcher, const GstCclMatch *match)
{
  if (match->buffer == matcher->last.buffer)
    return matcher->last.zones ? gst_buffer_copy (matcher->last.zones) : NULL;

  keep_events (matcher, match->buffer, match->time);
  matcher->delivered = gst_buffer_ref (match->buffer);

  return extract_zones_without_events (match->buffer);
}

GstCclMatchResult
gst_ccl_matcher_find (GstCclMatcher *matcher, GstAggregatorPad *pad,
                      const GstCclMatchRequest *request, GstCclMatch *match)
{
  GstCclMatchResult result;

  match->buffer = match->zones = NULL;
  g_mutex_lock (&matcher->lock);
  if (!matcher->begun) {
    matcher->begun = TRUE;
    matcher->begin = request->time;
  }
  if (!pad) /* the frames on a released pad are gone */
    gst_clear_buffer (&matcher->delivered);
  result = request->latest ? find_latest (matcher, pad, request, match)
                           : find_nearest (matcher, pad, request, match);
  if (result == GST_CCL_MATCH_FOUND)
    match->zones = take_zones (matcher, match);
  if (result != GST_CCL_MATCH_PENDING)
    deliver_events (matcher, match, request->time);
  g_mutex_unlock (&matcher->lock);

  return result;
}
