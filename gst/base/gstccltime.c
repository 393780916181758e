/* cudaccl - the time that elements go by
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltime.h"

#include "gstcclutils.h"

/* Dropped frames leave shorter gaps, and frames out of order take shorter steps back.
 */
#define JUMP_AHEAD (10 * GST_SECOND)
#define JUMP_BACK GST_SECOND

#define WARNING_INTERVAL G_TIME_SPAN_MINUTE

void
gst_ccl_time_init (GstCclTime *self)
{
  self->time = self->interval = self->arrival = GST_CLOCK_TIME_NONE;
  self->running = self->jump = 0;
  self->latest = G_MININT64;
  self->apart = FALSE;
  self->of = "frames";
  self->warned = 0;
}

void
gst_ccl_time_set_caps (GstCclTime *self, const GstCaps *caps)
{
  gint n, d;

  self->interval = GST_CLOCK_TIME_NONE;
  if (gst_structure_get_fraction (gst_caps_get_structure (caps, 0), "framerate", &n, &d) && n > 0)
    self->interval = gst_util_uint64_scale_int (GST_SECOND, d, n);
}

void
gst_ccl_time_restart (GstCclTime *self)
{
  self->apart = TRUE;
  self->latest = G_MININT64;
  self->arrival = GST_CLOCK_TIME_NONE;
}

/* Gets the running time of @timestamp, negative before the segment. Returns FALSE if there is
 * none. */
static gboolean
get_running_time (const GstSegment *segment, GstClockTime timestamp, GstClockTimeDiff *running)
{
  guint64 time = timestamp;
  gint sign = 1;

  if (!GST_CLOCK_TIME_IS_VALID (timestamp))
    return FALSE;
  if (segment->format == GST_FORMAT_TIME)
    sign = gst_segment_to_running_time_full (segment, GST_FORMAT_TIME, timestamp, &time);
  *running = sign * (GstClockTimeDiff) MIN (time, G_MAXINT64);

  return sign != 0;
}

/* Returns how long after the last frame this one comes, without regard to timestamps. */
static GstClockTime
get_interval (GstCclTime *self, GstElement *element, GstBuffer *buffer)
{
  GstClockTime before = self->arrival;
  GstClock *clock;

  if (GST_BUFFER_DURATION_IS_VALID (buffer) && GST_BUFFER_DURATION (buffer) > 0)
    return GST_BUFFER_DURATION (buffer);
  if (GST_CLOCK_TIME_IS_VALID (self->interval))
    return self->interval;

  clock = gst_element_get_clock (element);
  self->arrival =
      clock ? gst_clock_get_time (clock) : (GstClockTime) g_get_monotonic_time () * GST_USECOND;
  gst_clear_object (&clock);

  return GST_CLOCK_TIME_IS_VALID (before) && before < self->arrival ? self->arrival - before : 0;
}

static void
warn (GstCclTime *self, GstElement *element)
{
  gint64 now = g_get_monotonic_time ();
  gchar *text, *debug;

  if (self->warned > 0 && now - self->warned < WARNING_INTERVAL)
    return;

  self->warned = now;
  text = g_strdup_printf ("The timestamps of %s jump %s by %.3f s. The element goes on as before.",
                          self->of, self->jump < 0 ? "back" : "ahead",
                          ABS ((gdouble) self->jump) / GST_SECOND);
  debug = g_strdup_printf ("after running time %" GST_STIME_FORMAT, GST_STIME_ARGS (self->running));
  gst_element_message_full (element, GST_MESSAGE_WARNING, GST_STREAM_ERROR, GST_STREAM_ERROR_FAILED,
                            text, debug, __FILE__, G_STRFUNC, __LINE__);
}

/* Returns the time between the last frame and the one whose running time is @running. After a frame
 * out of order, time goes on from the latest one: otherwise the step back would count as time. But
 * where the frame after it is not that far, either, the timestamps have gone back for good. */
static GstClockTime
get_passed (GstCclTime *self, GstElement *element, GstClockTimeDiff running, GstClockTime interval)
{
  const GstClockTimeDiff passed = gst_ccl_time_diff (running, self->running);
  const GstClockTimeDiff latest = MAX (self->latest, self->running);

  self->latest = G_MININT64;
  if (passed < 0 && passed > -(GstClockTimeDiff) JUMP_BACK) {
    self->latest = latest;
    return 0;
  }
  if (passed >= 0 && (guint64) passed <= JUMP_AHEAD + 2 * MIN (interval, G_MAXINT64 / 4))
    return (GstClockTime) (running > latest ? gst_ccl_time_diff (running, latest) : passed);

  self->jump = passed;
  warn (self, element);

  return interval;
}

GstClockTime
gst_ccl_time_advance (GstCclTime *self, GstElement *element, const GstSegment *segment,
                      GstBuffer *buffer)
{
  GstClockTime interval = get_interval (self, element, buffer), passed;
  GstClockTimeDiff running;

  self->jump = 0;
  passed = interval = MIN (interval, G_MAXINT64);
  if (!get_running_time (segment, GST_BUFFER_PTS (buffer), &running))
    running =
        MIN (self->running, G_MAXINT64 - (GstClockTimeDiff) interval) + (GstClockTimeDiff) interval;
  else if (GST_CLOCK_TIME_IS_VALID (self->time) && !self->apart)
    passed = get_passed (self, element, running, interval);

  if (GST_CLOCK_TIME_IS_VALID (self->time))
    self->time += MIN (passed, G_MAXINT64 - self->time);
  else
    self->time = (GstClockTime) MAX (running, 0);
  self->running = running;
  self->apart = FALSE;

  return self->time;
}

void
gst_ccl_time_skip (GstCclTime *self, const GstSegment *segment, GstEvent *event)
{
  GstClockTime timestamp, duration;
  GstClockTimeDiff running, passed;

  gst_event_parse_gap (event, &timestamp, &duration);
  if (GST_CLOCK_TIME_IS_VALID (duration))
    timestamp += MIN (duration, G_MAXINT64 - MIN (timestamp, G_MAXINT64));
  if (!GST_CLOCK_TIME_IS_VALID (self->time) || self->apart ||
      !get_running_time (segment, timestamp, &running))
    return;

  passed = gst_ccl_time_diff (running, self->running);
  if (passed > 0) {
    self->time += MIN ((GstClockTime) passed, G_MAXINT64 - self->time);
    self->running = running;
  }
}
