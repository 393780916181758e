/* cudaccl - remembers tracks until they end
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACK_LOG_H__
#define __GST_CCL_TRACK_LOG_H__

#include "gstcclreport.h"

G_BEGIN_DECLS

/* The state of a track in one frame. */
typedef struct
{
  GstCclReportFrame frame; /* without source, components and zones; owns the names */
  GstCclComponent component;
} GstCclSighting;

typedef struct
{
  GstCclSighting first, last;
  guint64 n_frames;  /* frames in which it was found */
  gdouble distance;  /* length of the centroid's path in pixels */
  GstClockTime seen; /* time of `last` */
} GstCclTrackRecord;

/* Creates a log, which maps ids to records. Free it with g_hash_table_unref(). */
GHashTable *gst_ccl_track_log_new (void);

/* Adds the tracks of @frame at @time, which must not go back. Returns FALSE if some were left
 * out because there are too many. */
gboolean gst_ccl_track_log_add (GHashTable *self, const GstCclReportFrame *frame,
                                GstClockTime time);

/* Removes the tracks not found for two seconds at @time; GST_CLOCK_TIME_NONE: all. Returns them
 * sorted by id, as an array of GstCclTrackRecord that clears its items. */
GArray *gst_ccl_track_log_take_ended (GHashTable *self, GstClockTime time);

G_END_DECLS

#endif /* __GST_CCL_TRACK_LOG_H__ */
