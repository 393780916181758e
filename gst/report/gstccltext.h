/* cudaccl - text of numbers and strings, fast and exact
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_TEXT_H__
#define __GST_CCL_TEXT_H__

#include <glib.h>

G_BEGIN_DECLS

/* The most bytes that the functions below write. */
#define GST_CCL_TEXT_UINT64 20
#define GST_CCL_TEXT_DOUBLE 32

/* All write to @text, without a terminating 0, and return the end. */

gchar *gst_ccl_text_write_uint64 (gchar *text, guint64 value);

/* Writes the fewest digits that read back as the same @value, which must be finite, as JSON has
 * them: always with a decimal point or an exponent, in every locale. */
gchar *gst_ccl_text_write_double (gchar *text, gdouble value);

/* Appends @string as JSON has it, in quotes. All bytes are allowed: what is not valid UTF-8 becomes
 * U+FFFD. Control characters, DEL, and the line separators U+2028 and U+2029 are escaped. */
void gst_ccl_text_append_string (GString *text, const gchar *string);

G_END_DECLS

#endif /* __GST_CCL_TEXT_H__ */
