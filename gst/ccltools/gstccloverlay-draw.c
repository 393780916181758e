/* cudaccl - what is drawn of a component
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccloverlay-draw.h"

#include <string.h>

#define GLYPH_WIDTH 5
#define GLYPH_HEIGHT 7
#define GLYPH_ADVANCE (GLYPH_WIDTH + 1)

/* The pixels of the frame's shorter side for each pixel of a line's width, and of the squares that
 * digits are made of. */
#define FRAME_SHARE 360

/* Thinner lines can miss the pixels whose chroma counts, where several share it. */
#define LINE_LEAST 2

#define OPAQUE 0xff000000
#define TEXT_BACKGROUND OPAQUE

/* Row by row from the top; the highest of the five bits is the leftmost pixel. Only numbers are
 * written, so no font has to be loaded, and every pixel of theirs becomes a whole square. */
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
    { GST_CCL_OVERLAY_DRAW_BOXES, "Outlines of the bounding boxes", "boxes" },
    { GST_CCL_OVERLAY_DRAW_CENTROIDS, "A cross at each centroid", "centroids" },
    { GST_CCL_OVERLAY_DRAW_LABELS, "Labels, as numbers", "labels" },
    { GST_CCL_OVERLAY_DRAW_AREAS, "Areas in pixels, as numbers", "areas" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_flags_register_static ("GstCclOverlayDraw", values));

  return type;
}

void
gst_ccl_painter_init (GstCclPainter *painter, gint width, gint height, const GstVideoInfo *yuv)
{
  memset (painter, 0, sizeof (*painter));
  painter->width = width;
  painter->height = height;
  painter->yuv = yuv;
}

