/* cudaccl - a frame's components as a line of JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_JSON_WRITER_H__
#define __GST_CCL_JSON_WRITER_H__

#include <gst/gst.h>
#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* What a line says about a frame. Times are in nanoseconds or GST_CLOCK_TIME_NONE. */
typedef struct
{
  const gchar *source; /* NULL for none */
  guint64 number;
  GstClockTime utc; /* since 1970 */
  GstClockTime timestamp;
  GstClockTime stream_time;
  GstClockTime running_time;
  GstClockTime duration;
  guint width;
  guint height;
  gint64 found; /* -1 if unknown */
  gint64 frame_age;
  guint n_components;
  const GstCclComponent *components;
  const GstCclZonesMeta *zones; /* NULL for none */
} GstCclJsonFrame;

/* Returns the object that docs/json.md describes, and a newline. */
GString *gst_ccl_json_write_frame (const GstCclJsonFrame *frame);

/* Appends the time in RFC 3339 with nanoseconds, in quotes, or null. */
void gst_ccl_json_append_utc (GString *text, GstClockTime utc);

G_END_DECLS

#endif /* __GST_CCL_JSON_WRITER_H__ */
