/* cudaccl - parses JSON that comes from outside
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccljsonparse.h"

#include <string.h>
#include <gst/gst.h>

/* Returns the value of the escape \uXXXX at @at, or -1. */
static gint
read_escape (const gchar *at)
{
  gint value = 0;
  guint i;

  if (at[0] != '\\' || at[1] != 'u')
    return -1;
  for (i = 2; i < 6; i++) {
    if (!g_ascii_isxdigit (at[i]))
      return -1;
    value = value << 4 | g_ascii_xdigit_value (at[i]);
  }

  return value;
}

/* Moves @at from the opening quote of a string to the closing one, and returns NULL. On failure,
 * moves it to the problem, and returns a description. */
static const gchar *
skip_string (const gchar **at)
{
  const gchar *c = *at + 1;
  const gchar *problem = NULL;

  while (*c != '"' && !problem) {
    gint value = read_escape (c);

    if (*c == '\0') {
      problem = "unterminated string";
    } else if (c[0] == '\\' && c[1] == 'u') {
      gboolean pair = value >= 0xd800 && value < 0xdc00;
      gint low = pair ? read_escape (c + 6) : 0;

      if (value < 0)
        problem = "\\u without four hexadecimal digits";
      else if ((pair && (low < 0xdc00 || low >= 0xe000)) || (value >= 0xdc00 && value < 0xe000))
        problem = "lone surrogate";
      else
        c += pair ? 12 : 6;
    } else {
      c += c[0] == '\\' && c[1] != '\0' ? 2 : 1;
    }
  }
  *at = c;

  return problem;
}

/* Finds problems that json-glib does not survive, or wrongly accepts. It recurses at each opening
 * bracket and overflows its stack. After a bad \u it writes invalid UTF-8 and skips characters
 * unseen, even quotes. It leaks the first of two values. Comments and single quotes are refused,
 * too: where they end depends on its version, so brackets could hide in them.
 *
 * Returns a description and sets @where, or returns NULL. Leaves other errors to json-glib. */
static const gchar *
find_problem (const gchar *text, const gchar **where)
{
  const gchar *at, *problem = NULL;
  guint depth = 0;

  for (at = text; *at && !problem; at += problem ? 0 : 1) {
    switch (*at) {
    case '"':
      problem = skip_string (&at);
      break;
    case '[':
    case '{':
      if (++depth > GST_CCL_JSON_MAX_DEPTH)
        problem = "too many nested brackets";
      break;
    case ']':
    case '}':
      depth -= depth > 0 ? 1 : 0;
      if (depth == 0 && at[1 + strspn (at + 1, " \t\r\n")] != '\0')
        problem = "text after the end";
      break;
    case '/':
    case '\'':
    case '#':
      problem = "JSON has no comments or single quotes";
      break;
    default:
      break;
    }
  }
  *where = at;

  return problem;
}

/* Returns @problem with the line and the column of @where, in bytes, both from 1. */
static gchar *
describe (const gchar *text, const gchar *where, const gchar *problem)
{
  const gchar *start = text, *c;
  guint line = 1;

  for (c = text; c < where; c++) {
    if (*c == '\n') {
      start = c + 1;
      line++;
    }
  }

  return g_strdup_printf ("line %u, column %u: %s", line, (guint) (where - start) + 1, problem);
}

JsonNode *
gst_ccl_json_parse (const gchar *text, const gchar *name, GError **error)
{
  const gchar *problem = NULL, *where;
  gsize size = strlen (text);
  GError *parse_error = NULL;
  gchar *message = NULL, *full, *valid;
  JsonNode *root = NULL;
  JsonParser *parser;

  if (size > GST_CCL_JSON_MAX_SIZE)
    message = g_strdup_printf ("%" G_GSIZE_FORMAT " bytes of JSON are more than %u", size,
                               GST_CCL_JSON_MAX_SIZE);
  else if ((problem = find_problem (text, &where)))
    message = describe (text, where, problem);

  if (!message) {
    parser = json_parser_new ();
    if (json_parser_load_from_data (parser, text, (gssize) size, &parse_error))
      root = json_parser_steal_root (parser);
    g_object_unref (parser);
    if (root)
      return root;
    message = g_strdup (parse_error ? parse_error->message : "expected JSON");
    g_clear_error (&parse_error);
  }

  full = g_strdup_printf ("%s: %s", name, message);
  valid = g_utf8_make_valid (full, -1);
  g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, valid);
  g_free (valid);
  g_free (full);
  g_free (message);

  return NULL;
}
