/* cudaccl - components to GStreamer's analytics metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclanalytics.h"

#include <stdlib.h>
#include <gst/analytics/analytics.h>

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

/* What an object detection takes in the relation metadata, rounded up; it grows if this is too
 * little. */
#define ENTRY_SIZE 64

/* Which components are kept: those above an area, and the first few that have just this area. */
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

static void
select_largest (Selection *selection, const CclComponents *components, guint n)
{
  guint64 *areas;
  guint i;

  selection->area = 0;
  selection->n_equal = 0;
  if (n == components->count)
    return;

  areas = g_new (guint64, components->count);
  for (i = 0; i < components->count; i++)
    areas[i] = components->items[i].area;
  qsort (areas, components->count, sizeof (*areas), compare_areas);

  selection->area = areas[n - 1];
  for (i = n; i > 0 && areas[i - 1] == selection->area; i--)
    selection->n_equal++;
  g_free (areas);
}

static gboolean
is_selected (Selection *selection, const CclComponent *component)
{
  if (component->area != selection->area)
    return component->area > selection->area;

  if (selection->n_equal == 0)
    return FALSE;
  selection->n_equal--;

  return TRUE;
}

void
gst_ccl_attach_analytics (GstElement *element, GstBuffer *buffer, GQuark type,
                          const CclComponents *components, gboolean *truncated)
{
  guint n = MIN (components->count, GST_CCL_ANALYTICS_MAX);
  /* Both grow by the size that they start with. */
  GstAnalyticsRelationMetaInitParams params = { MAX (n, 1), (gsize) MAX (n, 1) * ENTRY_SIZE };
  GstAnalyticsRelationMeta *meta;
  Selection selection;
  guint i;

  select_largest (&selection, components, n);
  meta = gst_buffer_add_analytics_relation_meta_full (buffer, &params);

  for (i = 0; i < components->count; i++) {
    const CclComponent *component = &components->items[i];
    GstAnalyticsODMtd detection;

    if (is_selected (&selection, component))
      gst_analytics_relation_meta_add_od_mtd (meta, type, (gint) component->x, (gint) component->y,
                                              (gint) component->width, (gint) component->height,
                                              1.0f, &detection);
  }

  if (n < components->count && !*truncated) {
    GST_WARNING_OBJECT (element, "analytics metadata got the %u largest of %u components", n,
                        components->count);
    *truncated = TRUE;
  }
}
