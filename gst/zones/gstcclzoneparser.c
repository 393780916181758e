/* cudaccl - reads zones and tripwires from text and JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclzoneparser.h"

#include <math.h>
#include <string.h>
#ifdef HAVE_JSON_GLIB
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <gst/base/gstccljsonparse.h>
#endif

static void set_error (GError **error, const gchar *format, ...) G_GNUC_PRINTF (2, 3);

/* Names and paths in the message may be invalid UTF-8. */
static void
set_error (GError **error, const gchar *format, ...)
{
  gchar *text, *valid;
  va_list args;

  va_start (args, format);
  text = g_strdup_vprintf (format, args);
  va_end (args);
  valid = g_utf8_make_valid (text, -1);
  g_set_error_literal (error, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_SETTINGS, valid);
  g_free (valid);
  g_free (text);
}

static void
add_point (GArray *points, gdouble x, gdouble y)
{
  const gdouble point[2] = { x, y };

  g_array_append_vals (points, point, 2);
}

/* Adds a zone, and takes its name, points and classes. @place locates it for messages. */
static gboolean
take_zone (GstCclZoneSet *self, gboolean tripwire, gchar *name, GArray *points, guint32 color,
           GHashTable *classes, const gchar *place, GError **error)
{
  GstCclZone zone = { .name = name,
                      .tripwire = tripwire,
                      .color = color,
                      .n_points = points->len / 2,
                      .points = (gdouble *) g_array_free (points, FALSE) };
  const gchar *problem = gst_ccl_zone_set_take_zone (self, &zone, classes);

  if (problem)
    set_error (error, "%s: %s", place, problem);

  return problem == NULL;
}

static const gchar *
skip_space (const gchar *at)
{
  while (g_ascii_isspace (*at))
    at++;

  return at;
}

/* Reads a finite number. Returns FALSE if there is none. */
static gboolean
read_number (const gchar **at, gdouble *number)
{
  gchar *end;

  *number = g_ascii_strtod (*at, &end);
  if (end == *at || !isfinite (*number))
    return FALSE;
  *at = end;

  return TRUE;
}

/* Reads points up to a semicolon or the end. On failure, returns FALSE with @at at the problem. */
static gboolean
read_points (const gchar **at, GArray *points)
{
  gdouble x, y;

  for (*at = skip_space (*at); **at && **at != ';'; *at = skip_space (*at)) {
    const gchar *c = *at;

    if (!read_number (&c, &x) || *c++ != ',' || !read_number (&c, &y))
      return FALSE;
    add_point (points, x, y);
    *at = c;
  }

  return TRUE;
}

/* Reads the name before a colon; without one, numbers the zone. */
static gchar *
read_name (const GstCclZoneSet *self, gboolean tripwire, const gchar **at)
{
  gsize length = strcspn (*at, ":;");
  gchar *name;

  if ((*at)[length] != ':')
    return g_strdup_printf ("%s%u", tripwire ? "tripwire" : "zone",
                            gst_ccl_zone_set_get_meta (self).n_zones + 1);
  name = g_strstrip (g_strndup (*at, length));
  *at += length + 1;

  return name;
}

static gboolean
parse_text (GstCclZoneSet *self, const gchar *text, gboolean tripwire, const gchar *property,
            GError **error)
{
  const gchar *at = text;
  gboolean parsed = TRUE;

  for (at += strspn (at, "; \t\r\n\v\f"); parsed && *at; at += strspn (at, "; \t\r\n\v\f")) {
    guint position = (guint) (at - text) + 1;
    gchar *name = read_name (self, tripwire, &at), *place;
    GArray *points = g_array_new (FALSE, FALSE, sizeof (gdouble));

    if (!read_points (&at, points)) {
      set_error (error, "%s, character %u: expected a point x,y", property,
                 (guint) (at - text) + 1);
      g_array_unref (points);
      g_free (name);
      return FALSE;
    }
    place = g_strdup_printf ("%s, character %u, \"%s\"", property, position, name);
    parsed = take_zone (self, tripwire, name, points, 0, NULL, place, error);
    g_free (place);
  }

  return parsed;
}

#ifdef HAVE_JSON_GLIB
#define CIRCLE_POINTS 64

static gboolean
is_of_type (JsonNode *node, GType type)
{
  return node && JSON_NODE_HOLDS_VALUE (node) && json_node_get_value_type (node) == type;
}

