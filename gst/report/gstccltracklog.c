/* cudaccl - remembers tracks until they end
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltracklog.h"

#include <math.h>

/* A track not found for this long has ended: ccltrack forgets it after 1.5 s by default,
 * cclzones after 2 s. */
#define TIMEOUT (2 * GST_SECOND)

/* ccltrack's own maximum, but ids may come from elsewhere. */
#define MAX_TRACKS 65536

static void
set_sighting (GstCclSighting *sighting, const GstCclReportFrame *frame,
              const GstCclComponent *component)
{
  if (frame->class_names)
    gst_ccl_class_names_ref (frame->class_names);
  g_clear_pointer (&sighting->frame.class_names, gst_ccl_class_names_unref);
  sighting->frame = *frame;
  sighting->component = *component;
}

static void
clear_record (gpointer data)
{
  GstCclTrackRecord *record = data;

  g_clear_pointer (&record->first.frame.class_names, gst_ccl_class_names_unref);
  g_clear_pointer (&record->last.frame.class_names, gst_ccl_class_names_unref);
}

static void
free_record (gpointer record)
{
  clear_record (record);
  g_free (record);
}

GHashTable *
gst_ccl_track_log_new (void)
{
  return g_hash_table_new_full (NULL, NULL, NULL, free_record);
}

gboolean
gst_ccl_track_log_add (GHashTable *self, const GstCclReportFrame *frame, GstClockTime time)
{
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

    if (!record) {
      record = g_new0 (GstCclTrackRecord, 1);
      set_sighting (&record->first, frame, component);
      set_sighting (&record->last, frame, component);
      g_hash_table_insert (self, GUINT_TO_POINTER (component->track), record);
    }
    record->distance += hypot (component->centroid_x - record->last.component.centroid_x,
                               component->centroid_y - record->last.component.centroid_y);
    set_sighting (&record->last, frame, component);
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

  g_array_set_clear_func (ended, clear_record);
  g_hash_table_iter_init (&iter, self);
  while (g_hash_table_iter_next (&iter, NULL, (gpointer *) &record)) {
    if (GST_CLOCK_TIME_IS_VALID (time) && time <= record->seen + TIMEOUT)
      continue;
    g_array_append_val (ended, *record);
    g_hash_table_iter_steal (&iter);
    g_free (record);
  }
  g_array_sort (ended, compare_ids);

  return ended;
}
