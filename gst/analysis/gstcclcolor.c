/* cudaccl - shows the connected components of video frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclcolor
 * @title: cclcolor
 * @short_description: shows the connected components of video frames as colours or labels
 *
 * Does what `cudaccl` does, with the same properties, messages and metadata, but outputs a new
 * picture for each frame: each component in its own colour, for display, or the label of each
 * pixel, for programs. The downstream caps select which.
 *
 * ## Colours
 *
 * In RGB formats, each component has the colour that gst_ccl_label_get_color() returns for its
 * label, and the background is black. Nearby labels have very different colours, which repeat after
 * 2584 labels. Labels are numbered anew in each frame: the colour of an object changes when another
 * one appears above it.
 *
 * ## Labels
 *
 * In the formats GRAY16_LE and GRAY16_BE, the value of a pixel is the label of its component: 1 for
 * the first one in the metadata, 2 for the second, and so on, and 0 for the background. Labels
 * above 65535 become 65535.
 *
 * ## Segmentation
 *
 * With #cudaccl:attach `analytics` (GStreamer 1.26), the picture also gets an instance
 * `GstAnalyticsSegmentationMtd`: a mask in GRAY16_LE or, if it is the picture, GRAY16_BE, whose
 * regions are 0, the background, and the labels.
 *
 * ## Background
 *
 * Components that are not in the metadata are background: those outside of the limits, such as
 * #cudaccl:min-area, and those dropped because of #cudaccl:max-components. With
 * #cudaccl:morphology, the picture shows the result of the operations. Gaps without pixels become
 * black frames.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 videotestsrc pattern=snow num-buffers=100 !
 * video/x-raw,format=GRAY8,width=80,height=60 ! cclcolor threshold=160 !
 * videoscale method=nearest-neighbour ! video/x-raw,width=640,height=480 ! videoconvert !
 * autovideosink
 * ]|
 * Shows the components of noise.
 * |[
 * gst-launch-1.0 filesrc location=mask.png ! decodebin ! videoconvert !
 * video/x-raw,format=GRAY8 ! cclcolor max-components=65535 !
 * video/x-raw,format=GRAY16_BE ! pngenc ! filesink location=labels.png
 * ]|
 * Writes the labels of a mask to a 16-bit PNG file.
 *
 * Since: 0.1
 */

#include <string.h>
#include <gst/base/gstcclregister.h>
#include <gst/base/gstcclutils.h>
#include <gst/ccl/gstccl.h>

#include "gstcclelements.h"
#include "gstcclpicture.h"
#include "gstcclsegmentation.h"
#include "memory/gstcclsystem.h"

#define SRC_CAPS        \
  GST_VIDEO_CAPS_MAKE ( \
      "{ RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR, RGB, BGR, GRAY16_LE, GRAY16_BE }")

#define N_LABELS (1 + G_MAXUINT16) /* including the background, in label formats */

struct _GstCclColor
{
  GstCclAnalysis parent;

  /* Streaming thread: pixel value of each label in the output format; label 0 is the background. */
  guint8 (*values)[4];
  CclPalette palette;

  guint8 (*labels)[4];  /* the same for masks of segmentations; NULL before the first */
  GstBufferPool *masks; /* of the size of the output, or NULL */
  guint n_labels;       /* of the last frame, with the background */
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_CCL_SYSTEM_FORMATS)));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (SRC_CAPS));

#define gst_ccl_color_parent_class parent_class
G_DECLARE_FINAL_TYPE (GstCclColor, gst_ccl_color, GST, CCL_COLOR, GstCclAnalysis)
G_DEFINE_TYPE (GstCclColor, gst_ccl_color, GST_TYPE_CCL_ANALYSIS)
GST_CCL_REGISTER_DEFINE (cclcolor, gst_ccl_color_get_type ())

static void
write_labels (guint8 (*values)[4], gboolean little_endian)
{
  guint label;

  for (label = 0; label < N_LABELS; label++) {
    if (little_endian)
      GST_WRITE_UINT16_LE (values[label], label);
    else
      GST_WRITE_UINT16_BE (values[label], label);
  }
}

