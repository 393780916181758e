/* cudaccl - features of components: the property, and how the engine measures them
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclfeatures.h"

#include <gst/base/gstcclproperties.h>

/* The shapes that a feature is computed from. An ellipse needs second-order sums instead. */
static const struct
{
  GstCclFeatures feature;
  unsigned shapes;
} needs[] = {
  { GST_CCL_FEATURE_HOLES, CCL_SHAPES_TOPOLOGY },
  { GST_CCL_FEATURE_PERIMETER, CCL_SHAPES_PERIMETER },
  { GST_CCL_FEATURE_LUMA, CCL_SHAPES_LUMA },
};

GType
gst_ccl_features_get_type (void)
{
  static GType type = 0;
  static const GFlagsValue values[] = {
    { GST_CCL_FEATURE_ELLIPSE, "Orientation and axes", "ellipse" },
    { GST_CCL_FEATURE_HOLES, "Number of holes", "holes" },
    { GST_CCL_FEATURE_PERIMETER, "Length of the outline", "perimeter" },
    { GST_CCL_FEATURE_LUMA, "Mean and range of luma", "luma" },
    { 0, NULL, NULL },
  };

  return gst_ccl_register_flags (&type, "GstCudaCclFeatures", values);
}

void
gst_ccl_features_configure (GstCclFeatures features, CclConfig *config)
{
  guint i;

  config->second_order = (features & GST_CCL_FEATURE_ELLIPSE) != 0;
  config->shapes = 0;
  for (i = 0; i < G_N_ELEMENTS (needs); i++)
    config->shapes |= features & needs[i].feature ? needs[i].shapes : 0u;
}

GstCclFeatures
gst_ccl_features_from_config (const CclConfig *config)
{
  GstCclFeatures features = config->second_order ? GST_CCL_FEATURE_ELLIPSE : 0;
  guint i;

  for (i = 0; i < G_N_ELEMENTS (needs); i++)
    features |= config->shapes & needs[i].shapes ? needs[i].feature : 0;

  return features;
}

void
gst_ccl_features_set (GstCclComponent *component, const CclComponent *source, const CclShape *shape,
                      GstCclFeatures features)
{
  component->features = features;
  if (features & GST_CCL_FEATURE_ELLIPSE) {
    CclEllipse ellipse;

    ccl_component_ellipse (source, &ellipse);
    component->orientation = ellipse.orientation;
    component->major_axis = ellipse.major;
    component->minor_axis = ellipse.minor;
  }
  if (features & GST_CCL_FEATURE_HOLES)
    component->holes = (guint) (1 - shape->euler);
  if (features & GST_CCL_FEATURE_PERIMETER)
    component->perimeter = ccl_shape_perimeter (shape);
  if (features & GST_CCL_FEATURE_LUMA) {
    component->luma_mean = ccl_shape_luma_mean (shape, source);
    component->luma_min = shape->luma_min;
    component->luma_max = shape->luma_max;
  }
}
