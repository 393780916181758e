/* cudaccl - what is drawn of a component
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_OVERLAY_DRAW_H__
#define __GST_CCL_OVERLAY_DRAW_H__

#include <gst/video/video.h>
#include <gst/ccl/gstccl.h>

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

/**
 * GstCclOverlayDraw:
 * @GST_CCL_OVERLAY_DRAW_BOXES: the outlines of the bounding boxes
 * @GST_CCL_OVERLAY_DRAW_CENTROIDS: a cross at each centroid
 * @GST_CCL_OVERLAY_DRAW_LABELS: the labels, as numbers
 * @GST_CCL_OVERLAY_DRAW_AREAS: the areas, as numbers
 *
 * What is drawn of components.
 *
 * Since: 0.1
 */
typedef enum
{
  GST_CCL_OVERLAY_DRAW_BOXES = 1 << 0,
  GST_CCL_OVERLAY_DRAW_CENTROIDS = 1 << 1,
  GST_CCL_OVERLAY_DRAW_LABELS = 1 << 2,
  GST_CCL_OVERLAY_DRAW_AREAS = 1 << 3,
} GstCclOverlayDraw;

#define GST_TYPE_CCL_OVERLAY_DRAW (gst_ccl_overlay_draw_get_type ())

GType gst_ccl_overlay_draw_get_type (void);

typedef struct
{
  GstCclOverlayDraw draw;
  guint line_width; /* pixels; 0: in proportion to the frame */
  guint font_size;  /* height of the digits in pixels; 0: in proportion to the frame */
  guint32 color;    /* 0xAARRGGBB; each component has its own where alpha is 0 */
} GstCclDrawStyle;

/* Draws a component, whose coordinates are those of the painter's frame, unless none of its box is
 * in it. */
void gst_ccl_draw_component (GstCclPainter *painter, const GstCclDrawStyle *style,
                             const GstCclComponent *component);

G_END_DECLS

#endif /* __GST_CCL_OVERLAY_DRAW_H__ */
