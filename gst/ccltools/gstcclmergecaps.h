/* cudaccl - the caps of the pads of cclmerge
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MERGE_CAPS_H__
#define __GST_CCL_MERGE_CAPS_H__

#include <gst/gst.h>

G_BEGIN_DECLS

/* Answers a caps query at @pad: what is beyond @opposite, in the limits of the template. */
gboolean gst_ccl_merge_caps_query (GstPad *pad, GstPad *opposite, GstQuery *query);

/* Answers an allocation query for the mask: nobody looks at its pixels. */
gboolean gst_ccl_merge_mask_allocation_query (GstQuery *query);

G_END_DECLS

#endif /* __GST_CCL_MERGE_CAPS_H__ */
