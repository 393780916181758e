/* cudaccl - what was found in a frame, read from any metadata
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclfound.h"

#include <string.h>

#include "gstcclanalytics.h"
#include "gstccldetections.h"
#include "gstcclnvds.h"

/* DL Streamer's name for the parameters of a detection, as opposed to a classification. */
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

/* DL Streamer's tracker gives regions a parameter. */
static guint
find_track (const GstVideoRegionOfInterestMeta *roi)
{
  const GstStructure *param = gst_video_region_of_interest_meta_get_param (
      (GstVideoRegionOfInterestMeta *) roi, "object_id");
  gint id;

  return param && gst_structure_get_int (param, "id", &id)
             ? gst_ccl_detections_get_track ((guint) id)
             : 0;
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
  component->track = find_track (roi);
  component->class_id = gst_ccl_classes_find (classes, g_quark_to_string (roi->roi_type));
  if (component->class_id == 0 && param && gst_structure_get_int (param, "label_id", &label)) {
    g_snprintf (number, sizeof (number), "%d", label);
    component->class_id = gst_ccl_classes_find (classes, number);
  }
}

static void
read_regions (GstCclFound *self, GstBuffer *buffer, GstCclClasses *classes)
{
  gpointer state = NULL;
  GstMeta *meta;

  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) meta;
    GstCclComponent component = { 0 };

    if (roi->w == 0 || roi->h == 0 ||
        roi->roi_type == g_quark_from_static_string (GST_CCL_DETECTIONS_PART) ||
        gst_video_region_of_interest_meta_get_param (roi, GST_CCL_ROI_PARAM))
      continue;
    read_region (roi, classes, &component);
    g_array_append_val (self->boxes, component);
    g_ptr_array_add (self->sources, roi);
  }
}

static void
complete_boxes (GArray *boxes)
{
  guint i;

  for (i = 0; i < boxes->len; i++) {
    GstCclComponent *box = &g_array_index (boxes, GstCclComponent, i);

    box->label = i + 1;
    gst_ccl_detections_complete (box);
    /* Some elements use per cent, and values below 0 for unknown. */
    if (box->confidence > 1.0)
      box->confidence /= 100.0;
    if (!(box->confidence >= 0.0 && box->confidence <= 1.0))
      box->confidence = 0.0;
  }
}

void
gst_ccl_found_read_detections (GstCclFound *self, GstBuffer *buffer, GstCclClasses *classes)
{
  GstCclFoundKind kind = GST_CCL_FOUND_REGIONS;

  self->boxes = g_array_new (FALSE, FALSE, sizeof (GstCclComponent));
  self->sources = g_ptr_array_new ();

  read_regions (self, buffer, classes);
  if (self->boxes->len == 0) {
    kind = GST_CCL_FOUND_ANALYTICS;
    gst_ccl_analytics_read (buffer, self->width, self->height, classes, self->boxes);
  }
  if (self->boxes->len == 0) {
    kind = GST_CCL_FOUND_NVDS;
    gst_ccl_nvds_read (buffer, self->width, self->height, classes, self->boxes, self->sources);
  }
  complete_boxes (self->boxes);

  self->components = (GstCclComponent *) self->boxes->data;
  self->n_components = self->boxes->len;
  self->class_names = NULL;
  if (self->n_components > 0)
    self->kind = kind;
}

static void
set_meta (GstCclFound *self, const GstCclMeta *meta)
{
  self->kind = GST_CCL_FOUND_META;
  self->width = meta->width;
  self->height = meta->height;
  self->found = meta->found;
  self->frame_age = meta->frame_age;
  self->n_components = meta->n_components;
  self->components = meta->components;
  self->class_names = meta->class_names;
  if (meta->signatures)
    self->signatures = g_bytes_get_data (meta->signatures, NULL);
}

static void
set_rois (GstCclFound *self)
{
  self->kind = self->rois->n > 0 ? GST_CCL_FOUND_ROIS : GST_CCL_FOUND_NOTHING;
  self->found = -1;
  self->frame_age = self->rois->frame_age;
  self->n_components = self->rois->n;
  self->components = self->rois->components;
  self->class_names = self->rois->class_names;
}

