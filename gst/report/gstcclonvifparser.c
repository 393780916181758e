/* cudaccl - reads ONVIF metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclonvifparser.h"

#include <math.h>
#include <string.h>
#include <gst/found/gstccldetections.h>

#include "gstcclonviftypes.h"

#define MOST_TEXT 256 /* of a class, in bytes */

/* Maps coordinates to normalised ones: @scale * coordinate + @translate. */
typedef struct
{
  gdouble x_scale, x_translate, y_scale, y_translate;
} Transformation;

/* A tt:Object. */
typedef struct
{
  gdouble left, top, right, bottom;
  gdouble x, y;
  gboolean has_box, has_centre;
  Transformation transformation; /* of its appearance */
  guint64 id;
  gboolean has_id;
  gchar type[MOST_TEXT], vehicle[MOST_TEXT];
  gdouble likelihood;
} Object;

typedef struct
{
  guint width, height;
  GstCclClasses *classes;
  GArray *frames;
  guint depth, n_objects;
  gboolean is_stream; /* the root is a tt:MetadataStream */
  GString *text;      /* since the last tag */

  Transformation transformation; /* of the frame */
  gboolean in_frame, in_object;
  Object object;
  /* Of the tt:Type or tt:ClassCandidate that is open. */
  gchar type[MOST_TEXT];
  gdouble likelihood;
} Reader;

static const Transformation identity = { 1.0, 0.0, 1.0, 0.0 };

static const gchar *
get_local_name (const gchar *name)
{
  const gchar *colon = strchr (name, ':');

  return colon ? colon + 1 : name;
}

/* The local name of the open element @level above the current one, or "". */
static const gchar *
get_parent (GMarkupParseContext *context, guint level)
{
  const GSList *stack = g_markup_parse_context_get_element_stack (context);

  for (; stack && level > 0; level--)
    stack = stack->next;

  return stack ? get_local_name (stack->data) : "";
}

static const gchar *
find_attribute (const gchar **names, const gchar **values, const gchar *name)
{
  for (; *names; names++, values++) {
    if (g_str_equal (get_local_name (*names), name))
      return *values;
  }

  return NULL;
}

/* Leaves @number as it is if the attribute is missing; it must be a finite number. */
static gboolean
read_number (const gchar **names, const gchar **values, const gchar *name, gdouble *number,
             GError **error)
{
  const gchar *text = find_attribute (names, values, name);
  gchar *end;
  gdouble value;

  if (!text)
    return TRUE;
  value = g_ascii_strtod (text, &end);
  if (end == text || *end || !isfinite (value) || fabs (value) > 1e9) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
                 "%s=\"%.32s\" is not a number of a frame", name, text);
    return FALSE;
  }
  *number = value;

  return TRUE;
}

static GstClockTime
parse_utc (const gchar *text)
{
  GTimeZone *zone = g_time_zone_new_utc ();
  GDateTime *time = text ? g_date_time_new_from_iso8601 (text, zone) : NULL;
  GstClockTime utc = GST_CLOCK_TIME_NONE;

  if (time && g_date_time_to_unix (time) >= 0)
    utc = (GstClockTime) g_date_time_to_unix (time) * GST_SECOND +
          (GstClockTime) g_date_time_get_microsecond (time) * GST_USECOND;
  g_clear_pointer (&time, g_date_time_unref);
  g_time_zone_unref (zone);

  return utc;
}

static void
clear_frame (gpointer data)
{
  g_array_unref (((GstCclOnvifFrame *) data)->components);
}

static gboolean
begin_frame (Reader *self, const gchar **names, const gchar **values, GError **error)
{
  GstCclOnvifFrame frame = { parse_utc (find_attribute (names, values, "UtcTime")), NULL };

  if (self->frames->len == GST_CCL_ONVIF_MAX_FRAMES) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, "more than %d frames",
                 GST_CCL_ONVIF_MAX_FRAMES);
    return FALSE;
  }
  frame.components = g_array_new (FALSE, TRUE, sizeof (GstCclComponent));
  g_array_append_val (self->frames, frame);
  self->transformation = identity;
  self->in_frame = TRUE;

  return TRUE;
}

static gboolean
begin_object (Reader *self, const gchar **names, const gchar **values, GError **error)
{
  const gchar *id = find_attribute (names, values, "ObjectId");

  if (++self->n_objects > GST_CCL_ONVIF_MAX_OBJECTS) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, "more than %d objects",
                 GST_CCL_ONVIF_MAX_OBJECTS);
    return FALSE;
  }
  self->object = (Object){ .transformation = self->transformation };
  self->object.has_id =
      id && g_ascii_string_to_unsigned (id, 10, 0, G_MAXUINT64, &self->object.id, NULL);
  self->in_object = TRUE;

  return TRUE;
}

