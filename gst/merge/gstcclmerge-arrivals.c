/* cudaccl - cclmerge: when frames arrive: jumps of their timestamps, and how late components are
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmerge-arrivals.h"

#include <gst/base/gstcclutils.h>

#define MIN_FRAMES 4 /* needed before lateness is known */

/* Live video farther from the clock than this after a jump has timestamps with an offset. */
#define MAX_DISTANCE ((GstClockTimeDiff) GST_SECOND)

/* Components farther from the video than this are not late: only one branch's timestamps have
 * jumped so far. */
#define MAX_LATENESS ((GstClockTimeDiff) (10 * GST_SECOND))

static void
forget_video (GstCclArrivals *self)
{
  g_mutex_lock (&self->video_lock);
  g_queue_clear_full (&self->early, (GDestroyNotify) gst_buffer_unref);
  gst_ccl_match_order_reset (&self->order);
  g_mutex_unlock (&self->video_lock);
  g_mutex_lock (&self->lock);
  self->newest = GST_CLOCK_STIME_NONE;
  self->shift = 0;
  g_mutex_unlock (&self->lock);
}

static void
forget_lateness (GstCclArrivals *self)
{
  g_mutex_lock (&self->lock);
  self->n = self->next = 0;
  g_mutex_unlock (&self->lock);
}

void
gst_ccl_arrivals_reset (GstCclArrivals *self)
{
  gst_ccl_time_init (&self->video_time);
  gst_ccl_time_init (&self->components_time);
  self->video_time.of = "the video";
  self->components_time.of = "the components";
  forget_video (self);
  forget_lateness (self);
}

void
gst_ccl_arrivals_init (GstCclArrivals *self, GstElement *element, GstAggregatorPad *video,
                       GstCclMatcher *matcher)
{
  self->element = element;
  self->video = video;
  self->matcher = matcher;
  g_mutex_init (&self->lock);
  g_mutex_init (&self->video_lock);
  g_queue_init (&self->early);
  gst_ccl_arrivals_reset (self);
}

void
gst_ccl_arrivals_finalize (GstCclArrivals *self)
{
  forget_video (self);
  g_mutex_clear (&self->video_lock);
  g_mutex_clear (&self->lock);
}

/* Returns the running time of the clock, or GST_CLOCK_STIME_NONE. */
static GstClockTimeDiff
get_clock_time (GstCclArrivals *self)
{
  GstClock *clock = gst_element_get_clock (self->element);
  GstClockTimeDiff now = GST_CLOCK_STIME_NONE;

  if (clock)
    now = GST_CLOCK_DIFF (gst_element_get_base_time (self->element), gst_clock_get_time (clock));
  gst_clear_object (&clock);

  return now;
}

GstBuffer *
gst_ccl_arrivals_pop (GstCclArrivals *self)
{
  GstBuffer *buffer = gst_aggregator_pad_pop_buffer (self->video);

  gst_ccl_match_order_leave (&self->order, buffer);

  return buffer;
}

/* Takes the next frame of the video from the pad if it is much later than one behind it, or than
 * @time, unless that is GST_CLOCK_STIME_NONE. */
static gboolean
take_early (GstCclArrivals *self, GstClockTimeDiff time)
{
  GstBuffer *buffer = gst_aggregator_pad_peek_buffer (self->video);
  gboolean is_early;
  GstClockTimeDiff next;

  if (!buffer)
    return FALSE;

  is_early = gst_ccl_pad_get_running_time (self->video, GST_BUFFER_PTS (buffer), &next) &&
             (gst_ccl_match_order_is_ahead (&self->order, buffer, next) ||
              (GST_CLOCK_STIME_IS_VALID (time) &&
               gst_ccl_time_diff (next, time) > (GstClockTimeDiff) GST_CCL_MATCH_JUMP));
  gst_buffer_unref (buffer);
  if (is_early)
    buffer = gst_ccl_arrivals_pop (self);
  if (is_early && buffer)
    g_queue_push_tail (&self->early, buffer);

  return is_early;
}

/* Where the timestamps of a live source jump, the clock does not. */
static void
video_arrives (GstCclArrivals *self, const GstBuffer *buffer, GstClockTimeDiff time)
{
  GstClockTimeDiff now = get_clock_time (self), early;
  gboolean taken;

  g_mutex_lock (&self->video_lock);
  gst_ccl_match_order_arrive (&self->order, buffer, time);
  do
    taken = take_early (self, time);
  while (taken);
  g_mutex_unlock (&self->video_lock);

  g_mutex_lock (&self->lock);
  self->newest = time;
  if (self->video_time.jump != 0) {
    early = GST_CLOCK_STIME_IS_VALID (now) ? gst_ccl_time_diff (now, time) : 0;
    self->shift = ABS (early) > MAX_DISTANCE ? early : 0;
  }
  g_mutex_unlock (&self->lock);
}