void
gst_ccl_found_init (GstCclFound *self, GstBuffer *buffer, guint width, guint height,
                    GstCclFoundFlags flags)
{
  const GstCclMeta *meta = gst_buffer_get_ccl_meta (buffer);
  const gboolean differs = meta && (meta->width != width || meta->height != height);

  memset (self, 0, sizeof (*self));
  self->width = width;
  self->height = height;
  self->rois = &self->own_rois;
  if (differs && (flags & (GST_CCL_FOUND_CROP | GST_CCL_FOUND_SCALE))) {
    self->copy = g_new (GstCclFindings, 1);
    gst_ccl_findings_init (self->copy, buffer, width, height);
    if (flags & GST_CCL_FOUND_SCALE)
      gst_ccl_findings_scale (self->copy, width, height);
    meta = &self->copy->components;
    self->rois = &self->copy->rois;
  } else if (!meta || flags & GST_CCL_FOUND_BOTH) {
    gst_ccl_rois_init (&self->own_rois, buffer);
  }

  if (meta)
    set_meta (self, meta);
  else
    set_rois (self);
}

void
gst_ccl_found_clear (GstCclFound *self)
{
  if (self->copy)
    gst_ccl_findings_clear (self->copy);
  g_clear_pointer (&self->copy, g_free);
  gst_ccl_rois_clear (&self->own_rois);
  g_clear_pointer (&self->boxes, g_array_unref);
  g_clear_pointer (&self->sources, g_ptr_array_unref);
}

/* Writes an object to the detection that it was made of. */
static void
write_object (const GstCclFound *self, const GstCclComponent *object, guint source,
              const gchar *class_name)
{
  GstVideoRegionOfInterestMeta *roi;
  GstStructure *param;

  if (self->kind == GST_CCL_FOUND_NVDS) {
    gst_ccl_nvds_set_track (g_ptr_array_index (self->sources, source), object->track);
  } else if (self->kind == GST_CCL_FOUND_REGIONS) {
    roi = g_ptr_array_index (self->sources, source);
    roi->x = object->x;
    roi->y = object->y;
    roi->w = object->width;
    roi->h = object->height;
    param = gst_structure_new (GST_CCL_ROI_PARAM, "label", G_TYPE_UINT, object->label, NULL);
    gst_ccl_rois_set_param (param, object, class_name);
    gst_video_region_of_interest_meta_add_param (roi, param);
  }
}

static void
write_detections (const GstCclFound *self, GstBuffer *buffer, GstCclClassNames *names,
                  const GstCclComponent *objects, const guint *sources, guint n)
{
  guint i;

  for (i = 0; i < n; i++) {
    const GstCclComponent *object = &objects[i];
    const gchar *name = names ? gst_ccl_class_names_get_name (names, object->class_id) : NULL;

    if (sources[i] != GST_CCL_NO_SOURCE && object->track)
      write_object (self, object, sources[i], name);
    else if (sources[i] == GST_CCL_NO_SOURCE && self->kind == GST_CCL_FOUND_REGIONS)
      gst_ccl_rois_add (buffer, gst_ccl_rois_get_object_type (name), (gint) object->label - 1,
                        object, name);
  }
}

void
gst_ccl_found_write_objects (const GstCclFound *self, GstBuffer *buffer, GstCclClasses *classes,
                             const GstCclComponent *objects, const guint *sources, guint n)
{
  GstCclClassNames *names = gst_ccl_classes_get_names (classes);

  if (self->kind == GST_CCL_FOUND_NOTHING)
    return;

  if (self->rois->n > 0)
    gst_ccl_rois_replace (buffer, self->rois, self->kind == GST_CCL_FOUND_META, objects, sources, n,
                          names);
  else if (self->kind != GST_CCL_FOUND_META)
    write_detections (self, buffer, names, objects, sources, n);
  gst_ccl_analytics_put_tracks (buffer, self->width, self->height, classes, objects,
                                self->components, sources, n,
                                self->kind == GST_CCL_FOUND_ANALYTICS);
}
