/* cudaccl - text as masks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_OVERLAY_TEXT_H__
#define __GST_CCL_OVERLAY_TEXT_H__

#include <glib.h>

G_BEGIN_DECLS

/* Text with a margin around it. */
typedef struct
{
  gint width, height;
  guint8 *alpha; /* @width x @height: 0 is background, 255 is text */
} GstCclText;

typedef struct _GstCclFont GstCclFont;

/* Loads a font, @size pixels high. Without Pango, without any font, or if @description is empty,
 * the font is the built-in one: it has digits and ':' only, which are a multiple of 7 pixels high,
 * and @size is that of the digits. */
GstCclFont *gst_ccl_font_new (const gchar *description, guint size);

void gst_ccl_font_free (GstCclFont *font);

gboolean gst_ccl_font_is_built_in (const GstCclFont *font);

/* Returns @text, UTF-8, as a mask, valid until gst_ccl_font_trim() or gst_ccl_font_free(). */
const GstCclText *gst_ccl_font_get_text (GstCclFont *font, const gchar *text);

/* Call this after each frame. If the recent masks take much memory, frees those that were not drawn
 * lately. The others are kept for the next frames. */
void gst_ccl_font_trim (GstCclFont *font);

G_END_DECLS

#endif /* __GST_CCL_OVERLAY_TEXT_H__ */