/* Makes the pixel values for the output format. */
static void
gst_ccl_color_make_palette (GstCclColor *self)
{
  const GstVideoFormatInfo *format = self->parent.output.finfo;
  gboolean rgb = GST_VIDEO_FORMAT_INFO_IS_RGB (format);
  guint label, component, n = rgb ? 1 + GST_CCL_N_COLORS : N_LABELS;

  self->values = g_realloc_n (self->values, n, sizeof (*self->values));
  self->palette = (CclPalette){ .values = self->values[0],
                                .n = n,
                                .size = (guint) GST_VIDEO_FORMAT_INFO_PSTRIDE (format, 0),
                                .repeats = rgb };
  memset (self->values, 255, n * sizeof (*self->values)); /* alpha and padding */
  if (!rgb) {
    write_labels (self->values, GST_VIDEO_FORMAT_INFO_IS_LE (format));
    return;
  }
  for (label = 0; label < n; label++) {
    guint8 *value = self->values[label];
    guint32 color;

    color = gst_ccl_label_get_color (label);
    for (component = GST_VIDEO_COMP_R; component <= GST_VIDEO_COMP_B; component++)
      value[GST_VIDEO_FORMAT_INFO_POFFSET (format, component)] =
          (guint8) (color >> (16 - 8 * component));
  }
}

static void
gst_ccl_color_clear_masks (GstCclColor *self)
{
  if (self->masks)
    gst_buffer_pool_set_active (self->masks, FALSE);
  gst_clear_object (&self->masks);
}

static gboolean
gst_ccl_color_stop (GstBaseTransform *trans)
{
  gst_ccl_color_clear_masks (GST_CCL_COLOR (trans));
  g_clear_pointer (&GST_CCL_COLOR (trans)->labels, g_free);

  return GST_BASE_TRANSFORM_CLASS (parent_class)->stop (trans);
}

static gboolean
gst_ccl_color_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  if (!GST_BASE_TRANSFORM_CLASS (parent_class)->set_caps (trans, incaps, outcaps))
    return FALSE;
  gst_ccl_color_make_palette (GST_CCL_COLOR (trans));
  gst_ccl_color_clear_masks (GST_CCL_COLOR (trans));

  return TRUE;
}

/* A gap is all background. */
static gboolean
gst_ccl_color_draw (GstCclAnalysis *analysis, gboolean gap, guint8 *pixels, gsize stride)
{
  const GstVideoInfo *info = &analysis->output;
  const CclPalette *palette = &GST_CCL_COLOR (analysis)->palette;
  gint x, y;

  if (!gap)
    return gst_ccl_analysis_check (
        analysis, ccl_analyzer_paint (analysis->session.analyzer, palette, pixels, stride));

  for (y = 0; y < GST_VIDEO_INFO_HEIGHT (info); y++, pixels += stride)
    for (x = 0; x < GST_VIDEO_INFO_WIDTH (info); x++)
      memcpy (pixels + (gsize) x * palette->size, palette->values, palette->size);

  return TRUE;
}

/* Makes the pool of masks, in GRAY16_LE of the size of the output. Returns FALSE if it cannot. */
static gboolean
gst_ccl_color_ensure_masks (GstCclColor *self)
{
  const GstVideoInfo *output = &self->parent.output;
  GstStructure *config;
  GstVideoInfo info;
  gboolean active;
  GstCaps *caps;

  if (self->masks)
    return TRUE;

  gst_video_info_set_format (&info, GST_VIDEO_FORMAT_GRAY16_LE,
                             (guint) GST_VIDEO_INFO_WIDTH (output),
                             (guint) GST_VIDEO_INFO_HEIGHT (output));
  self->masks = gst_video_buffer_pool_new ();
  config = gst_buffer_pool_get_config (self->masks);
  caps = gst_video_info_to_caps (&info);
  gst_buffer_pool_config_set_params (config, caps, (guint) GST_VIDEO_INFO_SIZE (&info), 0, 0);
  gst_buffer_pool_config_add_option (config, GST_BUFFER_POOL_OPTION_VIDEO_META);
  active = gst_buffer_pool_set_config (self->masks, config) &&
           gst_buffer_pool_set_active (self->masks, TRUE);
  gst_caps_unref (caps);
  if (!active)
    gst_ccl_color_clear_masks (self);

  return active;
}