/* Some cameras give an object a transformation of its own, before its shape. */
static gboolean
read_transformation (Transformation *self, const gchar *name, const gchar **names,
                     const gchar **values, GError **error)
{
  if (g_str_equal (name, "Translate"))
    return read_number (names, values, "x", &self->x_translate, error) &&
           read_number (names, values, "y", &self->y_translate, error);
  if (g_str_equal (name, "Scale"))
    return read_number (names, values, "x", &self->x_scale, error) &&
           read_number (names, values, "y", &self->y_scale, error);

  return TRUE;
}

static gboolean
read_shape (Object *object, const gchar *name, const gchar **names, const gchar **values,
            GError **error)
{
  if (g_str_equal (name, "BoundingBox")) {
    object->has_box = TRUE;
    return read_number (names, values, "left", &object->left, error) &&
           read_number (names, values, "top", &object->top, error) &&
           read_number (names, values, "right", &object->right, error) &&
           read_number (names, values, "bottom", &object->bottom, error);
  }
  if (g_str_equal (name, "CenterOfGravity")) {
    object->has_centre = TRUE;
    return read_number (names, values, "x", &object->x, error) &&
           read_number (names, values, "y", &object->y, error);
  }

  return TRUE;
}

static void
on_start (GMarkupParseContext *context, const gchar *element, const gchar **names,
          const gchar **values, gpointer user_data, GError **error)
{
  const gchar *name = get_local_name (element), *parent = get_parent (context, 1);
  Reader *self = user_data;

  g_string_truncate (self->text, 0);
  if (++self->depth > GST_CCL_ONVIF_MAX_DEPTH) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, "elements nested more than %d",
                 GST_CCL_ONVIF_MAX_DEPTH);
    return;
  }
  if (self->depth == 1)
    self->is_stream = g_str_equal (name, "MetadataStream");
  if (!self->is_stream)
    return;

  if (!self->in_frame) {
    if (g_str_equal (name, "Frame") && g_str_equal (parent, "VideoAnalytics"))
      begin_frame (self, names, values, error);
  } else if (!self->in_object) {
    if (g_str_equal (name, "Object") && g_str_equal (parent, "Frame"))
      begin_object (self, names, values, error);
    else if (g_str_equal (parent, "Transformation"))
      read_transformation (&self->transformation, name, names, values, error);
  } else if (g_str_equal (parent, "Transformation")) {
    read_transformation (&self->object.transformation, name, names, values, error);
  } else if (g_str_equal (parent, "Shape")) {
    read_shape (&self->object, name, names, values, error);
  } else if (g_str_equal (name, "ClassCandidate") ||
             (g_str_equal (name, "Type") && !g_str_equal (parent, "ClassCandidate"))) {
    self->type[0] = '\0';
    self->likelihood = 0.0;
    read_number (names, values, "Likelihood", &self->likelihood, error);
  }
}

static void
on_text (GMarkupParseContext *context, const gchar *text, gsize length, gpointer user_data,
         GError **error)
{
  Reader *self = user_data;

  if (self->text->len + length < MOST_TEXT)
    g_string_append_len (self->text, text, (gssize) length);
}

/* The likeliest class counts, and the first of equal ones. */
static void
take_type (Reader *self)
{
  Object *object = &self->object;

  if (*object->type && !(self->likelihood > object->likelihood))
    return;
  g_strlcpy (object->type, self->type, sizeof (object->type));
  object->likelihood = self->likelihood;
}

/* A tt:Type has its likelihood as an attribute; a tt:ClassCandidate has both as elements. */
static void
end_class (Reader *self, GMarkupParseContext *context, const gchar *name)
{
  const gchar *text = g_strstrip (self->text->str), *parent = get_parent (context, 1);

  if (g_str_equal (name, "ClassCandidate")) {
    take_type (self);
  } else if (g_str_equal (name, "Likelihood") && g_str_equal (parent, "ClassCandidate")) {
    self->likelihood = g_ascii_strtod (text, NULL);
  } else if (g_str_equal (name, "Type") && g_str_equal (parent, "VehicleInfo")) {
    g_strlcpy (self->object.vehicle, text, sizeof (self->object.vehicle));
  } else if (g_str_equal (name, "Type")) {
    g_strlcpy (self->type, text, sizeof (self->type));
    if (g_str_equal (parent, "Class"))
      take_type (self);
  }
}

