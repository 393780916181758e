/* cudaccl - lines of JSON as other programs write them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_JSON_FOREIGN_H__
#define __GST_CCL_JSON_FOREIGN_H__

#include "gstcclreport.h"
#include "gstccltracklog.h"

G_BEGIN_DECLS

/* These functions return an object as described in docs/json.md, and a newline. */

/* A message of DeepStream's minimal schema. */
GString *gst_ccl_json_write_deepstream (const GstCclReportFrame *frame);

/* Axis' `Frame` and `ObjectTrack`. @session is a UUID, whose end is replaced by the track's id. */
GString *gst_ccl_json_write_axis_frame (const gchar *session, const GstCclReportFrame *frame);
GString *gst_ccl_json_write_axis_track (const gchar *session, const GstCclTrackRecord *record);

G_END_DECLS

#endif /* __GST_CCL_JSON_FOREIGN_H__ */
