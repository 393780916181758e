/* cudaccl - streams with timestamps of all kinds, for the tests of elements that go by time
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "ccltimingtest.h"

#define NONE GST_CLOCK_TIME_NONE
#define DAY (86400 * GST_SECOND)

const CclTestTiming ccl_test_timings[] = {
  { "even", 0, NONE, FALSE, 0, 0, 0, 0, 1.0 },
  { "dropped frames", 0, NONE, FALSE, 3, 0, 0, 0, 1.0 },
  { "a jump ahead", 10, NONE, FALSE, 0, 10, 99, DAY, 1.0, 0, TRUE },
  { "a jump ahead while nothing is there", 10, NONE, FALSE, 0, 22, 99, DAY, 1.0, 0, TRUE },
  { "a jump back", 10, NONE, FALSE, 0, 0, 10, DAY, 1.0, 0, TRUE },
  { "a jump back while nothing is there", 10, NONE, FALSE, 0, 0, 22, DAY, 1.0, 0, TRUE },
  { "a frame a day ahead", 10, NONE, FALSE, 0, 10, 11, DAY, 1.0, 0, TRUE },
  { "wrapped", 0, FRAME_TIME, FALSE, 0, 0, 10, 47721 * GST_SECOND, 1.0, 0, TRUE },
  { "before the segment", 10, NONE, FALSE, 0, 0, 0, 0, 1.0, 1234 * GST_MSECOND },
  { "backwards", 10, NONE, FALSE, 0, 0, 0, 0, -1.0 },
  { "no timestamps, durations", 0, FRAME_TIME, TRUE, 0, 0, 0, 0, 1.0 },
  { "no timestamps, frame rate", 10, NONE, TRUE, 0, 0, 0, 0, 1.0 },
  { "no timestamps, the clock", 0, NONE, TRUE, 0, 0, 0, 0, 1.0 },
};
const guint ccl_test_n_timings = G_N_ELEMENTS (ccl_test_timings);

void
ccl_test_timing_start (const CclTestTiming *timing, GstHarness *h, gint width, gint height)
{
  GstSegment segment;

  gst_harness_set_src_caps (h, gst_caps_new_simple ("video/x-raw", "format", G_TYPE_STRING, "GRAY8",
                                                    "width", G_TYPE_INT, width, "height",
                                                    G_TYPE_INT, height, "framerate",
                                                    GST_TYPE_FRACTION, timing->rate, 1, NULL));
  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.rate = timing->speed;
  segment.start = timing->start;
  segment.stop = timing->speed < 0.0 ? 60 * GST_SECOND : NONE;
  fail_unless (gst_harness_push_event (h, gst_event_new_segment (&segment)));
}

gboolean
ccl_test_timing_drops (const CclTestTiming *timing, guint number)
{
  return number >= 6 && number < 6 + timing->dropped;
}

void
ccl_test_timing_stamp (const CclTestTiming *timing, GstBuffer *buffer, guint number)
{
  GstClockTimeDiff time = number * FRAME_TIME;

  if (number >= timing->from && number < timing->to)
    time += timing->shift;
  if (timing->speed < 0.0)
    time = 60 * GST_SECOND - time;
  GST_BUFFER_PTS (buffer) = timing->untimed ? NONE : (GstClockTime) time;
  GST_BUFFER_DURATION (buffer) = timing->duration;
}
