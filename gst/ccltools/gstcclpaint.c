/* cudaccl - rectangles of plain colour on a part of a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpaint.h"

#include <string.h>

void
gst_ccl_painter_init (GstCclPainter *painter, gint width, gint height, const GstVideoInfo *yuv)
{
  memset (painter, 0, sizeof (*painter));
  painter->width = width;
  painter->height = height;
  painter->yuv = yuv;
}

/* The bytes of AYUV, in the matrix and range of the frames. */
static void
convert_to_yuv (const GstVideoInfo *info, guint32 color, guint8 *bytes)
{
  gdouble r = (color >> 16 & 255) / 255.0, g = (color >> 8 & 255) / 255.0,
          b = (color & 255) / 255.0;
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  gdouble kr, kb, parts[3];
  guint i;

  if (!gst_video_color_matrix_get_Kr_Kb (info->colorimetry.matrix, &kr, &kb))
    gst_video_color_matrix_get_Kr_Kb (GST_VIDEO_COLOR_MATRIX_BT601, &kr, &kb);
  parts[0] = kr * r + (1.0 - kr - kb) * g + kb * b;
  parts[1] = (b - parts[0]) / (2.0 * (1.0 - kb));
  parts[2] = (r - parts[0]) / (2.0 * (1.0 - kr));

  gst_video_color_range_offsets (info->colorimetry.range,
                                 gst_video_format_get_info (GST_VIDEO_FORMAT_AYUV), offset, scale);
  bytes[0] = (guint8) (color >> 24);
  for (i = 0; i < 3; i++)
    bytes[1 + i] = (guint8) (CLAMP (offset[i] + scale[i] * parts[i], 0.0, 255.0) + 0.5);
}

void
gst_ccl_painter_set_color (GstCclPainter *painter, guint32 color)
{
  guint8 bytes[4];

  if (painter->yuv) {
    convert_to_yuv (painter->yuv, color, bytes);
    memcpy (&painter->value, bytes, sizeof (bytes));
  } else {
    /* The RGB of compositions is a number like this, whatever the order of its bytes. */
    painter->value = color;
  }
}

void
gst_ccl_rectangle_extend (GstCclRectangle *area, const GstCclRectangle *more)
{
  if (area->x1 == area->x2) {
    *area = *more;
    return;
  }

  area->x1 = MIN (area->x1, more->x1);
  area->y1 = MIN (area->y1, more->y1);
  area->x2 = MAX (area->x2, more->x2);
  area->y2 = MAX (area->y2, more->y2);
}

void
gst_ccl_painter_fill (GstCclPainter *painter, gint x, gint y, gint width, gint height)
{
  const GstCclRectangle frame = { 0, 0, painter->width, painter->height };
  const GstCclRectangle clip = painter->pixels ? painter->area : frame;
  const GstCclRectangle rect = { MAX (x, clip.x1), MAX (y, clip.y1), MIN (x + width, clip.x2),
                                 MIN (y + height, clip.y2) };
  /* Copies: for all the compiler knows, what is read from the painter might be a pixel. */
  const guint32 value = painter->value;
  const gsize stride = (gsize) (clip.x2 - clip.x1);
  guint32 *row = painter->pixels;

  if (rect.x1 >= rect.x2 || rect.y1 >= rect.y2)
    return;
  if (!row) {
    gst_ccl_rectangle_extend (&painter->area, &rect);
    return;
  }

  row += (gsize) (rect.y1 - clip.y1) * stride + (gsize) (rect.x1 - clip.x1);
  for (y = rect.y1; y < rect.y2; y++, row += stride) {
    for (x = 0; x < rect.x2 - rect.x1; x++)
      row[x] = value;
  }
}
