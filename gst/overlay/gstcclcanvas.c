/* cudaccl - a picture to draw on, and its way onto frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclcanvas.h"

#include <math.h>
#include <string.h>
#include <pango/pangocairo.h>

/* The side of a tile in pixels, a multiple of any chroma subsampling. Smaller tiles have fewer
 * empty pixels to blend, but make more rectangles. */
#define TILE 32

/* The values of tiles. */
#define CLEAN 0
#define DRAWN 1

/* Estimates in ns: most work of a picture, blending a tile, and the overhead of shapes. */
#define MAX_WORK 16000000
#define TILE_WORK 1000
#define SHAPE_WORK 500
#define LINE_WORK 60
#define TEXT_WORK 5000
#define BYTE_WORK 100

/* Most lines in a path: the time to draw it grows faster than their number. */
#define MAX_LINES 16

/* Pixels blended at once. */
#define CHUNK 32

#define TEXT_BACKGROUND 0xff000000

/* Cairo's pixel format with Y, U and V in place of red, green and blue. */
#if G_BYTE_ORDER == G_LITTLE_ENDIAN
#define PICTURE_YUV GST_VIDEO_FORMAT_VUYA
#else
#define PICTURE_YUV GST_VIDEO_FORMAT_AYUV
#endif

struct _GstCclCanvas
{
  gint width, height;
  const GstVideoInfo *yuv; /* format of YUV frames to blend into; NULL for RGB or a composition */
  cairo_surface_t *surface;
  cairo_t *cairo;
  guint8 *tiles; /* DRAWN, or CLEAN if all pixels are 0 */
  gint columns, rows;
  gboolean empty, translucent;
  guint64 work;
  guint left_out;
  gint pen;      /* line width */
  guint n_lines; /* in Cairo's current path */

  PangoLayout *layout; /* NULL if the system has no font */
  gchar *font;
  guint font_size;
  PangoRectangle text; /* ink of the layout */
  gint margin;         /* on the left and right of the text */
};

GstCclCanvas *
gst_ccl_canvas_new (void)
{
  return g_new0 (GstCclCanvas, 1);
}

void
gst_ccl_canvas_reset (GstCclCanvas *self)
{
  g_clear_pointer (&self->cairo, cairo_destroy);
  g_clear_pointer (&self->surface, cairo_surface_destroy);
  g_clear_pointer (&self->tiles, g_free);
}

void
gst_ccl_canvas_free (GstCclCanvas *self)
{
  gst_ccl_canvas_reset (self);
  g_clear_object (&self->layout);
  g_free (self->font);
  g_free (self);
}

/* Returns where a pixel of the picture is. */
static guint8 *
get_pixels (GstCclCanvas *self, gint x, gint y)
{
  return cairo_image_surface_get_data (self->surface) +
         (gsize) y * (gsize) cairo_image_surface_get_stride (self->surface) + 4 * (gsize) x;
}

/* Returns the first rectangle of DRAWN tiles from @tile on, and marks them CLEAN. The caller
 * must erase it. */
static gboolean
take_rectangle (GstCclCanvas *self, gint *tile, GstCclRectangle *rectangle)
{
  const gint n_tiles = self->columns * self->rows;
  gint column, row, right, bottom, i;
  guint8 *first = memchr (self->tiles + *tile, DRAWN, (gsize) (n_tiles - *tile));

  if (!first)
    return FALSE;

  *tile = (gint) (first - self->tiles);
  column = *tile % self->columns;
  row = *tile / self->columns;
  for (right = column; right < self->columns && first[right - column] == DRAWN; right++)
    ;
  for (bottom = row; bottom < self->rows; bottom++) {
    guint8 *below = first + (bottom - row) * self->columns;

    for (i = 0; i < right - column && below[i] == DRAWN; i++)
      ;
    if (i < right - column)
      break;
    memset (below, CLEAN, (gsize) i);
  }

  rectangle->x1 = column * TILE;
  rectangle->y1 = row * TILE;
  rectangle->x2 = MIN (right * TILE, self->width);
  rectangle->y2 = MIN (bottom * TILE, self->height);

  return TRUE;
}

