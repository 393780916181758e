/* cudaccl - objects as metadata of other elements
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclattach.h"

#include "gstcclanalytics.h"
#include "gstcclnvds.h"
#include "gstcclroi.h"

#define NO_CLASS "object"

GType
gst_ccl_object_attach_get_type (void)
{
  static GType type = 0;
  static const GFlagsValue values[] = {
    { GST_CCL_OBJECT_ATTACH_ROI, "One GstVideoRegionOfInterestMeta for each object", "roi" },
#ifdef HAVE_ANALYTICS
    { GST_CCL_OBJECT_ATTACH_ANALYTICS, "One GstAnalytics object detection for each object",
      "analytics" },
#endif
    { GST_CCL_OBJECT_ATTACH_NVDS, "One NvDsObjectMeta of DeepStream for each object", "nvds" },
    { 0, NULL, NULL },
  };

  if (g_once_init_enter (&type))
    g_once_init_leave (&type, g_flags_register_static ("GstCclObjectAttach", values));

  return type;
}

/* What elements of DL Streamer read: shares of the frame, and the track. */
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
attach_rois (GstBuffer *buffer, const GstCclComponent *components, guint n, GstCclClassNames *names,
             guint width, guint height)
{
  guint i;

  for (i = 0; i < n; i++) {
    const gchar *name = names ? gst_ccl_class_names_get_name (names, components[i].class_id) : NULL;

    add_dl_streamer (gst_ccl_rois_add (buffer,
                                       g_quark_from_string (name && *name ? name : NO_CLASS),
                                       (gint) i, &components[i], name),
                     &components[i], width, height);
  }
}

gboolean
gst_ccl_attach_objects (GstBuffer *buffer, GstCclObjectAttach kinds,
                        const GstCclComponent *components, guint n, GstCclClassNames *names,
                        guint width, guint height, GError **error)
{
  if ((kinds & GST_CCL_OBJECT_ATTACH_ROI) &&
      gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) == 0)
    attach_rois (buffer, components, n, names, width, height);
  if (kinds & GST_CCL_OBJECT_ATTACH_ANALYTICS)
    gst_ccl_analytics_add_objects (buffer, components, n, names, NO_CLASS);

  return !(kinds & GST_CCL_OBJECT_ATTACH_NVDS) ||
         gst_ccl_nvds_attach (buffer, NO_CLASS, components, n, names, error);
}