/* The bytes of AYUV, in the matrix and range of the frames. */
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
gst_ccl_painter_set_color (GstCclPainter *painter, guint32 color)
{
  guint8 bytes[4];

  if (painter->yuv) {
    convert_to_yuv (painter->yuv, color, bytes);
    memcpy (&painter->value, bytes, sizeof (bytes));
  } else {
    /* The RGB of compositions is a number like this, whatever the order of its bytes. */
    painter->value = color;
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
gst_ccl_painter_fill (GstCclPainter *painter, gint x, gint y, gint width, gint height)
{
  const GstCclRectangle frame = { 0, 0, painter->width, painter->height };
  const GstCclRectangle clip = painter->pixels ? painter->area : frame;
  const GstCclRectangle rect = { MAX (x, clip.x1), MAX (y, clip.y1), MIN (x + width, clip.x2),
                                 MIN (y + height, clip.y2) };
  /* Copies: for all the compiler knows, what is read from the painter might be a pixel. */
  const guint32 value = painter->value;
  const gsize stride = (gsize) (clip.x2 - clip.x1);
  guint32 *row = painter->pixels;

  if (rect.x1 >= rect.x2 || rect.y1 >= rect.y2)
    return;
  if (!row) {
    gst_ccl_rectangle_extend (&painter->area, &rect);
    return;
  }

  row += (gsize) (rect.y1 - clip.y1) * stride + (gsize) (rect.x1 - clip.x1);
  for (y = rect.y1; y < rect.y2; y++, row += stride) {
    for (x = 0; x < rect.x2 - rect.x1; x++)
      row[x] = value;
  }
}

/* What suits the size of the frame. */
static gint
in_proportion (const GstCclPainter *painter, gint least)
{
  gint side = MIN (painter->width, painter->height);

  return MAX ((side + FRAME_SHARE / 2) / FRAME_SHARE, least);
}

/* Lines lie inside of the box: those of a box at the edge of the frame are seen too. */
static void
draw_box (GstCclPainter *painter, gint line, const GstCclRectangle *box)
{
  gint width = box->x2 - box->x1, height = box->y2 - box->y1;

  if (width <= 2 * line || height <= 2 * line) {
    gst_ccl_painter_fill (painter, box->x1, box->y1, width, height);
    return;
  }

  gst_ccl_painter_fill (painter, box->x1, box->y1, width, line);
  gst_ccl_painter_fill (painter, box->x1, box->y2 - line, width, line);
  gst_ccl_painter_fill (painter, box->x1, box->y1 + line, line, height - 2 * line);
  gst_ccl_painter_fill (painter, box->x2 - line, box->y1 + line, line, height - 2 * line);
}

/* The pixel that the centroid is in is in the middle. Centroids may be outside of the frame, when a
 * part of the component was cut off. */
static void
draw_centroid (GstCclPainter *painter, gint line, gdouble centroid_x, gdouble centroid_y)
{
  gint arm = 2 * line, x, y;

  if (!(centroid_x > -1.0 && centroid_x < painter->width && centroid_y > -1.0 &&
        centroid_y < painter->height))
    return;

  x = (gint) (centroid_x + 1.5) - 1 - line / 2;
  y = (gint) (centroid_y + 1.5) - 1 - line / 2;
  gst_ccl_painter_fill (painter, x - arm, y, 2 * arm + line, line);
  gst_ccl_painter_fill (painter, x, y - arm, line, 2 * arm + line);
}

static void
draw_glyph (GstCclPainter *painter, gint x, gint y, gint scale, gchar c)
{
  const guint8 *rows = glyphs[c - '0']; /* ':' comes after '9' */
  gint row, column;

  for (row = 0; row < GLYPH_HEIGHT; row++) {
    for (column = 0; column < GLYPH_WIDTH; column++) {
      if (rows[row] >> (GLYPH_WIDTH - 1 - column) & 1)
        gst_ccl_painter_fill (painter, x + column * scale, y + row * scale, scale, scale);
    }
  }
}

/* Above the box, or below it where there is no room, or in it where there is none either. */
static void
draw_text (GstCclPainter *painter, gint scale, guint32 color, const GstCclRectangle *box,
           const gchar *text)
{
  gint n = (gint) strlen (text), i;
  gint width = (n * GLYPH_ADVANCE + 1) * scale, height = (GLYPH_HEIGHT + 2) * scale;
  gint x = MAX (MIN (box->x1, painter->width - width), 0), y = box->y1 - height;

  if (y < 0)
    y = box->y2;
  if (y + height > painter->height)
    y = box->y1;

  gst_ccl_painter_set_color (painter, TEXT_BACKGROUND);
  gst_ccl_painter_fill (painter, x, y, width, height);
  gst_ccl_painter_set_color (painter, color);
  for (i = 0; i < n; i++)
    draw_glyph (painter, x + (i * GLYPH_ADVANCE + 1) * scale, y + scale, scale, text[i]);
}

/* Metadata can say anything; what of the box is in the frame is what matters. */
static gboolean
get_box (const GstCclPainter *painter, const GstCclComponent *component, GstCclRectangle *box)
{
  guint64 width = (guint64) painter->width, height = (guint64) painter->height;

  box->x1 = (gint) MIN (component->x, width);
  box->y1 = (gint) MIN (component->y, height);
  box->x2 = (gint) MIN ((guint64) component->x + component->width, width);
  box->y2 = (gint) MIN ((guint64) component->y + component->height, height);

  return box->x1 < box->x2 && box->y1 < box->y2;
}

void
gst_ccl_draw_component (GstCclPainter *painter, const GstCclDrawStyle *style,
                        const GstCclComponent *component)
{
  gboolean own = style->color >> 24 == 0;
  guint32 color = own ? OPAQUE | gst_ccl_label_get_color (component->label) : style->color;
  gint line =
      style->line_width > 0 ? (gint) style->line_width : in_proportion (painter, LINE_LEAST);
  gint scale = style->font_size > 0 ? MAX ((gint) style->font_size / GLYPH_HEIGHT, 1)
                                    : in_proportion (painter, 1);
  GstCclRectangle box;
  gchar text[64] = "";

  if (!get_box (painter, component, &box))
    return;

  gst_ccl_painter_set_color (painter, color);
  if (style->draw & GST_CCL_OVERLAY_DRAW_BOXES)
    draw_box (painter, line, &box);
  if (style->draw & GST_CCL_OVERLAY_DRAW_CENTROIDS)
    draw_centroid (painter, line, component->centroid_x, component->centroid_y);

  if (style->draw & GST_CCL_OVERLAY_DRAW_LABELS)
    g_snprintf (text, sizeof (text), "%u", component->label);
  if (style->draw & GST_CCL_OVERLAY_DRAW_AREAS)
    g_snprintf (text + strlen (text), sizeof (text) - strlen (text), "%s%" G_GUINT64_FORMAT,
                text[0] ? ":" : "", component->area);
  if (text[0])
    draw_text (painter, scale, color, &box, text);
}
