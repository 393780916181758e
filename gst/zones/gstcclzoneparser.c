/* cudaccl - reads zones and tripwires from text and JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclzoneset.h"

#include <math.h>
#ifdef HAVE_JSON_GLIB
#include <json-glib/json-glib.h>
#endif

static void set_error (GError **error, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

static void
set_error (GError **error, const gchar *format, ...)
{
  va_list args;
  gchar *text;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, text);
  g_free (text);
}

static void
add_point (GArray *points, gdouble x, gdouble y)
{
  g_array_append_val (points, x);
  g_array_append_val (points, y);
}

static void
set_points (GstCclZone *zone, GArray *points)
{
  zone->n_points = points->len / 2;
  zone->points = (gdouble *) g_array_free (points, FALSE);
}

/* Reads a number. Returns FALSE if there is none, or it is not finite. */
static gboolean
read_number (const gchar **text, gdouble *number)
{
  gchar *end;

  *number = g_ascii_strtod (*text, &end);
  if (end == *text || !isfinite (*number))
    return FALSE;
  *text = end;

  return TRUE;
}

static guint
count_zones (const GstCclZoneSet *self)
{
  guint n;

  gst_ccl_zone_set_get_zones (self, &n);

  return n;
}

static gboolean
parse_text (GstCclZoneSet *self, const gchar *text, gboolean tripwire, const gchar *property,
            GError **error)
{
  const gchar *at = text;

  for (;;) {
    GstCclZone zone = { NULL, tripwire };
    const gchar *start, *colon;
    gchar *place;
    GArray *points;
    gboolean added;

    while (g_ascii_isspace (*at) || *at == ';')
      at++;
    if (!*at)
      return TRUE;

    start = at;
    colon = at + strcspn (at, ":;");
    if (*colon == ':') {
      zone.name = g_strstrip (g_strndup (at, (gsize) (colon - at)));
      at = colon + 1;
    } else {
      zone.name = g_strdup_printf ("%s%u", tripwire ? "tripwire" : "zone", count_zones (self) + 1);
    }

    points = g_array_new (FALSE, FALSE, sizeof (gdouble));
    while (g_ascii_isspace (*at))
      at++;
    while (*at && *at != ';') {
      const gchar *before = at;
      gdouble x, y;

      if (!read_number (&at, &x) || *at++ != ',' || !read_number (&at, &y)) {
        set_error (error, "%s, character %u: expected a point x,y", property,
                   (guint) (before - text) + 1);
        g_free (zone.name);
        g_array_unref (points);
        return FALSE;
      }
      add_point (points, x, y);
      while (g_ascii_isspace (*at))
        at++;
    }
    set_points (&zone, points);

    place = g_strdup_printf ("%s, character %u, \"%s\"", property, (guint) (start - text) + 1,
                             zone.name);
    added = gst_ccl_zone_set_take_zone (self, &zone, place, error);
    g_free (place);
    if (!added)
      return FALSE;
  }
}

#ifdef HAVE_JSON_GLIB
#define CIRCLE_POINTS 64

/* Numbers beyond the range of doubles, such as 1e999, are refused: json-glib reads them as
 * infinity. */
static gboolean
get_number (JsonNode *node, gdouble *number)
{
  GType type = node && JSON_NODE_HOLDS_VALUE (node) ? json_node_get_value_type (node) : G_TYPE_NONE;

  if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
    return FALSE;
  *number = json_node_get_double (node);

  return isfinite (*number);
}

/* A point is {"x": 1, "y": 2} or [1, 2]. */
static gboolean
get_point (JsonNode *node, gdouble *x, gdouble *y)
{
  if (node && JSON_NODE_HOLDS_OBJECT (node)) {
    JsonObject *object = json_node_get_object (node);

    return get_number (json_object_get_member (object, "x"), x) &&
           get_number (json_object_get_member (object, "y"), y);
  }
  if (node && JSON_NODE_HOLDS_ARRAY (node) &&
      json_array_get_length (json_node_get_array (node)) == 2)
    return get_number (json_array_get_element (json_node_get_array (node), 0), x) &&
           get_number (json_array_get_element (json_node_get_array (node), 1), y);

  return FALSE;
}

