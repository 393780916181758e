/* cudaccl - remembers tracks until they end
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltracklog.h"

#include <math.h>

/* A track that is not found for this long has ended: ccltrack forgets it after 1.5 s by default,
 * and cclzones after 2 s. */
#define TIMEOUT (2 * GST_SECOND)

/* ccltrack's own maximum. Ids may come from elsewhere, though. */
#define MAX_TRACKS 65536

GHashTable *
gst_ccl_track_log_new (void)
{
  return g_hash_table_new_full (NULL, NULL, NULL, g_free);
}

gboolean
gst_ccl_track_log_add (GHashTable *self, const GstCclReportFrame *frame, GstClockTime time)
{
  GstCclSighting sighting = { *frame };
  gboolean all = TRUE;
  guint i;

  for (i = 0; i < frame->n_components; i++) {
    const GstCclComponent *component = &frame->components[i];
    GstCclTrackRecord *record;

    if (!component->track)
      continue;

    record = g_hash_table_lookup (self, GUINT_TO_POINTER (component->track));
    if (record && record->last.frame.number == frame->number)
      continue; /* a fragment of the same object */
    if (!record && g_hash_table_size (self) >= MAX_TRACKS) {
      all = FALSE;
      continue;
    }

    sighting.component = *component;
    if (!record) {
      record = g_new (GstCclTrackRecord, 1);
      record->first = record->last = sighting;
      record->n_frames = 0;
      record->distance = 0.0;
      g_hash_table_insert (self, GUINT_TO_POINTER (component->track), record);
    }
    record->distance += hypot (component->centroid_x - record->last.component.centroid_x,
                               component->centroid_y - record->last.component.centroid_y);
    record->last = sighting;
    record->n_frames++;
    record->seen = time;
  }

  return all;
}

static gint
compare_ids (gconstpointer a, gconstpointer b)
{
  const guint first = ((const GstCclTrackRecord *) a)->first.component.track;
  const guint second = ((const GstCclTrackRecord *) b)->first.component.track;

  return (first > second) - (first < second);
}

GArray *
gst_ccl_track_log_take_ended (GHashTable *self, GstClockTime time)
{
  GArray *ended = g_array_new (FALSE, FALSE, sizeof (GstCclTrackRecord));
  GstCclTrackRecord *record;
  GHashTableIter iter;

  g_hash_table_iter_init (&iter, self);
  while (g_hash_table_iter_next (&iter, NULL, (gpointer *) &record)) {
    if (GST_CLOCK_TIME_IS_VALID (time) && time <= record->seen + TIMEOUT)
      continue;
    g_array_append_val (ended, *record);
    g_hash_table_iter_remove (&iter);
  }
  g_array_sort (ended, compare_ids);

  return ended;
}
