/* cudaccl - GStreamer's analytics metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclanalytics.h"

#ifdef HAVE_ANALYTICS
#include <stdlib.h>
#include <gst/analytics/analytics.h>

#include "gstccldetections.h"
#include "gstcclroi.h"

/* Estimated size of an entry in the relation metadata, which grows if that is too little. */
#define ENTRY_SIZE 64

/* Returns the relation metadata of @buffer; a new one has room for @n entries. It grows in steps of
 * its initial room, and a step copies the matrix. */
static GstAnalyticsRelationMeta *
reserve (GstBuffer *buffer, guint n)
{
  GstAnalyticsRelationMetaInitParams params = { n, (gsize) n * ENTRY_SIZE };

  return gst_buffer_add_analytics_relation_meta_full (buffer, &params);
}

/* Returns the track that a tracker relates to the detection, or 0. */
static guint
find_track (GstAnalyticsRelationMeta *meta, guint detection)
{
  GstAnalyticsTrackingMtd tracking;
  GstClockTime first, last;
  gpointer state = NULL;
  gboolean lost;
  guint64 id;

  while (gst_analytics_relation_meta_get_direct_related (
      meta, detection, GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_tracking_mtd_get_mtd_type (),
      &state, &tracking)) {
    if (gst_analytics_tracking_mtd_get_info (&tracking, &id, &first, &last, &lost) && !lost)
      return gst_ccl_detections_get_track (id);
  }

  return 0;
}

void
gst_ccl_analytics_read (GstBuffer *buffer, guint width, guint height, GstCclClasses *classes,
                        GArray *components)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd detection;
  gpointer state = NULL;

  if (!meta)
    return;

  while (gst_analytics_relation_meta_iterate (meta, &state, gst_analytics_od_mtd_get_mtd_type (),
                                              &detection)) {
    GstCclComponent component = { 0 };
    gint x, y, w, h;
    gint64 x1, y1, x2, y2;
    gfloat confidence;

    if (!gst_analytics_od_mtd_get_location (&detection, &x, &y, &w, &h, &confidence))
      continue;
    x1 = MAX (x, 0);
    y1 = MAX (y, 0);
    x2 = MIN ((gint64) x + w, width);
    y2 = MIN ((gint64) y + h, height);
    if (x1 >= x2 || y1 >= y2)
      continue;
    component.label = detection.id;
    component.x = (guint) x1;
    component.y = (guint) y1;
    component.width = (guint) (x2 - x1);
    component.height = (guint) (y2 - y1);
    component.class_id = gst_ccl_classes_find (
        classes, g_quark_to_string (gst_analytics_od_mtd_get_obj_type (&detection)));
    component.confidence = confidence;
    component.track = find_track (meta, detection.id);
    g_array_append_val (components, component);
  }
}

/* @ids: of detections, -1: none. */
static void
add_tracks (GstBuffer *buffer, const GstCclComponent *components, const gint *ids,
            const guint *sources, guint n)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  GstClockTime time = GST_BUFFER_PTS (buffer);
  guint i;

  for (i = 0; meta && i < n; i++) {
    GstClockTime first = GST_CLOCK_TIME_NONE;
    GstAnalyticsTrackingMtd tracking;

    const gboolean lost = sources && sources[i] == GST_CCL_NO_SOURCE;

    if (!components[i].track || (ids[i] < 0 && !lost))
      continue;
    if (GST_CLOCK_TIME_IS_VALID (time))
      first = time - MIN (components[i].age, time);
    if (!gst_analytics_relation_meta_add_tracking_mtd (meta, components[i].track, first, &tracking))
      continue;
    if (lost)
      gst_analytics_tracking_mtd_set_lost (&tracking);
    else
      gst_analytics_tracking_mtd_update_last_seen (&tracking, time);
    if (ids[i] < 0)
      continue;
    gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO,
                                              (guint) ids[i], tracking.id);
    gst_analytics_relation_meta_set_relation (meta, GST_ANALYTICS_REL_TYPE_RELATE_TO, tracking.id,
                                              (guint) ids[i]);
  }
}

/* Selects the components above an area, and the first @n_equal of exactly that area. */
typedef struct
{
  guint64 area;
  guint n_equal;
} Selection;

static int
compare_areas (const void *a, const void *b)
{
  guint64 area_a = *(const guint64 *) a;
  guint64 area_b = *(const guint64 *) b;

  return (area_a < area_b) - (area_a > area_b);
}

/* Selects the @most largest of @n components. */
static Selection
select_largest (const GstCclComponent *components, guint n, guint most)
{
  Selection selection = { 0, 0 };
  guint64 *areas;
  guint i;

  if (n <= most)
    return selection;

  areas = g_new (guint64, n);
  for (i = 0; i < n; i++)
    areas[i] = components[i].area;
  qsort (areas, n, sizeof (*areas), compare_areas);

  selection.area = areas[most - 1];
  for (i = most; i > 0 && areas[i - 1] == selection.area; i--)
    selection.n_equal++;
  g_free (areas);

  return selection;
}

