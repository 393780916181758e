/* cudaccl - components as element messages
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclmessage.h"

#include <gst/base/gstcclutils.h>
#include <gst/meta/gstcclfields.h>

/* An argument of gst_structure_new() and gst_structure_set(). */
#define FIELD(member, name, type) name, GST_CCL_FIELD_GTYPE (type), component->member,

#define SET_FEATURE(fields, feature)   \
  if (component->features & (feature)) \
    gst_structure_set (item, fields (FIELD) NULL);

static GstStructure *
item_new (const GstCclComponent *component, GstCclClassNames *names)
{
  GstStructure *item =
      gst_structure_new ("component", GST_CCL_FIELDS_LABEL (FIELD) GST_CCL_FIELDS_BOX (FIELD)
                                          GST_CCL_FIELDS_PIXELS (FIELD) NULL);
  const gchar *name;

  if (GST_CCL_HAS_TRACK (component))
    gst_structure_set (item, GST_CCL_FIELDS_TRACK (FIELD) NULL);
  if (GST_CCL_HAS_CLASS (component)) {
    name = names ? gst_ccl_class_names_get_name (names, component->class_id) : NULL;
    gst_structure_set (item, GST_CCL_FIELDS_CLASS (FIELD) NULL);
    if (name)
      gst_structure_set (item, "class", G_TYPE_STRING, name, NULL);
  }
  if (GST_CCL_HAS_CONFIDENCE (component))
    gst_structure_set (item, GST_CCL_FIELDS_CONFIDENCE (FIELD) NULL);
  if (GST_CCL_HAS_STATIC (component))
    gst_structure_set (item, GST_CCL_STATIC_AGE, G_TYPE_UINT64, GST_CCL_GET_STATIC_AGE (component),
                       GST_CCL_REMOVED, G_TYPE_BOOLEAN, GST_CCL_HAS_REMOVED (component), NULL);
  GST_CCL_GROUPS_OF_FEATURES (SET_FEATURE)

  return item;
}

static void
take_components (GstStructure *structure, const GstCclComponent *components, guint n,
                 GstCclClassNames *class_names)
{
  GValue list = G_VALUE_INIT;
  guint i;

  gst_value_list_init (&list, n);

  for (i = 0; i < n; i++) {
    GValue value = G_VALUE_INIT;

    g_value_init (&value, GST_TYPE_STRUCTURE);
    g_value_take_boxed (&value, item_new (&components[i], class_names));
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
