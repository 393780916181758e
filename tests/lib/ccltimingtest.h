/* cudaccl - streams with timestamps of all kinds, for the tests of elements that go by time
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_TIMING_TEST_H__
#define __CCL_TIMING_TEST_H__

#include "tests/lib/ccltest.h"

/* Frames at 10 per second, as the times below distort them. */
typedef struct
{
  const gchar *name;
  gint rate;             /* in caps, or 0 */
  GstClockTime duration; /* of frames, or GST_CLOCK_TIME_NONE */
  gboolean untimed;
  guint dropped;  /* number of frames from frame 6 on that do not arrive */
  guint from, to; /* frames whose timestamps are shifted */
  GstClockTimeDiff shift;
  gdouble speed;      /* of the segment */
  GstClockTime start; /* same */
  gboolean jumps;
} CclTestTiming;

extern const CclTestTiming ccl_test_timings[];
extern const guint ccl_test_n_timings;

/* Pushes the caps of frames and the segment to @h. */
void ccl_test_timing_start (const CclTestTiming *timing, GstHarness *h, gint width, gint height);

/* Whether frame @number does not arrive. */
gboolean ccl_test_timing_drops (const CclTestTiming *timing, guint number);

/* Sets the times of frame @number. */
void ccl_test_timing_stamp (const CclTestTiming *timing, GstBuffer *buffer, guint number);

#endif /* __CCL_TIMING_TEST_H__ */
