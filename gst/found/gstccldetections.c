/* cudaccl - the detections of ccldetect
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccldetections.h"

#include <gst/video/video.h>

/* Marks a region as one of these. */
#define PARAM "ccldetect"

void
gst_ccl_detections_complete (GstCclComponent *box)
{
  box->area = (guint64) box->width * box->height;
  box->centroid_x = box->x + (box->width - 1) / 2.0;
  box->centroid_y = box->y + (box->height - 1) / 2.0;
}

guint
gst_ccl_detections_get_track (guint64 id)
{
  const guint folded = (guint) (id ^ id >> 32);

  return folded ? folded : G_MAXUINT;
}

void
gst_ccl_detections_init (GstCclDetections *self)
{
  self->boxes = g_array_new (FALSE, FALSE, sizeof (GstCclComponent));
  self->parts = g_array_new (FALSE, FALSE, sizeof (GstCclComponent));
  self->age = 0;
}

void
gst_ccl_detections_clear (GstCclDetections *self)
{
  g_array_unref (self->boxes);
  g_array_unref (self->parts);
}

static void
add_region (GstBuffer *buffer, GQuark type, gint id, const GstCclComponent *box,
            GstStructure *param)
{
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta_id (
      buffer, type, box->x, box->y, box->width, box->height);

  roi->id = id;
  gst_video_region_of_interest_meta_add_param (roi, param);
}

void
gst_ccl_detections_add_part (GstBuffer *buffer, gint id, const GstCclComponent *part, gint64 age)
{
  add_region (buffer, g_quark_from_static_string (GST_CCL_DETECTIONS_PART), id, part,
              gst_structure_new (PARAM, "frame-age", G_TYPE_INT64, age, NULL));
}

/* Regions scale with the frame, but their parameters stay: so those are shares of the box. */
static gdouble
get_share (gdouble value, guint start, guint size)
{
  return CLAMP ((value - start) / size, 0.0, 1.0);
}

static void
add_outline (GstStructure *param, const GstCclComponent *box, const GArray *outline)
{
  GValue array = G_VALUE_INIT, value = G_VALUE_INIT;
  guint i;

  g_value_init (&array, GST_TYPE_ARRAY);
  g_value_init (&value, G_TYPE_DOUBLE);
  for (i = 0; i < outline->len; i++) {
    g_value_set_double (&value,
                        get_share (g_array_index (outline, gfloat, i), i % 2 ? box->y : box->x,
                                   i % 2 ? box->height : box->width));
    gst_value_array_append_value (&array, &value);
  }
  g_value_unset (&value);
  gst_structure_take_value (param, "outline", &array);
  gst_structure_set (param, "fill", G_TYPE_DOUBLE,
                     MIN ((gdouble) box->area / ((gdouble) box->width * box->height), 1.0),
                     "centroid-x", G_TYPE_DOUBLE,
                     get_share (box->centroid_x + 0.5, box->x, box->width), "centroid-y",
                     G_TYPE_DOUBLE, get_share (box->centroid_y + 0.5, box->y, box->height), NULL);
}

void
gst_ccl_detections_add_box (GstBuffer *buffer, GQuark type, gint id, const GstCclComponent *box,
                            const GArray *outline, gint64 age)
{
  GstStructure *param =
      gst_structure_new (PARAM, "frame-age", G_TYPE_INT64, age, "confidence", G_TYPE_DOUBLE,
                         box->confidence, "class-id", G_TYPE_UINT, box->class_id, NULL);

  if (outline)
    add_outline (param, box, outline);
  add_region (buffer, type, id, box, param);
}

/* Sets the area and the centroid of a box by what is inside of its outline, if it has one. */
static void
read_outline (const GstStructure *param, GstCclComponent *box)
{
  gdouble share, x, y;

  if (!gst_structure_get (param, "fill", G_TYPE_DOUBLE, &share, "centroid-x", G_TYPE_DOUBLE, &x,
                          "centroid-y", G_TYPE_DOUBLE, &y, NULL) ||
      !(share >= 0.0 && share <= 1.0 && x >= 0.0 && x <= 1.0 && y >= 0.0 && y <= 1.0))
    return;

  box->area = (guint64) MAX (share * (gdouble) box->width * box->height + 0.5, 1.0);
  box->centroid_x = box->x + x * box->width - 0.5;
  box->centroid_y = box->y + y * box->height - 0.5;
}

gboolean
gst_ccl_detections_read (GstCclDetections *self, GstBuffer *buffer, GstCclClasses *classes,
                         GstClockTime oldest)
{
  const GQuark part = g_quark_from_static_string (GST_CCL_DETECTIONS_PART);
  gpointer state = NULL;
  GstMeta *meta;

  g_array_set_size (self->boxes, 0);
  g_array_set_size (self->parts, 0);
  self->age = 0;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) meta;
    const GstStructure *param = gst_video_region_of_interest_meta_get_param (roi, PARAM);
    GstCclComponent box = { .x = roi->x, .y = roi->y, .width = roi->w, .height = roi->h };
    gint64 age;

    if (!param)
      continue;
    if (gst_structure_get_int64 (param, "frame-age", &age))
      self->age = (GstClockTime) CLAMP (age, 0, (gint64) oldest);
    if (roi->roi_type == part) {
      g_array_append_val (self->parts, box);
    } else if (box.width > 0 && box.height > 0) {
      gst_structure_get_double (param, "confidence", &box.confidence);
      if (!(box.confidence >= 0.0 && box.confidence <= 1.0))
        box.confidence = 0.0;
      gst_ccl_detections_complete (&box);
      read_outline (param, &box);
      box.class_id = gst_ccl_classes_find (classes, g_quark_to_string (roi->roi_type));
      g_array_append_val (self->boxes, box);
    }
  }

  return self->parts->len > 0 || self->boxes->len > 0;
}

static gboolean
remove_region (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE &&
      gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) *meta, PARAM))
    *meta = NULL;

  return TRUE;
}

void
gst_ccl_detections_remove (GstBuffer *buffer)
{
  gst_buffer_foreach_meta (buffer, remove_region, NULL);
}
