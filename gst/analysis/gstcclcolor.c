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
#include <gst/ccl/gstccl.h>
#include <gst/common/gstcclutils.h>

#include "gstcclelements.h"
#include "gstcclpicture.h"
#include "memory/gstcclsystem.h"

#define SRC_CAPS        \
  GST_VIDEO_CAPS_MAKE ( \
      "{ RGBx, BGRx, xRGB, xBGR, RGBA, BGRA, ARGB, ABGR, RGB, BGR, GRAY16_LE, GRAY16_BE }")

#define MAX_PIXEL_SIZE 4 /* bytes */

struct _GstCclColor
{
  GstCclAnalysis parent;

  /* Streaming thread: the colour of each label in the output format, 0 being the background. */
  guint8 colors[1 + GST_CCL_N_COLORS][MAX_PIXEL_SIZE];
};

static GstStaticPadTemplate sink_template =
    GST_STATIC_PAD_TEMPLATE ("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                             GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE (GST_CCL_SYSTEM_FORMATS)));

static GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE ("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (SRC_CAPS));

#define gst_ccl_color_parent_class parent_class
G_DECLARE_FINAL_TYPE (GstCclColor, gst_ccl_color, GST, CCL_COLOR, GstCclAnalysis)
G_DEFINE_TYPE (GstCclColor, gst_ccl_color, GST_TYPE_CCL_ANALYSIS)
GST_ELEMENT_REGISTER_DEFINE (cclcolor, "cclcolor", GST_RANK_NONE, gst_ccl_color_get_type ())

/* Fills the table of colours for the output format. */
static void
gst_ccl_color_make_colors (GstCclColor *self)
{
  const GstVideoFormatInfo *format = self->parent.output.finfo;
  guint label, component;

  if (!GST_VIDEO_FORMAT_INFO_IS_RGB (format))
    return;

  memset (self->colors, 255, sizeof (self->colors)); /* alpha and padding */
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
  if (!GST_BASE_TRANSFORM_CLASS (parent_class)->set_caps (trans, incaps, outcaps))
    return FALSE;
  gst_ccl_color_make_colors (GST_CCL_COLOR (trans));

  return TRUE;
}

static const guint8 *
get_color (const GstCclColor *self, guint32 label)
{
  return self->colors[label <= GST_CCL_N_COLORS ? label : (label - 1) % GST_CCL_N_COLORS + 1];
}

/* Pixels have 3 or 4 bytes. Always copying 4 is faster: the next pixel overwrites the excess byte,
 * and the last pixel is copied on its own. */
static void
write_colors (const GstCclColor *self, guint8 *pixels, const guint32 *labels)
{
  guint size = (guint) GST_VIDEO_INFO_COMP_PSTRIDE (&self->parent.output, 0);
  guint x, last = (guint) GST_VIDEO_INFO_WIDTH (&self->parent.output) - 1;

  for (x = 0; x < last; x++, pixels += size)
    memcpy (pixels, get_color (self, labels[x]), MAX_PIXEL_SIZE);
  memcpy (pixels, get_color (self, labels[last]), size);
}

static void
write_labels (const GstVideoInfo *info, guint8 *pixels, const guint32 *labels)
{
  guint x, width = (guint) GST_VIDEO_INFO_WIDTH (info);

  if (GST_VIDEO_FORMAT_INFO_IS_LE (info->finfo)) {
    for (x = 0; x < width; x++)
      GST_WRITE_UINT16_LE (pixels + 2 * x, MIN (labels[x], G_MAXUINT16));
  } else {
    for (x = 0; x < width; x++)
      GST_WRITE_UINT16_BE (pixels + 2 * x, MIN (labels[x], G_MAXUINT16));
  }
}

/* A gap is all background. */
static gboolean
gst_ccl_color_draw (GstCclAnalysis *analysis, gboolean gap, guint8 *pixels, gsize stride)
{
  const GstVideoInfo *info = &analysis->output;
  guint32 *background = gap ? g_new0 (guint32, GST_VIDEO_INFO_WIDTH (info)) : NULL;
  CclLabels labels = { background, 0 };
  const guint8 *row;
  gint y;

  if (!gap &&
      !gst_ccl_analysis_check (analysis, ccl_analyzer_labels (analysis->session.analyzer, &labels)))
    return FALSE;

  row = (const guint8 *) labels.data;
  for (y = 0; y < GST_VIDEO_INFO_HEIGHT (info); y++, pixels += stride, row += labels.stride) {
    if (GST_VIDEO_INFO_IS_RGB (info))
      write_colors (GST_CCL_COLOR (analysis), pixels, (const guint32 *) row);
    else
      write_labels (info, pixels, (const guint32 *) row);
  }
  g_free (background);

  return TRUE;
}

static void
gst_ccl_color_class_init (GstCclColorClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  gst_ccl_analysis_class_install_properties (GST_CCL_ANALYSIS_CLASS (klass),
                                             gst_ccl_install_mask_properties);
  gst_element_class_set_static_metadata (
      element_class, "Connected components in colours", "Filter/Converter/Video/Hardware",
      "Shows the connected components of video frames as colours or labels", "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &sink_template);
  gst_element_class_add_static_pad_template (element_class, &src_template);

  GST_CCL_ANALYSIS_CLASS (klass)->needs = GST_CCL_NEEDS_LABELS;
  gst_ccl_picture_class_init (GST_CCL_ANALYSIS_CLASS (klass), gst_ccl_color_draw);
  GST_BASE_TRANSFORM_CLASS (klass)->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_color_set_caps);
}

static void
gst_ccl_color_init (GstCclColor *self)
{
}
