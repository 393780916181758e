/* cudaccl - serialisation of GstCclMeta and GstCclZonesMeta
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_SERIALIZE_H__
#define __GST_CCL_SERIALIZE_H__

#include <string.h>
#include <gst/gst.h>

G_BEGIN_DECLS

GST_DEBUG_CATEGORY_EXTERN (gst_ccl_meta_debug);

#if GST_CHECK_VERSION(1, 24, 0)

/* Appends @size bytes to @data and frees @bytes. */
static inline gboolean
gst_ccl_take_bytes (GstByteArrayInterface *data, guint8 *bytes, gsize size)
{
  guint8 *appended = gst_byte_array_interface_append (data, size);

  if (appended)
    memcpy (appended, bytes, size);
  g_free (bytes);

  return appended != NULL;
}

/* GstMetaSerializeFunction and GstMetaDeserializeFunction of both. */

gboolean gst_ccl_meta_serialize (const GstMeta *meta, GstByteArrayInterface *data, guint8 *version);

GstMeta *gst_ccl_meta_deserialize (const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data,
                                   gsize size, guint8 version);

gboolean gst_ccl_zones_meta_serialize (const GstMeta *meta, GstByteArrayInterface *data,
                                       guint8 *version);

GstMeta *gst_ccl_zones_meta_deserialize (const GstMetaInfo *info, GstBuffer *buffer,
                                         const guint8 *data, gsize size, guint8 version);

#endif

G_END_DECLS

#endif /* __GST_CCL_SERIALIZE_H__ */
