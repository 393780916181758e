/* cudaccl-watch - events and tracks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/records/records.h"

#include <json-glib/json-glib.h>
#include <string.h>

static const gchar *const kind_names[WATCH_N_EVENT_KINDS] = {
  [WATCH_EVENT_MOTION] = "motion", [WATCH_EVENT_STILL] = "still", [WATCH_EVENT_ENTER] = "enter",
  [WATCH_EVENT_LEAVE] = "leave",   [WATCH_EVENT_DWELL] = "dwell", [WATCH_EVENT_IN] = "in",
  [WATCH_EVENT_OUT] = "out",       [WATCH_EVENT_LOST] = "lost",   [WATCH_EVENT_BACK] = "back",
};

const gchar *
watch_event_kind_get_name (WatchEventKind kind)
{
  return kind_names[kind];
}

gboolean
watch_event_kind_from_name (const gchar *name, WatchEventKind *kind)
{
  for (guint i = 0; i < WATCH_N_EVENT_KINDS; i++) {
    if (g_str_equal (kind_names[i], name)) {
      *kind = i;
      return TRUE;
    }
  }
  return FALSE;
}

WatchEvent *
watch_event_copy (const WatchEvent *event)
{
  WatchEvent *copy = g_memdup2 (event, sizeof (*event));

  copy->camera = g_strdup (event->camera);
  copy->session = g_strdup (event->session);
  copy->zone = g_strdup (event->zone);
  copy->class_name = g_strdup (event->class_name);
  copy->text = g_strdup (event->text);
  copy->picture = g_strdup (event->picture);
  copy->clip = g_strdup (event->clip);
  return copy;
}

void
watch_event_free (WatchEvent *event)
{
  g_free (event->camera);
  g_free (event->session);
  g_free (event->zone);
  g_free (event->class_name);
  g_free (event->text);
  g_free (event->picture);
  g_free (event->clip);
  g_free (event);
}

WatchTrack *
watch_track_copy (const WatchTrack *track)
{
  WatchTrack *copy = g_memdup2 (track, sizeof (*track));

  copy->camera = g_strdup (track->camera);
  copy->session = g_strdup (track->session);
  copy->class_name = g_strdup (track->class_name);
  copy->points = g_memdup2 (track->points, track->n_points * sizeof (*track->points));
  copy->zones = g_strdupv (track->zones);
  copy->picture = g_strdup (track->picture);
  return copy;
}

void
watch_track_free (WatchTrack *track)
{
  g_free (track->camera);
  g_free (track->session);
  g_free (track->class_name);
  g_free (track->points);
  g_strfreev (track->zones);
  g_free (track->picture);
  g_free (track);
}

void
watch_minute_free (WatchMinute *minute)
{
  g_free (minute->camera);
  g_free (minute->zone);
  g_free (minute);
}

gchar *
watch_time_to_string (gint64 time)
{
  g_autoptr (GDateTime) date = g_date_time_new_from_unix_utc (time / G_USEC_PER_SEC);
  g_autofree gchar *seconds = date ? g_date_time_format (date, "%Y-%m-%dT%H:%M:%S") : NULL;

  if (!seconds)
    return g_strdup ("");
  return g_strdup_printf ("%s.%03dZ", seconds, (int) (time % G_USEC_PER_SEC / 1000));
}

gboolean
watch_time_from_string (const gchar *text, gint64 *time)
{
  g_autoptr (GTimeZone) utc = g_time_zone_new_utc ();
  g_autoptr (GDateTime) date = g_date_time_new_from_iso8601 (text, utc);
  gchar *end;
  gdouble seconds;

  if (date) {
    *time = g_date_time_to_unix (date) * G_USEC_PER_SEC + g_date_time_get_microsecond (date);
    return TRUE;
  }
  seconds = g_ascii_strtod (text, &end);
  /* The year 9999 ends at 2.5e11 s. */
  if (end == text || *end || !(seconds >= 0 && seconds < 2.5e11))
    return FALSE;
  *time = (gint64) (seconds * G_USEC_PER_SEC);
  return TRUE;
}

/* --- JSON. json-glib writes 17 digits of a number, hence not with its builder. --- */

