/* cudaccl - components as objects of DeepStream
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_NV_DS_H__
#define __GST_CCL_NV_DS_H__

#include <gst/gst.h>
#include <cudaccl/ccl.h>

G_BEGIN_DECLS

/* Adds one NvDsObjectMeta with the label @label for each component to the first frame of the batch
 * in @buffer. Returns FALSE and sets @error if DeepStream is not installed, or if the buffer has no
 * NvDsBatchMeta. */
gboolean gst_ccl_attach_nvds (GstBuffer *buffer, const gchar *label,
                              const CclComponents *components, GError **error);

G_END_DECLS

#endif /* __GST_CCL_NV_DS_H__ */
