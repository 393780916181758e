/* cudaccl - the caps of the pads of cclmerge
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmergecaps.h"

#include <gst/ccl/gstcclcaps.h>
#include <gst/video/video.h>

gboolean
gst_ccl_merge_caps_query (GstPad *pad, GstPad *opposite, GstQuery *query)
{
  GstCaps *filter, *templ, *beyond, *result;

  gst_query_parse_caps (query, &filter);
  templ = gst_pad_get_pad_template_caps (pad);
  beyond = gst_pad_peer_query_caps (opposite, filter);
  result = gst_caps_intersect_full (beyond, templ, GST_CAPS_INTERSECT_FIRST);
  gst_query_set_caps_result (query, result);

  gst_caps_unref (templ);
  gst_caps_unref (beyond);
  gst_caps_unref (result);

  return TRUE;
}

gboolean
gst_ccl_merge_mask_allocation_query (GstQuery *query)
{
  gst_ccl_allow_any_layout (query);

  return TRUE;
}
