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

/* Finds the components of frames. A subclass either passes the frames on
 * (gst_ccl_analysis_class_pass_frames()) or outputs pictures (gst_ccl_picture_class_init()). */
typedef struct
{
  GstBaseTransform parent;

  /* Protected by the object lock. */
  GstCclSettings settings;
  gboolean check_areas; /* check the area limits with the next frame */

  GstCclSession session;

  /* TRUE if the session analyses the masks of segmentations; fixed at start. */
  gboolean segmentation;
  GstVideoInfo frame; /* with @segmentation: format of frames; unknown format before caps */

  /* Streaming thread. */
  GstVideoInfo output;       /* format of pictures */
  gboolean warned_truncated; /* since the start */
  gboolean warned_nvds;
  gboolean warned_detections;
} GstCclAnalysis;

/* For functions that install properties: where instances have their settings. */
#define GST_CCL_SETTINGS_OFFSET G_STRUCT_OFFSET (GstCclAnalysis, settings)

/* Draws the picture of the last frame, or of a gap, to @pixels, in rows @stride bytes apart.
 * Posts an error and returns FALSE on failure. */
typedef gboolean (*GstCclDrawFunc) (GstCclAnalysis *self, gboolean gap, guint8 *pixels,
                                    gsize stride);

/* Adds the picture of the frame to @outbuf as a segmentation, with #cudaccl:attach `analytics`.
 * Posts an error and returns FALSE on failure. */
typedef gboolean (*GstCclSegmentFunc) (GstCclAnalysis *self, GstBuffer *outbuf);

typedef struct
{
  GstBaseTransformClass parent_class;

  GstCclNeeds needs;

  /* Completes the parameters of the next frame; may be NULL. */
  void (*prepare) (GstCclAnalysis *self, GstBuffer *buffer, CclParams *params);

  /* Changes the components that @buffer is about to get, and returns their number; may be NULL. The
   * array was allocated with g_malloc(). */
  guint (*complete) (GstCclAnalysis *self, GstBuffer *buffer, GstCclComponent **components,
                     guint n);

  /* Inspects the components of the frame; may be NULL. */
  void (*review) (GstCclAnalysis *self, const CclComponents *components);

  /* Set by gst_ccl_picture_class_init(), NULL in elements that pass frames on. set_output() sets
   * @output from the caps of the source pad. */
  gboolean (*set_output) (GstCclAnalysis *self, GstCaps *caps, GError **error);
  GstCclDrawFunc draw;
  GstCclSegmentFunc segment;
} GstCclAnalysisClass;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCclAnalysis, gst_object_unref)

GType gst_ccl_analysis_get_type (void);

/* Passes frames on in place. Adds the templates of both pads, with all memory types. */
void gst_ccl_analysis_class_pass_frames (GstCclAnalysisClass *klass);

/* Adds a template for a sink pad with all memory types. */
void gst_ccl_analysis_class_add_sink_template (GstCclAnalysisClass *klass);

/* Analyses @inbuf, and attaches the components to @outbuf, which may be @inbuf, and posts them,
 * as the properties say. Posts an error on failure. */
GstFlowReturn gst_ccl_analysis_process (GstCclAnalysis *self, GstBuffer *inbuf, GstBuffer *outbuf);

/* Posts and frees @error. @about is the caps or buffer for the debug information; may be NULL. */
void gst_ccl_analysis_post_error (GstCclAnalysis *self, GError *error, gconstpointer about);

/* Returns TRUE if @status is CCL_OK; otherwise posts an error and drops the analyzer. For calls
 * of the analyzer after gst_ccl_analysis_process(). */
gboolean gst_ccl_analysis_check (GstCclAnalysis *self, CclStatus status);

G_END_DECLS

#endif /* __GST_CCL_ANALYSIS_H__ */
