/* cudaccl - the components of a frame as a line of JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_JSON_WRITE_H__
#define __GST_CCL_JSON_WRITE_H__

#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* What is told of a frame; times are in nanoseconds or GST_CLOCK_TIME_NONE. */
typedef struct
{
  const gchar *source; /* UTF-8, or NULL for none */
  GstClockTime timestamp;
  GstClockTime stream_time;
  GstClockTime running_time;
  GstClockTime duration;
  guint width;
  guint height;
  gint64 found; /* or -1 when it is not known */
  guint n_components;
  const GstCclComponent *components;
} GstCclJsonFrame;

/* One object and a newline. */
GString *gst_ccl_json_write (const GstCclJsonFrame *frame);

G_END_DECLS

#endif /* __GST_CCL_JSON_WRITE_H__ */
