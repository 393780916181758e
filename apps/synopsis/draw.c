/* cudaccl-watch - draws the frames of a synopsis
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/synopsis/private.h"

#include <cairo.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Characters of a time of day. */
#define GLYPHS "0123456789:"
#define N_GLYPHS 11

struct _WatchPainter
{
  const WatchScenes *scenes;
  guint n_frames;
  GPtrArray *waiting; /* tubes by `start` */
  guint next;         /* next in `waiting` */
  GPtrArray *present;
  guint8 *cut; /* pixels of the largest cut-out */
  /* One row of glyphs, 8 bits of coverage for each pixel. */
  cairo_surface_t *glyphs;
  guint glyph_width, glyph_height;
};

static gint
compare_starts (gconstpointer a, gconstpointer b)
{
  const WatchTube *x = *(WatchTube *const *) a, *y = *(WatchTube *const *) b;

  return (x->start > y->start) - (x->start < y->start);
}

static void
select_font (cairo_t *cairo, guint height)
{
  cairo_select_font_face (cairo, "sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size (cairo, 0.8 * height);
}

/* Draws each glyph once, into cells of equal size. */
static void
draw_glyphs (WatchPainter *self)
{
  cairo_font_extents_t font;
  cairo_t *cairo;

  self->glyph_height = CLAMP (self->scenes->height / 26, 10, 32);
  self->glyph_width = (self->glyph_height + 1) / 2;
  self->glyphs = cairo_image_surface_create (CAIRO_FORMAT_A8, self->glyph_width * N_GLYPHS,
                                             self->glyph_height);
  cairo = cairo_create (self->glyphs);
  select_font (cairo, self->glyph_height);
  cairo_font_extents (cairo, &font);
  for (guint i = 0; i < N_GLYPHS; i++) {
    const gchar text[] = { GLYPHS[i], '\0' };
    cairo_text_extents_t extents;

    cairo_text_extents (cairo, text, &extents);
    cairo_move_to (cairo, (i + 0.5) * self->glyph_width - extents.x_advance / 2,
                   (self->glyph_height + font.ascent - font.descent) / 2);
    cairo_show_text (cairo, text);
  }
  cairo_destroy (cairo);
  cairo_surface_flush (self->glyphs);
}

WatchPainter *
watch_painter_new (const WatchScenes *scenes, guint n_frames)
{
  WatchPainter *self = g_new0 (WatchPainter, 1);
  gsize largest = 0;

  self->scenes = scenes;
  self->n_frames = n_frames;
  self->waiting = g_ptr_array_new ();
  self->present = g_ptr_array_new ();
  for (guint i = 0; i < scenes->tubes->len; i++) {
    WatchTube *tube = g_ptr_array_index (scenes->tubes, i);

    g_ptr_array_add (self->waiting, tube);
    for (guint j = 0; j < tube->cuts->len; j++)
      largest = MAX (largest, watch_cut_get_size (&g_array_index (tube->cuts, WatchCut, j)));
  }
  g_ptr_array_sort (self->waiting, compare_starts);
  self->cut = g_malloc (largest);
  draw_glyphs (self);
  return self;
}

void
watch_painter_free (WatchPainter *self)
{
  cairo_surface_destroy (self->glyphs);
  g_ptr_array_unref (self->waiting);
  g_ptr_array_unref (self->present);
  g_free (self->cut);
  g_free (self);
}

static inline guint8
mix (guint8 below, guint8 above, guint alpha)
{
  return below + ((gint) (above - below) * (gint) alpha + (above >= below ? 127 : -127)) / 255;
}

static inline guint8 *
get_row (GstVideoFrame *frame, guint plane, guint y)
{
  return (guint8 *) GST_VIDEO_FRAME_PLANE_DATA (frame, plane) +
         y * GST_VIDEO_FRAME_PLANE_STRIDE (frame, plane);
}

/* Fades from one background of the day to the next. */
static void
draw_background (WatchPainter *self, guint n, GstVideoFrame *frame)
{
  const GArray *backgrounds = self->scenes->backgrounds;
  gdouble position = (gdouble) n / MAX (self->n_frames - 1, 1) * (backgrounds->len - 1);
  guint index = MIN ((guint) position, backgrounds->len - 1);
  guint alpha = (position - index) * 255;
  const guint8 *a = g_array_index (backgrounds, WatchBackground, index).data;
  const guint8 *b =
      g_array_index (backgrounds, WatchBackground, MIN (index + 1, backgrounds->len - 1)).data;

  for (guint plane = 0; plane < 3; plane++) {
    guint width = self->scenes->width / (plane ? 2 : 1);
    guint height = self->scenes->height / (plane ? 2 : 1);

    for (guint y = 0; y < height; y++, a += width, b += width) {
      guint8 *row = get_row (frame, plane, y);

      for (guint x = 0; x < width; x++)
        row[x] = alpha ? mix (a[x], b[x], alpha) : a[x];
    }
  }
}

static gboolean
draw_cut (WatchPainter *self, const WatchCut *cut, GstVideoFrame *frame, GError **error)
{
  gsize size = watch_cut_get_size (cut), done = 0, area = (gsize) cut->width * cut->height;
  const guint8 *alpha = self->cut + area * 3 / 2, *pixels = self->cut;

  while (done < size) {
    gssize n = pread (self->scenes->file, self->cut + done, size - done, cut->offset + done);

    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      g_set_error (error, G_IO_ERROR, G_IO_ERROR_FAILED, "Cannot read what was cut out: %s",
                   n ? g_strerror (errno) : "the file is too short");
      return FALSE;
    }
    done += n;
  }
  for (guint plane = 0; plane < 3; plane++) {
    guint step = plane ? 2 : 1;

    for (guint y = 0; y < cut->height / step; y++) {
      guint8 *row = get_row (frame, plane, cut->y / step + y) + cut->x / step;
      const guint8 *row_alpha = alpha + y * step * cut->width;

      for (guint x = 0; x < cut->width / step; x++, pixels++)
        row[x] = mix (row[x], *pixels, row_alpha[x * step]);
    }
  }
  return TRUE;
}

