/* cudaccl - masks of GStreamer's segmentation metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclsegmentation.h"

#ifdef HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif

#if defined(HAVE_ANALYTICS) && GST_CHECK_VERSION(1, 26, 0)
gboolean
gst_ccl_segmentation_is_supported (void)
{
  return TRUE;
}

static GstBuffer *
find_mask (GstBuffer *buffer, GstCclPlacement *placement)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsSegmentationMtd segmentation;
  gpointer state = NULL;

  if (!meta || !gst_analytics_relation_meta_iterate (
                   meta, &state, gst_analytics_segmentation_mtd_get_mtd_type (), &segmentation))
    return NULL;

  return gst_analytics_segmentation_mtd_get_mask (&segmentation, &placement->x, &placement->y,
                                                  &placement->width, &placement->height);
}

GstBuffer *
gst_ccl_segmentation_get (GstBuffer *buffer, const GstVideoInfo *frame, GstCaps **caps,
                          GstCclPlacement *placement, GError **error)
{
  GstBuffer *mask = find_mask (buffer, placement);
  GstVideoMeta *video = mask ? gst_buffer_get_video_meta (mask) : NULL;

  if (!mask)
    return NULL;
  if (!video || placement->width == 0 || placement->height == 0) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "A segmentation mask without %s cannot be analysed.", video ? "size" : "format");
    gst_buffer_unref (mask);
    return NULL;
  }

  placement->mask_width = video->width;
  placement->mask_height = video->height;
  placement->frame_width = (guint) GST_VIDEO_INFO_WIDTH (frame);
  placement->frame_height = (guint) GST_VIDEO_INFO_HEIGHT (frame);
  *caps = gst_caps_new_simple (
      "video/x-raw", "format", G_TYPE_STRING, gst_video_format_to_string (video->format), "width",
      G_TYPE_INT, (gint) video->width, "height", G_TYPE_INT, (gint) video->height, NULL);

  return mask;
}
#else
gboolean
gst_ccl_segmentation_is_supported (void)
{
  return FALSE;
}

GstBuffer *
gst_ccl_segmentation_get (GstBuffer *buffer, const GstVideoInfo *frame, GstCaps **caps,
                          GstCclPlacement *placement, GError **error)
{
  return NULL;
}
#endif
