/* cudaccl - statistics of the analysis
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_STATS_H__
#define __GST_CCL_STATS_H__

#include <gst/gst.h>
#include <cudaccl/ccl.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 frames;
  guint64 components;
  guint64 truncated; /* frames with more components than fit */

  guint64 allocations;     /* by all analyzers so far */
  guint64 old_allocations; /* by analyzers before the current one */
  guint64 bytes;           /* held by the current or last analyzer */
  CclMotionInfo model;     /* the background model's; bytes is part of @bytes */
  guint far_places;        /* CclInfo.far_places */

  /* Sums in nanoseconds: @time of all frames in the streaming thread, the others of the
   * @measured frames only. */
  guint64 time, measured;
  guint64 upload, analysis, download;

  /* Copied, because the statistics outlive the analyzer. */
  gchar *backend;
  gchar *algorithm;
  gchar *device;
  const gchar *route; /* CclInfo.upload, a static string */
  gint device_index;

  const CclOperation *operations; /* in use by the current analyzer; @morphology is their text */
  gchar *morphology;
} GstCclStats;

/* Resets the statistics. Before the first call, they must be zeroed. */
void gst_ccl_stats_reset (GstCclStats *stats);

/* Records the properties of a new analyzer. */
void gst_ccl_stats_set_analyzer (GstCclStats *stats, const CclAnalyzer *analyzer);

/* Adds a frame that took @time nanoseconds. */
void gst_ccl_stats_add (GstCclStats *stats, const CclAnalyzer *analyzer,
                        const CclComponents *components, GstClockTime time);

/* Returns the value of the element's `stats` property. */
GstStructure *gst_ccl_stats_to_structure (const GstCclStats *stats);

G_END_DECLS

#endif /* __GST_CCL_STATS_H__ */
