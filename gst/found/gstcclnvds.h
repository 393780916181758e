/* cudaccl - objects of DeepStream
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_NV_DS_H__
#define __GST_CCL_NV_DS_H__

#include <gst/ccl/gstccl.h>
#include <gst/found/gstcclclasses.h>

G_BEGIN_DECLS

/* Adds one NvDsObjectMeta for each component to the first frame of the batch in @buffer. Its label
 * is the name of its class or, without one, @label. Returns FALSE and sets @error if DeepStream is
 * not installed, or if the buffer has no NvDsBatchMeta. */
gboolean gst_ccl_nvds_attach (GstBuffer *buffer, const gchar *label,
                              const GstCclComponent *components, guint n, GstCclClassNames *names,
                              GError **error);

/* Appends the objects of that frame, which has @width x @height pixels, to @objects, and their
 * boxes, classes and confidences to @components; those without pixels inside of the frame are left
 * out. Appends nothing where DeepStream is not loaded. */
void gst_ccl_nvds_read (GstBuffer *buffer, guint width, guint height, GstCclClasses *classes,
                        GArray *components, GPtrArray *objects);

/* Sets the id of such an object. */
void gst_ccl_nvds_set_track (gpointer object, guint track);

G_END_DECLS

#endif /* __GST_CCL_NV_DS_H__ */