/* Marks more tiles so that the rectangles of take_rectangle() share no rows. */
static void
join_bands (GstCclCanvas *self)
{
  const gsize columns = (gsize) self->columns;
  gsize first = columns, last = 0;
  gint top = 0, row;

  for (row = 0; row <= self->rows; row++) {
    const guint8 *tiles = self->tiles + (gsize) row * columns;
    const guint8 *drawn = row < self->rows ? memchr (tiles, DRAWN, columns) : NULL;

    if (drawn) {
      first = MIN (first, (gsize) (drawn - tiles));
      drawn = memrchr (tiles, DRAWN, columns);
      last = MAX (last, (gsize) (drawn - tiles));
      continue;
    }
    for (; top < row; top++)
      memset (self->tiles + (gsize) top * columns + first, DRAWN, last - first + 1);
    top = row + 1;
    first = columns;
    last = 0;
  }
}

static void
erase (GstCclCanvas *self, const GstCclRectangle *area)
{
  gint y;

  for (y = area->y1; y < area->y2; y++)
    memset (get_pixels (self, area->x1, y), 0, 4 * (gsize) (area->x2 - area->x1));
}

static gboolean
ensure_picture (GstCclCanvas *self, gint width, gint height)
{
  if (self->surface && self->empty && self->width == width && self->height == height)
    return TRUE;

  gst_ccl_canvas_reset (self);
  self->width = width;
  self->height = height;
  self->surface = cairo_image_surface_create (CAIRO_FORMAT_ARGB32, width, height);
  if (cairo_surface_status (self->surface) != CAIRO_STATUS_SUCCESS) {
    gst_ccl_canvas_reset (self);
    return FALSE;
  }
  self->cairo = cairo_create (self->surface);
  cairo_set_operator (self->cairo, CAIRO_OPERATOR_SOURCE);
  cairo_set_antialias (self->cairo, CAIRO_ANTIALIAS_NONE);
  cairo_set_line_cap (self->cairo, CAIRO_LINE_CAP_SQUARE);
  self->columns = (width + TILE - 1) / TILE;
  self->rows = (height + TILE - 1) / TILE;
  self->tiles = g_malloc0_n ((gsize) self->columns, (gsize) self->rows);

  return TRUE;
}

static void
ensure_font (GstCclCanvas *self, const gchar *name, guint size)
{
  PangoFontMap *map;
  PangoFontFamily **families;
  PangoContext *context;
  PangoFontDescription *font;
  gint n;

  if (self->font_size == size && g_strcmp0 (self->font, name) == 0)
    return;

  g_clear_object (&self->layout);
  g_free (self->font);
  self->font = g_strdup (name);
  self->font_size = size;
  self->margin = MAX ((gint) size / 6, 1);

  /* The default map is per thread, but frames may come from several threads. */
  map = pango_cairo_font_map_new ();
  pango_font_map_list_families (map, &families, &n);
  g_free (families);
  if (n > 0) {
    context = pango_font_map_create_context (map);
    font = pango_font_description_from_string (name ? name : "");
    pango_font_description_set_absolute_size (font, (gdouble) size * PANGO_SCALE);
    self->layout = pango_layout_new (context);
    pango_layout_set_font_description (self->layout, font);
    pango_layout_set_single_paragraph_mode (self->layout, TRUE);
    pango_font_description_free (font);
    g_object_unref (context);
  }
  g_object_unref (map);
}

gboolean
gst_ccl_canvas_begin (GstCclCanvas *self, gint width, gint height, const GstVideoInfo *yuv,
                      const gchar *font, guint font_size)
{
  if (!ensure_picture (self, width, height))
    return FALSE;

  ensure_font (self, font, font_size);
  self->yuv = yuv;
  self->empty = TRUE;
  self->translucent = FALSE;
  self->work = 0;
  self->left_out = 0;

  return TRUE;
}

void
gst_ccl_canvas_leave_out (GstCclCanvas *self)
{
  self->left_out++;
}

/* Reserves the work of a shape. Returns FALSE, and counts the shape as left out, if too little
 * is left. */
static gboolean
take_work (GstCclCanvas *self, guint64 work)
{
  if (self->work + work > MAX_WORK) {
    gst_ccl_canvas_leave_out (self);
    return FALSE;
  }
  self->work += work;

  return TRUE;
}

