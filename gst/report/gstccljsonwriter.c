/* cudaccl - lines of JSON
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccljsonwriter.h"

#include <math.h>
#include <string.h>
#include <gst/meta/gstcclfields.h>

/* Sizes in bytes: of a component at most and usually, and what a track usually adds. */
#define MAX_COMPONENT 1024
#define USUAL_COMPONENT 136
#define USUAL_TRACK 96

/* The most bytes of a number or null. */
#define MAX_NUMBER 32

/* Frames can have thousands of components, and printf would take most of the time. These
 * functions write the parts of components without it. They add no terminating 0 and return the
 * end. */

/* Copies a string constant. */
#define WRITE(text, constant) \
  ((gchar *) memcpy (text, constant, sizeof (constant) - 1) + sizeof (constant) - 1)

static gchar *
write_digits (gchar *text, guint64 value)
{
  gchar reversed[20];
  guint n = 0;

  do {
    reversed[n++] = (gchar) ('0' + value % 10);
    value /= 10;
  } while (value > 0);
  while (n > 0)
    *text++ = reversed[--n];

  return text;
}

/* Writes null for GST_CLOCK_TIME_NONE and unknown numbers: they exceed an int64. */
static gchar *
write_uint64 (gchar *text, guint64 value)
{
  return value <= G_MAXINT64 ? write_digits (text, value) : WRITE (text, "null");
}

static gchar *
write_int64 (gchar *text, gint64 value)
{
  if (value < 0)
    *text++ = '-';

  return write_digits (text, value < 0 ? -(guint64) value : (guint64) value);
}

/* Writes a number with a decimal point, rounded to thousandths. Writes null if it is not finite,
 * which JSON cannot represent, or 10^15 or more, which no frame has. */
static gchar *
write_double (gchar *text, gdouble value)
{
  guint64 thousandths, unit;

  if (!(fabs (value) < 1e15))
    return WRITE (text, "null");

  if (signbit (value))
    *text++ = '-';
  thousandths = (guint64) rint (fabs (value) * 1000.0);
  text = write_digits (text, thousandths / 1000);
  *text++ = '.';
  thousandths %= 1000;
  for (unit = 100; unit == 100 || thousandths > 0; unit /= 10) {
    *text++ = (gchar) ('0' + thousandths / unit);
    thousandths %= unit;
  }

  return text;
}

/* How each type of field is written, and how one field is. */
#define WRITE_UINT(text, value) write_digits (text, value)
#define WRITE_UINT64(text, value) write_uint64 (text, value)
#define WRITE_DOUBLE(text, value) write_double (text, value)
#define WRITE_SHARE(text, value) write_double (text, MIN (value, 1.0))
#define WRITE_FIELD(member, name, type)  \
  text = WRITE (text, ",\"" name "\":"); \
  text = WRITE_##type (text, component->member);

#define WRITE_FEATURE(fields, feature)   \
  if (component->features & (feature)) { \
    fields (WRITE_FIELD)                 \
  }

/* Without the end of the object. */
static gchar *
write_component (gchar *text, const GstCclComponent *component)
{
  gchar *start = text;

  GST_CCL_FIELDS_LABEL (WRITE_FIELD)
  *start = '{'; /* replaces the first comma */
  GST_CCL_FIELDS_BOX (WRITE_FIELD)
  GST_CCL_FIELDS_PIXELS (WRITE_FIELD)
  if (GST_CCL_HAS_TRACK (component)) {
    GST_CCL_FIELDS_TRACK (WRITE_FIELD)
  }
  if (GST_CCL_HAS_CONFIDENCE (component)) {
    GST_CCL_FIELDS_CONFIDENCE (WRITE_FIELD)
  }
  if (GST_CCL_HAS_CLASS (component)) {
    GST_CCL_FIELDS_CLASS (WRITE_FIELD)
  }
  GST_CCL_GROUPS_OF_FEATURES (WRITE_FEATURE)
  if (GST_CCL_HAS_STATIC (component)) {
    text = WRITE (text, ",\"" GST_CCL_STATIC_AGE "\":");
    text = write_digits (text, GST_CCL_GET_STATIC_AGE (component));
    text = GST_CCL_HAS_REMOVED (component) ? WRITE (text, ",\"" GST_CCL_REMOVED "\":true")
                                           : WRITE (text, ",\"" GST_CCL_REMOVED "\":false");
  }

  return text;
}

