/* cudaccl-watch - events and tracks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "records.h"

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

/* --- JSON --- */

static void
add_string (JsonBuilder *builder, const gchar *name, const gchar *value)
{
  g_autofree gchar *valid = NULL;

  if (!value)
    return;
  valid = g_utf8_make_valid (value, -1);
  json_builder_set_member_name (builder, name);
  json_builder_add_string_value (builder, valid);
}

static void
add_int (JsonBuilder *builder, const gchar *name, gint64 value)
{
  json_builder_set_member_name (builder, name);
  json_builder_add_int_value (builder, value);
}

static void
add_time (JsonBuilder *builder, const gchar *name, gint64 value)
{
  g_autofree gchar *text = watch_time_to_string (value);

  add_string (builder, name, text);
}

/* Rounds to what a frame of 10 000 pixels needs. */
static void
add_share (JsonBuilder *builder, const gchar *name, gdouble value)
{
  if (name)
    json_builder_set_member_name (builder, name);
  json_builder_add_double_value (builder,
                                 (gint64) (value * 10000 + (value < 0 ? -0.5 : 0.5)) / 1e4);
}

static gchar *
take_text (JsonBuilder *builder)
{
  g_autoptr (JsonNode) root = NULL;

  json_builder_end_object (builder);
  root = json_builder_get_root (builder);
  return json_to_string (root, FALSE);
}

gchar *
watch_event_to_json (const WatchEvent *event)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  add_string (builder, "camera", event->camera);
  add_string (builder, "session", event->session);
  add_int (builder, "number", event->number);
  add_time (builder, "utc", event->time);
  add_string (builder, "event", watch_event_kind_get_name (event->kind));
  add_string (builder, "zone", event->zone);
  if (event->track)
    add_int (builder, "track", event->track);
  add_string (builder, "class", event->class_name);
  if (event->x >= 0) {
    add_share (builder, "x", event->x);
    add_share (builder, "y", event->y);
  }
  if (event->dwell) {
    json_builder_set_member_name (builder, "dwell");
    json_builder_add_double_value (builder, event->dwell / 1000 / 1e3);
  }
  if (event->zone) {
    add_int (builder, "in", event->in);
    add_int (builder, "out", event->out);
    add_int (builder, "inside", event->inside);
  }
  add_string (builder, "text", event->text);
  add_string (builder, "picture", event->picture);
  add_string (builder, "clip", event->clip);
  return take_text (builder);
}

gchar *
watch_track_to_json (const WatchTrack *track)
{
  g_autoptr (JsonBuilder) builder = json_builder_new ();

  json_builder_begin_object (builder);
  add_string (builder, "camera", track->camera);
  add_string (builder, "session", track->session);
  add_int (builder, "track", track->number);
  add_time (builder, "begin", track->begin);
  add_time (builder, "end", track->end);
  add_string (builder, "class", track->class_name);
  if (track->confidence > 0)
    add_share (builder, "confidence", track->confidence);
  if (track->zones) {
    json_builder_set_member_name (builder, "zones");
    json_builder_begin_array (builder);
    for (gchar **zone = track->zones; *zone; zone++)
      json_builder_add_string_value (builder, *zone);
    json_builder_end_array (builder);
  }
  json_builder_set_member_name (builder, "path");
  json_builder_begin_array (builder);
  for (guint i = 0; i < track->n_points; i++) {
    const WatchPoint *point = &track->points[i];

    /* Seconds since `begin`, and the box. */
    json_builder_begin_array (builder);
    json_builder_add_double_value (builder, (point->time - track->begin) / 1000 / 1e3);
    add_share (builder, NULL, point->x);
    add_share (builder, NULL, point->y);
    add_share (builder, NULL, point->width);
    add_share (builder, NULL, point->height);
    json_builder_end_array (builder);
  }
  json_builder_end_array (builder);
  add_string (builder, "picture", track->picture);
  return take_text (builder);
}
