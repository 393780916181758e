/* cudaccl - what ccldetect attached to a frame
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstccltracklook.h"

#include <gst/video/video.h>
#include <gst/found/gstcclforeign.h>

void
gst_ccl_track_look_init (GstCclTrackLook *self)
{
  self->boxes = g_array_new (FALSE, FALSE, sizeof (GstCclDetection));
  self->parts = g_array_new (FALSE, FALSE, sizeof (GstCclLook));
  self->age = 0;
}

void
gst_ccl_track_look_clear (GstCclTrackLook *self)
{
  g_array_unref (self->boxes);
  g_array_unref (self->parts);
}

static void
add_box (GstCclTrackLook *self, const GstVideoRegionOfInterestMeta *roi, const GstStructure *param,
         GstCclClasses *classes)
{
  GstCclDetection box = { 0 };

  if (roi->w == 0 || roi->h == 0)
    return;

  box.x = roi->x;
  box.y = roi->y;
  box.width = roi->w;
  box.height = roi->h;
  box.centroid_x = box.x + (box.width - 1.0) / 2.0;
  box.centroid_y = box.y + (box.height - 1.0) / 2.0;
  box.area = box.width * box.height;
  box.object = TRUE;
  gst_structure_get_double (param, "confidence", &box.confidence);
  if (!(box.confidence >= 0.0 && box.confidence <= 1.0))
    box.confidence = 0.0;
  box.class_id = gst_ccl_classes_find (classes, g_quark_to_string (roi->roi_type));
  g_array_append_val (self->boxes, box);
}

gboolean
gst_ccl_track_look_read (GstCclTrackLook *self, GstBuffer *buffer, GstCclClasses *classes,
                         GstClockTime most)
{
  gpointer state = NULL;
  GstMeta *meta;

  g_array_set_size (self->boxes, 0);
  g_array_set_size (self->parts, 0);
  self->age = 0;
  while ((meta = gst_buffer_iterate_meta_filtered (buffer, &state,
                                                   GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE))) {
    GstVideoRegionOfInterestMeta *roi = (GstVideoRegionOfInterestMeta *) meta;
    const GstStructure *param =
        gst_video_region_of_interest_meta_get_param (roi, GST_CCL_DETECT_PARAM);
    gint64 age;

    if (!param)
      continue;
    if (gst_structure_get_int64 (param, "frame-age", &age))
      self->age = (GstClockTime) CLAMP (age, 0, (gint64) most);
    if (roi->roi_type == g_quark_from_static_string (GST_CCL_DETECT_LOOK)) {
      const GstCclLook part = { roi->x, roi->y, roi->w, roi->h };

      g_array_append_val (self->parts, part);
    } else {
      add_box (self, roi, param, classes);
    }
  }

  return self->parts->len > 0 || self->boxes->len > 0;
}

static gboolean
remove_region (GstBuffer *buffer, GstMeta **meta, gpointer data)
{
  if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE &&
      gst_video_region_of_interest_meta_get_param ((GstVideoRegionOfInterestMeta *) *meta,
                                                   GST_CCL_DETECT_PARAM))
    *meta = NULL;

  return TRUE;
}

void
gst_ccl_track_look_remove (GstBuffer *buffer)
{
  gst_buffer_foreach_meta (buffer, remove_region, NULL);
}
