/* cudaccl - the UTC time of frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_UTC_H__
#define __GST_CCL_UTC_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Maps a pipeline's clock to the time of day. Zero-initialise it. */
typedef struct
{
  gboolean known;
  GstClockTimeDiff offset; /* UTC minus the clock's time */
} GstCclUtc;

/* Returns the time of a GstReferenceTimestampMeta of @buffer, in nanoseconds since 1970 UTC, or
 * GST_CLOCK_TIME_NONE if none has a known epoch. */
GstClockTime gst_ccl_utc_from_reference (GstBuffer *buffer);

/* Returns the time of day when the clock of @element showed @running_time, or
 * GST_CLOCK_TIME_NONE without a clock or @running_time. Compares the system time with the clock
 * at every frame, but follows it only when they have drifted apart by more than 10 ms: intervals
 * between frames are exact, and larger corrections of the system time are noticed. */
GstClockTime gst_ccl_utc_from_clock (GstCclUtc *self, GstElement *element,
                                     GstClockTime running_time);

G_END_DECLS

#endif /* __GST_CCL_UTC_H__ */
