/* cudaccl - counts tracked objects in zones and over tripwires
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ZONES_H__
#define __GST_CCL_ZONES_H__

#include <gst/base/gstcclfilter.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_ZONES (gst_ccl_zones_get_type ())
G_DECLARE_FINAL_TYPE (GstCclZones, gst_ccl_zones, GST, CCL_ZONES, GstCclFilter)

GST_ELEMENT_REGISTER_DECLARE (cclzones);

/**
 * GstCclZonesPoint:
 * @GST_CCL_ZONES_POINT_BOTTOM: the middle of the bottom edge of the box
 * @GST_CCL_ZONES_POINT_CENTER: the centre of the box
 * @GST_CCL_ZONES_POINT_TOP: the middle of the top edge of the box
 * @GST_CCL_ZONES_POINT_CENTROID: the centroid
 *
 * Which point of an object counts.
 *
 * Since: 0.1
 */
typedef enum
{
  GST_CCL_ZONES_POINT_BOTTOM,
  GST_CCL_ZONES_POINT_CENTER,
  GST_CCL_ZONES_POINT_TOP,
  GST_CCL_ZONES_POINT_CENTROID,
} GstCclZonesPoint;

G_END_DECLS

#endif /* __GST_CCL_ZONES_H__ */
