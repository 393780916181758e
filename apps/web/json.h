/* cudaccl - writes JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WEB_JSON_H__
#define __WEB_JSON_H__

#include <glib.h>

G_BEGIN_DECLS

/* Append to a text of JSON, with commas where needed. @name is the name of the member, NULL in an
 * array. */

void web_json_begin_object (GString *json, const gchar *name);
void web_json_end_object (GString *json);
void web_json_begin_array (GString *json, const gchar *name);
void web_json_end_array (GString *json);

/* Escapes all control characters and replaces invalid UTF-8. A NULL @value is left out. */
void web_json_add_string (GString *json, const gchar *name, const gchar *value);
void web_json_add_strings (GString *json, const gchar *name, const gchar *const *values);
void web_json_add_int (GString *json, const gchar *name, gint64 value);
void web_json_add_uint (GString *json, const gchar *name, guint64 value);
void web_json_add_boolean (GString *json, const gchar *name, gboolean value);
/* With up to 17 digits, which give the same number when read. */
void web_json_add_double (GString *json, const gchar *name, gdouble value);
/* With at most @digits behind the point, without trailing zeros. */
void web_json_add_decimal (GString *json, const gchar *name, gdouble value, guint digits);

/* Adds what web_json_take() returned. */
void web_json_add_json (GString *json, const gchar *name, const gchar *value);

/* Begins the outer object. */
GString *web_json_new (void);
/* Ends it, and returns the text; frees @json. */
gchar *web_json_take (GString *json);

G_END_DECLS

#endif /* __WEB_JSON_H__ */
