/* cudaccl - when the frames of cclmerge go on, and with what
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmerge-private.h"

#include <gst/ccl/gstccltwin.h>

#include "gstcclmergemeta.h"

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_merge_debug);
#define GST_CAT_DEFAULT gst_ccl_merge_debug

void
gst_ccl_merge_push_segment (GstCclMerge *self)
{
  GstPad *srcpad = GST_AGGREGATOR (self)->srcpad;

  if (self->segment && gst_pad_has_current_caps (srcpad))
    gst_pad_push_event (srcpad, g_steal_pointer (&self->segment));
}

/* In live pipelines, a frame waits until its time plus the latency. */
GstClockTime
gst_ccl_merge_get_next_time (GstAggregator *agg)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (self->video);
  GstClockTimeDiff time = 0;

  if (!buffer)
    return GST_CLOCK_TIME_NONE;

  gst_ccl_merge_get_time (self->video, GST_BUFFER_PTS (buffer), &time);
  gst_buffer_unref (buffer);

  return (GstClockTime) MAX (time, 0);
}

static GstClockTimeDiff
get_tolerance (GstCclMerge *self, GstBuffer *buffer)
{
  GstClockTime tolerance, half_frame;

  GST_OBJECT_LOCK (self);
  tolerance = self->tolerance;
  half_frame = self->half_frame;
  GST_OBJECT_UNLOCK (self);

  if (!GST_CLOCK_TIME_IS_VALID (tolerance)) {
    if (GST_BUFFER_DURATION_IS_VALID (buffer))
      half_frame = GST_BUFFER_DURATION (buffer) / 2;

    GST_OBJECT_LOCK (self->video);
    tolerance = (GstClockTime) (half_frame / ABS (self->video->segment.rate));
    GST_OBJECT_UNLOCK (self->video);
  }

  return (GstClockTimeDiff) MIN (tolerance, GST_CCL_MERGE_MAX_TOLERANCE);
}

/* Finds the components for @buffer, which is next on the video's pad. FALSE if that takes more
 * data. */
static gboolean
find_partner (GstCclMerge *self, GstBuffer *buffer, gboolean timeout, GstCclMergeFrame *partner)
{
  GstClockTimeDiff time;
  gboolean decided;
  GstPad *pad;

  partner->buffer = NULL;
  if (!gst_ccl_merge_get_time (self->video, GST_BUFFER_PTS (buffer), &time))
    return TRUE;

  pad = gst_element_get_static_pad (GST_ELEMENT (self), "components");
  decided = gst_ccl_merge_matcher_find (&self->matcher, (GstAggregatorPad *) pad, time,
                                        get_tolerance (self, buffer), timeout, partner);
  gst_clear_object (&pad);

  GST_LOG_OBJECT (self, "%s for the frame of %" GST_STIME_FORMAT,
                  partner->buffer ? "components"
                  : decided       ? "no components"
                                  : "waiting for components",
                  GST_STIME_ARGS (time));

  return decided;
}

static GstFlowReturn
push (GstCclMerge *self, GstBuffer *buffer, GstCclMergeFrame *partner)
{
  GstAggregator *agg = GST_AGGREGATOR (self);

  if (gst_ccl_merge_is_gap (buffer)) {
    gst_ccl_merge_push_segment (self);
    gst_pad_push_event (agg->srcpad,
                        gst_event_new_gap (GST_BUFFER_PTS (buffer), GST_BUFFER_DURATION (buffer)));
    gst_buffer_unref (buffer);
    return GST_FLOW_OK;
  }

  if (partner->buffer && gst_ccl_merge_has_components (partner->buffer)) {
    if (!gst_buffer_is_writable (buffer)) {
      GstBuffer *shared = buffer;

      buffer = gst_ccl_twin_new (shared);
      gst_buffer_unref (shared);
    }
    gst_ccl_merge_put_components (buffer, self->width, self->height, partner->buffer,
                                  partner->width, partner->height);
  }

  gst_clear_event (&self->segment);

  return gst_aggregator_finish_buffer (agg, buffer);
}

/* What the other branch still makes after the end of the video is dropped until that ends too: from
 * GStreamer 1.26 on, GstAggregator would let it block. The end of a video without caps could not be
 * pushed on its own, so GstAggregator does that. */
static GstFlowReturn
drain (GstCclMerge *self)
{
  GstPad *pad = gst_element_get_static_pad (GST_ELEMENT (self), "components");
  gboolean ended = gst_ccl_merge_matcher_drain (&self->matcher, (GstAggregatorPad *) pad) ||
                   !GST_PAD_IS_EOS (GST_AGGREGATOR (self)->srcpad);

  gst_clear_object (&pad);

  return ended ? GST_FLOW_EOS : GST_AGGREGATOR_FLOW_NEED_DATA;
}

GstFlowReturn
gst_ccl_merge_aggregate (GstAggregator *agg, gboolean timeout)
{
  GstCclMerge *self = GST_CCL_MERGE (agg);
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (self->video);
  GstFlowReturn result = GST_AGGREGATOR_FLOW_NEED_DATA;
  GstCclMergeFrame partner = { NULL, 0, 0, 0 };
  gboolean decided;

  if (!buffer)
    return gst_aggregator_pad_is_eos (self->video) ? drain (self) : result;

  decided = gst_ccl_merge_is_gap (buffer) || find_partner (self, buffer, timeout, &partner);
  /* Without this reference, the buffer may be writable. */
  gst_buffer_unref (buffer);

  if (decided) {
    buffer = gst_aggregator_pad_pop_buffer (self->video);
    if (buffer)
      result = push (self, buffer, &partner);
  }
  gst_clear_buffer (&partner.buffer);

  return result;
}
