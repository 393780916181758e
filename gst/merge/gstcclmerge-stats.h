/* cudaccl - cclmerge: what it counts, and its warning
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MERGE_STATS_H__
#define __GST_CCL_MERGE_STATS_H__

#include "gstcclmerge-match.h"

G_BEGIN_DECLS

/* Since the last start. */
typedef struct
{
  guint64 frames;
  guint64 matched;
  guint64 late;        /* of the others: components had not come in time */
  guint64 missed;      /* of the others: components were expected, including those that were late */
  guint64 dropped;     /* frames of the branch, because of a jump */
  guint64 lost_events; /* after the last frame */
} GstCclMergeStats;

/* Counts a frame. Returns whether a warning is due. */
gboolean gst_ccl_merge_stats_add (GstCclMergeStats *stats, GstCclMatchResult result);

/* Returns the text of the warning: why frames have no components, and what to do. @result: of the
 * last frame; @latest: whether the mode is "latest"; @lateness: of the components; @latency: how
 * long frames wait. */
gchar *gst_ccl_merge_stats_make_warning (const GstCclMergeStats *stats, GstCclMatchResult result,
                                         gboolean latest, GstClockTimeDiff lateness,
                                         GstClockTime latency);

/* See cclmerge:stats. */
GstStructure *gst_ccl_merge_stats_to_structure (const GstCclMergeStats *stats,
                                                GstClockTimeDiff lateness, GstClockTime added);

G_END_DECLS

#endif /* __GST_CCL_MERGE_STATS_H__ */
