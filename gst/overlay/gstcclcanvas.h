/* cudaccl - a picture to draw on, and its way onto frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_CANVAS_H__
#define __GST_CCL_CANVAS_H__

#include <gst/video/video.h>

G_BEGIN_DECLS

/* Cairo's limit for the width and height of pictures. */
#define GST_CCL_CANVAS_MAX_SIZE 32767

/* Left and top edges are inclusive, right and bottom edges exclusive. */
typedef struct
{
  gint x1, y1, x2, y2;
} GstCclRectangle;

/* A transparent picture of the size of a frame, drawn on with Cairo. It tracks which parts are
 * drawn, so that the rest costs nothing. Shapes are clipped.
 *
 * The work on a picture is limited to about 20 ms. Shapes beyond that are left out and counted. */
typedef struct _GstCclCanvas GstCclCanvas;

GstCclCanvas *gst_ccl_canvas_new (void);

void gst_ccl_canvas_free (GstCclCanvas *self);

/* Frees the memory of the picture. */
void gst_ccl_canvas_reset (GstCclCanvas *self);

/* Begins an empty picture of 1 to GST_CCL_CANVAS_MAX_SIZE pixels each way, to be blended into
 * frames of the format @yuv. If @yuv is NULL, it can be blended into RGB frames or composed.
 * @font is a Pango font description; NULL: the default font. @font_size is in pixels. Returns
 * FALSE if there is no memory. */
gboolean gst_ccl_canvas_begin (GstCclCanvas *self, gint width, gint height, const GstVideoInfo *yuv,
                               const gchar *font, guint font_size);

/* Drawing functions replace pixels, whatever the alpha of @color (0xAARRGGBB). Lines are @line
 * pixels wide. Coordinates are in pixels; those of a pixel's centre end in .5. */

/* Draws the outline of @box on the inside, so that it is visible at the edge of the picture. */
void gst_ccl_canvas_draw_box (GstCclCanvas *self, guint32 color, gint line,
                              const GstCclRectangle *box);

/* Draws a cross at a point, unless the point is outside of the picture. */
void gst_ccl_canvas_draw_cross (GstCclCanvas *self, guint32 color, gint line, gdouble x, gdouble y);

/* Set the pen, draw lines, and lift the pen. Many lines with one pen are fast. */
void gst_ccl_canvas_set_pen (GstCclCanvas *self, guint32 color, gint line);
void gst_ccl_canvas_lift_pen (GstCclCanvas *self);

/* Draws a line. Its ends may have any coordinates. */
void gst_ccl_canvas_draw_line (GstCclCanvas *self, gdouble x1, gdouble y1, gdouble x2, gdouble y2);

/* Sets the text to draw, any bytes, and gets its size with a margin. Returns FALSE if the text
 * is left out. */
gboolean gst_ccl_canvas_set_text (GstCclCanvas *self, const gchar *text, gint *width, gint *height);

/* Draws the text on black. The point is its upper left corner. */
void gst_ccl_canvas_draw_text (GstCclCanvas *self, guint32 color, gint x, gint y);

gboolean gst_ccl_canvas_is_empty (const GstCclCanvas *self);

/* Counts a shape that the caller left out. */
void gst_ccl_canvas_leave_out (GstCclCanvas *self);

/* Returns the number of shapes left out of the picture. */
guint gst_ccl_canvas_get_left_out (const GstCclCanvas *self);

/* Returns a composition of the rectangles of @earlier, which may be NULL, and of the picture,
 * which must not be empty. The picture becomes as few rectangles as possible, of which no two
 * share rows, and is empty afterwards. */
GstVideoOverlayComposition *gst_ccl_canvas_compose (GstCclCanvas *self,
                                                    GstVideoOverlayComposition *earlier);

/* Returns whether the rows of @frame are aligned as blending the picture requires. */
gboolean gst_ccl_canvas_fits (const GstCclCanvas *self, const GstVideoFrame *frame);

/* Blends the picture into @frame, which fits and is mapped for reading and writing, with its upper
 * left corner at a point of the frame. Returns FALSE if the format is not supported. The picture is
 * empty afterwards. */
gboolean gst_ccl_canvas_blend (GstCclCanvas *self, GstVideoFrame *frame, gint x, gint y);

G_END_DECLS

#endif /* __GST_CCL_CANVAS_H__ */