/* Y, U and V can take the place of red, green and blue, because Cairo's channels are
 * independent. */
static void
set_yuv (GstCclCanvas *self, gdouble r, gdouble g, gdouble b, gdouble alpha)
{
  const GstVideoColorimetry *colorimetry = &self->yuv->colorimetry;
  gint offset[GST_VIDEO_MAX_COMPONENTS], scale[GST_VIDEO_MAX_COMPONENTS];
  gdouble kr, kb, y, u, v;

  if (!gst_video_color_matrix_get_Kr_Kb (colorimetry->matrix, &kr, &kb))
    gst_video_color_matrix_get_Kr_Kb (GST_VIDEO_COLOR_MATRIX_BT601, &kr, &kb);
  gst_video_color_range_offsets (colorimetry->range,
                                 gst_video_format_get_info (GST_VIDEO_FORMAT_AYUV), offset, scale);
  y = kr * r + (1.0 - kr - kb) * g + kb * b;
  u = (b - y) / (2.0 * (1.0 - kb));
  v = (r - y) / (2.0 * (1.0 - kr));
  cairo_set_source_rgba (self->cairo, (offset[0] + scale[0] * y) / 255.0,
                         (offset[1] + scale[1] * u) / 255.0, (offset[2] + scale[2] * v) / 255.0,
                         alpha);
}

static void
set_color (GstCclCanvas *self, guint32 color)
{
  const gdouble r = (color >> 16 & 255) / 255.0, g = (color >> 8 & 255) / 255.0,
                b = (color & 255) / 255.0, alpha = (color >> 24) / 255.0;

  self->translucent |= alpha < 1.0;
  if (self->yuv)
    set_yuv (self, r, g, b, alpha);
  else
    cairo_set_source_rgba (self->cairo, r, g, b, alpha);
}

/* Marks the tiles of a rectangle, which may extend beyond the picture, as DRAWN. */
static void
mark (GstCclCanvas *self, gint x1, gint y1, gint x2, gint y2)
{
  const gint first = MAX (x1, 0) / TILE, last = (MIN (x2, self->width) - 1) / TILE;
  gint row, column;

  if (MAX (x1, 0) >= MIN (x2, self->width) || MAX (y1, 0) >= MIN (y2, self->height))
    return;

  for (row = MAX (y1, 0) / TILE; row <= (MIN (y2, self->height) - 1) / TILE; row++) {
    guint8 *tiles = self->tiles + row * self->columns;

    for (column = first; column <= last; column++) {
      self->work += tiles[column] == CLEAN ? TILE_WORK : 0;
      tiles[column] = DRAWN;
    }
  }
  self->empty = FALSE;
}

static void
add_rectangle (GstCclCanvas *self, gint x, gint y, gint width, gint height)
{
  cairo_rectangle (self->cairo, x, y, width, height);
  mark (self, x, y, x + width, y + height);
}

void
gst_ccl_canvas_draw_box (GstCclCanvas *self, guint32 color, gint line, const GstCclRectangle *box)
{
  const gint width = box->x2 - box->x1, height = box->y2 - box->y1;
  const gboolean full = width <= 2 * line || height <= 2 * line;
  const guint64 pixels =
      full ? (guint64) width * (guint64) height : (guint64) line * 2 * (guint64) (width + height);

  if (!take_work (self, SHAPE_WORK + pixels / 4))
    return;

  set_color (self, color);
  if (full) {
    add_rectangle (self, box->x1, box->y1, width, height);
  } else {
    add_rectangle (self, box->x1, box->y1, width, line);
    add_rectangle (self, box->x1, box->y2 - line, width, line);
    add_rectangle (self, box->x1, box->y1 + line, line, height - 2 * line);
    add_rectangle (self, box->x2 - line, box->y1 + line, line, height - 2 * line);
  }
  cairo_fill (self->cairo);
}

void
gst_ccl_canvas_draw_cross (GstCclCanvas *self, guint32 color, gint line, gdouble x, gdouble y)
{
  const gint arm = 2 * line;
  gint left, top;

  if (!(x >= 0.0 && x < self->width && y >= 0.0 && y < self->height) ||
      !take_work (self, SHAPE_WORK + (guint64) line * (guint64) line))
    return;

  left = (gint) x - line / 2;
  top = (gint) y - line / 2;
  set_color (self, color);
  add_rectangle (self, left - arm, top, 2 * arm + line, line);
  add_rectangle (self, left, top - arm, line, 2 * arm + line);
  cairo_fill (self->cairo);
}

