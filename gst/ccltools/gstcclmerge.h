/* cudaccl - merges the components of one branch into the frames of another
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MERGE_H__
#define __GST_CCL_MERGE_H__

#include <gst/base/gstaggregator.h>

G_BEGIN_DECLS

#define GST_TYPE_CCL_MERGE (gst_ccl_merge_get_type ())
G_DECLARE_FINAL_TYPE (GstCclMerge, gst_ccl_merge, GST, CCL_MERGE, GstAggregator)

GST_ELEMENT_REGISTER_DECLARE (cclmerge);

G_END_DECLS

#endif /* __GST_CCL_MERGE_H__ */