static void
append_name (GString *line, const gchar *name)
{
  g_string_append_printf (line, "%s\"%s\":", line->str[line->len - 1] == '{' ? "" : ",", name);
}

static void
append_uint64 (GString *line, const gchar *name, guint64 value)
{
  gchar text[MAX_NUMBER];

  append_name (line, name);
  g_string_append_len (line, text, write_uint64 (text, value) - text);
}

static void
append_int64 (GString *line, const gchar *name, gint64 value)
{
  gchar text[MAX_NUMBER];

  append_name (line, name);
  g_string_append_len (line, text, write_int64 (text, value) - text);
}

static void
append_double (GString *line, const gchar *name, gdouble value)
{
  gchar text[MAX_NUMBER];

  append_name (line, name);
  g_string_append_len (line, text, write_double (text, value) - text);
}

void
gst_ccl_json_append_string (GString *line, const gchar *string)
{
  gchar *valid = g_utf8_make_valid (string, -1);
  const gchar *s;

  g_string_append_c (line, '"');
  for (s = valid; *s; s = g_utf8_next_char (s)) {
    gunichar c = g_utf8_get_char (s);

    if (c == '"' || c == '\\')
      g_string_append_c (line, '\\');
    if (c < 0x20 || c == 0x7f || c == 0x2028 || c == 0x2029)
      g_string_append_printf (line, "\\u%04x", c);
    else
      g_string_append_unichar (line, c);
  }
  g_string_append_c (line, '"');
  g_free (valid);
}

void
gst_ccl_json_append_utc (GString *text, GstClockTime utc)
{
  GDateTime *time = GST_CLOCK_TIME_IS_VALID (utc)
                        ? g_date_time_new_from_unix_utc ((gint64) (utc / GST_SECOND))
                        : NULL;

  if (!time) {
    g_string_append (text, "null");
    return;
  }

  g_string_append_printf (text, "\"%04d-%02d-%02dT%02d:%02d:%02d.%09" G_GUINT64_FORMAT "Z\"",
                          g_date_time_get_year (time), g_date_time_get_month (time),
                          g_date_time_get_day_of_month (time), g_date_time_get_hour (time),
                          g_date_time_get_minute (time), g_date_time_get_second (time),
                          utc % GST_SECOND);
  g_date_time_unref (time);
}

/* Appends @n objects, separated by commas. */
static void
append_components (GString *line, const GstCclComponent *components, guint n,
                   const GstCclClassNames *names)
{
  guint i;

  for (i = 0; i < n; i++) {
    gsize start = line->len;
    const gchar *name;
    gchar *end;

    /* The line grows by powers of two if the usual size does not suffice. */
    g_string_set_size (line, start + MAX_COMPONENT);
    end = line->str + start;
    if (i > 0)
      *end++ = ',';
    end = write_component (end, &components[i]);
    g_string_truncate (line, (gsize) (end - line->str));
    name = names ? gst_ccl_class_names_get_name (names, components[i].class_id) : NULL;
    if (name) {
      append_name (line, "class");
      gst_ccl_json_append_string (line, name);
    }
    g_string_append_c (line, '}');
  }
}

/* Starts the line's object. */
static GString *
line_new (const GstCclJsonId *id, gsize usual_size)
{
  GString *line = g_string_sized_new (usual_size);

  g_string_append_c (line, '{');
  if (id->source) {
    append_name (line, "source");
    gst_ccl_json_append_string (line, id->source);
  }
  append_name (line, "session");
  gst_ccl_json_append_string (line, id->session);
  append_uint64 (line, "line", id->number);

  return line;
}

