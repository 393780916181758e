/* cudaccl - what other elements detected in a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclforeign.h"

#include "gstcclanalytics.h"
#include "gstcclnvds.h"
#include "gstcclroi.h"

/* What DL Streamer calls the parameters of a detection, as opposed to a classification. */
#define DETECTION "detection"

static gboolean
get_number (const GstStructure *param, const gchar *field, gdouble *number)
{
  const GValue *value = gst_structure_get_value (param, field);
  GValue converted = G_VALUE_INIT;
  gboolean is_number;

  if (!value || !(G_VALUE_HOLDS_DOUBLE (value) || G_VALUE_HOLDS_FLOAT (value) ||
                  G_VALUE_HOLDS_INT (value) || G_VALUE_HOLDS_UINT (value)))
    return FALSE;

  g_value_init (&converted, G_TYPE_DOUBLE);
  is_number = g_value_transform (value, &converted);
  *number = g_value_get_double (&converted);

  return is_number;
}

/* Finds the parameters that say how certain a region is. */
static const GstStructure *
find_detection (const GstVideoRegionOfInterestMeta *roi, gdouble *confidence)
{
  const GstStructure *found = NULL;
  GList *l;

  for (l = roi->params; l; l = l->next) {
    const GstStructure *param = l->data;
    gdouble number;

    if ((found && !gst_structure_has_name (param, DETECTION)) ||
        (!get_number (param, "confidence", &number) && !get_number (param, "score", &number)))
      continue;
    *confidence = number;
    found = param;
  }

  return found;
}

/* The type of a region is its class; DL Streamer without names has a number. */
static void
read_region (const GstVideoRegionOfInterestMeta *roi, GstCclClasses *classes,
             GstCclComponent *component)
{
  const GstStructure *param = find_detection (roi, &component->confidence);
  gchar number[12];
  gint label;

  component->x = roi->x;
  component->y = roi->y;
  component->width = roi->w;
  component->height = roi->h;
  component->class_id = gst_ccl_classes_find (classes, g_quark_to_string (roi->roi_type));
  if (component->class_id == 0 && param && gst_structure_get_int (param, "label_id", &label)) {
    g_snprintf (number, sizeof (number), "%d", label);
    component->class_id = gst_ccl_classes_find (classes, number);
  }
}

static void
read_regions (GstCclForeign *self, GstBuffer *buffer, GstCclClasses *classes)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) meta;
    GstCclComponent component = { 0 };

    if (roi->w == 0 || roi->h == 0 ||
        roi->roi_type == g_quark_from_static_string (GST_CCL_DETECT_LOOK) ||
        gst_video_region_of_interest_meta_get_param (roi, GST_CCL_ROI_PARAM))
      continue;
    read_region (roi, classes, &component);
    g_array_append_val (self->components, component);
    g_ptr_array_add (self->sources, roi);
  }
}

void
gst_ccl_foreign_init (GstCclForeign *self, GstBuffer *buffer, guint width, guint height,
                      GstCclClasses *classes)
{
  guint i;

  self->components = g_array_new (FALSE, FALSE, sizeof (GstCclComponent));
  self->sources = g_ptr_array_new ();

  self->kind = GST_CCL_FOREIGN_REGIONS;
  read_regions (self, buffer, classes);
  if (self->components->len == 0) {
    self->kind = GST_CCL_FOREIGN_ANALYTICS;
    gst_ccl_analytics_read (buffer, width, height, classes, self->components);
  }
  if (self->components->len == 0) {
    self->kind = GST_CCL_FOREIGN_NVDS;
    gst_ccl_nvds_read (buffer, width, height, classes, self->components, self->sources);
  }

  for (i = 0; i < self->components->len; i++) {
    GstCclComponent *component = &g_array_index (self->components, GstCclComponent, i);

    component->label = i + 1;
    component->area = (guint64) component->width * component->height;
    component->centroid_x = component->x + (component->width - 1) / 2.0;
    component->centroid_y = component->y + (component->height - 1) / 2.0;
    /* Some say it in per cent; below 0 stands for unknown. */
    if (component->confidence > 1.0)
      component->confidence /= 100.0;
    if (!(component->confidence >= 0.0 && component->confidence <= 1.0))
      component->confidence = 0.0;
  }
}

void
gst_ccl_foreign_clear (GstCclForeign *self)
{
  g_array_unref (self->components);
  g_ptr_array_unref (self->sources);
}

void
gst_ccl_foreign_set_track (GstCclForeign *self, guint index, const GstCclComponent *tracked,
                           GstCclClasses *classes)
{
  GstCclClassNames *names = gst_ccl_classes_get_names (classes);
  GstStructure *param;

  if (self->kind == GST_CCL_FOREIGN_NVDS) {
    gst_ccl_nvds_set_track (g_ptr_array_index (self->sources, index), tracked->track);
  } else if (self->kind == GST_CCL_FOREIGN_REGIONS) {
    GstVideoRegionOfInterestMeta *roi = g_ptr_array_index (self->sources, index);

    roi->x = tracked->x;
    roi->y = tracked->y;
    roi->w = tracked->width;
    roi->h = tracked->height;
    param = gst_structure_new (GST_CCL_ROI_PARAM, "label", G_TYPE_UINT, tracked->label, NULL);
    gst_ccl_rois_set_param (param, tracked,
                            names ? gst_ccl_class_names_get_name (names, tracked->class_id) : NULL);
    gst_video_region_of_interest_meta_add_param (roi, param);
  }
}
