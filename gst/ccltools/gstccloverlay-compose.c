/* cudaccl - components as an overlay composition, and compositions blended into frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccloverlay-compose.h"

#include <stdlib.h>

/* Components whose drawings overlap are drawn into one rectangle: what is there first does not
 * shine through, whatever the colours' alpha is. Otherwise small rectangles are better than large
 * ones, unless bands are asked for.
 */

/* What is drawn of a component, and the group that it belongs to. */
typedef struct
{
  GstCclRectangle area;
  const GstCclComponent *component;
  guint group;
} Piece;

/* From top to bottom; in the order of the components where that does not decide. */
static int
compare_places (const void *a, const void *b)
{
  const Piece *p = a, *q = b;

  if (p->area.y1 != q->area.y1)
    return p->area.y1 < q->area.y1 ? -1 : 1;

  return p->component < q->component ? -1 : p->component > q->component;
}

static int
compare_groups (const void *a, const void *b)
{
  const Piece *p = a, *q = b;

  return p->group != q->group ? (p->group < q->group ? -1 : 1) : compare_places (a, b);
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
  qsort (pieces, n, sizeof (*pieces), compare_places);

  return n;
}

/* Pieces that overlap come into one group, and so does what follows in the bounding box of the
 * group. Its number is that of its last piece. Returns how many pixels all bounding boxes have. */
static guint64
find_groups (Piece *pieces, guint n_pieces, gboolean in_bands)
{
  GstCclRectangle *areas = g_new (GstCclRectangle, n_pieces); /* of groups */
  guint *open = g_new (guint, n_pieces); /* groups that share rows with what follows, it may be */
  guint i, k, n, n_open = 0;
  guint64 n_pixels = 0;

  for (i = 0; i < n_pieces; i++) {
    const GstCclRectangle *piece = &pieces[i].area;

    pieces[i].group = i;
    areas[i] = *piece;
    for (k = n = 0; k < n_open; k++) {
      const GstCclRectangle *area = &areas[open[k]];

      if (area->y2 <= piece->y1)
        continue;
      if (in_bands || (area->x1 < piece->x2 && piece->x1 < area->x2)) {
        gst_ccl_rectangle_extend (&areas[i], area);
        pieces[open[k]].group = i;
      } else {
        open[n++] = open[k];
      }
    }
    open[n++] = i;
    n_open = n;
  }

  /* Groups went into later ones, and those into others. */
  for (i = n_pieces; i > 0; i--) {
    const GstCclRectangle *area = &areas[i - 1];

    if (pieces[i - 1].group == i - 1)
      n_pixels += (guint64) (area->x2 - area->x1) * (guint64) (area->y2 - area->y1);
    pieces[i - 1].group = pieces[pieces[i - 1].group].group;
  }
  g_free (areas);
  g_free (open);

  return n_pixels;
}

/* The number of pieces in the group of the first one, and their area. */
static guint
take_group (const Piece *pieces, guint n_pieces, GstCclRectangle *area)
{
  guint n;

  *area = pieces[0].area;
  for (n = 1; n < n_pieces && pieces[n].group == pieces[0].group; n++)
    gst_ccl_rectangle_extend (area, &pieces[n].area);

  return n;
}

static GstVideoOverlayRectangle *
draw_group (const GstCclTarget *target, const GstCclDrawStyle *style, const GstCclRectangle *area,
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
  guint64 n_pixels;

  /* Where the bounding boxes overlap much, bands are smaller. */
  n_pixels = find_groups (pieces, n_pieces, TRUE);
  if (!target->in_bands && find_groups (pieces, n_pieces, FALSE) >= n_pixels)
    find_groups (pieces, n_pieces, TRUE);
  qsort (pieces, n_pieces, sizeof (*pieces), compare_groups);
  for (i = 0; i < n_pieces; i += n) {
    GstVideoOverlayRectangle *rectangle;
    GstCclRectangle area;

    n = take_group (pieces + i, n_pieces - i, &area);
    rectangle = draw_group (target, style, &area, pieces + i, n);
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

/* gst_video_blend() converts the rows of the frame that a rectangle lies in, all of each row, to
 * ARGB or AYUV and back. So it gets to see a part of the frame that is not much larger than the
 * rectangle, as a frame of its own, where the format has such parts.
 */

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
