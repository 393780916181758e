/* cudaccl - a component after tracking
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltrackoutput.h"

#include <math.h>

void
gst_ccl_track_output_set_track (GstCclTrackOutput *self, const GstCclTrackInfo *track)
{
  GstCclComponent *component = &self->component;

  component->track = track->id;
  component->age = track->age;
  component->velocity_x = track->velocity_x;
  component->velocity_y = track->velocity_y;
  component->class_id = track->class_id;
  component->confidence = track->confidence;
}

gboolean
gst_ccl_track_output_set_box (GstCclTrackOutput *self, const GstCclTrackInfo *track, guint width,
                              guint height)
{
  GstCclComponent *component = &self->component;
  gdouble x1 = MAX (rint (track->x), 0.0), y1 = MAX (rint (track->y), 0.0);
  gdouble x2 = MIN (rint (track->x + track->width), width);
  gdouble y2 = MIN (rint (track->y + track->height), height);

  if (!(x1 < x2 && y1 < y2))
    return FALSE;

  component->x = (guint) x1;
  component->y = (guint) y1;
  component->width = (guint) (x2 - x1);
  component->height = (guint) (y2 - y1);
  component->centroid_x = track->centroid_x;
  component->centroid_y = track->centroid_y;
  /* Areas from other elements may not fit in an integer. */
  component->area = (guint64) CLAMP (rint (track->area), 1.0, 1e18);

  return TRUE;
}

gint
gst_ccl_track_output_compare (gconstpointer a, gconstpointer b)
{
  const GstCclTrackOutput *p = a, *q = b;

  if (p->source != q->source)
    return p->source < q->source ? -1 : 1;

  return p->component.track < q->component.track ? -1 : p->component.track > q->component.track;
}

/* The regions by label, the first of each. */
static GHashTable *
rois_by_label_new (const GstCclRois *rois)
{
  GHashTable *table = g_hash_table_new (NULL, NULL);
  guint i;

  for (i = rois->n; i-- > 0;)
    g_hash_table_insert (table, GUINT_TO_POINTER (rois->components[i].label), rois->rois[i]);

  return table;
}

GQuark
gst_ccl_track_output_get_type (const gchar *class_name)
{
  return g_quark_from_string (class_name ? class_name : "object");
}

void
gst_ccl_track_output_put_rois (const GstCclTrackOutput *outputs, guint n_outputs, GstBuffer *buffer,
                               const GstCclRois *rois, gboolean by_label, GstCclClassNames *names)
{
  GHashTable *labels = by_label ? rois_by_label_new (rois) : NULL;
  gint first = G_MAXINT;
  guint i, n = 0;

  for (i = 0; i < rois->n; i++)
    first = MIN (first, rois->rois[i]->id);

  for (i = 0; i < n_outputs; i++) {
    const GstCclTrackOutput *output = &outputs[i];
    const gchar *name =
        names ? gst_ccl_class_names_get_name (names, output->component.class_id) : NULL;
    const GstVideoRegionOfInterestMeta *roi =
        output->source == GST_CCL_TRACK_NO_SOURCE ? NULL
        : labels ? g_hash_table_lookup (labels, GUINT_TO_POINTER (output->component.label))
                 : rois->rois[output->source];

    if (roi)
      gst_ccl_rois_add_copy (buffer, roi, (gint) ((guint) first + n++), &output->component, name);
    else if (output->source == GST_CCL_TRACK_NO_SOURCE)
      gst_ccl_rois_add (buffer, gst_ccl_track_output_get_type (name), (gint) ((guint) first + n++),
                        &output->component, name);
  }
  for (i = 0; i < rois->n; i++)
    gst_buffer_remove_meta (buffer, &rois->rois[i]->meta);
  g_clear_pointer (&labels, g_hash_table_unref);
}
