/* cudaccl - components to metadata on buffers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclattach.h"

#include <gst/ccl/gstccl.h>

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
