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

/* Adds the segmentation, and returns whether it could. */
static gboolean
add_mask (GstBuffer *buffer, GstBuffer *mask, GstSegmentationType type, const guint *ids, guint n,
          GstAnalyticsSegmentationMtd *segmentation)
{
  const GstVideoMeta *video = gst_buffer_get_video_meta (mask);

  return gst_analytics_relation_meta_add_segmentation_mtd (
      gst_buffer_add_analytics_relation_meta (buffer), mask, type, n, (guint *) ids, 0, 0,
      video->width, video->height, segmentation);
}

void
gst_ccl_segmentation_add_instances (GstBuffer *buffer, GstBuffer *mask, guint n)
{
  GstAnalyticsSegmentationMtd segmentation;
  guint *ids = g_new (guint, n), i;

  for (i = 0; i < n; i++)
    ids[i] = i;
  add_mask (buffer, mask, GST_SEGMENTATION_TYPE_INSTANCE, ids, n, &segmentation);
  g_free (ids);
}

void
gst_ccl_segmentation_add_classes (GstBuffer *buffer, GstBuffer *mask, const guint *ids,
                                  const gchar *const *names, guint n)
{
  GstAnalyticsSegmentationMtd segmentation;
  GstAnalyticsRelationMeta *meta;
  GstAnalyticsClsMtd classes;
  gfloat *confidences = g_new (gfloat, n);
  GQuark *quarks = g_new (GQuark, n);
  guint i;

  for (i = 0; i < n; i++) {
    confidences[i] = -1.0f; /* unknown */
    quarks[i] = g_quark_from_string (names[i]);
  }
  if (add_mask (buffer, mask, GST_SEGMENTATION_TYPE_SEMANTIC, ids, n, &segmentation)) {
    meta = gst_buffer_get_analytics_relation_meta (buffer);
    /* N_TO_N would say that classes are in the order of regions. But GStreamer's
     * segmentationoverlay, which looks for that, takes pixel values for indices of its selected
     * types, and would read beyond them with our values of 127 and 255; see docs/upstream.md. */
    if (gst_analytics_relation_meta_add_cls_mtd (meta, n, confidences, quarks, &classes))
      gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO,
                                                segmentation.id, classes.id);
  }
  g_free (confidences);
  g_free (quarks);
}
#else
void
gst_ccl_segmentation_add_instances (GstBuffer *buffer, GstBuffer *mask, guint n)
{
  gst_buffer_unref (mask);
}

void
gst_ccl_segmentation_add_classes (GstBuffer *buffer, GstBuffer *mask, const guint *ids,
                                  const gchar *const *names, guint n)
{
  gst_buffer_unref (mask);
}

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

GstBuffer *
gst_ccl_segmentation_share (GstBuffer *buffer, const GstVideoInfo *info)
{
  const GstVideoMeta *video = gst_buffer_get_video_meta (buffer);
  GstBuffer *mask = gst_buffer_copy_region (buffer, GST_BUFFER_COPY_MEMORY, 0, (gsize) -1);
  gsize offsets[GST_VIDEO_MAX_PLANES] = { GST_VIDEO_INFO_PLANE_OFFSET (info, 0) };
  gint strides[GST_VIDEO_MAX_PLANES] = { GST_VIDEO_INFO_PLANE_STRIDE (info, 0) };

  if (video) {
    offsets[0] = video->offset[0];
    strides[0] = video->stride[0];
  }
  gst_buffer_add_video_meta_full (mask, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT (info),
                                  (guint) GST_VIDEO_INFO_WIDTH (info),
                                  (guint) GST_VIDEO_INFO_HEIGHT (info), 1, offsets, strides);

  return mask;
}
