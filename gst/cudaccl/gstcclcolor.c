/* cudaccl - shows the connected components of video frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclcolor
 * @title: cclcolor
 * @short_description: shows the connected components of video frames in colours or as numbers
 *
 * Does what `cudaccl` does, with the same properties, messages and metadata, and makes a new
 * picture of each frame: the pixels of every component in a colour of its own, for people who want
 * to see what was found, or as numbers, for programs that want to know which pixel belongs to what.
 * The caps downstream decide which.
 *
 * ## Colours
 *
 * In RGB formats, components have the colour that gst_ccl_label_get_color() gives their label, and
 * everything else is black. Labels that are next to each other have very different colours; after
 * 2584 labels they repeat. As labels count the components of a frame, the colour of a thing changes
 * when another appears above it.
 *
 * ## Numbers
 *
 * In the formats GRAY16_LE and GRAY16_BE, the value of a pixel is the label of its component: 1 for
 * the first one in the metadata, 2 for the second and so on, and 0 elsewhere. Labels above 65535
 * become 65535.
 *
 * ## What is left out
 *
 * Components that the metadata does not have are background: those that #cudaccl:min-area and
 * #cudaccl:max-area drop, and those for which #cudaccl:max-components leaves no room. Gaps without
 * pixels become black frames.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc pattern=snow num-buffers=100 ! video/x-raw,width=80,height=60 !
 * cclcolor threshold=160 ! videoscale method=nearest-neighbour ! video/x-raw,width=640,height=480 !
 * videoconvert ! autovideosink
 * ]|
 * Shows what noise is made of.
 * |[
 * gst-launch-1.0 filesrc location=mask.png ! decodebin ! videoconvert ! cclcolor
 * max-components=65535 ! video/x-raw,format=GRAY16_BE ! pngenc ! filesink location=labels.png
 * ]|
 * Writes a mask's labels into a file with 16 bits a pixel.
 *
 * Since: 0.1
 */

#include "gstcclcolor.h"

#include <string.h>
#include <gst/ccl/gstccl.h>
#include <gst/common/gstcclutils.h>

GST_DEBUG_CATEGORY_STATIC (gst_ccl_color_debug);
#define GST_CAT_DEFAULT gst_ccl_color_debug

#define SRC_CAPS        \
  GST_VIDEO_CAPS_MAKE ( \
      "{ RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR, RGB, BGR, GRAY16_LE, GRAY16_BE }")

#define PIXEL_MAX 4 /* bytes */

typedef struct
{
  GstCudaCcl parent;

  /* The streaming thread's: what pictures are like, and the colours by label, as they lie in
   * memory; the first is the background's. */
  GstVideoInfo info;
  guint8 colors[1 + GST_CCL_N_COLORS][PIXEL_MAX];
} GstCclColor;

typedef struct
{
  GstCudaCclClass parent_class;
} GstCclColorClass;

static GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE (
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_CUDA_CCL_CAPS));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (SRC_CAPS));

#define gst_ccl_color_parent_class parent_class
G_DEFINE_TYPE_WITH_CODE (GstCclColor, gst_ccl_color, GST_TYPE_CUDA_CCL,
                         GST_DEBUG_CATEGORY_INIT (gst_ccl_color_debug, "cclcolor", 0,
                                                  "connected components in colours"))
GST_ELEMENT_REGISTER_DEFINE (cclcolor, "cclcolor", GST_RANK_NONE, GST_TYPE_CCL_COLOR)

static GstCaps *gst_ccl_color_transform_caps (GstBaseTransform *trans, GstPadDirection direction,
                                              GstCaps *caps, GstCaps *filter);
static gboolean gst_ccl_color_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps);
static gboolean gst_ccl_color_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query,
                                                  GstQuery *query);
static gboolean gst_ccl_color_decide_allocation (GstBaseTransform *trans, GstQuery *query);
static gboolean gst_ccl_color_transform_meta (GstBaseTransform *trans, GstBuffer *outbuf,
                                              GstMeta *meta, GstBuffer *inbuf);