/* Clips a line to low...high in one dimension. Returns FALSE if nothing is left. */
static gboolean
clip (gdouble start, gdouble length, gdouble low, gdouble high, gdouble *from, gdouble *to)
{
  gdouble first, last;

  if (length == 0.0)
    return start >= low && start <= high;
  first = (low - start) / length;
  last = (high - start) / length;
  *from = MAX (*from, MIN (first, last));
  *to = MIN (*to, MAX (first, last));

  return *from <= *to;
}

void
gst_ccl_canvas_set_pen (GstCclCanvas *self, guint32 color, gint line)
{
  set_color (self, color);
  cairo_set_line_width (self->cairo, line);
  self->pen = line;
}

void
gst_ccl_canvas_lift_pen (GstCclCanvas *self)
{
  cairo_stroke (self->cairo);
  self->n_lines = 0;
}

void
gst_ccl_canvas_draw_line (GstCclCanvas *self, gdouble x1, gdouble y1, gdouble x2, gdouble y2)
{
  const gint line = self->pen;
  const gdouble right = self->width - 1, bottom = self->height - 1, odd = line % 2 / 2.0;
  gdouble from = 0.0, to = 1.0, dx = x2 - x1, dy = y2 - y1;
  gint i, n;

  if (!isfinite (x1) || !isfinite (y1) || !isfinite (dx) || !isfinite (dy) ||
      !clip (x1, dx, 0.0, right, &from, &to) || !clip (y1, dy, 0.0, bottom, &from, &to))
    return;

  /* Lines of odd width are sharp at pixel centres. */
  x2 = CLAMP (x1 + to * dx, 0.0, right) + odd;
  y2 = CLAMP (y1 + to * dy, 0.0, bottom) + odd;
  x1 = CLAMP (x1 + from * dx, 0.0, right) + odd;
  y1 = CLAMP (y1 + from * dy, 0.0, bottom) + odd;
  dx = x2 - x1;
  dy = y2 - y1;
  if (!take_work (self, LINE_WORK + (guint64) (1.6 * (line + 4) * (line + hypot (dx, dy)))))
    return;

  cairo_move_to (self->cairo, x1, y1);
  cairo_line_to (self->cairo, x2, y2);
  if (++self->n_lines == MAX_LINES)
    gst_ccl_canvas_lift_pen (self);
  n = (gint) (MAX (ABS (dx), ABS (dy)) / TILE) + 1;
  for (i = 0; i < n; i++, x1 += dx / n, y1 += dy / n)
    mark (self, (gint) MIN (x1, x1 + dx / n) - line - 1, (gint) MIN (y1, y1 + dy / n) - line - 1,
          (gint) MAX (x1, x1 + dx / n) + line + 2, (gint) MAX (y1, y1 + dy / n) + line + 2);
}

gboolean
gst_ccl_canvas_set_text (GstCclCanvas *self, const gchar *text, gint *width, gint *height)
{
  gchar *valid;

  if (!self->layout || !take_work (self, TEXT_WORK + BYTE_WORK * strlen (text)))
    return FALSE;

  valid = g_utf8_make_valid (text, -1);
  pango_layout_set_text (self->layout, valid, -1);
  g_free (valid);
  pango_layout_get_pixel_extents (self->layout, NULL, &self->text);
  self->text.width = CLAMP (self->text.width, 1, G_MAXINT16);
  self->text.height = CLAMP (self->text.height, 1, G_MAXINT16);
  *width = self->text.width + 2 * self->margin;
  *height = self->text.height;

  return TRUE;
}

