/* cudaccl - writes JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/web/json.h"

#include <string.h>

static void
append_escaped (GString *json, const gchar *text)
{
  static const gchar letters[] = "\bb\ff\nn\rr\tt\"\"\\\\";

  for (; *text; text++) {
    guchar c = (guchar) *text;
    const gchar *pair = letters;

    if (c >= ' ' && c != '"' && c != '\\' && c != 0x7f) {
      g_string_append_c (json, *text);
      continue;
    }
    while (*pair && *pair != *text)
      pair += 2;
    if (*pair)
      g_string_append_printf (json, "\\%c", pair[1]);
    else
      g_string_append_printf (json, "\\u%04x", c);
  }
}

static void
append_quoted (GString *json, const gchar *text)
{
  g_autofree gchar *valid = g_utf8_validate (text, -1, NULL) ? NULL : g_utf8_make_valid (text, -1);

  g_string_append_c (json, '"');
  append_escaped (json, valid ? valid : text);
  g_string_append_c (json, '"');
}

/* Separate all but the first member of an object or array. */
static void
begin (GString *json, const gchar *name)
{
  gchar last = json->len ? json->str[json->len - 1] : '{';

  if (last != '{' && last != '[')
    g_string_append_c (json, ',');
  if (name) {
    append_quoted (json, name);
    g_string_append_c (json, ':');
  }
}

void
web_json_begin_object (GString *json, const gchar *name)
{
  begin (json, name);
  g_string_append_c (json, '{');
}

void
web_json_end_object (GString *json)
{
  g_string_append_c (json, '}');
}

void
web_json_begin_array (GString *json, const gchar *name)
{
  begin (json, name);
  g_string_append_c (json, '[');
}

void
web_json_end_array (GString *json)
{
  g_string_append_c (json, ']');
}

void
web_json_add_string (GString *json, const gchar *name, const gchar *value)
{
  if (!value)
    return;
  begin (json, name);
  append_quoted (json, value);
}

void
web_json_add_strings (GString *json, const gchar *name, const gchar *const *values)
{
  if (!values)
    return;
  web_json_begin_array (json, name);
  for (; *values; values++)
    web_json_add_string (json, NULL, *values);
  web_json_end_array (json);
}

void
web_json_add_int (GString *json, const gchar *name, gint64 value)
{
  begin (json, name);
  g_string_append_printf (json, "%" G_GINT64_FORMAT, value);
}

void
web_json_add_uint (GString *json, const gchar *name, guint64 value)
{
  begin (json, name);
  g_string_append_printf (json, "%" G_GUINT64_FORMAT, value);
}

void
web_json_add_boolean (GString *json, const gchar *name, gboolean value)
{
  begin (json, name);
  g_string_append (json, value ? "true" : "false");
}

void
web_json_add_double (GString *json, const gchar *name, gdouble value)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];

  begin (json, name);
  g_string_append (json, g_ascii_dtostr (digits, sizeof digits, value));
  if (!digits[strspn (digits, "-0123456789")])
    g_string_append (json, ".0");
}

void
web_json_add_decimal (GString *json, const gchar *name, gdouble value, guint digits)
{
  gchar format[] = "%.0f", text[G_ASCII_DTOSTR_BUF_SIZE];
  gsize length;

  format[2] = (gchar) ('0' + digits);
  g_ascii_formatd (text, sizeof text, format, value);
  length = strlen (text);
  while (text[length - 1] == '0')
    length--;
  if (text[length - 1] == '.')
    length--;
  begin (json, name);
  g_string_append_len (json, text, (gssize) length);
}

void
web_json_add_json (GString *json, const gchar *name, const gchar *value)
{
  begin (json, name);
  g_string_append (json, value);
}

GString *
web_json_new (void)
{
  return g_string_new ("{");
}

gchar *
web_json_take (GString *json)
{
  web_json_end_object (json);
  return g_string_free (json, FALSE);
}
