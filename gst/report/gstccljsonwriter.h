/* cudaccl - lines of JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_JSON_WRITER_H__
#define __GST_CCL_JSON_WRITER_H__

#include "gstcclreport.h"
#include "gstccltracklog.h"

G_BEGIN_DECLS

/* Identifies a line. */
typedef struct
{
  const gchar *source; /* may be NULL */
  const gchar *session;
  guint64 number; /* number of the line in the session */
} GstCclJsonId;

/* These functions return an object as described in docs/json.md, and a newline. */

GString *gst_ccl_json_write_frame (const GstCclJsonId *id, const GstCclReportFrame *frame);

GString *gst_ccl_json_write_track (const GstCclJsonId *id, const GstCclTrackRecord *record);

/* Writes the event @index of the zones of @frame. */
GString *gst_ccl_json_write_event (const GstCclJsonId *id, const GstCclReportFrame *frame,
                                   guint index);

/* Appends @string in quotes. Replaces invalid UTF-8 with U+FFFD. */
void gst_ccl_json_append_string (GString *line, const gchar *string);

/* Appends the time in RFC 3339 with nanoseconds, in quotes, or null. */
void gst_ccl_json_append_utc (GString *text, GstClockTime utc);

G_END_DECLS

#endif /* __GST_CCL_JSON_WRITER_H__ */