static gboolean
set_circle (JsonObject *object, GArray *points)
{
  gdouble x, y, radius;
  guint i;

  if (!get_point (json_object_get_member (object, "center"), &x, &y) ||
      !get_number (json_object_get_member (object, "radius"), &radius) || radius <= 0.0 ||
      !isfinite (fabs (x) + radius) || !isfinite (fabs (y) + radius))
    return FALSE;
  for (i = 0; i < CIRCLE_POINTS; i++)
    add_point (points, x + radius * cos (2.0 * G_PI * i / CIRCLE_POINTS),
               y + radius * sin (2.0 * G_PI * i / CIRCLE_POINTS));

  return TRUE;
}

/* Reads an object with r, g and b, 0 to 255, each of which may be missing. */
static gboolean
get_color (JsonNode *node, guint32 *color)
{
  static const gchar *const names[] = { "r", "g", "b" };
  gdouble value;
  guint i;

  if (!node)
    return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return FALSE;

  *color = 0xff;
  for (i = 0; i < 3; i++) {
    JsonNode *member = json_object_get_member (json_node_get_object (node), names[i]);

    value = 0.0;
    if (member && (!get_number (member, &value) || !(value >= 0.0 && value <= 255.0)))
      return FALSE;
    *color = *color << 8 | (guint) value;
  }

  return TRUE;
}

static gboolean
is_circle (JsonObject *object)
{
  JsonNode *type = json_object_get_member (object, "type");

  return type && JSON_NODE_HOLDS_VALUE (type) && json_node_get_value_type (type) == G_TYPE_STRING
             ? g_str_equal (json_node_get_string (type), "circle")
             : json_object_has_member (object, "radius");
}

static gboolean
parse_item (GstCclZoneSet *self, JsonNode *node, gboolean tripwire, const gchar *place,
            GError **error)
{
  GstCclZone zone = { NULL, tripwire };
  const gchar *problem = NULL;
  JsonNode *id, *member;
  JsonObject *object;
  GArray *points;
  guint i;

  if (!JSON_NODE_HOLDS_OBJECT (node)) {
    set_error (error, "%s: expected an object", place);
    return FALSE;
  }
  object = json_node_get_object (node);
  id = json_object_get_member (object, "id");
  member = json_object_get_member (object, "points");
  points = g_array_new (FALSE, FALSE, sizeof (gdouble));

  if (!id || !JSON_NODE_HOLDS_VALUE (id) || json_node_get_value_type (id) != G_TYPE_STRING) {
    problem = ".id: expected a string";
  } else if (!tripwire && is_circle (object)) {
    if (!set_circle (object, points))
      problem = ": expected a center and a radius above 0";
  } else if (!member || !JSON_NODE_HOLDS_ARRAY (member)) {
    problem = ".points: expected an array";
  } else {
    JsonArray *array = json_node_get_array (member);

    for (i = 0; i < json_array_get_length (array); i++) {
      gdouble x, y;

      if (!get_point (json_array_get_element (array, i), &x, &y)) {
        set_error (error, "%s.points[%u]: expected a point with x and y", place, i);
        g_array_unref (points);
        return FALSE;
      }
      add_point (points, x, y);
    }
  }
  if (!problem && !get_color (json_object_get_member (object, "color"), &zone.color))
    problem = ".color: expected r, g and b from 0 to 255";
  if (problem) {
    set_error (error, "%s%s", place, problem);
    g_array_unref (points);
    return FALSE;
  }

  zone.name = g_strdup (json_node_get_string (id));
  set_points (&zone, points);

  return gst_ccl_zone_set_take_zone (self, &zone, place, error);
}

