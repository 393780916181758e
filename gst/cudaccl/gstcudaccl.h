/* cudaccl - finds the connected components of video frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CUDA_CCL_H__
#define __GST_CUDA_CCL_H__

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>
#include <ccl/ccl.h>

#include "memory/gstcclframe.h"
#include "gstcclproperties.h"
#include "gstcclstats.h"

G_BEGIN_DECLS

/* Elements that do more with the components derive from this one. */
#define GST_TYPE_CUDA_CCL (gst_cuda_ccl_get_type ())
#define GST_CUDA_CCL(obj) (G_TYPE_CHECK_INSTANCE_CAST ((obj), GST_TYPE_CUDA_CCL, GstCudaCcl))
#define GST_CUDA_CCL_CLASS(klass) \
  (G_TYPE_CHECK_CLASS_CAST ((klass), GST_TYPE_CUDA_CCL, GstCudaCclClass))
#define GST_CUDA_CCL_GET_CLASS(obj) \
  (G_TYPE_INSTANCE_GET_CLASS ((obj), GST_TYPE_CUDA_CCL, GstCudaCclClass))

#define GST_CUDA_CCL_CAPS GST_VIDEO_CAPS_MAKE (GST_CCL_SYSTEM_FORMATS)

typedef struct
{
  GstBaseTransform parent;

  /* Under the object lock. */
  GstCclSettings settings;
  GstCclStats stats;
  gboolean check_areas; /* the area limits are new, and none of them is being set */

  GstCclMapper **mappers;

  /* The streaming thread's. */
  CclConfig config; /* as set at the start; the size is that of the frames */
  GstVideoInfo info;
  GstCclMapper *mapper; /* of the caps' memory, NULL without caps */
  GstCclPlace place;    /* of the analyzer */
  CclAnalyzer *analyzer;
  gboolean truncated; /* the warning was given */
#ifdef HAVE_ANALYTICS
  gboolean analytics_truncated; /* the warning was given */
#endif
} GstCudaCcl;

typedef struct
{
  GstBaseTransformClass parent_class;

  gboolean labels; /* the analyzers make label maps */
} GstCudaCclClass;

GType gst_cuda_ccl_get_type (void);

/* Gaps may have none. A gap with pixels is a frame like others: videorate flags those that it
 * repeats. */
static inline gboolean
gst_cuda_ccl_has_pixels (GstBuffer *buffer)
{
  return !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_GAP) || gst_buffer_get_size (buffer) > 0;
}

/* Analyses @inbuf and tells of its components as the properties want: on @outbuf, which may be the
 * same, and on the bus. */
GstFlowReturn gst_cuda_ccl_process (GstCudaCcl *self, GstBuffer *inbuf, GstBuffer *outbuf);

/* The label map of the frame that was processed last; posts an error when it cannot be had. */
gboolean gst_cuda_ccl_get_labels (GstCudaCcl *self, CclLabels *labels);

GST_ELEMENT_REGISTER_DECLARE (cudaccl);

G_END_DECLS

#endif /* __GST_CUDA_CCL_H__ */
