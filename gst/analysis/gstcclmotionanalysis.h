/* cudaccl - the base class of the elements that find what moves
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MOTION_ANALYSIS_H__
#define __GST_CCL_MOTION_ANALYSIS_H__

#include "gstcclanalysis.h"

G_BEGIN_DECLS

/**
 * GstCclMotionShadows:
 * @GST_CCL_MOTION_SHADOWS_DROP: shadows are background
 * @GST_CCL_MOTION_SHADOWS_KEEP: shadows are foreground
 * @GST_CCL_MOTION_SHADOWS_MARK: shadows are background, and 127 in the masks of `cclmask`
 *
 * How shadows are treated.
 *
 * Since: 0.1
 */
typedef enum
{
  GST_CCL_MOTION_SHADOWS_DROP,
  GST_CCL_MOTION_SHADOWS_KEEP,
  GST_CCL_MOTION_SHADOWS_MARK,
} GstCclMotionShadows;

/**
 * GstCclMotionMethod:
 * @GST_CCL_MOTION_METHOD_SIGMA_DELTA: a slow mean of each pixel, and its mean difference from that
 *
 * The background model.
 *
 * Since: 0.1
 */
typedef enum
{
  GST_CCL_MOTION_METHOD_SIGMA_DELTA,
} GstCclMotionMethod;

#define GST_TYPE_CCL_MOTION_METHOD (gst_ccl_motion_method_get_type ())
#define GST_TYPE_CCL_MOTION_SHADOWS (gst_ccl_motion_shadows_get_type ())
#define GST_TYPE_CCL_MOTION_ANALYSIS (gst_ccl_motion_analysis_get_type ())
#define GST_CCL_MOTION_ANALYSIS(obj) \
  (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_CCL_MOTION_ANALYSIS, GstCclMotionAnalysis))

/* Finds the components of what differs from a model of the background. */
typedef struct
{
  GstCclAnalysis parent;

  /* Protected by the object lock. */
  CclMotionParams params;
  GstCclMotionMethod method;
  GstCclMotionShadows shadows;
  guint scale;
  gboolean reset; /* before the next frame */

  /* Streaming thread. */
  CclMotionConfig motion; /* since the start */
  gboolean marked;        /* mark the last frame's shadows */
  GstClockTime timestamp; /* of the last frame */
} GstCclMotionAnalysis;

typedef struct
{
  GstCclAnalysisClass parent_class;
} GstCclMotionAnalysisClass;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCclMotionAnalysis, gst_object_unref)

GType gst_ccl_motion_method_get_type (void);
GType gst_ccl_motion_shadows_get_type (void);
GType gst_ccl_motion_analysis_get_type (void);

G_END_DECLS

#endif /* __GST_CCL_MOTION_ANALYSIS_H__ */