void
gst_ccl_canvas_draw_text (GstCclCanvas *self, guint32 color, gint x, gint y)
{
  const gint width = self->text.width + 2 * self->margin, height = self->text.height;
  const guint64 visible = (guint64) MIN (width, self->width) * (guint64) MIN (height, self->height);

  if (!take_work (self, visible / 2))
    return;

  /* Ink may extend beyond the text's rectangle. */
  cairo_save (self->cairo);
  add_rectangle (self, x, y, width, height);
  cairo_clip_preserve (self->cairo);
  set_color (self, TEXT_BACKGROUND);
  cairo_fill (self->cairo);
  cairo_set_operator (self->cairo, CAIRO_OPERATOR_OVER);
  set_color (self, color);
  cairo_move_to (self->cairo, x + self->margin - self->text.x, y - self->text.y);
  pango_cairo_show_layout (self->cairo, self->layout);
  cairo_restore (self->cairo);
}

gboolean
gst_ccl_canvas_is_empty (const GstCclCanvas *self)
{
  return self->empty;
}

guint
gst_ccl_canvas_get_left_out (const GstCclCanvas *self)
{
  return self->left_out;
}

/* Divides the colours in @area by their alpha: gst_video_blend() overflows on premultiplied
 * colours in 16-bit formats. */
static void
unpremultiply (GstCclCanvas *self, const GstCclRectangle *area)
{
  gint x, y;

  for (y = area->y1; self->translucent && y < area->y2; y++) {
    guint32 *row = (guint32 *) (gpointer) get_pixels (self, area->x1, y);

    for (x = 0; x < area->x2 - area->x1; x++) {
      const guint32 alpha = row[x] >> 24;
      guint shift;

      for (shift = 0; alpha % 255 != 0 && shift < 24; shift += 8) {
        const guint32 value = ((row[x] >> shift & 255) * 255 + alpha / 2) / alpha;

        row[x] = (row[x] & ~(255u << shift)) | MIN (value, 255) << shift;
      }
    }
  }
}

/* Copies a part of the picture. */
static GstVideoOverlayRectangle *
copy_rectangle (GstCclCanvas *self, const GstCclRectangle *area)
{
  const gsize width = (gsize) (area->x2 - area->x1), height = (gsize) (area->y2 - area->y1);
  guint8 *pixels = g_malloc_n (height, 4 * width);
  GstBuffer *buffer = gst_buffer_new_wrapped (pixels, height * 4 * width);
  GstVideoOverlayRectangle *rectangle;
  gint y;

  for (y = area->y1; y < area->y2; y++, pixels += 4 * width)
    memcpy (pixels, get_pixels (self, area->x1, y), 4 * width);
  gst_buffer_add_video_meta (buffer, GST_VIDEO_FRAME_FLAG_NONE,
                             GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB, (guint) width,
                             (guint) height);
  rectangle =
      gst_video_overlay_rectangle_new_raw (buffer, area->x1, area->y1, (guint) width,
                                           (guint) height, GST_VIDEO_OVERLAY_FORMAT_FLAG_NONE);
  gst_buffer_unref (buffer);

  return rectangle;
}

GstVideoOverlayComposition *
gst_ccl_canvas_compose (GstCclCanvas *self, GstVideoOverlayComposition *earlier)
{
  GstVideoOverlayComposition *result = earlier ? gst_video_overlay_composition_copy (earlier)
                                               : gst_video_overlay_composition_new (NULL);
  GstCclRectangle area;
  gint tile = 0;

  cairo_surface_flush (self->surface);
  join_bands (self);
  while (take_rectangle (self, &tile, &area)) {
    GstVideoOverlayRectangle *rectangle;

    unpremultiply (self, &area);
    rectangle = copy_rectangle (self, &area);
    erase (self, &area);
    gst_video_overlay_composition_add_rectangle (result, rectangle);
    gst_video_overlay_rectangle_unref (rectangle);
  }
  cairo_surface_mark_dirty (self->surface);
  self->empty = TRUE;

  return result;
}

/* Returns whether any part of a frame is a frame of the same format. */
static gboolean
has_parts (const GstVideoFormatInfo *format)
{
  guint i;

  if (GST_VIDEO_FORMAT_INFO_IS_TILED (format) || GST_VIDEO_FORMAT_INFO_IS_COMPLEX (format) ||
      GST_VIDEO_FORMAT_INFO_HAS_PALETTE (format))
    return FALSE;

  for (i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++) {
    if (GST_VIDEO_FORMAT_INFO_PSTRIDE (format, i) <= 0)
      return FALSE;
  }

  return TRUE;
}

