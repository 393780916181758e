/* cudaccl - text as masks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccloverlay-text.h"

#include <string.h>
#ifdef HAVE_PANGO
#include <pango/pangocairo.h>
#endif

#define GLYPH_WIDTH 5
#define GLYPH_HEIGHT 7
#define GLYPH_ADVANCE (GLYPH_WIDTH + 1)

#define MAX_WIDTH 4096

/* Bytes of masks after which gst_ccl_font_trim() frees those that have not been drawn for long. */
#define MAX_BYTES (256 << 10)

struct _GstCclFont
{
  gint scale; /* of the built-in font */
  /* Texts drawn since the last trim that took effect, and those last drawn before it. */
  GHashTable *recent, *older;
  gsize recent_bytes;
#ifdef HAVE_PANGO
  PangoLayout *layout; /* NULL: the built-in font */
  gint margin;
#endif
};

/* Rows from top to bottom; the highest of the five bits is the leftmost pixel. Each is drawn as a
 * square. */
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

static GstCclText *
text_new (gint width, gint height)
{
  GstCclText *text = g_new (GstCclText, 1);

  text->width = width;
  text->height = height;
  text->alpha = g_malloc0 ((gsize) width * (gsize) height);

  return text;
}

static void
text_free (gpointer data)
{
  GstCclText *text = data;

  g_free (text->alpha);
  g_free (text);
}

static GstCclText *
draw_built_in (gint scale, const gchar *string)
{
  gint n = (gint) MIN (strlen (string), MAX_WIDTH / (GLYPH_ADVANCE * (gsize) scale)), i, x, y;
  GstCclText *text = text_new ((n * GLYPH_ADVANCE + 1) * scale, (GLYPH_HEIGHT + 2) * scale);

  for (i = 0; i < n; i++) {
    const guint8 *rows = glyphs[string[i] - '0']; /* ':' comes after '9' */

    if (string[i] < '0' || string[i] > ':')
      continue;
    for (y = 0; y < GLYPH_HEIGHT * scale; y++) {
      guint8 *row = text->alpha + (gsize) (y + scale) * (gsize) text->width +
                    (gsize) ((i * GLYPH_ADVANCE + 1) * scale);

      for (x = 0; x < GLYPH_WIDTH * scale; x++)
        row[x] = rows[y / scale] >> (GLYPH_WIDTH - 1 - x / scale) & 1 ? 255 : 0;
    }
  }

  return text;
}

#ifdef HAVE_PANGO
static PangoLayout *
load_font (const gchar *description, guint size)
{
  /* A map of its own: the default one belongs to a thread. */
  PangoFontMap *map = pango_cairo_font_map_new ();
  PangoFontFamily **families;
  PangoContext *context;
  PangoFontDescription *font;
  PangoLayout *layout;
  gint n;

  pango_font_map_list_families (map, &families, &n);
  g_free (families);
  if (n == 0) {
    g_object_unref (map);
    return NULL;
  }

  context = pango_font_map_create_context (map);
  layout = pango_layout_new (context);
  font = pango_font_description_from_string (description);
  pango_font_description_set_absolute_size (font, (gdouble) size * PANGO_SCALE);
  pango_layout_set_font_description (layout, font);
  pango_layout_set_single_paragraph_mode (layout, TRUE);
  pango_font_description_free (font);
  g_object_unref (context);
  g_object_unref (map);

  return layout;
}

static GstCclText *
draw_layout (PangoLayout *layout, gint margin, const gchar *string)
{
  gchar *valid = g_utf8_make_valid (string, -1); /* names of others may have any bytes */
  cairo_surface_t *surface;
  PangoRectangle extents;
  GstCclText *text;
  gint stride, y;
  cairo_t *cairo;

  pango_layout_set_text (layout, valid, -1);
  g_free (valid);
  pango_layout_get_pixel_extents (layout, NULL, &extents);
  text = text_new (CLAMP (extents.width, 1, MAX_WIDTH) + 2 * margin,
                   CLAMP (extents.height, 1, MAX_WIDTH));

  surface = cairo_image_surface_create (CAIRO_FORMAT_A8, text->width, text->height);
  cairo = cairo_create (surface);
  cairo_move_to (cairo, margin - extents.x, -extents.y);
  pango_cairo_show_layout (cairo, layout);
  cairo_destroy (cairo);
  cairo_surface_flush (surface);

  stride = cairo_image_surface_get_stride (surface);
  for (y = 0; y < text->height && cairo_surface_status (surface) == CAIRO_STATUS_SUCCESS; y++)
    memcpy (text->alpha + (gsize) y * (gsize) text->width,
            cairo_image_surface_get_data (surface) + (gsize) y * (gsize) stride,
            (gsize) text->width);
  cairo_surface_destroy (surface);

  return text;
}
#endif

static GHashTable *
texts_new (void)
{
  return g_hash_table_new_full (g_str_hash, g_str_equal, g_free, text_free);
}

GstCclFont *
gst_ccl_font_new (const gchar *description, guint size)
{
  GstCclFont *font = g_new0 (GstCclFont, 1);

  font->scale = MAX ((gint) size / GLYPH_HEIGHT, 1);
  font->recent = texts_new ();
  font->older = texts_new ();
#ifdef HAVE_PANGO
  font->margin = MAX ((gint) size / 6, 1);
  if (description && description[0])
    font->layout = load_font (description, size);
#endif

  return font;
}

void
gst_ccl_font_free (GstCclFont *font)
{
#ifdef HAVE_PANGO
  g_clear_object (&font->layout);
#endif
  g_hash_table_unref (font->recent);
  g_hash_table_unref (font->older);
  g_free (font);
}

gboolean
gst_ccl_font_is_built_in (const GstCclFont *font)
{
#ifdef HAVE_PANGO
  return font->layout == NULL;
#else
  return TRUE;
#endif
}

/* Takes ownership of @string and @text. */
static const GstCclText *
add_recent (GstCclFont *font, gchar *string, GstCclText *text)
{
  g_hash_table_insert (font->recent, string, text);
  font->recent_bytes += (gsize) text->width * (gsize) text->height;

  return text;
}

const GstCclText *
gst_ccl_font_get_text (GstCclFont *font, const gchar *string)
{
  GstCclText *text = g_hash_table_lookup (font->recent, string);
  gpointer key, value;

  if (text)
    return text;
  if (g_hash_table_steal_extended (font->older, string, &key, &value))
    return add_recent (font, key, value);

#ifdef HAVE_PANGO
  if (font->layout)
    text = draw_layout (font->layout, font->margin, string);
#endif
  if (!text)
    text = draw_built_in (font->scale, string);

  return add_recent (font, g_strdup (string), text);
}

void
gst_ccl_font_trim (GstCclFont *font)
{
  GHashTable *unused = font->older;

  if (font->recent_bytes <= MAX_BYTES)
    return;
  g_hash_table_remove_all (unused);
  font->older = font->recent;
  font->recent = unused;
  font->recent_bytes = 0;
}
