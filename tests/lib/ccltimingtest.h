/* cudaccl - streams with timestamps of all kinds, for the tests of elements that go by time
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __CCL_TIMING_TEST_H__
#define __CCL_TIMING_TEST_H__

#include "tests/lib/ccltest.h"

/* A stream of ten frames per second whose times are distorted. */
typedef struct
{
  const gchar *name;
  gint rate;             /* in caps, or 0 */
  GstClockTime duration; /* of each frame, or GST_CLOCK_TIME_NONE */
  gboolean untimed;
  guint dropped;  /* frames lost from frame 6 on */
  guint from, to; /* frames whose timestamps are shifted */
  GstClockTimeDiff shift;
  gdouble speed;      /* the segment's rate */
  GstClockTime start; /* the segment's */
  gboolean jumps;     /* which elements warn about */
} CclTestTiming;

extern const CclTestTiming ccl_test_timings[];
extern const guint ccl_test_n_timings;

/* Pushes caps and segment to @h. */
void ccl_test_timing_start (const CclTestTiming *timing, GstHarness *h, gint width, gint height);

/* Whether frame @number does not arrive. */
gboolean ccl_test_timing_drops (const CclTestTiming *timing, guint number);

/* Sets the times of frame @number. */
void ccl_test_timing_stamp (const CclTestTiming *timing, GstBuffer *buffer, guint number);

#endif /* __CCL_TIMING_TEST_H__ */
