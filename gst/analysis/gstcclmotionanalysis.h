/* cudaccl - the base class of the elements that find what moves
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MOTION_ANALYSIS_H__
#define __GST_CCL_MOTION_ANALYSIS_H__

#include <gst/base/gstccltime.h>

#include "gstcclanalysis.h"
#include "gstcclplaces.h"
#include "gstcclstatics.h"

G_BEGIN_DECLS

#define GST_TYPE_CCL_MOTION_ANALYSIS (gst_ccl_motion_analysis_get_type ())
#define GST_CCL_MOTION_ANALYSIS(obj) \
  (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_CCL_MOTION_ANALYSIS, GstCclMotionAnalysis))

/* Finds the components of pixels that differ from a model of the background. */
typedef struct
{
  GstCclAnalysis parent;

  gboolean reset; /* start a new model with the next frame; protected by the object lock */

  /* Streaming thread. */
  gboolean marked;        /* mark the last frame's shadows */
  GstCclTime time;        /* time of the last frame */
  GstClockTime elapsed;   /* time between the last two frames */
  gboolean inverted;      /* the last frame's components are what does not move */
  GstClockTime near_time; /* see TOO_NEAR_AFTER */
  gboolean warned_near;   /* since the stream started */

  GstCclStaticsParams statics_params; /* of the last frame; without a time, nothing is static */
  GstCclStatics *statics;             /* NULL before the first frame with a time */
  GstCclPlaces places;
  guint64 starts; /* of the model; see CclMotionInfo */
} GstCclMotionAnalysis;

typedef struct
{
  GstCclAnalysisClass parent_class;
} GstCclMotionAnalysisClass;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (GstCclMotionAnalysis, gst_object_unref)

GType gst_ccl_motion_analysis_get_type (void);

G_END_DECLS

#endif /* __GST_CCL_MOTION_ANALYSIS_H__ */