static gboolean
is_selected (Selection *selection, const GstCclComponent *component)
{
  if (component->area != selection->area)
    return component->area > selection->area;

  if (selection->n_equal == 0)
    return FALSE;
  selection->n_equal--;

  return TRUE;
}

/* Returns the id, or -1 on failure. */
static gint
add_detection (GstAnalyticsRelationMeta *meta, const GstCclComponent *component,
               GstCclClassNames *names, GQuark no_class, gfloat confidence)
{
  const gchar *name = names ? gst_ccl_class_names_get_name (names, component->class_id) : NULL;
  GstAnalyticsODMtd detection;

  if (!gst_analytics_relation_meta_add_od_mtd (
          meta, name && *name ? g_quark_from_string (name) : no_class, (gint) component->x,
          (gint) component->y, (gint) component->width, (gint) component->height, confidence,
          &detection))
    return -1;

  return (gint) detection.id;
}

static gboolean
has_detections (GstBuffer *buffer)
{
  GstAnalyticsRelationMeta *meta = gst_buffer_get_analytics_relation_meta (buffer);
  GstAnalyticsODMtd detection;
  gpointer state = NULL;

  return meta && gst_analytics_relation_meta_iterate (
                     meta, &state, gst_analytics_od_mtd_get_mtd_type (), &detection);
}

static void
add_tracked (GstBuffer *buffer, GstAnalyticsRelationMeta *meta, const GstCclComponent *objects,
             guint n, GstCclClassNames *names, GQuark no_class, const guint *sources)
{
  gint *ids = g_new (gint, n);
  guint i;

  for (i = 0; i < n; i++)
    ids[i] = add_detection (meta, &objects[i], names, no_class, (gfloat) objects[i].confidence);
  add_tracks (buffer, objects, ids, sources, n);
  g_free (ids);
}

void
gst_ccl_analytics_add (GstBuffer *buffer, const GstCclComponent *components, guint n,
                       GstCclClassNames *names, GQuark no_class, gboolean tracked,
                       const guint *sources)
{
  const guint n_each = tracked ? 2 : 1; /* a detection and a track */
  const guint most = GST_CCL_ANALYTICS_MAX / n_each;
  GstAnalyticsRelationMeta *meta;
  Selection selection;
  guint i;

  if (tracked && has_detections (buffer))
    return;

  meta = reserve (buffer, n_each * CLAMP (n, 1, most));
  if (tracked) {
    add_tracked (buffer, meta, components, MIN (n, most), names, no_class, sources);
    return;
  }

  selection = select_largest (components, n, most);
  for (i = 0; i < n; i++) {
    if (is_selected (&selection, &components[i]))
      add_detection (meta, &components[i], names, no_class, 1.0f);
  }
}

static guint
hash_box (gconstpointer key)
{
  const GstCclComponent *component = key;

  return ((component->x * 31 + component->y) * 31 + component->width) * 31 + component->height;
}

static gboolean
has_same_box (gconstpointer a, gconstpointer b)
{
  const GstCclComponent *p = a, *q = b;

  return p->x == q->x && p->y == q->y && p->width == q->width && p->height == q->height;
}

void
gst_ccl_analytics_put_tracks (GstBuffer *buffer, guint width, guint height, GstCclClasses *classes,
                              const GstCclComponent *objects, const GstCclComponent *components,
                              const guint *sources, guint n, gboolean lost)
{
  GArray *detections = g_array_new (FALSE, FALSE, sizeof (GstCclComponent));
  GHashTable *by_box = g_hash_table_new (hash_box, has_same_box);
  guint i;
  gint *ids;

  gst_ccl_analytics_read (buffer, width, height, classes, detections);
  for (i = detections->len; i-- > 0;)
    g_hash_table_replace (by_box, &g_array_index (detections, GstCclComponent, i),
                          &g_array_index (detections, GstCclComponent, i));
  n = MIN (n, GST_CCL_ANALYTICS_MAX);
  ids = g_new (gint, n);
  for (i = 0; i < n; i++) {
    const GstCclComponent *detection = sources[i] != GST_CCL_NO_SOURCE
                                           ? g_hash_table_lookup (by_box, &components[sources[i]])
                                           : NULL;

    ids[i] = detection ? (gint) detection->label : -1;
  }
  if (lost && n > 0)
    reserve (buffer, n);
  if (lost || detections->len > 0)
    add_tracks (buffer, objects, ids, sources, n);
  g_free (ids);
  g_hash_table_unref (by_box);
  g_array_unref (detections);
}
#else
void
gst_ccl_analytics_add (GstBuffer *buffer, const GstCclComponent *components, guint n,
                       GstCclClassNames *names, GQuark no_class, gboolean tracked,
                       const guint *sources)
{
}

void
gst_ccl_analytics_read (GstBuffer *buffer, guint width, guint height, GstCclClasses *classes,
                        GArray *components)
{
}

void
gst_ccl_analytics_put_tracks (GstBuffer *buffer, guint width, guint height, GstCclClasses *classes,
                              const GstCclComponent *objects, const GstCclComponent *components,
                              const guint *sources, guint n, gboolean lost)
{
}
#endif
