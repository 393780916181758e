/* cudaccl - elements that write what was found in frames as text
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_REPORT_H__
#define __GST_CCL_REPORT_H__

#include <gst/base/gstcclfilter.h>
#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* A frame to report. Times are in nanoseconds or GST_CLOCK_TIME_NONE. */
typedef struct
{
  const gchar *source; /* may be NULL */
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
  GstCclClassNames *class_names; /* of the components; may be NULL */
  const GstCclZonesMeta *zones;  /* may be NULL */
} GstCclReportFrame;

#define GST_TYPE_CCL_REPORT (gst_ccl_report_get_type ())
G_DECLARE_DERIVABLE_TYPE (GstCclReport, gst_ccl_report, GST, CCL_REPORT, GstCclFilter)

/* The abstract parent of ccljson and cclonvif. */
struct _GstCclReportClass
{
  GstCclFilterClass parent_class;

  /* Adds texts for @frame: for its tracks and events, and if @wanted (see empty-frames) for the
   * frame itself. */
  void (*write) (GstCclReport *self, GstBuffer *buffer, const GstCclReportFrame *frame,
                 gboolean wanted);
};

/* Outputs a text in a buffer with the times of the last frame. Takes @text. */
void gst_ccl_report_take_text (GstCclReport *self, GString *text);

/* Gives frames without a time of day one; off by default. Not while running. */
void gst_ccl_report_set_needs_utc (GstCclReport *self, gboolean needs_utc);

/* Pushes texts added after the last frame. Streaming thread only. */
void gst_ccl_report_push (GstCclReport *self);

G_END_DECLS

#endif /* __GST_CCL_REPORT_H__ */
