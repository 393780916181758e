/* cudaccl - for elements that output a picture of each frame's components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PICTURE_H__
#define __GST_CCL_PICTURE_H__

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include "memory/gstcclframe.h"

G_BEGIN_DECLS

/* Functions of GstBaseTransformClass for subclasses of cudaccl. */

/* Changes the format to those of the other pad's template, and drops the fields that describe the
 * meaning of its values. */
GstCaps *gst_ccl_picture_transform_caps (GstBaseTransform *trans, GstPadDirection direction,
                                         GstCaps *caps, GstCaps *filter);

/* Uses the pool of downstream, or our own: frames are too large to be allocated one by one. */
gboolean gst_ccl_picture_decide_allocation (GstBaseTransform *trans, GstQuery *query);

/* Keeps all metadata except for those on the layout and the meaning of pixel values. */
gboolean gst_ccl_picture_transform_meta (GstBaseTransform *trans, GstBuffer *outbuf, GstMeta *meta,
                                         GstBuffer *inbuf);

/* Gets the format of the output from its caps. On failure, @info stays as it is, and an error is
 * posted on @element. */
gboolean gst_ccl_picture_get_info (GstElement *element, GstCaps *caps, GstVideoInfo *info);

/* Maps an output frame of one plane for writing, and returns its first pixel; rows are
 * @frame->image.stride bytes apart. Posts an error on @element and returns NULL if that fails.
 * Unmap with gst_ccl_frame_unmap_plane(). */
guint8 *gst_ccl_picture_map (GstElement *element, const GstVideoInfo *info, GstBuffer *buffer,
                             GstCclFrame *frame);

G_END_DECLS

#endif /* __GST_CCL_PICTURE_H__ */