/* Writes the time beside the object: above it or, at the top, below. */
static void
draw_time (WatchPainter *self, const WatchCut *cut, gint64 time, GstVideoFrame *frame)
{
  g_autoptr (GDateTime) date = g_date_time_new_from_unix_local (time / G_TIME_SPAN_SECOND);
  g_autofree gchar *text = date ? g_date_time_format (date, "%H:%M:%S") : NULL;
  guint length = text ? strlen (text) : 0, width = length * self->glyph_width;
  guint height = self->glyph_height;
  guint x = MIN (cut->x, MAX (self->scenes->width, width) - width);
  guint y = cut->y >= height ? cut->y - height
                             : MIN (cut->y + cut->height, self->scenes->height - height);
  const guint8 *glyphs = cairo_image_surface_get_data (self->glyphs);
  gint stride = cairo_image_surface_get_stride (self->glyphs);

  if (width > self->scenes->width || height > self->scenes->height)
    return;
  for (guint i = 0; i < height; i++) {
    guint8 *row = get_row (frame, 0, y + i) + x;

    for (guint j = 0; j < width; j++) {
      const gchar *glyph = strchr (GLYPHS, text[j / self->glyph_width]);
      gsize column = glyph ? (glyph - GLYPHS) * self->glyph_width + j % self->glyph_width : 0;

      /* White text on the darkened picture. */
      row[j] = mix (row[j] / 3 + 11, 235, glyph ? glyphs[i * stride + column] : 0);
    }
  }
}

gboolean
watch_painter_draw (WatchPainter *self, guint n, GstVideoFrame *frame, GError **error)
{
  draw_background (self, n, frame);
  while (self->next < self->waiting->len) {
    WatchTube *tube = g_ptr_array_index (self->waiting, self->next);

    if (tube->start > n)
      break;
    g_ptr_array_add (self->present, tube);
    self->next++;
  }
  for (guint i = 0; i < self->present->len;) {
    WatchTube *tube = g_ptr_array_index (self->present, i);

    if (n >= tube->start + watch_tube_get_length (tube))
      g_ptr_array_remove_index (self->present, i);
    else
      i++;
  }
  /* Times are drawn above all objects. */
  for (guint pass = 0; pass < 2; pass++) {
    for (guint i = 0; i < self->present->len; i++) {
      WatchTube *tube = g_ptr_array_index (self->present, i);
      gint64 time = (n - tube->start) * G_TIME_SPAN_SECOND / WATCH_SYNOPSIS_RATE;
      const WatchCut *cut = watch_tube_get_cut (tube, time);

      if (pass == 0 && !draw_cut (self, cut, frame, error))
        return FALSE;
      if (pass == 1)
        draw_time (self, cut, tube->begin + time, frame);
    }
  }
  return TRUE;
}
