/* cudaccl - parses JSON that comes from outside
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_JSON_PARSE_H__
#define __GST_CCL_JSON_PARSE_H__

#include <json-glib/json-glib.h>

G_BEGIN_DECLS

/* The longest text, in bytes, and the deepest nesting that gst_ccl_json_parse() accepts. */
#define GST_CCL_JSON_MAX_SIZE (1024 * 1024)
#define GST_CCL_JSON_MAX_DEPTH 64

/* Parses untrusted text. Accepts only JSON (RFC 8259), without the comments and single quotes
 * that json-glib allows. All strings of the result are valid UTF-8.
 *
 * Returns the root, to be freed with json_node_unref(), or NULL with a
 * GST_RESOURCE_ERROR_SETTINGS. Its message is valid UTF-8, begins with @name and locates the
 * problem. */
JsonNode *gst_ccl_json_parse (const gchar *text, const gchar *name, GError **error);

G_END_DECLS

#endif /* __GST_CCL_JSON_PARSE_H__ */
