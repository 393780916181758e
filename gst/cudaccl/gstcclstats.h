/* cudaccl - what an element has done so far
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_STATS_H__
#define __GST_CCL_STATS_H__

#include <gst/gst.h>
#include <ccl/ccl.h>

G_BEGIN_DECLS

typedef struct
{
  guint64 frames;
  guint64 components;
  guint64 truncated; /* frames in which more was found than there was room for */

  guint64 allocations;     /* of all analyzers */
  guint64 old_allocations; /* of those before the current one */
  guint64 bytes;           /* that the current one holds, or the last one held */

  /* Sums over all frames, in nanoseconds. */
  guint64 time;
  guint64 upload, analysis, download;

  /* Copies: the statistics are there when the analyzer no longer is. */
  gchar *backend;
  gchar *algorithm;
  gchar *device;
  gint device_index;
} GstCclStats;

void gst_ccl_stats_reset (GstCclStats *stats);

/* Notes what a new analyzer turned out to be. */
void gst_ccl_stats_set_analyzer (GstCclStats *stats, const CclAnalyzer *analyzer);

/* Counts a frame that took @time nanoseconds. */
void gst_ccl_stats_add (GstCclStats *stats, const CclAnalyzer *analyzer,
                        const CclComponents *components, GstClockTime time);

/* The value of the element's property. */
GstStructure *gst_ccl_stats_to_structure (const GstCclStats *stats);

G_END_DECLS

#endif /* __GST_CCL_STATS_H__ */
