/* cudaccl - tests of the text of numbers and strings in lines of JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <math.h>
#include <string.h>

#include "gst/report/gstccltext.h"

/* The first of 15 to 17 digits that reads back, as printf writes it. */
static void
write_expected (gchar *text, gdouble value)
{
  gint digits;

  for (digits = 15; digits <= 17; digits++) {
    gchar format[8];

    g_snprintf (format, sizeof (format), "%%.%dg", digits);
    g_ascii_formatd (text, G_ASCII_DTOSTR_BUF_SIZE, format, value);
    if (g_ascii_strtod (text, NULL) == value)
      break;
  }
  if (!strpbrk (text, ".e"))
    strcat (text, ".0");
}

static void
check_double (gdouble value)
{
  gchar expected[G_ASCII_DTOSTR_BUF_SIZE + 2], text[GST_CCL_TEXT_DOUBLE + 1];
  gchar *end = gst_ccl_text_write_double (text, value);

  fail_unless (end - text <= GST_CCL_TEXT_DOUBLE);
  *end = '\0';
  write_expected (expected, value);
  /* A text with fewer digits that reads back is as good. */
  if (!g_str_equal (text, expected))
    fail_unless (g_ascii_strtod (text, NULL) == value && strlen (text) <= strlen (expected),
                 "%s is not %s", text, expected);
}

GST_START_TEST (test_doubles)
{
  static const gdouble values[] = { 0.0,
                                    -0.0,
                                    0.1,
                                    0.3,
                                    -0.5,
                                    1.0,
                                    9.5,
                                    0.0001,
                                    0.00009999999999999999,
                                    0.00001,
                                    1e-7,
                                    9.999999999999999e-11,
                                    5e-324,
                                    2.2250738585072014e-308,
                                    9007199254740991.0,
                                    9007199254740992.0,
                                    4503599627370495.5,
                                    4503599627370496.5,
                                    999999999999999.9,
                                    99999999999999.98,
                                    123456789012345678.0,
                                    1e21,
                                    1e22,
                                    1e300,
                                    1.7976931348623157e308 };
  guint i;
  gint exponent;

  for (i = 0; i < G_N_ELEMENTS (values); i++)
    check_double (values[i]);
  for (exponent = -1074; exponent < 1024; exponent++) {
    gdouble power = ldexp (1.0, exponent);

    check_double (power);
    check_double (nextafter (power, 0.0));
    check_double (nextafter (power, INFINITY));
  }
}
GST_END_TEST;

/* Bit patterns, numbers of common sizes, and means of integers, as centroids are. */
GST_START_TEST (test_random_doubles)
{
  guint32 seed = g_random_int ();
  GRand *random = g_rand_new_with_seed (seed);
  guint i;

  g_print ("seed %u\n", seed);
  for (i = 0; i < 30000; i++) {
    guint64 bits = (guint64) g_rand_int (random) << 32 | g_rand_int (random);
    gdouble value;

    memcpy (&value, &bits, sizeof (value));
    if (isfinite (value))
      check_double (value);
    check_double (ldexp (g_rand_double (random), g_rand_int_range (random, -70, 60)));
    check_double (g_rand_int_range (random, 0, 1 << 30) /
                  (gdouble) g_rand_int_range (random, 1, 100000));
    check_double (g_rand_int_range (random, 0, 1 << 30) / 1000.0);
  }
  g_rand_free (random);
}
GST_END_TEST;

GST_START_TEST (test_integers)
{
  static const guint64 values[] = { 0, 9, 10, 4294967295, G_MAXINT64, G_MAXUINT64 };
  gchar text[GST_CCL_TEXT_UINT64 + 1];
  guint i;

  for (i = 0; i < G_N_ELEMENTS (values); i++) {
    *gst_ccl_text_write_uint64 (text, values[i]) = '\0';
    fail_unless_equals_uint64 (g_ascii_strtoull (text, NULL, 10), values[i]);
    fail_unless (values[i] == 0 || text[0] != '0');
  }
}
GST_END_TEST;

/* Every byte, alone and between others. */
GST_START_TEST (test_strings)
{
  static const struct
  {
    const gchar *string, *text;
  } cases[] = {
    { "", "\"\"" },
    { "a\"b\\c/", "\"a\\\"b\\\\c/\"" },
    { "\x01\x1f\n\t\x7f", "\"\\u0001\\u001f\\u000a\\u0009\\u007f\"" },
    { "\xc3\x9f \xf0\x9f\x9a\x97", "\"\xc3\x9f \xf0\x9f\x9a\x97\"" },
    { "\xe2\x80\xa8\xe2\x80\xa9", "\"\\u2028\\u2029\"" },
    { "a\xff\x62\xc3", "\"a\xef\xbf\xbd\x62\xef\xbf\xbd\"" },
    { "\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
  };
  GString *text = g_string_new (NULL);
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    g_string_truncate (text, 0);
    gst_ccl_text_append_string (text, cases[i].string);
    fail_unless_equals_string (text->str, cases[i].text);
  }
  for (i = 1; i < 256; i++) {
    gchar string[] = { 'x', (gchar) i, 'y', '\0' };

    g_string_truncate (text, 0);
    gst_ccl_text_append_string (text, string);
    fail_unless (g_utf8_validate (text->str, (gssize) text->len, NULL));
    for (k = 0; k < text->len; k++)
      fail_unless ((guchar) text->str[k] >= 0x20 && text->str[k] != 0x7f, "byte %u", i);
  }
  g_string_free (text, TRUE);
}
GST_END_TEST;

static Suite *
ccltext_suite (void)
{
  Suite *s = suite_create ("ccltext");
  TCase *tc = tcase_create ("text");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_doubles);
  tcase_add_test (tc, test_random_doubles);
  tcase_add_test (tc, test_integers);
  tcase_add_test (tc, test_strings);

  return s;
}

GST_CHECK_MAIN (ccltext);