static GstFlowReturn gst_ccl_color_transform (GstBaseTransform *trans, GstBuffer *inbuf,
                                              GstBuffer *outbuf);

static void
gst_ccl_color_class_init (GstCclColorClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstBaseTransformClass *base_class = g_type_class_peek (GST_TYPE_BASE_TRANSFORM);

  GST_CUDA_CCL_CLASS (klass)->labels = TRUE;

  gst_element_class_set_static_metadata (
      element_class, "Connected components in colours", "Filter/Converter/Video/Hardware",
      "Shows the connected components of video frames in colours or as numbers",
      "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_ccl_color_transform_caps);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_color_set_caps);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_color_propose_allocation);
  trans_class->decide_allocation = GST_DEBUG_FUNCPTR (gst_ccl_color_decide_allocation);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR (gst_ccl_color_transform_meta);
  trans_class->transform = GST_DEBUG_FUNCPTR (gst_ccl_color_transform);

  /* Frames do not pass through, as they do in the parent class. */
  trans_class->prepare_output_buffer = base_class->prepare_output_buffer;
  trans_class->transform_ip = NULL;
}

static void
gst_ccl_color_init (GstCclColor *self)
{
  gst_video_info_init (&self->info);

  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), FALSE);
}

/* Everything stays but the format, and what says how its values are meant. */
static GstCaps *
gst_ccl_color_transform_caps (GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
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

/* A pixel of each colour. */
static void
gst_ccl_color_make_colors (GstCclColor *self)
{
  const GstVideoFormatInfo *format = self->info.finfo;
  guint label, component;

  if (!GST_VIDEO_FORMAT_INFO_IS_RGB (format))
    return;

  memset (self->colors, 255, sizeof (self->colors)); /* alpha, and what is not used */
  for (label = 0; label <= GST_CCL_N_COLORS; label++) {
    guint32 color = gst_ccl_label_get_color (label);

    for (component = GST_VIDEO_COMP_R; component <= GST_VIDEO_COMP_B; component++)
      self->colors[label][GST_VIDEO_FORMAT_INFO_POFFSET (format, component)] =
          (guint8) (color >> (16 - 8 * component));
  }
}

static gboolean
gst_ccl_color_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclColor *self = GST_CCL_COLOR (trans);

  /* Strides are ints, and sizes in pools guints: GStreamer does not say when they overflow. */
  if (!gst_video_info_from_caps (&self->info, outcaps) ||
      GST_VIDEO_INFO_PLANE_STRIDE (&self->info, 0) <= 0 ||
      GST_VIDEO_INFO_SIZE (&self->info) > G_MAXUINT) {
    GST_ELEMENT_ERROR (self, STREAM, FORMAT,
                       ("There cannot be pictures of this size; use smaller frames."),
                       ("%" GST_PTR_FORMAT, outcaps));
    return FALSE;
  }

  gst_ccl_color_make_colors (self);

  return GST_BASE_TRANSFORM_CLASS (parent_class)->set_caps (trans, incaps, outcaps);
}

/* Frames end here, and they may lie as they like. */
static gboolean
gst_ccl_color_propose_allocation (GstBaseTransform *trans, GstQuery *decide_query, GstQuery *query)
{
  gst_ccl_allow_any_layout (query);

  return TRUE;
}

/* The pool that downstream wants, or one of our own: pictures are too large to be allocated each.
 */
static gboolean
gst_ccl_color_decide_allocation (GstBaseTransform *trans, GstQuery *query)
{
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

  return GST_BASE_TRANSFORM_CLASS (parent_class)->decide_allocation (trans, query);
}

/* What is known of the frame is true of the picture, but for how pixels lie and are meant. */
static gboolean
gst_ccl_color_transform_meta (GstBaseTransform *trans, GstBuffer *outbuf, GstMeta *meta,
                              GstBuffer *inbuf)
{
  static const gchar *const kept[] = { GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                       GST_META_TAG_VIDEO_ORIENTATION_STR, NULL };
  const gchar *const *tags = gst_meta_api_type_get_tags (meta->info->api);

  /* The picture is what is left after cropping. */
  if (meta->info->api == GST_VIDEO_CROP_META_API_TYPE)
    return FALSE;

  for (; tags && *tags; tags++) {
    if (!g_strv_contains (kept, *tags))
      return FALSE;
  }

  return TRUE;
}

