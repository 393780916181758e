/* cudaccl - a component after tracking
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TRACK_OUTPUT_H__
#define __GST_CCL_TRACK_OUTPUT_H__

#include <gst/ccl/gstccl.h>
#include <gst/found/gstcclroi.h>
#include "tracker.h"

G_BEGIN_DECLS

#define GST_CCL_TRACK_NO_SOURCE G_MAXUINT

typedef struct
{
  GstCclComponent component;
  guint source; /* index of the component that it was made of, or GST_CCL_TRACK_NO_SOURCE */
} GstCclTrackOutput;

void gst_ccl_track_output_set_track (GstCclTrackOutput *self, const GstCclTrackInfo *track);

/* Sets the box to the part of the track's inside of the frame. Returns FALSE if nothing is left. */
gboolean gst_ccl_track_output_set_box (GstCclTrackOutput *self, const GstCclTrackInfo *track,
                                       guint width, guint height);

/* For sorting: by source, then by track. */
gint gst_ccl_track_output_compare (gconstpointer a, gconstpointer b);

/* The type of a region of a class, whose name may be NULL. */
GQuark gst_ccl_track_output_get_type (const gchar *class_name);

/* Replaces the regions of interest of the writable @buffer that are components. */
void gst_ccl_track_output_put_rois (const GstCclTrackOutput *outputs, guint n_outputs,
                                    GstBuffer *buffer, const GstCclRois *rois, gboolean by_label,
                                    GstCclClassNames *names);

G_END_DECLS

#endif /* __GST_CCL_TRACK_OUTPUT_H__ */
