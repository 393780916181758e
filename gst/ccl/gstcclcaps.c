/* cudaccl - what the plugins do to caps and allocation; part of the plugins, not of libgstccl
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclcaps.h"

#include <gst/video/video.h>

GstCaps *
gst_ccl_caps_filter (GstCaps *caps, GstCaps *filter)
{
  GstCaps *filtered;

  if (!filter)
    return caps;

  filtered = gst_caps_intersect_full (filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref (caps);

  return filtered;
}

gboolean
gst_ccl_caps_get_size (GstCaps *caps, guint *width, guint *height)
{
  GstStructure *structure = gst_caps_get_structure (caps, 0);
  gint w, h;

  if (!gst_structure_get_int (structure, "width", &w) ||
      !gst_structure_get_int (structure, "height", &h) || w <= 0 || h <= 0)
    return FALSE;

  *width = (guint) w;
  *height = (guint) h;

  return TRUE;
}

gboolean
gst_ccl_caps_need_size (GstElement *element, GstCaps *caps, guint *width, guint *height)
{
  if (gst_ccl_caps_get_size (caps, width, height))
    return TRUE;

  GST_ELEMENT_ERROR (element, STREAM, FORMAT, ("The caps of the video do not tell its size."),
                     ("%" GST_PTR_FORMAT, caps));

  return FALSE;
}

void
gst_ccl_allow_any_layout (GstQuery *query)
{
  gst_query_add_allocation_meta (query, GST_VIDEO_META_API_TYPE, NULL);
  gst_query_add_allocation_meta (query, GST_VIDEO_CROP_META_API_TYPE, NULL);
}
