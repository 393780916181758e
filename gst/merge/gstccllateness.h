/* cudaccl - how late the frames of a live branch are
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_LATENESS_H__
#define __GST_CCL_LATENESS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* How long after their running time the last frames came, in a ring. Zero-initialise it. */
typedef struct
{
  GstClockTimeDiff times[16];
  guint n;
  guint next;
} GstCclLateness;

void gst_ccl_lateness_reset (GstCclLateness *self);

void gst_ccl_lateness_add (GstCclLateness *self, GstClockTimeDiff time);

/* The lateness of the last frame, or 0. */
GstClockTimeDiff gst_ccl_lateness_get_last (const GstCclLateness *self);

/* The second largest, so that a single late frame has no effect. 0 after only a few frames: the
 * first ones are often late. */
GstClockTimeDiff gst_ccl_lateness_get_usual (const GstCclLateness *self);

G_END_DECLS

#endif /* __GST_CCL_LATENESS_H__ */
