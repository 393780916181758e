/* cudaccl - draws a component on a canvas
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_OVERLAY_DRAW_H__
#define __GST_CCL_OVERLAY_DRAW_H__

#include <gst/video/video.h>
#include <gst/ccl/gstccl.h>
#include "gstccloverlay-text.h"

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
 *   be in a second
 * @GST_CCL_OVERLAY_DRAW_TRAILS: the way of each tracked object in the last seconds
 * @GST_CCL_OVERLAY_DRAW_ZONES: the zones and tripwires of `cclzones`, their names and counts; an
 *   arrow points to where a tripwire is crossed inwards
 * @GST_CCL_OVERLAY_DRAW_EVENTS: crosses where objects entered or left zones, or crossed tripwires,
 *   whose lines are thick meanwhile
 * @GST_CCL_OVERLAY_DRAW_NAMES: the types of regions of interest
 * @GST_CCL_OVERLAY_DRAW_TIME: the stream time of the frame, at the top left
 *
 * What to draw.
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
  GST_CCL_OVERLAY_DRAW_TRAILS = 1 << 6,
  GST_CCL_OVERLAY_DRAW_ZONES = 1 << 7,
  GST_CCL_OVERLAY_DRAW_EVENTS = 1 << 8,
  GST_CCL_OVERLAY_DRAW_NAMES = 1 << 9,
  GST_CCL_OVERLAY_DRAW_TIME = 1 << 10,
} GstCclOverlayDraw;

#define GST_TYPE_CCL_OVERLAY_DRAW (gst_ccl_overlay_draw_get_type ())

GType gst_ccl_overlay_draw_get_type (void);

typedef enum
{
  GST_CCL_SHAPE_BOX,
  GST_CCL_SHAPE_CROSS,
  GST_CCL_SHAPE_LINE,
  GST_CCL_SHAPE_TEXT,
} GstCclShapeType;

/* A thing to draw, in pixels of the frame. */
typedef struct
{
  GstCclShapeType type;
  guint32 color;       /* 0xAARRGGBB */
  gint line;           /* width of lines */
  GstCclRectangle box; /* BOX, inside of the frame; TEXT, of the size of the text */
  gdouble x[2], y[2];  /* LINE: both ends; CROSS: the centre; LINE is inside of the frame */
  const GstCclText *text;
} GstCclShape;

/* A width proportional to the frame size, at least @least. */
gint gst_ccl_canvas_get_width (gint width, gint height, gint least);

/* With subsampled chroma, thinner lines can miss the pixels whose chroma is used. */
#define GST_CCL_MIN_LINE_WIDTH 2

void gst_ccl_draw_shape (GstCclCanvas *canvas, const GstCclShape *shape);

G_END_DECLS

#endif /* __GST_CCL_OVERLAY_DRAW_H__ */