/* Returns whether drawn pixels can replace bytes of the frame. Other formats need
 * gst_video_blend(), which takes several times as long; among them packed YUV, because GStreamer
 * 1.22 describes VYUY wrongly. */
static gboolean
replaces (const GstCclCanvas *self, const GstVideoFormatInfo *format)
{
  guint i;

  if (self->translucent || GST_VIDEO_FORMAT_INFO_HAS_ALPHA (format) ||
      GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format) > 3 || !has_parts (format) ||
      (GST_VIDEO_FORMAT_INFO_IS_YUV (format) && GST_VIDEO_FORMAT_INFO_N_PLANES (format) == 1))
    return FALSE;

  for (i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++) {
    if (GST_VIDEO_FORMAT_INFO_DEPTH (format, i) != 8 ||
        GST_VIDEO_FORMAT_INFO_SHIFT (format, i) != 0)
      return FALSE;
  }

  return TRUE;
}

/* Vectorized if @step is a constant. */
static inline void
replace_chunk (guint8 *to, const guint32 *from, gint step, guint shift)
{
  gint i;

  for (i = 0; i < CHUNK; i++)
    to[i] = from[i * step] >> 24 ? (guint8) (from[i * step] >> shift) : to[i];
}

/* Replaces the bytes of one component by every @step-th pixel of the picture that is drawn. */
static void
replace_row (guint8 *to, gint pixel, const guint32 *from, gint step, guint shift, gint n)
{
  gint i = 0;

  for (; pixel == 1 && step <= 2 && i + CHUNK <= n; i += CHUNK) {
    if (step == 1)
      replace_chunk (to + i, from + i, 1, shift);
    else
      replace_chunk (to + i, from + 2 * i, 2, shift);
  }
  for (; i < n; i++) {
    if (from[i * step] >> 24)
      to[i * pixel] = (guint8) (from[i * step] >> shift);
  }
}

/* Replaces the frame's pixels at @place by drawn pixels of the picture. Of pixels that share
 * chroma, the first one counts, as with gst_video_blend(). */
static void
replace_rectangle (GstCclCanvas *self, const GstCclRectangle *area, GstVideoFrame *frame,
                   const GstCclRectangle *place)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  guint i;

  for (i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++) {
    const guint w_sub = GST_VIDEO_FORMAT_INFO_W_SUB (format, i);
    const guint h_sub = GST_VIDEO_FORMAT_INFO_H_SUB (format, i);
    const gint pixel = GST_VIDEO_FRAME_COMP_PSTRIDE (frame, i);
    const gint first = GST_VIDEO_SUB_SCALE (w_sub, place->x1);
    const gint last = GST_VIDEO_SUB_SCALE (w_sub, place->x2);
    gint row = GST_VIDEO_SUB_SCALE (h_sub, place->y1);

    for (; row < GST_VIDEO_SUB_SCALE (h_sub, place->y2); row++) {
      const guint8 *from = get_pixels (self, area->x1 + (first << w_sub) - place->x1,
                                       area->y1 + (row << h_sub) - place->y1);
      guint8 *to = (guint8 *) GST_VIDEO_FRAME_COMP_DATA (frame, i) +
                   row * GST_VIDEO_FRAME_COMP_STRIDE (frame, i) + first * pixel;

      replace_row (to, pixel, (const guint32 *) (gconstpointer) from, 1 << w_sub, 16 - 8 * i,
                   last - first);
    }
  }
}

/* Returns the alignment of a plane that GStreamer's vectorized functions rely on: the size of its
 * pixels, or the largest power of two in it. */
static guint
get_alignment (const GstVideoFormatInfo *format, guint plane)
{
  guint i, size = 1;

  for (i = 0; i < GST_VIDEO_FORMAT_INFO_N_COMPONENTS (format); i++) {
    if (GST_VIDEO_FORMAT_INFO_PLANE (format, i) == plane)
      size = MAX (size, (guint) GST_VIDEO_FORMAT_INFO_PSTRIDE (format, i));
  }

  return size & -size;
}

