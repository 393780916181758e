/* cudaccl - text of numbers and strings, fast and exact
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltext.h"

#include <math.h>
#include <string.h>

/* Numbers from 1e-4 on are written without exponent, as printf's %g does. */
#define MIN_EXPONENT (-4)

/* More digits than a double needs are never written. */
#define MAX_DIGITS 17

gchar *
gst_ccl_text_write_uint64 (gchar *text, guint64 value)
{
  gchar reversed[GST_CCL_TEXT_UINT64];
  guint n = 0;

  do {
    reversed[n++] = (gchar) ('0' + value % 10);
    value /= 10;
  } while (value > 0);
  while (n > 0)
    *text++ = reversed[--n];

  return text;
}

/* Writes 0.@digits times 10^(@exponent + 1): @exponent is that of the first digit. */
static gchar *
write_digits (gchar *text, const gchar *digits, gint n, gint exponent)
{
  gint i;

  if (exponent >= MIN_EXPONENT) {
    *text++ = '0';
    *text++ = '.';
    for (i = -1; i > exponent; i--)
      *text++ = '0';
    memcpy (text, digits, (gsize) n);
    return text + n;
  }

  *text++ = digits[0];
  if (n > 1) {
    *text++ = '.';
    memcpy (text, digits + 1, (gsize) n - 1);
    text += n - 1;
  }
  *text++ = 'e';
  *text++ = '-';
  if (exponent > -10)
    *text++ = '0';

  return gst_ccl_text_write_uint64 (text, (guint64) -exponent);
}

/* For numbers outside the usual range. */
static gchar *
write_any_double (gchar *text, gdouble value)
{
  gchar buffer[G_ASCII_DTOSTR_BUF_SIZE], format[8];
  gint digits;

  for (digits = 15; digits <= MAX_DIGITS; digits++) {
    g_snprintf (format, sizeof (format), "%%.%dg", digits);
    g_ascii_formatd (buffer, sizeof (buffer), format, value);
    if (g_ascii_strtod (buffer, NULL) == value)
      break;
  }

  text = stpcpy (text, buffer);
  if (!strpbrk (buffer, ".e")) {
    *text++ = '.';
    *text++ = '0';
  }

  return text;
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 Uint128;

/* Defines a function that writes the fewest digits of a fraction that read back as the same double,
 * of these the nearest ones; returns the decimal exponent of the first digit, from -1 on downwards.
 * The fraction is @rest, numbers nearer than @below and @above read back, all in units of 2^-@bits;
 * with @even those at exactly that distance as well. 10 times the unit must fit in a Word. Steele
 * and White 1990, "How to print floating-point numbers accurately", with a fixed denominator. */
#define DEFINE_GENERATE_DIGITS(name, Word)                                        \
  static gint name (Word rest, Word below, Word above, guint bits, gboolean even, \
                    gboolean skip_zeros, gchar *digits, gint *n)                  \
  {                                                                               \
    const Word one = (Word) 1 << bits;                                            \
    gint exponent = -1;                                                           \
                                                                                  \
    *n = 0;                                                                       \
    for (;;) {                                                                    \
      guint digit;                                                                \
      gboolean low, high;                                                         \
                                                                                  \
      rest *= 10;                                                                 \
      below *= 10;                                                                \
      above *= 10;                                                                \
      digit = (guint) (rest >> bits);                                             \
      rest &= one - 1;                                                            \
                                                                                  \
      low = even ? rest <= below : rest < below;                                  \
      high = even ? rest + above >= one : rest + above > one;                     \
      if (low || high) {                                                          \
        digit += high && (!low || rest > one - rest);                             \
        digits[(*n)++] = (gchar) ('0' + digit);                                   \
        return exponent;                                                          \
      }                                                                           \
      if (digit == 0 && *n == 0 && skip_zeros)                                    \
        exponent--;                                                               \
      else                                                                        \
        digits[(*n)++] = (gchar) ('0' + digit);                                   \
    }                                                                             \
  }

DEFINE_GENERATE_DIGITS (generate_digits_64, guint64)
DEFINE_GENERATE_DIGITS (generate_digits_128, Uint128)

/* Writes a double of at least 2^-60 and less than 2^53, the usual range. */
static gchar *
write_common_double (gchar *text, gdouble value)
{
  GDoubleIEEE754 parts = { .v_double = value };
  gboolean even = parts.mpn.mantissa_low % 2 == 0;
  guint64 mantissa, whole, rest;
  gchar digits[64];
  gint exponent, n;
  guint bits, below;

  /* value = mantissa * 2^-(bits - 2): two bits more for the halves of the neighbours' distances. */
  mantissa = (guint64) parts.mpn.mantissa_high << 32 | parts.mpn.mantissa_low;
  /* Below a power of two, doubles are nearer to each other. */
  below = mantissa == 0 ? 1 : 2;
  mantissa |= G_GUINT64_CONSTANT (1) << 52;
  bits = 52 + G_IEEE754_DOUBLE_BIAS - parts.mpn.biased_exponent + 2;
  whole = bits - 2 < 64 ? mantissa >> (bits - 2) : 0;
  rest = bits - 2 < 64 ? mantissa & ((G_GUINT64_CONSTANT (1) << (bits - 2)) - 1) : mantissa;

  if (whole > 0) {
    text = gst_ccl_text_write_uint64 (text, whole);
    *text++ = '.';
    if (rest == 0) {
      *text++ = '0';
      return text;
    }
    generate_digits_64 (rest << 2, below, 2, bits, even, FALSE, digits, &n);
    memcpy (text, digits, (gsize) n);
    return text + n;
  }

  if (bits <= 60)
    exponent = generate_digits_64 (rest << 2, below, 2, bits, even, TRUE, digits, &n);
  else
    exponent = generate_digits_128 ((Uint128) rest << 2, below, 2, bits, even, TRUE, digits, &n);

  return write_digits (text, digits, n, exponent);
}
#endif

gchar *
gst_ccl_text_write_double (gchar *text, gdouble value)
{
  if (signbit (value)) {
    *text++ = '-';
    value = -value;
  }

  if (value == 0.0) {
    memcpy (text, "0.0", 3);
    return text + 3;
  }

#ifdef __SIZEOF_INT128__
  if (value >= 0x1p-60 && value < 0x1p53)
    return write_common_double (text, value);
#endif

  return write_any_double (text, value);
}

/* Whether @c can be written as it is. */
static gboolean
is_plain (guchar c)
{
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

void
gst_ccl_text_append_string (GString *text, const gchar *string)
{
  gchar *valid = g_utf8_make_valid (string, -1);
  const gchar *s = valid;

  g_string_append_c (text, '"');
  while (*s) {
    const gchar *next = g_utf8_next_char (s);
    gunichar c = g_utf8_get_char (s);

    if (c < 0x80 && is_plain ((guchar) c))
      g_string_append_c (text, *s);
    else if (c == '"' || c == '\\')
      g_string_append_printf (text, "\\%c", *s);
    else if (c < 0x20 || c == 0x7f || c == 0x2028 || c == 0x2029)
      g_string_append_printf (text, "\\u%04x", c);
    else
      g_string_append_len (text, s, next - s);
    s = next;
  }
  g_string_append_c (text, '"');
  g_free (valid);
}
