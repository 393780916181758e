/* cudaccl - cclmerge: how late the components of a live branch are
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MERGE_LATENCY_H__
#define __GST_CCL_MERGE_LATENCY_H__

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

/* How much latency must be added to @latency for components to come in time, rounded up to a
 * multiple of @step, as each change disturbs the pipeline. */
GstClockTime gst_ccl_lateness_get_missing (const GstCclLateness *self, GstClockTime latency,
                                           GstClockTime step);

G_END_DECLS

#endif /* __GST_CCL_MERGE_LATENCY_H__ */
