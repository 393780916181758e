/* cudaccl - tests of the time that elements go by
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <gst/check/gsttestclock.h>

#include "gst/base/gstccltime.h"

#define MAX_FRAMES 8
#define NONE -1
#define DAY 86400000
#define WRAP 47721859 /* of RTP timestamps at 90 kHz */

/* All times are in milliseconds. */
typedef struct
{
  const gchar *name;
  gint rate; /* frames per second, or 0 */
  gint duration;
  gint64 start; /* of the segment */
  gdouble speed;
  GstFormat format;
  gint64 pts[MAX_FRAMES], times[MAX_FRAMES];
  guint n, n_jumps;
} Case;

static const Case cases[] = {
  { "even", 0, 0, 0, 1, GST_FORMAT_TIME, { 100, 140, 180 }, { 100, 140, 180 }, 3 },
  { "dropped frames", 25, 40, 0, 1, GST_FORMAT_TIME, { 0, 40, 10000 }, { 0, 40, 10000 }, 3 },
  { "a frame a minute",
    0,
    60000,
    0,
    1,
    GST_FORMAT_TIME,
    { 0, 60000, 120000 },
    { 0, 60000, 120000 },
    3 },
  { "the same time", 25, 0, 0, 1, GST_FORMAT_TIME, { 0, 40, 40, 80 }, { 0, 40, 40, 80 }, 4 },
  { "out of order",
    25,
    0,
    0,
    1,
    GST_FORMAT_TIME,
    { 0, 40, 20, 60, 50, 90 },
    { 0, 40, 40, 60, 60, 90 },
    6 },
  { "before the segment", 25, 0, 1000, 1, GST_FORMAT_TIME, { 960, 1000, 1040 }, { 0, 40, 80 }, 3 },
  { "backwards", 25, 0, 0, -1, GST_FORMAT_TIME, { 980, 940, 900 }, { 20, 60, 100 }, 3 },
  { "twice as fast", 25, 0, 0, 2, GST_FORMAT_TIME, { 0, 40, 80 }, { 0, 20, 40 }, 3 },
  { "bytes", 25, 0, 0, 1, GST_FORMAT_BYTES, { 500, 540, 620 }, { 500, 540, 620 }, 3 },
  { "a jump ahead",
    25,
    0,
    0,
    1,
    GST_FORMAT_TIME,
    { 0, 40, DAY, DAY + 40 },
    { 0, 40, 80, 120 },
    4,
    1 },
  { "a jump back",
    25,
    0,
    0,
    1,
    GST_FORMAT_TIME,
    { DAY, DAY + 40, 500, 540 },
    { DAY, DAY + 40, DAY + 80, DAY + 120 },
    4,
    1 },
  { "a little back", 25, 0, 0, 1, GST_FORMAT_TIME, { 2000, 1040, 1080 }, { 2000, 2000, 2040 }, 3 },
  { "a little back, and past it",
    25,
    0,
    0,
    1,
    GST_FORMAT_TIME,
    { 2000, 1040, 1080, 2080 },
    { 2000, 2000, 2040, 3040 },
    4 },
  { "a little more",
    25,
    0,
    0,
    1,
    GST_FORMAT_TIME,
    { 2000, 960, 1000 },
    { 2000, 2040, 2080 },
    3,
    1 },
  { "a little ahead", 25, 0, 0, 1, GST_FORMAT_TIME, { 0, 10060, 10100 }, { 0, 10060, 10100 }, 3 },
  { "ten seconds ahead", 25, 0, 0, 1, GST_FORMAT_TIME, { 0, 10100, 10140 }, { 0, 40, 80 }, 3, 1 },
  { "a frame a day ahead",
    0,
    40,
    0,
    1,
    GST_FORMAT_TIME,
    { 0, 40, DAY, 120, 160 },
    { 0, 40, 80, 120, 160 },
    5,
    2 },
  { "wrapped",
    0,
    40,
    0,
    1,
    GST_FORMAT_TIME,
    { WRAP - 40, WRAP, 0, 40, 80 },
    { WRAP - 40, WRAP, WRAP + 40, WRAP + 80, WRAP + 120 },
    5,
    1 },
  { "no timestamps, durations",
    50,
    40,
    0,
    1,
    GST_FORMAT_TIME,
    { NONE, NONE, NONE },
    { 40, 80, 120 },
    3 },
  { "no timestamps, frame rate",
    25,
    0,
    0,
    1,
    GST_FORMAT_TIME,
    { NONE, NONE, NONE },
    { 40, 80, 120 },
    3 },
  { "no timestamps, the clock",
    0,
    0,
    0,
    1,
    GST_FORMAT_TIME,
    { NONE, NONE, NONE },
    { 0, 7, 14 },
    3 },
  { "some timestamps",
    25,
    0,
    0,
    1,
    GST_FORMAT_TIME,
    { 0, NONE, 85, NONE, NONE, 205 },
    { 0, 40, 85, 125, 165, 205 },
    6 },
};

