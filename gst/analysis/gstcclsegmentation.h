/* cudaccl - masks of GStreamer's segmentation metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_SEGMENTATION_H__
#define __GST_CCL_SEGMENTATION_H__

#include <gst/video/video.h>

#include "gstcclconvert.h"

G_BEGIN_DECLS

/* Returns whether this build has GstAnalyticsSegmentationMtd (GStreamer 1.26). */
gboolean gst_ccl_segmentation_is_supported (void);

/* Returns the mask of the first segmentation of @buffer, with its caps and its placement in the
 * frame, whose size is in @frame. Returns NULL if there is none, or with @error if it is
 * unusable. The caller frees mask and caps. */
GstBuffer *gst_ccl_segmentation_get (GstBuffer *buffer, const GstVideoInfo *frame, GstCaps **caps,
                                     GstCclPlacement *placement, GError **error);

G_END_DECLS

#endif /* __GST_CCL_SEGMENTATION_H__ */
