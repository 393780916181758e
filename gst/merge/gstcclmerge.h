/* cudaccl - merges the components of one branch into the frames of another
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MERGE_H__
#define __GST_CCL_MERGE_H__

#include <gst/base/gstaggregator.h>

G_BEGIN_DECLS

/**
 * GstCclMergeMode:
 * @GST_CCL_MERGE_MODE_WAIT: wait for the components of the nearest frame
 * @GST_CCL_MERGE_MODE_LATEST: attach the last components that have arrived
 *
 * Which components `cclmerge` attaches to a frame.
 *
 * Since: 0.1
 */
typedef enum
{
  GST_CCL_MERGE_MODE_WAIT,
  GST_CCL_MERGE_MODE_LATEST,
} GstCclMergeMode;

#define GST_TYPE_CCL_MERGE_MODE (gst_ccl_merge_mode_get_type ())
GType gst_ccl_merge_mode_get_type (void);

#define GST_TYPE_CCL_MERGE (gst_ccl_merge_get_type ())
G_DECLARE_FINAL_TYPE (GstCclMerge, gst_ccl_merge, GST, CCL_MERGE, GstAggregator)

GST_ELEMENT_REGISTER_DECLARE (cclmerge);

G_END_DECLS

#endif /* __GST_CCL_MERGE_H__ */