/* Limits a side to the frame of @size pixels, rounded to whole ones: at least one. */
static gboolean
clip (gdouble a, gdouble b, guint size, guint *first, guint *n)
{
  gdouble start = CLAMP (rint (MIN (a, b)), 0.0, size), end = CLAMP (rint (MAX (a, b)), 0.0, size);

  if (MAX (a, b) <= 0.0 || MIN (a, b) >= size)
    return FALSE;
  start = MIN (start, size - 1.0);
  *first = (guint) start;
  *n = MAX ((guint) end, *first + 1) - *first;

  return TRUE;
}

static void
end_object (Reader *self)
{
  const Object *object = &self->object;
  const Transformation *t = &object->transformation;
  GstCclOnvifFrame *frame = &g_array_index (self->frames, GstCclOnvifFrame, self->frames->len - 1);
  const gdouble x_scale = self->width / 2.0, y_scale = self->height / 2.0;
  GstCclComponent component = { .label = frame->components->len + 1 };

  self->in_object = FALSE;
  if (!object->has_box ||
      !clip ((t->x_scale * object->left + t->x_translate + 1.0) * x_scale,
             (t->x_scale * object->right + t->x_translate + 1.0) * x_scale, self->width,
             &component.x, &component.width) ||
      !clip ((1.0 - t->y_scale * object->top - t->y_translate) * y_scale,
             (1.0 - t->y_scale * object->bottom - t->y_translate) * y_scale, self->height,
             &component.y, &component.height))
    return;

  gst_ccl_detections_complete (&component);
  if (object->has_centre) {
    /* The centre of the first pixel is at 0. */
    component.centroid_x = (t->x_scale * object->x + t->x_translate + 1.0) * x_scale - 0.5;
    component.centroid_y = (1.0 - t->y_scale * object->y - t->y_translate) * y_scale - 0.5;
  }
  if (object->has_id)
    component.track = gst_ccl_detections_get_track (object->id);
  component.class_id =
      gst_ccl_classes_find (self->classes, gst_ccl_onvif_find_name (object->type, object->vehicle));
  if (object->likelihood > 0.0)
    component.confidence = MIN (object->likelihood, 1.0);
  g_array_append_val (frame->components, component);
}

static void
on_end (GMarkupParseContext *context, const gchar *element, gpointer user_data, GError **error)
{
  const gchar *name = get_local_name (element);
  Reader *self = user_data;

  self->depth--;
  if (self->in_object && g_str_equal (name, "Object") &&
      g_str_equal (get_parent (context, 1), "Frame"))
    end_object (self);
  else if (self->in_object)
    end_class (self, context, name);
  else if (g_str_equal (name, "Frame") && g_str_equal (get_parent (context, 1), "VideoAnalytics"))
    self->in_frame = FALSE;
  g_string_truncate (self->text, 0);
}

static gboolean
check_document (const gchar *text, gsize size, GError **error)
{
  if (size > GST_CCL_ONVIF_MAX_SIZE)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
                 "a document of %" G_GSIZE_FORMAT " bytes, more than %d", size,
                 GST_CCL_ONVIF_MAX_SIZE);
  else if (size == 0)
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, "an empty document");
  else if (memchr (text, '\0', size))
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, "a byte that is 0");
  else
    return TRUE;

  return FALSE;
}

GArray *
gst_ccl_onvif_parse (const gchar *text, gsize size, guint width, guint height,
                     GstCclClasses *classes, GError **error)
{
  static const GMarkupParser parser = { on_start, on_end, on_text, NULL, NULL };
  Reader self = { .width = width, .height = height, .classes = classes };
  GMarkupParseContext *context;
  GError *reason = NULL;

  if (!check_document (text, size, error))
    return NULL;

  self.frames = g_array_new (FALSE, FALSE, sizeof (GstCclOnvifFrame));
  g_array_set_clear_func (self.frames, clear_frame);
  self.text = g_string_new (NULL);
  context = g_markup_parse_context_new (&parser, G_MARKUP_TREAT_CDATA_AS_TEXT, &self, NULL);
  if (g_markup_parse_context_parse (context, text, (gssize) size, &reason) &&
      g_markup_parse_context_end_parse (context, &reason) && !self.is_stream)
    g_set_error (&reason, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE,
                 "the document is no tt:MetadataStream");
  g_markup_parse_context_free (context);
  g_string_free (self.text, TRUE);
  if (reason) {
    g_set_error (error, GST_STREAM_ERROR, GST_STREAM_ERROR_DECODE, "%s", reason->message);
    g_error_free (reason);
    g_clear_pointer (&self.frames, g_array_unref);
  }

  return self.frames;
}
