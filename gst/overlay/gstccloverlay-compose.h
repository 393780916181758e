/* cudaccl - shapes as overlay compositions, and compositions blended into frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_OVERLAY_COMPOSE_H__
#define __GST_CCL_OVERLAY_COMPOSE_H__

#include "gstccloverlay-draw.h"

G_BEGIN_DECLS

/* What a composition is for. */
typedef struct
{
  gint width, height;      /* size of the frame that the components belong to, in pixels */
  gint x, y;               /* origin of that frame in the one to be drawn on */
  const GstVideoInfo *yuv; /* draw in YUV for frames of this format; NULL: in RGB */
  gboolean in_bands;       /* no two rectangles may share rows */
} GstCclTarget;

/* Adds a drawing of the shapes, the later above the earlier, to @composition, or to a new one if it
 * is NULL. Takes ownership of @composition, and returns it unchanged if there is nothing to draw.
 */
GstVideoOverlayComposition *gst_ccl_compose (GstVideoOverlayComposition *composition,
                                             const GstCclTarget *target, const GstCclShape *shapes,
                                             guint n_shapes);

/* Whether blending a rectangle into frames of this format costs as much as its size, not as much as
 * the rows that it is in. */
gboolean gst_ccl_blend_is_local (const GstVideoInfo *info);

/* Blends @composition into @frame, which must be mapped for reading and writing. Returns FALSE if
 * the format of the frame is not supported. */
gboolean gst_ccl_blend (GstVideoOverlayComposition *composition, GstVideoFrame *frame);

G_END_DECLS

#endif /* __GST_CCL_OVERLAY_COMPOSE_H__ */
