/* cudaccl - shapes as overlay compositions, and compositions blended into frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccloverlay-compose.h"

#include <stdlib.h>

/* Overlapping drawings are drawn into one rectangle, so that the later one replaces the earlier one
 * for any alpha of the colours. Otherwise many small rectangles are better than few large ones,
 * unless no two rectangles may share rows. */

/* The drawing of a shape, and the cluster of drawings that share a rectangle with it. */
typedef struct
{
  GstCclRectangle area;
  const GstCclShape *shape;
  guint cluster;
} Drawing;

/* Sorts from top to bottom, then in the order of the shapes. */
static int
compare_places (const void *a, const void *b)
{
  const Drawing *p = a, *q = b;

  if (p->area.y1 != q->area.y1)
    return p->area.y1 < q->area.y1 ? -1 : 1;

  return p->shape < q->shape ? -1 : p->shape > q->shape;
}

static int
compare_clusters (const void *a, const void *b)
{
  const Drawing *p = a, *q = b;

  if (p->cluster != q->cluster)
    return p->cluster < q->cluster ? -1 : 1;

  return p->shape < q->shape ? -1 : p->shape > q->shape;
}

static guint
find_drawings (Drawing *drawings, const GstCclTarget *target, const GstCclShape *shapes,
               guint n_shapes)
{
  guint i, n = 0;

  for (i = 0; i < n_shapes; i++) {
    GstCclCanvas canvas;

    gst_ccl_canvas_init (&canvas, target->width, target->height, NULL);
    gst_ccl_draw_shape (&canvas, &shapes[i]);
    if (canvas.area.x1 == canvas.area.x2)
      continue;
    drawings[n].area = canvas.area;
    drawings[n].shape = &shapes[i];
    n++;
  }
  qsort (drawings, n, sizeof (*drawings), compare_places);

  return n;
}

/* Puts drawings that overlap into one cluster, and others that overlap the bounding box of the
 * cluster too. The id of a cluster is the index of its last drawing. Returns the total size of all
 * bounding boxes in pixels. */
static guint64
find_clusters (Drawing *drawings, guint n_drawings, gboolean in_bands)
{
  GstCclRectangle *areas = g_new (GstCclRectangle, n_drawings); /* of the clusters */
  guint *open = g_new (guint, n_drawings); /* clusters that may share rows with the next drawing */
  guint i, k, n, n_open = 0;
  guint64 n_pixels = 0;

  for (i = 0; i < n_drawings; i++) {
    const GstCclRectangle *drawing = &drawings[i].area;

    drawings[i].cluster = i;
    areas[i] = *drawing;
    for (k = n = 0; k < n_open; k++) {
      const GstCclRectangle *area = &areas[open[k]];

      if (area->y2 <= drawing->y1)
        continue;
      if (in_bands || (area->x1 < drawing->x2 && drawing->x1 < area->x2)) {
        gst_ccl_rectangle_extend (&areas[i], area);
        drawings[open[k]].cluster = i;
      } else {
        open[n++] = open[k];
      }
    }
    open[n++] = i;
    n_open = n;
  }

  /* Clusters were merged into later ones, possibly several times. */
  for (i = n_drawings; i > 0; i--) {
    const GstCclRectangle *area = &areas[i - 1];

    if (drawings[i - 1].cluster == i - 1)
      n_pixels += (guint64) (area->x2 - area->x1) * (guint64) (area->y2 - area->y1);
    drawings[i - 1].cluster = drawings[drawings[i - 1].cluster].cluster;
  }
  g_free (areas);
  g_free (open);

  return n_pixels;
}

/* Returns the number of drawings in the first cluster, and its area. */
static guint
take_cluster (const Drawing *drawings, guint n_drawings, GstCclRectangle *area)
{
  guint n;

  *area = drawings[0].area;
  for (n = 1; n < n_drawings && drawings[n].cluster == drawings[0].cluster; n++)
    gst_ccl_rectangle_extend (area, &drawings[n].area);

  return n;
}

static GstVideoOverlayRectangle *
draw_cluster (const GstCclTarget *target, const GstCclRectangle *area, const Drawing *drawings,
              guint n_drawings)
{
  guint width = (guint) (area->x2 - area->x1), height = (guint) (area->y2 - area->y1), i;
  gsize size = (gsize) width * height * sizeof (guint32);
  GstVideoOverlayRectangle *rectangle;
  GstCclCanvas canvas;
  GstBuffer *buffer;

  gst_ccl_canvas_init (&canvas, target->width, target->height, target->yuv);
  canvas.area = *area;
  canvas.pixels = g_malloc0 (size);
  for (i = 0; i < n_drawings; i++)
    gst_ccl_draw_shape (&canvas, drawings[i].shape);

  buffer = gst_buffer_new_wrapped (canvas.pixels, size);
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
                 const GstCclShape *shapes, guint n_shapes)
{
  Drawing *drawings = g_new (Drawing, n_shapes);
  guint n_drawings = find_drawings (drawings, target, shapes, n_shapes), i, n;
  guint64 n_pixels;

  /* If bounding boxes overlap a lot, bands are smaller in total. */
  n_pixels = find_clusters (drawings, n_drawings, TRUE);
  if (!target->in_bands && find_clusters (drawings, n_drawings, FALSE) >= n_pixels)
    find_clusters (drawings, n_drawings, TRUE);
  qsort (drawings, n_drawings, sizeof (*drawings), compare_clusters);
  for (i = 0; i < n_drawings; i += n) {
    GstVideoOverlayRectangle *rectangle;
    GstCclRectangle area;

    n = take_cluster (drawings + i, n_drawings - i, &area);
    rectangle = draw_cluster (target, &area, drawings + i, n);
    if (composition) {
      composition = gst_video_overlay_composition_make_writable (composition);
      gst_video_overlay_composition_add_rectangle (composition, rectangle);
    } else {
      composition = gst_video_overlay_composition_new (rectangle);
    }
    gst_video_overlay_rectangle_unref (rectangle);
  }
  g_free (drawings);

  return composition;
}

/* gst_video_blend() converts whole rows of the frame to ARGB or AYUV and back. So, if the format
 * allows, it gets only the part of the frame around the rectangle, as a frame of its own. */

/* The parts are aligned to this many pixels, a multiple of any chroma subsampling. */
#define ALIGNMENT 4

/* The first component in a plane. */
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
        1 << GST_VIDEO_FORMAT_INFO_W_SUB (format, i) > ALIGNMENT ||
        1 << GST_VIDEO_FORMAT_INFO_H_SUB (format, i) > ALIGNMENT)
      return FALSE;
  }

  return TRUE;
}

/* Gets the part of @frame around a rectangle, whose position becomes relative to the part. */
static void
take_part (const GstVideoFrame *frame, GstVideoFrame *part, gint *x, gint *y, guint width,
           guint height)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  gint left = MAX (*x, 0) / ALIGNMENT * ALIGNMENT, top = MAX (*y, 0) / ALIGNMENT * ALIGNMENT;
  gint right = GST_ROUND_UP_N (*x + (gint) width, ALIGNMENT);
  gint bottom = GST_ROUND_UP_N (*y + (gint) height, ALIGNMENT);
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
  /* The frame may have fewer pixels than its caps say. */
  if (x >= GST_VIDEO_FRAME_WIDTH (frame) || y >= GST_VIDEO_FRAME_HEIGHT (frame))
    return TRUE;
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