typedef struct
{
  GstCclTime time;
  GstClock *clock;
  GstElement *element;
  GstBus *bus;
  GstSegment segment;
} Fixture;

static void
set_up (Fixture *f)
{
  f->clock = gst_test_clock_new ();
  f->bus = gst_bus_new ();
  f->element = gst_object_ref_sink (gst_element_factory_make ("identity", NULL));
  gst_element_set_clock (f->element, f->clock);
  gst_element_set_bus (f->element, f->bus);
  gst_segment_init (&f->segment, GST_FORMAT_TIME);
  gst_ccl_time_init (&f->time);
}

static void
tear_down (Fixture *f)
{
  gst_element_set_bus (f->element, NULL);
  gst_object_unref (f->bus);
  gst_object_unref (f->element);
  gst_object_unref (f->clock);
}

static GstClockTime
advance (Fixture *f, GstClockTime pts, GstClockTime duration)
{
  GstBuffer *buffer = gst_buffer_new ();
  GstClockTime time;

  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DURATION (buffer) = duration;
  time = gst_ccl_time_advance (&f->time, f->element, &f->segment, buffer);
  gst_buffer_unref (buffer);

  return time;
}

static void
set_rate (Fixture *f, gint rate)
{
  GstCaps *caps =
      gst_caps_new_simple ("video/x-raw", "framerate", GST_TYPE_FRACTION, rate, 1, NULL);

  gst_ccl_time_set_caps (&f->time, caps);
  gst_caps_unref (caps);
}

static guint
count_warnings (Fixture *f)
{
  GstMessage *message;
  guint n = 0;

  while ((message = gst_bus_pop_filtered (f->bus, GST_MESSAGE_WARNING))) {
    gst_message_unref (message);
    n++;
  }

  return n;
}

GST_START_TEST (test_cases)
{
  const Case *c = &cases[__i__];
  guint i, n_jumps = 0;
  Fixture f;

  set_up (&f);
  set_rate (&f, c->rate);
  gst_segment_init (&f.segment, c->format);
  f.segment.rate = c->speed;
  if (c->format == GST_FORMAT_TIME) {
    f.segment.start = (guint64) c->start * GST_MSECOND;
    f.segment.stop = c->speed < 0 ? GST_SECOND : GST_CLOCK_TIME_NONE;
  }
  for (i = 0; i < c->n; i++) {
    GstClockTime pts =
        c->pts[i] == NONE ? GST_CLOCK_TIME_NONE : (GstClockTime) c->pts[i] * GST_MSECOND;
    GstClockTime time = advance (
        &f, pts, c->duration ? (GstClockTime) c->duration * GST_MSECOND : GST_CLOCK_TIME_NONE);

    fail_unless (time == (GstClockTime) c->times[i] * GST_MSECOND,
                 "%s, frame %u: %" GST_TIME_FORMAT, c->name, i, GST_TIME_ARGS (time));
    f.time.warned = 0;
    n_jumps += count_warnings (&f);
    gst_test_clock_advance_time (GST_TEST_CLOCK (f.clock), 7 * GST_MSECOND);
  }
  fail_unless (n_jumps == c->n_jumps, "%s: %u warnings", c->name, n_jumps);
  tear_down (&f);
}
GST_END_TEST;

/* One a minute. */
GST_START_TEST (test_warnings)
{
  guint i;
  Fixture f;

  set_up (&f);
  for (i = 0; i < 10; i++)
    advance (&f, i % 2 * GST_SECOND * 100, GST_MSECOND);
  fail_unless_equals_int (count_warnings (&f), 1);
  fail_unless_equals_uint64 (f.time.time, 9 * GST_MSECOND);
  f.time.warned -= G_TIME_SPAN_MINUTE;
  advance (&f, 0, GST_MSECOND);
  fail_unless_equals_int (count_warnings (&f), 1);
  tear_down (&f);
}
GST_END_TEST;

