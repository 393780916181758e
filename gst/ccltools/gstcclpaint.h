/* cudaccl - rectangles of plain colour on a part of a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PAINT_H__
#define __GST_CCL_PAINT_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Left and top edges are inclusive, right and bottom edges are not; empty where x1 == x2. */
typedef struct
{
  gint x1, y1, x2, y2;
} GstCclRectangle;

/* Coordinates are those of a frame; pixels are there for a part of it. They have the formats that
 * rectangles of GstVideoOverlayComposition have. */
typedef struct
{
  gint width, height;      /* of the frame */
  const GstVideoInfo *yuv; /* YUV as frames of this format mean it; NULL for RGB */
  GstCclRectangle area;    /* what there are pixels for; without any: what was painted so far */
  guint32 *pixels;         /* row by row, those of @area; NULL only to find out about the area */
  guint32 value;           /* of the current colour */
} GstCclPainter;

/* Makes @area the smallest rectangle with all of both, of which it may be empty. */
void gst_ccl_rectangle_extend (GstCclRectangle *area, const GstCclRectangle *more);

/* The painter has no pixels, until somebody gives it some that are as large as the area. */
void gst_ccl_painter_init (GstCclPainter *painter, gint width, gint height,
                           const GstVideoInfo *yuv);

/* Sets the colour of what is painted next, 0xAARRGGBB. */
void gst_ccl_painter_set_color (GstCclPainter *painter, guint32 color);

/* Fills a rectangle, as far as it is in the frame and there are pixels, with the colour. What was
 * there before does not shine through. */
void gst_ccl_painter_fill (GstCclPainter *painter, gint x, gint y, gint width, gint height);

G_END_DECLS

#endif /* __GST_CCL_PAINT_H__ */