static void
components_arrive (GstCclArrivals *self, GstPad *pad, GstBuffer *buffer, GstClockTimeDiff time)
{
  GstClockTimeDiff now = get_clock_time (self);

  g_mutex_lock (&self->lock);
  if (!gst_ccl_buffer_is_gap (buffer) && GST_CLOCK_STIME_IS_VALID (now) &&
      (!GST_CLOCK_STIME_IS_VALID (self->newest) ||
       ABS (gst_ccl_time_diff (self->newest, time)) < MAX_LATENESS)) {
    self->lateness[self->next] = gst_ccl_time_diff (gst_ccl_time_diff (now, time), self->shift);
    self->next = (self->next + 1) % G_N_ELEMENTS (self->lateness);
    self->n = MIN (self->n + 1, G_N_ELEMENTS (self->lateness));
  }
  g_mutex_unlock (&self->lock);

  gst_ccl_matcher_arrive (self->matcher, GST_AGGREGATOR_PAD (pad), buffer, time);
}

static void
event_arrives (GstCclArrivals *self, GstCclTime *time, GstEvent *event, const GstSegment *segment)
{
  GstCaps *caps;

  switch (GST_EVENT_TYPE (event)) {
  case GST_EVENT_CAPS:
    gst_event_parse_caps (event, &caps);
    gst_ccl_time_set_caps (time, caps);
    break;
  case GST_EVENT_GAP:
    gst_ccl_time_skip (time, segment, event);
    break;
  case GST_EVENT_STREAM_START:
  case GST_EVENT_FLUSH_STOP:
    gst_ccl_time_restart (time);
    if (time == &self->video_time)
      forget_video (self);
    else
      forget_lateness (self);
    break;
  default:
    break;
  }
}

static GstPadProbeReturn
arrive (GstPad *pad, GstPadProbeInfo *info, gpointer user_data)
{
  GstCclArrivals *self = user_data;
  gboolean is_video = pad == GST_PAD (self->video);
  GstCclTime *time = is_video ? &self->video_time : &self->components_time;
  /* The GstAggregatorPad has the segment of the last aggregated frame. */
  GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
  GstClockTimeDiff running;
  GstSegment segment;
  GstBuffer *buffer;

  gst_segment_init (&segment, GST_FORMAT_UNDEFINED);
  if (event)
    gst_event_copy_segment (event, &segment);
  gst_clear_event (&event);

  if (!(info->type & GST_PAD_PROBE_TYPE_BUFFER)) {
    event_arrives (self, time, GST_PAD_PROBE_INFO_EVENT (info), &segment);
    return GST_PAD_PROBE_OK;
  }

  buffer = GST_PAD_PROBE_INFO_BUFFER (info);
  gst_ccl_time_advance (time, self->element, &segment, buffer);
  if (gst_ccl_segment_get_running_time (&segment, GST_BUFFER_PTS (buffer), &running)) {
    if (is_video)
      video_arrives (self, buffer, running);
    else
      components_arrive (self, pad, buffer, running);
  }

  return GST_PAD_PROBE_OK;
}

void
gst_ccl_arrivals_watch (GstCclArrivals *self, GstAggregatorPad *pad)
{
  gst_pad_add_probe (GST_PAD (pad),
                     GST_PAD_PROBE_TYPE_BUFFER | GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM |
                         GST_PAD_PROBE_TYPE_EVENT_FLUSH,
                     arrive, self, NULL);
}

GstBuffer *
gst_ccl_arrivals_take_early (GstCclArrivals *self)
{
  while (take_early (self, GST_CLOCK_STIME_NONE))
    ;

  return g_queue_pop_head (&self->early);
}

static GstClockTimeDiff
get_shift (GstCclArrivals *self)
{
  GstClockTimeDiff shift;

  g_mutex_lock (&self->lock);
  shift = self->shift;
  g_mutex_unlock (&self->lock);

  return shift;
}

GstClockTime
gst_ccl_arrivals_get_due (GstCclArrivals *self, GstClockTimeDiff time)
{
  return (GstClockTime) MAX (gst_ccl_time_diff (time, -get_shift (self)), 0);
}

GstClockTimeDiff
gst_ccl_arrivals_get_now (GstCclArrivals *self)
{
  GstClockTimeDiff now = get_clock_time (self);

  return GST_CLOCK_STIME_IS_VALID (now) ? gst_ccl_time_diff (now, get_shift (self)) : now;
}

GstClockTimeDiff
gst_ccl_arrivals_get_last_lateness (GstCclArrivals *self)
{
  const guint size = G_N_ELEMENTS (self->lateness);
  GstClockTimeDiff last;

  g_mutex_lock (&self->lock);
  last = self->n > 0 ? self->lateness[(self->next + size - 1) % size] : 0;
  g_mutex_unlock (&self->lock);

  return last;
}

GstClockTimeDiff
gst_ccl_arrivals_get_usual_lateness (GstCclArrivals *self)
{
  GstClockTimeDiff largest = G_MININT64, second = G_MININT64;
  guint i;

  g_mutex_lock (&self->lock);
  for (i = 0; i < self->n; i++) {
    second = MAX (second, MIN (largest, self->lateness[i]));
    largest = MAX (largest, self->lateness[i]);
  }
  if (self->n < MIN_FRAMES)
    second = 0;
  g_mutex_unlock (&self->lock);

  return second;
}
