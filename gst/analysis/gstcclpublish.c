/* cudaccl - components as metadata on buffers and as messages
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclpublish.h"

#include <stdlib.h>
#ifdef HAVE_ANALYTICS
#include <gst/analytics/analytics.h>
#endif
#include <gst/found/gstcclmessage.h>
#include <gst/found/gstcclroi.h>

/* Moves the pixels from *@from on, @n at most, from a mask to the frame: all pixels there that they
 * cover. */
static void
place_range (guint *from, guint *n, gint first, guint size, guint mask_size, guint frame_size)
{
  gint64 start = first + (gint64) ((guint64) *from * size / mask_size);
  gint64 end = first + (gint64) (((guint64) (*from + *n) * size + mask_size - 1) / mask_size);

  start = CLAMP (start, 0, (gint64) frame_size - 1);
  *from = (guint) start;
  *n = (guint) (CLAMP (end, start + 1, (gint64) frame_size) - start);
}

static void
place_component (GstCclComponent *component, const GstCclPlacement *p)
{
  gdouble scale_x = (gdouble) p->width / p->mask_width;
  gdouble scale_y = (gdouble) p->height / p->mask_height;

  place_range (&component->x, &component->width, p->x, p->width, p->mask_width, p->frame_width);
  place_range (&component->y, &component->height, p->y, p->height, p->mask_height, p->frame_height);
  component->area = (guint64) MAX ((gdouble) component->area * scale_x * scale_y + 0.5, 1.0);
  component->centroid_x = p->x + (component->centroid_x + 0.5) * scale_x - 0.5;
  component->centroid_y = p->y + (component->centroid_y + 0.5) * scale_y - 0.5;
}

static void
convert_component (GstCclComponent *component, const CclComponent *source,
                   const GstCclDetails *details)
{
  *component = (GstCclComponent){
    .label = source->label,
    .x = source->x,
    .y = source->y,
    .width = source->width,
    .height = source->height,
    .area = source->area,
    .centroid_x = ccl_component_centroid_x (source),
    .centroid_y = ccl_component_centroid_y (source),
    .class_id = details->values ? details->values[source->label - 1] : 0,
  };
  if (details->placement)
    place_component (component, details->placement);
}

/* The name of a component's class, or NULL. */
static const gchar *
get_class_name (const GstCclDetails *details, guint class_id)
{
  return details->names ? gst_ccl_class_names_get_name (details->names, class_id) : NULL;
}

/* The type of a region of interest: the name of its class, or else @type. */
static GQuark
get_type_of (const gchar *class_name, GQuark type)
{
  return class_name ? g_quark_from_string (class_name) : type;
}

static void
set_features (GstCclComponent *component, const CclComponent *source, const CclShape *shape,
              guint features)
{
  component->features = features;
  if (features & GST_CCL_FEATURE_ELLIPSE) {
    CclEllipse ellipse;

    ccl_component_ellipse (source, &ellipse);
    component->orientation = ellipse.orientation;
    component->major_axis = ellipse.major;
    component->minor_axis = ellipse.minor;
  }
  if (features & GST_CCL_FEATURE_HOLES)
    component->holes = (guint) (1 - shape->euler);
  if (features & GST_CCL_FEATURE_PERIMETER)
    component->perimeter = ccl_shape_perimeter (shape);
  if (features & GST_CCL_FEATURE_LUMA) {
    component->luma_mean = ccl_shape_luma_mean (shape, source);
    component->luma_min = shape->luma_min;
    component->luma_max = shape->luma_max;
  }
}

GstCclComponent *
gst_ccl_components_convert (const CclComponents *components, const GstCclDetails *details)
{
  GstCclComponent *converted = g_new (GstCclComponent, components->count);
  guint i;

  for (i = 0; i < components->count; i++) {
    const CclComponent *source = &components->items[i];

    convert_component (&converted[i], source, details);
    if (details->features)
      set_features (&converted[i], source,
                    details->shapes ? &details->shapes[source->label - 1] : NULL,
                    details->features);
  }

  return converted;
}

