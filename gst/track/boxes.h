/* cudaccl - compares the boxes of a look with each other, and with what moved
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_BOXES_H__
#define __GST_CCL_BOXES_H__

#include "past.h"

G_BEGIN_DECLS

/* How like components are to the boxes of a detector; running means. */
typedef struct
{
  gdouble fit; /* IoU of a box and the component most like it */
  gdouble own; /* share of boxes with a component that is this object and no other */
  guint n;     /* number of boxes so far */
} GstCclLikeness;

void gst_ccl_likeness_init (GstCclLikeness *self);

/* Finds the sides of @boxes (Blob) that others hide, and the boxes that moved in @past, which may
 * be NULL: less confidence than @min_confidence is enough for those, as they are less likely to be
 * mistakes. Counts them in @likeness. */
void gst_ccl_boxes_compare (GArray *boxes, const PastFrame *past, gdouble min_confidence,
                            GstCclLikeness *likeness);

G_END_DECLS

#endif /* __GST_CCL_BOXES_H__ */
