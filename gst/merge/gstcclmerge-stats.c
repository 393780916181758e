/* cudaccl - cclmerge: what it counts, and its warning
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmerge-stats.h"

/* Frames without components before the first warning, and between warnings. */
#define FIRST_WARNING 10
#define WARNING_INTERVAL 1000

gboolean
gst_ccl_merge_stats_add (GstCclMergeStats *stats, GstCclMatchResult result)
{
  gboolean missed = result == GST_CCL_MATCH_NONE || result == GST_CCL_MATCH_LATE;

  stats->frames++;
  stats->matched += result == GST_CCL_MATCH_FOUND;
  stats->late += result == GST_CCL_MATCH_LATE;
  stats->missed += missed;

  return missed && stats->missed % WARNING_INTERVAL == FIRST_WARNING;
}

gchar *
gst_ccl_merge_stats_make_warning (const GstCclMergeStats *stats, GstCclMatchResult result,
                                  gboolean latest, GstClockTimeDiff lateness, GstClockTime latency)
{
  const gchar *advice;
  gchar *reason, *text;

  if (latest) {
    reason = g_strdup ("There were none, or only components older than max-age.");
    advice = "Check that the components branch still runs, or raise max-age.";
  } else if (result == GST_CCL_MATCH_LATE) {
    reason = g_strdup_printf ("They are %" G_GINT64_FORMAT
                              " ms late, but frames wait only %" G_GUINT64_FORMAT " ms.",
                              lateness / (GstClockTimeDiff) GST_MSECOND,
                              GST_CLOCK_TIME_IS_VALID (latency) ? latency / GST_MSECOND : 0);
    advice = "If the mask is slower than the video, set mode=latest, and drop frames before the "
             "mask with a leaky queue (\"queue leaky=downstream max-size-buffers=1\"). Otherwise "
             "raise max-latency or latency.";
  } else {
    reason = g_strdup ("No components have a timestamp within the tolerance.");
    advice = "If the mask has fewer frames than the video, set mode=latest or raise the tolerance. "
             "Otherwise check the timestamps of both branches.";
  }

  text = g_strdup_printf ("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                          " frames left without components. %s %s",
                          stats->frames - stats->matched, stats->frames, reason, advice);
  g_free (reason);

  return text;
}

GstStructure *
gst_ccl_merge_stats_to_structure (const GstCclMergeStats *stats, GstClockTimeDiff lateness,
                                  GstClockTime added)
{
  return gst_structure_new ("application/x-cclmerge-stats", "frames", G_TYPE_UINT64, stats->frames,
                            "matched", G_TYPE_UINT64, stats->matched, "unmatched", G_TYPE_UINT64,
                            stats->frames - stats->matched, "late", G_TYPE_UINT64, stats->late,
                            "dropped", G_TYPE_UINT64, stats->dropped, "lost-events", G_TYPE_UINT64,
                            stats->lost_events, "lateness", G_TYPE_INT64, (gint64) lateness,
                            "added-latency", G_TYPE_UINT64, added, NULL);
}
