/* cudaccl - helpers for the tests of ccljson
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/ccljsontest.h"

#include <math.h>
#include <string.h>

GstHarness *
json_harness_new (const gchar *caps)
{
  GstHarness *h = gst_harness_new ("ccljson");

  gst_harness_set_src_caps_str (h, caps);

  return h;
}

GstBuffer *
frame_new (GstClockTime pts, GstClockTime duration)
{
  GstBuffer *buffer = gst_buffer_new ();

  GST_BUFFER_PTS (buffer) = pts;
  GST_BUFFER_DURATION (buffer) = duration;

  return buffer;
}

gchar *
take_line (GstBuffer *buffer)
{
  GstMapInfo map;
  gchar *line;

  fail_unless (buffer != NULL);
  fail_unless (gst_buffer_map (buffer, &map, GST_MAP_READ));
  fail_unless (map.size > 0);
  fail_unless (g_utf8_validate ((const gchar *) map.data, (gssize) map.size, NULL));
  fail_unless (memchr (map.data, '\n', map.size) == map.data + map.size - 1);
  line = g_strndup ((const gchar *) map.data, map.size - 1);
  gst_buffer_unmap (buffer, &map);
  gst_buffer_unref (buffer);

  return line;
}

JsonObject *
take_object (GstBuffer *buffer)
{
  JsonParser *parser = json_parser_new ();
  gchar *line = take_line (buffer);
  GError *error = NULL;
  JsonObject *object;

  json_parser_load_from_data (parser, line, -1, &error);
  fail_unless (error == NULL, "%s in %s", error ? error->message : "", line);
  fail_unless (JSON_NODE_HOLDS_OBJECT (json_parser_get_root (parser)));
  object = json_object_ref (json_node_get_object (json_parser_get_root (parser)));
  g_object_unref (parser);
  g_free (line);

  return object;
}

void
check_integer (JsonObject *object, const gchar *name, guint64 expected)
{
  JsonNode *node = json_object_get_member (object, name);

  fail_unless (node != NULL, "no member %s", name);
  fail_unless (json_node_get_value_type (node) == G_TYPE_INT64, "%s is not an integer", name);
  fail_unless_equals_uint64 ((guint64) json_node_get_int (node), expected);
}

void
check_double (JsonObject *object, const gchar *name, gdouble expected)
{
  JsonNode *node = json_object_get_member (object, name);
  const gdouble rounded = rint (expected * 1000.0) / 1000.0;
  gdouble value;

  fail_unless (node != NULL, "no member %s", name);
  fail_unless (json_node_get_value_type (node) == G_TYPE_DOUBLE, "%s is not a double", name);
  value = json_node_get_double (node);
  fail_unless (memcmp (&value, &rounded, sizeof (value)) == 0, "%.17g is not %.17g", value,
               rounded);
}

void
check_null (JsonObject *object, const gchar *name)
{
  fail_unless (json_object_has_member (object, name), "no member %s", name);
  fail_unless (json_object_get_null_member (object, name), "%s is not null", name);
}

void
check_time (JsonObject *object, const gchar *name, GstClockTime expected)
{
  if (GST_CLOCK_TIME_IS_VALID (expected))
    check_integer (object, name, expected);
  else
    check_null (object, name);
}

void
check_components (JsonObject *object, const GstCclComponent *components, guint n_components)
{
  JsonArray *array = json_object_get_array_member (object, "components");
  guint i;

  check_integer (object, "count", n_components);
  fail_unless_equals_int (json_array_get_length (array), n_components);
  for (i = 0; i < n_components; i++) {
    JsonObject *entry = json_array_get_object_element (array, i);

    fail_unless_equals_int (json_object_get_size (entry), 8);
    check_integer (entry, "label", components[i].label);
    check_integer (entry, "x", components[i].x);
    check_integer (entry, "y", components[i].y);
    check_integer (entry, "width", components[i].width);
    check_integer (entry, "height", components[i].height);
    check_integer (entry, "area", components[i].area);
    check_double (entry, "centroid-x", components[i].centroid_x);
    check_double (entry, "centroid-y", components[i].centroid_y);
  }
}
