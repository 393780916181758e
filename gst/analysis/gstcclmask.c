/* cudaccl - shows what moves in video frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/**
 * SECTION:element-cclmask
 * @title: cclmask
 * @short_description: turns the frames of a fixed camera into masks of what moves
 *
 * Does what `cclmotion` does, with the same properties, signals, messages and metadata, but outputs
 * a mask in GRAY8 for each frame: 255 for moving objects, 0 for the background, and with
 * #cclmotion:shadows `mark` 127 for shadows.
 *
 * Components that are not in the metadata are background: those outside of #cudaccl:min-area and
 * #cudaccl:max-area, and those dropped because of #cudaccl:max-components. Gaps without pixels
 * become black frames.
 *
 * Frames may be in any memory that `cudaccl` supports. Masks are in system memory, since GstCuda
 * does not support GRAY8.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! cclmask min-area=20 shadows=mark !
 * videoconvert ! autovideosink
 * ]|
 * Shows what moves in a recording.
 *
 * Since: 0.1
 */

#include <string.h>

#include "gstcclelements.h"
#include "gstcclmotionanalysis.h"
#include "gstcclpicture.h"

#define FOREGROUND 255
#define SHADOW 127

struct _GstCclMask
{
  GstCclMotionAnalysis parent;
};

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY8 }")));

G_DECLARE_FINAL_TYPE (GstCclMask, gst_ccl_mask, GST, CCL_MASK, GstCclMotionAnalysis)
G_DEFINE_TYPE (GstCclMask, gst_ccl_mask, GST_TYPE_CCL_MOTION_ANALYSIS)
GST_ELEMENT_REGISTER_DEFINE (cclmask, "cclmask", GST_RANK_NONE, gst_ccl_mask_get_type ())

static void
write_row (guint8 *pixels, const guint32 *labels, guint32 width)
{
  guint32 x;

  for (x = 0; x < width; x++)
    pixels[x] = labels[x] > 0 ? FOREGROUND : 0;
}

static void
write_shadows (guint8 *pixels, const guint64 *words, guint32 width)
{
  guint32 x;

  for (x = 0; x < width; x++) {
    if ((words[x / 64] >> x % 64 & 1) && pixels[x] == 0)
      pixels[x] = SHADOW;
  }
}

/* A gap is black. */
static gboolean
gst_ccl_mask_draw (GstCclAnalysis *analysis, gboolean gap, guint8 *pixels, gsize stride)
{
  guint32 y, width = (guint32) GST_VIDEO_INFO_WIDTH (&analysis->output);
  const CclMask *shadows = NULL;
  CclLabels labels;

  if (!gap && (!gst_ccl_analysis_get_labels (analysis, &labels) ||
               !gst_ccl_motion_analysis_get_shadows (GST_CCL_MOTION_ANALYSIS (analysis), &shadows)))
    return FALSE;

  for (y = 0; y < (guint32) GST_VIDEO_INFO_HEIGHT (&analysis->output); y++, pixels += stride) {
    if (gap)
      memset (pixels, 0, width);
    else
      write_row (pixels, (const guint32 *) ((const guint8 *) labels.data + y * labels.stride),
                 width);
    if (shadows)
      write_shadows (pixels, shadows->words + y * shadows->pitch, width);
  }

  return TRUE;
}

static void
gst_ccl_mask_class_init (GstCclMaskClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);

  gst_element_class_set_static_metadata (
      element_class, "Masks of moving objects", "Filter/Converter/Video",
      "Turns the frames of a fixed camera into masks of what moves", "The cudaccl authors");
  gst_ccl_analysis_class_add_sink_template (GST_CCL_ANALYSIS_CLASS (klass));
  gst_element_class_add_static_pad_template (element_class, &src_template);

  gst_ccl_picture_class_init (GST_CCL_ANALYSIS_CLASS (klass), gst_ccl_mask_draw);
}

static void
gst_ccl_mask_init (GstCclMask *self)
{
}
