/* cudaccl - ONVIF's names of classes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ONVIF_TYPES_H__
#define __GST_CCL_ONVIF_TYPES_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Returns ONVIF's name for a detector's class: one of tt:ObjectType or, if none fits, @name.
 * Sets @vehicle to one of tt:VehicleType, or NULL. */
const gchar *gst_ccl_onvif_find_type (const gchar *name, const gchar **vehicle);

G_END_DECLS

#endif /* __GST_CCL_ONVIF_TYPES_H__ */
