/* cudaccl - what the files of cclmerge share
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MERGE_PRIVATE_H__
#define __GST_CCL_MERGE_PRIVATE_H__

#include "gstcclmerge.h"
#include "gstcclmergematch.h"

G_BEGIN_DECLS

/* Times can be added to it: a year. */
#define GST_CCL_MERGE_MAX_TOLERANCE (365 * 24 * 3600 * GST_SECOND)

struct _GstCclMerge
{
  GstAggregator parent;

  GstAggregatorPad *video;

  /* Under the object lock. */
  GstClockTime tolerance;
  GstClockTime half_frame; /* of the video, by its caps; 0 when they do not tell */

  /* The streaming thread's. */
  guint width, height; /* of the video */
  GstEvent *segment;   /* of the video; NULL when it was pushed */
  GstCclMergeMatcher matcher;
};

/* Events that follow a segment must not overtake it, and GstAggregator pushes it with the next
 * frame only. */
void gst_ccl_merge_push_segment (GstCclMerge *self);

/* GstAggregatorClass: get_next_time() and aggregate(). */
GstClockTime gst_ccl_merge_get_next_time (GstAggregator *agg);
GstFlowReturn gst_ccl_merge_aggregate (GstAggregator *agg, gboolean timeout);

G_END_DECLS

#endif /* __GST_CCL_MERGE_PRIVATE_H__ */
