/* cudaccl - which frame of one branch belongs to which frame of another
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmergematch.h"

#include "gstcclmergemeta.h"

void
gst_ccl_merge_matcher_init (GstCclMergeMatcher *matcher)
{
  g_mutex_init (&matcher->lock);
}

void
gst_ccl_merge_matcher_finalize (GstCclMergeMatcher *matcher)
{
  gst_clear_buffer (&matcher->last.buffer);
  g_mutex_clear (&matcher->lock);
}

void
gst_ccl_merge_matcher_clear (GstCclMergeMatcher *matcher)
{
  g_mutex_lock (&matcher->lock);
  gst_clear_buffer (&matcher->last.buffer);
  g_mutex_unlock (&matcher->lock);
}

gboolean
gst_ccl_merge_matcher_drain (GstCclMergeMatcher *matcher, GstAggregatorPad *pad)
{
  gst_ccl_merge_matcher_clear (matcher);
  while (pad && gst_aggregator_pad_drop_buffer (pad)) {
  }

  return !pad || gst_aggregator_pad_is_eos (pad);
}

gboolean
gst_ccl_merge_is_gap (GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) && gst_buffer_get_size (buffer) == 0;
}

gboolean
gst_ccl_merge_get_time (GstAggregatorPad *pad, GstClockTime timestamp, GstClockTimeDiff *time)
{
  guint64 running_time = 0;
  gint sign = 0;

  if (!GST_CLOCK_TIME_IS_VALID (timestamp))
    return FALSE;

  GST_OBJECT_LOCK (pad);
  if (pad->segment.format == GST_FORMAT_TIME)
    sign =
        gst_segment_to_running_time_full (&pad->segment, GST_FORMAT_TIME, timestamp, &running_time);
  GST_OBJECT_UNLOCK (pad);

  *time = sign * (GstClockTimeDiff) running_time;

  return sign != 0;
}

/* What comes next on @pad: a frame, or a gap and the time of its end. Those without a time are no
 * one's partners. */
static gboolean
peek (GstCclMergeMatcher *matcher, GstAggregatorPad *pad, GstCclMergeFrame *next, gboolean *gap)
{
  GstBuffer *buffer;

  while ((buffer = gst_aggregator_pad_peek_buffer (pad))) {
    GstClockTime timestamp = GST_BUFFER_PTS (buffer);

    *gap = gst_ccl_merge_is_gap (buffer);
    if (*gap && GST_CLOCK_TIME_IS_VALID (timestamp) && GST_BUFFER_DURATION_IS_VALID (buffer))
      timestamp += GST_BUFFER_DURATION (buffer);

    if (gst_ccl_merge_get_time (pad, timestamp, &next->time)) {
      next->buffer = buffer;
      next->width = matcher->width;
      next->height = matcher->height;
      return TRUE;
    }

    gst_buffer_unref (buffer);
    gst_aggregator_pad_drop_buffer (pad);
  }

  return FALSE;
}

static gboolean
find_unlocked (GstCclMergeMatcher *matcher, GstAggregatorPad *pad, GstClockTimeDiff time,
               GstClockTimeDiff tolerance, gboolean timeout, GstCclMergeFrame *partner)
{
  GstCclMergeFrame *last = &matcher->last;
  gboolean decided = TRUE;

  partner->buffer = NULL;

  for (;;) {
    gboolean last_fits = last->buffer && ABS (time - last->time) <= tolerance;
    /* A later partner would have to be nearer. */
    GstClockTimeDiff farthest = last_fits ? ABS (time - last->time) - 1 : tolerance;
    GstCclMergeFrame next;
    gboolean gap;

    if (farthest < 0 || !pad || !peek (matcher, pad, &next, &gap)) {
      decided = farthest < 0 || !pad || timeout || gst_aggregator_pad_is_eos (pad);
    } else if (next.time > time + farthest) {
      gst_buffer_unref (next.buffer);
    } else if (next.time > time && !gap) {
      *partner = next;
      return TRUE;
    } else {
      /* It is past, or a gap of which something nearer may still follow. */
      if (!gap) {
        gst_clear_buffer (&last->buffer);
        *last = next;
        last->buffer = gst_ccl_merge_keep_components (next.buffer);
      }
      gst_buffer_unref (next.buffer);
      gst_aggregator_pad_drop_buffer (pad);
      continue;
    }

    if (decided && last_fits) {
      *partner = *last;
      gst_buffer_ref (partner->buffer);
    }
    return decided;
  }
}

gboolean
gst_ccl_merge_matcher_find (GstCclMergeMatcher *matcher, GstAggregatorPad *pad,
                            GstClockTimeDiff time, GstClockTimeDiff tolerance, gboolean timeout,
                            GstCclMergeFrame *partner)
{
  gboolean decided;

  g_mutex_lock (&matcher->lock);
  decided = find_unlocked (matcher, pad, time, tolerance, timeout, partner);
  g_mutex_unlock (&matcher->lock);

  return decided;
}
