/* cudaccl - remembers tracks until they end
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACK_LOG_H__
#define __GST_CCL_TRACK_LOG_H__

#include "gstcclreport.h"

G_BEGIN_DECLS

/* A track as found in one frame. */
typedef struct
{
  GstCclReportFrame frame; /* without its source, components and zones; holds the names */
  GstCclComponent component;
} GstCclSighting;

typedef struct
{
  GstCclSighting first, last;
  guint64 n_frames;  /* in which it was found */
  gdouble distance;  /* length of its centroid's path, in pixels */
  GstClockTime seen; /* time of `last` */
} GstCclTrackRecord;

/* Makes a log, which maps ids to records; free it with g_hash_table_unref(). */
GHashTable *gst_ccl_track_log_new (void);

/* Adds the tracks of @frame, at @time, which must not go back. Returns FALSE if it left some out
 * because there are too many. */
gboolean gst_ccl_track_log_add (GHashTable *self, const GstCclReportFrame *frame,
                                GstClockTime time);

/* Removes the tracks that have not been found for two seconds at @time, or all if that is
 * GST_CLOCK_TIME_NONE. Returns them in the order of their ids, as an array of GstCclTrackRecord,
 * which clears its items. */
GArray *gst_ccl_track_log_take_ended (GHashTable *self, GstClockTime time);

G_END_DECLS

#endif /* __GST_CCL_TRACK_LOG_H__ */
