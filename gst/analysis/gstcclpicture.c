/* cudaccl - for elements that output a picture of each frame's components
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpicture.h"

#include <gst/base/gstcclutils.h>

#include "gstcclsegmentation.h"

/* Replaces the format with those of the other pad's template, and drops fields on the meaning of
 * pixel values. */
static GstCaps *
picture_transform_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                        GstCaps *filter)
{
  GstPad *other = direction == GST_PAD_SINK ? trans->srcpad : trans->sinkpad;
  GstCaps *template = gst_pad_get_pad_template_caps (other), *result = gst_caps_new_empty ();
  guint i, k;

  for (i = 0; i < gst_caps_get_size (caps); i++) {
    for (k = 0; k < gst_caps_get_size (template); k++) {
      const GstStructure *formats = gst_caps_get_structure (template, k);
      GstStructure *structure = gst_structure_copy (gst_caps_get_structure (caps, i));

      gst_structure_remove_fields (structure, "colorimetry", "chroma-site", NULL);
      gst_structure_set_value (structure, "format", gst_structure_get_value (formats, "format"));
      result = gst_caps_merge_structure_full (
          result, structure, gst_caps_features_copy (gst_caps_get_features (template, k)));
    }
  }
  gst_caps_unref (template);

  return gst_ccl_caps_filter (result, filter);
}

/* Uses downstream's pool or our own: allocating each frame is slow. */
static gboolean
picture_decide_allocation (GstBaseTransform *trans, GstQuery *query)
{
  GstBaseTransformClass *base_class = g_type_class_peek (GST_TYPE_BASE_TRANSFORM);
  gboolean known = gst_query_get_n_allocation_pools (query) > 0;
  GstBufferPool *pool = NULL;
  guint size = 0, min = 0, max = 0;
  GstStructure *config;
  GstVideoInfo info;
  GstCaps *caps;

  gst_query_parse_allocation (query, &caps, NULL);
  if (!caps || !gst_video_info_from_caps (&info, caps))
    return FALSE;

  if (known)
    gst_query_parse_nth_allocation_pool (query, 0, &pool, &size, &min, &max);
  if (!pool)
    pool = gst_video_buffer_pool_new ();
  size = MAX (size, (guint) GST_VIDEO_INFO_SIZE (&info));

  config = gst_buffer_pool_get_config (pool);
  gst_buffer_pool_config_set_params (config, caps, size, min, max);
  if (gst_query_find_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL))
    gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  gst_buffer_pool_set_config (pool, config);

  if (known)
    gst_query_set_nth_allocation_pool (query, 0, pool, size, min, max);
  else
    gst_query_add_allocation_pool (query, pool, size, min, max);
  gst_object_unref (pool);

  return base_class->decide_allocation (trans, query);
}

/* Drops metadata on the layout and the meaning of pixel values. */
static gboolean
picture_transform_meta (GstBaseTransform *trans, GstBuffer *outbuf, GstMeta *meta, GstBuffer *inbuf)
{
  static const gchar *const kept[] = { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                       GST_META_TAG_VIDEO_ORIENTATION_STR, NULL };
  const gchar *const *tags = gst_meta_api_type_get_tags (meta->info->api);

  /* The output is only the visible part. */
  if (meta->info->api == GST_VIDEO_CROP_META_API_TYPE)
    return FALSE;

  for (; tags && *tags; tags++) {
    if (!g_strv_contains (kept, *tags))
      return FALSE;
  }

  return TRUE;
}

static gboolean
picture_set_output (GstCclAnalysis *self, GstCaps *caps, GError **error)
{
  GstVideoInfo parsed;

  if (!gst_ccl_caps_get_video_info (caps, &parsed, error))
    return FALSE;

  /* The size of a pool's buffers is a guint. */
  if (GST_VIDEO_INFO_SIZE (&parsed) > G_MAXUINT) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_FORMAT,
                 "Output frames of this size are not supported. Use smaller frames.");
    return FALSE;
  }
  self->output = parsed;

  return TRUE;
}

static gboolean
picture_is_segmented (GstCclAnalysis *self)
{
  gboolean wanted;

  GST_OBJECT_LOCK (self);
  wanted = (self->settings.attach & GST_CCL_ATTACH_ANALYTICS) != 0;
  GST_OBJECT_UNLOCK (self);

  return wanted && gst_ccl_segmentation_is_supported ();
}

static GstFlowReturn
picture_transform (GstBaseTransform *trans, GstBuffer *inbuf, GstBuffer *outbuf)
{
  GstCclAnalysis *self = GST_CCL_ANALYSIS (trans);
  gboolean gap = gst_ccl_buffer_is_gap (inbuf), drawn;
  GstFlowReturn ret = gap ? GST_FLOW_OK : gst_ccl_analysis_process (self, inbuf, outbuf);
  GstCclFrame frame = { 0 };
  GError *error = NULL;

  if (ret != GST_FLOW_OK)
    return ret;
  if (!gst_ccl_frame_map (&frame, &self->output, outbuf, 1, GST_MAP_WRITE, &error)) {
    gst_ccl_analysis_post_error (self, error, outbuf);
    return GST_FLOW_ERROR;
  }
  drawn = GST_CCL_ANALYSIS_GET_CLASS (self)->draw (self, gap, (guint8 *) frame.planes[0].image.data,
                                                   frame.planes[0].image.stride);
  gst_ccl_frame_unmap (&frame);
  if (drawn && !gap && picture_is_segmented (self))
    drawn = GST_CCL_ANALYSIS_GET_CLASS (self)->segment (self, outbuf);

  return drawn ? GST_FLOW_OK : GST_FLOW_ERROR;
}

void
gst_ccl_picture_class_init (GstCclAnalysisClass *klass, GstCclDrawFunc draw,
                            GstCclSegmentFunc segment)
{
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);

  trans_class->transform_caps = GST_DEBUG_FUNCPTR (picture_transform_caps);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_propose_any_layout);
  trans_class->decide_allocation = GST_DEBUG_FUNCPTR (picture_decide_allocation);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR (picture_transform_meta);
  trans_class->transform = GST_DEBUG_FUNCPTR (picture_transform);

  klass->set_output = picture_set_output;
  klass->draw = draw;
  klass->segment = segment;
}
