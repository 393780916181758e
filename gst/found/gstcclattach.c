/* cudaccl - components and objects as metadata of other elements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclattach.h"

#include <gst/base/gstcclproperties.h>

#include "gstcclanalytics.h"
#include "gstcclnvds.h"
#include "gstcclroi.h"

GType
gst_ccl_attach_get_type (void)
{
  static GType type = 0;
  static const GFlagsValue values[] = {
    { GST_CCL_ATTACH_COMPONENTS, "One GstCclMeta with all components", "components" },
    { GST_CCL_ATTACH_ROI, "One GstVideoRegionOfInterestMeta for each component", "roi" },
#ifdef HAVE_ANALYTICS
    { GST_CCL_ATTACH_ANALYTICS, "One GstAnalytics object detection for each component",
      "analytics" },
#endif
    { GST_CCL_ATTACH_NVDS, "One NvDsObjectMeta of DeepStream for each component (experimental)",
      "nvds" },
    { 0, NULL, NULL },
  };

  return gst_ccl_register_flags (&type, "GstCudaCclAttach", values);
}

GType
gst_ccl_object_attach_get_type (void)
{
  static GType type = 0;
  static const GFlagsValue values[] = {
    { GST_CCL_ATTACH_ROI, "One GstVideoRegionOfInterestMeta for each object", "roi" },
#ifdef HAVE_ANALYTICS
    { GST_CCL_ATTACH_ANALYTICS, "One GstAnalytics object detection for each object", "analytics" },
#endif
    { GST_CCL_ATTACH_NVDS, "One NvDsObjectMeta of DeepStream for each object (experimental)",
      "nvds" },
    { 0, NULL, NULL },
  };

  return gst_ccl_register_flags (&type, "GstCclObjectAttach", values);
}

/* Adds DL Streamer's parameters: the box in shares of the frame, and the track. */
static void
add_dl_streamer (GstVideoRegionOfInterestMeta *roi, const GstCclComponent *component, guint width,
                 guint height)
{
  GstStructure *detection = gst_structure_new (
      "detection", "confidence", G_TYPE_DOUBLE, (gdouble) component->confidence, "x_min",
      G_TYPE_DOUBLE, (gdouble) component->x / width, "x_max", G_TYPE_DOUBLE,
      ((gdouble) component->x + component->width) / width, "y_min", G_TYPE_DOUBLE,
      (gdouble) component->y / height, "y_max", G_TYPE_DOUBLE,
      ((gdouble) component->y + component->height) / height, NULL);

  if (component->class_id > 0)
    gst_structure_set (detection, "label_id", G_TYPE_INT, (gint) component->class_id - 1, NULL);
  gst_video_region_of_interest_meta_add_param (roi, detection);
  if (component->track > 0)
    gst_video_region_of_interest_meta_add_param (
        roi, gst_structure_new ("object_id", "id", G_TYPE_INT,
                                (gint) MIN (component->track, G_MAXINT), NULL));
}

static void
attach_rois (GstBuffer *buffer, const GstCclAttachment *attachment)
{
  const gint first = gst_ccl_rois_find_free_ids (buffer, attachment->n_components, TRUE);
  guint i;

  for (i = 0; i < attachment->n_components; i++) {
    const GstCclComponent *component = &attachment->components[i];
    const gchar *name =
        attachment->class_names
            ? gst_ccl_class_names_get_name (attachment->class_names, component->class_id)
            : NULL;
    const GQuark type = name && *name ? g_quark_from_string (name) : attachment->type;
    GstVideoRegionOfInterestMeta *roi =
        gst_ccl_rois_add (buffer, type, first + (gint) i, component, name);

    if (attachment->tracked)
      add_dl_streamer (roi, component, attachment->width, attachment->height);
  }
}

gboolean
gst_ccl_attach (GstBuffer *buffer, GstCclAttach kinds, const GstCclAttachment *attachment,
                GError **error)
{
  if ((kinds & GST_CCL_ATTACH_ROI) &&
      (!attachment->tracked ||
       gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) == 0))
    attach_rois (buffer, attachment);
  if (kinds & GST_CCL_ATTACH_ANALYTICS)
    gst_ccl_analytics_add (buffer, attachment->components, attachment->n_components,
                           attachment->class_names, attachment->type, attachment->tracked,
                           attachment->sources);

  return !(kinds & GST_CCL_ATTACH_NVDS) ||
         gst_ccl_nvds_attach (buffer, g_quark_to_string (attachment->type), attachment->components,
                              attachment->n_components, attachment->class_names, error);
}
