/* cudaccl - components to element messages
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmessage.h"

static void
take_components (GstStructure *structure, const CclComponents *components)
{
  GValue list = G_VALUE_INIT;
  guint i;

  gst_value_list_init (&list, components->count);

  for (i = 0; i < components->count; i++) {
    const CclComponent *component = &components->items[i];
    GValue value = G_VALUE_INIT;

    g_value_init (&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed (
        &value,
        gst_structure_new ("component", "label", G_TYPE_UINT, component->label, "x", G_TYPE_UINT,
                           component->x, "y", G_TYPE_UINT, component->y, "width", G_TYPE_UINT,
                           component->width, "height", G_TYPE_UINT, component->height, "area",
                           G_TYPE_UINT64, component->area, "centroid-x", G_TYPE_DOUBLE,
                           ccl_component_centroid_x (component), "centroid-y", G_TYPE_DOUBLE,
                           ccl_component_centroid_y (component), NULL));
    gst_value_list_append_and_take_value (&list, &value);
  }

  gst_structure_take_value (structure, "components", &list);
}

GstMessage *
gst_ccl_message_new (GstObject *source, const GstSegment *segment, GstBuffer *buffer,
                     const GstVideoInfo *info, const CclComponents *components)
{
  guint64 timestamp = GST_BUFFER_PTS (buffer);
  guint64 stream_time = GST_CLOCK_TIME_NONE, running_time = GST_CLOCK_TIME_NONE;
  GstStructure *structure;

  /* Segments in bytes, as some application sources have them, know nothing of time. */
  if (segment->format == GST_FORMAT_TIME) {
    stream_time = gst_segment_to_stream_time (segment, GST_FORMAT_TIME, timestamp);
    running_time = gst_segment_to_running_time (segment, GST_FORMAT_TIME, timestamp);
  }

  structure = gst_structure_new (
      "cudaccl", "timestamp", G_TYPE_UINT64, timestamp, "stream-time", G_TYPE_UINT64, stream_time,
      "running-time", G_TYPE_UINT64, running_time, "duration", G_TYPE_UINT64,
      GST_BUFFER_DURATION (buffer), "width", G_TYPE_UINT, (guint) GST_VIDEO_INFO_WIDTH (info),
      "height", G_TYPE_UINT, (guint) GST_VIDEO_INFO_HEIGHT (info), "found", G_TYPE_UINT,
      components->found, NULL);
  take_components (structure, components);

  return gst_message_new_element (source, structure);
}
