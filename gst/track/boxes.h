/* cudaccl - compares the boxes of a look with each other, and with what moved
 * SPDX-License-Identifier: LGPL-2.1-or-later */

#ifndef __GST_CCL_BOXES_H__
#define __GST_CCL_BOXES_H__

#include "past.h"

G_BEGIN_DECLS

/* Finds the sides of @boxes (Blob) that others hide, and the boxes that moved in @past, which may
 * be NULL: less confidence than @min_confidence is enough for those, as they are less likely to be
 * mistakes. @fit is the running mean of their IoU with components. */
void gst_ccl_boxes_compare (GArray *boxes, const PastFrame *past, gdouble min_confidence,
                            gdouble *fit);

G_END_DECLS

#endif /* __GST_CCL_BOXES_H__ */
