/* cudaccl - objects as metadata of other elements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_ATTACH_H__
#define __GST_CCL_ATTACH_H__

#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* The values are those of cudaccl's property attach. */
typedef enum
{
  GST_CCL_OBJECT_ATTACH_ROI = 1 << 1,
  GST_CCL_OBJECT_ATTACH_ANALYTICS = 1 << 2,
  GST_CCL_OBJECT_ATTACH_NVDS = 1 << 3,
} GstCclObjectAttach;

#define GST_TYPE_CCL_OBJECT_ATTACH (gst_ccl_object_attach_get_type ())
GType gst_ccl_object_attach_get_type (void);

/* Attaches objects to the writable @buffer, of @width by @height pixels, as regions of interest,
 * object detections or objects of DeepStream, whose type or label is the name of the class, or
 * "object". Kinds that @buffer has already, and those that this build lacks, are left out. Returns
 * FALSE and sets @error if it has no batch of DeepStream, but needs one. */
gboolean gst_ccl_attach_objects (GstBuffer *buffer, GstCclObjectAttach kinds,
                                 const GstCclComponent *components, guint n,
                                 GstCclClassNames *names, guint width, guint height,
                                 GError **error);

G_END_DECLS

#endif /* __GST_CCL_ATTACH_H__ */