static void
append_string (GString *text, const gchar *value)
{
  g_autofree gchar *valid = g_utf8_make_valid (value, -1);
  g_autoptr (JsonNode) node = json_node_init_string (json_node_alloc (), valid);
  g_autofree gchar *quoted = json_to_string (node, FALSE);

  g_string_append (text, quoted);
}

/* Appends @value without trailing zeros. */
static void
append_number (GString *text, gdouble value, const gchar *format)
{
  gchar digits[G_ASCII_DTOSTR_BUF_SIZE];
  gsize length;

  g_ascii_formatd (digits, sizeof (digits), format, value);
  length = strlen (digits);
  while (digits[length - 1] == '0')
    length--;
  if (digits[length - 1] == '.')
    length--;
  g_string_append_len (text, digits, length);
}

/* A share of the frame: four digits tell pixels apart. */
static void
append_share (GString *text, gdouble value)
{
  append_number (text, value, "%.4f");
}

static void
append_name (GString *text, const gchar *name)
{
  g_string_append_printf (text, "%s\"%s\":", text->len ? "," : "{", name);
}

static void
add_string (GString *text, const gchar *name, const gchar *value)
{
  if (!value)
    return;
  append_name (text, name);
  append_string (text, value);
}

static void
add_int (GString *text, const gchar *name, guint64 value)
{
  append_name (text, name);
  g_string_append_printf (text, "%" G_GUINT64_FORMAT, value);
}

static void
add_share (GString *text, const gchar *name, gdouble value)
{
  append_name (text, name);
  append_share (text, value);
}

static void
add_time (GString *text, const gchar *name, gint64 value)
{
  g_autofree gchar *time = watch_time_to_string (value);

  add_string (text, name, time);
}

/* Seconds, to milliseconds. */
static void
append_seconds (GString *text, gint64 value)
{
  append_number (text, value / 1e6, "%.3f");
}

gchar *
watch_event_to_json (const WatchEvent *event)
{
  GString *text = g_string_new (NULL);

  add_string (text, "camera", event->camera);
  add_string (text, "session", event->session);
  add_int (text, "number", event->number);
  add_time (text, "utc", event->time);
  add_string (text, "event", watch_event_kind_get_name (event->kind));
  add_string (text, "zone", event->zone);
  if (event->track)
    add_int (text, "track", event->track);
  add_string (text, "class", event->class_name);
  if (event->x >= 0) {
    add_share (text, "x", event->x);
    add_share (text, "y", event->y);
  }
  if (event->dwell) {
    append_name (text, "dwell");
    append_seconds (text, event->dwell);
  }
  if (event->zone) {
    add_int (text, "in", event->in);
    add_int (text, "out", event->out);
    add_int (text, "inside", event->inside);
  }
  add_string (text, "text", event->text);
  add_string (text, "picture", event->picture);
  add_string (text, "clip", event->clip);
  g_string_append_c (text, '}');
  return g_string_free (text, FALSE);
}

gchar *
watch_track_to_json (const WatchTrack *track)
{
  GString *text = g_string_new (NULL);

  add_string (text, "camera", track->camera);
  add_string (text, "session", track->session);
  add_int (text, "track", track->number);
  add_time (text, "begin", track->begin);
  add_time (text, "end", track->end);
  add_string (text, "class", track->class_name);
  if (track->confidence > 0)
    add_share (text, "confidence", track->confidence);
  if (track->zones) {
    append_name (text, "zones");
    g_string_append_c (text, '[');
    for (gchar **zone = track->zones; *zone; zone++) {
      if (zone != track->zones)
        g_string_append_c (text, ',');
      append_string (text, *zone);
    }
    g_string_append_c (text, ']');
  }
  append_name (text, "path");
  g_string_append_c (text, '[');
  for (guint i = 0; i < track->n_points; i++) {
    const WatchPoint *point = &track->points[i];

    /* Seconds since `begin`, and the box. */
    g_string_append (text, i ? ",[" : "[");
    append_seconds (text, point->time - track->begin);
    g_string_append_c (text, ',');
    append_share (text, point->x);
    g_string_append_c (text, ',');
    append_share (text, point->y);
    g_string_append_c (text, ',');
    append_share (text, point->width);
    g_string_append_c (text, ',');
    append_share (text, point->height);
    g_string_append_c (text, ']');
  }
  g_string_append_c (text, ']');
  add_string (text, "picture", track->picture);
  g_string_append_c (text, '}');
  return g_string_free (text, FALSE);
}