static const guint8 *
color_of (const GstCclColor *self, guint32 label)
{
  return self->colors[label <= GST_CCL_N_COLORS ? label : (label - 1) % GST_CCL_N_COLORS + 1];
}

/* Pixels have 3 or 4 bytes. All four of a colour are copied, in order, as that is faster: the next
 * pixel covers what is too many, and the last one gets no more than it has. */
static void
gst_ccl_color_paint_colors (const GstCclColor *self, guint8 *pixels, const guint32 *labels)
{
  guint size = (guint) GST_VIDEO_INFO_COMP_PSTRIDE (&self->info, 0);
  guint x, last = (guint) GST_VIDEO_INFO_WIDTH (&self->info) - 1;

  for (x = 0; x < last; x++, pixels += size)
    memcpy (pixels, color_of (self, labels[x]), PIXEL_MAX);
  memcpy (pixels, color_of (self, labels[last]), size);
}

static void
gst_ccl_color_paint_numbers (const GstCclColor *self, guint8 *pixels, const guint32 *labels)
{
  guint x, width = (guint) GST_VIDEO_INFO_WIDTH (&self->info);

  if (GST_VIDEO_FORMAT_INFO_IS_LE (self->info.finfo)) {
    for (x = 0; x < width; x++)
      GST_WRITE_UINT16_LE (pixels + 2 * x, MIN (labels[x], G_MAXUINT16));
  } else {
    for (x = 0; x < width; x++)
      GST_WRITE_UINT16_BE (pixels + 2 * x, MIN (labels[x], G_MAXUINT16));
  }
}

static GstFlowReturn
gst_ccl_color_paint (GstCclColor *self, const CclLabels *labels, GstBuffer *buffer)
{
  const guint8 *row = (const guint8 *) labels->data;
  GstVideoFrame frame;
  gint y;

  if (!gst_video_frame_map (&frame, &self->info, buffer, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, WRITE,
                       ("The memory of a picture could not be mapped for writing."),
                       ("%" GST_PTR_FORMAT, buffer));
    return GST_FLOW_ERROR;
  }

  for (y = 0; y < GST_VIDEO_FRAME_HEIGHT (&frame); y++, row += labels->stride) {
    guint8 *pixels = (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (&frame, 0) +
                     (gssize) y * GST_VIDEO_FRAME_PLANE_STRIDE (&frame, 0);

    if (GST_VIDEO_INFO_IS_RGB (&self->info))
      gst_ccl_color_paint_colors (self, pixels, (const guint32 *) row);
    else
      gst_ccl_color_paint_numbers (self, pixels, (const guint32 *) row);
  }
  gst_video_frame_unmap (&frame);

  return GST_FLOW_OK;
}

/* All of it is background. */
static GstFlowReturn
gst_ccl_color_paint_gap (GstCclColor *self, GstBuffer *buffer)
{
  guint32 *row = g_new0 (guint32, GST_VIDEO_INFO_WIDTH (&self->info));
  CclLabels labels = { row, 0 };
  GstFlowReturn ret = gst_ccl_color_paint (self, &labels, buffer);

  g_free (row);

  return ret;
}

static GstFlowReturn
gst_ccl_color_transform (GstBaseTransform *trans, GstBuffer *inbuf, GstBuffer *outbuf)
{
  GstCclColor *self = GST_CCL_COLOR (trans);
  CclLabels labels;
  GstFlowReturn ret;

  if (!gst_cuda_ccl_has_pixels (inbuf))
    return gst_ccl_color_paint_gap (self, outbuf);

  ret = gst_cuda_ccl_process (GST_CUDA_CCL (self), inbuf, outbuf);
  if (ret != GST_FLOW_OK)
    return ret;
  if (!gst_cuda_ccl_get_labels (GST_CUDA_CCL (self), &labels))
    return GST_FLOW_ERROR;

  return gst_ccl_color_paint (self, &labels, outbuf);
}
