/* cudaccl - draws shapes on a canvas
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccloverlay-draw.h"

#include <string.h>

/* Lines, and the squares that built-in digits consist of, are one pixel wide for this many pixels
 * of the frame's shorter side. */
#define FRAME_SHARE 360

#define OPAQUE 0xff000000
#define TEXT_BACKGROUND OPAQUE

GType
gst_ccl_overlay_draw_get_type (void)
{
  static GType type = 0;
  static const GFlagsValue values[] = {
    { GST_CCL_OVERLAY_DRAW_BOXES, "Bounding boxes", "boxes" },
    { GST_CCL_OVERLAY_DRAW_CENTROIDS, "A cross at each centroid", "centroids" },
    { GST_CCL_OVERLAY_DRAW_LABELS, "Labels", "labels" },
    { GST_CCL_OVERLAY_DRAW_AREAS, "Areas in pixels", "areas" },
    { GST_CCL_OVERLAY_DRAW_TRACKS, "Ids of tracked objects", "tracks" },
    { GST_CCL_OVERLAY_DRAW_VELOCITIES, "Where tracked objects will be in a second", "velocities" },
    { GST_CCL_OVERLAY_DRAW_TRAILS, "Where tracked objects came from", "trails" },
    { GST_CCL_OVERLAY_DRAW_ZONES, "Zones, tripwires and their counts", "zones" },
    { GST_CCL_OVERLAY_DRAW_EVENTS, "Events of zones and tripwires", "events" },
    { GST_CCL_OVERLAY_DRAW_NAMES, "Types of regions of interest", "names" },
    { GST_CCL_OVERLAY_DRAW_TIME, "Stream time", "time" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_flags_register_static ("GstCclOverlayDraw", values));

  return type;
}

void
gst_ccl_canvas_init (GstCclCanvas *canvas, gint width, gint height, const GstVideoInfo *yuv)
{
  memset (canvas, 0, sizeof (*canvas));
  canvas->width = width;
  canvas->height = height;
  canvas->yuv = yuv;
}

/* Converts @color to the bytes of AYUV, with the colour matrix and range of the frames. */
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
gst_ccl_canvas_set_color (GstCclCanvas *canvas, guint32 color)
{
  guint8 bytes[4];

  if (canvas->yuv) {
    convert_to_yuv (canvas->yuv, color, bytes);
    memcpy (&canvas->value, bytes, sizeof (bytes));
  } else {
    /* The RGB format of compositions is ARGB in native endianness. */
    canvas->value = color;
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
gst_ccl_canvas_fill (GstCclCanvas *canvas, gint x, gint y, gint width, gint height)
{
  const GstCclRectangle frame = { 0, 0, canvas->width, canvas->height };
  const GstCclRectangle clip = canvas->pixels ? canvas->area : frame;
  const GstCclRectangle rect = { MAX (x, clip.x1), MAX (y, clip.y1), MIN (x + width, clip.x2),
                                 MIN (y + height, clip.y2) };
  /* Copies, as pixels might alias the fields of the canvas. */
  const guint32 value = canvas->value;
  const gsize stride = (gsize) (clip.x2 - clip.x1);
  guint32 *row = canvas->pixels;

  if (rect.x1 >= rect.x2 || rect.y1 >= rect.y2)
    return;
  if (!row) {
    gst_ccl_rectangle_extend (&canvas->area, &rect);
    return;
  }

  row += (gsize) (rect.y1 - clip.y1) * stride + (gsize) (rect.x1 - clip.x1);
  for (y = rect.y1; y < rect.y2; y++, row += stride) {
    for (x = 0; x < rect.x2 - rect.x1; x++)
      row[x] = value;
  }
}

gint
gst_ccl_canvas_get_width (gint width, gint height, gint least)
{
  return MAX ((MIN (width, height) + FRAME_SHARE / 2) / FRAME_SHARE, least);
}

/* Lines are inside of the box, so that those at the edge of the frame are visible. */
static void
draw_box (GstCclCanvas *canvas, gint line, const GstCclRectangle *box)
{
  gint width = box->x2 - box->x1, height = box->y2 - box->y1;

  if (width <= 2 * line || height <= 2 * line) {
    gst_ccl_canvas_fill (canvas, box->x1, box->y1, width, height);
    return;
  }

  gst_ccl_canvas_fill (canvas, box->x1, box->y1, width, line);
  gst_ccl_canvas_fill (canvas, box->x1, box->y2 - line, width, line);
  gst_ccl_canvas_fill (canvas, box->x1, box->y1 + line, line, height - 2 * line);
  gst_ccl_canvas_fill (canvas, box->x2 - line, box->y1 + line, line, height - 2 * line);
}

/* The cross is centred on the pixel of the centroid, which is outside of the frame if that part of
 * the component was cropped. */
static void
draw_centroid (GstCclCanvas *canvas, gint line, gdouble centroid_x, gdouble centroid_y)
{
  gint arm = 2 * line, x, y;

  if (!(centroid_x > -1.0 && centroid_x < canvas->width && centroid_y > -1.0 &&
        centroid_y < canvas->height))
    return;

  x = (gint) (centroid_x + 1.5) - 1 - line / 2;
  y = (gint) (centroid_y + 1.5) - 1 - line / 2;
  gst_ccl_canvas_fill (canvas, x - arm, y, 2 * arm + line, line);
  gst_ccl_canvas_fill (canvas, x, y - arm, line, 2 * arm + line);
}

static guint32
mix (guint32 from, guint32 to, guint alpha)
{
  guint32 mixed = 0;
  guint shift;

  for (shift = 0; shift < 32; shift += 8)
    mixed |= ((from >> shift & 255) * (255 - alpha) + (to >> shift & 255) * alpha + 127) / 255
             << shift;

  return mixed;
}

/* Text on black. */
static void
draw_text (GstCclCanvas *canvas, guint32 color, const GstCclRectangle *box, const GstCclText *text)
{
  const GstCclRectangle *clip = &canvas->area;
  gsize stride = (gsize) (clip->x2 - clip->x1);
  guint32 background, foreground;
  gint x, y;

  gst_ccl_canvas_set_color (canvas, TEXT_BACKGROUND);
  gst_ccl_canvas_fill (canvas, box->x1, box->y1, text->width, text->height);
  if (!canvas->pixels)
    return;

  background = canvas->value;
  gst_ccl_canvas_set_color (canvas, color);
  foreground = canvas->value;
  for (y = MAX (box->y1, clip->y1); y < MIN (box->y1 + text->height, clip->y2); y++) {
    const guint8 *alpha = text->alpha + (gsize) (y - box->y1) * (gsize) text->width;
    guint32 *row = canvas->pixels + (gsize) (y - clip->y1) * stride;

    for (x = MAX (box->x1, clip->x1); x < MIN (box->x1 + text->width, clip->x2); x++) {
      if (alpha[x - box->x1])
        row[x - clip->x1] = mix (background, foreground, alpha[x - box->x1]);
    }
  }
}

/* A line of squares. */
static void
draw_line (GstCclCanvas *canvas, gint line, const gdouble x[2], const gdouble y[2])
{
  gint steps = (gint) MAX (ABS (x[1] - x[0]), ABS (y[1] - y[0])) + 1, i;

  for (i = 0; i <= steps; i++) {
    gdouble share = (gdouble) i / steps;

    gst_ccl_canvas_fill (canvas, (gint) (x[0] + share * (x[1] - x[0])) - line / 2,
                         (gint) (y[0] + share * (y[1] - y[0])) - line / 2, line, line);
  }
}

void
gst_ccl_draw_shape (GstCclCanvas *canvas, const GstCclShape *shape)
{
  if (shape->type == GST_CCL_SHAPE_TEXT) {
    draw_text (canvas, shape->color, &shape->box, shape->text);
    return;
  }

  gst_ccl_canvas_set_color (canvas, shape->color);
  if (shape->type == GST_CCL_SHAPE_BOX)
    draw_box (canvas, shape->line, &shape->box);
  else if (shape->type == GST_CCL_SHAPE_CROSS)
    draw_centroid (canvas, shape->line, shape->x[0], shape->y[0]);
  else
    draw_line (canvas, shape->line, shape->x, shape->y);
}
