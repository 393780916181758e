/* cudaccl - components as an overlay composition, and compositions blended into frames
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_OVERLAY_COMPOSE_H__
#define __GST_CCL_OVERLAY_COMPOSE_H__

#include "gstccloverlay-draw.h"

G_BEGIN_DECLS

/* Where a composition goes. */
typedef struct
{
  gint width, height;      /* the frame that the components belong to, in pixels */
  gint x, y;               /* where that frame begins in the one that the composition is for */
  const GstVideoInfo *yuv; /* YUV for frames of this format; NULL for RGB */
  gboolean in_bands;       /* no two rectangles share rows */
} GstCclTarget;

/* Draws the components, and adds that to @composition, which is consumed if it is not NULL; without
 * anything to be seen, @composition stays as it is. */
GstVideoOverlayComposition *gst_ccl_compose (GstVideoOverlayComposition *composition,
                                             const GstCclTarget *target,
                                             const GstCclDrawStyle *style,
                                             const GstCclComponent *components, guint n_components);

/* Whether a rectangle is blended into frames of this kind without a look at the rest of its rows.
 */
gboolean gst_ccl_blend_is_local (const GstVideoInfo *info);

/* Blends @composition into @frame, which is mapped for reading and writing. FALSE if frames of this
 * format cannot be drawn on. */
gboolean gst_ccl_blend (GstVideoOverlayComposition *composition, GstVideoFrame *frame);

G_END_DECLS

#endif /* __GST_CCL_OVERLAY_COMPOSE_H__ */
