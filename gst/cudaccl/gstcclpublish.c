/* cudaccl - components as metadata on buffers and as messages
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpublish.h"

#include <stdlib.h>
#ifdef HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif
#include <gst/ccl/gstccl.h>

GST_DEBUG_CATEGORY_EXTERN (gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

/* The parameters of our regions of interest, which is also what tells them from others. */
#define ROI_PARAM "cudaccl"

static gboolean
remove_own_roi (GstBuffer *buffer, GstMeta **meta, gpointer user_data)
{
  if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE &&
      gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) *meta,
                                                   ROI_PARAM))
    *meta = NULL;

  return TRUE;
}

void
gst_ccl_attach_nothing (GstBuffer *buffer)
{
  GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);

  if (meta)
    gst_buffer_remove_meta (buffer, (GstMeta *) meta);
  gst_buffer_foreach_meta (buffer, remove_own_roi, NULL);
}

void
gst_ccl_attach_components (GstBuffer *buffer, const GstVideoInfo *info,
                           const CclComponents *components)
{
  GstCclMeta *meta;
  guint i;

  meta = gst_buffer_add_ccl_meta (buffer, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
                                  components->found, NULL, 0);

  /* Filled in place: no second array is needed to hold them on the way. */
  if (components->count > 0)
    meta->components = g_new (GstCclComponent, components->count);
  meta->n_components = components->count;

  for (i = 0; i < components->count; i++) {
    const CclComponent *source = &components->items[i];
    GstCclComponent *component = &meta->components[i];

    component->label = source->label;
    component->x = source->x;
    component->y = source->y;
    component->width = source->width;
    component->height = source->height;
    component->area = source->area;
    component->centroid_x = ccl_component_centroid_x (source);
    component->centroid_y = ccl_component_centroid_y (source);
  }
}

/* The first of @n ids that nobody has: 0, or what follows the highest of others' when one of those
 * is in the way. */
static gint
free_ids (GstBuffer *buffer, guint n)
{
  gboolean in_the_way = FALSE;
  gpointer state = NULL;
  gint first = 0;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    gint id = ((GstVideoRegionOfInterestMeta *) meta)->id;

    in_the_way |= id >= 0 && (guint) id < n;
    /* Too few are left behind the largest ids. */
    if (id >= first && (guint) id < (guint) G_MAXINT - n)
      first = id + 1;
  }

  return in_the_way ? first : 0;
}

/* The parameters of a component. With names that are looked up only once, since this is most of
 * what a region of interest costs, and a frame can have many. */
static GstStructure *
roi_param_new (const CclComponent *component)
{
  static GQuark name, label, area, centroid_x, centroid_y;
  static gsize once;

  if (g_once_init_enter (&once)) {
    name = g_quark_from_static_string (ROI_PARAM);
    label = g_quark_from_static_string ("label");
    area = g_quark_from_static_string ("area");
    centroid_x = g_quark_from_static_string ("centroid-x");
    centroid_y = g_quark_from_static_string ("centroid-y");
    g_once_init_leave (&once, 1);
  }

  return gst_structure_new_id (name, label, G_TYPE_UINT, component->label, area, G_TYPE_UINT64,
                               component->area, centroid_x, G_TYPE_DOUBLE,
                               ccl_component_centroid_x (component), centroid_y, G_TYPE_DOUBLE,
                               ccl_component_centroid_y (component), NULL);
}

void
gst_ccl_attach_roi (GstBuffer *buffer, GQuark roi_type, const CclComponents *components)
{
  gint first = free_ids (buffer, components->count);
  guint i;

  for (i = 0; i < components->count; i++) {
    const CclComponent *component = &components->items[i];
    GstVideoRegionOfInterestMeta *roi;

    roi = gst_buffer_add_video_region_of_interest_meta_id (
        buffer, roi_type, component->x, component->y, component->width, component->height);
    roi->id = first + (gint) i;

    gst_video_region_of_interest_meta_add_param (roi, roi_param_new (component));
  }
}

#ifdef HAVE_ANALYTICS
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
#endif

static void
take_components (GstStructure *structure, const CclComponents *components)
{
  GValue list = G_VALUE_INIT;
  guint i;

  gst_value_list_init (&list, components->count);

  for (i = 0; i < components->count; i++) {
    const CclComponent *component = &components->items[i];
    GValue value = G_VALUE_INIT;

    g_value_init (&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed (
        &value,
        gst_structure_new ("component", "label", G_TYPE_UINT, component->label, "x", G_TYPE_UINT,
                           component->x, "y", G_TYPE_UINT, component->y, "width", G_TYPE_UINT,
                           component->width, "height", G_TYPE_UINT, component->height, "area",
                           G_TYPE_UINT64, component->area, "centroid-x", G_TYPE_DOUBLE,
                           ccl_component_centroid_x (component), "centroid-y", G_TYPE_DOUBLE,
                           ccl_component_centroid_y (component), NULL));
    gst_value_list_append_and_take_value (&list, &value);
  }

  gst_structure_take_value (structure, "components", &list);
}

GstMessage *
gst_ccl_message_new (GstObject *source, const GstSegment *segment, GstBuffer *buffer,
                     const GstVideoInfo *info, const CclComponents *components)
{
  guint64 timestamp = GST_BUFFER_PTS (buffer);
  guint64 stream_time = GST_CLOCK_TIME_NONE, running_time = GST_CLOCK_TIME_NONE;
  GstStructure *structure;

  /* Segments in bytes, as some application sources have them, know nothing of time. */
  if (segment->format == GST_FORMAT_TIME) {
    stream_time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, timestamp);
    running_time = gst_segment_to_running_time (segment, GST_FORMAT_TIME, timestamp);
  }

  structure = gst_structure_new (
      "cudaccl", "timestamp", G_TYPE_UINT64, timestamp, "stream-time", G_TYPE_UINT64, stream_time,
      "running-time", G_TYPE_UINT64, running_time, "duration", G_TYPE_UINT64,
      GST_BUFFER_DURATION (buffer), "width", G_TYPE_UINT, (guint) GST_VIDEO_INFO_WIDTH (info),
      "height", G_TYPE_UINT, (guint) GST_VIDEO_INFO_HEIGHT (info), "found", G_TYPE_UINT,
      components->found, NULL);
  take_components (structure, components);

  return gst_message_new_element (source, structure);
}