static void
append_times (GString *line, const GstCclReportFrame *frame)
{
  append_uint64 (line, "frame", frame->number);
  append_name (line, "utc");
  gst_ccl_json_append_utc (line, frame->utc);
  append_uint64 (line, "timestamp", frame->timestamp);
  append_uint64 (line, "stream-time", frame->stream_time);
  append_uint64 (line, "running-time", frame->running_time);
  append_uint64 (line, "duration", frame->duration);
}

static void
append_size (GString *line, const GstCclReportFrame *frame)
{
  append_uint64 (line, "width", frame->width);
  append_uint64 (line, "height", frame->height);
}

/* Appends the members of an event. */
static void
append_event (GString *line, const GstCclZonesMeta *zones, guint index)
{
  const GstCclZoneEvent *event = &zones->events[index];
  const GstCclZone *zone = gst_ccl_zones_meta_get_zone (zones, event->zone);
  const gchar *type = gst_ccl_zone_event_type_get_name (event->type);
  const gchar *class_name = gst_ccl_zones_meta_get_class_name (zones, event->class_id);

  append_name (line, "event");
  gst_ccl_json_append_string (line, type ? type : "");
  append_name (line, "zone");
  gst_ccl_json_append_string (line, zone && zone->name ? zone->name : "");
  append_uint64 (line, "track", event->track);
  if (class_name) {
    append_name (line, "class");
    gst_ccl_json_append_string (line, class_name);
  }
  append_uint64 (line, "dwell", event->dwell);
  append_double (line, "x", event->x);
  append_double (line, "y", event->y);
  append_uint64 (line, "in", event->in);
  append_uint64 (line, "out", event->out);
  append_uint64 (line, "inside", event->inside);
  if (event->frame_age != 0)
    append_int64 (line, "frame-age", event->frame_age);
}

static void
append_events (GString *line, const GstCclZonesMeta *zones)
{
  guint i;

  append_name (line, "events");
  g_string_append_c (line, '[');
  for (i = 0; i < zones->n_events; i++) {
    g_string_append (line, i > 0 ? ",{" : "{");
    append_event (line, zones, i);
    g_string_append_c (line, '}');
  }
  g_string_append_c (line, ']');
}

GString *
gst_ccl_json_write_frame (const GstCclJsonId *id, const GstCclReportFrame *frame)
{
  gsize usual = USUAL_COMPONENT;
  GString *line;

  if (frame->n_components > 0 && frame->components[0].track)
    usual += USUAL_TRACK;
  line = line_new (id, 1024 + frame->n_components * usual);
  append_times (line, frame);
  append_size (line, frame);
  append_uint64 (line, "found", (guint64) frame->found);
  append_uint64 (line, "count", frame->n_components);
  if (frame->frame_age != 0)
    append_int64 (line, "frame-age", frame->frame_age);
  append_name (line, "components");
  g_string_append_c (line, '[');
  append_components (line, frame->components, frame->n_components, frame->class_names);
  g_string_append_c (line, ']');
  if (frame->zones && frame->zones->n_events > 0)
    append_events (line, frame->zones);
  g_string_append (line, "}\n");

  return line;
}

static void
append_sighting (GString *line, const gchar *name, const GstCclSighting *sighting)
{
  append_name (line, name);
  g_string_append_c (line, '{');
  append_times (line, &sighting->frame);
  append_name (line, "component");
  append_components (line, &sighting->component, 1, sighting->frame.class_names);
  g_string_append_c (line, '}');
}

GString *
gst_ccl_json_write_track (const GstCclJsonId *id, const GstCclTrackRecord *record)
{
  GString *line = line_new (id, 1024);

  append_uint64 (line, "track", record->last.component.track);
  append_uint64 (line, "frames", record->n_frames);
  append_double (line, "distance", record->distance);
  append_size (line, &record->last.frame);
  append_sighting (line, "first", &record->first);
  append_sighting (line, "last", &record->last);
  g_string_append (line, "}\n");

  return line;
}

GString *
gst_ccl_json_write_event (const GstCclJsonId *id, const GstCclReportFrame *frame, guint index)
{
  GString *line = line_new (id, 512);

  append_times (line, frame);
  append_size (line, frame);
  append_event (line, frame->zones, index);
  g_string_append (line, "}\n");

  return line;
}
