/* cudaccl-watch - writes JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/web/json.h"

#include "apps/watch/records/records.h"

void
watch_json_add_string (JsonBuilder *builder, const gchar *name, const gchar *value)
{
  g_autofree gchar *valid = NULL;

  if (!value)
    return;
  valid = g_utf8_make_valid (value, -1);
  json_builder_set_member_name (builder, name);
  json_builder_add_string_value (builder, valid);
}

void
watch_json_add_strings (JsonBuilder *builder, const gchar *name, const gchar *const *values)
{
  if (!values)
    return;
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
  for (; *values; values++) {
    g_autofree gchar *valid = g_utf8_make_valid (*values, -1);

    json_builder_add_string_value (builder, valid);
  }
  json_builder_end_array (builder);
}

void
watch_json_begin_array (JsonBuilder *builder, const gchar *name)
{
  json_builder_set_member_name (builder, name);
  json_builder_begin_array (builder);
}

void
watch_json_add_double (JsonBuilder *builder, const gchar *name, gdouble value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_double_value (builder, value);
}

void
watch_json_add_int (JsonBuilder *builder, const gchar *name, gint64 value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, value);
}

void
watch_json_add_boolean (JsonBuilder *builder, const gchar *name, gboolean value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_boolean_value (builder, value);
}

void
watch_json_add_time (JsonBuilder *builder, const gchar *name, gint64 value)
{
  g_autofree gchar *text = watch_time_to_string (value);

  watch_json_add_string (builder, name, text);
}

void
watch_json_add_share (JsonBuilder *builder, const gchar *name, gdouble value)
{
  if (name)
    json_builder_set_member_name (builder, name);
  json_builder_add_double_value (builder,
                                 (gint64) (value * 10000 + (value < 0 ? -0.5 : 0.5)) / 1e4);
}

gchar *
watch_json_take (JsonBuilder *builder)
{
  g_autoptr (JsonNode) root = NULL;

  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  g_object_unref (builder);
  return json_to_string (root, FALSE);
}
