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

/* Adds @mask, which it takes, to the writable @buffer as a segmentation of the whole frame: of
 * instances, where each value from 1 to @n - 1 is an object, or of classes, where value ids[i] is
 * of the class names[i]. Value 0 is the background. */
void gst_ccl_segmentation_add_instances (GstBuffer *buffer, GstBuffer *mask, guint n);
void gst_ccl_segmentation_add_classes (GstBuffer *buffer, GstBuffer *mask, const guint *ids,
                                       const gchar *const *names, guint n);

/* Returns a new mask, which the caller owns, that shares the pixels of the picture @buffer, of
 * format @info. */
GstBuffer *gst_ccl_segmentation_share (GstBuffer *buffer, const GstVideoInfo *info);

G_END_DECLS

#endif /* __GST_CCL_SEGMENTATION_H__ */