gboolean
gst_ccl_canvas_fits (const GstCclCanvas *self, const GstVideoFrame *frame)
{
  guint i;

  if (replaces (self, frame->info.finfo))
    return TRUE;

  for (i = 0; i < GST_VIDEO_FRAME_N_PLANES (frame); i++) {
    guint alignment = get_alignment (frame->info.finfo, i);
    gsize stride = (gsize) GST_VIDEO_FRAME_PLANE_STRIDE (frame, i);

    /* Modulo a power of two, negative strides do not matter. Tiles have other strides. */
    if ((guintptr) frame->data[i] % alignment != 0 ||
        (stride % alignment != 0 && !GST_VIDEO_FORMAT_INFO_IS_TILED (frame->info.finfo)))
      return FALSE;
  }

  return TRUE;
}

/* Sets @part to a part of @frame that contains @area, and makes @area relative to it. */
static void
take_part (const GstVideoFrame *frame, GstCclRectangle *area, GstVideoFrame *part)
{
  const GstVideoFormatInfo *format = frame->info.finfo;
  gint left = area->x1 / TILE * TILE, top = area->y1 / TILE * TILE;
  guint plane;

  *part = *frame;
  GST_VIDEO_INFO_WIDTH (&part->info) = area->x2 - left;
  GST_VIDEO_INFO_HEIGHT (&part->info) = area->y2 - top;
  for (plane = 0; plane < GST_VIDEO_FRAME_N_PLANES (frame); plane++) {
    gint components[GST_VIDEO_MAX_COMPONENTS], i;
    gssize row, column;

    gst_video_format_info_component (format, plane, components);
    i = components[0];
    row = top >> GST_VIDEO_FORMAT_INFO_H_SUB (format, i);
    column = left >> GST_VIDEO_FORMAT_INFO_W_SUB (format, i);
    part->data[plane] = (guint8 *) frame->data[plane] +
                        row * GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane) +
                        column * GST_VIDEO_FORMAT_INFO_PSTRIDE (format, i);
  }
  area->x1 -= left;
  area->y1 -= top;
}

/* Blends a part of the picture at @place of @frame. */
static gboolean
blend_rectangle (GstCclCanvas *self, const GstCclRectangle *area, GstVideoFrame *frame,
                 GstCclRectangle *place)
{
  GstVideoFrame picture = { 0 }, part = *frame;

  if (replaces (self, frame->info.finfo)) {
    replace_rectangle (self, area, frame, place);
    return TRUE;
  }

  gst_video_info_set_format (&picture.info,
                             self->yuv ? PICTURE_YUV : GST_VIDEO_OVERLAY_COMPOSITION_FORMAT_RGB,
                             (guint) (place->x2 - place->x1), (guint) (place->y2 - place->y1));
  GST_VIDEO_INFO_PLANE_STRIDE (&picture.info, 0) = cairo_image_surface_get_stride (self->surface);
  picture.data[0] = get_pixels (self, area->x1, area->y1);
  /* gst_video_blend() converts whole rows of the frame. */
  if (has_parts (frame->info.finfo))
    take_part (frame, place, &part);

  return gst_video_blend (&part, &picture, place->x1, place->y1, 1.0f);
}

gboolean
gst_ccl_canvas_blend (GstCclCanvas *self, GstVideoFrame *frame, gint x, gint y)
{
  GstCclRectangle area, band;
  gboolean blended = TRUE;
  gint tile = 0;

  cairo_surface_flush (self->surface);
  if (!has_parts (frame->info.finfo))
    join_bands (self);
  while (take_rectangle (self, &tile, &area)) {
    /* In bands that stay in the cache from the first component to the last. */
    for (band = area; band.y1 < area.y2; band.y1 = band.y2) {
      GstCclRectangle place;

      band.y2 = MIN (band.y1 + TILE, area.y2);
      place.x1 = band.x1 + x;
      place.y1 = band.y1 + y;
      place.x2 = MIN (band.x2 + x, GST_VIDEO_FRAME_WIDTH (frame));
      place.y2 = MIN (band.y2 + y, GST_VIDEO_FRAME_HEIGHT (frame));
      unpremultiply (self, &band);
      /* A frame may have fewer pixels than its caps say. */
      if (place.x1 < place.x2 && place.y1 < place.y2)
        blended &= blend_rectangle (self, &band, frame, &place);
      erase (self, &band);
    }
  }
  cairo_surface_mark_dirty (self->surface);
  self->empty = TRUE;

  return blended;
}