void
gst_ccl_attach_meta (GstBuffer *buffer, const GstVideoInfo *info, const CclComponents *components,
                     const GstCclDetails *details)
{
  GstCclMeta *meta;

  meta = gst_buffer_add_ccl_meta (buffer, GST_VIDEO_INFO_WIDTH (info), GST_VIDEO_INFO_HEIGHT (info),
                                  components->found, NULL, 0);

  /* Filled in place, which saves a temporary array. */
  if (components->count > 0)
    meta->components = gst_ccl_components_convert (components, details);
  meta->n_components = components->count;
  if (details->names)
    gst_ccl_meta_set_class_names (meta, details->names);
}

/* The first of @n consecutive ids that other regions do not use. */
static gint
find_free_ids (GstBuffer *buffer, guint n)
{
  gboolean from_zero = TRUE;
  gpointer state = NULL;
  gint first = 0;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    gint id = ((GstVideoRegionOfInterestMeta *) meta)->id;

    from_zero &= id < 0 || (guint) id >= n;
    /* Ids so large that fewer than n follow are ignored. */
    if (id >= first && (guint) id < (guint) G_MAXINT - n)
      first = id + 1;
  }

  return from_zero ? 0 : first;
}

void
gst_ccl_attach_rois (GstBuffer *buffer, GQuark roi_type, const CclComponents *components,
                     const GstCclDetails *details)
{
  gint first = find_free_ids (buffer, components->count);
  guint i;

  for (i = 0; i < components->count; i++) {
    GstCclComponent component;
    const gchar *name;

    convert_component (&component, &components->items[i], details);
    name = get_class_name (details, component.class_id);
    gst_ccl_rois_add (buffer, get_type_of (name, roi_type), first + (gint) i, &component, name);
  }
}

#ifdef HAVE_ANALYTICS
/* Estimated size of an object detection in the relation metadata, which grows if that is too
 * little. */
#define ENTRY_SIZE 64

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

guint
gst_ccl_attach_detections (GstBuffer *buffer, GQuark type, const CclComponents *components,
                           const GstCclDetails *details)
{
  guint n = MIN (components->count, GST_CCL_DETECTIONS_MAX);
  /* Both grow in steps of their initial value. */
  GstAnalyticsRelationMetaInitParams params = { MAX (n, 1), (gsize) MAX (n, 1) * ENTRY_SIZE };
  GstAnalyticsRelationMeta *meta;
  Selection selection;
  guint i;

  select_largest (&selection, components, n);
  meta = gst_buffer_add_analytics_relation_meta_full (buffer, &params);

  for (i = 0; i < components->count; i++) {
    GstCclComponent component;
    GstAnalyticsODMtd detection;

    if (!is_selected (&selection, &components->items[i]))
      continue;
    convert_component (&component, &components->items[i], details);
    gst_analytics_relation_meta_add_od_mtd (
        meta, get_type_of (get_class_name (details, component.class_id), type), (gint) component.x,
        (gint) component.y, (gint) component.width, (gint) component.height, 1.0f, &detection);
  }

  return n;
}
#endif

GstMessage *
gst_ccl_message_new (GstObject *source, const GstSegment *segment, GstBuffer *buffer,
                     const GstVideoInfo *info, const CclComponents *components,
                     const GstCclDetails *details)
{
  GstCclComponent *converted = gst_ccl_components_convert (components, details);
  GstMessage *message;

  message = gst_ccl_components_message_new (source, "cudaccl", segment, buffer,
                                            (guint) GST_VIDEO_INFO_WIDTH (info),
                                            (guint) GST_VIDEO_INFO_HEIGHT (info), components->found,
                                            converted, components->count, details->names);
  g_free (converted);

  return message;
}
