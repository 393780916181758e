/* cudaccl - what the files of libgstccl share; not installed
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_PRIVATE_H__
#define __GST_CCL_PRIVATE_H__

#include <gst/ccl/gstccl.h>

G_BEGIN_DECLS

/* GstMetaTransformFunction of GstCclMeta. */
gboolean _gst_ccl_meta_transform (GstBuffer *dest, GstMeta *meta, GstBuffer *buffer, GQuark type,
                                  gpointer data);

#if GST_CHECK_VERSION(1, 24, 0)
/* GstMetaSerializeFunction and GstMetaDeserializeFunction of GstCclMeta. */
gboolean _gst_ccl_meta_serialize (const GstMeta *meta, GstByteArrayInterface *data,
                                  guint8 *version);
GstMeta *_gst_ccl_meta_deserialize (const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data,
                                    gsize size, guint8 version);
#endif

G_END_DECLS

#endif /* __GST_CCL_PRIVATE_H__ */