/* An element outside of a pipeline has no clock: it goes by the system's. */
GST_START_TEST (test_no_clock)
{
  GstClockTime time;
  Fixture f;

  set_up (&f);
  gst_element_set_clock (f.element, NULL);
  advance (&f, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE);
  g_usleep (20 * G_TIME_SPAN_MILLISECOND);
  time = advance (&f, GST_CLOCK_TIME_NONE, GST_CLOCK_TIME_NONE);
  fail_unless (time >= 20 * GST_MSECOND, "%" GST_TIME_FORMAT, GST_TIME_ARGS (time));
  tear_down (&f);
}
GST_END_TEST;

/* Neither a flush nor a gap event is a jump. */
GST_START_TEST (test_restart_and_gap)
{
  GstEvent *gap = gst_event_new_gap (40 * GST_MSECOND, 100 * GST_SECOND);
  GstEvent *earlier = gst_event_new_gap (GST_SECOND, GST_SECOND);
  Fixture f;

  set_up (&f);
  set_rate (&f, 25);
  gst_ccl_time_skip (&f.time, &f.segment, gap);
  fail_unless_equals_uint64 (f.time.time, GST_CLOCK_TIME_NONE);
  fail_unless_equals_uint64 (advance (&f, 0, GST_CLOCK_TIME_NONE), 0);
  gst_ccl_time_skip (&f.time, &f.segment, gap);
  gst_ccl_time_skip (&f.time, &f.segment, earlier);
  fail_unless_equals_uint64 (f.time.time, 100 * GST_SECOND + 40 * GST_MSECOND);
  fail_unless_equals_uint64 (advance (&f, 101 * GST_SECOND, GST_CLOCK_TIME_NONE), 101 * GST_SECOND);

  gst_ccl_time_restart (&f.time);
  gst_ccl_time_skip (&f.time, &f.segment, gap);
  fail_unless_equals_uint64 (advance (&f, 0, GST_CLOCK_TIME_NONE),
                             101 * GST_SECOND + 40 * GST_MSECOND);
  fail_unless_equals_uint64 (advance (&f, 50 * GST_MSECOND, GST_CLOCK_TIME_NONE),
                             101 * GST_SECOND + 90 * GST_MSECOND);
  fail_unless_equals_int (count_warnings (&f), 0);
  gst_event_unref (gap);
  gst_event_unref (earlier);
  tear_down (&f);
}
GST_END_TEST;

/* Numbers that make no sense neither overflow nor take time back. */
GST_START_TEST (test_hostile)
{
  static const GstClockTime values[] = { 0,
                                         1,
                                         G_MAXINT64 - 1,
                                         G_MAXINT64,
                                         (GstClockTime) G_MAXINT64 + 1,
                                         G_MAXUINT64 - 1,
                                         GST_CLOCK_TIME_NONE,
                                         GST_SECOND };
  const guint n = G_N_ELEMENTS (values);
  GstClockTime last = 0;
  guint i;
  Fixture f;

  set_up (&f);
  for (i = 0; i < n * n * n; i++) {
    GstClockTime time;

    f.segment.base = values[i / n / n] == GST_CLOCK_TIME_NONE ? 0 : values[i / n / n];
    time = advance (&f, values[i % n], values[i / n % n]);
    fail_unless (time >= last && time <= G_MAXINT64);
    last = time;
  }
  tear_down (&f);
}
GST_END_TEST;

static Suite *
ccltime_suite (void)
{
  Suite *suite = suite_create ("ccltime");
  TCase *tcase = tcase_create ("general");

  suite_add_tcase (suite, tcase);
  tcase_add_loop_test (tcase, test_cases, 0, G_N_ELEMENTS (cases));
  tcase_add_test (tcase, test_warnings);
  tcase_add_test (tcase, test_no_clock);
  tcase_add_test (tcase, test_restart_and_gap);
  tcase_add_test (tcase, test_hostile);

  return suite;
}

GST_CHECK_MAIN (ccltime)
