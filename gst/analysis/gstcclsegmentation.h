/* cudaccl - masks of GStreamer's segmentation metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_SEGMENTATION_H__
#define __GST_CCL_SEGMENTATION_H__

#include <gst/video/video.h>

#include "gstcclpublish.h"

G_BEGIN_DECLS

/* Whether this build knows GstAnalyticsSegmentationMtd, of GStreamer 1.26. */
gboolean gst_ccl_segmentation_is_supported (void);

/* Returns the mask of the first segmentation of @buffer, a frame of the size in @frame, with its
 * caps in @caps and where it lies in the frame in @placement; NULL if there is none, or with @error
 * set if it is of no use. Free both. */
GstBuffer *gst_ccl_segmentation_get (GstBuffer *buffer, const GstVideoInfo *frame, GstCaps **caps,
                                     GstCclPlacement *placement, GError **error);

G_END_DECLS

#endif /* __GST_CCL_SEGMENTATION_H__ */
