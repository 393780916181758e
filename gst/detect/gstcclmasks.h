/* cudaccl - masks of objects by prototypes
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_MASKS_H__
#define __GST_CCL_MASKS_H__

#include "gstccloutputs.h"

G_BEGIN_DECLS

/* The outline of an object: that of the largest connected part of its mask. */
typedef struct
{
  gdouble area;       /* pixels of the network's input */
  gdouble centroid_x; /* in pixels of it, from the corner of the picture on */
  gdouble centroid_y;
  GArray *points; /* gfloat: x and y in turn, clockwise, likewise */
} GstCclOutline;

void gst_ccl_outline_free (GstCclOutline *self);

/* Makes the masks of @boxes of picture @index, which gst_ccl_outputs_read() found, by their
 * coefficients and the prototypes. Appends their outlines to @outlines (GstCclOutline), and sets
 * the boxes' numbers of them, from 1 on; 0 for those without a mask. */
void gst_ccl_masks_read (const GstCclTensor *tensors, guint n, const GstCclOutputFormat *format,
                         guint width, guint height, guint index, GArray *boxes,
                         GPtrArray *outlines);

G_END_DECLS

#endif /* __GST_CCL_MASKS_H__ */
