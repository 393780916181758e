/* cudaccl - numbers in serialised metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Numbers are varints: seven bits to a byte, the lowest first, with the highest bit set in all
 * bytes but the last. A signed number n is stored as 2 n, or as -2 n - 1 if it is negative. Doubles
 * have 8 bytes, the lowest first. */

#ifndef __GST_CCL_BYTES_H__
#define __GST_CCL_BYTES_H__

#include <glib.h>
#include <math.h>
#include <string.h>

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

/* The unread part of the data. Functions return FALSE if it is too short or not a valid number. */
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

/* Fails if the number is not finite. */
static inline gboolean
gst_ccl_read_double (GstCclReader *reader, gdouble *number)
{
  guint64 bits;

  if (reader->size < sizeof (bits))
    return FALSE;
  memcpy (&bits, reader->bytes, sizeof (bits));
  bits = GUINT64_FROM_LE (bits);
  memcpy (number, &bits, sizeof (bits));
  reader->bytes += sizeof (bits);
  reader->size -= sizeof (bits);

  return isfinite (*number);
}

G_END_DECLS

#endif /* __GST_CCL_BYTES_H__ */
