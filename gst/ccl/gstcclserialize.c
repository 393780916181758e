/* cudaccl - components as bytes, for frames that cross processes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include "gstccl-private.h"

#if GST_CHECK_VERSION(1, 24, 0)

#define SERIALIZE_VERSION 0
#define HEADER_SIZE (4 * 4)
#define COMPONENT_SIZE (5 * 4 + 8 + 2 * 8)

/* Version 0, little endian: width, height, found, n_components; then for each component its label,
 * x, y, width, height (32 bits each), area (64 bits), centroid_x, centroid_y (doubles). */
gboolean
_gst_ccl_meta_serialize (const GstMeta *meta, GstByteArrayInterface *data, guint8 *version)
{
  const GstCclMeta *self = (const GstCclMeta *) meta;
  gsize size = HEADER_SIZE + (gsize) self->n_components * COMPONENT_SIZE;
  guint8 *bytes = gst_byte_array_interface_append (data, size);
  guint i;

  if (!bytes)
    return FALSE;

  GST_WRITE_UINT32_LE (bytes, self->width);
  GST_WRITE_UINT32_LE (bytes + 4, self->height);
  GST_WRITE_UINT32_LE (bytes + 8, self->found);
  GST_WRITE_UINT32_LE (bytes + 12, self->n_components);
  bytes += HEADER_SIZE;

  for (i = 0; i < self->n_components; i++) {
    const GstCclComponent *component = &self->components[i];

    GST_WRITE_UINT32_LE (bytes, component->label);
    GST_WRITE_UINT32_LE (bytes + 4, component->x);
    GST_WRITE_UINT32_LE (bytes + 8, component->y);
    GST_WRITE_UINT32_LE (bytes + 12, component->width);
    GST_WRITE_UINT32_LE (bytes + 16, component->height);
    GST_WRITE_UINT64_LE (bytes + 20, component->area);
    GST_WRITE_DOUBLE_LE (bytes + 28, component->centroid_x);
    GST_WRITE_DOUBLE_LE (bytes + 36, component->centroid_y);
    bytes += COMPONENT_SIZE;
  }

  *version = SERIALIZE_VERSION;

  return TRUE;
}

/* The bytes come from another process: nothing in them is taken on trust. */
GstMeta *
_gst_ccl_meta_deserialize (const GstMetaInfo *info, GstBuffer *buffer, const guint8 *data,
                           gsize size, guint8 version)
{
  guint width, height, found, n, i;
  GstCclMeta *meta;

  if (version != SERIALIZE_VERSION || size < HEADER_SIZE)
    return NULL;

  width = GST_READ_UINT32_LE (data);
  height = GST_READ_UINT32_LE (data + 4);
  found = GST_READ_UINT32_LE (data + 8);
  n = GST_READ_UINT32_LE (data + 12);
  if (found < n || (size - HEADER_SIZE) / COMPONENT_SIZE < n)
    return NULL;
  data += HEADER_SIZE;

  meta = gst_buffer_add_ccl_meta (buffer, width, height, found, NULL, 0);
  meta->components = n > 0 ? g_new (GstCclComponent, n) : NULL;
  meta->n_components = n;

  for (i = 0; i < n; i++) {
    GstCclComponent *component = &meta->components[i];

    component->label = GST_READ_UINT32_LE (data);
    component->x = GST_READ_UINT32_LE (data + 4);
    component->y = GST_READ_UINT32_LE (data + 8);
    component->width = GST_READ_UINT32_LE (data + 12);
    component->height = GST_READ_UINT32_LE (data + 16);
    component->area = GST_READ_UINT64_LE (data + 20);
    component->centroid_x = GST_READ_DOUBLE_LE (data + 28);
    component->centroid_y = GST_READ_DOUBLE_LE (data + 36);
    data += COMPONENT_SIZE;
  }

  return &meta->meta;
}
#endif
