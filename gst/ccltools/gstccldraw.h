/* cudaccl - what is drawn of a component
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_DRAW_H__
#define __GST_CCL_DRAW_H__

#include <gst/ccl/gstccl.h>

#include "gstcclpaint.h"

G_BEGIN_DECLS

/**
 * GstCclOverlayDraw:
 * @GST_CCL_OVERLAY_DRAW_BOXES: the outlines of the bounding boxes
 * @GST_CCL_OVERLAY_DRAW_CENTROIDS: a cross at each centroid
 * @GST_CCL_OVERLAY_DRAW_LABELS: the labels, as numbers
 * @GST_CCL_OVERLAY_DRAW_AREAS: the areas, as numbers
 *
 * What is drawn of components.
 *
 * Since: 0.1
 */
typedef enum
{
  GST_CCL_OVERLAY_DRAW_BOXES = 1 << 0,
  GST_CCL_OVERLAY_DRAW_CENTROIDS = 1 << 1,
  GST_CCL_OVERLAY_DRAW_LABELS = 1 << 2,
  GST_CCL_OVERLAY_DRAW_AREAS = 1 << 3,
} GstCclOverlayDraw;

#define GST_TYPE_CCL_OVERLAY_DRAW (gst_ccl_overlay_draw_get_type ())

GType gst_ccl_overlay_draw_get_type (void);

typedef struct
{
  GstCclOverlayDraw draw;
  guint line_width; /* pixels; 0: in proportion to the frame */
  guint font_size;  /* height of the digits in pixels; 0: in proportion to the frame */
  guint32 color;    /* 0xAARRGGBB; each component has its own where alpha is 0 */
} GstCclDrawStyle;

/* Draws a component, whose coordinates are those of the painter's frame, unless none of its box is
 * in it. */
void gst_ccl_draw_component (GstCclPainter *painter, const GstCclDrawStyle *style,
                             const GstCclComponent *component);

G_END_DECLS

#endif /* __GST_CCL_DRAW_H__ */
