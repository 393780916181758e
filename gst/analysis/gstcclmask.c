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

#include "gstcclmask.h"

#include <string.h>
#include <gst/common/gstcclutils.h>

#include "gstcclpicture.h"

GST_DEBUG_CATEGORY_STATIC (gst_ccl_mask_debug);
#define GST_CAT_DEFAULT gst_ccl_mask_debug

#define FOREGROUND 255
#define SHADOW 127

typedef struct
{
  GstCclMotion parent;

  GstVideoInfo info; /* streaming thread: the output format */
} GstCclMask;

typedef struct
{
  GstCclMotionClass parent_class;
} GstCclMaskClass;

static GstStaticPadTemplate src_template = GST_STATIC_PAD_TEMPLATE (
    "src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS (GST_VIDEO_CAPS_MAKE ("{ GRAY8 }")));

#define gst_ccl_mask_parent_class parent_class
G_DEFINE_TYPE (GstCclMask, gst_ccl_mask, GST_TYPE_CCL_MOTION)
GST_ELEMENT_REGISTER_DEFINE (cclmask, "cclmask", GST_RANK_NONE, GST_TYPE_CCL_MASK)

static gboolean gst_ccl_mask_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps);
static GstFlowReturn gst_ccl_mask_transform (GstBaseTransform *trans, GstBuffer *inbuf,
                                             GstBuffer *outbuf);

static void
gst_ccl_mask_class_init (GstCclMaskClass *klass)
{
  GstElementClass *element_class = GST_ELEMENT_CLASS (klass);
  GstBaseTransformClass *trans_class = GST_BASE_TRANSFORM_CLASS (klass);
  GstBaseTransformClass *base_class = g_type_class_peek (GST_TYPE_BASE_TRANSFORM);

  gst_element_class_set_static_metadata (
      element_class, "Masks of moving objects", "Filter/Converter/Video",
      "Turns the frames of a fixed camera into masks of what moves", "The cudaccl authors");
  gst_element_class_add_static_pad_template (element_class, &src_template);

  trans_class->transform_caps = GST_DEBUG_FUNCPTR (gst_ccl_picture_transform_caps);
  trans_class->set_caps = GST_DEBUG_FUNCPTR (gst_ccl_mask_set_caps);
  trans_class->propose_allocation = GST_DEBUG_FUNCPTR (gst_ccl_propose_any_layout);
  trans_class->decide_allocation = GST_DEBUG_FUNCPTR (gst_ccl_picture_decide_allocation);
  trans_class->transform_meta = GST_DEBUG_FUNCPTR (gst_ccl_picture_transform_meta);
  trans_class->transform = GST_DEBUG_FUNCPTR (gst_ccl_mask_transform);

  /* Unlike in the parent class, frames do not pass through. */
  trans_class->prepare_output_buffer = base_class->prepare_output_buffer;
  trans_class->transform_ip = NULL;

  GST_CUDA_CCL_CLASS (klass)->labels = TRUE;

  GST_DEBUG_CATEGORY_INIT (gst_ccl_mask_debug, "cclmask", 0, "masks of moving objects");
}

static void
gst_ccl_mask_init (GstCclMask *self)
{
  gst_video_info_init (&self->info);

  gst_base_transform_set_in_place (GST_BASE_TRANSFORM (self), FALSE);
}

static gboolean
gst_ccl_mask_set_caps (GstBaseTransform *trans, GstCaps *incaps, GstCaps *outcaps)
{
  GstCclMask *self = GST_CCL_MASK (trans);
  GstVideoInfo info;

  if (!gst_ccl_picture_get_info (GST_ELEMENT (self), outcaps, &info) ||
      !GST_BASE_TRANSFORM_CLASS (parent_class)->set_caps (trans, incaps, outcaps))
    return FALSE;

  self->info = info;

  return TRUE;
}

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

/* Without @labels, the mask is black. */
static GstFlowReturn
gst_ccl_mask_write (GstCclMask *self, const CclLabels *labels, const CclMask *shadows,
                    GstBuffer *buffer)
{
  GstCclFrame frame = { 0 };
  guint8 *pixels;
  guint32 y, width = (guint32) GST_VIDEO_INFO_WIDTH (&self->info);

  pixels = gst_ccl_picture_map (GST_ELEMENT (self), &self->info, buffer, &frame);
  if (!pixels)
    return GST_FLOW_ERROR;

  for (y = 0; y < (guint32) GST_VIDEO_INFO_HEIGHT (&self->info); y++) {
    if (labels)
      write_row (pixels, (const guint32 *) ((const guint8 *) labels->data + y * labels->stride),
                 width);
    else
      memset (pixels, 0, width);
    if (shadows)
      write_shadows (pixels, shadows->words + y * shadows->pitch, width);
    pixels += frame.image.stride;
  }
  gst_ccl_frame_unmap_plane (&frame);

  return GST_FLOW_OK;
}

static GstFlowReturn
gst_ccl_mask_transform (GstBaseTransform *trans, GstBuffer *inbuf, GstBuffer *outbuf)
{
  GstCclMask *self = GST_CCL_MASK (trans);
  const CclMask *shadows;
  GError *error = NULL;
  CclLabels labels;
  GstFlowReturn ret;

  if (gst_ccl_buffer_is_gap (inbuf))
    return gst_ccl_mask_write (self, NULL, NULL, outbuf);

  ret = gst_cuda_ccl_process (GST_CUDA_CCL (self), inbuf, outbuf);
  if (ret != GST_FLOW_OK)
    return ret;
  if (!gst_cuda_ccl_get_labels (GST_CUDA_CCL (self), &labels))
    return GST_FLOW_ERROR;

  if (!gst_ccl_motion_get_shadows (GST_CCL_MOTION (self), &shadows, &error)) {
    gst_cuda_ccl_post_error (GST_CUDA_CCL (self), error, inbuf);
    return GST_FLOW_ERROR;
  }

  return gst_ccl_mask_write (self, &labels, shadows, outbuf);
}
