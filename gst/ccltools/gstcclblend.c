/* cudaccl - compositions blended into frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* gst_video_blend() converts the rows of the frame that a rectangle lies in, all of each row, to
 * ARGB or AYUV and back. So it gets to see a part of the frame that is not much larger than the
 * rectangle, as a frame of its own, where the format has such parts.
 */

#include "gstcclblend.h"

/* Pixels that share their chroma do not lie on both sides of its multiples. */
#define BLOCK 4

/* The first component that lies in a plane. */
static guint
component_of_plane (const GstVideoFormatInfo *format, guint plane)
{
  guint i = 0;

  while (GST_VIDEO_FORMAT_INFO_PLANE (format, i) != plane)
    i++;

  return i;
}

gboolean
gst_ccl_blend_is_local (const GstVideoInfo *info)
{
  const GstVideoFormatInfo *format = info->finfo;
  guint i;

  if (GST_VIDEO_FORMAT_INFO_IS_TILED (format) || GST_VIDEO_FORMAT_INFO_IS_COMPLEX (format) ||
      GST_VIDEO_FORMAT_INFO_HAS_PALETTE (format))
    return FALSE;

  for (i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++) {
    if (GST_VIDEO_FORMAT_INFO_PSTRIDE (format, i) <= 0 ||
        1 << GST_VIDEO_FORMAT_INFO_W_SUB (format, i) > BLOCK ||
        1 << GST_VIDEO_FORMAT_INFO_H_SUB (format, i) > BLOCK)
      return FALSE;
  }

  return TRUE;
}

/* The part of @frame with this rectangle, whose place becomes that in the part. */
static void
take_part (const GstVideoFrame *frame, GstVideoFrame *part, gint *x, gint *y, guint width,
           guint height)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  gint left = MAX (*x, 0) / BLOCK * BLOCK, top = MAX (*y, 0) / BLOCK * BLOCK;
  gint right = GST_ROUND_UP_N (*x + (gint) width, BLOCK);
  gint bottom = GST_ROUND_UP_N (*y + (gint) height, BLOCK);
  guint plane;

  *part = *frame;
  GST_VIDEO_INFO_WIDTH (&part->info) = MIN (right, GST_VIDEO_FRAME_WIDTH (frame)) - left;
  GST_VIDEO_INFO_HEIGHT (&part->info) = MIN (bottom, GST_VIDEO_FRAME_HEIGHT (frame)) - top;
  for (plane = 0; plane < GST_VIDEO_FRAME_N_PLANES (frame); plane++) {
    guint i = component_of_plane (format, plane);
    gssize row = top >> GST_VIDEO_FORMAT_INFO_H_SUB (format, i);
    gssize column = left >> GST_VIDEO_FORMAT_INFO_W_SUB (format, i);

    part->data[plane] = (guint8 *) frame->data[plane] +
                        row * GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane) +
                        column * GST_VIDEO_FORMAT_INFO_PSTRIDE (format, i);
  }

  *x -= left;
  *y -= top;
}

static gboolean
blend_rectangle (GstVideoOverlayRectangle *rectangle, GstVideoFrame *frame)
{
  GstVideoOverlayComposition *composition;
  GstVideoFrame part;
  guint width, height;
  gboolean blended;
  gint x, y;

  gst_video_overlay_rectangle_get_render_rectangle (rectangle, &x, &y, &width, &height);
  take_part (frame, &part, &x, &y, width, height);

  rectangle = gst_video_overlay_rectangle_copy (rectangle);
  gst_video_overlay_rectangle_set_render_rectangle (rectangle, x, y, width, height);
  composition = gst_video_overlay_composition_new (rectangle);
  gst_video_overlay_rectangle_unref (rectangle);
  blended = gst_video_overlay_composition_blend (composition, &part);
  gst_video_overlay_composition_unref (composition);

  return blended;
}

gboolean
gst_ccl_blend (GstVideoOverlayComposition *composition, GstVideoFrame *frame)
{
  guint i;

  if (!gst_ccl_blend_is_local (&frame->info))
    return gst_video_overlay_composition_blend (composition, frame);

  for (i = 0; i < gst_video_overlay_composition_n_rectangles (composition); i++) {
    if (!blend_rectangle (gst_video_overlay_composition_get_rectangle (composition, i), frame))
      return FALSE;
  }

  return TRUE;
}
