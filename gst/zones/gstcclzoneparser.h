/* cudaccl - reads zones and tripwires from text and JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ZONE_PARSER_H__
#define __GST_CCL_ZONE_PARSER_H__

#include "gstcclzoneset.h"

G_BEGIN_DECLS

/* Adds polygons or tripwires from the property @name: `name: x,y x,y x,y; ...`, or a JSON array as
 * in gst_ccl_zone_set_add_file(). Names may be left out. Fails with a GST_RESOURCE_ERROR that names
 * the place; the set is then incomplete. */
gboolean gst_ccl_zone_set_add_text (GstCclZoneSet *self, const gchar *text, gboolean tripwires,
                                    const gchar *name, GError **error);

/* Adds those of a JSON file: an object with the arrays `zones` and `tripwires`, whose items have
 * `id` and `points`. May block as long as the file system does. */
gboolean gst_ccl_zone_set_add_file (GstCclZoneSet *self, const gchar *path, GError **error);

G_END_DECLS

#endif /* __GST_CCL_ZONE_PARSER_H__ */
