/* cudaccl - the fields of GstCclComponent
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_FIELDS_H__
#define __GST_CCL_FIELDS_H__

/* Regions of interest, messages, lines of JSON and the serialisation expand these lists, so that a
 * new field is one line here. Each line is FIELD (member, name, type), where the type is UINT,
 * UINT64, DOUBLE, or SHARE for a double from 0 to 1. GST_CCL_FIELD_GTYPE (type) is the GType. */

#define GST_CCL_FIELDS_LABEL(FIELD) FIELD (label, "label", UINT)

#define GST_CCL_FIELDS_BOX(FIELD) \
  FIELD (x, "x", UINT)            \
  FIELD (y, "y", UINT)            \
  FIELD (width, "width", UINT)    \
  FIELD (height, "height", UINT)

#define GST_CCL_FIELDS_PIXELS(FIELD)       \
  FIELD (area, "area", UINT64)             \
  FIELD (centroid_x, "centroid-x", DOUBLE) \
  FIELD (centroid_y, "centroid-y", DOUBLE)

#define GST_CCL_FIELDS_TRACK(FIELD)        \
  FIELD (track, "track", UINT)             \
  FIELD (age, "age", UINT64)               \
  FIELD (velocity_x, "velocity-x", DOUBLE) \
  FIELD (velocity_y, "velocity-y", DOUBLE)

#define GST_CCL_FIELDS_CLASS(FIELD) FIELD (class_id, "class-id", UINT)

#define GST_CCL_FIELDS_CONFIDENCE(FIELD) FIELD (confidence, "confidence", SHARE)

#define GST_CCL_FIELDS_ELLIPSE(FIELD)        \
  FIELD (orientation, "orientation", DOUBLE) \
  FIELD (major_axis, "major-axis", DOUBLE)   \
  FIELD (minor_axis, "minor-axis", DOUBLE)

#define GST_CCL_FIELDS_HOLES(FIELD) FIELD (holes, "holes", UINT)

#define GST_CCL_FIELDS_PERIMETER(FIELD) FIELD (perimeter, "perimeter", DOUBLE)

#define GST_CCL_FIELDS_LUMA(FIELD)       \
  FIELD (luma_mean, "luma-mean", DOUBLE) \
  FIELD (luma_min, "luma-min", UINT)     \
  FIELD (luma_max, "luma-max", UINT)

/* Of components that stand: fields that are not members. Times are in nanoseconds everywhere but in
 * the struct. */
#define GST_CCL_STATIC_AGE "static-age"
#define GST_CCL_REMOVED "removed"
#define GST_CCL_HAS_STATIC(c) (((c)->flags & GST_CCL_COMPONENT_STATIC) != 0)
#define GST_CCL_HAS_REMOVED(c) (((c)->flags & GST_CCL_COMPONENT_REMOVED) != 0)
#define GST_CCL_GET_STATIC_AGE(c) ((guint64) (c)->static_age * GST_MSECOND)

/* The groups of optional fields: GROUP (list, whether a component has them). */
#define GST_CCL_HAS_TRACK(c) ((c)->track != 0)
#define GST_CCL_HAS_CLASS(c) ((c)->class_id != 0)
#define GST_CCL_HAS_CONFIDENCE(c) ((c)->confidence > 0.0)

#define GST_CCL_GROUPS_OF_FEATURES(GROUP)                     \
  GROUP (GST_CCL_FIELDS_ELLIPSE, GST_CCL_FEATURE_ELLIPSE)     \
  GROUP (GST_CCL_FIELDS_HOLES, GST_CCL_FEATURE_HOLES)         \
  GROUP (GST_CCL_FIELDS_PERIMETER, GST_CCL_FEATURE_PERIMETER) \
  GROUP (GST_CCL_FIELDS_LUMA, GST_CCL_FEATURE_LUMA)

#define GST_CCL_FIELD_GTYPE(type) GST_CCL_FIELD_GTYPE_##type
#define GST_CCL_FIELD_GTYPE_UINT G_TYPE_UINT
#define GST_CCL_FIELD_GTYPE_UINT64 G_TYPE_UINT64
#define GST_CCL_FIELD_GTYPE_DOUBLE G_TYPE_DOUBLE
#define GST_CCL_FIELD_GTYPE_SHARE G_TYPE_DOUBLE

#endif /* __GST_CCL_FIELDS_H__ */
