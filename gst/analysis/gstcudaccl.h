/* cudaccl - finds the connected components of video frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CUDA_CCL_H__
#define __GST_CUDA_CCL_H__

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "gstcclproperties.h"
#include "gstcclsession.h"
#include "memory/gstcclsystem.h"

G_BEGIN_DECLS

/* Elements that do more with the components are subclasses. */
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

  /* Protected by the object lock. */
  GstCclSettings settings;
  gboolean check_areas; /* the area limits have changed and must be checked */

  GstCclMapper **mappers;
  GstCclSession *session;

  /* Streaming thread: which warnings were given since the start. */
  gboolean warned_truncated;
  gboolean warned_nvds;
#ifdef HAVE_ANALYTICS
  gboolean warned_detections;
#endif
} GstCudaCcl;

typedef struct
{
  GstBaseTransformClass parent_class;

  gboolean labels; /* the subclass needs label maps */

  /* Checks and changes the configuration of the analyzer at each start; may be NULL. */
  gboolean (*configure) (GstCudaCcl *self, CclConfig *config, GError **error);
} GstCudaCclClass;

GType gst_cuda_ccl_get_type (void);

/* Analyses @inbuf and, as the properties say, attaches the components to @outbuf (which may be
 * @inbuf) and posts them. Posts an error on failure. */
GstFlowReturn gst_cuda_ccl_process (GstCudaCcl *self, GstBuffer *inbuf, GstBuffer *outbuf);

/* Posts @error, which is consumed, with the caps or buffer that it is about (or NULL) as debug
 * information. */
void gst_cuda_ccl_post_error (GstCudaCcl *self, GError *error, gconstpointer about);

/* Gets the label map of the last processed frame. Posts an error on failure. */
gboolean gst_cuda_ccl_get_labels (GstCudaCcl *self, CclLabels *labels);

GST_ELEMENT_REGISTER_DECLARE (cudaccl);

G_END_DECLS

#endif /* __GST_CUDA_CCL_H__ */
