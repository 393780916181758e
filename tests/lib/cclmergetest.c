/* cudaccl - helpers for the tests of cclmerge
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "tests/lib/cclmergetest.h"

void
pair_init (Pair *pair, gboolean live)
{
  GstElement *element = gst_element_factory_make ("cclmerge", NULL);

  fail_unless (element != NULL, "the plugin is not in GST_PLUGIN_PATH");
  ccl_test_add_bus (element);
  pair->video = gst_harness_new_with_element (element, "video", "src");
  pair->mask = gst_harness_new_with_element (element, "components", NULL);
  gst_object_unref (element);
  gst_harness_set_live (pair->video, live);
  gst_harness_set_live (pair->mask, live);
  gst_harness_play (pair->video);

  ccl_test_set_caps (pair->video, "NV12", VIDEO_WIDTH, VIDEO_HEIGHT);
  ccl_test_set_caps (pair->mask, "GRAY8", MASK_WIDTH, MASK_HEIGHT);
}

void
pair_clear (Pair *pair)
{
  ccl_test_remove_bus (pair->video->element);
  gst_harness_teardown (pair->mask);
  gst_harness_teardown (pair->video);
}

void
pair_push_segment (Pair *pair, guint64 start)
{
  GstSegment segment;

  gst_segment_init (&segment, GST_FORMAT_TIME);
  segment.start = segment.time = start;
  fail_unless (gst_harness_push_event (pair->video, gst_event_new_segment (&segment)));
  fail_unless (gst_harness_push_event (pair->mask, gst_event_new_segment (&segment)));
}

void
pair_flush (Pair *pair)
{
  GstEvent *start = gst_event_new_flush_start (), *stop = gst_event_new_flush_stop (TRUE);

  gst_event_set_seqnum (stop, gst_event_get_seqnum (start));
  gst_harness_push_event (pair->mask, gst_event_ref (start));
  gst_harness_push_event (pair->video, start);
  gst_harness_push_event (pair->mask, gst_event_ref (stop));
  gst_harness_push_event (pair->video, stop);
}

GstBuffer *
video_new (GstClockTime pts)
{
  GstBuffer *buffer = gst_buffer_new_allocate (NULL, VIDEO_WIDTH * VIDEO_HEIGHT * 3 / 2, NULL);

  GST_BUFFER_PTS (buffer) = pts;

  return buffer;
}

GstBuffer *
mask_new (GstClockTime pts, guint label)
{
  GstCclComponent component = { label, 8, 6, 4, 3, 12, 9.5, 7.0 };
  GstBuffer *buffer = gst_buffer_new ();

  GST_BUFFER_PTS (buffer) = pts;
  gst_buffer_add_ccl_meta (buffer, MASK_WIDTH, MASK_HEIGHT, 1, &component, 1);
  add_roi (buffer, "blob", 0, &component);

  return buffer;
}

void
add_roi (GstBuffer *buffer, const gchar *type, gint id, const GstCclComponent *component)
{
  GstVideoRegionOfInterestMeta *roi = gst_buffer_add_video_region_of_interest_meta (
      buffer, type, component->x, component->y, component->width, component->height);

  roi->id = id;
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("cudaccl", "label", G_TYPE_UINT, component->label, "area",
                              G_TYPE_UINT64, component->area, "centroid-x", G_TYPE_DOUBLE,
                              component->centroid_x, "centroid-y", G_TYPE_DOUBLE,
                              component->centroid_y, "colour", G_TYPE_STRING, "red", NULL));
  gst_video_region_of_interest_meta_add_param (
      roi, gst_structure_new ("tracker", "id", G_TYPE_INT, 7, NULL));
}

guint
pair_pull_label (Pair *pair, GstClockTime pts)
{
  GstBuffer *buffer = gst_harness_pull (pair->video);
  GstCclMeta *meta;
  guint label;

  fail_unless (buffer != NULL, "no frame came");
  fail_unless_equals_uint64 (GST_BUFFER_PTS (buffer), pts);
  meta = gst_buffer_get_ccl_meta (buffer);
  label = meta ? meta->components[0].label : 0;
  fail_unless_equals_int (
      gst_buffer_get_n_meta (buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), label != 0);
  gst_buffer_unref (buffer);

  return label;
}

void
pair_push_partners (Pair *pair, GstClockTime pts, guint label)
{
  gst_harness_push (pair->mask, mask_new (pts, label));
  gst_harness_push (pair->video, video_new (pts));
  fail_unless_equals_int (pair_pull_label (pair, pts), label);
}
