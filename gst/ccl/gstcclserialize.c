/* cudaccl - components as bytes, for frames that cross processes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <string.h>

#include "gstccl-private.h"

#if GST_CHECK_VERSION(1, 24, 0)

#define SERIALIZE_VERSION 0
#define HEADER_SIZE (4 * 4)
#define COMPONENT_SIZE (5 * 4 + 8 + 2 * 8)

/* Numbers lie at any address: the bytes come after those of others. */
static guint8 *
put_uint32 (guint8 *bytes, guint32 number)
{
  number = GUINT32_TO_LE (number);
  memcpy (bytes, &number, sizeof (number));

  return bytes + sizeof (number);
}

static guint8 *
put_uint64 (guint8 *bytes, guint64 number)
{
  number = GUINT64_TO_LE (number);
  memcpy (bytes, &number, sizeof (number));

  return bytes + sizeof (number);
}

static guint8 *
put_double (guint8 *bytes, gdouble number)
{
  guint64 bits;

  memcpy (&bits, &number, sizeof (bits));

  return put_uint64 (bytes, bits);
}

static const guint8 *
get_uint32 (const guint8 *bytes, guint *number)
{
  guint32 value;

  memcpy (&value, bytes, sizeof (value));
  *number = GUINT32_FROM_LE (value);

  return bytes + sizeof (value);
}

static const guint8 *
get_uint64 (const guint8 *bytes, guint64 *number)
{
  guint64 value;

  memcpy (&value, bytes, sizeof (value));
  *number = GUINT64_FROM_LE (value);

  return bytes + sizeof (value);
}

static const guint8 *
get_double (const guint8 *bytes, gdouble *number)
{
  guint64 bits;

  bytes = get_uint64 (bytes, &bits);
  memcpy (number, &bits, sizeof (bits));

  return bytes;
}

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

  bytes = put_uint32 (bytes, self->width);
  bytes = put_uint32 (bytes, self->height);
  bytes = put_uint32 (bytes, self->found);
  bytes = put_uint32 (bytes, self->n_components);

  for (i = 0; i < self->n_components; i++) {
    const GstCclComponent *component = &self->components[i];

    bytes = put_uint32 (bytes, component->label);
    bytes = put_uint32 (bytes, component->x);
    bytes = put_uint32 (bytes, component->y);
    bytes = put_uint32 (bytes, component->width);
    bytes = put_uint32 (bytes, component->height);
    bytes = put_uint64 (bytes, component->area);
    bytes = put_double (bytes, component->centroid_x);
    bytes = put_double (bytes, component->centroid_y);
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

  data = get_uint32 (data, &width);
  data = get_uint32 (data, &height);
  data = get_uint32 (data, &found);
  data = get_uint32 (data, &n);
  if (found < n || (size - HEADER_SIZE) / COMPONENT_SIZE < n)
    return NULL;

  meta = gst_buffer_add_ccl_meta (buffer, width, height, found, NULL, 0);
  meta->components = n > 0 ? g_new (GstCclComponent, n) : NULL;
  meta->n_components = n;

  for (i = 0; i < n; i++) {
    GstCclComponent *component = &meta->components[i];

    data = get_uint32 (data, &component->label);
    data = get_uint32 (data, &component->x);
    data = get_uint32 (data, &component->y);
    data = get_uint32 (data, &component->width);
    data = get_uint32 (data, &component->height);
    data = get_uint64 (data, &component->area);
    data = get_double (data, &component->centroid_x);
    data = get_double (data, &component->centroid_y);
  }

  return &meta->meta;
}
#endif