/* Returns the labels of the last frame as a mask, or NULL after an error. */
static GstBuffer *
gst_ccl_color_draw_labels (GstCclColor *self)
{
  GstBuffer *mask = NULL;
  CclPalette palette = { .n = N_LABELS, .size = 2 };
  GstVideoMeta *video;
  GstMapInfo map;
  gboolean drawn;

  if (!self->labels) {
    self->labels = g_malloc0_n (N_LABELS, sizeof (*self->labels));
    write_labels (self->labels, TRUE);
  }
  palette.values = self->labels[0];
  if (!gst_ccl_color_ensure_masks (self) ||
      gst_buffer_pool_acquire_buffer (self->masks, &mask, NULL) != GST_FLOW_OK ||
      !gst_buffer_map (mask, &map, GST_MAP_WRITE)) {
    GST_ELEMENT_ERROR (self, RESOURCE, NO_SPACE_LEFT, ("Not enough memory for a mask."), (NULL));
    gst_clear_buffer (&mask);
    return NULL;
  }
  video = gst_buffer_get_video_meta (mask);
  drawn = gst_ccl_analysis_check (
      &self->parent, ccl_analyzer_paint (self->parent.session.analyzer, &palette,
                                         map.data + video->offset[0], (gsize) video->stride[0]));
  gst_buffer_unmap (mask, &map);
  if (!drawn)
    gst_clear_buffer (&mask);

  return mask;
}

static void
gst_ccl_color_review (GstCclAnalysis *analysis, const CclComponents *components)
{
  GST_CCL_COLOR (analysis)->n_labels = MIN (components->count + 1, N_LABELS);
}

static gboolean
gst_ccl_color_segment (GstCclAnalysis *analysis, GstBuffer *outbuf)
{
  GstCclColor *self = GST_CCL_COLOR (analysis);
  const GstVideoInfo *output = &analysis->output;
  GstBuffer *mask = GST_VIDEO_INFO_IS_RGB (output) ? gst_ccl_color_draw_labels (self)
                                                   : gst_ccl_segmentation_share (outbuf, output);

  if (mask)
    gst_ccl_segmentation_add_instances (outbuf, mask, self->n_labels);

  return mask != NULL;
}

static void
gst_ccl_color_finalize (GObject *object)
{
  gst_ccl_color_clear_masks (GST_CCL_COLOR (object));
  g_free (GST_CCL_COLOR (object)->labels);
  g_free (GST_CCL_COLOR (object)->values);

  G_OBJECT_CLASS (parent_class)->finalize (object);
}

static void
gst_ccl_color_class_init (GstCclColorClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  gst_ccl_install_mask_properties (G_OBJECT_CLASS (klass), GST_CCL_SETTINGS_OFFSET);
  gst_element_class_set_static_metadata (
      element_class, "Connected components in colours", "Filter/Converter/Video/Hardware",
      "Shows the connected components of video frames as colours or labels", "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  G_OBJECT_CLASS (klass)->finalize = gst_ccl_color_finalize;
  GST_CCL_ANALYSIS_CLASS (klass)->needs = GST_CCL_NEEDS_LABELS;
  gst_ccl_picture_class_init (GST_CCL_ANALYSIS_CLASS (klass), gst_ccl_color_draw,
                              gst_ccl_color_segment);
  GST_CCL_ANALYSIS_CLASS (klass)->review = gst_ccl_color_review;
  GST_BASE_TRANSFORM_CLASS (klass)->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_color_set_caps);
  GST_BASE_TRANSFORM_CLASS (klass)->stop = GST_DEBUG_FUNCPTR (gst_ccl_color_stop);
}

static void
gst_ccl_color_init (GstCclColor *self)
{
}
