/* cudaccl - tests of the parser of JSON that comes from outside
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include <gst/check/gstcheck.h>
#include <string.h>

#include "gst/base/gstccljsonparse.h"

/* The message for @text; "" if it is accepted. */
static gchar *
parse (const gchar *text)
{
  GError *error = NULL;
  JsonNode *root = gst_ccl_json_parse (text, "caf\xe9", &error);
  gchar *message;

  fail_unless ((root != NULL) == (error == NULL));
  if (root) {
    json_node_unref (root);
    return g_strdup ("");
  }
  fail_unless (g_error_matches (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS));
  fail_unless (g_utf8_validate (error->message, -1, NULL));
  fail_unless (g_str_has_prefix (error->message, "caf\xef\xbf\xbd: "), "%s", error->message);
  message = g_strdup (strstr (error->message, ": ") + 2);
  g_error_free (error);

  return message;
}

/* @n times @piece. */
static gchar *
repeat (const gchar *piece, guint n)
{
  GString *text = g_string_new (NULL);

  while (n-- > 0)
    g_string_append (text, piece);

  return g_string_free (text, FALSE);
}

GST_START_TEST (test_accepted)
{
  static const gchar *const texts[] = {
    "1",
    " [] ",
    "{\"a\":[{}]}",
    "[\"\\\"[[\\\\\", \"]]\", \"//'#\"]",
    "[\"\\ud83d\\ude00\", \"\\uD83D\\uDE00\\u00df\"]",
  };
  GError *error = NULL;
  JsonNode *root;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (texts); i++) {
    gchar *message = parse (texts[i]);

    fail_unless_equals_string (message, "");
    g_free (message);
  }

  root = gst_ccl_json_parse ("[\"\\ud83d\\ude00\\\"\"]", "", &error);
  fail_unless_equals_string (json_array_get_string_element (json_node_get_array (root), 0),
                             "\xf0\x9f\x98\x80\"");
  json_node_unref (root);
}
GST_END_TEST;

GST_START_TEST (test_refused)
{
  static const struct
  {
    const gchar *text, *message;
  } cases[] = {
    { "", "expected JSON" },
    { "[1", "<data>:1:2: " },
    { "{\"x\":0} [1]", "line 1, column 7: text after the end" },
    { "[\"\xff\"]", "" },
    { "\n [\"abc", "line 2, column 7: unterminated string" },
    { "[\"abc\\", "line 1, column 7: unterminated string" },
    { "[\"\\ud800\"]", "line 1, column 3: lone surrogate" },
    { "[\"\\ud800x\"]", "line 1, column 3: lone surrogate" },
    { "[\"\\ud800\\n\"]", "line 1, column 3: lone surrogate" },
    { "[\"\\ud800\\ud800\"]", "line 1, column 3: lone surrogate" },
    { "[\"\\ud800\\ue000\"]", "line 1, column 3: lone surrogate" },
    { "{\"x\\udfff\":1}", "line 1, column 4: lone surrogate" },
    { "[\"\\u12\"]", "line 1, column 3: \\u without" },
    { "[\n// \"\n1]", "line 2, column 1: JSON has no comments" },
    { "/*/ \" */ 1", "line 1, column 1: JSON has no comments" },
    { "['\"']", "line 1, column 2: JSON has no comments" },
    { "# \"\n1", "line 1, column 1: JSON has no comments" },
  };
  guint i;

  for (i = 0; i < G_N_ELEMENTS (cases); i++) {
    gchar *message = parse (cases[i].text);

    fail_unless (*message && g_str_has_prefix (message, cases[i].message), "%s: %s", cases[i].text,
                 message);
    g_free (message);
  }
}
GST_END_TEST;

/* As many brackets as are allowed, one more, and so many that json-glib's stack overflows; also
 * where strings pretend to close them. */
GST_START_TEST (test_depth)
{
  static const gchar *const opening[] = { "[", "{\"a\":", "[\"]\\\"]\"," };
  static const gchar *const closing[] = { "]", "}", "]" };
  static const guint depths[] = { GST_CCL_JSON_MAX_DEPTH, GST_CCL_JSON_MAX_DEPTH + 1, 100000 };
  guint i, k;

  for (i = 0; i < G_N_ELEMENTS (opening); i++) {
    for (k = 0; k < G_N_ELEMENTS (depths); k++) {
      gchar *open = repeat (opening[i], depths[k]);
      gchar *close = repeat (closing[i], depths[k]);
      gchar *text = g_strconcat (open, "1", close, NULL);
      gchar *message = parse (text);

      fail_unless ((k == 0 ? !*message : strstr (message, "nested") != NULL), "%s", message);
      g_free (message);
      g_free (text);
      g_free (close);
      g_free (open);
    }
  }
}
GST_END_TEST;

/* Brackets side by side are no nesting; only the size is limited. */
GST_START_TEST (test_size)
{
  guint n;

  for (n = GST_CCL_JSON_MAX_SIZE / 4 - 1; n <= GST_CCL_JSON_MAX_SIZE / 4; n++) {
    gchar *pieces = repeat ("[],\n", n);
    gchar *text = g_strdup_printf ("[%s1]", pieces);
    gchar *message = parse (text);
    gboolean fits = n < GST_CCL_JSON_MAX_SIZE / 4;

    fail_unless_equals_int (strlen (text) <= GST_CCL_JSON_MAX_SIZE, fits);
    fail_unless ((fits ? !*message : strstr (message, "bytes") != NULL), "%s", message);
    g_free (message);
    g_free (text);
    g_free (pieces);
  }
}
GST_END_TEST;

static Suite *
ccljsonparse_suite (void)
{
  Suite *s = suite_create ("ccljsonparse");
  TCase *tc = tcase_create ("parser");

  suite_add_tcase (s, tc);
  tcase_add_test (tc, test_accepted);
  tcase_add_test (tc, test_refused);
  tcase_add_test (tc, test_depth);
  tcase_add_test (tc, test_size);

  return s;
}

GST_CHECK_MAIN (ccljsonparse);