/* Refuses numbers beyond the range of doubles, such as 1e999, which json-glib reads as infinity. */
static gboolean
get_number (JsonNode *node, gdouble *number)
{
  if (!is_of_type (node, G_TYPE_INT64) && !is_of_type (node, G_TYPE_DOUBLE))
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
add_circle (GArray *points, JsonObject *object)
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

/* Reads an object with the optional members r, g and b, 0 to 255. */
static gboolean
get_color (JsonNode *node, guint32 *color)
{
  static const gchar *const names[] = { "r", "g", "b" };
  guint i;

  if (!node)
    return TRUE;
  if (!JSON_NODE_HOLDS_OBJECT (node))
    return FALSE;

  *color = 0xff;
  for (i = 0; i < 3; i++) {
    JsonNode *member = json_object_get_member (json_node_get_object (node), names[i]);
    gdouble value = 0.0;

    if (member && (!get_number (member, &value) || !(value >= 0.0 && value <= 255.0)))
      return FALSE;
    *color = *color << 8 | (guint) value;
  }

  return TRUE;
}

/* Reads an optional array of names; without one, @classes is NULL. */
static gboolean
get_classes (JsonNode *node, GHashTable **classes)
{
  JsonArray *array;
  guint i;

  *classes = NULL;
  if (!node)
    return TRUE;
  if (!JSON_NODE_HOLDS_ARRAY (node))
    return FALSE;

  array = json_node_get_array (node);
  *classes = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  for (i = 0; i < json_array_get_length (array); i++) {
    JsonNode *name = json_array_get_element (array, i);

    if (!is_of_type (name, G_TYPE_STRING)) {
      g_clear_pointer (classes, g_hash_table_unref);
      return FALSE;
    }
    g_hash_table_add (*classes, g_strdup (json_node_get_string (name)));
  }

  return TRUE;
}

static gboolean
is_circle (JsonObject *object)
{
  JsonNode *type = json_object_get_member (object, "type");

  return is_of_type (type, G_TYPE_STRING) ? g_str_equal (json_node_get_string (type), "circle")
                                          : json_object_has_member (object, "radius");
}

/* Reads the points of a zone. Returns NULL, or a description of the problem to be freed. */
static gchar *
read_shape (JsonObject *object, gboolean tripwire, GArray *points)
{
  JsonNode *member = json_object_get_member (object, "points");
  gdouble x, y;
  guint i;

  if (!tripwire && is_circle (object))
    return add_circle (points, object) ? NULL
                                       : g_strdup (": expected a center and a radius above 0");
  if (!member || !JSON_NODE_HOLDS_ARRAY (member))
    return g_strdup (".points: expected an array");

  for (i = 0; i < json_array_get_length (json_node_get_array (member)); i++) {
    if (!get_point (json_array_get_element (json_node_get_array (member), i), &x, &y))
      return g_strdup_printf (".points[%u]: expected a point with x and y", i);
    add_point (points, x, y);
  }

  return NULL;
}

static gboolean
parse_item (GstCclZoneSet *self, JsonNode *node, gboolean tripwire, const gchar *place,
            GError **error)
{
  GArray *points;
  GHashTable *classes;
  JsonObject *object;
  guint32 color = 0;
  gchar *problem;
  JsonNode *id;

  if (!JSON_NODE_HOLDS_OBJECT (node)) {
    set_error (error, "%s: expected an object", place);
    return FALSE;
  }
  object = json_node_get_object (node);
  id = json_object_get_member (object, "id");
  points = g_array_new (FALSE, FALSE, sizeof (gdouble));
  if (!is_of_type (id, G_TYPE_STRING))
    problem = g_strdup (".id: expected a string");
  else
    problem = read_shape (object, tripwire, points);
  if (!problem && !get_color (json_object_get_member (object, "color"), &color))
    problem = g_strdup (".color: expected r, g and b from 0 to 255");
  if (!problem && !get_classes (json_object_get_member (object, "classes"), &classes))
    problem = g_strdup (".classes: expected an array of strings");
  if (!problem)
    return take_zone (self, tripwire, g_strdup (json_node_get_string (id)), points, color, classes,
                      place, error);

  set_error (error, "%s%s", place, problem);
  g_array_unref (points);
  g_free (problem);

  return FALSE;
}

/* @place locates the array for messages. */
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

static gboolean
parse_json (GstCclZoneSet *self, const gchar *text, gboolean tripwire, const gchar *name,
            GError **error)
{
  JsonNode *root = gst_ccl_json_parse (text, name, error);
  gboolean parsed = root && parse_array (self, root, tripwire, name, error);

  g_clear_pointer (&root, json_node_unref);

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

/* Reads a text of at most GST_CCL_JSON_MAX_SIZE bytes. Only regular files: reading others, such
 * as a pipe without a writer, may never end. Returns NULL, with @problem to be freed, on failure.
 */
static gchar *
read_file (const gchar *path, gchar **problem)
{
  gint file = open (path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  gchar *text = NULL;
  struct stat status;
  gsize size = 0;
  gssize n = -1;

  if (file < 0 || fstat (file, &status) != 0) {
    *problem = g_strdup (g_strerror (errno));
  } else if (!S_ISREG (status.st_mode)) {
    *problem = g_strdup ("not a regular file");
  } else {
    text = g_malloc (GST_CCL_JSON_MAX_SIZE + 1);
    do {
      n = read (file, text + size, GST_CCL_JSON_MAX_SIZE + 1 - size);
      size += (gsize) MAX (n, 0);
    } while (n > 0 || (n < 0 && errno == EINTR));
    if (n < 0)
      *problem = g_strdup (g_strerror (errno));
    else if (size > GST_CCL_JSON_MAX_SIZE)
      *problem = g_strdup_printf ("more than %u bytes", GST_CCL_JSON_MAX_SIZE);
    else
      text[size] = '\0';
  }
  if (file >= 0)
    close (file);
  if (*problem)
    g_clear_pointer (&text, g_free);

  return text;
}

gboolean
gst_ccl_zone_set_add_file (GstCclZoneSet *self, const gchar *path, GError **error)
{
  gchar *problem = NULL, *text = read_file (path, &problem);
  gboolean parsed = FALSE;
  JsonNode *root;

  if (text) {
    root = gst_ccl_json_parse (text, path, error);
    parsed = root && parse_members (self, root, path, error);
    g_clear_pointer (&root, json_node_unref);
  } else {
    set_error (error, "%s: %s", path, problem);
  }
  g_free (problem);
  g_free (text);

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
  const gchar *start = skip_space (text);

  if (*start == '[' || *start == '{')
    return parse_json (self, text, tripwires, name, error);

  return parse_text (self, text, tripwires, name, error);
}
