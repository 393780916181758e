/* cudaccl - draws a component on a canvas
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccloverlay-draw.h"

#include <string.h>

#define GLYPH_WIDTH 5
#define GLYPH_HEIGHT 7
#define GLYPH_ADVANCE (GLYPH_WIDTH + 1)

/* Lines, and the squares that digits consist of, are one pixel wide for this many pixels of the
 * frame's shorter side. */
#define FRAME_SHARE 360

/* With subsampled chroma, thinner lines can miss the pixels whose chroma is used. */
#define MIN_LINE_WIDTH 2

#define OPAQUE 0xff000000
#define TEXT_BACKGROUND OPAQUE

/* Rows from top to bottom; the highest of the five bits is the leftmost pixel. Only numbers are
 * drawn, so no font is needed, and each pixel is drawn as a square. */
static const guint8 glyphs[][GLYPH_HEIGHT] = {
  { 0x0e, 0x11, 0x11, 0x11, 0x11, 0x11, 0x0e }, /* 0 */
  { 0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e }, /* 1 */
  { 0x0e, 0x11, 0x01, 0x06, 0x08, 0x10, 0x1f }, /* 2 */
  { 0x0e, 0x11, 0x01, 0x06, 0x01, 0x11, 0x0e }, /* 3 */
  { 0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02 }, /* 4 */
  { 0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e }, /* 5 */
  { 0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e }, /* 6 */
  { 0x1f, 0x01, 0x02, 0x02, 0x04, 0x04, 0x04 }, /* 7 */
  { 0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e }, /* 8 */
  { 0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c }, /* 9 */
  { 0x00, 0x0c, 0x0c, 0x00, 0x0c, 0x0c, 0x00 }, /* : */
};

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

/* A width proportional to the frame size, at least @least. */
static gint
proportional_width (const GstCclCanvas *canvas, gint least)
{
  gint side = MIN (canvas->width, canvas->height);

  return MAX ((side + FRAME_SHARE / 2) / FRAME_SHARE, least);
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

static void
draw_glyph (GstCclCanvas *canvas, gint x, gint y, gint scale, gchar c)
{
  const guint8 *rows = glyphs[c - '0']; /* ':' comes after '9' */
  gint row, column;

  for (row = 0; row < GLYPH_HEIGHT; row++) {
    for (column = 0; column < GLYPH_WIDTH; column++) {
      if (rows[row] >> (GLYPH_WIDTH - 1 - column) & 1)
        gst_ccl_canvas_fill (canvas, x + column * scale, y + row * scale, scale, scale);
    }
  }
}

/* Draws above the box, or if there is no room below it, or else inside of it. */
static void
draw_text (GstCclCanvas *canvas, gint scale, guint32 color, const GstCclRectangle *box,
           const gchar *text)
{
  gint n = (gint) strlen (text), i;
  gint width = (n * GLYPH_ADVANCE + 1) * scale, height = (GLYPH_HEIGHT + 2) * scale;
  gint x = MAX (MIN (box->x1, canvas->width - width), 0), y = box->y1 - height;

  if (y < 0)
    y = box->y2;
  if (y + height > canvas->height)
    y = box->y1;

  gst_ccl_canvas_set_color (canvas, TEXT_BACKGROUND);
  gst_ccl_canvas_fill (canvas, x, y, width, height);
  gst_ccl_canvas_set_color (canvas, color);
  for (i = 0; i < n; i++)
    draw_glyph (canvas, x + (i * GLYPH_ADVANCE + 1) * scale, y + scale, scale, text[i]);
}

/* A line of squares from the centroid to where the object will be in a second. */
static void
draw_velocity (GstCclCanvas *canvas, gint line, const GstCclComponent *component)
{
  const gdouble limit = 4.0 * MAX (canvas->width, canvas->height);
  gdouble length = MAX (ABS (component->velocity_x), ABS (component->velocity_y));
  gint steps, i;

  if (!(length <= limit && ABS (component->centroid_x) <= limit &&
        ABS (component->centroid_y) <= limit))
    return;

  steps = (gint) length + 1;
  for (i = 0; i <= steps; i++) {
    gdouble x = component->centroid_x + component->velocity_x * i / steps;
    gdouble y = component->centroid_y + component->velocity_y * i / steps;

    gst_ccl_canvas_fill (canvas, (gint) x - line / 2, (gint) y - line / 2, line, line);
  }
}

/* Gets the visible part of the box. Metadata may have any values. */
static gboolean
get_box (const GstCclCanvas *canvas, const GstCclComponent *component, GstCclRectangle *box)
{
  guint64 width = (guint64) canvas->width, height = (guint64) canvas->height;

  box->x1 = (gint) MIN (component->x, width);
  box->y1 = (gint) MIN (component->y, height);
  box->x2 = (gint) MIN ((guint64) component->x + component->width, width);
  box->y2 = (gint) MIN ((guint64) component->y + component->height, height);

  return box->x1 < box->x2 && box->y1 < box->y2;
}

void
gst_ccl_draw_component (GstCclCanvas *canvas, const GstCclDrawStyle *style,
                        const GstCclComponent *component)
{
  gboolean own = style->color >> 24 == 0;
  gboolean tracked = (style->draw & GST_CCL_OVERLAY_DRAW_TRACKS) && component->track;
  guint number = tracked ? component->track : component->label;
  guint32 color = own ? OPAQUE | gst_ccl_label_get_color (number) : style->color;
  gint line = style->line_width > 0 ? (gint) style->line_width
                                    : proportional_width (canvas, MIN_LINE_WIDTH);
  gint scale = style->font_size > 0 ? MAX ((gint) style->font_size / GLYPH_HEIGHT, 1)
                                    : proportional_width (canvas, 1);
  GstCclRectangle box;
  gchar text[64] = "";

  if (!get_box (canvas, component, &box))
    return;

  gst_ccl_canvas_set_color (canvas, color);
  if (style->draw & GST_CCL_OVERLAY_DRAW_BOXES)
    draw_box (canvas, line, &box);
  if (style->draw & GST_CCL_OVERLAY_DRAW_CENTROIDS)
    draw_centroid (canvas, line, component->centroid_x, component->centroid_y);

  if (style->draw & GST_CCL_OVERLAY_DRAW_VELOCITIES && component->track)
    draw_velocity (canvas, line, component);

  if (tracked || style->draw & GST_CCL_OVERLAY_DRAW_LABELS)
    g_snprintf (text, sizeof (text), "%u", number);
  if (style->draw & GST_CCL_OVERLAY_DRAW_AREAS)
    g_snprintf (text + strlen (text), sizeof (text) - strlen (text), "%s%" G_GUINT64_FORMAT,
                text[0] ? ":" : "", component->area);
  if (text[0])
    draw_text (canvas, scale, color, &box, text);
}
