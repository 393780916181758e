/* cudaccl - ONVIF's names of classes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ONVIF_TYPES_H__
#define __GST_CCL_ONVIF_TYPES_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Returns ONVIF's name for a detector's class: one of tt:ObjectType or, if none fits, @name.
 * Sets @vehicle to one of tt:VehicleType, or NULL. */
const gchar *gst_ccl_onvif_find_type (const gchar *name, const gchar **vehicle);

/* The other way round: returns a detector's name for ONVIF's @type, and for the type of a vehicle,
 * which may be empty; @type if none fits. */
const gchar *gst_ccl_onvif_find_name (const gchar *type, const gchar *vehicle);

G_END_DECLS

#endif /* __GST_CCL_ONVIF_TYPES_H__ */
