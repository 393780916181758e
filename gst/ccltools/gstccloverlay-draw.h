/* cudaccl - draws a component on a canvas
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_OVERLAY_DRAW_H__
#define __GST_CCL_OVERLAY_DRAW_H__

#include <gst/video/video.h>
#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* Left and top edges are inclusive, right and bottom edges are exclusive. Empty if x1 == x2. */
typedef struct
{
  gint x1, y1, x2, y2;
} GstCclRectangle;

/* A frame, of which only @area has pixels. Coordinates are those of the frame, pixels have the
 * format of rectangles in GstVideoOverlayComposition. A canvas without pixels only finds the area
 * that drawing would cover. */
typedef struct
{
  gint width, height;      /* of the frame */
  const GstVideoInfo *yuv; /* draw in YUV for frames of this format; NULL: in RGB */
  GstCclRectangle area;    /* of @pixels; without them, what was covered so far */
  guint32 *pixels;         /* @area row by row, or NULL */
  guint32 value;           /* pixel value of the current colour */
} GstCclCanvas;

/* Makes @area the smallest rectangle that contains @area, which may be empty, and @more. */
void gst_ccl_rectangle_extend (GstCclRectangle *area, const GstCclRectangle *more);

/* Initializes a canvas without pixels. To draw, set its area and pixels afterwards. */
void gst_ccl_canvas_init (GstCclCanvas *canvas, gint width, gint height, const GstVideoInfo *yuv);

/* Sets the colour to draw with, 0xAARRGGBB. */
void gst_ccl_canvas_set_color (GstCclCanvas *canvas, guint32 color);

/* Fills the visible part of a rectangle. Replaces pixels, whatever the alpha of the colour. */
void gst_ccl_canvas_fill (GstCclCanvas *canvas, gint x, gint y, gint width, gint height);

/**
 * GstCclOverlayDraw:
 * @GST_CCL_OVERLAY_DRAW_BOXES: the outlines of the bounding boxes
 * @GST_CCL_OVERLAY_DRAW_CENTROIDS: a cross at each centroid
 * @GST_CCL_OVERLAY_DRAW_LABELS: the labels, as numbers
 * @GST_CCL_OVERLAY_DRAW_AREAS: the areas, as numbers
 * @GST_CCL_OVERLAY_DRAW_TRACKS: the ids of `ccltrack`, as numbers in place of the labels; what is
 *   tracked has the colour of its id, not of its label
 * @GST_CCL_OVERLAY_DRAW_VELOCITIES: a line from the centroid of a tracked object to where it will
 * be in a second
 *
 * What to draw for each component.
 *
 * Since: 0.1
 */
typedef enum
{
  GST_CCL_OVERLAY_DRAW_BOXES = 1 << 0,
  GST_CCL_OVERLAY_DRAW_CENTROIDS = 1 << 1,
  GST_CCL_OVERLAY_DRAW_LABELS = 1 << 2,
  GST_CCL_OVERLAY_DRAW_AREAS = 1 << 3,
  GST_CCL_OVERLAY_DRAW_TRACKS = 1 << 4,
  GST_CCL_OVERLAY_DRAW_VELOCITIES = 1 << 5,
} GstCclOverlayDraw;

#define GST_TYPE_CCL_OVERLAY_DRAW (gst_ccl_overlay_draw_get_type ())

GType gst_ccl_overlay_draw_get_type (void);

typedef struct
{
  GstCclOverlayDraw draw;
  guint line_width; /* pixels; 0: proportional to the frame size */
  guint font_size;  /* height of digits in pixels; 0: proportional to the frame size */
  guint32 color;    /* 0xAARRGGBB; alpha 0: the colour of the label */
} GstCclDrawStyle;

/* Draws a component, whose coordinates are those of the frame. Draws nothing if its box is outside
 * of the frame. */
void gst_ccl_draw_component (GstCclCanvas *canvas, const GstCclDrawStyle *style,
                             const GstCclComponent *component);

G_END_DECLS

#endif /* __GST_CCL_OVERLAY_DRAW_H__ */
