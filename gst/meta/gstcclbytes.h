/* cudaccl - how metadata is serialised
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Numbers are varints: seven bits to a byte, the lowest first, with the highest bit set in all
 * bytes but the last. A signed number n is stored as 2 n, or as -2 n - 1 if it is negative. Doubles
 * have 8 bytes, the lowest first. */

#ifndef __GST_CCL_BYTES_H__
#define __GST_CCL_BYTES_H__

#include <math.h>
#include <string.h>
#include <gst/ccl/gstcclclassnames.h>

#include "gstcclmetaprivate.h"

G_BEGIN_DECLS

#define GST_CCL_MAX_VARINT_SIZE 10

/* These functions write to @bytes and return the end of what they wrote. */

static inline guint8 *
gst_ccl_put_varint (guint8 *bytes, guint64 number)
{
  for (; number >= 128; number >>= 7)
    *bytes++ = (guint8) (number | 128);
  *bytes++ = (guint8) number;

  return bytes;
}

static inline guint8 *
gst_ccl_put_signed (guint8 *bytes, gint64 number)
{
  return gst_ccl_put_varint (bytes, number < 0 ? 2 * ~(guint64) number + 1 : 2 * (guint64) number);
}

static inline guint8 *
gst_ccl_put_double (guint8 *bytes, gdouble number)
{
  guint64 bits;

  memcpy (&bits, &number, sizeof (bits));
  bits = GUINT64_TO_LE (bits);
  memcpy (bytes, &bits, sizeof (bits));

  return bytes + sizeof (bits);
}

/* The unread part of the data. The functions that read it return FALSE if it is too short, or if
 * it does not start with a valid number. */
typedef struct
{
  const guint8 *bytes;
  gsize size;
} GstCclReader;

static inline gboolean
gst_ccl_read_byte (GstCclReader *reader, guint8 *byte)
{
  if (reader->size == 0)
    return FALSE;

  *byte = *reader->bytes++;
  reader->size--;

  return TRUE;
}

static inline gboolean
gst_ccl_read_varint (GstCclReader *reader, guint64 *number)
{
  guint shift = 0;
  guint8 byte;

  *number = 0;
  do {
    if (!gst_ccl_read_byte (reader, &byte) || shift > 63 || (shift == 63 && byte > 1))
      return FALSE;
    *number |= (guint64) (byte & 127) << shift;
    shift += 7;
  } while (byte & 128);

  return TRUE;
}

static inline gboolean
gst_ccl_read_uint (GstCclReader *reader, guint *number)
{
  guint64 value;

  if (!gst_ccl_read_varint (reader, &value) || value > G_MAXUINT)
    return FALSE;
  *number = (guint) value;

  return TRUE;
}

static inline gboolean
gst_ccl_read_signed (GstCclReader *reader, gint64 *number)
{
  guint64 coded;

  if (!gst_ccl_read_varint (reader, &coded))
    return FALSE;
  *number = (gint64) (coded & 1 ? ~(coded / 2) : coded / 2);

  return TRUE;
}

/* Reads the size of a frame. */
static inline gboolean
gst_ccl_read_size (GstCclReader *reader, guint *width, guint *height)
{
  return gst_ccl_read_uint (reader, width) && gst_ccl_read_uint (reader, height) && *width > 0 &&
         *height > 0 && *width <= G_MAXINT && *height <= G_MAXINT;
}

/* Reads the number of items that follow, which have at least @min_size bytes each. */
static inline gboolean
gst_ccl_read_count (GstCclReader *reader, gsize min_size, guint *n)
{
  return gst_ccl_read_uint (reader, n) && *n <= reader->size / min_size;
}

/* Reads a length and as many bytes of UTF-8. */
static inline gboolean
gst_ccl_read_string (GstCclReader *reader, gchar **string)
{
  guint64 length;

  if (!gst_ccl_read_varint (reader, &length) || length > reader->size ||
      !g_utf8_validate ((const gchar *) reader->bytes, (gssize) length, NULL))
    return FALSE;
  *string = g_strndup ((const gchar *) reader->bytes, (gsize) length);
  reader->bytes += length;
  reader->size -= length;

  return TRUE;
}

static inline gboolean
gst_ccl_read_any_double (GstCclReader *reader, gdouble *number)
{
  guint64 bits;

  if (reader->size < sizeof (bits))
    return FALSE;
  memcpy (&bits, reader->bytes, sizeof (bits));
  bits = GUINT64_FROM_LE (bits);
  memcpy (number, &bits, sizeof (bits));
  reader->bytes += sizeof (bits);
  reader->size -= sizeof (bits);

  return TRUE;
}

/* Fails if the number is not finite. */
static inline gboolean
gst_ccl_read_double (GstCclReader *reader, gdouble *number)
{
  return gst_ccl_read_any_double (reader, number) && isfinite (*number);
}

#if GST_CHECK_VERSION(1, 24, 0)
/* The number of names, and for each its length and bytes. @names may be NULL. */
gsize gst_ccl_get_names_size (const GstCclClassNames *names); /* at most */
guint8 *gst_ccl_put_names (guint8 *bytes, const GstCclClassNames *names);
gboolean gst_ccl_read_names (GstCclReader *reader, GstCclClassNames **names);

/* Appends the bytes from @bytes to @end to @data, and frees @bytes. */
static inline gboolean
gst_ccl_take_bytes (GstByteArrayInterface *data, guint8 *bytes, const guint8 *end)
{
  guint8 *appended = gst_byte_array_interface_append (data, (gsize) (end - bytes));

  if (appended)
    memcpy (appended, bytes, (gsize) (end - bytes));
  g_free (bytes);

  return appended != NULL;
}
#endif

/* Returns FALSE, and warns that @what was dropped, if the version is not one that this build
 * reads, @oldest to @newest. */
static inline gboolean
gst_ccl_check_version (const gchar *what, guint8 version, guint8 oldest, guint8 newest)
{
  gboolean known = version >= oldest && version <= newest;

  if (!known)
    GST_CAT_WARNING (gst_ccl_meta_debug,
                     "%s were dropped: their version is %u, and only %u to %u are known; use the "
                     "same version of libgstccl on both sides",
                     what, version, oldest, newest);

  return known;
}

/* Warns that @what was dropped because of what was read last. */
static inline void
gst_ccl_warn_invalid (const gchar *what, const GstCclReader *reader, gsize size)
{
  GST_CAT_WARNING (gst_ccl_meta_debug,
                   "%s were dropped: their %" G_GSIZE_FORMAT
                   " bytes are not valid at byte %" G_GSIZE_FORMAT,
                   what, size, size - reader->size);
}

G_END_DECLS

#endif /* __GST_CCL_BYTES_H__ */
