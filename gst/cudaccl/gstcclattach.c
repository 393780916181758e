/* cudaccl - components to metadata on buffers
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclattach.h"

#include <gst/ccl/gstccl.h>

/* The parameters of our regions of interest, which is also what tells them from others. */
#define ROI_PARAM "cudaccl"

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
gst_ccl_attach_roi (GstBuffer *buffer, GQuark roi_type, const CclComponents *components)
{
  guint i;

  gst_buffer_foreach_meta (buffer, remove_own_roi, NULL);

  for (i = 0; i < components->count; i++) {
    const CclComponent *component = &components->items[i];
    GstVideoRegionOfInterestMeta *roi;
    GstStructure *param;

    roi = gst_buffer_add_video_region_of_interest_meta_id (
        buffer, roi_type, component->x, component->y, component->width, component->height);
    roi->id = (gint) i;

    param = gst_structure_new (ROI_PARAM, "label", G_TYPE_UINT, component->label, "area",
                               G_TYPE_UINT64, component->area, "centroid-x", G_TYPE_DOUBLE,
                               ccl_component_centroid_x (component), "centroid-y", G_TYPE_DOUBLE,
                               ccl_component_centroid_y (component), NULL);
    gst_video_region_of_interest_meta_add_param (roi, param);
  }
}
