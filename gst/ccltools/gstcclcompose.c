/* cudaccl - components as an overlay composition
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* gst_video_blend() converts the rows of the frame that a rectangle lies in, all of each row, to
 * ARGB or AYUV and back. So what shares rows is put into one rectangle: however many components
 * there are, no row is converted twice. Those who upload rectangles like few better than many, too.
 */

#include "gstcclcompose.h"

#include <stdlib.h>

/* What is drawn of a component. */
typedef struct
{
  GstCclRectangle area;
  const GstCclComponent *component;
} Piece;

/* From top to bottom; in the order of the components where that does not decide. */
static int
compare_pieces (const void *a, const void *b)
{
  const Piece *p = a, *q = b;

  if (p->area.y1 != q->area.y1)
    return p->area.y1 < q->area.y1 ? -1 : 1;

  return p->component < q->component ? -1 : p->component > q->component;
}

static guint
find_pieces (Piece *pieces, const GstCclTarget *target, const GstCclDrawStyle *style,
             const GstCclComponent *components, guint n_components)
{
  guint i, n = 0;

  for (i = 0; i < n_components; i++) {
    GstCclPainter painter;

    gst_ccl_painter_init (&painter, target->width, target->height, NULL);
    gst_ccl_draw_component (&painter, style, &components[i]);
    if (painter.area.x1 == painter.area.x2)
      continue;
    pieces[n].area = painter.area;
    pieces[n].component = &components[i];
    n++;
  }
  qsort (pieces, n, sizeof (*pieces), compare_pieces);

  return n;
}

/* The number of pieces that share rows with the first one or with each other, and their area. */
static guint
find_band (const Piece *pieces, guint n_pieces, GstCclRectangle *area)
{
  guint n;

  *area = pieces[0].area;
  for (n = 1; n < n_pieces && pieces[n].area.y1 < area->y2; n++) {
    area->x1 = MIN (area->x1, pieces[n].area.x1);
    area->x2 = MAX (area->x2, pieces[n].area.x2);
    area->y2 = MAX (area->y2, pieces[n].area.y2);
  }

  return n;
}

static GstVideoOverlayRectangle *
draw_band (const GstCclTarget *target, const GstCclDrawStyle *style, const GstCclRectangle *area,
           const Piece *pieces, guint n_pieces)
{
  guint width = (guint) (area->x2 - area->x1), height = (guint) (area->y2 - area->y1), i;
  gsize size = (gsize) width * height * sizeof (guint32);
  GstVideoOverlayRectangle *rectangle;
  GstCclPainter painter;
  GstBuffer *buffer;

  gst_ccl_painter_init (&painter, target->width, target->height, target->yuv);
  painter.area = *area;
  painter.pixels = g_malloc0 (size);
  for (i = 0; i < n_pieces; i++)
    gst_ccl_draw_component (&painter, style, pieces[i].component);

  buffer = gst_buffer_new_wrapped (painter.pixels, size);
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE,
                             target->yuv ? GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_YUV
                                         : GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB,
                             width, height);
  rectangle =
      gst_video_overlay_rectangle_new_raw (buffer, target->x + area->x1, target->y + area->y1,
                                           width, height, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  gst_buffer_unref (buffer);

  return rectangle;
}

GstVideoOverlayComposition *
gst_ccl_compose (GstVideoOverlayComposition *composition, const GstCclTarget *target,
                 const GstCclDrawStyle *style, const GstCclComponent *components,
                 guint n_components)
{
  Piece *pieces = g_new (Piece, n_components);
  guint n_pieces = find_pieces (pieces, target, style, components, n_components), i, n;

  for (i = 0; i < n_pieces; i += n) {
    GstVideoOverlayRectangle *rectangle;
    GstCclRectangle area;

    n = find_band (pieces + i, n_pieces - i, &area);
    rectangle = draw_band (target, style, &area, pieces + i, n);
    if (composition) {
      composition = gst_video_overlay_composition_make_writable (composition);
      gst_video_overlay_composition_add_rectangle (composition, rectangle);
    } else {
      composition = gst_video_overlay_composition_new (rectangle);
    }
    gst_video_overlay_rectangle_unref (rectangle);
  }
  g_free (pieces);

  return composition;
}
