/* cudaccl-watch - recordings and their times
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "apps/watch/media/recordings.h"

#include <errno.h>
#include <gio/gio.h>
#include <glib/gstdio.h>
#include <gst/pbutils/pbutils.h>

static void
recording_clear (gpointer data)
{
  g_free (((WatchRecording *) data)->path);
}

static gint
compare_recordings (gconstpointer a, gconstpointer b)
{
  const WatchRecording *x = a, *y = b;

  return (x->begin > y->begin) - (x->begin < y->begin);
}

static GArray *
recordings_new (void)
{
  GArray *recordings = g_array_new (FALSE, FALSE, sizeof (WatchRecording));

  g_array_set_clear_func (recordings, recording_clear);
  return recordings;
}

GArray *
watch_recordings_from_clips (WatchStore *store, const gchar *media, const gchar *camera,
                             gint64 begin, gint64 end, guint pre_roll, GError **error)
{
  g_autoptr (GHashTable) known = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr (GArray) recordings = recordings_new ();
  WatchQuery query = { .camera = camera, .begin = begin, .end = end, .kind = -1, .limit = 1000 };

  do {
    g_autoptr (GPtrArray) events = watch_store_find_events (store, &query, &query.before, error);

    if (!events)
      return NULL;
    for (guint i = 0; i < events->len; i++) {
      const WatchEvent *event = g_ptr_array_index (events, i);
      WatchRecording recording = { NULL, event->time - pre_roll * G_TIME_SPAN_SECOND };
      gpointer index = event->clip ? g_hash_table_lookup (known, event->clip) : NULL;

      if (index) {
        /* Events are in reverse order; the clip begins before the first. */
        g_array_index (recordings, WatchRecording, GPOINTER_TO_UINT (index) - 1).begin =
            recording.begin;
      } else if (event->clip) {
        recording.path = g_build_filename (media, event->clip, NULL);
        g_array_append_val (recordings, recording);
        g_hash_table_insert (known, g_strdup (event->clip), GUINT_TO_POINTER (recordings->len));
      }
    }
  } while (query.before);
  if (recordings->len == 0) {
    g_propagate_error (error, web_reason_to_error (web_reason_new (WEB_REASON_SYNOPSIS_NO_CLIPS,
                                                                   "camera", camera, NULL)));
    return NULL;
  }
  g_array_sort (recordings, compare_recordings);
  return g_steal_pointer (&recordings);
}

gboolean
watch_recording_get_times (const gchar *path, gint64 *begin, gint64 *duration, GError **error)
{
  g_autoptr (GError) failure = NULL;
  g_autoptr (GstDiscoverer) discoverer = gst_discoverer_new (20 * GST_SECOND, &failure);
  g_autofree gchar *uri = discoverer ? gst_filename_to_uri (path, &failure) : NULL;
  g_autoptr (GstDiscovererInfo) info =
      uri ? gst_discoverer_discover_uri (discoverer, uri, &failure) : NULL;
  g_autoptr (GstDateTime) date = NULL;
  g_autoptr (GDateTime) full = NULL;
  const GstTagList *tags;
  GStatBuf status;

  /* After an error, there may still be an info. */
  if (!info || failure) {
    g_propagate_error (error, g_steal_pointer (&failure));
    return FALSE;
  }
  *duration = GST_CLOCK_TIME_IS_VALID (gst_discoverer_info_get_duration (info))
                  ? gst_discoverer_info_get_duration (info) / 1000
                  : 0;
  tags = gst_discoverer_info_get_tags (info);
  if (tags && gst_tag_list_get_date_time (tags, GST_TAG_DATE_TIME, &date) &&
      gst_date_time_has_second (date) && (full = gst_date_time_to_g_date_time (date))) {
    *begin = g_date_time_to_unix (full) * G_TIME_SPAN_SECOND;
    return TRUE;
  }
  if (g_stat (path, &status) != 0) {
    g_set_error (error, G_IO_ERROR, g_io_error_from_errno (errno), "%s", g_strerror (errno));
    return FALSE;
  }
  *begin = (gint64) status.st_mtime * G_TIME_SPAN_SECOND - *duration;
  return TRUE;
}

GArray *
watch_recordings_from_files (gchar **files, GError **error)
{
  g_autoptr (GArray) recordings = recordings_new ();

  for (; *files; files++) {
    WatchRecording recording;
    gint64 duration;

    if (!watch_recording_get_times (*files, &recording.begin, &duration, error)) {
      g_prefix_error (error, "%s: ", *files);
      return NULL;
    }
    recording.path = g_strdup (*files);
    g_array_append_val (recordings, recording);
  }
  g_array_sort (recordings, compare_recordings);
  return g_steal_pointer (&recordings);
}
