/* cudaccl - components as element messages
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmessage.h"

#include <gst/base/gstcclutils.h>

static void
set_class (GstStructure *item, guint class_id, GstCclClassNames *names)
{
  const gchar *name = names ? gst_ccl_class_names_get_name (names, class_id) : NULL;

  gst_structure_set (item, "class-id", G_TYPE_UINT, class_id, NULL);
  if (name)
    gst_structure_set (item, "class", G_TYPE_STRING, name, NULL);
}

static void
set_features (GstStructure *item, const GstCclComponent *component)
{
  if (component->features & GST_CCL_FEATURE_ELLIPSE)
    gst_structure_set (item, "orientation", G_TYPE_DOUBLE, component->orientation, "major-axis",
                       G_TYPE_DOUBLE, component->major_axis, "minor-axis", G_TYPE_DOUBLE,
                       component->minor_axis, NULL);
  if (component->features & GST_CCL_FEATURE_HOLES)
    gst_structure_set (item, "holes", G_TYPE_UINT, component->holes, NULL);
  if (component->features & GST_CCL_FEATURE_PERIMETER)
    gst_structure_set (item, "perimeter", G_TYPE_DOUBLE, component->perimeter, NULL);
  if (component->features & GST_CCL_FEATURE_LUMA)
    gst_structure_set (item, "luma-mean", G_TYPE_DOUBLE, component->luma_mean, "luma-min",
                       G_TYPE_UINT, component->luma_min, "luma-max", G_TYPE_UINT,
                       component->luma_max, NULL);
}

static void
take_components (GstStructure *structure, const GstCclComponent *components, guint n,
                 GstCclClassNames *class_names)
{
  GValue list = G_VALUE_INIT;
  guint i;

  gst_value_list_init (&list, n);

  for (i = 0; i < n; i++) {
    const GstCclComponent *component = &components[i];
    GValue value = G_VALUE_INIT;
    GstStructure *item;

    item = gst_structure_new (
        "component", "label", G_TYPE_UINT, component->label, "x", G_TYPE_UINT, component->x, "y",
        G_TYPE_UINT, component->y, "width", G_TYPE_UINT, component->width, "height", G_TYPE_UINT,
        component->height, "area", G_TYPE_UINT64, component->area, "centroid-x", G_TYPE_DOUBLE,
        component->centroid_x, "centroid-y", G_TYPE_DOUBLE, component->centroid_y, NULL);
    if (component->track)
      gst_structure_set (item, "track", G_TYPE_UINT, component->track, "age", G_TYPE_UINT64,
                         component->age, "velocity-x", G_TYPE_DOUBLE, component->velocity_x,
                         "velocity-y", G_TYPE_DOUBLE, component->velocity_y, NULL);
    if (component->class_id)
      set_class (item, component->class_id, class_names);
    if (component->confidence > 0.0)
      gst_structure_set (item, "confidence", G_TYPE_DOUBLE, component->confidence, NULL);
    set_features (item, component);
    g_value_init (&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&value, item);
    gst_value_list_append_and_take_value (&list, &value);
  }

  gst_structure_take_value (structure, "components", &list);
}

GstMessage *
gst_ccl_components_message_new (GstObject *source, const gchar *name, const GstSegment *segment,
                                GstBuffer *buffer, guint width, guint height, guint found,
                                const GstCclComponent *components, guint n_components,
                                GstCclClassNames *class_names)
{
  guint64 timestamp = GST_BUFFER_PTS (buffer), stream_time, running_time;
  GstStructure *structure;

  gst_ccl_segment_get_times (segment, timestamp, &stream_time, &running_time);
  structure =
      gst_structure_new (name, "timestamp", G_TYPE_UINT64, timestamp, "stream-time", G_TYPE_UINT64,
                         stream_time, "running-time", G_TYPE_UINT64, running_time, "duration",
                         G_TYPE_UINT64, GST_BUFFER_DURATION (buffer), "width", G_TYPE_UINT, width,
                         "height", G_TYPE_UINT, height, "found", G_TYPE_UINT, found, NULL);
  take_components (structure, components, n_components, class_names);

  return gst_message_new_element (source, structure);
}
