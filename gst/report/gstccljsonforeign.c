/* cudaccl - lines of JSON as other programs write them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccljsonforeign.h"

#include <string.h>

#include "gstccljsonwriter.h"
#include "gstcclonviftypes.h"

#define UUID_BEGIN 28 /* characters of a UUID before its last 32 bits */

static const gchar *
get_name (GstCclClassNames *names, const GstCclComponent *component)
{
  return names ? gst_ccl_class_names_get_name (names, component->class_id) : NULL;
}

static void
append_number (GString *line, const gchar *format, gdouble value)
{
  gchar text[G_ASCII_DTOSTR_BUF_SIZE];

  g_string_append (line, g_ascii_formatd (text, sizeof text, format, value));
}

/* Appends the time in RFC 3339 with a fraction of 1 to 9 @digits. */
static void
append_time (GString *line, GstClockTime utc, guint digits)
{
  gst_ccl_json_append_utc (line, utc);
  /* …123456789Z" */
  g_string_truncate (line, line->len - 2 - (9 - digits));
  g_string_append (line, "Z\"");
}

/* --- DeepStream --- */

GString *
gst_ccl_json_write_deepstream (const GstCclReportFrame *frame)
{
  GString *line = g_string_sized_new (256 + 64 * (gsize) frame->n_components);
  guint i;

  g_string_append_printf (
      line, "{\"version\":\"4.0\",\"id\":%" G_GUINT64_FORMAT ",\"@timestamp\":", frame->number);
  append_time (line, frame->utc, 3);
  g_string_append (line, ",\"sensorId\":");
  gst_ccl_json_append_string (line, frame->source ? frame->source : "0");
  g_string_append (line, ",\"objects\":[");
  for (i = 0; i < frame->n_components; i++) {
    const GstCclComponent *one = &frame->components[i];
    const gchar *name = get_name (frame->class_names, one);
    GString *object = g_string_new (NULL);
    gchar *type = g_strdelimit (g_strdup (name ? name : ""), "|", ' ');

    /* Objects without a track have the highest number. */
    g_string_append_printf (
        object, "%" G_GUINT64_FORMAT "|%u|%u|%" G_GUINT64_FORMAT "|%" G_GUINT64_FORMAT "|%s",
        one->track ? one->track : G_MAXUINT64, one->x, one->y, (guint64) one->x + one->width,
        (guint64) one->y + one->height, type);
    if (one->confidence > 0.0) {
      g_string_append (object, "|#|");
      append_number (object, "%.3f", MIN (one->confidence, 1.0));
    }
    if (i > 0)
      g_string_append_c (line, ',');
    gst_ccl_json_append_string (line, object->str);
    g_string_free (object, TRUE);
    g_free (type);
  }
  g_string_append (line, "]}\n");

  return line;
}

/* --- Axis --- */

static void
append_track_id (GString *line, const gchar *name, const gchar *session, guint track)
{
  g_string_append_printf (line, "\"%s\":\"%.*s%08x\"", name, UUID_BEGIN, session, track);
}

/* Returns whether the component has a class and, as Axis requires, a confidence. */
static gboolean
has_class (GstCclClassNames *names, const GstCclComponent *component)
{
  return component->confidence > 0.0 && get_name (names, component);
}

static void
append_class (GString *line, GstCclClassNames *names, const GstCclComponent *component)
{
  const gchar *vehicle, *type = gst_ccl_onvif_find_type (get_name (names, component), &vehicle);

  if (vehicle && (strcmp (vehicle, "Bicycle") == 0 || strcmp (vehicle, "Motorcycle") == 0))
    type = "Bike";
  else if (vehicle)
    type = vehicle;
  g_string_append (line, "{\"type\":");
  gst_ccl_json_append_string (line, type);
  g_string_append (line, ",\"score\":");
  append_number (line, "%.3f", MIN (component->confidence, 1.0));
  g_string_append_c (line, '}');
}

static void
append_side (GString *line, const gchar *name, gdouble value, guint size)
{
  g_string_append_printf (line, "%s\"%s\":", line->str[line->len - 1] == '{' ? "" : ",", name);
  append_number (line, "%.5f", value / size);
}

GString *
gst_ccl_json_write_axis_frame (const gchar *session, const GstCclReportFrame *frame)
{
  GString *line = g_string_sized_new (128 + 256 * (gsize) frame->n_components);
  guint i;

  g_string_append (line, "{\"channel_id\":1,\"timestamp\":");
  append_time (line, frame->utc, 6);
  g_string_append (line, ",\"detections\":[");
  for (i = 0; i < frame->n_components; i++) {
    const GstCclComponent *one = &frame->components[i];

    g_string_append (line, i > 0 ? ",{\"bounding_box\":{" : "{\"bounding_box\":{");
    append_side (line, "left", one->x, frame->width);
    append_side (line, "top", one->y, frame->height);
    append_side (line, "right", (gdouble) one->x + one->width, frame->width);
    append_side (line, "bottom", (gdouble) one->y + one->height, frame->height);
    g_string_append_c (line, '}');
    if (one->track) {
      g_string_append_c (line, ',');
      append_track_id (line, "object_track_id", session, one->track);
    }
    if (has_class (frame->class_names, one)) {
      g_string_append (line, ",\"class\":");
      append_class (line, frame->class_names, one);
    }
    g_string_append_c (line, '}');
  }
  g_string_append (line, "]}\n");

  return line;
}

GString *
gst_ccl_json_write_axis_track (const gchar *session, const GstCclTrackRecord *record)
{
  const GstCclSighting *first = &record->first, *last = &record->last;
  GString *line = g_string_new ("{\"channel_id\":1,");

  append_track_id (line, "id", session, last->component.track);
  g_string_append (line, ",\"start_time\":");
  append_time (line, first->frame.utc, 6);
  g_string_append (line, ",\"end_time\":");
  append_time (line, last->frame.utc, 6);
  g_string_append (line, ",\"duration\":");
  append_number (line, "%.6f",
                 last->frame.utc > first->frame.utc
                     ? (gdouble) (last->frame.utc - first->frame.utc) / GST_SECOND
                     : 0.0);
  g_string_append (line, ",\"classes\":[");
  if (has_class (last->frame.class_names, &last->component))
    append_class (line, last->frame.class_names, &last->component);
  g_string_append (line, "]}\n");

  return line;
}