/* @place is where the array stands. */
static gboolean
parse_array (GstCclZoneSet *self, JsonNode *node, gboolean tripwire, const gchar *place,
             GError **error)
{
  gboolean parsed = TRUE;
  JsonArray *array;
  guint i;

  if (!JSON_NODE_HOLDS_ARRAY (node)) {
    set_error (error, "%s: expected an array", place);
    return FALSE;
  }
  array = json_node_get_array (node);
  for (i = 0; i < json_array_get_length (array) && parsed; i++) {
    gchar *item = g_strdup_printf ("%s[%u]", place, i);

    parsed = parse_item (self, json_array_get_element (array, i), tripwire, item, error);
    g_free (item);
  }

  return parsed;
}

/* Parses a text; json-glib's errors have the line and column. */
static JsonParser *
load (const gchar *text, const gchar *name, GError **error)
{
  JsonParser *parser = json_parser_new ();
  GError *problem = NULL;

  if (json_parser_load_from_data (parser, text, -1, &problem) && json_parser_get_root (parser))
    return parser;

  set_error (error, "%s: %s", name, problem ? problem->message : "expected JSON");
  g_clear_error (&problem);
  g_object_unref (parser);

  return NULL;
}

static gboolean
parse_json (GstCclZoneSet *self, const gchar *text, gboolean tripwire, const gchar *name,
            GError **error)
{
  JsonParser *parser = load (text, name, error);
  gboolean parsed;

  if (!parser)
    return FALSE;
  parsed = parse_array (self, json_parser_get_root (parser), tripwire, name, error);
  g_object_unref (parser);

  return parsed;
}

static gboolean
parse_members (GstCclZoneSet *self, JsonNode *root, const gchar *path, GError **error)
{
  static const gchar *const names[] = { "zones", "tripwires" };
  gboolean parsed = TRUE;
  guint i;

  if (!JSON_NODE_HOLDS_OBJECT (root)) {
    set_error (error, "%s: expected an object", path);
    return FALSE;
  }
  for (i = 0; i < 2 && parsed; i++) {
    JsonNode *node = json_object_get_member (json_node_get_object (root), names[i]);
    gchar *place = g_strdup_printf ("%s: %s", path, names[i]);

    parsed = !node || parse_array (self, node, i == 1, place, error);
    g_free (place);
  }

  return parsed;
}

gboolean
gst_ccl_zone_set_add_file (GstCclZoneSet *self, const gchar *path, GError **error)
{
  GError *problem = NULL;
  JsonParser *parser;
  gboolean parsed;
  gchar *text;

  if (!g_file_get_contents (path, &text, NULL, &problem)) {
    set_error (error, "%s", problem->message);
    g_clear_error (&problem);
    return FALSE;
  }
  parser = load (text, path, error);
  g_free (text);
  if (!parser)
    return FALSE;
  parsed = parse_members (self, json_parser_get_root (parser), path, error);
  g_object_unref (parser);

  return parsed;
}
#else
static gboolean
parse_json (GstCclZoneSet *self, const gchar *text, gboolean tripwire, const gchar *name,
            GError **error)
{
  set_error (error, "%s: JSON needs json-glib, which this build lacks", name);
  return FALSE;
}

gboolean
gst_ccl_zone_set_add_file (GstCclZoneSet *self, const gchar *path, GError **error)
{
  return parse_json (self, NULL, FALSE, path, error);
}
#endif

gboolean
gst_ccl_zone_set_add_text (GstCclZoneSet *self, const gchar *text, gboolean tripwires,
                           const gchar *name, GError **error)
{
  const gchar *start = text;

  while (g_ascii_isspace (*start))
    start++;
  if (*start == '[' || *start == '{')
    return parse_json (self, text, tripwires, name, error);

  return parse_text (self, text, tripwires, name, error);
}
