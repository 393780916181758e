/* cudaccl-watch - events and tracks
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/records/records.h"

static const gchar *const kind_names[WATCH_N_EVENT_KINDS] = {
  [WATCH_EVENT_MOTION] = "motion", [WATCH_EVENT_STILL] = "still",
  [WATCH_EVENT_ENTER] = "enter",   [WATCH_EVENT_LEAVE] = "leave",
  [WATCH_EVENT_DWELL] = "dwell",   [WATCH_EVENT_IN] = "in",
  [WATCH_EVENT_OUT] = "out",       [WATCH_EVENT_LOST] = "lost",
  [WATCH_EVENT_BACK] = "back",     [WATCH_EVENT_STOPPED] = "stopped",
  [WATCH_EVENT_LEFT] = "left",     [WATCH_EVENT_REMOVED] = "removed",
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

static const gchar *const line_names[] = { "events", "tracks", "frames" };

const gchar *
watch_line_kind_get_name (WatchLineKinds kind)
{
  gint n = g_bit_nth_lsf (kind, -1);

  return line_names[CLAMP (n, 0, (gint) G_N_ELEMENTS (line_names) - 1)];
}

gboolean
watch_line_kind_from_name (const gchar *name, WatchLineKinds *kind)
{
  for (guint i = 0; i < G_N_ELEMENTS (line_names); i++) {
    if (g_str_equal (line_names[i], name)) {
      *kind = 1u << i;
      return TRUE;
    }
  }
  return FALSE;
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
