/* cudaccl - the components of a frame as a line of JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccljsonwrite.h"

#include <math.h>
#include <string.h>
#include <json-glib/json-glib.h>

/* What does not fit the integers of json-glib is no time that ever comes, and no area. */
static void
add_uint64 (JsonBuilder *builder, const gchar *name, guint64 value)
{
  json_builder_set_member_name (builder, name);
  if (value <= G_MAXINT64)
    json_builder_add_int_value (builder, (gint64) value);
  else
    json_builder_add_null_value (builder);
}

/* JSON has numbers only. */
static void
add_double (JsonBuilder *builder, const gchar *name, gdouble value)
{
  json_builder_set_member_name (builder, name);
  if (isfinite (value))
    json_builder_add_double_value (builder, value);
  else
    json_builder_add_null_value (builder);
}

static void
add_component (JsonBuilder *builder, const GstCclComponent *component)
{
  json_builder_begin_object (builder);
  add_uint64 (builder, "label", component->label);
  add_uint64 (builder, "x", component->x);
  add_uint64 (builder, "y", component->y);
  add_uint64 (builder, "width", component->width);
  add_uint64 (builder, "height", component->height);
  add_uint64 (builder, "area", component->area);
  add_double (builder, "centroid-x", component->centroid_x);
  add_double (builder, "centroid-y", component->centroid_y);
  json_builder_end_object (builder);
}

static JsonNode *
build (const GstCclJsonFrame *frame)
{
  JsonBuilder *builder = json_builder_new ();
  JsonNode *root;
  guint i;

  json_builder_begin_object (builder);
  if (frame->source) {
    json_builder_set_member_name (builder, "source");
    json_builder_add_string_value (builder, frame->source);
  }
  add_uint64 (builder, "timestamp", frame->timestamp);
  add_uint64 (builder, "stream-time", frame->stream_time);
  add_uint64 (builder, "running-time", frame->running_time);
  add_uint64 (builder, "duration", frame->duration);
  add_uint64 (builder, "width", frame->width);
  add_uint64 (builder, "height", frame->height);
  add_uint64 (builder, "found", (guint64) frame->found);
  add_uint64 (builder, "count", frame->n_components);

  json_builder_set_member_name (builder, "components");
  json_builder_begin_array (builder);
  for (i = 0; i < frame->n_components; i++)
    add_component (builder, &frame->components[i]);
  json_builder_end_array (builder);
  json_builder_end_object (builder);

  root = json_builder_get_root (builder);
  g_object_unref (builder);

  return root;
}

/* The shortest text that is read as the same number again. */
static void
append_double (GString *line, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];
  guint digits;

  for (digits = 15; digits <= 17; digits++) {
    gchar format[8];

    g_snprintf (format, sizeof (format), "%%.%ug", digits);
    g_ascii_formatd (text, sizeof (text), format, value);
    if (g_ascii_strtod (text, NULL) == value)
      break;
  }

  g_string_append (line, text);
  if (!strpbrk (text, ".e"))
    g_string_append (line, ".0");
}

/* json-glib writes 0.1 as 0.10000000000000001 and 1e+22 as 1e+22.0, which is not even JSON. So its
 * text is taken over, but for the numbers with a point. */
static GString *
rewrite_doubles (const gchar *text)
{
  GString *line = g_string_sized_new (strlen (text) + 2);
  gboolean in_string = FALSE;

  while (*text) {
    gsize length = in_string ? 0 : strspn (text, "+-.0123456789eE");

    if (memchr (text, '.', length)) {
      append_double (line, g_ascii_strtod (text, NULL));
      text += length;
      continue;
    }

    if (*text == '"')
      in_string = !in_string;
    else if (*text == '\\' && text[1])
      g_string_append_c (line, *text++);
    g_string_append_c (line, *text++);
  }

  return line;
}

GString *
gst_ccl_json_write (const GstCclJsonFrame *frame)
{
  JsonGenerator *generator = json_generator_new ();
  JsonNode *root = build (frame);
  GString *line;
  gchar *text;

  json_generator_set_root (generator, root);
  text = json_generator_to_data (generator, NULL);
  line = rewrite_doubles (text);
  g_string_append_c (line, '\n');

  g_free (text);
  json_node_unref (root);
  g_object_unref (generator);

  return line;
}
