/* cudaccl - the base class of the elements that analyse frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ANALYSIS_H__
#define __GST_CCL_ANALYSIS_H__

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "gstcclsession.h"
#include "gstcclsettings.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_ANALYSIS (gst_ccl_analysis_get_type ())
#define GST_CCL_ANALYSIS(obj) \
  (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_CCL_ANALYSIS, GstCclAnalysis))
#define GST_CCL_ANALYSIS_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_CCL_ANALYSIS, GstCclAnalysisClass))
#define GST_CCL_ANALYSIS_GET_CLASS(obj) \
  (G_TYPE_INSTANCE_GET_CLASS ((obj), GST_TYPE_CCL_ANALYSIS, GstCclAnalysisClass))

/* Finds the components of frames. A subclass either lets the frames pass, see
 * gst_ccl_analysis_class_pass_frames(), or outputs pictures, see gst_ccl_picture_class_init(). */
typedef struct
{
  GstBaseTransform parent;

  /* Protected by the object lock. */
  GstCclSettings settings;
  gboolean check_areas; /* the area limits have changed and must be checked */

  GstCclSession session;

  /* Since the start: frames pass, and the session analyses the masks of their segmentations. */
  gboolean segmentation;
  GstVideoInfo frame; /* then: the format of frames; without caps, no format */

  /* Streaming thread. */
  GstVideoInfo output;       /* the format of pictures */
  gboolean warned_truncated; /* since the start */
  gboolean warned_nvds;
#ifdef HAVE_ANALYTICS
  gboolean warned_detections;
#endif
} GstCclAnalysis;

/* Where functions that install properties find the settings. */
#define GST_CCL_SETTINGS_OFFSET G_STRUCT_OFFSET (GstCclAnalysis, settings)

/* Draws the picture of the last processed frame, or of a gap, from its first pixel on, in rows that
 * are @stride bytes apart. Posts an error and returns FALSE on failure. */
typedef gboolean (*GstCclDrawFunc) (GstCclAnalysis *self, gboolean gap, guint8 *pixels,
                                    gsize stride);

typedef struct
{
  GstBaseTransformClass parent_class;

  GstCclNeeds needs;

  /* Completes the parameters of the next frame; may be NULL. */
  void (*prepare) (GstCclAnalysis *self, GstBuffer *buffer, CclParams *params);

  /* Looks at the components of the frame; may be NULL. */
  void (*review) (GstCclAnalysis *self, const CclComponents *components);

  /* Elements that output pictures set these with gst_ccl_picture_class_init(), others leave them
   * NULL. set_output() sets @output for the caps of the source pad, or fails with @error. */
  gboolean (*set_output) (GstCclAnalysis *self, GstCaps *caps, GError **error);
  GstCclDrawFunc draw;
} GstCclAnalysisClass;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCclAnalysis, gst_object_unref)

GType gst_ccl_analysis_get_type (void);

/* Makes frames pass in place, in all memory types, with both pads' templates. */
void gst_ccl_analysis_class_pass_frames (GstCclAnalysisClass *klass);

/* Adds a template for a sink pad with all memory types. */
void gst_ccl_analysis_class_add_sink_template (GstCclAnalysisClass *klass);

/* Analyses @inbuf and, as the properties say, attaches the components to @outbuf (which may be
 * @inbuf) and posts them. Posts an error on failure. */
GstFlowReturn gst_ccl_analysis_process (GstCclAnalysis *self, GstBuffer *inbuf, GstBuffer *outbuf);

/* Posts @error, which is consumed, with the caps or buffer that it is about (or NULL) as debug
 * information. */
void gst_ccl_analysis_post_error (GstCclAnalysis *self, GError *error, gconstpointer about);

/* Returns whether @status is CCL_OK. If not, posts an error and drops the analyzer. For functions
 * of the analyzer that complete the result of a frame. */
gboolean gst_ccl_analysis_check (GstCclAnalysis *self, CclStatus status);

G_END_DECLS

#endif /* __GST_CCL_ANALYSIS_H__ */
