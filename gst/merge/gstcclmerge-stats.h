/* cudaccl - cclmerge: what it counts, and its warning
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MERGE_STATS_H__
#define __GST_CCL_MERGE_STATS_H__

#include "gstcclmerge-match.h"

G_BEGIN_DECLS

/* Counts since the last start. */
typedef struct
{
  guint64 frames;
  guint64 matched;
  guint64 late;        /* unmatched frames whose components had not come in time */
  guint64 missed;      /* unmatched frames that expected components, including late ones */
  guint64 dropped;     /* frames of the branch dropped because of a jump */
  guint64 lost_events; /* events after the last frame */
} GstCclMergeStats;

/* Counts a frame. Returns TRUE if a warning is due. */
gboolean gst_ccl_merge_stats_add (GstCclMergeStats *stats, GstCclMatchResult result);

/* Returns the text of the warning: why frames have no components, and what to do. @result is
 * that of the last frame, @latest is TRUE for the mode "latest", @lateness is that of the
 * components, and @latency is how long frames wait. */
gchar *gst_ccl_merge_stats_make_warning (const GstCclMergeStats *stats, GstCclMatchResult result,
                                         gboolean latest, GstClockTimeDiff lateness,
                                         GstClockTime latency);

/* Returns the value of cclmerge:stats. */
GstStructure *gst_ccl_merge_stats_to_structure (const GstCclMergeStats *stats,
                                                GstClockTimeDiff lateness, GstClockTime added);

G_END_DECLS

#endif /* __GST_CCL_MERGE_STATS_H__ */
