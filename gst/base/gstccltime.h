/* cudaccl - the time that elements go by
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TIME_H__
#define __GST_CCL_TIME_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* The time by which elements with a memory go. It is running time, so it continues from segment
 * to segment, even if a part is played again or backwards. But it never goes back, and does not
 * jump where running time does: states are as old after a jump as before, and no element needs to
 * shift them.
 *
 * A frame without a timestamp follows the previous one by its duration, or at the frame rate, or,
 * if neither is known, when it arrives. So does the first frame after a jump. */
typedef struct
{
  GstClockTime time;        /* of the last frame; GST_CLOCK_TIME_NONE if there was none yet */
  GstClockTimeDiff running; /* its running time, also before the segment */
  GstClockTimeDiff latest;  /* before it, if it is out of order; G_MININT64 if it is not */
  GstClockTimeDiff jump;    /* by how much running time jumped before the last frame, mostly 0 */
  GstClockTime interval;    /* between frames by their rate, or GST_CLOCK_TIME_NONE */
  GstClockTime arrival;     /* of the last frame without an interval, or GST_CLOCK_TIME_NONE */
  gboolean apart;           /* the next frame has nothing to do with the last one */
  const gchar *of;          /* what the warning is about: "frames" */
  gint64 warned;            /* when a jump was last warned of, in monotonic µs; 0: never */
} GstCclTime;

/* For an element that starts. */
void gst_ccl_time_init (GstCclTime *self);

/* Takes the frame rate from @caps. */
void gst_ccl_time_set_caps (GstCclTime *self, const GstCaps *caps);

/* Running time may start anew, as after a flush or with another stream: that is no jump. */
void gst_ccl_time_restart (GstCclTime *self);

/* Goes on to the frame @buffer, which @element received in @segment, and returns its time. Posts
 * a warning, at most one a minute, where running time goes back by a second or more or skips more
 * than ten. The timestamps of segments in other formats than time count as running time. */
GstClockTime gst_ccl_time_advance (GstCclTime *self, GstElement *element, const GstSegment *segment,
                                   GstBuffer *buffer);

/* Lets the time of a gap event pass, however long it is. */
void gst_ccl_time_skip (GstCclTime *self, const GstSegment *segment, GstEvent *event);

G_END_DECLS

#endif /* __GST_CCL_TIME_H__ */
