/* cudaccl-watch - writes JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __WATCH_JSON_H__
#define __WATCH_JSON_H__

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* Add a member; text that is not UTF-8 is made valid, a NULL text is left out. */
void watch_json_add_string (JsonBuilder *builder, const gchar *name, const gchar *value);
void watch_json_add_strings (JsonBuilder *builder, const gchar *name, const gchar *const *values);
/* An array of @name begins. */
void watch_json_begin_array (JsonBuilder *builder, const gchar *name);
void watch_json_add_double (JsonBuilder *builder, const gchar *name, gdouble value);
void watch_json_add_int (JsonBuilder *builder, const gchar *name, gint64 value);
void watch_json_add_boolean (JsonBuilder *builder, const gchar *name, gboolean value);
/* RFC 3339; @value is in microseconds since 1970. */
void watch_json_add_time (JsonBuilder *builder, const gchar *name, gint64 value);
/* A share of the frame, rounded to what a frame of 10 000 pixels needs. @name NULL: an item of an
 * array. */
void watch_json_add_share (JsonBuilder *builder, const gchar *name, gdouble value);

/* Ends the outermost object, frees @builder, and returns its text. */
gchar *watch_json_take (JsonBuilder *builder);

G_END_DECLS

#endif /* __WATCH_JSON_H__ */
