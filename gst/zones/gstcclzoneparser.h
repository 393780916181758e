/* cudaccl - reads zones and tripwires from text and JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ZONE_PARSER_H__
#define __GST_CCL_ZONE_PARSER_H__

#include "gstcclzoneset.h"

G_BEGIN_DECLS

/* Adds polygons or tripwires from the property @name: `name: x,y x,y x,y; ...` with optional
 * names, or a JSON array as in gst_ccl_zone_set_add_file(). On failure, the GST_RESOURCE_ERROR
 * locates the problem, and the set is incomplete. */
gboolean gst_ccl_zone_set_add_text (GstCclZoneSet *self, const gchar *text, gboolean tripwires,
                                    const gchar *name, GError **error);

/* Adds the zones and tripwires of a JSON file: an object with the arrays `zones` and
 * `tripwires`, whose items have `id` and `points`. Blocks while the file system does. */
gboolean gst_ccl_zone_set_add_file (GstCclZoneSet *self, const gchar *path, GError **error);

G_END_DECLS

#endif /* __GST_CCL_ZONE_PARSER_H__ */
