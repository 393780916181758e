/* cudaccl - converts the engine's components to GstCclComponent
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#include "gstcclconvert.h"

#include "gstcclfeatures.h"

/* Moves the pixels from *@from on, @n at most, from a mask to the frame: all pixels there that they
 * cover. */
static void
place_range (guint *from, guint *n, gint first, guint size, guint mask_size, guint frame_size)
{
  gint64 start = first + (gint64) ((guint64) *from * size / mask_size);
  gint64 end = first + (gint64) (((guint64) (*from + *n) * size + mask_size - 1) / mask_size);

  start = CLAMP (start, 0, (gint64) frame_size - 1);
  *from = (guint) start;
  *n = (guint) (CLAMP (end, start + 1, (gint64) frame_size) - start);
}

static void
place_component (GstCclComponent *component, const GstCclPlacement *p)
{
  gdouble scale_x = (gdouble) p->width / p->mask_width;
  gdouble scale_y = (gdouble) p->height / p->mask_height;

  place_range (&component->x, &component->width, p->x, p->width, p->mask_width, p->frame_width);
  place_range (&component->y, &component->height, p->y, p->height, p->mask_height, p->frame_height);
  component->area = (guint64) MAX ((gdouble) component->area * scale_x * scale_y + 0.5, 1.0);
  component->centroid_x = p->x + (component->centroid_x + 0.5) * scale_x - 0.5;
  component->centroid_y = p->y + (component->centroid_y + 0.5) * scale_y - 0.5;
}

static void
convert_component (GstCclComponent *component, const CclComponent *source,
                   const GstCclDetails *details)
{
  *component = (GstCclComponent){
    .label = source->label,
    .x = source->x,
    .y = source->y,
    .width = source->width,
    .height = source->height,
    .area = source->area,
    .centroid_x = ccl_component_centroid_x (source),
    .centroid_y = ccl_component_centroid_y (source),
    .class_id = details->values ? details->values[source->label - 1] : 0,
  };
  if (details->placement)
    place_component (component, details->placement);
}

GstCclComponent *
gst_ccl_components_convert (const CclComponents *components, const GstCclDetails *details)
{
  GstCclComponent *converted = g_new (GstCclComponent, components->count);
  guint i;

  for (i = 0; i < components->count; i++) {
    const CclComponent *source = &components->items[i];

    convert_component (&converted[i], source, details);
    if (details->features)
      gst_ccl_features_set (&converted[i], source,
                            details->shapes ? &details->shapes[source->label - 1] : NULL,
                            details->features);
  }

  return converted;
}
