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
 * The mask is what is analysed, after #cclmotion:morphology and regions. Limits of components, such
 * as #cudaccl:min-area, apply to the metadata alone; `dropN` in #cclmotion:morphology removes small
 * objects from both. Gaps without pixels become black frames.
 *
 * With #cudaccl:attach `analytics` (GStreamer 1.26), the mask is also a semantic
 * `GstAnalyticsSegmentationMtd` of itself, whose regions 0, 255 and, with shadows, 127 have the
 * classes `background`, `moving` and `shadow`.
 *
 * Frames may be in any memory that `cudaccl` supports. Masks are in system memory, since GstCuda
 * does not support GRAY8.
 *
 * ## Example launch lines
 * |[
 * gst-launch-1.0 filesrc location=vtest.avi ! decodebin ! cclmask shadows=mark !
 * videoconvert ! autovideosink
 * ]|
 * Shows what moves in a recording.
 *
 * Since: 0.1
 */

#include <string.h>
#include <cudaccl/mask.h>
#include <gst/base/gstcclregister.h>

#include "gstcclelements.h"
#include "gstcclmotionanalysis.h"
#include "gstcclpicture.h"
#include "gstcclsegmentation.h"

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
GST_CCL_REGISTER_DEFINE (cclmask, gst_ccl_mask_get_type ())

/* Marks the pixels of @shadows that are not foreground: operations may have filled them. */
static void
write_shadows (guint8 *pixels, gsize stride, const CclMask *mask, const CclMask *shadows)
{
  guint32 y, w;

  for (y = 0; y < mask->height; y++, pixels += stride) {
    for (w = 0; w < ccl_mask_words (mask->width); w++) {
      guint64 bits = shadows->words[y * shadows->pitch + w] & ~mask->words[y * mask->pitch + w];

      for (; bits; bits &= bits - 1)
        pixels[w * 64 + (guint) __builtin_ctzll (bits)] = SHADOW;
    }
  }
}

/* A gap is black. */
static gboolean
gst_ccl_mask_draw (GstCclAnalysis *analysis, gboolean gap, guint8 *pixels, gsize stride)
{
  gint height = GST_VIDEO_INFO_HEIGHT (&analysis->output);
  CclAnalyzer *analyzer = analysis->session.analyzer;
  CclMask mask, shadows;

  if (gap) {
    for (; height > 0; height--, pixels += stride)
      memset (pixels, 0, (gsize) GST_VIDEO_INFO_WIDTH (&analysis->output));
    return TRUE;
  }

  if (!gst_ccl_analysis_check (analysis, ccl_analyzer_mask (analyzer, &mask)))
    return FALSE;
  ccl_mask_unpack (&mask, pixels, stride, FOREGROUND);
  if (GST_CCL_MOTION_ANALYSIS (analysis)->marked) {
    if (!gst_ccl_analysis_check (analysis, ccl_analyzer_shadows (analyzer, &shadows)))
      return FALSE;
    write_shadows (pixels, stride, &mask, &shadows);
  }

  return TRUE;
}

static gboolean
gst_ccl_mask_segment (GstCclAnalysis *analysis, GstBuffer *outbuf)
{
  static const guint ids[] = { 0, FOREGROUND, SHADOW };
  static const gchar *const names[] = { "background", "moving", "shadow" };
  const gboolean marked = GST_CCL_MOTION_ANALYSIS (analysis)->marked;

  gst_ccl_segmentation_add_classes (outbuf, gst_ccl_segmentation_share (outbuf, &analysis->output),
                                    ids, names, marked ? 3 : 2);

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

  gst_ccl_picture_class_init (GST_CCL_ANALYSIS_CLASS (klass), gst_ccl_mask_draw,
                              gst_ccl_mask_segment);
  GST_CCL_ANALYSIS_CLASS (klass)->needs |= GST_CCL_NEEDS_MASKS;
}

static void
gst_ccl_mask_init (GstCclMask *self)
{
}
